"""A refresh of the graph: only files with a look-up whose answer may have changed are linked again. The result is that
of a full link, bit for bit; docs/adr/0011-relinking.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.changed_lookups import (
    ChangedFiles,
    Comparison,
    changed_look_ups,
    common_changes,
    site_changes,
)
from lci_py.callgraph.edges import (
    AMBIGUOUS,
    CALLS,
    SOLVED,
    EdgeBuffer,
    FileKeys,
    Lambdas,
    Links,
    PointsToResult,
    Sites,
    assemble,
)
from lci_py.callgraph.link import Linker
from lci_py.callgraph.lookups import LookUp, LookUps
from lci_py.callgraph.pointsto.propagate import (
    Meanings,
    Nodes,
    anonymous_functions,
    any_followed,
    followed_edges,
    program_of,
    reconcile,
    solve_program,
)
from lci_py.callgraph.program import check_constraints, is_same_but_for_lines, join_programs
from lci_py.callgraph.resolve.calls import FileLinker
from lci_py.errors import DamagedIndexError
from lci_py.source.extract.manifests import NPM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.callgraph.lookup_tables import StoredTables

#: Above this share of files, linking all of them in memory is faster than look-ups by SQL.
BULK_SHARE = 0.25
#: Changed look-ups whose answers are compared; with more of them, all count as changed.
_MOST_COMPARED = 3_000
#: Kinds of look-ups that say which files an import means, in the languages that the propagation goes through.
_OF_PATHS = ("path", "ending", "npm")


def relink(
    graph: Links, old: StoredTables, new: StoredTables, moved: Sequence[int], fresh: Sequence[int], *,
    bulk_share: float = BULK_SHARE,
) -> Links:  # fmt: skip
    """The graph after some files changed. Its arrays are those of a full link.

    Args:
        graph: The graph of `old`, as `read_links` returns it.
        old, new: The tables before and now.
        moved: Per former file, its number now; -1 if its content changed or it is gone. The other numbers ascend.
        fresh: The present numbers of files that changed or were added, ascending.
        bulk_share: If a larger share of the files has to be linked again, all are.
    Raises:
        DamagedIndexError: The graph does not fit the tables, or a shard is damaged.
        ValueError: `moved` and `fresh` do not name every file once.
    """
    numbers = _Renumbering(graph, new, moved, fresh)
    if len(old.files.heads) != graph.n_files or old.n_symbols != graph.n_symbols:
        raise _unfit()
    gone = np.flatnonzero(~numbers.stays).tolist()
    before, after = ChangedFiles(old, gone), ChangedFiles(new, fresh)
    change = site_changes(before, after)
    sites_before = Sites(graph.site_key, graph.site_count)
    sites = sites_before.plus(change)
    look_ups = changed_look_ups(before, after) | common_changes(change, sites_before, sites)
    concerned = _files_to_relink(graph, look_ups, Comparison(old, new, sites_before, sites))
    nodes, owners = numbers.nodes(old), _owners(graph)
    followed = (graph.kind == CALLS) & np.isin(graph.step & ~np.uint8(AMBIGUOUS), SOLVED)
    # A missing target must have changed an answer; even if it did not, its callers are linked again.
    lost = np.flatnonzero(nodes[graph.target] < 0)
    concerned[owners[lost[~followed[lost]]]] = True
    concerned[gone] = True
    concerned[graph.unlinked()] = True
    again = sorted({*fresh, *numbers.places[concerned & numbers.stays].tolist()})
    n_files = len(new.files.heads)
    if len(again) > bulk_share * n_files:
        return link_all(new)
    linker = FileLinker(LookUps(new, sites))
    linked = EdgeBuffer()
    for file in again:
        linked.add(*linker.link(file))
    n_symbols = int(numbers.first_symbol[-1])
    stay = ~concerned[owners]
    outcome = _follow_again(
        PointsToResult(graph.program, graph.solution), numbers, old, sites, fresh,
        paths_differ=any(_is_of_paths(look_up) for found in look_ups.values() for look_up in found),
    )  # fmt: skip
    anew = any_followed(old, gone) or any_followed(new, again) or outcome.solution is not graph.solution
    stay = stay & ~followed if anew else stay | followed
    again_linked = linked.edges(n_symbols, n_files)
    rows = _with_edges(graph, nodes, stay, again_linked)
    if anew:
        starts = Nodes(numbers.first_symbol, np.array(new.first_lambda))
        rows = np.concatenate([rows, reconcile(new, rows, followed_edges(*outcome, starts), starts)], axis=1)
    keys = _merged_keys(graph, numbers.places, concerned, linked, again)
    return assemble(rows, numbers.first_symbol, keys, sites, again, numbers.lambdas(), outcome)


def _is_of_paths(look_up: LookUp) -> bool:
    """Whether a look-up determines the files of imports that the points-to analysis goes through."""
    return look_up[0] in _OF_PATHS or (look_up[0] == "module" and look_up[1].endswith(NPM))


def _follow_again(
    before: PointsToResult, numbers: _Renumbering, old: StoredTables, sites: Sites, fresh: Sequence[int], *,
    paths_differ: bool,
) -> PointsToResult:  # fmt: skip
    """The constraints of all files now, and the possible targets of their calls.

    Nothing is solved if the constraints are the same apart from lines.

    Args:
        fresh: The present numbers of the files that changed.
        paths_differ: Whether imports may mean other files than before.
    """
    successors = numbers.successors(old)
    was = before.program.renumbered(successors)
    kept = was.only(numbers.stays[before.program.files])
    if paths_differ:
        kept = Meanings(numbers.new, sites).again(kept)
    program = join_programs([kept, program_of(numbers.new, sites, fresh)])
    if is_same_but_for_lines(was, program):
        return PointsToResult(program, before.solution)
    check_constraints(program)
    return PointsToResult(program, solve_program(program, numbers.new))


def _unfit() -> DamagedIndexError:
    return DamagedIndexError("the graph does not fit the symbolic shards")


class _Renumbering:
    """Maps numbers before a change to numbers now.

    Attributes:
        places: int64 [former files], the number of each file now; -1 if it changed or is gone.
        stays: bool [former files], whether it has a number now.
        first_symbol: int64 [present files + 1], the first symbol of each file.
        new: The tables of now.
    """

    def __init__(self, graph: Links, new: StoredTables, moved: Sequence[int], fresh: Sequence[int]) -> None:
        """Arguments and errors as in `relink`."""
        self._graph, self.new, self._fresh = graph, new, fresh
        self.places = np.array(moved, np.int64).reshape(-1)
        self.stays = self.places >= 0
        self._kept = self.places[self.stays]
        n_files = len(new.files.heads)
        named = np.sort(np.concatenate([self._kept, np.array(fresh, np.int64).reshape(-1)]))
        if len(named) != n_files or (named != np.arange(n_files)).any() or (np.diff(self._kept) <= 0).any():
            raise ValueError("moved and fresh do not name every file once, in order")
        if len(self.places) != graph.n_files:
            raise _unfit()
        counts = np.zeros(n_files, np.int64)
        counts[self._kept] = np.diff(graph.first_symbol)[self.stays]
        for file in fresh:
            counts[file] = len(new.facts(file).kinds)
        first = self.first_symbol = np.concatenate([[0], np.cumsum(counts)])
        if first[-1] != new.n_symbols or any(counts[file] and new.facts(file).first != first[file] for file in fresh):
            raise _unfit()

    def _shifts(self, now: NDArray[Any], before: NDArray[Any]) -> NDArray[Any]:
        """Per former file, the shift of its numbers, given the first number of each file; only valid if it stays."""
        found: NDArray[Any] = now[np.maximum(self.places, 0)] - before[:-1]
        return found

    def successors(self, old: StoredTables) -> NDArray[Any]:
        """int64 [former files]: the number of each now, also if its content has changed; -1 if it is gone."""
        heads = self.new.files.heads
        now = {heads[file].path: file for file in self._fresh}
        found: NDArray[Any] = self.places.copy()
        for file in np.flatnonzero(~self.stays).tolist():
            found[file] = now.get(old.files.heads[file].path, -1)
        return found

    def nodes(self, old: StoredTables) -> NDArray[Any]:
        """int32 [former nodes]: the present number, -1 if gone. Symbols of changed files are matched by stable id."""
        graph, new, first = self._graph, self.new, self.first_symbol
        n_symbols, n_files = int(first[-1]), len(first) - 1
        counts = np.diff(graph.first_symbol)
        shifts = np.repeat(self._shifts(first, graph.first_symbol), counts)
        symbols = np.where(np.repeat(self.stays, counts), np.arange(graph.n_symbols) + shifts, -1)
        files = np.where(self.stays, n_symbols + self.places, -1)
        successors = self.successors(old).tolist()
        for file in np.flatnonzero(~self.stays).tolist():
            successor = successors[file]
            if successor < 0:
                continue
            files[file] = n_symbols + successor
            numbers = {sid: int(first[successor]) + place for place, sid in enumerate(new.stable_ids(successor))}
            ids = old.stable_ids(file)
            if len(ids) != counts[file]:
                raise _unfit()
            start = int(graph.first_symbol[file])
            symbols[start : start + len(ids)] = [numbers.get(sid, -1) for sid in ids]
        # Anonymous functions of a changed file are made anew, with all edges that lead to them.
        counts = np.diff(graph.first_lambda)
        shifts = np.repeat(self._shifts(np.array(new.first_lambda), graph.first_lambda), counts)
        lambdas = n_symbols + n_files + np.arange(len(shifts)) + shifts
        both = np.concatenate([symbols, files, np.where(np.repeat(self.stays, counts), lambdas, -1)])
        return np.asarray(both.astype(np.int32))

    def lambdas(self) -> Lambdas:
        """The anonymous functions of the graph now."""
        graph = self._graph
        starts = np.array(self.new.first_lambda, np.int32)
        sizes, sizes_before = np.diff(starts), np.diff(graph.first_lambda)
        if (sizes[self._kept] != sizes_before[self.stays]).any():
            raise _unfit()
        shifts = np.repeat(self._shifts(self.first_symbol, graph.first_symbol), sizes_before)
        symbols = np.where(graph.lambda_symbol >= 0, graph.lambda_symbol + shifts, -1)
        before = np.stack([symbols, graph.lambda_line, graph.lambda_end_line])
        of_new = np.ones(len(sizes), np.bool_)
        of_new[self._kept] = False
        is_new = np.repeat(of_new, sizes)
        found = np.zeros((3, int(starts[-1])), np.int32)
        found[:, ~is_new] = before[:, np.repeat(self.stays, sizes_before)]
        found[:, is_new] = anonymous_functions(self.new, self.first_symbol, sorted(self._fresh))
        return Lambdas(starts, *found)


def link_all(tables: StoredTables) -> Links:
    """A full link from the symbolic shards."""
    linker = Linker()
    for file in range(len(tables.files.heads)):
        linker.add_facts(tables.facts(file), tables.calls(file), tables.qualified_names(file))
    return linker.finish()


def _files_to_relink(graph: Links, look_ups: dict[int, list[LookUp]], comparison: Comparison) -> NDArray[Any]:
    """bool [former files]: whether a file has a look-up whose answer has changed."""
    asked = _places(graph.keys, sorted(look_ups))
    met = np.unique(graph.keys[asked]).view(np.uint32).tolist()
    if len(met) <= _MOST_COMPARED:
        differing = [key for key in met if any(map(comparison.differ, look_ups[key]))]
        asked = asked[_places(graph.keys[asked], sorted(differing))]
    concerned = np.zeros(graph.n_files, bool)
    concerned[np.searchsorted(graph.key_start, asked, side="right") - 1] = True
    return concerned


def _places(keys: NDArray[Any], wanted: Sequence[int]) -> NDArray[Any]:
    """Where some keys are among millions, ascending.

    Args:
        keys: As in `Links`.
        wanted: Unsigned numbers, ascending.
    """
    if not len(wanted):
        return np.zeros(0, np.int64)
    # `numpy.isin` would sort all keys. Few of them begin with the 16 bits that one of those begins with.
    unsigned, asked = np.ascontiguousarray(keys).view(np.uint32), np.array(wanted, np.uint32)
    begins = np.zeros(1 << 16, np.bool_)
    begins[asked >> 16] = True
    some = np.flatnonzero(begins[unsigned >> np.uint32(16)])
    found = unsigned[some]
    places: NDArray[Any] = some[asked[np.minimum(np.searchsorted(asked, found), len(asked) - 1)] == found]
    return places


def _owners(graph: Links) -> NDArray[Any]:
    """int32 [edges]: the file of each edge's source."""
    files = np.arange(graph.n_files)
    of_nodes = [np.repeat(files, np.diff(graph.first_symbol)), files, np.repeat(files, np.diff(graph.first_lambda))]
    found: NDArray[Any] = np.concatenate(of_nodes).astype(np.int32)[graph.source]
    return found


