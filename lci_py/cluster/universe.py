"""The candidates of all parts as if they were all there is: what the root ranks.

A ranking of one index measures arrays over all units. The root has only the heads of the parts. It numbers their units
from 0, in the order of the fleet, and offers what the leaves have measured under the names that the ranking asks for.
So the code that ranks is that of one index (docs/adr/0031-cluster.md).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lci_py.cluster.leaf import FLAGS
from lci_py.errors import ShardMissingError
from lci_py.index.shards.bm25 import FIELDS
from lci_py.index.shards.unit_columns import UnitColumns
from lci_py.search.ranking.spelled import (
    HEAD,
    NOTHING,
    Likely,
    Spelled,
    add_narrowest,
    best_of,
    texts_of,
)
from lci_py.search.views.hits import HitList
from lci_py.search.views.views import Views

if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.messages import Head
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.graph_lift import Reached
    from lci_py.search.ranking.signals import Mention
    from lci_py.search.ranking.spelled import Stated
    from lci_py.types.search import View


class Universe:
    """The units of some heads. Attributes are those that the ranking asks of a `Snapshot`."""

    def __init__(
        self,
        heads: Sequence[Head],
        more: Sequence[Head],
        locks: Mapping[View, LockType],
        mentioned: Mapping[Mention, tuple[int, int]] | None = None,
        reach: Callable[[NDArray[np.int64]], Reached] | None = None,
    ) -> None:
        """
        Args:
            heads: Of all parts.
            more: Units that the graph has led to, and that no head has.
            locks: One for each view.
            mentioned: How well files are named in all parts.
            reach: The units of the fleet around some; None without a graph.
        """
        self._heads, self._all = heads, [*heads, *more]
        numbers = np.concatenate([np.zeros(0, np.int64), *(head.units for head in self._all)])
        self._order = np.argsort(numbers, kind="stable")
        #: [n] the unit of the fleet.
        self.numbers = numbers[self._order]
        self._reach = reach
        #: [n] whether a unit can be a result.
        self.allowed = self._column(lambda head: head.allowed, np.bool_)
        self.views = Views(
            lambda: cast(Any, _Dense(self)),
            lambda: cast(Any, self.bm25),
            lambda: cast(Any, _Symbolic(self)),
            lambda: cast(Any, self._graph),
            locks,
            reached=self._reached,
            mentioned=mentioned,
        )

    def _column(self, of: Callable[[Head], NDArray[Any]], kind: Any) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, kind), *(of(head) for head in self._all)])[self._order]

    def places(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Units of the fleet as units here, -1 for one that is not here."""
        found = np.searchsorted(self.numbers, numbers)
        inside = np.minimum(found, max(len(self.numbers) - 1, 0))
        there = self.numbers[inside] == numbers if len(self.numbers) else np.zeros(len(numbers), np.bool_)
        return np.where(there, inside, -1)

    def place(self, number: int) -> int:
        return int(self.places(np.array([number], np.int64))[0])

    @cached_property
    def unit_table(self) -> UnitColumns:
        return _Table(self)

    @cached_property
    def dense(self) -> _Dense:
        return _Dense(self)

    @cached_property
    def bm25(self) -> _Lexical:
        return _Lexical(self)

    def hits(self, view: View, limit: int) -> HitList:
        """The best hits of a view in all parts; ties by unit."""
        found = [head.hits[view] for head in self._heads if view in head.hits]
        units = np.concatenate([np.zeros(0, np.int64), *(units for units, _, _ in found)])
        scores = np.concatenate([np.zeros(0), *(scores for _, scores, _ in found)])
        order = np.lexsort((units, -scores))[:limit]
        return HitList(view, self.places(units[order]), scores[order], sum(total for _, _, total in found))

    def spelled(self, query: TextQuery, head: NDArray[np.int64] | None = None) -> Spelled:
        """What the query spells out. As `ranking.spelled.spelled`.

        Args:
            query: The text.
            head: Units that are read for a text; those where its words are likely if None.
        """
        if query.long:
            return NOTHING
        names = {self.place(unit): value for one in self._heads for unit, value in one.names.items()}
        symbols = {self.place(unit): symbol for one in self._heads for unit, symbol in one.symbols.items()}
        texts: dict[int, float] = {}
        for number, text in enumerate(texts_of(query)):
            if head is None:
                likely = [one.likely[number] for one in self._heads]
                columns = (np.concatenate(column) for column in zip(*likely, strict=True))
                places = list(dict.fromkeys(best_of(Likely(*columns), text).units.tolist()))
            else:
                places = self.numbers[head[:HEAD]].tolist()
            read = set(places[: text.head])
            found: dict[Stated, float] = {}
            for one in self._heads:
                found.update({place: value for place, value in one.stated[number].items() if place[1] in read})
            stating = {(size, self.place(unit), file, line): v for (size, unit, file, line), v in found.items()}
            add_narrowest(texts, stating)
        return Spelled(names, texts, symbols) if names or texts else NOTHING

    def lines(self) -> dict[int, int]:
        """Unit to the line of a phrase in it."""
        return {self.place(unit): line for head in self._all for unit, line in head.places.items()}

    def literal(self) -> NDArray[np.int64]:
        """Units that hold the phrases, ascending: hits, and the first that are none."""
        return np.flatnonzero(self.allowed)

    @property
    def _graph(self) -> _Graph:
        return _Graph(self)

    def _reached(self, _graph: object, _table: object, seeds: NDArray[np.int64]) -> Reached:
        assert self._reach is not None
        found = self._reach(self.numbers[seeds])
        places = self.places(found.unit)
        if len(places) and int(places.min()) < 0:
            raise LackingError(np.unique(found.unit[places < 0]))
        return found._replace(unit=places)


