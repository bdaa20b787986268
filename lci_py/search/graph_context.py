"""What is around a result in the graph: callers, callees, imports, importers. Short lists, with the full counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.types import GraphContext, GraphLink

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.index.symbols import Row
    from lci_py.search.session import Session

#: Neighbours listed per relation: a utility with 500 callers must not flood the answer.
SHOWN = 5


def contexts(session: Session, rows: Sequence[Row]) -> dict[int, GraphContext]:
    """The graph context of each result, by unit number."""
    from lci_py.index.graph import CALLS, IMPORTS

    graph = session.graph
    found: dict[int, dict[str, list[int]]] = {}
    wanted: set[int] = set()
    for row in rows:
        file_node = graph.n_symbols + int(row["file_number"])
        # A block's calls are its file's: the graph has no finer node for code outside definitions.
        node = int(row["symbol_number"]) if row["symbol_number"] is not None else file_node
        lists = {
            "callers": graph.into(node, CALLS).tolist(),
            "callees": graph.out(node, CALLS).tolist(),
            "imports": graph.out(file_node, IMPORTS).tolist(),
            "imported_by": graph.into(file_node, IMPORTS).tolist(),
        }
        found[row["unit"]] = lists
        for nodes in lists.values():
            wanted.update(nodes[:SHOWN])
    links = _links(session, wanted, graph.n_symbols)
    return {
        unit: GraphContext(
            **{name: tuple(links[node] for node in nodes[:SHOWN] if node in links) for name, nodes in lists.items()},
            counts={name: len(nodes) for name, nodes in lists.items()},
        )
        for unit, lists in found.items()
    }


def _links(session: Session, nodes: set[int], n_symbols: int) -> dict[int, GraphLink]:
    symbols = session.symbols.symbol_rows([node for node in nodes if node < n_symbols])
    links = {node: GraphLink(row["id"], row["symbol"], row["file"], row["line"]) for node, row in symbols.items()}
    files = [node - n_symbols for node in nodes if node >= n_symbols]
    if files:
        paths = session.symbols.paths()
        for file in files:
            links[n_symbols + file] = GraphLink(f"file:{paths[file]}", None, paths[file], 1)
    return links
