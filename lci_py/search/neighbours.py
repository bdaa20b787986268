"""The graph as a prior: what the best places call, what calls them, and their relatives count more.

A question often describes one place and wants another, to which the first leads (docs/ranking.md#graph). Bounded: only
the best places count as seeds, a place with many neighbours says little of each, and no neighbour is lifted above the
best result that was found without the graph (`fusion.Ranked`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.index.graph import CALLS, INHERITS
from lci_py.index.links import confidence
from lci_py.index.unit_table import UNIT_KINDS
from lci_py.types import TYPE_KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.graph import GraphIndex
    from lci_py.index.unit_table import UnitTable

#: Results, the best before the graph is asked, whose neighbours are lifted.
SEEDS = 10
#: Kind of edge, whether it leads into the seed, and what it is worth.
RELATIONS = ((CALLS, False, 1.0), (CALLS, True, 0.5), (INHERITS, False, 0.5), (INHERITS, True, 0.5))
#: Neighbours of one seed in one relation; the surest of more.
MOST = 40


class Neighbours(NamedTuple):
    """Units around the seeds."""

    units: NDArray[np.int64]  # [n], ascending
    values: NDArray[np.float32]  # [n] in (0, 1]


def neighbours(
    graph: GraphIndex, table: UnitTable, seeds: NDArray[np.int64], scores: NDArray[np.float64]
) -> Neighbours:
    """What is one call or one step of inheritance away from the seeds.

    A neighbour's value is the sum, over seeds and relations, of the seed's score (as a share of the best seed's) times
    the edge's confidence times the relation's worth, over the cube root of how many neighbours the seed has in that
    relation; at most 1.

    Args:
        graph: The graph.
        table: Facts about the units, of the same numbering.
        seeds: [n] units, the best first.
        scores: [n] > 0, descending.
    Raises:
        DamagedIndexError: The graph's arrays do not fit together.
    """
    owners, nodes = _nodes(table, seeds)
    found, values = [np.zeros(0, np.int64)], [np.zeros(0, np.float64)]
    shares = scores / scores[0] if len(scores) else scores
    unit_of = table.unit_of_symbol(graph.n_symbols)
    for kind, incoming, worth in RELATIONS:
        asked, owned = nodes, owners
        if kind == CALLS and not incoming:
            inner, outer = graph.lambdas_in(nodes)
            asked, owned = np.concatenate((nodes, inner)), np.concatenate((owners, owners[outer]))
        edges = graph.edges(asked, kind, incoming=incoming)
        seed, unit = owned[edges.origin], _units(graph, unit_of, edges.node)
        kept = (unit >= 0) & (unit != seeds[seed])
        seed, unit, sure = _distinct(seed[kept], unit[kept], _confidences()[edges.step[kept]])
        counts = np.bincount(seed, minlength=len(seeds))
        order = np.lexsort((unit, -sure, seed))
        seed, unit, sure = seed[order], unit[order], sure[order]
        place = np.arange(len(seed)) - (np.cumsum(counts) - counts)[seed]
        near = place < MOST
        seed, unit, sure = seed[near], unit[near], sure[near]
        found.append(unit)
        values.append(shares[seed] * sure * worth / np.cbrt(counts[seed]))
    units, places = np.unique(np.concatenate(found), return_inverse=True)
    sums = np.bincount(places, np.concatenate(values), minlength=len(units))
    return Neighbours(units, np.minimum(sums, 1).astype(np.float32))


def _nodes(table: UnitTable, seeds: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The nodes that stand for the seeds, as (place among the seeds, node): their definitions, and what is in a type.
    A block has none: what it calls, its file calls, and that may be anything."""
    owners, nodes = [], []
    for place, unit in enumerate(seeds.tolist()):
        inside = range(unit, unit + 1)
        if table.kind[unit] in _TYPES:
            # Units are in the order of their lines: what is in a type follows it.
            stop = unit + 1
            while stop < len(table.file) and table.file[stop] == table.file[unit]:
                if table.line[stop] > table.end_line[unit]:
                    break
                stop += 1
            inside = range(unit, stop)
        for one in inside:
            if table.symbol[one] >= 0:
                owners.append(place)
                nodes.append(int(table.symbol[one]))
    return np.array(owners, np.int64), np.array(nodes, np.int64)


_TYPES = frozenset(code for code, kind in enumerate(UNIT_KINDS) if kind in TYPE_KINDS)


def _units(graph: GraphIndex, unit_of: NDArray[np.int64], nodes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The unit of each node, -1 for a file or a definition that is a part of another's text; an anonymous function is
    that of the definition around it."""
    symbols = nodes.astype(np.int64)
    anonymous = symbols >= graph.n_symbols + graph.n_files
    symbols[anonymous] = graph.lambda_symbol[symbols[anonymous] - graph.n_symbols - graph.n_files]
    known = (symbols >= 0) & (symbols < graph.n_symbols)
    return np.where(known, unit_of[np.where(known, symbols, 0)], -1) if len(unit_of) else np.full(len(nodes), -1)


def _distinct(
    seed: NDArray[np.int64], unit: NDArray[np.int64], sure: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Each pair once, with the surest of its edges."""
    order = np.lexsort((-sure, unit, seed))
    seed, unit, sure = seed[order], unit[order], sure[order]
    first = np.ones(len(seed), np.bool_)
    first[1:] = (seed[1:] != seed[:-1]) | (unit[1:] != unit[:-1])
    return seed[first], unit[first], sure[first]


@lru_cache(maxsize=1)
def _confidences() -> NDArray[np.float64]:
    """By step: [256]."""
    return np.array([confidence(step) for step in range(256)])
