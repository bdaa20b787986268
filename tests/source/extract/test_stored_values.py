"""What files store, in languages whose queries capture it."""

from __future__ import annotations

import pytest

from tests.support.segments import extracted


def stored(path: str, text: str) -> list[str]:
    return [f"{item.owner} {item.slot} {item.value}" for item in extracted(path, text).stored]


@pytest.mark.parametrize(
    ("path", "text", "rows"),
    [
        ("A.java", "class A { void f() { run(x -> g(x), () -> { h(); }); } }", ["run %0 =run<g", "run %1 =run<h"]),
        ("A.java", "class A { Runnable r = () -> { a(); b(); }; }", []),
        ("a.kt", "fun f() { draw(onDone = ::g) { h(it) } }", ["draw %onDone =draw<g", "draw %last =draw<h"]),
        ("a.cs", "class A { void F(Action a) { this.a = a; } void G() { a(); } }", ["A .a =this<%0:a/1"]),
        ("a.rb", "def f\n  Box.new(on: method(:g))\nend\n", ["Box %on =Box<g"]),
        ("a.go", "package a\ntype T struct {\n\tn string\n\tf func()\n}\nvar t = []T{{\"x\", g}}\n", ["T .f T<g"]),
    ],
)  # fmt: skip
def test_what_is_stored(path: str, text: str, rows: list[str]) -> None:
    assert stored(path, text) == rows


def test_a_called_expression_without_a_name() -> None:
    # The search for what is given to a name does not end if the name is empty.
    assert stored("a.cs", "class A { Action f; void G() { (f ?? H)?.Invoke(); } void H() {} }") == []
