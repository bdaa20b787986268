"""A second ranking of the same candidates, beside the one that answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lci_py.search.plan import Plan
    from lci_py.search.weights import Ranking


def under(plan: Plan, ranking: Ranking) -> Plan:
    """The same plan, with the numbers of another ranking."""
    return replace(
        plan,
        ranking=ranking.name,
        weights=ranking.weights[plan.intent],
        factors=ranking.factors,
        saturation=ranking.saturation,
    )
