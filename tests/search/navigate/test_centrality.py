"""PageRank: a distribution, by hand where that is possible, and the same on every run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lci_py import app
from lci_py.index.shards.symbol_queries import map_rows
from lci_py.search.navigate.centrality import BACK, DAMPING, GIVEN, page_rank
from tests.support.graph_repo import build

CHAIN = {"a.py": "def first():\n    second()\n\n\ndef second():\n    third()\n\n\ndef third():\n    pass\n"}


def ranks(root: Path, starts: dict[int, float] | None = None) -> dict[str, float]:
    with app.open_engine(str(root)) as engine:
        symbols = engine.snapshot.symbols
        parents = np.array([row.parent for row in map_rows(symbols)], np.int64)
        found = page_rank(engine.snapshot.graph, parents, starts)
        rows = symbols.symbol_rows(list(range(len(parents))))
        return {rows[number]["symbol"]: rank for number, rank in enumerate(found.tolist())}


def test_a_chain_by_hand(tmp_path: Path) -> None:
    found = ranks(build(tmp_path / "repo", CHAIN))
    # Nodes: the three functions, and the file, which leads to each of them. The last one leads nowhere: what it has is
    # spread over all.
    links = np.zeros((4, 4))
    links[0, 1] = links[1, 2] = 1
    links[2, :] = 1 / 4
    links[3, :3] = 1 / 3
    system = np.eye(4) - DAMPING * links.T
    expected = np.linalg.solve(system, np.full(4, (1 - DAMPING) / 4))
    assert [found[name] for name in ("first", "second", "third")] == pytest.approx(expected[:3], abs=1e-6)
    assert found == ranks(tmp_path / "repo")


def test_starts_pull_what_is_around_them(tmp_path: Path) -> None:
    root = build(tmp_path / "repo", {**CHAIN, "b.py": "def far():\n    lone()\n\n\ndef lone():\n    pass\n"})
    plain, near = ranks(root), ranks(root, {0: 1.0})  # number 0 is `first`
    assert near["first"] > plain["first"] and near["second"] > near["lone"]
    # Also against the direction of calls: who calls a start is around it.
    assert 0 < BACK < 1 and 0 < GIVEN < 1
    assert ranks(root, {2: 1.0})["second"] > plain["second"]
