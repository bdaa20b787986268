"""The dense and the bm25 mode: one view, ranked by itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from lci_py.search import present
from lci_py.search.hits import HitList
from lci_py.search.query import read_text
from lci_py.search.race import within
from lci_py.search.spread import POOL, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.search.retriever import Retriever
    from lci_py.search.session import Session
    from lci_py.types import Answer, SearchRequest, View


def search(session: Session, request: SearchRequest) -> Answer:
    """Answer a query in the mode dense or bm25.

    Raises:
        IndexError_: The shard cannot be used.
        BudgetExceededError: There was no time to search it.
    """
    began = time.perf_counter()
    query = read_text(request.query)
    allowed = session.allowed(request.filters)
    view: View = "dense" if request.mode == "dense" else "bm25"
    places: dict[int, int] = {}
    phrases = query.phrases if request.mode == "bm25" else ()
    if phrases:
        from lci_py.search.literal import units_with

        with session.turns["bm25"]:
            allowed, places = units_with(session, phrases, allowed)
    limit = session.shown(request)

    def found() -> HitList:
        retriever: Retriever = getattr(session, view)
        return retriever.search(query, max(limit, POOL), allowed)

    hits = within(found, view, session.turns[view], request.budget_ms, began)
    hits = spread(hits, session.files_of(hits.units[:POOL])).head(limit)
    if phrases:
        hits = _with_literal_hits(hits, allowed, limit)
    rows = session.symbols.result_rows(hits.units.tolist())
    results = [
        present.result(session, rows[hit.unit], request, hit.view, hit.score, places.get(hit.unit)) for hit in hits
    ]
    return present.answer(session, request, results, hits.total)


def _with_literal_hits(hits: HitList, allowed: NDArray[np.bool_] | None, limit: int) -> HitList:
    """Places that hold the phrase but none of its words as a term ("=>") come last, by path and line."""
    places = np.zeros(0, np.int64) if allowed is None else np.flatnonzero(allowed)
    if len(places) <= hits.total:
        return hits
    rest = places[~np.isin(places, hits.units)][: max(0, limit - len(hits))]
    units = np.concatenate((hits.units, rest))
    return HitList(hits.view, units, np.concatenate((hits.scores, np.zeros(len(rest)))), len(places))
