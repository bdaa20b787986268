"""Makes `--expand N`: adds nodes within N calls or imports of the best results, and counts the nodes left out.

The numbers of neighbours per node and relation, per hop and in total are limited, so that a utility with 500 callers
cannot flood the answer. The nodes of a hop take turns in adding a neighbour, the best node first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.index.shards.symbol_queries import passing
from lci_py.search.answer.results import LineMatcher, contexts, result as make_result
from lci_py.search.navigate.nodes import Nodes
from lci_py.search.query.text import read_fields, read_text
from lci_py.types.edges import CALLS, IMPORTS, confidence
from lci_py.types.record import replace
from lci_py.types.search import FILE_KIND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.index.shards.symbols import Row
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Filters, Result, SearchRequest, View

#: How many of the best results get their neighbours added.
SEEDS = 5
#: Results of one hop, results in all.
PER_HOP, MOST = 20, 40
#: `expansion` of an answer without neighbours.
NOTHING_AROUND: dict[str, Any] = {"hops": [], "shown": 0, "left_out": 0}
#: Relation of a neighbour to the place that led to it -> the kind of edge, whether the neighbour is the edge's target,
#: and how many neighbours of one place are shown. A call says more than an import of a whole file.
_RELATIONS: dict[str, tuple[int, bool, int]] = {
    "called_by": (CALLS, True, 5),
    "calls": (CALLS, False, 5),
    "imported_by": (IMPORTS, True, 2),
    "imports": (IMPORTS, False, 2),
}


def with_neighbours(
    snapshot: Snapshot, request: SearchRequest, filters: Filters, answer: Answer, outcome: Outcome
) -> Answer:
    """The answer, followed by the neighbours of its best results, with `expansion` (the numbers of neighbours per hop).

    Args:
        filters: The filters of the flags and of the query.
        outcome: The outcome of the search, which has the scores of neighbours that are candidates themselves.
    """
    walk = _Walk(snapshot, filters, answer, outcome)
    hops = []
    for hop in range(1, request.expand + 1):
        counts = walk.step()
        hops.append({"hop": hop, **counts})
        if not counts["shown"]:
            break
    results = walk.results(request, outcome)
    left_out = sum(hop["left_out"] for hop in hops)
    return replace(
        answer,
        results=(*answer.results, *results),
        expansion={"hops": hops, "shown": len(results), "left_out": left_out},
    )


class _Walk:
    """Walks along calls and imports, and collects the nodes reached in each hop."""

    def __init__(self, snapshot: Snapshot, filters: Filters, answer: Answer, outcome: Outcome) -> None:
        self._snapshot = snapshot
        self._filters = filters
        self._nodes = Nodes(snapshot)
        self._shown = {result.id for result in answer.results}
        #: Node to where it came from: (id, relation), in the order of the answer.
        self.reached: dict[int, list[tuple[str, str]]] = {}
        self._view: dict[int, View] = {}
        units = [item.unit for item in outcome.head(min(SEEDS, len(answer.results)))]
        rows = snapshot.symbols.result_rows(units) if units else {}
        #: The places whose neighbours come next: node, its file's node, id.
        self._frontier: list[tuple[int, int, str]] = []
        for result, unit in zip(answer.results, units, strict=False):
            row = rows[unit]
            file = self._nodes.first_file + int(row["file_number"])
            node = file if row["symbol_number"] is None else int(row["symbol_number"])
            self._frontier.append((node, file, result.id))
            self._view[node] = result.mode_source
        self._seen = {node for node, _, _ in self._frontier}

    def step(self) -> dict[str, int]:
        """Walk one hop; returns the numbers of new nodes: `found`, and of these `shown` and `left_out`."""
        lists = [
            (start, relation, self._neighbours(start, relation)) for start in self._frontier for relation in _RELATIONS
        ]
        fresh = self._passing({node for _, _, adjacent in lists for node in adjacent if node not in self._seen})
        reached: dict[int, list[tuple[str, str]]] = {}
        room = min(PER_HOP, MOST - len(self.reached))
        passing = [[node for node in adjacent if node in fresh] for _, _, adjacent in lists]
        for turn in range(max(limit for _, _, limit in _RELATIONS.values())):
            for (start, relation, _), nodes in zip(lists, passing, strict=True):
                if turn >= min(len(nodes), _RELATIONS[relation][2]):
                    continue
                node = nodes[turn]
                if node in reached or len(reached) < room:
                    reached.setdefault(node, []).append((start[2], relation))
                    self._view.setdefault(node, self._view[start[0]])
        self.reached |= reached
        self._seen |= fresh
        places = self._nodes.places(reached)
        self._frontier = [
            (node, self._nodes.first_file + self._nodes.file_of(node), places[node].id)
            for node in reached
            if node in places
        ]
        return {"found": len(fresh), "shown": len(reached), "left_out": len(fresh) - len(reached)}

    def _neighbours(self, start: tuple[int, int, str], relation: str) -> list[int]:
        """The neighbours of a node by one relation, those with the most certain edge first."""
        kind, outgoing, _ = _RELATIONS[relation]
        graph = self._nodes.graph
        own = [start[1]] if kind == IMPORTS else [start[0], *(graph.lambdas_of(start[0]) if outgoing else ())]
        edges = graph.edges(own, kind, incoming=not outgoing)
        sure: dict[int, float] = {}
        for node, step in zip(edges.node.tolist(), edges.step.tolist(), strict=True):
            sure[node] = max(sure.get(node, 0.0), confidence(step))
        return sorted(sure, key=lambda node: (-sure[node], node))

    def _passing(self, nodes: set[int]) -> set[int]:
        """The nodes that are not yet results, pass the filters and lie in files that still exist."""
        places = self._nodes.places(nodes)
        fresh = {node for node, place in places.items() if place.id not in self._shown}
        there = self._snapshot.freshness.there()
        if there is not None:
            fresh = {node for node in fresh if there(places[node].file)}
        if not self._filters:
            return fresh
        from lci_py.search.navigate.present import place_filter

        symbols = [node for node in fresh if node < self._nodes.first_file]
        passes = place_filter(self._filters)
        # Neither a file nor an anonymous function has a name that a filter on names could let pass.
        by_name = bool(self._filters.name or self._filters.parent)
        rest = {node for node in fresh if node >= self._nodes.first_file and not by_name and passes(places[node])}
        return passing(self._snapshot.symbols, symbols, self._filters) | rest

    def results(self, request: SearchRequest, outcome: Outcome) -> list[Result]:
        """Makes a result of each node that was reached."""
        rows = self._rows()
        graphs = contexts(self._snapshot, list(rows.values()))
        query = read_text(read_fields(request.query, request.filters)[0])
        matcher = LineMatcher(query.terms, query.phrases, query.forms)
        shown = []
        for (node, row), context in zip(rows.items(), graphs, strict=True):
            item = outcome.find(row["unit"]) if row["unit"] is not None and row["symbol"] is not None else None
            view, score = (item.source, item.score) if item else (self._view[node], 0.0)
            also = outcome.other_scores(item.unit, view) if item else ()
            result = make_result(self._snapshot, row, request, view, score, matcher)
            explain = None
            if request.explain:
                from lci_py.search.explain.steps import of_fused

                explain = of_fused(outcome, row["unit"], item)
            shown.append(
                replace(result, also_matched=also, graph=context, via=tuple(self.reached[node]), explain=explain)
            )
        return shown

    def _rows(self) -> Mapping[int, Row]:
        symbols = self._snapshot.symbols.symbol_rows([node for node in self.reached if node < self._nodes.first_file])
        places = self._nodes.places(self.reached)
        return {
            node: symbols.get(node) or self._row(node, places[node]._asdict())
            for node in self.reached
            if node in symbols or node in places
        }

    def _row(self, node: int, fields: Mapping[str, Any]) -> Row:
        """A result row for a file or an anonymous function, which have no row in the symbolic shard."""
        file = self._nodes.file_of(node)
        lines = self._snapshot.symbols.per_file("lines")[file][0] if fields["kind"] == FILE_KIND else fields["line"]
        rest = dict.fromkeys(("signature", "unit", "symbol_number", "first_line", "test", "build_tag"))
        return {**fields, **rest, "end_line": max(lines, fields["line"]), "file_number": file}
