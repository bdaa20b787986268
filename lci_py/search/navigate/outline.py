"""`lci outline`: the definitions of files as a tree, or a map of a folder's most central definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.errors import UnknownTargetError
from lci_py.search.answer.results import index_info
from lci_py.search.navigate.present import NOT_INDEXED, PresentFiles, innermost, place_filter
from lci_py.types.graph import Definition
from lci_py.types.outline import OutlineAnswer, OutlineRequest
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lci_py.index.shards.symbol_queries import MapRow
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.graph import Link

#: Kinds of a map, unless there are no others.
_MAIN = FUNCTION_KINDS | TYPE_KINDS | {"type"}
#: Definitions of a map at most, unless the request says otherwise.
_MOST = 5_000
#: Factor of a private definition in a map about a place or a query; otherwise it comes after all others.
_PRIVATE = 0.5


def outline(snapshot: Snapshot, request: OutlineRequest, found: Mapping[str, float] | None = None) -> OutlineAnswer:
    """The definitions of files or folders, the most important first.

    Args:
        found: Maps the ids of a query's results to their scores; None without a query.
    Raises:
        BadGlobError: A path filter is no glob.
        UnknownTargetError: A file is not indexed, and the request allows only indexed files.
    """
    answer = _map(snapshot, request, found or {}) if request.is_map else _of_files(snapshot, request)
    return answer._replace(calls=_calls(snapshot, answer)) if request.calls else answer


def _calls(snapshot: Snapshot, answer: OutlineAnswer) -> tuple[Link, ...]:
    """The calls among an answer's definitions; a call in nested code belongs to the definition or file shown for it."""
    from lci_py.index.shards.symbol_queries import map_rows
    from lci_py.search.navigate.nodes import Nodes

    graph, rows = snapshot.graph, map_rows(snapshot.symbols)
    files = {path for path, _, _ in answer.files}
    shown = {id for item in answer.results for id in (item.id, *item.above)}
    ids = {row["symbol_number"]: row["id"] for row in snapshot.symbols.in_files(sorted(files)) if row["id"] in shown}
    for file, path in enumerate(snapshot.symbols.paths()):
        if path in files:
            ids[graph.n_symbols + file] = f"file:{path}"
    for number, row in enumerate(rows):  # what is above comes first
        outer = ids.get(row.parent) or ids.get(graph.n_symbols + row.file)
        if number not in ids and outer is not None:
            ids[number] = outer
    first = graph.n_symbols + graph.n_files
    for number, (around, file) in enumerate(zip(graph.lambda_symbol.tolist(), graph.lambda_file.tolist(), strict=True)):
        outer = ids.get(around if around >= 0 else graph.n_symbols + file)
        if outer is not None:
            ids[first + number] = outer
    return Nodes(snapshot).links(ids)


# --- files ------------------------------------------------------------------------------------------------------


def _of_files(snapshot: Snapshot, request: OutlineRequest) -> OutlineAnswer:
    present = PresentFiles(snapshot)
    for path in request.files if request.indexed_only else ():
        if not snapshot.freshness.indexable(path):
            raise UnknownTargetError(NOT_INDEXED.format(path))
    present.read(request.files)
    passes = place_filter(request.filters)
    ranked, around, files = [], {}, []
    for place, path in enumerate(request.files):
        definitions = present.definitions(path)
        stale = present.stale(path)
        language = definitions[0].language if definitions else present.language(path)
        files.append((path, language, stale))
        depths: list[int] = []
        for found in definitions:
            depths.append(depths[found.parent] + 1 if 0 <= found.parent < len(depths) else 0)
            item = _item(found, definitions)
            around[item.id] = item
            if passes(found) and (request.depth is None or depths[-1] < request.depth):
                ranked.append(((depths[-1], not found.exported, place, found.line), item))
    ranked.sort(key=lambda pair: pair[0])
    items = tuple(item for _, item in ranked)
    return OutlineAnswer(request, items, around, tuple(files), len(items), index_info(snapshot))


def _item(found: Definition, definitions: Sequence[Definition]) -> Definition:
    above, place, seen = [], found.parent, set()
    while 0 <= place < len(definitions) and place not in seen:
        seen.add(place)
        above.append(definitions[place].id)
        place = definitions[place].parent
    return found._replace(doc=found.doc.strip().partition("\n")[0], above=tuple(above[::-1]))


# --- a map ------------------------------------------------------------------------------------------------------


