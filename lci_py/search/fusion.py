"""Merge the views of a multiview query into one ranking. docs/ranking.md states the rule; nothing else ranks.

Every signal is in [0, 1] over the candidates of the query. It is weighted by the plan, added up, multiplied by the
factors that apply, and damped for each further result of the same file.
"""

from __future__ import annotations

import math
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
    "stem": "bm25", "symbol": "symbolic", "dense_all": "dense", "hub": None, "near": None, "graph": None,
}  # fmt: skip
#: The signal that lifts (`neighbours`), unlike the others, which add up.
GRAPH = "graph"
#: What is lifted stays below the best result without a lift, by this factor.
BELOW = 0.999


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is ranked, and everything that is known of it.

    Attributes:
        units: [n] unit numbers, ascending.
        files: [n] the file of each.
        signals: Name to [n] values in [0, 1].
        factors: Name to [n], where it applies.
        found: [n] whether a view has it among its hits; None for all. The others are candidates only for being lifted.
    """

    units: NDArray[np.int64]
    files: NDArray[np.int32]
    signals: dict[str, NDArray[np.float32]]
    factors: dict[str, NDArray[np.bool_]]
    found: NDArray[np.bool_] | None = None


def joined(found: Candidates, others: Candidates) -> Candidates:
    """What the views found and what only the graph did, as one: no unit is in both."""
    units = np.concatenate((found.units, others.units))
    order = np.argsort(units, kind="stable")
    return Candidates(
        units[order],
        np.concatenate((found.files, others.files))[order],
        {name: np.concatenate((found.signals[name], others.signals[name]))[order] for name in found.signals},
        {name: np.concatenate((found.factors[name], others.factors[name]))[order] for name in found.factors},
        (np.arange(len(units)) < len(found.units))[order],
    )


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
        self._names = [name for name in sorted(candidates.signals) if plan.weights.get(name) and name != GRAPH]
        total = np.zeros(len(candidates.units))
        for name in self._names:
            # Rounded, so that the order of float additions on another machine cannot swap two results.
            total += np.round(plan.weights[name] * candidates.signals[name].astype(np.float64), 9)
        for name, applies in candidates.factors.items():
            total = np.where(applies, total * plan.factors.get(name, 1.0), total)
        total = self._lifted(total)
        order = np.lexsort((candidates.units, -np.round(total, 9)))
        order = order[total[order] > 0]
        depth = depths(candidates.files[order])
        scores = np.round(total[order] * plan.saturation**depth, 9)
        again = np.lexsort((candidates.units[order], -scores))
        self._place, self._depth = order[again], depth[again]
        self.scores = scores[again].astype(np.float64)
        self._total = total

    def _lifted(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums with what the graph adds: [n], 0 for what neither a view nor the graph has found."""
        candidates, plan = self._candidates, self._plan
        own = total if candidates.found is None else np.where(candidates.found, total, 0.0)
        near, weight = candidates.signals.get(GRAPH), plan.weights.get(GRAPH, 0.0)
        if near is None or not weight or not len(own):
            return own
        added = weight * near.astype(np.float64)
        for name, applies in candidates.factors.items():
            added = np.where(applies, added * plan.factors.get(name, 1.0), added)
        bound = np.maximum(own, BELOW * own.max())
        return np.where(near > 0, np.maximum(own, np.minimum(total + np.round(added, 9), bound)), own)

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
        # `sum` adds floats in another way from Python 3.12 on.
        total = math.fsum(step.adds for step in steps)
        for name, where in self._candidates.factors.items():
            if where[place] and (factor := plan.factors.get(name)) is not None:
                steps.append(Step(name, None, None, factor, total * (factor - 1)))
                total *= factor
        if (lift := float(self._total[place]) - total) > 1e-9:
            steps.append(Step(GRAPH, None, float(signals[GRAPH][place]), plan.weights[GRAPH], lift))
            total += lift
        if self._depth[rank]:
            factor = plan.saturation ** int(self._depth[rank])
            steps.append(Step("same_file", None, None, factor, total * (factor - 1)))
        return Fused(int(self._candidates.units[place]), float(self.scores[rank]), source, tuple(steps))


def _source(steps: list[Step]) -> View:
    """The view with the largest contribution; a tie goes dense > bm25 > symbolic."""
    sums = {view: math.fsum(step.adds for step in steps if step.view == view) for view in VIEWS}
    return max(VIEWS, key=lambda view: sums[view])
