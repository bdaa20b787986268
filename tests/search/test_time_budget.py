"""`--budget-ms`: once it is spent no further view begins, and those that had no turn are named.

No test measures time: the clock of the search is the test's own, and stands still but while a view searches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import BudgetExceededError, DamagedIndexError
from lci_py.index.shards.symbols import SymbolicIndex
from lci_py.search.engine import Engine
from lci_py.search.modes import candidates, multiview, single, structural
from lci_py.search.query.plan import LIVE, parts
from lci_py.search.retrievers import DenseRetriever, LexicalRetriever, SymbolicRetriever
from lci_py.types.search import VIEWS, Answer, SearchRequest

RETRIEVERS: dict[str, type] = {"dense": DenseRetriever, "bm25": LexicalRetriever, "symbolic": SymbolicRetriever}
QUESTION = "how is the price of an Inventory computed"
#: What a view takes by the tests' clock, in milliseconds, and a budget for all of them.
TAKES, AMPLE = 1000, 600_000


@pytest.fixture
def fresh(repo: Path) -> Iterator[Engine]:
    """A session with nothing open yet."""
    with app.open_engine(str(repo)) as opened:
        yield opened


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each view takes `TAKES` by the clock of the search; the views that have searched, in order."""
    searched: list[str] = []
    clock = SimpleNamespace(perf_counter=lambda: len(searched) * TAKES / 1e3)

    def timed(view: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def search(*args: Any) -> Any:
            searched.append(view)
            return real(*args)

        return search

    for view, kind in RETRIEVERS.items():
        monkeypatch.setattr(kind, "search", timed(view, kind.search))
    monkeypatch.setattr(SymbolicIndex, "select", timed("symbolic", SymbolicIndex.select))
    for module in (candidates, multiview, single, structural):
        assert module.time is time
        monkeypatch.setattr(module, "time", clock)
    return searched


def ask(session: Engine, mode: str = "multiview", query: str = QUESTION, **options: Any) -> Answer:
    return session.search(SearchRequest(query, mode, 20, **options))


@pytest.mark.parametrize(("budget_ms", "turns"), [(1, 1), (1250, 1), (1251, 2), (2501, 3), (AMPLE, 3)])
def test_once_the_budget_is_spent_no_further_view_begins(
    fresh: Engine, slow: list[str], budget_ms: int, turns: int
) -> None:
    answer = ask(fresh, budget_ms=budget_ms)
    shares = parts(answer.plan["weights"])
    order = sorted(VIEWS, key=lambda view: -shares[view])
    assert slow == order[:turns]  # the weightiest first
    assert answer.results
    late = {entry.view: entry for entry in answer.degraded}
    assert late.keys() == set(order[turns:])
    for view, entry in late.items():
        answering = "+".join(other for other in VIEWS if other in slow)
        assert (entry.failure_mode, entry.fallback_mode) == ("timeout", answering)
        said = f"its turn came after {turns * TAKES} ms, with a time budget of {budget_ms} ms"
        assert said in entry.detail
        assert view not in {result.mode_source for result in answer.results}
        assert entry.confidence_impact == {"dense": "high", "bm25": "high", "symbolic": "low"}[view]


def test_the_next_query_of_a_session_is_answered_as_if_nothing_had_been_late(
    repo: Path, fresh: Engine, slow: list[str]
) -> None:
    with app.open_engine(str(repo)) as other:
        expected = {mode: ask(other, mode) for mode in ("dense", "bm25", "multiview")}
    assert ask(fresh, budget_ms=1).degraded
    for mode, answer in expected.items():
        assert ask(fresh, mode) == answer


def test_a_late_view_and_a_broken_one_are_both_named(
    fresh: Engine, slow: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = LexicalRetriever.search

    def broken(*args: Any) -> Any:
        real(*args)
        raise DamagedIndexError("a test")

    monkeypatch.setattr(LexicalRetriever, "search", broken)
    answer = ask(fresh, budget_ms=1251)
    assert [(e.view, e.failure_mode, e.fallback_mode) for e in answer.degraded] == [
        ("bm25", "error", "dense"),
        ("symbolic", "timeout", "dense"),
    ]


def test_a_budget_that_is_kept_changes_nothing(session: Engine) -> None:
    free, bound = ask(session), ask(session, budget_ms=AMPLE)
    assert (bound.results, bound.total, bound.degraded, bound.plan) == (free.results, free.total, (), free.plan)


def test_a_bug_in_a_view_is_not_taken_for_lateness(fresh: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(SymbolicRetriever, "search", bug)
    with pytest.raises(ZeroDivisionError):
        ask(fresh, budget_ms=AMPLE)


@pytest.mark.parametrize("intent", LIVE.weights)
def test_the_views_have_all_the_weight(intent: str) -> None:
    assert sum(parts(LIVE.weights[intent]).values()) == pytest.approx(1)


@pytest.mark.parametrize(("mode", "query"), [("dense", QUESTION), ("bm25", QUESTION), ("symbolic", "kind:class")])
def test_a_single_mode_that_is_late_is_an_error(fresh: Engine, slow: list[str], mode: str, query: str) -> None:
    expected = ask(fresh, mode, query)
    with pytest.raises(BudgetExceededError) as caught:
        ask(fresh, mode, query, budget_ms=70)
    assert (caught.value.exit_code, caught.value.details) == (4, {"budget_ms": 70})
    assert f"{mode} answered after 1,000 ms" in caught.value.message
    assert ask(fresh, mode, query) == expected
    assert ask(fresh, mode, query, budget_ms=AMPLE) == expected
