"""A search over parts gives the answer of one index over all of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from lci_py.cluster import leaf, root
from lci_py.errors import IndexError_, UsageError
from lci_py.search.engine import Engine
from lci_py.search.modes import multiview, single
from lci_py.search.ranking import evidence, same_file
from lci_py.types.search import MODES, Filters, SearchRequest
from tests.support.fleets import FILES, QUERIES, Opened, Parts, said


@pytest.mark.parametrize("mode", MODES)
def test_the_answers_are_those_of_one_index(one: Engine, whole: Opened, mode: Any) -> None:
    assert len(whole.fleet.parts) == 5
    results = sure = 0
    for query in QUERIES:
        request = SearchRequest(query, mode, 10, snippet=2)
        expected = said(one, request)
        assert said(whole, request) == expected, query
        results += len(expected["results"])
        sure += expected["confidence"] is not None
    assert results > 20 and (sure > 10) == (mode in ("dense", "multiview"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [
    {"filters": Filters(lang=("python",))}, {"filters": Filters(kind=("function", "method"), exclude=("c/**",))},
    {"filters": Filters(name=("S*",))}, {"limit": 2}, {"limit": 3, "offset": 2}, {"context": (1, 2)},
    {"filters": Filters(lang=("klingon",))}, {"filters": Filters(kind=("klass",))},
])  # fmt: skip
def test_filters_limits_and_offsets(one: Engine, whole: Opened, mode: Any, more: dict[str, Any]) -> None:
    for query in ("store session", '"session"', "run"):
        request = SearchRequest(query, mode, **{"limit": 10, **more})
        assert said(whole, request) == said(one, request)


def test_the_bounds_of_a_ranking_are_of_all_parts(one: Engine, whole: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the bound of a view's hits is, the answers are those of one index with that bound."""
    for module in (root, single, multiview, evidence, same_file):
        monkeypatch.setattr(module, "POOL", 3)
    for mode in MODES:
        for query in QUERIES[:13]:
            request = SearchRequest(query, mode, 2, snippet=2)
            assert said(whole, request) == said(one, request), (query, mode)


@given(data=st.data())
@settings(max_examples=2)
def test_it_does_not_matter_how_the_files_are_divided(one: Engine, parts: Parts, data: st.DataObject) -> None:
    starts = data.draw(st.sets(st.sampled_from(sorted(FILES)), max_size=4))
    fleet = parts.opened(parts.fleet(starts=starts))
    for query in data.draw(st.lists(st.sampled_from(QUERIES), min_size=3, max_size=6)):
        for mode in MODES:
            request = SearchRequest(query, mode, 10, snippet=2)
            assert said(fleet, request) == said(one, request)
    fleet.workers.close()


@pytest.mark.parametrize(
    ("mode", "query", "trips"),
    [("symbolic", "name:Store", 2), ("dense", "expired sessions", 3), ("bm25", "expired sessions", 4),
     ("multiview", "expired sessions", 6)],
)  # fmt: skip
def test_round_trips(whole: Opened, mode: Any, query: str, trips: int) -> None:
    """The last one asks only the parts with results that are shown."""
    whole.workers.asked.clear()
    whole.search(SearchRequest(query, mode, 1))
    asked = [parts for method, parts in whole.workers.asked if method == "search"]
    assert asked[:-1] == [5] * (trips - 1) and asked[-1] < 5


def test_a_part_that_does_not_answer_is_named(one: Engine, whole: Opened) -> None:
    request = SearchRequest("store sessions", "multiview", 10)
    assert not whole.search(request).degraded
    whole.workers.lost = ["a"]
    found = whole.search(request)
    assert [(item.view, item.failure_mode, item.confidence_impact) for item in found.degraded] == [
        ("repositories", "error", "high")
    ]
    assert found.degraded[0].detail.startswith("a: ")
    assert found.results and not any(result.file.startswith("a/") for result in found.results)
    whole.workers.lost = [part.name for part in whole.fleet.parts]
    with pytest.raises(IndexError_):
        whole.search(request)
    whole.workers.lost = ()
    assert said(whole, request) == said(one, request)


def test_a_part_that_is_lost_in_the_middle_is_as_one_that_was_never_there(
    whole: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever call it misses, nothing of what it has counted is left in the answer."""
    request = SearchRequest("store sessions", "multiview", 10, snippet=0)
    search, answers = leaf.Leaf.search, []
    for lost in range(6):
        calls = 0

        def losing(self: leaf.Leaf, *args: Any, lost: int = lost) -> Any:
            nonlocal calls
            if self._snapshot._part.name == "a":
                calls += 1
                if calls > lost:
                    raise IndexError_("lost")
            return search(self, *args)

        monkeypatch.setattr(leaf.Leaf, "search", losing)
        answers.append(said(whole, request))
        assert calls == lost + 1
    assert [item[0] for item in answers[0]["degraded"]] == ["repositories"]
    assert all(answer == answers[0] for answer in answers)


def test_what_a_fleet_does_not_answer_is_refused(whole: Opened) -> None:
    with pytest.raises(UsageError, match="--near"):
        whole.search(SearchRequest("store", "multiview", near="a/store.py"))
    with pytest.raises(UsageError, match="the best 300 results"):
        whole.search(SearchRequest("store", "dense", 300, offset=1))


def test_the_graph_of_the_parts_is_that_of_one_index(one: Engine, whole: Opened) -> None:
    """Edges lead from one part into another one, as in one index over all of them."""
    request = SearchRequest("run", "multiview", 1, snippet=0, filters=Filters(path=("c/app.py",)))
    found = whole.search(request).results[0]
    assert found.graph is not None and found.graph == one.search(request).results[0].graph
    assert {link.file for link in found.graph.callees} == {"a/store.py"}
