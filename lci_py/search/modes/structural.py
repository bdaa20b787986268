"""Structural search: the mode symbolic, and a query of filters alone in any mode. Every match is as good as any."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.search.answer.results import Wanted, answer, result
from lci_py.search.modes.answered import Answered
from lci_py.search.modes.candidates import check
from lci_py.search.query.text import read_symbolic, read_text
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import PathTest, Row
    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Filters, SearchRequest

#: A set of characters in a glob, which is no word.
_SET = lazily(r"\[[^\]]*\]")
#: A limit that nothing reaches.
_ALL = 1 << 62


def structural(snapshot: Snapshot, request: SearchRequest) -> Answered:
    """The symbols that pass the filters and the query's terms.

    Raises:
        UsageError: A term cannot be used.
        BudgetExceededError: There was no time to find them.
    """
    with snapshot.trace.stage("plan"):
        filters, phrases = read_symbolic(request.query, request.filters)
        check(snapshot, filters)
        there = snapshot.freshness.there()

    def select() -> tuple[list[Row], int]:
        return matching(snapshot, filters, phrases, snapshot.shown(request), there)

    lock = snapshot.view_locks["symbolic"]
    with snapshot.trace.stage("filter", snapshot.numbering.total("symbols")) as stage:
        if request.budget_ms is None:
            with lock:
                rows, stage.left = select()
        else:
            from lci_py.search.views.time_budget import within

            rows, stage.left = within(select, "symbolic", lock, request.budget_ms, time.perf_counter())

    def explainable() -> Explainable:
        from lci_py.search.explain.explainable import Structure

        return Structure(snapshot, filters, matching(snapshot, filters, phrases, _ALL, there)[0])

    return Answered(
        _answer(snapshot, request, Wanted(terms_of(filters), phrases), rows, stage.left), filters, explainable
    )


def matching(
    snapshot: Snapshot, filters: Filters, phrases: tuple[str, ...], limit: int, there: PathTest | None
) -> tuple[list[Row], int]:
    """The symbols that pass the filters and hold the phrases, in files that pass `there`: (at most `limit` rows, how
    many in all)."""
    if not phrases:
        return snapshot.symbols.select(filters, limit, there)
    from lci_py.search.modes.phrases import symbols_with

    def select(has: PathTest) -> list[Row]:
        both = has if there is None else lambda path: has(path) and there(path)
        return snapshot.symbols.select(filters, _ALL, both)[0]

    with snapshot.view_locks["bm25"]:  # its postings say in which files to look
        rows = symbols_with(snapshot, phrases, select)
    return rows[:limit], len(rows)


def terms_of(filters: Filters) -> tuple[tuple[str, float], ...]:
    """What to look for in the lines of a symbol besides the phrases: the words of its name's globs."""
    return read_text(" ".join(_SET.sub(" ", name) for name in filters.name)).terms


def _answer(snapshot: Snapshot, request: SearchRequest, wanted: Wanted, rows: Sequence[Row], total: int) -> Answer:
    """The envelope of a query by structure alone; every row is as good as any."""
    with snapshot.trace.stage("present", len(rows)) as stage:
        results = [result(snapshot, row, request, "symbolic", 1.0, wanted) for row in rows]
        stage.left = len(results)
        made = answer(snapshot, request, results, total)
    if not request.explain:
        return made
    from lci_py.search.explain.steps import of_match, symbolic_plan

    shown = tuple(replace(item, explain=of_match(rank)) for rank, item in enumerate(results, 1))
    return replace(made, results=shown, plan=symbolic_plan(request))
