"""What the root of a search asks of its leaves, and what they answer. Values of arrays, texts and numbers.

Units, symbols, files, chunks and nodes in a message are numbers of the whole fleet: those that they have in one index
over all parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lci_py.types.search import Filters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lci_py.index.shards.bm25 import Collection
    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.signals import Mention
    from lci_py.search.ranking.spelled import Likely, NameCounts, Stated
    from lci_py.types.search import Result, SearchRequest, View

#: Files that a long question names, as `TextQuery` has them.
Files = tuple[tuple[str, float], ...]


class Choice(NamedTuple):
    """What can be a result."""

    filters: Filters = Filters()
    phrases: tuple[str, ...] = ()  # stand in its own lines, letter for letter
    either: bool = False  # one of them is enough


class Need(NamedTuple):
    """What a query asks of all parts before any of them ranks."""

    terms: tuple[str, ...] = ()  # in how many rows of each field
    related: tuple[str, ...] = ()  # what the words shorten, or are short for
    names: tuple[tuple[TextQuery, Filters], ...] = ()  # how many definitions the query names
    choices: tuple[Choice, ...] = ()  # how many units can be results
    alike: tuple[str, ...] = ()  # names like a word
    files: tuple[Files, ...] = ()  # how well files are named

    def __bool__(self) -> bool:
        return any(self)


class Counts(NamedTuple):
    """The answer of one part to a `Need`; only terms that the part has are in it."""

    terms: dict[str, tuple[int, ...]]  # by field, in the order of `bm25.FIELDS`
    related: dict[str, list[tuple[str, str, int, int, int]]]
    names: dict[tuple[TextQuery, Filters], NameCounts]
    choices: dict[Choice, int]
    alike: dict[str, list[tuple[float, str]]]
    files: dict[Files, dict[Mention, tuple[int, int]]]


class Ask(NamedTuple):
    """A query as every part ranks it.

    Attributes:
        query: What is ranked by.
        asked: The same before rewrites; what it spells out is looked for.
        views: Which views are asked.
        limit: Hits of each view.
        collection: What BM25 asks of all parts.
        choice: What can be a result; None for everything.
        filters: Those of `choice`, or none.
        names: How many definitions the query names, in all parts.
        literal: Whether places that only hold the phrases are results.
        bounds: Which nodes of the graph may be seen, as `PartGraph.within` takes them.
    """

    query: TextQuery
    asked: TextQuery
    views: tuple[View, ...]
    limit: int
    collection: Collection
    choice: Choice | None = None
    filters: Filters = Filters()
    names: NameCounts | None = None
    literal: bool = False
    bounds: tuple[int, ...] | None = None


#: Units of a view, their scores, and how many there are in all.
Hits = tuple["NDArray[np.int64]", "NDArray[np.float64]", int]


@dataclass(slots=True)
class Head:
    """The best units of one part, and all that a ranking asks of them.

    Attributes:
        units: [n] ascending.
        files: [n] the file of each.
        paths: File to its path.
        flags: Name of a column of `UnitColumns` to [n].
        allowed: [n] whether it can be a result.
        hits: View to units, scores and how many there are in all.
        dense: [n] score of the view dense; empty if it was not asked.
        whole: [n] the same of the unit's whole file.
        fields: Field to [n] BM25 score; empty if bm25 was not asked.
        best: The largest score of the view bm25 in the part.
        coverage: [n] how much of the query's terms a unit has.
        importers: [n] how many files import the unit's; empty if the graph cannot be told.
        names: Unit to how much of its name the query is.
        symbols: Unit to the symbol in it that has the name.
        likely: For each text that the query may state, where it is likely.
        stated: The same, where it stands and how much of it.
        places: Unit to the line of a phrase in it.
        literal: The first units that hold the phrases and are no hits of the view.
    """

    units: NDArray[np.int64]
    files: NDArray[np.int64]
    paths: dict[int, str]
    flags: dict[str, NDArray[np.bool_]]
    allowed: NDArray[np.bool_]
    dense: NDArray[np.float32]
    whole: NDArray[np.float32]
    fields: dict[str, NDArray[np.float32]]
    coverage: NDArray[np.float64]
    importers: NDArray[np.int32]
    hits: dict[View, Hits] = field(default_factory=dict)
    best: float = 0.0
    names: dict[int, float] = field(default_factory=dict)
    symbols: dict[int, int] = field(default_factory=dict)
    likely: list[Likely] = field(default_factory=list)
    stated: list[dict[Stated, float]] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    literal: NDArray[np.int64] | None = None


class Shown(NamedTuple):
    """A result that is to be shown."""

    unit: int  # -1: the symbol itself
    symbol: int  # -1: the definition that owns the unit
    view: View
    score: float
    line: int | None = None  # of a phrase in it


class Present(NamedTuple):
    """Which results of a part are to be shown, and how."""

    shown: tuple[Shown, ...]
    request: SearchRequest
    terms: tuple[tuple[str, float], ...]
    phrases: tuple[str, ...]
    forms: tuple[str, ...]
    graph: bool  # with what is around each
    bounds: tuple[int, ...] | None = None


class Presented(NamedTuple):
    results: list[Result]
    around: list[dict[str, tuple[list[int], int]]]  # nodes by relation, and how many there are; empty without a graph
    shas: list[str]  # of the files of the results, where another file may have the same content; "" for none


class Matches(NamedTuple):
    """Symbols that pass filters: (path, line, number), in that order, the first ones; and how many there are."""

    symbols: list[tuple[str, int, int]]
    total: int
