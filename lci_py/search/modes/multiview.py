"""The multiview mode: searches the three views, collects their candidates, measures every signal, and fuses them."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from lci_py.errors import IndexError_, near_needs_words
from lci_py.search.answer.results import LineMatcher, answer, contexts, result, shown_rows
from lci_py.search.modes import fallback
from lci_py.search.modes.candidates import (
    ModeAnswer,
    MultiviewState,
    OptionalGraph,
    check,
    chosen,
    confidence,
    detail,
    failure,
)
from lci_py.search.modes.fallback import without_own_names
from lci_py.search.modes.hints import related_definitions
from lci_py.search.query.plan import GRAPH, MINOR, parts, plan as make_plan
from lci_py.search.query.rewrites import look_up, rewritten
from lci_py.search.query.text import read_fields, read_text
from lci_py.search.ranking.fusion import POOL, Candidates, Outcome, RankedCandidates, join_candidates
from lci_py.search.ranking.graph_lift import SEEDS, Neighbours, reach, weigh_neighbours
from lci_py.search.ranking.literal_matches import NOTHING, LiteralMatches, literal_matches, unit_values
from lci_py.search.ranking.signals import Measure, factors
from lci_py.search.retrievers import HitList
from lci_py.types.record import replace
from lci_py.types.search import VIEWS, Degradation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.modes.fallback import Attempt
    from lci_py.search.query.plan import Plan
    from lci_py.search.query.rewrites import Wording
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.fusion import FusedResult
    from lci_py.search.ranking.near import Near
    from lci_py.search.retrievers import Retriever
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Filters, Result, SearchRequest, View

#: The part of a time budget after which no further view is asked; the rest is for merging and showing results.
RETRIEVAL = 0.8


def multiview(snapshot: Snapshot, request: SearchRequest) -> ModeAnswer:
    """Answer a query in the mode multiview. The time budget starts with this call.

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
        from lci_py.search.modes.structural import structural

        return structural(snapshot, request)
    run = snapshot.whole.once("run", partial(_Run, snapshot, request, filters, began))
    with snapshot.trace.stage("plan"):
        query = snapshot.whole.once("query", partial(read_text, text))
    start = fallback.first(run.look_ups, query, filters, strict=request.strict)
    tried = snapshot.whole.once(("tried", start), partial(run.attempt, start))
    snapshot.whole.settle()
    attempt, outcome = tried.attempt, tried.outcome
    plan = fallback.final_plan(run.look_ups, tried, filtered=bool(filters))
    units = run.choose(attempt.choice)
    for name, stage in outcome.trace.items():
        snapshot.trace.add(name, stage["ms"], stage["candidates_in"], stage["candidates"])
    whole, limit = snapshot.whole, snapshot.shown(request)
    sure = confidence(snapshot, request.query, outcome.closest, spelled_out=outcome.spelled_out or bool(units.places))
    scores = () if outcome.ranked is None else outcome.ranked.scores[:limit]
    count, total = whole.share(("shown",), (scores,), limit), whole.total("ranked", outcome.total)
    whole.settle()
    result = build_answer(snapshot, request, outcome, attempt.query, units.places, run.optional_graph, count, total)

    def explainable() -> Explainable:
        from lci_py.search.explain.explainable import Fusion

        return Fusion(snapshot, filters, attempt.query, units.mask, outcome)

    result = replace(
        result,
        plan=plan.as_json(),
        degraded=tuple(outcome.degraded),
        confidence=sure if result.results else None,
    )
    return ModeAnswer(result, filters, explainable, MultiviewState(plan, outcome, run.optional_graph))


