"""How git is run: in one place, without programs of the repository's configuration, without the network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py.source.repository.git import is_tracked
from tests.conftest import PROJECT, Ran
from tests.support.branch_repo import git, init

SOURCES = PROJECT / "lci_py"
#: What keeps git from running programs and from the network.
DISARMED = {
    "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
}  # fmt: skip
WRAPPER = """#!/bin/sh
{{ printf '%s\\n' "$@"; echo "--"; env | grep '^GIT_'; echo "=="; }} >> {log}
exec {git} "$@"
"""


def test_one_place_makes_every_call_of_git() -> None:
    callers = {
        path.name for path in SOURCES.rglob("*.py") if re.search(r"""\[\s*["']git["']""", path.read_text("utf-8"))
    }
    assert callers == {"git.py"}


def test_every_call_is_disarmed(tmp_path: Path, lci: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.which("git")
    if real is None:
        pytest.skip("no git")
    root, log, programs = tmp_path / "repo", tmp_path / "calls", tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text(WRAPPER.format(log=log, git=real))
    (programs / "git").chmod(0o755)
    init(root, {"a.py": "def f(): pass\n"})
    git(root, "branch", "other")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert lci("index", str(root), "--branches", "other").code == 0
    git_index = root / ".git" / "index"
    git_index.write_bytes(git_index.read_bytes() + b".lci/")  # so that git is asked whether it tracks the index
    assert lci("status", "--root", str(root)).code == 0
    assert lci("hook", "status", "--root", str(root)).code in (0, 1)
    calls = [call.split("--\n") for call in log.read_text().split("==\n") if call]
    commands = {word for arguments, *_ in calls for word in arguments.split("\n")}
    assert {"ls-files", "config", "rev-parse", "cat-file"} <= commands
    for arguments, *rest in calls:
        assert "core.fsmonitor=false" in arguments and "diff.external=" in arguments
        environment = dict(line.split("=", 1) for line in "--\n".join(rest).splitlines() if "=" in line)
        assert DISARMED.items() <= environment.items(), arguments
        assert "GIT_DIR" not in environment
        assert f"core.hooksPath={os.devnull}" in arguments or "rev-parse" in arguments


def test_a_partial_clone_runs_no_command_of_its_configuration(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """A sparse index without its trees: git would fetch them, with the ssh command that the clone names."""
    source, clone, marker = tmp_path / "source", tmp_path / "clone", tmp_path / "ran"
    init(source, {"a.py": "def f(): pass\n", "outside/b.py": "def g(): pass\n"})
    git(source, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=tree:0", "--sparse", f"file://{source}", str(clone))
    git(clone, "sparse-checkout", "init", "--cone", "--sparse-index")
    # Without the tree of `outside`, which only a listing of the whole index asks for.
    packs = shutil.move(clone / ".git" / "objects" / "pack", tmp_path / "packs")
    (clone / ".git" / "objects" / "pack").mkdir()
    tree = git(source, "rev-parse", "HEAD:outside")
    for pack in Path(packs).glob("*.pack"):
        subprocess.run(["git", "unpack-objects", "-q"], cwd=clone, input=pack.read_bytes(), check=True)
    (clone / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    git(clone, "config", "remote.origin.url", "ssh://nobody@localhost/none")
    git(clone, "config", "core.sshCommand", f"touch {marker};")
    git(clone, "config", "core.fsmonitor", f"touch {marker};")
    for command in (("index", str(clone)), ("status", "--root", str(clone))):
        assert lci(*command).code == 0
    is_tracked(clone / "outside")  # whatever it says
    assert not marker.exists()


def test_a_fifo_is_no_file_of_git(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    init(tmp_path, {"a.py": "def f(): pass\n"})
    for name in ("index", "packed-refs", "info/exclude"):
        path = tmp_path / ".git" / name
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        os.mkfifo(path)
    assert lci("index", str(tmp_path)).code == 0  # and does not wait for somebody to write
    assert lci("status", "--root", str(tmp_path)).code == 0
