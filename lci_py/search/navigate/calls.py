"""One hop of the call graph from a name: its callers or its callees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.index.shards.symbols import dotted_name
from lci_py.search.answer import results
from lci_py.search.navigate.dispatch import Dispatch
from lci_py.search.navigate.external import externals, unresolved_uses
from lci_py.search.navigate.names import handlers_or_meanings, likeliest
from lci_py.search.navigate.nodes import Nodes, place_of
from lci_py.search.navigate.present import check_known, place_filter
from lci_py.search.suggest import near_misses
from lci_py.types.graph import Direction, External, GraphAnswer, GraphRequest, Neighbour, OtherMeaning, Place, Through
from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.index.shards.symbols import Row
    from lci_py.search.navigate.nodes import Call
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Filters


def callers(snapshot: Snapshot, request: GraphRequest) -> GraphAnswer:
    """The callers of a name; if it has no callers, the lines that mention the name."""
    answer = neighbours(snapshot, request, "callers")
    if answer.total:
        return answer
    from lci_py.search.navigate.references import mentions

    return replace(answer, mentions=mentions(snapshot, answer.targets))


def callees(snapshot: Snapshot, request: GraphRequest) -> GraphAnswer:
    """The callees of a name: what its definitions call, including names from outside the repository."""
    return neighbours(snapshot, request, "callees")


def neighbours(snapshot: Snapshot, request: GraphRequest, direction: Direction) -> GraphAnswer:
    """The callers or the callees of a name, by `direction`."""
    nodes = Nodes(snapshot)
    rows, others = definitions(nodes, request.name, every=request.all_meanings)
    if not rows:
        return nothing(snapshot, direction, request, uses=direction == "callers")
    dispatch = Dispatch(nodes)
    items, through = neighbours_of(nodes, dispatch, rows, direction, request.filters)
    outside = externals(nodes, rows) if direction == "callees" else ()
    return GraphAnswer(
        direction,
        request.name,
        tuple(map(place_of, rows)),
        results.index_info(snapshot),
        len(items),
        neighbours=tuple(items[request.offset :][: request.limit]),
        offset=request.offset,
        external=() if request.filters else outside,
        through=tuple(through),
        unresolved_uses=_lines(outside)
        if direction == "callees"
        else count_unresolved(nodes, dispatch, rows, request, direction),
        calls_of_unknown_name=() if items or direction == "callees" else _calls_of_unknown_name(nodes, dispatch, rows),
        others=others,
    )


def neighbours_of(
    nodes: Nodes, dispatch: Dispatch, rows: list[Row], direction: Direction, filters: Filters
) -> tuple[list[Neighbour], list[Through]]:
    """(neighbours, through): the callers or callees of definitions, in order, if they pass the filters and their files
    still exist; and the declared (base or interface) methods by which dynamic dispatch leads to these neighbours.
    """
    neighbours: list[Neighbour] = []
    through: list[Through] = []
    # Lines of callees are lines of the callers' file: definitions in several files are asked about one by one.
    for group in [rows] if direction == "callers" else _by_file(rows):
        neighbours += _neighbours(nodes, group, direction)
        more, declared = _dispatch_neighbours(nodes, dispatch, group, direction)
        neighbours += more
        through += declared
    passes = place_filter(filters, nodes.snapshot.freshness.there())
    passing = {item for item in neighbours if passes(item.place)}
    return sorted(passing, key=_order if direction == "callers" else _by_site), through


def _calls_of_unknown_name(nodes: Nodes, dispatch: Dispatch, rows: Sequence[Row]) -> tuple[tuple[str, int], ...]:
    """(file, line) of the calls whose called name is unknown: they may mean any function. Only in existing files."""
    sites = {(nodes.path(nodes.file_of(node)), line) for node, line in dispatch.of_unknown_name(rows)}
    there = nodes.snapshot.freshness.there()
    return tuple(sorted(site for site in sites if there is None or there(site[0])))


def _lines(outside: Sequence[External]) -> int:
    return sum(len(item.sites) for item in outside)


def count_unresolved(
    nodes: Nodes, dispatch: Dispatch, rows: Sequence[Row], request: GraphRequest, direction: Direction
) -> int:
    """The number of calls with unknown targets: calls of the definitions' name (callers), or inside them (callees)."""
    if direction == "callees":
        return _lines(externals(nodes, rows))
    passes = _use_filter(nodes.snapshot, request.filters)
    explained = [*nodes.inherited(rows), *dispatch.of_unknown_receiver(rows)]
    known_sites = {(call.node, line) for call in explained for line in call.lines}
    methods = [row for row in rows if row["kind"] == "method"]
    owners = frozenset(row["qualified_name"].split(".")[-2] for row in methods if "." in row["qualified_name"])
    owner_names = owners if len(methods) == len(rows) else frozenset[str]()
    names = sorted({row["symbol"] for row in rows})
    return sum(unresolved_uses(nodes, name, passes, known_sites, owner_names) for name in names)


