"""Reads the symbolic shards: evaluates filters, looks up symbols, and returns the rows that results are made of.

Filters of all search modes are evaluated here; the other shards get the set of allowed units. All numbers are public
(`index.shards.numbering`). Joins stay within a file, so within a segment: each one answers alone, and rows are merged.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.filters import (
    OF_FILE,
    batches,
    ending_in,
    joined_name,
    kinds_in,
    marks,
    name_glob,
    named_in,
    names_in,
    path_test,
    qualified_in,
    spelled_in,
    starting_with,
    where,
)
from lci_py.index.shards.numbering import Numbering
from lci_py.source.repository.files import is_aside
from lci_py.types.search import BLOCK_KIND, Filters

if TYPE_CHECKING:
    from lci_py.source.text.name_parts import Alike, NameParts

Row = Mapping[str, Any]
#: Whether a file counts, by its path.
PathTest = Callable[[str], bool]
_COLUMNS = (
    "coalesce(s.sid, lower(hex(u.sid))) AS id, f.path AS file, coalesce(s.line, u.line) AS line, "
    "coalesce(s.end_line, u.end_line) AS end_line, s.name AS symbol, s.qualified_name AS qualified_name, "
    f"coalesce(s.kind, '{BLOCK_KIND}') AS kind, f.language AS language, s.signature AS signature, s.doc AS doc, "
    "s.build_tag AS build_tag, f.test AS test, s.exported AS exported, s.first_line AS first_line, "
    "u.id AS unit, s.id AS symbol_number, f.id AS file_number, s.parent AS parent, "
    "s.traits AS traits, s.digest AS digest, f.errors AS errors, s.arity AS arity"
)
_SYMBOLS = (
    "FROM symbols s JOIN files f ON f.id = s.file LEFT JOIN units u ON u.id = s.unit "
    "LEFT JOIN symbols p ON p.id = s.parent"
)
_UNITS = (
    "FROM units u JOIN files f ON f.id = u.file LEFT JOIN symbols s ON s.id = u.symbol "
    "LEFT JOIN symbols p ON p.id = s.parent"
)
_CHUNKS = f"FROM units u CROSS JOIN files f ON f.id = u.file CROSS JOIN chunks c ON {OF_FILE['c']} AND c.unit = u.id"
#: Numbers in one SQL list.
_AT_ONCE = 5_000
#: Columns with numbers, and the kind that they number.
_NUMBERS = {"unit": "units", "symbol_number": "symbols", "file_number": "files", "parent": "symbols"}
#: The condition that leaves out dead files, which another segment now has.
_LIVE = "f.id NOT IN (SELECT id FROM temp.dead)"
#: Separators of the parts of a name in all languages, and words that some put between a type and its member.
_SCOPES = re.compile(r"\.|::|->|#|/|\(\*?|\)")
_BETWEEN = frozenset({"prototype", "self", "this", "cls"})
#: `config.c:createIntConfig`: a file and a name in it.
_IN_FILE = re.compile(r"(?<!:)(\S+\.\w+):(?=[^\W\d])")
#: Names of folders and files that are no part of a module's name.
_SILENT = frozenset({"__init__", "index", "mod", "lib", "main", "src"})
#: Kinds of which several with one name are normal.
_NEVER_REPEATED = ("section", "namespace", "enum_member")


class SqliteFile:
    """A shard in SQLite, opened for reading."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        if not path.is_file():
            raise DamagedIndexError(f"{self.name} is missing")
        # immutable: the file is never changed in place, so SQLite need not lock it.
        uri = path.resolve().as_uri() + "?mode=ro&immutable=1"
        self.db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self.db.execute("PRAGMA trusted_schema = OFF")  # the schema may be hostile: it must not run anything
        self.db.row_factory = sqlite3.Row

    def execute(self, sql: str, args: Sequence[object] = ()) -> list[sqlite3.Row]:
        """The rows that an SQL query returns."""
        try:
            return self.db.execute(sql, args).fetchall()
        except (sqlite3.DatabaseError, UnicodeError, OverflowError) as error:
            raise DamagedIndexError(f"{self.name}: {error}") from error

    def close(self) -> None:
        self.db.close()


