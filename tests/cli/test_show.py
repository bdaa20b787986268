"""`lci show` as an agent, a person and a script use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import SOURCES, build
from tests.support.heavy_modules import loaded

LONG = "".join(f"    # line {number} of the body\n" for number in range(60))
MORE = {
    "win.py": "def crlf():\r\n\treturn 1\r\n",
    "odd.py": 'def odd():\n    """\xff\x1b[31m"""\n',
    "wide.rs": "/// " + "x" * 600 + "\n/// the end\nfn wide() {}\n",
    "settings.py": "import os\n\n\nclass Settings:\n    '''All.'''\n\n    retries = 3\n    seconds = 4\n\n\nprint(os)\n",
    "long_a.py": f"def long_a():\n{LONG}    return 1\n",
    "long_b.py": f"def long_b():\n{LONG}    return 1\n",
}
CHECK = "    def check(self, data):\n        # check the check\n        return clean(data) or 'check'\n"
MAKE = "shop/app.py:10-11  function make\ndef make():\n    return Store()\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("show") / "repo"
    root.mkdir()
    for name, text in MORE.items():
        (root / name).write_bytes(text.encode("latin-1"))
    return build(root)


@pytest.fixture
def show(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("show", *argv, **{"cwd": root, **options})


def results(ran: Ran) -> list[dict]:
    answer = json.loads(ran.out)
    VALIDATOR.validate(answer)
    return answer["results"]


def test_a_name(show: Callable[..., Ran]) -> None:
    head = "shop/store.py:19-21  method Store.check\n"
    for name in ("Store.check", "Store::check", "check", "shop/store.py::Store.check", "store.py::check", "chec?"):
        assert show(name) == Ran(0, head + CHECK, ""), name


def test_the_id_of_a_result(show: Callable[..., Ran], lci: Callable[..., Ran], root: Path) -> None:
    found = lci("search", "--kind", "function", "--name", "make", "--json", cwd=root).json()["results"][0]
    assert show(found["id"]).out == MAKE
    block = lci("search", "import json from os", "-m", "bm25", "--kind", "block", "--json", cwd=root).json()["results"][
        0
    ]
    found = results(show(block["id"], "--json"))
    assert found[0]["id"] == block["id"]
    text = "".join(show(f"{found[0]['file']}:{found[0]['line']}").out.splitlines(True)[1:])
    assert text == found[0]["text"] + "\n"  # and the place of a block is the block
    whole = results(show("file:shop/app.py", "--json"))[0]
    assert (whole["kind"], whole["text"] + "\n") == ("file", SOURCES["shop/app.py"])


def test_a_place(show: Callable[..., Ran], root: Path) -> None:
    assert show("shop/app.py:11").out == MAKE
    assert show("shop/app.py:11:5:").out == MAKE  # as compilers print it
    assert show("app.py:11", cwd=root / "shop").out == MAKE.replace("shop/", "")
    assert show("shop/app.py:11", cwd=root / "other").out == MAKE.replace("shop/", "../shop/")
    assert show("shop/store.py:19-20").out == "shop/store.py:19-20\n" + "".join(CHECK.splitlines(True)[:2])
    assert show("shop/app.py:22").out == "shop/app.py:22  block\nmain()\n"
    assert show("settings.py:7").out.startswith("settings.py:4-8  class Settings\n")
    assert show("make", "-C1").out == "shop/app.py:9-12  function make\n\ndef make():\n    return Store()\n\n"
    assert show("make", "-N").out == "shop/app.py:10-11  function make\n10 │ def make():\n11 │     return Store()\n"


def test_several_targets_and_several_definitions(show: Callable[..., Ran]) -> None:
    ran = show("clean", "-n1", "make", "--signature")
    assert ran.out == (
        "other/tools.py:1-2  function clean\ndef clean(text)\n\nshop/app.py:10-11  function make\ndef make()\n\n"
        "⚠ 1 of 3 definitions of clean: -n 3 shows all, FILE::NAME one\n"
    )
    assert [found["kind"] for found in results(show("clean", "--json"))] == ["function", "function", "section"]
    # The class is shown with its methods, and not each of them again.
    assert [found["symbol"] for found in results(show("[Ss]*", "--path", "shop/store.py", "--json"))] == ["Store"]
    assert show("clean", "--kind", "section", "--paths").out == "notes.md:1\n"
    assert [found["target"] for found in results(show("make", "shop/app.py:10", "--json"))] == ["make"]


def test_what_the_file_says_now(lci: Callable[..., Ran], tmp_path: Path) -> None:
    root = build(tmp_path / "repo")
    block = lci("search", "import Store", "--kind", "block", "-m", "bm25", "-p", "app.py", "--json", cwd=root)
    [block] = block.json()["results"]
    app_py = root / "shop" / "app.py"
    app_py.write_text("import sys\n\n" + app_py.read_text().replace("return Store()", "return Store(1)"))
    (root / "shop" / "new.py").write_text("def fresh():\n    return 1\n")
    [found] = results(lci("show", "make", "--json", "--refresh", "never", cwd=root))
    assert (found["line"], found["text"], found["stale"]) == (12, "def make():\n    return Store(1)", True)
    [found] = results(lci("show", block["id"], "--json", "--refresh", "never", cwd=root))
    assert (found["line"], found["text"]) == (3, "from shop.store import Store, clean")
    ran = lci("show", "shop/new.py:2", "--refresh", "never", cwd=root)
    shown = "shop/new.py:1-2  function fresh  ⚠ stale\ndef fresh():\n    return 1\n"
    assert ran.out == f"{shown}\n1 result · 2 files changed since: run `lci index`\n"
    app_py.write_text("")
    ran = lci("show", "make", "--refresh", "never", cwd=root)
    assert (ran.code, ran.err) == (
        2,
        "lci: make is no longer in shop/app.py: 2 files changed since: run `lci index`\n",
    )


def test_bytes_of_the_file(show: Callable[..., Ran]) -> None:
    assert show("crlf").out == "win.py:1-2  function crlf\ndef crlf():\n\treturn 1\n"
    assert show("odd").out.splitlines()[2] == '    """\N{REPLACEMENT CHARACTER}\\x1b[31m"""'
    doc = results(show("wide", "--doc", "--json"))[0]["doc"]
    assert doc == "x" * 600 + "\nthe end"
    assert show("Store", "--doc", "--signature").out == (
        "shop/store.py:10-29  class Store\nclass Store(Base)\nKeeps orders.\n"
    )


def test_calls(show: Callable[..., Ran]) -> None:
    assert show("Store.check", "--signature", "--callers", "--callees").out == (
        "shop/store.py:19-21  method Store.check\ndef check(self, data)\n"
        "callers: 1\n    shop/store.py:16  method Store.save\n"
        "callees: 1\n    shop/store.py:32  function clean\n"
    )
    [found] = results(show("Store.check", "--callers", "--json"))
    assert (found["callers"]["total"], found["callers"]["results"][0]["sites"]) == (1, [16, 17])


def test_unknown_targets(show: Callable[..., Ran]) -> None:
    ran = show("claen")
    assert (ran.code, ran.out, ran.err) == (2, "", "lci: nothing is named 'claen': did you mean clean?\n")
    ran = show("make", "claen", "shop/stor.py:3")
    assert (ran.code, ran.out) == (2, MAKE)
    assert ran.err.splitlines()[1] == "lci: there is no file shop/stor.py: did you mean shop/store.py?"
    error = json.loads(show("claen", "--json").out)
    VALIDATOR.validate(error)
    assert (error["error"]["code"], error["error"]["near"]) == ("unknown_target", ["clean"])
    both = json.loads(show("make", "claen", "--json").out)
    VALIDATOR.validate(both)
    assert both["unknown"][0]["near"] == ["clean"]
    assert show("shop/app.py:999").err == "lci: shop/app.py has 22 lines, not 999\n"
    assert show("shop").err == "lci: shop is a folder: `lci outline shop` shows what it defines\n"
    assert show().code == show("").code == 2


def test_a_budget_is_shared(show: Callable[..., Ran]) -> None:
    ran = show("long_a", "make", "long_b", "--max-tokens", "400")
    assert len(ran.out.encode()) <= 1600
    first, middle, last = ran.out.split("\n\n")
    assert middle == MAKE.rstrip()
    assert abs(len(first) - len(last)) < 60
    rest = next(line for line in first.splitlines() if line.startswith("… ")).partition("lci show ")[2]
    assert show(rest).out.splitlines()[-1] == "    return 1"
    answer = json.loads((ran := show("long_a", "make", "long_b", "--max-tokens", "500", "--json")).out)
    VALIDATOR.validate(answer)
    assert len(ran.out.encode()) <= 2000 and answer["truncated"]["lines_dropped"] > 30
    answer = json.loads(show("clean", "long_a", "--max-tokens", "250", "--json").out)
    VALIDATOR.validate(answer)
    assert answer["truncated"]["results_dropped"] and answer["has_more"]
    ran = show("wide", "make", "--max-tokens", "60")
    assert "fn wide() {}" in ran.out and "… 2 lines above: lci show wide.rs:1-2" in ran.out


def test_jsonl_and_a_terminal(show: Callable[..., Ran], root: Path, on_a_terminal: Callable[..., str]) -> None:
    *lines, summary = map(json.loads, show("clean", "--jsonl").out.splitlines())
    for line in (*lines, summary):
        VALIDATOR.validate(line)
    assert summary["summary"]["total"] == len(lines) == 3
    assert on_a_terminal(root, "show", "make", "--color", "never").replace("\r", "") == (
        "shop/app.py:10-11  function make\n10 │ def make():\n11 │     return Store()\n\n1 result\n"
    )


def test_no_numpy(root: Path) -> None:
    assert loaded("show", "make", "shop/app.py:4", "--root", str(root)) == set()


def test_the_sources_come_before_examples_and_tests(lci: Callable[..., Ran], tmp_path: Path) -> None:
    for path in ("docs/site/one.py", "examples/one.py", "src/one.py", "a_tests/test_one.py", "t/one.py"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("def one():\n    pass\n")
    lci("index", "-q", cwd=tmp_path)
    for command in ("def", "show"):
        found = [one["file"] for one in results(lci(command, "one", "--json", cwd=tmp_path))]
        assert found == ["src/one.py", "docs/site/one.py", "examples/one.py", "a_tests/test_one.py", "t/one.py"]
