"""A full link: collects the facts of all files, then finds the edges of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.edges import EdgeBuffer, Lambdas, Links, PointsToResult, Sites, assemble
from lci_py.callgraph.file_facts import DECLARED, FileFacts
from lci_py.callgraph.forked import ForkedComputation
from lci_py.callgraph.gc_paused import gc_paused
from lci_py.callgraph.lookup_tables import MemoryTables, uses_qualified
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.pointsto.propagate import (
    Nodes,
    anonymous_functions,
    any_followed,
    followed_edges,
    program_of,
    reconcile,
    solve_program,
)
from lci_py.callgraph.program import STORED_PROGRAM, Program, Solution, check_constraints
from lci_py.callgraph.resolve.calls import FileLinker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from lci_py.callgraph.edges import FileKeys
    from lci_py.callgraph.file_facts import CallSite
    from lci_py.types.source import Extract


#: `Linker.finish` reports each time that it has linked so many files.
_REPORTED = 64
#: The arguments of `assemble`.
Parts = tuple["NDArray[Any]", "NDArray[Any]", "FileKeys", Sites, "Iterable[int]", Lambdas, PointsToResult]


class Linker:
    """Links a whole repository. It keeps some 200 bytes per symbol, including its calls."""

    def __init__(self) -> None:
        self._tables = MemoryTables()

    def add(self, path: str, is_test: bool, extract: Extract) -> None:
        """Add the next file. All files are added, in path order, even those without symbols: each gets a number."""
        self._tables.add_extract(path, is_test, extract)

    def add_facts(self, facts: FileFacts, calls: Sequence[CallSite], qualified_names: Iterable[str]) -> None:
        """Add the next file from facts stored in an index; `qualified_names` are those of its symbols."""
        declared = {
            name for name, kind in zip(qualified_names, facts.kinds, strict=True) if kind in DECLARED
        } if uses_qualified(facts.head.family) else ()  # fmt: skip
        self._tables.add(facts, calls, declared)

    def finish(self, *, fork: bool = False, report: Callable[[int, int], None] | None = None) -> Links:
        """All edges. Call it once, after the last file.

        Args:
            fork: Run the points-to analysis in a forked process meanwhile or, if there is nothing to analyse, link half
                of the files there. The calling process may have no threads.
            report: Called with the number of linked files and of all files.
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
        follow = any_followed(tables, range(n_files))
        propagation = ForkedComputation(lambda: _pointsto_arrays(tables, sites), fork=fork and follow)

        def linked_of(files: range) -> EdgeBuffer:
            found = EdgeBuffer()
            for file in files:
                if not files.start and not file % _REPORTED:  # not in the forked process
                    report(file * n_files // len(files), n_files)
                found.add(*linker.link(file))
            return found

        middle = tables.half_of_calls() if fork and not follow else n_files
        others = ForkedComputation(lambda: linked_of(range(middle, n_files)).arrays(), fork=middle < n_files)
        with gc_paused():
            linked = linked_of(range(middle))
            linked.extend(others.result())
        first_symbol = np.array(tables.first_symbol, np.int32)
        first_lambda = np.array(tables.first_lambda, np.int32)
        arrays = propagation.result()
        followed = PointsToResult(Program(*arrays[: len(STORED_PROGRAM)]), Solution(*arrays[len(STORED_PROGRAM) :]))
        named, nodes = linked.edges(n_symbols, n_files), Nodes(first_symbol, first_lambda)
        more = reconcile(tables, named, followed_edges(*followed, nodes), nodes)
        rows = np.concatenate([named, more], axis=1) if more.shape[1] else named
        lambdas = Lambdas(first_lambda, *anonymous_functions(tables, first_symbol, range(n_files)))
        linker.look_ups.release()
        return rows, first_symbol, linked.keys(), sites, range(n_files), lambdas, followed


def _pointsto_arrays(tables: MemoryTables, sites: Sites) -> list[NDArray[Any]]:
    """The arrays of the program and of its solution."""
    program = program_of(tables, sites, range(len(tables.files.heads)))
    check_constraints(program)
    return [*(getattr(program, name) for name in STORED_PROGRAM), *solve_program(program, tables)]
