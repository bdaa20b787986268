"""The request and the answer of `lci show`. Lines are 1-based and inclusive; paths are POSIX, relative to the root."""

from __future__ import annotations

from lci_py.types.graph import Neighbour, Through
from lci_py.types.record import NamedTuple
from lci_py.types.search import Filters, IndexInfo


class Target(NamedTuple):
    """One argument of `lci show`: the name of a definition, a file, or lines of a file."""

    spelled: str  # as it was given
    name: str  # to look up as a name or an id; a FILE:: before it starts at the root
    path: str | None = None  # the file that it names, if there is one
    lines: tuple[int, int | None] | None = None  # of that file: from A to B, or one line and the definition around it


class ShowRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci show`."""

    targets: tuple[Target, ...]
    filters: Filters = Filters()
    limit: int = 10  # definitions of one target
    context: int = 0  # lines before and after each body
    signature: bool = False  # the signature instead of the body
    doc: bool = False  # the doc comment instead of the body
    callers: bool = False
    callees: bool = False
    indexed_only: bool = False  # files that the index does not have are not read


class Calls(NamedTuple):
    """The callers of a definition, or its callees."""

    shown: tuple[Neighbour, ...]
    total: int
    through: tuple[Through, ...] = ()  # declared methods with more implementations than are listed


class ShownCode(NamedTuple):
    """A definition, a file or some lines of a file, with the text that they have now."""

    target: str  # the argument that it answers
    id: str | None  # None for lines
    symbol: str | None
    qualified_name: str | None
    kind: str  # of the definition; file, lambda, block, or lines
    file: str
    line: int  # of the definition, without its doc comment
    end_line: int
    language: str
    signature: str | None
    doc: str | None  # the whole doc comment, if it is asked for
    start: int  # the line of the first of `lines`
    lines: tuple[str, ...]
    stale: bool = False  # the file has changed since it was indexed
    callers: Calls | None = None
    callees: Calls | None = None
    left_out: int = 0  # lines that a budget cut off at the end
    left_above: int = 0  # lines of the doc comment that it left out


class Unknown(NamedTuple):
    """An argument of `lci show` that matches no definition and no file."""

    target: str
    message: str
    near: tuple[str, ...]  # what may have been meant


class ShowAnswer(NamedTuple):
    """The result of `lci show`: the definitions, files or lines that the arguments name."""

    request: ShowRequest
    results: tuple[ShownCode, ...]
    totals: tuple[tuple[str, int], ...]  # each target that is known, and how many definitions it has
    info: IndexInfo
    unknown: tuple[Unknown, ...] = ()
    max_tokens: int | None = None  # the budget, if it cut something
    dropped: tuple[ShownCode, ...] = ()  # results that it left out
    offset: int = 0  # results left out before the first one shown

    @property
    def total(self) -> int:
        return sum(total for _, total in self.totals)
