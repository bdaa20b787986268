"""Compares the definitions of this tree with those of other indexed branches, and lists the conflicts between them.

Only files that differ between the branches are compared, by the text of each definition. A function that has moved
within its file, or to another file that differs, counts as the same function.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lci_py.index.shards.filters import row_test
from lci_py.search.conflicts import logic
from lci_py.search.conflicts.definitions import GROUPS
from lci_py.search.conflicts.logic.platforms import this_machine
from lci_py.types.conflicts import Conflict
from lci_py.types.record import replace
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS, DefinitionSite

if TYPE_CHECKING:
    from lci_py.index.shards.branches import BranchIndex
    from lci_py.index.shards.symbols import Row, SymbolicIndex
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.conflicts import ConflictsRequest

#: What `missing_on` calls the tree that is indexed where no branch is checked out.
DETACHED = "HEAD"
#: The kinds that are listed. The text of a field or of an enum's member is part of its type's; that of a namespace or
#: a section is everything in it.
_LISTED = FUNCTION_KINDS | TYPE_KINDS | {"type", "constant", "variable", "property"}
_LOCAL, _DECLARATION = "local", "declaration"


def with_branches(
    snapshot: Snapshot, symbol: Row, rows: Sequence[Row], here_sites: tuple[DefinitionSite, ...]
) -> tuple[DefinitionSite, ...]:
    """The definitions of one symbol in this tree, then its differing definitions on other branches; () if no conflict.

    Args:
        symbol: The symbol's row.
        rows: All rows of its qualified name and language in this tree.
        here_sites: The definitions in this tree that contradict each other; () if there is only one.
    """
    if snapshot.branches is None:
        return here_sites
    places = {(site.file, site.line) for site in here_sites} or {(symbol["file"], symbol["line"])}
    group = GROUPS.get(symbol["kind"])
    there: list[DefinitionSite] = []
    for diff in differing_name(snapshot.branches, symbol["qualified_name"], symbol["language"], rows):
        other = diff.there
        is_other = diff.here is None or (diff.here["file"], diff.here["line"]) in places
        if other is not None and is_other and group is not None and GROUPS.get(other["kind"]) == group:
            there.append(_site(other, diff.branch))
    if not there:
        return here_sites
    here = here_sites or (_own_site(symbol, snapshot.manifest.branch),)
    return (*here, *sorted(set(there), key=lambda site: (site.branch or "", site.file, site.line)))


def of_branches(
    snapshot: Snapshot, request: ConflictsRequest, ids: Collection[str] | None, conflicts: Sequence[Conflict]
) -> list[Conflict]:
    """All conflicts: those of this tree, extended by other branches, and those that exist only between branches.

    Args:
        request: Its filters and its name also select definitions that only other branches have.
        ids: Ids of the definitions in this tree that pass the filters; None for all.
        conflicts: The conflicts in this tree.
    """
    if snapshot.branches is None:
        return list(conflicts)
    places = {
        (site.file, site.line, item.qualified_name): number
        for number, item in enumerate(conflicts)
        for site in item.definitions
    }  # fmt: skip
    more: dict[int, list[DefinitionSite]] = defaultdict(list)
    alone: dict[tuple[str, int, str, str], list[BranchDifference]] = defaultdict(list)
    passes = row_test(request.filters, request.name)
    for item in differing(snapshot.branches, snapshot.symbols):
        row = item.row
        if item.here is None:
            if passes(**{name: row[name] for name in ("file", "language", "kind", "symbol", "qualified_name")}):
                alone["", 0, row["qualified_name"], row["language"]].append(item)
            continue
        number = places.get((row["file"], row["line"], row["qualified_name"]))
        if number is not None:
            more[number] += [_site(item.there, item.branch)] if item.there is not None else []
        elif ids is None or row["id"] in ids:
            alone[row["file"], row["line"], row["qualified_name"], row["language"]].append(item)
    results = [
        replace(item, definitions=(*item.definitions, *more[number])) if more.get(number) else item
        for number, item in enumerate(conflicts)
    ]
    return [*results, *(_conflict(snapshot, group) for group in alone.values())]


def _conflict(snapshot: Snapshot, group: list[BranchDifference]) -> Conflict:
    """A conflict between branches: the variants of one definition, or of a name that only other branches have."""
    here, row = group[0].here, group[0].row
    own = snapshot.manifest.branch
    sites = [_own_site(here, own)] if here is not None else []
    sites += [_site(diff.there, diff.branch) for diff in group if diff.there is not None]
    missing = [diff.branch for diff in group if diff.there is None] if here is not None else [own or DETACHED]
    return Conflict(
        row["symbol"], row["qualified_name"], row["kind"], row["language"], "branch", tuple(dict.fromkeys(sites)),
        tuple(missing),
    )  # fmt: skip


def _own_site(row: Row, branch: str | None) -> DefinitionSite:
    """A definition of this tree as a site; the site is active if its condition holds on this machine."""
    active = logic.holds(row["build_tag"], row["language"], this_machine()) is True
    return replace(_site(row, branch), active=active)


def _site(row: Row, branch: str | None) -> DefinitionSite:
    return DefinitionSite(row["file"], row["line"], branch, row["build_tag"], "branch")


# --- which definitions differ ------------------------------------------------------------------------------------


class BranchDifference(NamedTuple):
    """A definition that differs between this tree (`here`) and a branch (`there`); None for a side without it."""

    branch: str
    here: Row | None
    there: Row | None

    @property
    def row(self) -> Row:
        """The row in this tree, or the row on the branch if this tree lacks the definition."""
        row = self.here if self.here is not None else self.there
        assert row is not None
        return row


def differing_name(
    index: BranchIndex, qualified_name: str, language: str, here: Sequence[Row]
) -> list[BranchDifference]:
    """The differences in the definitions of one qualified name, by branch; `here` has all rows of this tree."""
    there: dict[str, list[Row]] = defaultdict(list)
    for row in index.same_name(qualified_name, language):
        there[row["branch"]].append(row)
    statuses = index.statuses_of(sorted({row["file"] for row in here}))
    differences = []
    for branch in index.names:
        rows = [row for row in here if (branch, row["file"]) in statuses]
        if rows or branch in there:
            differences += [BranchDifference(branch, *pair) for pair in unlike(rows, there.get(branch, ()))]
    return differences


def differing(index: BranchIndex, symbols: SymbolicIndex) -> Iterator[BranchDifference]:
    """All differing definitions of the kinds in `_LISTED`, by branch, file and line; those only on a branch last."""
    for branch in index.names:
        names: dict[tuple[str, str], tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
        for side, rows in enumerate((symbols.in_files(list(index.statuses(branch))), index.rows(branch))):
            for row in rows:
                if row["kind"] in _LISTED:
                    names[row["qualified_name"], row["language"]][side].append(row)
        pairs = [pair for here, there in names.values() for pair in unlike(here, there)]
        for pair in sorted(pairs, key=_pair_key):
            yield BranchDifference(branch, *pair)


Pair = tuple["Row | None", "Row | None"]


def unlike(here: Sequence[Row], there: Sequence[Row]) -> list[Pair]:
    """The definitions of one qualified name and language that differ between this tree and a branch, by file and line.

    Args:
        here: This tree's definitions, in files that differ from the branch's.
        there: The branch's definitions, in the same files.
    Returns:
        (here, there) for each definition; None for the side that lacks it.
    """
    groups: dict[Hashable, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((here, there)):
        for row in rows:
            traits = row["traits"].split()
            if _LOCAL not in traits:
                group = GROUPS.get(row["kind"], row["kind"])
                groups[group, _DECLARATION in traits][side].append(row)
    pairs: list[Pair] = []
    for our_rows, their_rows in groups.values():
        pairs += _unlike(our_rows, their_rows)
    return sorted(pairs, key=_pair_key)


# Keys by which rows are paired, best first: identical, then in the same place, then under the same condition.
_SAME: tuple[Callable[[Row], Hashable], ...] = (
    lambda row: (row["file"], row["digest"], row["build_tag"]),
    lambda row: (row["file"], row["digest"]),
    lambda row: row["digest"],
)
_CHANGED: tuple[Callable[[Row], Hashable], ...] = (
    lambda row: (row["file"], row["build_tag"], row["signature"]),
    lambda row: (row["file"], row["signature"]),
    lambda row: (row["file"], row["build_tag"]),
    lambda row: row["file"],
    lambda row: (row["build_tag"], row["signature"]),
    lambda row: row["build_tag"],
    lambda _row: None,
)


def _unlike(here: list[Row], there: list[Row]) -> Iterator[Pair]:
    for key in _SAME:
        _, here, there = _pair_rows(here, there, key)
    for key in _CHANGED:
        pairs, here, there = _pair_rows(here, there, key)
        yield from pairs
    yield from ((row, None) for row in here)
    yield from ((None, row) for row in there)


def _pair_rows(
    here: Iterable[Row], there: Iterable[Row], key: Callable[[Row], Hashable]
) -> tuple[list[tuple[Row, Row]], list[Row], list[Row]]:
    """(pairs, here, there): the pairs of rows with equal keys, in order, and the unpaired rows of each side."""
    waiting: dict[Hashable, deque[Row]] = defaultdict(deque)
    for row in there:
        waiting[key(row)].append(row)
    pairs: list[tuple[Row, Row]] = []
    alone: list[Row] = []
    for row in here:
        others = waiting.get(key(row))
        if others:
            pairs.append((row, others.popleft()))
        else:
            alone.append(row)
    return pairs, alone, [row for others in waiting.values() for row in others]


def _pair_key(pair: Pair) -> tuple[bool, str, int]:
    row = pair[0] if pair[0] is not None else pair[1]
    assert row is not None
    return pair[0] is None, row["file"], row["line"]
