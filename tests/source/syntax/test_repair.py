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
