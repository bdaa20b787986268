"""Graph nodes as locations in the code, and the calls one hop away from a node."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache, cached_property
from typing import TYPE_CHECKING

from lci_py.callgraph.file_facts import family
from lci_py.index.shards.symbol_queries import bases_of, calls_in, constructors
from lci_py.search.navigate.present import file_place
from lci_py.search.routes import Routes, library_hooks
from lci_py.types.edges import AMBIGUOUS, CALLS, DISPATCH, HOOK, INHERITS, ROUTE, SCOPE, STEPS, confidence
from lci_py.types.graph import Direction, Link, Place
from lci_py.types.record import NamedTuple
from lci_py.types.search import FILE_KIND, FUNCTION_KINDS, LAMBDA_KIND, TYPE_KINDS
from lci_py.types.source import REGISTRATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lci_py.index.shards.graph import Edges
    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot

#: Place of the node asked about, node at the other end, line, step.
Edge = tuple[int, int, int, int]
#: Bases above a type that are looked at for the constructor it inherits.
_MOST_BASES = 50


class Call(NamedTuple):
    """The calls between two nodes."""

    node: int  # the other end of the edge
    lines: tuple[int, ...]
    step: int  # of the surest edge
    ambiguous: bool  # whether all the edges are
    origins: tuple[int, ...]  # places among the nodes asked about

    @property
    def step_name(self) -> str:
        return step_name(self.step)

    @property
    def confidence(self) -> float:
        return confidence(self.step)


def step_name(step: int) -> str:
    rule = step & ~AMBIGUOUS
    return STEPS[rule] if rule < len(STEPS) else "dispatch" if rule == DISPATCH else "unknown"


class Nodes:
    """Finds the places in the code of a snapshot's graph nodes, and the calls of a node."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.graph = snapshot.graph
        self.first_file = self.graph.n_symbols
        self.first_lambda = self.first_file + self.graph.n_files
        #: Names under which functions are registered are nodes behind all of the graph.
        self._first_name, self._registered = self.graph.n_nodes, list[Place]()
        self._called = cache(lambda file: {(call.line, call.name) for call in calls_in(snapshot.symbols, file)})

    @cached_property
    def _files(self) -> list[tuple[str, str]]:
        return [(path, language) for path, language in self.snapshot.symbols.per_file("path, language")]

    def language(self, file: int) -> str:
        """A file's language."""
        return self._files[file][1]

    def family(self, file: int) -> str:
        """The name of the family of related languages that a file's language belongs to."""
        return family(self.language(file))

    def places(self, nodes: Iterable[int]) -> dict[int, Place]:
        """Maps each node to its definition, anonymous function or file."""
        numbers = sorted(set(nodes))
        lambdas = {node: self.graph.lambda_at(node) for node in numbers if self.first_lambda <= node < self._first_name}
        symbols = {node for node in numbers if node < self.first_file}
        symbols |= {enclosing for _, _, enclosing in lambdas.values() if enclosing >= 0}
        result: dict[int, Place] = {}
        result |= {number: place_of(row) for number, row in self.snapshot.symbols.symbol_rows(sorted(symbols)).items()}
        for node in numbers:
            if self.first_file <= node < self.first_lambda:
                path, language = self._files[node - self.first_file]
                result[node] = file_place(path, language)
        for node, (file, line, enclosing) in lambdas.items():
            path, language = self._files[file]
            outer = result.get(enclosing)
            name = f"{outer.qualified_name}.<lambda>" if outer is not None else "<lambda>"
            result[node] = Place(f"lambda:{path}:{line}", "<lambda>", name, LAMBDA_KIND, path, line, language)
        for node in numbers[bisect_left(numbers, self._first_name) :]:
            result[node] = self._registered[node - self._first_name]
        return {node: result[node] for node in numbers if node in result}

    def asked(self, rows: Sequence[Row]) -> list[int]:
        """The graph nodes of definitions; for a type, also the nodes of its constructors."""
        own = [int(row["symbol_number"]) for row in rows]
        types = [number for number, row in zip(own, rows, strict=True) if row["kind"] in TYPE_KINDS]
        return list(dict.fromkeys([*own, *self.constructors(types)]))

    def constructors(self, types: Sequence[int]) -> dict[int, int]:
        """Maps the constructors of some types to their types."""
        return constructors(self.snapshot.symbols, types)

    def calls(self, nodes: Sequence[int], direction: Direction) -> list[Call]:
        """The callers or callees of all nodes together. An anonymous function counts as its enclosing definition."""
        own = [(index, inner) for index, node in enumerate(nodes) for inner in self._with_lambdas(node, direction)]
        edges = self._edges([inner for _, inner in own], direction)
        return calls_by_node((own[origin][0], node, line, step) for origin, node, line, step in edges)

    def calls_of_each(self, nodes: Sequence[int], direction: Direction) -> list[list[Call]]:
        """The callers or callees of each node separately, for a tree. An anonymous function with a known caller is a
        node of the tree; without one, its calls belong to its enclosing definition, which passed it on."""
        own = [
            (index, inner)
            for index, node in enumerate(nodes)
            for inner in self._with_lambdas(node, direction)
            if node < self._first_name and (inner == node or not len(self.graph.into(inner, CALLS)))
        ]
        grouped: dict[int, list[Edge]] = {}
        for origin, node, line, step in self._edges([inner for _, inner in own], direction):
            grouped.setdefault(own[origin][0], []).append((own[origin][0], node, line, step))
        if direction == "callers":
            for index, node in enumerate(nodes):
                if node >= self.first_lambda and index not in grouped:
                    file, line, enclosing = self.graph.lambda_at(node)
                    grouped[index] = [(index, enclosing if enclosing >= 0 else self.first_file + file, line, SCOPE)]
        return [calls_by_node(grouped.get(index, ())) for index in range(len(nodes))]

    def _edges(self, nodes: Sequence[int], direction: Direction) -> Iterator[Edge]:
        """The edges of some nodes. Among callers, a route (the name under which a function is registered with a
        framework) is a node as well."""
        edges = _rows(self.graph.edges(nodes, CALLS, incoming=direction == "callers"))
        if direction == "callees":
            yield from edges
            return
        called = set[int]()
        for origin, node, line, step in edges:
            called.add(origin)
            names: Sequence[str] = ()
            if ROUTE <= step & ~AMBIGUOUS < HOOK:
                names = self.routes.names_at(self.file_of(node), line, nodes[origin])
            for name in names:
                yield origin, self._node_named(name, step, self.file_of(node), line), line, step
            if not names:
                yield origin, node, line, step
        for origin, node in enumerate(nodes):
            for (file, row), name in self.routes.registrations_of(node):
                step = ROUTE + REGISTRATIONS.index(row.kind)
                called.add(origin)
                yield origin, self._node_named(name, step, file, row.line), row.line, step
        for origin, node in enumerate(nodes):
            if origin not in called and node < self.first_file:
                yield from ((origin, *hook) for hook in self._hooks_of(node))

    def _hooks_of(self, symbol: int) -> Iterator[tuple[int, int, int]]:
        """Yield (node, line, step) of the library base classes that call a method which the repository never calls."""
        row = self.snapshot.symbols.symbol_rows([symbol])[symbol]
        if row["kind"] not in FUNCTION_KINDS or row["parent"] is None:
            return
        hooks = library_hooks(self.snapshot, [row["parent"]])[row["parent"]]
        for type_ in dict.fromkeys(type_ for type_, hook in hooks if hook.has(row["symbol"])):
            type_row = self.snapshot.symbols.symbol_rows([type_])[type_]
            name = f"{type_row['symbol']}({', '.join(bases_of(self.snapshot.symbols, [type_])[type_])})"
            line = int(type_row["line"])
            yield self._node_named(name, HOOK, self.file_of(type_), line), line, HOOK

    def _node_named(self, name: str, step: int, file: int, line: int) -> int:
        path, language = self._files[file]
        kind = step_name(step)
        place = Place(f"{kind}:{path}:{line}:{name}", name, name, kind, path, line, language)
        if place not in self._registered:
            self._registered.append(place)
        return self._first_name + self._registered.index(place)

    @cached_property
    def routes(self) -> Routes:
        """The registrations of functions with frameworks, such as routes."""
        return Routes(self.snapshot)

    def links(self, ids: Mapping[int, str]) -> tuple[Link, ...]:
        """The calls among some nodes.

        Args:
            ids: Maps a node to the id of the definition that it is shown as; calls within one id are left out.
        """
        own = sorted(ids)
        edges_of: dict[tuple[str, str], list[Edge]] = {}
        for origin, node, line, step in _rows(self.graph.edges(own, CALLS)):
            source, target = ids[own[origin]], ids.get(node)
            if target is not None and target != source:
                edges_of.setdefault((source, target), []).append((0, 0, line, step))
        return tuple(
            Link(*ends, call.lines, call.step_name, call.confidence, call.ambiguous)
            for ends, edges in edges_of.items()
            for call in calls_by_node(edges)
        )

    def _with_lambdas(self, node: int, direction: Direction) -> list[int]:
        return [node, *(self.graph.lambdas_of(node) if direction == "callees" else ())]

    def inherited(self, rows: Sequence[Row]) -> list[Call]:
        """The calls that construct a type by an inherited constructor: calls of that constructor by the type's name."""
        extra = []
        for origin, row in enumerate(rows):
            number = int(row["symbol_number"])
            if row["kind"] in TYPE_KINDS and not self.constructors([number]):
                above = self._constructor_above(number)
                calls = calls_by_node(_rows(self.graph.edges(above, CALLS, incoming=True))) if above else []
                extra += [
                    call._replace(lines=lines, origins=(origin,))
                    for call in calls
                    if (lines := tuple(line for line in call.lines if self._says(call.node, line, row["symbol"])))
                ]
        return extra

    def _constructor_above(self, number: int) -> list[int]:
        seen, level = {number}, [number]
        while level and len(seen) < _MOST_BASES:
            bases = [int(base) for base in self.graph.edges(level, INHERITS).node if base < self.first_file]
            level = [base for base in dict.fromkeys(bases) if base not in seen]
            seen.update(level)
            if constructors := list(self.constructors(level)):
                return constructors
        return []

    def _says(self, node: int, line: int, name: str) -> bool:
        """Whether a line of a node's file contains a call of this name."""
        return (line, name) in self._called(self.file_of(node))

    def path(self, file: int) -> str:
        return self._files[file][0]

    def file_of(self, node: int) -> int:
        """The number of the file that a node lies in."""
        if node >= self._first_name:
            return [path for path, _ in self._files].index(self._registered[node - self._first_name].file)
        if node >= self.first_lambda:
            return self.graph.lambda_at(node)[0]
        return node - self.first_file if node >= self.first_file else self.graph.file_of(node)


