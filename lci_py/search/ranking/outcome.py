"""What a mode found and how it ranked it: the value that results, explanations and expansions are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lci_py.search.query.text import TextQuery
    from lci_py.search.ranking.fusion import Candidates, Fused, Ranked
    from lci_py.search.views.hits import HitList
    from lci_py.types.search import Degradation, View


class Found(NamedTuple):
    """What a mode found, and how it came about.

    Attributes:
        query: What was asked.
        allowed: [units] mask of the filters and the quoted phrases, None if there are none.
        places: The first line of a phrase in each unit that holds it.
        raw: The view's own ranking.
        ranked: The mode's ranking: files support their results, and their further results count for less.
    """

    query: TextQuery
    allowed: NDArray[np.bool_] | None
    places: dict[int, int]
    raw: HitList
    ranked: HitList


#: Candidates of each view in multiview. The ranking never depends on how many results are shown: this is a constant.
POOL = 400


@dataclass(slots=True)
class Outcome:
    """What a multiview search found."""

    hits: dict[View, HitList]
    ranked: Ranked | None = None  # None if there are no candidates
    candidates: Candidates | None = None
    degraded: list[Degradation] = field(default_factory=list)
    trace: dict[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return 0 if self.ranked is None else len(self.ranked)

    def head(self, limit: int) -> list[Fused]:
        """The first results."""
        return [] if self.ranked is None else self.ranked.head(limit)

    def find(self, unit: int) -> Fused | None:
        """The result of a unit, None if it is not among them."""
        found = None if self.ranked is None else self.ranked.find(unit)
        return None if found is None else found[1]
