"""`lci conflicts --diff`: what the work tree adds to a commit."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake import VALIDATOR

FILES = {
    "a.py": "MAX_SIZE = 60\n\n\ndef old(x):\n    return 1\n\n\ndef old(x):\n    return 2\n\n\ndef fresh(x):\n    return 1\n",
    "b.py": "import sys\n\nif sys.platform == 'win32':\n    def f(): return 1\nelse:\n    def f(): return 2\n",
    "c.py": "# 61 by default.\nMAX_SIZE = 60\n",
    "README.md": "Nothing.\n",
}


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for name, text in FILES.items():
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    return root


def listed(lci: Callable[..., Any], root: Path, *arguments: str) -> list[str]:
    """What is listed, by relation and name, or by the lines of the sources."""
    done = lci("conflicts", "--json", "--refresh", "always", "--all", "--root", str(root), *arguments)
    answer = done.json()
    assert done.code == (0 if answer["results"] or answer.get("conflicts") else 1)
    names = [f"{one['relation']} {one['symbol']}" for one in answer["results"]]
    return [*names, *(" ".join(one["sources"]) for one in answer.get("conflicts", ()))]


def test_what_was_there_before_is_not_listed(root: Path, lci: Callable[..., Any]) -> None:
    assert listed(lci, root) == ["duplicate old", "variant f", "c.py:2 c.py:1"]
    assert listed(lci, root, "--diff", "HEAD") == []


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("a.py", lambda text: text + "\n\ndef fresh(y):\n    return 3\n", ["duplicate fresh"]),
        ("a.py", lambda text: "# moved\n\n" + text.replace("return 2", "return 7"), []),
        ("b.py", lambda text: text.replace("'win32'", "'darwin'"), ["variant f"]),
        ("c.py", lambda text: text.replace("60", "62"), ["c.py:2 c.py:1"]),
        ("c.py", lambda text: text.replace("61", "63"), ["c.py:2 c.py:1"]),
        ("c.py", lambda text: "import os\n\n" + text, []),
        ("new.py", lambda _: "def g(): pass\n\n\ndef g(): return 1\n", ["duplicate g"]),
    ],
)
def test_what_a_change_adds(
    root: Path, lci: Callable[..., Any], name: str, change: Callable[[str], str], expected: list[str]
) -> None:
    (root / name).write_text(change(FILES.get(name, "")))
    assert listed(lci, root, "--diff", "HEAD") == expected
    git(root, "add", "-A")
    git(root, "commit", "-qm", "two")
    assert listed(lci, root, "--diff", "HEAD~1") == expected
    assert listed(lci, root, "--diff", "HEAD") == []


def test_a_definition_that_moves_to_another_file_is_not_new(root: Path, lci: Callable[..., Any]) -> None:
    git(root, "mv", "a.py", "d.py")
    assert "duplicate old" not in listed(lci, root, "--diff", "HEAD")


def test_three_dots_mean_where_the_branches_parted(root: Path, lci: Callable[..., Any]) -> None:
    git(root, "branch", "work")
    (root / "a.py").write_text("MAX_SIZE = 60\n")
    git(root, "commit", "-qam", "main goes on")
    git(root, "checkout", "-q", "work")
    assert listed(lci, root, "--diff", "main") == ["duplicate old"]
    assert listed(lci, root, "--diff", "main...") == []


def test_a_check_fails_by_what_is_added(root: Path, lci: Callable[..., Any]) -> None:
    def code(*arguments: str) -> int:
        done = lci("conflicts", "--refresh", "always", "--root", str(root), *arguments)
        return int(done.code)

    assert code("--fail-on", "duplicate") == 1
    assert code("--fail-on", "duplicate", "--diff", "HEAD") == 0
    (root / "a.py").write_text(FILES["a.py"] + "\n\ndef fresh(y):\n    return 3\n")
    assert code("--fail-on", "duplicate", "--diff", "HEAD") == 1
    assert code("--fail-on", "disagreement", "--diff", "HEAD") == 0


def test_text_and_json_name_the_commit(root: Path, lci: Callable[..., Any]) -> None:
    commit = git(root, "rev-parse", "HEAD")
    (root / "a.py").write_text(FILES["a.py"] + "\n\ndef fresh(y):\n    return 3\n")
    done = lci("conflicts", "--diff", "HEAD", "--json", "--refresh", "always", "--root", str(root))
    VALIDATOR.validate(done.json())
    assert done.json()["diff"] == {"revision": "HEAD", "commit": commit}
    text = lci("conflicts", "--diff", "HEAD", "--root", str(root)).out
    assert f"1 new conflict: 1 duplicate · since HEAD ({commit[:10]})" in text


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "nowhere...", "HEAD:a.py"])
def test_a_revision_that_is_no_commit(root: Path, lci: Callable[..., Any], revision: str) -> None:
    done = lci("conflicts", f"--diff={revision}", "--json", "--refresh", "always", "--root", str(root))
    assert done.code == 2
    assert (
        "is not a commit" in done.json()["error"]["message"]
        or "have no common commit" in done.json()["error"]["message"]
    )


def test_an_empty_revision_and_no_repository(tmp_path: Path, lci: Callable[..., Any]) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    lci("index", "--root", str(tmp_path))
    assert lci("conflicts", "--diff", "", "--root", str(tmp_path)).code == 2
    done = lci("conflicts", "--diff", "HEAD", "--json", "--root", str(tmp_path))
    assert (done.code, "not in a git work tree" in done.json()["error"]["message"]) == (2, True)


def test_the_configuration_of_a_clone_runs_nothing(root: Path, lci: Callable[..., Any]) -> None:
    """A filter, a monitor and an external diff of the repository's configuration are programs of somebody else."""
    for key in ("filter.x.clean", "core.fsmonitor", "diff.external", "core.sshCommand"):
        git(root, "config", key, f"touch {root}/ran; cat")
    (root / ".gitattributes").write_text("*.py filter=x\n")
    (root / "a.py").write_text(FILES["a.py"] + "\n\ndef fresh(y):\n    return 3\n")
    assert listed(lci, root, "--diff", "HEAD") == ["duplicate fresh"]
    assert not (root / "ran").exists()
