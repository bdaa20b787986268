"""What calls pass, as short texts."""

from __future__ import annotations

import pytest

from lci_py.types.source import TAKES
from tests.support.segments import extracted


def passed(arguments: str, path: str = "A.java") -> str:
    text = f"class A {{ void f() {{ g({arguments}); }} }}"
    return next(call.passed for call in extracted(path, text).calls if call.name == "g")


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        ("a, b.c, d()", "a;b.c;d()"),
        ("1, 2L, \"x, y\", 'c', null, true, X.class", "#int;#long;#String;#char;#null;#boolean;#Class"),
        ("-1, !a, a == b, 1 + 2L, 1.5f", "#int;#boolean;#boolean;#long;#float"),
        ('(Foo) x, new Foo(1), new int[2], "a" + b, a + b', "#Foo;new Foo();#int[];#String;?"),
        ("x -> 1, (a, b) -> 2, this::h, c ? 1 : 2, c ? 1 : d", "->1;->2;::;#int;?"),
        ("a /* , b */, c", "a;c"),
        ("a + b", ""),
        ("", ""),
    ],
)
def test_arguments_as_texts(arguments: str, texts: str) -> None:
    assert passed(arguments) == texts


def test_a_sum_of_a_thousand_strings() -> None:
    assert passed(" + ".join(["b", *['"a"'] * 400])) == "#String"
    assert passed(" + ".join(["1"] * 400)) == "#int"
    assert passed("".join(["(" * 90, "1", ")" * 90])) == "#int"


def test_what_functions_take() -> None:
    text = (
        "class A<T extends Number> { void f(T a, int[] b, java.util.List<T> c, U... d) {} <V> void f(V a, int b[]) {} }"
    )
    found = [item.text for item in extracted("A.java", text).types if item.kind == TAKES]
    assert found == ["Number;int[];java.util.List;U...", "Object;int[]"]


def test_arguments_with_names() -> None:
    assert passed('x: 1, y: "a", z', "A.cs") == "x=#int;y=#String;z"
    assert passed("x: a + b", "A.cs") == "x=?"
    swift = extracted("a.swift", "func f() { g(to: 1, 2) { h($0) } }").calls
    assert next(call.passed for call in swift if call.name == "g") == "to=?;_=?;?"


def test_what_functions_take_by_name() -> None:
    for path, text, taken in (
        ("A.cs", "class A { void f(int a, params string[] b) {} void f(Foo c = null) {} }", ["a:int;:string...", "c:Foo"]),
        ("a.kt", "class A { fun f(a: Int, vararg b: Foo) {}\n fun f(c: String = \"\") {} }", ["a:Int;b:Foo...", "c:String"]),
        ("a.swift", "class A { func f(to x: Int, _ y: Int) {}\n func f(z: Int) {} }", ["to:?;_:?", "z:?"]),
    ):  # fmt: skip
        assert [item.text for item in extracted(path, text).types if item.kind == TAKES] == taken
