"""One part of a fleet. It answers what it counts of a query, and its best results by what all parts have counted.

It ranks with the code of a search over one index, to which the statistics of all are an input (`search/whole.py`).
All numbers in its answers are those of its own index.
"""

from __future__ import annotations

import time
from _thread import allocate_lock
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lci_py.errors import IndexError_
from lci_py.index.shards.bm25 import FIELDS
from lci_py.index.shards.symbol_queries import alike_by_ratio
from lci_py.search.degraded import Extras
from lci_py.search.modes import multiview, single, structural
from lci_py.search.modes.candidates import Choice, Chosen, chosen
from lci_py.search.query.text import TextQuery
from lci_py.search.ranking import evidence
from lci_py.search.ranking.fusion import POOL
from lci_py.search.ranking.graph_lift import SEEDS, distinct, edges_of
from lci_py.search.ranking.signals import Measure, closest
from lci_py.search.ranking.spelled import NOTHING, likely, name_counts, spelled, texts_of
from lci_py.types.record import replace
from lci_py.types.search import VIEWS, Filters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.graph import PartGraph
    from lci_py.search.modes.fallback import Attempt
    from lci_py.search.query.plan import Plan
    from lci_py.search.query.text import Conditions
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.ranking.signals import Mention
    from lci_py.search.ranking.spelled import Spelled
    from lci_py.search.snapshot import Snapshot
    from lci_py.search.whole import NameCounts, Whole
    from lci_py.types.search import Answer, Result, SearchRequest, View

#: Similar names that are told of.
_ALIKE = 3


class Ask(NamedTuple):
    """A query as every part ranks it.

    Attributes:
        request: What the results are to look like, and how many are wanted; its query is the text without filters.
        attempt: What is searched for; its query spells out what is looked for.
        query: What is ranked by: the same with rewrites.
        plan: How multiview ranks; None in the other modes.
    """

    request: SearchRequest
    attempt: Attempt
    query: TextQuery
    plan: Plan | None = None

    @property
    def views(self) -> tuple[View, ...]:
        return VIEWS if self.plan is not None else ("dense",) if self.request.mode == "dense" else ("bm25",)


class Need(NamedTuple):
    """Statistics that a query needs of all parts.

    Attributes:
        terms: In how many rows of each field each is.
        related: What the words shorten, or are short for.
        names: How many definitions a query names.
        choices: How many units can be results.
        alike: Names like a word.
        files: How well files are named.
        contents: Where files with some digests are.
    """

    terms: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    names: tuple[tuple[TextQuery, Filters], ...] = ()
    choices: tuple[Choice, ...] = ()
    alike: tuple[str, ...] = ()
    files: tuple[tuple[tuple[str, float], ...], ...] = ()
    contents: tuple[str, ...] = ()


class Counts(NamedTuple):
    """The answer to a `Need`: of each key the value in one part."""

    terms: dict[str, tuple[int, ...]]  # by field, in the order of `bm25.FIELDS`; only terms that the part has
    related: dict[str, list[tuple[str, str, int, int, int]]]
    names: dict[tuple[TextQuery, Filters], NameCounts]
    choices: dict[Choice, int]
    alike: dict[str, list[tuple[float, str]]]
    files: dict[tuple[tuple[str, float], ...], dict[Mention, tuple[int, int]]]
    contents: dict[str, list[str]]


class Scores(NamedTuple):
    """The statistics of the scores of a query, over the best units of each view.

    Attributes:
        hits: View to the scores of its best units, best first, and the place of each in the arrays below.
        best: The largest score of the view bm25.
        likely: For each text that is looked for, the share and the score of the places that have most of its words.
        files: [n] the file of each of these units, and of those that the query spells out.
        measured: Name of a signal to [n] what is scaled to be it.
        spelled: [n] whether the query spells it out.
        symbols: Whether a definition without a unit of its own is named like the query.
    """

    hits: dict[View, tuple[NDArray[np.float64], NDArray[np.int64]]]
    best: float
    likely: tuple[tuple[NDArray[np.float64], NDArray[np.float32]], ...]
    files: NDArray[np.int32]
    measured: dict[str, NDArray[np.float32]]
    spelled: NDArray[np.bool_]
    symbols: bool

    def first(self, counts: Mapping[View, int]) -> Scores:
        """The same without the units that are neither among the first hits of a view nor spelled out."""
        kept = self.spelled.copy()
        for view, count in counts.items():
            kept[self.hits[view][1][:count]] = True
        place = np.cumsum(kept) - 1
        return self._replace(
            hits={
                view: (self.hits[view][0][:count], place[self.hits[view][1][:count]]) for view, count in counts.items()
            },
            files=self.files[kept],
            measured={name: values[kept] for name, values in self.measured.items()},
            spelled=self.spelled[kept],
        )


