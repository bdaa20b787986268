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


def test_names_by_their_starts(tmp_path: Path) -> None:
    (tmp_path / "a.ex").write_text("defmodule Plug.Conn do\n  def b_1, do: 1\n  def bb, do: 2\n  def c, do: 3\nend\n")
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as engine:
        symbols = engine.snapshot.symbols
        found = {start: symbols.names_from(start, 9) for start in ("", "P", "b", "b_", "bc", "c", "d")}
        assert found == {
            "": ["Plug.Conn", "b_1", "bb", "c"], "P": ["Plug.Conn"], "b": ["b_1", "bb"], "b_": ["b_1"], "bc": [],
            "c": ["c"], "d": [],
        }  # fmt: skip
        for globs in (("b*",), ("*b*",), ("b_?", "b[b]"), ("c", "b*", "*b")):
            wanted = [name for name in ("b_1", "bb", "c") if "c" in globs or name != "c"]
            for kind in ((), ("function",), ("function", "macro")):
                rows, total = symbols.select(Filters(name=globs, kind=kind), 9)
                assert ([row["symbol"] for row in rows], total) == (wanted, len(wanted)), (globs, kind)
        for name in ("Plug.Conn", "Conn"):
            assert [row["symbol"] for row in symbols.definitions(name, Filters())] == ["Plug.Conn"]
            assert [row["name"] for row in symbols.with_joined_names([name.lower()])] == ["Plug.Conn"][
                : "." not in name
            ]
