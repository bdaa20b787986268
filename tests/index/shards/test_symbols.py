"""Definitions by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from lci_py import app
from lci_py.index.shards import filters, symbols_writer
from lci_py.index.shards.symbol_queries import alike
from lci_py.types.search import Filters

SOURCE = """\
LIMIT = 3

def get_http(): ...

class Getter:
    def fetch_all(self): ...

def other(): ...
"""


def test_spellings_that_share_a_number_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (filters, symbols_writer):
        monkeypatch.setattr(module, "spelling", lambda _: 7)
    (tmp_path / "a.py").write_text(SOURCE)
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as engine:
        symbols = engine.snapshot.symbols
        assert [(row["joined"], row["name"]) for row in symbols.with_joined_names(["gethttp"])] == [
            ("gethttp", "get_http")
        ]
        assert [row["symbol"] for row in symbols.definitions_spelled(["gethttp", "http"], Filters())] == ["get_http"]
        assert [row["symbol"] for row in symbols.definitions_spelled(["getterfetchall", "fetchall"], Filters())] == [
            "fetch_all"
        ]
        assert alike(symbols, "getHtpp") == ["get_http"]