def _with_edges(graph: Links, nodes: NDArray[Any], stay: NDArray[Any], again_linked: NDArray[Any]) -> NDArray[Any]:
    """int32 [5, E]: the edges that stay, with their present nodes, and behind those of each source its new ones.

    So they are in order of their sources, as `assemble` sorts them: there may be millions, and few new ones.
    """
    kept = nodes[graph.source[stay]]
    added = again_linked[:, np.argsort(again_linked[0], kind="stable")]
    rows = np.empty((5, len(kept) + added.shape[1]), np.int32)
    is_new = np.zeros(rows.shape[1], np.bool_)
    is_new[np.searchsorted(kept, added[0], side="right") + np.arange(added.shape[1])] = True
    rows[:, is_new] = added
    is_old = ~is_new
    rows[0, is_old] = kept
    del kept
    for row, column in zip(rows[1:], (graph.target, graph.kind, graph.line, graph.step), strict=True):
        row[is_old] = column[stay]  # column by column: they take hundreds of megabytes
    rows[1, is_old] = nodes[rows[1, is_old]]
    return rows


def _merged_keys(
    graph: Links, places: NDArray[Any], concerned: NDArray[Any], linked: EdgeBuffer, again: list[int]
) -> FileKeys:
    """The keys of all files now."""
    sizes_before = np.diff(graph.key_start)
    stay = np.flatnonzero(~concerned)
    sizes = np.zeros(len(again) + len(stay), np.int64)
    anew = linked.keys()
    sizes[again] = anew.sizes
    sizes[places[stay]] = sizes_before[stay]
    is_new = np.zeros(len(sizes), bool)
    is_new[again] = True
    # The other keys keep their order: runs of them are copied, since there are many millions.
    edges = np.flatnonzero(np.diff(concerned, prepend=True, append=True)).tolist()
    runs = [graph.keys[graph.key_start[first] : graph.key_start[last]] for first, last in pairwise(edges)][::2]
    kept = np.concatenate([graph.keys[:0], *runs])
    before = np.cumsum(np.where(is_new, 0, sizes))
    parts, at, start = [], 0, 0
    for file in again:
        stop = int(before[file])
        parts += [kept[at:stop], anew.keys[start : start + int(sizes[file])]]
        at, start = stop, start + int(sizes[file])
    return FileKeys(np.concatenate([*parts, kept[at:]]), sizes)
