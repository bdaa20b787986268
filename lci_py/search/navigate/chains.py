"""`lci path A B`: the shortest call chains from one definition to another, by breadth-first search from A."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.errors import UnknownTargetError, UsageError
from lci_py.index.shards.symbol_queries import defined_names, names, parents
from lci_py.search.answer.results import index_info
from lci_py.search.navigate.calls import definitions
from lci_py.search.navigate.dispatch import Dispatch
from lci_py.search.navigate.external import external_calls, externals, unexplained_uses
from lci_py.search.navigate.nodes import Call, Nodes, calls_by_node, place_of
from lci_py.search.navigate.present import place_filter
from lci_py.search.navigate.tree import MAX_DEPTH
from lci_py.search.suggest import near_misses
from lci_py.source.text.words import parts
from lci_py.types.chains import Frontier, Hop, Lost, PathAnswer, PathRequest
from lci_py.types.edges import AMBIGUOUS, CALLBACK, CALLS, FLOW, confidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lci_py.search.snapshot import Snapshot

#: Maximum number of names leading to the target that are compared with unresolved calls if there is no chain.
_NAMES = 40
#: Places of the frontier that are named.
_PLACES = 10
#: Maximum number of searches for a chain whose own callers pass the functions that it calls.
_DETOURS = 4
#: Maximum number of callers that are checked for passing a function.
_CALLERS = 200
#: Maximum number of nodes per level for which dynamic dispatch is followed.
_MOST_DISPATCHING = 1_000
#: Steps of calls of functions as values.
_OF_VALUES = frozenset({FLOW, CALLBACK})
#: Maximum number of nodes, first reached first, whose unresolved calls are examined.
_LOOKED = 50


class _Level(NamedTuple):
    """The calls of one step of the search, to nodes not reached before: each array is [n], an item per call."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    line: NDArray[np.int64]
    step: NDArray[np.int64]


def path(snapshot: Snapshot, request: PathRequest) -> PathAnswer:
    """The shortest chains from one name to another; if all have ambiguous calls, also the shortest chains without.

    Raises:
        UnknownTargetError: Nothing has the name, and nothing calls it.
        UsageError: The depth is out of range.
    """
    if not 1 <= request.depth <= MAX_DEPTH:
        raise UsageError(f"--depth must be from 1 to {MAX_DEPTH}, not {request.depth}")
    answer = _likeliest(snapshot, request)
    return answer._replace(results=tuple(tuple(_with_text(snapshot, chain)) for chain in answer.results))


def _with_text(snapshot: Snapshot, chain: Sequence[Hop]) -> Iterator[Hop]:
    """Yield the hops of a chain, each completed with the source line of its call."""
    for before, hop in zip((None, *chain), chain, strict=False):
        if before is None or before.place is None or not hop.sites:
            yield hop
            continue
        line = b"".join(snapshot.reader.some(before.place.file, hop.sites[0], hop.sites[0]))
        yield hop._replace(text=line.decode("utf-8", "replace").strip())


def _likeliest(snapshot: Snapshot, request: PathRequest) -> PathAnswer:
    answer = _path(snapshot, request)
    if answer.results or not answer.others:
        return answer
    # Of ambiguous names, any two between which there is a chain are likelier meant than two without.
    whole = _path(snapshot, request._replace(all_meanings=True))
    if not whole.results:
        return answer
    ends = {hop.place.id for chain in whole.results for hop in (chain[0], chain[-1]) if hop.place is not None}
    return whole._replace(
        request=request,
        sources=tuple(place for place in whole.sources if place.id in ends),
        targets=tuple(place for place in whole.targets if place.id in ends),
        others=tuple(
            item
            for item in answer.others
            if not any(
                p.file == item.file and p.line == item.line for p in whole.sources + whole.targets if p.id in ends
            )
        ),
    )


