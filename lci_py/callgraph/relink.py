"""Refreshes the graph: only files with a look-up whose answer may have changed are linked again. The result equals a
full link, bit for bit; docs/adr/0011-relinking.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    PIECE,
    SOLVED,
    EdgeBuffer,
    Lambdas,
    Links,
    PointsToResult,
    Sites,
    Spliced,
    distinct,
    sort_edges,
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
from lci_py.types.edges import AMBIGUOUS, CALLS, INHERITS

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
    """Update the graph after files have changed. The arrays equal those of a full link.

    Args:
        graph: The graph of `old`, as `read_links` returns it.
        old, new: The tables before and after the change.
        moved: Per former file, its present number; -1 if the file changed or was deleted. Other numbers ascend.
        fresh: The present numbers of files that changed or were added, ascending.
        bulk_share: If a larger share of the files must be linked again, all files are linked again.
    Raises:
        DamagedIndexError: The graph does not fit the tables, or a shard is damaged.
        ValueError: `moved` and `fresh` do not name every present file once.
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
    nodes = numbers.nodes(old)
    # A missing target must have changed an answer; even if it did not, its callers are linked again.
    lost = graph.incoming[_rows_of(graph.in_ptr, np.flatnonzero(nodes < 0))]
    concerned[_files_of(graph, _sources(graph, lost[~_is_followed(graph, lost)]))] = True
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
    outcome = _follow_again(
        PointsToResult(graph.program, graph.solution), numbers, old, sites, fresh,
        paths_differ=any(_is_of_paths(look_up) for entries in look_ups.values() for look_up in entries),
    )  # fmt: skip
    anew = any_followed(old, gone) or any_followed(new, again) or outcome.solution is not graph.solution
    lambdas = numbers.lambdas()
    starts = Nodes(numbers.first_symbol, lambdas.first)
    followed = followed_edges(*outcome, starts) if anew else None
    again_linked = linked.edges(int(numbers.first_symbol[-1]), n_files)
    collected = _nodes_of(graph, concerned)
    changed = np.flatnonzero(_nodes_of(graph, ~numbers.stays))
    collected[_sources(graph, graph.incoming[_rows_of(graph.in_ptr, changed)])] = True
    if followed is not None:
        collected[_sources(graph, np.flatnonzero(_is_followed(graph, slice(None))))] = True
        collected |= _marked(followed[0], numbers.n_nodes)[nodes]
    rows = np.concatenate([_former_edges(graph, nodes, collected, concerned, anew=anew), again_linked], axis=1)
    if followed is not None:
        bases = np.flatnonzero(graph.kind == INHERITS)
        bases = bases[~collected[_sources(graph, bases)]]
        by_name = np.concatenate([rows, _edges_at(graph, nodes, bases)], axis=1)
        rows = np.concatenate([rows, reconcile(new, by_name, followed, starts)], axis=1)
    rows = distinct(sort_edges(rows))
    keys = linked.keys()
    owners = np.repeat(np.array(again, np.int64), keys.sizes)
    files, dropped = numbers.runs_of_files(), _rows_of(graph.key_start, np.flatnonzero(concerned))
    of_files = Splice(graph.key_start, files, n_files, dropped, owners, _starts(graph.key_start, files, owners))
    return Links(
        first_symbol=numbers.first_symbol.astype(np.int32),
        **_spliced_edges(graph, numbers, nodes, collected, rows),
        first_lambda=lambdas.first,
        lambda_symbol=lambdas.symbol,
        lambda_line=lambdas.line,
        lambda_end_line=lambdas.end_line,
        key_start=of_files.pointers,
        keys=of_files.column(graph.keys, keys.keys),
        site_key=sites.keys,
        site_count=sites.counts,
        program=outcome.program,
        solution=outcome.solution,
        relinked=tuple(again),
    )


