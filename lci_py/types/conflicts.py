"""The request and the answer of `lci conflicts`, and the values that the answer consists of."""

from __future__ import annotations

from typing import Any

from lci_py.types.record import dataclass, field
from lci_py.types.search import DefinitionSite, Filters, IndexInfo


@dataclass(frozen=True, slots=True)
class Conflict:
    """A symbol that has several definitions; or a single definition, if another branch has none."""

    symbol: str
    qualified_name: str
    kind: str
    language: str
    relation: str  # the gravest relation of its definitions
    definitions: tuple[DefinitionSite, ...]  # by file and line, those of this tree before those of other branches
    missing_on: tuple[str, ...] = ()  # branches without a definition of it
    same_text: bool = False  # whether all of its definitions have the same text
    witness: str = ""  # of an overlap: where both hold, `with A and B set`; "" if that cannot be put into words


@dataclass(frozen=True, slots=True)
class ConflictsRequest:
    """A request: the arguments and flags of one call of `lci conflicts`."""

    filters: Filters = field(default_factory=Filters)
    relations: tuple[str, ...] = ()  # of RELATIONS; none: all
    limit: int | None = None  # None: all
    name: str = ""  # as `lci def` takes it; "": of any name
    all: bool = False  # whether to list what is no mistake, too, and what is vendored or generated
    branches: bool = False  # whether to list what other branches have; a name has that anyway
    also: tuple[str, ...] = ()  # of RELATIONS: listed besides those that always are
    offset: int = 0  # results left out before the first one shown
    since: str = ""  # a revision: only what the work tree adds to it


@dataclass(frozen=True, slots=True)
class ConflictsAnswer:
    """The result of `lci conflicts`: the conflicts of a repository that pass the filters."""

    results: tuple[Conflict, ...]  # gravest relation first, then by file and line of the first definition
    conflicts: tuple[dict[str, Any], ...]  # disagreements between sources, as in the answer of a search
    total: int  # of results, before the limit
    by_relation: dict[str, int]  # relation -> number of results
    index: IndexInfo
    offset: int = 0  # results left out before the first one shown
    #: What --all lists besides: relation -> number, and "foreign" -> number in vendored and generated files.
    left_out: dict[str, int] = field(default_factory=dict)
    #: The revision that was asked for, and its commit, None in a workspace: only what is new is listed.
    since: tuple[str, str | None] | None = None
    uncompared: tuple[str, ...] | None = None  # repositories of a workspace without git, or without the revision
