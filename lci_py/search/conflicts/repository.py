"""Finds all conflicts of a repository: applies the rule of `definitions` to each name with several definitions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations
from typing import TYPE_CHECKING

from lci_py.index.shards.filters import row_test
from lci_py.search.answer.results import index_info
from lci_py.search.conflicts import keys
from lci_py.search.conflicts.branches import of_branches
from lci_py.search.conflicts.definitions import candidates, definitions, group_key, passed_over
from lci_py.search.conflicts.logic import witness
from lci_py.search.conflicts.logic.platforms import this_machine
from lci_py.search.conflicts.sites import MAX_SITES, sites_of
from lci_py.search.conflicts.values import all_of
from lci_py.source.extract.roles import has_mark, is_generated_name
from lci_py.source.text.patterns import lazily
from lci_py.types.conflicts import Conflict, ConflictsAnswer, ConflictsRequest
from lci_py.types.search import GRAVE, RELATIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from lci_py.search.conflicts.definitions import Site
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import DefinitionSite

_VENDORED = lazily(
    r"(?:^|/)(?:vendor\w*|_vendor|third[-_]?party|3rd[-_]?party|node_modules|bower_components|external|externals|extern"
    r"|deps|site-packages|contrib/[^/]+/src|pods|carthage|[^/]+\.(?:xc)?framework|zlib|bzip2|libpng|googletest|jemalloc)/"
    r"|(?:^|/)(?:ltmain\.sh|config\.(?:guess|sub)|configure|libtool|depcomp|install-sh|missing)$",
    re.IGNORECASE,
)
_HEAD_LINES = 20


def conflicts(snapshot: Snapshot, request: ConflictsRequest) -> ConflictsAnswer:
    """All conflicts in which a definition passes the filters, the most serious first, then by file and line.

    Raises:
        BadGlobError, UsageError: A filter, or the revision, cannot be used.
    """
    ids: Collection[str] | None = None
    if request.name:
        ids = {row["id"] for row in snapshot.symbols.definitions(request.name, request.filters)}
    elif request.filters:
        ids = snapshot.symbols.select_ids(request.filters)
    results = list(_of_tree(snapshot, ids))
    if request.branches or request.name or "branch" in (*request.relations, *request.also):
        results = of_branches(snapshot, request, ids, results)
    added = None
    if request.since:
        from lci_py.search.conflicts.since import since

        added = since(snapshot, request.since)
        results = [conflict for conflict in results if added.adds(conflict)]
    if not request.relations or "duplicate" in request.relations:
        results += keys.all_of(snapshot, row_test(request.filters, request.name), added and added.has_version)
    results, left_out = _select_listed(snapshot, request, results)
    counted = Counter(conflict.relation for conflict in results)
    return ConflictsAnswer(
        results=tuple(results[request.offset :][: request.limit]),
        # A request for relations of definitions asks for nothing else.
        conflicts=()
        if request.relations
        else all_of(snapshot, request.filters, request.name, added and added.is_new, added and added.has_version),
        total=len(results),
        by_relation={relation: counted[relation] for relation in RELATIONS if counted[relation]},
        index=index_info(snapshot),
        offset=request.offset,
        left_out=left_out,
        since=(request.since, added.commit) if added else None,
        uncompared=added.uncompared if added else None,
    )


def _select_listed(
    snapshot: Snapshot, request: ConflictsRequest, conflicts: list[Conflict]
) -> tuple[list[Conflict], dict[str, int]]:
    """(listed, left out): the conflicts to list, in order; and the number left out by relation, or as foreign code."""
    if request.relations:
        conflicts = [item for item in conflicts if any(site.relation in request.relations for site in item.definitions)]
    if request.all or request.name:
        return sorted(conflicts, key=_order), {}
    relations = {*GRAVE, *request.also, *request.relations, *(("branch",) if request.branches else ())}
    left_out: Counter[str] = Counter()
    listed = []
    for item in conflicts:
        if item.relation not in relations and not any(site.relation in request.relations for site in item.definitions):
            left_out[item.relation] += 1
        elif item.relation in GRAVE and any(_is_foreign(snapshot, file) for file in {s.file for s in item.definitions}):
            left_out["foreign"] += 1
        else:
            listed.append(item)
    order = (*RELATIONS, "foreign")
    return sorted(listed, key=_order), {name: left_out[name] for name in order if left_out[name]}


def _is_foreign(snapshot: Snapshot, file: str) -> bool:
    """Whether a file is vendored (copied from another project) or generated."""
    return (
        bool(_VENDORED.search(file))
        or is_generated_name(file)
        or has_mark(b"\n".join(snapshot.reader.some(file, 1, _HEAD_LINES)))
    )


def _order(conflict: Conflict) -> tuple[int, str, int, str]:
    first = conflict.definitions[0]
    return RELATIONS.index(conflict.relation), first.file, first.line, conflict.qualified_name


def _of_tree(snapshot: Snapshot, ids: Collection[str] | None) -> Iterator[Conflict]:
    """The conflicts between definitions of this tree; if `ids` is given, those that involve one of these ids."""
    branch = snapshot.manifest.branch
    for rows in snapshot.symbols.duplicate_names(MAX_SITES):
        if ids is not None and not any(row["id"] in ids for row in rows):
            continue
        groups: dict[tuple[str, ...], list[Site]] = defaultdict(list)
        for row in rows:
            for site in sites_of(snapshot, row):
                if not passed_over(site):
                    groups[group_key(site)].append(site)
        for sites in groups.values():
            if len(sites) < 2 or (ids is not None and not any(site.symbol_id in ids for site in sites)):
                continue
            told: set[tuple[DefinitionSite, ...]] = set()
            text = {(site.file, site.line): site.digest for site in sites}
            for start in _askers(sites):
                clash = definitions([start, *sites], branch, this_machine)
                if clash and clash not in told:
                    told.add(clash)
                    name = (start.name, start.qualified_name, start.kind, start.language)
                    texts = {text.get((item.file, item.line), "") for item in clash}
                    same_text = len(texts) == 1 and "" not in texts
                    relation, situation = _gravest(clash), _witness(sites, clash)
                    if relation != "overlap" or situation:  # else nothing shows that both can hold
                        yield Conflict(*name, relation, clash, same_text=same_text, witness=situation)


def _witness(sites: Sequence[Site], clash: Sequence[DefinitionSite]) -> str:
    """Describes a situation in which two overlapping definitions both exist; "" if no definitions overlap."""
    places = {(definition.file, definition.line) for definition in clash if definition.relation == "overlap"}
    clashing = [site for site in sites if (site.file, site.line) in places]
    pairs = ((a, b) for a, b in combinations(clashing, 2) if a.build_tag != b.build_tag)
    return next(filter(None, (witness(a.build_tag, b.build_tag, a.language) for a, b in pairs)), "")


def _gravest(definitions: tuple[DefinitionSite, ...]) -> str:
    """The most serious relation among the definitions, which becomes the relation of the whole conflict."""
    return min((site.relation for site in definitions), key=RELATIONS.index)


def _askers(sites: list[Site]) -> Iterator[Site]:
    """One site for each set of definitions to compare; the sites of a group may belong to several programs."""
    seen: set[tuple[str, int]] = set()
    for site in sorted(sites, key=lambda site: (site.file, site.line)):
        if (site.file, site.line) not in seen:
            widest = candidates(sites, site)[0]
            yield site
            seen.update((s.file, s.line) for s in widest if s.file == site.file or len(widest) == len(sites))