class Seeds(NamedTuple):
    """What can be among the best results before the graph is asked: scores, best first, and what is around each.

    Attributes:
        scores: [n].
        highest: The largest score of a candidate.
        group: [m] relation * n + place of the seed.
        unit: [m] units of the fleet: the part << 32 | the number in it.
        sure: [m] how sure the edges are.
    """

    scores: NDArray[np.float64]
    highest: float
    group: NDArray[np.int64]
    unit: NDArray[np.int64]
    sure: NDArray[np.float64]


class Ranks(NamedTuple):
    """The scores of the best results of a part, best first, and how many results there are."""

    scores: NDArray[np.float64]
    total: int


class Found(NamedTuple):
    """The best results of a part, best first."""

    results: tuple[Result, ...]
    total: int
    shas: tuple[str, ...]  # of the files of the results, where another file may have the same content; "" for none


class Leaf:
    """Answers for one part. Calls take turns."""

    def __init__(self, snapshot: Snapshot) -> None:
        """
        Args:
            snapshot: The part's index, opened; its graph is a `PartGraph`.
        """
        self._snapshot = snapshot
        self._turn = allocate_lock()
        self._chosen: tuple[Choice, Chosen] | None = None
        self._last = snapshot
        self._spelled: tuple[Any, Spelled] | None = None
        self._ranked: tuple[tuple[Ask, Whole, bytes], evidence.Found | Outcome] | None = None

    def close(self) -> None:
        self._snapshot.close()

    # --- statistics -----------------------------------------------------------------------------------------------

    def counts(self, need: Need) -> Counts:
        """What the part adds to the statistics of a query.

        Raises:
            IndexError_: A shard cannot be used.
        """
        with self._turn:
            snapshot = self._snapshot
            snapshot.forget()
            return Counts(
                self._terms(need.terms),
                self._related(need.related),
                {name: name_counts(snapshot, *name) for name in need.names},
                {choice: self._count(choice) for choice in need.choices},
                {word: alike_by_ratio(snapshot.symbols, word)[:_ALIKE] for word in need.alike},
                {files: self._named_files(files) for files in need.files},
                {sha: snapshot.files.with_content(sha) for sha in need.contents},
            )

    def _terms(self, texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
        if not texts:
            return {}
        lexical = self._snapshot.lexical
        terms = [term for text in texts if (term := lexical.term(text)) is not None]
        columns = []
        for field in FIELDS:
            numbers = lexical.postings(field, tuple(terms)).terms
            columns.append(np.bincount(numbers, minlength=len(terms)).tolist())
        return {term.text: having for term, having in zip(terms, zip(*columns, strict=True), strict=True)}

    def _related(self, words: Sequence[str]) -> dict[str, list[tuple[str, str, int, int, int]]]:
        index = self._snapshot.abbreviations if words else None
        if index is None:
            return {word: [] for word in words}
        return {word: [(one.short, one.long, one.files, one.declared, one.told) for one in index.of(word)]
                for word in words}  # fmt: skip

    def _count(self, choice: Choice) -> int:
        mask = self._choose(choice).mask
        return self._snapshot.n_units if mask is None else int(mask.sum())

    def _choose(self, choice: Choice) -> Chosen:
        """The units of a choice; those of the last one are kept."""
        if self._chosen is None or self._chosen[0] != choice:
            self._chosen = choice, chosen(self._snapshot, choice)
        return self._chosen[1]

    def _named_files(self, files: tuple[tuple[str, float], ...]) -> dict[Mention, tuple[int, int]]:
        query = TextQuery("", (), (), (), (), files=files)
        found = closest(query, self._snapshot.unit_table.paths)
        return {mention: (length, len(numbers)) for mention, (length, numbers) in found.items()}

    def scores(self, ask: Ask, whole: Whole) -> Scores:
        """The statistics of the scores, by the counts of all parts. Raises what `counts` raises."""
        with self._turn:
            snapshot = self._among(ask, whole)
            mask = self._choose(ask.attempt.choice).mask
            hits = {view: getattr(snapshot, view).search(ask.query, POOL, mask) for view in ask.views}
            texts = () if ask.views == ("dense",) else texts_of(ask.attempt.query)
            places = [likely(snapshot.lexical, text, mask) for text in texts]
            best = snapshot.bm25.best(ask.query) if "bm25" in hits else 0.0
            known, graph = NOTHING, None
            if ask.plan is not None:
                known = spelled(snapshot, ask.attempt.query, ask.attempt.choice.filters, mask)
                graph = Extras().ask("graph", lambda: snapshot.graph)
            units = np.unique(
                np.concatenate([np.array(known.units, np.int64), *(some.units for some in hits.values())])
            )
            measure = Measure(ask.query, snapshot.views, snapshot.unit_table, hits, graph)
            return Scores(
                {view: (some.scores, np.searchsorted(units, some.units)) for view, some in hits.items()},
                best,
                tuple((one.shares, one.scores) for one in places),
                snapshot.unit_table.file[units],
                measure.measured(units) if ask.plan is not None else {},
                np.isin(units, known.units),
                bool(known.symbols),
            )

    def seeds(self, ask: Ask, whole: Whole) -> Seeds:
        """What is around the best candidates, ranked by the scores of all parts. Raises what `counts` raises."""
        with self._turn:
            snapshot = self._among(ask, whole)
            nothing = np.zeros(0, np.int64), np.zeros(0, np.float32)
            outcome = self._fused(snapshot, ask, whole._replace(around=nothing))
            if outcome.ranked is None or not len(outcome.ranked):
                return Seeds(np.zeros(0), 0.0, nothing[0], nothing[0], np.zeros(0))
            best: NDArray[np.int64] = outcome.ranked.units[:SEEDS]
            graph: PartGraph = snapshot.graph  # type: ignore[assignment]
            group, node, step = edges_of(graph, snapshot.unit_table, best)
            around = distinct(graph.in_fleet(best), group, graph.units_of(snapshot.unit_table, node), step)
            return Seeds(outcome.ranked.scores[:SEEDS], outcome.ranked.highest, *around)

    # --- results --------------------------------------------------------------------------------------------------

    def ranks(self, ask: Ask, whole: Whole) -> Ranks:
        """The scores of the best results, by the statistics of all parts. Raises what `counts` raises."""
        with self._turn:
            ranked = self._ranking(ask, whole)
            if isinstance(ranked, evidence.Found):
                return Ranks(ranked.ranked.scores, ranked.ranked.total)
            assert ask.request.limit is not None
            scores = np.zeros(0) if ranked.ranked is None else ranked.ranked.scores[: ask.request.limit]
            return Ranks(scores, ranked.total)

    def search(self, ask: Ask, whole: Whole, count: int) -> Found:
        """The first `count` of these results. Raises what `counts` raises."""
        with self._turn:
            request, ranked = replace(ask.request, limit=count), self._ranking(ask, whole)
            if isinstance(ranked, evidence.Found):
                first = ranked._replace(ranked=ranked.ranked.head(count))
                return self._found(single.answered(self._snapshot, request, first))
            places = self._choose(ask.attempt.choice).places
            return self._found(multiview.answered(self._snapshot, request, ranked, ask.query, places, Extras()))

    def _ranking(self, ask: Ask, whole: Whole) -> evidence.Found | Outcome:
        """How the part ranks; the last ranking is kept."""
        around = b"".join(values.tobytes() for values in whole.around or ())
        known = ask, whole._replace(around=None), around
        if self._ranked is None or self._ranked[0] != known:
            snapshot = self._among(ask, whole)
            if ask.plan is not None:
                self._ranked = known, self._fused(snapshot, ask, whole)
            else:
                assert ask.request.limit is not None
                self._ranked = known, single.find(snapshot, ask.request, ask.request.limit, ask.attempt)
        return self._ranked[1]

    def select(self, request: SearchRequest, asked: Conditions) -> Found:
        """The first symbols that pass filters and hold phrases, as many as the request has for a limit. Raises what
        `counts` raises."""
        with self._turn:
            self._snapshot.forget()
            assert request.limit is not None
            rows, total = structural.matching(self._snapshot, asked, request.limit, None)
            return self._found(structural.answered(self._snapshot, request, asked, rows, total))

    def _found(self, answer: Answer) -> Found:
        return Found(answer.results, answer.total, tuple(self._copied(one.file) for one in answer.results))

    def _fused(self, snapshot: Snapshot, ask: Ask, whole: Whole) -> Outcome:
        """How the part ranks in multiview."""
        assert ask.plan is not None
        mask = self._choose(ask.attempt.choice).mask
        key = ask.attempt, whole.names, whole.read, whole.collection
        if self._spelled is None or self._spelled[0] != key:  # `seeds` and `ranks` ask for the same
            self._spelled = key, spelled(snapshot, ask.attempt.query, ask.attempt.choice.filters, mask)
        known = self._spelled[1]
        question = multiview.Question(ask.query, ask.plan, mask, None, known, whole)
        outcome = multiview.search(question, snapshot.views, snapshot.unit_table, Extras(), time.perf_counter())
        if outcome.degraded:  # a part answers whole or not at all
            raise IndexError_(outcome.degraded[0].detail)
        return outcome

    def _among(self, ask: Ask, whole: Whole) -> Snapshot:
        """The part among all parts. What has been scored for the last call is used again."""
        snapshot = self._snapshot
        for name in ("symbols", "unit_table", *ask.views):
            getattr(snapshot, name)  # what is loaded here stays loaded
        snapshot.forget()
        found, last = snapshot.among(whole), self._last
        if whole.collection is not None and last.whole.collection == whole.collection:
            found.lexical = last.lexical
            found.bm25 = last.bm25.among(whole.best)
        self._last = found
        return found

    def _copied(self, path: str) -> str:
        """The digest of a file that may be in several places of the fleet; "" for any other."""
        try:
            copied = getattr(self._snapshot.graph, "copied", None)
        except IndexError_:  # only a search that needs the graph says so
            copied = None
        if copied is not None and not copied[bisect_left(self._snapshot.files.living_paths(), path)]:
            return ""
        return self._snapshot.freshness.sha(path)


# --- several parts of one worker ----------------------------------------------------------------------------------


def first_of(columns: Sequence[tuple[NDArray[Any], ...]], limit: int) -> list[int]:
    """How many of the first items of each of some lists are among the first `limit` of all.

    Args:
        columns: Of each list the keys by which it is sorted, the largest first; ties between lists are in their order.
        limit: How many.
    """
    keys = [np.concatenate(some) for some in zip(*columns, strict=True)] if columns else []
    if not keys:
        return [0] * len(columns)
    of = np.repeat(np.arange(len(columns)), [len(some[0]) for some in columns])
    order = np.lexsort((of, *(-key for key in reversed(keys))))[:limit]
    return [int(count) for count in np.bincount(of[order], minlength=len(columns))]


def best_hits(scores: Sequence[Scores]) -> list[dict[View, int]]:
    """How many of the hits of each view in each of some parts are among the first `POOL` of all."""
    views: Sequence[View] = tuple(scores[0].hits) if scores else ()
    counts = {view: first_of([(one.hits[view][0],) for one in scores], POOL) for view in views}
    return [{view: counts[view][i] for view in views} for i in range(len(scores))]


def pruned(answers: list[Any]) -> list[Any]:
    """The answers of the parts of one worker without what cannot be among the best of all."""
    scores = [one for one in answers if isinstance(one, Scores)]
    fewer = iter([one.first(counts) for one, counts in zip(scores, best_hits(scores), strict=True)])
    return [next(fewer) if isinstance(one, Scores) else one for one in answers]
