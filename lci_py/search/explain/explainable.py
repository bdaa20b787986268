"""Gives `--explain-file` the intermediate results of a mode: candidates, which of them pass the filters, and ranks."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.errors import IndexError_
from lci_py.search.explain.steps import MATCH, single_steps
from lci_py.types.search import VIEWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.symbols import Row
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.evidence import SingleViewResult
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.retrievers import HitList
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters, Step, View

#: Rank (from 1) and score of a view that has a place; `beyond` if it is no candidate for being too far down.
Standing = dict[str, Any]


class FileStanding(NamedTuple):
    """The best candidate of a file, with its rank if it is a result."""

    key: Any  # of the place: a unit, or a symbol's id
    rank: int | None  # from 1; None if it is no result
    score: float
    steps: tuple[Step, ...]
    views: dict[View, Standing | None]


class Structure:
    """The mode symbolic, whose results are the symbols that pass the filters and contain the quoted phrases.

    A key identifies a candidate: the id of a symbol here, the number of a unit (ranked code) in the other modes.
    """

    def __init__(self, snapshot: Snapshot, filters: Filters, rows: Sequence[Row]) -> None:
        """Takes the filters of the flags and of the query, and all results of the mode, by path and line."""
        self._snapshot, self.filters = snapshot, filters
        self._ranks = {row["id"]: rank for rank, row in enumerate(rows, 1)}
        self._rows: dict[str, Row] = {}

    def keys(self, path: str) -> set[Any]:
        """The keys of all candidates in a file."""
        self._rows = {row["id"]: row for row in self._snapshot.symbols.in_files([path])}
        return set(self._rows)

    def passing(self, filters: Filters) -> set[Any]:
        """The keys of all candidates that pass the filters."""
        return self._snapshot.symbols.select_ids(filters)

    def holding(self, keys: set[Any]) -> set[Any]:
        """The items of `keys` whose candidate also contains the quoted phrases."""
        return keys & self._ranks.keys()

    def best(self, keys: set[Any]) -> FileStanding:
        """The standing of the best-ranked of several keys, which all pass the filters."""
        key = min(keys, key=self._ranks.__getitem__)
        rank = self._ranks[key]
        return FileStanding(key, rank, 1.0, MATCH, {"symbolic": {"rank": rank, "score": 1.0}})

    def steps_at(self, rank: int) -> tuple[Step, ...]:
        """The summands of the score of the result at a rank (from 1)."""
        return MATCH

    def row(self, key: Any) -> Row:
        """The index row of the candidate with a key."""
        return self._rows[key]

    def reasons(self, placed: FileStanding) -> list[str]:
        """Why a candidate that passes the filters is not among the results, as parts of a sentence."""
        return []


class _Units:
    """Base of the modes that rank units: dense, bm25 and multiview. The methods do the same as those of `Structure`."""

    def __init__(self, snapshot: Snapshot, filters: Filters, allowed: NDArray[Any] | None) -> None:
        self._snapshot, self.filters, self._allowed = snapshot, filters, allowed

    def keys(self, path: str) -> set[Any]:
        symbols = self._snapshot.symbols
        return {unit for unit, _, _ in symbols.chunks_of_file(symbols.paths().index(path))}

    def passing(self, filters: Filters) -> set[Any]:
        return set(self._snapshot.symbols.allowed_units(filters))

    def holding(self, keys: set[Any]) -> set[Any]:
        return keys if self._allowed is None else {key for key in keys if self._allowed[key]}

    def row(self, key: Any) -> Row:
        return self._snapshot.symbols.result_rows([key])[key]


class Single(_Units):
    """The modes dense and bm25, with their complete ranking."""

    def __init__(self, snapshot: Snapshot, filters: Filters, result: SingleViewResult) -> None:
        """Takes the filters of the flags and of the query, and all results of the mode, to the last unit."""
        super().__init__(snapshot, filters, result.allowed)
        self._found = result

    def best(self, keys: set[Any]) -> FileStanding:
        ranked, raw = self._found.ranked, self._found.raw
        hits = [hit for key in keys if (hit := ranked.get(key)) is not None]
        if not hits:
            return FileStanding(min(keys), None, 0.0, (), {ranked.view: None})
        best = min(hits, key=lambda hit: hit.rank)
        before = raw.get(best.unit)
        own = None if before is None else {"rank": before.rank, "score": before.score}
        steps = single_steps(self._snapshot, self._found, [best.unit])[0]
        return FileStanding(best.unit, best.rank, best.score, steps, {ranked.view: own})

    def steps_at(self, rank: int) -> tuple[Step, ...]:
        return single_steps(self._snapshot, self._found, [int(self._found.ranked.units[rank - 1])])[0]

    def reasons(self, placed: FileStanding) -> list[str]:
        if self._found.ranked.view == "dense":
            return ["no word of the query is known to the model"]
        return [no_word(self._found.query)]


class Fusion(_Units):
    """The mode multiview. A view that does not have a unit among its candidates is asked for its complete ranking."""

    def __init__(
        self,
        snapshot: Snapshot,
        filters: Filters,
        query: TextQuery,
        allowed: NDArray[Any] | None,
        outcome: Outcome,
    ) -> None:
        """Takes the filters, the query that the views were asked, a mask [units] of its candidates, and the outcome."""
        super().__init__(snapshot, filters, allowed)
        self._query, self._outcome = query, outcome
        self._complete_ranking = cache(self._rank_all)

    def best(self, keys: set[Any]) -> FileStanding:
        ranked = self._outcome.ranked
        located = [standing for key in keys if ranked is not None and (standing := ranked.find(key)) is not None]
        if located:
            rank, item = min(located)
            return FileStanding(item.unit, rank + 1, item.score, item.steps, self._standings(item.unit))
        unit = min(keys, key=lambda key: (self._nearest(key), key))
        return FileStanding(unit, None, 0.0, (), self._standings(unit))

    def _nearest(self, unit: int) -> int:
        """The best rank of a unit in any view."""
        ranks = [hit.rank for view in VIEWS if (hit := self._complete_ranking(view).get(unit)) is not None]
        return min(ranks, default=self._snapshot.n_units + 1)

    def _standings(self, unit: int) -> dict[View, Standing | None]:
        standings: dict[View, Standing | None] = {}
        for view in VIEWS:
            if (hit := self._outcome.hits[view].get(unit)) is not None:
                standings[view] = {"rank": hit.rank, "score": hit.score}
            elif (hit := self._complete_ranking(view).get(unit)) is not None:
                standings[view] = {"rank": hit.rank, "score": hit.score, "beyond": True}
            else:
                standings[view] = None
        return standings

    def _rank_all(self, view: View) -> HitList:
        """A view's complete ranking, or only its candidates if the view has failed."""
        if view not in self._outcome.failed:
            with suppress(IndexError_):  # the answer says so already
                hits: HitList = getattr(self._snapshot, view).search(self._query, self._snapshot.n_units, self._allowed)
                return hits
        return self._outcome.hits[view]

    def steps_at(self, rank: int) -> tuple[Step, ...]:
        return self._outcome.head(rank)[rank - 1].steps

    def reasons(self, placed: FileStanding) -> list[str]:
        without = {
            "dense": "no word of the query is known to the model",
            "bm25": no_word(self._query),
            "symbolic": "nothing in it is named like the query",
        }
        result = []
        for view, standing in placed.views.items():
            if view in self._outcome.failed:
                result.append(f"{view} failed")
            elif standing is None:
                result.append(without[view])
            elif standing.get("beyond"):
                pool = len(self._outcome.hits[view])
                result.append(f"{view} has it at {standing['rank']:,}, behind the first {pool:,}")
        return result


#: What a mode gives to `search/explain/file.py`.
Explainable = Structure | Single | Fusion
#: Terms of the query that a sentence names.
_NAMED = 5


def no_word(query: TextQuery) -> str:
    """The sentence that explains why bm25 does not find a file that contains no term of the query."""
    terms = [term for term, _ in query.terms]
    more = ", …" if len(terms) > _NAMED else ""
    return f"none of the words occur in it ({', '.join(terms[:_NAMED])}{more})"
