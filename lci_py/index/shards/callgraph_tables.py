"""The look-up tables from which the call graph is linked, read by SQL from the symbolic shards.

A refresh uses them: it needs few look-ups in a large index. Dead files (old versions) are left out; numbers are public.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.callgraph.file_facts import DECLARED, BaseName, CallSite, FileFacts, FileHead, is_static, owner
from lci_py.callgraph.lookup_tables import Definition, Files, uses_qualified
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.filters import SYMBOLS_OF, batches, kinds_in, marks, named_in, qualified_in
from lci_py.source.syntax.arity import LARGEST
from lci_py.types.search import CALLABLE, KINDS, REGISTERED
from lci_py.types.source import NESTED, REGISTRATIONS, Import, Lambda, StoredFunction, TypeHint, stored_of, typed_of

if TYPE_CHECKING:
    from lci_py.index.shards.numbering import Numbering

#: Bounds of the caches: memory must not grow with the repository.
_KEPT_SYMBOLS, _KEPT_NAMES = 200_000, 50_000
_OWN_SYMBOLS = f"{SYMBOLS_OF} WHERE f.id = ? ORDER BY s.id"
_STORED = "t.kind, t.owner, t.name, t.value, t.within, coalesce(t.place, -1), coalesce(t.holder, '')"
_KIND = {kind: kind for kind in KINDS}  # to share the strings, and to check them


class FileRows(NamedTuple):
    """Data of the files of a segment, including dead ones, as lists indexed by the file's number in the segment."""

    heads: list[FileHead]
    first_calls: Sequence[int]
    calls: Sequence[int]
    n_lambdas: Sequence[int]


