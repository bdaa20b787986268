"""Reads tables of numbers in C and C++ line by line, without a syntax tree.

A header of a driver may name thousands of registers, each by a line `#define NAME 0x1f`. What `extract` makes of such a
file can be said without parsing it, in a fraction of the time. The result is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from lci_py.source import conditions
from lci_py.source.extract.chunk import MAX_CHARS, chunk_symbols
from lci_py.source.extract.describe import clean_doc, prefix
from lci_py.source.extract.marks import pack_marks
from lci_py.source.syntax.languages import load_languages
from lci_py.source.syntax.macro_text import macro_text
from lci_py.source.text.digest import blake2b
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.types.source import Chunk, Symbol

if TYPE_CHECKING:
    from lci_py.source.syntax.captures import Captures
    from lci_py.source.syntax.limits import Limits

#: A line of a table, or a comment of one or more lines: a `#define` of a number or of nothing, a line of the include
#: guard, a blank line. Longer names and numbers than these are cut somewhere, or split among chunks.
_LINE = lazily(
    rb"#define[ \t]{1,100}(?P<name>[A-Za-z_]\w{0,149})(?:[ \t]{1,200}(?P<number>(?:0[xX][0-9a-fA-F]{1,32}|[0-9]{1,32})"
    rb"[uUlL]{0,3})[ \t]{0,100})?\n"
    rb"|[ \t]*(?P<comment>//[^\n\\]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)[ \t]*\n|[ \t]*\n"
    rb"|#ifndef[ \t]+(?P<guard>[A-Za-z_]\w{0,149})[ \t]*\n"
    rb"|#(?P<closing>endif)[ \t]*(?P<remark>/\*[^*\n]*\*/|//[^\n\\]*)?\n"
)
#: In a comment: what other rules may take for a directive or the end of a loop.
_READ_IN_COMMENTS = lazily(rb"#|while_|\\")
_CONTROL = lazily(rb"[\0-\x08\x0b-\x1f\x7f]")
_ENTERED = MAX_CHARS // 2  # bytes of a node that `break_depths` enters


class _Comment(NamedTuple):
    """A comment, with the attributes of its node that `prefix` reads."""

    start_byte: int
    end_byte: int


class _Comments(NamedTuple):
    """The comments of a file, with the attributes of `Captures` that `prefix` reads."""

    source: bytes
    prefixes: dict[int, tuple[int, _Comment, _Comment]]


class NumberTable(NamedTuple):
    """What a table of numbers holds, with the meaning of the same fields of an `Extract`."""

    symbols: list[Symbol]
    chunks: tuple[Chunk, ...]
    marks: bytes
    limit: str


def number_table(path: str, source: bytes, language: str, limits: Limits) -> NumberTable | None:
    """The definitions of a file that is a table of numbers; None for any other file.

    It is one if its lines are definitions of macros as plain numbers, comments, and an include guard around all.
    Arguments as of `source.extract.extract.extract`.
    """
    # Nearly all files end here.
    if not has_rule(language, "including") or 3 * source.count(b"\n#define ") < source.count(b"\n"):
        return None
    spec = load_languages()[language]
    if _CONTROL.search(source) or next(macro_text((*spec.macros, *limits.macros)).uses(source), None) is not None:
        return None
    table = _Lines()
    if not table.read(source):
        return None
    tag = conditions.Tags(spec.conditions, language, conditions.File(path, b"", [])).of(0, "")
    symbols: list[Symbol] = []
    comments = cast("Captures", _Comments(source, table.prefixes))
    for row, start, end, name_bytes, number in table.defined[: limits.max_file_symbols]:
        first, doc = row, ""
        if row - 1 in table.prefixes or row - 2 in table.prefixes:
            first, nodes, _ = prefix(comments, row)
            texts = [source[node.start_byte : node.end_byte].decode("utf-8", "replace") for node in nodes]
            doc = clean_doc("\n".join(texts), False, spec.comment_marks)
        name = name_bytes.decode()
        signature = f"#define {name} {number.decode()}" if number else f"#define {name}"
        digest = blake2b(source[start:end], digest_size=8).hexdigest()
        symbols.append(
            Symbol(
                name, name, "macro", -1, "", signature, doc, spec.visibility_default, row + 1, row + 1, first + 1, tag,
                -1, "", digest,
            )
        )  # fmt: skip
    limit = "too_many_symbols" if len(table.defined) > len(symbols) else ""
    chunks = chunk_symbols(symbols, source, lambda _: table.depths())
    spans = {"text": table.comments, "leaves": table.numbers, "unsure": [], "imports": []}
    places = {"defined": table.names, "called": []}
    return NumberTable(symbols, chunks, pack_marks(spans, places) if spec.marks_text and not limit else b"", limit)


class _Lines:
    """The lines of a table of numbers."""

    def __init__(self) -> None:
        # Of each definition: its row, where it starts and ends, its name, its number.
        self.defined: list[tuple[int, int, int, bytes, bytes]] = []
        self.names: list[int] = []  # where the names start
        self.numbers: list[tuple[int, int]] = []  # where the texts of the macros start and end
        self.comments: list[tuple[int, int]] = []
        self.prefixes: dict[int, tuple[int, _Comment, _Comment]] = {}  # as in `Captures`
        self._rows: list[int] = []  # of definitions and comments
        # The rows of `#ifndef` and `#endif`, and the bytes from the one to the other.
        self._guard = -1, -1
        self._guarded = 0

    def read(self, source: bytes) -> bool:
        """Read all lines; False if one of them is of another kind than those of a table."""
        at = row = 0
        opening, closing, guard = -1, -1, b""
        for match in _LINE.finditer(source):
            start, end = match.span()
            if start != at:
                return False
            at = end
            what = match.lastgroup
            if what == "number" or what == "name":
                name, number = match["name"], match["number"] or b""
                if closing >= 0 or (guard and name != guard):
                    return False
                guard = b""
                self.names.append(match.start("name"))
                if number:
                    self.numbers.append((match.start("number"), end - 1))
                self.defined.append((row, start, match.end(what), name, number))
                self._rows.append(row)
            elif what in ("comment", "remark"):
                if what == "remark":
                    if opening < 0 or closing >= 0:
                        return False
                    closing, self._guarded = row, start + len(b"#endif") - self._guarded
                first, last = match.span(what)
                if _READ_IN_COMMENTS.search(source, first, last):
                    return False
                comment = _Comment(first, last)
                self.comments.append(comment)
                self._rows.append(row)
                last_row = row + source.count(b"\n", first, last)
                self.prefixes[last_row] = row, comment, comment
                row = last_row
            elif what == "closing":
                if opening < 0 or closing >= 0:
                    return False
                closing, self._guarded = row, start + len(b"#endif") - self._guarded
            elif what == "guard":
                if opening >= 0 or self.defined:
                    return False
                opening, guard, self._guarded = row, match["guard"], start
            row += 1
        self._guard = opening, closing
        return at == len(source) and len(self.defined) > 1 and (opening < 0) == (closing < 0)

    def depths(self) -> dict[int, int]:
        """As `chunk.break_depths` of the tree."""
        opening, closing = self._guard
        depths = {row + 1: int(opening < row < closing) for row in self._rows}
        if opening >= 0:
            if self._guarded <= _ENTERED:
                depths = {line: depth for line, depth in depths.items() if not depth}
            depths[opening + 1] = 0
        return depths
