"""Versions on which the files of a project disagree."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py.search.conflicts.versions import compare
from lci_py.types.search import CONFLICT_TYPES, RESOLUTIONS
from tests.cli.fake import VALIDATOR
from tests.conftest import PROJECT

PYPROJECT = '[project]\nname = "a-b"\nversion = "{}"\nrequires-python = ">=3.9"\n'
CARGO = '[package]\nname = "a"\nversion = "1.2.0"\nrust-version = "1.{}"\n'


def test_a_repository(lci: Callable[..., Any], tmp_path: Path) -> None:
    """Each type and each resolution of the contract, on a small project; and what is new since a commit."""
    root = tmp_path / "tides"
    shutil.copytree(PROJECT / "fixtures" / "versions", root)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(root)]
    subprocess.run([*git, "init", "-q"], check=True)
    done = lci("conflicts", "--json", "--refresh", "always", "--root", str(root))
    VALIDATOR.validate(done.json())
    found = {(one["conflict_type"], one["recommended_resolution"]): one["sources"] for one in done.json()["conflicts"]}
    assert found["temporal-mismatch", "escalate-to-user"] == ["web/package.json:3", "web/MODULE.bazel:3"]
    assert found["scope-mismatch", "escalate-to-user"] == ["pyproject.toml:4", ".github/workflows/test.yml:7"]
    assert {kind for kind, _ in found} == set(CONFLICT_TYPES)
    assert {advice for _, advice in found} == set(RESOLUTIONS)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    readme = root / "README.md"
    readme.write_text("New.\n" + readme.read_text().replace("3.8", "3.7"))
    new = lci("conflicts", "--json", "--diff", "HEAD", "--refresh", "always", "--root", str(root)).json()["conflicts"]
    assert [one["sources"] for one in new] == [["pyproject.toml:4", "README.md:4"]]
    assert not lci("conflicts", "--json", "--path", "net/", "--root", str(root)).json().get("conflicts")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pyproject.toml": PYPROJECT.format("1.2"), "a_b/__init__.py": '__version__ = "1.2.0"'}, ""),
        ({"pyproject.toml": PYPROJECT.format("1.2"), "a_b/__init__.py": '__version__ = "1.2.0.dev3"'}, ""),
        ({"pyproject.toml": PYPROJECT.format("1.2"), "src/a_b/__init__.py": '__version__ = "1.3"'}, "1.3 in src"),
        ({"pyproject.toml": PYPROJECT.format("1.2"), "other/__init__.py": '__version__ = "1.3"'}, ""),
        ({"pyproject.toml": PYPROJECT.format("1.2"), "package.json": '{"name": "ui", "version": "1.3.0"}'}, ""),
        ({"pyproject.toml": PYPROJECT.format("1.2"), "docs/conf.py": 'release = "1.1"'}, "1.1 in docs/conf.py:1"),
        ({"Cargo.toml": CARGO.format(60), "CHANGELOG.md": "# Changes\n\n## 1.3.0\n\n## 1.2.0\n"}, "already has"),
        ({"Cargo.toml": CARGO.format(60), "CHANGELOG.md": "# Changes\n\n## 1.1.0\n\n## 1.0.0\n"}, ""),
        ({"Cargo.toml": CARGO.format(60), "CHANGELOG.md": "## 1.3.0 (unreleased)\n\n## 1.2.0\n\n## 1.1.0\n"}, ""),
        ({"Cargo.toml": CARGO.format(60), "README.md": "MSRV: 1.56\n"}, "says 1.56"),
        ({"Cargo.toml": CARGO.format(60), "README.md": "1.0 was for Rust 1.56+, this is for Rust 1.60+.\n"}, ""),
        ({"x/Cargo.toml": CARGO.format(60), "README.md": "Rust 1.56 or later\n"}, "says 1.56"),
        ({"x/Cargo.toml": CARGO.format(60), "y/Cargo.toml": CARGO.format(56), "README.md": "Rust 1.50+\n"}, ""),
        ({"go.mod": "module a\n\ngo 1.21\n", "README.md": "Needs [Go](https://go.dev) 1.18 or newer.\n"}, "says 1.18"),
        ({"composer.json": '{"require": {"php": "^8.1"}}', "README.md": "- PHP >= 7.4\n"}, "says 7.4"),
        ({"pyproject.toml": PYPROJECT.format("1"), "README.md": "Python >=3.8, <4\n"}, ""),
        ({"pyproject.toml": PYPROJECT.format("1"), "tests/README.md": "Python 3.8+\n"}, ""),
        (
            {
                "go.mod": "module a\n\ngo 1.21\n",
                "README.md": "## Files (Go 1.18+)\n\n```\nneeds go 1.16\n```\n¹ Go 1.18+\n",
            },
            "",
        ),
        ({"pyproject.toml": PYPROJECT.format("0.0.0"), "README.md": "Python 3.5+\n"}, ""),
        ({"package.json": '{"engines": {"node": ">=20"}}', "docs/package.json": '{"engines": {"node": ">=18"}}'}, ""),
        (
            {"CMakeLists.txt": "project(a VERSION 1.2.0)", "MODULE.bazel": 'module(name = "a", version = "1.1.0")'},
            "1.1.0",
        ),
    ],
)
def test_what_is_sure(files: dict[str, str], said: str) -> None:
    found = [entry["reasoning"] for _, entry in compare(files)]
    assert len(found) == bool(said) and all(said in one for one in found), found
