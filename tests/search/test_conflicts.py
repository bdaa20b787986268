"""Which definitions are a conflict, on small sources that go through the extractor."""

from __future__ import annotations

import itertools
import textwrap

import pytest

from lci_py.search.conflicts import Site, definitions, exclusive, group_key
from lci_py.source.extract import extract
from lci_py.source.languages import is_test
from lci_py.types import FUNCTION_KINDS, DefinitionSite

LANGUAGES = {"py": "python", "go": "go", "c": "c", "h": "c", "rs": "rust", "cs": "csharp", "cpp": "cpp"}


def sites(files: dict[str, str]) -> list[Site]:
    """The rows of some files, as an index would have them."""
    rows = []
    unit = itertools.count()
    for path, text in files.items():
        source = textwrap.dedent(text)
        language = LANGUAGES[path.rpartition(".")[2]]
        found = extract(path, source.encode(), language)
        lines = source.split("\n")
        local: list[bool] = []
        for symbol in found.symbols:
            around = symbol.parent
            local.append(around >= 0 and (local[around] or found.symbols[around].kind in FUNCTION_KINDS))
            number = next(unit)
            rows.append(
                Site(
                    number, f"id{number}", path, symbol.line, symbol.name, symbol.qualified_name, symbol.kind, language,
                    symbol.signature, symbol.build_tag, is_test(path), local[-1], symbol.first_line,
                    "\n".join(lines[symbol.first_line - 1 : symbol.line - 1]),
                )
            )  # fmt: skip
    return rows


def conflict(files: dict[str, str], name: str, at: int = 0) -> list[tuple[str, str | None, str]]:
    """The definitions shown for the `at`-th definition called `name`."""
    named = [site for site in sites(files) if site.name == name]
    assert len(named) > 1, "the sources must define the name more than once"
    found = definitions([named[at], *named], "main")
    return [(site.file, site.build_tag, site.relation) for site in found]


PROPERTIES = """
class C:
    if A:
        @property
        def F(self): ...
        @F.setter
        def F(self, value): ...
    else:
        @property
        def F(self): ...
"""

