"""The symbolic shard: files, symbols, units, chunks and imports in SQLite.

Every filter of every mode is answered here, first; the other views get the set of allowed units.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import BadGlobError, DamagedIndexError, UsageError
from lci_py.source.words import joined
from lci_py.types import BLOCK_KIND, Filters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.index.rows import Rows

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, language TEXT NOT NULL, size INTEGER, mtime_ns INTEGER,
  sha TEXT NOT NULL, lines INTEGER, test INTEGER, package TEXT, errors INTEGER, first_call INTEGER, calls INTEGER);
CREATE TABLE symbols (id INTEGER PRIMARY KEY, sid TEXT NOT NULL, file INTEGER NOT NULL, name TEXT NOT NULL,
  joined TEXT NOT NULL, qualified_name TEXT NOT NULL, kind TEXT NOT NULL, parent INTEGER, scope TEXT, signature TEXT,
  doc TEXT, exported INTEGER, line INTEGER NOT NULL, end_line INTEGER NOT NULL, first_line INTEGER, build_tag TEXT,
  unit INTEGER);
CREATE TABLE units (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, symbol INTEGER, sid TEXT NOT NULL,
  line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, line INTEGER, end_line INTEGER, digest BLOB);
CREATE TABLE imports (file INTEGER NOT NULL, module TEXT, name TEXT, alias TEXT, line INTEGER);
CREATE TABLE calls (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, caller INTEGER NOT NULL, name INTEGER NOT NULL,
  receiver INTEGER NOT NULL, line INTEGER NOT NULL);
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE bases (symbol INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (symbol, place))
  WITHOUT ROWID;
CREATE TABLE skipped (path TEXT, reason TEXT);
"""
_INDEXES = """
CREATE INDEX symbols_name ON symbols (name);
CREATE INDEX symbols_joined ON symbols (joined);
CREATE INDEX symbols_qualified ON symbols (qualified_name);
CREATE INDEX symbols_file ON symbols (file);
CREATE INDEX symbols_parent ON symbols (parent);
CREATE INDEX chunks_unit ON chunks (unit);
CREATE INDEX units_file ON units (file);
CREATE INDEX imports_file ON imports (file);
"""
#: Values in one SQL condition. SQLite's own limits are 999 variables in old builds, and expressions 1,000 deep.
_MAX_VALUES = 500
_MAX_GLOB = 10_000  # characters; SQLite refuses patterns of more than 50,000 bytes
_SET = re.compile(r"\[[!^]?\]?[^\]]*\]")
RESULT_COLUMNS = (
    "coalesce(s.sid, u.sid) AS id, f.path AS file, coalesce(s.line, u.line) AS line, "
    "coalesce(s.end_line, u.end_line) AS end_line, s.name AS symbol, s.qualified_name AS qualified_name, "
    f"coalesce(s.kind, '{BLOCK_KIND}') AS kind, f.language AS language, s.signature AS signature, s.doc AS doc, "
    "s.build_tag AS build_tag, u.id AS unit, s.id AS symbol_number, f.id AS file_number, f.sha AS sha, "
    "f.size AS size, f.mtime_ns AS mtime_ns, f.test AS test, s.exported AS exported"
)


