"""Merges the views of a multiview query into one ranking. docs/ranking.md states the rule; no other code ranks.

Every signal is in [0, 1] over the candidates of the query. It is weighted by the plan, added up, multiplied by the
factors that apply, and damped for each further result of the same file.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.search.query.plan import GRAPH, SIGNAL_VIEW
from lci_py.search.ranking.same_file import damping_steps
from lci_py.types.record import NamedTuple, dataclass, field
from lci_py.types.search import VIEWS, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.search.query.plan import Plan
    from lci_py.search.retrievers import HitList
    from lci_py.types.search import Degradation, View

#: A lifted result stays below this factor times the best result without a lift.
BELOW = 0.999


class Candidates(NamedTuple):
    """The units (definitions, or blocks of other code) to rank, with their signals and factors.

    Attributes:
        units: [n] unit numbers, ascending.
        files: [n] the file of each unit.
        signals: Maps a name to values in [0, 1]: [n].
        factors: Maps a name to a mask: [n], where the factor applies.
        is_hit: [n] whether a view has found the unit; None for all. Other units only count if the graph lifts them.
    """

    units: NDArray[np.int64]
    files: NDArray[np.int32]
    signals: dict[str, NDArray[np.float32]]
    factors: dict[str, NDArray[np.bool_]]
    is_hit: NDArray[np.bool_] | None = None


def join_candidates(direct: Candidates, others: Candidates) -> Candidates:
    """Join the candidates of the views with the candidates that only the graph reached: no unit is in both."""
    units = np.concatenate((direct.units, others.units))
    order = np.argsort(units, kind="stable")
    return Candidates(
        units[order],
        np.concatenate((direct.files, others.files))[order],
        {name: np.concatenate((direct.signals[name], others.signals[name]))[order] for name in direct.signals},
        {name: np.concatenate((direct.factors[name], others.factors[name]))[order] for name in direct.factors},
        (np.arange(len(units)) < len(direct.units))[order],
    )


class FusedResult(NamedTuple):
    """One merged result; its score is the sum of its steps."""

    unit: int
    score: float
    source: View
    steps: tuple[Step, ...]


class RankedCandidates:
    """A ranking of candidates, best first; ties by unit number, which follows path, then line. Candidates without a
    score above 0 are left out. The parts of a score are computed only for results that are shown.
    """

    def __init__(self, candidates: Candidates, plan: Plan, highest: float | None = None) -> None:
        """Rank candidates by a plan; `highest` is the largest score without the graph's lift, None to compute it."""
        self._candidates, self._plan = candidates, plan
        self._names = [name for name in sorted(candidates.signals) if plan.weights.get(name) and name != GRAPH]
        sums = self._sums()
        #: The largest score of a candidate that a view has found, without a lift.
        self.highest = self._highest(sums) if highest is None else highest
        #: The score of every candidate before the damping by file, in the candidates' order: [n].
        self.totals = total = self._lifted(sums)
        positions = np.flatnonzero(total > 0)
        # Units ascend, so that a stable order has them in it where scores tie.
        own = total[positions]
        order = np.argsort(-np.round(own, 9), kind="stable")
        depth = np.empty_like(positions)
        depth[order] = damping_steps(candidates.files[positions[order]])
        scores = np.round(own * plan.saturation**depth, 9).astype(np.float64)
        order = np.argsort(-scores, kind="stable")
        self._place, self._depth = positions[order], depth[order]
        self.scores = scores[order]

    def _sums(self) -> NDArray[np.float64]:
        """The weighted signals, times the factors: [n]."""
        candidates, plan = self._candidates, self._plan
        total = np.zeros(len(candidates.units))
        if self._names:
            parts = np.array([candidates.signals[name] for name in self._names], np.float64)
            parts *= np.array([plan.weights[name] for name in self._names])[:, None]
            # Rounded, so that the order of float additions on another machine cannot swap two results.
            for part in np.round(parts, 9, out=parts):
                total += part
        for name, applies in candidates.factors.items():
            total = np.where(applies, total * plan.factors.get(name, 1.0), total)
        return total

    def _highest(self, total: NDArray[np.float64]) -> float:
        is_hit = self._candidates.is_hit
        return float((total if is_hit is None else np.where(is_hit, total, 0.0)).max(initial=0.0))

    def _lifted(self, total: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums plus the graph's lift: [n], 0 for units that neither a view nor the graph has found."""
        candidates, plan = self._candidates, self._plan
        own = total if candidates.is_hit is None else np.where(candidates.is_hit, total, 0.0)
        near, weight = candidates.signals.get(GRAPH), plan.weights.get(GRAPH, 0.0)
        if near is None or not weight or not len(own):
            return own
        added = weight * near.astype(np.float64)
        for name, applies in candidates.factors.items():
            added = np.where(applies, added * plan.factors.get(name, 1.0), added)
        bound = np.maximum(own, BELOW * self.highest)
        return np.where(near > 0, np.maximum(own, np.minimum(total + np.round(added, 9), bound)), own)

    @property
    def units(self) -> NDArray[np.int64]:
        """The unit numbers, best first: [n]."""
        return self._candidates.units[self._place]

    def __len__(self) -> int:
        return len(self._place)

    def head(self, limit: int) -> list[FusedResult]:
        """The first `limit` results."""
        return self._items(0, max(0, limit))

    def find(self, unit: int) -> tuple[int, FusedResult] | None:
        """The rank (from 0) and the result of a unit; None if it is not ranked."""
        position = np.flatnonzero(self.units == unit)
        return (int(position[0]), self._items(int(position[0]), int(position[0]) + 1)[0]) if len(position) else None

    def _items(self, first: int, stop: int) -> list[FusedResult]:
        places, candidates = self._place[first:stop], self._candidates
        columns = zip(
            candidates.units[places].tolist(),
            self.scores[first:stop].tolist(),
            self.totals[places].tolist(),
            self._depth[first:stop].tolist(),
            *(candidates.signals[name][places].tolist() for name in self._names),
            strict=True,
        )
        lifts = candidates.signals[GRAPH][places].tolist() if GRAPH in candidates.signals else [0.0] * len(places)
        applied = [(name, where[places].tolist()) for name, where in candidates.factors.items()]
        return [
            self._item(row, lift, [name for name, where in applied if where[i]])
            for i, (row, lift) in enumerate(zip(columns, lifts, strict=True))
        ]

    def _item(self, row: tuple[Any, ...], near: float, factors: list[str]) -> FusedResult:
        """A result, from its row (unit, score, sum, depth, signals), its closeness in the graph, and its factors."""
        plan = self._plan
        unit, score, lifted, depth, *values = row
        steps = []
        for name, value in zip(self._names, values, strict=True):
            weight = plan.weights[name]
            if adds := round(weight * value, 9):
                steps.append(Step(name, SIGNAL_VIEW[name], value, weight, adds))
        source = _source(steps)
        # `sum` adds floats in another way from Python 3.12 on.
        total = math.fsum(step.adds for step in steps)
        for name in factors:
            if (factor := plan.factors.get(name)) is not None:
                steps.append(Step(name, None, None, factor, total * (factor - 1)))
                total *= factor
        if (lift := lifted - total) > 1e-9:
            steps.append(Step(GRAPH, None, near, plan.weights[GRAPH], lift))
            total += lift
        if depth:
            factor = plan.saturation**depth
            steps.append(Step("same_file", None, None, factor, total * (factor - 1)))
        return FusedResult(unit, score, source, tuple(steps))


def _source(steps: list[Step]) -> View:
    """The view that contributes most to a score; among equal views dense before bm25 before symbolic."""
    sums = dict.fromkeys(VIEWS, 0.0)
    for step in steps:
        if step.view is not None:
            sums[step.view] += step.adds
    return max(VIEWS, key=sums.__getitem__)


#: Candidates of each view in multiview. The ranking never depends on how many results are shown: this is a constant.
POOL = 400


@dataclass(slots=True)
class Outcome:
    """The outcome of a multiview search: the views' hits and their ranking."""

    hits: dict[View, HitList]
    ranked: RankedCandidates | None = None  # None if there are no candidates
    candidates: Candidates | None = None
    degraded: list[Degradation] = field(default_factory=list)
    trace: dict[str, Any] = field(default_factory=dict)
    symbols: Mapping[int, int] = field(default_factory=dict)  # unit -> the symbol in it that is shown instead
    spelled_out: bool = False  # whether the query has a name or a text word for word
    closest: float = -1.0  # the best score of the view dense; -1 without one
    anything: bool = False  # whether there are candidates
    by_words: bool = False  # whether one has a word of the query, or is named like it

    @property
    def failed(self) -> set[str]:
        """The names of the views that did not answer."""
        return {item.view for item in self.degraded}

    @property
    def total(self) -> int:
        return 0 if self.ranked is None else len(self.ranked)

    def head(self, limit: int) -> list[FusedResult]:
        """The first `limit` results."""
        return [] if self.ranked is None else self.ranked.head(limit)

    def find(self, unit: int) -> FusedResult | None:
        """The result of a unit; None if the unit is not ranked."""
        ranked = None if self.ranked is None else self.ranked.find(unit)
        return None if ranked is None else ranked[1]

    def other_scores(self, unit: int, source: View) -> tuple[tuple[View, float], ...]:
        """(view, score) of the views that found a unit, except `source`; the score is the view's own."""
        return tuple((view, hits.score(unit)) for view, hits in self.hits.items() if view != source and unit in hits)
