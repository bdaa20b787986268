"""The plan of a multiview query: a value that is part of the answer, the same for the same query, flags and index."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lci_py.search.query import TextQuery
    from lci_py.types import Filters

#: One table of weights per intent; docs/ranking.md explains each signal. All signals are in [0, 1].
WEIGHTS: dict[str, dict[str, float]] = {
    "balanced_hybrid": {
        "dense": 1.0, "content": 0.8, "names": 0.35, "paths": 0.4, "files": 0.4, "symbol": 0.4, "stem": 0.4,
        "dense_file": 0.5,
    },
    "fast_exact": {
        "dense": 0.2, "content": 0.2, "names": 0.5, "paths": 0.3, "files": 0.3, "symbol": 1.2, "stem": 0.25,
        "dense_file": 0.1,
    },
}  # fmt: skip
#: Multipliers on a result's score.
FACTORS = {"test": 0.6, "block": 0.95, "text": 0.7}
#: A file's k-th result (from 0) is multiplied by this to the power k: the head shows several files.
SATURATION = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """How a multiview query is answered."""

    intent: str
    weights: dict[str, float]
    factors: dict[str, float]
    saturation: float
    filtered: bool
    rewrites: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        data = asdict(self)
        data["views"] = ["dense", "bm25", "symbolic"]
        data["context"] = "graph"
        return data


def plan(query: TextQuery, filters: Filters) -> Plan:
    """Choose the intent by the form of the query: a lone name, or a question in words."""
    names_only = 0 < len(query.words) <= 3 and (len(query.identifiers) == len(query.words) or len(query.words) == 1)
    intent = "fast_exact" if names_only or query.phrases else "balanced_hybrid"
    return Plan(intent, WEIGHTS[intent], FACTORS, SATURATION, bool(filters))
