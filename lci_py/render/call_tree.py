"""Shortens a tree for --max-nodes and --max-tokens of `lci tree`: keeps the upper part, and counts what is left out."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from lci_py.render.token_budget import fitted
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lci_py.types.graph import Branch, GraphAnswer

#: Places below the roots that text shows, unless `--max-nodes` says otherwise: some five screens.
MAX_NODES = 200


def size(branches: Iterable[Branch]) -> int:
    """The number of nodes below the given branches, which are not counted."""
    pending, count = list(branches), 0
    while pending:
        children = pending.pop().children
        count += len(children)
        pending += children
    return count


def alike_merged(answer: GraphAnswer) -> GraphAnswer:
    """A copy of a tree in which callees of a caller that have the same name are merged: the possible targets of a call.

    A merged branch has the children of all its callees, and the number of callees as `alike`.
    """
    if answer.direction == "callers":
        return answer
    branches = tuple(_merged_below(branch) for branch in answer.branches)
    return replace(answer, branches=branches, total=size(branches))


def _merged_below(branch: Branch) -> Branch:
    groups: dict[str, list[Branch]] = {}
    for child in branch.children:
        groups.setdefault(child.place.qualified_name or child.place.id, []).append(child)
    return branch._replace(children=tuple(_merged_below(_merge_group(group)) for group in groups.values()))


def _merge_group(group: Sequence[Branch]) -> Branch:
    if len(group) == 1:
        return group[0]
    below = {child.place.id: child for branch in reversed(group) for child in reversed(branch.children)}
    return group[0]._replace(
        sites=tuple(sorted({line for branch in group for line in branch.sites})),
        ambiguous=all(branch.ambiguous for branch in group),
        children=tuple(reversed(below.values())),
        more=sum(branch.more for branch in group),
        repeated=any(branch.repeated for branch in group),
        cycle=any(branch.cycle for branch in group),
        alike=len(group),
    )


def cut(answer: GraphAnswer, limit: int) -> GraphAnswer:
    """The first `limit` nodes below the roots, level by level; `more` of a branch counts its missing children."""
    excess = size(answer.branches) - limit
    if excess <= 0:
        return answer
    child_counts: dict[int, int] = {}  # a branch, by its address, and how many of its children are shown
    pending, room = deque(answer.branches), limit
    while pending:
        branch = pending.popleft()
        child_counts[id(branch)] = count = min(room, len(branch.children))
        room -= count
        pending += branch.children[:count]
    branches = tuple(_cut_below(branch, child_counts) for branch in answer.branches)
    return replace(answer, branches=branches, places_left_out=excess)


def _cut_below(branch: Branch, child_counts: dict[int, int]) -> Branch:
    count = child_counts[id(branch)]
    return branch._replace(
        children=tuple(_cut_below(child, child_counts) for child in branch.children[:count]),
        more=branch.more + len(branch.children) - count,
    )


def within_tokens(answer: GraphAnswer, limit: int, max_tokens: int, cost: Callable[[GraphAnswer], int]) -> GraphAnswer:
    """The largest upper part of a tree that fits into `max_tokens`; at least the roots.

    Args:
        limit: The number of nodes below the roots, at most.
        cost: Counts the tokens of a part as printed.
    """

    def first(count: int) -> GraphAnswer:
        return replace(cut(answer, count), limited_by="--max-tokens", max_tokens=max_tokens)

    return fitted(cut(answer, limit), max_tokens, cost, min(limit, size(answer.branches)), first, 0)
