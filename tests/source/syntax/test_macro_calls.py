"""Calls in the texts of C macros."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.arity import NAMED, UNKNOWN


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(x) g(x); h(1, (2, 3))", [("g", "", 1), ("h", "", 2)]),
        ("F do { if (a) g(); while (0); } while (0)", [("g", "", 0)]),
        ("F g(\"h(1)\", ')', 2)", [("g", "", 3)]),
        ("F(f, x) f(x) + g(f)", [("g", "", 1)]),
        ("F(...) g(__VA_ARGS__)", [("g", "", UNKNOWN)]),
        ("F(x) g_ ## x(1) + x ## _g(2) + h(#x)", [("h", "", 1)]),
        ("F g /* h() */ (1)", [("g", "", 1)]),
        ("F sizeof(g(1)) + __attribute__((h(2))) + (int) k(3)", [("g", "", 1), ("k", "", 1)]),
        ("F static int g(int x) { return h(x); }", [("h", "", 1)]),
        ("F a->g(1) + b.c.h()", [("g", "a", 1), ("h", "b.c", 0)]),
        ("F(x) x->g(1) + (x)->h()", []),
        ("F g", [("g", "", NAMED)]),
        ("F ((g))", [("g", "", NAMED)]),
        ("F(x) g", []),
        ("F OTHER", []),
        ("F 1", []),
        ("F", []),
        ("F(", []),
        ("F(x) g(", [("g", "", UNKNOWN)]),
        ("F (x) g(1)", [("g", "", 1)]),
    ],
)
def test_what_a_text_calls(text: str, wanted: list[tuple[str, str, int]]) -> None:
    found = extract("a.h", f"#define {text}\n".encode(), "c")
    assert [(call.name, call.receiver, call.arguments) for call in found.calls] == wanted
    assert all(found.symbols[call.caller].name == "F" for call in found.calls)


def test_scopes_in_a_text() -> None:
    found = extract("a.hpp", b"#define F a::b::g(1) + ::h(2)\n", "cpp")
    assert [(call.name, call.receiver) for call in found.calls] == [("g", "a::b"), ("h", "")]


def test_a_text_goes_on_after_a_backslash_and_a_comment() -> None:
    source = b"int before(void);\n#define F(x) \\\n  g(x); /* a word */ \\\r\n  h(x)\nint k(void) { return m(); }\n"
    found = extract("a.c", source, "c")
    place = {symbol.name: place for place, symbol in enumerate(found.symbols)}
    assert sorted((call.name, call.line, call.caller) for call in found.calls) == [
        ("g", 3, place["F"]), ("h", 4, place["F"]), ("m", 5, place["k"]),
    ]  # fmt: skip


def test_a_name_as_a_statement_is_a_macros() -> None:
    found = extract("a.c", b"void f(void) {\n  POST;\n  x = POST;\n}\n", "c")
    assert [(call.name, call.arguments, call.line) for call in found.calls] == [("POST", NAMED, 2)]


GENERATING = """#define DEFINE(name, type) \\
  static int get_##name(type *x) { \\
    if (ready(x)) { return read_ ## name(x); } \\
    return 0; \\
  } \\
  void name##_put(void) { get_ ## name(0); }
DEFINE(size, struct box)
int f(void) { DEFINE(inner, int) return 1; }
#ifdef MORE
DEFINE(depth, int);
#endif
"""


def test_functions_that_a_macro_defines_are_definitions() -> None:
    found = extract("a.c", GENERATING.encode(), "c")
    functions = [(s.name, s.line, s.build_tag) for s in found.symbols if s.kind == "function"]
    assert functions == [
        ("get_size", 7, None), ("size_put", 7, None), ("f", 8, None), ("get_depth", 10, "defined(MORE)"), ("depth_put", 10, "defined(MORE)"),
    ]  # fmt: skip
    names = ["-", *(symbol.name for symbol in found.symbols)]
    calls = {(names[call.caller + 1], call.name, call.line) for call in found.calls}
    assert calls == {
        ("DEFINE", "ready", 3), ("f", "DEFINE", 8),
        ("-", "DEFINE", 7), ("get_size", "ready", 7), ("get_size", "read_size", 7), ("size_put", "get_size", 7),
        ("-", "DEFINE", 10), ("get_depth", "ready", 10), ("get_depth", "read_depth", 10), ("depth_put", "get_depth", 10),
    }  # fmt: skip


def test_a_macro_that_only_pastes_defines_nothing() -> None:
    found = extract("a.c", b"#define GET(x) get_##x()\n#define T(x) struct x##_s { int y; }\nGET(a);\nT(b);\n", "c")
    assert {symbol.name for symbol in found.symbols} == {"GET", "T"}


def test_a_function_that_a_condition_cuts_in_half_has_its_calls() -> None:
    source = b"""int f(int x) {
#ifdef A
  for (;;) {
#else
  while (x) {
#endif
    g();
  }
  return h();
}

int k(void) {
  return m();
}
"""
    found = extract("a.c", source, "c")
    names = ["-", *(symbol.name for symbol in found.symbols)]
    assert {(names[call.caller + 1], call.name) for call in found.calls} == {("f", "g"), ("f", "h"), ("k", "m")}
    assert [(symbol.name, symbol.line, symbol.end_line) for symbol in found.symbols] == [("f", 1, 10), ("k", 12, 14)]
