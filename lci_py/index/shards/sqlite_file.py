"""A shard in SQLite, opened for reading."""

from __future__ import annotations

import sqlite3
from _thread import allocate_lock
from collections.abc import Sequence
from pathlib import Path

from lci_py.errors import DamagedIndexError


class SqliteFile:
    """Reader of one file."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        if not path.is_file():
            raise DamagedIndexError(f"{self.name} is missing")
        # immutable: the file is never changed in place, so SQLite need not lock it.
        uri = path.resolve().as_uri() + "?mode=ro&immutable=1"
        self.db = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self.db.execute("PRAGMA trusted_schema = OFF")  # the schema may be hostile: it must not run anything
        self.db.row_factory = sqlite3.Row
        # The thread of a search that ran out of time may still read, and not every build of SQLite allows two readers.
        self._lock = allocate_lock()

    def execute(self, sql: str, args: Sequence[object] = ()) -> list[sqlite3.Row]:
        """The rows of a query."""
        try:
            with self._lock:
                return self.db.execute(sql, args).fetchall()
        except (sqlite3.DatabaseError, UnicodeError, OverflowError) as error:
            raise DamagedIndexError(f"{self.name}: {error}") from error

    def close(self) -> None:
        with self._lock:
            self.db.close()
