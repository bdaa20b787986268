"""What is called in the texts of C macros."""

from __future__ import annotations

import pytest

from lci_py.source.arity import NAMED, UNKNOWN
from lci_py.source.extract import extract


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
