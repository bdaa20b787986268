"""The multiview mode: ask the three views, collect their candidates, measure every signal, fuse."""

from __future__ import annotations

import time
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.errors import IndexError_, near_needs_words
from lci_py.search.answer.graph_context import contexts
from lci_py.search.answer.results import Wanted, answer, result, shown_rows
from lci_py.search.degraded import Extras, detail, failure
from lci_py.search.modes import fallback
from lci_py.search.modes.answered import Answered, Merged
from lci_py.search.modes.candidates import check, chosen
from lci_py.search.modes.own_names import without_own_names
from lci_py.search.modes.related import related
from lci_py.search.modes.structural import structural
from lci_py.search.query.plan import MINOR, parts, plan as make_plan
from lci_py.search.query.rewrites import NO_WORDING, look_up, rewritten
from lci_py.search.query.text import read_fields, read_text
from lci_py.search.query.weights import GRAPH
from lci_py.search.ranking.confidence import confidence
from lci_py.search.ranking.fusion import POOL, Candidates, Outcome, Ranked, joined
from lci_py.search.ranking.graph_lift import SEEDS, Neighbours, neighbours
from lci_py.search.ranking.signals import Measure, factors
from lci_py.search.ranking.spelled import NOTHING, Spelled, placed, spelled
from lci_py.search.views.retrievers import HitList
from lci_py.search.views.time_budget import side_by_side
from lci_py.search.whole import ALONE
from lci_py.types.record import replace
from lci_py.types.search import VIEWS, Degradation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.unit_columns import UnitColumns
    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.modes.fallback import Attempt
    from lci_py.search.query.plan import Plan
    from lci_py.search.query.rewrites import Wording
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.fusion import Fused
    from lci_py.search.ranking.near import Near
    from lci_py.search.snapshot import Snapshot, Views
    from lci_py.search.views.retrievers import Retriever
    from lci_py.search.whole import Whole
    from lci_py.types.search import Answer, Filters, Result, SearchRequest, View

#: Units from which on each view has a thread: below, a view takes about 1 ms, and threads cost more than they save.
LARGE = 20_000


def multiview(snapshot: Snapshot, request: SearchRequest) -> Answered:
    """Answer a query in the mode multiview. A budget counts from here on.

    Raises:
        UsageError: A filter cannot be used.
        IndexError_: No view can be used.
    """
    began = time.perf_counter()
    text, filters = read_fields(request.query, request.filters)
    check(snapshot, filters)
    if not text:
        if request.near is not None:
            raise near_needs_words()
        return structural(snapshot, request)
    run = _Run(snapshot, request, filters, began)
    with snapshot.trace.stage("plan"):
        query = read_text(text)
    tried = fallback.climbed(run.look_ups, query, filters, run.attempt, strict=request.strict)
    attempt, plan, outcome = tried.attempt, tried.plan, tried.found
    units = run.choose(attempt.choice)
    for name, stage in outcome.trace.items():
        snapshot.trace.add(name, stage["ms"], stage["candidates_in"], stage["candidates"])
    made = answered(snapshot, request, outcome, attempt.query, units.places, run.extras)

    def explainable() -> Explainable:
        from lci_py.search.explain.explainable import Fusion

        return Fusion(snapshot, filters, attempt.query, units.mask, outcome)

    sure = confidence(snapshot, made, outcome.hits["dense"], spelled_out=outcome.spelled_out or bool(units.places))
    made = replace(made, plan=plan.as_json(), degraded=tuple(outcome.degraded), confidence=sure)
    return Answered(made, filters, explainable, Merged(plan, outcome, run.extras))


