"""The multiview search: run the views in parallel, collect their candidates, measure every signal, fuse."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import IndexError_, near_needs_words
from lci_py.search.answer import results
from lci_py.search.degraded import Extras, detail, failure
from lci_py.search.modes import fallback
from lci_py.search.query.plan import MINOR, parts, plan as make_plan
from lci_py.search.query.rewrites import look_up, rewritten
from lci_py.search.query.text import read_fields, read_text
from lci_py.search.ranking.fusion import GRAPH, Candidates, Ranked, joined
from lci_py.search.ranking.graph_lift import SEEDS, Neighbours, neighbours
from lci_py.search.ranking.signals import Measure, factors
from lci_py.search.views.hits import HitList
from lci_py.search.views.time_budget import side_by_side
from lci_py.types.search import VIEWS, Degradation

if TYPE_CHECKING:
    from _thread import LockType

    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.unit_columns import UnitColumns
    from lci_py.search.modes.fallback import Attempt
    from lci_py.search.query.plan import Plan
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.fusion import Fused
    from lci_py.search.ranking.near import Near
    from lci_py.search.ranking.signals import Pieces
    from lci_py.search.snapshot import Session
    from lci_py.search.views.retrievers import DenseRetriever, LexicalRetriever, Retriever, SymbolicRetriever
    from lci_py.types.search import Answer, Filters, SearchRequest, View

#: Candidates of each view. The ranking never depends on how many results are shown, so this is a constant.
POOL = 400
#: Units from which on each view has a thread: below, a view takes about 1 ms, and threads cost more than they save.
LARGE = 20_000


@dataclass(slots=True)
class Views:
    """Loaders of the three views, each of which may raise an `IndexError_`, and the locks that are held for theirs."""

    dense: Callable[[], DenseRetriever]
    bm25: Callable[[], LexicalRetriever]
    symbolic: Callable[[], SymbolicRetriever]
    graph: Callable[[], GraphIndex]
    turns: Mapping[View, LockType]
    #: The stems in the names of the files that queries have met.
    pieces: dict[int, Pieces] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """What a multiview search found."""

    hits: dict[View, HitList]
    ranked: Ranked | None = None  # None if there are no candidates
    candidates: Candidates | None = None
    degraded: list[Degradation] = field(default_factory=list)
    trace: dict[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return 0 if self.ranked is None else len(self.ranked)

    def head(self, limit: int) -> list[Fused]:
        """The first results."""
        return [] if self.ranked is None else self.ranked.head(limit)

    def find(self, unit: int) -> Fused | None:
        """The result of a unit, None if it is not among them."""
        found = None if self.ranked is None else self.ranked.find(unit)
        return None if found is None else found[1]


def answer(session: Session, request: SearchRequest) -> Answer:
    """Answer a query in the mode multiview. A budget counts from here on.

    Raises:
        UsageError: A filter cannot be used.
        IndexError_: No view can be used.
    """
    began = time.perf_counter()
    text, filters = read_fields(request.query, request.filters)
    session.check(filters)
    if not text:
        if request.near is not None:
            raise near_needs_words()
        return session.structural(request)
    extras, near = Extras(), None
    if request.near is not None:
        from lci_py.search.ranking.near import Near, place_of

        place = place_of(session, request.near)
        near = extras.ask("graph", lambda: Near(session, place))
    with session.trace.stage("plan"):
        query = read_text(text)
    attempt = fallback.first(session, query, filters)
    attempt, chosen, outcome = _attempted(session, request, filters, attempt, began, near, extras)
    again = None if request.strict else fallback.relaxed(session, query, filters, attempt, outcome)
    if again is not None:
        other = _attempted(session, request, filters, again, began, near, extras)
        if not outcome.total or fallback.by_words(other[2]):
            attempt, chosen, outcome = other
    chosen = fallback.settled(chosen, attempt, outcome, filtered=bool(filters))
    for name, stage in outcome.trace.items():
        session.trace.add(name, stage["ms"], stage["candidates_in"], stage["candidates"])
    made = results.multiview_answer(session, request, chosen, outcome, attempt.places, extras)
    if request.shadow is not None:
        from lci_py.search.explain.shadow import shadow

        made = replace(made, shadow=shadow(session, request, chosen, outcome))
    if request.expand:
        from lci_py.search.modes.expand import NOTHING_AROUND, expanded

        with session.trace.stage("expand", len(made.results)) as stage:
            whole = extras.ask("graph", lambda: expanded(session, request, filters, made, outcome))
            made = replace(made, expansion=NOTHING_AROUND) if whole is None else whole
            stage.left = len(made.results)
    failed = {item.view for item in outcome.degraded}
    answering = [view for view in VIEWS if view not in failed]
    wanted = request.near is not None or bool(request.expand)
    made = replace(made, degraded=(*made.degraded, *extras.degraded(answering, wanted=wanted)))
    if request.explain_file is None:
        return made
    from lci_py.search.explain.explainable import Fusion
    from lci_py.search.explain.file import explained

    return explained(session, request, made, lambda: Fusion(session, attempt, filters, outcome))


def _attempted(
    session: Session, request: SearchRequest, filters: Filters, attempt: Attempt, began: float, near: Near | None,
    extras: Extras,
) -> tuple[Attempt, Plan, Outcome]:  # fmt: skip
    """The attempt with what its query became, how it was planned, and what it found."""
    with session.trace.stage("plan"):
        wording = look_up(session, attempt.query, extras, wait=request.budget_ms is None)
        chosen = make_plan(
            attempt.query,
            filters,
            wording=wording,
            expand=request.expand,
            near=None if near is None else str(near.place),
            budget_ms=request.budget_ms,
            strict=request.strict,
        )
    if attempt.hopeless:
        return attempt, chosen, Outcome({view: HitList.empty(view) for view in VIEWS})
    query = rewritten(attempt.query, wording.rewrites)
    found = search(query, chosen, session.views, session.unit_table, attempt.allowed, began, near, extras)
    return attempt._replace(query=query), chosen, found


def search(
    query: TextQuery,
    plan: Plan,
    views: Views,
    table: UnitColumns,
    allowed: NDArray[np.bool_] | None,
    began: float,
    near: Near | None,
    extras: Extras,
) -> Outcome:
    """Answer a multiview query.

    Args:
        query: The text to rank by.
        plan: Weights, factors and budgets.
        views: The loaders; a view that fails or is late is reported in `degraded` and the others answer.
        table: Facts about the units.
        allowed: [units] mask of the filters.
        began: The moment of `time.perf_counter` from which the budgets count.
        near: A place that candidates are measured by as well.
        extras: Notes what fails of the graph, which is then no part of the ranking.
    Raises:
        IndexError_: Every view failed; the first one's error.
    """
    outcome = Outcome({view: HitList.empty(view) for view in VIEWS})
    came = len(table.file) if allowed is None else int(allowed.sum())
    spent: dict[View, float] = {}

    def run(view: View) -> HitList:
        started = time.perf_counter()
        retriever: Retriever = getattr(views, view)()
        hits = retriever.search(query, POOL, allowed)
        spent[view] = (time.perf_counter() - started) * 1e3
        return hits

    until = {view: began + ms / 1e3 for view, ms in plan.budgets.items()}
    found = side_by_side(run, VIEWS, views.turns, until, threads=len(table) >= LARGE)
    waited = (time.perf_counter() - began) * 1e3
    answering = [view for view in VIEWS if isinstance(found.get(view), HitList)]
    for view in VIEWS:
        hits = found.get(view)
        if hits is None:
            outcome.degraded.append(_late(view, plan, waited, answering))
        elif isinstance(hits, IndexError_):
            if len(found) == len(VIEWS) and not answering:
                raise hits  # the first view's error is the command's
            outcome.degraded.append(_failed(view, plan, hits, answering))
        elif isinstance(hits, BaseException):
            raise hits
        else:
            outcome.hits[view] = hits
            outcome.trace[view] = {"ms": spent[view], "candidates_in": came, "candidates": len(hits)}
    if any(len(hits) for hits in outcome.hits.values()):
        started = time.perf_counter()
        failed = {item.view for item in outcome.degraded}
        answered = {view: hits for view, hits in outcome.hits.items() if view not in failed}
        graph = extras.ask("graph", lambda: _checked(views.graph()))
        _rank(outcome, Measure(query, views, table, answered, graph), query, plan, table, allowed, near, graph, extras)
        ms = (time.perf_counter() - started) * 1e3
        came = 0 if outcome.candidates is None else len(outcome.candidates.units)
        outcome.trace["fusion"] = {"ms": ms, "candidates_in": came, "candidates": outcome.total}
    return outcome


def _checked(graph: GraphIndex) -> GraphIndex:
    """The graph, if what every ranking asks of it can be told."""
    _ = graph.importers
    return graph


def _rank(
    outcome: Outcome, measure: Measure, query: TextQuery, plan: Plan, table: UnitColumns,
    allowed: NDArray[np.bool_] | None, near: Near | None, graph: GraphIndex | None, extras: Extras,
) -> None:  # fmt: skip
    """Rank what the views found, then again with what is around the best of it in the graph."""

    def candidates(units: NDArray[np.int64]) -> Candidates:
        files = table.file[units]
        signals = measure.signals(units)
        if near is not None:
            signals["near"] = near.closeness(units, files)
        return Candidates(units, files, signals, factors(query, units, table))

    there = np.zeros(len(table), np.bool_)  # not `unique`, which sorts
    for hits in outcome.hits.values():
        there[hits.units] = True
    units = np.flatnonzero(there)
    outcome.candidates = candidates(units)
    outcome.ranked = best = Ranked(outcome.candidates, plan)
    if graph is None or not plan.weights.get(GRAPH):
        return
    around = extras.ask("graph", lambda: neighbours(graph, table, best.units[:SEEDS], best.scores[:SEEDS]))
    if around is None:
        return
    if allowed is not None:
        passing = allowed[around.units]
        around = Neighbours(around.units[passing], around.values[passing])
    more = around.units[~there[around.units]]
    whole = outcome.candidates if not len(more) else joined(outcome.candidates, candidates(more))
    lifts = np.zeros(len(whole.units), np.float32)
    lifts[np.searchsorted(whole.units, around.units)] = around.values
    whole.signals[GRAPH] = lifts
    outcome.candidates = whole
    outcome.ranked = Ranked(whole, plan)


def _failed(view: View, plan: Plan, error: IndexError_, answering: list[View]) -> Degradation:
    return Degradation(view, failure(error), _fallback(answering), _impact(view, plan, answering), detail(error))


def _late(view: View, plan: Plan, waited: float, answering: list[View]) -> Degradation:
    said = f"its share of the time budget is {plan.budgets[view]:g} ms; it had not answered after {waited:.0f} ms"
    return Degradation(view, "timeout", _fallback(answering), _impact(view, plan, answering), said)


def _fallback(answering: list[View]) -> str:
    return "+".join(answering) or "none"


def _impact(view: View, plan: Plan, answering: list[View]) -> str:
    """How much of the ranking's weight is missing with the view."""
    part = parts(plan.weights)[view]
    return "high" if part >= MINOR or not answering else "medium" if part >= MINOR / 2 else "low"
