"""The shard of other branches, in SQLite: files that differ from the working tree, and their definitions.

Files of a branch that are the same in the tree are not stored. A file that is the same on two branches is stored once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.filters import batches, marks
from lci_py.index.shards.symbols import SqliteFile
from lci_py.source.repository.branches import Tip
from lci_py.types.record import NamedTuple, dataclass

if TYPE_CHECKING:
    from lci_py.types.source import Extract

Row = Mapping[str, Any]
#: How a branch's file relates to the tree: other content, only on the branch, only in the tree.
DIFFERS, ONLY_THERE, ONLY_HERE = STATUSES = ("differs", "only_there", "only_here")

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, ref TEXT NOT NULL, tip TEXT NOT NULL,
  commit_id TEXT NOT NULL);
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, oid TEXT NOT NULL, language TEXT NOT NULL,
  test INTEGER NOT NULL);
CREATE TABLE paths (branch INTEGER NOT NULL, path TEXT NOT NULL, status TEXT NOT NULL, file INTEGER,
  PRIMARY KEY (branch, path)) WITHOUT ROWID;
CREATE TABLE symbols (file INTEGER NOT NULL, name TEXT NOT NULL, qualified_name TEXT NOT NULL, kind TEXT NOT NULL,
  signature TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL, first_line INTEGER NOT NULL,
  build_tag TEXT, traits TEXT NOT NULL, digest TEXT NOT NULL);
"""
_INDEXES = """
CREATE INDEX paths_file ON paths (file);
CREATE INDEX symbols_qualified ON symbols (qualified_name);
CREATE INDEX symbols_name ON symbols (name);
CREATE INDEX symbols_file ON symbols (file);
"""
_COLUMNS = (
    "b.name AS branch, f.path AS file, p.status AS status, s.name AS symbol, s.qualified_name AS qualified_name, "
    "s.kind AS kind, f.language AS language, s.signature AS signature, s.line AS line, s.end_line AS end_line, "
    "s.first_line AS first_line, s.build_tag AS build_tag, s.traits AS traits, s.digest AS digest, f.test AS test, "
    "'' AS id, NULL AS parent"
)
_FROM = (
    "FROM symbols s JOIN files f ON f.id = s.file JOIN paths p ON p.file = f.id AND p.path = f.path "
    "JOIN branches b ON b.id = p.branch"
)
_ORDER = "ORDER BY b.id, f.path, s.line, s.rowid"
_TEXTS = (
    "branch", "file", "status", "symbol", "qualified_name", "kind", "language", "signature", "traits", "digest",
)  # fmt: skip
_NUMBERS = ("line", "end_line", "first_line", "test")


class BranchDefinition(NamedTuple):
    """A definition in a file of a branch, with the columns of the table `symbols` except the file."""

    name: str
    qualified_name: str
    kind: str
    signature: str
    line: int
    end_line: int
    first_line: int
    build_tag: str | None
    traits: str
    digest: str


def defined_in(extract: Extract) -> tuple[BranchDefinition, ...]:
    """The definitions in what was extracted from one file."""
    return tuple(
        BranchDefinition(
            s.name, s.qualified_name, s.kind, s.signature, s.line, s.end_line, s.first_line, s.build_tag, s.traits,
            s.digest,
        )
        for s in extract.symbols
    )  # fmt: skip


class Version(NamedTuple):
    """A path with a certain content."""

    path: str
    oid: str  # git's id of the content


@dataclass(frozen=True, slots=True)
class Content:
    """The data stored for one version of a file: language, whether it is a test, and definitions."""

    language: str
    test: bool
    defined: Sequence[Sequence[object]]  # as `BranchDefinition`


#: Path -> (how it differs, git's id of the content on the branch if there is one).
Differing = Mapping[str, tuple[str, str | None]]


