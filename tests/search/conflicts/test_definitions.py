"""Which definitions are a conflict, on small sources that go through the extractor."""

from __future__ import annotations

import textwrap

import pytest

from lci_py.search.conflicts.definitions import Site, definitions, group_key
from lci_py.search.conflicts.logic import Machine
from lci_py.source.conditions.paths import inferred_condition, path_condition
from lci_py.source.extract.extract import extract
from lci_py.source.syntax.languages import is_test
from lci_py.types.search import DefinitionSite

LANGUAGES = {
    "py": "python", "go": "go", "c": "c", "h": "c", "rs": "rust", "cs": "csharp", "cpp": "cpp", "js": "javascript",
    "ts": "typescript", "rb": "ruby", "lua": "lua", "sh": "bash", "swift": "swift", "kt": "kotlin", "kts": "kotlin", "java": "java",
    "php": "php", "hs": "haskell", "ex": "elixir", "zig": "zig", "scala": "scala", "ml": "ocaml",
}  # fmt: skip


def machine() -> Machine:
    return Machine.here()


def sites(files: dict[str, str]) -> list[Site]:
    """The rows of some files, as an index would have them."""
    rows: list[Site] = []
    for path, text in files.items():
        language = LANGUAGES[path.rpartition(".")[2]]
        first = len(rows)
        for symbol in extract(path, textwrap.dedent(text).encode(), language).symbols:
            rows.append(
                Site(
                    f"id{len(rows)}", path, symbol.line, symbol.name, symbol.qualified_name, symbol.kind, language,
                    symbol.signature, symbol.build_tag, is_test(path), frozenset(symbol.traits.split()),
                    first + symbol.parent if symbol.parent >= 0 else -1, symbol.digest, symbol.arity, path_tag=path_condition(language, path),
                    inferred=inferred_condition(language, path),
                )
            )  # fmt: skip
    return rows


