"""Fixtures: a small repository of many languages, indexed once per test run, and the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from lci_py import app
from lci_py.search.engine import Engine

# No deadlines: machines are noisy.
settings.register_profile("lci", deadline=None)
settings.load_profile("lci")

PROJECT = Path(__file__).resolve().parent.parent
CORPUS = PROJECT / "fixtures" / "corpus"


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> dict:
        return json.loads(self.out)


@pytest.fixture(scope="session", autouse=True)
def config_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A separate cache key for this run and its processes, instead of the developer's."""
    folder = tmp_path_factory.mktemp("config") / "lci"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCI_CONFIG_DIR", str(folder))
        for name in ("LCI_TRUST_INDEX", "LCI_REFRESH", "LCI_INDEX_DIR", "LCI_LOG", "LCI_MODE"):
            patch.delenv(name, raising=False)
        patch.setenv("LCI_PAGER", "cat")  # none
        yield folder


@pytest.fixture(scope="session")
def lci() -> Callable[..., Ran]:
    """Run the program in a process of its own: `lci("search", "x", cwd=…)`."""

    def run(*args: str, cwd: Path | None = None, stdin: str | None = None, **env: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "lci_py", *args],
            cwd=cwd or PROJECT, input=stdin, capture_output=True, text=True, timeout=120, check=False,
            env={**os.environ, "PYTHONPATH": str(PROJECT), **env},
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def copy_corpus(target: Path) -> Path:
    shutil.copytree(CORPUS, target)
    (target / "README.md").write_text("# Sample\n\nA corpus of small programs.\n\n## Usage\n\nSearch it.\n")
    (target / "notes.txt").write_text("plain text notes about the warehouse\n")
    return target


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The indexed corpus. A test that changes files makes its own copy."""
    root = copy_corpus(tmp_path_factory.mktemp("corpus") / "repo")
    app.build_index(str(root), jobs=1)
    return root


@pytest.fixture(scope="session")
def session(repo: Path) -> Iterator[Engine]:
    with app.open_engine(str(repo)) as opened:
        yield opened
