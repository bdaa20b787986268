"""`lci affected` as a person before a commit, and a script that runs tests, use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.branch_repo import commit, git, init
from tests.support.envelopes import full_name
from tests.support.graph_repo import build

SOURCES = {
    "pool/core.py": (
        "LIMIT = 3\n\n\ndef clean(data):\n    return data\n\n\ndef close(data):\n    return clean(data)\n\n\n"
        "def shut(data):\n    return close(data)\n\n\ndef lone():\n    pass\n"
    ),
    "pool/extra.py": "import pool.core\n\n\ndef other():\n    pass\n",
    "tests/test_clean.py": "from pool.core import clean\n\n\ndef test_clean():\n    assert clean(1)\n",
    "tests/test_shut.py": (
        "from pool.core import shut\n\n\ndef helper():\n    return shut(1)\n\n\ndef test_shut():\n    assert helper()\n"
    ),
    "tests/test_extra.py": "from pool.extra import other\n\n\ndef test_other():\n    other()\n",
    "tests/core/test_limits.py": "def test_limit():\n    pass\n",
    "spin.rs": "pub fn spin() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn spins() { super::spin() }\n}\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = init(tmp_path / "repo", {**SOURCES, ".gitignore": ".lci/\n"})
    app.build_index(str(root), jobs=1)
    return root


@pytest.fixture
def affected(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("affected", *argv, **{"cwd": root, **options})


def edit(root: Path, path: str, old: str, new: str) -> None:
    file = root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def answer(ran: Ran) -> dict:
    found = json.loads(ran.out)
    VALIDATOR.validate(found)
    return found


def changes(ran: Ran) -> dict[str, str]:
    return {full_name(one) or one["file"]: one["change"] for one in answer(ran).get("changed", ())}


def test_the_uncommitted_change(affected: Callable[..., Ran], root: Path) -> None:
    assert affected() == Ran(1, "nothing has changed since HEAD\n", "")
    edit(root, "pool/core.py", "return data", "return data or None")
    assert affected().out == (
        "changed: 1\npool/core.py\n4 function clean\n"
        "tests: 4 in 3 files\n"
        "tests/test_clean.py:4  1 test, 1 call away: test_clean\n"
        "tests/test_shut.py:4  2 tests, 3 calls away: helper, test_shut\n"
        "tests/core/test_limits.py:1  by the file's name\n"
        "callers: 2\npool/core.py\n8 function close  1 call away\n12 function shut  2 calls away\n"
    )
    assert affected("--paths").out == "tests/core/test_limits.py\ntests/test_clean.py\ntests/test_shut.py\n"
    assert affected("--paths", cwd=root / "tests").out.splitlines()[1:] == ["test_clean.py", "test_shut.py"]
    assert affected("--paths", "--depth", "1").out == "tests/core/test_limits.py\ntests/test_clean.py\n"
    assert affected("--paths", "--exclude", "test_clean.py", "--exclude", "core").out == "tests/test_shut.py\n"
    found = answer(affected("--json"))
    assert [(one.get("symbol"), one["distance"], one["reason"]) for one in found["results"]] == [
        ("test_clean", 1, "calls"), ("helper", 3, "calls"), ("test_shut", 4, "calls"), (None, 1, "file_name"),
    ]  # fmt: skip
    assert (found["revision"], found["commit"]) == ("HEAD", git(root, "rev-parse", "HEAD"))
    *tests, summary = map(json.loads, affected("--jsonl").out.splitlines())
    for line in (*tests, summary):
        VALIDATOR.validate(line)
    assert len(tests) == summary["summary"]["total"] == 4
    assert "8 function test_shut  4 calls away\n" in affected("-v").out


def test_an_editor_is_led_to_callers_and_tests(affected: Callable[..., Ran]) -> None:
    assert affected("clean", "--vimgrep").out.splitlines()[:3] == [
        "pool/core.py:8:1: function close", "pool/core.py:12:1: function shut",
        "tests/test_clean.py:4:1: function test_clean",
    ]  # fmt: skip


def test_no_test_is_said_and_the_nearest_are_named(affected: Callable[..., Ran], root: Path) -> None:
    commit(root, {"lib/shut/door.py": "def door():\n    return 1\n", "lib/apart.py": "def apart():\n    return 1\n"})
    edit(root, "lib/shut/door.py", "1", "2")
    said = "no test reaches this by calls; those listed share words with it"
    plain, paths, found = affected(), affected("--paths"), affected("--json")
    assert plain.code == 0 and said in plain.out
    assert paths == Ran(0, "tests/test_shut.py\n", f"lci: {said}\n")
    assert answer(found)["nearest_tests"] == ["tests/test_shut.py"]
    assert affected("--paths", "-q").err == ""
    assert [affected("--fail-if-none", *more).code for more in ((), ("--json",), ("--paths",))] == [1, 1, 1]
    edit(root, "pool/core.py", "return data", "return [data]")
    assert affected("--fail-if-none").code == 0 and "no test" not in affected("--paths").err
    git(root, "checkout", "-q", ".")
    commit(
        root, {"tests/serve.py": "def test_it(run):\n    assert run('door')\n", "lib/door.py": "def door_of(x): pass\n"}
    )
    edit(root, "lib/door.py", "x", "y")
    ran = answer(affected("--json"))
    assert (ran["results"][0]["file"], ran["results"][0]["reason"]) == ("tests/serve.py", "words")
    git(root, "checkout", "-q", ".")
    assert affected("--paths").err == "lci: nothing has changed since HEAD\n"


def test_a_runner_gets_tests_that_only_share_words_if_it_asks(affected: Callable[..., Ran], root: Path) -> None:
    commit(root, {"tests/test_wire.py": "def test_it(run):\n    assert run('clean the data')\n"})
    edit(root, "pool/core.py", "return data", "return data or None")
    assert [one["file"] for one in answer(affected("--json"))["results"] if one["reason"] == "words"] == [
        "tests/test_wire.py"
    ]
    assert "tests/test_wire.py" not in affected("--paths").out
    assert "tests/test_wire.py" in affected("--paths", "--all").out


MORE = {
    "shop/base.py": (
        "class Base:\n    def load(self, raw):\n        return self._load(raw)\n\n    def _load(self, raw):\n"
        "        return raw\n"
    ),
    "shop/price.py": (
        "from shop.base import Base\n\n\nclass Price(Base):\n    # how it is read\n    def _load(self, raw):\n"
        "        # digits\n        return int(raw)\n        # no more\n\n    def __str__(self):\n        return 'p'\n"
    ),
    "shop/guard.py": "LIMITS_OF_A_CART = 3\n\n\ndef check(cart):\n    return len(cart) < LIMITS_OF_A_CART\n",
    "shop/guard.js": "export function check(cart) {\n  return cart.length\n}\n",
    "tests/test_base.py": "from shop.base import Base\n\n\ndef test_load():\n    assert Base().load(1)\n",
    "tests/test_str.py": "from shop.price import Price\n\n\ndef test_str():\n    assert f'{Price()}' == 'p'\n",
    "tests/test_rules.py": "import shop.guard\n\n\ndef test_it(cart):\n    assert cart.n == shop.guard.LIMITS_OF_A_CART\n",
    "tests/test_many.py": "def test_many(door):\n    door.check()\n",
    "tests/rules.test.js": "test('it', () => { door.check() })\n",
    "tests/guard/__init__.py": "",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = init(tmp_path / "shop", {**MORE, ".gitignore": ".lci/\n"})
    app.build_index(str(root), jobs=1)
    return root


def reasons(ran: Ran) -> dict[str, str]:
    """By file, of the tests that do not only share words with a change."""
    return {one["file"]: one["reason"] for one in answer(ran)["results"] if one["reason"] != "words"}


def test_what_no_call_names_is_reached_through_its_base_or_its_type(lci: Callable[..., Ran], shop: Path) -> None:
    assert reasons(lci("affected", "Price._load", "--json", cwd=shop)) == {"tests/test_base.py": "dispatch"}
    assert reasons(lci("affected", "Price.__str__", "--json", cwd=shop)) == {"tests/test_str.py": "type"}


def test_what_only_a_name_says_stands_apart(lci: Callable[..., Ran], shop: Path) -> None:
    edit(shop, "shop/guard.py", "len(cart) <", "len(cart) <=")
    ran = lci("affected", "--json", "--depth", "9", cwd=shop)  # not those that share words
    assert answer(ran)["by_name_files"] == ["tests/test_many.py"]  # JavaScript does not mean Python, nor an empty file
    assert "test_files" not in answer(ran)
    assert (
        "by name or import only: 1 more file of tests; --all lists them"
        in lci("affected", "--depth", "9", cwd=shop).out
    )
    assert lci("affected", "--paths", "--depth", "9", cwd=shop).code == 1
    assert lci("affected", "--paths", "--all", "--depth", "9", cwd=shop).out == "tests/test_many.py\n"
    edit(shop, "shop/guard.py", "CART = 3", "CART = 4")
    assert reasons(lci("affected", "--json", cwd=shop)) == {"tests/test_rules.py": "mentions"}


def test_a_comment_belongs_to_the_method_that_it_stands_in(lci: Callable[..., Ran], shop: Path) -> None:
    for old, new, changed in (
        ("# digits", "# all digits", {"Price._load": "modified"}),
        ("# no more", "# nothing more", {"Price._load": "modified"}),
        ("# how it", "# why it", {}),
    ):
        edit(shop, "shop/price.py", old, new)
        assert changes(lci("affected", "--json", cwd=shop)) == changed
        edit(shop, "shop/price.py", new, old)


def test_a_line_or_a_diff_instead_of_a_revision(lci: Callable[..., Ran], shop: Path) -> None:
    assert changes(lci("affected", "shop/price.py:8", "--json", cwd=shop)) == {"Price._load": "modified"}
    assert "has only 12 lines" in lci("affected", "shop/price.py:80", cwd=shop).err
    edit(shop, "shop/price.py", "int(raw)", "float(raw)")
    edit(shop, "shop/price.py", "        # digits\n", "")
    diff = git(shop, "diff") + "\n"
    for state in ("applied", "not yet applied"):
        ran = lci("affected", "-", "--json", cwd=shop, stdin=diff)
        assert changes(ran) == {"Price._load": "modified"}, state
        assert reasons(ran) == {"tests/test_base.py": "dispatch"}, state
        git(shop, "checkout", "-q", ".")
    assert "not a unified diff" in lci("affected", "-", cwd=shop, stdin="no diff\n").err


def test_a_git_that_does_not_answer_is_named(
    affected: Callable[..., Ran], root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    for script, said in (
        (None, "git cannot be started"),
        ("echo 'git version 2.11.0'", "git is too old (2.11"),
        ("echo 'fatal: detected dubious ownership' >&2; exit 128", "git refuses the repository (detected dubious"),
    ):
        if script:
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        for ran in (affected(), affected("--json")):
            assert ran.code == 2 and said in ran.err + ran.out and "no commit" not in ran.err


def test_what_counts_as_a_change(affected: Callable[..., Ran], root: Path) -> None:
    core = root / "pool" / "core.py"
    before = core.read_text()
    core.write_bytes(before.replace("\n", "\r\n").encode())  # git may have done that
    assert changes(affected("--json")) == {}
    core.write_text("# a comment moves everything\n\n" + before)
    assert changes(affected("--json")) == {"pool/core.py": "modified"}
    core.write_text(before.replace("LIMIT = 3", "LIMIT = 4"))
    assert changes(affected("--json")) == {"LIMIT": "modified"}
    core.write_text(before.replace("def lone", "def single"))
    assert changes(affected("--json")) == {"lone": "removed", "single": "added"}
    core.write_text(before.replace("def lone():\n    pass\n", ""))
    (root / "pool" / "new.py").write_text("def lone():\n    pass\n")  # moved to a file that git does not know
    assert changes(affected("--json")) == {}
    (root / "pool" / "new.py").write_text("def lone():\n    return 1\n")
    assert changes(affected("--json")) == {"lone": "modified"}


def test_a_removed_definition_affects_who_names_it(affected: Callable[..., Ran], root: Path) -> None:
    edit(root, "pool/core.py", "def clean(data):\n    return data\n\n\n", "")
    found = answer(affected("--json", "--all"))
    assert [(one["symbol"], one["change"]) for one in found["changed"]] == [("clean", "removed")]
    assert ("test_clean", "name") in [(one.get("symbol"), one["reason"]) for one in found["results"]]
    assert "close" in [one.get("symbol") for one in found["callers"]]


def test_a_revision_and_tests_inside_of_sources(affected: Callable[..., Ran], root: Path) -> None:
    git(root, "tag", "v1")
    commit(root, {"spin.rs": SOURCES["spin.rs"].replace("spin() {}", "spin() { loop {} }")})
    assert changes(affected("--json")) == {}
    ran = affected("v1", "--json")
    assert changes(ran) == {"spin": "modified"}
    assert [full_name(one) for one in answer(ran)["results"]] == ["tests.spins"]
    assert affected("v1", "--paths").out == "spin.rs\n"
    assert affected("v1", "--root", str(root), "--paths", cwd=root.parent).out == "spin.rs\n"


def test_files_instead_of_a_revision(affected: Callable[..., Ran], root: Path) -> None:
    ran = affected("--files", "pool/extra.py", "--json")
    assert changes(ran) == {"other": "modified", "pool/extra.py": "modified"}
    assert answer(ran)["test_files"] == ["tests/test_extra.py"]
    assert affected("--files", "extra.py", "--paths", cwd=root / "pool").out == "../tests/test_extra.py\n"
    assert affected("extra.py", "--paths", cwd=root / "pool").out == "../tests/test_extra.py\n"
    git(root, "branch", "extra.py")
    assert changes(affected("extra.py", "--json", cwd=root / "pool")) == {}  # as in git, a revision comes first


def test_no_filter_of_the_repository_runs(affected: Callable[..., Ran], root: Path) -> None:
    """A clone's configuration may name programs; comparing contents with git would run them."""
    marker = root.parent / "ran"
    git(root, "config", "filter.evil.clean", f"touch {marker}; cat")
    git(root, "config", "filter.evil.process", f"touch {marker}")
    git(root, "config", "diff.evil.textconv", f"touch {marker}; cat")
    git(root, "config", "core.fsmonitor", f"touch {marker};")
    (root / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    edit(root, "pool/core.py", "return data", "return 1")
    assert "clean" in changes(affected("--json"))
    assert not marker.exists()


def test_a_budget_keeps_the_changes_and_the_nearest_tests(affected: Callable[..., Ran], root: Path) -> None:
    edit(root, "pool/core.py", "return data", "return data or None")
    ran = affected("--json", "--max-tokens", "250")
    found = answer(ran)
    assert len(ran.out.encode()) <= 1000
    assert len(found["changed"]) == 1 and "callers" not in found and found["has_more"]
    dropped = found["truncated"]["results_dropped"]
    assert dropped and len(found["results"]) + dropped == found["total"] == 4


def test_wrong_input(affected: Callable[..., Ran], root: Path, tmp_path: Path, lci: Callable[..., Ran]) -> None:
    ran = affected("v9")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err
        == "lci: v9 is no commit, no definition and no file of the index: give a branch, a tag, a commit or a name, or files with --files; "
        "a shallow clone lacks older commits\n"
    )
    for argv in (["--files"], ["HEAD", "HEAD"], [""], ["--depth", "0"]):
        assert affected(*argv).code == 2, argv
    assert affected("--", "--output=x").code == 2 and not (root / "x").exists()
    assert affected("--files", "pool/cor.py").err == ("lci: there is no file pool/cor.py: did you mean pool/core.py?\n")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def a():\n    pass\n")
    app.build_index(str(plain), jobs=1)
    assert "is not in a git work tree" in lci("affected", cwd=plain).err


def test_a_function_that_is_returned_leads_to_who_asks_for_it(lci: Callable[..., Ran], tmp_path: Path) -> None:
    """A closure has no callers by its name: whoever calls what is around it may run it."""
    root = build(
        tmp_path / "repo",
        {
            "app/guard.py": "def same(a, b):\n    return a == b\n\n\n"
            "def guard(secret):\n    def check(request):\n        return same(request, secret)\n\n    return check\n",
            "tests/test_login.py": "from app.guard import guard\n\n\ndef test_login():\n    assert guard('x')\n",
        },
    )
    ran = lci("affected", "same", cwd=root)
    assert "tests/test_login.py:4  1 test, 3 calls away: test_login\n" in ran.out
    assert "5 function guard  2 calls away\n" in ran.out
