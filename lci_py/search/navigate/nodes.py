"""Graph nodes as places in the code, and the calls one hop away from a node."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from lci_py.callgraph.edges import AMBIGUOUS, DISPATCH, SCOPE, STEPS, confidence
from lci_py.index.shards.graph import CALLS, INHERITS
from lci_py.index.shards.symbol_queries import calls_in, constructors
from lci_py.types.graph import Direction, Place
from lci_py.types.search import FILE_KIND, LAMBDA_KIND, TYPE_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.index.shards.graph import Edges
    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot

#: Place of the node asked about, node at the other end, line, step.
Edge = tuple[int, int, int, int]
#: Rows fetched at once.
_AT_ONCE = 5_000
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
    place = step & ~AMBIGUOUS
    return STEPS[place] if place < len(STEPS) else "dispatch" if place == DISPATCH else "unknown"


class Nodes:
    """The graph's nodes of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.graph = snapshot.graph
        self.first_file = self.graph.n_symbols
        self.first_lambda = self.first_file + self.graph.n_files

    @cached_property
    def _files(self) -> list[tuple[str, str]]:
        return [(path, language) for path, language in self.snapshot.symbols.per_file("path, language")]

    def places(self, nodes: Iterable[int]) -> dict[int, Place]:
        """The place of each node."""
        wanted = sorted(set(nodes))
        lambdas = {node: self.graph.lambda_at(node) for node in wanted if node >= self.first_lambda}
        symbols = {node for node in wanted if node < self.first_file}
        symbols |= {around for _, _, around in lambdas.values() if around >= 0}
        found: dict[int, Place] = {}
        numbers = sorted(symbols)
        for start in range(0, len(numbers), _AT_ONCE):
            rows = self.snapshot.symbols.symbol_rows(numbers[start : start + _AT_ONCE])
            found |= {number: place_of(row) for number, row in rows.items()}
        for node in wanted:
            if self.first_file <= node < self.first_lambda:
                path, language = self._files[node - self.first_file]
                found[node] = Place(f"file:{path}", None, None, FILE_KIND, path, 1, language)
        for node, (file, line, around) in lambdas.items():
            path, language = self._files[file]
            outer = found.get(around)
            name = f"{outer.qualified_name}.<lambda>" if outer is not None else "<lambda>"
            found[node] = Place(f"lambda:{path}:{line}", "<lambda>", name, LAMBDA_KIND, path, line, language)
        return {node: found[node] for node in wanted if node in found}

    def asked(self, rows: Sequence[Row]) -> list[int]:
        """The nodes of definitions; for a type, also those of its constructors."""
        own = [int(row["symbol_number"]) for row in rows]
        types = [number for number, row in zip(own, rows, strict=True) if row["kind"] in TYPE_KINDS]
        return list(dict.fromkeys([*own, *self.constructors(types)]))

    def constructors(self, types: Sequence[int]) -> dict[int, int]:
        """The constructors of some types, each with its type."""
        return constructors(self.snapshot.symbols, types)

    def calls(self, nodes: Sequence[int], direction: Direction) -> list[Call]:
        """The callers or callees of all nodes together. Calls in anonymous functions belong to the
        enclosing definition.
        """
        own = [(place, one) for place, node in enumerate(nodes) for one in self._with_lambdas(node, direction)]
        edges = self.graph.edges([one for _, one in own], CALLS, incoming=direction == "callers")
        return joined((own[origin][0], node, line, step) for origin, node, line, step in _rows(edges))

    def calls_of_each(self, nodes: Sequence[int], direction: Direction) -> list[list[Call]]:
        """The callers or callees of each node separately, for a tree. An anonymous function with a known caller is a
        node of the tree; one without belongs to its enclosing definition, which passed it on.
        """
        own = [
            (place, one)
            for place, node in enumerate(nodes)
            for one in self._with_lambdas(node, direction)
            if one == node or not len(self.graph.into(one, CALLS))
        ]
        edges = self.graph.edges([one for _, one in own], CALLS, incoming=direction == "callers")
        grouped: dict[int, list[Edge]] = {}
        for origin, node, line, step in _rows(edges):
            grouped.setdefault(own[origin][0], []).append((own[origin][0], node, line, step))
        if direction == "callers":
            for place, node in enumerate(nodes):
                if node >= self.first_lambda and place not in grouped:
                    file, line, around = self.graph.lambda_at(node)
                    grouped[place] = [(place, around if around >= 0 else self.first_file + file, line, SCOPE)]
        return [joined(grouped.get(place, ())) for place in range(len(nodes))]

    def _with_lambdas(self, node: int, direction: Direction) -> list[int]:
        return [node, *(self.graph.lambdas_of(node) if direction == "callees" else ())]

    def inherited(self, rows: Sequence[Row]) -> list[Call]:
        """The calls that construct a type with an inherited constructor: those of the base's, by the type's name."""
        found = []
        for origin, row in enumerate(rows):
            number = int(row["symbol_number"])
            if row["kind"] in TYPE_KINDS and not self.constructors([number]):
                above = self._constructor_above(number)
                calls = joined(_rows(self.graph.edges(above, CALLS, incoming=True))) if above else []
                found += [
                    call._replace(lines=lines, origins=(origin,))
                    for call in calls
                    if (lines := tuple(line for line in call.lines if self._says(call.node, line, row["symbol"])))
                ]
        return found

    def _constructor_above(self, number: int) -> list[int]:
        seen, level = {number}, [number]
        while level and len(seen) < _MOST_BASES:
            bases = [int(base) for base in self.graph.edges(level, INHERITS).node if base < self.first_file]
            level = [base for base in dict.fromkeys(bases) if base not in seen]
            seen.update(level)
            if found := list(self.constructors(level)):
                return found
        return []

    def _says(self, node: int, line: int, name: str) -> bool:
        """Whether a line of the node's file has a call of this name."""
        file = self.file_of(node)
        if file not in self._called:
            self._called[file] = {(call.line, call.name) for call in calls_in(self.snapshot.symbols, file)}
        return (line, name) in self._called[file]

    @cached_property
    def _called(self) -> dict[int, set[tuple[int, str]]]:
        return {}

    def caller(self, file: int, caller: int) -> int:
        """The node that makes a call.

        Args:
            caller: As stored in the calls of a file: an index into its symbols, -1 for the file, and below that the
                index of an anonymous function.
        """
        if caller >= 0:
            return int(self.graph.first_symbol[file]) + caller
        return (
            self.first_file + file
            if caller == -1
            else self.first_lambda + int(self.graph.first_lambda[file]) - 2 - caller
        )

    def path(self, file: int) -> str:
        return self._files[file][0]

    def file_of(self, node: int) -> int:
        """The number of the file that a node lies in."""
        if node >= self.first_lambda:
            return self.graph.lambda_at(node)[0]
        return node - self.first_file if node >= self.first_file else self.graph.file_of(node)


def place_of(row: Row) -> Place:
    return Place(
        row["id"], row["symbol"], row["qualified_name"], row["kind"], row["file"], row["line"], row["language"]
    )


def merged(one: Call, other: Call) -> Call:
    """Merge the calls between two nodes that stand for the same two definitions."""
    surer = max(one, other, key=lambda call: (call.confidence, -call.step))
    return Call(
        one.node,
        tuple(sorted({*one.lines, *other.lines})),
        surer.step,
        one.ambiguous and other.ambiguous,
        tuple(sorted({*one.origins, *other.origins})),
    )


def _rows(edges: Edges) -> Iterator[Edge]:
    yield from zip(*(column.tolist() for column in edges), strict=True)


def joined(edges: Iterable[Edge]) -> list[Call]:
    """Group edges by their other end, ascending."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for origin, node, line, step in edges:
        found.setdefault(node, []).append((line, step, origin))
    return [
        Call(
            node,
            tuple(sorted({line for line, _, _ in sites})),
            max((step for _, step, _ in sites), key=lambda step: (confidence(step), -step)),
            all(step & AMBIGUOUS for _, step, _ in sites),
            tuple(sorted({origin for _, _, origin in sites})),
        )
        for node, sites in sorted(found.items())
    ]