def _path(snapshot: Snapshot, request: PathRequest) -> PathAnswer:
    nodes = Nodes(snapshot)
    sources, other_sources = definitions(nodes, request.source, every=request.all_meanings)
    if not sources:
        raise _unknown(snapshot, request.source, "")
    targets, other_targets = definitions(nodes, request.target, every=request.all_meanings)
    outside: dict[int, list[int]] = {}
    if not targets:
        for node, line in external_calls(nodes, request.target):
            outside.setdefault(node, []).append(line)
        if not outside:
            raise _unknown(snapshot, request.target, ", and nothing calls it")
    starts, ends = nodes.asked(sources), set(nodes.asked(targets)) or set(outside)
    depth = request.depth - 1 if outside else request.depth
    passed = _PassedFunctions(nodes)

    def walked(walk: _Walk) -> tuple[list[_Level], int, list[tuple[Hop, ...]]]:
        levels = walk.levels(starts, ends, depth, inclusive=bool(outside))
        return levels, *walk.chains(levels, starts, ends, outside)

    levels, total, chains = walked(walk := _Walk(nodes, request, passed))
    if not chains:
        _, total, chains = walked(_Walk(nodes, request, passed, dispatch=Dispatch(nodes)))
    for _ in range(_DETOURS):  # a chain of the same callers may be longer
        if not chains or not all(any(hop.passed_elsewhere for hop in chain) for chain in chains):
            break
        _, count, more = walked(_Walk(nodes, request, passed, without=frozenset(passed.elsewhere)))
        own = [chain for chain in more if not any(hop.passed_elsewhere for hop in chain)]
        if not more or own:
            total, chains = total + (count if own else 0), [*own, *chains]
            break
    if chains and all(any(hop.ambiguous for hop in chain) for chain in chains):
        _, count, more = walked(_Walk(nodes, request, passed, sure=True))
        total, chains = total + count, [*chains, *more]
    frontier = None if chains else walk.frontier(levels, starts, ends, request)
    return PathAnswer(
        request,
        tuple(map(place_of, sources)),
        tuple(map(place_of, targets)),
        tuple(chains[: request.limit]),
        total,
        index_info(snapshot),
        frontier,
        (*other_sources, *other_targets),
    )


def _unknown(snapshot: Snapshot, name: str, more: str) -> UnknownTargetError:
    near = near_misses(snapshot.symbols, name)
    return UnknownTargetError(f"nothing is named {name!r}{more}", near, index=index_info(snapshot))


class _PassedFunctions:
    """Decides whether a chain of calls may call a function that is passed as a value, by one level of calling context.

    Attributes:
        elsewhere: (caller, callee) of calls that were rejected: only a caller outside of the chain passes the callee.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self.elsewhere: set[tuple[int, int]] = set()
        self._spans: dict[int, tuple[int, str]] = {}

    def is_elsewhere(self, way: Sequence[int], index: int) -> bool:
        """Whether a caller outside of a chain passed the function called at `index` of it: no earlier node of the
        chain names the function, but another caller of the calling function does."""
        source, target = way[index - 1], way[index]
        outer, _ = self._span(source)
        entry = index - 1
        while entry and self._span(way[entry - 1])[0] == outer:
            entry -= 1
        if not entry or any(self._names(node, target) for node in way[:index]):
            return False
        callers = self._nodes.graph.edges([way[entry]], CALLS, incoming=True).node.tolist()
        if not any(self._names(node, target) for node in list(dict.fromkeys(callers))[:_CALLERS]):
            return False
        self.elsewhere.add((source, target))
        return True

    def _names(self, node: int, target: int) -> bool:
        """Whether the code of a node contains the name of a function or, if the target has no name, the target."""
        outer, text = self._span(node)
        if target >= self._nodes.first_lambda:
            return self._span(target)[0] == outer
        symbols = names(self._nodes.snapshot.symbols, [target])
        return target in symbols and re.search(rf"(?<!\w){re.escape(symbols[target].name)}(?!\w)", text) is not None

    def _span(self, node: int) -> tuple[int, str]:
        """(node, text) of the outermost function around a node; for a file's own code, of the whole file."""
        span = self._spans.get(node)
        if span is None:
            nodes = self._nodes
            enclosing = nodes.graph.lambda_at(node)[2] if node >= nodes.first_lambda else node
            outer = enclosing if 0 <= enclosing < nodes.first_file else nodes.first_file + nodes.file_of(node)
            first, last = 1, 1 << 30
            if outer < nodes.first_file:
                for _, number, is_type in parents(nodes.snapshot.symbols, outer):
                    if is_type:
                        break
                    outer = number
                row = nodes.snapshot.symbols.symbol_rows([outer])[outer]
                first, last = row["line"], row["end_line"]
            lines = nodes.snapshot.reader.some(nodes.path(nodes.file_of(node)), first, last)
            span = self._spans[node] = (outer, b"\n".join(lines).decode("utf-8", "replace"))
        return span


