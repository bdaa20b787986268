"""Estimates for each definition the probability that it belongs to the answer, from the views and the graph."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lci_py.index.shards.unit_columns import UNIT_KINDS
from lci_py.search.navigate.nodes import step_name
from lci_py.search.ranking.graph_lift import edges_of, end_of_type, units_of
from lci_py.types.edges import AMBIGUOUS, confidence
from lci_py.types.search import TYPE_KINDS, VALUED_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from lci_py.index.shards.graph import GraphIndex
    from lci_py.index.shards.unit_columns import UnitColumns
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.types.explore import PieceRole

#: Logit of a definition without evidence, and the weight of each signal: a logistic regression over 193 questions about
#: five repositories and the definitions that a written answer names (docs/adr/0037-explore.md). Any four of the
#: repositories give nearly these numbers.
_NOTHING = -8.5
_SIGNALS = {"dense": 2.6, "names": 1.3, "content": 1.7}
#: Weights of: the fused score, without damping by file; for a type, the best score of a member; 1 / rank of the file;
#: calls from the best matches; being a value.
_SCORE, _MEMBER, _FILE, _CALLED, _VALUE = 1.0, 1.1, 1.3, 0.8, -2.2
#: Reduces the probability p to p / (1 + 2.5 p), since the sum is overconfident: of even odds a fifth belongs to the
#: answer.
_SHRINK = 2.5
#: Probability that a definition which the question spells out belongs to the answer.
NAMED = 0.9
#: The number of best results whose calls count, and of likeliest definitions whose graph neighbours are added.
_CALLING, _ASKED = 10, 12
#: Callers beyond which a callee belongs to many answers: it counts less for each, by the cube root.
_COMMON = 4
#: By relation, as in `graph_lift.RELATIONS`: the neighbour's role, and the rate at which it belongs to the answer.
_RELATIONS: tuple[tuple[PieceRole, float], ...] = (("callee", 0.3), ("caller", 0.2), ("base", 0.25), ("derived", 0.15))
#: Maximum number of definitions that are kept, the likeliest first; and their minimum probability, as a share of the
#: best one's.
MOST, _LEAST = 200, 0.02


class Way(NamedTuple):
    """The way by which a definition was reached in the graph."""

    role: PieceRole
    unit: int  # the other end of the edge
    edge: str
    ambiguous: bool


class UnitProbabilities(NamedTuple):
    """Units [n] with their probabilities [n], the most likely unit first."""

    units: list[int]
    worth: list[float]
    ways: Mapping[int, Way]  # of the units that the graph says more of than the views


def of_outcome(outcome: Outcome, table: UnitColumns) -> dict[int, float]:
    """Maps each definition (its unit) among a search's candidates to the probability that the answer needs it."""
    candidates, ranked = outcome.candidates, outcome.ranked
    if candidates is None or ranked is None or not len(ranked):
        return {}
    units, scores = candidates.units, ranked.totals / max(float(ranked.totals.max()), 1e-9)
    logits = np.full(len(units), _NOTHING) + _SCORE * scores
    for name, weight in _SIGNALS.items():
        if name in candidates.signals:
            logits += weight * candidates.signals[name]
    files = table.file[units]
    order = table.file[ranked.units]
    prior = np.zeros(len(table.paths))
    first, at = np.unique(order, return_index=True)
    prior[first[np.argsort(at)]] = 1 / (1 + np.arange(len(first)))
    logits += _FILE * prior[files]
    kinds = table.kind[units]
    logits += _VALUE * _VALUES[kinds]
    for i in np.flatnonzero(_TYPES[kinds]).tolist():
        inside = np.searchsorted(units, (units[i] + 1, end_of_type(table, int(units[i]))))
        logits[i] += _MEMBER * scores[inside[0] : inside[1]].max(initial=0.0)
    likely = 1 / (1 + np.exp(-logits))
    likely /= 1 + _SHRINK * likely
    defined = table.symbol[units] >= 0
    return dict(zip(units[defined].tolist(), np.round(likely[defined], 9).tolist(), strict=True))