class _Run:
    """One request, of which the text is tried as it is, and perhaps once more with less required of it."""

    def __init__(self, snapshot: Snapshot, request: SearchRequest, filters: Filters, began: float) -> None:
        self._snapshot, self._request, self._filters, self._began = snapshot, request, filters, began
        self.extras = Extras()
        self.choose = lru_cache(maxsize=None)(partial(chosen, snapshot))
        self.look_ups = fallback.look_ups(snapshot, self.choose)
        self._near: Near | None = None
        if request.near is not None:
            from lci_py.search.ranking.near import Near, place_of

            place = place_of(snapshot, request.near)
            self._near = self.extras.ask("graph", lambda: Near(snapshot, place))

    def attempt(self, attempt: Attempt) -> fallback.Tried:
        snapshot, request = self._snapshot, self._request
        with snapshot.trace.stage("plan"):
            wording = self._wording(attempt.query)
            plan = make_plan(
                attempt.query,
                self._filters,
                wording=wording,
                expand=request.expand,
                near=None if self._near is None else str(self._near.place),
                budget_ms=request.budget_ms,
                strict=request.strict,
                files=snapshot.numbering.total("files"),
            )
        allowed = self.choose(attempt.choice).mask
        try:
            wait = request.budget_ms is None
            known = spelled(snapshot, attempt.query, self._filters, allowed, wait=wait, strict=request.strict)
            if asked := related(snapshot, attempt.query.raw):
                # Neither the definition itself nor what is written about it says who calls it.
                names, symbols = placed(snapshot, attempt.query, asked.rows, allowed)
                known = Spelled(names, {}, symbols)
                plan = replace(plan, command=asked.command)
        except IndexError_:
            known = NOTHING  # the view that cannot be used says so
        plain = attempt.query if known.units else without_own_names(snapshot, attempt.query)
        query = rewritten(plain, wording.rewrites)
        if not self.look_ups.holds(attempt.choice) and not known.units:
            found = Outcome({view: HitList.empty(view) for view in VIEWS})  # no view need be asked
        else:
            question = Question(query, plan, allowed, self._near, known)
            found = search(question, snapshot.views, snapshot.unit_table, self.extras, self._began)
        heard = fallback.Heard.of(found)
        heard = heard._replace(by_words=heard.by_words or bool(known.names))
        return fallback.Tried(attempt._replace(query=query), plan, heard, found)

    def _wording(self, query: TextQuery) -> Wording:
        """What the vocabulary says of the query; nothing while a late view has the lexical shard and time is short."""
        snapshot, lock = self._snapshot, self._snapshot.view_locks["bm25"]
        if not lock.acquire(blocking=self._request.budget_ms is None):
            return NO_WORDING  # the view says that it is late
        try:
            return look_up(query, lambda: snapshot.lexical, lambda: snapshot.abbreviations, self.extras)
        finally:
            lock.release()


class Question(NamedTuple):
    """What the views are asked, and what their candidates are ranked by.

    Attributes:
        query: The text to rank by.
        plan: Weights, factors and budgets.
        allowed: [units] mask of what can be a result; None for all.
        near: A place that candidates are measured by as well.
        spelled: What the query spells out.
        whole: Of what the index is a part.
    """

    query: TextQuery
    plan: Plan
    allowed: NDArray[np.bool_] | None = None
    near: Near | None = None
    spelled: Spelled = NOTHING
    whole: Whole = ALONE


def search(question: Question, views: Views, table: UnitColumns, extras: Extras, began: float) -> Outcome:
    """Ask the views, and rank what they find.

    Args:
        question: What is asked.
        views: The loaders; a view that fails or is late is reported in `degraded` and the others answer.
        table: Facts about the units.
        extras: Notes what fails of the graph, which is then no part of the ranking.
        began: The moment of `time.perf_counter` from which the budgets count.
    Raises:
        IndexError_: Every view failed; the first one's error.
    """
    plan, allowed = question.plan, question.allowed
    outcome = Outcome({view: HitList.empty(view) for view in VIEWS}, symbols=question.spelled.symbols)
    outcome.spelled_out = bool(question.spelled.units)
    came = len(table.file) if allowed is None else int(allowed.sum())
    spent: dict[View, float] = {}

    def run(view: View) -> HitList:
        started = time.perf_counter()
        retriever: Retriever = getattr(views, view)()
        hits = retriever.search(question.query, POOL, allowed)
        if question.whole.hits is not None:
            hits = hits.head(question.whole.hits[view])
        spent[view] = (time.perf_counter() - started) * 1e3
        return hits

    until = {view: began + ms / 1e3 for view, ms in plan.budgets.items()}
    found = side_by_side(run, VIEWS, views.locks, until, threads=len(table) >= LARGE)
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
    led_to = question.whole.around is not None and len(question.whole.around[0])  # by other parts of a fleet
    if any(len(hits) for hits in outcome.hits.values()) or question.spelled.units or led_to:
        started = time.perf_counter()
        failed = {item.view for item in outcome.degraded}
        answered = {view: hits for view, hits in outcome.hits.items() if view not in failed}
        graph = extras.ask("graph", lambda: _checked(views.graph()))
        measure = Measure(question.query, views, table, answered, graph, question.whole)

        def around(best: Ranked) -> Neighbours:
            if question.whole.around is not None:
                return Neighbours(*question.whole.around)
            assert graph is not None
            return neighbours(graph, table, best.units[:SEEDS], best.scores[:SEEDS])

        _rank(outcome, question, measure, table, None if graph is None else around, extras)
        ms = (time.perf_counter() - started) * 1e3
        came = 0 if outcome.candidates is None else len(outcome.candidates.units)
        outcome.trace["fusion"] = {"ms": ms, "candidates_in": came, "candidates": outcome.total}
    return outcome