class _Run:
    """Answers one request: searches for its text, and perhaps again with fewer requirements."""

    def __init__(self, snapshot: Snapshot, request: SearchRequest, filters: Filters, began: float) -> None:
        self._snapshot, self._request, self._filters, self._began = snapshot, request, filters, began
        self._deadline = math.inf if request.budget_ms is None else began + request.budget_ms * RETRIEVAL / 1e3
        self.optional_graph = OptionalGraph(or_nothing=not snapshot.whole.alone)
        self.choose = lru_cache(maxsize=None)(partial(chosen, snapshot))
        self.look_ups = fallback.LookUps(snapshot, self.choose)
        self._near: Near | None = None
        if request.near is not None:
            from lci_py.search.ranking.near import Near, place_of

            location = place_of(snapshot, request.near)
            self._near = self.optional_graph.ask(partial(Near, snapshot, location))

    def attempt(self, attempt: Attempt) -> fallback.AttemptResult:
        snapshot = self._snapshot
        with snapshot.trace.stage("plan"):
            look = partial(look_up, attempt.query, lambda: snapshot.lexical)
            wording = snapshot.whole.once(("wording", attempt), look)
            plan = snapshot.whole.once(("plan", attempt), partial(self._make_plan, attempt.query, wording))
        query = rewritten(attempt.query, wording.rewrites)
        if not snapshot.whole.alone:
            snapshot.lexical.ask(term for term, _ in query.terms)
        allowed = self.choose(attempt.choice).mask
        try:
            spelled = snapshot.whole.once(("spelled", attempt), partial(self._spelled_matches, attempt.query, allowed))
            if snapshot.whole.alone and (related := related_definitions(snapshot, attempt.query.raw)):
                # Neither the definition itself nor its documentation says who calls it.
                command, rows = related
                names, symbols = unit_values(snapshot, attempt.query, rows, allowed)
                spelled = LiteralMatches(names, {}, symbols)
                plan = replace(plan, command=command)
        except IndexError_:
            spelled = NOTHING  # the view that cannot be used says so
        if not spelled.units:
            with suppress(IndexError_):  # likewise
                query = rewritten(without_own_names(snapshot, attempt.query), wording.rewrites)
        if not self.look_ups.holds(attempt.choice) and not snapshot.whole.total(
            ("names", query.text), bool(spelled.names)
        ):
            outcome = Outcome({view: HitList.empty(view) for view in VIEWS})  # no view need be asked
        else:
            outcome = self._search(query, plan, allowed, spelled)
        return fallback.AttemptResult(attempt._replace(query=query), plan, outcome)

    def _make_plan(self, query: TextQuery, wording: Wording) -> Plan:
        request = self._request
        return make_plan(
            query,
            self._filters,
            wording=wording,
            expand=request.expand,
            near=None if self._near is None else str(self._near.place),
            strict=request.strict,
            files=self._snapshot.whole.total("files", self._snapshot.numbering.total("files")),
        )

    def _spelled_matches(self, query: TextQuery, allowed: NDArray[np.bool_] | None) -> LiteralMatches:
        return literal_matches(self._snapshot, query, self._filters, allowed, strict=self._request.strict)

    def _search(
        self, query: TextQuery, plan: Plan, allowed: NDArray[np.bool_] | None, spelled: LiteralMatches
    ) -> Outcome:
        """Search the views, and rank what they find.

        Args:
            query: The text to rank by.
            allowed: [units] mask of the candidates; None for all units.
            spelled: The names and literal texts that the query spells out.
        Raises:
            IndexError_: Every view failed; this is the error of the first view.
        """
        snapshot, began = self._snapshot, self._began
        whole, table, text = snapshot.whole, snapshot.unit_table, query.text
        outcome = Outcome({view: HitList.empty(view) for view in VIEWS}, symbols=spelled.symbols)
        outcome.spelled_out = bool(spelled.units)
        whole.settle()
        came = len(table.file) if allowed is None else int(allowed.sum())
        spent: dict[View, float] = {}

        def search_views() -> dict[View, HitList | IndexError_]:
            """Maps each view to its hits or error, in the order of weight. After the deadline, no further view is asked
            if one has answered.
            """
            by_view: dict[View, HitList | IndexError_] = {}
            share = parts(plan.weights)
            for view in sorted(VIEWS, key=lambda view: -share[view]):
                started = time.perf_counter()
                if started >= self._deadline and any(isinstance(hits, HitList) for hits in by_view.values()):
                    break
                try:
                    retriever: Retriever = getattr(snapshot, view)
                    by_view[view] = retriever.search(query, POOL, allowed)
                except IndexError_ as error:
                    by_view[view] = error
                spent[view] = (time.perf_counter() - started) * 1e3
            return by_view

        result_of = whole.once(("views", text), search_views)
        spent = whole.once(("spent", text), partial(dict, spent))
        waited = (time.perf_counter() - began) * 1e3
        answering = [view for view in VIEWS if isinstance(result_of.get(view), HitList)]
        for view in VIEWS:
            hits = result_of.get(view)
            if hits is None:
                said = f"its turn came after {waited:.0f} ms, with a time budget of {self._request.budget_ms} ms"
                outcome.degraded.append(_degradation(view, plan, answering, "timeout", said))
            elif isinstance(hits, IndexError_):
                if (len(result_of) == len(VIEWS) and not answering) or not whole.alone:
                    raise hits  # the first view's error is the command's
                outcome.degraded.append(_degradation(view, plan, answering, failure(hits), detail(hits)))
            else:
                outcome.hits[view] = hits.head(whole.share((view, text), (hits.scores,), POOL))
                outcome.trace[view] = {"ms": spent[view], "candidates_in": came, "candidates": len(hits)}
        hits_of = {view: hits for view, hits in result_of.items() if isinstance(hits, HitList)}
        outcome.closest = hits_of["dense"].best if "dense" in hits_of else -1.0
        by_words = any(len(hits_of.get(view, ())) for view in ("bm25", "symbolic")) or bool(spelled.names)
        anything = by_words or any(map(len, hits_of.values())) or bool(spelled.units)
        outcome.anything, outcome.by_words = map(bool, whole.total(("found", text), (anything, by_words)))
        whole.settle()
        if outcome.anything:
            started = time.perf_counter()
            self._rank(outcome, query, plan, allowed, spelled)
            ms = (time.perf_counter() - started) * 1e3
            came = 0 if outcome.candidates is None else len(outcome.candidates.units)
            outcome.trace["fusion"] = {"ms": ms, "candidates_in": came, "candidates": outcome.total}
        return outcome

    def _rank(
        self, outcome: Outcome, query: TextQuery, plan: Plan, allowed: NDArray[np.bool_] | None, spelled: LiteralMatches
    ) -> None:
        """Rank the views' hits, then rank again together with the graph neighbours of the best results."""
        snapshot, text = self._snapshot, query.text
        table, whole = snapshot.unit_table, snapshot.whole
        answered = {view: hits for view, hits in outcome.hits.items() if view not in outcome.failed}
        graph = self.optional_graph.ask(lambda: _check_graph(snapshot.graph))
        measure = whole.once(("measure", text), partial(Measure, snapshot, query, answered, graph))

        def candidates(units: NDArray[np.int64]) -> Candidates:
            files = table.file[units]
            signals = measure.signals(units) | spelled.of(units)
            if self._near is not None:
                signals["near"] = self._near.closeness(units, files)
            return Candidates(units, files, signals, factors(query, units, table))

        there = np.zeros(len(table), np.bool_)  # not `unique`, which sorts
        for hits in outcome.hits.values():
            there[hits.units] = True
        there[spelled.units] = True
        units = np.flatnonzero(there)
        outcome.candidates = direct = whole.once(("candidates", text), partial(candidates, units))
        outcome.ranked = best = RankedCandidates(direct, plan)
        if graph is None or not plan.weights.get(GRAPH):
            return

        def around_best() -> Neighbours:
            near = whole.once(("near", text), partial(reach, graph, table, best.units[:SEEDS]))
            return whole.neighbours(text, best.scores[:SEEDS], near, weigh_neighbours)

        lifted = self.optional_graph.ask(around_best)
        highest = whole.largest(("highest", text), best.highest)
        whole.settle()
        if lifted is None:
            return
        if allowed is not None:
            passing = allowed[lifted.units]
            lifted = Neighbours(lifted.units[passing], lifted.values[passing])
        more = lifted.units[~there[lifted.units]]
        joined = direct if not len(more) else join_candidates(direct, candidates(more))
        lifts = np.zeros(len(joined.units), np.float32)
        lifts[np.searchsorted(joined.units, lifted.units)] = lifted.values
        outcome.candidates = joined._replace(signals={**joined.signals, GRAPH: lifts})
        outcome.ranked = RankedCandidates(outcome.candidates, plan, highest)


