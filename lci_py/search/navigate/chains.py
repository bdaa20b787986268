"""`lci path A B`: the shortest chains of calls from one definition to another, level by level from A."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.callgraph.edges import AMBIGUOUS, confidence
from lci_py.errors import UnknownTargetError, UsageError
from lci_py.index.shards.graph import CALLS
from lci_py.index.shards.symbol_queries import defined_names, names
from lci_py.search.answer.results import index_info
from lci_py.search.navigate.calls import place_filter
from lci_py.search.navigate.external import external_calls, externals, unexplained_uses
from lci_py.search.navigate.names import meanings, one_meaning
from lci_py.search.navigate.nodes import Call, Nodes, joined, place_of
from lci_py.search.navigate.present import check_known
from lci_py.search.navigate.tree import MAX_DEPTH
from lci_py.search.suggest import near_misses
from lci_py.types.chains import Frontier, Hop, Lost, PathAnswer, PathRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot

#: Names that lead to the target, of which a call without a known target is looked for if there is no chain.
_NAMES = 40
#: Places of the frontier that are named.
_PLACES = 10
#: Places, those reached first, whose calls without a known target are looked at.
_LOOKED = 50


class _Level(NamedTuple):
    """The calls that lead to new nodes: all [n]."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    line: NDArray[np.int64]
    step: NDArray[np.int64]


def path(snapshot: Snapshot, request: PathRequest) -> PathAnswer:
    """The shortest chains from one name to another; if each has an ambiguous call, also the shortest without one.

    Raises:
        AmbiguousNameError: A name means several definitions, and not every one is asked for.
        UnknownTargetError: Nothing has the name, and nothing calls it.
        UsageError: The depth is out of range.
    """
    if not 1 <= request.depth <= MAX_DEPTH:
        raise UsageError(f"--depth must be from 1 to {MAX_DEPTH}, not {request.depth}")
    nodes = Nodes(snapshot)
    sources = _meant(snapshot, request.source, request)
    if not sources:
        raise _unknown(snapshot, request.source, "")
    targets = _meant(snapshot, request.target, request)
    outside: dict[int, list[int]] = {}
    if not targets:
        for node, line in external_calls(nodes, request.target):
            outside.setdefault(node, []).append(line)
        if not outside:
            raise _unknown(snapshot, request.target, ", and nothing calls it")
    walk = _Walk(nodes, request)
    starts, ends = nodes.asked(sources), set(nodes.asked(targets)) or set(outside)
    depth = request.depth - 1 if outside else request.depth
    levels = walk.levels(starts, ends, depth, inclusive=bool(outside))
    total, chains = walk.chains(levels, starts, ends, outside)
    if chains and all(any(hop.ambiguous for hop in chain) for chain in chains):
        sure = _Walk(nodes, request, sure=True)
        more = sure.chains(sure.levels(starts, ends, depth, inclusive=bool(outside)), starts, ends, outside)
        total, chains = total + more[0], [*chains, *more[1]]
    frontier = None if chains else walk.frontier(levels, starts, ends, request)
    return PathAnswer(
        request,
        tuple(map(place_of, sources)),
        tuple(map(place_of, targets)),
        tuple(chains[: request.limit]),
        total,
        index_info(snapshot),
        frontier,
    )


def _meant(snapshot: Snapshot, name: str, request: PathRequest) -> list[Row]:
    found = meanings(snapshot.symbols, name)
    if not found:
        check_known(snapshot, name)
    return one_meaning(found, name, every=request.every)


def _unknown(snapshot: Snapshot, name: str, more: str) -> UnknownTargetError:
    near = near_misses(snapshot.symbols, name)
    return UnknownTargetError(f"nothing is named {name!r}{more}", near, index=index_info(snapshot))