class Splice:
    """Merges new rows with the former rows that remain, sorted by owner: edges owned by nodes, or keys owned by files.

    Attributes:
        pointers: int32 [n + 1], where the rows of each owner start after the change.
    """

    def __init__(
        self, former: NDArray[Any], runs: NDArray[Any], n: int, dropped: NDArray[Any], owners: NDArray[Any],
        at: NDArray[Any],
    ) -> None:  # fmt: skip
        """Plan the merge.

        Args:
            former: [former owners + 1], where the rows of each owner started before.
            runs: The runs (`_Renumbering`) of owners that remain.
            n: The present number of owners.
            dropped: The former rows to drop, ascending; among them all rows of owners that do not remain.
            owners: [new rows], the owner of each new row, by its present number; ascending.
            at: [new rows], the former row before which each new row is inserted (or the end), ascending.
        """
        sizes = np.zeros(n, np.int32)
        for first, stop, now in runs.tolist():
            np.subtract(former[first + 1 : stop + 1], former[first:stop], out=sizes[now : now + stop - first])
        losing = _present(runs, np.searchsorted(former, dropped.astype(former.dtype), side="right") - 1)
        np.subtract.at(sizes, losing[losing >= 0], 1)
        np.add.at(sizes, owners, 1)
        self.pointers = np.zeros(n + 1, np.int32)
        np.cumsum(sizes, out=self.pointers[1:])
        end = self._n_former = int(former[-1])
        cuts = np.unique(np.concatenate([[0, end], dropped, dropped + 1, at]))
        is_kept = np.ones(len(cuts), np.bool_)
        is_kept[np.searchsorted(cuts, dropped)] = False
        is_kept[-1] = False
        together = np.flatnonzero(np.diff(at, prepend=-1))  # the first of the new rows that come before the same one
        before = np.append(at[together], cuts[is_kept])
        order = np.argsort(before, kind="stable")
        starts = np.append(end + together, cuts[is_kept])[order]
        stops = np.append(end + np.append(together, len(at))[1:], np.append(cuts[1:], end)[is_kept])[order]
        #: As `Spliced` takes them.
        self._runs = np.stack([starts, stops, np.cumsum(stops - starts) - (stops - starts)], axis=1)

    def column(self, former: NDArray[Any], new: NDArray[Any], present: NDArray[Any] | None = None) -> Any:
        """Merges one column of the former rows and of the new rows, as a `Spliced` array.

        Args:
            present: Maps former values to present values; None if they are unchanged.
        """
        return Spliced(former, new, self._runs, present)

    def places(self, n_new: int) -> NDArray[Any]:
        """int32 [former rows + new rows]: the index of each row after the merge; -1 for a dropped row."""
        indices = np.full(self._n_former + n_new, -1, np.int32)
        for start, stop, at in self._runs.tolist():
            indices[start:stop] = np.arange(at, at + stop - start, dtype=np.int32)
        return indices


def _ranges(starts: NDArray[Any], stops: NDArray[Any]) -> NDArray[Any]:
    """int64: all numbers from each start up to its stop (exclusive), range after range."""
    sizes = stops.astype(np.int64) - starts
    ends = np.cumsum(sizes)
    numbers: NDArray[Any] = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - sizes), sizes)
    return numbers


def _present(runs: NDArray[Any], numbers: NDArray[Any]) -> NDArray[Any]:
    """The present number of each former number; -1 if no run (`_Renumbering`) contains it."""
    of_runs = np.searchsorted(runs[:, 0], numbers, side="right") - 1
    first, stop, now = np.append(runs, [[0, 0, 0]], axis=0)[of_runs].T
    return np.where(numbers < stop, now + numbers - first, -1)


def _reversed(runs: NDArray[Any]) -> NDArray[Any]:
    """The inverse of runs (`_Renumbering`): they map present numbers to former numbers."""
    first, stop, now = runs.T
    return np.stack([now, now + stop - first, first], axis=1)


def _starts(former: NDArray[Any], runs: NDArray[Any], owners: NDArray[Any]) -> NDArray[Any]:
    """The former row where each present owner's rows start; for a new owner, where the next remaining owner's do."""
    own = _present(_reversed(runs), owners)
    following = np.append(runs[:, 0], len(former) - 1)[np.searchsorted(runs[:, 2], owners)]
    return former[np.where(own >= 0, own, following)].astype(np.int64)


def _lower_bounds(values: NDArray[Any], first: NDArray[Any], last: NDArray[Any], minimum: NDArray[Any]) -> NDArray[Any]:
    """Many binary searches at once. Each finds the first index from `first` on whose value is at least `minimum`; if
    no value is, `last`. The values between `first` and `last` ascend.
    """
    first, last = first.astype(np.int64), last.astype(np.int64)
    while len(pending := np.flatnonzero(first < last)):
        middle = (first[pending] + last[pending]) // 2
        is_below = values[middle] < minimum[pending]
        first[pending[is_below]] = middle[is_below] + 1
        last[pending[~is_below]] = middle[~is_below]
    return first


