"""The multiview search: run the views in parallel, collect their candidates, measure every signal, fuse."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import IndexError_, ShardMissingError
from lci_py.search import present
from lci_py.search.fusion import Candidates, Ranked
from lci_py.search.hits import HitList
from lci_py.search.plan import plan as make_plan
from lci_py.search.query import read_fields, read_text
from lci_py.search.rewrites import look_up, rewritten
from lci_py.search.signals import factors, measure
from lci_py.types import VIEWS, Degradation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.unit_table import UnitTable
    from lci_py.search.fusion import Fused
    from lci_py.search.plan import Plan
    from lci_py.search.query import TextQuery
    from lci_py.search.retriever import DenseRetriever, LexicalRetriever, Retriever, SymbolicRetriever
    from lci_py.search.session import Session
    from lci_py.types import Answer, SearchRequest, View

#: Candidates of each view. The ranking never depends on how many results are shown, so this is a constant.
POOL = 400


@dataclass(slots=True)
class Views:
    """Loaders of the three views; each may raise an `IndexError_`."""

    dense: Callable[[], DenseRetriever]
    bm25: Callable[[], LexicalRetriever]
    symbolic: Callable[[], SymbolicRetriever]


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
    """Answer a query in the mode multiview.

    Raises:
        UsageError: A filter cannot be used.
        IndexError_: No view can be used.
    """
    text, filters = read_fields(request.query, request.filters)
    session.check(filters)
    if not text:
        return session.structural(request)
    query = read_text(text)
    allowed = session.allowed(filters)
    places: dict[int, int] = {}
    if query.phrases:
        from lci_py.search.literal import units_with

        allowed, places = units_with(session, query.phrases, allowed)
    wording = look_up(session, query)
    chosen = make_plan(query, filters, expand=request.expand, near=request.near, wording=wording)
    outcome = search(rewritten(query, wording.rewrites), chosen, session.views, session.unit_table, allowed)
    made = present.multiview_answer(session, request, chosen, outcome, places)
    if request.shadow is not None:
        from lci_py.search.shadow import shadow

        made = replace(made, shadow=shadow(session, request, chosen, outcome))
    if not request.expand:
        return made
    from lci_py.search.expand import expanded

    return expanded(session, request, filters, made, outcome)


def search(query: TextQuery, plan: Plan, views: Views, table: UnitTable, allowed: NDArray[np.bool_] | None) -> Outcome:
    """Answer a multiview query.

    Args:
        query: The text to rank by.
        plan: Weights and factors.
        views: The loaders; a view that fails is reported in `degraded` and the others answer.
        table: Facts about the units.
        allowed: [units] mask of the filters.
    """
    outcome = Outcome({view: HitList.empty(view) for view in VIEWS})
    spent: dict[View, float] = {}

    def run(view: View) -> HitList:
        began = time.perf_counter()
        retriever: Retriever = getattr(views, view)()
        hits = retriever.search(query, POOL, allowed)
        spent[view] = (time.perf_counter() - began) * 1e3
        return hits

    found = _in_parallel(run)
    answering = [view for view in VIEWS if not isinstance(found[view], IndexError_)]
    for view in VIEWS:
        hits = found[view]
        if isinstance(hits, IndexError_):
            if not answering:
                raise hits  # the first view's error is the command's
            outcome.degraded.append(_degradation(view, hits, answering))
        elif isinstance(hits, BaseException):
            raise hits
        else:
            outcome.hits[view] = hits
            outcome.trace[view] = {"ms": spent[view], "candidates": len(hits)}
    units = np.unique(np.concatenate([hits.units for hits in outcome.hits.values()]))
    if len(units):
        began = time.perf_counter()
        failed = {item.view for item in outcome.degraded}
        signals = measure(query, units, views, table, outcome.hits, failed)
        outcome.candidates = Candidates(units, table.file[units], signals, factors(query, units, table))
        outcome.ranked = Ranked(outcome.candidates, plan)
        outcome.trace["fusion"] = {"ms": (time.perf_counter() - began) * 1e3, "candidates": len(units)}
    return outcome


def _in_parallel(run: Callable[[View], HitList]) -> dict[View, HitList | BaseException]:
    """Each view in a thread of its own. Plain threads: importing an executor takes longer than a query."""
    found: dict[View, HitList | BaseException] = {}

    def work(view: View) -> None:
        try:
            found[view] = run(view)
        except BaseException as error:  # re-raised by the caller, in its own thread
            found[view] = error

    threads = [threading.Thread(target=work, args=(view,), daemon=True) for view in VIEWS[1:]]
    for thread in threads:
        thread.start()
    work(VIEWS[0])
    for thread in threads:
        thread.join()
    return found


def _degradation(view: View, error: IndexError_, answering: list[View]) -> Degradation:
    missing = isinstance(error, ShardMissingError)  # also one that is still to be made
    mode = "shard_missing" if missing else error.code if error.code == "model_mismatch" else "error"
    impact = "medium" if view == "symbolic" else "high"
    return Degradation(view, mode, "+".join(answering), impact, error.message)
