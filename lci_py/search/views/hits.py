"""The hits of one view as arrays, best first. A `Hit` object is made only for a hit that is shown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lci_py.types.search import Hit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from lci_py.types.search import View


class HitList:
    """A view's hits, best first.

    Attributes:
        view: The view that found them.
        units: [n] unit numbers, each once.
        scores: [n] in the view's own unit, descending.
        total: How many units the view would have returned without a limit; >= n.
    """

    def __init__(self, view: View, units: NDArray[np.int64], scores: NDArray[np.float64], total: int) -> None:
        self.view, self.units, self.scores, self.total = view, units, scores, total

    @classmethod
    def empty(cls, view: View) -> HitList:
        return cls(view, np.zeros(0, np.int64), np.zeros(0, np.float64), 0)

    @cached_property
    def _place(self) -> dict[int, int]:
        return {unit: place for place, unit in enumerate(self.units.tolist())}

    def __len__(self) -> int:
        return len(self.units)

    def __contains__(self, unit: int) -> bool:
        return unit in self._place

    def __iter__(self) -> Iterator[Hit]:
        for place, (unit, score) in enumerate(zip(self.units.tolist(), self.scores.tolist(), strict=True)):
            yield Hit(unit, place + 1, score, self.view)

    def get(self, unit: int) -> Hit | None:
        """The hit of a unit, None if the view did not find it."""
        place = self._place.get(unit)
        return None if place is None else Hit(unit, place + 1, float(self.scores[place]), self.view)

    def score(self, unit: int) -> float:
        """The score of a unit, 0 if the view did not find it."""
        place = self._place.get(unit)
        return 0.0 if place is None else float(self.scores[place])

    def head(self, limit: int) -> HitList:
        """The first `limit` hits, of the same total."""
        return HitList(self.view, self.units[:limit], self.scores[:limit], self.total)
