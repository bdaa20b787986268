"""One part of the fleet as a search sees it: it counts, ranks with what all parts have counted, and shows results.

It uses the views and measures of a search over one index. What it adds is the numbering: inside, numbers are those of
the part's own index; what comes in and goes out has those of the fleet, which a start for each kind tells apart.
"""

from __future__ import annotations

from _thread import allocate_lock
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.cluster.messages import Choice, Counts, Head, Matches, Presented
from lci_py.cluster.part_graph import PartGraph, UnitGraph
from lci_py.errors import IndexError_
from lci_py.index.shards.bm25 import FIELDS
from lci_py.index.shards.symbol_queries import alike_by_ratio
from lci_py.search.answer.graph_context import links_of, surroundings
from lci_py.search.answer.results import Wanted, result, shown_rows
from lci_py.search.modes import candidates
from lci_py.search.modes.structural import matching
from lci_py.search.query.text import Conditions
from lci_py.search.ranking.graph_lift import Reached, distinct, edges_of
from lci_py.search.ranking.signals import closest
from lci_py.search.ranking.spelled import HEAD, likely, name_counts, named, stating, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.messages import Ask, Files, Need, Present
    from lci_py.index.shards.symbols import Row
    from lci_py.search.ranking.signals import Mention
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, GraphLink

#: The columns of units that factors are made of.
FLAGS = ("is_test", "is_block", "is_text", "generated", "reexport")
#: Similar names that are told of.
_ALIKE = 3