def _spliced_edges(
    graph: Links, numbers: _Renumbering, nodes: NDArray[Any], collected: NDArray[Any], rows: NDArray[Any]
) -> dict[str, Any]:
    """The arrays of all present edges: a dict from the name in `Links`.

    Most of the millions of edges keep their order, so they are copied in runs.

    Args:
        nodes: int32 [former nodes], the present number of each node.
        collected: bool [former nodes], whether all edges of that source are in `rows`: true at least if one of these is
            from or into a changed file.
        rows: int32 [5, n], edges, sorted and distinct.
    Raises:
        DamagedIndexError: `incoming` does not fit the edges.
    """
    source, target, kind, line, step = rows
    runs, n_nodes = numbers.runs_of_nodes(), numbers.n_nodes
    dropped, at = _rows_of(graph.out_ptr, np.flatnonzero(collected)), _starts(graph.out_ptr, runs, source)
    out = Splice(graph.out_ptr, runs, n_nodes, dropped, source, at)
    places = out.places(len(source))
    # The same by the other end: in the list of each target, the new edges are among the former ones that are kept.
    lost = graph.target[dropped]
    lost_at = _lower_bounds(graph.incoming, graph.in_ptr[lost], graph.in_ptr[lost + 1], dropped)
    if (lost_at == len(graph.target)).any() or (graph.incoming[lost_at] != dropped).any():
        raise _unfit()
    order = np.argsort(target, kind="stable")
    starts = _starts(graph.in_ptr, runs, target[order])
    was = _present(_reversed(runs), target[order])
    stops = np.where(was >= 0, graph.in_ptr[was + 1], starts)
    come_at = _lower_bounds(graph.incoming, starts, stops, at[order])
    into = Splice(graph.in_ptr, runs, n_nodes, np.sort(lost_at), target[order], come_at)
    return {
        "target": out.column(graph.target, target, nodes),
        "kind": np.asarray(out.column(graph.kind, kind.astype(np.uint8))),
        "line": np.asarray(out.column(graph.line, line.astype(np.min_scalar_type(int(line.max(initial=0)))))),
        "step": np.asarray(out.column(graph.step, step.astype(np.uint8))),
        "out_ptr": out.pointers,
        "incoming": into.column(graph.incoming, places[len(graph.target) :][order], places),
        "in_ptr": into.pointers,
    }


def _former_edges(
    graph: Links, nodes: NDArray[Any], sources: NDArray[Any], concerned: NDArray[Any], *, anew: bool
) -> NDArray[Any]:
    """int32 [5, n]: former edges that this refresh does not compute again, with present node numbers.

    Args:
        sources: bool [former nodes], the nodes whose edges are wanted.
        concerned: bool [former files], the files that are linked again.
        anew: Whether the points-to analysis runs again.
    """
    edges = _rows_of(graph.out_ptr, np.flatnonzero(sources))
    linked, followed = _nodes_of(graph, concerned)[_sources(graph, edges)], _is_followed(graph, edges)
    return _edges_at(graph, nodes, edges[~linked & ~followed if anew else ~linked | followed])


def _edges_at(graph: Links, nodes: NDArray[Any], edges: NDArray[Any]) -> NDArray[Any]:
    """int32 [5, n]: source, target, kind, line and step of the edges with these indices, with present node numbers."""
    columns = (column[edges] for column in (graph.target, graph.kind, graph.line, graph.step))
    rows = np.stack([_sources(graph, edges), *columns]).astype(np.int32)
    rows[:2] = nodes[rows[:2]]
    if (rows[:2] < 0).any():
        raise _unfit()
    return rows


def _is_followed(graph: Links, edges: NDArray[Any] | slice) -> NDArray[Any]:
    """Per edge, whether it is a result of the points-to analysis."""
    is_solved: NDArray[Any] = graph.kind[edges] == CALLS
    is_solved &= np.isin(graph.step[edges] & ~np.uint8(AMBIGUOUS), SOLVED)
    return is_solved


def _marked(nodes: NDArray[Any], n: int) -> NDArray[Any]:
    """bool [n + 1]: true at the indices in `nodes`. If these include -1, the last item is true."""
    marks = np.zeros(n + 1, np.bool_)
    marks[nodes] = True
    return marks


def _rows_of(pointers: NDArray[Any], owners: NDArray[Any]) -> NDArray[Any]:
    """The indices of the rows of the owners; the rows of owner i start at `pointers[i]`."""
    return _ranges(pointers[owners], pointers[owners + 1])


def _sources(graph: Links, edges: NDArray[Any]) -> NDArray[Any]:
    """The source of each edge."""
    # Of the same type, or all pointers would be converted.
    return np.searchsorted(graph.out_ptr, edges.astype(np.int32), side="right") - 1