class SqlTables:
    """The look-up tables of the call graph; implements `lci_py.callgraph.lookup_tables.StoredTables`."""

    def __init__(
        self,
        connections: Sequence[sqlite3.Connection],
        numbering: Numbering,
        file_rows: Mapping[int, FileRows] | None = None,
    ) -> None:
        """Read the files of all segments.

        Args:
            connections: The symbolic shards of the segments; rows are read as tuples, whatever the row factory.
            file_rows: Maps a segment's number to its files, if another generation has read them already.
        """
        self._segments = [connection.cursor() for connection in connections]
        for cursor in self._segments:
            cursor.row_factory = None
        self._numbering = numbering
        self._public_symbols = [numbering.public("symbols", segment) for segment in range(len(connections))]
        self._public_files = [numbering.public("files", segment) for segment in range(len(connections))]
        self.n_symbols = numbering.total("symbols")
        n_files = numbering.total("files")
        heads: list[FileHead | None] = [None] * n_files
        #: Per public file: its segment, its number there, and the numbers of its calls.
        self._places: list[tuple[int, int, int, int]] = [(0, 0, 0, 0)] * n_files
        self._n_lambdas = [0] * n_files
        #: By segment.
        self.file_rows = [
            (file_rows or {}).get(segment) or self._read_files(segment) for segment in range(len(connections))
        ]
        for segment, rows in enumerate(self.file_rows):
            self._place_files(segment, rows, heads)
        all_heads = [head for head in heads if head is not None]
        if len(all_heads) != n_files:
            raise DamagedIndexError("the symbolic shards lack files that the numbering has")
        self.files = Files(all_heads)
        self.first_lambda = [0, *accumulate(self._n_lambdas)]
        self._facts: dict[int, FileFacts] = {}
        self._kept_symbols = 0
        self._named: dict[str, list[Definition]] = {}

    def _read_files(self, segment: int) -> FileRows:
        sql = "SELECT path, language, test, package, first_call, calls, n_lambdas, id FROM files ORDER BY id"
        if not (rows := self._select(segment, sql)):
            return FileRows([], [], [], [])
        paths, languages, tests, packages, first_calls, calls, lambdas, numbers = zip(*rows, strict=True)
        _check({*map(type, paths), *map(type, languages), *map(type, packages)} == {str})
        _check({*map(type, first_calls), *map(type, calls), *map(type, lambdas), *map(type, numbers)} == {int})
        _check(0 <= min(lambdas) <= max(lambdas) < 1 << 20 and numbers == tuple(range(len(numbers))))
        shared = {language: language for language in languages}
        heads = list(map(FileHead, paths, map(shared.__getitem__, languages), map(bool, tests), packages))
        return FileRows(heads, first_calls, calls, lambdas)

    def _place_files(self, segment: int, rows: FileRows, heads: list[FileHead | None]) -> None:
        public = self._public_files[segment]
        files = range(len(rows.heads)) if public is None else public
        _check(len(files) == len(rows.heads) and max(files, default=-1) < len(heads))
        for number, (file, head, first_call, calls, n_lambdas) in enumerate(zip(files, *rows, strict=True)):
            if file >= 0:
                heads[file] = head
                self._places[file] = (segment, number, first_call, calls)
                self._n_lambdas[file] = n_lambdas

    def _select(self, segment: int, sql: str, args: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._segments[segment].execute(sql, args).fetchall()
        except (sqlite3.DatabaseError, OverflowError) as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error

    def _public(self, numbers: Sequence[int] | None, local: object, total: int) -> int:
        """The public number of a segment's row `local`; -1 if the row is dead."""
        _check(type(local) is int)
        assert isinstance(local, int)
        if numbers is None:
            _check(0 <= local < total)
            return local
        _check(0 <= local < len(numbers))
        public = int(numbers[local])
        _check(public < total)
        return public

    # --- look-ups -------------------------------------------------------------------------------------------------

    def facts(self, file: int) -> FileFacts:
        facts = self._facts.get(file)
        if facts is None:
            facts = self._read_facts(file)
            if self._kept_symbols > _KEPT_SYMBOLS:
                self._facts.clear()
                self._kept_symbols = 0
            self._facts[file] = facts
            self._kept_symbols += len(facts.kinds)
        return facts

    def _read_facts(self, file: int) -> FileFacts:
        segment, number, _, _ = self._places[file]
        columns = "s.id, s.name, s.kind, s.parent, s.scope, s.line, s.arity, s.exported"
        rows = self._select(segment, f"SELECT {columns} {_OWN_SYMBOLS}", (number,))
        start = rows[0][0] if rows else 0
        first = self._public(self._public_symbols[segment], start, self.n_symbols) if rows else 0
        _check(0 <= first <= self.n_symbols - len(rows))
        kinds, parents, owners, lines, arities, static = [], [], [], [], [], []
        for offset, (symbol, name, kind, parent, scope, line, arity, exported) in enumerate(rows):
            _check(parent is None or type(parent) is int)
            above = -1 if parent is None else parent - start
            _check(symbol == start + offset and kind in _KIND and -1 <= above < offset)
            _check(type(name) is type(scope) is str and _is_line(line))
            _check(type(arity) is int and -1 <= arity <= LARGEST)
            kinds.append(_KIND[kind])
            parents.append(above)
            owners.append(
                owner(_KIND[kind], kinds[above] if above >= 0 else "", scope, self.files.heads[file].language)
            )
            lines.append(line)
            arities.append(arity)
            static.append(is_static(self.files.heads[file], kind, bool(exported)))
        sql = "SELECT symbol, name FROM bases WHERE symbol BETWEEN ? AND ? ORDER BY symbol, place"
        bases = self._select(segment, sql, (start, start + len(rows) - 1))
        sql = "SELECT module, name, alias, line FROM imports WHERE file = ? ORDER BY rowid"
        imports = self._select(segment, sql, (number,))
        _check(all(type(symbol) is int and type(base) is str for symbol, base in bases))
        _check(all(type(m) is type(n) is type(a) is str and _is_line(line) for m, n, a, line in imports))
        types, lambdas, flow = self._read_types(segment, number, len(rows))
        return FileFacts(
            self.files.heads[file],
            first,
            names=[row[1] for row in rows],
            kinds=kinds,
            parents=parents,
            owners=owners,
            static=static,
            arities=arities,
            imports=[Import(*row) for row in imports],
            bases=[BaseName(symbol - start, name, lines[symbol - start]) for symbol, name in bases],
            types=types,
            stored=self._read_stored(segment, number, len(rows)),
            lambdas=lambdas,
            flow=flow,
        )

    def _read_types(self, segment: int, number: int, n_symbols: int) -> tuple[list[TypeHint], list[Lambda], bytes]:
        rows = self._select(segment, "SELECT types, flow, lambdas, n_lambdas FROM files WHERE id = ?", (number,))
        _check(len(rows) == 1 and type(rows[0][0]) is str and type(rows[0][1]) is bytes)
        try:
            types = [typed_of(*item) for item in json.loads(rows[0][0])]
            lambdas = [Lambda(*item) for item in json.loads(rows[0][2])]
        except (ValueError, TypeError, RecursionError) as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error
        n_scopes = n_symbols + len(lambdas)
        for item in types:
            _check(type(item.scope) is type(item.within) is int)
            _check(-1 <= item.scope < n_scopes and -1 <= item.within < n_scopes)
            _check(type(item.name) is type(item.text) is str)
            _check(type(item.kind) is int and 0 <= item.kind <= NESTED)
        _check(len(lambdas) == rows[0][3])
        for function in lambdas:
            _check(type(function.symbol) is int and -1 <= function.symbol < n_symbols)
            _check(_is_line(function.line) and _is_line(function.end_line))
        for item in types:
            _check(item.kind != NESTED or _is_outside(item.within - n_symbols, item.scope, n_symbols, lambdas))
        return types, lambdas, rows[0][1]

    def _read_stored(self, segment: int, number: int, n_symbols: int) -> list[StoredFunction]:
        sql = (
            f"SELECT {_STORED} FROM files f CROSS JOIN stored t ON t.id >= f.first_stored "
            "AND t.id < f.first_stored + f.stored AND t.file = f.id WHERE f.id = ? ORDER BY t.id"
        )
        return [_stored_row(row, n_symbols) for row in self._select(segment, sql, (number,))]

    def stored(self, kind: int, owner: str | None, name: str) -> Sequence[tuple[int, StoredFunction]]:
        of_owner, args = ("", (kind, name)) if owner is None else ("AND t.owner = ?", (kind, name, owner))
        sql = f"SELECT t.file, {_STORED} FROM stored t WHERE t.kind = ? AND t.name = ? {of_owner} ORDER BY t.id"
        functions = []
        for segment, numbers in enumerate(self._public_files):
            for file, *row in self._select(segment, sql, args):
                public = self._public(numbers, file, len(self.files.heads))
                if public >= 0:
                    functions.append((public, _stored_row(row, self.n_symbols)))
        functions.sort(key=lambda row: row[0])
        return functions

    def calls(self, file: int) -> Sequence[CallSite]:
        segment, number, first, count = self._places[file]
        sql = (
            "SELECT n.text, r.text, c.line, c.caller, c.arguments, p.text FROM calls c JOIN texts n ON n.id = c.name "
            "JOIN texts r ON r.id = c.receiver JOIN texts p ON p.id = c.passed "
            "WHERE c.id BETWEEN ? AND ? AND c.file = ? ORDER BY c.id"
        )
        rows = self._select(segment, sql, (first, first + count - 1, number))
        n_symbols, n_lambdas = len(self.facts(file).kinds), len(self.facts(file).lambdas)
        _check(len(rows) == count)
        for name, receiver, line, caller, arguments, passed in rows:
            _check(type(name) is type(receiver) is type(passed) is str and _is_line(line))
            _check(type(arguments) is int and REGISTERED - len(REGISTRATIONS) < arguments < 1 << 31)
            _check(
                arguments > REGISTERED or passed[:1] in ("", "?") or (passed.isdecimal() and int(passed) < n_symbols)
            )
            _check(type(caller) is int and -1 - n_lambdas <= caller < n_symbols)
        return [CallSite(*row) for row in rows]

    def callables_named(self, name: str) -> Sequence[Definition]:
        definitions = self._named.get(name)
        if definitions is None:
            definitions = self._read_named(name)
            if len(self._named) > _KEPT_NAMES:
                self._named.clear()
            self._named[name] = definitions
        return definitions

    def _read_named(self, name: str) -> list[Definition]:
        return self._definitions(f"WHERE {kinds_in('s.', CALLABLE)} AND {named_in('s.', [name])}", name)

    def names(self, symbols: Sequence[int]) -> dict[int, tuple[str, int]]:
        names = {}
        for segment, numbers in enumerate(self._numbering.split("symbols", symbols)):
            public = self._public_symbols[segment]
            for batch in batches(numbers):
                sql = f"SELECT id, name, parent FROM symbols WHERE id IN ({marks(batch)})"
                for symbol, name, parent in self._select(segment, sql, batch):
                    _check(type(name) is str)
                    enclosing = -1 if parent is None else self._public(public, parent, self.n_symbols)
                    names[self._public(public, symbol, self.n_symbols)] = name, enclosing
        _check(len(names) == len(symbols))
        return names

    def heirs(self, name: str) -> Sequence[Definition]:
        return self._definitions("WHERE s.id IN (SELECT symbol FROM bases WHERE last = ?)", name)

    def _definitions(self, where: str, name: str) -> list[Definition]:
        sql = (
            "SELECT s.id, s.file, s.kind, p.kind, s.scope, s.exported FROM symbols s "
            f"LEFT JOIN symbols p ON p.id = s.parent {where}"
        )
        definitions = []
        for segment, numbers in enumerate(self._public_symbols):
            for symbol, file, kind, parent, scope, exported in self._select(segment, sql, (name,)):
                public = self._public(self._public_files[segment], file, len(self.files.heads))
                if public < 0:
                    continue
                _check(type(scope) is str and (parent is None or parent in _KIND))
                language = self.files.heads[public].language
                outside = owner(_KIND[kind], _KIND[parent] if parent is not None else "", scope, language)
                number = self._public(numbers, symbol, self.n_symbols)
                _check(number >= 0)
                static = is_static(self.files.heads[public], kind, bool(exported))
                definitions.append(Definition(number, public, _KIND[kind], parent or "", outside, static))
        return sorted(definitions)

    def declaring(self, qualified_name: str) -> Sequence[int]:
        condition = qualified_in("", [qualified_name])
        sql = f"SELECT DISTINCT file FROM symbols WHERE {condition} AND {kinds_in('', DECLARED)}"
        files = []
        for segment in range(len(self._segments)):
            for (file,) in self._select(segment, sql, (qualified_name, qualified_name)):
                public = self._public(self._public_files[segment], file, len(self.files.heads))
                if public >= 0 and uses_qualified(self.files.heads[public].family):
                    files.append(public)
        return sorted(files)

    # --- what a refresh needs besides -----------------------------------------------------------------------------

    def stable_ids(self, file: int) -> list[str]:
        """The stable ids (see `segment_rows.stable_id`) of a file's symbols, in the order of the symbols."""
        segment, number, _, _ = self._places[file]
        ids = [sid for (sid,) in self._select(segment, f"SELECT s.sid {_OWN_SYMBOLS}", (number,))]
        _check(all(type(sid) is str for sid in ids))
        return ids

    def stable_id(self, symbol: int) -> str:
        """The stable id of a symbol (see `segment_rows.stable_id`)."""
        for segment, numbers in enumerate(self._numbering.split("symbols", [symbol])):
            for number in numbers:
                rows = self._select(segment, "SELECT sid FROM symbols WHERE id = ?", (number,))
                _check(len(rows) == 1 and type(rows[0][0]) is str)
                return str(rows[0][0])
        raise AssertionError("split puts every number somewhere")

    def qualified_names(self, file: int) -> list[str]:
        """The qualified names of a file's symbols, in the order of the symbols."""
        segment, number, _, _ = self._places[file]
        names = [name for (name,) in self._select(segment, f"SELECT s.qualified_name {_OWN_SYMBOLS}", (number,))]
        _check(all(type(name) is str for name in names))
        return names


def _stored_row(row: Sequence[Any], n_symbols: int) -> StoredFunction:
    kind, owner, name, value, within, place, holder = row
    _check(type(kind) is type(within) is type(place) is int and -1 <= within < n_symbols)
    _check(type(owner) is type(name) is type(value) is type(holder) is str)
    return stored_of(kind, owner, name, value, within, place, holder)


def _is_outside(number: int, scope: int, n_symbols: int, lambdas: Sequence[Lambda]) -> bool:
    """Whether the anonymous function `number` precedes the symbol or function at `scope`, and so may enclose it."""
    if number < 0 or scope < 0:
        return False
    inner = scope - n_symbols
    return (
        lambdas[number].symbol < scope
        if inner < 0
        else number < inner and lambdas[number].symbol <= lambdas[inner].symbol
    )


def _is_line(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 31


def _check(holds: bool) -> None:
    if not holds:
        raise DamagedIndexError("the symbolic shard: its rows do not fit together")
