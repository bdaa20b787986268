"""The plan of a multiview query: a value that is part of the answer, the same for the same query, flags and index."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lci_py.search.weights import LIVE
from lci_py.types import VIEWS

if TYPE_CHECKING:
    from lci_py.search.query import TextQuery
    from lci_py.search.weights import Ranking
    from lci_py.types import Filters

INTENTS = ("fast_exact", "balanced_hybrid", "ambiguous_multiquery", "structured_filter_heavy")
#: What is tried, in this order, until something answers.
LADDER = ("strict_filter", "hybrid", "relaxed_lexical", "dense_only", "degraded")


@dataclass(frozen=True, slots=True)
class Plan:
    """How a multiview query is answered.

    Attributes:
        intent: One of INTENTS.
        ranking: Name of the ranking that the weights are of.
        weights: Signal to weight.
        factors: Name to multiplier.
        saturation: Multiplier of a file's every further result.
        budgets: View to milliseconds; empty without --budget-ms.
        rewrites: Other wordings that are looked up besides.
        filters: The constraints that narrow the candidates first: field to values.
        expand: Hops around the results.
        near: The place that results are preferred around, None for none.
        ladder: The steps of the retrieval, in the order they are tried.
    """

    intent: str
    ranking: str
    weights: dict[str, float]
    factors: dict[str, float]
    saturation: float
    budgets: dict[str, float]
    rewrites: tuple[str, ...]
    filters: dict[str, tuple[str, ...]]
    expand: int
    near: str | None
    ladder: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "views": list(VIEWS), "context": "graph"}


def plan(
    query: TextQuery, filters: Filters, *, expand: int = 0, near: str | None = None, ranking: Ranking = LIVE
) -> Plan:
    """Choose how a query is answered, by its form and its filters.

    Args:
        query: The text, without `field:value` terms.
        filters: Of the flags and the query together.
        expand: Hops around the results.
        near: A place that results are preferred around.
        ranking: Whose weights count.
    """
    chosen = intent(query, filters)
    given = {field: tuple(values) for field, values in asdict(filters).items() if values}
    return Plan(
        intent=chosen,
        ranking=ranking.name,
        weights=ranking.weights[chosen],
        factors=ranking.factors,
        saturation=ranking.saturation,
        budgets={},
        rewrites=(),
        filters=given,
        expand=expand,
        near=near,
        ladder=LADDER if given else LADDER[1:],
    )


def intent(query: TextQuery, filters: Filters) -> str:
    """One of INTENTS: a lone name, a question in words, a few words that could mean much, or mostly filters."""
    names_only = 0 < len(query.words) <= 3 and (len(query.identifiers) == len(query.words) or len(query.words) == 1)
    return "fast_exact" if names_only or query.phrases else "balanced_hybrid"
