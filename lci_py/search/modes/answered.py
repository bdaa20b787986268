"""The result of a mode for the engine: the answer, and the intermediate values that some flags report."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.search.degraded import Extras
    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.query.plan import Plan
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.types.search import Answer, Filters


class Merged(NamedTuple):
    """Intermediate values of a multiview query."""

    plan: Plan
    outcome: Outcome
    extras: Extras  # what could not be read besides the views


class Answered(NamedTuple):
    """An answer of a mode.

    Attributes:
        answer: The ranked results in their envelope.
        filters: The filters of the flags and of the query.
        explainable: Computes what `--explain-file` shows.
        merged: None in the single modes, and where nothing is ranked.
    """

    answer: Answer
    filters: Filters
    explainable: Callable[[], Explainable]
    merged: Merged | None = None
