"""`lci grep` as a person, a script and an editor use it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("grep") / "repo")


@pytest.fixture
def grep(lci: Callable[..., Ran], root: Path) -> Callable[..., Ran]:
    return lambda *argv, **options: lci("grep", *argv, **{"cwd": root, **options})


def test_a_pipe_gets_what_ripgrep_prints(grep: Callable[..., Ran], root: Path) -> None:
    ran = grep("return cl", "shop")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "shop/store.py:21:        return clean(data) or 'check'\nshop/store.py:25:        return clean(self)\n"
    )
    assert grep("-C1", "clean\\(1").out == (
        "shop/app.py-5-    store = make()\nshop/app.py:6:    clean(1)\nshop/app.py-7-    ping(3)\n"
    )
    assert grep("-A0", "-B1", "make", "-w").out == (
        "shop/app.py-4-def main():\nshop/app.py:5:    store = make()\n--\n"
        "shop/app.py-9-\nshop/app.py:10:def make():\n"
    )  # fmt: skip
    assert grep("-c", "clean", "shop", "other").out == "other/tools.py:2\nshop/app.py:3\nshop/store.py:4\n"
    assert grep("-l", "clean", "-m1").out.split()[:2] == ["notes.md", "other/tools.py"]
    assert grep("--paths", "ping", "-n").out == "shop/app.py:7\nshop/app.py:14\nshop/app.py:19\n"
    assert grep("-F", "ping(n -").out == "shop/app.py:19:    return ping(n - 1) if n else clean(n)\n"
    assert grep("STORE", "-ci", "shop").out == grep("store", "-Sc", "shop").out
    assert grep("Store", "-Sc", "shop").out == "shop/app.py:2\nshop/store.py:1\n"


def test_lines_that_do_not_match_and_matches_alone(lci: Callable[..., Ran], tmp_path: Path) -> None:
    root = build(tmp_path, {"a.txt": "foo bar foo\nnothing\nx foo\n\nlast", "b.txt": "none\nat all\n"})

    def grep(*argv: str) -> str:
        return lci("grep", *argv, cwd=root).out

    assert grep("-v", "foo") == "a.txt:2:nothing\na.txt:4:\na.txt:5:last\nb.txt:1:none\nb.txt:2:at all\n"
    assert grep("-vo", "foo") == grep("-v", "foo") == grep("--invert-match", "foo")
    assert (grep("-vc", "foo"), grep("-vl", "none|all")) == ("a.txt:3\nb.txt:2\n", "a.txt\n")
    assert (grep("-vm1", "foo"), grep("-v", "")) == ("a.txt:2:nothing\nb.txt:1:none\n", "")
    assert grep("-o", "fo+") == "a.txt:1:foo\na.txt:1:foo\na.txt:3:foo\n"
    assert grep("-oc", "foo") == "a.txt:3\n"
    assert grep("-o", "-A1", "foo", "-m1") == "a.txt:1:foo\na.txt:1:foo\na.txt-2-nothing\n"
    assert grep("-o", "x*", "b.txt") == "b.txt:1:\n" * 5 + "b.txt:2:\n" * 7
    first = json.loads(grep("-v", "foo", "--json"))["results"][0]
    assert first == {"file": "a.txt", "line": 2, "text": "nothing", "language": "text"}
    VALIDATOR.validate(json.loads(grep("-v", "foo", "--json")))


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("-f", "with -e"),
        ("-tpy", "--lang"),
        ("--iglob", "-g GLOB"),
        ("-r", "searched anyway"),
        ("--files", "lists"),
    ],
)
def test_what_ripgrep_has_and_lci_has_not_is_refused_with_a_word(
    grep: Callable[..., Ran], flag: str, said: str
) -> None:
    ran = grep(flag, "clean")
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith("lci: `lci grep` has no -") and said in ran.err


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
@pytest.mark.parametrize(
    "args",
    [
        ("-e", "clean", "-e", "ping|pong"),
        ("-e", "- 1", "shop"),
        ("-F", "-e", "clean(", "-e", ".strip()"),
        ("-w", "-e", "clean", "-e", "pin"),
        ("-o", "-e", "pi", "-e", "ping"),
        ("-g", "*.py", "clean"),
        ("-g", "*.py", "-g", "!store.py", "clean"),
        ("-g", "shop/*.py", "-g", "!**/app*", "def"),
        ("-g", "!shop", "clean"),
    ],
    ids=" ".join,
)
def test_patterns_and_globs_are_as_in_ripgrep(grep: Callable[..., Ran], root: Path, args: tuple[str, ...]) -> None:
    command = ["rg", "-n", "--sort", "path", "--no-heading", "--color", "never", "--no-ignore", *args]
    ran = subprocess.run([*command, *([] if "shop" in args[-1:] else ["."])], cwd=root, capture_output=True, text=True)
    expected = re.sub(r"(?m)^\./", "", ran.stdout)
    assert grep(*args, cwd=root).out == expected and expected


def test_a_glob_after_its_opposite_is_refused(grep: Callable[..., Ran]) -> None:
    ran = grep("-g", "!shop", "-g", "*.py", "clean")
    assert ran.code == 2 and "write globs with ! last" in ran.err


def test_paths_start_where_one_is(grep: Callable[..., Ran], root: Path) -> None:
    assert grep("def use", cwd=root / "shop").out == "../other/tools.py:5:def use():\n"
    assert grep("def use", "--root", str(root), cwd=root / "shop").out == "other/tools.py:5:def use():\n"


def test_nothing_found(grep: Callable[..., Ran]) -> None:
    assert grep("zebra") == Ran(1, "", "")
    ran = grep("zebra", "--json")
    assert ran.code == 1 and json.loads(ran.out)["results"] == []
    VALIDATOR.validate(json.loads(ran.out))


def test_json(grep: Callable[..., Ran]) -> None:
    ran = grep("clean", "shop", "--json", "--limit", "3", "-C1")
    VALIDATOR.validate(answer := json.loads(ran.out))
    assert (answer["total"], answer["files"], answer["has_more"]) == (7, 2, True)
    first, second, _ = answer["results"]
    assert first == {
        "file": "shop/app.py", "line": 1, "column": 31, "match": "clean",
        "text": "from shop.store import Store, clean", "language": "python", "after": [""],
    }  # fmt: skip
    assert second["enclosing"].pop("id")
    assert second["enclosing"] == {"symbol": "main", "kind": "function", "line": 4, "end_line": 7}
    *lines, summary = [json.loads(line) for line in grep("check", "shop", "--jsonl").out.splitlines()]
    for found in (*lines, summary):
        VALIDATOR.validate(found)
    assert summary["summary"]["total"] == len(lines) == 5
    assert lines[3]["more_matches"] == [{"column": 21, "match": "check"}]
    stale = [line for line in lines if line.get("stale")]
    assert not stale


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["a("], "bad_pattern", "'a(' is not a valid regular expression: missing )"),
        (["a\nb"], "bad_pattern", "the pattern has a line break"),
        (["x", "nowhere"], "bad_path", "there is no file or folder nowhere"),
        (["x", "--kind", "methd"], "usage", "unknown kind 'methd'"),
        (["x", "-p", "[z"], "bad_glob", "bad glob '[z'"),
        (["x", "-m0"], "usage", "--max-count must be at least 1, not 0"),
        (["x", "-lc"], "usage", "--files-with-matches and --count cannot be used together"),
    ],
)
def test_errors(grep: Callable[..., Ran], argv: list[str], code: str, said: str) -> None:
    ran = grep(*argv)
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith(f"lci: {said}")
    ran = grep(*argv, "--json") if "-lc" not in argv else grep("x", "-l", "--json")
    error = json.loads(ran.out)["error"]
    VALIDATOR.validate(json.loads(ran.out))
    assert ran.code == 2 and error["code"] == code


def test_on_a_terminal(root: Path, on_a_terminal: Callable[..., str]) -> None:
    shown = on_a_terminal(root, "grep", "clean\\(", "shop", "--color", "never", PAGER="cat")
    assert shown == (
        "shop/app.py\n   in function main\n 6:    clean(1)\n   in function pong\n"
        "19:    return ping(n - 1) if n else clean(n)\n\n"
        "shop/store.py\n   in method Store.check\n21:        return clean(data) or 'check'\n"
        "   in method Store.size\n25:        return clean(self)\n   in method Store.size\n29:        clean(value)\n32:def clean(data):\n"
        "\n6 lines in 2 files\n"
    )
    shown = on_a_terminal(
        root, "grep", "clean\\(1", "--hyperlink", "always", LCI_HYPERLINK="vscode://file{path}:{line}"
    )
    place = f"\x1b]8;;vscode://file{root.resolve()}/shop/app.py"
    assert shown.startswith(f"{place}:1\x1b\\\x1b[35mshop/app.py\x1b[0m\x1b]8;;\x1b\\\n")
    assert f"\n{place}:6\x1b\\\x1b[32m6\x1b[0m\x1b]8;;\x1b\\:    \x1b[1;31mclean(1\x1b[0m)\n" in shown


def test_context_on_a_terminal_stands_below_its_definition(root: Path, on_a_terminal: Callable[..., str]) -> None:
    shown = on_a_terminal(root, "grep", "clean\\(1|ping\\(n -|def use", "-C1", "--color", "never", "-q", PAGER="cat")
    assert shown == (
        "other/tools.py\n4-\n5:def use():\n6-    return clean('')\n\n"
        "shop/app.py\n   in function main\n 5-    store = make()\n 6:    clean(1)\n 7-    ping(3)\n--\n"
        "18-def pong(n):\n19:    return ping(n - 1) if n else clean(n)\n20-\n"
    )


def test_a_long_line_is_cut_around_its_match_and_signs_are_visible(
    tmp_path: Path, lci: Callable[..., Ran], on_a_terminal: Callable[..., str]
) -> None:
    root = build(tmp_path, {"a.txt": "x " * 200 + "needle" + " y" * 200 + "\n\tneedle\x1b[31m\n"})
    shown = on_a_terminal(root, "grep", "needle", "--color", "never", "-q")
    first, second = shown.splitlines()[1:]
    assert len(first) == 80 and "needle" in first and first.startswith("1:…") and first.endswith("…")
    assert second == "2:    needle\\x1b[31m"
    assert lci("grep", "needle", cwd=root).out.splitlines()[1] == "a.txt:2:\tneedle\\x1b[31m"
    coloured = lci("grep", "needle", "--color", "always", cwd=root).out.splitlines()[1]
    assert coloured == "\x1b[35ma.txt\x1b[0m:\x1b[32m2\x1b[0m:\t\x1b[1;31mneedle\x1b[0m\\x1b[31m"
