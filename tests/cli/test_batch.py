"""`lci search --batch`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import lci_py
from lci_py.cli import main
from lci_py.errors import BudgetExceededError, DamagedIndexError, LciError, NoIndexError, UsageError
from lci_py.types.search import Filters
from tests.cli.fake import VALIDATOR, Ran, app_fixture, raising, run_fixture  # noqa: F401  # fixtures
from tests.cli.fake_app import DEGRADED, FakeApp


def test_batch_answers_in_order(run: Callable[..., Ran], app: FakeApp) -> None:
    line = {
        "query": "two",
        "mode": "symbolic",
        "limit": 2,
        "budget_ms": 7,
        "kind": "class",
        "lang": ["go", "c"],
        "conflicts": True,
    }
    stdin = f"\ufeffone\n\n  \n{json.dumps(line)}\r\n".encode()
    ran = run("search", "--batch", "-", "-m", "bm25", "-k", "method", "--budget-ms", "90", stdin=stdin)
    assert ran.code == 0
    for envelope in ran.lines:
        VALIDATOR.validate(envelope)
    assert [(e["query"], e["mode"]) for e in ran.lines] == [("one", "bm25"), ("two", "symbolic")]
    one, two = app.requests
    assert (one.limit, one.filters.kind) == (None, ("method",))  # the flags are the defaults of every line
    assert (two.limit, two.filters.kind, two.filters.lang, two.conflicts) == (2, ("class",), ("go", "c"), True)
    assert (one.budget_ms, two.budget_ms) == (90, 7)
    assert app.opened == 1


BAD_LINES = [
    "{bad",
    '{"zzz": 1}',
    '{"query": 1}',
    '{"query": "q", "mode": "x"}',
    '{"query": "q", "mode": 1}',
    '{"query": "q", "limit": 0}',
    '{"query": "q", "limit": true}',
    '{"query": "q", "limit": "3"}',
    '{"query": "q", "budget_ms": 0}',
    '{"query": "q", "budget_ms": 1.5}',
    '{"query": "q", "lang": 1}',
    '{"query": "q", "lang": [1]}',
    '{"query": "q", "strict": 1}',
    "{}",
]


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_line_does_not_end_the_batch(run: Callable[..., Ran], bad: str) -> None:
    ran = run("search", "--batch", "-", stdin=f"one\n\n{bad}\ntwo\n".encode())
    assert (ran.code, ran.err) == (2, "")
    first, error, last = ran.lines
    VALIDATOR.validate(error)
    assert (first["query"], last["query"]) == ("one", "two")
    assert error["error"]["line"] == 3


def test_a_line_that_meets_a_bug_does_not_end_the_batch(run: Callable[..., Ran], app: FakeApp) -> None:
    def hook(query: str) -> None:
        if query == "bug":
            raise ValueError("no")

    app.hook = hook
    ran = run("search", "--batch", "-", stdin=b"bug\none\n")
    assert ran.code == 70
    assert [line.get("query", "error") for line in ran.lines] == ["error", "one"]


GRAVE: dict[str, LciError] = {
    "damaged": DamagedIndexError("dense"),
    "late": BudgetExceededError("dense", 5, 7.0),
    "wrong": UsageError("no"),
}


@pytest.mark.parametrize(
    ("lines", "code"),
    [("q damaged", 3), ("damaged wrong", 3), ("wrong damaged q", 3), ("late", 4), ("late wrong", 2), ("wrong q", 2)],
)
def test_a_batch_exits_as_its_gravest_line(run: Callable[..., Ran], app: FakeApp, lines: str, code: int) -> None:
    def hook(query: str) -> None:
        if query in GRAVE:
            raise GRAVE[query]

    app.hook = hook
    ran = run("search", "--batch", "-", stdin=lines.replace(" ", "\n").encode())
    assert ran.code == code
    assert ["error" in line for line in ran.lines] == [word in GRAVE for word in lines.split()]


def test_batch_exit_codes(run: Callable[..., Ran], app: FakeApp) -> None:
    assert run("search", "--batch", "-", stdin=b"nothing\nq\n").code == 0
    assert run("search", "--batch", "-", stdin=b"nothing\n").code == 1
    assert run("search", "--batch", "-", stdin=b"").code == 1
    app.degraded = DEGRADED
    assert run("search", "--batch", "-", "--strict", stdin=b"q\n").code == 4
    app.hook = raising(NoIndexError("/r"))
    ran = run("search", "--batch", "-", stdin=b"q\n")
    assert (ran.code, ran.json["error"]["code"]) == (3, "no_index")


def test_a_line_that_is_too_long_is_one_error(run: Callable[..., Ran], app: FakeApp) -> None:
    ran = run("search", "--batch", "-", stdin=b"one\n" + b"a" * 3_000_000 + b"\ntwo\n" + b"b" * 2_000_000)
    assert [line.get("query", line.get("error", {}).get("line")) for line in ran.lines] == ["one", 2, "two", 4]
    assert len(app.requests) == 2


def test_what_is_not_utf8_reaches_no_filter(run: Callable[..., Ran], app: FakeApp) -> None:
    run("search", "q", "--name", os.fsdecode(b"\xff*"), "--path", os.fsdecode(b"caf\xe9"))
    assert app.requests[0].filters == Filters(name=("\ufffd*",), path=("caf\ufffd",))
    run("def", "f", "--path", os.fsdecode(b"caf\xe9"))
    assert app.calls[-1][1] == Filters(path=("caf\ufffd",))


def test_batch_from_a_file(run: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "queries").write_bytes(b"caf\xe9 \xff\n")
    assert run("search", "--batch", str(tmp_path / "queries")).json["query"] == "caf\ufffd \ufffd"


# --- other commands -----------------------------------------------------------------------------------------------

LINES: list[tuple[dict[str, object], list[str]]] = [
    ({"command": "search", "query": "store", "mode": "bm25", "limit": 2}, ["search", "store", "-m", "bm25", "-n2"]),
    ({"command": "def", "name": "Shape"}, ["def", "Shape"]),
    ({"command": "refs", "name": "Shape", "path": "/python"}, ["refs", "Shape", "-p", "./python"]),
    ({"command": "callers", "name": "Store.get", "all": True}, ["callers", "Store.get", "--all"]),
    ({"command": "callees", "name": "Store.get", "all": True}, ["callees", "Store.get", "--all"]),
    ({"command": "tree", "name": "main", "all": True}, ["tree", "main", "--all"]),
    ({"command": "grep", "pattern": "class", "limit": 3}, ["grep", "class", "--limit", "3"]),
    ({"command": "show", "targets": ["python/store.py:3-5"]}, ["show", "python/store.py:3-5"]),
    ({"command": "outline", "paths": ["python/store.py"]}, ["outline", "python/store.py"]),
    ({"command": "path", "from": "main", "to": "get", "all": True}, ["path", "main", "get", "--all"]),
    ({"command": "conflicts"}, ["conflicts"]),
    ({"command": "affected", "files": ["python/store.py"]}, ["affected", "--files", "python/store.py"]),
    ({"command": "show", "targets": ["no_such"]}, ["show", "no_such"]),
]  # fmt: skip


def test_a_line_is_answered_as_the_command_itself(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(repo)
    (batch := tmp_path / "batch").write_text("\n".join(json.dumps(line) for line, _ in LINES))
    codes = []
    for _, argv in LINES:
        codes.append(main.main([*argv, "--json"]))
    alone = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    opened = []
    real = lci_py.app.open_engine
    monkeypatch.setattr(lci_py.app, "open_engine", lambda *a, **k: (opened.append(a), real(*a, **k))[1])
    code = main.main(["status", "--batch", str(batch)])
    together = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    together[-1]["error"].pop("line")
    assert together == alone
    assert set(codes[:-1]) <= {0, 1} and (codes[-1], code) == (2, 2)
    assert len(opened) == 1


def test_lines_of_text_and_flags_that_are_their_defaults(
    repo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    # Flags have paths that start at the current folder, lines have paths that start at the root.
    monkeypatch.chdir(repo / "python")
    (batch := tmp_path / "batch").write_text('class\n{"pattern": "class", "path": "python/store.py"}\n')
    assert main.main(["grep", "--batch", str(batch), "--path", "./store.py", "--max-count", "1"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["results"] == second["results"] != []
    assert {result["file"] for result in first["results"]} == {"python/store.py"}


@pytest.mark.parametrize(
    "argv", [["show", "x"], ["show", "--jsonl"], ["grep", "-c"], ["tree", "-f", "dot"]], ids=" ".join
)
def test_what_does_not_go_with_a_batch(run: Callable[..., Ran], app: FakeApp, argv: list[str]) -> None:
    ran = run(*argv, "--batch", "-", stdin=b"x\n")
    assert (ran.code, app.opened) == (2, 0)
    assert "cannot be used together" in ran.json["error"]["message"]


@pytest.mark.parametrize("argv", [["def"], ["show", "-n", "+5"]], ids=" ".join)
def test_without_a_batch_the_argument_is_needed(run: Callable[..., Ran], argv: list[str]) -> None:
    ran = run(*argv)
    assert ran.code == 2 and "missing argument" in ran.err


def test_paths_of_flags_are_read_once_and_those_of_lines_from_the_root(
    run: Callable[..., Ran], app: FakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (below := tmp_path / "below").mkdir()
    for folder in (tmp_path, below):
        (folder / "a.py").touch()
    app.root = tmp_path
    monkeypatch.chdir(below)
    lines = b'{"query": "one"}\n{"query": "two", "near": "a.py:1", "path": "./a.py"}\n'
    ran = run("search", "--batch", "-", "-m", "multiview", "--path", "../missing/**", "--near", "a.py", stdin=lines)
    one, two = app.requests
    assert (ran.code, one.filters.path, one.near) == (0, ("/missing/**",), f"{below}/a.py")
    assert (two.filters.path, two.near) == (("/a.py",), "a.py:1")
