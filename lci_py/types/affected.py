"""The request and the answer of `lci affected`, and the values that the answer consists of."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.graph import Link, Place, Through
from lci_py.types.search import Filters, IndexInfo

Change = Literal["modified", "added", "removed"]
#: Why something is affected: calls lead to a change; it is changed itself; it calls the method that a changed one
#: overrides; it uses the type of a change that nobody is known to call; it mentions a changed name that nothing else
#: has; it calls or mentions a name of a change, and it is not known what that means; its file imports a file that has
#: changed outside of its definitions; it is a file of tests named after a file with a change; it is one of the files
#: of tests that share most words with the change.
Reason = Literal["calls", "changed", "dispatch", "type", "mentions", "name", "imports", "file_name", "words"]
#: Those that say too little for a test to be run because of them alone.
UNSURE = ("name", "imports")
#: Calls from a change, at most, if a request does not say and a test is that near.
DEPTH = 4


class AffectedRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci affected`."""

    revision: str = "HEAD"  # or the name of a definition, or FILE:LINE
    files: tuple[str, ...] | None = None  # instead: everything in these files
    diff: str | None = None  # instead: what a unified diff touches
    filters: Filters = Filters()  # on what is affected
    depth: int | None = None  # calls from a change; None for `DEPTH`, or as many as lead to the nearest test
    all: bool = False  # also the tests that only a name or an import leads to
    calls: bool = False  # also the calls among what is affected


class ChangedPlace(NamedTuple):
    """A definition that has changed; or a file, if its code outside of definitions has changed."""

    place: Place
    change: Change
    text: str = ""  # its own lines that differ, where they are known


class AffectedDefinition(NamedTuple):
    """A definition that a change can affect."""

    place: Place
    distance: int  # calls to the nearest change; 0 if it is one
    reason: Reason

    @property
    def sure(self) -> bool:
        return self.reason not in UNSURE

    @property
    def reached(self) -> bool:
        """Whether calls are known to lead from here to the change; if not, both are only about the same subject."""
        return self.sure and self.reason != "words"


class AffectedAnswer(NamedTuple):
    """The result of `lci affected`. Callers are sorted by distance, path and line; tests by certainty first."""

    request: AffectedRequest
    commit: str | None
    changed: tuple[ChangedPlace, ...]
    callers: tuple[AffectedDefinition, ...]
    tests: tuple[AffectedDefinition, ...]
    info: IndexInfo
    max_tokens: int | None = None  # the budget, if it cut something
    dropped: tuple[int, int, int] = (0, 0, 0)  # changes, tests and callers that it or an offset left out
    offset: int = 0  # of them, rows left out before the first one shown
    by_name: tuple[str, ...] = ()  # files of tests that only a name or an import leads to, if these are left out
    through: tuple[Through, ...] = ()  # declared methods that changes implement with more others than are followed
    uncompared: tuple[str, ...] = ()  # repositories of a workspace without git, or without the revision
    calls: tuple[Link, ...] = ()  # with `calls`
