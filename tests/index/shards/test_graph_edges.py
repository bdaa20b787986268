"""Edges of many nodes at once are those of each, and damaged arrays are refused; also for anonymous functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.graph import GraphIndex, read_links, write_graph
from lci_py.types.edges import CALLS, IMPORTS
from tests.index.shards.test_graph import filled, rewrite
from tests.support.segments import full

FILES = {
    "a.py": "import b\ndef f():\n    b.g()\n    b.g()\n    return lambda: h()\ndef h():\n    f()\nx = lambda: f()\n",
    "b.py": "import a\ndef g():\n    a.f()\n    a.f()\n",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("edges") / "graph.arrays"
    write_graph(path, full(FILES))
    return path


@given(st.data())
def test_edges_of_many_nodes_are_those_of_each(path: Path, data: st.DataObject) -> None:
    links, graph = read_links(path), GraphIndex(path)
    nodes = data.draw(st.lists(st.integers(0, links.n_nodes - 1), max_size=8))
    for incoming in (False, True):
        for kind in (CALLS, IMPORTS):
            wanted = []
            own, other = (links.target, links.source) if incoming else (links.source, links.target)
            for place, node in enumerate(nodes):
                for edge in np.flatnonzero((own == node) & (links.kind == kind)).tolist():
                    wanted.append((place, int(other[edge]), int(links.line[edge]), int(links.step[edge])))
            found = list(zip(*(column.tolist() for column in graph.edges(nodes, kind, incoming=incoming)), strict=True))
            assert sorted(found) == sorted(wanted)
            assert [row[:2] for row in found] == sorted(row[:2] for row in found)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from([CALLS, IMPORTS])), max_size=8), st.booleans())
def test_each_of_many_nodes_can_be_asked_for_its_own_kind(
    path: Path, asked: list[tuple[int, int]], incoming: bool
) -> None:
    graph = GraphIndex(path)
    kinds = np.array([kind for _, kind in asked], np.uint8)
    found = graph.edges([node for node, _ in asked], kinds, incoming=incoming)
    one_by_one = [graph.edges([node], kind, incoming=incoming) for node, kind in asked]
    assert found.node.tolist() == [node for edges in one_by_one for node in edges.node.tolist()]
    assert found.origin.tolist() == [place for place, edges in enumerate(one_by_one) for _ in edges.node]


def test_anonymous_functions_lie_in_what_is_around_them(path: Path) -> None:
    graph = GraphIndex(path)
    first = graph.n_symbols + graph.n_files
    assert graph.n_lambdas == 2
    assert graph.lambdas_of(0) == [first] and graph.lambda_at(first) == (0, 5, 0)
    assert graph.lambdas_of(graph.n_symbols) == [first + 1] and graph.lambda_at(first + 1) == (0, 8, -1)
    assert not graph.lambdas_of(1) and not graph.lambdas_of(first)
    assert [graph.file_of(symbol) for symbol in range(graph.n_symbols)] == [0, 0, 0, 1]


DAMAGE = {
    "a target beyond the end": {"target": filled(99)},
    "a node's edges beyond the end": {"out_ptr": filled(99), "in_ptr": filled(99)},
    "a node's edges that descend": {"out_ptr": lambda a: a[::-1], "in_ptr": lambda a: a[::-1]},
    "an order of other edges": {"incoming": filled(99)},
    "a step less": {"step": lambda a: a[1:]},
    "an anonymous function on line 0": {"lambda_line": filled(0)},
    "an anonymous function in a symbol that there is not": {"lambda_symbol": filled(99)},
    "anonymous functions that descend": {"first_lambda": lambda a: np.array([5, 0, 2], np.int32)},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_nothing_damaged_is_believed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "graph.arrays"
    write_graph(path, full(FILES))
    rewrite(path, **DAMAGE[damage])
    with pytest.raises(DamagedIndexError):
        graph = GraphIndex(path)
        nodes = range(graph.n_symbols + graph.n_files + graph.n_lambdas)
        for incoming in (False, True):
            graph.edges(list(nodes), CALLS, incoming=incoming)
        for node in nodes:
            graph.lambdas_of(node)
            if node >= graph.n_symbols + graph.n_files:
                graph.lambda_at(node)


@pytest.mark.parametrize("node", [-1, 99])
def test_a_node_that_there_is_not_is_damage(path: Path, node: int) -> None:
    for ask in (
        lambda graph: graph.edges([node], CALLS),
        lambda graph: graph.lambda_at(node),
        lambda graph: graph.file_of(node),
    ):
        with pytest.raises(DamagedIndexError):
            ask(GraphIndex(path))
