"""A project and a home folder that are empty, and `lci agent` over them."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py.cli.main import main
from tests.cli.fake import VALIDATOR, Ran

VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME")
Agent = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"  # type: ignore[return-value]


@pytest.fixture
def agent(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Agent:
    """Run `lci agent …`; with --json, check the answer."""
    monkeypatch.setattr("lci_py.agents.install._cannot_start", lambda **_: [])
    monkeypatch.setattr("lci_py.agents.install._lacks_extra", lambda: False)

    def run(*argv: str) -> Ran:
        capsys.readouterr()
        code = main(["agent", *argv])
        ran = Ran(code, *capsys.readouterr())
        if "--json" in argv:
            VALIDATOR.validate(ran.json)
        return ran

    return run


def tree(folder: Path) -> dict[str, Any]:
    """Everything below a folder: kinds, modes, bytes, and where links lead."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        content: Any = path.read_bytes() if stat.S_ISREG(info.st_mode) else None
        found[path.relative_to(folder).as_posix()] = (
            stat.filemode(info.st_mode),
            path.readlink() if path.is_symlink() else content,
        )
    return found


def states(ran: Ran) -> dict[str, str]:
    """Path -> state, of all files that an answer names."""
    return {file["path"]: file["state"] for agent in ran.json["agents"] for file in agent["files"]}