def _nodes_of(graph: Links, files: NDArray[Any]) -> NDArray[Any]:
    """bool [nodes]: whether each node belongs to a file for which `files`, bool [files], is true."""
    of_symbols, of_lambdas = (np.repeat(files, np.diff(first)) for first in (graph.first_symbol, graph.first_lambda))
    return np.concatenate([of_symbols, files, of_lambdas])


def _files_of(graph: Links, nodes: NDArray[Any]) -> NDArray[Any]:
    """The file of each node."""
    first_lambda = graph.n_symbols + graph.n_files
    of_symbols = np.searchsorted(graph.first_symbol, nodes, side="right") - 1
    of_lambdas = np.searchsorted(graph.first_lambda, nodes - first_lambda, side="right") - 1
    others = np.where(nodes < first_lambda, nodes - graph.n_symbols, of_lambdas)
    return np.where(nodes < graph.n_symbols, of_symbols, others)


def _is_of_paths(look_up: LookUp) -> bool:
    """Whether the answer to a look-up determines which files an import means in the points-to analysis."""
    return look_up[0] in _OF_PATHS or (look_up[0] == "module" and look_up[1].endswith(NPM))


def _follow_again(
    before: PointsToResult, numbers: _Renumbering, old: StoredTables, sites: Sites, fresh: Sequence[int], *,
    paths_differ: bool,
) -> PointsToResult:  # fmt: skip
    """The points-to constraints of all present files, and their solution (the possible targets of calls).

    They are not solved again if they are the same apart from lines.

    Args:
        fresh: The present numbers of the files that changed.
        paths_differ: Whether imports may mean other files than before.
    """
    successors = numbers.successors(old)
    was = before.program.renumbered(successors)
    unchanged = was.only(numbers.stays[before.program.files])
    if paths_differ:
        unchanged = Meanings(LookUps(numbers.new, sites)).again(unchanged)
    program = join_programs([unchanged, program_of(numbers.new, sites, fresh)])
    if is_same_but_for_lines(was, program):
        return PointsToResult(program, before.solution)
    check_constraints(program)
    return PointsToResult(program, solve_program(program, numbers.new))


def _unfit() -> DamagedIndexError:
    return DamagedIndexError("the graph does not fit the symbolic shards")


