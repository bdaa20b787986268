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


def outline(snapshot: Snapshot, request: OutlineRequest, scores: Mapping[str, float] | None = None) -> OutlineAnswer:
    """The definitions of files or folders, the most important first.

    Args:
        scores: Maps the ids of a query's results to their scores; None without a query.
    Raises:
        BadGlobError: A path filter is no glob.
        UnknownTargetError: A file is not indexed, and the request allows only indexed files.
    """
    answer = _map(snapshot, request, scores or {}) if request.is_map else _of_files(snapshot, request)
    return answer._replace(calls=_calls(snapshot, answer)) if request.calls else answer


def _calls(snapshot: Snapshot, answer: OutlineAnswer) -> tuple[Link, ...]:
    """The calls among an answer's definitions; a call in nested code belongs to the definition or file shown for it."""
    from lci_py.index.shards.symbol_queries import map_rows
    from lci_py.search.navigate.nodes import Nodes

    graph, rows = snapshot.graph, map_rows(snapshot.symbols)
    files = {path for path, _, _ in answer.files}
    listed = {id for item in answer.results for id in (item.id, *item.above)}
    ids = {row["symbol_number"]: row["id"] for row in snapshot.symbols.in_files(sorted(files)) if row["id"] in listed}
    for file, path in enumerate(snapshot.symbols.paths()):
        if path in files:
            ids[graph.n_symbols + file] = f"file:{path}"
    for number, row in enumerate(rows):  # what is above comes first
        outer = ids.get(row.parent) or ids.get(graph.n_symbols + row.file)
        if number not in ids and outer is not None:
            ids[number] = outer
    first = graph.n_symbols + graph.n_files
    for number, (symbol, file) in enumerate(zip(graph.lambda_symbol.tolist(), graph.lambda_file.tolist(), strict=True)):
        outer = ids.get(symbol if symbol >= 0 else graph.n_symbols + file)
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
    ranked, enclosing, files = [], {}, []
    for index, path in enumerate(request.files):
        definitions = present.definitions(path)
        stale = present.stale(path)
        language = definitions[0].language if definitions else present.language(path)
        files.append((path, language, stale))
        depths: list[int] = []
        for definition in definitions:
            depths.append(depths[definition.parent] + 1 if 0 <= definition.parent < len(depths) else 0)
            item = _item(definition, definitions)
            enclosing[item.id] = item
            if passes(definition) and (request.depth is None or depths[-1] < request.depth):
                ranked.append(((depths[-1], not definition.exported, index, definition.line), item))
    ranked.sort(key=lambda pair: pair[0])
    items = tuple(item for _, item in ranked)
    return OutlineAnswer(request, items, enclosing, tuple(files), len(items), index_info(snapshot))


def _item(definition: Definition, definitions: Sequence[Definition]) -> Definition:
    above, index, seen = [], definition.parent, set()
    while 0 <= index < len(definitions) and index not in seen:
        seen.add(index)
        above.append(definitions[index].id)
        index = definitions[index].parent
    return definition._replace(doc=definition.doc.strip().partition("\n")[0], above=tuple(above[::-1]))


# --- a map ------------------------------------------------------------------------------------------------------


def _map(snapshot: Snapshot, request: OutlineRequest, scores: Mapping[str, float]) -> OutlineAnswer:
    from lci_py.index.shards.symbol_queries import map_rows

    rows = map_rows(snapshot.symbols)
    candidates = _candidates(snapshot, request, rows)
    order = _by_rank(snapshot, request, rows, candidates, scores)
    limit = _MOST if request.limit is None else request.limit
    present = PresentFiles(snapshot)
    paths = snapshot.symbols.paths()
    items: list[Definition] = []
    enclosing: dict[str, Definition] = {}
    files: dict[str, tuple[str, str, bool]] = {}
    first = order[:limit]
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
        for definition in definitions if item.above else ():
            if definition.id in item.above and definition.id not in enclosing:
                enclosing[definition.id] = _item(definition, definitions)
    enclosing |= {item.id: item for item in items}
    return OutlineAnswer(request, tuple(items), enclosing, tuple(files.values()), len(candidates), index_info(snapshot))


