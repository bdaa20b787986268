"""Imports and paths in the arguments of Rust's macros."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract


def imported(text: str) -> list[tuple[str, str, str]]:
    return [(item.module, item.name, item.alias) for item in extract("a.rs", text.encode(), "rust").imports]


@pytest.mark.parametrize(
    "declaration",
    [
        "use a::b;",
        "pub(crate) use self::a::{b, c as d, e::*};",
        "use a::{self, self as g, b::{c, d::e, f::*}};",
        "use {a::b, c::d};",
        "use super::*;",
        "use a as b;",
        "use crate::a::{b, /* ; */ c, // }\n};",
        "use a::\u00e4;",
    ],
)
def test_an_import_is_the_same_in_a_macro_and_outside(declaration: str) -> None:
    outside = imported(declaration)
    assert outside
    assert sorted(imported(f"cfg! {{ {declaration} }}")) == sorted(outside)
    assert sorted(imported(f"cfg! {{ fn f() {{}} cfg_2! {{ #[doc(hidden)] {declaration} }} }}")) == sorted(outside)


@pytest.mark.parametrize(
    "tokens",
    [
        "use a::$b;",
        "impl A + use<'a>",
        "use a::{b c};",
        "use a::b",
        "use {{{{;",
        "use a::(b);",
        "use;",
        "use " + "a::{" * 99 + ";",
    ],
)
def test_what_is_no_declaration_imports_nothing(tokens: str) -> None:
    assert imported(f"m! {{ {tokens} }}") == []


def test_lists_may_be_nested() -> None:
    names = [("a", "b", "c"), ("a::b::d::e", "f", "g"), ("a::b::d::e", "*", "")]
    assert imported("m! { use a::{b::{self as c, d::{e::{f as g, *}}}}; }") == names


def test_the_text_of_a_macro_imports_nothing_and_other_imports_come_first() -> None:
    text = "m! { use a::b; }\nmacro_rules! n { () => { use c::d; } }\nm! { use e::f; }\nuse g::h;\n"
    assert imported(text) == [("g", "h", ""), ("a", "b", ""), ("e", "f", "")]


@pytest.mark.parametrize(
    ("call", "receiver"),
    [
        ("crate::a::b::f(1)", "crate::a::b"),
        ("b::f(1)", "b"),
        ("std::fs::File::f(1)", "std::fs::File"),
        ("x.f(1)", "x"),
        ("$crate::a::f(1)", "crate::a"),
    ],
)
def test_a_call_in_a_macro_has_its_whole_path(call: str, receiver: str) -> None:
    calls = extract("a.rs", f"m! {{ fn g() {{ {call}; }} }}\n".encode(), "rust").calls
    assert [(one.name, one.receiver) for one in calls if one.name == "f"] == [("f", receiver)]
