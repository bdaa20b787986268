"""What the symbolic shard leaves out of a definition is read as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lci_py.index.shards.segment_rows import number_rows
from lci_py.index.shards.symbols_writer import write_symbolic
from lci_py.source.file_record import FileRecord
from lci_py.types.search import KINDS
from lci_py.types.source import Extract, Symbol

FIELDS = ("name", "qualified_name", "kind", "scope", "signature", "line", "end_line", "first_line")


@pytest.mark.parametrize(
    ("name", "qualified", "scope", "signature"),
    [
        ("PORT", "PORT", "", "#define PORT 80"),
        ("PORT", "PORT", "", "# define PORT PORT"),
        ("e", "e", "", "#define e"),
        ("run", "Box.run", "Box", "def run(self, run=run)"),
        ("run", "Box::run", "Box", "void Box::run()"),
        ("run", "other", "Box", ""),
        ("run", "run", "Box", "what does not name it"),
        ("", "", "", "nameless"),
        *(("run", "run", "", text) for text in ("\x01", "\x02 run", "\x03run\x01", "a\x02run", "run\0run")),
        ("\x01", "\x02.\x01", "\x02", "#define \x01"),
    ],
)
def test_a_definition_is_read_as_it_was(tmp_path: Path, name: str, qualified: str, scope: str, signature: str) -> None:
    symbols = tuple(
        Symbol(
            name, qualified, kind, -1, scope, signature, "", True, 5, 5 + number, 5 - number % 4, None, digest="00" * 8
        )
        for number, kind in enumerate(KINDS)
    )
    record = FileRecord("a.c", 1, 1, "0", 40, Extract("c", "", symbols=symbols), (), (), b"", b"", b"")
    write_symbolic(tmp_path / "s.sqlite", number_rows([record]))
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db:
        found = db.execute(f"SELECT {', '.join(FIELDS)} FROM symbols ORDER BY id").fetchall()
    assert found == [tuple(getattr(symbol, field) for field in FIELDS) for symbol in symbols]
