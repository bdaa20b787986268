"""The definitions of a file as it is now: from the index, or by parsing a file that has changed since."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.errors import IndexBehindError
from lci_py.index.shards.symbols import dotted_name
from lci_py.source.repository.files import is_aside
from lci_py.types.graph import Definition, Place
from lci_py.types.search import FILE_KIND, Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.source import Symbol

#: Maximum bytes of changed files that are read to find a name, and that are parsed because they hold it.
_READ_BYTES, _PARSED_BYTES = 64_000_000, 2_000_000
_WILD = re.compile(r"[*?\[\]]+")


#: Of a file that only a server's user may open to its client. Whether it exists is not told.
NOT_INDEXED = "{} is not an indexed file: for others, the user starts `lci mcp --files all`"


class PresentFiles:
    """Reads the files of one snapshot, each once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._known: dict[str, list[Definition]] = {}

    def stale(self, path: str) -> bool:
        """Whether a file's current content differs from what was indexed."""
        snapshot = self.snapshot
        return snapshot.freshness.changed(path) or snapshot.reader.digest(path) != snapshot.freshness.sha(path)

    def lines(self, path: str) -> list[bytes] | None:
        """The lines of a text file; None if it cannot be read or is binary."""
        result = self.snapshot.reader.lines(path)
        if result is None or any(b"\0" in line for line in result):
            return None
        if result and not result[-1]:
            result = result[:-1]
        if result and result[0].startswith(b"\xef\xbb\xbf"):
            result = [result[0][3:], *result[1:]]
        return result

    def read(self, paths: Iterable[str]) -> None:
        """Read the definitions of several files at once, as far as the index has them."""
        fresh = [path for path in paths if path not in self._known and not self.stale(path)]
        rows: dict[str, list[Row]] = {path: [] for path in fresh}
        for row in self.snapshot.symbols.in_files(fresh) if fresh else ():
            rows[row["file"]].append(row)
        self._known |= {path: _of_rows(group) for path, group in rows.items()}

    def of_row(self, row: Row) -> Definition | None:
        """The current definition for a row of the index; None if its file no longer has it."""
        return self.find(row["file"], row["id"]) if self.stale(row["file"]) else _of_rows([row])[0]

    def definitions(self, path: str) -> list[Definition]:
        """The definitions of a file, in the order of the text."""
        if path not in self._known:
            self.read([path])
        if path not in self._known:
            data = self.snapshot.reader.read(path)
            self._known[path] = [] if data is None else definitions_in(path, data)
        return self._known[path]

    def find(self, path: str, id: str) -> Definition | None:
        """The definition with an id; None if the file no longer has it."""
        return next((definition for definition in self.definitions(path) if definition.id == id), None)

    def language(self, path: str) -> str:
        from lci_py.source.syntax.languages import HEAD_BYTES, detect

        return detect(path, (self.snapshot.reader.read(path) or b"")[:HEAD_BYTES])


def file_place(path: str, language: str) -> Place:
    return Place(f"file:{path}", None, None, FILE_KIND, path, 1, language)


def in_changed_files(present: PresentFiles, name: str, filters: Filters) -> tuple[list[Row], frozenset[str]]:
    """The definitions of a name in the files that have changed since they were indexed.

    Args:
        name: A name, a qualified name or a glob, as for `SymbolicIndex.definitions`.
    Returns:
        (rows, read): rows as in the index but without symbol numbers, by path and line; and the files that were read,
            whose rows in the index are obsolete.
    Raises:
        BadGlobError: A path filter is no glob.
    """
    snapshot = present.snapshot
    swept = snapshot.freshness.sweep()
    if not swept.stale:
        return [], frozenset()
    from lci_py.index.shards.filters import path_test
    from lci_py.source.syntax.languages import is_test

    on_path, passes = path_test(filters), _name_filter(name, filters)
    changed = [path for path in swept.stale if path not in swept.gone and (on_path is None or on_path(path))]
    # Every definition spells its name, or has it from its file.
    parts = _WILD.split(dotted_name(name.rpartition("::")[2]).rpartition(".")[2])
    needle = max(parts, key=len)
    to_read, to_parse = _READ_BYTES, _PARSED_BYTES
    rows, reread = [], set()
    for path in changed:
        data = snapshot.reader.read(path) or b""
        to_read -= len(data)
        if to_read < 0:
            break
        if needle.encode("utf-8", "surrogatepass") in data or needle in path:
            to_parse -= len(data)
            if to_parse < 0:
                continue
            definitions = present.definitions(path)
            rows += [_row(definition, is_test(path)) for definition in definitions if passes(definition, definitions)]
        reread.add(path)
    return rows, frozenset(reread)