class _Segment(SqliteFile):
    """The symbolic shard of one segment, with the public numbers of its rows."""

    def __init__(self, path: Path, number: int, numbering: Numbering) -> None:
        super().__init__(path)
        self._public = {kind: numbering.public(kind, number) for kind in set(_NUMBERS.values())}
        self._totals = {kind: numbering.total(kind) for kind in self._public}
        self.live = "1"
        files = self._public["files"]
        if files is not None and (dead := [(i,) for i, public in enumerate(files) if public < 0]):
            self.db.execute("CREATE TEMP TABLE dead (id INTEGER PRIMARY KEY)")
            self.db.executemany("INSERT INTO temp.dead VALUES (?)", dead)
            self.live = _LIVE

    def public(self, kind: str, number: int) -> int:
        """The public number of a row of this segment; -1 if the row is dead."""
        table = self._public[kind]
        if table is None:
            return number
        if not isinstance(number, int) or not 0 <= number < len(table):
            raise DamagedIndexError(f"{self.name} refers to one of the {kind} that does not exist")
        public = int(table[number])
        if public >= self._totals[kind]:
            raise DamagedIndexError(f"the numbering of {kind} refers to rows that do not exist")
        return public

    def published(self, rows: Iterable[sqlite3.Row]) -> list[Row]:
        """The rows as mappings with public numbers. All `rows` must be of living files."""
        if self._public["files"] is None:
            return list(rows)  # type: ignore[arg-type]  # a Row answers to names as a mapping does
        result: list[Row] = []
        for row in rows:
            item = {key: row[key] for key in row.keys()}  # noqa: SIM118  # a Row iterates over values
            for column, kind in _NUMBERS.items():
                if item.get(column) is not None:
                    item[column] = self.public(kind, item[column])
                    if item[column] < 0:
                        raise DamagedIndexError(f"the numbering has deleted {kind} in files that are not deleted")
            result.append(item)
        return result


