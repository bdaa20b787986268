"""Structural search: the mode symbolic, and queries of filters alone in any mode. All matches are equally good."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lci_py.search.answer.results import LineMatcher, answer, result
from lci_py.search.modes.candidates import ModeAnswer, check, check_time
from lci_py.search.query.text import read_symbolic, read_text
from lci_py.source.text.patterns import lazily
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.shards.symbols import PathTest, Row
    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.query.text import Conditions
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Filters, SearchRequest

#: A set of characters in a glob, which is no word.
_SET = lazily(r"\[[^\]]*\]")
#: A limit that nothing reaches.
_ALL = 1 << 62


def structural(snapshot: Snapshot, request: SearchRequest) -> ModeAnswer:
    """Answer with the symbols that pass the filters and the query's terms.

    Raises:
        UsageError: A term cannot be used.
        BudgetExceededError: The search took longer than the budget.
    """
    with snapshot.trace.stage("plan"):
        conditions = read_symbolic(request.query, request.filters)
        check(snapshot, conditions.filters)
        there = snapshot.freshness.there()

    whole, limit = snapshot.whole, snapshot.shown(request)

    def select() -> tuple[Conditions, list[Row], int]:
        rows, own = matching(snapshot, conditions, limit, there)
        total = whole.total(conditions, own)
        if total or not conditions.phrases or request.strict:
            return conditions, rows, total
        words = conditions.with_words()
        rows, own = matching(snapshot, words, limit, there)
        return words, rows, whole.total(words, own)

    began = time.perf_counter()
    with snapshot.trace.stage("filter", snapshot.numbering.total("symbols")) as stage:
        answering, rows, stage.left = select()
    check_time("symbolic", request.budget_ms, began)
    rows = rows[: whole.share(("shown", answering), ([1.0] * len(rows),), limit)]
    whole.settle()

    def explainable() -> Explainable:
        from lci_py.search.explain.explainable import Structure

        return Structure(snapshot, answering.filters, matching(snapshot, answering, _ALL, there)[0])

    return ModeAnswer(build_answer(snapshot, request, answering, rows, stage.left), answering.filters, explainable)


def matching(snapshot: Snapshot, conditions: Conditions, limit: int, there: PathTest | None) -> tuple[list[Row], int]:
    """(rows, total): the first `limit` symbols that meet the conditions, in files that pass `there`; and the total."""
    if not conditions.phrases:
        return snapshot.symbols.select(conditions.filters, limit, there)
    from lci_py.search.modes.phrases import symbols_with

    def select(has: PathTest) -> list[Row]:
        both = has if there is None else lambda path: has(path) and there(path)
        return snapshot.symbols.select(conditions.filters, _ALL, both)[0]

    rows = symbols_with(snapshot, conditions.phrases, select)
    return rows[:limit], len(rows)


def terms_of(filters: Filters) -> tuple[tuple[str, float], ...]:
    """The words of the globs on names, with weights; they help to choose the lines of a symbol that are shown."""
    return read_text(" ".join(_SET.sub(" ", name) for name in filters.name)).terms


def build_answer(
    snapshot: Snapshot, request: SearchRequest, conditions: Conditions, rows: Sequence[Row], total: int
) -> Answer:
    """The envelope with the results of a structural query, in which all matches rank equally."""
    matcher = LineMatcher(terms_of(conditions.filters), conditions.phrases)
    with snapshot.trace.stage("present", len(rows)) as stage:
        results = [result(snapshot, row, request, "symbolic", 1.0, matcher) for row in rows]
        stage.left = len(results)
        envelope = answer(snapshot, request, results, total)
    if not request.explain:
        return replace(envelope, plan={"relaxed": conditions.relaxed}) if conditions.relaxed else envelope
    from lci_py.search.explain.steps import of_match, symbolic_plan

    explained = tuple(replace(item, explain=of_match(rank)) for rank, item in enumerate(results, 1))
    return replace(envelope, results=explained, plan=symbolic_plan(request, conditions))
