"""The candidates of a query: the units that pass the filters and hold the quoted phrases.

Also what a mode returns to the engine: the answer, and intermediate values that some flags report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.errors import UsageError, unknown_value
from lci_py.types.record import NamedTuple
from lci_py.types.search import BLOCK_KIND, KINDS, Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.search.degraded import OptionalGraph
    from lci_py.search.explain.explainable import Explainable
    from lci_py.search.query.plan import Plan
    from lci_py.search.ranking.fusion import Outcome
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, Filters


class MultiviewState(NamedTuple):
    """Intermediate values of a multiview query."""

    plan: Plan
    outcome: Outcome
    optional_graph: OptionalGraph  # what could not be read besides the views


class ModeAnswer(NamedTuple):
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
    merged: MultiviewState | None = None


#: The kinds of results.
ANY_KIND = (*KINDS, BLOCK_KIND)


def check(snapshot: Snapshot, filters: Filters, kinds: tuple[str, ...] = ANY_KIND) -> None:
    """Refuse a kind, a language or a repository that the index cannot have: a typing error must not look like "nothing
    found".

    Raises:
        UsageError: The message has the nearest valid name.
    """
    if filters.repo:
        _check_repositories(snapshot, filters.repo)
    for kind in filters.kind:
        if kind.lower() not in kinds:
            raise unknown_value("kind", kind, kinds)
    if filters.lang:
        from lci_py.source.syntax.languages import language_aliases, language_names, language_of

        own = tuple(snapshot.manifest.counts["files_by_language"])
        known = {*language_names(), *snapshot.whole.joined("languages", own)}
        for language in filters.lang:
            if language_of(language) not in known:
                near = unknown_value("language", language, sorted({*known, *language_aliases()}))
                raise near if "did you mean" in near.hint else unknown_value("language", language, sorted(known))


def _check_repositories(snapshot: Snapshot, globs: tuple[str, ...]) -> None:
    from fnmatch import fnmatchcase

    from lci_py.source.repository.workspace import is_workspace, members

    if not is_workspace(snapshot.root):
        raise UsageError("--repo needs --workspace", hint="it names repositories of a workspace; --path names folders")
    known = list(members(snapshot.root))
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise unknown_value("repository", glob, known)


def allowed_units(snapshot: Snapshot, filters: Filters) -> NDArray[np.bool_] | None:
    """[units] mask of the units that pass the filters and lie in a file that still exists; None for all."""
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
    """The units that meet a choice.

    Attributes:
        mask: [units]; None for all.
        places: Unit to the first line of a phrase in it.
    """

    mask: NDArray[np.bool_] | None = None
    places: Mapping[int, int] = {}


def chosen(snapshot: Snapshot, choice: Choice) -> Chosen:
    """The units that meet a choice and lie in files that still exist."""
    allowed = allowed_units(snapshot, choice.filters)
    if not choice.phrases:
        return Chosen(allowed)
    from lci_py.search.modes.phrases import units_with

    with snapshot.trace.stage("phrases", snapshot.n_units if allowed is None else int(allowed.sum())) as stage:
        with snapshot.view_locks["bm25"]:  # its postings say in which files to look
            mask, places = units_with(snapshot, choice.phrases, allowed, either=choice.either)
        stage.left = int(mask.sum())
    return Chosen(mask, places)
