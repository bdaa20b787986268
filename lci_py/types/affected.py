"""The values of `lci affected`. A module of its own, so that a search need not import them; named tuples, because to
define a dataclass takes half a millisecond."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.graph import Place, Through
from lci_py.types.search import Filters, IndexInfo

Change = Literal["modified", "added", "removed"]
#: Why something is affected: calls lead to a change; calls through a declared method or a name that is put together
#: may; it is changed itself; it calls or mentions a name of a change, and
#: it is not known what that means; its file imports a file that has changed outside of its definitions; it is a file of
#: tests named after a file with a change.
Reason = Literal["calls", "dispatch", "changed", "name", "imports", "file_name"]


class AffectedRequest(NamedTuple):
    """The flags of one command."""

    revision: str = "HEAD"
    files: tuple[str, ...] | None = None  # instead: everything in these files
    filters: Filters = Filters()  # on what is affected
    depth: int | None = None  # calls from a change; None for all


class ChangedPlace(NamedTuple):
    """A definition that has changed; a file, if its code outside of definitions has."""

    place: Place
    change: Change


class Reached(NamedTuple):
    """A definition that a change can affect."""

    place: Place
    distance: int  # calls to the nearest change; 0 if it is one
    reason: Reason


class AffectedAnswer(NamedTuple):
    """The answer; callers and tests are sorted by distance, path and line."""

    request: AffectedRequest
    commit: str | None
    changed: tuple[ChangedPlace, ...]
    callers: tuple[Reached, ...]
    tests: tuple[Reached, ...]
    info: IndexInfo
    max_tokens: int | None = None  # the budget, if it cut something
    dropped: tuple[int, int, int] = (0, 0, 0)  # changes, tests and callers that it left out
    nearest_tests: tuple[str, ...] = ()  # if there are no tests: files of some by folder and name, best first
    through: tuple[Through, ...] = ()  # declared methods that changes implement with more others than are followed
    uncompared: tuple[str, ...] = ()  # repositories of a workspace without git, or without the revision
