"""Conditions of `#if`, by language; tests/quality/conflicts_c.py compares those of C with clang."""

from __future__ import annotations

import textwrap

import pytest

from lci_py.source.conditions import File, Tags
from lci_py.source.conditions.normal_form import normal_form
from lci_py.source.extract.extract import extract


def tags(path: str, language: str, source: str) -> list[tuple[str, str | None]]:
    symbols = extract(path, textwrap.dedent(source).encode(), language).symbols
    return [(symbol.name, symbol.build_tag) for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


def at(path: str, source: str, text: str) -> str | None:
    """The condition where a text starts, whatever a grammar makes of it."""
    return Tags("preprocessor", "", File(path, source.encode(), [])).of(source.encode().index(text.encode()), "")


FORMULAS = [
    ("A&&B", "A && B"),
    ("(A)&&((B))", "A && B"),
    ("A&&B||C", "(A && B) || C"),
    ("(A||B)&&C", "(A || B) && C"),
    ("A && (B && C) && A", "A && B && C"),
    ("A || (B || C) || A", "A || B || C"),
    ("A || (C && (B || C || B)) || !(!(C || A))", "A || (C && (B || C)) || C"),
    ("A || ((B || A) && 1)", "A || B"),
    ("(A ? B : C) || D", "(A ? B : C) || D"),
    ("! ( A||B )", "!(A || B)"),
    ("!!A && !(B)", "A && !B"),
    ("!(!(A && B))", "A && B"),
    ("!(!(A && B)) || C", "(A && B) || C"),
    ("!F(G(1)) && !X", "!F(G(1)) && !X"),
    ("defined A  &&  ! defined ( B )", "defined(A) && !defined(B)"),
    ("(A>1)&&!(B==2)", "A > 1 && !(B == 2)"),
    ("(A+1)*2>=-1", "(A + 1) * 2 >= -1"),
    ("!A == 1", "!A == 1"),
    ("GCC_VERSION( 4,9 )", "GCC_VERSION(4,9)"),
    ('__has_include ( <a/b-c.h> )||__has_include("d.h")', '__has_include(<a/b-c.h>) || __has_include("d.h")'),
    ("swift(>=5.0) && os( macOS)", "swift(>=5.0) && os(macOS)"),
    ("A ? B : C && D", "A ? B : C && D"),
    # what always or never holds
    ("(1)", "1"), ("0L", "0"), ("true", "1"), ("A && 0", "0"), ("A || 1", "1"), ("A && 1", "A"), ("!0 && A", "A"),
    # no formula
    ("A &&", "A &&"), ("(A", "(A"), ("A)", "A)"), ("", ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FORMULAS, ids=range(len(FORMULAS)))
def test_formulas_have_one_form(text: str, expected: str) -> None:
    assert normal_form(text, constants=True) == expected
    assert normal_form(expected, constants=True) == expected


def test_what_is_a_name_to_go_is_no_constant() -> None:
    assert normal_form("true && 1", constants=False) == "true && 1"


C = [
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
    ("#if F(G(1))\n#else\nint f(void) {}\n#endif\n#if !F(G(1))\nint g(void) {}\n#else\nint h(void) {}\n#endif\n",
     ["!F(G(1))", "!F(G(1))", "F(G(1))"]),
    ("#if defined A  && \\\n  ! defined ( B ) // why\nint f(void) {}\n#endif\n", ["defined(A) && !defined(B)"]),
    ("#if A /* #else\n#endif */\nint f(void) {}\n#endif\n", ["A"]),
    ('#if A\nconst char *f = "\\\n#endif";\nint g(void) {}\n#endif\n', ["A", "A"]),
    ("#if 0\nint f(void) {}\n#else\nint g(void) {}\n#endif\n#if 1\nint h(void) {}\n#endif\n", ["0", None, None]),
    # An #if inside a function cuts the tree in pieces, and the conditions after it still have to hold.
    ("#ifdef A\nint f(int x) {\n#if B\nif (x) {\n#else\nif (!x) {\n#endif\n}\n}\n#endif\nint g(void) {}\n",
     ["defined(A)", None]),
    ("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void) {}\n#ifdef __cplusplus\n}\n#endif\n", [None]),
    # a later branch of a long chain carries all before it
    ("".join(f"#{'el' if i else ''}if X{i}\nint f(void) {{}}\n" for i in range(12)) + "#endif\n",
     [" && ".join([*(f"!X{i}" for i in range(branch)), f"X{branch}"]) for branch in range(12)]),
    ("#if A\nint f(void) {}\n#elifndef B\nint f(void) {}\n#endif\n", ["A", "!A && !defined(B)"]),
    ("#if A || 1\nint f(void) {}\n#elif B\nint f(void) {}\n#else\nint f(void) {}\n#endif\n", [None, "0", "0"]),
    # no directives
    ("#if A\nchar c = '\"';\n#endif\nint g(void) {}\nchar d = '\"';\n", ["A", None, None]),
    ("#if A\n#error can't /* be\n#endif */\nint f(void) {}\n#endif\nint g(void) {}\n", ["A", None]),
    ("// goes on \\\n#if A\nint f(void) {}\n", [None]),
    ("#if A\nconst char *f = PRIxPTR\"(\";\n#endif\nint g(void) {}\n", ["A", None]),
    ("#define F(x) \\\n  #if x\nint f(void) {}\n", [None, None]),
    ("  #  if A // why\n  int f(void) {}\n  #  endif\n", ["A"]),
    ("#if A\r\nint f(void) {}\r\n#else\r\nint f(void) {}\r\n#endif\r\n", ["A", "!A"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), C, ids=range(len(C)))
def test_c(source: str, expected: list[str | None]) -> None:
    assert [tag for _, tag in tags("a.c", "c", source)] == expected


GUARDS = [
    ("// License\n#ifndef A_H\n#define A_H\nint f(void) {}\n#endif // A_H\n", [None, None]),
    ("#if !defined(A_H)\n#pragma once\n#define A_H\n#ifdef B\nint f(void) {}\n#endif\n#endif\n", [None, "defined(B)"]),
    ("#ifndef A\n#define A 1\n#endif\nint f(void) {}\n", ["!defined(A)", None]),
    ("#ifndef _WIN32\nint f(void) {}\n#endif\n", ["!defined(_WIN32)"]),
    ("#ifndef A\nint f(void) {}\n#define A\n#endif\n", ["!defined(A)", "!defined(A)"]),
    ("#ifndef A\n#define B\nint f(void) {}\n#endif\n", ["!defined(A)", "!defined(A)"]),
    ("#endif\n#else\nint f(void) {}\n#ifdef A\nint g(void) {}\n", [None, "defined(A)"]),
    # other directives between #ifndef and its #define
    ("#pragma once\n#ifndef A_\n#include <x.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n#define A_\nint f(void);\n"
     "int g(void) {}\n#ifdef __cplusplus\n}\n#endif\n#endif\n", [None, None]),
    # what follows it does not matter if its name is one of a file
    ("#ifndef STACK_H\n#define STACK_H\nint f(void) {}\n#endif\n#ifdef STACK_IMPL\nint g(void) {}\n#endif\n",
     [None, None, "defined(STACK_IMPL)"]),
    ("#ifdef B\n#endif\n#ifndef X_INCLUDED\n#define X_INCLUDED 1\nint f(void) {}\n#endif\nint g(void) {}\n",
     [None, None, None]),
    ("#ifndef FREE\n#define FREE\nint f(void) {}\n#endif\nint g(void) {}\n",
     ["!defined(FREE)", "!defined(FREE)", None]),
    ("#ifndef A_H\n#define A_H\nint f(void) {}\n#else\nint f(void) {}\n#endif\n",
     ["!defined(A_H)", "!defined(A_H)", "defined(A_H)"]),
    ("#ifndef A_H\n#define A_H\n#endif\nint f(void) {}\n", ["!defined(A_H)", None]),
    ("#ifndef A_H\n#if B\n#define A_H 1\n#else\n#define A_H 0\n#endif\nint f(void) {}\n#endif\n",
     ["!defined(A_H) && B", "!defined(A_H) && !B", "!defined(A_H)"]),
    ("#if X\n#ifndef A_H\n#define A_H\nint f(void) {}\n#endif\n#endif\n", ["X && !defined(A_H)", "X && !defined(A_H)"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), GUARDS, ids=range(len(GUARDS)))
def test_include_guards_are_no_conditions(source: str, expected: list[str | None]) -> None:
    assert [tag for _, tag in tags("a.c", "c", source)] == expected


def test_a_guard_may_be_named_after_its_file() -> None:
    source = "#ifdef Z\n#endif\n#ifndef SDL_ringbuf\n#define SDL_ringbuf\nint f;\n#endif\nint g;\n"
    assert at("src/ring_buf.h", source, "f;") is None
    assert at("src/other.h", source, "f;") == "!defined(SDL_ringbuf)"


def test_a_macro_that_defines_functions_hands_on_its_condition() -> None:
    source = """
        #define GETTER(name, type) \\
          static type get_##name(void) { return 0; }
        #ifdef A
        GETTER(x, int)
        #else
        GETTER(x, long)
        #endif
        GETTER(y, int)
    """
    assert tags("a.c", "c", source) == [
        ("GETTER", None), ("get_x", "defined(A)"), ("get_x", "!defined(A)"), ("get_y", None),
    ]  # fmt: skip


def test_a_function_that_an_if_cuts() -> None:
    source = """
        #ifdef A
        int f(int a) {
        #else
        int f(long a) {
        #endif
          return a;
        }
        int g(void) { return 1; }
    """
    assert tags("a.c", "c", source) == [("f", "defined(A)"), ("f", "!defined(A)"), ("g", None)]


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("body", ["b();", "#ifdef V\n  if (a)\n#endif\n  b();"])  # the second cuts a statement as well
def test_two_heads_of_one_function(language: str, body: str) -> None:
    source = f"""
        #ifdef A
        int f(int a)
        #else
        char *h(long a)
        #endif
        {{
        {body}
        }}
        int g(void) {{ return 1; }}
        #ifdef B
        int declared(int a);
        #endif
    """
    assert tags("a.c", language, source) == [("f", "defined(A)"), ("h", "!defined(A)"), ("g", None)]


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


@pytest.mark.parametrize("name", ["uR", "u8R", "UR", "LR"])
def test_raw_strings_of_cpp_may_have_a_prefix(name: str) -> None:
    assert at("a.cpp", f'#if A\nauto s = {name}"(\n#endif\n)";\nint f;\n#endif\n', "f;") == "A"


def test_strings_of_csharp_may_span_lines() -> None:
    for text in ('"""\n#endif\n"""', '$@"\n#endif ""\n"', '@$"\n#endif\n"'):
        assert at("a.cs", f"#if A\nvar s = {text};\nint f;\n#endif\nint g;\n", "f;") == "A"
        assert at("a.cs", f"#if A\nvar s = {text};\nint f;\n#endif\nint g;\n", "g;") is None


def test_swift() -> None:
    source = '''
        #if os(macOS) || canImport( UIKit )
        func f() {}
        #elseif DEBUG && !targetEnvironment(simulator)
        func f() {}
        #else
        func f() {}
        #endif
        class A {
            #if swift(>=5.0)
            func g() {}
            #endif
            let s = """
            #if X
            """
            func h() {}
        }
    '''
    assert tags("a.swift", "swift", source) == [
        ("f", "os(macOS) || canImport(UIKit)"),
        ("f", "!(os(macOS) || canImport(UIKit)) && DEBUG && !targetEnvironment(simulator)"),
        ("f", "!(os(macOS) || canImport(UIKit)) && !(DEBUG && !targetEnvironment(simulator))"),
        ("A", None), ("g", "swift(>=5.0)"), ("s", None), ("h", None),
    ]  # fmt: skip


def test_haskell() -> None:
    source = """\
        {-# LANGUAGE CPP #-}
        module M where
        #if MIN_VERSION_base(4,9,0)
        f :: Int -> Int
        f x = x </*> 1
        #elif defined(mingw32_HOST_OS)
        f = 2 // 3
        #endif
          #if no directive
        #ifdef A
        data T = A
        #endif
    """
    assert tags("a.hs", "haskell", source) == [
        ("f", "MIN_VERSION_base(4,9,0)"), ("f", "!MIN_VERSION_base(4,9,0) && defined(mingw32_HOST_OS)"),
        ("T", "defined(A)"), ("A", "defined(A)"),
    ]  # fmt: skip


def test_a_long_condition_is_cut_and_its_brackets_are_closed() -> None:
    names = " || ".join(f"defined(NAME{number})" for number in range(100))
    source = f"#if A && (B || !({names}))\nint f;\n#else\nint g;\n#endif\n"
    for text in ("f;", "g;"):
        tag = at("a.c", source, text)
        assert tag is not None
        assert (len(tag) < 600, tag.count("("), "…)" in tag) == (True, tag.count(")"), True)


@pytest.mark.parametrize(
    "source",
    [
        "#if A\n" * 2_500,
        "#if A\n" + "#elif B\n" * 1_000,
        "#if A\n" + "".join(f"#elif B{number} > 1\n" for number in range(800)),
        "#ifndef A_H\n#define A_H\n" * 2_500,
        "#ifndef A_H\n#define A_H\nint x;\n#endif\n" * 1_500,
        "#ifndef A\n#endif\n" * 2_500,
        "#ifndef A\n" + "#include <x>\n" * 6_000,
        "#if " + "(" * 15_000 + "\n",
        "#if " + "!" * 15_000 + "\n",
        "#if " + "A && (" * 6_000 + "\n",
        "#if " + "A && (" * 500 + "B" + ")" * 500 + "\n",
        "#if A\n" + "/*" * 15_000,
        "#if A\n" + 'R"(' * 15_000,
        "#if A\n" + '@"' * 15_000,
        "#if A\n" + '"""' * 6_001,
        "#if A\n" + "'" * 15_000,
        "#if A \\\n" * 6_000,
    ],
    ids=range(17),
)
def test_hostile_files_cost_little(source: str) -> None:
    # Quadratic work on any of these would take long, and recursion over their nesting would raise.
    for path in ("a.c", "a.cs", "a.swift", "a.hs"):
        tag = Tags("preprocessor", "", File(path, source.encode(), [])).of(len(source) - 1, "")
        assert tag is None or len(tag) < 40_000
