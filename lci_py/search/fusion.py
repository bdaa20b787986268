"""Merge the views of a multiview query into one ranking. docs/ranking.md states the rule; nothing else ranks.

Every signal is scaled to [0, 1] over the candidates of the query, weighted by the plan, added up, multiplied by the
factors that apply, and damped for each further result of the same file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lci_py.types import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.search.plan import Plan
    from lci_py.types import View

#: Which sub-index a signal comes from, for `mode_source`.
SIGNAL_VIEW: dict[str, View] = {
    "dense": "dense", "dense_file": "dense", "content": "bm25", "names": "bm25", "paths": "bm25", "files": "bm25",
    "stem": "bm25", "symbol": "symbolic",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fused:
    """One merged result: its score is the sum of `parts` times the product of `factors`."""

    unit: int
    score: float
    source: View
    parts: dict[str, float]
    factors: dict[str, float]


def scaled(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide by the largest value: [0, 1], zeros if nothing is positive."""
    peak = float(values.max()) if len(values) else 0.0
    return np.clip(values / np.float32(peak), 0, 1) if peak > 0 else np.zeros_like(values)


def fuse(
    units: NDArray[np.int64],
    signals: Mapping[str, NDArray[np.float32]],
    factors: Mapping[str, NDArray[np.bool_]],
    files: NDArray[np.int32],
    plan: Plan,
) -> list[Fused]:
    """Rank the candidates.

    Args:
        units: [n] unit numbers, ascending.
        signals: Name to [n] values in [0, 1]; a signal that the plan gives no weight counts 0.
        factors: Name of a factor in the plan to [n], where it applies.
        files: [n] the file of each unit.
        plan: Weights, factors and saturation.
    Returns:
        Best first; ties by unit number, which follows path, then line.
    """
    names = [name for name in sorted(signals) if plan.weights.get(name)]
    # Rounded, so that the order of float additions on another machine cannot swap two results.
    parts = {name: np.round(plan.weights[name] * signals[name].astype(np.float64), 9) for name in names}
    total = sum(parts.values(), np.zeros(len(units)))
    for name, applies in factors.items():
        total = np.where(applies, total * plan.factors.get(name, 1.0), total)
    order = np.lexsort((units, -np.round(total, 9)))
    seen: dict[int, int] = {}
    fused = []
    for i in order:
        if total[i] <= 0:
            break
        depth = seen[int(files[i])] = seen.get(int(files[i]), -1) + 1
        applied = {name: plan.factors[name] for name, where in factors.items() if where[i] and name in plan.factors}
        if depth:
            applied["same_file"] = plan.saturation**depth
        own = {name: float(parts[name][i]) for name in names if parts[name][i]}
        score = round(float(total[i]) * plan.saturation**depth, 9)
        fused.append(Fused(int(units[i]), score, _source(own), own, applied))
    fused.sort(key=lambda item: (-item.score, item.unit))
    return fused


def _source(parts: dict[str, float]) -> View:
    """The view with the largest contribution; a tie goes dense > bm25 > symbolic."""
    sums = {view: sum(value for name, value in parts.items() if SIGNAL_VIEW[name] == view) for view in VIEWS}
    return max(VIEWS, key=lambda view: sums[view])