class SymbolicIndex:
    """Reads the symbolic shards of all segments."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering) -> None:
        self.numbering = numbering
        self.segments = [_Segment(path, i, numbering) for i, path in enumerate(paths)]
        self._paths: list[str] | None = None
        self._stating: frozenset[str] | None = None
        self._names: list[NameParts] | None = None

    def close(self) -> None:
        for segment in self.segments:
            segment.close()

    # --- rows ---------------------------------------------------------------------------------------------------

    def by_number(self, kind: str, numbers: Sequence[int]) -> Iterator[tuple[_Segment, str]]:
        """For each segment that has some of the numbers: (segment, its own numbers as an SQL list, such as "3,7")."""
        for segment, own in zip(self.segments, self.numbering.split(kind, map(int, numbers)), strict=True):
            for some in batches(own, _AT_ONCE):
                yield segment, ",".join(map(str, some))

    def _rows(self, source: str, condition: str, args: Sequence[object], rest: str = "") -> list[Row]:
        rows: list[Row] = []
        for segment in self.segments:
            sql = f"SELECT {_COLUMNS} {source} WHERE {segment.live} AND ({condition}) {rest}"
            rows += segment.published(segment.execute(sql, args))
        return rows

    def result_rows(self, units: Sequence[int]) -> dict[int, Row]:
        """Maps each unit number to its result row (the columns that a result shows)."""
        rows: dict[int, Row] = {}
        for segment, own in zip(self.segments, self.numbering.split("units", map(int, units)), strict=True):
            for some in batches(own):
                # Placeholders: SQLite reuses the parsed statement in a query with as many units.
                sql = f"SELECT {_COLUMNS} {_UNITS} WHERE u.id IN ({marks(some)})"
                rows.update((row["unit"], row) for row in segment.published(segment.execute(sql, some)))
        if any(unit not in rows for unit in units):
            raise DamagedIndexError("the symbolic shard lacks units of the numbering")
        return rows

    def symbol_rows(self, numbers: Sequence[int]) -> dict[int, Row]:
        """Maps each symbol number to its result row."""
        rows = {}
        for segment, own in self.by_number("symbols", numbers):
            for row in segment.published(segment.execute(f"SELECT {_COLUMNS} {_SYMBOLS} WHERE s.id IN ({own})")):
                rows[row["symbol_number"]] = row
        return rows

    def select(self, filters: Filters, limit: int, there: PathTest | None = None) -> tuple[list[Row], int]:
        """(rows, total): the first `limit` result rows that pass the filters, in files that pass `there`, by path and
        line; and the number of all such rows.
        """
        condition, args = where(filters, by_index=True)
        total = 0
        rows: list[Row] = []
        for segment, inside in self._segments_with_paths(filters, there, ("s", "symbols")):
            rest = f"WHERE {segment.live} AND {inside} AND {condition}"
            source = f"{_SYMBOLS} {rest}"
            # Without the joins that change no number: then the index of kinds and names says it all.
            parents = "LEFT JOIN symbols p ON p.id = s.parent" if filters.parent else ""
            sql = f"SELECT count(*) FROM symbols s JOIN files f ON f.id = s.file {parents} {rest}"
            count = int(segment.execute(sql, args)[0][0])
            total += count
            if count > limit > 0:
                # The rows are read of the first files only, not of all symbols to sort them by line.
                files = f"SELECT s.file {source} ORDER BY s.file LIMIT 1 OFFSET ?"
                source += f" AND +s.file <= {int(segment.execute(files, [*args, limit - 1])[0][0])}"
            sql = f"SELECT {_COLUMNS} {source} ORDER BY f.id, s.line, s.id LIMIT ?"
            # min: SQLite's integers end at 2**63.
            rows += segment.published(segment.execute(sql, [*args, min(limit, count)]))
        return sorted(rows, key=_sort_key)[:limit], total

    def allowed_units(self, filters: Filters, there: PathTest | None = None) -> list[int]:
        """The numbers of the units that pass the filters, in files that pass `there`, ascending."""
        condition, args = where(filters)
        units: list[int] = []
        for segment, inside in self._segments_with_paths(filters, there, ("u", "units")):
            sql = f"SELECT u.id {_UNITS} WHERE {segment.live} AND {inside} AND {condition}"
            units += [segment.public("units", row[0]) for row in segment.execute(sql, args)]
        return sorted(units)

    def _segments_with_paths(
        self, filters: Filters, there: PathTest | None = None, rows: tuple[str, str] | None = None
    ) -> Iterator[tuple[_Segment, str]]:
        """Yields (segment, SQL condition for `there` and the filters on paths), for segments with files that pass.

        Args:
            rows: For a query without other conditions: the alias of `symbols` or `units` in it, and the table's name.
        """
        tests = [test for test in (path_test(filters), there) if test is not None]
        for segment in self.segments:
            if not tests:
                yield segment, "1"
            else:
                files = segment.execute("SELECT id, path FROM files ORDER BY id")
                passing = [str(row[0]) for row in files if all(test(row[1]) for test in tests)]
                if not passing:
                    continue
                inside = f"f.id IN ({','.join(passing)})"
                if rows is not None:
                    alias, table = rows
                    first, last = (f"(SELECT {{}} FROM files WHERE id = {file})" for file in (passing[0], passing[-1]))
                    first_row = f"first_{table[:-1]}"
                    inside += f" AND {alias}.id >= {first.format(first_row)}"
                    inside += f" AND {alias}.id < {last.format(f'{first_row} + {table}')}"
                yield segment, inside

    def with_joined_names(self, names: Sequence[str]) -> list[Row]:
        """Rows (joined, name, unit) of the symbols that have a unit, and whose joined name is one of `names`."""
        rows: list[Row] = []
        spellings = set(names)
        # A pasted file is a query of many thousand words, and SQLite limits the number of values.
        for spelled in map(spelled_in, batches(names)):
            for segment in self.segments:
                sql = (
                    "SELECT s.name AS name, s.kind AS kind, s.unit AS unit FROM symbols s JOIN files f "
                    f"ON f.id = s.file WHERE {segment.live} AND s.unit IS NOT NULL AND {spelled}"
                )
                for row in segment.published(segment.execute(sql)):
                    if (joined := joined_name(row["kind"], row["name"])) in spellings:
                        rows.append({"joined": joined, "name": row["name"], "unit": row["unit"]})
        return rows

    def names_from(self, start: str, limit: int) -> list[str]:
        """The first `limit` names of symbols that begin with `start`, in the order of code points."""
        names: set[str] = set()
        for segment in self.segments:
            sql = (
                f"SELECT DISTINCT n.name FROM names n WHERE {starting_with(start)} AND EXISTS (SELECT 1 FROM symbols s "
                f"JOIN files f ON f.id = s.file WHERE {segment.live} AND {names_in('s.', 'id = n.id')}) "
                "ORDER BY n.id LIMIT ?"
            )
            names.update(row[0] for row in segment.execute(sql, [limit]))
        return sorted(names)[:limit]

    def definitions_spelled(self, ends: Sequence[str], filters: Filters, there: PathTest | None = None) -> list[Row]:
        """Result rows of symbols that the words together spell (get http: `getHttp`), in files that pass `there`.

        Args:
            ends: Joined names: of all words, of all but the first, and so on. A symbol with a later name counts if its
                qualified name ends with all words.
        """
        condition, args = where(filters)
        rows: list[Row] = []
        for segment, inside in self._segments_with_paths(filters, there):
            sql = (
                f"SELECT {_COLUMNS} {_SYMBOLS} WHERE {segment.live} AND {inside} AND {condition} AND {spelled_in(ends)}"
            )
            rows += [row for row in segment.published(segment.execute(sql, args)) if _is_spelled(row, ends)]
        return sorted(rows, key=_sort_key)

    def nearest_names(self, word: str) -> list[Alike]:
        """The names with the smallest edit distance to `word` (joined words); [] if that distance is above two."""
        from lci_py.source.text.name_parts import nearest

        return nearest(pair for names in self._name_parts() for pair in names.nearest_names(word))

    def abbreviated_names(self, words: Sequence[str]) -> list[Alike]:
        """The names whose parts the words (lower case) equal, begin or abbreviate, in this order; best names first."""
        from lci_py.source.text.name_parts import best_abbreviated

        return best_abbreviated(name for names in self._name_parts() for name in names.abbreviated_names(words))

    def _name_parts(self) -> list[NameParts]:
        if self._names is None:
            from lci_py.source.text.name_parts import NameParts

            texts = [row[0] for segment in self.segments for row in segment.execute("SELECT parts FROM name_parts")]
            try:
                self._names = list(map(NameParts, texts))
            except (ValueError, TypeError) as error:
                raise DamagedIndexError(f"the symbolic shard: {error}") from error
        return self._names

    def definitions(self, name: str, filters: Filters, there: PathTest | None = None) -> list[Row]:
        """Result rows of the definitions of a name, in files that pass `there`: first from sources, then from examples
        and documentation, then from tests. The name may be qualified, the end of a qualified name, a glob, or one of
        these after `FILE::`. If it has no definition, it is read as a module path followed by a name.
        """
        conditions = [_name_condition(name)]
        file, _, rest = _IN_FILE.sub(r"\1::", name, 1).partition("::")
        if file and rest:  # `store.py::commit`; or a scope of C++ or Rust
            has_name, args = _name_condition(rest)
            there_too = "(f.path = ? OR substr(f.path, -length(?) - 1) = '/' || ?)"
            conditions.append((f"{has_name} AND {there_too}", [*args, file, file, file]))
        condition, values = where(filters)
        by_number: dict[int, Row] = {}
        for segment, inside in self._segments_with_paths(filters, there):
            for matches, args in conditions:  # one after the other: together they would read all rows
                sql = f"SELECT {_COLUMNS} {_SYMBOLS} WHERE {segment.live} AND {inside} AND {condition} AND {matches}"
                rows = segment.published(segment.execute(sql, [*values, *args]))
                by_number |= {row["symbol_number"]: row for row in rows}
        if not by_number and len(segments := segments_of(name)) > 1:
            rows = [row for row in self.definitions_named(segments[-1], filters) if there is None or there(row["file"])]
            by_number = {row["symbol_number"]: row for row in best_qualified(rows, segments)}
        return sorted(by_number.values(), key=lambda row: (row["test"], is_aside(row["file"]), *_sort_key(row)))

    def same_name(self, qualified_name: str, language: str, limit: int) -> list[Row]:
        """The result rows of the first `limit` symbols with this qualified name and language, by path and line."""
        condition = f"{qualified_in('s.', [qualified_name])} AND f.language = ?"
        rows = self._rows(_SYMBOLS, condition, [qualified_name, qualified_name, language])
        return sorted(rows, key=_sort_key)[:limit]

    def files_with_stated_values(self) -> frozenset[str]:
        """The paths of files with a comment that contradicts the code beside it."""
        if self._stating is None:
            sql = "SELECT path FROM files f WHERE {} AND id IN (SELECT file FROM claims WHERE how = 'comment')"
            rows = [row for segment in self.segments for row in segment.execute(sql.format(segment.live))]
            self._stating = frozenset(row[0] for row in rows)
        return self._stating

    def definitions_named(self, name: str, filters: Filters) -> list[Row]:
        """Result rows of definitions with exactly this name, or a qualified name ending in it, by path and line.

        Unlike `definitions`, it uses the SQL index on names.
        """
        condition, args = where(filters)
        condition += f" AND {named_in('s.', [name.rpartition('.')[2]])}"
        rows: list[Row] = []
        for segment, inside in self._segments_with_paths(filters):
            sql = f"SELECT {_COLUMNS} {_SYMBOLS} WHERE {segment.live} AND {inside} AND {condition}"
            rows += segment.published(segment.execute(sql, [*args, name.rpartition(".")[2]]))
        fits = [row for row in rows if f".{row['qualified_name']}".endswith(f".{name}") or row["symbol"] == name]
        return sorted(fits, key=_sort_key)

    def duplicate_names(self, limit: int) -> Iterator[list[Row]]:
        """For each qualified name with 2 to `limit` definitions in one language: their result rows."""
        counts: Counter[tuple[str, str]] = Counter()
        for segment in self.segments:
            sql = (
                "SELECT s.qualified_name, f.language, "
                "count(*) + sum(f.language = 'python' AND s.traits LIKE '%import=%') "
                "FROM symbols s JOIN files f ON f.id = s.file "
                f"WHERE {segment.live} AND NOT {kinds_in('s.', _NEVER_REPEATED)} GROUP BY 1, 2"
            )
            for name, language, count in segment.execute(sql):
                counts[name, language] += count
        names = sorted({name for (name, _), count in counts.items() if 2 <= count <= limit})
        for some in batches(names):
            rows: dict[tuple[str, str], list[Row]] = {}
            matches = self._rows(_SYMBOLS, qualified_in("s.", some), [*some, *some])
            for row in sorted(matches, key=_sort_key):
                rows.setdefault((row["qualified_name"], row["language"]), []).append(row)
            yield from (group for (name, language), group in rows.items() if 2 <= counts[name, language] <= limit)

    def select_ids(self, filters: Filters) -> set[str]:
        """The stable ids of the symbols that pass the filters."""
        condition, args = where(filters, by_index=True)
        ids: set[str] = set()
        for segment, inside in self._segments_with_paths(filters, None, ("s", "symbols")):
            sql = f"SELECT s.sid {_SYMBOLS} WHERE {segment.live} AND {inside} AND {condition}"
            ids.update(row[0] for row in segment.execute(sql, args))
        return ids

    def with_id(self, id: str) -> Row | None:
        """The row of the definition or block with this stable id; None if there is none."""
        try:
            digest = bytes.fromhex(id)
        except ValueError:
            return None
        for source, column in ((_SYMBOLS, "s.sid_bytes"), (_UNITS, "u.sid")):
            if rows := self._rows(source, f"{column} = ?", [digest], "LIMIT 1"):
                return rows[0]
        return None

    def in_files(self, paths: Sequence[str]) -> list[Row]:
        """Result rows of all symbols in the files `paths`, by path and line."""
        rows: list[Row] = []
        for some in batches(paths):
            rows += self._rows(_SYMBOLS, f"f.path IN ({marks(some)}) AND {OF_FILE['s']}", some)
        return sorted(rows, key=_sort_key)

    # --- files, units, chunks -----------------------------------------------------------------------------------

    def paths(self) -> list[str]:
        """The path of every file, in the order of numbers."""
        if self._paths is None:
            self._paths = [row[0] for row in self.per_file("path")]
        return self._paths

    def per_file(self, columns: str) -> list[tuple[Any, ...]]:
        """The values of `columns` (SQL) for every file, in the order of numbers."""
        return self._in_order("files", f"SELECT {columns} FROM files ORDER BY id")

    def _in_order(self, kind: str, sql: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = [()] * self.numbering.total(kind)
        for segment in self.segments:
            for number, row in enumerate(segment.execute(sql)):
                public = segment.public(kind, number)
                if public >= 0:
                    rows[public] = tuple(row)
        if not all(rows):
            raise DamagedIndexError(f"the symbolic shard lacks some of the {kind}")
        return rows

    def chunks_of_file(self, file: int) -> list[tuple[int, int, int]]:
        """(unit, first line, last line) of every chunk of a file."""
        sql = (
            f"SELECT c.unit, c.line, c.end_line FROM files f CROSS JOIN chunks c ON {OF_FILE['c']} WHERE f.id IN ({{}})"
        )
        return [
            (segment.public("units", unit), line, end_line)
            for segment, own in self.by_number("files", [file])
            for unit, line, end_line in segment.execute(sql.format(own))
        ]

    def chunks_of_units(self, units: Sequence[int]) -> list[tuple[int, int, int, int]]:
        """(unit, file, first line, last line) of every chunk of these units."""
        sql = f"SELECT c.unit, u.file, c.line, c.end_line {_CHUNKS} WHERE u.id IN ({{}}) ORDER BY c.id"
        return [
            (segment.public("units", unit), segment.public("files", file), line, end_line)
            for segment, own in self.by_number("units", units)
            for unit, file, line, end_line in segment.execute(sql.format(own))
        ]

    def chunk_digests(self, unit: int) -> list[tuple[int, int, bytes]]:
        """(first line, last line, digest of the text) of every chunk of a unit."""
        sql = f"SELECT c.line, c.end_line, c.digest {_CHUNKS} WHERE u.id IN ({{}}) ORDER BY c.id"
        return [
            (line, end_line, digest)
            for segment, own in self.by_number("units", [unit])
            for line, end_line, digest in segment.execute(sql.format(own))
        ]


def narrowest(chunks: Iterable[tuple[int, int, int]], line: int) -> int | None:
    """The unit of the shortest chunk that contains a line (a type's chunk also spans its methods); None if there is no
    such chunk. A chunk is (unit, first line, last line).
    """
    enclosing = [(last - first, unit) for unit, first, last in chunks if first <= line <= last]
    return min(enclosing)[1] if enclosing else None


def _sort_key(row: Row) -> tuple[int, int, int]:
    return row["file_number"], row["line"], row["symbol_number"]


def dotted_name(name: str) -> str:
    """Convert a qualified name to the index's form: `A::b` and `A#b` to A.b. A name may begin with # (JavaScript)."""
    return re.sub(r"(?<=\w)#", ".", name.replace("::", "."))


def segments_of(name: str) -> list[str]:
    """Split a name as written in code, tracebacks and documentation into its parts: `hc.lib.emails.alert`,
    `ignore::gitignore::Gitignore::new`, `pkg/mod.Func`, `(*locker).Lock`, `Foo#bar`, `Foo.prototype.bar`.
    """
    segments = [segment for segment in _SCOPES.split(name) if segment]
    return [segment for segment in segments[:-1] if segment not in _BETWEEN] + segments[-1:]


def best_qualified(rows: Sequence[Row], segments: Sequence[str]) -> list[Row]:
    """The rows that fit the segments of a name best (by `qualifies`); [] if no row fits."""
    lengths = [qualifies(segments, row["file"], row["qualified_name"]) for row in rows]
    best = max(lengths, default=0)
    return [row for row, length in zip(rows, lengths, strict=True) if length == best > 0]


def qualifies(segments: Sequence[str], file: str, qualified_name: str) -> int:
    """How many segments of a name, from its end, match a definition's path and scope without a gap; 0 for no match.

    Each segment must be a folder, the file or a scope, in this order; at least the last two must be adjacent. Example:
    `ignore::gitignore::Gitignore::new` is in `crates/ignore/src/gitignore.rs`.
    """
    names = [segment.lower() for segment in segments]
    path = [part.lower() for part in file.split("/")]
    path[-1] = path[-1].partition(".")[0]
    path = [part for part in path if part not in _SILENT or part in names]
    own = [*path, *re.split(r"\.|::", qualified_name.lower())]
    if len(names) > 2 and names[0] not in own:
        del names[0]  # the package, whose folder may be the root itself
    at = len(own)
    together = 0
    for segment in reversed(names):
        match = at - 1
        while match >= 0 and own[match] != segment:
            match -= 1
        if match < 0:
            return 0
        if match == at - 1 and together == len(own) - at:
            together += 1
        at = match
    return together if together > 1 or len(names) == 1 else 0


def _name_condition(name: str) -> tuple[str, list[object]]:
    """(SQL condition, values) for symbols with this name, qualified name, end of a qualified name, or glob."""
    sql, args = ending_in(name, dotted_name(name))
    if any(c in name for c in "*?["):
        sql, args = f"({sql} OR s.name GLOB ?)", [*args, name_glob(name, strict=False)]
    return sql, args


def _is_spelled(row: Row, ends: Sequence[str]) -> bool:
    """Whether words spell the name of a symbol; for `ends`, see `definitions_spelled`."""
    own = joined_name(row["kind"], row["symbol"])
    whole = row["qualified_name"].replace(".", "").replace("_", "").lower()
    return own == ends[0] or (own in ends and whole.endswith(ends[0]))
