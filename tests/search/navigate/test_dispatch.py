"""`lci callers` and `callees`: calls through bases, interfaces and names that are put together, in each language."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build

Lci = Callable[..., Ran]

#: Per language a file: `Leaf.step` stands behind `Base.step`, which only `Base.run` calls, or `go` where a type has none.
OWN_CALLS = {
    "a.py": "class Base:\n    def run(self):\n        self.step()\n    def step(self): pass\n\nclass Leaf(Base):\n    def step(self): pass\n",
    "a.js": "class Base { run() { this.step(); } step() {} }\nclass Leaf extends Base { step() {} }\n",
    "a.ts": "class Base { run(): void { this.step(); } step(): void {} }\nclass Leaf extends Base { step(): void {} }\n",
    "A.java": "class Base { void run() { step(); } void step() {} }\nclass Leaf extends Base { void step() {} }\n",
    "a.kt": "open class Base {\n fun run() { step() }\n open fun step() {}\n}\nclass Leaf : Base() {\n override fun step() {}\n}\n",
    "A.cs": "class Base { void run() { step(); } virtual void step() {} }\nclass Leaf : Base { override void step() {} }\n",
    "a.cpp": "struct Base { void run() { step(); } virtual void step() {} };\nstruct Leaf : Base { void step() override {} };\n",
    "a.go": "package a\n\ntype Base interface{ step() }\n\ntype Leaf struct{}\n\nfunc (l Leaf) step() {}\n\nfunc run(b Base) { b.step() }\n",
    "a.rs": "trait Base { fn run(&self) { self.step(); } fn step(&self); }\nstruct Leaf;\nimpl Base for Leaf { fn step(&self) {} }\n",
    "a.rb": "class Base\n  def run; step; end\n  def step; end\nend\nclass Leaf < Base\n  def step; end\nend\n",
    "a.php": "<?php\nclass Base { function run() { $this->step(); } function step() {} }\nclass Leaf extends Base { function step() {} }\n",
    "a.swift": "class Base { func run() { self.step() }\n func step() {} }\nclass Leaf: Base { override func step() {} }\n",
    "a.scala": "class Base { def run() = this.step()\n def step() = {} }\nclass Leaf extends Base { override def step() = {} }\n",
}  # fmt: skip


def answer(lci: Lci, root: Path, *argv: str) -> dict:
    found = json.loads(lci(*argv, "--json", cwd=root).out)
    VALIDATOR.validate(found)
    return found


def steps(found: dict) -> dict[str, str]:
    return {item["symbol"]: item["step"] for item in found["results"]}


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"{path.rpartition('.')[2]}/{path}": text for path, text in OWN_CALLS.items()}
    return build(tmp_path_factory.mktemp("dispatch") / "repo", files)


@pytest.mark.parametrize("path", OWN_CALLS)
def test_an_overriding_method_has_the_callers_of_the_declared_one(lci: Lci, languages: Path, path: str) -> None:
    folder = path.rpartition(".")[2]
    found = answer(lci, languages, "callers", f"{folder}/{path}::Leaf.step")
    assert set(steps(found)) == {"run"}
    assert found["results"][0].get("ambiguous") or found["results"][0]["step"] == "override"
    behind = answer(lci, languages, "callees", f"{folder}/{path}::{'' if folder == 'go' else 'Base.'}run")
    assert len(behind["results"]) == 2


@pytest.mark.parametrize("path", OWN_CALLS)
def test_tree_show_and_affected_know_these_calls(lci: Lci, languages: Path, path: str) -> None:
    folder = path.rpartition(".")[2]
    leaf, run = f"{folder}/{path}::Leaf.step", f"{folder}/{path}::{'' if folder == 'go' else 'Base.'}run"
    for direction, name, symbols in (("callers", leaf, {"run"}), ("callees", run, {"step"})):
        tree = answer(lci, languages, "tree", name, "--direction", direction)
        assert {child["symbol"] for child in tree["results"][0]["children"]} == symbols
        assert len(tree["results"][0]["children"]) == (1 if direction == "callers" else 2)
        shown = answer(lci, languages, "show", name, f"--{direction}")["results"][0][direction]
        assert ({one["symbol"] for one in shown["results"]}, shown["total"]) == (
            symbols, len(tree["results"][0]["children"]),
        )  # fmt: skip


def test_a_change_of_an_override_affects_the_callers_of_the_declared_method(
    lci: Lci, languages: Path, tmp_path: Path
) -> None:
    text = "from a import Base\n\ndef test_it():\n    use(Base())\n\ndef use(base: Base):\n    base.step()\n"
    root = build(tmp_path / "repo", {"a.py": OWN_CALLS["a.py"], "test_use.py": text})
    found = answer(lci, root, "affected", "--files", "a.py")
    reasons = {one["symbol"]: one["reason"] for one in found["results"]}
    assert reasons == {"test_it": "calls", "use": "calls"}
    leaf = "\n\nfrom a import Base\n\nclass Leaf(Base):\n    def step(self): pass\n"
    root = build(
        tmp_path / "apart", {"a.py": OWN_CALLS["a.py"].partition("class Leaf")[0], "b.py": leaf, "test_use.py": text}
    )
    found = answer(lci, root, "affected", "--files", "b.py")
    reasons = {one["symbol"]: one["reason"] for one in (*found["results"], *found["callers"])}
    assert (reasons["use"], reasons["test_it"], reasons["run"]) == ("dispatch",) * 3


SHAPES = "".join(f"type T{n} struct{{}}\n\nfunc (t T{n}) serve(a, b int) {{}}\n\n" for n in range(13))
MORE = {
    "go/a.go": "package a\n\ntype H interface {\n\tserve(a int, b int)\n}\n\ntype Other struct{}\n\n"
    "func (o Other) serve(a int) {}\n\n" + SHAPES + "func run(h H) { h.serve(1, 2) }\n"
    + "".join(f"func run{n}(h H) {{ h.serve(1, 2) }}\n" for n in range(12)),
    "py/few.py": "class Field:\n    def load(self): pass\n\ndef use(field: Field):\n    field.load()\n"
    + "".join(f"class F{n}(Field):\n    def load(self): pass\n" for n in range(13)),
    "py/family.py": "class Base:\n    def step(self): pass\n\nclass Side(Base):\n    def go(self):\n        self.step()\n\n"
    "class Leaf(Base):\n    def step(self):\n        super().step()\n    def __init__(self): pass\n\n"
    "class Under(Leaf):\n    def again(self):\n        super().step()\n\n"
    "def use(b: Base):\n    b.step()\n",
    "py/visit.py": "class Visitor:\n    def visit(self, node):\n        name = f'visit_{node}'\n        return getattr(self, name)\n\n"
    "class Printer(Visitor):\n    def visit_name(self): pass\n    def other_name(self): pass\n\n"
    "class Apart:\n    def visit_name(self): pass\n",
    "py/end.py": "def pick(obj, kind):\n    return getattr(obj, kind + '_handler')\n\ndef get_handler(): pass\n\ndef handler_get(): pass\n",
    "rb/visit.rb": "class Reader\n  def read(x)\n    send(\"read_#{x}\")\n  end\n  def read_line; end\n  def line; end\nend\n",
    "php/visit.php": "<?php\nclass Walk { function go($x) { call_user_func([$this, 'on_' . $x]); } function on_end() {} function end() {} }\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("dispatch") / "repo", MORE)


def test_more_than_a_dozen_are_counted(lci: Lci, more: Path) -> None:
    found = answer(lci, more, "callers", "T3.serve")
    assert (found["results"], [item["types"] for item in found["dispatch"]]) == ([], [13])
    said = lci("callers", "T3.serve", cwd=more).out
    assert "13 calls through a.H.serve, with 13 implementations: `lci callers a.H.serve` lists them" in said
    assert "1 call of a.H.serve, with 13 implementations" in lci("callees", "go/a.go::run", cwd=more).out
    for argv, said in (
        (("tree", "T3.serve", "--direction", "callers"), "13 calls through a.H.serve, with 13 implementations"),
        (("tree", "go/a.go::run"), "1 call of a.H.serve, with 13 implementations"),
        (("show", "T3.serve", "--callers"), "13 calls through a.H.serve, with 13 implementations"),
        (("show", "go/a.go::run", "--callees"), "1 call of a.H.serve, with 13 implementations"),
        (("affected", "--files", "go/a.go"), "not followed: 13 calls through a.H.serve, with 13 implementations"),
    ):
        assert said in lci(*argv, cwd=more).out
        assert answer(lci, more, *argv)
    assert "dispatch" not in answer(lci, more, "callers", "Other.serve")  # other parameters
    found = answer(lci, more, "callers", "F3.load")  # few callers are listed
    assert (steps(found), [item["types"] for item in found["dispatch"]]) == ({"use": "dispatch"}, [13])


def test_calls_that_cannot_reach_an_override_are_left_out(lci: Lci, more: Path) -> None:
    """`super().step()` names the base's method, and a call on the own object of another class is one of that class."""
    assert steps(answer(lci, more, "callers", "py/family.py::Leaf.step")) == {"again": "self", "use": "dispatch"}
    assert "dispatch" not in answer(lci, more, "callers", "py/family.py::Leaf.__init__")