def _candidates(snapshot: Snapshot, request: OutlineRequest, rows: Sequence[MapRow]) -> list[int]:
    """The numbers of the definitions that the map may show."""
    from lci_py.index.shards.filters import languages, path_test
    from lci_py.source.syntax.languages import is_test

    filters = request.filters
    on_path, allowed_languages, kinds = path_test(filters), languages(filters), {kind.lower() for kind in filters.kind}
    folders = [f"{folder}/" if folder else "" for folder in request.folders] or ([] if request.files else [""])
    files = snapshot.symbols.per_file("path, language")
    there = snapshot.freshness.there()
    inside = [
        (path in request.files or any(path.startswith(folder) for folder in folders))
        and (not allowed_languages or language in allowed_languages)
        and (on_path is None or on_path(path))
        and (there is None or there(path))
        for path, language in files
    ]
    # Whoever names a folder of tests asks for tests.
    test_folders = [folder for folder in folders if folder and is_test(folder)]
    tests = [request.tests or any(path.startswith(folder) for folder in test_folders) for path, _ in files]
    numbers = [
        number for number, row in enumerate(rows)
        if inside[row.file] and (not row.test or tests[row.file]) and (not kinds or row.kind in kinds)
        and not _is_local(rows, row)
    ]  # fmt: skip
    if request.depth is not None:
        numbers = [number for number in numbers if len(_enclosing_rows(rows, rows[number])) < request.depth]
    main = [number for number in numbers if rows[number].kind in _MAIN]
    return numbers if kinds else main or numbers


def _enclosing_rows(rows: Sequence[MapRow], row: MapRow) -> list[MapRow]:
    above: list[MapRow] = []
    while row.parent >= 0 and len(above) < 50:
        row = rows[row.parent]
        above.append(row)
    return above


def _is_local(rows: Sequence[MapRow], row: MapRow) -> bool:
    return any(outer.kind in FUNCTION_KINDS for outer in _enclosing_rows(rows, row))


def _by_rank(
    snapshot: Snapshot,
    request: OutlineRequest,
    rows: Sequence[MapRow],
    candidates: Sequence[int],
    scores: Mapping[str, float],
) -> list[int]:
    """The chosen definitions, the most central first; without a subject of the map, exported definitions come first."""
    import numpy as np

    from lci_py.search.navigate.centrality import page_rank

    starts = _starts(snapshot, request, scores)
    parents = np.array([row.parent for row in rows], np.int64)
    # Rounded: sums in another order differ in the last digits, and the order must not.
    ranks = [float(f"{rank:.9g}") for rank in page_rank(snapshot.graph, parents, starts).tolist()]
    exported = {
        number: rows[number].exported and all(outer.exported for outer in _enclosing_rows(rows, rows[number]))
        for number in candidates
    }
    if starts:
        return sorted(candidates, key=lambda number: (-ranks[number] * (1 if exported[number] else _PRIVATE), number))
    return sorted(candidates, key=lambda number: (not exported[number], -ranks[number], number))


def _starts(snapshot: Snapshot, request: OutlineRequest, scores: Mapping[str, float]) -> dict[int, float]:
    """Maps the nodes that are the map's subject (a place, or a query's results) to weights; {} if it has no subject."""
    graph = snapshot.graph
    starts: dict[int, float] = {}
    if request.near is not None:
        path, line = request.near
        present = PresentFiles(snapshot)
        span = innermost(present.definitions(path), line) if line is not None else None
        own = [item for item in present.definitions(path) if span is None or item.id == span.id]
        indexed = {row["id"]: row["symbol_number"] for row in snapshot.symbols.in_files([path])}
        for item in own:
            if item.id in indexed:
                starts[indexed[item.id]] = 1.0 / len(own)
        if path in (paths := snapshot.symbols.paths()) and span is None:
            starts[graph.n_symbols + paths.index(path)] = 1.0
    total = sum(scores.values())
    for id, weight in scores.items():
        row = snapshot.symbols.with_id(id)
        if row is not None and total:
            node = row["symbol_number"] if row["symbol_number"] is not None else graph.n_symbols + row["file_number"]
            starts[node] = starts.get(node, 0.0) + weight / total
    return starts
