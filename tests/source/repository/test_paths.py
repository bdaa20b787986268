"""`--files`: names as people, git and pre-commit give them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py.errors import BadPathError
from lci_py.source.repository.files import relative_to_root
from tests.conftest import Ran


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo" / "sub")
    return tmp_path / "repo"


def test_names_start_at_the_current_folder(root: Path) -> None:
    names = ["a.py", "../b.py", "./a.py", "deep/../c.py", str(root / "d.py"), "-n.py", "..x", "new\nline", "\udcff"]
    assert relative_to_root(root, names) == tuple(
        sorted({"sub/a.py", "b.py", "sub/c.py", "d.py", "sub/-n.py", "sub/..x", "sub/new\nline", "sub/\udcff"})
    )
    assert relative_to_root(root, []) == ()


@pytest.mark.parametrize("name", ["", "..", "../..", "../../x", "../../repo", "../../repository/x", "/", "a\0b"])
def test_what_is_not_below_the_root(root: Path, name: str) -> None:
    with pytest.raises(BadPathError):
        relative_to_root(root, [name])


def test_by_way_of_links(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert relative_to_root(root, [str(tmp_path / "link" / "a.py")]) == ("a.py",)
    os.rmdir(root / "sub")  # a folder that has become a link: the files that were in it are meant
    (root / "sub").symlink_to(tmp_path)
    assert relative_to_root(root, [str(root / "sub" / "gone.py")]) == ("sub/gone.py",)


def test_a_file_of_somewhere_else_on_the_command_line(root: Path, tmp_path: Path, lci: Callable[..., Ran]) -> None:
    (root / "a.py").write_text("def a(): pass\n")
    ran = lci("index", "--json", "--root", str(root), "--files", "a.py", cwd=tmp_path)
    assert (ran.code, ran.json()["error"]["code"]) == (2, "bad_path")
    assert not (root / ".lci").exists()
    assert lci("index", "--json", "--root", str(root), "--files", "repo/a.py", "repo/gone.py", cwd=tmp_path).code == 0
