"""All conflicts of a repository: the rule of `definitions`, over every name that is defined more than once."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING

from lci_py.search.answer.results import index_info
from lci_py.search.conflicts.branches import of_branches
from lci_py.search.conflicts.definitions import candidates, definitions, group_key, passed_over, undecided
from lci_py.search.conflicts.logic.machine import this_machine
from lci_py.search.conflicts.sites import MAX_SITES, macros, sites_of
from lci_py.search.conflicts.values import all_of
from lci_py.types.conflicts import Conflict, ConflictsAnswer, ConflictsRequest
from lci_py.types.record import replace
from lci_py.types.search import RELATIONS, TYPE_KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from lci_py.search.conflicts.definitions import Site
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import DefinitionSite

_MILD = frozenset({"variant", "fallback"})


def conflicts(snapshot: Snapshot, request: ConflictsRequest) -> ConflictsAnswer:
    """Every symbol with several definitions of which one passes the filters, gravest first, then by file and line.

    Raises:
        BadGlobError, UsageError: A filter, or the revision, cannot be used.
    """
    chosen: Collection[str] | None = None
    if request.name:
        chosen = {row["id"] for row in snapshot.symbols.definitions(request.name, request.filters)}
    elif request.filters:
        chosen = snapshot.symbols.select_ids(request.filters)
    left: list[str] = []
    found = of_branches(snapshot, request, chosen, list(_of_tree(snapshot, chosen, left)))
    added = None
    if request.since:
        from lci_py.search.conflicts.since import since

        added = since(snapshot, request.since)
        found = [one for one in found if added.adds(one)]
    if request.relations:
        found = [one for one in found if any(site.relation in request.relations for site in one.definitions)]
    found.sort(key=_order)
    same_text = members = 0
    if not (request.all or request.name):
        found, same_text, members = _telling(found)
    counted = Counter(one.relation for one in found)
    return ConflictsAnswer(
        results=tuple(found[request.offset :][: request.limit]),
        # A request for relations of definitions asks for nothing else.
        conflicts=()
        if request.relations
        else all_of(snapshot, request.filters, request.name, added.is_new if added else None),
        total=len(found),
        by_relation={relation: counted[relation] for relation in RELATIONS if counted[relation]},
        index=index_info(snapshot),
        offset=request.offset,
        same_text=same_text,
        members=members,
        undecided=len(left),
        since=(request.since, added.commit) if added else None,
        uncompared=added.uncompared if added else None,
    )


def _telling(found: Sequence[Conflict]) -> tuple[list[Conflict], int, int]:
    """The conflicts that tell something of their own, and how many are left out: those whose definitions have one text,
    and those of members of a listed type, which say the same as the type does. A grave one is never left out."""
    telling = [one for one in found if not _is_same(one)]
    types = {(one.language, one.qualified_name): one for one in telling if one.kind in TYPE_KINDS | {"type", "module"}}
    members: Counter[tuple[str, str]] = Counter()
    kept: list[Conflict] = []
    for one in telling:
        around = _around(one, types)
        if around is None:
            kept.append(one)
        else:
            members[around.language, around.qualified_name] += 1
    listed = [
        replace(one, members=members[one.language, one.qualified_name])
        if types.get((one.language, one.qualified_name)) is one else one
        for one in kept
    ]  # fmt: skip
    return listed, len(found) - len(telling), sum(members.values())


def _is_same(one: Conflict) -> bool:
    return one.same_text and one.relation in _MILD and all(site.relation != "branch" for site in one.definitions)


def _around(one: Conflict, types: Mapping[tuple[str, str], Conflict]) -> Conflict | None:
    """The outermost listed type of which a conflict is a part: its definitions lie in the type's, and nothing
    more tells them apart."""
    owner, _, rest = one.qualified_name.partition(".")
    while rest:
        around = types.get((one.language, owner))
        if around is not None and around is not one and one.relation == around.relation and not one.missing_on:
            places = {(site.file, site.build_tag) for site in around.definitions}
            if all((site.file, site.build_tag) in places for site in one.definitions):
                return around
        part, _, rest = rest.partition(".")
        owner = f"{owner}.{part}"
    return None


def _order(one: Conflict) -> tuple[int, str, int, str]:
    first = one.definitions[0]
    return RELATIONS.index(one.relation), first.file, first.line, one.qualified_name


def _of_tree(snapshot: Snapshot, chosen: Collection[str] | None, left: list[str]) -> Iterator[Conflict]:
    """The conflicts of this tree in which one of the `chosen` definitions is. Names that may be some, though nobody can
    tell, are added to `left`."""
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
            text = {(site.file, site.line): site.digest for site in sites}
            for asked in _askers(sites):
                found = definitions([asked, *sites], branch, machine, defines)
                if found and found not in told:
                    told.add(found)
                    name = (asked.name, asked.qualified_name, asked.kind, asked.language)
                    texts = {text.get((one.file, one.line), "") for one in found}
                    yield Conflict(*name, _gravest(found), found, same_text=len(texts) == 1 and "" not in texts)
            if not told and undecided(sites, defines):
                left.append(sites[0].qualified_name)


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
