"""All conflicts of a repository: the rule of `definitions`, over every name that is defined more than once."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING

from lci_py.search.answer.results import index_info
from lci_py.search.conflicts.branches import of_branches
from lci_py.search.conflicts.definitions import candidates, definitions, group_key, passed_over
from lci_py.search.conflicts.logic.machine import this_machine
from lci_py.search.conflicts.sites import MAX_SITES, macros, sites_of
from lci_py.search.conflicts.values import all_of
from lci_py.types.conflicts import Conflict, ConflictsAnswer, ConflictsRequest
from lci_py.types.search import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lci_py.search.conflicts.definitions import Site
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import DefinitionSite


def conflicts(snapshot: Snapshot, request: ConflictsRequest) -> ConflictsAnswer:
    """Every symbol with several definitions of which one passes the filters, gravest first, then by file and line.

    Raises:
        BadGlobError, UsageError: A filter cannot be used.
    """
    chosen: Collection[str] | None = None
    if request.name:
        chosen = {row["id"] for row in snapshot.symbols.definitions(request.name, request.filters)}
    elif request.filters:
        chosen = snapshot.symbols.select_ids(request.filters)
    found = of_branches(snapshot, request, chosen, list(_of_tree(snapshot, chosen)))
    if request.relations:
        found = [one for one in found if any(site.relation in request.relations for site in one.definitions)]
    found.sort(key=_order)
    counted = Counter(one.relation for one in found)
    return ConflictsAnswer(
        results=tuple(found[request.offset :][: request.limit]),
        # A request for relations of definitions asks for nothing else.
        conflicts=() if request.relations else all_of(snapshot, request.filters, request.name),
        total=len(found),
        by_relation={relation: counted[relation] for relation in RELATIONS if counted[relation]},
        index=index_info(snapshot),
    )


def _order(one: Conflict) -> tuple[int, str, int, str]:
    first = one.definitions[0]
    return RELATIONS.index(one.relation), first.file, first.line, one.qualified_name


def _of_tree(snapshot: Snapshot, chosen: Collection[str] | None) -> Iterator[Conflict]:
    """The conflicts of this tree in which one of the `chosen` definitions is."""
    branch, machine, defines = snapshot.manifest.branch, this_machine, partial(macros, snapshot.symbols)
    for rows in snapshot.symbols.repeated(MAX_SITES):
        if chosen is not None and not any(row["id"] in chosen for row in rows):
            continue
        groups: dict[tuple[str, ...], list[Site]] = defaultdict(list)
        for row in rows:
            for site in sites_of(snapshot, row):
                if not passed_over(site):
                    groups[group_key(site)].append(site)
        for sites in groups.values():
            if len(sites) < 2 or (chosen is not None and not any(site.symbol_id in chosen for site in sites)):
                continue
            told: set[tuple[DefinitionSite, ...]] = set()
            for asked in _askers(sites):
                found = definitions([asked, *sites], branch, machine, defines)
                if found and found not in told:
                    told.add(found)
                    name = (asked.name, asked.qualified_name, asked.kind, asked.language)
                    yield Conflict(*name, _gravest(found), found)


def _gravest(definitions: tuple[DefinitionSite, ...]) -> str:
    """The relation that a whole conflict is called by."""
    return min((site.relation for site in definitions), key=RELATIONS.index)


def _askers(sites: list[Site]) -> Iterator[Site]:
    """One site for each set of definitions that the sites of one group may come to: they may be of several programs."""
    seen: set[tuple[str, int]] = set()
    for site in sorted(sites, key=lambda site: (site.file, site.line)):
        if (site.file, site.line) not in seen:
            widest = candidates(sites, site)[0]
            yield site
            seen.update((one.file, one.line) for one in widest if one.file == site.file or len(widest) == len(sites))