CONFLICTS = {
    "go build constraints": (
        {"p/a.go": "//go:build !fips\npackage p\nfunc F() {}\n", "p/b.go": "//go:build fips\npackage p\nfunc F() {}\n"},
        [("p/a.go", "!fips", "variant"), ("p/b.go", "fips", "variant")],
    ),
    "go without and with a constraint": (
        {"p/a.go": "package p\n\nfunc F() {}\n", "p/b_linux.go": "package p\n\nfunc F() {}\n"},
        [("p/a.go", None, "variant"), ("p/b_linux.go", "linux", "variant")],
    ),
    "go methods": (
        {f"p/a_{os}.go": "package p\n\nfunc (t *T) F() {}\n" for os in ("linux", "windows")},
        [("p/a_linux.go", "linux", "variant"), ("p/a_windows.go", "windows", "variant")],
    ),
    "c, one file": (
        {"a.c": "#ifdef A\nint F(void) { return 1; }\n#else\nint F(void) { return 2; }\n#endif\n"},
        [("a.c", "defined(A)", "variant"), ("a.c", "!defined(A)", "variant")],
    ),
    "c, two files": (
        {"a.c": "#ifdef A\nint F(void) {}\n#endif\n", "b.c": "#ifdef B\nint F(void) {}\n#endif\n"},
        [("a.c", "defined(A)", "variant"), ("b.c", "defined(B)", "variant")],
    ),
    "c macros": (
        {"a.h": "#ifndef A_H\n#define A_H\n#define F 1\n#ifdef B\n#undef F\n#define F 2\n#endif\n#endif\n"},
        [("a.h", None, "variant"), ("a.h", "defined(B)", "variant")],
    ),
    "c, chain of conditions that end in else": (
        {"a.c": "#if A && B\nstatic int F;\n#elif C\nstatic int F;\n#else\nstatic int F;\n#endif\n"},
        [("a.c", "A && B", "variant"), ("a.c", "!(A && B) && C", "variant"), ("a.c", "!(A && B) && !C", "variant")],
    ),
    "c#, two files of a namespace": (
        {f"{x}.cs": f"#if {x}\nnamespace N {{ class F {{}} }}\n#endif\n" for x in "AB"},
        [("A.cs", "A", "variant"), ("B.cs", "B", "variant")],
    ),
    "rust functions": (
        {"a.rs": '#[cfg(feature = "x")]\nfn F() {}\n#[cfg(not(feature = "x"))]\nfn F() {}\n'},
        [("a.rs", 'feature = "x"', "variant"), ("a.rs", '!(feature = "x")', "variant")],
    ),
    "rust methods under opposite conditions": (
        {"a.rs": "impl T {\n#[cfg(unix)]\nfn F() {}\n#[cfg(windows)]\nfn F() {}\n}\n"},
        [("a.rs", "unix", "variant"), ("a.rs", "windows", "variant")],
    ),
    "rust modules": (
        {"a.rs": "#[cfg(unix)]\nmod F;\n#[cfg(not(unix))]\nmod F {}\n"},
        [("a.rs", "unix", "variant"), ("a.rs", "!unix", "variant")],
    ),
    "c#, one overload": (
        {"a.cs": "namespace N { class A {\nvoid F(A a) {}\n#if X\nvoid F(B b) {}\n#else\nvoid F(B c) {}\n#endif\n}}"},
        [("a.cs", "X", "variant"), ("a.cs", "!X", "variant")],
    ),
    "python if": (
        {"a.py": "if A:\n    def F(): ...\nelse:\n    def F(): ...\n"},
        [("a.py", "A", "variant"), ("a.py", "not (A)", "variant")],
    ),
    "python, a condition overrides": (
        {"a.py": "def F(): ...\nif A:\n    def F(): ...\n"},
        [("a.py", None, "variant"), ("a.py", "A", "variant")],
    ),
    "python try": (
        {"a.py": "try:\n    import x\n    class F: ...\nexcept ImportError:\n    class F: ...\n"},
        [("a.py", "try", "fallback"), ("a.py", "except ImportError", "fallback")],
    ),
    "python, constants in every branch": (
        {"a.py": "if A:\n    F = 1\nelse:\n    F = 2\n"},
        [("a.py", "A", "variant"), ("a.py", "not (A)", "variant")],
    ),
    "python, decorated properties in every branch": (
        {"a.py": PROPERTIES},
        [("a.py", "A", "variant"), ("a.py", "not (A)", "variant")],
    ),
    "python, plain redefinition": (
        {"a.py": "def F(): ...\ndef F(a): ...\n"},
        [("a.py", None, "duplicate"), ("a.py", None, "duplicate")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONFLICTS)
def test_conflicts(case: str) -> None:
    files, expected = CONFLICTS[case]
    assert conflict(files, "F", -1) == expected


NO_CONFLICTS = {
    "property accessors": {
        "a.py": "class C:\n    @property\n    def F(self): ...\n    @F.setter\n    def F(self, v): ...\n"
                "    @F.deleter\n    def F(self): ...\n",
    },
    "typing.overload": {
        "a.py": "@typing.overload\ndef F(a: int): ...\n@overload\ndef F(a: str): ...\ndef F(a): ...\n",
    },
    "single dispatch": {"a.py": "@functools.singledispatch\ndef F(a): ...\n@F.register(int)\ndef F(a): ...\n"},
    "other decorators": {"a.py": "@app.get('/')\ndef F(): ...\n@app.post('/')\ndef F(): ...\n"},
    "local functions": {"a.py": "def g(x):\n    if x:\n        def F(): ...\n    else:\n        def F(): ...\n"},
    "other scope": {"a.py": "class A:\n    def F(self): ...\nclass B:\n    if X:\n        def F(self): ...\n"},
    "other file": {"a.py": "def F(): ...\n", "b.py": "if X:\n    def F(): ...\n"},
    "function and class": {"a.py": "if X:\n    def F(): ...\nelse:\n    class F: ...\n"},
    "assignment under a condition": {"a.py": "F = 1\nif X:\n    F = 2\n"},
    "reassignment": {"a.py": "F = 1\nF = 2\n"},
    "declaration for the type checker": {"a.py": "if TYPE_CHECKING:\n    class F: ...\nelse:\n    class F: ...\n"},
    "dead python": {"a.py": "def F(): ...\nif False:\n    def F(): ...\n"},
    "same condition twice": {"a.py": "if X:\n    def F(): ...\nif X:\n    def F(): ...\n"},
    "go packages of one name": {"p/a_linux.go": "package p\nfunc F() {}\n", "q/p/a.go": "package p\nfunc F() {}\n"},
    "go types": {"p/a_linux.go": "package p\nfunc (a A) F() {}\n", "p/b.go": "package p\nfunc (b B) F() {}\n"},
    "go test double": {"p/a_linux.go": "package p\nfunc F() {}\n", "p/a_test.go": "package p\nfunc F() {}\n"},
    "go ignored scripts": {
        "p/a.go": "package main\nfunc F() {}\n", "p/gen.go": "//go:build ignore\n\npackage main\nfunc F() {}\n",
    },
    "go init": {"p/a_linux.go": "package p\nfunc init() {}\n", "p/a_plan9.go": "package p\nfunc init() {}\n"},
    "go without conditions": {"p/a.go": "package p\nfunc F() {}\n", "p/b.go": "package p\nfunc F() {}\n"},
    "c programs": {"a.c": "int F(void) {}\n", "b.c": "int F(void) {}\n"},
    "c, one file without a condition": {"a.c": "int F(void) {}\n", "b.c": "#ifdef B\nint F(void) {}\n#endif\n"},
    "c static functions": {
        "a.c": "#ifdef A\nstatic int F(void) {}\n#endif\n", "b.c": "#ifdef B\nstatic int F(void) {}\n#endif\n",
    },
    "c, the same condition in two files": {
        "a.c": "#ifdef A\nint F(void) {}\n#endif\n", "b.c": "#ifdef A\nint F(void) {}\n#endif\n",
    },
    "c entry points": {
        "a.c": "#ifdef A\nint main(void) {}\n#endif\n", "b.c": "#ifdef B\nint main(void) {}\n#endif\n",
    },
    "dead c": {"a.c": "#if 0\nint F(void) {}\n#elif A\nint F(void) {}\n#endif\n"},
    "c macro around a function": {"a.c": "static int F(int x) {}\n#ifdef A\n#define F(x) G(x)\n#endif\n"},
    "c typedef and its struct": {"a.h": "#ifdef A\ntypedef struct F { int a; } F;\n#endif\n"},
    "rust trait methods": {
        "a.rs": "impl From<A> for T { fn F(a: A) {} }\n#[cfg(unix)]\nimpl From<B> for T { fn F(b: B) {} }\n",
    },
    "rust field and method": {"a.rs": "struct T { F: u8 }\nimpl T { #[cfg(unix)]\nfn F(&self) {} }\n"},
    "c# overloads": {"a.cs": "namespace N { class A {\nvoid F(int a) {}\n#if X\nvoid F(int a, int b) {}\n#endif\n}}"},
    "c# generic and plain": {"a.cs": "namespace N { class A {\nvoid F() {}\n#if X\nvoid F<T>() {}\n#endif\n}}"},
    "c# explicit interface": {"a.cs": "namespace N { class A {\nvoid F() {}\n#if X\nvoid I.F() {}\n#endif\n}}"},
    "c# partial types": {
        "a.cs": "#if X\nnamespace N { partial class F {} }\n#endif\n",
        "b.cs": "#if Y\nnamespace N { partial class F {} }\n#endif\n",
    },
    "c# without a namespace": {"a.cs": "#if X\nclass F {}\n#endif\n", "b.cs": "#if Y\nclass F {}\n#endif\n"},
    "c++ overloads": {"a.cpp": "void F(int a) {}\n#if X\nvoid F(long a) {}\n#endif\n"},
    "c++ namespaces": {"a.cpp": "namespace F { int a; }\n#if X\nnamespace F { int b; }\n#endif\n"},
}  # fmt: skip


@pytest.mark.parametrize("case", NO_CONFLICTS)
def test_no_conflicts(case: str) -> None:
    name = {"go init": "init", "c entry points": "main"}.get(case, "F")
    count = sum(site.name == name for site in sites(NO_CONFLICTS[case]))
    assert [conflict(NO_CONFLICTS[case], name, at) for at in range(count)] == [[]] * count


def test_every_site_of_a_conflict_shows_the_same_definitions() -> None:
    files = {f"p/a_{os}.go": "package p\n\nfunc F() {}\n" for os in ("windows", "linux", "plan9")}
    shown = [conflict(files, "F", at) for at in range(3)]
    assert shown[0] == shown[1] == shown[2]
    assert [tag for _, tag, _ in shown[0]] == ["linux", "plan9", "windows"]


def test_definition_sites_carry_the_branch_and_the_line() -> None:
    rows = [site for site in sites({"a.py": "if A:\n    def F(): ...\nelse:\n    def F(): ...\n"}) if site.name == "F"]
    assert definitions(rows, "topic")[1] == DefinitionSite("a.py", 4, "topic", "not (A)", "variant")
    assert definitions(rows, None)[0].branch is None
    assert definitions(rows[:1], "topic") == definitions([], "topic") == ()
    assert group_key(rows[0]) == group_key(rows[1])


def test_a_setter_has_no_definitions_of_its_own() -> None:
    assert conflict({"a.py": PROPERTIES}, "F", 1) == []


def test_within_a_file_conditions_in_other_files_do_not_hide_a_conflict() -> None:
    both = "#ifdef A\nint F(void) {}\n#else\nint F(void) {}\n#endif\n"
    found = conflict({"a.c": both, "b.c": both}, "F", 3)
    assert found == [("b.c", "defined(A)", "variant"), ("b.c", "!defined(A)", "variant")]


def test_within_a_file_other_parameters_in_other_files_do_not_hide_a_conflict() -> None:
    both = "#ifdef A\nint F(int a) {}\n#else\nint F(int a) {}\n#endif\n"
    found = conflict({"a.c": both, "b.c": "#ifdef B\nint F(long a) {}\n#endif\n"}, "F")
    assert found == [("a.c", "defined(A)", "variant"), ("a.c", "!defined(A)", "variant")]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a", "!a", True), ("a && b", "!(a && b) && c", True), ("a && b && c", "!(a && b)", True), ("a", "b", False),
        ("a && b", "!(a && c)", False), ("unix", "windows", True), ("unix && windows", "unix", False),
        ("a", None, False),
        ('target_os = "linux" && a', 'target_os = "macos"', True), ('feature = "a"', 'feature = "b"', False),
        ("defined(_WIN32)", "defined(__APPLE__)", True), ("defined(_WIN32)", "defined(A)", False),
    ],
)  # fmt: skip
def test_exclusive(one: str, other: str | None, expected: bool) -> None:
    assert exclusive(one, other) is expected
    assert exclusive(other, one) is expected
