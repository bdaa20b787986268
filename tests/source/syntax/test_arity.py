"""How many arguments calls have and definitions take, in every language with overloading."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.arity import LARGEST, NAMED, UNKNOWN, lacks_only_defaults, pack_arity, takes

MANY = 255
#: Language -> (source; name to (least, most), or None if unknown; number of arguments of each call of `g`).
CASES: dict[str, tuple[str, str, dict[str, tuple[int, int] | None], list[int]]] = {
    "java": (
        "A.java",
        "class A {\n A(int x, String... y) {}\n void f() {}\n void h(A this, int a, /* b */ int b) {}\n void k() {\n"
        '  g();\n  x.g(1, /* no */ 2);\n  a.<T>g(() -> 1);\n  A::g;\n A.class.getMethod("g", B.class, C.class);\n }\n'
        " record R(int a, int b) { R {} }\n}\n",
        {"A": (1, MANY), "f": (0, 0), "h": (2, 2)},
        [0, 2, 1, UNKNOWN, UNKNOWN],
    ),
    "csharp": (
        "A.cs",
        'class A {\n A(int x, string y = "", params int[] z) {}\n void f(out int b) {}\n static void e(this X x, int y) {}\n'
        " void k() { g(); x.g(1, out b); a?.g(c: 1); g<int>(x => 1); new g(1, 2); }\n}\nrecord R(int X);\n",
        {"A": (1, MANY), "f": (1, 1), "e": (1, 2), "R": (1, 1)},
        [0, 2, 1, 1, 2],
    ),
    "kotlin": (
        "A.kt",
        "class A(val x: Int, y: Int = 1) {\n constructor() : this(1)\n fun f(vararg c: Int, d: Int = 3) {}\n"
        " fun h(a: Int, then: () -> Unit) {}\n fun k() {\n  g()\n  g(1) { }\n  g { }\n  x.g(*xs)\n  a g b\n  ::g\n }\n}\n",
        {"A": (1, 2), "constructor": (0, 0), "f": (0, MANY), "h": (2, 2)},
        [0, 2, 1, UNKNOWN, 1, UNKNOWN],
    ),
    "swift": (
        "A.swift",
        "class A {\n init(a: Int, b: Int = 1) {}\n func f(b: Int, _ c: Int..., d: Int = 3) {}\n func h() {}\n func k() {\n  g()\n"
        "  x.g(1, b: 2)\n  g(1) { }\n  g { }\n  g(1) { } other: { }\n }\n}\n",
        {"init": (1, 2), "f": (1, MANY), "h": (0, 0)},
        [0, 2, 2, 1, 3],
    ),
    "scala": (
        "A.scala",
        "class A(x: Int, y: Int = 1)(implicit z: Z) {\n def this() = this(1)\n def f(a: Int, b: Int*)(c: Int) = 1\n"
        " def h = 1\n def i()(implicit z: Z) = 1\n def k() = {\n  g(1, 2)(3)\n  x.g\n  x.g(1)\n  x.g[T](1, 2)\n  g(xs: _*)\n"
        "  g { x => 1 }\n  a g b\n  a g (b, c)\n }\n}\n",
        {"A": (1, 2), "this": (0, 0), "f": (1, MANY), "h": None, "i": (0, 0)},
        [2, UNKNOWN, 1, 2, UNKNOWN, 1, 1, UNKNOWN],
    ),
    "cpp": (
        "a.cpp",
        "struct A {\n A(int x, int y = 1) : b(x) {}\n virtual void v(int a) = 0;\n};\nvoid f(void) {}\n"
        "template <class... T> A *h(T&&... t) { return nullptr; }\nint &r(int a, ...) { return *p; }\n"
        "#define M(a, b) a\nvoid k() {\n  g();\n  x.g(1, 2);\n  n::g<int>(1);\n  new g(1);\n  new g;\n  g a(1, 2);\n"
        "  g b{1};\n  g c;\n  g(xs...);\n  g;\n}\n",
        {"A": (1, 2), "v": (1, 1), "f": (0, 0), "h": (0, MANY), "r": (1, MANY), "M": (2, 2)},
        [0, 2, 1, 1, 0, 2, UNKNOWN, 0, UNKNOWN, NAMED],
    ),
    "c": (
        "a.c",
        "int f(void) { return 1; }\nint o() { return 1; }\nchar *p(const char *s, int n) { return 0; }\n#define M(x, ...) x\n"
        "#define N 1\nvoid k(void) {\n  g(1, 2);\n  (g)(1);\n  g;\n}\n",
        {"f": (0, 0), "o": None, "p": (2, 2), "M": (1, MANY), "N": None},
        [2, 1, NAMED],
    ),
    "elixir": (
        "a.ex",
        "defmodule A do\n def f(a, b \\\\ 1), do: a\n def h, do: 1\n def i(x) when x > 1, do: x\n def k(x) do\n  g(x)\n"
        "  x |> g(1)\n  x |> g\n  &g/3\n  B.g(x, [1])\n  x |> B.g()\n  g(x) do\n   1\n  end\n end\nend\n",
        {"f": (1, 2), "h": (0, 0), "i": (1, 1)},
        [1, 2, 1, 3, 2, 1, 2],
    ),
}


@pytest.mark.parametrize("language", CASES)
def test_arguments_and_parameters_are_counted(language: str) -> None:
    path, source, arities, calls = CASES[language]
    found = extract(path, source.encode(), language)
    known = {symbol.name: symbol.arity for symbol in found.symbols if symbol.kind not in ("class", "struct")}
    known |= {s.name: s.arity for s in found.symbols if s.kind in ("class", "struct") and s.name not in known}
    assert {name: known[name] for name in arities} == {
        name: UNKNOWN if arity is None else pack_arity(*arity) for name, arity in arities.items()
    }
    in_order = sorted((c for c in found.calls if c.name == "g"), key=lambda call: call.line)
    assert [call.arguments for call in in_order] == calls


def test_a_language_without_overloads_counts_nothing() -> None:
    found = extract("a.py", b"def f(a):\n    g(a)\n", "python")
    assert (found.symbols[0].arity, found.calls[0].arguments) == (UNKNOWN, UNKNOWN)


def test_what_a_definition_takes() -> None:
    two_or_three, any_number = pack_arity(2, 3), pack_arity(0, MANY)
    assert [takes(two_or_three, n) for n in range(5)] == [False, False, True, True, False]
    assert takes(any_number, 1000)
    assert takes(UNKNOWN, 7)
    assert takes(two_or_three, UNKNOWN)
    assert [lacks_only_defaults(two_or_three, n) for n in (1, 4)] == [True, False]
    assert pack_arity(1000, 1000) <= LARGEST
    assert takes(pack_arity(1000, 1000), 1000)