def _check_graph(graph: GraphIndex) -> GraphIndex:
    """Returns the graph after a check that the arrays that every ranking needs are intact."""
    _ = graph.importers
    return graph


def build_answer(
    snapshot: Snapshot,
    request: SearchRequest,
    outcome: Outcome,
    query: TextQuery,
    places: Mapping[int, int],
    optional_graph: OptionalGraph,
    count: int,
    total: int,
) -> Answer:
    """The results in their envelope, with each view's scores and the graph around each result.

    Args:
        query: The text that the views were asked.
        places: Maps a unit to the first line in it that contains a quoted phrase.
        optional_graph: Records a warning if the graph cannot be read.
        count: Number of results to show.
        total: Number of all results.
    """
    head = outcome.head(count)
    with snapshot.trace.stage("graph", len(head)):
        rows = shown_rows(snapshot, [item.unit for item in head], outcome.symbols)
        graphs = optional_graph.ask(lambda: contexts(snapshot, list(rows.values())))
        graph_of = dict(zip(rows, graphs or (), strict=graphs is not None))
    with snapshot.trace.stage("present", outcome.total) as stage:
        matcher = LineMatcher(query.terms, query.phrases, query.forms)

        def to_result(item: FusedResult) -> Result:
            explain = None
            if request.explain:
                from lci_py.search.explain.steps import of_fused

                explain = of_fused(outcome, item.unit, item)
            shown = result(snapshot, rows[item.unit], request, item.source, item.score, matcher, places.get(item.unit))
            others = outcome.other_scores(item.unit, item.source)
            return replace(shown, also_matched=others, graph=graph_of.get(item.unit), explain=explain)

        results = [to_result(item) for item in head]
        stage.left = len(results)
        return answer(snapshot, request, results, total)


def _degradation(view: View, plan: Plan, answering: Sequence[View], reason: str, said: str) -> Degradation:
    """The `degraded` entry for a view that did not answer; its impact depends on the share of weight that is lost."""
    part = parts(plan.weights)[view]
    impact = "high" if part >= MINOR or not answering else "medium" if part >= MINOR / 2 else "low"
    return Degradation(view, reason, "+".join(answering) or "none", impact, said)
