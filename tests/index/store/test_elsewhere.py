"""A repository that cannot be written has its index in the user's cache folder, or in a temporary one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from lci_py import app
from lci_py.app import upkeep
from lci_py.errors import IndexWriteError
from lci_py.types.search import Filters


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing can be written into it, whoever runs the test: for root every folder is writable."""
    root = tmp_path / "read-only"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("def first(): pass\n")
    allowed = os.access

    def access(path: str | Path, mode: int) -> bool:
        return not (mode & os.W_OK and str(path).startswith(str(root))) and allowed(path, mode)

    monkeypatch.setattr(os, "access", access)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home"))
    return root


def found(root: Path) -> int:
    with app.open_engine(str(root), refresh="always") as session:
        return session.definitions("first", Filters(), 10).total


def test_the_index_is_in_the_cache_folder_of_the_user(root: Path, tmp_path: Path) -> None:
    assert found(root) == 1 and not (root / ".lci").exists()
    folder = Path(app.status(str(root))["index_dir"])
    assert folder.parent == tmp_path / "home" / "lci" and folder.name.startswith("read-only-")
    built = app.build_index(str(root), jobs=1)
    assert any(f"the index is in {folder}; LCI_INDEX_DIR names another folder" in warning for warning in built.warnings)
    assert upkeep.clean(str(root))["index_dir"] == str(folder)


def test_without_a_home_it_is_in_a_temporary_folder(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.delenv("LCI_CONFIG_DIR")
    assert found(root) == 1 and found(root) == 1
    own = tmp_path / f"lci-{os.geteuid()}"
    assert Path(app.status(str(root))["index_dir"]).parent == own and own.stat().st_mode & 0o077 == 0
    assert (own / "index.key").exists()


def test_a_temporary_folder_that_others_can_write_is_refused(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder")
    (tmp_path / f"lci-{os.geteuid()}").mkdir()
    os.chmod(tmp_path / f"lci-{os.geteuid()}", 0o777)
    with pytest.raises(IndexWriteError, match="can be written") as raised:
        found(root)
    assert "LCI_INDEX_DIR" in raised.value.hint


def test_an_index_that_is_there_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("def first(): pass\n")
    app.build_index(str(tmp_path), jobs=1)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with app.open_engine(str(tmp_path)) as session:
        assert session.definitions("first", Filters(), 10).total == 1
    assert app.status(str(tmp_path))["index_dir"] == str(tmp_path / ".lci")