class _Walk:
    """Searches breadth-first from nodes along their calls."""

    def __init__(
        self, nodes: Nodes, request: PathRequest, passed: _PassedFunctions, *, sure: bool = False,
        without: frozenset[tuple[int, int]] = frozenset(), dispatch: Dispatch | None = None,
    ) -> None:  # fmt: skip
        """Set up the search.

        Args:
            request: Its filters hold for every node on the way.
            passed: Finds which functions the callers of a chain pass on.
            sure: Whether to follow only calls with one target.
            without: (caller, callee) pairs that are not followed.
            dispatch: Adds calls by dynamic dispatch; None to add none.
        """
        self._nodes = nodes
        self._graph = nodes.graph
        self._request = request
        self._passed = passed
        self._sure = sure
        self._dispatch = dispatch
        self._without = np.array([source << 32 | target for source, target in sorted(without)], np.int64)

    def levels(self, starts: Sequence[int], ends: set[int], depth: int, *, inclusive: bool) -> list[_Level]:
        """Per level, the calls to nodes that no shorter chain reaches, up to the first level that reaches an end.

        Args:
            ends: The nodes to find. A start counts as an end only if a call leads back to it, or if `inclusive`.
            depth: The maximum number of levels.
        """
        graph = self._graph
        seen = np.zeros(len(graph.out_ptr), np.bool_)
        is_end = np.zeros(len(seen), np.bool_)
        is_end[list(ends)] = True
        result: list[_Level] = []
        frontier = np.array(sorted(set(starts)), np.int64)
        if inclusive and is_end[frontier].any():
            return result
        seen[frontier] = True
        while len(result) < depth and len(frontier):
            level = self._next_level(frontier)
            fresh = ~seen[level.target] | (is_end[level.target] if not inclusive else False)
            level = _Level(*(column[fresh] for column in level))
            level = self._passing(level)
            if not len(level.target):
                break
            result.append(level)
            frontier = np.unique(level.target)
            if is_end[frontier].any():
                break
            seen[frontier] = True
        return result

    def _next_level(self, frontier: NDArray[np.int64]) -> _Level:
        """The nodes' calls. An anonymous function's calls belong to the node around it, unless its caller is known."""
        graph = self._graph
        symbols = frontier[frontier < graph.n_symbols]
        inner, position = graph.lambdas_in(symbols)
        owner = symbols[position]
        for file in frontier[(frontier >= graph.n_symbols) & (frontier < graph.n_symbols + graph.n_files)].tolist():
            own = np.array(graph.lambdas_of(file), np.int64)
            inner, owner = np.concatenate([inner, own]), np.concatenate([owner, np.full(len(own), file)])
        uncalled = graph.in_ptr[inner] == graph.in_ptr[inner + 1]
        callers = np.concatenate([frontier, inner[uncalled]])
        owners = np.concatenate([frontier, owner[uncalled]])
        edges = graph.edges(callers, CALLS)
        level = _Level(owners[edges.origin], *(column.astype(np.int64) for column in edges[1:]))
        if self._dispatch is not None:
            more = self._dispatch.edges(frontier[:_MOST_DISPATCHING].tolist())
            unnamed = np.array([(frontier[origin], *rest) for origin, *rest in more], np.int64).reshape(-1, 4).T
            level = _Level(*(np.concatenate(pair) for pair in zip(level, unnamed, strict=True)))
        if self._sure:
            level = _Level(*(column[(level.step & AMBIGUOUS) == 0] for column in level))
        if len(self._without):
            keep = ~np.isin(level.source << 32 | level.target, self._without)
            level = _Level(*(column[keep] for column in level))
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
        """(total, chains): the number of shortest chains, and the shown chains; more certain chains come first."""
        if not levels:
            first = [node for node in starts if node in outside]
            ways: list[tuple[int, tuple[Call, ...]]] = [(node, ()) for node in first]
            return len(ways), self._make_chains(ways[: self._request.limit], outside)
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
        ways.sort(
            key=lambda way: (
                sum(call.ambiguous for call in way[1]),
                -math.prod(confidence(call.step) for call in way[1]),
            )
        )
        return total, self._make_chains(ways[: self._request.limit], outside)

    def _calls_into(self, level: _Level) -> dict[int, list[Call]]:
        """Maps each node to the calls that lead to it, the most certain first; `Call.node` is the caller."""
        grouped: dict[int, list[tuple[int, int, int, int]]] = {}
        for source, target, line, step in zip(*(column.tolist() for column in level), strict=True):
            grouped.setdefault(target, []).append((0, source, line, step))
        return {
            node: sorted(calls_by_node(edges), key=lambda call: (call.ambiguous, -call.confidence, call.node))
            for node, edges in grouped.items()
        }

    def _counts(self, above: Sequence[dict[int, list[Call]]]) -> list[dict[int, int]]:
        """For every level, maps each node to the number of shortest chains that lead to it."""
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
        """Yield the chains to a node of level `depth`: (first node, calls); here `Call.node` is the callee."""
        for call in above[depth - 1].get(node, ()):
            to_node = call._replace(node=node)
            if depth == 1:
                yield call.node, (to_node,)
            else:
                for first, calls in self._ways(above, depth - 1, call.node):
                    yield first, (*calls, to_node)

    def _make_chains(
        self, ways: Sequence[tuple[int, tuple[Call, ...]]], outside: dict[int, list[int]]
    ) -> list[tuple[Hop, ...]]:
        places = self._nodes.places([node for first, calls in ways for node in (first, *(call.node for call in calls))])
        chains = []
        for first, calls in ways:
            place = places[first]
            hops = [Hop(place, place.qualified_name or place.file, (), "", 1.0, False)]
            way = (first, *(call.node for call in calls))
            for number, call in enumerate(calls, 1):
                place = places[call.node]
                name = place.qualified_name or place.file
                elsewhere = call.step & ~AMBIGUOUS in _OF_VALUES and self._passed.is_elsewhere(way, number)
                hops.append(Hop(place, name, call.lines, call.step_name, call.confidence, call.ambiguous, elsewhere))
            last = calls[-1].node if calls else first
            if outside:
                hops.append(Hop(None, self._request.target, tuple(outside[last]), "", 1.0, False))
            chains.append(tuple(hops))
        return chains

    # --- no chain -----------------------------------------------------------------------------------------------

    def frontier(
        self, levels: Sequence[_Level], starts: Sequence[int], ends: set[int], request: PathRequest
    ) -> Frontier:
        """Describes a failed search: its extent, and calls of unknown target, if possible to names near the end."""
        nodes = self._nodes
        reached = set(starts).union(*(level.target.tolist() for level in levels))
        ended = len(levels) < request.depth
        unknown_calls: dict[tuple[int, int], str] = {}
        for name in self._leading_to(ends):
            for node, line in unexplained_uses(nodes, name):
                if node in reached:
                    unknown_calls.setdefault((node, line), name)
        lost = sorted(unknown_calls, key=lambda site: (_is_one_word(unknown_calls[site]), site))[:_PLACES]
        places = nodes.places(node for node, _ in lost)
        lost_calls = [Lost(places[node], line, unknown_calls[node, line]) for node, line in lost if node in places]
        in_order = dict.fromkeys([*starts, *(node for level in levels for node in np.unique(level.target).tolist())])
        return Frontier(
            len(reached) - len(set(starts)), len(levels), ended, tuple(lost_calls or self._trails(list(in_order)))
        )

    def _trails(self, reached: Sequence[int]) -> list[Lost]:
        """The calls of unknown target in the nodes reached first, if the repository defines the called name."""
        nodes, lost_calls = self._nodes, []
        rows = nodes.snapshot.symbols.symbol_rows([node for node in reached[:_LOOKED] if node < nodes.first_file])
        for row in (rows[node] for node in reached[:_LOOKED] if node in rows):
            outside = [item for item in externals(nodes, [row]) if not item.imported]
            defined = defined_names(nodes.snapshot.symbols, [item.name.rpartition(".")[2] for item in outside])
            lost_calls += [
                Lost(place_of(row), item.sites[0], item.name)
                for item in outside
                if item.name.rpartition(".")[2] in defined
            ]
        lost_calls.sort(key=lambda lost: _is_one_word(lost.name))
        return lost_calls[:_PLACES]

    def _leading_to(self, ends: set[int]) -> list[str]:
        """The names of definitions from which calls lead to the end, the nearest first; frequent names are left out."""
        graph = self._graph
        nearest: dict[str, None] = {}
        seen, level = set(ends), sorted(ends)
        while level and len(nearest) < _NAMES:
            symbols = names(self._nodes.snapshot.symbols, [node for node in level if node < graph.n_symbols])
            nearest |= dict.fromkeys(symbols[node].name for node in sorted(symbols))
            enclosing = [graph.lambda_at(node)[2] for node in level if node >= graph.n_symbols + graph.n_files]
            callers = graph.edges(level, CALLS, incoming=True).node.tolist()
            level = sorted({node for node in (*callers, *enclosing) if node >= 0} - seen)
            seen.update(level)
        return list(nearest)[:_NAMES]


def _is_one_word(name: str) -> bool:
    """Whether a name is one word, as many methods of libraries are (`get`, `append`)."""
    return len(parts(name.rpartition(".")[2])) < 2