def place_of(row: Row) -> Place:
    if row["kind"] == FILE_KIND:
        return file_place(row["file"], row["language"])
    return Place(
        row["id"], row["symbol"], row["qualified_name"], row["kind"], row["file"], row["line"], row["language"]
    )


def merge_calls(first: Call, other: Call) -> Call:
    """Merge two entries for calls between the same two definitions, of which each may have several nodes."""
    surer = max(first, other, key=lambda call: (call.confidence, -call.step))
    return Call(
        first.node,
        tuple(sorted({*first.lines, *other.lines})),
        surer.step,
        first.ambiguous and other.ambiguous,
        tuple(sorted({*first.origins, *other.origins})),
    )


def _rows(edges: Edges) -> Iterator[Edge]:
    yield from zip(*(column.tolist() for column in edges), strict=True)


def calls_by_node(edges: Iterable[Edge]) -> list[Call]:
    """Group edges by the node at their other end, in ascending order of that node."""
    sites_of: dict[int, list[tuple[int, int, int]]] = {}
    for origin, node, line, step in edges:
        sites_of.setdefault(node, []).append((line, step, origin))
    return [
        Call(
            node,
            tuple(sorted({line for line, _, _ in sites})),
            max((step for _, step, _ in sites), key=lambda step: (confidence(step), -step)),
            all(step & AMBIGUOUS for _, step, _ in sites),
            tuple(sorted({origin for _, _, origin in sites})),
        )
        for node, sites in sorted(sites_of.items())
    ]
