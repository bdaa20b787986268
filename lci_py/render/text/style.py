"""Shared by all text output: safe text, display width, colours and signs, line wrapping, and common phrases."""

from __future__ import annotations

import io
import re
from typing import IO, TYPE_CHECKING

from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lci_py.types.search import IndexInfo

# A file name or a source line can hold escape sequences that rewrite the terminal, and bidi controls that make code
# look different from what it does (CVE-2021-42574). U+2028 and U+2029 end a line for some viewers.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
# What takes no room can hide text, or make two names look alike: the format characters (category Cf), and the others
# that Unicode calls default-ignorable, such as fillers and tag characters.
_ZERO_WIDTH = (
    "\xad\u034f\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d"
    "\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# A variation selector right after a sign that has a coloured form says which form is meant, and hides nothing.
_SELECTORS = (
    "(?<![\xa9\xae\u203c-\u3299\U0001f000-\U0001faff])(?:(?<![#*0-9])[\ufe0e\ufe0f]|[\ufe0e\ufe0f](?!\u20e3))"
    "|[\ufe00-\ufe0d]"
)
# A lone surrogate stands for a byte that is not UTF-8.
# Patterns for `re.sub`, which compiles each when it is first needed: that takes half a millisecond, and most text is
# plain.
_INVISIBLE = f"[{_CONTROLS}{_ZERO_WIDTH}\ud800-\udfff]|{_SELECTORS}"
_INVISIBLE_LINE = f"[\t\n{_CONTROLS}{_ZERO_WIDTH}\ud800-\udfff]|{_SELECTORS}"
_INVISIBLE_PATH = f"[\t\n{_CONTROLS}{_ZERO_WIDTH}]|{_SELECTORS}"
_COMMAND_OR_WORD = r"\(?`[^`]*`[^\s`]*|\S+"
_PLAIN = r"[\w.:/@%+,][\w.:/@%+,-]*"
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # the byte itself, for which a reader can search
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _NAMED.get(char) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _is_plain(text: str) -> bool:
    """Whether all characters are printable ASCII."""
    return text.isascii() and text.isprintable()


def visible(text: str) -> str:
    r"""`text` with control and invisible characters spelled out, except newline and tab.

    Joiners (U+200C, U+200D) belong to some scripts and emoji. They are spelled out as well, since two names may differ
    only by an invisible joiner. A CRLF line end counts as a newline: a file from Windows would otherwise show ``\r`` on
    every line.
    """
    text = text.replace("\r\n", "\n")
    plain = _is_plain(text.replace("\n", "").replace("\t", ""))
    return text if plain else re.sub(_INVISIBLE, _escape, text)


def visible_line(text: str) -> str:
    """Like `visible`, for text that must stay on one line: newline and tab are spelled out as well."""
    return text if _is_plain(text) else re.sub(_INVISIBLE_LINE, _escape, text)


def visible_path(path: str) -> str:
    """Like `visible_line`, but surrogates stay: writing them with surrogateescape gives the bytes of the real path."""
    return path if _is_plain(path) else re.sub(_INVISIBLE_PATH, _escape, path)


def shell_quote(text: str) -> str:
    """A name or a path, quoted for a shell if necessary."""
    name = visible_line(text)
    return name if re.fullmatch(_PLAIN, name) else "'" + name.replace("'", "'\\''") + "'"


def width_of(text: str) -> int:
    """The number of terminal columns that `text` takes."""
    if text.isascii():
        return len(text)
    import unicodedata  # here, because it takes 1 ms and most code is ASCII

    width = 0
    for char in text:
        if not (unicodedata.combining(char) or char in "\u200b\u200d\ufe0f"):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width


def shorten(text: str, width: int | None, ellipsis: str) -> str:
    """`text` cut to `width` columns, which include the `ellipsis`. If `width` is None, nothing is cut."""
    if width is None or width_of(text) <= width:
        return text
    room = max(0, width - len(ellipsis))
    columns = 0
    for i, char in enumerate(text):
        columns += width_of(char)
        if columns > room:
            return text[:i] + ellipsis
    return text


def shorten_start(text: str, width: int, ellipsis: str) -> str:
    """`text` cut at its start to `width` columns: the end of a path or a qualified name says more than the start."""
    if width_of(text) <= width:
        return text
    excess, start = width_of(text) - max(1, width - len(ellipsis)), 0
    while excess > 0:
        excess -= width_of(text[start])
        start += 1
    return ellipsis + text[start:]


class Signs(NamedTuple):
    """The special characters of the output, either as Unicode or as ASCII replacements."""

    warn: str
    dot: str
    bar: str
    ellipsis: str
    arrow: str
    here: str  # points at the text to its left
    times: str


UNICODE = Signs(warn="⚠", dot="·", bar="│", ellipsis="…", arrow="→", here="←", times="×")
ASCII = Signs(warn="!", dot="-", bar="|", ellipsis="...", arrow="->", here="<-", times="x")


def signs_for(encoding: str | None) -> Signs:
    """The signs that a stream with this encoding can write."""
    try:
        "⚠·│…→←×".encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


class Style:
    """Adds ANSI colour codes to text, if enabled. rich is not used: its import takes longer than most queries."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *names: str) -> str:
        if not self.color or not text:
            return text
        return f"\x1b[{';'.join(_CODES[n] for n in names)}m{text}\x1b[0m"


class ToolText(io.StringIO):
    """A stream for a client of `lci mcp`: results written to it have ids, and hints name tools and their arguments."""


class Layout(NamedTuple):
    """How lines are written: colours, signs, and the width of the terminal."""

    style: Style
    signs: Signs
    width: int | None  # columns of the terminal; None for a pipe, where nothing is cut
    tools: bool = False  # for a client of `lci mcp`

    def words(self, shell: str, tools: str) -> str:
        """Selects the wording of a hint: `tools` for a client of `lci mcp`, else `shell`."""
        return tools if self.tools else shell

    def id(self, id: str) -> str:
        """The id of a result, preceded by blanks, for a client of `lci mcp`; "" for other readers."""
        return f"  {id}" if self.tools else ""


class Page:
    """A stream to which an answer is written as text, and the layout of its lines."""

    def __init__(self, file: IO[str], color: bool = False, width: int | None = None) -> None:
        """Make a page.

        Args:
            file: The stream. Its encoding selects Unicode or ASCII signs, its type the wording of hints.
            color: Whether to write ANSI colours.
            width: Columns of the terminal; None for a pipe, where nothing is cut.
        """
        self.file = file
        signs = signs_for(getattr(file, "encoding", None))
        self.layout = Layout(Style(color), signs, width, isinstance(file, ToolText))

    def lines(self, lines: Iterable[str]) -> None:
        self.file.writelines(line + "\n" for line in lines)

    def sentence(self, text: str, color: str = "warn", hanging: str = "  ") -> None:
        """Write a sentence, wrapped to the width of the terminal."""
        self.lines(self.layout.style(line, color) for line in sentence(text, self.layout, hanging))

    def warning(self, text: object) -> None:
        self.sentence(f"{self.layout.signs.warn} {text}")

    def end(self, parts: Iterable[str], info: IndexInfo) -> None:
        """Write the footer of an answer."""
        self.lines([footer_line(parts, info, self.layout)])


# Paths, line numbers and matches have ripgrep's default colours, which many readers know.
_CODES = {"path": "35", "line": "32", "match": "1;31", "bold": "1", "dim": "2", "kind": "36", "warn": "33"}


def counts(numbers: Iterable[tuple[str, int]], signs: Signs, limit: int = 8) -> str:
    """Text such as `python 300 · go 100 · +2 more`: the largest number first, equal numbers by name."""
    ordered = sorted(numbers, key=lambda item: (-item[1], item[0]))
    parts = [f"{visible_line(name)} {number:,}" for name, number in ordered[:limit]]
    if len(ordered) > limit:
        parts.append(f"+{len(ordered) - limit} more")
    return f" {signs.dot} ".join(parts)


def wrap_words(
    words: Sequence[str],
    start: str,
    layout: Layout,
    hanging: str = "        ",
    start_width: int | None = None,
    *,
    cut: bool = True,
) -> Iterator[str]:
    """Wrap words to the width of the terminal; without a width, all words are on one line.

    Args:
        words: The words. No word is broken, unless it is longer than a line and `cut` is set.
        start: The text before the first word, which may hold colour codes.
        hanging: The text before each further line.
        start_width: Columns that `start` takes; by default its number of characters: give it if `start` has colours.
        cut: Whether a word that is longer than a line is cut; otherwise the terminal breaks it.
    """
    line, room, empty = start, width_of(start) if start_width is None else start_width, True
    for word in map(visible_line, words):
        size = width_of(word)
        if layout.width is not None and not empty and room + 1 + size > layout.width:
            yield line
            line, room, empty = hanging, len(hanging), True
        if layout.width is not None and cut:
            word = shorten(word, max(1, layout.width - room), layout.signs.ellipsis)
            size = width_of(word)
        line, room, empty = (line + word, room + size, False) if empty else (f"{line} {word}", room + 1 + size, False)
    yield line


def sentence(text: str, layout: Layout, hanging: str = "", start_width: int = 0) -> Iterator[str]:
    """Wrap a sentence to the width of the terminal. A command in backquotes stays on one line if it fits on one;
    no word is cut.

    Args:
        hanging: The text before each further line.
        start_width: Columns of the first line that are taken already.
    """
    return _fill(text, re.findall(_COMMAND_OR_WORD, text), layout, hanging, start_width)


def wrap_items(text: str, layout: Layout, hanging: str = "", start_width: int = 0) -> Iterator[str]:
    """Wraps text such as `method 3 · field 2` as `sentence` does, but keeps each item on one line."""
    between = f" {layout.signs.dot} "
    items = text.split(between)
    return _fill(text, [*(item + between[:-1] for item in items[:-1]), items[-1]], layout, hanging, start_width)


def _fill(text: str, phrases: Iterable[str], layout: Layout, hanging: str, start_width: int) -> Iterator[str]:
    if layout.width is None:
        return iter([visible_line(text)])
    room = layout.width - len(hanging)
    words = [word for phrase in phrases for word in ([phrase] if width_of(phrase) <= room else phrase.split(" "))]
    return wrap_words(words, "", layout, hanging, start_width, cut=False)


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown_of(size: int, total: int, noun: str, head: str = "") -> str:
    """Text such as `12 files` or, if not all are shown, `3 of 12 files` after `head`."""
    count = plural(total, noun)
    return f"{head}{size:,} of {count}" if size < total else count


def dropped_note(note: Mapping[str, int]) -> str:
    """Text such as `3 results and 2 snippets` on what `--max-tokens` has dropped; `note` is `truncated` of the JSON."""
    counted = {key.removesuffix("_dropped"): count for key, count in note.items() if key != "max_tokens" and count}
    nouns = {"changed": "change"}
    kinds = [plural(count, nouns.get(what, what.removesuffix("s"))) for what, count in counted.items()]
    return " and ".join([*([", ".join(kinds[:-1])] if len(kinds) > 1 else []), *kinds[-1:]]) or "nothing"


def cut_lines(note: Mapping[str, int], layout: Layout) -> Iterator[str]:
    """The lines of a note about what `--max-tokens` has dropped."""
    text = f"{layout.signs.warn} cut to {note['max_tokens']:,} tokens: {dropped_note(note)} dropped"
    yield from (layout.style(line, "warn") for line in sentence(text, layout, "    "))


def goes_on(layout: Layout, count: int, total: int, offset: int = 0) -> list[str]:
    """A part of the footer that tells a client of `lci mcp` how to get the next results; [] if it is not needed."""
    following = offset + count
    return [f"offset {following} goes on"] if layout.tools and count and following < total else []


def did_you_mean(name: str, near: Iterable[str]) -> str:
    """A message that no definition has this name, with similar names."""
    names = ", ".join(visible_line(other) for other in near)
    return f"nothing is named {visible_line(repr(name))}" + (f"; did you mean {names}?" if names else "")


def footer_line(parts: Iterable[str], info: IndexInfo, layout: Layout) -> str:
    """The footer of an answer, on one line if it fits: its parts, then advice about the index."""
    text = f" {layout.signs.dot} ".join(filter(None, (*parts, info.advice)))
    lines = wrap_items(text, layout, "  ")
    return "\n".join(layout.style(line, "dim") for line in lines)


def size(number: int) -> str:
    """A number of bytes as `1.2 MB`."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"
