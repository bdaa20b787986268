"""The call graph as a prior: callees, callers and relatives of the best results score higher.

A question often describes one definition and asks for another that is related to it (docs/ranking.md#graph). The effect
is bounded: only the best results are seeds, a seed with many neighbours lifts each of them little, and no neighbour is
lifted above the best result found without the graph (`fusion.RankedCandidates`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lci_py.index.shards.unit_columns import UNIT_KINDS
from lci_py.types.edges import CALLS, INHERITS, confidence
from lci_py.types.record import NamedTuple
from lci_py.types.search import TYPE_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.unit_columns import UnitColumns

#: Number of best results that lift their neighbours.
SEEDS = 10
#: (kind of edge, whether it leads into the seed, weight).
RELATIONS = ((CALLS, False, 1.0), (CALLS, True, 0.5), (INHERITS, False, 0.5), (INHERITS, True, 0.5))
#: Neighbours of one seed in one relation; the surest of more.
MOST = 40


class ReachedUnits(NamedTuple):
    """The units one edge away from the seeds (best results): [n] each, by seed and relation, the most certain first."""

    group: NDArray[np.int64]  # relation * number of seeds + place of the seed
    unit: NDArray[np.int64]
    sure: NDArray[np.float64]


class Neighbours(NamedTuple):
    """The neighbours of the seeds (best results), with their lift (added score)."""

    units: NDArray[np.int64]  # [n], ascending
    values: NDArray[np.float32]  # [n] in (0, 1]


def reach(graph: GraphIndex, table: UnitColumns, seeds: NDArray[np.int64]) -> ReachedUnits:
    """The units one call or one step of inheritance away from the seeds.

    Args:
        table: The units, in the graph's numbering.
        seeds: [n] the units from which the lift starts, the best first.
    Raises:
        DamagedIndexError: The graph's arrays do not fit together.
    """
    if not len(seeds):
        return ReachedUnits(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    group, node, step = edges_of(graph, table, seeds)
    unit = units_of(graph, graph.units(table.unit_of_symbol(graph.n_symbols)), node)
    is_near = (unit >= 0) & (unit != seeds[group % len(seeds)])
    return ReachedUnits(*_distinct(group[is_near], unit[is_near], _confidences()[step[is_near]]))


def weigh_neighbours(reached: ReachedUnits, scores: NDArray[np.float64]) -> Neighbours:
    """The lift of the neighbours of the seeds.

    It is the sum, over seeds and relations, of the seed's score (as a share of the best seed's) times the edge's
    confidence times the relation's weight, over the cube root of the number of neighbours that the seed has in that
    relation; at most 1.

    Args:
        reached: The neighbours.
        scores: [seeds] the scores of the seeds, all > 0, descending.
    """
    n_seeds = len(scores)
    if not n_seeds:
        return Neighbours(np.zeros(0, np.int64), np.zeros(0, np.float32))
    group, unit, sure = reached
    counts = np.bincount(group, minlength=n_seeds * len(RELATIONS))
    position = np.arange(len(group)) - (np.cumsum(counts) - counts)[group]
    near = position < MOST
    group, unit, sure = group[near], unit[near], sure[near]
    worth = np.array([worth for _, _, worth in RELATIONS])[group // n_seeds]
    values = (scores / scores[0])[group % n_seeds] * sure * worth / np.cbrt(counts[group])
    units, places = np.unique(unit, return_inverse=True)
    sums = np.bincount(places, values, minlength=len(units))
    return Neighbours(units, np.minimum(sums, 1).astype(np.float32))


def _nodes(table: UnitColumns, seeds: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(owners, nodes): the nodes of the seeds' definitions and, for a type, of its members, each with the index of its
    seed. A block has no nodes: the graph attributes its calls to the file."""
    owners, inside = [], []
    for seed, (unit, kind) in enumerate(zip(seeds.tolist(), table.kind[seeds].tolist(), strict=True)):
        stop = end_of_type(table, unit) if kind in _TYPES else unit + 1
        owners.append(np.full(stop - unit, seed))
        inside.append(np.arange(unit, stop))
    owner = np.concatenate(owners)
    symbols = table.symbol[np.concatenate(inside)].astype(np.int64)
    return owner[symbols >= 0], symbols[symbols >= 0]


_TYPES = frozenset(code for code, kind in enumerate(UNIT_KINDS) if kind in TYPE_KINDS)


def end_of_type(table: UnitColumns, unit: int) -> int:
    """The number after the last unit of a type. Units are numbered in the order of lines: members follow their type."""
    start, size = unit + 1, 64
    while True:
        stop = min(start + size, len(table))
        beyond = (table.file[start:stop] != table.file[unit]) | (table.line[start:stop] > table.end_line[unit])
        if len(out := np.flatnonzero(beyond)) or stop == len(table):
            return start + int(out[0]) if len(out) else stop
        start, size = stop, 2 * size


def edges_of(
    graph: GraphIndex, table: UnitColumns, seeds: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """(groups, ends, steps) of the edges of the seeds in all relations; a group is numbered as in `ReachedUnits`."""
    owners, nodes = _nodes(table, seeds)
    inner, outer = graph.lambdas_in(nodes)
    parts = []
    for incoming in (False, True):
        starts, groups, kinds = [], [], []
        for relation, (kind, into, _) in enumerate(RELATIONS):
            if into == incoming:
                inside = (
                    kind == CALLS and not into
                )  # calls inside an anonymous function count as calls of the definition around it
                for own, some in ((owners, nodes), (owners[outer], inner))[: 1 + inside]:
                    starts.append(some)
                    groups.append(own + relation * len(seeds))
                    kinds.append(np.full(len(some), kind, np.uint8))
        edges = graph.edges(np.concatenate(starts), np.concatenate(kinds), incoming=incoming)
        parts.append((np.concatenate(groups)[edges.origin], edges.node, edges.step))
    group, node, step = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return group, node, step


def units_of(graph: GraphIndex, unit_of: NDArray[np.int64], nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The unit of each node; for an anonymous function, the unit of the definition around it. -1 for a file, or a
    definition that is part of another unit."""
    symbols = nodes.astype(np.int64)
    anonymous = symbols >= graph.n_symbols + graph.n_files
    symbols[anonymous] = graph.lambda_symbol[symbols[anonymous] - graph.n_symbols - graph.n_files]
    valid = (symbols >= 0) & (symbols < graph.n_symbols)
    return np.where(valid, unit_of[np.where(valid, symbols, 0)], -1) if len(unit_of) else np.full(len(nodes), -1)


def _distinct(
    group: NDArray[np.int64], unit: NDArray[np.int64], sure: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(groups, units, certainties): each group and unit once, with its surest edge; by group, certainty and unit."""
    order = np.lexsort((-sure, unit, group))
    group, unit, sure = group[order], unit[order], sure[order]
    first = np.ones(len(group), np.bool_)
    first[1:] = (group[1:] != group[:-1]) | (unit[1:] != unit[:-1])
    group, unit, sure = group[first], unit[first], sure[first]
    order = np.lexsort((-sure, group))  # stable: the units of equal ones ascend
    return group[order], unit[order], sure[order]


@lru_cache(maxsize=1)
def _confidences() -> NDArray[np.float64]:
    """The confidence of an edge by its step: [256]."""
    return np.array([confidence(step) for step in range(256)])
