"""NDCG@10 of many queries at once, under any numbers of a ranking. It repeats `fusion.Ranked` over arrays that are padded
to one length, because a search for weights asks for a thousand rankings of each query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.quality.judged import Case

_TOP = 10
#: Candidates that are ordered first; where a result from behind them could reach the first ten, all are.
_HEAD = 96
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
            hit: Whether a result is at a target.
            signals: Names, in the order of the weights.
            factors: Names, in the order of the factors.
        """
        width = max((len(case.places) for case in cases), default=0)
        shape = (len(cases), width)
        self._signals = np.zeros((len(signals), *shape))
        self._factors = np.zeros((len(factors), *shape), np.bool_)
        self._files = np.full(shape, -1, np.int64)
        self._targets = np.zeros(shape, np.int64)  # a bit for each target that the candidate is at
        self._ideal = np.ones(len(cases))
        for row, case in enumerate(cases):
            assert case.candidates is not None
            n, targets = len(case.places), case.task.targets
            for k, name in enumerate(signals):
                if name in case.candidates.signals:
                    self._signals[k, row, :n] = case.candidates.signals[name]
            for k, name in enumerate(factors):
                if name in case.candidates.factors:
                    self._factors[k, row, :n] = case.candidates.factors[name]
            self._files[row, :n] = case.candidates.files
            for i, place in enumerate(case.places):
                result = place._asdict()
                self._targets[row, i] = sum(1 << bit for bit, target in enumerate(targets) if hit(result, target))
            self._ideal[row] = _GAINS[: max(1, len(targets))].sum()

    def ndcg(self, weights: Sequence[float], factors: Sequence[float], saturation: float) -> NDArray[np.float64]:
        """NDCG@10 of each query: [queries].

        Args:
            weights: Of each signal.
            factors: Of each factor.
            saturation: As in a `Ranking`.
        """
        total = np.zeros(self._files.shape)
        if not total.size:
            return np.zeros(len(total))
        for weight, values in zip(weights, self._signals, strict=True):
            if weight:
                total += weight * values
        for factor, applies in zip(factors, self._factors, strict=True):
            if factor != 1:
                total = np.where(applies, total * factor, total)
        total = np.round(total, 9)
        gained, sure = self._gained(total, np.arange(len(total)), _HEAD, saturation)
        if not sure.all():
            rest = np.flatnonzero(~sure)
            gained[rest], _ = self._gained(total[rest], rest, total.shape[1], saturation)
        found: NDArray[np.float64] = gained / self._ideal
        return found

    def _gained(
        self, total: NDArray[np.float64], rows: NDArray[np.int64], head: int, saturation: float
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The gain of the first ten of some rows, and whether nothing from behind the `head` can be among them."""
        head = min(head, total.shape[1])
        place = np.argpartition(-total, head - 1, axis=1)[:, :head]
        place.sort(axis=1)
        scores = np.take_along_axis(total, place, 1)
        order = np.argsort(-scores, axis=1, kind="stable")
        place, scores = np.take_along_axis(place, order, 1), np.take_along_axis(scores, order, 1)
        files = np.take_along_axis(self._files[rows], place, 1)
        damped = np.round(scores * saturation ** _depths(files), 9)
        again = np.lexsort((place, -damped), axis=1)[:, :_TOP]
        damped, place = np.take_along_axis(damped, again, 1), np.take_along_axis(place, again, 1)
        at = np.where(damped > 0, np.take_along_axis(self._targets[rows], place, 1), 0)
        seen = np.bitwise_or.accumulate(at, axis=1)
        before = np.concatenate((np.zeros((len(at), 1), np.int64), seen[:, :-1]), axis=1)
        # One gain per rank, however many targets are first met there: the measure of the benchmark.
        gained = ((at & ~before) != 0) @ _GAINS[: at.shape[1]]
        sure = (damped[:, -1] > scores[:, -1]) | (scores[:, -1] <= 0) | (head == total.shape[1])
        return gained, sure


def _depths(files: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the same row and file come before each: [rows, n]."""
    order = np.argsort(files, axis=1, kind="stable")
    grouped = np.take_along_axis(files, order, 1)
    counts = np.broadcast_to(np.arange(files.shape[1]), files.shape)
    starts = np.concatenate((np.ones((len(files), 1), bool), grouped[:, 1:] != grouped[:, :-1]), axis=1)
    first = np.maximum.accumulate(np.where(starts, counts, 0), axis=1)
    found = np.empty(files.shape, np.int64)
    np.put_along_axis(found, order, counts - first, 1)
    return found
