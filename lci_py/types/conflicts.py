"""The values of `lci conflicts`. They stand apart from `types`, so that a search need not define them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lci_py.types.search import DefinitionSite, Filters, IndexInfo


@dataclass(frozen=True, slots=True)
class Conflict:
    """One symbol with several definitions, as `lci conflicts` lists it; of a branch that lacks it, maybe only one."""

    symbol: str
    qualified_name: str
    kind: str
    language: str
    relation: str  # the gravest of its definitions'
    definitions: tuple[DefinitionSite, ...]  # by file and line, those of this tree before those of other branches
    missing_on: tuple[str, ...] = ()  # branches without a definition of it


@dataclass(frozen=True, slots=True)
class ConflictsRequest:
    """One `lci conflicts`, as the flags say it."""

    filters: Filters = field(default_factory=Filters)
    relations: tuple[str, ...] = ()  # of RELATIONS; none: all
    limit: int | None = None  # None: all
    name: str = ""  # as `lci def` takes it; "": of any name


@dataclass(frozen=True, slots=True)
class ConflictsAnswer:
    """All conflicts of a repository that pass the filters."""

    results: tuple[Conflict, ...]  # gravest relation first, then by file and line of the first definition
    conflicts: tuple[dict[str, Any], ...]  # disagreements between sources, as in the search's envelope
    total: int  # of results, before the limit
    by_relation: dict[str, int]  # the same by relation
    index: IndexInfo
