"""Build conditions as the extractor attaches them to definitions, one table per family."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lci_py.source.conditions import File, Tags, conjuncts, join, negate
from lci_py.source.extract import extract


def tags(path: str, language: str, source: str) -> list[tuple[str, str | None]]:
    symbols = extract(path, textwrap.dedent(source).encode(), language).symbols
    return [(symbol.name, symbol.build_tag) for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


GO = [
    ("linux.go", "package p", None),
    ("a_linux.go", "package p", "linux"),
    ("dir_linux/a.go", "package p", None),
    ("a_linux_amd64.go", "package p", "linux && amd64"),
    ("a_linux_amd64_test.go", "package p", "linux && amd64"),
    ("a_arm64.go", "package p", "arm64"),
    ("a_amd64_linux.go", "package p", "linux"),
    ("a_unix.go", "package p", None),  # unix is a tag, but no GOOS
    ("a_linux_extra.go", "package p", None),
    ("a.go", "//go:build linux&&!cgo\n\npackage p", "linux && !cgo"),
    ("a.go", "//go:build !( a||b )\npackage p", "!(a || b)"),
    ("a.go", "// License\n\n/* more */\n//go:build fips\n\npackage p", "fips"),
    ("a.go", "package p\n\n//go:build late\n", None),
    ("a.go", "/*\n//go:build no\npackage q\n*/\npackage p\n//go:build late\n", None),
    ("a.go", "// +build linux,!cgo darwin\n\npackage p", "(linux && !cgo) || darwin"),
    ("a.go", "// +build linux darwin\n// +build cgo\n\npackage p", "(linux || darwin) && cgo"),
    ("a.go", "// +build doc\npackage p", None),
    ("a.go", "//go:build new\n// +build old\n\npackage p", "new"),
    ("a_linux.go", "//go:build linux && cgo\n\npackage p", "linux && cgo"),
    ("a_linux.go", "//go:build a || b\n\npackage p", "linux && (a || b)"),
    ("a_windows.go", "//go:build a\r\n\r\npackage p\r\n", "windows && a"),
]


@pytest.mark.parametrize(("path", "head", "expected"), GO, ids=range(len(GO)))
def test_go(path: str, head: str, expected: str | None) -> None:
    assert tags(path, "go", f"{head}\nfunc f() {{}}\n") == [("f", expected)]


PREPROCESSOR = [
    ("#ifdef X\nint f(void) {}\n#else\nint f(void) {}\n#endif\nint g(void) {}\n", ["defined(X)", "!defined(X)", None]),
    ("#ifndef X\nint f(void) {}\n#else\nint f(void) {}\n#endif\n", ["!defined(X)", "defined(X)"]),
    (
        "#if A\nint f(void) {}\n#elif B > 1\nint f(void) {}\n#elif C\nint f(void) {}\n#else\nint f(void) {}\n#endif\n",
        ["A", "!A && B > 1", "!A && !(B > 1) && C", "!A && !(B > 1) && !C"],
    ),
    ("#ifdef A\nint f(void) {}\n#elifdef B\nint f(void) {}\n#endif", ["defined(A)", "!defined(A) && defined(B)"]),
    ("#if A\n#ifdef B\nint f(void) {}\n#endif\nint g(void) {}\n#endif\n", ["A && defined(B)", "A"]),
    ("#if ( ( A || B ) )\nint f(void) {}\n#endif\n", ["A || B"]),
    ("#if (A || B)\n# if C\nint f(void) {}\n# endif\n#endif\n", ["(A || B) && C"]),
    ("#if A && B\n#else\nint f(void) {}\n#endif\n", ["!(A && B)"]),
    ("#if defined A  && \\\n  ! defined ( B ) // why\nint f(void) {}\n#endif\n", ["defined(A) && !defined(B)"]),
    ("#if A /* #else\n#endif */\nint f(void) {}\n#endif\n", ["A"]),
    ('#if A\nconst char *f = "\\\n#endif";\nint g(void) {}\n#endif\n', ["A", "A"]),
    ("#if 0\nint f(void) {}\n#else\nint g(void) {}\n#endif\n#if 1\nint h(void) {}\n#endif\n", ["0", None, None]),
    # An #if inside a function cuts the tree in pieces, and the conditions after it still have to hold.
    ("#ifdef A\nint f(int x) {\n#if B\nif (x) {\n#else\nif (!x) {\n#endif\n}\n}\n#endif\nint g(void) {}\n",
     ["defined(A)", None]),
    ("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) {}\n#ifdef __cplusplus\n}\n#endif\n", [None]),
    # include guards
    ("// License\n#ifndef A_H\n#define A_H\nint f(void) {}\n#endif // A_H\n", [None, None]),
    ("#if !defined(A_H)\n#pragma once\n#define A_H\n#ifdef B\nint f(void) {}\n#endif\n#endif\n", [None, "defined(B)"]),
    ("#ifndef A\n#define A 1\n#endif\nint f(void) {}\n", ["!defined(A)", None]),
    ("#ifndef _WIN32\nint f(void) {}\n#endif\n", ["!defined(_WIN32)"]),
    ("#ifndef A\nint f(void) {}\n#define A\n#endif\n", ["!defined(A)", "!defined(A)"]),
    ("#ifndef A\n#define B\nint f(void) {}\n#endif\n", ["!defined(A)", "!defined(A)"]),
    ("#endif\n#else\nint f(void) {}\n#ifdef A\nint g(void) {}\n", [None, "defined(A)"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), PREPROCESSOR, ids=range(len(PREPROCESSOR)))
def test_preprocessor(source: str, expected: list[str | None]) -> None:
    assert [tag for _, tag in tags("a.c", "c", source)] == expected


def test_csharp() -> None:
    source = """
        #if NET6 || NET7
        class A {
            string s = @"
        #endif
        ";
        #if !DEBUG
            void F() {}
        #else
            void F() {}
        #endif
        }
        #endif
    """
    assert tags("a.cs", "csharp", source) == [
        ("A", "NET6 || NET7"), ("s", "NET6 || NET7"),
        ("F", "(NET6 || NET7) && !DEBUG"), ("F", "(NET6 || NET7) && DEBUG"),
    ]  # fmt: skip


def test_raw_strings_of_cpp_hold_no_directives() -> None:
    source = b'#if A\nauto s = R"x(\n#endif\n)x";\nint f;\n#endif\n'
    assert Tags("preprocessor", "", File("a.cpp", source, [])).of(source.index(b"f;"), "") == "A"


RUST = [
    ('#[cfg(feature = "net")]\nfn f() {}', 'feature = "net"'),
    ("#[cfg(not(windows))]\nfn f() {}", "!windows"),
    ('#[cfg(not(feature = "a"))]\nfn f() {}', '!(feature = "a")'),
    ("#[cfg(not(not(unix)))]\nfn f() {}", "unix"),
    ("#[cfg(all(a, b))]\nfn f() {}", "a && b"),
    ("#[cfg(any(a, all(b, c)))]\nfn f() {}", "(a || (b && c))"),
    ("#[cfg(not(any(a, b)))]\nfn f() {}", "!(a || b)"),
    ("#[cfg(all(not(all(a, b)), any(c)))]\nfn f() {}", "!(a && b) && c"),
    ("#[cfg(any(\n    a,\n    b,\n))]\n/// Docs.\n#[inline]\n#[cfg(c)]\nfn f() {}", "(a || b) && c"),
    ("#[cfg(a)] fn f() {}", "a"),
    ("#[cfg_attr(a, inline)]\nfn f() {}", None),
    ('#[cfg(feature = "a),(b")]\nfn f() {}', 'feature = "a),(b"'),
    ("#![cfg(unix)]\n#[cfg(a)]\nfn f() {}", "unix && a"),
    ("//! Docs.\n#![allow(dead_code)]\n\n#![cfg(unix)]\nuse x;\nfn f() {}", "unix"),
    ("/*\n#![cfg(unix)]\n*/\nfn f() {}", None),
    ("#[cfg(a]\nfn f() {}", None),
]


@pytest.mark.parametrize(("source", "expected"), RUST, ids=range(len(RUST)))
def test_rust(source: str, expected: str | None) -> None:
    assert tags("a.rs", "rust", source) == [("f", expected)]


def test_rust_conditions_reach_what_is_inside() -> None:
    source = """
        #[cfg(a)]
        mod m {
            #[cfg(b)]
            impl T {
                #[cfg(c)]
                fn f() {}
            }
            fn g() {}
        }
        fn h() {}
    """
    assert tags("a.rs", "rust", source) == [("m", "a"), ("f", "a && b && c"), ("g", "a"), ("h", None)]


def test_rust_inner_attributes_cover_what_is_around_them() -> None:
    source = "fn g() {}\nmod m {\n    #![cfg(a)]\n    fn f() {}\n}\n"
    assert tags("a.rs", "rust", source) == [("g", None), ("m", None), ("f", "a")]


def test_rust_without_captures_keeps_its_own_and_the_files_attributes() -> None:
    source = b"#![cfg(unix)]\nfn f() {}"
    assert Tags("rust", "", File("a.rs", source, [])).of(17, "#[cfg(a)]\n#[inline]\n#[cfg(b)]") == "unix && a && b"


def test_families_without_conditions() -> None:
    source = b"#if A\nint f;\n#endif\n"
    assert Tags("none", "", File("a_linux.go", source, [])).of(10, "#[cfg(a)]") is None
    assert Tags("no such family", "", File("a_linux.go", source, [])).of(10, "#[cfg(a)]") is None
    assert Tags("preprocessor", "", File("a_linux.go", source, [])).of(10, "#[cfg(a)]") == "A"  # so the source has one


def test_many_conditions_stay_cheap() -> None:
    # Quadratic work on any of these would take minutes.
    for source in (b"#if A\n" * 50_000, b"#if A\n" + b"#elif B\n" * 50_000, b"#/*" * 300_000, b'#R"(' * 300_000):
        tag = Tags("preprocessor", "", File("a.c", source, [])).of(len(source) - 1, "")
        assert tag is None or len(tag) < 10_000


@pytest.mark.parametrize(
    ("condition", "opposite"),
    [("a", "!a"), ("!a", "a"), ("a && b", "!(a && b)"), ("!(a && b)", "a && b"), ("(a) && (b)", "!((a) && (b))"),
     ("!a && b", "!(!a && b)"), ("!(a) && (b)", "!(!(a) && (b))"), ("f(a)", "!f(a)"), ("0", ""), ("", "0")],
)  # fmt: skip
def test_negate(condition: str, opposite: str) -> None:
    assert negate(condition) == opposite


def test_join_drops_repetitions_and_keeps_precedence() -> None:
    assert join(["a && b", "b", "c || d"]) == "a && b && (c || d)"
    assert join(["c || d"]) == "c || d"
    assert join(["", ""]) is None
    assert conjuncts("(a && b) && !(c && d)") == ["(a && b)", "!(c && d)"]
    assert conjuncts("a && b || c") == ["a && b || c"]


@given(
    st.sampled_from(["preprocessor", "rust", "go"]),
    st.lists(st.sampled_from(["\n", "#if", "#else", "#endif", "#elif", "#ifndef X", "#define X", " A", "(", ")", "&&",
                              "||", "!", '"', "'", "/*", "*/", "//", "\\", "#![cfg(", "#[cfg(", "not", "=", ")]",
                              "//go:build ", "// +build ", ",", "\xe9"]), max_size=60),
)  # fmt: skip
def test_nothing_raises(family: str, parts: list[str]) -> None:
    text = "".join(parts)
    found = Tags(family, "", File("a_linux_.go", text.encode("latin-1"), []))
    for byte in range(len(text) + 1):
        tag = found.of(byte, text)
        assert tag is None or tag
