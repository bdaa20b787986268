"""`lci def NAME`: what a name can be written as."""

from __future__ import annotations

from pathlib import Path

import pytest

from lci_py import app
from lci_py.types.search import Filters
from tests.support.graph_repo import build

SOURCES = {
    "src/vec.cpp": "namespace ns { struct Vec { int size(int a); }; }\nint ns::Vec::size(int a) { return a; }\n"
    "bool operator*(ns::Vec a, int b) { return true; }\nint at_(int a) { return a; }\n",
    "py/a_b.py": "class Box:\n    def size(self):\n        return 1\n\n\ndef beta():\n    return 2\n",
    "py/axb.py": "def beta():\n    return 3\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("definitions"), SOURCES)


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("beta", {"py/a_b.py:6", "py/axb.py:1"}),
        ("Box.size", {"py/a_b.py:2"}),
        ("a_b.py::beta", {"py/a_b.py:6"}),  # the _ is no wildcard
        ("py/a_b.py::Box::size", {"py/a_b.py:2"}),
        ("b.py::beta", set()),  # a whole name of a file
        ("ns::Vec::size", {"src/vec.cpp:2"}),
        ("Vec::size", {"src/vec.cpp:2"}),
        ("src/vec.cpp::Vec::size", {"src/vec.cpp:2"}),
        ("operator*", {"src/vec.cpp:3"}),
        ("bet?", {"py/a_b.py:6", "py/axb.py:1"}),
        ("[!a]eta", {"py/a_b.py:6", "py/axb.py:1"}),
        ("[", set()),
        ("::", set()),
    ],
)
def test_a_definition_is_found_by(root: Path, name: str, places: set[str]) -> None:
    with app.open_engine(str(root)) as session:
        found = session.definitions(name, Filters(), 50).results
    assert {f"{result.file}:{result.line}" for result in found} == places