class Leaf:
    """Answers for one part. Calls take turns."""

    def __init__(
        self, snapshot: Snapshot, starts: Mapping[str, int], graph: Callable[[], PartGraph] | None = None
    ) -> None:
        """
        Args:
            snapshot: The part's index, opened.
            starts: The first number in the fleet of the part's `files`, `symbols`, `units`, `chunks` and `lambdas`; and
                as `all_symbols` and `all_files` how many the fleet has.
            graph: Opens the part of the call graph; None if there is none.
        """
        self._snapshot, self._starts, self._open_graph = snapshot, dict(starts), graph
        self._lock = allocate_lock()

    def close(self) -> None:
        self._snapshot.close()

    @cached_property
    def _graph(self) -> PartGraph | None:
        return None if self._open_graph is None else self._open_graph()

    # --- phase 1 --------------------------------------------------------------------------------------------------

    def counts(self, need: Need) -> Counts:
        """What the part adds to the statistics of a query.

        Raises:
            IndexError_: A shard cannot be used.
        """
        with self._lock:
            self._snapshot.forget()
            return Counts(
                self._terms(need.terms),
                self._related(need.related),
                {name: name_counts(self._snapshot, *name) for name in need.names},
                {choice: self._count(choice) for choice in need.choices},
                {word: alike_by_ratio(self._snapshot.symbols, word)[:_ALIKE] for word in need.alike},
                {files: self._named_files(files) for files in need.files},
            )

    def _terms(self, texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
        if not texts:
            return {}
        lexical = self._snapshot.lexical
        lexical.within(None)
        terms = [term for text in texts if (term := lexical.term(text)) is not None]
        columns = []
        for field in FIELDS:
            numbers = lexical.postings(field, tuple(terms)).terms
            columns.append(np.bincount(numbers, minlength=len(terms)).tolist())
        return {term.text: having for term, having in zip(terms, zip(*columns, strict=True), strict=True)}

    def _related(self, words: Sequence[str]) -> dict[str, list[tuple[str, str, int, int, int]]]:
        index = self._snapshot.abbreviations if words else None
        if index is None:
            return {}
        return {word: [(one.short, one.long, one.files, one.declared, one.told) for one in index.of(word)]
                for word in words}  # fmt: skip

    def _count(self, choice: Choice) -> int:
        mask, _ = self._chosen(choice)
        return self._snapshot.n_units if mask is None else int(mask.sum())

    def _named_files(self, files: Files) -> dict[Mention, tuple[int, int]]:
        from lci_py.search.query.text import TextQuery

        query = TextQuery("", (), (), (), (), files=files)
        found = closest(query, self._snapshot.unit_table.paths)
        return {mention: (length, len(numbers)) for mention, (length, numbers) in found.items()}

    def _chosen(self, choice: Choice | None) -> tuple[NDArray[np.bool_] | None, dict[int, int]]:
        """The mask of what can be a result, None for all; and unit to the line of a phrase in it."""
        if choice is None:
            return None, {}
        snapshot = self._snapshot
        base = candidates.allowed(snapshot, choice.filters)
        if not choice.either or len(choice.phrases) < 2:
            return candidates.with_phrases(snapshot, choice.phrases, base)
        found = [candidates.with_phrases(snapshot, (phrase,), base) for phrase in choice.phrases]
        places: dict[int, int] = {}
        for _, lines in found:
            for unit, line in lines.items():
                places[unit] = min(line, places.get(unit, line))
        return np.logical_or.reduce([mask for mask, _ in found if mask is not None]), places

    # --- phase 2 --------------------------------------------------------------------------------------------------

    def head(self, ask: Ask) -> Head:
        """The best units of each view, what the query spells out, and what a ranking asks of all of them.

        Raises:
            IndexError_: A shard cannot be used.
        """
        with self._lock:
            snapshot = self._snapshot
            snapshot.forget()
            mask, places = self._chosen(ask.choice)
            if "bm25" in ask.views:
                snapshot.lexical.within(ask.collection)
            hits = {view: getattr(snapshot, view).search(ask.query, ask.limit, mask) for view in ask.views}
            names, symbols = named(snapshot, ask.asked, ask.filters, mask, ask.names)
            found, stated = [], []
            for text in texts_of(ask.asked):
                if ask.views == ("dense",):
                    units = hits["dense"].units[:HEAD].tolist()
                else:
                    found.append(likely(snapshot.lexical, text, mask))
                    units = list(dict.fromkeys(found[-1].units.tolist()))
                stated.append(stating(snapshot, text, units[: text.head]))
            there = np.zeros(snapshot.n_units, np.bool_)
            for some in hits.values():
                there[some.units] = True
            there[[*names, *(unit for places_ in stated for _, unit, _, _ in places_)]] = True
            literal = None
            if ask.literal and mask is not None:
                literal = self._literal(ask, mask)
                there[literal] = True
            made = self._measured(ask, np.flatnonzero(there), mask)
            start = self._starts["units"]
            made.hits = {view: (some.units + start, some.scores, some.total) for view, some in hits.items()}
            made.names = {unit + start: value for unit, value in names.items()}
            made.symbols = {unit + start: symbol + self._starts["symbols"] for unit, symbol in symbols.items()}
            made.likely = [
                one._replace(chunks=one.chunks + self._starts["chunks"], units=one.units + start) for one in found
            ]
            made.stated = [
                {(size, unit + start, file + self._starts["files"], line): value
                 for (size, unit, file, line), value in some.items()}
                for some in stated
            ]  # fmt: skip
            kept = set(np.flatnonzero(there).tolist())
            made.places = {unit + start: line for unit, line in places.items() if unit in kept}
            made.literal = None if literal is None else literal + start
            return made

    def _literal(self, ask: Ask, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The first units of the mask that the one view does not find."""
        view = ask.views[0]
        retriever = getattr(self._snapshot, view)
        if view == "bm25":
            others = mask & (retriever.scores(ask.query) <= 0)
        else:
            others = mask if not retriever.search(ask.query, 1, mask).total else np.zeros_like(mask)
        return np.flatnonzero(others)[: ask.limit]

    def features(self, ask: Ask, units: NDArray[np.int64]) -> Head:
        """The same of some units of the part that the graph has led to."""
        with self._lock:
            mask, places = self._chosen(ask.choice)
            if "bm25" in ask.views:
                self._snapshot.lexical.within(ask.collection)
            start = self._starts["units"]
            made = self._measured(ask, units - start, mask)
            made.places = {unit: places[unit - start] for unit in units.tolist() if unit - start in places}
            return made

    def _measured(self, ask: Ask, units: NDArray[np.int64], mask: NDArray[np.bool_] | None) -> Head:
        snapshot, table = self._snapshot, self._snapshot.unit_table
        files = table.file[units].astype(np.int64)
        empty = np.zeros(0, np.float32)
        start = self._starts["files"]
        made = Head(
            units=units + self._starts["units"],
            files=files + start,
            paths={file + start: table.paths[file] for file in sorted(set(files.tolist()))},
            flags={name: getattr(table, name)[units] for name in FLAGS},
            allowed=np.ones(len(units), np.bool_) if mask is None else mask[units],
            dense=empty,
            whole=empty,
            fields={},
            coverage=np.zeros(0),
            importers=np.zeros(0, np.int32),
        )
        if "dense" in ask.views:
            made.dense = snapshot.dense.scores(ask.query, units)
            made.whole = snapshot.dense.of_files(ask.query, table.file, len(table.paths))[files]
        if "bm25" in ask.views:
            made.fields = {name: values[units] for name, values in snapshot.bm25.field_scores(ask.query).items()}
            made.best = snapshot.bm25.best(ask.query)
            if len(ask.views) == 1:
                made.coverage = snapshot.bm25.coverage(ask.query, units)
        if len(ask.views) > 1 and self._graph is not None:
            self._graph.within(ask.bounds)
            made.importers = self._graph.importers[files]
        return made

    def around(self, seeds: NDArray[np.int64], bounds: tuple[int, ...] | None = None) -> Reached:
        """The units around some of the part, in the whole fleet."""
        with self._lock:
            graph = self._graph
            if graph is None:
                raise IndexError_("the part has no call graph")
            own = seeds - self._starts["units"]
            graph.within(bounds)
            units: Any = UnitGraph(graph)
            return distinct(seeds, *_plain(edges_of(units, self._snapshot.unit_table, own)))

    # --- results --------------------------------------------------------------------------------------------------

    def matches(self, filters: Filters, phrases: tuple[str, ...], limit: int) -> Matches:
        """The symbols that pass the filters and hold the phrases."""
        with self._lock:
            self._snapshot.forget()
            rows, total = matching(self._snapshot, Conditions(filters, phrases), limit, None)
            start = self._starts["symbols"]
            return Matches([(row["file"], row["line"], row["symbol_number"] + start) for row in rows], total)

    def present(self, asked: Present) -> Presented:
        """Some results, and what is around them."""
        with self._lock:
            snapshot = self._snapshot
            snapshot.reader.forget()
            units, symbols = self._starts["units"], self._starts["symbols"]
            own = [shown.unit - units for shown in asked.shown if shown.unit >= 0]
            instead = {shown.unit - units: shown.symbol - symbols for shown in asked.shown if shown.symbol >= 0}
            rows = shown_rows(snapshot, own, instead)
            alone = [shown.symbol - symbols for shown in asked.shown if shown.unit < 0]
            by_symbol = snapshot.symbols.symbol_rows(alone) if alone else {}
            wanted = Wanted(asked.terms, asked.phrases, asked.forms)
            found: list[Row] = []
            results = []
            for shown in asked.shown:
                row = rows[shown.unit - units] if shown.unit >= 0 else by_symbol[shown.symbol - symbols]
                found.append(row)
                results.append(result(snapshot, row, asked.request, shown.view, shown.score, wanted, shown.line))
            graph = self._graph if asked.graph else None
            if graph is not None:
                graph.within(asked.bounds)
            shas = [self._copied(one.file) for one in results]
            return Presented(results, [] if graph is None else surroundings(snapshot, graph, found), shas)

    def _copied(self, path: str) -> str:
        """The digest of a file that may be in several places of the fleet; "" for any other."""
        try:
            copied = None if self._graph is None else self._graph.copied
        except IndexError_:  # only a search that needs the graph says so
            copied = None
        if copied is not None and not copied[bisect_left(self._snapshot.files.living_paths(), path)]:
            return ""
        return self._snapshot.freshness.sha(path)

    def copies(self, shas: Sequence[str]) -> dict[str, list[str]]:
        """The files with some contents, by digest."""
        with self._lock:
            files = self._snapshot.files
            return {sha: found for sha in shas if (found := files.with_content(sha))}

    def links(self, nodes: Sequence[int]) -> dict[int, GraphLink]:
        """How a result lists some nodes of the part."""
        with self._lock:
            graph = self._graph
            if graph is None:
                return {}
            local = {self._local(graph, node): node for node in nodes}
            return {local[own]: link for own, link in links_of(self._snapshot, graph, list(local)).items()}

    def _local(self, graph: PartGraph, node: int) -> int:
        """A node of the fleet as one of the part alone."""
        symbols, files = self._starts["all_symbols"], self._starts["all_files"]
        if node < symbols:
            return node - self._starts["symbols"]
        if node < symbols + files:
            return graph.n_symbols + node - symbols - self._starts["files"]
        return graph.n_symbols + graph.n_files + node - symbols - files - self._starts["lambdas"]


def _plain(edges: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    group, unit, step = edges
    return group, unit.astype(np.int64), step
