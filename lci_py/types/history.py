"""The request and the answer of `lci history`. Paths are POSIX, relative to the root; lines are 1-based."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.types.graph import Place
from lci_py.types.search import Filters, IndexInfo


class HistoryRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci history`."""

    spelled: str  # the target as it was given
    name: str  # of a definition; a FILE:: before it starts at the root
    file: str | None = None  # instead of a name
    line: int | None = None  # of that file
    filters: Filters = Filters()
    limit: int = 10
    offset: int = 0  # commits left out before the first one shown
    patch: bool = False


class Commit(NamedTuple):
    """A commit that changed the target (the definition or file that the user asked about)."""

    id: str
    date: str  # ISO 8601, of the author
    author: str
    subject: str
    added: int  # lines of the target
    removed: int
    file: str  # where the target was then, relative to the root
    patch: str = ""  # hunks of the target


class Companion(NamedTuple):
    """A file that changed in the same commits as the target (the definition or file that the user asked about)."""

    file: str
    support: int  # commits that changed both
    confidence: float  # of the commits of the target, the share that changed this file as well


class HistoryAnswer(NamedTuple):
    """The result of `lci history`: the commits, the newest first."""

    request: HistoryRequest
    place: Place  # the definition, or the file
    results: tuple[Commit, ...]
    total: int
    first: Commit | None  # the oldest one, if all were read
    companions: tuple[Companion, ...]  # by support
    info: IndexInfo
    others: tuple[Place, ...] = ()  # what else has the name
    uncommitted: bool = False  # the target differs from what is committed
    incomplete: str = ""  # why older commits may be missing, in a sentence; "" if none are
