"""Text from a repository, made safe to show; display width; the few signs the terminal output uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# A file name or a source line can hold escape sequences that rewrite the terminal, and bidi controls that make
# code read differently from what it is (CVE-2021-42574). U+2028/9 end a line for some viewers. A lone surrogate is
# how Python carries a byte that is not UTF-8.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_INVISIBLE = re.compile(f"[{_CONTROLS}\ud800-\udfff]")
_INVISIBLE_LINE = re.compile(f"[\t\n{_CONTROLS}\ud800-\udfff]")
_INVISIBLE_PATH = re.compile(f"[\t\n{_CONTROLS}]")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # the byte itself, which is what a reader can search for
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def visible(text: str) -> str:
    """`text` with every control character spelled out, except newline and tab.

    A CRLF line end counts as a newline: a file from Windows would otherwise show ``\\r`` on every line.
    """
    return _INVISIBLE.sub(_escape, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """Like `visible`, for what must stay on one line: newline and tab are spelled out too."""
    return _INVISIBLE_LINE.sub(_escape, text)


def visible_path(path: str) -> str:
    """Like `visible_line`, but bytes that are not UTF-8 are kept: written back with surrogateescape, the path opens."""
    return _INVISIBLE_PATH.sub(_escape, path)


def width_of(text: str) -> int:
    """Terminal columns that `text` takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # 1 ms, and most code is ASCII

    width = 0
    for char in text:
        if not (unicodedata.combining(char) or char in "\u200b\u200d\ufe0f"):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width


def shorten(text: str, width: int | None, ellipsis: str) -> str:
    """`text` cut to `width` columns, with a sign that it was cut; None cuts nothing."""
    if width is None or width_of(text) <= width:
        return text
    room = max(0, width - len(ellipsis))
    used = 0
    for i, char in enumerate(text):
        used += width_of(char)
        if used > room:
            return text[:i] + ellipsis
    return text


class Signs(NamedTuple):
    """The non-ASCII characters of the output, and what stands for them where they cannot be written."""

    warn: str
    dot: str
    bar: str
    ellipsis: str
    arrow: str
    here: str  # points back at what stands before it
    times: str


UNICODE = Signs(warn="⚠", dot="·", bar="│", ellipsis="…", arrow="→", here="←", times="×")
ASCII = Signs(warn="!", dot="-", bar="|", ellipsis="...", arrow="->", here="<-", times="x")


def signs_for(encoding: str | None) -> Signs:
    """The signs that a stream with this encoding can carry."""
    try:
        "⚠·│…→←×".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


class Style:
    """ANSI colours, or nothing. Plain codes: importing rich takes longer than most queries."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *names: str) -> str:
        if not self.color or not text:
            return text
        return f"\x1b[{';'.join(_CODES[n] for n in names)}m{text}\x1b[0m"


class Layout(NamedTuple):
    """How lines are written."""

    style: Style
    signs: Signs
    width: int | None  # columns of the terminal; None for a pipe, where nothing is cut


# ripgrep's defaults for paths and line numbers, so that the eye finds them where it looks already.
_CODES = {"path": "35", "line": "32", "bold": "1", "dim": "2", "kind": "36", "warn": "33"}


def counts(numbers: Iterable[tuple[str, int]], signs: Signs, limit: int = 8) -> str:
    """`python 300 · go 100 · +2 more`: largest first, then by name."""
    ordered = sorted(numbers, key=lambda item: (-item[1], item[0]))
    parts = [f"{visible_line(name)} {number:,}" for name, number in ordered[:limit]]
    if len(ordered) > limit:
        parts.append(f"+{len(ordered) - limit} more")
    return f" {signs.dot} ".join(parts)


def wrapped(
    words: Sequence[str], start: str, layout: Layout, hanging: str = "        ", used: int | None = None
) -> Iterator[str]:
    """The words on as many lines as the terminal needs.

    Args:
        words: What is not broken.
        start: Of the first line.
        layout: Says how wide the terminal is; without a width there is one line.
        hanging: Start of the further lines.
        used: Columns of `start`, if it holds colours.
    """
    line, room, empty = start, width_of(start) if used is None else used, True
    for word in map(visible_line, words):
        size = width_of(word)
        if layout.width is not None and not empty and room + 1 + size > layout.width:
            yield line
            line, room, empty = hanging, len(hanging), True
        if layout.width is not None:
            word = shorten(word, max(1, layout.width - room), layout.signs.ellipsis)
            size = width_of(word)
        line, room, empty = (line + word, room + size, False) if empty else (f"{line} {word}", room + 1 + size, False)
    yield line


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def did_you_mean(name: str, near: Iterable[str]) -> str:
    """What to say of a name that nothing has."""
    names = ", ".join(visible_line(found) for found in near)
    return f"nothing is named {visible_line(repr(name))}" + (f"; did you mean {names}?" if names else "")


def size(number: int) -> str:
    """Bytes for a person: 1.2 MB."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"
