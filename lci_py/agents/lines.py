"""Lines that are added at the end of a text, and taken out again without a trace."""

from __future__ import annotations

import re

_END_OF_LINE = re.compile(r"\r?\n")
#: The end of a line, and a blank line after it; or a blank line that is the first one.
_BLANK_LINE = re.compile(r"(\r?\n|\A)(\r?\n)\Z")


def end_of_line(text: str) -> str:
    """How the lines of a text end: as its first one does."""
    found = _END_OF_LINE.search(text)
    return found[0] if found else "\n"


def append(text: str | None, block: str) -> str:
    r"""The text with the block behind a blank line. A file that is new has the block alone.

    The block's own line ends if the text's last line did, so that `cut` can tell which was the case.

    Args:
        text: None if there is no file.
        block: Lines that are joined with \n, without an end of the last one.
    """
    if text is None:
        return block + "\n"
    eol = end_of_line(text)
    lines = block.replace("\n", eol)
    if not text or text.endswith("\n"):
        return f"{text}{eol}{lines}{eol}"
    return f"{text}{eol}{eol}{lines}"


def cut(text: str, start: int, end: int) -> str | None:
    """The text without the block between two offsets, as it was before `append`; None if the file was made for it."""
    before, after = text[:start], text[end:]
    if not before and not after.strip():
        return None
    ended = _END_OF_LINE.match(after)
    blank = _BLANK_LINE.search(before)
    if ended:
        after = after[ended.end() :]
    if blank:
        before = before[: blank.start(2 if ended else 1)]
    return before + after
