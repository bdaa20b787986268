"""The call graph as arrays: all edges of the repository, and the data that a refresh needs to update them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from lci_py.callgraph.program import Program, Solution, nothing, solution_of
from lci_py.source.text import blake2b
from lci_py.types.edges import CALLBACK, EDGE_KINDS, FLOW
from lci_py.types.record import NamedTuple, dataclass, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Of more hooks than this that one call may run, those that run each other have no edges: the visitors of a tree.
MOST_HOOKS = 12
#: Steps of edges that depend on the whole program: they are computed anew when any of its files changes.
SOLVED = (FLOW, CALLBACK)
#: The only key of a file that could not be linked (`Links.unlinked`); no look-up has this text.
UNLINKED = crc32(b"unlinked")
#: In an `Edge`, nodes from here downwards are anonymous functions: how many symbols there are is not known yet.
_LAMBDAS = -(1 << 30)


def lambda_node(number: int) -> int:
    """The number that stands for an anonymous function as a node of an `Edge`."""
    return _LAMBDAS - number


class Edge(NamedTuple):
    """One edge; a node is a symbol's number, `~file` for a file, or `lambda_node`."""

    source: int
    target: int
    kind: int
    line: int
    step: int = 0


#: Items of an array that are mapped together: so few that the memory for them is used again and again.
PIECE = 1 << 18
#: Runs that are shorter than this, on average, take longer to copy one by one than value by value.
_SHORT = 100


