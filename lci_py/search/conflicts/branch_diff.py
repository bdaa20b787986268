"""Which definitions other branches have otherwise: those here beside those there, as functions over rows.

Only files that differ are compared, and of these, the own texts of the definitions: a function that has moved within
its file, or to another one that differs, is the same function.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from lci_py.index.shards.branches import BranchIndex
    from lci_py.index.shards.symbols import Row, SymbolicIndex

#: What can replace what: a macro may become a function, a class a struct.
_GROUPS = {
    **dict.fromkeys(FUNCTION_KINDS, "callable"),
    **dict.fromkeys(TYPE_KINDS | {"type"}, "type"),
    **dict.fromkeys(("constant", "variable", "field", "property"), "value"),
}
#: The kinds that are listed. The text of a field or of an enum's member is part of its type's; that of a namespace or
#: a section is everything in it.
LISTED = FUNCTION_KINDS | TYPE_KINDS | {"type", "constant", "variable", "property"}
_LOCAL, _DECLARATION = "local", "declaration"


class BranchDifference(NamedTuple):
    """One definition that a branch has otherwise, or that one side lacks. Rows as `SymbolicIndex`, `BranchIndex`."""

    branch: str
    here: Row | None
    there: Row | None


def differing_name(
    index: BranchIndex, qualified_name: str, language: str, here: Sequence[Row]
) -> list[BranchDifference]:
    """How the definitions of one qualified name differ, branch by branch.

    Args:
        index: The branches.
        qualified_name: The name.
        language: Of the definitions.
        here: All definitions of the name in the language that the tree has.
    """
    there: dict[str, list[Row]] = defaultdict(list)
    for row in index.same_name(qualified_name, language):
        there[row["branch"]].append(row)
    statuses = index.statuses_of(sorted({row["file"] for row in here}))
    found = []
    for branch in index.names:
        mine = [row for row in here if (branch, row["file"]) in statuses]
        if mine or branch in there:
            found += [BranchDifference(branch, *pair) for pair in unlike(mine, there.get(branch, ()))]
    return found


def differing(
    index: BranchIndex, symbols: SymbolicIndex, kinds: Collection[str] = LISTED
) -> Iterator[BranchDifference]:
    """All definitions of some kinds that differ, by branch, file and line; those only there after the others."""
    for branch in index.names:
        names: dict[tuple[str, str], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
        for side, rows in enumerate((symbols.in_files(list(index.statuses(branch))), index.rows(branch))):
            for row in rows:
                if row["kind"] in kinds:
                    names[row["qualified_name"], row["language"]][side].append(row)
        pairs = [pair for here, there in names.values() for pair in unlike(here, there)]
        for pair in sorted(pairs, key=_place):
            yield BranchDifference(branch, *pair)


Pair = tuple["Row | None", "Row | None"]


def unlike(here: Sequence[Row], there: Sequence[Row]) -> list[Pair]:
    """The definitions of one qualified name and language that are not the same on both sides, by file and line.

    Args:
        here: Those in files that differ from the branch's.
        there: The branch's, in files that differ from those here.
    Returns:
        (here, there) of a definition that differs; None where one side lacks it.
    """
    groups: dict[Hashable, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((here, there)):
        for row in rows:
            traits = row["traits"].split()
            if _LOCAL not in traits:
                group = _GROUPS.get(row["kind"], row["kind"])
                groups[group, _DECLARATION in traits][side].append(row)
    found: list[Pair] = []
    for mine, theirs in groups.values():
        found += _unlike(mine, theirs)
    return sorted(found, key=_place)


# What is the same comes first, so that it pairs with nothing else; then the same place; then the same condition.
_SAME: tuple[Callable[[Row], Hashable], ...] = (
    lambda row: (row["file"], row["digest"], row["build_tag"]),
    lambda row: (row["file"], row["digest"]),
    lambda row: row["digest"],
)
_CHANGED: tuple[Callable[[Row], Hashable], ...] = (
    lambda row: (row["file"], row["build_tag"], row["signature"]),
    lambda row: (row["file"], row["signature"]),
    lambda row: (row["file"], row["build_tag"]),
    lambda row: row["file"],
    lambda row: (row["build_tag"], row["signature"]),
    lambda row: row["build_tag"],
    lambda _row: None,
)


def _unlike(here: list[Row], there: list[Row]) -> Iterator[Pair]:
    for key in _SAME:
        _, here, there = _paired(here, there, key)
    for key in _CHANGED:
        pairs, here, there = _paired(here, there, key)
        yield from pairs
    yield from ((row, None) for row in here)
    yield from ((None, row) for row in there)


def _paired(
    here: Iterable[Row], there: Iterable[Row], key: Callable[[Row], Hashable]
) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    """Pairs of equal keys in the order of the rows, and what is left over on either side."""
    waiting: dict[Hashable, deque[Row]] = defaultdict(deque)
    for row in there:
        waiting[key(row)].append(row)
    pairs: list[tuple[Row, Row]] = []
    alone: list[Row] = []
    for row in here:
        others = waiting.get(key(row))
        if others:
            pairs.append((row, others.popleft()))
        else:
            alone.append(row)
    return pairs, alone, [row for others in waiting.values() for row in others]


def _place(pair: Pair) -> tuple[bool, str, int]:
    row = pair[0] if pair[0] is not None else pair[1]
    assert row is not None
    return pair[0] is None, row["file"], row["line"]
