"""A result's neighbours in the graph: callers, callees, imports, importers. Short lists, with the full counts."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.symbol_queries import constructors, names
from lci_py.types.search import TYPE_KINDS, GraphContext, GraphLink

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.snapshot import Snapshot

#: Neighbours listed per relation: a utility with 500 callers must not flood the answer.
SHOWN = 3


def contexts(snapshot: Snapshot, rows: Sequence[Row]) -> list[GraphContext]:
    """The graph context of each result. Whoever constructs an object of a type counts among the type's callers."""
    if not rows:
        return []
    found = surroundings(snapshot, snapshot.graph, rows)
    nodes = {node for lists in found for some, _ in lists.values() for node in some}
    links = links_of(snapshot.symbols, snapshot.unit_table.paths, snapshot.graph, nodes)
    return [context(lists, links) for lists in found]


#: For each relation the first nodes, ascending, and how many there are.
Lists = dict[str, tuple[list[int], int]]


def context(lists: Lists, links: Mapping[int, GraphLink]) -> GraphContext:
    """The context of one result; nodes without a link are not listed."""
    shown = {name: tuple(links[node] for node in some if node in links) for name, (some, _) in lists.items()}
    return GraphContext(**shown, counts={name: count for name, (_, count) in lists.items()})


def surroundings(snapshot: Snapshot, graph: GraphIndex, rows: Sequence[Row]) -> list[Lists]:
    """The neighbours of each of some results, one or more."""
    files = [graph.n_symbols + int(row["file_number"]) for row in rows]
    # A block's calls are its file's: the graph has no finer node for code outside definitions.
    own = [
        file if row["symbol_number"] is None else int(row["symbol_number"])
        for row, file in zip(rows, files, strict=True)
    ]
    types = [node for node, row in zip(own, rows, strict=True) if row["kind"] in TYPE_KINDS]
    made_by: dict[int, list[int]] = {}
    for constructor, around in constructors(snapshot.symbols, types).items() if types else ():
        made_by.setdefault(around, []).append(constructor)
    asked = [[node, *made_by.get(node, ())] for node in own]
    within = [[*group, *(inner for node in group for inner in graph.lambdas_of(node))] for group in asked]
    into, out = (
        _first_neighbours(graph, asked, files, incoming=True),
        _first_neighbours(graph, within, files, incoming=False),
    )
    n = len(rows)
    return [
        {"callers": into[i], "callees": out[i], "imports": out[n + i], "imported_by": into[n + i]} for i in range(n)
    ]


def _first_neighbours(
    graph: GraphIndex, groups: Sequence[Sequence[int]], files: Sequence[int], *, incoming: bool
) -> list[tuple[list[int], int]]:
    """The first `SHOWN` neighbours of each group's calls, then of each file's imports, ascending; and their number."""
    import numpy as np

    from lci_py.index.shards.graph import CALLS, IMPORTS

    asked = [node for group in groups for node in group]
    slots = np.array([*(i for i, group in enumerate(groups) for _ in group), *range(len(groups), 2 * len(groups))])
    kinds = np.array([CALLS] * len(asked) + [IMPORTS] * len(files), np.uint8)
    edges = graph.edges([*asked, *files], kinds, incoming=incoming)
    size = graph.n_nodes
    keys = np.sort(slots[edges.origin] * size + edges.node)
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]  # not `unique`, which imports all of numpy.ma
    counts = np.bincount(keys // size, minlength=2 * len(groups)).tolist()
    ends = keys % size
    return [
        (ends[stop - count : stop - count + min(count, SHOWN)].tolist(), count)
        for stop, count in zip(accumulate(counts), counts, strict=True)
    ]


def links_of(
    symbols: SymbolicIndex, paths: Sequence[str], graph: GraphIndex, wanted: Collection[int]
) -> dict[int, GraphLink]:
    """The entry for each node in a context."""
    if graph.n_files != len(paths):
        raise DamagedIndexError("the graph was built from other files than the rest of the index")
    found = {node: link for node in wanted if (link := graph.outside(node)) is not None}
    wanted = [node for node in wanted if node not in found]
    lambdas = {node: graph.lambda_at(node) for node in wanted if node >= graph.n_symbols + graph.n_files}
    own = {node for node in wanted if node < graph.n_symbols}
    named = names(symbols, sorted(own | {around for _, _, around in lambdas.values() if around >= 0}))
    for node in wanted:
        if node in lambdas:
            file, line, around = lambdas[node]
            outer = f"{named[around].qualified_name}." if around in named else ""
            found[node] = GraphLink(f"lambda:{paths[file]}:{line}", "<lambda>", paths[file], line, f"{outer}<lambda>")
        elif node >= graph.n_symbols:
            path = paths[node - graph.n_symbols]
            found[node] = GraphLink(f"file:{path}", None, path, 1)
        elif node in named:
            one = named[node]
            found[node] = GraphLink(one.id, one.name, paths[one.file], one.line, one.qualified_name)
    return found
