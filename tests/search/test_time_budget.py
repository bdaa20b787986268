"""`--budget-ms`: a view that is late is named and waited for by nobody, and the next query finds all as it was.

No test measures time: a view that is to be late waits for an event, or has no share of the budget at all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import BudgetExceededError, DamagedIndexError
from lci_py.index.shards.dense import DenseIndex
from lci_py.index.shards.symbols import SymbolicIndex
from lci_py.search import retrievers
from lci_py.search.engine import Engine
from lci_py.search.query import plan as plans
from lci_py.search.query.plan import LIVE
from lci_py.search.retrievers import DenseRetriever, LexicalRetriever, SymbolicRetriever
from lci_py.types.search import VIEWS, Answer, SearchRequest
from tests.cli.fake import environment
from tests.support.waiting import PATIENCE

RETRIEVERS: dict[str, type] = {"dense": DenseRetriever, "bm25": LexicalRetriever, "symbolic": SymbolicRetriever}
QUESTION = "how is the price of an Inventory computed"
AMPLE = 600_000


class Gate:
    """Holds whoever passes it until it is opened, and counts them."""

    def __init__(self) -> None:
        self.entered, self.opened, self.count = threading.Event(), threading.Event(), 0

    def wrap(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def held(*args: Any, **options: Any) -> Any:
            self.count += 1
            self.entered.set()
            assert self.opened.wait(PATIENCE)
            return real(*args, **options)

        return held


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.opened.set()
    ended()


@pytest.fixture
def fresh(repo: Path) -> Iterator[Engine]:
    """A session with nothing open yet."""
    with app.open_engine(str(repo)) as opened:
        yield opened


def ended() -> None:
    """Wait for the threads of late views."""
    for thread in threading.enumerate():
        if thread.name.startswith("lci-"):
            thread.join(PATIENCE)
            assert not thread.is_alive()


def late(monkeypatch: pytest.MonkeyPatch, *views: str) -> None:
    """Give some views no time, and the others more than they need."""
    monkeypatch.setattr(plans, "budgets", lambda *_: {view: 0.0 if view in views else float(AMPLE) for view in VIEWS})


def ask(session: Engine, mode: str = "multiview", **options: Any) -> Answer:
    return session.search(SearchRequest(QUESTION, mode, 20, **options))


@pytest.mark.parametrize("view", VIEWS)
def test_a_late_view_is_named_and_the_others_answer(
    fresh: Engine, view: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    late(monkeypatch, view)
    monkeypatch.setattr(RETRIEVERS[view], "search", gate.wrap(RETRIEVERS[view].search))
    answer = ask(fresh, budget_ms=AMPLE)
    (entry,) = answer.degraded
    others = [other for other in VIEWS if other != view]
    assert (entry.view, entry.failure_mode, entry.fallback_mode) == (view, "timeout", "+".join(others))
    assert "share of the time budget is 0 ms" in entry.detail
    assert answer.results and view not in {result.mode_source for result in answer.results}
    assert entry.confidence_impact == {"dense": "high", "bm25": "high", "symbolic": "low"}[view]


@pytest.mark.parametrize("view", VIEWS)
def test_the_next_query_of_a_session_is_answered_as_if_nothing_had_been_late(
    repo: Path, fresh: Engine, view: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.open_engine(str(repo)) as other:
        expected = {mode: ask(other, mode) for mode in ("dense", "bm25", "multiview")}
    with monkeypatch.context() as patch:
        late(patch, view)
        patch.setattr(RETRIEVERS[view], "search", gate.wrap(RETRIEVERS[view].search))
        assert ask(fresh, budget_ms=AMPLE).degraded
        assert gate.entered.wait(PATIENCE)
        again = ask(fresh, budget_ms=AMPLE)  # while the first one's thread is in the middle of it
        assert [entry.view for entry in again.degraded] == [view]
        gate.opened.set()
        ended()
        assert gate.count == 1  # the second one's turn came too late to begin
    for mode, answer in expected.items():
        assert ask(fresh, mode) == answer


def test_a_shard_that_is_half_open_is_waited_for_and_opened_once(
    repo: Path, fresh: Engine, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with app.open_engine(str(repo)) as other:
        expected = ask(other, "dense")
    with monkeypatch.context() as patch:
        late(patch, "dense")
        patch.setattr(DenseIndex, "__init__", gate.wrap(DenseIndex.__init__))
        assert [entry.view for entry in ask(fresh, budget_ms=AMPLE).degraded] == ["dense"]
        assert gate.entered.wait(PATIENCE)
        found: list[Answer] = []
        second = threading.Thread(target=lambda: found.append(ask(fresh, "dense")))
        second.start()
        gate.opened.set()
        second.join(PATIENCE)
    assert found == [expected]
    assert gate.count == 1


def test_a_session_can_be_closed_while_a_late_view_is_at_work(
    repo: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", crashed.append)
    late(monkeypatch, "symbolic")
    monkeypatch.setattr(SymbolicIndex, "with_joined_names", gate.wrap(SymbolicIndex.with_joined_names))
    with app.open_engine(str(repo)) as session:
        assert [entry.view for entry in ask(session, budget_ms=AMPLE).degraded] == ["symbolic"]
        assert gate.entered.wait(PATIENCE)
    gate.opened.set()
    ended()
    assert not crashed


def test_if_every_view_is_late_the_answer_is_empty_and_says_so(
    fresh: Engine, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    late(monkeypatch, *VIEWS)
    for kind in RETRIEVERS.values():
        monkeypatch.setattr(kind, "search", gate.wrap(kind.search))
    answer = ask(fresh, budget_ms=AMPLE)
    assert (answer.results, answer.total, answer.plan["rung"]) == ((), 0, "degraded")
    assert [(e.view, e.failure_mode, e.fallback_mode) for e in answer.degraded] == [
        (view, "timeout", "none") for view in VIEWS
    ]
    assert {entry.confidence_impact for entry in answer.degraded} == {"high"}


def test_a_late_view_and_a_broken_one_are_both_named(
    fresh: Engine, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise DamagedIndexError("a test")

    late(monkeypatch, "dense")
    monkeypatch.setattr(DenseRetriever, "search", gate.wrap(DenseRetriever.search))
    monkeypatch.setattr(LexicalRetriever, "search", broken)
    answer = ask(fresh, budget_ms=AMPLE)
    assert [(e.view, e.failure_mode, e.fallback_mode) for e in answer.degraded] == [
        ("dense", "timeout", "symbolic"),
        ("bm25", "error", "symbolic"),
    ]
    monkeypatch.setattr(SymbolicRetriever, "search", broken)
    assert [e.failure_mode for e in ask(fresh, budget_ms=AMPLE).degraded] == ["timeout", "error", "error"]


def test_a_budget_that_is_kept_changes_nothing(session: Engine) -> None:
    free, bound = ask(session), ask(session, budget_ms=AMPLE)
    assert (bound.results, bound.total, bound.degraded) == (free.results, free.total, ())
    assert free.plan["budgets"] == {}
    assert {**bound.plan, "budgets": {}} == free.plan


def test_a_bug_in_a_view_is_not_taken_for_lateness(fresh: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(SymbolicRetriever, "search", bug)
    with pytest.raises(ZeroDivisionError):
        ask(fresh, budget_ms=AMPLE)


@pytest.mark.parametrize("intent", LIVE.weights)
def test_the_shares_follow_from_the_query_and_the_budget(intent: str) -> None:
    weights = LIVE.weights[intent]
    parts, shares = plans.parts(weights), plans.budgets(50, weights)
    assert sum(parts.values()) == pytest.approx(1)
    assert shares == plans.budgets(50, weights)
    assert {view: share for view, share in shares.items() if parts[view] >= plans.MINOR} == {
        view: 40.0 for view in VIEWS if parts[view] >= plans.MINOR
    }
    assert {share for view, share in shares.items() if parts[view] < plans.MINOR} <= {20.0}


# --- single modes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", VIEWS)
def test_a_single_mode_that_is_late_is_an_error(
    fresh: Engine, mode: str, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, name = (SymbolicIndex, "select") if mode == "symbolic" else (RETRIEVERS[mode], "search")
    expected = ask(fresh, mode)
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, gate.wrap(getattr(kind, name)))
        patch.setattr(retrievers, "wait", lambda done, _: gate.entered.wait(PATIENCE) and done.is_set())
        with pytest.raises(BudgetExceededError) as caught:
            ask(fresh, mode, budget_ms=70)
    assert (caught.value.exit_code, caught.value.details) == (4, {"budget_ms": 70})
    assert mode in caught.value.message
    gate.opened.set()
    assert ask(fresh, mode) == expected
    assert ask(fresh, mode, budget_ms=AMPLE) == expected


# --- the process --------------------------------------------------------------------------------------------------

STUCK = """
import sys, threading
from lci_py.search.retrievers import DenseRetriever
DenseRetriever.search = lambda *_: threading.Event().wait()
from lci_py.cli.main import run
sys.argv[0] = "lci"
run()
"""


def test_a_view_that_never_ends_holds_up_neither_the_answer_nor_the_exit(repo: Path) -> None:
    def lci(*argv: str) -> Any:
        command = [sys.executable, "-c", STUCK, "search", QUESTION, "--root", str(repo), "--budget-ms", "40", *argv]
        return subprocess.run(command, env=environment(), check=False, timeout=PATIENCE, capture_output=True, text=True)

    several = lci("--mode", "multiview", "--strict", "--json")
    assert several.returncode == 4
    assert "dense" in [entry["view"] for entry in json.loads(several.stdout)["degraded"]]
    alone = lci("--json")
    assert (alone.returncode, json.loads(alone.stdout)["error"]["code"]) == (4, "budget_exceeded")
