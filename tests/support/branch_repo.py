"""A git repository with branches, for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def git(root: Path, *args: str) -> str:
    """Run git in a folder, free of the developer's settings."""
    done = subprocess.run(
        ["git", *args], cwd=root, env={**os.environ, **_ENV}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def init(root: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit on `main`."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    commit(root, files)
    return root


def commit(root: Path, files: Mapping[str, str | None]) -> str:
    """Write files (None removes one; removals come first), commit everything, and return the commit's id."""
    for name, text in sorted(files.items(), key=lambda item: item[1] is not None):
        path = root / name
        if text is None:
            git(root, "rm", "-q", "--", name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    return git(root, "rev-parse", "HEAD")


def branch(root: Path, name: str, files: Mapping[str, str | None]) -> str:
    """Make a branch with a commit on top of `main`, check `main` out again, and return the commit's id."""
    git(root, "checkout", "-q", "-b", name, "main")
    made = commit(root, files)
    git(root, "checkout", "-q", "main")
    return made
