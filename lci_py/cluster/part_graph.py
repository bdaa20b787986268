"""The part of the fleet's call graph that belongs to one part of the fleet.

The graph is linked over all parts at once, as that of one index, and then cut: each part has the edges of its own
nodes, in both directions. The other ends are nodes of the fleet, with their units, so that a leaf tells what is around
its units without asking another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.graph import Edges, GraphIndex

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_COLUMNS = {"node": "i4", "line": "i4", "unit": "i4", "kind": "u1", "step": "u1"}
_WAYS = ("out", "in")


class Spans(NamedTuple):
    """Where the rows of a part start and end in the fleet."""

    symbols: tuple[int, int]
    files: tuple[int, int]
    lambdas: tuple[int, int]


def write_part_graph(
    path: Path, graph: GraphIndex, spans: Spans, unit_of: NDArray[np.int64], copied: NDArray[np.uint8]
) -> None:
    """Cut the part out of a graph and write it.

    Args:
        path: A new file.
        graph: Of all parts.
        spans: Of the part.
        unit_of: [symbols + 1] the unit of every symbol of the fleet, -1 for none; the last item is -1.
        copied: [files of the part] whether another file of the fleet has the same content.
    Raises:
        OSError: It cannot be written.
    """
    n_symbols, n_files = graph.n_symbols, graph.n_files
    starts = (0, n_symbols, n_symbols + n_files)
    own = np.concatenate([np.arange(*span) + start for span, start in zip(spans, starts, strict=True)])
    arrays: dict[str, NDArray[Any]] = {"nodes": np.array([n_symbols, n_files, graph.n_lambdas], np.int64)}
    symbol_of = np.full(graph.n_nodes, -1, np.int64)
    symbol_of[:n_symbols] = np.arange(n_symbols)
    symbol_of[n_symbols + n_files :] = graph.lambda_symbol
    for way, pointers in zip(_WAYS, (graph.out_ptr, graph.in_ptr), strict=True):
        sizes = (pointers[own + 1] - pointers[own]).astype(np.int64)
        ends = np.cumsum(sizes)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(pointers[own] - (ends - sizes), sizes)
        edges = graph.incoming[places] if way == "in" else places
        node = (graph.source if way == "in" else graph.target)[edges]
        columns = {
            "node": node, "line": graph.line[edges], "unit": unit_of[symbol_of[node]],
            "kind": graph.kind[edges], "step": graph.step[edges],
        }  # fmt: skip
        arrays |= {f"{way}_{name}": values.astype(_COLUMNS[name]) for name, values in columns.items()}
        arrays[f"{way}_ptr"] = np.append(0, ends).astype(np.int32)
    for name, span in (("first_symbol", spans.symbols), ("first_lambda", spans.lambdas)):
        arrays[name] = (getattr(graph, name)[spans.files[0] : spans.files[1] + 1] - span[0]).astype(np.int32)
    inside = slice(*spans.lambdas)
    around = graph.lambda_symbol[inside]
    arrays["lambda_symbol"] = np.where(around >= 0, around - spans.symbols[0], -1).astype(np.int32)
    arrays["lambda_line"] = graph.lambda_line[inside].astype(np.int32)
    arrays["copied"] = copied
    write_arrays(path, arrays)


class PartGraph(GraphIndex):
    """Reader. Nodes that are asked for are those of the part, numbered as in an index of the part alone; the other ends
    of edges are nodes of the fleet.

    Raises:
        DamagedIndexError: The file is not what was written, or is of another part.
    """

    def __init__(self, path: Path, n_symbols: int, n_files: int) -> None:
        self._name = path.name
        self._arrays = arrays = Arrays(path)
        whole = arrays.array("nodes", "i8")
        self._check(len(whole) == 3 and int(whole.min()) >= 0)
        self.n_nodes = int(whole.sum())
        self.first_symbol, self.first_lambda = (arrays.array(f"first_{name}", "i4") for name in ("symbol", "lambda"))
        self.lambda_symbol, self.lambda_line = (arrays.array(f"lambda_{name}", "i4") for name in ("symbol", "line"))
        self.out_ptr, self.in_ptr = arrays.array("out_ptr", "i4"), arrays.array("in_ptr", "i4")
        self._check(len(self.first_symbol) == len(self.first_lambda) == n_files + 1)
        self.n_files, self.n_symbols = n_files, n_symbols
        self.copied = arrays.array("copied", "u1")
        self._check(len(self.copied) == n_files)
        self.n_lambdas = len(self.lambda_symbol)
        self._check(int(self.first_symbol[-1]) == n_symbols and int(self.first_lambda[-1]) == self.n_lambdas)
        self._check(len(self.lambda_line) == self.n_lambdas)
        self._check(len(self.out_ptr) == len(self.in_ptr) == n_symbols + n_files + self.n_lambdas + 1)
        self._columns = {
            f"{way}_{name}": arrays.array(f"{way}_{name}", kind) for way in _WAYS for name, kind in _COLUMNS.items()
        }
        self._bounds: NDArray[np.int64] | None = None
        for way, pointers in zip(_WAYS, (self.out_ptr, self.in_ptr), strict=True):
            self._check(int(pointers[0]) == 0 and not (pointers[1:] < pointers[:-1]).any())
            self._check({len(self._columns[f"{way}_{name}"]) for name in _COLUMNS} == {int(pointers[-1])})

    def within(self, bounds: Sequence[int] | None) -> None:
        """From now on, tell only of edges to some nodes of the fleet: those from the first bound to before the second,
        from the third to before the fourth, and so on, ascending; None for all."""
        self._bounds = None if bounds is None else np.array(bounds, np.int64)

    def _may_see(self, nodes: NDArray[Any]) -> NDArray[np.bool_]:
        if self._bounds is None:
            return np.ones(len(nodes), np.bool_)
        return np.asarray(np.searchsorted(self._bounds, nodes, "right") % 2 == 1)

    @property
    def importers(self) -> NDArray[np.int32]:
        """The number of edges into each file, which are imports: [files]."""
        pointers = self.in_ptr[self.n_symbols : self.n_symbols + self.n_files + 1].astype(np.int64)
        if self._bounds is None:
            return np.asarray(np.diff(pointers), np.int32)
        seen = self._may_see(self._columns["in_node"][int(pointers[0]) : int(pointers[-1])])
        sums = np.append(0, np.cumsum(seen))
        return np.asarray(np.diff(sums[pointers - pointers[0]]), np.int32)

    def edges(self, nodes: Sequence[int] | NDArray[Any], kind: int | NDArray[Any], *, incoming: bool = False) -> Edges:
        return self._edges(nodes, kind, incoming, "node", self.n_nodes)

    def _edges(
        self, nodes: Sequence[int] | NDArray[Any], kind: int | NDArray[Any], incoming: bool, end: str, most: int
    ) -> Edges:
        way = "in" if incoming else "out"
        asked = np.asarray(nodes, np.int64)
        pointers = self.in_ptr if incoming else self.out_ptr
        self._check(not len(asked) or 0 <= int(asked.min()) <= int(asked.max()) < len(pointers) - 1)
        start = pointers[asked].astype(np.int64)
        sizes = pointers[asked + 1] - start
        ends = np.cumsum(sizes)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - (ends - sizes), sizes)
        origin = np.repeat(np.arange(len(asked)), sizes)
        kinds = self._columns[f"{way}_kind"][places]
        wanted = kinds == (kind if isinstance(kind, int) else kind[origin])
        chosen = np.flatnonzero(wanted & self._may_see(self._columns[f"{way}_node"][places]))
        places, origin = places[chosen], origin[chosen]
        other = self._columns[f"{way}_{end}"][places]
        if len(other) and not -1 <= int(other.min()) <= int(other.max()) < most:
            raise DamagedIndexError(f"{self._name}: its edges lead nowhere")
        return Edges(origin, other, self._columns[f"{way}_line"][places], self._columns[f"{way}_step"][places])


class UnitGraph:
    """The same graph, where the other ends of edges are units of the fleet; -1 for what is no unit."""

    def __init__(self, graph: PartGraph) -> None:
        self._graph = graph
        self.lambdas_in = graph.lambdas_in

    def edges(self, nodes: NDArray[Any], kind: NDArray[Any], *, incoming: bool = False) -> Edges:
        return self._graph._edges(nodes, kind, incoming, "unit", 1 << 31)
