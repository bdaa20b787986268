"""PageRank over the graph: the definitions on which the repository depends most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.types.edges import CALLS, confidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex

#: The probability of following an edge; otherwise the walk restarts.
DAMPING = 0.85
#: Maximum number of steps, and the total change of ranks at which the iteration ends earlier.
STEPS, ENOUGH = 60, 1e-9
#: The share of restarts at the given nodes; the others are anywhere, so that no rank is 0.
GIVEN = 0.9
#: Weight of an edge against its direction, if start nodes are given: callers are neighbours, too.
BACK = 0.5


def page_rank(
    graph: GraphIndex, parents: NDArray[np.int64], starts: Mapping[int, float] | None = None
) -> NDArray[np.float64]:
    """The PageRank of every definition: float64 [S]; together with the ranks of the files they add up to 1.

    A random walk follows calls (weighted by confidence), imports and inheritance, each pair of nodes once, and goes
    from a member to its enclosing definition or file, and from a file to its definitions. With probability 1 - DAMPING
    it restarts, anywhere or, with `starts`, mostly there. The ranks are the limit of repeated multiplication from the
    uniform distribution, in a fixed order: no random number is drawn, and every run gives the same ranks.

    Args:
        parents: The enclosing definition of each definition, or -1: int64 [S].
        starts: Maps a node (a symbol's number, or `n_symbols` + a file's number) to a positive weight.
    Source:
        Brin and Page, The anatomy of a large-scale hypertextual web search engine, 1998; the starts: Haveliwala,
        Topic-sensitive PageRank, 2002.
    """
    nodes = graph.n_symbols + graph.n_files
    sources, targets, weights = _edges(graph, parents)
    jumps = np.full(nodes, 1.0 / max(nodes, 1))
    if starts:
        sources, targets = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        weights = np.concatenate([weights, BACK * weights])
        restart = np.zeros(nodes)
        for node, weight in starts.items():
            restart[node] += weight
        jumps = (1 - GIVEN) * jumps + GIVEN * restart / restart.sum()
    out = np.bincount(sources, weights, nodes)
    share = weights / out[sources]
    ends = out == 0
    rank = jumps
    for _ in range(STEPS):
        moved = np.bincount(targets, rank[sources] * share, nodes)
        following = DAMPING * (moved + rank[ends].sum() * jumps) + (1 - DAMPING) * jumps
        change = float(np.abs(following - rank).sum())
        rank = following
        if change < ENOUGH:
            break
    return rank[: graph.n_symbols]


def _edges(
    graph: GraphIndex, parents: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(sources, targets, weights) of the edges; an anonymous function counts as its enclosing definition."""
    owner = np.arange(graph.n_symbols + graph.n_files + graph.n_lambdas, dtype=np.int64)
    enclosing = graph.lambda_symbol.astype(np.int64)
    owner[graph.n_symbols + graph.n_files :] = np.where(enclosing >= 0, enclosing, graph.n_symbols + graph.lambda_file)
    source, target = graph.source.astype(np.int64), graph.target.astype(np.int64)
    ends = np.concatenate([source, target])
    if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < len(owner):
        raise DamagedIndexError("the graph has edges between nodes that do not exist")
    if len(owner) and not 0 <= owner.max() < graph.n_symbols + graph.n_files:
        raise DamagedIndexError("the graph has anonymous functions inside symbols or files that do not exist")
    source, target = owner[source], owner[target]
    sure = np.array([confidence(step) for step in range(256)])
    weight = np.where(graph.kind == CALLS, sure[graph.step], 1.0)
    members = np.flatnonzero(parents >= 0)
    tops = np.flatnonzero(parents < 0)
    file_of = np.repeat(np.arange(graph.n_files), np.diff(graph.first_symbol))
    counts = np.maximum(np.bincount(file_of[tops], minlength=graph.n_files), 1)
    sources = np.concatenate([source, members, graph.n_symbols + file_of[tops]])
    targets = np.concatenate([target, parents[members], tops])
    weights = np.concatenate([weight, np.ones(len(members)), 1.0 / counts[file_of[tops]]])
    keep = sources != targets
    sources, targets, weights = sources[keep], targets[keep], weights[keep]
    # Of several edges between two nodes the surest counts.
    order = np.lexsort((-weights, targets, sources))
    sources, targets, weights = sources[order], targets[order], weights[order]
    first = np.ones(len(sources), np.bool_)
    first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    return sources[first], targets[first], weights[first]
