"""Plans a multiview query. The plan is part of the answer; the same query, flags and index give the same plan.

A plan has the weights of the ranking `live`, which are defined here; docs/ranking.md explains their names. Tools in
`tests/quality` compare it with others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lci_py.search.query.rewrites import NO_WORDING
from lci_py.source.text.words import STOPWORDS
from lci_py.types.record import dataclass, field
from lci_py.types.search import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lci_py.search.query.rewrites import Wording
    from lci_py.search.query.text import TextQuery
    from lci_py.types.search import Filters, View

#: The view that a signal comes from, for `mode_source`; None if it belongs to no view.
SIGNAL_VIEW: dict[str, View | None] = {
    "dense": "dense", "dense_file": "dense", "content": "bm25", "names": "bm25", "paths": "bm25", "files": "bm25",
    "stem": "bm25", "symbol": "symbolic", "dense_all": "dense", "name": "symbolic", "verbatim": "bm25",
    "hub": None, "near": None, "graph": None, "mentioned": None,
}  # fmt: skip
#: The signals of what the query spells out (`search/ranking/literal_matches.py`); a view has no part in measuring them.
SPELLED = ("name", "verbatim")
#: The signal that lifts (`search/ranking/graph_lift.py`); the others add up.
GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Ranking:
    """All numbers of a multiview ranking. (A signal is a kind of evidence, with a value from 0 to 1.)

    Attributes:
        name: The name in the plan.
        weights: Maps an intent to the weight of each signal.
        factors: Maps the name of a factor to its value, by which a score is multiplied.
        saturation: Multiplier of a file's further results, to the power of `same_file.damped`.
        growth: Maps a signal to the share of its weight that is added in an index of `LARGE` files or more; smaller
            indexes add less. Evidence from single chunks gets noisier as the index grows, evidence from whole files
            does not.
        long: Maps a signal to the multiplier of its weight in a long question. (The names in an issue are those that
            its writer calls, and the function to be fixed is seldom one of them.)
        long_saturation: `saturation` for a long question, whose answer is often two functions of one file.
    """

    name: str
    weights: dict[str, dict[str, float]]
    factors: dict[str, float]
    saturation: float
    growth: dict[str, float] = field(default_factory=dict)
    long: dict[str, float] = field(default_factory=dict)
    long_saturation: float | None = None  # None: `saturation`

    def weights_of(self, intent: str, files: int, *, long: bool = False) -> dict[str, float]:
        """Maps each signal to its weight for an intent, in an index of `files` files."""
        changed = self.long if long else {}
        return {
            name: round(value * self.growing(name, files) * changed.get(name, 1.0), 6)
            for name, value in self.weights[intent].items()
        }

    def saturation_of(self, *, long: bool) -> float:
        """The multiplier for each further result of a file; `long` for a long question."""
        return self.saturation if not long or self.long_saturation is None else self.long_saturation

    def growing(self, name: str, files: int) -> float:
        """The multiplier of the weight of the signal `name`, in an index of `files` files."""
        part = math.log(max(files, SMALL) / SMALL) / math.log(LARGE / SMALL)
        return 1 + min(part, 1.0) * self.growth.get(name, 0.0)


#: The range of index sizes, in files, over which weights grow (`Ranking.growth`).
SMALL, LARGE = 50, 400

_BALANCED = {
    "dense": 1.0, "content": 0.7, "names": 0.25, "paths": 0.4, "files": 0.4, "symbol": 0.4, "stem": 0.4,
    "dense_file": 0.5, "dense_all": 0.35, "hub": 0.2, "graph": 1.0, "near": 0.25, "mentioned": 2.0,
    "name": 3.0, "verbatim": 2.0,
}  # fmt: skip
_EXACT = {
    "dense": 0.2, "content": 0.2, "names": 0.5, "paths": 0.3, "files": 0.3, "symbol": 1.2, "stem": 0.25,
    "dense_file": 0.1, "dense_all": 0.15, "hub": 0.1, "graph": 1.0, "near": 0.25, "mentioned": 2.0,
    "name": 3.0, "verbatim": 2.0,
}  # fmt: skip

LIVE = Ranking(
    "live",
    {
        "fast_exact": _EXACT,
        "balanced_hybrid": _BALANCED,
        "ambiguous_multiquery": _BALANCED,
        "structured_filter_heavy": _BALANCED,
    },
    {"test": 0.6, "inner_test": 0.95, "block": 0.95, "text": 0.7, "generated": 0.7, "aside": 0.7},
    0.6,
    {"names": -0.7, "graph": -0.25, "dense_all": 0.5},
    {"symbol": 0.0},
    0.9,
)
#: Fields of filters that are no lists of values.
_NO_LISTS = ("no_tests", "changed_since", "changed")
INTENTS = ("fast_exact", "balanced_hybrid", "ambiguous_multiquery", "structured_filter_heavy")
#: The retrieval steps, in the order they are tried: the three views, among what passes the filters if there are any;
#: the same with fewer requirements on the text; the dense view alone; an answer that says which views are missing.
LADDER = ("strict_filter", "hybrid", "relaxed_lexical", "dense_only", "degraded")
#: A view with less than this share of the weights is little missed.
MINOR = 0.25


@dataclass(frozen=True, slots=True)
class Plan:
    """Says how a multiview query is answered.

    Attributes:
        intent: The purpose of the query, one of INTENTS.
        ranking: Name of the ranking whose weights are used.
        weights: Maps a signal to its weight.
        factors: Maps the name of a factor to its value, by which a score is multiplied.
        saturation: Multiplier of each further result of the same file.
        rewrites: Additional wordings that are searched for.
        filters: Maps a field to its values; filters narrow the candidates before anything is ranked.
        expand: Number of hops to walk around the results.
        near: The place near which results are preferred, or None.
        ladder: The retrieval steps, in the order in which they are tried.
        files: Number of files in the index, on which the weights depend.
        rung: The retrieval step that answered; None if none did, or not yet.
        relaxed: Messages that say which requirements of the query were dropped to get an answer.
        command: A command that lists the complete answer, such as all callers of a definition; empty if there is none.
    """

    intent: str
    ranking: str
    weights: dict[str, float]
    factors: dict[str, float]
    saturation: float
    rewrites: tuple[str, ...]
    filters: dict[str, tuple[str, ...]]
    expand: int
    near: str | None
    ladder: tuple[str, ...]
    files: int = 0
    rung: str | None = None
    relaxed: tuple[str, ...] = ()
    command: str = ""

    def as_json(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__slots__}
        # Copies: the weights are those of every other query, too.
        own = {name: dict(value) if isinstance(value, dict) else value for name, value in fields.items()}
        return {**own, "views": list(VIEWS), "context": "graph"}


def plan(
    query: TextQuery,
    filters: Filters,
    *,
    expand: int = 0,
    near: str | None = None,
    ranking: Ranking = LIVE,
    strict: bool = False,
    wording: Wording = NO_WORDING,
    files: int = 0,
) -> Plan:
    """Choose how a query is answered, by its form and its filters.

    Args:
        query: The text, without `field:value` terms.
        filters: The filters of the flags and of the query.
        expand, near: As in `Plan`.
        strict: Whether the text must be taken literally.
        wording: Rewrites of the query with words that the index has.
        files: Number of files in the index.
    """
    kind = intent(query, len(filters_in_use(filters)), wording.lacking)
    weights = ranking.weights_of(kind, files, long=query.long)
    return Plan(
        intent=kind,
        ranking=ranking.name,
        weights=weights,
        factors=ranking.factors,
        saturation=ranking.saturation_of(long=query.long),
        rewrites=tuple(rewrite.text for rewrite in wording.rewrites),
        filters=filters_in_use(filters),
        expand=expand,
        near=near,
        ladder=ladder(filtered=bool(filters), strict=strict),
        files=files,
    )


def filters_in_use(filters: Filters) -> dict[str, tuple[str, ...]]:
    """Maps each field that has a filter to the filter's values."""
    fields = ((name, getattr(filters, name)) for name in filters.__slots__ if name not in _NO_LISTS)
    return {field: values for field, values in fields if values}


