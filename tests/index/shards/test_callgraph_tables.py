"""Impossible calls and definitions in a symbolic shard are refused."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.callgraph_tables import SqlTables
from lci_py.index.shards.numbering import Numbering
from lci_py.index.shards.segment_rows import number_rows
from lci_py.index.shards.symbols_writer import write_symbolic
from lci_py.source.file_record import FileRecord
from tests.support.segments import extracted

SOURCE = "class A {\n void f(int x) { f(1); }\n void f() {}\n}\n"


@pytest.fixture
def shard(tmp_path: Path) -> sqlite3.Connection:
    found = extracted("A.java", SOURCE)
    digests = b"12345678" * len(found.chunks)
    write_symbolic(
        tmp_path / "s.sqlite", number_rows([FileRecord("A.java", 1, 1, "0", 1, found, (), (), b"", b"", digests)])
    )
    return sqlite3.connect(tmp_path / "s.sqlite")


def tables(shard: sqlite3.Connection) -> SqlTables:
    names = ("files", "symbols", "units", "chunks")
    return SqlTables(
        [shard], Numbering([{name: shard.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}])
    )


def test_numbers_of_arguments_are_kept(shard: sqlite3.Connection) -> None:
    found, known = tables(shard), extracted("A.java", SOURCE)
    assert list(found.facts(0).arities) == [symbol.arity for symbol in known.symbols] == [-1, 257, 0]
    assert [call.arguments for call in found.calls(0)] == [call.arguments for call in known.calls] == [1]


@pytest.mark.parametrize(
    "change",
    [
        "definitions SET arity = 65536", "definitions SET arity = -2", "definitions SET arity = 'x'", "definitions SET arity = 1.5",
        "calls SET arguments = -4", "calls SET arguments = 1 << 31", "calls SET arguments = 'x'",
    ],
)  # fmt: skip
def test_impossible_numbers_of_arguments_are_damage(shard: sqlite3.Connection, change: str) -> None:
    shard.execute(f"UPDATE {change}")
    found = tables(shard)
    with pytest.raises(DamagedIndexError):
        (found.facts(0), found.calls(0))