def write_symbolic(path: Path, rows: Rows, skipped: Iterable[Any]) -> None:
    """Write the shard into a new file."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        _write_calls(db, rows)
        db.executemany("INSERT INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", _file_rows(rows))
        db.executemany(
            "INSERT INTO symbols VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                (i, rows.symbol_id[i], rows.symbol_file[i], s.name, joined(s.name), s.qualified_name, s.kind,
                 _none(rows.symbol_parent[i]), s.scope, s.signature, s.doc, s.exported, s.line, s.end_line,
                 s.first_line, s.build_tag, _none(rows.symbol_unit[i]))
                for i, s in enumerate(rows.symbols)
            ),
        )  # fmt: skip
        db.executemany(
            "INSERT INTO units VALUES (?,?,?,?,?,?)",
            ((i, u.file, _none(u.symbol), u.id, u.line, u.end_line) for i, u in enumerate(rows.units)),
        )
        db.executemany(
            "INSERT INTO chunks VALUES (?,?,?,?,?)",
            ((i, u, *rows.chunk_lines[i], rows.chunk_digest[i]) for i, u in enumerate(rows.chunk_unit)),
        )
        db.executemany(
            "INSERT INTO imports VALUES (?,?,?,?,?)",
            (
                (i, item.module, item.name, item.alias, item.line)
                for i, record in enumerate(rows.records)
                for item in record.extract.imports
            ),
        )
        db.executemany(
            "INSERT INTO bases VALUES (?,?,?)",
            (
                (rows.first_symbol[i] + base.symbol, place, base.name)
                for i, record in enumerate(rows.records)
                for place, base in enumerate(record.extract.bases)
            ),
        )
        db.executemany("INSERT INTO skipped VALUES (?,?)", ((_text(s.path), s.reason) for s in skipped))
        db.execute("COMMIT")
        db.executescript(_INDEXES)
        db.execute("ANALYZE")
    finally:
        db.close()


def _file_rows(rows: Rows) -> Iterator[tuple[object, ...]]:
    call = 0
    for i, r in enumerate(rows.records):
        calls = len(r.extract.calls)
        yield (i, _text(r.path), r.extract.language, r.size, r.mtime_ns, r.sha, r.lines, rows.tests[i],
               r.extract.package, r.extract.has_errors, call, calls)  # fmt: skip
        call += calls


def _write_calls(db: sqlite3.Connection, rows: Rows) -> None:
    """Calls by file, and in the order of the text: `files` says which are whose, so they need no index."""
    # Each text once: a name is called many times, and a receiver may be a whole chain of calls.
    texts: dict[str, int] = {}

    def numbered() -> Iterator[tuple[int, ...]]:
        for file, record in enumerate(rows.records):
            for call in record.extract.calls:
                name = texts.setdefault(call.name, len(texts))
                yield file, call.caller, name, texts.setdefault(call.receiver, len(texts)), call.line

    db.executemany("INSERT INTO calls VALUES (?,?,?,?,?,?)", ((i, *row) for i, row in enumerate(numbered())))
    db.executemany("INSERT INTO texts VALUES (?,?)", ((number, text) for text, number in texts.items()))


def _none(number: int) -> int | None:
    return number if number >= 0 else None


def _text(value: str) -> str:
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


class SymbolicIndex:
    """Reader of the shard: filters, symbol look-up and the rows that results are made of."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DamagedIndexError(f"{path.name} is missing")
        # immutable: the file is never changed in place, so no lock file is made beside it.
        uri = path.resolve().as_uri() + "?mode=ro&immutable=1"
        self._db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._db.execute("PRAGMA trusted_schema = OFF")  # the file is data: its schema runs nothing
        self._db.row_factory = sqlite3.Row
        self._files: list[tuple[int, str]] | None = None

    def close(self) -> None:
        self._db.close()

    def execute(self, sql: str, args: Sequence[object] = ()) -> list[sqlite3.Row]:
        """Run one SELECT; a broken file becomes a typed error."""
        try:
            return self._db.execute(sql, args).fetchall()
        except sqlite3.DatabaseError as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error

    # --- filters ------------------------------------------------------------------------------------------------

    def where(self, filters: Filters) -> tuple[str, list[object]]:
        """The filters as an SQL condition over `f` (files), `s` (symbols) and `p` (their parents), and its values.

        Raises:
            BadGlobError: A path filter is no glob.
            UsageError: There are too many names.
        """
        clauses: list[str] = []
        args: list[object] = []
        if filters.lang:
            clauses.append(f"f.language IN ({_marks(filters.lang)})")
            args += [language.lower() for language in filters.lang]
        if filters.kind:
            clauses.append(f"coalesce(s.kind, '{BLOCK_KIND}') IN ({_marks(filters.kind)})")
            args += [kind.lower() for kind in filters.kind]
        for column, globs in (("s.name", filters.name), ("p.name", filters.parent)):
            if len(globs) > _MAX_VALUES:
                raise UsageError(f"{len(globs):,} names at once", hint=f"give at most {_MAX_VALUES}")
            if globs:
                clauses.append("(" + " OR ".join(f"{column} GLOB ?" for _ in globs) + ")")
                args += [name_glob(glob) for glob in globs]
        if filters.path or filters.exclude or filters.file:
            ids = self._matching_files(filters)
            clauses.append(f"f.id IN ({','.join(map(str, ids))})")
        return " AND ".join(clauses) or "1", args

    def _matching_files(self, filters: Filters) -> list[int]:
        if self._files is None:
            self._files = [(row[0], row[1]) for row in self.execute("SELECT id, path FROM files ORDER BY id")]
        include = _path_matcher(filters.path) if filters.path else None
        exclude = _path_matcher(filters.exclude) if filters.exclude else None
        names = set(filters.file)
        return [
            number
            for number, path in self._files
            if (include is None or include(path))
            and (exclude is None or not exclude(path))
            and (not names or path in names or path.rsplit("/", 1)[-1] in names)
        ]

    def files_of(self, units: Sequence[int]) -> dict[int, int]:
        """The file of each of some units."""
        sql = f"SELECT id, file FROM units WHERE id IN ({','.join(map(str, map(int, units)))})"
        return {int(row["id"]): int(row["file"]) for row in self.execute(sql)}

    def allowed_units(self, filters: Filters) -> list[int]:
        """Numbers of the units that pass the filters, ascending."""
        where, args = self.where(filters)
        sql = (
            "SELECT u.id FROM units u JOIN files f ON f.id = u.file LEFT JOIN symbols s ON s.id = u.symbol "
            f"LEFT JOIN symbols p ON p.id = s.parent WHERE {where} ORDER BY u.id"
        )
        return [row[0] for row in self.execute(sql, args)]

    # --- symbols ------------------------------------------------------------------------------------------------

    def spelled(self, names: Sequence[str]) -> list[sqlite3.Row]:
        """Symbols that own a unit and have one of these joined names: rows of joined, name and unit."""
        rows = []
        # A pasted file is a query of many thousand words, and SQLite takes only so many values at once.
        for start in range(0, len(names), _MAX_VALUES):
            some = names[start : start + _MAX_VALUES]
            rows += self.execute(
                f"SELECT joined, name, unit FROM symbols WHERE unit IS NOT NULL AND joined IN ({_marks(some)})", some
            )
        return rows

    def select(self, filters: Filters, limit: int) -> tuple[list[sqlite3.Row], int]:
        """Symbols that pass the filters, by path and line: (at most `limit` result rows, how many in all)."""
        where, args = self.where(filters)
        source = (
            "FROM symbols s JOIN files f ON f.id = s.file LEFT JOIN units u ON u.id = s.unit "
            f"LEFT JOIN symbols p ON p.id = s.parent WHERE {where}"
        )
        total = int(self.execute(f"SELECT count(*) {source}", args)[0][0])
        sql = f"SELECT {RESULT_COLUMNS} {source} ORDER BY f.id, s.line, s.id LIMIT ?"
        return self.execute(sql, [*args, min(limit, total)]), total  # any limit fits: SQLite's integers end at 2**63

    def result_rows(self, units: Sequence[int]) -> dict[int, sqlite3.Row]:
        """Result rows of units, by unit number."""
        sql = (
            f"SELECT {RESULT_COLUMNS} FROM units u JOIN files f ON f.id = u.file "
            f"LEFT JOIN symbols s ON s.id = u.symbol WHERE u.id IN ({','.join(map(str, map(int, units)))})"
        )
        return {row["unit"]: row for row in self.execute(sql)}

    def symbol_rows(self, numbers: Sequence[int]) -> dict[int, sqlite3.Row]:
        """Result rows of symbols, by symbol number."""
        sql = (
            f"SELECT {RESULT_COLUMNS} FROM symbols s JOIN files f ON f.id = s.file LEFT JOIN units u ON u.id = s.unit "
            f"WHERE s.id IN ({','.join(map(str, map(int, numbers)))})"
        )
        return {row["symbol_number"]: row for row in self.execute(sql)}


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def name_glob(glob: str, *, strict: bool = True) -> str:
    """A glob as SQLite's GLOB reads it: a shell's `[!a]` is `[^a]` there.

    Raises:
        BadGlobError: It is too long, or (if `strict`) has a bracket that is not closed, which would match nothing.
    """
    if len(glob) > _MAX_GLOB:
        raise BadGlobError(f"a glob of {len(glob):,} characters", hint=f"give at most {_MAX_GLOB:,}")
    if strict and "[" in _SET.sub("", glob):
        raise BadGlobError(f"bad glob {glob!r}: [ is not closed", hint="write [[] for the character itself")
    return glob.replace("[!", "[^")


#: A bracket that opens a class of characters and nothing closes: git takes such a pattern as never matching.
_OPEN_CLASS = re.compile(r"(?<!\\)\[(?![!^]?\]?[^\]]*\])")


def _path_matcher(globs: Sequence[str]) -> Any:
    """A predicate for gitignore-style globs: without a slash they match at any depth, a folder covers its content."""
    from pathspec import GitIgnoreSpec

    for glob in globs:
        if not glob.strip() or glob.startswith("!"):
            raise BadGlobError(f"bad glob {glob!r}", hint="use --exclude to leave paths out")
        if _OPEN_CLASS.search(glob):
            raise BadGlobError(f"bad glob {glob!r}: a [ without its ]", hint="write [[] for a bracket itself")
    try:
        return GitIgnoreSpec.from_lines([f"\\{glob}" if glob.startswith("#") else glob for glob in globs]).match_file
    except (ValueError, re.error) as error:  # the latter for the range [z-a]
        raise BadGlobError(
            f"bad glob: {error}", hint="globs are written as in .gitignore, such as 'src/**/*.py'"
        ) from error
