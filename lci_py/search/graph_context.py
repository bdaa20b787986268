"""What is around a result in the graph: callers, callees, imports, importers. Short lists, with the full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.types import FILE_KIND, TYPE_KINDS, GraphContext, GraphLink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.symbols import Row
    from lci_py.search.navigate_nodes import Nodes
    from lci_py.search.session import Session
    from lci_py.types_graph import Place

#: Neighbours listed per relation: a utility with 500 callers must not flood the answer.
SHOWN = 5


def contexts(session: Session, rows: Sequence[Row]) -> list[GraphContext]:
    """The graph context of each result. Who makes objects of a type calls its constructor, and counts
    among the type's callers."""
    from lci_py.index.graph import CALLS, IMPORTS
    from lci_py.search.navigate_nodes import Nodes

    nodes = Nodes(session)
    files = [nodes.first_file + int(row["file_number"]) for row in rows]
    # A block's calls are its file's: the graph has no finer node for code outside definitions.
    own = [
        file if row["symbol_number"] is None else int(row["symbol_number"])
        for row, file in zip(rows, files, strict=True)
    ]
    types = [node for node, row in zip(own, rows, strict=True) if row["kind"] in TYPE_KINDS]
    made_by: dict[int, list[int]] = {}
    for constructor, around in nodes.constructors(types).items() if types else ():
        made_by.setdefault(around, []).append(constructor)
    asked = [[node, *made_by.get(node, ())] for node in own]
    lists = {
        "callers": _around(nodes, asked, CALLS, incoming=True),
        "callees": _around(nodes, [_with_lambdas(nodes, group) for group in asked], CALLS, incoming=False),
        "imports": _around(nodes, [[file] for file in files], IMPORTS, incoming=False),
        "imported_by": _around(nodes, [[file] for file in files], IMPORTS, incoming=True),
    }
    places = nodes.places(node for found in lists.values() for some in found for node in some[:SHOWN])
    return [
        GraphContext(
            **{
                name: tuple(link(places[node]) for node in found[i][:SHOWN] if node in places)
                for name, found in lists.items()
            },
            counts={name: len(found[i]) for name, found in lists.items()},
        )
        for i in range(len(rows))
    ]


def _with_lambdas(nodes: Nodes, group: Sequence[int]) -> list[int]:
    return [*group, *(inner for node in group for inner in nodes.graph.lambdas_of(node))]


def _around(nodes: Nodes, asked: Sequence[Sequence[int]], kind: int, *, incoming: bool) -> list[list[int]]:
    """Per group of nodes, the distinct other ends of its edges, ascending."""
    flat = [(i, node) for i, group in enumerate(asked) for node in group]
    edges = nodes.graph.edges([node for _, node in flat], kind, incoming=incoming)
    found: list[set[int]] = [set() for _ in asked]
    for origin, node in zip(edges.origin.tolist(), edges.node.tolist(), strict=True):
        found[flat[origin][0]].add(node)
    return [sorted(some) for some in found]


def link(place: Place) -> GraphLink:
    """A place as the context of a result lists it."""
    name = None if place.kind == FILE_KIND else place.symbol
    return GraphLink(place.id, name, place.file, place.line, place.qualified_name)
