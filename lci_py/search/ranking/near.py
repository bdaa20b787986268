"""`--near FILE[:LINE]`: the closeness of each candidate to a location, first in the graph, then in the folder tree.

docs/ranking.md states the rule. A node with very many neighbours of one kind passes closeness to none of them.
"""

from __future__ import annotations

import os
import re
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.errors import BadPathError, DamagedIndexError, UsageError
from lci_py.index.shards.symbol_queries import definitions_at, line_count, units_of
from lci_py.source.repository.files import relative_to_root
from lci_py.types.edges import CALLS, IMPORTS, INHERITS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.search.snapshot import Snapshot

#: Hops that are walked.
HOPS = 3
#: Neighbours of one node, by one kind of edge in one direction: if it has more, they do not count.
FAN = 20
#: Nodes that are reached: a hop that leads to more is not taken.
MOST = 2_000
#: Closeness at 0, 1, … hops; the last is for unreached nodes. A direct neighbour is as close as the place itself.
BY_HOP = np.array([1.0, 1.0, 0.5, 0.25, 0.0], np.float32)
#: Factors if only another definition in the unit's file is reached, or only the file, by imports.
BESIDE, IMPORTED = 0.9, 0.5
#: Closeness within the same folder; less with every step up or down. Below every hop.
FOLDER = 0.1
#: A line may be followed by a column, as compilers and `lci refs --paths` print it.
_LINE = re.compile(r"(.+?):([0-9]{1,9})(?::[0-9]{1,9})?", re.ASCII | re.DOTALL)


class Place(NamedTuple):
    """A file of the index, or a line of it."""

    file: int
    path: str
    line: int | None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


class Near:
    """Measures how close units are to a location."""

    def __init__(self, snapshot: Snapshot, place: Place) -> None:
        """Measure the distances from a location. Raises IndexError_ if the graph cannot be used."""
        self.place = place
        graph = snapshot.graph
        self._paths = snapshot.symbols.paths()
        calls = distances(graph, _start(snapshot, self.place), (CALLS, INHERITS))
        file_node = graph.n_symbols + self.place.file
        imports = distances(graph, np.array([file_node]), (IMPORTS,))
        by_file = np.maximum(
            BESIDE * BY_HOP[_file_hops(graph, calls)],
            IMPORTED * BY_HOP[imports[graph.n_symbols : graph.n_symbols + graph.n_files]],
        )
        by_file[self.place.file] = max(by_file[self.place.file], BESIDE)
        self._by_file = by_file.astype(np.float32)
        self._by_unit = np.zeros(snapshot.n_units, np.float32)
        reached = np.flatnonzero(calls[: graph.n_symbols] <= HOPS).tolist()
        for symbol, unit in units_of(snapshot.symbols, reached).items():
            self._by_unit[unit] = max(self._by_unit[unit], BY_HOP[calls[symbol]])

    def closeness(self, units: NDArray[np.int64], files: NDArray[np.int32]) -> NDArray[np.float32]:
        """The closeness of units to the location: [n] in [0, 1].

        Args:
            files: [n] the file of each unit.
        """
        own = np.unique(files)
        in_tree = np.zeros(len(self._paths), np.float32)
        folders = [self._paths[file].rpartition("/")[0] for file in own.tolist()]
        here = self.place.path.rpartition("/")[0]
        by_folder = {folder: tree_closeness(here, folder) for folder in set(folders)}
        in_tree[own] = [by_folder[folder] for folder in folders]
        if self.place.line is None:
            # The whole file is what is looked at, its lines outside definitions included.
            in_tree[self.place.file] = 1
        result: NDArray[np.float32] = np.maximum.reduce([self._by_unit[units], self._by_file[files], in_tree[files]])
        return result


def place_of(snapshot: Snapshot, text: str) -> Place:
    """The location that a text names.

    Args:
        text: FILE or FILE:LINE; FILE is absolute, or relative to the root.
    Raises:
        BadPathError: The index has no such file.
        UsageError: The file has no such line.
    """
    paths = snapshot.symbols.paths()
    path, line = _from_root(snapshot.root, text), None
    if path not in paths and (match := _LINE.fullmatch(text)):
        path, line = _from_root(snapshot.root, match[1]), int(match[2])
    if path not in paths:
        raise BadPathError(f"--near: {path} is not in the index", hint=_hint(paths, path))
    file = paths.index(path)
    if line is not None:
        lines = max(1, line_count(snapshot.symbols, file))
        if not 1 <= line <= lines:
            raise UsageError(
                f"--near: {path} has {lines:,} line{'s' * (lines != 1)}, and no line {line:,}",
                hint=f"give a line from 1 to {lines}, or the file alone",
            )
    return Place(file, path, line)


def _from_root(root: Path, path: str) -> str:
    """The path relative to the root, if the file lies below it."""
    if os.path.abspath(os.path.join(root, path)) == str(root):
        return "."
    try:
        return relative_to_root(root, [os.path.join(root, path)])[0]
    except BadPathError:  # outside of the root
        return path