@pytest.mark.parametrize(
    "name, caller",
    [
        ("py/visit.py::Printer.visit_name", {"visit": "dispatch"}),
        ("py/visit.py::Printer.other_name", {}),
        ("py/visit.py::Apart.visit_name", {}),  # an object of another class
        ("py/end.py::get_handler", {"pick": "dispatch"}),
        ("py/end.py::handler_get", {}),
        ("rb/visit.rb::Reader.read_line", {"read": "dispatch"}),
        ("rb/visit.rb::Reader.line", {}),
        ("php/visit.php::Walk.on_end", {"go": "dispatch"}),
        ("php/visit.php::Walk.end", {}),
    ],
)
def test_a_name_that_is_put_together(lci: Lci, more: Path, name: str, caller: dict[str, str]) -> None:
    assert steps(answer(lci, more, "callers", name)) == caller


def test_what_is_folded_is_wrapped_to_the_terminal(more: Path, on_a_terminal: Callable[..., str]) -> None:
    shown = on_a_terminal(more, "show", "T3.serve", "--callers", "--signature", "--color", "never").replace("\r", "")
    assert "⚠ 13 calls through a.H.serve" in shown and "\n      `lci callers a.H.serve` lists them\n" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_calls_on_objects_of_unknown_type_may_mean_every_method_of_the_name(lci: Lci, tmp_path: Path) -> None:
    shapes = "class Leaf:\n    def build_all(self): pass\n    def read(self): pass\n\nclass Stem:\n    def build_all(self): pass\n    def read(self): pass\n"
    use = (
        "import other\n\ndef either(part, table):\n    part.build_all()\n    table['k'].build_all()\n\n"
        "def neither(file):\n    file.read()\n    other.build_all()\n    Other().build_all()\n    build_all()\n"
    )
    root = build(tmp_path / "repo", {"shapes.py": shapes, "use.py": use})
    for name in ("Leaf.build_all", "Stem.build_all"):
        found = answer(lci, root, "callers", name)
        assert steps(found) == {"either": "dispatch"}
        assert found["results"][0]["sites"] == [4, 5]
    assert answer(lci, root, "callers", "Leaf.read")["results"] == []  # files and sockets have it


def test_a_call_with_many_known_targets_may_have_more(lci: Lci, tmp_path: Path) -> None:
    kinds = "".join(f"class K{n}(Base):\n    def act(self): pass\n\n" for n in range(12))
    run = f"def run(each):\n    each.act()\n\nfor kind in [{', '.join(f'K{n}()' for n in range(12))}]:\n    run(kind)\n"
    root = build(tmp_path / "repo", {"a.py": f"class Base:\n    pass\n\n{kinds}{run}"})
    assert {answer(lci, root, "callers", f"K{n}.act")["results"][0]["symbol"] for n in range(12)} == {"run"}