def conflict(files: dict[str, str], name: str, at: int = 0) -> list[tuple[str, str | None, str]]:
    """The definitions shown for the `at`-th definition called `name`."""
    named = [site for site in sites(files) if site.name == name]
    assert len(named) > 1, "the sources must define the name more than once"
    found = definitions([named[at], *named], "main", machine)
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
        [("p/a.go", None, "overlap"), ("p/b_linux.go", "linux", "overlap")],
    ),
    **{
        f"go, {case}": (
            {f"p/{i}.go": f"//go:build {tag}\n\npackage p\n\nfunc F() {{}}\n" for i, tag in enumerate(tags)},
            [(f"p/{i}.go", tag, relation) for i, tag in enumerate(tags)],
        )
        for case, tags, relation in (
            ("no port", ("wasm", "linux"), "variant"),
            ("App Engine was a Linux", ("appengine || js", "solaris"), "variant"),
            ("only gccgo has this processor", ("arm || riscv", "linux && !arm"), "variant"),
            ("TinyGo and Windows", ("tinygo || js", "windows"), "overlap"),
        )
    },
    "go methods": (
        {f"p/a_{os}.go": "package p\n\nfunc (t *T) F() {}\n" for os in ("linux", "windows")},
        [("p/a_linux.go", "linux", "variant"), ("p/a_windows.go", "windows", "variant")],
    ),
    "c++ macros with different bodies": (
        {"a.cpp": "#ifdef A\n#define F(x) do { x; } while (0)\n#else\n#define F(x)\n#endif\n"},
        [("a.cpp", "defined(A)", "variant"), ("a.cpp", "!defined(A)", "variant")],
    ),
    "c++ overloads with comments and initialisers": (
        {"a.cpp": "struct F {\n#ifdef A\n  F(int a /* one */) : b(a) {}\n#else\n  F(int a) : b(a + 1), c{2} {}\n#endif\n};\n"},
        [("a.cpp", "defined(A)", "variant"), ("a.cpp", "!defined(A)", "variant")],
    ),
    "c, one file": (
        {"a.c": "#ifdef A\nint F(void) { return 1; }\n#else\nint F(void) { return 2; }\n#endif\n"},
        [("a.c", "defined(A)", "variant"), ("a.c", "!defined(A)", "variant")],
    ),
    "c, two files": (
        {"a.c": "#ifdef A\nint F(void) {}\n#endif\n", "b.c": "#ifndef A\nint F(void) {}\n#endif\n"},
        [("a.c", "defined(A)", "variant"), ("b.c", "!defined(A)", "variant")],
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
        {f"{i}.cs": f"#if {x}\nnamespace N {{ class F {{}} }}\n#endif\n" for i, x in enumerate(("A", "!A"))},
        [("0.cs", "A", "variant"), ("1.cs", "!A", "variant")],
    ),
    "rust functions": (
        {"a.rs": '#[cfg(feature = "x")]\nfn F() {}\n#[cfg(not(feature = "x"))]\nfn F() {}\n'},
        [("a.rs", 'feature = "x"', "variant"), ("a.rs", '!(feature = "x")', "variant")],
    ),
    "rust methods under opposite conditions": (
        {"a.rs": "impl T {\n#[cfg(unix)]\nfn F() {}\n#[cfg(windows)]\nfn F() {}\n}\n"},
        [("a.rs", "unix", "variant"), ("a.rs", "windows", "variant")],
    ),
    "rust, no target has this processor and this C library": (
        {"a.rs": '#[cfg(target_arch = "s390x")]\nfn F() {}\n#[cfg(target_env = "uclibc")]\nfn F() {}\n'},
        [("a.rs", 'target_arch = "s390x"', "variant"), ("a.rs", 'target_env = "uclibc"', "variant")],
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
    "python, the same condition twice": (
        {"a.py": "if X:\n    def F(): ...\nif X:\n    def F(): ...\n"},
        [("a.py", "X", "duplicate"), ("a.py", "X", "duplicate")],
    ),
    "python, an earlier definition under a condition is lost": (
        {"a.py": "if A:\n    def F(): ...\ndef F(): ...\n"},
        [("a.py", "A", "overlap"), ("a.py", None, "overlap")],
    ),
    "python, two switches of which one may be chosen": (
        {"a.py": "if A:\n    def F(): ...\nif B:\n    def F(): ...\n"},
        [("a.py", "A", "variant"), ("a.py", "B", "variant")],
    ),
    "python, two conditions that both hold where one switch is set": (
        {"a.py": "if A:\n    def F(): ...\nif A or B:\n    def F(): ...\n"},
        [("a.py", "A", "overlap"), ("a.py", "A or B", "overlap")],
    ),
    "python, a function and a class": (
        {"a.py": "if X:\n    def F(): ...\nelse:\n    class F: ...\n"},
        [("a.py", "X", "variant"), ("a.py", "not (X)", "variant")],
    ),
    "go, two of three clash": (
        {"p/a_linux.go": "package p\nfunc F() {}\n", "p/b_windows.go": "package p\nfunc F() {}\n",
         "p/c.go": "//go:build windows && cgo\n\npackage p\nfunc F() {}\n"},
        [("p/a_linux.go", "linux", "variant"), ("p/b_windows.go", "windows", "overlap"),
         ("p/c.go", "windows && cgo", "overlap")],
    ),
    "c, two switches of which one may be chosen": (
        {"a.c": "#ifdef A\nint F(void) {}\n#endif\n#ifdef B\nint F(void) {}\n#endif\n"},
        [("a.c", "defined(A)", "variant"), ("a.c", "defined(B)", "variant")],
    ),
    "c, a platform and a switch": (
        {"a.c": "#ifdef __linux__\nint F(void) {}\n#endif\n#ifdef B\nint F(void) {}\n#endif\n"},
        [("a.c", "defined(__linux__)", "variant"), ("a.c", "defined(B)", "variant")],
    ),
    "cpp, in two classes with qualified names": (
        {"a.cpp": "struct A::B::I {\n  struct F { int a; };\n};\nstruct A::C::I {\n  struct F { int a; };\n};\n"}, [],
    ),
    "c, two platforms": (
        {"a.c": "#ifdef __linux__\nint F(void) {}\n#endif\n#ifdef __unix__\nint F(void) {}\n#endif\n"},
        [("a.c", "defined(__linux__)", "overlap"), ("a.c", "defined(__unix__)", "overlap")],
    ),
    "c, macros that are called like systems": (
        {"a.c": "#if OS_MACOS\nint F(void) {}\n#endif\n#if TARGET_OS_LINUX || __wasi__\nint F(void) {}\n#endif\n"},
        [("a.c", "OS_MACOS", "variant"), ("a.c", "TARGET_OS_LINUX || __wasi__", "variant")],
    ),
    "c, a file that uses a macro": (
        {"a.c": "#define F 1\n#include \"f.inc\"\n#define F 2\n#include \"f.inc\"\n"},
        [("a.c", None, "variant"), ("a.c", None, "variant")],
    ),
    "swift, of the class": ({"a.swift": "class A {\n  class var F: Int { 1 }\n  let F: Int\n}\n"}, []),
    "javascript, of the objects": (
        {"a.js": "Array.F = function (a) { return 1 }\nArray.prototype.F = function (a) { return 2 }\n"}, [],
    ),
    "scala, a parameter that is a function": (
        {"a.scala": "class A {\n  def F(a: B): A = x\n  def F(f: B => B): A = y\n}\n"}, [],
    ),
    "c, a platform and what a script finds out": (
        {"a.c": "#ifdef __linux__\nint F(void) {}\n#endif\n#ifdef HAVE_B\nint F(void) {}\n#endif\n"},
        [("a.c", "defined(__linux__)", "variant"), ("a.c", "defined(HAVE_B)", "variant")],
    ),
    "rust, a system and what a build script sets": (
        {"a.rs": '#[cfg(linux_kernel)]\nfn F() {}\n#[cfg(target_os = "redox")]\nfn F() {}\n'},
        [("a.rs", "linux_kernel", "variant"), ("a.rs", 'target_os = "redox"', "variant")],
    ),
    "rust, what a build script sets, in both": (
        {"a.rs": '#[cfg(any(kernel, target_os = "l4re"))]\nfn F() {}\n#[cfg(any(windows, not(kernel)))]\nfn F() {}\n'},
        [("a.rs", '(kernel || target_os = "l4re")', "variant"), ("a.rs", "(windows || !kernel)", "variant")],
    ),
    "rust, a system and what the compiler sets": (
        {"a.rs": '#[cfg(debug_assertions)]\nfn F() {}\n#[cfg(target_os = "redox")]\nfn F() {}\n'},
        [("a.rs", "debug_assertions", "overlap"), ("a.rs", 'target_os = "redox"', "overlap")],
    ),
    "c, a macro twice": (
        {"a.c": "#define F 10\n#define F 20\n"}, [("a.c", None, "duplicate"), ("a.c", None, "duplicate")],
    ),
    "c, a macro set in other blanks": (
        {"a.c": "#define F  10\n#define F 10\n"}, [("a.c", None, "variant"), ("a.c", None, "variant")],
    ),
    "c, a macro set again with a comment": (
        {"a.c": "#define F 10\n#define F \\\n    10 /* of b */\n"}, [("a.c", None, "variant"), ("a.c", None, "variant")],
    ),
    "c, a macro anew": (
        {"a.c": "#define F 10\n#undef F\n#define F 20\n"}, [("a.c", None, "variant"), ("a.c", None, "variant")],
    ),
    "rust, a macro anew": (  # it hides the first from there on
        {"a.rs": "macro_rules! F { () => { 1 }; }\nmacro_rules! F { () => { 2 }; }\n"},
        [("a.rs", None, "variant"), ("a.rs", None, "variant")],
    ),
    "lua, a stub that is returned": (
        {"a.lua": "if not ngx then\n  function M.F() end\n  return M\nend\nfunction M.F() return 1 end\n"},
        [("a.lua", "not (ngx)", "variant"), ("a.lua", "ngx", "variant")],
    ),
    "a shell's numbers": (
        {"a.sh": "if ((a > 3)); then\n  F() { echo 1; }\nelse\n  F() { echo 2; }\nfi\n"},
        [("a.sh", "a > 3", "variant"), ("a.sh", "!(a > 3)", "variant")],
    ),
    "c, no condition and what a script finds out": (
        {"a.c": "int F(void) {}\n#ifdef HAVE_B\nint F(void) {}\n#endif\n"},
        [("a.c", None, "overlap"), ("a.c", "defined(HAVE_B)", "overlap")],
    ),
    "php, a file that returns": (
        {"a.php": "<?php\nif (PHP_VERSION_ID >= 80000) {\n  class F {}\n  return;\n}\nclass F {}\n"},
        [("a.php", "PHP_VERSION_ID >= 80000", "variant"), ("a.php", "!(PHP_VERSION_ID >= 80000)", "variant")],
    ),
    "haskell types": (
        {"a.hs": "data F = A\ndata F = B\n"}, [("a.hs", None, "duplicate"), ("a.hs", None, "duplicate")],
    ),
    "python, a decorator that keeps nothing": (
        {"a.py": "@dataclass\nclass F: ...\nclass F: ...\n"},
        [("a.py", None, "duplicate"), ("a.py", None, "duplicate")],
    ),
    "c, no condition and a switch": (
        {"a.c": "int F(void) {}\n#ifdef B\nint F(void) {}\n#endif\n"},
        [("a.c", None, "overlap"), ("a.c", "defined(B)", "overlap")],
    ),
    "c, twice in one file": (
        {"a.c": "int F(void) { return 1; }\nint F(int a) { return a; }\n"},
        [("a.c", None, "duplicate"), ("a.c", None, "duplicate")],
    ),
    "c++, twice with the same parameters": (
        {"a.cpp": "int F(int a) { return 1; }\nint F(int a) { return 2; }\n"},
        [("a.cpp", None, "duplicate"), ("a.cpp", None, "duplicate")],
    ),
    "java, twice in a class": (
        {"A.java": "class A {\nint F(int a) { return 1; }\nint F(int a) { return 2; }\n}\n"},
        [("A.java", None, "duplicate"), ("A.java", None, "duplicate")],
    ),
    "go, twice in a package": (
        {"p/a.go": "package p\nfunc F() {}\n", "p/b.go": "package p\nvar F = 1\n"},
        [("p/a.go", None, "duplicate"), ("p/b.go", None, "duplicate")],
    ),
    "go, variables under conditions that can both hold": (
        {"p/a.go": "package p\nvar F = 1\n", "p/a_linux.go": "package p\nvar F = 2\n"},
        [("p/a.go", None, "overlap"), ("p/a_linux.go", "linux", "overlap")],
    ),
    "go, a type and a function": (
        {"p/a_windows.go": "package p\ntype F int\n", "p/b.go": "//go:build !linux\n\npackage p\nfunc F() {}\n"},
        [("p/a_windows.go", "windows", "overlap"), ("p/b.go", "!linux", "overlap")],
    ),
    "rust constants": (
        {"a.rs": "const F: u8 = 1;\n#[cfg(unix)]\nconst F: u8 = 2;\n"},
        [("a.rs", None, "overlap"), ("a.rs", "unix", "overlap")],
    ),
    "rust, twice in one implementation": (
        {"a.rs": "impl T {\nfn F() {}\nfn F() {}\n}\n"}, [("a.rs", None, "duplicate"), ("a.rs", None, "duplicate")],
    ),
    "php functions": (
        {"a.php": "<?php\nfunction F() {}\nfunction F() {}\n"},
        [("a.php", None, "duplicate"), ("a.php", None, "duplicate")],
    ),
    "typescript functions with bodies": (
        {"a.ts": "function F() { return 1 }\nfunction F() { return 2 }\n"},
        [("a.ts", None, "duplicate"), ("a.ts", None, "duplicate")],
    ),
    "ruby, begin and rescue in a class": (
        {"a.rb": "class A\n  begin\n    require 'x'\n    def F; 1; end\n  rescue LoadError\n    def F; 2; end\n  end\nend\n"},
        [("a.rb", "begin", "fallback"), ("a.rb", "rescue LoadError", "fallback")],
    ),
    "one that cannot be placed does not hide the others": (
        {"a.py": "F = 0\nif A:\n    F = 1\nelse:\n    F = 2\n"},
        [("a.py", "A", "variant"), ("a.py", "not (A)", "variant")],
    ),
    "c, a macro unless there is one": (
        {"a.h": "#ifdef A\n#define F 1\n#endif\n#ifndef F\n#define F 2\n#endif\n"},
        [("a.h", "defined(A)", "fallback"), ("a.h", "!defined(F)", "fallback")],
    ),
    "c, weak symbols": (
        {"a.c": "__attribute__((weak)) int F(void) { return 1; }\n", "b.c": "int F(void) { return 2; }\n"},
        [("a.c", None, "fallback"), ("b.c", None, "fallback")],
    ),
    "javascript functions": (
        {"a.js": "function F() {}\nfunction F(a) {}\n"},
        [("a.js", None, "duplicate"), ("a.js", None, "duplicate")],
    ),
    "javascript variables of platforms": (
        {"a.client.js": "export const F = 1;\n", "a.server.js": "export const F = 2;\n"},
        [("a.client.js", "client", "variant"), ("a.server.js", "server", "variant")],
    ),
    "ruby methods": (
        {"a.rb": "class A\n  def F; 1; end\n  def F; 2; end\nend\n"},
        [("a.rb", None, "duplicate"), ("a.rb", None, "duplicate")],
    ),
    "lua functions": (
        {"a.lua": "local M = {}\nfunction M.F() return 1 end\nfunction M.F() return 2 end\nreturn M\n"},
        [("a.lua", None, "duplicate"), ("a.lua", None, "duplicate")],
    ),
    "rust functions that can both be had": (
        {"a.rs": '#[cfg(feature = "x")]\nfn F() {}\n#[cfg(feature = "y")]\nfn F() {}\n'},
        [("a.rs", 'feature = "x"', "overlap"), ("a.rs", 'feature = "y"', "overlap")],
    ),
    **{
        f"{case}, declared twice": ({path: text}, [(path, None, "duplicate")] * 2)
        for case, path, text in (
            ("php constants of a class", "a.php", "<?php\nclass A {\n  const F = 1;\n  const F = 2;\n}\n"),
            ("zig constants", "a.zig", "const F = 1;\npub const F = 2;\n"),
            ("rust constants", "a.rs", "const F: u8 = 1;\npub const F: u8 = 2;\n"),
            ("kotlin properties", "a.kt", "class A {\n  val F = 1\n  val F = 2\n}\n"),
            ("kotlin parameters of other names", "a.kt", "fun F(a: Int, b: List<Int> = c): Int = 1\nfun F(x: Int, y: List<Int>) = 2\n"),
            ("scala parameters of other names", "a.scala", "object A {\n  def F(a: Int): Int = 1\n  def F(b: Int): Int = 2\n}\n"),
            ("java static and not", "A.java", "class A {\n  static void F(final int a) {}\n  void F(@B int b) {}\n}\n"),
            ("swift, same labels", "a.swift", "func F(from a: Int) {}\nfunc F(from b: Int) {}\n"),
            ("typescript implementations", "a.ts", "function F(a: number) {}\nfunction F(a: string) {}\n"),
            ("elixir, def and defp", "a.ex", "defmodule M do\n  def f(a), do: a\n\n  defp f(b), do: b\nend\n"),
        )
    },
    "kotlin classes in files of a package": (
        {f"src/main/kotlin/{x}.kt": f"package p\nclass F(val {x.lower()}: {x})\n" for x in ("Int", "String")},
        [(f"src/main/kotlin/{x}.kt", None, "duplicate") for x in ("Int", "String")],
    ),
    "kotlin functions in files of a package": (
        {f"src/main/kotlin/{x}.kt": f"package p\nfun F({x}: Int): Int = 1\n" for x in "ab"},
        [(f"src/main/kotlin/{x}.kt", None, "duplicate") for x in "ab"],
    ),
    "elixir modules in files of a project": (
        {"lib/a.ex": "defmodule F do\nend\n", "lib/b/c.ex": "defmodule F do\nend\n"},
        [("lib/a.ex", None, "duplicate"), ("lib/b/c.ex", None, "duplicate")],
    ),
    "python, plain redefinition": (
        {"a.py": "def F(): ...\ndef F(a): ...\n"},
        [("a.py", None, "duplicate"), ("a.py", None, "duplicate")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CONFLICTS)
def test_conflicts(case: str) -> None:
    files, expected = CONFLICTS[case]
    assert conflict(files, "f" if case.startswith("elixir, def") else "F", -1) == expected


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
    "assignment under a condition": {"a.py": "F = 1\nif X:\n    F = 2\n"},
    "reassignment": {"a.py": "F = 1\nF = 2\n"},
    "declaration for the type checker": {"a.py": "if TYPE_CHECKING:\n    class F: ...\nelse:\n    class F: ...\n"},
    "dead python": {"a.py": "def F(): ...\nif False:\n    def F(): ...\n"},
    "go packages of one name": {"p/a_linux.go": "package p\nfunc F() {}\n", "q/p/a.go": "package p\nfunc F() {}\n"},
    "go types": {"p/a_linux.go": "package p\nfunc (a A) F() {}\n", "p/b.go": "package p\nfunc (b B) F() {}\n"},
    "go test double": {"p/a_linux.go": "package p\nfunc F() {}\n", "p/a_test.go": "package p\nfunc F() {}\n"},
    "go ignored scripts": {
        "p/a.go": "package main\nfunc F() {}\n", "p/gen.go": "//go:build ignore\n\npackage main\nfunc F() {}\n",
    },
    "go init": {"p/a_linux.go": "package p\nfunc init() {}\n", "p/a_plan9.go": "package p\nfunc init() {}\n"},
    "go programs in one folder": {
        "testdata/a.go": "package p\nfunc F() {}\n", "testdata/b.go": "package p\nfunc F() {}\n",
    },
    "go method of a type with the package's name": {
        "p/a.go": "package p\ntype p struct{}\nfunc (x *p) F() {}\n", "p/b.go": "package p\nfunc F() {}\n",
    },
    "an alias keeps the first one": {"a.py": "def F(): ...\nold = F\ndef F(): return old()\n"},
    "a ruby alias keeps the first one": {
        "a.rb": "class A\n  def F; 1; end\n  alias_method :old, :F\n  def F; old; end\nend\n",
    },
    "a shell runs the first one": {"a.sh": "F() { :; }\nF\nF() { :; }\nF\n"},
    "a stand-in in tests": {"tests/test_a.py": "def F(): ...\ndef F(): ...\n"},
    "elixir clause under a condition": {
        "a.ex": "defmodule M do\n  if A do\n    def F(1), do: 1\n  end\n  def F(n), do: n\nend\n",
    },
    "c macro that looks like a function": {"a.c": "int FOR_EACH(a) { }\nint FOR_EACH(a) { }\n#define F\nint F;\n"},
    "c, a test that a macro names": {"a.c": "TEST(F) { return 1; }\nint F(void) { return 2; }\n"},
    "c++ members of a specialisation": {"a.cpp": "template<class T> struct A { static int F; };\n#if X\nint A<int>::F;\n#endif\n"},
    "rust implementations for types of other crates": {
        "a.rs": "impl T for a::B { fn F() {} }\n#[cfg(unix)]\nimpl T for c::D { fn F() {} }\n"
                "impl T for u8 { fn F() {} }\nimpl T for u16 { fn F() {} }\n",
    },
    "swift members of the class and of its objects": {
        "a.swift": "class A {\nclass func F() {}\nfunc F() {}\n}\n",
    },
    "c++ specialisations": {
        "a.h": "", "a.cpp": "template <class T> struct F<T*> : A<T> {};\ntemplate <class T> struct F<T&> : A<T> {};\n",
    },
    "c# indexers": {
        "a.cs": "namespace N { class A {\npublic int this[int a] { get { return 1; } }\n"
                "public int this[long a] { get { return 1; } }\nint F;\nint I.F { get; } } }\n",
    },
    "javascript members of nested objects": {
        "a.js": "const o = { a: { F() {} }, b: { F() {} } };\n",
    },
    "lua members of nested tables": {
        "a.lua": "M.spec = merge({ name = 1, { a = 1, F = function() end }, { a = 2, F = function() end } })\n",
    },
    "c, a union and its name": {
        "a.h": "#ifdef A\nunion F { int a; };\n#endif\ntypedef union F F;\nint F;\n",
    },
    "c++ references": {"a.cpp": "struct A {\nint F(const A &other) { return 1; }\nint F(const A &&other) { return 2; }\n};\n"},
    "c, what is local to files of two modules": {
        "epoll/src/native_epoll.c": "static int F(void) { return 1; }\n",
        "kqueue/src/native_kqueue.c": "static int F(void) { return 2; }\n",
    },
    "a test that no runner collects": {"tests/data.py": "def F(): ...\ndef F(): ...\n"},
    "scala companion": {"a.scala": "class F\nobject F\n"},
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
    "ocaml, a definition that hides the one before": {
        "a.ml": "module type S = sig\n  val f : int -> int\nend\nlet f x = x\nlet f x = f (f x)\n",
    },
    "c, tests that a macro names after two words": {"a.c": "TEST_F(a, f) { return 1; }\nTEST_F(b, f) { return 2; }\n"},
    "c, what the uses of a macro define": {
        "a.c": "#define D(n) static void *n##_a(int *m) F(&m->x) { return 0; } static void n##_b(int *m) G(&m) { }\nD(x);\nD(y);\n",
    },
    "c, overloads of c++": {
        "a.c": "#if E_CPP\ninline int F(char v) { return 1; }\ninline int F(long v) { return 2; }\n#endif\n",
    },
    "c, an attribute between type and name": {
        "a.c": "static int\ninternal\ng (re_t *a, int b)\n{ return b; }\nstatic int\ninternal\nh (re_t *a)\n{ return 1; }\n",
    },
    "c++, specialisations that differ in noexcept": {
        "a.cpp": "template <class A> struct F<R(A, A) &, X> { int a; };\n"
        "#ifdef N\ntemplate <class A> struct F<R(A, A) & noexcept, X> { int a; };\n#endif\n",
    },
    "c++, types in types in specialisations": {
        "a.cpp": "template <class A> struct B<A, X> { struct C { struct F { int a; }; }; };\n"
        "#ifdef N\ntemplate <class A> struct B<A, Y> { struct C { struct F { int a; }; }; };\n#endif\n",
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
    "c# explicit interfaces of parameters": {
        "a.cs": "namespace N { class A {\nbool I<string, int>.F(int a) {}\nbool J<string, int>.F(int a) {}\n}}",
    },
    "c# properties of interfaces": {"a.cs": "class A<T> {\nF F { get; }\nF IF<T>.F => F;\nF IG.F => F;\n}"},
    "c# properties of a record": {"a.cs": "record struct A(int F) {\npublic int F { get; } = F;\n}"},
    "go structs without names": {"a.go": "package p\nvar t = []any{\n\tstruct{ F int }{1},\n\tstruct{ F int }{2},\n}\n"},
    "c# blocks of members for another type": {
        "a.cs": "static class extension {\nextension(string a) { int G() => 1; }\nextension(string b) { int H() => 1; }\n}",
    },
    "kotlin variable arguments": {"a.kt": "fun <T> F(vararg a: T) {}\nfun <T> F(a: T) {}\n"},
    "lua blocks": {"a.lua": "do\n  local function F() end\nend\ndo\n  local function F() end\nend\n"},
    "lua operators": {"a.lua": "t.__eq = function(a, b) end\nassert(t == u)\nt.__eq = function(a) end\n"},
    "swift subscripts": {
        "a.swift": "struct A {\n  subscript<T>(_ a: T) -> T\n  where T: B { get { a } }\n  subscript<T>(_ a: T) -> T\n  where T: C { get { a } }\n}\n",
    },
    "haskell instances": {
        "a.hs": "module M where\n\ninstance C (A -> Int) where\n  f = 1\n\n#if MIN_VERSION_b(1,2,3)\ninstance C (B -> Int) where\n  f = 2\n#endif\n",
    },
    "material of tests": {"p/testdir/input/a.py": "class F: ...\nclass F: ...\n"},
    "c# partial types": {
        "a.cs": "#if X\nnamespace N { partial class F {} }\n#endif\n",
        "b.cs": "#if Y\nnamespace N { partial class F {} }\n#endif\n",
    },
    "c# without a namespace": {"a.cs": "#if X\nclass F {}\n#endif\n", "b.cs": "#if Y\nclass F {}\n#endif\n"},
    "c, weak and static": {
        "a.c": "__attribute__((weak)) static int F(void) { return 1; }\n", "b.c": "static int F(void) { return 2; }\n",
    },
    "c macro defined the same twice": {"a.h": "#ifdef A\n#define F 1\n#endif\n#ifdef B\n#define F 1\n#endif\n"},
    "rust impl blocks": {
        "a.rs": "#[cfg(feature = \"x\")]\nimpl T<A> { fn F() {} }\n#[cfg(feature = \"y\")]\nimpl T<B> { fn F() {} }\n",
    },
    "javascript functions in anonymous ones": {
        "a.js": "test(() => { function F() {} });\ntest(function () { function F() {} });\n",
    },
    "javascript members of objects without a name": {"a.js": "f({ F() {} });\nf({ F() {} });\n"},
    "javascript accessors": {"a.js": "class A { get F() { return 1 } set F(v) {} }\n"},
    "javascript static and not": {"a.js": "class A { static F() {} F() {} }\n"},
    "typescript overloads": {"a.ts": "function F(a: number): void;\nfunction F(a: string): void;\nfunction F(a) {}\n"},
    "typescript declarations": {"a.ts": "declare function F(): void;\nfunction F() {}\n"},
    "c++ types in tests": {"tests/a.cpp": "struct F { int a; };\nstruct F { int b; };\n"},
    "lua members of an object made anew": {
        "a.lua": "local A = {}\nfunction A:F() end\nA = B:extend{}\nfunction A:F() return 1 end\n",
    },
    "typescript merging": {"a.ts": "interface F {}\nabstract class F { f() {} }\ninterface F { f(): void }\n"},
    "ruby reopened class": {"a.rb": "class A\n  def F; 1; end\nend\nclass A\n  def F; 2; end\nend\n"},
    "ruby singleton class": {"a.rb": "class A\n  class << self\n    def F; 1; end\n  end\n  def F; 2; end\nend\n"},
    "ruby class and object": {"a.rb": "class A\n  def self.F; 1; end\n  def F; 2; end\nend\n"},
    "swift extensions": {
        "a.swift": "extension A where T == Int { func F() {} }\nextension A where T == String { func F() {} }\n",
    },
    "java overloads": {"A.java": "class A { void F(int a) {} void F(String a) {} }\n"},
    "java overloads with a comment above": {
        "A.java": "class F {\n  @B // c\n  F() {}\n  @B // c\n  F(int a) {}\n}\n",
    },
    "c# static constructor": {"a.cs": "namespace N { class F {\nstatic F() {}\npublic F() {}\n} }\n"},
    "zig, types without names": {"a.zig": "fn g() void {\n  f(struct { F: u8 });\n  f(struct { F: u9 });\n}\n"},
    "swift, other types and other bounds": {
        "a.swift": "func F<O>(to a: O...) -> D where O.E == E {}\nfunc F<O>(to a: O...) -> D where O.E == E? {}\n"
                   "func F(until a: some A) {}\nfunc F(until a: some B) {}\n",
    },
    "swift, other labels": {"a.swift": "func F(from a: Int) {}\nfunc F(to a: Int) {}\n"},
    "kotlin, a member and an extension of what may be null": {"a.kt": "class A {\n  fun F() = 1\n}\nfun A?.F() = this?.F()\n"},
    "scala givens, and types that are only declared": {
        "a.scala": "object A {\n  given F[S](using a: B[S]): C = d(a)\n  given F[S](using e: E[S]): C = d(e)\n}\n"
                   "class G(h: I { type F <: J }) extends K {\n  override type F = L\n}\n",
    },
    "rust, what a macro makes": {
        "a.rs": "#[cxx::bridge]\nmod a {\n  extern \"Rust\" {\n    fn F(self: &mut A);\n    fn F(self: &B);\n"
                "    #[Self = \"A\"]\n    fn G() -> A;\n    #[Self = \"B\"]\n    fn G() -> B;\n  }\n}\n",
        "b.rs": "#[specs(\n  fn F(a: Self) -> bool { true }\n)]\ntrait A {}\n"
                "#[specs(\n  fn F(a: int) -> bool { a > 1 }\n)]\nimpl A for u8 {}\n",
    },
    "c++ header in a file twice": {"f.h": "#ifndef F_H\n#define F_H\nstruct F {\n  int a;\n};\n#endif\n" * 2},
    "kotlin receivers": {"a.kt": "fun String.F() {}\nfun Int.F() {}\nval String.F = 1\nval Int.F = 2\n"},
    "kotlin scripts": {f"src/main/kotlin/{x}.gradle.kts": "fun F(): Int = 1\n" for x in "ab"},
    "kotlin companion": {
        "a.kt": "class A {\n  val F = A.F\n  fun g() = 1\n  companion object {\n    val F = 2\n  }\n}\n",
    },
    "kotlin methods and those of a companion": {
        "a.kt": "class A {\n  fun F() = 1\n  companion object {\n    fun F() = 2\n  }\n}\n",
    },
    "rust constants in macros": {"a.rs": "t!(a, |d| {\n    const F: u8 = 1;\n});\nt!(b, |d| {\n    const F: u8 = 2;\n});\n"},
    "elixir callback": {
        "a.ex": "defmodule M do\n  @callback f(a :: term) :: term\n  def f(a), do: a\nend\n",
    },
    "elixir modules of two projects": {"a/lib/a.ex": "defmodule F do\nend\n", "b/lib/a.ex": "defmodule F do\nend\n"},
    "php variables": {"a.php": "<?php\nconst F = 1;\n$F = 2;\n$F = 3;\n"},
    "c, a macro around the parameters": {"a.c": "int g _F_OF((int a)) { }\nint h _F_OF((int b)) { }\n"},
    "kotlin expect and actual": {"a.kt": "expect fun F(): Int\nactual fun F(): Int = 1\n"},
    "elixir clauses": {"a.ex": "defmodule M do\n  def f(0), do: 1\n  def f(n), do: n\nend\n"},
    "c++ overloads": {"a.cpp": "void F(int a) {}\n#if X\nvoid F(long a) {}\n#endif\n"},
    "c++ namespaces": {"a.cpp": "namespace F { int a; }\n#if X\nnamespace F { int b; }\n#endif\n"},
}  # fmt: skip


@pytest.mark.parametrize("case", NO_CONFLICTS)
def test_no_conflicts(case: str) -> None:
    name = {
        "go init": "init",
        "c entry points": "main",
        "c, tests that a macro names after two words": "f",
        "c, an attribute between type and name": "internal",
        "elixir clauses": "f",
        "ocaml, a definition that hides the one before": "f",
        "elixir callback": "f",
        "c, a macro around the parameters": "_F_OF",
        "lua operators": "__eq",
        "haskell instances": "f",
        "swift subscripts": "subscript",
        "c# blocks of members for another type": "extension",
    }.get(case, "F")
    count = sum(site.name == name for site in sites(NO_CONFLICTS[case]))
    assert [conflict(NO_CONFLICTS[case], name, at) for at in range(count)] == [[]] * count


def test_every_site_of_a_conflict_shows_the_same_definitions() -> None:
    files = {f"p/a_{os}.go": "package p\n\nfunc F() {}\n" for os in ("windows", "linux", "plan9")}
    shown = [conflict(files, "F", at) for at in range(3)]
    assert shown[0] == shown[1] == shown[2]
    assert [tag for _, tag, _ in shown[0]] == ["linux", "plan9", "windows"]


def test_definition_sites_carry_the_branch_and_the_line() -> None:
    rows = [site for site in sites({"a.py": "if A:\n    def F(): ...\nelse:\n    def F(): ...\n"}) if site.name == "F"]
    assert definitions(rows, "topic", machine)[1] == DefinitionSite("a.py", 4, "topic", "not (A)", "variant")
    assert definitions(rows, None, machine)[0].branch is None
    assert definitions(rows[:1], "topic", machine) == definitions([], "topic", machine) == ()
    assert group_key(rows[0]) == group_key(rows[1])


LINUX = Machine("linux", "x86_64", (3, 11, 0), 64, "little", "gnu")


def placed(files: dict[str, str], name: str = "F") -> list[tuple[str, str, str | None, bool]]:
    """The definitions shown on Linux for the first one called `name`: what their paths suggest, what is active."""
    named = [site for site in sites(files) if site.name == name]
    found = definitions(named, "main", lambda: LINUX)
    return [(site.file, site.relation, site.inferred, site.active) for site in found]


PLACED = {
    "functions of c": ("int F(void) { return 1; }\n", ["src/unix/a.c", "src/win/b.c"], ["unix", "windows"]),
    "functions of one file only, in c": ("static int F(void) { return 1; }\n", ["src/unix/a.c", "src/win/a.c"], ["unix", "windows"]),
    "types of c": ("struct F { int a; };\n", ["inc/unix.h", "inc/win.h"], ["unix", "windows"]),
    "functions of python": ("def F(): ...\n", ["p/_pslinux.py", "p/_psosx.py", "p/_pswindows.py"], ["linux", "macos", "windows"]),
    "constants of python": ("FLAG = 1\n", ["p/linux.py", "p/windows.py"], ["linux", "windows"]),
    "functions of javascript": ("export function F() {}\n", ["p/linux.js", "p/win32.js"], ["linux", "windows"]),
    "c#": ("class F { }\n", ["p/A.Linux.cs", "p/A.Windows.cs"], ["linux", "windows"]),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACED)
def test_files_that_their_paths_tell_apart(case: str) -> None:
    source, paths, suggested = PLACED[case]
    # Which files a bundler takes is not for this machine to say.
    shown = [
        (path, "variant", words, n == 0 and not path.endswith(".js"))
        for n, (path, words) in enumerate(zip(paths, suggested, strict=True))
    ]
    assert placed(dict.fromkeys(paths, source), "FLAG" if "FLAG" in source else "F") == shown


def test_implementations_in_a_macro_of_rust_are_told_apart() -> None:
    source = (
        "cfg_net! {\n    impl Debug for X {\n        fn F(&self) {}\n    }\n    impl<T> Display for X {\n        fn F(&self) {}\n    }\n"
        "    impl a::Net for str {\n        fn F(&self) {}\n    }\n    impl a::Net for &u8 {\n        fn F(&self) {}\n    }\n"
        "    impl a::Net for &[X] {\n        fn F(&self) {}\n    }\n    impl a::Net for (&str, u16) {\n        fn F(&self) {}\n    }\n}\n"
    )
    found = [site for site in sites({"a.rs": source}) if site.name == "F"]
    assert [site.qualified_name for site in found] == ["X.F", "X.F", "str.F", "u8.F", "X.F", "str.F"]
    assert all(definitions([site, *found], None, machine) == () for site in found)


def test_macros_of_two_platforms() -> None:
    shown = placed({"inc/linux.h": "#define F 1\n", "inc/win.h": "#define F 2\n"})
    assert shown == [("inc/linux.h", "variant", "linux", True), ("inc/win.h", "variant", "windows", False)]


def test_what_a_path_suggests_is_never_grave() -> None:
    function = "int F(void) { return 1; }\n"
    assert placed({"src/unix/a.c": function, "src/linux/b.c": function}) == []  # they may be one program
    assert placed({"src/win/a.c": function, "src/win/b.c": function}) == []
    assert placed({"a/linux.py": "def F(): ...\n", "b/windows.py": "def F(): ...\n"}) == []  # other modules
    assert placed({"inc/linux.h": "#define F\n", "inc/win.h": "#define F\n"}) == []
    assert placed({"p/linux/a.rb": "module F\nend\n", "p/windows/a.rb": "module F\nend\n"}) == []  # reopened
    assert placed({"p/linux.py": "handler = 1\n", "p/windows.py": "handler = 1\n"}, "handler") == []  # a variable


def test_a_condition_in_a_file_of_another_platform_is_not_active() -> None:
    arm = "#ifdef __aarch64__\nint F(void) { return 1; }\n#else\nint F(void) { return 2; }\n#endif\n"
    assert [active for *_, active in placed({"src/osx/a.c": arm})] == [False, False]
    assert [active for *_, active in placed({"src/linux/a.c": arm})] == [False, True]
    assert placed({"src/osx/a.c": arm})[0][2] is None  # the path tells nothing apart


def test_what_does_not_parse_is_not_grave() -> None:
    rows = [
        site
        for site in sites({"a.h": "#if __unix__\ntypedef int F;\n#endif\n#if __linux__\ntypedef long F;\n#endif\n"})
        if site.name == "F"
    ]
    assert [one.relation for one in definitions(rows, None, machine)] == ["overlap"] * 2
    assert definitions([row._replace(broken=True) for row in rows], None, machine) == ()
    assert definitions([row._replace(digest="same") for row in rows], None, machine) == ()
    # It may be C++, which has overloads.
    rows = [
        site._replace(broken=True)
        for site in sites({"a.h": "int F(int a) { return 1; }\nint F(long a) { return 2; }\n"})
    ]
    assert definitions(rows, None, machine) == ()
    assert definitions([row._replace(file="a.c") for row in rows], None, machine) != ()


def test_a_comment_is_no_part_of_a_macro() -> None:
    source = "#ifdef A\n#define F(x) (x) /* the one */\n#elif B\n#define F(x) (x) // the other\n#else\n#define F(x) (x)/1\n#endif\n"
    one, other, third = (site.digest for site in sites({"a.c": source}))
    assert one == other != third


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
