"""Propagates functions as values through all files of a repository, for a full link and for a refresh."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.edges import AMBIGUOUS, CALLS, FLOW, INHERITS, Linked
from lci_py.callgraph.gc_paused import gc_paused
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.pointsto.program_constraints import FlowFile
from lci_py.callgraph.pointsto.solve import Solver
from lci_py.callgraph.resolve.imports import ImportResolver
from lci_py.errors import DamagedIndexError
from lci_py.source.dataflow.constraints import decode
from lci_py.source.dataflow.lower import LOWERED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lci_py.callgraph.file_facts import FileFacts, FileHead
    from lci_py.callgraph.lookup_tables import Tables
    from lci_py.callgraph.lookups import SiteCounts
    from lci_py.types.source import Import


def propagated(tables: Tables, sites: SiteCounts) -> Linked:
    """The edges of calls of functions as values, in the whole repository."""
    look_ups = LookUps(tables, sites)
    imports = ImportResolver(look_ups)
    solver = Solver(imports.submodule)
    for file, head in enumerate(tables.files.heads):
        if not _is_followed(head):
            continue
        facts = tables.facts(file)
        if not facts.flow:
            continue
        try:
            flow = decode(facts.flow)
        except ValueError as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error
        python = head.language == "python"
        solver.add(
            FlowFile(
                file,
                flow,
                facts.first,
                len(facts.kinds),
                tables.first_lambda[file],
                len(facts.lambdas),
                [_meaning(imports, file, item, python) for item in facts.imports],
                python,
            )
        )
    found = Linked()
    with gc_paused():
        found.add(solver.solve(), ())
    return found


def reconciled(tables: Tables, named: NDArray[Any], followed: NDArray[Any]) -> NDArray[Any]:
    """The edges of the propagation that do not contradict names and types.

    If a declared type says what is called, an object that gets there must be of that type or a derived one, and its
    override runs. An edge to a method of the same name in any other type contradicts the declaration and is left out.

    Args:
        tables: Of all files.
        named: int32 [5, n], edges by names and types: source, target, kind, line and step.
        followed: int32 [5, m], edges of the propagation.
    Returns:
        int32 [5, k].
    """
    known = _targets_at(named, followed)
    bases = _bases(named)
    names = _Names(tables)
    keep = np.ones(followed.shape[1], np.bool_)
    steps = followed[4].copy()
    for at, (source, target, line) in enumerate(zip(*followed[[0, 1, 3]].tolist(), strict=True)):
        declared = known.get((source, line))
        if not declared or target in declared:
            continue
        name = names.of(target)
        same = [other for other in declared if names.of(other) == name]
        if name and same:
            owner = names.owner(target)
            keep[at] = any(_derives(bases, owner, names.owner(other)) for other in same)
            steps[at] = FLOW | AMBIGUOUS
    found: NDArray[Any] = np.concatenate([followed[:4], steps[None]])[:, keep]
    return found


def _targets_at(named: NDArray[Any], followed: NDArray[Any]) -> dict[tuple[int, int], set[int]]:
    """(Source, line) to the targets of calls there, for the places where the propagation has calls, too."""
    calls = named[:, named[2] == CALLS]
    both = np.isin(calls[0].astype(np.int64) << 32 | calls[3], followed[0].astype(np.int64) << 32 | followed[3])
    found: dict[tuple[int, int], set[int]] = {}
    for source, target, line in calls[[0, 1, 3]][:, both].T.tolist():
        found.setdefault((source, line), set()).add(target)
    return found


def _bases(named: NDArray[Any]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for source, target in named[:2, named[2] == INHERITS].T.tolist():
        found.setdefault(source, []).append(target)
    return found


def _derives(bases: dict[int, list[int]], owner: int, other: int) -> bool:
    seen: set[int] = set()
    pending = [owner]
    while pending:
        current = pending.pop()
        if current == other:
            return True
        if current not in seen:
            seen.add(current)
            pending.extend(bases.get(current, ()))
    return False


class _Names:
    """Names and parents of symbols, by number."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._starts: list[int] = []
        self._files: list[int] = []
        for file, head in enumerate(tables.files.heads):
            # A file without symbols has no first one: its number would break the order that is searched below.
            if _is_followed(head) and (facts := tables.facts(file)).kinds:
                self._files.append(file)
                self._starts.append(facts.first)

    def _place(self, symbol: int) -> tuple[FileFacts, int] | None:
        at = bisect_right(self._starts, symbol) - 1
        if at < 0:
            return None
        facts = self._tables.facts(self._files[at])
        place = symbol - facts.first
        return (facts, place) if place < len(facts.kinds) else None

    def of(self, symbol: int) -> str:
        """The name of a symbol; "" for any other node."""
        found = self._place(symbol)
        return found[0].names[found[1]] if found is not None else ""

    def owner(self, symbol: int) -> int:
        """The symbol around a symbol, or -1."""
        found = self._place(symbol)
        if found is None or found[0].parents[found[1]] < 0:
            return -1
        return found[0].first + found[0].parents[found[1]]


def _meaning(
    imports: ImportResolver, file: int, item: Import, python: bool
) -> tuple[tuple[int, ...], str, tuple[int, ...]]:
    heads: tuple[int, ...] = ()
    if python and not item.name and not item.alias and "." in item.module:
        from dataclasses import replace

        heads = imports.targets(file, replace(item, module=item.module.partition(".")[0]))
    return imports.targets(file, item), item.name, heads


def any_followed(tables: Tables, files: Iterable[int]) -> bool:
    """Whether the propagation goes through any of some files."""
    heads = tables.files.heads
    return any(_is_followed(heads[file]) for file in files)


def _is_followed(head: FileHead) -> bool:
    """Whether the propagation goes through a file. It leaves out tests: the program never calls their stand-ins."""
    return head.language in LOWERED and not head.test


def anonymous_functions(tables: Tables, first_symbol: NDArray[Any], files: Sequence[int]) -> NDArray[Any]:
    """int32 [3, n]: the symbol around each anonymous function of some files, its first and its last line."""
    rows = [
        (int(first_symbol[file]) + item.symbol if item.symbol >= 0 else -1, item.line, item.end_line)
        for file in files
        for item in tables.facts(file).lambdas
    ]
    found: NDArray[Any] = np.array(rows, np.int32).reshape(-1, 3).T
    return found
