"""The cache: records of files (what was extracted) and vectors of slow models, keyed by content, in a SQLite file.

A row that is missing or changed is computed again, so the cache may be deleted at any time. Each row carries a keyed
hash: otherwise a cache that came with a clone would be trusted. Only the holder of the writer's lock writes to it.
"""

from __future__ import annotations

import os
import sqlite3
from _operator import _compare_digest as compare_digest  # as `hmac` has it, which loads OpenSSL
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lci_py.source.repository.files import open_regular
from lci_py.source.text import blake2b

FILE = "cache.sqlite"
#: Changes with the tables; a file of another version is deleted.
_VERSION = 1
_TABLES = ("records", "vectors")
_SCHEMA = [
    f"CREATE TABLE {table} (key BLOB PRIMARY KEY, used INTEGER NOT NULL, tag BLOB NOT NULL, body BLOB NOT NULL)"
    for table in _TABLES
]
_MAX_VALUES = 500
#: Maximum bytes after a build: all records of 200 MB of files, which take a third of their bytes. In a larger tree the
#: space is better used by the index, and a refresh or merge needs the newest records.
MOST_BYTES = 64 << 20
#: Until then it may grow to this size, with what an interrupted build has kept.
_MOST_BYTES_BUILDING = 512 << 20
#: Seconds that a reader waits for the writer's commit, and the writer for readers.
_READER_WAITS, _WRITER_WAITS = 0.2, 1.0
_BESIDE = ("-journal", "-wal", "-shm")
#: Ends a journal that names others.
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
#: Damage, a full disk, a locked file: with any of them there is no cache for now.
_TROUBLE = (sqlite3.Error, OSError)


