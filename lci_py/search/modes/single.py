"""The dense and the bm25 mode: one view, ranked by itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.search.answer import results
from lci_py.search.query.text import read_text
from lci_py.search.ranking.same_file import POOL, spread
from lci_py.search.views.hits import HitList
from lci_py.search.views.time_budget import within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.search.query.text import TextQuery
    from lci_py.search.snapshot import Session
    from lci_py.search.views.retrievers import Retriever
    from lci_py.types.search import Answer, SearchRequest, View


class Found(NamedTuple):
    """What a mode found, and how it came about.

    Attributes:
        query: What was asked.
        allowed: [units] mask of the filters and the quoted phrases, None if there are none.
        places: The first line of a phrase in each unit that holds it.
        raw: The view's own ranking.
        ranked: The mode's ranking: files support their results, and their further results count for less.
    """

    query: TextQuery
    allowed: NDArray[np.bool_] | None
    places: dict[int, int]
    raw: HitList
    ranked: HitList


def search(session: Session, request: SearchRequest) -> Answer:
    """Answer a query in the mode dense or bm25. Raises what `find` raises."""
    found = find(session, request, session.shown(request))
    made = results.single_answer(session, request, found)
    if request.explain_file is None:
        return made
    from lci_py.search.explain.explainable import Single
    from lci_py.search.explain.file import explained

    return explained(session, request, made, lambda: Single(session, request))


def find(session: Session, request: SearchRequest, limit: int) -> Found:
    """The first `limit` results of a query in the mode dense or bm25.

    Raises:
        IndexError_: The shard cannot be used.
        BudgetExceededError: There was no time to search it.
    """
    began = time.perf_counter()
    with session.trace.stage("plan"):
        query = read_text(request.query)
    view: View = "dense" if request.mode == "dense" else "bm25"
    phrases = query.phrases if request.mode == "bm25" else ()
    allowed, places = session.with_phrases(phrases, session.allowed(request.filters))

    def search_view() -> HitList:
        retriever: Retriever = getattr(session, view)
        return retriever.search(query, max(limit, POOL), allowed)

    came = session.n_units if allowed is None else int(allowed.sum())
    with session.trace.stage(view, came) as stage:
        raw = within(search_view, view, session.turns[view], request.budget_ms, began)
        stage.left = raw.total
    with session.trace.stage("same_file", len(raw)) as stage:
        ranked = _by_file(session, query, raw).head(limit)
        stage.left = len(ranked)
    if phrases:
        ranked = _with_literal_hits(ranked, allowed, limit)
    return Found(query, allowed, places, raw, ranked)


def _by_file(session: Session, query: TextQuery, raw: HitList) -> HitList:
    """A view's hits with what their files say for and against them."""
    if raw.view == "dense":
        from lci_py.search.ranking.support import supported

        return spread(*supported(raw, session.files_of(raw.units[:POOL])))
    from lci_py.search.ranking import bm25_evidence

    with session.turns["bm25"]:
        known = bm25_evidence.evidence(session.bm25, session.unit_table, query, raw, session.views.pieces)
    return spread(*bm25_evidence.adjusted(raw, known), bm25_evidence.SAME_FILE)


def _with_literal_hits(hits: HitList, allowed: NDArray[np.bool_] | None, limit: int) -> HitList:
    """Places that hold the phrase but none of its words as a term ("=>") come last, by path and line."""
    places = np.zeros(0, np.int64) if allowed is None else np.flatnonzero(allowed)
    if len(places) <= hits.total:
        return hits
    rest = places[~np.isin(places, hits.units)][: max(0, limit - len(hits))]
    units = np.concatenate((hits.units, rest))
    return HitList(hits.view, units, np.concatenate((hits.scores, np.zeros(len(rest)))), len(places))
