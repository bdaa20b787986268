"""A refresh of the graph: only files whose look-ups may have other answers are linked anew, and the outcome is that of
a full link, bit for bit. docs/adr/0011-relinking.md says why that holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.changed_lookups import Answers, changed_look_ups, common_changes, site_changes
from lci_py.callgraph.edges import AMBIGUOUS, CALLS, SOLVED, Linked, Links, Sites, assemble
from lci_py.callgraph.link import Linker
from lci_py.callgraph.lookups import LookUp, LookUps
from lci_py.callgraph.pointsto.propagate import anonymous, concerns, reconciled, solved
from lci_py.callgraph.resolve.calls import FileLinker
from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.callgraph.lookup_tables import StoredTables

#: Above this share of files, linking all of them in memory is quicker than asking SQL for so many.
BULK_SHARE = 0.25
#: Changed look-ups whose answers are compared; with more of them, all count as changed.
_MOST_COMPARED = 3_000


def relink(
    graph: Links, old: StoredTables, new: StoredTables, moved: Sequence[int], fresh: Sequence[int], *,
    bulk_share: float = BULK_SHARE,
) -> Links:  # fmt: skip
    """The graph after some files changed: all arrays are those that a full link of the new files gives.

    Args:
        graph: The graph before, as `read_links` gives it, of `old`.
        old: The tables before.
        new: The tables now.
        moved: Per file number before, its number now; -1 if its content changed or it is gone. What is not -1 ascends.
        fresh: Numbers now of the files that changed or were added, ascending: those that `moved` does not name.
        bulk_share: Above this share of files to link anew, all are.
    Raises:
        DamagedIndexError: The graph does not fit the tables, or a shard is damaged.
        ValueError: `moved` and `fresh` do not name every file once.
    """
    places = np.array(moved, np.int64).reshape(-1)
    kept = np.flatnonzero(places >= 0)
    named = np.sort(np.concatenate([places[kept], np.array(fresh, np.int64).reshape(-1)]))
    n_files = len(new.files.heads)
    if len(named) != n_files or (named != np.arange(n_files)).any() or (np.diff(places[kept]) <= 0).any():
        raise ValueError("moved and fresh do not name every file once, in order")
    if len(places) != graph.n_files or len(old.files.heads) != graph.n_files or old.n_symbols != graph.n_symbols:
        raise DamagedIndexError("the graph does not fit the symbolic shards")
    gone = np.flatnonzero(places < 0).tolist()
    change = site_changes(old, gone, new, fresh)
    before = Sites(graph.site_key, graph.site_count)
    sites = before.plus(change)
    look_ups = changed_look_ups(old, gone, new, fresh) | common_changes(change, before, sites)
    concerned = _concerned(graph, look_ups, Answers(old, new, before, sites))
    first_symbol = _first_symbols(graph, new, places, fresh)
    nodes = _node_map(graph, old, new, places, fresh, first_symbol)
    owners = _owners(graph)
    followed = (graph.kind == CALLS) & np.isin(graph.step & ~np.uint8(AMBIGUOUS), SOLVED)
    # A target that is gone must have changed an answer. Should it not have, its callers are linked anew all the same.
    concerned[owners[(nodes[graph.target] < 0) & ~followed]] = True
    concerned[gone] = True
    again = sorted({*fresh, *places[concerned & (places >= 0)].tolist()})
    if len(again) > bulk_share * n_files:
        return link_all(new)
    linker = FileLinker(LookUps(new, sites))
    linked = Linked()
    for file in again:
        linked.add(*linker.link(file))
    stay = ~concerned[owners]
    anew = concerns(old, gone) or concerns(new, again)
    stay = stay & ~followed if anew else stay | followed
    kept = np.stack([nodes[graph.source], nodes[graph.target], graph.kind, graph.line, graph.step])[:, stay]
    rows = np.concatenate([kept, linked.edges(int(first_symbol[-1]), n_files)], axis=1).astype(np.int32)
    if anew:
        more = solved(new, sites).edges(int(first_symbol[-1]), n_files)
        rows = np.concatenate([rows, reconciled(new, rows, more)], axis=1)
    keys, key_sizes = _merged_keys(graph, places, concerned, linked, again)
    lambdas = _lambdas(graph, new, places, fresh, first_symbol)
    return assemble(rows, first_symbol, keys, key_sizes, sites, again, lambdas)


def _lambdas(
    graph: Links, new: StoredTables, places: NDArray[Any], fresh: Iterable[int], first: NDArray[Any]
) -> list[NDArray[Any]]:  # fmt: skip
    """The anonymous functions as `assemble` takes them."""
    starts = np.array(new.first_lambda, np.int32)
    sizes = np.diff(graph.first_lambda)
    kept = np.repeat(places >= 0, sizes)
    shifts = np.repeat(first[np.maximum(places, 0)] - graph.first_symbol[:-1], sizes)
    symbols = np.where(graph.lambda_symbol >= 0, graph.lambda_symbol + shifts, -1)
    found = np.zeros((3, int(starts[-1])), np.int32)
    is_new = np.ones(len(starts) - 1, np.bool_)
    is_new[places[places >= 0]] = False
    of_new = np.repeat(is_new, np.diff(starts))
    if (np.diff(starts)[places[places >= 0]] != sizes[places >= 0]).any():
        raise DamagedIndexError("the graph does not fit the symbolic shards")
    found[:, ~of_new] = np.stack([symbols, graph.lambda_line, graph.lambda_end_line])[:, kept]
    found[:, of_new] = anonymous(new, first, sorted(fresh))
    return [starts, *found]


def link_all(tables: StoredTables) -> Links:
    """A full link from the symbolic shards."""
    linker = Linker()
    for file in range(len(tables.files.heads)):
        linker.add_facts(tables.facts(file), tables.calls(file), tables.qualified_names(file))
    return linker.finish()


def _concerned(graph: Links, look_ups: dict[int, list[LookUp]], answers: Answers) -> NDArray[Any]:
    """bool [files before]: whether a file has looked something up whose answer is another now."""
    changed = np.array(sorted(look_ups), np.uint32).view(np.int32)
    asked = np.flatnonzero(np.isin(graph.keys, changed))
    met = np.unique(graph.keys[asked]).view(np.uint32).tolist()
    if len(met) <= _MOST_COMPARED:
        differing = [key for key in met if any(map(answers.differ, look_ups[key]))]
        asked = asked[np.isin(graph.keys[asked], np.array(differing, np.uint32).view(np.int32))]
    concerned = np.zeros(graph.n_files, bool)
    concerned[np.searchsorted(graph.key_start, asked, side="right") - 1] = True
    return concerned


def _first_symbols(graph: Links, new: StoredTables, places: NDArray[Any], fresh: Iterable[int]) -> NDArray[Any]:
    """int64 [files now + 1]: the first symbol of each file."""
    counts = np.zeros(len(new.files.heads), np.int64)
    kept = places >= 0
    counts[places[kept]] = np.diff(graph.first_symbol)[kept]
    for file in fresh:
        counts[file] = len(new.facts(file).kinds)
    found = np.concatenate([[0], np.cumsum(counts)])
    if found[-1] != new.n_symbols or any(
        counts[file] and new.facts(file).first != found[file] for file in fresh
    ):  # fmt: skip
        raise DamagedIndexError("the graph does not fit the symbolic shards")
    return found


def _node_map(
    graph: Links, old: StoredTables, new: StoredTables, places: NDArray[Any], fresh: Iterable[int], first: NDArray[Any]
) -> NDArray[Any]:
    """int64 [nodes before]: what each is now; -1 if it is gone. Symbols of changed files are matched by stable id."""
    counts = np.diff(graph.first_symbol)
    n_symbols = int(first[-1])
    shifts = np.repeat(first[np.maximum(places, 0)] - graph.first_symbol[:-1], counts)
    symbols = np.where(np.repeat(places >= 0, counts), np.arange(graph.n_symbols) + shifts, -1)
    files = np.where(places >= 0, n_symbols + places, -1)
    now = {new.files.heads[file].path: file for file in fresh}
    for file in np.flatnonzero(places < 0).tolist():
        successor = now.get(old.files.heads[file].path)
        if successor is None:
            continue
        files[file] = n_symbols + successor
        numbers = {sid: int(first[successor]) + place for place, sid in enumerate(new.stable_ids(successor))}
        ids = old.stable_ids(file)
        if len(ids) != counts[file]:
            raise DamagedIndexError("the graph does not fit the symbolic shards")
        start = int(graph.first_symbol[file])
        symbols[start : start + len(ids)] = [numbers.get(sid, -1) for sid in ids]
    # Of a changed file they are made anew, with all edges that lead to them.
    starts = np.array(new.first_lambda)
    sizes = np.diff(graph.first_lambda)
    kept = np.repeat(places >= 0, sizes)
    moved = np.repeat(starts[np.maximum(places, 0)] - graph.first_lambda[:-1], sizes)
    lambdas = np.where(kept, np.arange(len(kept)) + moved + n_symbols + len(first) - 1, -1)
    return np.concatenate([symbols, files, lambdas])


def _owners(graph: Links) -> NDArray[Any]:
    """int64 [edges]: the file that each edge comes from."""
    files = np.arange(graph.n_files)
    of_nodes = [np.repeat(files, np.diff(graph.first_symbol)), files, np.repeat(files, np.diff(graph.first_lambda))]
    found: NDArray[Any] = np.concatenate(of_nodes)[graph.source]
    return found


def _merged_keys(
    graph: Links, places: NDArray[Any], concerned: NDArray[Any], linked: Linked, again: list[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The keys of all files now, and how many each has."""
    sizes_before = np.diff(graph.key_start)
    stay = np.flatnonzero(~concerned)
    sizes = np.zeros(len(again) + len(stay), np.int64)
    sizes[again] = linked.key_sizes
    sizes[places[stay]] = sizes_before[stay]
    is_new = np.zeros(len(sizes), bool)
    is_new[again] = True
    keys = np.zeros(int(sizes.sum()), np.int32)
    from_new = np.repeat(is_new, sizes)
    keys[from_new] = linked.keys()
    keys[~from_new] = graph.keys[np.repeat(~concerned, sizes_before)]
    return keys, sizes