class LackingError(Exception):
    """A ranking asks for units of the fleet that no head has."""

    def __init__(self, units: NDArray[np.int64]) -> None:
        super().__init__()
        self.units = units


class _Table(UnitColumns):
    """The columns of the units."""

    def __init__(self, universe: Universe) -> None:
        files = universe._column(lambda head: head.files, np.int64)
        numbers = np.unique(files)
        self.file = np.searchsorted(numbers, files).astype(np.int32)
        known = {file: path for head in universe._all for file, path in head.paths.items()}
        self.paths = [known[file] for file in numbers.tolist()]
        for name in FLAGS:
            setattr(self, name, universe._column(lambda head, name=name: head.flags[name], np.bool_))  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self.file)


class _Dense:
    """The view dense, as the leaves have measured it."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe

    def search(self, _query: TextQuery, limit: int, _allowed: object) -> HitList:
        return self._universe.hits("dense", limit)

    def scores(self, _query: TextQuery, units: NDArray[np.int64]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self._universe._column(lambda head: head.dense, np.float32)[units]
        return found

    def of_files(self, _query: TextQuery, unit_file: NDArray[np.int32], n_files: int) -> NDArray[np.float32]:
        found = np.zeros(n_files, np.float32)
        found[unit_file] = self._universe._column(lambda head: head.whole, np.float32)
        return found


class _Lexical:
    """The view bm25, as the leaves have measured it."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe

    def search(self, _query: TextQuery, limit: int, _allowed: object) -> HitList:
        return self._universe.hits("bm25", limit)

    def field_scores(self, _query: TextQuery) -> dict[str, NDArray[np.float32]]:
        return {
            name: self._universe._column(lambda head, name=name: head.fields[name], np.float32)  # type: ignore[misc]
            for name in FIELDS
        }

    def scores(self, query: TextQuery) -> NDArray[np.float32]:
        from lci_py.search.views.retrievers import view_scores

        return view_scores(self.field_scores(query))

    def best(self, _query: TextQuery) -> float:
        return max((head.best for head in self._universe._heads), default=0.0)

    def coverage(self, _query: TextQuery, units: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self._universe._column(lambda head: head.coverage, np.float64)[units]
        return found


class _Symbolic:
    """The view symbolic, as the leaves have measured it."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe

    def search(self, _query: TextQuery, limit: int, _allowed: object) -> HitList:
        return self._universe.hits("symbolic", limit)


class _Graph:
    """How often each file is imported."""

    def __init__(self, universe: Universe) -> None:
        if universe._reach is None:
            raise ShardMissingError("the fleet has no call graph", hint="run `lci cluster index`")
        table = universe.unit_table
        self.importers = np.zeros(len(table.paths), np.int32)
        self.importers[table.file] = universe._column(lambda head: head.importers, np.int32)
