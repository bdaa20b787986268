"""Merge the views of a multiview query into one ranking. docs/ranking.md states the rule; nothing else ranks.

Every signal is in [0, 1] over the candidates of the query. It is weighted by the plan, added up, multiplied by the
factors that apply, and damped for each further result of the same file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.search.spread import depths
from lci_py.types import VIEWS, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.search.plan import Plan
    from lci_py.types import View

#: Which sub-index a signal comes from, for `mode_source`; None is for what belongs to no view.
SIGNAL_VIEW: dict[str, View | None] = {
    "dense": "dense", "dense_file": "dense", "content": "bm25", "names": "bm25", "paths": "bm25", "files": "bm25",
    "stem": "bm25", "symbol": "symbolic", "near": None,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is ranked, and everything that is known of it.

    Attributes:
        units: [n] unit numbers, ascending.
        files: [n] the file of each.
        signals: Name to [n] values in [0, 1].
        factors: Name to [n], where it applies.
    """

    units: NDArray[np.int64]
    files: NDArray[np.int32]
    signals: dict[str, NDArray[np.float32]]
    factors: dict[str, NDArray[np.bool_]]


class Fused(NamedTuple):
    """One merged result; the steps of its score add up to it."""

    unit: int
    score: float
    source: View
    steps: tuple[Step, ...]


class Ranked:
    """A ranking of candidates, best first; ties by unit number, which follows path, then line. Candidates without a
    score above 0 are left out. What makes a score is worked out for who asks."""

    def __init__(self, candidates: Candidates, plan: Plan) -> None:
        self._candidates, self._plan = candidates, plan
        self._names = [name for name in sorted(candidates.signals) if plan.weights.get(name)]
        total = np.zeros(len(candidates.units))
        for name in self._names:
            # Rounded, so that the order of float additions on another machine cannot swap two results.
            total += np.round(plan.weights[name] * candidates.signals[name].astype(np.float64), 9)
        for name, applies in candidates.factors.items():
            total = np.where(applies, total * plan.factors.get(name, 1.0), total)
        order = np.lexsort((candidates.units, -np.round(total, 9)))
        order = order[total[order] > 0]
        depth = depths(candidates.files[order])
        scores = np.round(total[order] * plan.saturation**depth, 9)
        again = np.lexsort((candidates.units[order], -scores))
        self._place, self._depth, self.scores = order[again], depth[again], scores[again]

    @property
    def units(self) -> NDArray[np.int64]:
        """[n] unit numbers, best first."""
        return self._candidates.units[self._place]

    def __len__(self) -> int:
        return len(self._place)

    def head(self, limit: int) -> list[Fused]:
        """The first `limit` results."""
        return [self._item(rank) for rank in range(min(limit, len(self)))]

    def find(self, unit: int) -> tuple[int, Fused] | None:
        """The rank (from 0) and the result of a unit, None if it is not ranked."""
        found = np.flatnonzero(self.units == unit)
        return (int(found[0]), self._item(int(found[0]))) if len(found) else None

    def _item(self, rank: int) -> Fused:
        place, plan = int(self._place[rank]), self._plan
        signals = self._candidates.signals
        steps = []
        for name in self._names:
            value = float(signals[name][place])
            adds = round(plan.weights[name] * value, 9)
            if adds:
                steps.append(Step(name, SIGNAL_VIEW[name], value, plan.weights[name], adds))
        source = _source(steps)
        total = sum(step.adds for step in steps)
        multiplied = {
            name: plan.factors[name]
            for name, where in self._candidates.factors.items()
            if where[place] and name in plan.factors
        }
        if self._depth[rank]:
            multiplied["same_file"] = plan.saturation ** int(self._depth[rank])
        for name, factor in multiplied.items():
            steps.append(Step(name, None, None, factor, total * (factor - 1)))
            total *= factor
        return Fused(int(self._candidates.units[place]), float(self.scores[rank]), source, tuple(steps))


def scaled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide by the largest value: [0, 1], zeros if nothing is positive."""
    peak = float(values.max()) if len(values) else 0.0
    return np.clip(values / np.float32(peak), 0, 1) if peak > 0 else np.zeros_like(values)


def _source(steps: list[Step]) -> View:
    """The view with the largest contribution; a tie goes dense > bm25 > symbolic."""
    sums = {view: sum(step.adds for step in steps if step.view == view) for view in VIEWS}
    return max(VIEWS, key=lambda view: sums[view])