class Cache:
    """Reads and writes the cache file. Errors are never raised: unreadable rows count as missing."""

    def __init__(self, index_dir: Path, secret: bytes, *, write: bool = False) -> None:
        """Open the cache of an index, if there is one. With `write`, create it, or replace an unusable file."""
        self._path = index_dir / FILE
        self._secret = secret
        self._db: sqlite3.Connection | None = None
        self._write = write
        with self._forgiving():
            if write and not _journal_is_harmless(self._path):
                remove(index_dir)
            self._open()

    def _replace(self) -> None:
        with suppress(*_TROUBLE):
            remove(self._path.parent)
            self._open()

    def _open(self) -> None:
        write = self._write
        if not write and not self._path.is_file():
            return
        if self._path.is_symlink():  # the writer would follow it to any file
            raise OSError("a link")
        uri = f"{self._path.resolve().as_uri()}?mode={'rwc' if write else 'ro'}"
        timeout = _WRITER_WAITS if write else _READER_WAITS
        db = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            # A power cut may damage the file, which is then deleted; waiting for the disk would slow every commit.
            db.execute("PRAGMA synchronous = OFF")
            if write and not db.execute("PRAGMA schema_version").fetchone()[0]:
                db.executescript(";".join(["BEGIN", *_SCHEMA, f"PRAGMA user_version = {_VERSION}", "COMMIT"]))
            if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                raise sqlite3.DatabaseError("another version")
            # Nothing else: a view or trigger that somebody put there could keep this process busy for ever.
            schema = [row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")]
            if schema != _SCHEMA:
                raise sqlite3.DatabaseError("other tables")
            if write:
                # A journal with something in it has been rolled back and is gone. A run that was killed before it
                # wrote any of it leaves an empty one, which SQLite ignores.
                with suppress(FileNotFoundError):
                    os.unlink(f"{self._path}{_BESIDE[0]}")
        except BaseException:
            db.close()
            raise
        self._db = db

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _tag(self, table: str, key: bytes, body: bytes) -> bytes:
        digest = blake2b(key, digest_size=16, key=self._secret, person=table.encode())
        digest.update(body)
        return digest.digest()

    def has_none(self, table: str) -> bool:
        """Whether it is known that the table is empty."""
        rows: list[tuple[int]] = [(1,)]
        if self._db is not None:
            with self._forgiving():
                rows = self._db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall()
        return not rows

    def get(self, table: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Maps each key that is in the cache to its body (the stored bytes)."""
        bodies: dict[bytes, bytes] = {}
        if self._db is None:
            return bodies
        with self._forgiving():
            for start in range(0, len(keys), _MAX_VALUES):
                some = keys[start : start + _MAX_VALUES]
                sql = f"SELECT key, tag, body FROM {table} WHERE key IN ({','.join('?' * len(some))})"
                for key, tag, body in self._db.execute(sql, some):
                    plain = isinstance(body, bytes) and isinstance(tag, bytes)
                    if plain and compare_digest(tag, self._tag(table, key, body)):
                        bodies[key] = body
        return bodies

    def put(self, table: str, items: Mapping[bytes, bytes], generation: int) -> bool:
        """Store bodies under their keys, marked as used by a generation; returns whether all of them are stored."""
        if not items:
            return True
        before = self._db
        if before is None or self.full(_MOST_BYTES_BUILDING):
            return False
        rows = [(key, generation, self._tag(table, key, body), body) for key, body in items.items()]
        with self._transaction() as db:
            db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", rows)
        return self._db is before  # it is closed on trouble

    def touch(self, table: str, keys: Iterable[bytes], generation: int) -> None:
        """Mark rows as used by a generation."""
        with self._transaction() as db:
            db.executemany(f"UPDATE {table} SET used = ? WHERE key = ?", ((generation, key) for key in keys))

    def full(self, limit: int) -> bool:
        """Whether the file is larger than `limit` bytes."""
        with suppress(*_TROUBLE):
            return self._db is not None and self._path.stat().st_size > limit
        return False

    def collect(self, limit: int, records: Iterable[bytes], generation: int) -> None:
        """Delete the least recently used rows (among equals the oldest) if the file is larger than `limit` bytes.

        Args:
            records: Keys of the records that are in use.
            generation: The generation that uses these records.
        """
        if self._db is None or not self.full(limit):
            return
        with self._transaction() as db:
            db.executemany("UPDATE records SET used = ? WHERE key = ?", ((generation, key) for key in records))
            db.execute("CREATE TEMP TABLE old (name TEXT, number INTEGER)")
            ages = " UNION ALL ".join(
                f"SELECT '{table}' AS name, rowid AS number, used, length(body) AS size FROM {table}"
                for table in _TABLES
            )
            # Keep the newest rows that fit into three quarters of the bound: not every commit should have to collect.
            db.execute(
                "INSERT INTO old SELECT name, number FROM (SELECT name, number, "
                f"sum(size) OVER (ORDER BY used DESC, number DESC, name) AS total FROM ({ages})) WHERE total > ?",
                [limit * 3 // 4],
            )
            for table in _TABLES:
                db.execute(f"DELETE FROM {table} WHERE rowid IN (SELECT number FROM old WHERE name = '{table}')")
            db.execute("DROP TABLE old")
        if self._db is not None:
            with self._forgiving():
                self._db.execute("VACUUM")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A context manager for a transaction: an error in it is rolled back and suppressed."""
        db = self._db
        if db is None:
            with suppress(*_TROUBLE):
                yield sqlite3.connect(":memory:")  # without tables: every statement fails
            return
        with self._forgiving():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(*_TROUBLE):
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """A context in which an error closes the cache. The writer replaces a file that is permanently unusable."""
        try:
            yield
        except _TROUBLE as error:
            opened = self._db is not None
            self.close()
            # Another run may have more luck with a lock, or a full disk.
            passing = "locked" in str(error) or (opened and isinstance(error, sqlite3.OperationalError))
            if self._write and not passing:
                self._replace()


def _journal_is_harmless(database: Path) -> bool:
    """Whether the journal of a killed writer affects only the database, so that SQLite may roll back its transaction.

    SQLite trusts a journal. A journal that came with a clone can name other journals at its end, and SQLite deletes the
    files that these names lead to.
    """
    journal, *others = (f"{database}{suffix}" for suffix in _BESIDE)
    if any(map(os.path.lexists, others)):
        return False
    if not os.path.lexists(journal):
        return True
    try:
        handle, info = open_regular(journal)
    except OSError:
        return False
    with open(handle, "rb") as file:
        head = file.read(28)
        file.seek(-min(8, info.st_size), os.SEEK_END)
        pages, page_size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[24:28], "big")
        # A transaction only adds pages: a larger size would make the file grow.
        return file.read() != _JOURNAL_MAGIC and pages * page_size <= os.lstat(database).st_size


def remove(index_dir: Path) -> None:
    """Delete the cache's files."""
    for name in (FILE, *(FILE + suffix for suffix in _BESIDE)):
        with suppress(FileNotFoundError):
            os.unlink(index_dir / name)


def size_of(index_dir: Path) -> int:
    """The size of the cache in bytes; 0 if there is none."""
    try:
        return os.lstat(index_dir / FILE).st_size
    except OSError:
        return 0