def _use_filter(snapshot: Snapshot, filters: Filters) -> Callable[[Place], bool] | None:
    """A function that tests whether a use passes the filters and its file still exists; None if all uses do."""
    there = snapshot.freshness.there()
    return place_filter(filters, there) if filters or there is not None else None


def definitions(nodes: Nodes, name: str, *, every: bool) -> tuple[list[Row], tuple[OtherMeaning, ...]]:
    """(definitions, others): the definitions that a name most likely means (`every`: all), and its other meanings.

    Raises:
        IndexBehindError: Only a file that has changed since the index was built defines the name.
    """
    choices = handlers_or_meanings(nodes, name)
    if not choices:
        check_known(nodes.snapshot, name)
    return likeliest(nodes, choices, every=every)


def nothing(snapshot: Snapshot, command: str, request: GraphRequest, *, uses: bool = False) -> GraphAnswer:
    """The answer about a name that has no definition; with `uses`, it says how often the name is called."""
    near = near_misses(snapshot.symbols, request.name)
    called = 0
    if uses:
        passes = _use_filter(snapshot, request.filters)
        called = unresolved_uses(Nodes(snapshot), dotted_name(request.name).rpartition(".")[2], passes)
    return GraphAnswer(
        command, request.name, (), results.index_info(snapshot), 0, unresolved_uses=called, did_you_mean=near
    )


def _by_file(rows: Sequence[Row]) -> list[list[Row]]:
    by_file: dict[str, list[Row]] = {}
    for row in rows:
        by_file.setdefault(row["file"], []).append(row)
    return list(by_file.values())


def _neighbours(nodes: Nodes, rows: list[Row], direction: Direction) -> list[Neighbour]:
    targets = nodes.asked(rows)
    calls = nodes.calls(targets, direction)
    places = nodes.places([*targets, *(call.node for call in calls)])
    ids = [places[node].id for node in targets]
    neighbours = [_neighbour(places, call, ids) for call in calls if call.node in places]
    if direction == "callers":
        inherited = [call for call in nodes.inherited(rows) if call.node not in {direct.node for direct in calls}]
        places |= nodes.places(call.node for call in inherited)
        neighbours += [_neighbour(places, call, [row["id"] for row in rows]) for call in inherited]
    return neighbours


def _dispatch_neighbours(
    nodes: Nodes, dispatch: Dispatch, rows: list[Row], direction: Direction
) -> tuple[list[Neighbour], list[Through]]:
    """(neighbours, through): callers or callees by dynamic dispatch and computed names; the declared methods called."""
    targets = nodes.asked(rows)
    calls, declared = dispatch.calls(rows, targets, direction)
    places = nodes.places(call.node for call in calls)
    ids = [row["id"] for row in rows] if direction == "callers" else [p.id for p in nodes.places(targets).values()]
    return [_neighbour(places, call, ids) for call in calls if call.node in places], dispatch.places(declared)


def _neighbour(places: dict[int, Place], call: Call, ids: Sequence[str]) -> Neighbour:
    targets = tuple(sorted({ids[origin] for origin in call.origins}))
    return Neighbour(places[call.node], call.lines, call.step_name, call.confidence, call.ambiguous, targets)


def _order(item: Neighbour) -> tuple[object, ...]:
    return item.step == "dispatch", item.place.file, item.place.line, item.place.id


def _by_site(neighbour: Neighbour) -> tuple[object, ...]:
    return neighbour.targets, neighbour.sites, neighbour.place.file, neighbour.place.line, neighbour.place.id
