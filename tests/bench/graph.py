"""How long it takes to open a large call graph and to walk three hops of it.

    python -m tests.bench.graph [--edges 1000000] [--runs 200]

Makes a graph with in-degrees as skewed as in real code, where a few functions have most of the callers. Prints
milliseconds for opening the shard, and for call trees of depth 3 from random functions, of callees and of callers.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from lci_py.callgraph.edges import FileKeys, Lambdas, Sites, assemble
from lci_py.index.shards.graph import GraphIndex, write_graph
from lci_py.search.navigate.nodes import Nodes
from lci_py.search.navigate.tree import _Branch, _Grower
from lci_py.types.search import Filters


def make(path: Path, n_edges: int, seed: int = 1) -> None:
    """Write a graph with `n_edges` calls, three per function on average, in files of 50 functions."""
    rng = np.random.default_rng(seed)
    n_symbols = max(100, n_edges // 3)
    first = np.append(np.arange(0, n_symbols, 50), n_symbols).astype(np.int32)
    source = rng.integers(0, n_symbols, n_edges)
    target = (n_symbols * rng.random(n_edges) ** 3).astype(np.int64)
    target = rng.permutation(n_symbols)[np.minimum(target, n_symbols - 1)]
    rows = np.stack([source, target, np.zeros(n_edges), rng.integers(1, 5000, n_edges), np.zeros(n_edges)]).astype(
        np.int32
    )
    no_keys = FileKeys(np.zeros(0, np.int32), np.zeros(len(first) - 1, np.int32))
    no_lambdas = Lambdas(np.zeros(len(first), np.int32), *np.zeros((3, 0), np.int32))
    write_graph(path, assemble(rows, first, no_keys, Sites.of({}), (), no_lambdas))


def milliseconds(action: Any) -> float:
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1e3


def walk(nodes: Nodes, direction: Any, start: int) -> tuple[float, int]:
    """The time in milliseconds, and the number of places in the tree."""
    grown: list[Any] = []
    grower = _Grower(nodes, direction, Filters())
    spent = milliseconds(lambda: grown.extend(grower.grow([_Branch(start, None, None)], [[start]], 3)))
    return spent, len(grown)


def show(what: str, times: list[float]) -> None:
    ordered = sorted(times)
    tail = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    print(f"{what:<40} median {statistics.median(times):8.2f} ms   95% {tail:8.2f} ms   most {ordered[-1]:8.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=200)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.arrays"
        make(path, args.edges)
        print(f"{args.edges:,} edges, {path.stat().st_size / 1e6:.1f} MB")
        show("open", [milliseconds(lambda: GraphIndex(path)) for _ in range(20)])
        graph = GraphIndex(path)
        nodes = Nodes(SimpleNamespace(graph=graph))  # type: ignore[arg-type]  # a walk needs nothing else
        starts = np.random.default_rng(2).integers(0, graph.n_symbols, args.runs).tolist()
        for direction in ("callees", "callers"):
            walks = [walk(nodes, direction, start) for start in starts]
            size = statistics.median(size for _, size in walks)
            show(f"3 hops of {direction}, {size:.0f} places", [spent for spent, _ in walks])


if __name__ == "__main__":
    main()