class _Renumbering:
    """Maps numbers before a change to present numbers. A *run* of numbers that stay consecutive is stored as (first
    former number, stop, present number of the first).

    Attributes:
        places: int64 [former files], the present number of each file; -1 if it changed or was deleted.
        stays: bool [former files], whether the file has a present number.
        first_symbol: int64 [present files + 1], the first symbol of each file.
        new: The present tables.
    """

    def __init__(self, graph: Links, new: StoredTables, moved: Sequence[int], fresh: Sequence[int]) -> None:
        """Arguments and errors as in `relink`."""
        self._graph, self.new, self._fresh = graph, new, fresh
        self.places = np.array(moved, np.int64).reshape(-1)
        self.stays = self.places >= 0
        self._kept = self.places[self.stays]
        n_files = len(new.files.heads)
        present = np.sort(np.concatenate([self._kept, np.array(fresh, np.int64).reshape(-1)]))
        if len(present) != n_files or (present != np.arange(n_files)).any() or (np.diff(self._kept) <= 0).any():
            raise ValueError("`moved` and `fresh` do not contain every present file exactly once, in order")
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
        """Per former file, the shift of its numbers, from each file's first number; valid for remaining files only."""
        shifts: NDArray[Any] = now[np.maximum(self.places, 0)] - before[:-1]
        return shifts

    def successors(self, old: StoredTables) -> NDArray[Any]:
        """int64 [former files]: the present number of each file, even if its content changed; -1 if it was deleted."""
        heads = self.new.files.heads
        now = {heads[file].path: file for file in self._fresh}
        numbers: NDArray[Any] = self.places.copy()
        for file in np.flatnonzero(~self.stays).tolist():
            numbers[file] = now.get(old.files.heads[file].path, -1)
        return numbers

    @property
    def n_nodes(self) -> int:
        """The present number of nodes."""
        return int(self.first_symbol[-1]) + len(self.first_symbol) - 1 + int(self.new.first_lambda[-1])

    def runs_of_files(self) -> NDArray[Any]:
        """int64 [k, 3]: the runs of files that remain: first, stop, and the present number of the first."""
        begins = self.stays & (np.diff(self.places, prepend=-2) != 1)
        begins |= self.stays & ~np.append(False, self.stays[:-1])
        first = np.flatnonzero(begins)
        ends = np.append(begins, True) | np.append(~self.stays, True)
        after = np.flatnonzero(ends)
        stop = after[np.searchsorted(after, first, side="right")]
        return np.stack([first, stop, self.places[first]], axis=1)

    def runs_of_nodes(self) -> NDArray[Any]:
        """int64 [k, 3]: the runs of the nodes of the files that remain, ascending."""
        graph = self._graph
        first, stop, now = self.runs_of_files().T
        n_files = len(self.first_symbol) - 1
        parts, before, after = [], 0, 0
        for starts, present in (
            (graph.first_symbol, self.first_symbol),
            (np.arange(graph.n_files + 1), np.arange(n_files + 1)),
            (graph.first_lambda, np.array(self.new.first_lambda)),
        ):
            parts.append(np.stack([before + starts[first], before + starts[stop], after + present[now]], axis=1))
            before, after = before + int(starts[-1]), after + int(present[-1])
        runs = np.concatenate(parts).astype(np.int64)
        return runs[runs[:, 0] < runs[:, 1]]

    def nodes(self, old: StoredTables) -> NDArray[Any]:
        """int32 [former nodes]: present numbers; -1 if gone. Symbols of changed files are matched by stable id."""
        graph, new, first = self._graph, self.new, self.first_symbol
        n_symbols = int(first[-1])
        numbers_of = np.full(graph.n_nodes, -1, np.int32)
        for start, stop, now in self.runs_of_nodes().tolist():
            numbers_of[start:stop] = np.arange(now, now + stop - start, dtype=np.int32)
        successors = self.successors(old).tolist()
        for file in np.flatnonzero(~self.stays).tolist():
            successor = successors[file]
            if successor < 0:
                continue
            numbers_of[graph.n_symbols + file] = n_symbols + successor
            numbers = {sid: int(first[successor]) + index for index, sid in enumerate(new.stable_ids(successor))}
            ids = old.stable_ids(file)
            start, stop = graph.first_symbol[file : file + 2].tolist()
            if len(ids) != stop - start:
                raise _unfit()
            numbers_of[start:stop] = [numbers.get(sid, -1) for sid in ids]
        # Anonymous functions of a changed file are made anew, with all edges that lead to them.
        return numbers_of

    def lambdas(self) -> Lambdas:
        """The anonymous functions of the present graph."""
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
        columns = np.zeros((3, int(starts[-1])), np.int32)
        columns[:, ~is_new] = before[:, np.repeat(self.stays, sizes_before)]
        columns[:, is_new] = anonymous_functions(self.new, self.first_symbol, sorted(self._fresh))
        return Lambdas(starts, *columns)


def link_all(tables: StoredTables) -> Links:
    """Links all files, given the tables of an index."""
    linker = Linker()
    for file in range(len(tables.files.heads)):
        linker.add_facts(tables.facts(file), tables.calls(file), tables.qualified_names(file))
    return linker.finish()


def _files_to_relink(graph: Links, look_ups: dict[int, list[LookUp]], comparison: Comparison) -> NDArray[Any]:
    """bool [former files]: whether a file has a look-up whose answer has changed."""
    rows = _places(graph.keys, sorted(look_ups))
    met = np.unique(graph.keys[rows]).view(np.uint32).tolist()
    if len(met) <= _MOST_COMPARED:
        differing = [key for key in met if any(map(comparison.differ, look_ups[key]))]
        rows = rows[_places(graph.keys[rows], sorted(differing))]
    concerned = np.zeros(graph.n_files, bool)
    concerned[np.searchsorted(graph.key_start, rows, side="right") - 1] = True
    return concerned


def _places(keys: NDArray[Any], sought: Sequence[int]) -> NDArray[Any]:
    """The indices of the wanted keys among millions of keys, ascending.

    Args:
        keys: As in `Links`.
        sought: The keys to find, as unsigned numbers, ascending.
    """
    if not len(sought):
        return np.zeros(0, np.int64)
    # `numpy.isin` would sort all keys. Few of them begin with the 16 bits that one of those begins with.
    unsigned, targets = np.ascontiguousarray(keys).view(np.uint32), np.array(sought, np.uint32)
    begins = np.zeros(1 << 16, np.bool_)
    begins[targets >> 16] = True
    places = []
    for start in range(0, len(unsigned), PIECE):
        piece = unsigned[start : start + PIECE]
        some = np.flatnonzero(begins.take(piece >> np.uint32(16)))
        hits = piece[some]
        places.append(start + some[targets[np.minimum(np.searchsorted(targets, hits), len(targets) - 1)] == hits])
    return np.concatenate([np.zeros(0, np.int64), *places])
