"""A search over parts gives the answer of one index over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from lci_py.cluster import leaf, root
from lci_py.cluster.leaf import Scores
from lci_py.errors import IndexError_, UsageError
from lci_py.search.engine import Engine
from lci_py.search.modes import multiview, single
from lci_py.search.ranking import evidence, same_file
from lci_py.types.search import MODES, Filters, SearchRequest
from tests.support.fleets import FILES, QUERIES, Fleet, indexed_paths, said


def split(one: Engine, folder: Path, cuts: list[int]) -> Fleet:
    paths = indexed_paths(one)
    bounds = [0, *sorted(cuts), len(paths)]
    return Fleet(one.root, [paths[a:b] for a, b in zip(bounds, bounds[1:], strict=False)], folder)


@pytest.fixture(scope="module")
def fleet(one: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """One part for each repository."""
    paths = indexed_paths(one)
    found = split(one, tmp_path_factory.mktemp("parts"), [i for i in range(1, len(paths)) if first(paths, i)])
    yield found
    found.close()


def first(paths: list[str], i: int) -> bool:
    return paths[i].partition("/")[0] != paths[i - 1].partition("/")[0]


@pytest.mark.parametrize("mode", MODES)
def test_the_answers_are_those_of_one_index(one: Engine, fleet: Fleet, mode: Any) -> None:
    assert len(fleet.parts) == 5
    results = 0
    for query in QUERIES:
        request = SearchRequest(query, mode, 10, snippet=2)
        expected = said(one, request)
        assert said(fleet.root, request) == expected, query
        results += len(expected["results"])
    assert results > 20


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [
    {"filters": Filters(lang=("python",))}, {"filters": Filters(kind=("function", "method"), exclude=("c/**",))},
    {"filters": Filters(name=("S*",))}, {"limit": 2}, {"limit": 3, "offset": 2}, {"context": (1, 2)},
])  # fmt: skip
def test_filters_limits_and_offsets(one: Engine, fleet: Fleet, mode: Any, more: dict[str, Any]) -> None:
    for query in ("store session", '"session"', "run"):
        request = SearchRequest(query, mode, **{"limit": 10, **more})
        assert said(fleet.root, request) == said(one, request)


def test_workers_with_several_parts_send_only_what_can_be_shown(
    one: Engine, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the bound of a view's hits is, the answers are those of one index with that bound."""
    for module in (root, leaf, single, multiview, evidence, same_file):
        monkeypatch.setattr(module, "POOL", 3)
    call, sizes = fleet.calls.call, {True: 0, False: 0}

    def counting(method: str, asked: Any) -> dict[int, Any]:
        found = call(method, asked)
        sizes[bool(fleet.calls.workers)] += sum(len(one.files) for one in found.values() if isinstance(one, Scores))
        return found

    monkeypatch.setattr(fleet.calls, "call", counting)
    for mode in MODES:
        for query in QUERIES[:13]:
            request = SearchRequest(query, mode, 2, snippet=2)
            expected = said(one, request)
            for workers in ([], [[0, 3], [1, 2, 4]]):
                monkeypatch.setattr(fleet.calls, "workers", workers)
                assert said(fleet.root, request) == expected, (query, mode)
    assert sizes[True] < 0.8 * sizes[False]


@given(data=st.data())
@settings(max_examples=2)
def test_it_does_not_matter_how_the_files_are_divided(
    one: Engine, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(FILES)), max_size=4))
    fleet = split(one, tmp_path_factory.mktemp("cut"), cuts)
    try:
        for query in data.draw(st.lists(st.sampled_from(QUERIES), min_size=3, max_size=6)):
            for mode in MODES:
                request = SearchRequest(query, mode, 10, snippet=2)
                assert said(fleet.root, request) == said(one, request)
    finally:
        fleet.close()


def test_round_trips(fleet: Fleet) -> None:
    """What was counted for a query is known to the next one; multiview asks once more for what is around its best
    results, and every mode once where the copies of a file are."""
    asked = fleet.calls.asked
    for mode, query, trips in (
        ("symbolic", "name:Store", ["select", "select"]),
        ("dense", "expired sessions", ["scores", "ranks", "search"]),
        ("bm25", "expired sessions", ["scores", "ranks", "search"]),
        ("multiview", "expired sessions", ["scores", "seeds", "ranks", "search"]),
    ):
        asked.clear()
        fleet.root.search(SearchRequest(query, mode, 5))
        before = [method for method, _ in asked if method == "counts"]
        assert len(before) <= 3
        asked.clear()
        fleet.root.search(SearchRequest(query, mode, 5))
        assert [method for method, _ in asked] == trips


def test_a_part_that_does_not_answer_is_named(one: Engine, fleet: Fleet, tmp_path: Path) -> None:
    request = SearchRequest("store sessions", "multiview", 10)
    whole = fleet.root.search(request)
    assert not whole.degraded
    fleet.calls.lost = {1}  # a
    found = fleet.root.search(request)
    assert [(item.view, item.failure_mode, item.confidence_impact) for item in found.degraded] == [
        ("repositories", "error", "high")
    ]
    assert found.degraded[0].detail.startswith("a: ")
    assert found.results and not any(result.file.startswith("a/") for result in found.results)
    fleet.calls.lost = set(range(5))
    with pytest.raises(IndexError_):
        fleet.root.search(request)
    fleet.calls.lost = set()
    # What was counted meanwhile, without that part, is forgotten.
    assert said(fleet.root, request) == said(one, request)
    for late in ("counts", "scores", "seeds", "ranks", "search"):
        assert late in {method for method, _ in fleet.calls.asked}


def test_a_part_that_is_lost_in_the_middle(one: Engine, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever call it misses: the answer names it, and the next one is whole again."""
    request = SearchRequest("store sessions", "multiview", 10)
    call = fleet.calls.call
    for lost in ("counts", "scores", "seeds", "ranks", "search"):

        def losing(method: str, asked: Any, lost: str = lost) -> Any:
            found = call(method, asked)
            return {part: answer for part, answer in found.items() if method != lost or part != 1}

        monkeypatch.setattr(fleet.calls, "call", losing)
        fleet.root._known = root._nothing_known()
        found = fleet.root.search(request)
        monkeypatch.undo()
        assert [item.view for item in found.degraded] == ["repositories"]
        assert said(fleet.root, request) == said(one, request)


def test_what_a_fleet_does_not_answer_is_refused(fleet: Fleet) -> None:
    with pytest.raises(UsageError, match="--near"):
        fleet.root.search(SearchRequest("store", "multiview", near="a/store.py"))
    with pytest.raises(UsageError, match="the best 300 results"):
        fleet.root.search(SearchRequest("store", "dense", 300, offset=1))
    with pytest.raises(UsageError, match="kind"):
        fleet.root.search(SearchRequest("store", "dense", filters=Filters(kind=("klass",))))


def test_the_graph_of_the_parts_is_that_of_one_index(one: Engine, fleet: Fleet) -> None:
    """Edges lead from one part into another one, as in one index over all of them."""
    request = SearchRequest("run", "multiview", 1, snippet=0, filters=Filters(path=("c/app.py",)))
    found = fleet.root.search(request).results[0]
    assert found.graph is not None and found.graph == one.search(request).results[0].graph
    assert {link.file for link in found.graph.callees} == {"a/store.py"}