def _map(snapshot: Snapshot, request: OutlineRequest, found: Mapping[str, float]) -> OutlineAnswer:
    from lci_py.index.shards.symbol_queries import map_rows

    rows = map_rows(snapshot.symbols)
    chosen = _candidates(snapshot, request, rows)
    order = _by_rank(snapshot, request, rows, chosen, found)
    most = _MOST if request.most is None else request.most
    present = PresentFiles(snapshot)
    paths = snapshot.symbols.paths()
    items: list[Definition] = []
    around: dict[str, Definition] = {}
    files: dict[str, tuple[str, str, bool]] = {}
    first = order[:most]
    present.read(dict.fromkeys(paths[rows[number].file] for number in first))
    ids = {row["symbol_number"]: row["id"] for row in snapshot.symbols.symbol_rows(first).values()}
    for number in first:
        path = paths[rows[number].file]
        definitions = present.definitions(path)
        now = present.find(path, ids[number])
        if now is None:
            continue  # it has gone since
        files.setdefault(path, (path, now.language, present.stale(path)))
        items.append(item := _item(now, definitions))
        for one in definitions if item.above else ():
            if one.id in item.above and one.id not in around:
                around[one.id] = _item(one, definitions)
    around |= {item.id: item for item in items}
    return OutlineAnswer(request, tuple(items), around, tuple(files.values()), len(chosen), index_info(snapshot))


def _candidates(snapshot: Snapshot, request: OutlineRequest, rows: Sequence[MapRow]) -> list[int]:
    """The numbers of the definitions that the map may show."""
    from lci_py.index.shards.filters import languages, path_test
    from lci_py.source.syntax.languages import is_test

    filters = request.filters
    on_path, known, kinds = path_test(filters), languages(filters), {kind.lower() for kind in filters.kind}
    folders = [f"{folder}/" if folder else "" for folder in request.folders] or ([] if request.files else [""])
    files = snapshot.symbols.per_file("path, language")
    there = snapshot.freshness.there()
    inside = [
        (path in request.files or any(path.startswith(folder) for folder in folders))
        and (not known or language in known)
        and (on_path is None or on_path(path))
        and (there is None or there(path))
        for path, language in files
    ]
    # Whoever names a folder of tests asks for tests.
    asked = [folder for folder in folders if folder and is_test(folder)]
    tests = [request.tests or any(path.startswith(folder) for folder in asked) for path, _ in files]
    found = [
        number for number, row in enumerate(rows)
        if inside[row.file] and (not row.test or tests[row.file]) and (not kinds or row.kind in kinds)
        and not _is_local(rows, row)
    ]  # fmt: skip
    if request.depth is not None:
        found = [number for number in found if len(_enclosing_rows(rows, rows[number])) < request.depth]
    main = [number for number in found if rows[number].kind in _MAIN]
    return found if kinds else main or found


def _enclosing_rows(rows: Sequence[MapRow], row: MapRow) -> list[MapRow]:
    above: list[MapRow] = []
    while row.parent >= 0 and len(above) < 50:
        row = rows[row.parent]
        above.append(row)
    return above


def _is_local(rows: Sequence[MapRow], row: MapRow) -> bool:
    return any(one.kind in FUNCTION_KINDS for one in _enclosing_rows(rows, row))


def _by_rank(
    snapshot: Snapshot,
    request: OutlineRequest,
    rows: Sequence[MapRow],
    chosen: Sequence[int],
    found: Mapping[str, float],
) -> list[int]:
    """The chosen definitions, the most central first; without a subject of the map, exported definitions come first."""
    import numpy as np

    from lci_py.search.navigate.centrality import page_rank

    starts = _starts(snapshot, request, found)
    parents = np.array([row.parent for row in rows], np.int64)
    # Rounded: sums in another order differ in the last digits, and the order must not.
    ranks = [float(f"{rank:.9g}") for rank in page_rank(snapshot.graph, parents, starts).tolist()]
    exported = {
        number: rows[number].exported and all(one.exported for one in _enclosing_rows(rows, rows[number]))
        for number in chosen
    }
    if starts:
        return sorted(chosen, key=lambda number: (-ranks[number] * (1 if exported[number] else _PRIVATE), number))
    return sorted(chosen, key=lambda number: (not exported[number], -ranks[number], number))


def _starts(snapshot: Snapshot, request: OutlineRequest, found: Mapping[str, float]) -> dict[int, float]:
    """Maps the nodes that are the map's subject (a place, or a query's results) to weights; {} if it has no subject."""
    graph = snapshot.graph
    starts: dict[int, float] = {}
    if request.near is not None:
        path, line = request.near
        present = PresentFiles(snapshot)
        around = innermost(present.definitions(path), line) if line is not None else None
        own = [one for one in present.definitions(path) if around is None or one.id == around.id]
        indexed = {row["id"]: row["symbol_number"] for row in snapshot.symbols.in_files([path])}
        for one in own:
            if one.id in indexed:
                starts[indexed[one.id]] = 1.0 / len(own)
        if path in (paths := snapshot.symbols.paths()) and around is None:
            starts[graph.n_symbols + paths.index(path)] = 1.0
    total = sum(found.values())
    for id, weight in found.items():
        row = snapshot.symbols.with_id(id)
        if row is not None and total:
            node = row["symbol_number"] if row["symbol_number"] is not None else graph.n_symbols + row["file_number"]
            starts[node] = starts.get(node, 0.0) + weight / total
    return starts
