"""The request and the answer of `lci unused`. Paths are POSIX, relative to the root; lines are 1-based."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.graph import Place
from lci_py.types.search import Filters, IndexInfo

#: How sure it is that the program does not use a definition: nothing has its name; it is exported, or only a name leads
#: to it; only tests reach it.
Certainty = Literal["certain", "by_name", "tests"]
CERTAINTIES: tuple[Certainty, ...] = ("certain", "by_name", "tests")


class UnusedRequest(NamedTuple):
    """A request: the flags of one call of `lci unused`."""

    filters: Filters = Filters()
    all: bool = False  # also those that are not certain
    limit: int | None = None  # None for all
    offset: int = 0


class Mention(NamedTuple):
    """A location in the text where the name of a definition stands."""

    file: str
    line: int


class Unused(NamedTuple):
    """A definition that the program does not reach by calls or other uses.

    Attributes:
        reason: `unreferenced`; `tests` (only tests use the definition). If its name occurs: `exported`; `outside` (a
            base class outside of the repository may call it); `mentioned` (in a text, or a call that may mean another).
        mention: The first location with the name; for `tests`, the first in a test.
    """

    place: Place
    signature: str
    certainty: Certainty
    reason: str
    mention: Mention | None = None


class UnusedAnswer(NamedTuple):
    """The result of `lci unused`: the definitions, by certainty, path and line."""

    request: UnusedRequest
    results: tuple[Unused, ...]
    total: int
    counts: dict[Certainty, int]  # of all certainties, listed or not
    info: IndexInfo
