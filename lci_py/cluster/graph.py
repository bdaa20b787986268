"""The call graph of a fleet: linked over all parts like the graph of one index, then cut into a graph for each part.

A part's graph is an ordinary graph (`index/shards/graph.py`) of the part's own nodes. A node of another part that an
edge leads to or comes from is added to it, with what a link to that node shows, so that no part has to ask another.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.edges import pointers
from lci_py.callgraph.link import Linker
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.callgraph_tables import SqlTables
from lci_py.index.shards.graph import GraphIndex, write_graph
from lci_py.index.shards.numbering import COUNTED, Numbering
from lci_py.index.shards.symbols import SymbolicIndex
from lci_py.processes import FORKS
from lci_py.search.answer.results import links_of
from lci_py.types.search import GraphLink

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lci_py.search.snapshot import Snapshot

#: A unit of the fleet is its part, from 1, times this, plus its number in the part. What is less is of one's own part.
PART = 1 << 32


# --- linking ------------------------------------------------------------------------------------------------------


def link(parts: Sequence[Snapshot], folder: Path) -> list[Path]:
    """Link the parts, which are in the order of their paths; returns the path of each part's graph.

    Args:
        folder: The folder for the graphs.
    Raises:
        OSError: A file cannot be written.
    """
    numbering = _joined_numbering(parts, folder / "numbering.arrays")
    with closing(SymbolicIndex([shard for part in parts for shard in part.shards("symbols")], numbering)) as symbols:
        tables = SqlTables([segment.db for segment in symbols.segments], numbering)
        linker = Linker()
        for file in range(numbering.total("files")):
            linker.add_facts(tables.facts(file), tables.calls(file), tables.qualified_names(file))
        write_graph(whole := folder / "graph.arrays", linker.finish(fork=FORKS))
        cut = _Cut(GraphIndex(whole), symbols, parts)
        shas = [[state.sha for state in part.files.states() if state.slot >= 0] for part in parts]
        times = Counter(sha for own in shas for sha in own)
        paths = []
        for number, own in enumerate(shas):
            paths.append(folder / f"part-{number}.arrays")
            copied = np.array([times[sha] > 1 for sha in own], np.uint8)
            write_arrays(paths[-1], {**cut.part(number), "copied": copied})
    return paths


def _joined_numbering(parts: Sequence[Snapshot], path: Path) -> Numbering:
    """Number the segments of all parts together, as if all were segments of one index; `path` is a new file."""
    publics = []
    first = 0
    for part in parts:
        for segment, counts in enumerate(part.numbering.counts):
            own = part.numbering.public_array("files", segment)
            public = np.arange(counts["files"]) if own is None else own.astype(np.int64)
            publics.append(np.where(public >= 0, public + first, -1))
        first += part.numbering.total("files")
    public = np.concatenate([np.zeros(0, np.int64), *publics])
    slots = np.empty(first, np.int32)
    living = np.flatnonzero(public >= 0)
    slots[public[living]] = living
    arrays: dict[str, NDArray[np.int32]] = {"files_public": public.astype(np.int32), "files_slot": slots}
    for kind in COUNTED[1:]:
        sizes = [np.array(part.files.arrays.view(f"{kind}_sizes", "i4"), np.int32) for part in parts]
        arrays[f"{kind}_sizes"] = np.concatenate([np.zeros(0, np.int32), *sizes])
    write_arrays(path, arrays)
    return Numbering([counts for part in parts for counts in part.numbering.counts], Arrays(path))


class _Cut:
    """Cuts the graph over all parts into a graph for each part."""

    def __init__(self, graph: GraphIndex, symbols: SymbolicIndex, parts: Sequence[Snapshot]) -> None:
        self._graph, self._index = graph, symbols
        self._paths = [path for part in parts for path in part.unit_table.paths]
        self._symbols, self._files = (
            [0, *accumulate(part.numbering.total(kind) for part in parts)] for kind in ("symbols", "files")
        )
        self._lambdas = [int(graph.first_lambda[file]) for file in self._files]
        #: [symbols + 1] the unit of the fleet of every symbol, -1 for none; the last item is -1.
        self._unit_of = np.full(graph.n_symbols + 1, -1, np.int64)
        for number, part in enumerate(parts):
            owned = np.flatnonzero(part.unit_table.symbol >= 0)
            self._unit_of[self._symbols[number] + part.unit_table.symbol[owned]] = (number + 1) * PART + owned

    def part(self, number: int) -> dict[str, Any]:
        """The arrays of the graph of part `number`."""
        graph = self._graph
        (s, s_end), (f, f_end), (a, a_end) = (
            (starts[number], starts[number + 1]) for starts in (self._symbols, self._files, self._lambdas)
        )
        first_file, first_lambda = graph.n_symbols, graph.n_symbols + graph.n_files
        own = [(s, s_end), (first_file + f, first_file + f_end), (first_lambda + a, first_lambda + a_end)]
        edges = np.unique(np.concatenate([
            *(np.arange(graph.out_ptr[start], graph.out_ptr[stop]) for start, stop in own),
            *(graph.incoming[graph.in_ptr[start] : graph.in_ptr[stop]] for start, stop in own),
        ]))  # fmt: skip
        ends = np.concatenate([graph.source[edges], graph.target[edges]]).astype(np.int64)
        outside = np.unique(ends[~np.logical_or.reduce([(ends >= start) & (ends < stop) for start, stop in own])])
        n_symbols = s_end - s + len(outside)
        firsts = (0, n_symbols, n_symbols + f_end - f)
        local = np.searchsorted(outside, ends) + (s_end - s)
        for (start, stop), first in zip(own, firsts, strict=True):
            inside = (ends >= start) & (ends < stop)
            local[inside] = ends[inside] - start + first
        source, target = local[: len(edges)], local[len(edges) :]
        order = np.lexsort((graph.line[edges], graph.kind[edges], target, source))
        source, target, edges = source[order], target[order], edges[order]
        n_nodes = n_symbols + f_end - f + a_end - a
        first_symbol = graph.first_symbol[f : f_end + 1] - s
        first_symbol[-1] = n_symbols
        lambda_symbol = graph.lambda_symbol[a:a_end]
        return {
            "first_symbol": first_symbol.astype(np.int32),
            "target": target.astype(np.int32),
            **{name: getattr(graph, name)[edges] for name in ("kind", "line", "step")},
            "out_ptr": pointers(source, n_nodes),
            "incoming": np.argsort(target, kind="stable").astype(np.int32),
            "in_ptr": pointers(target, n_nodes),
            "first_lambda": (graph.first_lambda[f : f_end + 1] - a).astype(np.int32),
            "lambda_symbol": np.where(lambda_symbol >= 0, lambda_symbol - s, -1).astype(np.int32),
            "lambda_line": graph.lambda_line[a:a_end].astype(np.int32),
            "lambda_end_line": graph.lambda_end_line[a:a_end].astype(np.int32),
            **self._outside(outside),
        }

    def _outside(self, nodes: NDArray[np.int64]) -> dict[str, Any]:
        """Arrays on nodes of other parts: the part, the unit in the fleet, and what a link to the node shows."""
        graph, firsts = self._graph, (0, self._graph.n_symbols, self._graph.n_symbols + self._graph.n_files)
        kind = np.searchsorted(firsts, nodes, "right") - 1
        part = np.zeros(len(nodes), np.int32)
        for which, (first, starts) in enumerate(zip(firsts, (self._symbols, self._files, self._lambdas), strict=True)):
            there = kind == which
            part[there] = np.searchsorted(starts, nodes[there] - first, "right") - 1
        symbols = np.where(kind == 0, nodes, -1)
        symbols[kind == 2] = graph.lambda_symbol[nodes[kind == 2] - firsts[2]]
        links = links_of(self._index, self._paths, graph, nodes.tolist())
        texts = [json.dumps(links[node]).encode() for node in nodes.tolist()]
        return {
            "outside_part": part,
            "outside_unit": self._unit_of[symbols],
            "outside_start": np.array([0, *accumulate(map(len, texts))], np.int64),
            "outside_link": np.frombuffer(b"".join(texts), np.uint8),
        }


# --- reading ------------------------------------------------------------------------------------------------------


class PartGraph(GraphIndex):
    """Reads the graph of a part. Nodes from `own_symbols` on are definitions of other parts."""

    def __init__(self, path: Path, readable: frozenset[int] | None = None) -> None:
        """Open the graph. `readable` has the parts whose definitions may be shown; None for all parts."""
        super().__init__(path)
        arrays = self._arrays
        self.copied = arrays.array("copied", "u1")  # [files] whether another file of the fleet has the same content
        self._outside_part = arrays.array("outside_part", "i4")
        self._outside_unit: NDArray[np.int64] = arrays.array("outside_unit", "i8")
        self._outside_start = arrays.array("outside_start", "i8")
        self._outside_link = arrays.array("outside_link", "u1")
        self.own_symbols = self.n_symbols - len(self._outside_part)
        if readable is not None:
            self._hide(~np.isin(self._outside_part, np.array(sorted(readable), np.int32)))

    def _hide(self, hidden: NDArray[np.bool_]) -> None:
        """Leave out the edges that lead to hidden definitions of other parts."""
        nodes = np.zeros(self.n_nodes, np.bool_)
        nodes[self.own_symbols : self.n_symbols] = hidden
        visible = ~(nodes[self.source] | nodes[self.target])
        before = np.append(0, np.cumsum(visible)).astype(np.int32)
        into = visible[self.incoming]
        self.out_ptr = before[self.out_ptr]
        self.in_ptr = np.append(0, np.cumsum(into)).astype(np.int32)[self.in_ptr]
        self._incoming = before[self.incoming[into]]
        self._target, self._line = self.target[visible], self.line[visible]
        self._kind, self._step = self.kind[visible], self.step[visible]
        for name in ("source", "target", "kind", "line", "step", "incoming"):
            self.__dict__.pop(name, None)

    def outside(self, node: int) -> GraphLink | None:
        if not self.own_symbols <= node < self.n_symbols:
            return None
        index = node - self.own_symbols
        start, stop = self._outside_start[index : index + 2].tolist()
        return GraphLink(*json.loads(bytes(self._outside_link[start:stop])))

    def units(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        public: NDArray[np.int64] = own.copy()
        public[self.own_symbols :] = self._outside_unit
        return public
