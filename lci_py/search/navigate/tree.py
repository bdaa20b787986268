"""The call tree from a name, in either direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.errors import UsageError
from lci_py.search.answer import results
from lci_py.search.navigate.calls import count_unresolved, definitions, nothing
from lci_py.search.navigate.dispatch import Dispatch, Through
from lci_py.search.navigate.names import groups
from lci_py.search.navigate.nodes import Nodes, merge_calls, place_of
from lci_py.search.navigate.present import place_filter
from lci_py.types import graph as through_types
from lci_py.types.graph import Branch, GraphAnswer, GraphRequest
from lci_py.types.record import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lci_py.search.navigate.nodes import Call
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Direction, Place
    from lci_py.types.search import Filters

#: Levels of a tree at most: JSON of more cannot be read everywhere.
MAX_DEPTH = 100


@dataclass(slots=True, eq=False)
class _Branch:
    node: int
    call: Call | None
    above: _Branch | None
    children: list[_Branch] = field(default_factory=list)
    more: int = 0
    repeated: bool = False
    cycle: bool = False


def tree(snapshot: Snapshot, request: GraphRequest) -> GraphAnswer:
    """The call tree of a name, `request.depth` levels deep. A node that occurs several times is expanded once, at its
    first occurrence in breadth-first order; its other occurrences are marked.

    Raises:
        UsageError: The depth is out of range.
    """
    if not 1 <= request.depth <= MAX_DEPTH:
        raise UsageError(f"--depth must be from 1 to {MAX_DEPTH}, not {request.depth}")
    nodes = Nodes(snapshot)
    rows, others = definitions(nodes, request.name, every=request.all_meanings)
    if not rows:
        result = nothing(snapshot, "tree", request, uses=request.direction == "callers")
        return replace(result, direction=request.direction, depth=request.depth)
    dispatch = Dispatch(nodes)
    grower = _Grower(nodes, dispatch, request.direction, request.filters)
    # Overloads and declarations of one thing are one root, as are a type and its constructors.
    things = [meaning.rows for meaning in groups(rows)]
    roots = [_Branch(int(thing[0]["symbol_number"]), None, None) for thing in things]
    grown = grower.grow(roots, [nodes.asked(thing) for thing in things], request.depth)
    places = nodes.places(branch.node for branch in grown)
    finished = _freeze_branches(grown, places)
    branches = tuple(finished[id(root)] for root in roots if id(root) in finished)
    return GraphAnswer(
        "tree",
        request.name,
        tuple(map(place_of, rows)),
        results.index_info(snapshot),
        len(grown) - len(roots),
        branches=branches,
        through=tuple(grower.folded()),
        unresolved_uses=count_unresolved(nodes, dispatch, rows, request, request.direction),
        direction=request.direction,
        depth=request.depth,
        others=others,
    )


class _Grower:
    """Grows call trees level by level."""

    def __init__(self, nodes: Nodes, dispatch: Dispatch, direction: Direction, filters: Filters) -> None:
        self._nodes = nodes
        self._direction: Direction = direction
        self._filters = filters
        self._dispatch = dispatch
        self._below: dict[int, list[Call]] = {}  # what is shown below a node
        self._folded: dict[int, Through] = {}  # declared methods of too many implementations, by number

    def grow(self, roots: list[_Branch], targets: list[list[int]], depth: int) -> list[_Branch]:
        """All branches of the trees, parents before children.

        Args:
            roots: The root branch of each tree.
            targets: The nodes that each root stands for.
            depth: Levels below the roots.
        """
        stands_for = {root.node: nodes for root, nodes in zip(roots, targets, strict=True)}
        branches, level = list(roots), roots
        for below in range(depth, -1, -1):
            fresh = list(dict.fromkeys(branch.node for branch in level if branch.node not in self._below))
            expanded = set(self._below)
            self._read(fresh, stands_for)
            following: list[_Branch] = []
            for branch in level:
                calls = self._below[branch.node]
                if not calls:
                    continue
                if branch.node in expanded:
                    branch.cycle = _is_above(branch)
                    branch.repeated = not branch.cycle
                elif not below:
                    branch.more = len(calls)
                else:
                    expanded.add(branch.node)
                    branch.children = [_Branch(call.node, call, branch) for call in calls]
                    following += branch.children
            branches += following
            level = following
        return branches

    def _read(self, fresh: list[int], stands_for: dict[int, list[int]]) -> None:
        """Look up the children of several nodes at once."""
        pairs = [(node, own) for node in fresh for own in stands_for.get(node, [node])]
        calls = self._nodes.calls_of_each([own for _, own in pairs], self._direction)
        dispatched = self._dispatch_calls(fresh, stands_for)
        below: dict[int, dict[int, Call]] = {node: {} for node in fresh}
        passes = self._passing(call.node for each in (*calls, *dispatched) for call in each)
        for node, each in (*((node, each) for (node, _), each in zip(pairs, calls, strict=True)),
                           *zip(fresh, dispatched, strict=True)):  # fmt: skip
            for call in each:
                if passes(call.node):
                    earlier = below[node].get(call.node)
                    below[node][call.node] = merge_calls(earlier, call) if earlier else call
        self._below |= {node: list(merged.values()) for node, merged in below.items()}
        for node in fresh:
            # Callees in the order of the calls; callers by path and place, which is that of the numbers.
            self._below[node].sort(key=lambda call: (call.lines if self._direction == "callees" else (), call.node))

    def _dispatch_calls(self, fresh: list[int], stands_for: dict[int, list[int]]) -> list[list[Call]]:
        """For each of the `fresh` nodes, its callers or callees by dynamic dispatch."""
        results = []
        own = [stands_for.get(node, [node]) for node in fresh]
        rows = self._nodes.snapshot.symbols.symbol_rows(
            sorted({item for some in own for item in some if item < self._nodes.first_file})
        )
        for some in own:
            calls, through = self._dispatch.calls([rows[item] for item in some if item in rows], some, self._direction)
            results.append(calls)
            for item in through:
                if not item.calls:
                    earlier = self._folded.get(item.declared)
                    sites = {*item.sites, *(earlier.sites if earlier else ())}
                    self._folded[item.declared] = item._replace(sites=tuple(sorted(sites)))
        return results

    def folded(self) -> list[through_types.Through]:
        """The declared (base or interface) methods with more implementations than are listed."""
        return self._dispatch.places(list(self._folded.values()))

    def _passing(self, nodes: Iterable[int]) -> Callable[[int], bool]:
        """A function that tests whether a node passes the filters and lies in a file that still exists."""
        there = self._nodes.snapshot.freshness.there()
        if not self._filters and there is None:
            return lambda _: True  # a tree's last level is only counted: its places are not needed
        passes = place_filter(self._filters, there)
        passing = {node for node, place in self._nodes.places(nodes).items() if passes(place)}
        return passing.__contains__


def _is_above(branch: _Branch) -> bool:
    above = branch.above
    while above is not None and above.node != branch.node:
        above = above.above
    return above is not None


def _freeze_branches(grown: list[_Branch], places: dict[int, Place]) -> dict[int, Branch]:
    """Maps the id() of each branch to an immutable copy of it; from last to first, which needs no recursion."""
    copies: dict[int, Branch] = {}
    for branch in reversed(grown):
        call = branch.call
        if branch.node in places:
            copies[id(branch)] = Branch(
                places[branch.node],
                call.lines if call else (),
                call.step_name if call else "",
                call.confidence if call else 1.0,
                call.ambiguous if call else False,
                tuple(copies[id(child)] for child in branch.children if id(child) in copies),
                branch.more,
                branch.repeated,
                branch.cycle,
            )
    return copies
