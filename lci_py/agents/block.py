"""The instructions in a file that agents read: a block between two marks, which name the agents it is for.

Several agents read AGENTS.md. The block is written once, and stays until the last agent that its mark names is
uninstalled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.agents.safe_files import LeftAloneError

if TYPE_CHECKING:
    from collections.abc import Iterable

_BEGIN, _END = "<!-- lci:start", "<!-- lci:end -->"
_NOTE = "kept by `lci agent`, edits are lost"
_MARKS = re.compile(
    rf"^{_BEGIN}(?P<names>(?: [a-z-]+)*)(?::[^\n]*)? -->[ \t]*\r?\n(?P<body>(?:.*\n)??){_END}(?=[ \t]*\r?$)",
    re.MULTILINE | re.DOTALL,
)
_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:.*\n)*?---\s*")
#: The agent name in a block that was copied from the documentation.
PLAIN = "agents-md"


class Location(NamedTuple):
    """The location of a block in its file, the agents it is for, and its text."""

    start: int
    end: int
    names: tuple[str, ...]
    body: str


def block_text(names: Iterable[str], body: str) -> str:
    """The block as lci writes it, without a final line end."""
    return f"{_BEGIN}{''.join(f' {name}' for name in sorted(names))}: {_NOTE} -->\n{body.strip()}\n{_END}"


def find(text: str) -> Location | None:
    """The block in a text, None if there is none. A mark must be a line of its own.

    Raises:
        LeftAloneError: The marks are incomplete, or there are several.
    """
    begins, ends = (len(re.findall(rf"^[ \t]*{mark}", text, re.MULTILINE)) for mark in (_BEGIN, _END))
    if not begins and not ends:
        return None
    marks = _MARKS.search(text)
    if (begins, ends) != (1, 1) or marks is None:
        what = (
            "it has several blocks of lci"
            if begins > 1 or ends > 1
            else "the begin and end markers of lci do not pair up"
        )
        raise LeftAloneError(f"{what}: remove them by hand", ours=True)
    names = tuple(marks["names"].split()) or (PLAIN,)
    return Location(marks.start(), marks.end(), names, marks["body"].replace("\r\n", "\n").strip())


class Block(NamedTuple):
    """The block of instructions, as seen by one agent."""

    agent: str
    body: str
    head: str = ""  # what a file of lci's own begins with; "" for a file that is others', too

    def state(self, text: str) -> str:
        """absent, installed, or outdated (written by another version). Errors as in `find`."""
        block = find(text)
        if block is None or self.agent not in block.names:
            return "absent"
        return "installed" if block.body == self.body.strip() else "outdated"

    def add(self, text: str | None) -> str:
        """The text with the block: appended, or updated where it is.

        Raises:
            LeftAloneError: The file is not lci's own.
        """
        block = None if text is None else find(text)
        if text is not None and block is not None:
            lines = block_text({*block.names, self.agent}, self.body).replace("\n", end_of_line(text))
            return text[: block.start] + lines + text[block.end :]
        if text is not None and self.head:
            raise LeftAloneError("the file exists, and lci did not write it")
        return self.head + append(text, block_text([self.agent], self.body))

    def remove(self, text: str) -> str | None:
        """The text without the block, or without this agent's name if others need it; None if nothing is left."""
        block = find(text)
        if block is None or self.agent not in block.names:
            return text
        others = [name for name in block.names if name != self.agent]
        if others:
            mark = block_text(others, block.body).partition("\n")[0]
            return text[: block.start] + mark + text[text.index("-->", block.start) + 3 :]
        rest = cut(text, block.start, block.end)
        return None if self.head and rest and _FRONT_MATTER.fullmatch(rest) else rest

    def by_hand(self) -> str:
        """The text that a person would add to the file."""
        return self.head + block_text([self.agent], self.body)


def end_of_line(text: str) -> str:
    """The line end of a text's first line."""
    return "\r\n" if re.match(r"[^\n]*\r\n", text) else "\n"


def append(text: str | None, lines: str) -> str:
    """The text with lines appended after a blank line; a final line end stays."""
    if not text:
        return lines + "\n"
    eol = end_of_line(text)
    lines = lines.replace("\n", eol)
    return f"{text}{eol}{lines}{eol}" if text.endswith("\n") else f"{text}{eol}{eol}{lines}"


def cut(text: str, start: int, end: int) -> str | None:
    """The text without the lines between two offsets and the blank line before them; None if nothing is left."""
    before, after = text[:start], text[end:]
    ended = re.match(r"\r?\n", after)
    if ended:
        after = after[ended.end() :]
        before = re.sub(r"(\n|\A)\r?\n\Z", r"\1", before)
    else:
        before = re.sub(r"(\r?\n){2}\Z", "", before)
    return before + after if (before + after).strip() else None
