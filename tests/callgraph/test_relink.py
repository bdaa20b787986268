"""A refresh of the graph ends where a full link would, and links no more than it must."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.callgraph import changed_lookups, edges, lookups, relink as relinking
from lci_py.callgraph.changed_lookups import contributions
from lci_py.callgraph.edges import Links, Sites
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.pointsto.solve import Solver
from lci_py.callgraph.relink import _places, relink
from lci_py.callgraph.resolve import calls
from lci_py.callgraph.resolve.calls import FileLinker
from lci_py.errors import DamagedIndexError
from lci_py.types.record import replace
from tests.support.programs import histories
from tests.support.properties import examples
from tests.support.segments import Segmented, assert_same, full


@examples(40)
@given(histories(), st.sampled_from((0.0, 1.0, 1.0)), st.integers(0, 5), st.sampled_from((0, 100)))
def test_a_refresh_equals_a_full_link(
    history: list[dict[str, str]], bulk_share: float, merge_at: int, short: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "_SHORT", short)  # with 0, each run of rows is copied by itself
        patch.setattr(edges, "PIECE", 3)
        index = Segmented(Path(folder), history[0])
        for step, files in enumerate(history[1:]):
            found = index.refresh(files, bulk_share=bulk_share, merge=step == merge_at)
            assert_same(found, full(files))


@examples(25)
@given(histories(("python", "typescript")), st.integers(0, 5))
def test_a_refresh_of_functions_as_values_equals_a_full_link(history: list[dict[str, str]], merge_at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = Segmented(Path(folder), history[0])
        for step, files in enumerate(history[1:]):
            assert_same(index.refresh(files, merge=step == merge_at), full(files))


def test_a_file_on_which_linking_fails_loses_its_own_edges_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "a.go": "package p\n\nfunc start() { f() }\n",
        "b.go": "package p\n\nfunc f() { broken() }\n\nfunc broken() {}\n",
        "c.go": "package p\n\nfunc end() { broken() }\n",
    }

    def fail(self: FileLinker, file: int) -> list[edges.Edge]:
        if self.look_ups.files.heads[file].path == "b.go":
            raise RecursionError
        return edges_of(self, file)

    edges_of = FileLinker._edges_of
    with monkeypatch.context() as patch:
        patch.setattr(FileLinker, "_edges_of", fail)
        with pytest.raises(RecursionError):  # no other test runs without its fault
            full(files)
        patch.setattr(calls, "FAULTS", (RecursionError,))
        index = Segmented(tmp_path, files)
        assert index.links.unlinked() == [1] and index.links.edges_by_kind() == {"calls": 2}
        files["a.go"] += "// more\n"
        assert_same(index.refresh(files), full(files))
    files["a.go"] += "// and more\n"
    found = index.refresh(files)  # b.go has not changed, but is tried again
    assert_same(found, full(files))
    assert not found.unlinked() and found.edges_by_kind() == {"calls": 3}


#: A program in which functions go through other files, and edits of it -> whether it has to be solved again.
PASSED = {
    "a.py": "from b import apply\n\n\ndef f(x):\n    return x\n\n\ndef g(x):\n    return apply(f, x)\n",
    "b.py": "import c\n\n\ndef apply(call, x):\n    c.log(x)\n    return call(x)\n",
    "c.py": "def log(x):\n    return x\n",
    "d.md": "# Notes\n",
}
EDITS: dict[str, tuple[dict[str, str | None], bool]] = {
    "a comment": ({"a.py": "# About f.\n" + PASSED["a.py"]}, False),
    "a docstring": ({"a.py": PASSED["a.py"].replace("    return x\n", '    """As it is."""\n    return x\n')}, False),
    "a function that moves": (
        {"a.py": "from b import apply\n\n\ndef f(x):\n\n    return x\ndef g(x): return apply(f, x)\n"},
        False,
    ),
    "a condition": ({"b.py": PASSED["b.py"].replace("    c.log", "    if 3 > 2:\n        c.log")}, False),
    "calls that come to stand in one line": ({"b.py": PASSED["b.py"].replace("(x)\n    return", "(x); return")}, False),
    "a constant": ({"a.py": PASSED["a.py"].replace("\n\n\ndef f", "\n\nLIMIT = 3\n\n\ndef f")}, True),
    "another text": ({"d.md": "# More notes\n"}, False),
    "another text beside": ({"e.md": "# More notes\n"}, False),
    "a text before the others": ({"0.md": "# More notes\n"}, False),
    "a call": ({"a.py": PASSED["a.py"].replace("return x\n", "return g(x)\n")}, True),
    "an argument": ({"a.py": PASSED["a.py"].replace("apply(f, x)", "apply(g, x)")}, True),
    "an import": ({"b.py": PASSED["b.py"].replace("import c", "import a as c")}, True),
    "a file that an import means": ({"c.py": None, "c/__init__.py": PASSED["c.py"]}, True),
    "a file that is gone": ({"c.py": None}, True),
    "a file more": ({"e.py": PASSED["c.py"]}, True),
}


@pytest.mark.parametrize("edit", EDITS)
def test_functions_are_followed_anew_only_if_other_values_flow(edit: str, tmp_path: Path) -> None:
    change, solves = EDITS[edit]
    after = {path: text for path, text in {**PASSED, **change}.items() if text is not None}
    index = Segmented(tmp_path, PASSED)
    solved: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        solve = Solver.solve
        patch.setattr(Solver, "solve", lambda self: (solved.append(1), solve(self))[1])
        found = index.refresh(after)
    assert bool(solved) == solves
    assert_same(found, full(after))
    assert_same(index.refresh(PASSED), full(PASSED))  # and back again


@examples(25)
@given(histories())
def test_look_ups_that_share_a_key_miss_nothing(history: list[dict[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        for module in (changed_lookups, lookups):
            patch.setattr(module, "key_of", lambda look_up: len("".join(look_up)) % 5)
        index = Segmented(Path(folder), history[0])
        for files in history[1:]:
            index.relinked(files)


@examples(25)
@given(histories())
def test_more_changes_than_are_compared_miss_nothing(history: list[dict[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(relinking, "_MOST_COMPARED", 0)
        index = Segmented(Path(folder), history[0])
        for files in history[1:]:
            index.relinked(files)


GO = "package p\n"
JAVA = "package p;\n"
#: Further definitions of the names, so that none is the only one.
OTHERS = {
    f"{folder}/O.cs": f"namespace {folder} {{ class O {{ class X {{}} class Y {{}} void F() {{}} }} }}\n"
    for folder in ("y", "z")
}
#: What changes -> (files, path and new text or None, files that must be linked anew besides the changed one).
CASES: dict[str, tuple[dict[str, str], dict[str, str | None], set[str]]] = {
    "a body": (
        {"a.py": "def f():\n    return 1\n", "b.py": "from a import f\nf()\n"},
        {"a.py": "\n\ndef f():\n    x = 2\n    return g(x)\n"},
        set(),
    ),
    "the order of definitions": (
        {"a.py": "def f(): pass\ndef g(): pass\n", "b.py": "from a import f\nf()\n"},
        {"a.py": "def h(): pass\ndef g(): pass\ndef f(): pass\n"},
        set(),
    ),
    "a second definition of a name": (
        {"a.c": "int f(void) { return 1; }\n", "b.c": "int g(void) { return f(); }\n", "c.c": "int h;\n"},
        {"c.c": "int f(void) { return 2; }\n"},
        {"b.c"},
    ),
    "a third definition of a name": (
        {"a.c": "int f(void) { return 1; }\n", "b.c": "int g(void) { return f(); }\n", "c.c": "int f(void);\nint f(void) { return 3; }\n", "d.c": ""},
        {"d.c": "int f(void) { return 2; }\n"},
        {"b.c"},
    ),
    "what the file of one of several functions includes": (
        {"a.c": '#include "h.h"\nint g(void) { return f(); }\n', "b.c": '#include "h.h"\nint f(void) { return 1; }\n', "c.c": "int f(void) { return 2; }\n", "h.h": "int f(void);\n"},
        {"c.c": '#include "h.h"\nint f(void) { return 2; }\n'},
        {"a.c"},
    ),
    "the first definition of a name": (
        {"b.c": "int g(void) { return f(); }\n", "c.c": "int h(void) { return g(); }\n"},
        {"a.c": "int f(void) { return 1; }\n"},
        {"b.c"},
    ),
    "a second type of a name": (
        {"a.rb": "class A\n  def f\n  end\nend\n", "b.rb": "class B < A\nend\n", "c.rb": "class C\nend\n"},
        {"c.rb": "class A\n  def h\n  end\nend\n"},
        {"b.rb"},
    ),
    "what another file passes": (
        {
            "a.rb": "class A\n  def initialize(x)\n    @x = x\n  end\n  def f\n    @x.g\n  end\nend\n",
            "b.rb": "class B\n  def g\n    A.new(self)\n  end\nend\n",
            "c.rb": "class C\n  def g\n  end\nend\n",
        },
        {"b.rb": "class B\n  def g\n    A.new(C.new)\n  end\nend\n"},
        {"a.rb"},
    ),
    "a method of a class that becomes one of its objects": (
        {
            "a.rb": "class A\n  def self.f\n  end\n  def f\n  end\nend\n",
            "b.rb": "def g\n  A.f\nend\n",
            "c.rb": "def h\n  g\nend\n",
        },
        {"a.rb": "class A\n  def f\n  end\n  def f\n  end\nend\n"},
        {"b.rb"},
    ),
    "what an imported file has at its top": (
        {
            "a.py": "",
            "b.py": "from a import f\nf()\n",
            "c.py": "from a import g\ng()\n",
            "d.py": "def f(): pass\n",
            "e.py": "def f(): pass\n",
        },
        {"a.py": "def f(): pass\ndef h(): pass\n"},
        {"b.py"},
    ),
    "a member of a base class": (
        {
            "a.py": "class A:\n    def f(self): pass\n",
            "b.py": "from a import A\nclass B(A): pass\n",
            "c.py": "from b import B\nclass C(B):\n    def g(self):\n        self.f()\n",
            "d.py": "from b import B\nclass D(B):\n    def g(self):\n        self.h()\n",
        },
        {"b.py": "from a import A\nclass B(A):\n    def f(self): pass\n"},
        {"c.py"},
    ),
    "a method that moves between two classes of one name": (
        {
            "a.py": "class A:\n    def f(self): pass\nclass A:\n    def h(self): pass\n",
            "b.py": "from a import A\nclass B(A):\n    def g(self):\n        self.f()\n",
        },
        {"a.py": "class A:\n    def h(self): pass\nclass A:\n    def f(self): pass\n"},
        {"b.py"},
    ),
    "the bases of a base class": (
        {
            "a.py": "class A:\n    def f(self): pass\nclass Z:\n    def f(self): pass\n",
            "b.py": "from a import A, Z\nclass B(A): pass\n",
            "c.py": "from b import B\nclass C(B):\n    def g(self):\n        self.f()\n",
        },
        {"b.py": "from a import A, Z\nclass B(Z): pass\n"},
        {"c.py"},
    ),
    "a base that moves between two classes of one name": (
        {
            "a.py": "class Z:\n    def f(self): pass\nclass A(Z): pass\nclass A: pass\n",
            "b.py": "from a import A\nclass B(A):\n    def g(self):\n        self.f()\n",
        },
        {"a.py": "class Z:\n    def f(self): pass\nclass A: pass\nclass A(Z): pass\n"},
        {"b.py"},
    ),
    "the import that a base class's base comes from": (
        {
            "a.py": "class A:\n    def f(self): pass\n",
            "z.py": "class A:\n    def f(self): pass\n",
            "b.py": "from a import A\nclass B(A): pass\n",
            "c.py": "from b import B\nclass C(B):\n    def g(self):\n        self.f()\n",
        },
        {"b.py": "from z import A\nclass B(A): pass\n"},
        {"c.py"},
    ),
    "what a base class's base is called where it comes from": (
        {
            "a.py": "class A:\n    def f(self): pass\nclass Z:\n    def f(self): pass\n",
            "b.py": "from a import A as X\nclass B(X): pass\n",
            "c.py": "from b import B\nclass C(B):\n    def g(self):\n        self.f()\n",
        },
        {"b.py": "from a import Z as X\nclass B(X): pass\n"},
        {"c.py"},
    ),
    "what kind of thing an imported name is": (
        {
            "a.py": "def A(): pass\n",
            "b.py": "from a import A\nclass B(A): pass\n",
            "y.py": "class A: pass\n",
            "z.py": "class A: pass\n",
        },
        {"a.py": "class A: pass\n"},
        {"b.py"},
    ),
    "the first definition of a name in a package": (
        {
            "p/b.go": GO + "func f() {}\n",
            "p/c.go": GO + "func g() { f() }\n",
            "q/d.go": "package q\nfunc f() {}\nfunc h() { f() }\n",
            "p/a.go": GO,
        },
        {"p/a.go": GO + "func f() {}\n"},
        {"p/c.go"},
    ),
    "a method beside its type": (
        {
            "p/A.swift": "class A { func g() { self.f() } }\n",
            "p/B.swift": "",
            "q/A.swift": "func f() {}\nfunc h() {}\n",
            "r/A.swift": "func f() {}\n",
        },
        {"p/B.swift": "extension A { func f() {} }\n"},
        {"p/A.swift"},
    ),
    "a second type of a name beside it": (
        {
            "p/A.swift": "class A { func g() { self.f() } }\n",
            "p/B.swift": "extension A { func f() {} }\n",
            "q/A.swift": "func f() {}\n",
            "p/C.swift": "",
        },
        {"p/C.swift": "class A {}\n"},
        {"p/A.swift"},
    ),
    "an import's file": (
        {"a/x.py": "def f(): pass\n", "b.py": "from x import f\nf()\n", "c.py": "import y\n"},
        {"x.py": "def f(): pass\n"},
        {"b.py"},
    ),
    "a file that an import is relative to": (
        {"a/x.sh": "", "a/b.sh": "source x.sh\nf\n", "x.sh": "f() {\n  h\n}\n"},
        {"a/x.sh": None},
        {"a/b.sh"},
    ),
    "a file that is a module": (
        {"a.ml": "let f x = x\n", "p/b.ml": "let g x = A.f x\n", "p/c.ml": "let h x = C.f x\n"},
        {"p/a.ml": "let f x = x\n"},
        {"p/b.ml"},
    ),
    "what stands beside a module in a file": (
        {"a.ml": "module M = struct let f x = x end\n", "b.ml": "open A\nlet g x = f x\n", "c.ml": ""},
        {"a.ml": "module M = struct let f x = x end\nlet f x = x\n"},
        {"b.ml"},
    ),
    "a file of a Go package": (
        {"main.go": 'package main\nimport "example.org/m/p"\nfunc main() { p.F() }\n', "p/a.go": GO + "func F() {}\n"},
        {"p/b.go": GO + "func G() {}\n"},
        {"main.go"},
    ),
    "a variable of a Go package": (
        {
            "main.go": 'package main\nimport "example.org/m/p"\nfunc main() { p.V.F() }\n',
            "p/a.go": GO + "type T struct{}\nfunc (t T) F() {}\n",
            "p/b.go": GO,
            "q/c.go": "package q\ntype T struct{}\nfunc (t T) F() {}\n",
        },
        {"p/b.go": GO + "var V T\n"},
        {"main.go"},
    ),
    "whether a file is run from its folder": (
        {
            "b.py": "from p.a import c\nc.f()\n",
            "p/__init__.py": "",
            "p/a.py": "import c\nimport d\n",
            "p/c.py": "def f(): pass\n",
            "q.py": "def f(): pass\n",
        },
        {"p/a.py": "import c\nfrom . import d\n"},
        {"b.py"},
    ),
    "the file that declares what is imported": (
        {
            "A.java": JAVA + "class A { static void f() {} }\n",
            "B.java": "package q;\nimport p.A;\nclass B { void g() { A.f(); } }\n",
            "C.java": "package r;\n",
        },
        {"C.java": JAVA + "class A { static void f() {} }\n"},
        {"B.java"},
    ),
    "the package of a file without declarations": (
        {"B.java": "package q;\nimport p.*;\nclass B {}\n", "C.java": "package r;\n", "D.java": "package s;\n"},
        {"C.java": JAVA},
        {"B.java"},
    ),
    "a class in a namespace that is imported whole": (
        {
            "n/A.cs": "namespace N { class A {} }\n",
            "n/B.cs": "namespace N { class B {} }\n",
            "u/C.cs": "using N;\nclass C { void G() { X.F(); } }\n",
            "u/D.cs": "using N;\nclass D { void G() { Y.F(); } }\n",
            "v/E.cs": "using M;\nclass E { void G() { X.F(); } }\n",
            **OTHERS,
        },
        {"n/B.cs": "namespace N { class B {} class X { public static void F() {} } }\n"},
        {"u/C.cs"},
    ),
    "the name of a class in a namespace that is imported whole": (
        {
            "n/A.cs": "namespace N { class X { public static void F() {} } }\n",
            "u/C.cs": "using N;\nclass C { void G() { X.F(); } }\n",
            "u/D.cs": "using N;\nclass D { void G() { Y.F(); } }\n",
            "v/E.cs": "using N;\nclass E { void G() { Z.F(); } }\n",
            **OTHERS,
        },
        {"n/A.cs": "namespace N { class Y { public static void F() {} } }\n"},
        {"u/C.cs", "u/D.cs"},
    ),
    "a type of the name of a namespace that is imported whole": (
        {
            "n/A.cs": "namespace M { class A { class Y {} } }\nnamespace M.N { class B {} }\n",
            "u/C.cs": "using M.N;\nclass C { void G() { X.F(); } }\n",
            "v/E.cs": "using M;\nclass E { void G() { X.F(); } }\n",
            **OTHERS,
        },
        {"n/A.cs": "namespace M { class N { class X { static void F() {} } } }\nnamespace M.N { class B {} }\n"},
        {"u/C.cs"},
    ),
    "the namespaces of a file with so many that each may have any name": (
        {
            "n/A.cs": "namespace N { class W {} }\n",
            "u/C.cs": "using N;\nclass C { void G() { X.F(); } }\n",
            "v/E.cs": "using M;\nclass E { void G() { X.F(); } }\n",
            **OTHERS,
        },
        {
            "n/A.cs": "namespace N { class X { public static void F() {} } }\n"
            + "".join(f"namespace N{number} {{ class V {{}} }}\n" for number in range(20))
        },
        {"u/C.cs"},
    ),
    "a name that becomes common": (
        {
            "a.py": "class A:\n    def f(self): pass\n",
            "b.py": "import a\nx.f()\n" + "y.f()\n" * 11,
            "c.py": "import a\n",
        },
        {"c.py": "import a\nx.f()\n"},
        {"b.py"},
    ),
    "the name of a crate": (
        {
            "a.rs": "fn f() { k::f(); }\n",
            "b.rs": "fn g() { super::f(); }\n",
            "p/Cargo.toml": '[package]\nname = "p"\n',
            "p/src/lib.rs": "pub fn f() {}\n",
        },
        {"p/Cargo.toml": '[package]\nname = "k"\n'},
        {"a.rs"},
    ),
    "a name that modules pass on in circles": (
        {
            "src/lib.rs": "mod a;\nmod b;\nmod c;\nmod d;\n",
            "src/a.rs": "pub use super::b::*;\nfn f() { g(); }\n",
            "src/b.rs": "pub use super::a::*;\npub use super::c::*;\n",
            "src/c.rs": "pub use super::b::*;\npub use super::d::*;\n",
            "src/d.rs": "pub fn h() {}\n",
        },
        {"src/d.rs": "pub fn g() {}\n"},
        {"src/a.rs"},
    ),
    "the path of a Go module": (
        {
            "go.mod": "module example.org/p\n",
            "p.go": "package p\n\nfunc F() {}\n",
            "in/a.go": 'package in\n\nimport "example.org/k"\n\nfunc g() { k.F() }\n',
            "in/b.py": "f()\n",
        },
        {"go.mod": "module example.org/k\n"},
        {"in/a.go"},
    ),
    "the name of a package of npm": (
        {
            "a.js": 'import { f } from "k";\nf();\n',
            "b.js": 'import { f } from "./c";\nf();\n',
            "p/package.json": '{"name": "p"}\n',
            "p/index.js": "export function f() {}\n",
        },
        {"p/package.json": '{"name": "k"}\n'},
        {"a.js"},
    ),
    "the entry point of a package of npm": (
        {
            "a.js": 'import { f } from "k";\nf();\n',
            "p/package.json": '{"name": "k", "main": "one.js"}\n',
            "p/one.js": "export function f() {}\n",
            "p/two.js": "export function f() {}\n",
        },
        {"p/package.json": '{"name": "k", "main": "two.js"}\n'},
        {"a.js"},
    ),
    "what a macro's text calls": (
        {
            "a.h": "#define M(x) f(x)\n",
            "b.c": '#include "a.h"\nint g(void) { return M(1); }\n',
            "c.c": "int f(int x) { return 1; }\nint h(int x) { return 1; }\n",
        },
        {"a.h": "#define M(x) h(x)\n"},
        {"b.c"},
    ),
    "what is stored in a field": (
        {
            "a.h": "struct s { int (*f)(void); };\n",
            "b.c": '#include "a.h"\nint g(struct s *x) { return x->f(); }\n',
            "c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nstruct s t = {.f = h};\n",
            "d.c": "int j(struct r *x) { return x->e(); }\n",
        },
        {"c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nstruct s t = {.f = i};\n"},
        {"b.c"},
    ),
    "the place of a field": (
        {
            "a.h": "struct s { int (*f)(void); int (*g)(void); };\n",
            "b.c": "int g(struct s *x) { return x->f(); }\n",
            "c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nstruct s t = {h, i};\n",
        },
        {"a.h": "struct s { int (*g)(void); int (*f)(void); };\n"},
        {"b.c"},
    ),
    "what is stored in a field of an unknown type": (
        {
            "b.c": "int g(void) { return k()->f(); }\n",
            "c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nstruct s t = {.f = h};\n",
        },
        {"c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nstruct s t = {.f = i};\n"},
        {"b.c"},
    ),
    "what is passed to a function that stores it": (
        {
            "a.c": "void init(struct s *x, int (*f)(void)) { x->f = f; }\n",
            "b.c": "int g(struct s *x) { return x->f(); }\n",
            "c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nvoid j(struct s *x) { init(x, h); }\n",
        },
        {"c.c": "int h(void) { return 1; }\nint i(void) { return 1; }\nvoid j(struct s *x) { init(x, i); }\n"},
        {"b.c"},
    ),
    "what is stored in a field of a Go struct": (
        {
            "p/a.go": GO + "type S struct { f func() }\nfunc (s *S) g() { s.f() }\n",
            "p/b.go": GO + "func h() {}\nfunc i() {}\nvar t = S{f: h}\n",
            "p/c.go": GO + "func j() { h() }\n",
        },
        {"p/b.go": GO + "func h() {}\nfunc i() {}\nvar t = S{f: i}\n"},
        {"p/a.go"},
    ),
    "a function that becomes static": (
        {
            "a.c": "int f(void) { return 1; }\n",
            "b.c": "int g(void) { return f(); }\n",
            "c.c": "int h(void) { return g(); }\n",
        },
        {"a.c": "static int f(void) { return 1; }\n"},
        {"b.c"},
    ),
    "how many parameters an overload has": (
        {
            "A.java": JAVA + "class A { static void f(int x) {} static void f(int x, int y) {} }\n",
            "B.java": JAVA + "class B { void g() { A.f(1); } }\n",
            "C.java": JAVA + "class C {}\n",
            "D.java": JAVA + "class D { void g() { A.h(1); } }\n",
        },
        {"A.java": JAVA + "class A { static void f(int x, int y) {} static void f(int x) {} }\n"},
        {"B.java"},
    ),
    "what type an overload takes": (
        {
            "A.java": JAVA + "class A { static void f(int x) {} static void f(long x) {} }\n",
            "B.java": JAVA + "class B { void g() { A.f(1); } }\n",
            "C.java": JAVA + "class C {}\n",
            "D.java": JAVA + "class D { void g() { A.h(1); } }\n",
        },
        {"A.java": JAVA + "class A { static void f(C x) {} static void f(long x) {} }\n"},
        {"B.java"},
    ),
    "the methods of a Go interface": (
        {
            "p/a.go": GO + "type I interface { f() }\n",
            "p/b.go": GO + "func g(i I) { i.f() }\n",
            "p/c.go": GO + "type S struct{}\nfunc (s S) f() {}\n",
            "p/d.go": GO + "type T struct{}\nfunc (t T) f() {}\nfunc (t T) h() {}\n",
        },
        {"p/a.go": GO + "type I interface { f(); h() }\n"},
        {"p/b.go"},
    ),
    "a method of a Go interface that becomes one of a type": (
        {
            "p/a.go": GO + "type B interface { h() }\n",
            "p/b.go": GO + "type I interface { h() }\nfunc g(i I) { i.h() }\n",
            "p/c.go": GO + "func k() {}\n",
            "p/d.go": GO + "func l() { k() }\n",
        },
        {"p/a.go": GO + "type B struct{}\nfunc (b B) h() {}\n"},
        {"p/b.go"},
    ),
    "whether a method is a property": (
        {
            "a.py": "class A:\n    @property\n    def f(self): pass\n",
            "b.py": "from a import A\ndef g(a: A):\n    return a.f\n",
            "c.py": "def h(): pass\n",
        },
        {"a.py": "class A:\n    @other\n    def f(self): pass\n"},
        {"b.py"},
    ),
    "the language of an import's file": (
        {"bin/tool": "#!/usr/bin/env python3\n", "a.py": "import tool\n", "b.py": "import c\n", "c.py": ""},
        {"bin/tool": "#!/bin/bash\n"},
        {"a.py"},
    ),
    "two functions of a name, before a file without symbols": (
        {"a.py": "", "b.py": ""},
        {"a.py": "@f\ndef f():\n    yield f\ndef f():\n    f()\n"},
        set(),
    ),
    "a template": (
        {"a.py": "def f(r):\n    return render(r, 'x/y.html')\n", "b.py": "def g(): pass\n"},
        {"a/templates/x/y.html": "<p>\n"},
        {"a.py"},
    ),
    "what an extension method extends": (
        {
            "A.cs": "class A { void G(string s) { s.F(); } }\n",
            "B.cs": "static class B { static void F(this int n) { } }\n",
            "C.cs": "class C { void G(string s) { s.H(); } }\n",
        },
        {"B.cs": "static class B { static void F(this string n) { } }\n"},
        {"A.cs"},
    ),
    "a language": (
        {
            "tool": "#!/bin/bash\nf() {\n  g\n}\n",
            "a.sh": "source tool\nf\n",
            "b.sh": "h\n",
        },
        {"tool": "#!/usr/bin/env python3\ndef f(): pass\n"},
        {"a.sh"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_change_concerns_is_linked_anew_and_nothing_else(case: str, tmp_path: Path) -> None:
    files, change, wanted = CASES[case]
    after = {path: text for path, text in {**files, **change}.items() if text is not None}
    index = Segmented(tmp_path, files)
    assert index.relinked(after) == wanted | (change.keys() & after.keys())
    assert index.relinked(files) == wanted | (change.keys() & files.keys())  # and back again


def test_a_star_import_asks_for_a_name_once_whatever_the_size_of_the_package() -> None:
    def asked(size: int) -> int:
        files = {f"n/A{number}.cs": f"namespace N {{ class A{number} {{}} }}\n" for number in range(size)}
        files["u/C.cs"] = "using N;\nclass C { void G() { X.F(); } }\n"
        return int(np.diff(full(files).key_start)[-1])

    assert asked(15) == asked(2)


def test_every_kind_of_look_up_has_contributions(tmp_path: Path) -> None:
    """A kind that no file contributes to never has a changed answer: what asks it would go stale in silence."""
    files = {
        f"{case}/{path}": text for case, (files, _, _) in enumerate(CASES.values()) for path, text in files.items()
    }
    tables = Segmented(tmp_path, files).tables
    contributed = {look_up[0] for file in range(len(files)) for look_up, _ in contributions(tables, file)}
    kinds = LookUps(tables, Sites.of({}))._finders.keys()
    assert contributed == kinds - {"common"}  # which follows from the counts of names


SMALL = {"a.py": "def f(): pass\n", "b.py": "from a import f\nf()\n"}


@pytest.mark.parametrize(
    ("moved", "fresh"),
    [([0, 1], [1]), ([0], []), ([1, 0], []), ([0, -1], []), ([0, 2], [1]), ([0, 0], [1])],
    ids=["twice", "too few", "out of order", "one not named", "beyond the end", "two at one place"],
)
def test_files_are_named_once_each(tmp_path: Path, moved: list[int], fresh: list[int]) -> None:
    index = Segmented(tmp_path, SMALL)
    with pytest.raises((ValueError, DamagedIndexError)):
        relink(index.links, index.tables, index.tables, moved, fresh)


def a_file_more(links: Links) -> Links:
    return replace(
        links, first_symbol=np.append(links.first_symbol, links.n_symbols), key_start=np.append(links.key_start, 0)
    )


@pytest.mark.parametrize(
    "damaged",
    [a_file_more, lambda links: replace(links, first_symbol=links.first_symbol + np.array([0, 1, 1], np.int32))],
    ids=["files", "symbols"],
)
def test_a_graph_of_other_files_is_damage(tmp_path: Path, damaged: object) -> None:
    index = Segmented(tmp_path, SMALL)
    with pytest.raises(DamagedIndexError):
        relink(damaged(index.links), index.tables, index.tables, [0, 1], [])


def test_a_changed_file_with_other_symbols_than_the_graph_says_is_damage(tmp_path: Path) -> None:
    index = Segmented(tmp_path, {"a.py": "def f(): pass\ndef g(): pass\n", "b.py": "def h(): pass\n"})
    shifted = replace(index.links, first_symbol=np.array([0, 1, 3], np.int32))
    for moved, fresh in (([-1, 1], [0]), ([0, -1], [1])):
        with pytest.raises(DamagedIndexError):
            relink(shifted, index.tables, index.tables, moved, fresh)


@examples(100)
@given(
    seed=st.integers(0, 1 << 20), n=st.integers(0, 60), nodes=st.integers(1, 6), at_a_time=st.sampled_from([1, 5, 99])
)
def test_edges_are_sorted_piece_by_piece_as_all_at_once(seed: int, n: int, nodes: int, at_a_time: int) -> None:
    random = np.random.default_rng(seed)
    rows = np.stack([random.integers(0, nodes, n) for _ in range(5)]).astype(np.int32)
    wanted = rows[:, np.lexsort((rows[3], rows[2], rows[1], rows[0]))]
    first = [i for i in range(n) if not i or (wanted[:4, i] != wanted[:4, i - 1]).any()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges, "_SORTED", at_a_time)
        assert edges.distinct(edges.sort_edges(rows)).tolist() == wanted[:, first].tolist()


@given(
    st.lists(st.integers(0, (1 << 32) - 1) | st.integers(0, 5), max_size=60),
    st.sets(st.integers(0, (1 << 32) - 1) | st.integers(0, 5), max_size=20),
)
def test_keys_are_found_among_others(keys: list[int], wanted: set[int]) -> None:
    wanted |= set(keys[::3])
    stored = np.array(keys, np.uint32).view(np.int32)
    assert _places(stored, sorted(wanted)).tolist() == [place for place, key in enumerate(keys) if key in wanted]
