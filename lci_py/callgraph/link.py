"""Links all files: collects the facts of all files, then finds the edges of each file."""

from __future__ import annotations

import os
from array import array
from fcntl import ioctl
from termios import FIONREAD
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.edges import EdgeBuffer, Lambdas, Links, PointsToResult, Sites, assemble
from lci_py.callgraph.file_facts import DECLARED, FileFacts
from lci_py.callgraph.gc_paused import gc_paused
from lci_py.callgraph.lookup_tables import MemoryTables, uses_qualified
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.pointsto.propagate import (
    Nodes,
    followed_edges,
    program_of,
    reconcile,
    solve_program,
)
from lci_py.callgraph.program import check_constraints
from lci_py.callgraph.resolve.calls import FileLinker
from lci_py.processes import ForkedComputation
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from lci_py.callgraph.edges import FileKeys
    from lci_py.callgraph.file_facts import CallSite
    from lci_py.types.source import Extract


#: Blocks of files that two processes share out. The slower one ends at most one block later.
_BLOCKS = 256
#: With more calls than this, one process links all files: the other one would have copies of most look-ups, 170 MB for
#: 9,000 files of C with a million edges.
_MOST_SHARED = 3_000_000
#: The arguments of `assemble`.
Parts = tuple["NDArray[Any]", "NDArray[Any]", "FileKeys", Sites, "Iterable[int]", Lambdas, PointsToResult]


class Linker:
    """Links a whole repository. It needs some 75 bytes per symbol, including the symbol's calls."""

    def __init__(self) -> None:
        self._tables = MemoryTables()

    def add(self, path: str, is_test: bool, extract: Extract) -> None:
        """Add the next file. All files must be added in path order, even without symbols: each gets a number."""
        self._tables.add_extract(path, is_test, extract)

    def add_facts(self, facts: FileFacts, calls: Sequence[CallSite], qualified_names: Iterable[str]) -> None:
        """Add the next file from facts stored in an index; `qualified_names` are the names of the file's symbols."""
        declared = {
            name for name, kind in zip(qualified_names, facts.kinds, strict=True) if kind in DECLARED
        } if uses_qualified(facts.head.family) else ()  # fmt: skip
        self._tables.add(facts, calls, declared)

    def finish(self, *, fork: bool = False, report: Callable[[int, int], None] | None = None) -> Links:
        """Link all files and return the graph. Call it once, after the last file.

        Args:
            fork: Whether to use a second process. It runs the points-to analysis, and then links files, the last ones
                first, until all are linked. The calling process must not have threads.
            report: Called with the number of linked files and the number of all files.
        """
        parts = self._parts(fork, report or (lambda _done, _total: None))
        # As large as the edges, which are sorted now. What has looked up in them may still refer to them, and no
        # collection runs while an index is led.
        vars(self._tables).clear()
        return assemble(*parts)

    def _parts(self, fork: bool, report: Callable[[int, int], None]) -> Parts:
        """The arguments of `assemble`."""
        tables = self._tables
        tables.freeze()
        sites = Sites.of(tables.sites)
        linker = FileLinker(LookUps(tables, sites))
        n_files = len(tables.files.heads)
        n_symbols = int(tables.first_symbol[-1])
        blocks = _Blocks(tables.blocks_of_calls(_BLOCKS if fork and tables.n_calls <= _MOST_SHARED else 1))

        def link(files: Iterable[int], edges: EdgeBuffer) -> EdgeBuffer:
            for file in files:
                edges.add(*linker.link(file))
            return edges

        def others() -> tuple[EdgeBuffer, PointsToResult]:
            followed = _followed(tables, sites)
            edges = EdgeBuffer()
            for buffer in reversed([link(files, EdgeBuffer()) for files in blocks.from_end()]):
                edges.extend(buffer)
            return edges, followed

        forked = ForkedComputation(others, fork=fork)
        linked = EdgeBuffer()
        with gc_paused():
            for files in blocks.from_start():
                link(files, linked)
                report(blocks.files_taken(), n_files)
            edges, followed = forked.result()
            linked.extend(edges)
            del edges
        blocks.close()
        linker.look_ups.release()
        first_symbol = np.array(tables.first_symbol, np.int32)
        first_lambda = np.array(tables.first_lambda, np.int32)
        nodes = Nodes(first_symbol, first_lambda)
        of_flow = followed_edges(*followed, nodes)
        rows = linked.edges(n_symbols, n_files, of_flow.shape[1])
        end = rows.shape[1] - of_flow.shape[1]
        more = reconcile(tables, rows[:, :end], of_flow, nodes)
        rows[:, end : end + more.shape[1]] = more
        symbols, *lines = np.array(tables.lambdas, np.int32).reshape(-1, 3).T
        shifts = np.repeat(first_symbol[:-1], np.diff(first_lambda))
        lambdas = Lambdas(first_lambda, np.where(symbols >= 0, symbols + shifts, -1).astype(np.int32), *lines)
        return rows[:, : end + more.shape[1]], first_symbol, linked.keys(), sites, range(n_files), lambdas, followed


class _Blocks:
    """Ranges of consecutive files for two processes: one takes ranges from the start, the other from the end.

    To take a range, a process reads a byte from a pipe that both share: so the quicker process links more files.
    """

    def __init__(self, starts: Sequence[int]) -> None:
        """`starts` has the first file of each range (at least one), ascending, and then the number of files."""
        self._starts = starts
        self._owner = os.getpid()
        self._next = 1  # from the start
        self._pipe, end = os.pipe()
        os.write(end, bytes(len(starts) - 2))
        os.close(end)

    def from_start(self) -> Iterator[range]:
        """Yields ranges to the process that created this object; it gets the first range without reading the pipe."""
        yield range(*self._starts[:2])
        while os.read(self._pipe, 1):
            self._next += 1
            yield range(*self._starts[self._next - 1 : self._next + 1])

    def from_end(self) -> Iterator[range]:
        """Yields ranges to the second process, the last range first.

        If the second process has failed, the first calls this after `from_start`, and gets all that the second took.
        """
        if os.getpid() == self._owner:
            yield range(self._starts[self._next], self._starts[-1])
            return
        last = len(self._starts) - 1
        while os.read(self._pipe, 1):
            last -= 1
            yield range(*self._starts[last : last + 2])

    def files_taken(self) -> int:
        """The approximate number of files that both processes have taken."""
        unread = array("i", [0])
        ioctl(self._pipe, FIONREAD, unread)
        n_ranges = len(self._starts) - 1
        return self._starts[n_ranges - unread[0]]

    def close(self) -> None:
        os.close(self._pipe)


def _followed(tables: MemoryTables, sites: Sites) -> PointsToResult:
    program = program_of(tables, sites, range(len(tables.files.heads)))
    check_constraints(program)
    return PointsToResult(replace(program), solve_program(program, tables))  # without what the solver keeps in it