def lift_callees(outcome: Outcome, table: UnitColumns, graph: GraphIndex, worth: dict[int, float]) -> dict[int, float]:
    """A copy of `worth` (unit to probability) with higher values for the callees of the best-scored units."""
    ranked = outcome.ranked
    if ranked is None or outcome.candidates is None or not worth:
        return worth
    order = np.argsort(-ranked.totals, kind="stable")[:_CALLING]
    seeds = outcome.candidates.units[order]
    scores = ranked.totals[order] / max(float(ranked.totals.max()), 1e-9)
    added: dict[int, float] = {}
    for (relation, seed), neighbours in _neighbours(graph, table, seeds).items():
        for unit, (sure, _) in neighbours.items() if relation == 0 else ():
            added[unit] = added.get(unit, 0.0) + float(scores[seed]) * sure / len(neighbours) ** (1 / 3)
    lifted = dict(worth)
    for unit, value in added.items():
        if unit in lifted:
            lifted[unit] = round(_add_evidence(lifted[unit], _CALLED * value), 9)
    return lifted


def with_neighbours(graph: GraphIndex, table: UnitColumns, worth: Mapping[int, float]) -> UnitProbabilities:
    """Adds the graph neighbours of the likeliest units. A neighbour's probability is that of the unit, times the rate
    at which neighbours by this relation belong to answers, times the edge's confidence; the more neighbours, the less.
    """
    chance = dict(worth)
    seeds = np.array(sorted(chance, key=lambda unit: (-chance[unit], unit))[:_ASKED], np.int64)
    ways: dict[int, Way] = {}
    best: dict[int, float] = {}
    for (relation, seed_index), neighbours in _neighbours(graph, table, seeds).items():
        role, rate = _RELATIONS[relation]
        seed = int(seeds[seed_index])
        for unit, (sure, step) in neighbours.items():
            value = worth[seed] * rate * sure / len(neighbours) ** (1 / 3)
            own = worth.get(unit, 0.0)
            if value > max(best.get(unit, 0.0), own):
                best[unit] = value
                ambiguous = relation < 2 and bool(step & AMBIGUOUS)
                ways[unit] = Way(role, seed, step_name(step) if relation < 2 else "inherits", ambiguous)
            chance[unit] = 1 - (1 - chance.get(unit, 0.0)) * (1 - value)
    minimum = _LEAST * max(chance.values(), default=0.0)
    units = sorted(
        (unit for unit in chance if chance[unit] > minimum), key=lambda unit: (-round(chance[unit], 9), unit)
    )[:MOST]
    return UnitProbabilities(units, [round(chance[unit], 9) for unit in units], ways)


def _neighbours(
    graph: GraphIndex, table: UnitColumns, seeds: NDArray[np.int64]
) -> dict[tuple[int, int], dict[int, tuple[float, int]]]:
    """Maps (relation, index of a seed) to the neighbouring units, each with its surest edge as (confidence, step)."""
    if not len(seeds):
        return {}
    group, node, step = edges_of(graph, table, seeds)
    unit = units_of(graph, table.unit_of_symbol(graph.n_symbols), node)
    neighbours: dict[tuple[int, int], dict[int, tuple[float, int]]] = {}
    # What is called from everywhere, such as a getter, says little of who calls it here.
    callers = (graph.in_ptr[node + 1] - graph.in_ptr[node]) if len(node) else node
    commons = np.cbrt(np.maximum(callers / _COMMON, 1.0))
    for key, other, how, common in zip(group.tolist(), unit.tolist(), step.tolist(), commons.tolist(), strict=True):
        relation, seed_index = divmod(key, len(seeds))
        if other >= 0 and other != seeds[seed_index]:
            surest = neighbours.setdefault((relation, seed_index), {})
            sure = confidence(how) / (common if relation == 0 else 1.0)
            surest[other] = max(surest.get(other, (0.0, 0)), (sure, how))
    return neighbours


def _add_evidence(probability: float, logit: float) -> float:
    """A probability after adding evidence to its log-odds."""
    odds = probability / (1 - probability) * math.exp(logit)
    return odds / (1 + odds)


_TYPES = np.array([kind in TYPE_KINDS for kind in UNIT_KINDS])
_VALUES = np.array([kind in VALUED_KINDS and kind != "macro" for kind in UNIT_KINDS])
