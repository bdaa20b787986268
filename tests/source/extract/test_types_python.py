"""The types of names in Python files."""

from __future__ import annotations

import pytest

from lci_py.source.extract.expressions import parse
from lci_py.source.extract.extract import extract
from lci_py.types.expressions import Expr

SOURCE = b"""
top = make()
class C(Base):
    field: dict[str, Node] = {}
    def __init__(self, node: Node, other, *rest, key: Key = None, plain=1):
        self.node = node
        self.typed: Tree = node.tree(1, 2)
        local = self.node.child(0)
        local.f(other(), plain(), key(), node)
        unused = node
    def get(self) -> "C":
        with opened(self) as handle:
            handle.read()
        for item in self.items():
            item.f()
        first, second = self.pair()
        first.f()
        return self
    def made(self):
        if (found := self.find()):
            found.f()
        try:
            [each.f() for each in found]
        except Odd as odd:
            odd.f()
        return self.node
"""


def _facts(source: bytes) -> list[tuple[str, str, str | Expr, str]]:
    """Scope, name, type or value, and the scope in which that is read."""
    found = extract("a.py", source, "python")
    names = [symbol.name for symbol in found.symbols] + [""]
    return [
        (names[item.scope], item.name, item.expr if item.is_value else item.text, names[item.within])
        for item in found.types
    ]


@pytest.mark.parametrize(
    "fact",
    [
        ("", "top", "=make()", ""),
        ("C", "field", "dict[str,Node]", "C"),
        ("__init__", "node", "Node", "__init__"),
        ("__init__", "other", "", "__init__"),
        ("__init__", "key", "Key", "__init__"),
        ("__init__", "plain", "", "__init__"),
        ("C", "node", "=node", "__init__"),
        ("C", "typed", "Tree", "__init__"),
        ("__init__", "local", "=self.node.child()", "__init__"),
        ("get", "", '"C"', "get"),
        ("get", "handle", "=opened().__enter__()", "get"),
        ("get", "item", "=self.items()[]", "get"),
        ("get", "first", "=self.pair().0", "get"),
        ("made", "found", "=self.find()", "made"),
        ("made", "each", "=found[]", "made"),
        ("made", "odd", "=Odd", "made"),
        ("made", "", "=self.node", "made"),
    ],
    ids=lambda fact: f"{fact[0]}.{fact[1]}",
)
def test_declarations_and_values(fact: tuple[str, str, str, str]) -> None:
    scope, name, what, within = fact
    assert (scope, name, parse(what[1:]) if what.startswith("=") else what, within) in _facts(SOURCE)


def test_a_local_that_no_call_depends_on_is_left_out() -> None:
    assert not [fact for fact in _facts(SOURCE) if fact[1] in ("unused", "rest")]


@pytest.mark.parametrize("deep", ["+".join(["'a'"] * 3000), "=".join(["b"] * 3000) + "=1"], ids=["sum", "assignments"])
def test_what_is_long_is_not_gone_down(deep: str) -> None:
    source = f"x = {deep}\ndef f(node: Node):\n    node.g()\n".encode()
    assert ("f", "node", "Node", "f") in _facts(source)
    assert extract("a.py", source, "python").flow


def test_a_test_has_types_and_no_constraints() -> None:
    found = extract("tests/test_a.py", SOURCE, "python")
    assert found.types == extract("a.py", SOURCE, "python").types
    assert found.flow == b""
