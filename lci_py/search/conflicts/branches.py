"""The definitions of other branches beside those of this tree, as `definitions` of one conflict."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lci_py.index.shards.filters import languages, path_test
from lci_py.search.conflicts import logic
from lci_py.search.conflicts.branch_diff import differing, differing_name
from lci_py.search.conflicts.definitions import GROUPS
from lci_py.search.conflicts.sites import this_machine
from lci_py.types.conflicts import Conflict
from lci_py.types.search import RELATIONS, DefinitionSite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.conflicts.branch_diff import BranchDifference
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.conflicts import ConflictsRequest
    from lci_py.types.search import Filters

#: What `missing_on` calls the tree that is indexed where no branch is checked out.
DETACHED = "HEAD"


def with_branches(
    snapshot: Snapshot, asked: Row, rows: Sequence[Row], found: tuple[DefinitionSite, ...]
) -> tuple[DefinitionSite, ...]:
    """The definitions of one symbol with those of other branches that differ from them; () if there is only one.

    Args:
        snapshot: The index, which may have no other branches.
        asked: The symbol's row.
        rows: All of its qualified name and language in this tree.
        found: What contradicts it in this tree.
    """
    if snapshot.branches is None:
        return found
    places = {(site.file, site.line) for site in found} or {(asked["file"], asked["line"])}
    group = GROUPS.get(asked["kind"])
    there: list[DefinitionSite] = []
    for one in differing_name(snapshot.branches, asked["qualified_name"], asked["language"], rows):
        other = one.there
        mine = one.here is None or (one.here["file"], one.here["line"]) in places
        if other is not None and mine and group is not None and GROUPS.get(other["kind"]) == group:
            there.append(_site(other, one.branch))
    if not there:
        return found
    here = found or (_own(asked, snapshot.manifest.branch),)
    return (*here, *sorted(set(there), key=lambda site: (site.branch or "", site.file, site.line)))


def of_branches(
    snapshot: Snapshot, request: ConflictsRequest, chosen: Collection[str] | None, found: Sequence[Conflict]
) -> list[Conflict]:
    """All conflicts: those of this tree with what other branches have, and those that only branches make.

    Args:
        snapshot: The index.
        request: Its filters and its name decide about definitions that only other branches have.
        chosen: Ids of the definitions in this tree that pass them; None if all do.
        found: The conflicts in this tree.
    """
    if snapshot.branches is None:
        return list(found)
    places = {
        (site.file, site.line, one.qualified_name): number
        for number, one in enumerate(found)
        for site in one.definitions
    }  # fmt: skip
    more: dict[int, list[DefinitionSite]] = defaultdict(list)
    alone: dict[tuple[str, int, str, str], list[BranchDifference]] = defaultdict(list)
    passes = _test(request.filters, request.name)
    for one in differing(snapshot.branches, snapshot.symbols):
        row = one.here if one.here is not None else one.there
        assert row is not None
        if one.here is None:
            if passes(row):
                alone["", 0, row["qualified_name"], row["language"]].append(one)
            continue
        number = places.get((row["file"], row["line"], row["qualified_name"]))
        if number is not None:
            more[number] += [_site(one.there, one.branch)] if one.there is not None else []
        elif chosen is None or row["id"] in chosen:
            alone[row["file"], row["line"], row["qualified_name"], row["language"]].append(one)
    joined = [
        replace(one, definitions=(*one.definitions, *more[number])) if more.get(number) else one
        for number, one in enumerate(found)
    ]
    return [*joined, *(_conflict(snapshot, group) for group in alone.values())]


def _conflict(snapshot: Snapshot, group: list[BranchDifference]) -> Conflict:
    """What branches have of one definition of this tree, or of a name that this tree does not have."""
    here = group[0].here
    row = here if here is not None else group[0].there
    assert row is not None
    own = snapshot.manifest.branch
    sites = [_own(here, own)] if here is not None else []
    sites += [_site(one.there, one.branch) for one in group if one.there is not None]
    missing = [one.branch for one in group if one.there is None] if here is not None else [own or DETACHED]
    return Conflict(
        row["symbol"], row["qualified_name"], row["kind"], row["language"], "branch", tuple(dict.fromkeys(sites)),
        tuple(missing),
    )  # fmt: skip


def gravest(definitions: Sequence[DefinitionSite]) -> str:
    """The relation that a whole conflict is called by."""
    return min((site.relation for site in definitions), key=RELATIONS.index)


def _own(row: Row, branch: str | None) -> DefinitionSite:
    """The definition of this tree: the active one, if its condition holds here."""
    active = logic.holds(row["build_tag"], row["language"], this_machine()) is True
    return replace(_site(row, branch), active=active)


def _site(row: Row, branch: str | None) -> DefinitionSite:
    return DefinitionSite(row["file"], row["line"], branch, row["build_tag"], "branch")


def _test(filters: Filters, name: str | None) -> Callable[[Row], bool]:
    """Which definitions that only another branch has pass the filters."""
    inside = path_test(filters)
    known = languages(filters)
    kinds = {value.lower() for value in filters.kind}

    def conditions(row: Row) -> Iterator[bool]:
        yield inside is None or inside(row["file"])
        yield not known or row["language"] in known
        yield not kinds or row["kind"] in kinds
        yield not filters.name or any(fnmatchcase(row["symbol"], glob) for glob in filters.name)
        yield not filters.parent  # its parent is not known
        yield name is None or fnmatchcase(row["symbol"], name) or _ends(row["qualified_name"], name)

    return lambda row: all(conditions(row))


def _ends(qualified: str, name: str) -> bool:
    plain = name.replace("::", ".")
    return qualified == plain or qualified.endswith(f".{plain}")