def place_filter(filters: Filters, there: Callable[[str], bool] | None = None) -> Callable[[Place | Definition], bool]:
    """A function that tests if a definition passes the filters on language, kind and path, and its file passes `there`.

    Raises:
        BadGlobError: A path filter is no glob.
    """
    from lci_py.index.shards.filters import languages, path_test

    on_path, langs = path_test(filters), languages(filters)
    kinds = {kind.lower() for kind in filters.kind}

    def passes(place: Place | Definition) -> bool:
        return (
            (not langs or place.language in langs)
            and (not kinds or place.kind in kinds)
            and (on_path is None or on_path(place.file))
            and (there is None or there(place.file))
        )

    return passes


def _name_filter(name: str, filters: Filters) -> Callable[[Definition, Sequence[Definition]], bool]:
    """A function of a definition and all definitions in its file: whether it has the name and passes the filters."""
    from fnmatch import fnmatchcase

    in_place = place_filter(filters)
    file, _, rest = name.partition("::")

    def is_named(item: Definition, name: str) -> bool:
        plain = dotted_name(name)
        if item.symbol == name or f".{item.qualified_name}".endswith(f".{plain}"):
            return True
        return _WILD.search(name) is not None and fnmatchcase(item.symbol, name)

    def passes(item: Definition, others: Sequence[Definition]) -> bool:
        parent = others[item.parent].symbol if item.parent >= 0 else ""
        return (
            in_place(item)
            and (not filters.name or any(fnmatchcase(item.symbol, glob) for glob in filters.name))
            and (not filters.parent or any(fnmatchcase(parent, glob) for glob in filters.parent))
            and (is_named(item, name) or (f"/{item.file}".endswith(f"/{file}") and is_named(item, rest)))
        )

    return passes


def _row(definition: Definition, test: bool) -> Row:
    unknown = dict.fromkeys(("symbol_number", "unit", "parent", "build_tag"))
    return {**definition._asdict(), **unknown, "test": test}


def present_rows(present: PresentFiles, name: str, filters: Filters) -> list[Row]:
    """The definitions of a name as rows, sources first; a changed file is read in its current state."""
    snapshot = present.snapshot
    rows = snapshot.symbols.definitions(name, filters, snapshot.freshness.there())
    changed, reread = in_changed_files(present, name, filters)
    rows = [*(row for row in rows if row["file"] not in reread), *changed]
    return sorted(rows, key=lambda row: (row["test"], is_aside(row["file"]), row["file"], row["line"]))


def check_known(snapshot: Snapshot, name: str) -> None:
    """Raise IndexBehindError if a name that the index lacks is defined in a file that has changed since."""
    rows, _ = in_changed_files(PresentFiles(snapshot), name, Filters())
    if rows:
        raise IndexBehindError(name, f"{rows[0]['file']}:{rows[0]['line']}", len(snapshot.freshness.sweep().stale))


def definitions_in(path: str, data: bytes) -> list[Definition]:
    """The definitions of a file with this content; [] if it is binary or cannot be parsed."""
    from lci_py.source.file_record import define_data
    from lci_py.source.repository.content import content_reason
    from lci_py.source.syntax.languages import HEAD_BYTES, detect

    if content_reason(path, data) is not None:
        return []
    language = detect(path, data[:HEAD_BYTES])
    return _of_symbols(path, language, define_data(path, data, language).symbols)


def _of_rows(rows: Sequence[Row]) -> list[Definition]:
    places = {row["symbol_number"]: index for index, row in enumerate(rows)}
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
    definitions = []
    for symbol in symbols:
        key = (symbol.qualified_name, symbol.kind)
        definitions.append(
            Definition(
                stable_id(path, *key, str(seen[key])), symbol.name, symbol.qualified_name, symbol.kind, path, language,
                symbol.line, max(symbol.line, symbol.end_line), min(symbol.line, symbol.first_line),
                symbol.signature, symbol.doc, symbol.exported, symbol.parent, -1, symbol.digest,
            )
        )  # fmt: skip
        seen[key] += 1
    return definitions


def innermost(definitions: Sequence[Definition], line: int) -> Definition | None:
    """The innermost definition that encloses a line, doc comments included; None if there is none."""
    enclosing = [item for item in definitions if item.first_line <= line <= item.end_line]
    return min(enclosing, key=lambda item: (item.end_line - item.first_line, -item.line), default=None)
