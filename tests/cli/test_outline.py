"""`lci outline`: trees of files, and maps of folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.envelopes import full_name
from tests.support.graph_repo import build
from tests.support.heavy_modules import loaded

MAP = {
    # Everything leads to `core`; `rare` and `_hidden` lead nowhere.
    "lib/core.py": "def rare():\n    pass\n\n\ndef core():\n    pass\n\n\ndef _hidden():\n    return core()\n",
    "lib/a.py": "from lib.core import core\n\n\ndef first():\n    core()\n\n\ndef second():\n    core()\n    _hidden()\n",
    "lib/far.py": "def lone():\n    pair()\n\n\ndef pair():\n    pass\n",
    "lib/shape.py": 'class Shape:\n    """A shape."""\n\n    sides = 3\n\n    def area(self):\n        def local():\n            pass\n',
    "tests/test_core.py": "from lib.core import core\n\n\ndef test_core():\n    core()\n",
    "docs/guide.md": "# Guide\n\nText.\n\n## Usage\n\nMore.\n",
    "mod.rs": "pub struct Ring(u8);\n\nimpl Ring {\n    pub fn spin(\n        &self,\n    ) {\n    }\n}\n\n"
    "#[cfg(test)]\nmod tests {\n    fn checks() {}\n}\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("outline") / "repo", MAP)


@pytest.fixture
def outline(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("outline", *argv, **{"cwd": root, **options})


def names(ran: Ran) -> list[str]:
    answer = json.loads(ran.out)
    VALIDATOR.validate(answer)

    def below(nodes: list[dict]) -> list[str]:
        return [name for node in nodes for name in (full_name(node), *below(node.get("children", [])))]

    return [name for file in answer["results"] for name in below(file["definitions"])]


def test_modules_in_hundreds_of_modules(lci: Callable[..., Ran], tmp_path: Path) -> None:
    repo = build(tmp_path / "repo", {"deep.rb": "module M\n" * 200 + "def f; end\n" + "end\n" * 200})
    assert len(names(lci("outline", "deep.rb", "--json", cwd=repo))) == 201


def test_a_file(outline: Callable[..., Ran], root: Path) -> None:
    shape = (
        "lib/shape.py\n  1-8 class Shape  · A shape.\n  4   sides = 3\n"
        "  6-8   def area(self)\n  7-8     def local()\n"
    )  # fmt: skip
    assert outline("lib/shape.py") == Ran(0, shape, "")
    assert outline("shape.py", cwd=root / "lib").out == shape.replace("lib/", "")
    assert outline("lib/shape.py", "-d1").out == "".join(shape.splitlines(True)[:2])
    # What is around a definition that passes is shown, too.
    assert outline("lib/shape.py", "--kind", "method").out == (
        "lib/shape.py\n  1-8 class Shape  · A shape.\n  6-8   def area(self)\n"
    )
    assert outline("mod.rs").out.splitlines()[1:3] == ["  1 pub struct Ring(u8)", "  4-7   pub fn spin(&self)"]
    assert outline("mod.rs", "lib/far.py", "--paths").out == (
        "mod.rs:1\nmod.rs:4\nmod.rs:11\nmod.rs:12\nlib/far.py:1\nlib/far.py:5\n"
    )


def test_a_budget_of_a_file_keeps_the_outer_and_the_exported(outline: Callable[..., Ran]) -> None:
    ran = outline("lib/shape.py", "lib/core.py", "--json", "--max-tokens", "240")
    assert len(ran.out.encode()) <= 960
    assert names(ran) == ["Shape", "rare", "core", "_hidden"]
    assert json.loads(ran.out)["truncated"] == {"max_tokens": 240, "definitions_dropped": 3}
    said = outline("lib/shape.py", "lib/core.py", "--max-tokens", "37").out
    assert said.endswith("of 7 definitions within 37 tokens: a larger --max-tokens shows more\n")


def test_a_map_has_the_most_central_first(outline: Callable[..., Ran]) -> None:
    ran = outline("lib", "--json")
    found = names(ran)
    assert {"core", "rare", "_hidden", "Shape.area"} <= set(found)
    assert json.loads(ran.out)["results"][0]["file"] == "lib/core.py"
    tight = outline("lib", "--max-tokens", "40").out
    assert "def core()" in tight and "rare" not in tight and "_hidden" not in tight
    assert "sides" not in ran.out and "local" not in ran.out
    assert names(outline("docs", "--json")) == ["Guide", "Guide.Usage"]
    assert outline("lib", "--json").out == ran.out


def test_tests_are_left_out_unless_asked_for(outline: Callable[..., Ran]) -> None:
    plain = names(outline("--json", "--max-tokens", "9000"))
    assert "core" in plain and not {"test_core", "tests.checks"} & set(plain)
    assert {"test_core", "tests.checks"} <= set(names(outline("--tests", "--json", "--max-tokens", "9000")))
    assert names(outline("tests", "--json")) == ["test_core"]


def test_a_map_about_something(outline: Callable[..., Ran]) -> None:
    for argv in (("--near", "lib/far.py:2"), ("--near", "lib/far.py"), ("--query", "lone pair")):
        ran = outline("--json", "--max-tokens", "240", *argv)
        assert json.loads(ran.out)["results"][0]["file"] == "lib/far.py", argv
    assert outline("--near", "lib/nowhere.py").code == 2
    assert outline("lib/far.py", "--near", "lib/a.py").code == 2


def test_what_the_file_says_now(lci: Callable[..., Ran], tmp_path: Path) -> None:
    root = build(tmp_path / "repo", MAP)
    (root / "lib" / "far.py").write_text("\n\ndef lone():\n    pair()\n\n\ndef new():\n    pass\n")
    never = ("--refresh", "never", "--json")
    assert names(lci("outline", "lib/far.py", *never, cwd=root)) == ["lone", "new"]
    [file] = [
        file
        for file in lci("outline", "lib", *never, cwd=root).json()["results"]
        if file["file"] == "lib/far.py"
    ]  # fmt: skip
    assert [(found["symbol"], found["line"]) for found in file["definitions"]] == [("lone", 3)] and file["stale"]


def test_bad_paths_and_other_outputs(
    outline: Callable[..., Ran], root: Path, on_a_terminal: Callable[..., str]
) -> None:
    ran = outline("lib/cor.py")
    assert (ran.code, ran.err) == (2, "lci: there is no file or folder lib/cor.py: did you mean lib/core.py?\n")
    assert json.loads(outline("nowhere", "--json").out)["error"]["code"] == "unknown_target"
    *files, summary = map(json.loads, outline("--jsonl").out.splitlines())
    for line in (*files, summary):
        VALIDATOR.validate(line)
    assert summary["summary"]["map"] and files
    shown = on_a_terminal(root, "outline", "lib/shape.py", "--color", "never").replace("\r", "")
    assert shown.endswith("  7-8      def local()\n4 definitions\n")


def test_no_numpy_for_a_file(root: Path) -> None:
    assert loaded("outline", str(root / "mod.rs"), "--root", str(root)) == set()