def write_branches(
    path: Path, tips: Sequence[Tip], differing: Sequence[Differing], contents: Iterable[tuple[Version, Content]]
) -> list[dict[str, tuple[str, str | None]]]:
    """Write the shard into a new file; returns, for each branch, the differing paths that were stored.

    Args:
        path: The new file.
        tips: The branches.
        differing: For each branch, the paths that differ.
        contents: The contents of the versions in `differing`, each once; a path whose content is missing is left out.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        rows = [(i, t.name, t.ref, t.tip, t.commit) for i, t in enumerate(tips)]
        db.executemany("INSERT INTO branches VALUES (?,?,?,?,?)", rows)
        numbers: dict[Version, int] = {}
        for version, content in contents:
            number = numbers[version] = len(numbers)
            db.execute("INSERT INTO files VALUES (?,?,?,?,?)", (number, *version, content.language, content.test))
            db.executemany(
                "INSERT INTO symbols VALUES (?,?,?,?,?,?,?,?,?,?,?)", ((number, *item) for item in content.defined)
            )
        stored = [
            {
                name: (state, oid)
                for name, (state, oid) in sorted(paths.items())
                if oid is None or (name, oid) in numbers
            }
            for paths in differing
        ]
        for branch, paths in enumerate(stored):
            db.executemany(
                "INSERT INTO paths VALUES (?,?,?,?)",
                (
                    (branch, name, state, numbers[Version(name, oid)] if oid is not None else None)
                    for name, (state, oid) in paths.items()
                ),
            )
        db.execute("COMMIT")
        db.executescript(_INDEXES)
        db.execute("ANALYZE")
    return stored


class BranchIndex:
    """Reads the shard of other branches. Use it as a context manager, or close it.

    Rows are mappings with the columns of the symbolic shard's rows (file, line, end_line, first_line, symbol,
    qualified_name, kind, language, signature, build_tag, traits, digest, test; id is "", and parent None), and with
    branch and status.
    """

    def __init__(self, path: Path) -> None:
        """Open the shard.

        Raises:
            DamagedIndexError: The file is no shard of branches.
        """
        self._name = path.name
        self._file = SqliteFile(path)
        try:
            rows = self._file.execute("SELECT id, name, ref, tip, commit_id FROM branches ORDER BY id")
            self.tips = [Tip(*self._check_texts(row, ("name", "ref", "tip", "commit_id"))) for row in rows]
            if [row["id"] for row in rows] != list(range(len(rows))):
                raise DamagedIndexError(f"{self._name}: its branches are not numbered from 0")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> BranchIndex:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of the branches, in the order of the setting."""
        return [tip.name for tip in self.tips]

    def same_name(self, qualified_name: str, language: str) -> list[Row]:
        """The definitions of a qualified name in the branches' differing files, by branch, path and line."""
        return self._rows("s.qualified_name = ? AND f.language = ?", [qualified_name, language])

    def rows(self, branch: str) -> list[Row]:
        """All definitions in the differing files of a branch, by path and line."""
        return self._rows("b.name = ?", [branch])

    def statuses_of(self, paths: Sequence[str]) -> dict[tuple[str, str], str]:
        """Maps (branch, path) to one of STATUSES, for these paths on all branches; files that are equal or were not
        compared have no entry.
        """
        statuses = {}
        for some in batches(paths):
            # With the first column of the primary key, or SQLite would read all paths.
            sql = (
                "SELECT b.name AS branch, p.path AS path, p.status AS status FROM branches b CROSS JOIN paths p "
                f"ON p.branch = b.id AND p.path IN ({marks(some)})"
            )
            for row in self._file.execute(sql, some):
                branch, path, status = self._check_texts(row, ("branch", "path", "status"))
                statuses[branch, path] = self._status(status)
        return statuses

    def statuses(self, branch: str) -> dict[str, str]:
        """Maps each differing path of a branch to one of STATUSES."""
        rows = self._file.execute(
            "SELECT p.path AS path, p.status AS status FROM paths p JOIN branches b ON b.id = p.branch "
            "WHERE b.name = ? ORDER BY p.path",
            [branch],
        )
        return {
            path: self._status(status) for path, status in (self._check_texts(row, ("path", "status")) for row in rows)
        }

    # --- for the next generation ---------------------------------------------------------------------------------

    def differing(self) -> list[dict[str, tuple[str, str | None]]]:
        """The differing paths of each branch, in the form that `write_branches` returns."""
        result: list[dict[str, tuple[str, str | None]]] = [{} for _ in self.tips]
        rows = self._file.execute(
            "SELECT p.branch, p.path, p.status, f.oid FROM paths p LEFT JOIN files f ON f.id = p.file"
        )
        for branch, path, status, oid in rows:
            valid = type(branch) is int and 0 <= branch < len(result) and isinstance(path, str)
            if not valid or not (oid is None or isinstance(oid, str)) or (oid is None) != (status == ONLY_HERE):
                raise DamagedIndexError(f"{self._name}: a path belongs to no branch, or has no content")
            result[branch][path] = self._status(status), oid
        return result

    def versions(self) -> dict[Version, int]:
        """Maps each stored version of a file to the number of its content."""
        rows = self._file.execute("SELECT path, oid, id FROM files")
        return {Version(*self._check_texts(row, ("path", "oid"))): row["id"] for row in rows}

    def content(self, number: int) -> Content:
        """The stored content with this number."""
        files = self._file.execute("SELECT language, test FROM files WHERE id = ?", [number])
        if not files:
            raise DamagedIndexError(f"{self._name} lacks a file")
        rows = self._file.execute(
            f"SELECT {', '.join(BranchDefinition._fields)} FROM symbols WHERE file = ? ORDER BY rowid", [number]
        )
        (language,) = self._check_texts(files[0], ("language",))
        return Content(language, bool(files[0]["test"]), [tuple(row) for row in rows])

    # --- reading -------------------------------------------------------------------------------------------------

    def _rows(self, condition: str, args: Sequence[object]) -> list[Row]:
        return list(
            self._checked_rows(self._file.execute(f"SELECT {_COLUMNS} {_FROM} WHERE {condition} {_ORDER}", args))
        )

    def _checked_rows(self, rows: Iterable[sqlite3.Row]) -> Iterator[Row]:
        for row in rows:
            self._check_texts(row, _TEXTS)
            numbers = [row[name] for name in _NUMBERS]
            if not all(type(number) is int and number >= 0 for number in numbers):
                raise DamagedIndexError(f"{self._name}: a number is negative or of another type")
            if not isinstance(row["build_tag"], (str, type(None))):
                raise DamagedIndexError(f"{self._name}: a condition is not a string")
            self._status(row["status"])
            yield row  # type: ignore[misc]  # a Row answers to names as a mapping does

    def _status(self, status: object) -> str:
        if status not in STATUSES or not isinstance(status, str):
            raise DamagedIndexError(f"{self._name}: a status is unknown")
        return status

    def _check_texts(self, row: sqlite3.Row, names: Sequence[str]) -> list[str]:
        values = [row[name] for name in names]
        if not all(isinstance(value, str) for value in values):
            raise DamagedIndexError(f"{self._name}: a value that must be a string is none")
        return values
