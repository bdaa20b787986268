"""The graph shard: call, import and inheritance edges as arrays in one file.

Nodes are symbols, by their public numbers, then files (file f is node `n_symbols + f`), then anonymous functions. A
call outside every definition comes from the file's node; imports connect file nodes. Edges are sorted by source, and
the array `incoming` lists them by target.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.types.edges import EDGE_KINDS, STORED
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.callgraph.edges import Links
    from lci_py.types.search import GraphLink


def write_graph(path: Path, links: Links) -> None:
    """Write the shard into a new file.

    Raises:
        OSError: The file cannot be written.
    """
    write_arrays(path, stored_arrays(links))


def stored_arrays(links: Links) -> dict[str, NDArray[Any]]:
    """Maps the name of each array in the shard to the array, for a graph."""
    from lci_py.callgraph.program import STORED_PROGRAM
    from lci_py.index.shards.term_counts import narrow  # only writing needs it

    return {
        **{name: getattr(links, name) for name in STORED},
        "line": narrow(links.line),
        **{f"flow_{name}": getattr(links.program, name) for name in STORED_PROGRAM},
        **{f"solved_{name}": values for name, values in links.solution._asdict().items()},
    }


class Edges(NamedTuple):
    """The edges of several nodes, node by node, as arrays: [N] each."""

    origin: NDArray[np.int64]  # position of the node in the list of nodes asked for
    node: NDArray[np.int32]  # the other end
    line: NDArray[np.int32]  # in the source's file
    step: NDArray[np.uint8]


class GraphIndex:
    """Reads the graph shard. Each method checks the arrays that it reads."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._arrays = arrays = Arrays(path)
        self.first_symbol = arrays.array("first_symbol", "i4")
        # Of the edges, of which there may be millions, only those are compared with the checksums that a query reads.
        self._target = arrays.array("target", "i4", check=False)
        self._line = arrays.array("line", *STORED["line"], check=False)
        self._kind, self._step = (arrays.array(name, "u1", check=False) for name in ("kind", "step"))
        self._incoming = arrays.array("incoming", "i4", check=False)
        self.out_ptr, self.in_ptr = arrays.array("out_ptr", "i4"), arrays.array("in_ptr", "i4")
        self._check(len(self.first_symbol) > 0)
        self.n_files = len(self.first_symbol) - 1
        self.n_symbols = int(self.first_symbol[-1])
        self.first_lambda = arrays.array("first_lambda", "i4")
        self.lambda_symbol, self.lambda_line = arrays.array("lambda_symbol", "i4"), arrays.array("lambda_line", "i4")
        self.lambda_end_line = arrays.array("lambda_end_line", "i4")
        self._check(len(self.first_lambda) == len(self.first_symbol))
        self.n_lambdas = int(self.first_lambda[-1])
        self._check(len(self.lambda_symbol) == len(self.lambda_line) == len(self.lambda_end_line) == self.n_lambdas)
        nodes = self.n_symbols + self.n_files + self.n_lambdas
        edges = len(self._target)
        self._check(self.n_symbols >= 0 and len(self.out_ptr) == len(self.in_ptr) == nodes + 1)
        self._check(len(self._line) == len(self._kind) == len(self._step) == len(self._incoming) == edges)
        self._check(int(self.out_ptr[-1]) == int(self.in_ptr[-1]) == edges)
        #: A number above every node.
        self.n_nodes = nodes

    @cached_property
    def lambda_file(self) -> NDArray[Any]:
        """int64 [L]: the file of each anonymous function."""
        self._check(_points(self.first_lambda, self.n_lambdas))
        return np.repeat(np.arange(self.n_files), np.diff(self.first_lambda))

    def into(self, node: int, kind: int) -> NDArray[np.int32]:
        """The sources of the edges of one kind that lead to a node, ascending."""
        self._check(0 <= node < len(self.in_ptr) - 1)
        start, stop = int(self.in_ptr[node]), int(self.in_ptr[node + 1])
        self._check(0 <= start <= stop <= len(self._incoming))
        self._arrays.check_items("incoming", start, stop)
        edges = self._read("kind", self._incoming[start:stop])
        return self._sources(edges[self._kind[edges] == kind])

    def edges(self, nodes: Sequence[int] | NDArray[Any], kind: int | NDArray[Any], *, incoming: bool = False) -> Edges:
        """The edges of one kind of several nodes: node by node, then by the node at the other end, then by line.

        Args:
            nodes: [M] in any order.
            kind: An index of `EDGE_KINDS`, or one index per node.
            incoming: Whether the nodes are the targets of the edges.
        """
        ids = np.asarray(nodes, np.int64)
        pointers = self.in_ptr if incoming else self.out_ptr
        self._check(not len(ids) or 0 <= int(ids.min()) <= int(ids.max()) < len(pointers) - 1)
        start, stop = pointers[ids].astype(np.int64), pointers[ids + 1].astype(np.int64)
        self._check(bool(((start >= 0) & (start <= stop) & (stop <= len(self._incoming))).all()))
        sizes = stop - start
        ends = np.cumsum(sizes)
        places = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - (ends - sizes), sizes)
        if incoming:
            self._arrays.check_ranges("incoming", start, stop)
        edges = self._read("kind", self._incoming[places] if incoming else places)
        origin = np.repeat(np.arange(len(ids)), sizes)
        of_kind = np.flatnonzero(self._kind[edges] == (kind if isinstance(kind, int) else kind[origin]))
        edges, origin = edges[of_kind], origin[of_kind]
        node = self._sources(edges) if incoming else self._nodes(self._target[self._read("target", edges)])
        line, step = self._line[self._read("line", edges)], self._step[self._read("step", edges)]
        return Edges(origin, node, line.astype(np.int32), step)

    def _read(self, name: str, edges: NDArray[Any]) -> NDArray[Any]:
        """Compare the items of the array `name` for these edges with the checksums; returns the edges."""
        self._check(not len(edges) or 0 <= int(edges.min()) <= int(edges.max()) < len(self._target))
        self._arrays.check_ranges(name, edges.astype(np.int64), edges.astype(np.int64) + 1)
        return edges

    def _sources(self, edges: NDArray[Any]) -> NDArray[np.int32]:
        """The source of each of these edges, by binary search: a node's edges are consecutive."""
        return self._nodes((np.searchsorted(self.out_ptr, edges, "right") - 1).astype(np.int32))

    # All edges, for those who read them all.

    @cached_property
    def source(self) -> NDArray[np.int32]:
        """int32 [E]: the source of each edge."""
        self._check(_points(self.out_ptr, len(self._target)))
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.out_ptr))

    @cached_property
    def target(self) -> NDArray[np.int32]:
        return self._verified("target", self._target)

    @cached_property
    def kind(self) -> NDArray[np.uint8]:
        return self._verified("kind", self._kind)

    @cached_property
    def line(self) -> NDArray[Any]:
        return self._verified("line", self._line)

    @cached_property
    def step(self) -> NDArray[np.uint8]:
        return self._verified("step", self._step)

    @cached_property
    def incoming(self) -> NDArray[np.int32]:
        return self._verified("incoming", self._incoming)

    def _verified(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        self._arrays.check_items(name, 0, len(values))
        return values

    def units(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """The unit of each symbol, -1 for none: here `own`. A part of a fleet adds units of other parts' symbols."""
        return own

    def outside(self, _node: int) -> GraphLink | None:
        """The link to a node in another part of a fleet; None for a node of this index."""
        return None

    def file_of(self, symbol: int) -> int:
        """The number of the file that contains a symbol."""
        self._check(0 <= symbol < self.n_symbols)
        return int(np.searchsorted(self.first_symbol, symbol, side="right")) - 1

    def caller(self, file: int, caller: int) -> int:
        """The node that makes a call in a file. `caller` (of a `Call`) is the index of a symbol in the file, -1 for the
        file itself, or -2 - n for its anonymous function n.
        """
        if caller >= 0:
            return int(self.first_symbol[file]) + caller
        files = self.n_symbols + self.n_files
        return self.n_symbols + file if caller == -1 else files + int(self.first_lambda[file]) - 2 - caller

    def lambda_at(self, node: int) -> tuple[int, int, int]:
        """(file, line, enclosing symbol or -1) of the anonymous function with this node."""
        number = node - self.n_symbols - self.n_files
        self._check(0 <= number < self.n_lambdas)
        file = int(np.searchsorted(self.first_lambda, number, side="right")) - 1
        line, enclosing = int(self.lambda_line[number]), int(self.lambda_symbol[number])
        self._check(0 <= file < self.n_files and line > 0 and -1 <= enclosing < self.n_symbols)
        return file, line, enclosing

    def lambdas_of(self, node: int) -> list[int]:
        """The nodes of the anonymous functions directly inside a symbol, or (for a file) outside all its symbols."""
        outer = node >= self.n_symbols
        if node >= self.n_symbols + self.n_files:
            return []
        file = node - self.n_symbols if outer else self.file_of(node)
        start, stop = int(self.first_lambda[file]), int(self.first_lambda[file + 1])
        self._check(0 <= start <= stop <= self.n_lambdas)
        inside = np.flatnonzero(self.lambda_symbol[start:stop] == (-1 if outer else node))
        return [int(number) + self.n_symbols + self.n_files + start for number in inside]

    def lambdas_in(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(nodes of the anonymous functions directly inside symbols, index of each one's symbol in `nodes`): [n]."""
        self._check(not len(nodes) or 0 <= int(nodes.min()) <= int(nodes.max()) < self.n_symbols)
        mask = np.zeros(self.n_symbols + 1, np.bool_)  # the last one is for functions outside symbols
        mask[nodes] = True
        enclosing = self.lambda_symbol
        self._check(not len(enclosing) or -1 <= int(enclosing.min()) <= int(enclosing.max()) < self.n_symbols)
        inside = np.flatnonzero(mask[enclosing])
        order = np.argsort(nodes, kind="stable")
        positions = order[np.searchsorted(nodes[order], enclosing[inside])]
        return inside + self.n_symbols + self.n_files, positions

    @cached_property
    def importers(self) -> NDArray[np.int32]:
        """The number of import edges into each file: [files]."""
        pointers = self.in_ptr[self.n_symbols : self.n_symbols + self.n_files + 1]
        counts: NDArray[np.int32] = pointers[1:] - pointers[:-1]
        self._check(not len(counts) or int(counts.min()) >= 0)
        return counts

    def _nodes(self, values: NDArray[Any]) -> NDArray[np.int32]:
        nodes: NDArray[np.int32] = values
        self._check(not len(nodes) or 0 <= int(nodes.min()) <= int(nodes.max()) < len(self.out_ptr) - 1)
        return nodes

    def _check(self, holds: bool) -> None:
        if not holds:
            raise DamagedIndexError(f"{self._name}: its arrays do not fit together")


def read_links(path: Path) -> Links:
    """Read and check the whole graph, as a refresh needs it."""
    # Here, since a query does without.
    from lci_py.callgraph.edges import Links
    from lci_py.callgraph.program import STORED_PROGRAM, Program, Solution, check_sizes, check_solution

    arrays = Arrays(path)
    stored: dict[str, Any] = {name: arrays.array(name, *kinds) for name, kinds in STORED.items()}
    program = Program(**{name: arrays.array(f"flow_{name}", kind) for name, kind in STORED_PROGRAM.items()})
    solution = Solution(*(arrays.array(f"solved_{name}", "i4") for name in Solution._fields))
    links = Links(**stored, program=program, solution=solution)
    edges = len(links.target)
    nodes = links.n_nodes if len(links.first_symbol) and len(links.first_lambda) else -1
    if (
        nodes < 0
        or not len(links.out_ptr) == len(links.in_ptr) == nodes + 1
        or not (_points(links.out_ptr, edges) and _points(links.in_ptr, edges))
        or not _points(links.first_symbol, None)
        or not _points(links.key_start, len(links.keys))
        or not _points(links.first_lambda, len(links.lambda_symbol))
        or not len(links.lambda_symbol) == len(links.lambda_line) == len(links.lambda_end_line)
        or not _in_range(links.lambda_symbol, -1, links.n_symbols)
        or len(links.first_lambda) != len(links.first_symbol)
        or len(links.key_start) != len(links.first_symbol)
        or not len(links.line) == len(links.kind) == len(links.step) == len(links.incoming) == edges
        or not _in_range(links.target, 0, nodes)
        or not _in_range(links.incoming, 0, edges)
        or not _in_range(links.kind, 0, len(EDGE_KINDS))
        or len(links.site_key) != len(links.site_count)
        or (links.site_key[1:] <= links.site_key[:-1]).any()
        or not _in_range(links.site_count, 1, 1 << 31)
    ):
        raise DamagedIndexError(f"{path.name}: its arrays do not fit together")
    check_sizes(program, links.n_files)
    check_solution(program, solution)
    return links


def _points(pointers: NDArray[Any], end: int | None) -> bool:
    """Whether pointers ascend from 0, and end at `end` (unless it is None)."""
    fits = len(pointers) > 0 and int(pointers[0]) == 0 and not (pointers[1:] < pointers[:-1]).any()
    return fits and (end is None or int(pointers[-1]) == end)


def _in_range(values: NDArray[Any], low: int, stop: int) -> bool:
    return not len(values) or (low <= int(values.min()) and int(values.max()) < stop)
