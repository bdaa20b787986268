"""Runs the points-to analysis of a repository, for a full link and for a refresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lci_py.callgraph.gc_paused import gc_paused
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.pointsto.solve import Solver
from lci_py.callgraph.program import (
    CLASSES,
    FUNCTIONS,
    PYTHON,
    SITES,
    SYMBOL,
    check_places,
    check_solution,
    join_programs,
    of_file,
)
from lci_py.callgraph.resolve.imports import ImportResolver, submodule_paths
from lci_py.errors import DamagedIndexError
from lci_py.source.dataflow.constraints import decode
from lci_py.source.text.language_tables import has_rule
from lci_py.types.edges import AMBIGUOUS, CALLBACK, CALLS, FLOW, INHERITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.callgraph.file_facts import FileHead
    from lci_py.callgraph.lookup_tables import Tables
    from lci_py.callgraph.lookups import SiteCounts
    from lci_py.callgraph.program import Meaning, Program, Solution
    from lci_py.types.source import Import


class Nodes(NamedTuple):
    """[files + 1] each: first symbol and first anonymous function of each file; at the end, how many exist in all."""

    first_symbol: NDArray[Any]
    first_lambda: NDArray[Any]


def program_of(tables: Tables, sites: SiteCounts, files: Iterable[int]) -> Program:
    """The constraints of some files, without files that the analysis does not cover."""
    look_ups = LookUps(tables, sites)
    imports = Meanings(look_ups)
    programs = []
    for file in files:
        head = tables.files.heads[file]
        if not _is_followed(head):
            continue
        data = tables.facts(file).flow
        if not data:
            continue
        try:
            flow = decode(data)
        except ValueError as error:
            raise DamagedIndexError(f"the symbolic shard: {error}") from error
        programs.append(of_file(file, flow, imports.of(file), python=has_rule(head.language, "python_modules")))
    look_ups.release()
    return join_programs(programs)


class Meanings:
    """Resolves the imports of files for the analysis."""

    def __init__(self, look_ups: LookUps) -> None:
        self._tables = look_ups.tables
        self._imports = ImportResolver(look_ups)

    def of(self, file: int) -> list[Meaning]:
        """The meaning of each import of a file."""
        python = has_rule(self._tables.files.heads[file].language, "python_modules")
        return [self._meaning_of(file, item, python) for item in self._tables.facts(file).imports]

    def _meaning_of(self, file: int, item: Import, python: bool) -> Meaning:
        heads: tuple[int, ...] = ()
        if python and not item.name and not item.alias and "." in item.module:
            heads = self._imports.targets(file, item._replace(module=item.module.partition(".")[0]))
        targets = self._imports.targets(file, item)
        if python and (holders := self._imports.holders(file, item, targets)) != targets:
            # A submodule, unless the package binds the name: of a package without `__init__.py` it is the only meaning.
            return ((), item.name, targets) if file in holders or not holders else (holders, item.name, ())
        return targets, item.name, heads

    def again(self, program: Program) -> Program:
        """The program with its imports resolved again, because the set of files has changed."""
        targets: list[int] = []
        counts: list[tuple[int, int]] = []
        for file in program.files.tolist():
            meanings = self.of(file)
            counts.extend((len(files), len(heads)) for files, _, heads in meanings)
            targets.extend(target for files, _, heads in meanings for target in (*files, *heads))
        return program.with_targets(np.array(counts, np.int32).reshape(-1, 2), np.array(targets, np.int32))


def solve_program(program: Program, tables: Tables) -> Solution:
    """The possible targets of the calls of a checked program."""
    heads = tables.files.heads
    with gc_paused():
        submodules = Submodules({heads[file].path: file for file in program.files.tolist()}, heads)
        languages = {heads[file].language for file in program.files[program.columns[:, PYTHON] > 0].tolist()}
        return Solver(program, submodules, min(languages, default="")).solve()


class Submodules:
    """Finds the file of a module inside a package or folder. The package is given as its `__init__` or index file."""

    def __init__(self, places: Mapping[str, int], heads: Sequence[FileHead]) -> None:
        self._places = places
        self._heads = heads

    def __call__(self, file: int, name: str) -> tuple[int, ...]:
        for path in submodule_paths(self._heads[file].path, name):
            file_number = self._places.get(path)
            if file_number is not None:
                return (file_number,)
        return ()


def followed_edges(program: Program, solution: Solution, graph: Nodes) -> NDArray[Any]:
    """The edges that the analysis found: int32 [5, n], source, target, kind, line and step; distinct."""
    check_places(program, np.diff(graph.first_symbol), np.diff(graph.first_lambda))
    check_solution(program, solution)
    n_symbols, n_files = int(graph.first_symbol[-1]), len(graph.first_symbol) - 1
    first_symbol, first_lambda = graph.first_symbol.astype(np.int64), graph.first_lambda.astype(np.int64)
    files = program.files.astype(np.int64)
    symbols, of_functions = program.functions.reshape(-1, 6)[:, SYMBOL], files[program.owners(FUNCTIONS)]
    functions = np.where(
        symbols >= 0,
        first_symbol[of_functions] + symbols,
        n_symbols + n_files + first_lambda[of_functions] - 2 - symbols,
    )
    classes = first_symbol[files[program.owners(CLASSES)]] + program.classes
    of_sites = program.owners(SITES)[solution.site]
    callers, lines = program.callers[solution.site], program.lines[solution.site].astype(np.int64)
    inside = callers >= 0
    source = n_symbols + files[of_sites]
    source[inside] = functions[(program.starts(FUNCTIONS)[of_sites] + callers)[inside]]
    target = np.zeros(len(source), np.int64)
    is_class = solution.target < 0
    target[is_class] = classes[~solution.target[is_class]]
    target[~is_class] = functions[solution.target[~is_class]]
    rows = np.stack([source, lines, solution.callee.astype(np.int64), target])
    called, passed = _distinct(rows[:, solution.callee >= 0]), _distinct(rows[:, solution.callee < 0])
    # What an operator is applied to may be of a built-in type as well, which the analysis does not follow.
    steps = np.where((_group_sizes(called[:3]) > 1) | (called[2] & 1 > 0), FLOW | AMBIGUOUS, FLOW)
    source, lines, _, target = np.concatenate([called, passed], axis=1)
    # Of several steps for one edge, a sure one is kept; CALLBACK only if there is no other.
    rank = np.concatenate([steps, np.full(passed.shape[1], 1 << 10 | CALLBACK)])
    order = np.lexsort((rank, lines, target, source))
    source, target, lines, rank = (column[order] for column in (source, target, lines, rank))
    first = np.ones(len(order), np.bool_)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1]) | (lines[1:] != lines[:-1])
    edges = np.stack([source, target, np.full(len(source), CALLS), lines, rank & 0xFF])
    return edges[:, first].astype(np.int32)


def _distinct(rows: NDArray[Any]) -> NDArray[Any]:
    """The distinct columns, sorted by the first row, then by the second, and so on."""
    rows = rows[:, np.lexsort(rows[::-1])]
    first = np.ones(rows.shape[1], np.bool_)
    first[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    return rows[:, first]


def _group_sizes(rows: NDArray[Any]) -> NDArray[Any]:
    """int64 [n]: for each column of `rows`, the number of equal columns. Equal columns are adjacent."""
    first = np.ones(rows.shape[1], np.bool_)
    first[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    sizes = np.diff(np.append(np.flatnonzero(first), rows.shape[1]))
    return np.repeat(sizes, sizes)


def reconcile(tables: Tables, by_name: NDArray[Any], followed: NDArray[Any], nodes: Nodes) -> NDArray[Any]:
    """The edges of the points-to analysis that do not contradict names and types: int32 [5, k].

    If a declared type determines the callee, the object has that type or a derived type, whose override then runs. An
    edge to a method of the same name in any other type contradicts the declaration and is dropped.

    Args:
        by_name: int32 [5, n], edges found by names and types: source, target, kind, line and step.
        followed: int32 [5, m], edges of the points-to analysis.
    """
    declared, others = _declared_targets(by_name, followed)
    bases = _bases(by_name) if others else {}
    symbols = set(followed[1, others].tolist()).union(*declared.values())
    names = _names(tables, nodes, symbols)
    keep = np.ones(followed.shape[1], np.bool_)
    steps = followed[4].copy()
    for at, source, target, line in zip(others, *followed[[0, 1, 3]][:, others].tolist(), strict=True):
        name, owner = names.get(target, ("", -1))
        same = [names[other][1] for other in declared[source, line] if other in names and names[other][0] == name]
        if name and same:
            keep[at] = any(_derives(bases, owner, other) for other in same)
            steps[at] = FLOW | AMBIGUOUS
    edges: NDArray[Any] = np.concatenate([followed[:4], steps[None]])[:, keep]
    return edges


def _declared_targets(
    by_name: NDArray[Any], followed: NDArray[Any]
) -> tuple[dict[tuple[int, int], set[int]], list[int]]:
    """(targets, others): a dict from (source, line) to the targets of calls in that line by names and types; and the
    indices of the edges in `followed` that lead from such a line to other targets.
    """
    asks = np.isin(by_name[0], followed[0], kind="table")  # before a copy of all edges is made
    calls = by_name[:, asks & (by_name[2] == CALLS)]
    followed_sites, call_sites = (rows[0].astype(np.int64) << 32 | rows[3] for rows in (followed, calls))
    # A target that both have, at the same place, needs no look at names.
    pairs = np.stack([np.append(followed_sites, call_sites), np.append(followed[1], calls[1]).astype(np.int64)])
    order = np.lexsort(pairs[::-1])
    is_next = np.append((pairs[:, order][:, 1:] == pairs[:, order][:, :-1]).all(axis=0), False)
    both = np.zeros(len(order), np.bool_)
    both[order] = is_next | np.append(False, is_next[:-1])
    others = np.flatnonzero(np.isin(followed_sites, call_sites) & ~both[: len(followed_sites)])
    targets: dict[tuple[int, int], set[int]] = {}
    for source, target, line in calls[[0, 1, 3]][:, np.isin(call_sites, followed_sites[others])].T.tolist():
        targets.setdefault((source, line), set()).add(target)
    return targets, others.tolist()


def _bases(by_name: NDArray[Any]) -> dict[int, list[int]]:
    bases: dict[int, list[int]] = {}
    for source, target in by_name[:2, by_name[2] == INHERITS].T.tolist():
        bases.setdefault(source, []).append(target)
    return bases


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


def _names(tables: Tables, nodes: Nodes, symbols: Iterable[int]) -> dict[int, tuple[str, int]]:
    """Maps symbols to (name, enclosing symbol or -1); files that the analysis does not cover are left out."""
    numbers = np.array(sorted(symbols), np.int64)
    numbers = numbers[(numbers >= 0) & (numbers < int(nodes.first_symbol[-1]))]
    files = np.searchsorted(nodes.first_symbol, numbers, side="right") - 1
    followed = np.array([_is_followed(head) for head in tables.files.heads], np.bool_)
    return tables.names(numbers[followed[files]].tolist())


def any_followed(tables: Tables, files: Iterable[int]) -> bool:
    """Whether the analysis covers any of the files."""
    heads = tables.files.heads
    return any(_is_followed(heads[file]) for file in files)


def _is_followed(head: FileHead) -> bool:
    """Whether the analysis covers a file: no test, since the program never calls the test doubles."""
    return has_rule(head.language, "lowered") and not head.test


def anonymous_functions(tables: Tables, first_symbol: NDArray[Any], files: Sequence[int]) -> NDArray[Any]:
    """int32 [3, n]: for each anonymous function of the files, its enclosing symbol, first line and last line."""
    rows = [
        (int(first_symbol[file]) + item.symbol if item.symbol >= 0 else -1, item.line, item.end_line)
        for file in files
        for item in tables.facts(file).lambdas
    ]
    columns: NDArray[Any] = np.array(rows, np.int32).reshape(-1, 3).T
    return columns
