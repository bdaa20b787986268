"""`lci unused` as a maintainer who cleans up, and a check in CI, use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build

SOURCES = {
    "app.py": (
        "import threading\n\nfrom store import kept\nimport store\n\n\n"
        "def main():\n    kept()\n    store.Worker().start()\n    perform('open_' + threading.current_thread().name)\n\n\nmain()\n"
    ),
    "store.py": (
        "import threading\n\n\ndef kept():\n    return helper()\n\n\ndef helper():\n    return 1\n\n\n"
        "def gone():\n    return also_gone()\n\n\ndef also_gone():\n    return gone()\n\n\n"
        "class Worker(threading.Thread):\n    def run(self):\n        kept()\n\n    def __repr__(self):\n        return ''\n\n\n"
        "class Unknown:\n    def inside(self):\n        pass\n\n\n"
        "def open_door():\n    pass\n\n\ndef tried():\n    pass\n\n\ndef told_of():\n    pass\n\n\n"
        "@register\ndef decorated():\n    pass\n"
    ),
    "hooks.py": "def pytest_configure():\n    prepare()\n\n\ndef prepare():\n    pass\n",
    "src/lib.rs": "#[cfg(unix)]\nmod native {\n    #[no_mangle]\n    fn entry() { step() }\n    fn step() {}\n    fn never() {}\n}\n",
    "tests/test_store.py": "from store import tried\n\n\ndef test_tried():\n    tried()\n",
    "README.md": "Call `told_of()` first.\n",
    "go.mod": "module m\n",
    "main.go": "package main\n\nfunc main() { run(pool{}) }\n\nfunc run(c closer) { c.shut() }\n\ntype closer interface{ shut() }\n",
    "pool.go": "package main\n\ntype pool struct{}\n\nfunc (p pool) shut() {}\n\nfunc (p pool) drain() {}\n\nfunc Fill() {}\n",
    "lib/package.json": '{"name": "lib", "main": "index.js"}\n',
    "lib/index.js": "import { used } from './used.js';\nexport function offered() { return used(); }\nfunction hidden() {}\n",
    "lib/used.js": "export function used() {}\n",
    "c/tool.c": '#include "tool.h"\n\nstatic void twist(void);\n\nint main(void) { return turn(); }\n\nstatic void twist(void) {}\n',
    # The library's base has the name of a class of the program.
    "web/log.ts": "import { Plugin } from 'elsewhere';\n\nclass Log implements Plugin { onLoad() {} }\nnew Log();\n",
    "web/plugin.ts": "export class Plugin {}\nnew Plugin();\n",
    "flake.nix": "{ outputs = { lib }: { perSystem = { pkgs }: { shell = pkgs.hello; }; }; }\n",
    "c/tool.h": "#define HOOK(name) hook(my##name)\nint turn(void);\n",
    "c/turn.c": "int turn(void) { return 0; }\n\nstatic int myswap(void) { return 0; }\n",
}
CERTAIN = {"gone", "also_gone", "Unknown", "drain", "Fill", "hidden", "twist", "never"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("unused") / "repo", SOURCES)


@pytest.fixture
def unused(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("unused", *argv, **{"cwd": root, **options})


def results(ran: Ran) -> dict[str, dict]:
    found = json.loads(ran.out)
    VALIDATOR.validate(found)
    return {one["symbol"]: one for one in found["results"]}


def test_what_nothing_reaches_is_listed_and_what_is_inside_of_it_is_not(unused: Callable[..., Ran]) -> None:
    assert set(results(unused("--json"))) == CERTAIN


def test_the_other_classes_say_why_they_may_be_used(unused: Callable[..., Ran]) -> None:
    found = {name: one["reason"] for name, one in results(unused("--all", "--json")).items() if name not in CERTAIN}
    assert found == {
        "told_of": "mentioned", "myswap": "mentioned", "open_door": "mentioned", "offered": "exported", "tried": "tests",
        "onLoad": "outside",
    }  # fmt: skip
    mention = results(unused("--all", "--json"))["told_of"]["mention"]
    assert mention == {"file": "README.md", "line": 1}


def test_paths_choose_what_is_listed_but_not_what_counts_as_a_use(unused: Callable[..., Ran], root: Path) -> None:
    assert set(results(unused("c", "--json"))) == {"twist"}
    assert set(results(unused("pool.go", "lib", "--json"))) == {"drain", "Fill", "hidden"}
    assert unused("tool.c", "--paths", cwd=root / "c").out == "tool.c:7\n"
    assert unused("nowhere").code == 2


def test_of_what_is_not_certain_the_likeliest_are_shown(lci: Callable[..., Ran], tmp_path: Path) -> None:
    exported = "".join(f"export function f{i:03}() {{}}\n" for i in range(30))
    told = "Call `f007`.\n"
    root = build(tmp_path / "repo", {"package.json": '{"name": "a"}', "a.js": exported, "README.md": told})
    shown = lci("unused", "--all", cwd=root).out
    assert "exported, or named only: 30, the 20 likeliest: -v lists all\n" in shown
    assert "f000" in shown and "f007" not in shown and "f029" not in shown
    assert all("f007" in lci("unused", "--all", more, cwd=root).out for more in ("-v", "--json"))


def test_what_an_interface_declares_may_be_needed(lci: Callable[..., Ran], tmp_path: Path) -> None:
    source = (
        "package main\n\ntype a interface{ shut() }\n\ntype b struct{}\n\nfunc (b) shut() {}\n\nfunc main() { b{} }\n"
    )
    root = build(tmp_path / "repo", {"go.mod": "module m\n", "main.go": source})
    assert lci("unused", cwd=root).code == 1


def test_it_fails_a_build_only_if_asked_to(unused: Callable[..., Ran]) -> None:
    assert unused("-q").code == 0
    assert unused("tests").code == 1
    assert unused("--fail-on", "certain", "-q").code == 1
    assert unused("tests", "--fail-on", "any", "-q").code == 0
    assert unused("c", "--fail-on", "tests", "-q").code == 0


def test_text_counts_what_it_does_not_list(unused: Callable[..., Ran]) -> None:
    shown = unused()
    assert shown.out.startswith("unused: 8\n")
    assert "exported, or named only" not in shown.out.partition("\n")[0]
    assert "--all lists them" in shown.out
    assert unused("c", "--vimgrep").out == "c/tool.c:7:1: function twist  static void twist(void)\n"
