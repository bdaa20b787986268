"""The definitions of a file as it is now: from the index, or by parsing a file that has changed since."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.source import Symbol


class Definition(NamedTuple):
    """A definition, with its lines in the present file."""

    id: str
    symbol: str
    qualified_name: str
    kind: str
    file: str
    language: str
    line: int
    end_line: int
    first_line: int  # with the doc comment, attributes and decorators before it
    signature: str
    doc: str
    exported: bool
    parent: int  # its place among the definitions of the file, -1 at the top level
    number: int  # the public number; -1 if the file was parsed
    digest: str  # of its text, without inner functions and types


#: Of a file that only a server's user may open to its client. Whether it exists is not told.
NOT_INDEXED = "{} is not an indexed file: for others, the user starts `lci mcp --files all`"


class PresentFiles:
    """Reads the files of one snapshot, each once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[str, list[Definition]] = {}

    def stale(self, path: str) -> bool:
        """Whether a file differs from what was indexed; its content decides, which is what is shown."""
        snapshot = self._snapshot
        return snapshot.freshness.changed(path) or snapshot.reader.digest(path) != snapshot.freshness.sha(path)

    def lines(self, path: str) -> list[bytes] | None:
        """The lines of a text file; None if it cannot be read, or is none."""
        found = self._snapshot.reader.lines(path)
        if found is None or any(b"\0" in line for line in found):
            return None
        if found and not found[-1]:
            found = found[:-1]
        if found and found[0].startswith(b"\xef\xbb\xbf"):
            found = [found[0][3:], *found[1:]]
        return found

    def read(self, paths: Iterable[str]) -> None:
        """Read the definitions of several files at once, as far as the index has them."""
        fresh = [path for path in paths if path not in self._known and not self.stale(path)]
        rows: dict[str, list[Row]] = {path: [] for path in fresh}
        for row in self._snapshot.symbols.in_files(fresh) if fresh else ():
            rows[row["file"]].append(row)
        self._known |= {path: _of_rows(found) for path, found in rows.items()}

    def definitions(self, path: str) -> list[Definition]:
        """The definitions of a file, in the order of the text."""
        if path not in self._known:
            self.read([path])
        if path not in self._known:
            self._known[path] = self._parsed(path)
        return self._known[path]

    def find(self, path: str, id: str) -> Definition | None:
        """The definition with an id; None if the file no longer has it."""
        return next((found for found in self.definitions(path) if found.id == id), None)

    def language(self, path: str) -> str:
        from lci_py.source.syntax.languages import HEAD_BYTES, detect

        return detect(path, (self._snapshot.reader.read(path) or b"")[:HEAD_BYTES])

    def _parsed(self, path: str) -> list[Definition]:
        data = self._snapshot.reader.read(path)
        return [] if data is None else parsed(path, data)


def parsed(path: str, data: bytes) -> list[Definition]:
    """The definitions of a file with this content; none if it is no text, or cannot be parsed."""
    from lci_py.source.file_record import define_data
    from lci_py.source.repository.content import content_reason
    from lci_py.source.syntax.languages import HEAD_BYTES, detect

    if content_reason(path, data) is not None:
        return []
    language = detect(path, data[:HEAD_BYTES])
    return _of_symbols(path, language, define_data(path, data, language).symbols)


def _of_rows(rows: Sequence[Row]) -> list[Definition]:
    places = {row["symbol_number"]: place for place, row in enumerate(rows)}
    return [
        Definition(
            row["id"], row["symbol"], row["qualified_name"], row["kind"], row["file"], row["language"], row["line"],
            max(row["line"], row["end_line"]), min(row["line"], row["first_line"] or row["line"]),
            row["signature"] or "", row["doc"] or "", bool(row["exported"]), places.get(row["parent"], -1),
            row["symbol_number"], row["digest"],
        )
        for row in rows
    ]  # fmt: skip


def _of_symbols(path: str, language: str, symbols: Sequence[Symbol]) -> list[Definition]:
    from collections import Counter

    from lci_py.index.shards.segment_rows import stable_id

    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for symbol in symbols:
        key = (symbol.qualified_name, symbol.kind)
        found.append(
            Definition(
                stable_id(path, *key, str(seen[key])), symbol.name, symbol.qualified_name, symbol.kind, path, language,
                symbol.line, max(symbol.line, symbol.end_line), min(symbol.line, symbol.first_line),
                symbol.signature, symbol.doc, symbol.exported, symbol.parent, -1, symbol.digest,
            )
        )  # fmt: skip
        seen[key] += 1
    return found


def innermost(definitions: Sequence[Definition], line: int) -> Definition | None:
    """The innermost definition around a line, doc comments included; None if it is outside of all."""
    around = [found for found in definitions if found.first_line <= line <= found.end_line]
    return min(around, key=lambda found: (found.end_line - found.first_line, -found.line), default=None)
