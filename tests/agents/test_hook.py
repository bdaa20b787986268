"""`lci agent hook`: what an agent is told after a search of its own, with events as Claude Code's documentation has them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py.agents.hook import read_event
from tests.conftest import Ran
from tests.support.graph_repo import build

SOURCE = "def close_session(name, wait=3):\n    return name\n\n\n" + "".join(
    f"class C{i}:\n    def often(self):\n        pass\n\n\n" for i in range(30)
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hook") / "repo", {"lib/session.py": SOURCE})


def event(folder: Path, tool: str, **given: Any) -> str:
    return json.dumps(
        {
            "session_id": "abc123", "transcript_path": "/home/me/.claude/projects/x.jsonl", "cwd": str(folder),
            "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": given,
            "tool_response": {"mode": "files_with_matches", "filenames": []}, "tool_use_id": "toolu_01",
        }
    )  # fmt: skip


def test_a_name_that_the_index_knows_is_answered_in_a_few_lines(lci: Callable[..., Ran], root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (root / ".lci").rglob("*")}
    ran = lci("agent", "hook", stdin=event(root, "Grep", pattern="close_session", path="lib"), cwd=root.parent)
    said = json.loads(ran.out)["hookSpecificOutput"]
    assert (ran.code, ran.err, said["hookEventName"]) == (0, "", "PostToolUse")
    assert "lib/session.py:1  def close_session(name, wait=3)" in said["additionalContext"].splitlines()
    assert len(said["additionalContext"]) <= 600
    assert {path: path.stat().st_mtime_ns for path in (root / ".lci").rglob("*")} == before
    ran = lci("agent", "hook", stdin=json.dumps({"hook_event_name": "SessionStart", "cwd": str(root)}), cwd=root)
    said = json.loads(ran.out)["hookSpecificOutput"]
    assert (ran.code, said["hookEventName"]) == (0, "SessionStart") and "lci explore" in said["additionalContext"]


@pytest.mark.parametrize("pattern", ["often", "nothing_here", "close.*session", "close session", "", 7])
def test_of_all_else_nothing_is_said(lci: Callable[..., Ran], root: Path, pattern: object) -> None:
    assert lci("agent", "hook", stdin=event(root, "Grep", pattern=pattern), cwd=root) == Ran(0, "", "")


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", "[" * 9_000, '{"hook_event_name": "PostToolUse"}'])
def test_what_is_no_event_is_no_error(lci: Callable[..., Ran], root: Path, text: str) -> None:
    assert lci("agent", "hook", stdin=text, cwd=root) == Ran(0, "", "")


def test_without_an_index_none_is_made(lci: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text("def close_session(): pass\n")
    assert lci("agent", "hook", stdin=event(tmp_path, "Grep", pattern="close_session"), cwd=tmp_path) == Ran(0, "", "")
    assert not (tmp_path / ".lci").exists()


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("rg close_session", "close_session"),
        ("rg -n -t py -A 3 'close_session' src | head", "close_session"),
        ("grep -rnw --include '*.py' close_session .", "close_session"),
        ("cd src && git grep -n -e close_session", "close_session"),
        ('rg "def close_session\\b"', "close_session"),
        ("rg 'close_session\\('", "close_session"),
        ("/usr/bin/rg -- close_session", "close_session"),
        ("ls | grep close_session", ""),
        ("cat a.py && rg close_session", ""),
        ("rg 'close|open'", ""),
        ("rg 'unbalanced", ""),
        ("rg", ""),
        ("sed -n 1,9p close_session", ""),
    ],
)
def test_the_name_in_a_command_line(command: str, wanted: str) -> None:
    found = read_event(event(Path("/src"), "Bash", command=command))
    assert (found.symbol if found else "") == wanted


def test_an_event_of_gemini_cli() -> None:
    given = {"hook_event_name": "AfterTool", "cwd": "/src", "timestamp": "2026-01-01T00:00:00Z"}
    grep = {**given, "tool_name": "grep_search", "tool_input": {"pattern": "close_session"}}
    shell = {**given, "tool_name": "run_shell_command", "tool_input": {"command": "rg close_session"}}
    for one in (grep, shell):
        found = read_event(json.dumps(one))
        assert found is not None and (found.name, found.symbol) == ("AfterTool", "close_session")
