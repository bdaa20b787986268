"""The modes dense and bm25, each of which ranks by a single view."""

from __future__ import annotations

import time
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lci_py.errors import IndexError_
from lci_py.search.answer.results import LineMatcher, answer, result, shown_rows
from lci_py.search.modes import candidates
from lci_py.search.modes.candidates import ModeAnswer, confidence, detail, failure
from lci_py.search.modes.fallback import LookUps, first, without_own_names
from lci_py.search.query.text import read_fields, read_text
from lci_py.search.ranking.evidence import SAME_FILE, SingleViewResult, evidence
from lci_py.search.ranking.literal_matches import NOTHING, LiteralMatches, literal_matches
from lci_py.search.ranking.same_file import POOL, spread
from lci_py.search.retrievers import HitList
from lci_py.types.record import replace
from lci_py.types.search import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.retrievers import Retriever
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, SearchRequest, View

_T = TypeVar("_T")


def single(snapshot: Snapshot, request: SearchRequest) -> ModeAnswer:
    """Answer a query in the mode dense or bm25.

    Raises:
        UsageError: A filter of the query cannot be used.
        IndexError_, BudgetExceededError: As in `find`.
    """
    text, filters = read_fields(request.query, request.filters)
    if filters is not request.filters:
        candidates.check(snapshot, filters)
    if not text:
        from lci_py.search.modes.structural import structural

        return structural(snapshot, request)
    cleaned = replace(request, query=text, filters=filters)
    result = find(snapshot, cleaned, snapshot.shown(request))

    def explainable() -> Explainable:
        from lci_py.search.explain.explainable import Single

        whole = find(snapshot, replace(cleaned, explain_file=None, budget_ms=None), snapshot.n_units)
        return Single(snapshot, filters, whole)

    response = replace(build_answer(snapshot, cleaned, result), query=request.query)
    return ModeAnswer(response, filters, explainable)


def find(snapshot: Snapshot, request: SearchRequest, limit: int) -> SingleViewResult:
    """The first `limit` results of a query in the mode dense or bm25.

    Args:
        request: The request; its `field:value` terms have been moved to the filters.
    Raises:
        IndexError_: The shard of the view cannot be used.
        BudgetExceededError: The search took longer than the budget.
    """
    began = time.perf_counter()
    with snapshot.trace.stage("plan"):
        query = snapshot.whole.once("query", lambda: read_text(request.query))
    view: View = "dense" if request.mode == "dense" else "bm25"
    choose = lru_cache(maxsize=None)(partial(candidates.chosen, snapshot))
    attempt = first(LookUps(snapshot, choose), query, request.filters, strict=request.strict)
    query, (allowed, places) = attempt.query, choose(attempt.choice)

    def search_view() -> HitList:
        retriever: Retriever = getattr(snapshot, view)
        return retriever.search(ranking, max(limit, POOL), allowed)

    whole = snapshot.whole
    if view == "bm25" and not whole.alone:
        snapshot.lexical.ask(term for term, _ in query.terms)

    degraded: list[Degradation] = []

    def known_by_words(work: Callable[[], _T], otherwise: _T) -> _T:
        """Run `work`, which reads the lexical shard; in the mode dense, return `otherwise` if it fails."""
        try:
            return work()
        except IndexError_ as error:
            if view == "bm25" or not whole.alone:
                raise
            degraded[:] = [Degradation("bm25", failure(error), view, "low", detail(error))]
            return otherwise

    def spell() -> LiteralMatches:
        ask = partial(literal_matches, snapshot, query, request.filters, allowed, strict=request.strict)
        return known_by_words(ask, NOTHING)

    spelled = whole.once(("spelled", query), spell) if view == "bm25" else None
    if view == "bm25":
        whole.settle()
    # BM25 counts a word that most places have for nothing anyway.
    ranking = query if view == "bm25" else known_by_words(lambda: without_own_names(snapshot, query), query)
    came = snapshot.n_units if allowed is None else int(allowed.sum())
    with snapshot.trace.stage(view, came) as stage:
        hits = whole.once(("hits", query), search_view)
        candidates.check_time(view, request.budget_ms, began)
        raw = hits.head(whole.share((view, query.text), (hits.scores,), max(limit, POOL)))
        stage.left = raw.total
    with snapshot.trace.stage("same_file", len(raw)) as stage:
        if spelled is None:
            spelled = whole.once(("spelled", query), spell)
        why = whole.once(("evidence", query), partial(evidence, snapshot, ranking, raw, spelled))
        whole.settle()
        changed, files = why.ranked()
        ranked = spread(changed, files[:POOL], SAME_FILE[view]).head(limit)
        stage.left = len(ranked)
    if query.phrases:
        literal = np.zeros(0, np.int64) if allowed is None else np.flatnonzero(allowed)
        ranked = with_literal_hits(ranked, literal, len(literal), limit)
    sure = None
    if view == "dense":
        sure = confidence(snapshot, request.query, hits.best, spelled_out=bool(spelled.units or places))
    count, total = whole.share(("shown",), (ranked.scores,), limit), whole.total("ranked", ranked.total)
    whole.settle()
    ranked = HitList(view, ranked.units[:count], ranked.scores[:count], total)
    return SingleViewResult(
        ranking, allowed, places, raw, ranked, why, spelled.symbols, attempt.relaxed, sure, tuple(degraded)
    )


def with_literal_hits(hits: HitList, places: NDArray[np.int64], total: int, limit: int) -> HitList:
    """Append to `hits` the units that contain the phrase but no word or token that the view knows ("=>").

    Args:
        hits: The first `limit` hits of the view.
        places: Units that contain the phrase, ascending (by path and line): all, or the first `limit` not in `hits`.
        total: Number of all units that contain the phrase.
    """
    if total <= hits.total:
        return hits
    rest = places[~np.isin(places, hits.units)][: max(0, limit - len(hits))]
    units = np.concatenate((hits.units, rest))
    return HitList(hits.view, units, np.concatenate((hits.scores, np.zeros(len(rest)))), total)


def build_answer(snapshot: Snapshot, request: SearchRequest, outcome: SingleViewResult) -> Answer:
    """The envelope with the results that a view found."""
    hits = outcome.ranked
    explains = None
    if request.explain:
        from lci_py.search.explain.steps import of_single

        explains = of_single(snapshot, outcome, hits.units.tolist())
    with snapshot.trace.stage("present", len(hits)) as stage:
        rows = shown_rows(snapshot, hits.units.tolist(), outcome.symbols)
        matcher = LineMatcher(outcome.query.terms, outcome.query.phrases, outcome.query.forms)
        results = [
            result(snapshot, rows[hit.unit], request, hit.view, hit.score, matcher, outcome.places.get(hit.unit))
            for hit in hits
        ]
        if explains is not None:
            results = [replace(shown, explain=why) for shown, why in zip(results, explains, strict=True)]
        stage.left = len(results)
        shown = answer(snapshot, request, results, hits.total)
        shown = replace(shown, degraded=outcome.degraded, confidence=outcome.confidence if results else None)
    if not request.explain:
        return replace(shown, plan={"relaxed": outcome.relaxed}) if outcome.relaxed else shown
    from lci_py.search.explain.steps import single_plan

    return replace(shown, plan=single_plan(snapshot, outcome, request))