def ladder(*, filtered: bool, strict: bool) -> tuple[str, ...]:
    """The retrieval steps of a query. Filters are never dropped: with filters, no step searches all units."""
    left_out = {"hybrid" if filtered else "strict_filter", "relaxed_lexical" if strict else ""}
    return tuple(step for step in LADDER if step not in left_out)


def parts(weights: Mapping[str, float]) -> dict[View, float]:
    """Maps each view to its share of the weights; the shares add up to 1, or are all 0 if no view has a weight."""
    sums = {
        view: math.fsum(
            weight for name, weight in weights.items() if SIGNAL_VIEW.get(name) == view and name not in SPELLED
        )
        for view in VIEWS
    }
    total = math.fsum(sums.values())
    return {view: weight / total if total else 0.0 for view, weight in sums.items()}


def intent(query: TextQuery, fields: int = 0, lacking: Sequence[str] = ()) -> str:
    """The intent of a query, one of INTENTS: mostly filters, a lone name, a few ambiguous words, or a question.

    Args:
        query: The text, without `field:value` terms.
        fields: Number of filter fields given by flags or in the query.
        lacking: Words of the query that the index does not have.
    """
    names = bool(query.identifiers)
    said = sum(word.lower() not in STOPWORDS for word in query.words)
    if fields > 1 or (fields == 1 and said <= 2 and not names and not query.phrases):
        return "structured_filter_heavy"
    names_only = names and len(query.words) == len(query.identifiers) <= 3
    lone = len(query.words) == 1 and not lacking  # a lone word is a name, unless nothing has it
    if query.phrases or names_only or lone:
        return "fast_exact"
    return "ambiguous_multiquery" if lacking or (said <= 3 and not names) else "balanced_hybrid"
