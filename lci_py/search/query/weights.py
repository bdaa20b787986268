"""All weights of the rankings. docs/ranking.md explains each name.

A ranking is a value: `live` answers, the others can run beside it (`--shadow NAME`) to see what a change moves.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lci_py.errors import unknown_value
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from lci_py.types.search import View

#: The view that a signal comes from, for `mode_source`; None if it belongs to no view.
SIGNAL_VIEW: dict[str, View | None] = {
    "dense": "dense", "dense_file": "dense", "content": "bm25", "names": "bm25", "paths": "bm25", "files": "bm25",
    "stem": "bm25", "symbol": "symbolic", "dense_all": "dense", "name": "symbolic", "verbatim": "bm25",
    "hub": None, "near": None, "graph": None, "mentioned": None,
}  # fmt: skip
#: The signals of what the query spells out (`search/ranking/spelled.py`); a view has no part in measuring them.
SPELLED = ("name", "verbatim")
#: The signal that lifts (`search/ranking/graph_lift.py`); the others add up.
GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Ranking:
    """All numbers of a multiview ranking.

    Attributes:
        name: What `--shadow` calls it.
        weights: Intent to signal to weight; a signal is in [0, 1].
        factors: Name to multiplier of a score.
        saturation: Multiplier of a file's further results, to the power of `same_file.damped`.
        growth: Signal to the share of its weight that is added in an index of `LARGE` files or more, and less in
            smaller ones: evidence from single chunks gets noisier as the index grows, evidence from whole files does
            not.
        long: Signal to the multiplier of its weight in a long question: the names in an issue are those that its writer
            calls, and the function to be fixed is seldom one of them.
        long_saturation: `saturation` of a long question, whose answer is often two functions of one file.
    """

    name: str
    weights: dict[str, dict[str, float]]
    factors: dict[str, float]
    saturation: float
    growth: dict[str, float] = field(default_factory=dict)
    long: dict[str, float] = field(default_factory=dict)
    long_saturation: float | None = None  # None: `saturation`

    def weights_of(self, intent: str, files: int, *, long: bool = False) -> dict[str, float]:
        """The weights of an intent in an index of this many files: signal to weight."""
        changed = self.long if long else {}
        return {
            name: round(value * self.growing(name, files) * changed.get(name, 1.0), 6)
            for name, value in self.weights[intent].items()
        }

    def saturation_of(self, *, long: bool) -> float:
        """What a file's every further result is multiplied by."""
        return self.saturation if not long or self.long_saturation is None else self.long_saturation

    def growing(self, name: str, files: int) -> float:
        """The multiplier of a signal's weight in an index of this many files."""
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
#: What `--shadow` can name. A candidate for the next live ranking stands here beside it.
RANKINGS = {LIVE.name: LIVE}


def ranking(name: str) -> Ranking:
    """The ranking of that name.

    Raises:
        UsageError: There is none; the message lists the rankings.
    """
    if name not in RANKINGS:
        raise unknown_value("ranking", name, tuple(RANKINGS))
    return RANKINGS[name]
