"""Where the dense view's best definition contradicts a name: hits are given, so that no model decides."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lci_py import app
from lci_py.search.conflicts.between_views import view_disagreements
from lci_py.search.engine import Engine
from lci_py.search.modes.multiview import Outcome
from lci_py.search.views.hits import HitList
from lci_py.types.search import Filters, SearchRequest

FILES = {
    "a.py": """
        class Pool:
            def close_all(self):
                return 1

            def _close_all(self):
                return 2

        class Queue:
            def close_all(self):
                return 3

        def closeAll():
            return 4

        def drain_all():
            return 5

        class only_one:
            def OnlyOne(self):
                return 6
        """,
    "test_a.py": "def drainAll():\n    return 7\n",
    "notes.md": "# drain_all\n\nEmpties it.\n",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root: Path = tmp_path_factory.mktemp("views")
    for name, text in FILES.items():
        (root / name).write_text(textwrap.dedent(text))
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as session:
        yield session


def found(opened: Engine, query: str, **scores: dict[str, float]) -> list[tuple[str, str, list[str]]]:
    """Type, resolution and sources, for the scores that each view gives qualified names."""
    rows = {row["qualified_name"]: row["unit"] for row in opened.snapshot.symbols.select(Filters(), 100)[0]}
    outcome = Outcome({})
    for view in ("dense", "bm25", "symbolic"):
        order = sorted(scores.get(view, {}).items(), key=lambda item: -item[1])
        units = np.array([rows[name] for name, _ in order], np.int64)
        hits = HitList(view, units, np.array([score for _, score in order], np.float64), len(order))  # type: ignore[arg-type]
        outcome.hits[view] = hits  # type: ignore[index]
    entries: Any = view_disagreements(opened.snapshot, query, Filters(), outcome)
    for entry in entries:
        assert set(entry) == {"conflict_type", "sources", "recommended_resolution", "reasoning"}
        assert all(source in entry["reasoning"] for source in entry["sources"])
    return [(e["conflict_type"], e["recommended_resolution"], e["sources"]) for e in entries]


def test_the_name_in_another_spelling_is_closer_in_meaning(opened: Engine) -> None:
    dense = {"closeAll": 0.9, "Pool.close_all": 0.6, "Queue.close_all": 0.5}
    assert found(opened, "Pool.close_all", dense=dense) == [
        ("direct-contradiction", "prefer-authoritative", ["a.py:3", "a.py:13"])
    ]
    assert found(opened, "close_all()", dense=dense) == [
        ("direct-contradiction", "escalate-to-user", ["a.py:3", "a.py:10", "a.py:13"])
    ]


def test_views_prefer_different_ones_of_several(opened: Engine) -> None:
    dense = {"Queue.close_all": 0.9, "Pool.close_all": 0.6}
    assert found(opened, "close_all", dense=dense, bm25={"Pool.close_all": 9.0, "Queue.close_all": 2.0}) == [
        ("scope-mismatch", "escalate-to-user", ["a.py:10", "a.py:3"])
    ]
    assert found(opened, "close_all", dense=dense, bm25={"Pool.close_all": 9.0, "Queue.close_all": 8.0}) == []


@pytest.mark.parametrize(
    ("query", "dense"),
    [
        ("drain_all", {"drain_all": 0.9, "closeAll": 0.2}),  # the name itself
        ("drain_all", {"closeAll": 0.9, "drain_all": 0.2}),  # another name, that means the like
        ("drain_all", {"drainAll": 0.9, "drain_all": 0.2}),  # a test
        ("closeAll", {"Pool.close_all": 0.64, "closeAll": 0.6}),  # noise
        ("close_all", {"Pool._close_all": 0.9, "Pool.close_all": 0.2}),  # beside it
        ("only_one", {"only_one.OnlyOne": 0.9, "only_one": 0.2}),  # in it
        ("close all", {"closeAll": 0.9, "Pool.close_all": 0.2}),  # no name
        ("kind:method", {"closeAll": 0.9}),
        ("nothing_like_it", {"closeAll": 0.9}),
        ("close_all", {}),  # the dense view failed
    ],
)
def test_nothing_is_said(opened: Engine, query: str, dense: dict[str, float]) -> None:
    assert found(opened, query, dense=dense) == []


def test_only_with_the_flag(opened: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"conflict_type": "scope-mismatch"}
    monkeypatch.setattr("lci_py.search.conflicts.between_views.view_disagreements", lambda *_: (entry,))
    assert opened.search(SearchRequest("close_all", "multiview", conflicts=True)).conflicts == (entry,)
    assert opened.search(SearchRequest("close_all", "multiview")).conflicts == ()
    assert opened.search(SearchRequest("close_all", "dense", conflicts=True)).conflicts == ()
