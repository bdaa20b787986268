"""The second attempt at a file of C or TypeScript that does not parse."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import load_languages
from lci_py.source.syntax.limits import DEFAULTS
from lci_py.source.syntax.repair import repairs


def functions(source: str, language: str = "c") -> list[tuple[str, int, int]]:
    one = extract("a.c", source.encode(), language)
    return [(s.name, s.line, s.end_line) for s in one.symbols if s.kind in ("function", "method", "constructor")]


def test_unknown_attributes_near_an_error() -> None:
    source = "void __other_entry leave(void)\n{\n\tone();\n}\nOWN void *OTHER(1) __x(2) take(int a)\n{\n\ttwo();\n}\n"
    assert functions(source) == [("leave", 1, 4), ("take", 5, 8)]


def test_attributes_that_the_file_defines() -> None:
    source = (
        "#define local static\n#define quick(x) __attribute__((x))\nlocal quick(1) void *take(int a)\n{\n\tf();\n}\n"
    )
    assert functions(source) == [("take", 3, 6)]


def test_thread_annotations_of_cpp() -> None:
    source = "class A {\n public:\n  void Lock() EXCLUSIVE_LOCK_FUNCTION(mu) { mu.lock(); }\n  int n;\n};\n"
    assert functions(source, "cpp") == [("Lock", 3, 3)]


def test_a_macro_alone_on_a_line() -> None:
    source = (
        "MAKE_ALL(read, *)\n__MAKE(write,)\n\nstatic inline struct dev *find(int a,\n\t\t\t int b)\n{ return 0; }\n"
    )
    assert functions(source) == [("find", 4, 6)]


@pytest.mark.parametrize(
    "cut",
    [
        "#ifdef A\n\tif (x & 1)\n#else\n\tif (x & 2)\n#endif\n\t\treturn 1;\n",
        "#ifdef A\n\tif (x & 1) {\n#endif\n\t\tg();\n#ifdef A\n\t}\n#endif\n",
        "#if 0\n\tif (x) {\n#else\n\t{\n#endif\n\t\tg();\n\t}\n",
    ],
)
def test_a_conditional_that_cuts_a_statement(cut: str) -> None:
    after = "".join(f"int after_{i}(int a)\n{{\n\treturn a ? h(a) : {i};\n}}\n" for i in range(20))
    source = f"int f(int x)\n{{\n{cut}\treturn 0;\n}}\n{after}"
    end = 4 + cut.count("\n")
    expected = [(f"after_{i}", end + 1 + 4 * i, end + 4 + 4 * i) for i in range(20)]
    assert functions(source) == [("f", 1, end), *expected]


def test_conditionals_in_an_initialiser() -> None:
    entries = "".join(
        f"#ifdef CONFIG_{i}\n\t{{\n\t\t.name = \"n{i}\",\n\t\t.size = offsetof(struct a, b[{i}]),\n\t}},\n#endif\n"
        for i in range(12)
    )  # fmt: skip
    source = f'static struct a all[] = {{\n#ifdef FIRST\n\t{{ .name = "x" }},\n#endif\n{entries}\t{{ }}\n}};\nint f(void)\n{{\n\treturn 0;\n}}\n'
    one = extract("a.c", source.encode(), "c")
    assert [(s.kind, s.name) for s in one.symbols] == [("variable", "all"), ("function", "f")]


def test_the_better_tree_is_kept() -> None:
    """Blanks that do not help are not written: the macro is read as before."""
    source = b"int f(int a {\n  return a +;\n}\nSOME_MACRO thing other(\n"
    spec = load_languages()["c"]
    parsed = spec.parse(source, DEFAULTS)
    assert parsed.text == source


def test_an_attribute_in_a_conditional_between_the_halves_of_a_head() -> None:
    after = "".join(f"inline auto after_{i}(int a) -> int {{\n  return a + {i};\n}}\n" for i in range(9))
    source = (
        'namespace lib {\ntemplate <typename T>\n#if CLANG_VERSION >= 307\n__attribute__((no_sanitize("x")))\n#endif\n'
        f"inline auto odd(T it) -> T {{\n  return it;\n}}\n{after}}}\n"
    )
    expected = [(f"after_{i}", 9 + 3 * i, 11 + 3 * i) for i in range(9)]
    assert functions(source, "cpp") == [("odd", 6, 8), *expected]
    assert not extract("a.cpp", source.encode(), "cpp").has_errors


def test_branches_and_macros_are_read_apart() -> None:
    """A file of which no branch of a conditional parses beside the other: each branch is read alone."""
    body = "".join(f"int part_{i}(int a)\n{{\n\treturn g(a, {i}) + g(a, {i + 1});\n}}\n" for i in range(40))
    source = (
        "int first(int a)\n{\n\tif (a) {\n#ifdef A\n\t\tg();\n\t} else if (b) {\n#define ONE(x) f(x)\n\t\tfor (;;) {\n#elif B\n"
        f"{body}#else\n\t}}}}\n#define TWO 2\n#endif\n\t}}\n}}\nint last(int a)\n{{\n\treturn a;\n}}\n"
    )
    one = extract("a.c", source.encode(), "c")
    names = [symbol.name for symbol in one.symbols]
    assert [name for name in ("ONE", "TWO", "last", *(f"part_{i}" for i in range(40))) if name not in names] == []
    lines = source.split("\n")
    assert all(symbol.name in lines[symbol.line - 1] for symbol in one.symbols)
    assert {("g", 12), ("g", 16)} <= {(call.name, call.line) for call in one.calls}
    assert one.lost_lines < 20


def test_directives_in_a_comment_of_a_broken_file_are_text() -> None:
    comment = "/* Use it like this:\n#define EXAMPLE 1\n#ifndef NONE\n#define OTHER 2\n#endif\n*/\n"
    heads = "".join(
        f"#ifdef A\nstatic inline __attribute__((always_inline))\n#else\nstatic\n#endif\n"
        f"CAT(NAME, _it) CAT(NAME, _f{i})(NAME *t, CAT(NAME, _it) it)\n{{\n  return CAT(NAME, _g)(it);\n}}\n"
        for i in range(40)
    )
    source = f"{comment}#ifdef NAME\n#define REAL 1\n{heads}#endif\n"
    names = [symbol.name for symbol in extract("a.h", source.encode(), "c").symbols if symbol.kind == "macro"]
    assert names == ["REAL"]


def test_macros_alone_on_indented_lines() -> None:
    source = (
        "class A {\n public:\n  A();\n  FORBID_OP(A, &&)\n  FORBID_OP(A, ==) // none\n  FORBID_OP(A, |)\n PRIVATE_UNLESS_TESTED:\n"
        "  int size() const { return n; }\n  int n;\n};\n#define EACH(x) \\\n  FORBID_OP(x, ==)\n"
    )
    one = extract("a.hpp", source.encode(), "cpp")
    assert [(s.kind, s.name, s.line) for s in one.symbols if s.name != "A"] == [
        ("method", "size", 8), ("field", "n", 9), ("macro", "EACH", 11)
    ]  # fmt: skip


def test_variables_and_types_that_the_grammar_takes_for_something_else() -> None:
    source = (
        "API int (*one)(int a) ATTR ATTR_2(3, 4);\nthing *(*two)(int a);\ntime_type (*three)(void) = NULL;\n"
        "static char **four[] = { 0 };\n__thread int five = 0;\ntypedef long long ssize_t;\n"
        "typedef void *(callback)(int a);\nvoid *(*six)(int a) = g;\n"
    )
    one = extract("a.c", source.encode(), "c")
    assert [(s.kind, s.name) for s in one.symbols] == [
        ("variable", "one"), ("variable", "two"), ("variable", "three"), ("variable", "four"), ("variable", "five"),
        ("type", "ssize_t"), ("type", "callback"), ("variable", "six"),
    ]  # fmt: skip


def test_lines_and_length_stay() -> None:
    source = b"#if A\r\nif (x) {\r\n#else\r\n{\r\n#endif\r\nFOO_BAR int x\r\n}\r\n"
    edits = repairs(source, [(0, len(source))])
    assert edits
    for start, text in edits:
        old = source[start : start + len(text)]
        assert [i for i, c in enumerate(old) if c in b"\r\n"] == [i for i, c in enumerate(text) if c in b"\r\n"]


def test_call_signatures_without_semicolons_in_typescript() -> None:
    source = (
        "interface Make {\n    // plain\n    <T extends object | null>(of: T): T\n    // named\n"
        "    <T extends object>(name: string, of: T): T\n\n    (name: string): Named<Make>\n}\n\n"
        "export function run<T>(f: () => T): T {\n    return f()\n}\n"
    )
    assert functions(source, "typescript") == functions(source, "tsx") == [("run", 10, 12)]
