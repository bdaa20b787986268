"""The graph shard: call, import and inheritance edges as arrays.

Nodes are symbols, numbered as in the symbolic shard, then files: file f is node `n_symbols + f`. A call outside every
definition comes from its file's node; imports join file nodes. Edges are stored twice, sorted by source and by target.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.rows import Rows

CALLS, IMPORTS, INHERITS = 0, 1, 2
EDGE_KINDS = ("calls", "imports", "inherits")


def resolve_edges(rows: Rows) -> tuple[list[tuple[int, int, int, int]], list[list[int]]]:
    """All edges (source, target, kind, line), sorted and distinct; per file the target of each import (-1: none)."""
    from lci_py.index.resolve import CallResolver, ImportResolver

    imports = ImportResolver(rows)
    targets = [[imports.targets(file, item) for item in r.extract.imports] for file, r in enumerate(rows.records)]
    calls = CallResolver(rows, targets)
    n_symbols = len(rows.symbols)
    edges: dict[tuple[int, int, int], int] = {}  # -> first line
    for file, record in enumerate(rows.records):
        base = rows.first_symbol[file]
        for item, found in zip(record.extract.imports, targets[file], strict=True):
            for target in found:
                if target != file:
                    edges.setdefault((n_symbols + file, n_symbols + target, IMPORTS), item.line)
        for call in record.extract.calls:
            target = calls.resolve(file, call)
            if target >= 0:
                source = base + call.caller if call.caller >= 0 else n_symbols + file
                edges.setdefault((source, target, CALLS), call.line)
        for ancestor in record.extract.bases:
            target = calls.resolve_base(base + ancestor.symbol, ancestor.name)
            if target >= 0:
                edges.setdefault((base + ancestor.symbol, target, INHERITS), rows.symbols[base + ancestor.symbol].line)
    return (
        sorted((source, target, kind, line) for (source, target, kind), line in edges.items()),
        [[found[0] if found else -1 for found in per_file] for per_file in targets],
    )


def write_graph(folder: Path, edges: list[tuple[int, int, int, int]], n_symbols: int, n_files: int) -> None:
    """Write the shard: int32 arrays `source target line`, uint8 `kind`, sorted by source; `incoming` (edge numbers
    sorted by target); int64 `out_ptr`, `in_ptr` (where a node's edges start) and `sizes` (symbols, files)."""
    array = np.array(edges, np.int32).reshape(-1, 4)
    nodes = n_symbols + n_files
    arrays = {
        "sizes": np.array([n_symbols, n_files], np.int64),
        "source": array[:, 0],
        "target": array[:, 1],
        "kind": array[:, 2].astype(np.uint8),
        "line": array[:, 3],
        "out_ptr": _pointers(array[:, 0], nodes),
        "incoming": np.lexsort((array[:, 0], array[:, 1])).astype(np.int32),
        "in_ptr": _pointers(array[:, 1], nodes),
    }
    from lci_py.index.arrays import write_arrays

    write_arrays(folder, arrays)


def _pointers(nodes: NDArray[np.int32], n: int) -> NDArray[np.int64]:
    pointers = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(nodes, minlength=n), out=pointers[1:])
    return pointers


class GraphIndex:
    """Reader of the shard."""

    def __init__(self, folder: Path) -> None:
        def load(name: str, dtype: type[np.generic]) -> Any:
            return arrays.array(name, np.dtype(dtype).str[1:])

        from lci_py.index.arrays import Arrays

        arrays = Arrays(folder)

        try:
            self.n_symbols, self.n_files = (int(n) for n in load("sizes", np.int64))
            self.source, self.target, self.line = (load(name, np.int32) for name in ("source", "target", "line"))
            self.kind = load("kind", np.uint8)
            self.out_ptr, self.in_ptr = load("out_ptr", np.int64), load("in_ptr", np.int64)
            self.incoming = load("incoming", np.int32)
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{folder.name}: {error}") from error
        nodes = self.n_symbols + self.n_files
        if len(self.out_ptr) != nodes + 1 or len(self.in_ptr) != nodes + 1 or len(self.incoming) != len(self.source):
            raise DamagedIndexError(f"{folder.name}: its arrays do not fit together")

    def out(self, node: int, kind: int) -> NDArray[np.int32]:
        """Targets of a node's edges of one kind, ascending."""
        span = slice(int(self.out_ptr[node]), int(self.out_ptr[node + 1]))
        found: NDArray[np.int32] = self.target[span][self.kind[span] == kind]
        return found

    def into(self, node: int, kind: int) -> NDArray[np.int32]:
        """Sources of the edges of one kind into a node, ascending."""
        edges = self.incoming[int(self.in_ptr[node]) : int(self.in_ptr[node + 1])]
        found: NDArray[np.int32] = self.source[edges[self.kind[edges] == kind]]
        return found
