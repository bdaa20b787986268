"""NDCG@10 of many queries at once, for any weights and factors of a ranking.

The same computation as `fusion.Ranked`, over arrays padded to one length: a search for weights needs a thousand
rankings of each query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lci_py.search.query.plan import LIVE
from lci_py.search.ranking.fusion import BELOW, GRAPH
from tests.quality.judged import Case

_TOP = 10
#: So many candidates are ordered first, and more only if one of the others could reach the first ten.
_HEAD, _MORE = 64, 4
_GAINS = 1 / np.log2(np.arange(2, _TOP + 2))


class Block:
    """Queries whose candidates are ranked by the same numbers."""

    def __init__(
        self,
        cases: Sequence[Case],
        hit: Callable[[dict[str, Any], Mapping[str, Any]], bool],
        signals: Sequence[str],
        factors: Sequence[str],
    ) -> None:
        """
        Args:
            cases: The queries, each with candidates.
            hit: Whether a result hits a target.
            signals: Names, in the order of the weights.
            factors: Names, in the order of the factors.
        """
        width = max((len(case.places) for case in cases), default=0)
        shape = (len(cases), width)
        self._signals = np.zeros((len(signals), *shape))
        self._factors = np.zeros((len(factors), *shape), np.bool_)
        self._near = np.zeros(shape)
        self._graph = signals.index(GRAPH) if GRAPH in signals else None
        self._only_lifted = np.zeros(shape, np.bool_)
        self._files = np.full(shape, -1, np.int64)
        self._targets = np.zeros(shape, np.int64)  # a bit for each target that the candidate is at
        self._ideal = np.ones(len(cases))
        #: Signals and factors that say something of a candidate.
        self.told: set[str] = set()
        self._last: tuple[tuple[float, ...], NDArray[np.float64]] | None = None
        for row, case in enumerate(cases):
            assert case.candidates is not None and case.plan is not None
            n, targets = len(case.places), case.task.targets
            for k, name in enumerate(signals):
                if name in case.candidates.signals:
                    # What is learned are the weights of a small index.
                    size = LIVE.growing(name, case.plan.files)
                    values = case.candidates.signals[name] * np.float64(size)
                    (self._near if k == self._graph else self._signals[k])[row, :n] = values
            for k, name in enumerate(factors):
                if name in case.candidates.factors:
                    self._factors[k, row, :n] = case.candidates.factors[name]
            self._files[row, :n] = case.candidates.files
            if case.candidates.is_hit is not None:
                self._only_lifted[row, :n] = ~case.candidates.is_hit
            for i, place in enumerate(case.places):
                result = place._asdict()
                self._targets[row, i] = sum(1 << bit for bit, target in enumerate(targets) if hit(result, target))
            self._ideal[row] = _GAINS[: max(1, len(targets))].sum()
        for names, arrays in ((signals, self._signals), (factors, self._factors)):
            self.told.update(name for name, values in zip(names, arrays, strict=True) if values.any())
        if self._near.any():
            self.told.add(GRAPH)
        self._lifts = np.nonzero(self._near)

    def ndcg(self, weights: Sequence[float], factors: Sequence[float], saturation: float) -> NDArray[np.float64]:
        """NDCG@10 of each query: [queries].

        Args:
            weights: One per signal.
            factors: One per factor.
            saturation: As in a `Ranking`.
        """
        if not self._files.size:
            return np.zeros(len(self._files))
        total = np.tensordot(np.array(weights), self._signals, 1)
        product = self._multiplied(tuple(factors))
        total *= product
        total = np.round(self._lifted(total, product, 0.0 if self._graph is None else weights[self._graph]), 9)
        gained = np.zeros(len(total))
        rows, head = np.arange(len(total)), _HEAD
        while len(rows):
            gained[rows], sure = self._gained(total[rows], rows, head, saturation)
            rows, head = rows[~sure], head * _MORE
        found: NDArray[np.float64] = gained / self._ideal
        return found

    def _lifted(self, total: NDArray[np.float64], product: NDArray[np.float64], weight: float) -> NDArray[np.float64]:
        """The sums with the lifts of the graph, as in `Ranked`."""
        own = np.where(self._only_lifted, 0.0, total)
        if weight and len(self._lifts[0]):
            at, best = self._lifts, own.max(axis=1)[self._lifts[0]]
            added = np.round(weight * self._near[at] * product[at], 9)
            own[at] = np.maximum(own[at], np.minimum(total[at] + added, np.maximum(own[at], BELOW * best)))
        return own

    def _multiplied(self, factors: tuple[float, ...]) -> NDArray[np.float64]:
        """The product of the factors that apply. The last one is kept, since weights change more often than factors."""
        if self._last is None or self._last[0] != factors:
            product = np.ones(self._files.shape)
            for factor, applies in zip(factors, self._factors, strict=True):
                product[applies] *= factor
            self._last = (factors, product)
        return self._last[1]

    def _gained(
        self, total: NDArray[np.float64], rows: NDArray[np.int64], head: int, saturation: float
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The gain of the first ten of some rows, and whether candidates beyond the `head` cannot be among them."""
        head = min(head, total.shape[1])
        place = np.argpartition(-total, head - 1, axis=1)[:, :head]
        place.sort(axis=1)
        scores = np.take_along_axis(total, place, 1)
        order = np.argsort(-scores, axis=1, kind="stable")
        depth = np.empty(order.shape, np.int64)
        np.put_along_axis(
            depth, order, _depths(np.take_along_axis(self._files[rows], np.take_along_axis(place, order, 1), 1)), 1
        )
        damped = np.round(scores * saturation ** (depth - (depth > 1)), 9)
        lowest = scores.min(axis=1)
        each, seen = np.arange(len(rows)), np.zeros(len(rows), np.int64)
        gained, last = np.zeros(len(rows)), np.zeros(len(rows))
        for gain in _GAINS[:head]:
            best = damped.argmax(axis=1)  # the first of equal candidates: ties are broken by unit
            last = damped[each, best]
            at = np.where(last > 0, self._targets[rows, place[each, best]], 0)
            # One gain per rank, even if several targets are first hit there, as in the benchmark's measure.
            gained += gain * ((at & ~seen) != 0)
            seen |= at
            damped[each, best] = -1
        return gained, (last > lowest) | (lowest <= 0) | (head == total.shape[1])


def _depths(files: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of earlier candidates of the same row and file: [rows, n]."""
    order = np.argsort(files, axis=1, kind="stable")
    grouped = np.take_along_axis(files, order, 1)
    counts = np.broadcast_to(np.arange(files.shape[1]), files.shape)
    starts = np.concatenate((np.ones((len(files), 1), bool), grouped[:, 1:] != grouped[:, :-1]), axis=1)
    first = np.maximum.accumulate(np.where(starts, counts, 0), axis=1)
    found = np.empty(files.shape, np.int64)
    np.put_along_axis(found, order, counts - first, 1)
    return found
