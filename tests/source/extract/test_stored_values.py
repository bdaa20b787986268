"""What files store, in languages whose queries capture it."""

from __future__ import annotations

import pytest

from lci_py.types.expressions import pack
from lci_py.types.source import ARGUMENT, FIELD
from tests.support.segments import extracted


def stored(path: str, text: str) -> list[tuple[int, str, str, str, str]]:
    rows = extracted(path, text).stored
    return [(item.kind, item.owner, item.name, pack(item.holder), pack(item.value)) for item in rows]


@pytest.mark.parametrize(
    ("path", "text", "rows"),
    [
        ("A.java", "class A { void f() { run(x -> g(x), () -> { h(); }); } }", [(ARGUMENT, "run", "0", "run", "g"), (ARGUMENT, "run", "1", "run", "h")]),
        ("A.java", "class A { Runnable r = () -> { a(); b(); }; }", []),
        ("a.kt", "fun f() { draw(onDone = ::g) { h(it) } }", [(ARGUMENT, "draw", "onDone", "draw", "g"), (ARGUMENT, "draw", "last", "draw", "h")]),
        ("a.cs", "class A { void F(Action a) { this.a = a; } void G() { a(); } }", [(FIELD, "A", "a", "this", "a^0")]),
        ("a.rb", "def f\n  Box.new(on: method(:g))\nend\n", [(ARGUMENT, "Box", "on", "Box", "g")]),
        ("a.go", "package a\ntype T struct {\n\tn string\n\tf func()\n}\nvar t = []T{{\"x\", g}}\n", [(FIELD, "T", "f", "<T\n", "g")]),
    ],
)  # fmt: skip
def test_what_is_stored(path: str, text: str, rows: list[tuple[int, str, str, str, str]]) -> None:
    assert stored(path, text) == rows


def test_a_called_expression_without_a_name() -> None:
    # The search for what is given to a name does not end if the name is empty.
    assert stored("a.cs", "class A { Action f; void G() { (f ?? H)?.Invoke(); } void H() {} }") == []