class _Walk:
    """Walks from some nodes along their calls."""

    def __init__(self, nodes: Nodes, request: PathRequest, *, sure: bool = False) -> None:
        """
        Args:
            nodes: Of the graph.
            request: With filters, which every place on the way passes.
            sure: Whether to follow only calls that mean one definition.
        """
        self._nodes = nodes
        self._graph = nodes.graph
        self._request = request
        self._sure = sure

    def levels(self, starts: Sequence[int], ends: set[int], depth: int, *, inclusive: bool) -> list[_Level]:
        """The calls to nodes that no shorter way leads to, up to the level where an end is reached.

        Args:
            starts: Where to begin.
            ends: Where to end; a start counts only if a call leads back to it, or if it is `inclusive`.
            depth: Levels at most.
            inclusive: Whether a start may be an end.
        """
        graph = self._graph
        seen = np.zeros(len(graph.out_ptr), np.bool_)
        wanted = np.zeros(len(seen), np.bool_)
        wanted[list(ends)] = True
        found: list[_Level] = []
        frontier = np.array(sorted(set(starts)), np.int64)
        if inclusive and wanted[frontier].any():
            return found
        seen[frontier] = True
        while len(found) < depth and len(frontier):
            level = self._below(frontier)
            fresh = ~seen[level.target] | (wanted[level.target] if not inclusive else False)
            level = _Level(*(column[fresh] for column in level))
            level = self._passing(level)
            if not len(level.target):
                break
            found.append(level)
            frontier = np.unique(level.target)
            if wanted[frontier].any():
                break
            seen[frontier] = True
        return found

    def _below(self, frontier: NDArray[np.int64]) -> _Level:
        """The calls of some nodes. Those of an anonymous function that nobody is known to call count as calls of what
        is around it."""
        graph = self._graph
        symbols = frontier[frontier < graph.n_symbols]
        inner, place = graph.lambdas_in(symbols)
        owner = symbols[place]
        for file in frontier[(frontier >= graph.n_symbols) & (frontier < graph.n_symbols + graph.n_files)].tolist():
            own = np.array(graph.lambdas_of(file), np.int64)
            inner, owner = np.concatenate([inner, own]), np.concatenate([owner, np.full(len(own), file)])
        uncalled = graph.in_ptr[inner] == graph.in_ptr[inner + 1]
        asked = np.concatenate([frontier, inner[uncalled]])
        owners = np.concatenate([frontier, owner[uncalled]])
        edges = graph.edges(asked, CALLS)
        level = _Level(owners[edges.origin], *(column.astype(np.int64) for column in edges[1:]))
        if self._sure:
            level = _Level(*(column[(level.step & AMBIGUOUS) == 0] for column in level))
        return level

    def _passing(self, level: _Level) -> _Level:
        there = self._nodes.snapshot.freshness.there()
        if not self._request.filters and there is None:
            return level
        passes = place_filter(self._request.filters, there)
        places = self._nodes.places(np.unique(level.target).tolist())
        good = np.array(sorted(node for node, place in places.items() if passes(place)), np.int64)
        keep = np.isin(level.target, good)
        return _Level(*(column[keep] for column in level))

    # --- chains -------------------------------------------------------------------------------------------------

    def chains(
        self, levels: Sequence[_Level], starts: Sequence[int], ends: set[int], outside: dict[int, list[int]]
    ) -> tuple[int, list[tuple[Hop, ...]]]:
        """How many shortest chains there are, and the first of them: those of surer calls first."""
        if not levels:
            first = [node for node in starts if node in outside]
            ways: list[tuple[int, tuple[Call, ...]]] = [(node, ()) for node in first]
            return len(ways), self._made(ways[: self._request.limit], outside)
        reached = sorted(ends & set(levels[-1].target.tolist()))
        above = [self._calls_into(level) for level in levels]
        counts = self._counts(above)
        total = sum(counts[len(levels)].get(node, 0) for node in reached)
        ways = []
        for node in reached:
            for way in self._ways(above, len(levels), node):
                ways.append(way)
                if len(ways) >= 20 * self._request.limit:
                    break
        ways.sort(key=lambda way: (sum(call.ambiguous for call in way[1]), -_sureness(way[1])))
        return total, self._made(ways[: self._request.limit], outside)

    def _calls_into(self, level: _Level) -> dict[int, list[Call]]:
        """Node -> the calls that lead to it; `Call.node` is the caller. The surest come first."""
        grouped: dict[int, list[tuple[int, int, int, int]]] = {}
        for source, target, line, step in zip(*(column.tolist() for column in level), strict=True):
            grouped.setdefault(target, []).append((0, source, line, step))
        return {
            node: sorted(joined(edges), key=lambda call: (call.ambiguous, -call.confidence, call.node))
            for node, edges in grouped.items()
        }

    def _counts(self, above: Sequence[dict[int, list[Call]]]) -> list[dict[int, int]]:
        """For every level, how many shortest chains lead to each of its nodes."""
        counts: list[dict[int, int]] = [{}]
        for depth, level in enumerate(above):
            before = counts[-1]
            counts.append(
                {node: sum(before.get(call.node, 0) if depth else 1 for call in calls) for node, calls in level.items()}
            )
        return counts

    def _ways(
        self, above: Sequence[dict[int, list[Call]]], depth: int, node: int
    ) -> Iterator[tuple[int, tuple[Call, ...]]]:
        """The chains to a node of a level: the first node, and the calls with `Call.node` as what is called."""
        for call in above[depth - 1].get(node, ()):
            to_node = call._replace(node=node)
            if depth == 1:
                yield call.node, (to_node,)
            else:
                for first, calls in self._ways(above, depth - 1, call.node):
                    yield first, (*calls, to_node)

    def _made(
        self, ways: Sequence[tuple[int, tuple[Call, ...]]], outside: dict[int, list[int]]
    ) -> list[tuple[Hop, ...]]:
        places = self._nodes.places([node for first, calls in ways for node in (first, *(call.node for call in calls))])
        made = []
        for first, calls in ways:
            place = places[first]
            hops = [Hop(place, _name(place.qualified_name, place.file), (), "", 1.0, False)]
            for call in calls:
                place = places[call.node]
                name = _name(place.qualified_name, place.file)
                hops.append(Hop(place, name, call.lines, call.step_name, call.confidence, call.ambiguous))
            last = calls[-1].node if calls else first
            if outside:
                hops.append(Hop(None, self._request.target, tuple(outside[last]), "", 1.0, False))
            made.append(tuple(hops))
        return made

    # --- no chain -----------------------------------------------------------------------------------------------

    def frontier(
        self, levels: Sequence[_Level], starts: Sequence[int], ends: set[int], request: PathRequest
    ) -> Frontier:
        """How far the walk came: first the places that call, without a known target, a name that leads to the end."""
        nodes = self._nodes
        reached = set(starts).union(*(level.target.tolist() for level in levels))
        ended = len(levels) < request.depth
        found: dict[tuple[int, int], str] = {}
        for name in self._leading_to(ends):
            for node, line in unexplained_uses(nodes, name):
                if node in reached:
                    found.setdefault((node, line), name)
        lost = sorted(found)[:_PLACES]
        places = nodes.places(node for node, _ in lost)
        named = [Lost(places[node], line, found[node, line]) for node, line in lost if node in places]
        in_order = dict.fromkeys([*starts, *(node for level in levels for node in np.unique(level.target).tolist())])
        return Frontier(
            len(reached) - len(set(starts)), len(levels), ended, tuple(named or self._trails(list(in_order)))
        )

    def _trails(self, reached: Sequence[int]) -> list[Lost]:
        """The calls without a known target of names that the repository has, in the places that are reached first."""
        nodes, found = self._nodes, []
        rows = nodes.snapshot.symbols.symbol_rows([node for node in reached[:_LOOKED] if node < nodes.first_file])
        for row in (rows[node] for node in reached[:_LOOKED] if node in rows):
            outside = [item for item in externals(nodes, [row]) if not item.imported]
            known = defined_names(nodes.snapshot.symbols, [item.name.rpartition(".")[2] for item in outside])
            found += [
                Lost(place_of(row), item.sites[0], item.name)
                for item in outside
                if item.name.rpartition(".")[2] in known
            ]
        return found[:_PLACES]

    def _leading_to(self, ends: set[int]) -> list[str]:
        """Names of definitions from which calls lead to the end, the nearest first, without those that many have."""
        graph = self._graph
        found: dict[str, None] = {}
        seen, level = set(ends), sorted(ends)
        while level and len(found) < _NAMES:
            known = names(self._nodes.snapshot.symbols, [node for node in level if node < graph.n_symbols])
            found |= dict.fromkeys(known[node].name for node in sorted(known))
            around = [graph.lambda_at(node)[2] for node in level if node >= graph.n_symbols + graph.n_files]
            callers = graph.edges(level, CALLS, incoming=True).node.tolist()
            level = sorted({node for node in (*callers, *around) if node >= 0} - seen)
            seen.update(level)
        return list(found)[:_NAMES]


def _name(qualified: str | None, file: str) -> str:
    return qualified or file


def _sureness(calls: Sequence[Call]) -> float:
    product = 1.0
    for call in calls:
        product *= confidence(call.step)
    return product