class Spliced:
    """An array made of runs of two other arrays. It is produced piece by piece: as a whole, it may take 100 MB."""

    def __init__(
        self, former: NDArray[Any], new: NDArray[Any], runs: NDArray[Any], present: NDArray[Any] | None = None
    ) -> None:
        """Combines runs of `former` and `new`; `present` maps values of `former` to present values (None: unchanged).

        `runs` is int64 [k, 3]: start and stop of each run, as indices into `former` followed by `new`, and the start
        of the run in the result. The runs are in the order of the result, without gaps.
        """
        self._former, self._new, self._runs, self._present = former, new, runs, present
        self.dtype = np.result_type(former, new)
        self.ndim = 1

    def __len__(self) -> int:
        return int((self._runs[:, 1] - self._runs[:, 0]).sum())

    def pieces(self) -> Iterator[NDArray[Any]]:
        """Yields the array in consecutive pieces."""
        end = len(self._former)
        if len(self) < _SHORT * len(self._runs):
            yield self.take(np.arange(len(self)))
            return
        for start, stop, _ in self._runs.tolist():
            if start >= end:
                yield self._new[start - end : stop - end].astype(self.dtype, copy=False)
                continue
            for at in range(start, stop, PIECE):
                piece = self._former[at : min(at + PIECE, stop)]
                piece = piece if self._present is None else self._present.take(piece)
                yield piece.astype(self.dtype, copy=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The whole array; numpy calls this to convert the object."""
        values: NDArray[Any] = np.concatenate([np.zeros(0, self.dtype), *self.pieces()])
        return values if dtype is None else values.astype(dtype)

    def take(self, indices: NDArray[Any]) -> NDArray[Any]:
        """The values of the array at the indices `indices`."""
        starts, _, firsts = self._runs[np.searchsorted(self._runs[:, 2], indices, side="right") - 1].T
        at, end = starts + indices - firsts, len(self._former)
        values = np.zeros(len(indices), self.dtype)
        former = self._former[at[at < end]]
        values[at < end] = former if self._present is None else self._present[former]
        values[at >= end] = self._new[at[at >= end] - end]
        return values


@dataclass(frozen=True, eq=False)
class Links:
    """The graph of S symbols, F files and L anonymous functions, which are nodes in that order: file f is node S + f.
    After a refresh, some of its largest arrays are `Spliced`, to be written and read again.

    Attributes:
        first_symbol: int32 [F + 1], the first symbol of each file, and S.
        target: int32 [E], nodes; edges are distinct and sorted by source, target, kind, line.
        kind: uint8 [E], indices of `EDGE_KINDS`.
        line: uint8, uint16 or int32 [E], line in the source's file.
        step: uint8 [E], index of `STEPS` (the rule that found the edge), and `AMBIGUOUS`; 0 for imports.
        out_ptr: int32 [S + F + L + 1], where the edges of each source start.
        incoming: int32 [E], edge numbers sorted by target, then source.
        in_ptr: int32 [S + F + L + 1], where the edges into each node start in `incoming`.
        first_lambda: int32 [F + 1], the first anonymous function of each file, and L.
        lambda_symbol: int32 [L], the symbol that encloses each anonymous function, or -1.
        lambda_line, lambda_end_line: int32 [L], the first and the last line of each anonymous function.
        key_start: int32 [F + 1], where the keys of each file start.
        keys: int32 [K], keys of the look-ups that each file's edges depend on (lookups.py): unsigned numbers of 32
            bits, stored as int32; within a file they ascend as unsigned numbers.
        site_key: int64 [N], hashes of (family, name) of calls on a receiver, ascending.
        site_count: int32 [N], the number of calls with each hash, at least 1.
        program: The constraints of the files in the points-to analysis.
        solution: The possible targets of the program's calls.
        relinked: Numbers of the files that were linked again; after a full link, of all files.
    """

    first_symbol: NDArray[Any]
    target: NDArray[Any]
    kind: NDArray[Any]
    line: NDArray[Any]
    step: NDArray[Any]
    out_ptr: NDArray[Any]
    incoming: NDArray[Any]
    in_ptr: NDArray[Any]
    first_lambda: NDArray[Any]
    lambda_symbol: NDArray[Any]
    lambda_line: NDArray[Any]
    lambda_end_line: NDArray[Any]
    key_start: NDArray[Any]
    keys: NDArray[Any]
    site_key: NDArray[Any]
    site_count: NDArray[Any]
    program: Program = field(default_factory=nothing)
    solution: Solution = field(default_factory=lambda: solution_of(()))
    relinked: tuple[int, ...] = field(default=())

    @property
    def n_symbols(self) -> int:
        return int(self.first_symbol[-1])

    @property
    def n_files(self) -> int:
        return len(self.first_symbol) - 1

    @property
    def n_nodes(self) -> int:
        return self.n_symbols + self.n_files + int(self.first_lambda[-1])

    @cached_property
    def source(self) -> NDArray[Any]:
        """int32 [E], the source of each edge."""
        return np.repeat(np.arange(len(self.out_ptr) - 1, dtype=np.int32), np.diff(self.out_ptr))

    def unlinked(self) -> list[int]:
        """The files that have no edges because linking them raised an error."""
        alone = np.flatnonzero(np.diff(self.key_start) == 1)
        files: list[int] = alone[self.keys.take(self.key_start[alone]).view(np.uint32) == UNLINKED].tolist()
        return files

    def edges_by_kind(self) -> dict[str, int]:
        """Maps the name of each kind of edge that occurs to the number of such edges."""
        counts = {name: int(np.count_nonzero(self.kind == kind)) for kind, name in enumerate(EDGE_KINDS)}
        return {name: count for name, count in sorted(counts.items()) if count}


class Sites:
    """Counts how often each name is called on a receiver. Names are stored as hashes, to save memory."""

    def __init__(self, keys: NDArray[Any], counts: NDArray[Any]) -> None:
        self.keys = keys
        self.counts = counts

    @classmethod
    def of(cls, counts: Mapping[tuple[str, str], int]) -> Sites:
        """Counts from a dict of (family, name) to the number of calls; numbers that are not positive are ignored."""
        return cls(np.zeros(0, np.int64), np.zeros(0, np.int32)).plus(counts)

    def plus(self, change: Mapping[tuple[str, str], int]) -> Sites:
        """New counts: these counts plus a change, whose numbers may be negative."""
        keys = np.array([_site_key(*name) for name in change], np.int64)
        merged = np.concatenate([self.keys, keys])
        amounts = np.concatenate([self.counts, np.array(list(change.values()), np.int64)])
        distinct, inverse = np.unique(merged, return_inverse=True)
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, inverse.reshape(-1), amounts)
        return Sites(distinct[counts > 0], counts[counts > 0].astype(np.int32))

    def count(self, family: str, name: str) -> int:
        """The number of calls of a name on a receiver."""
        key = _site_key(family, name)
        index = int(np.searchsorted(self.keys, key))
        return int(self.counts[index]) if index < len(self.keys) and int(self.keys[index]) == key else 0


def _site_key(family: str, name: str) -> int:
    text = f"{family}\0{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little", signed=True)


#: Edges that are sorted together.
_SORTED = 1 << 20


class FileKeys(NamedTuple):
    """(keys, sizes): the look-up keys of all files, as in `Links.keys`, and the number of keys of each file."""

    keys: NDArray[Any]
    sizes: NDArray[Any]


class Lambdas(NamedTuple):
    """The anonymous functions of a graph, as in `Links`."""

    first: NDArray[Any]
    symbol: NDArray[Any]
    line: NDArray[Any]
    end_line: NDArray[Any]


class EdgeBuffer:
    """Collects edges and look-up keys, one file after another."""

    def __init__(self) -> None:
        self._columns: tuple[array[int], ...] = tuple(map(array, "iiBiB"))
        self._key_sizes = array("i")
        self._keys = array("I")

    def add(self, edges: Iterable[Edge], keys: Iterable[int]) -> None:
        """Append the edges and keys of the next file."""
        for column, values in zip(self._columns, zip(*edges, strict=True), strict=False):
            column.extend(values)
        before = len(self._keys)
        self._keys.extend(sorted(keys))
        self._key_sizes.append(len(self._keys) - before)

    def extend(self, other: EdgeBuffer) -> None:
        """Append the files of another buffer."""
        for column, values in zip(self._columns, other._columns, strict=True):
            column.extend(values)
        self._key_sizes.extend(other._key_sizes)
        self._keys.extend(other._keys)

    def keys(self) -> FileKeys:
        """The look-up keys of all files that were added so far."""
        return FileKeys(np.frombuffer(self._keys, np.int32), np.frombuffer(self._key_sizes, np.int32))

    def edges(self, n_symbols: int, n_files: int, room: int = 0) -> NDArray[Any]:
        """The edges, int32 [5, E + room], unsorted: source, target, kind, line and step of each; nodes as in `Links`.
        The last `room` columns are 0. Call this only once: it frees the collected edges, of which there may be
        millions.
        """
        n_edges = len(self._columns[0])
        rows = np.zeros((5, n_edges + room), np.int32)
        for row, column in zip(rows, self._columns, strict=True):
            row[:n_edges] = np.frombuffer(column, column.typecode)
            del column[:]
        for nodes in rows[:2]:
            others = np.flatnonzero(nodes < 0)
            own = nodes[others]
            nodes[others] = np.where(own <= _LAMBDAS, n_symbols + n_files + (_LAMBDAS - own), n_symbols + ~own)
        return rows


class PointsToResult(NamedTuple):
    """The constraints of the points-to analysis (`program`), and its `solution`."""

    program: Program
    solution: Solution


def assemble(
    rows: NDArray[Any], first_symbol: NDArray[Any], keys: FileKeys, sites: Sites, relinked: Iterable[int],
    lambdas: Lambdas, followed: PointsToResult,
) -> Links:  # fmt: skip
    """Sort edges, drop duplicates and build the graph.

    Args:
        rows: int32 [5, E]: source, target, kind, line and step of each edge.
        first_symbol: int32 [F + 1], as in `Links`.
        relinked: Numbers of the files that were linked again.
    """
    source, target, kind, line, step = distinct(sort_edges(rows))
    nodes = int(first_symbol[-1]) + len(first_symbol) - 1 + int(lambdas.first[-1])
    return Links(
        first_symbol=first_symbol.astype(np.int32),
        target=target,
        kind=kind.astype(np.uint8),
        line=line,
        step=step.astype(np.uint8),
        out_ptr=pointers(source, nodes),
        incoming=_stable_order(target),
        in_ptr=pointers(target, nodes),
        first_lambda=lambdas.first,
        lambda_symbol=lambdas.symbol,
        lambda_line=lambdas.line,
        lambda_end_line=lambdas.end_line,
        key_start=np.concatenate([[0], np.cumsum(keys.sizes)]).astype(np.int32),
        keys=keys.keys,
        site_key=sites.keys,
        site_count=sites.counts,
        program=followed.program,
        solution=followed.solution,
        relinked=tuple(relinked),
    )


def pointers(nodes: NDArray[Any], n: int) -> NDArray[Any]:
    """The index at which the edges of each of `n` nodes start, and the number of edges: [n + 1].

    `nodes` has the node at one end of each edge, ascending.
    """
    starts = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(nodes, minlength=n), out=starts[1:])
    return starts


def _stable_order(values: NDArray[Any]) -> NDArray[Any]:
    """Stable argsort of non-negative numbers, 16 bits at a time: numpy has a radix sort only for 16-bit numbers."""
    low = np.argsort((values & 0xFFFF).astype(np.uint16), kind="stable").astype(np.int32)
    high = np.argsort((values[low] >> 16).astype(np.uint16), kind="stable")
    return low[high]


def sort_edges(rows: NDArray[Any]) -> NDArray[Any]:
    """Sort edges, int32 [5, E], in place by source, target, kind and line; ties keep their order."""
    if (rows[0, 1:] < rows[0, :-1]).any():
        # Both the edges of a full link, file by file, and those of a refresh are nearly in order, which this sort is
        # quick with.
        order = np.argsort(rows[0], kind="stable")
        for row in rows:
            row[:] = row[order]
    start, total = 0, rows.shape[1]
    while start < total:
        # Some whole sources at a time: sorting all edges at once takes several times their memory.
        stop = int(np.searchsorted(rows[0], rows[0, min(start + _SORTED, total) - 1], side="right"))
        some = rows[:, start:stop]
        if not _ascend(some):
            rows[:, start:stop] = some[:, np.lexsort((some[3], some[2], some[1], some[0]))]
        start = stop
    return rows


def _ascend(rows: NDArray[Any]) -> bool:
    """Whether edges are sorted by source, target, kind and line."""
    fits = np.ones(max(rows.shape[1] - 1, 0), np.bool_)  # whether the columns from here on say so
    for column in rows[3::-1]:
        fits &= column[1:] == column[:-1]
        fits |= column[1:] > column[:-1]
    return bool(fits.all())


def distinct(rows: NDArray[Any]) -> NDArray[Any]:
    """Removes repetitions from sorted edges, in place: of edges that differ only in the step, the first is kept."""
    first = np.zeros(rows.shape[1], np.bool_)
    first[:1] = True
    for column in rows[:4]:
        first[1:] |= column[1:] != column[:-1]
    unique = rows[:, : np.count_nonzero(first)]
    if not first.all():
        for before, row in zip(rows, unique, strict=True):
            row[:] = before[first]
    return unique