def _hint(paths: Sequence[str], path: str) -> str:
    from lci_py.search.suggest import enumeration, similar_paths

    if path == "." or any(indexed.startswith(path.rstrip("/") + "/") for indexed in paths):
        return "it is a folder: name a file in it"
    if alike := similar_paths(path, paths):
        return f"did you mean {enumeration(alike, 'or')}?"
    return "`lci index --dry-run` lists the files that are indexed"


def tree_closeness(here: str, there: str) -> float:
    """The closeness of two folders in the tree: FOLDER if they are the same, less with each step between them."""
    return FOLDER / (1 + steps_between(here, there))


def steps_between(here: str, there: str) -> int:
    """The distance of two folders in the tree."""
    parts, other = (folder.split("/") if folder else [] for folder in (here, there))
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(parts, other, strict=False)))
    return len(parts) + len(other) - 2 * common


# --- the graph --------------------------------------------------------------------------------------------------


def _start(snapshot: Snapshot, place: Place) -> NDArray[np.int64]:
    """The nodes at a location: for a file all its definitions; for a line the innermost definition and its members or,
    outside of definitions, the node of the file's top-level code."""
    graph = snapshot.graph
    file_node = graph.n_symbols + place.file
    if place.line is None:
        first, stop = (int(number) for number in graph.first_symbol[place.file : place.file + 2])
        symbols = np.arange(first, stop)
    else:
        symbols = np.array(definitions_at(snapshot.symbols, place.file, place.line), np.int64)
    if place.line is None or not len(symbols):
        symbols = np.append(symbols, file_node)
    if len(symbols) and not 0 <= symbols.min() <= symbols.max() < graph.n_symbols + graph.n_files:
        raise DamagedIndexError("the graph names a definition that does not exist")
    return _with_lambdas(graph, symbols)


def distances(graph: GraphIndex, start: NDArray[np.int64], kinds: Sequence[int]) -> NDArray[np.int8]:
    """The distance in edges, in either direction, from `start` to every node: [nodes], HOPS + 1 if it is not reached.

    An anonymous function has the distance of the enclosing definition.
    """
    hops = np.full(len(graph.out_ptr) - 1, HOPS + 1, np.int8)
    hops[start] = 0
    frontier, reached = start, 0
    for hop in range(1, HOPS + 1):
        adjacent = [_neighbours(graph, frontier, kind, incoming=way) for kind in kinds for way in (False, True)]
        fresh = np.unique(np.concatenate(adjacent))
        if CALLS in kinds:
            fresh = _with_lambdas(graph, fresh)
        frontier = fresh[hops[fresh] > HOPS]
        reached += len(frontier)
        if not len(frontier) or reached > MOST:
            break
        hops[frontier] = hop
    return hops


def _neighbours(graph: GraphIndex, nodes: NDArray[np.int64], kind: int, *, incoming: bool) -> NDArray[np.int64]:
    """The neighbours of nodes by edges of a kind; nodes with more than FAN such edges are skipped."""
    edges = graph.edges(nodes, kind, incoming=incoming)
    total = len(graph.out_ptr) - 1
    pairs = np.unique(edges.origin * total + edges.node)
    origin, node = pairs // total, pairs % total
    few = np.bincount(origin, minlength=len(nodes)) <= FAN
    result: NDArray[np.int64] = node[few[origin]]
    return result


def _with_lambdas(graph: GraphIndex, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes, the anonymous functions directly inside them, and the definitions around nameless nodes: ascending."""
    if not graph.n_lambdas:
        return nodes
    first = graph.n_symbols + graph.n_files
    numbers = nodes[nodes >= first] - first
    enclosing = graph.lambda_symbol[numbers]
    if len(enclosing) and not -1 <= enclosing.min() <= enclosing.max() < graph.n_symbols:
        raise DamagedIndexError("the graph names a definition that does not exist")
    outer = np.where(enclosing >= 0, enclosing, graph.n_symbols + graph.lambda_file[numbers])
    # The file's node has those outside all definitions.
    owner = np.where(graph.lambda_symbol >= 0, graph.lambda_symbol, graph.n_symbols + graph.lambda_file)
    inner = np.flatnonzero(np.isin(owner, nodes)) + first
    return np.unique(np.concatenate((nodes, outer, inner)))


def _file_hops(graph: GraphIndex, hops: NDArray[np.int8]) -> NDArray[np.int8]:
    """For every file, the distance of its nearest node: [files]."""
    reached = np.flatnonzero(hops <= HOPS)
    symbols = reached[reached < graph.n_symbols]
    others = reached[reached >= graph.n_symbols] - graph.n_symbols
    files = np.concatenate(
        (
            np.searchsorted(graph.first_symbol, symbols, side="right") - 1,
            others[others < graph.n_files],
            graph.lambda_file[others[others >= graph.n_files] - graph.n_files],
        )
    )
    if len(files) and not 0 <= files.min() <= files.max() < graph.n_files:
        raise DamagedIndexError("the graph: its arrays do not fit together")
    nearest = np.full(graph.n_files, HOPS + 1, np.int8)
    np.minimum.at(nearest, files, hops[reached])
    return nearest
