"""Makes the entries of the envelope's `conflicts`: comments that state another default than the code beside them,
versions that differ, and views whose best results differ. docs/conflicts.md has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lci_py.index.shards.filters import path_test, row_test
from lci_py.index.shards.stated_values import StatedValue, contradicted_comments
from lci_py.source.stated_values.values import is_number

if TYPE_CHECKING:
    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, Result


def for_results(snapshot: Snapshot, results: Sequence[Result]) -> tuple[dict[str, Any], ...]:
    """Entries for the comments that contradict the code beside them, where a result shows the comment or the code."""
    lines = [(result.file, range(result.line, result.end_line + 1)) for result in results]
    return tuple(
        _entry(said, code)
        for said, code in _contradicted(snapshot.symbols)
        if any(row.file == file and row.line in lines_of for row in (said, code) for file, lines_of in lines)
    )


def all_of(
    snapshot: Snapshot,
    filters: Filters,
    name: str = "",
    is_new: Callable[[StatedValue], bool] | None = None,
    has_version: Callable[[str, str, str], bool] | None = None,
) -> tuple[dict[str, Any], ...]:
    """All disagreements of a repository that pass the filters, by file and line.

    Args:
        snapshot: The open index.
        filters: Filters on the definition to which the comment belongs.
        name: A name, qualified name or glob, perhaps after `FILE::`; "" for any.
        is_new: Whether a stated value is new: a disagreement needs at least one new value. None to list all.
        has_version: Whether a version statement is new, by path, subject and value. None to list all.
    """
    passes = row_test(filters, name)
    entries = tuple(
        _entry(said, code)
        for said, code in _contradicted(snapshot.symbols)
        if (is_new is None or is_new(said) or is_new(code))
        and passes(
            file=said.file,
            language=said.language,
            kind=said.kind,
            symbol=(said.qualified_name or said.name).rpartition(".")[2],
            qualified_name=said.qualified_name or said.name,
        )
    )
    if name or filters.lang or filters.kind or filters.name or filters.parent:
        return entries
    from lci_py.search.conflicts import versions

    return (*entries, *versions.all_of(snapshot, path_test(filters) or bool, has_version))


def _contradicted(index: SymbolicIndex) -> Iterator[tuple[StatedValue, StatedValue]]:
    """(comment, code) for each comment that the code beside it contradicts, without tests and code with variants."""
    return (pair for pair in contradicted_comments(index) if not any(row.is_test or row.conditioned for row in pair))


def _entry(said: StatedValue, code: StatedValue) -> dict[str, Any]:
    """An entry of the envelope, which says that the code's value counts and the comment should be corrected."""
    comment_at, beside = f"{said.file}:{said.line}", f"{code.file}:{code.line}"
    where = "the same line" if said.line == code.line else f"its comment in {comment_at}"
    both = is_number(code.value) and is_number(said.value)
    return {
        "conflict_type": "numeric-mismatch" if both else "direct-contradiction",
        "sources": list(dict.fromkeys((beside, comment_at))),
        "recommended_resolution": "prefer-authoritative",
        "reasoning": f"the default of {code.name} is {code.value} in {beside} but {where} says {said.value}.",
    }


#: Best hits of a view whose files have to include the first file of the other view.
_NEAR_THE_TOP = 3


def between_views(snapshot: Snapshot, outcome: Outcome) -> tuple[dict[str, Any], ...]:
    """An entry if the views dense and bm25 disagree: the first file of each view is not among the first three results
    of the other view. () if they agree, or if the query spells out a name or a literal text.

    Of 560 judged questions, the views disagree on 92. The first result is in a right file for 62 % of these, and for
    82 % of the other questions. Where the first result is wrong, one of the two results named here is right in a third
    of the cases (`tests/quality/confidence.py --views`).

    Raises:
        IndexError_: The symbolic shard cannot be used.
    """
    dense, bm25 = outcome.hits["dense"].units, outcome.hits["bm25"].units
    if outcome.spelled_out or not len(dense) or not len(bm25):
        return ()
    of_dense, of_bm25 = (snapshot.unit_table.file[units[:_NEAR_THE_TOP]] for units in (dense, bm25))
    if of_dense[0] in of_bm25 or of_bm25[0] in of_dense:
        return ()
    rows = snapshot.symbols.result_rows([dense[0], bm25[0]])
    by_meaning, by_words = rows[int(dense[0])], rows[int(bm25[0])]
    return (
        {
            "conflict_type": "direct-contradiction",
            "recommended_resolution": "escalate-to-user",
            "sources": [_place(by_meaning), _place(by_words)],
            "reasoning": f"The views lead to different places: {_name(by_meaning)} is nearest by meaning (dense), "
            f"{_name(by_words)} by words (bm25). The first result is less sure than usual.",
        },
    )


def _name(row: Row) -> str:
    return f"{row['qualified_name']} ({_place(row)})" if row["qualified_name"] else _place(row)


def _place(row: Row) -> str:
    return f"{row['file']}:{row['line']}"
