"""Shared parts of the ranked modes: the candidates of a query (units that pass the filters and contain the quoted
phrases), the optional graph, the confidence in an answer, and the value that a mode returns to the engine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

from lci_py.errors import (
    BudgetExceededError,
    GraphPendingError,
    IndexError_,
    ShardMissingError,
    UsageError,
    unknown_value,
)
from lci_py.types.record import NamedTuple
from lci_py.types.search import BLOCK_KIND, KINDS, Confidence, Degradation, Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.query.plan import Plan
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Filters, View


_T = TypeVar("_T")


class MultiviewState(NamedTuple):
    """The intermediate values of a multiview query, from which `lci explore` and `--expand` continue."""

    plan: Plan
    outcome: Outcome
    optional_graph: OptionalGraph  # what could not be read besides the views


class ModeAnswer(NamedTuple):
    """The answer of a mode.

    Attributes:
        answer: The ranked results in their envelope.
        filters: The filters of the flags and of the query.
        explainable: Returns the intermediate results that `--explain-file` needs.
        merged: The state of a multiview query; None in the other modes, and if nothing is ranked.
    """

    answer: Answer
    filters: Filters
    explainable: Callable[[], Explainable]
    merged: MultiviewState | None = None


#: The kinds of results.
ANY_KIND = (*KINDS, BLOCK_KIND)


def check(snapshot: Snapshot, filters: Filters, kinds: tuple[str, ...] = ANY_KIND) -> None:
    """Refuse a kind, language or repository that the index cannot have: a typo must not look like "nothing found".

    Raises:
        UsageError: A value is unknown; the message has the nearest valid name.
    """
    if filters.repo:
        _check_repositories(snapshot, filters.repo)
    for kind in filters.kind:
        if kind.lower() not in kinds:
            raise unknown_value("kind", kind, kinds)
    if filters.lang:
        from lci_py.source.syntax.languages import language_aliases, language_names, language_of

        own = tuple(snapshot.manifest.counts["files_by_language"])
        names = {*language_names(), *snapshot.whole.joined("languages", own)}
        for language in filters.lang:
            if language_of(language) not in names:
                near = unknown_value("language", language, sorted({*names, *language_aliases()}))
                raise near if "did you mean" in near.hint else unknown_value("language", language, sorted(names))


def _check_repositories(snapshot: Snapshot, globs: tuple[str, ...]) -> None:
    from fnmatch import fnmatchcase

    from lci_py.source.repository.workspace import is_workspace, members

    if not is_workspace(snapshot.root):
        raise UsageError("--repo needs --workspace", hint="it names repositories of a workspace; --path names folders")
    repositories = list(members(snapshot.root))
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in repositories):
            raise unknown_value("repository", glob, repositories)


def allowed_units(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_] | None:
    """A mask [units] of the units that pass the filters and lie in files that still exist; None for all units."""
    there = snapshot.freshness.there()
    if not filters and there is None:
        return None
    import numpy as np

    with snapshot.trace.stage("filter", snapshot.n_units) as stage:
        units = snapshot.symbols.allowed_units(filters, there)
        mask = np.zeros(snapshot.n_units, np.bool_)
        mask[units] = True
        stage.left = len(units)
    return mask


class Choice(NamedTuple):
    """The requirements on a candidate: filters and quoted phrases."""

    filters: Filters = Filters()
    phrases: tuple[str, ...] = ()  # stand in its own lines, letter for letter
    either: bool = False  # one of them is enough


class Chosen(NamedTuple):
    """The units that meet the requirements of a `Choice`.

    Attributes:
        mask: [units] whether a unit meets the requirements; None for all units.
        places: Maps a unit to the first line in it that contains a quoted phrase.
    """

    mask: NDArray[np.bool_] | None = None
    places: Mapping[int, int] = {}


def chosen(snapshot: Snapshot, choice: Choice) -> Chosen:
    """The units that meet the requirements of `choice` and lie in files that still exist."""
    allowed = allowed_units(snapshot, choice.filters)
    if not choice.phrases:
        return Chosen(allowed)
    from lci_py.search.modes.phrases import units_with

    with snapshot.trace.stage("phrases", snapshot.n_units if allowed is None else int(allowed.sum())) as stage:
        mask, places = units_with(snapshot, choice.phrases, allowed, either=choice.either)
        stage.left = int(mask.sum())
    return Chosen(mask, places)


# --- the graph, which most queries can do without -----------------------------------------------------------------


class OptionalGraph:
    """Guards a query's access to the graph: after a failure the graph is not used again."""

    def __init__(self, *, or_nothing: bool = False) -> None:
        """With `or_nothing`, every failure is raised, except for a graph that is not built yet."""
        self._or_nothing = or_nothing
        self._error: IndexError_ | None = None

    def ask(self, work: Callable[[], _T]) -> _T | None:
        """Returns the result of `work`, which reads the graph; None if the graph fails or has failed before."""
        if self._error is not None:
            return None
        try:
            return work()
        except IndexError_ as error:
            if self._or_nothing and not isinstance(error, GraphPendingError):
                raise
            self._error = error
            return None

    def degraded(self, answering: Sequence[View], *, required: bool) -> tuple[Degradation, ...]:
        """The entry of `degraded` if the graph has failed, else ().

        Args:
            answering: The views that answered.
            required: Whether the query asks for the graph itself (--near, --expand), and not only for a better ranking.
        """
        if self._error is None:
            return ()
        others, impact = "+".join(answering) or "none", "high" if required else "medium"
        return (Degradation("graph", failure(self._error), others, impact, detail(self._error)),)