def _checked(graph: GraphIndex) -> GraphIndex:
    """The graph, if what every ranking asks of it can be told."""
    _ = graph.importers
    return graph


def _rank(
    outcome: Outcome,
    question: Question,
    measure: Measure,
    table: UnitColumns,
    around_best: Callable[[Ranked], Neighbours] | None,
    extras: Extras,
) -> None:
    """Rank what the views found, then again with what `around_best` says is around the best of it in the graph."""
    query, plan, allowed, near, known, fleet = question

    def candidates(units: NDArray[np.int64]) -> Candidates:
        files = table.file[units]
        signals = measure.signals(units) | known.of(units)
        if near is not None:
            signals["near"] = near.closeness(units, files)
        return Candidates(units, files, signals, factors(query, units, table))

    there = np.zeros(len(table), np.bool_)  # not `unique`, which sorts
    for hits in outcome.hits.values():
        there[hits.units] = True
    there[known.units] = True
    units = np.flatnonzero(there)
    outcome.candidates = candidates(units)
    outcome.ranked = best = Ranked(outcome.candidates, plan)
    if around_best is None or not plan.weights.get(GRAPH):
        return
    around = extras.ask("graph", lambda: around_best(best))
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
    outcome.ranked = Ranked(whole, plan, fleet.highest)


def answered(
    snapshot: Snapshot,
    request: SearchRequest,
    outcome: Outcome,
    query: TextQuery,
    places: Mapping[int, int],
    extras: Extras,
) -> Answer:
    """The results in their envelope, with what each view said and the graph around each result.

    Args:
        snapshot: What was searched.
        request: What was asked.
        outcome: What was found.
        query: As the views were asked.
        places: Unit to the line of a phrase in it.
        extras: Notes if the graph cannot be read.
    """
    head = outcome.head(snapshot.shown(request))
    with snapshot.trace.stage("graph", len(head)):
        rows = shown_rows(snapshot, [item.unit for item in head], outcome.symbols)
        found = extras.ask("graph", lambda: contexts(snapshot, list(rows.values())))
        around = dict(zip(rows, found or (), strict=found is not None))
    with snapshot.trace.stage("present", outcome.total) as stage:
        scored = own_scores(outcome, head)
        wanted = Wanted(query.terms, query.phrases, query.forms)

        def shown(item: Fused) -> Result:
            others = tuple(
                (view, scores[item.unit])
                for view, scores in scored.items()
                if view != item.source and item.unit in scores
            )
            explain = None
            if request.explain:
                from lci_py.search.explain.steps import of_fused

                explain = of_fused(outcome, item.unit, item)
            made = result(snapshot, rows[item.unit], request, item.source, item.score, wanted, places.get(item.unit))
            return replace(made, also_matched=others, graph=around.get(item.unit), explain=explain)

        results = [shown(item) for item in head]
        stage.left = len(results)
        return answer(snapshot, request, results, outcome.total)


def own_scores(outcome: Outcome, head: Sequence[Fused]) -> dict[View, dict[int, float]]:
    """Each view's own scores of those of some results that it found."""
    shown = {item.unit for item in head}
    found = {}
    for view in VIEWS:
        both = zip(outcome.hits[view].units.tolist(), outcome.hits[view].scores.tolist(), strict=True)
        found[view] = {unit: score for unit, score in both if unit in shown}
    return found


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