def failure(error: IndexError_) -> str:
    """The reason code of an error for `degraded`; a shard that is not built yet counts as missing."""
    missing = isinstance(error, ShardMissingError)
    return "shard_missing" if missing else error.code if error.code == "model_mismatch" else "error"


def detail(error: IndexError_) -> str:
    """The message of an error for `degraded`: what is wrong and what to do."""
    return f"{error.message}: {error.hint}" if error.hint else error.message


# --- the confidence in an answer -----------------------------------------------------------------------------------

# Every query has a closest place, even one about something that does not exist. Its dense score (cosine, and the share
# of the query's tokens in the place) tells the two apart. Measured on 560 questions about 28 repositories and on 40
# questions of the other 27 asked of each, the closest score alone has an AUC of .96. The agreement of the views, the
# words that the index lacks, and the margin add .006 at most, and would need a weight each
# (`tests/quality/confidence.py`).
#: Of the questions about their own repository, 95 of 100 have a closest score of at least `LOW`; of those about another
#: one, 95 of 100 have less than `HIGH`.
LOW, HIGH = 0.43, 0.53
#: Characters of a query that the reason quotes.
_ASKED = 80


def check_time(view: View, budget_ms: int | None, began: float) -> None:
    """Check that the only view of a mode has kept its time budget, measured from `began` (by `time.perf_counter`).

    Raises:
        BudgetExceededError: The view took longer.
    """
    took_ms = (time.perf_counter() - began) * 1e3
    if budget_ms is not None and took_ms > budget_ms:
        raise BudgetExceededError(view, budget_ms, took_ms)


def confidence(snapshot: Snapshot, query: str, closest: float, *, spelled_out: bool) -> Confidence | None:
    """The confidence in a ranked answer that has results.

    Args:
        closest: The best score of the view dense; -1 if the view did not answer.
        spelled_out: Whether the query is the name of a definition, or text that occurs literally.
    Returns:
        None if the thresholds do not fit the scores, as with a user's model that does not compare single tokens.
    """
    whole = snapshot.whole
    closest = whole.largest("closest", closest)
    if whole.total("spelled out", spelled_out):
        return Confidence("high", "a name or a text of the query occurs literally")
    if closest < 0 or not snapshot.dense.late:
        return None
    said = f"the nearest result has a similarity of {closest:.2f}; 95 % of questions"
    if closest >= HIGH:
        return Confidence("high", f"{said} without an answer here stay below {HIGH}")
    if closest >= LOW:
        return Confidence(
            "medium", f"{said} without an answer here stay below {HIGH}, and 95 % of those with one reach {LOW}"
        )
    text = query if len(query) <= _ASKED else query[: _ASKED - 1].rstrip() + "…"
    return Confidence("low", f"nothing here seems to be about {text!r}: {said} with an answer here reach {LOW}")
