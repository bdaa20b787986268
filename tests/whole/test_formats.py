"""Indexes of other formats; and one of today's, committed as a program wrote it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from lci_py.errors import ShardVersionError
from lci_py.index.build import run, worker
from lci_py.index.store.manifest import FORMAT, MANIFEST
from lci_py.types.search import MODES, SearchRequest
from tests.conftest import PROJECT, Ran

SHARDS = PROJECT / "fixtures" / "shards"


def copy(root: Path) -> Path:
    shutil.copytree(SHARDS / "tree", root)
    shutil.copytree(SHARDS / "index", root / ".lci")
    return root


def named(root: Path, format: int) -> None:
    path = root / ".lci" / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": format}))


def test_the_committed_one_is_todays() -> None:
    files = list((SHARDS / "index").iterdir())
    assert json.loads((SHARDS / "index" / MANIFEST).read_text())["format"] == FORMAT, "run tests.support.make_shards"
    assert sum(path.stat().st_size for path in files) < 160_000
    assert not [path for path in files if b"/home/" in path.read_bytes() or b"/tmp/" in path.read_bytes()]


def older(root: Path) -> Path:
    """An index of format 1: shards were folders, and the manifest had other keys."""
    shutil.copytree(SHARDS / "tree", root)
    (root / ".lci" / "bm25-0123456789abcdef").mkdir(parents=True)
    (root / ".lci" / "bm25-0123456789abcdef" / "postings.npy").write_bytes(b"numpy")
    (root / ".lci" / MANIFEST).write_text(
        json.dumps({"format": 1, "generation": 1, "program": "lci-py 0.0.1"}, indent=1)
    )
    return root


def test_an_older_one_is_refused_and_rebuilt(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    root = older(tmp_path / "repo")
    kept = {"LCI_REFRESH": "never"}
    for command in (["search", "expired"], ["search", "--kind", "class"], ["def", "Pool"], ["status"]):
        for trust in ([], ["--trust-index"]):
            ran = lci(*command, *trust, "--json", cwd=root, **kept)
            error = ran.json()["error"]
            assert (ran.code, error["code"], ran.err) == (3, "index_version", "")
            assert "an older format (1;" in error["message"] and "lci index" in error["hint"]
    for number, more in enumerate(([], ["--refresh", "always"])):
        again = older(tmp_path / f"again{number}")
        (again / ".git").mkdir()  # a work tree, in which a search makes an index if there is none
        assert lci("search", "expired", *more, "--json", cwd=again).json()["results"][0]["file"] == "cookie.py"
    ran = lci("index", "--json", cwd=root)
    (warning,) = ran.json()["warnings"]
    assert ran.code == 0 and "an older format (1;" in warning and "rebuilt" in warning
    assert lci("search", "expired", "--json", cwd=root).json()["results"][0]["file"] == "cookie.py"
    assert "warnings" not in lci("index", "--json", cwd=root).json()
    # Its shards are gone: they were folders then.
    assert not [item for item in (root / ".lci").iterdir() if item.is_dir()]


def test_records_of_another_format_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refresh merges small segments, and reads the records of files that have not changed."""
    shutil.copytree(SHARDS / "tree", root := tmp_path / "repo")
    app.build_index(str(root), jobs=1)
    (root / "more.py").write_text("def more():\n    return 1\n")
    for module in (run, worker):
        monkeypatch.setattr(module, "RECORD_FORMAT", module.RECORD_FORMAT + 1)
    assert app.build_index(str(root), jobs=1).reused_files == 0
    (root / "more.py").write_text("def more():\n    return 2\n")
    assert app.build_index(str(root), jobs=1).reused_files > 0


def test_a_newer_one_is_refused_and_kept(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """Which is what a colleague's newer program made, or this user's own."""
    root = copy(tmp_path / "repo")
    named(root, FORMAT + 1)
    before = {path.name: path.read_bytes() for path in (root / ".lci").iterdir()}
    for command in (["search", "expired"], ["def", "Pool"], ["status"], ["index"], ["index", "--files", "cookie.py"]):
        ran = lci(*command, "--json", cwd=root)
        error = ran.json()["error"]
        assert (ran.code, error["code"]) == (3, "index_version")
        assert f"a newer format ({FORMAT + 1};" in error["message"]
        assert "upgrade" in error["hint"] and "--full" in error["hint"]
    assert lci("search", "expired", "--refresh", "always", cwd=root).code == 3
    assert {path.name: path.read_bytes() for path in (root / ".lci").iterdir()} == before
    ran = lci("index", "--full", "--json", cwd=root)
    assert ran.code == 0 and "newer format" in ran.json()["warnings"][0]
    assert lci("search", "expired", cwd=root).code == 0


@pytest.mark.parametrize("found", [0, -1, "3", None, True, 2.5, "x" * 10_000])
def test_what_is_no_format_is_replaced(tmp_path: Path, found: object) -> None:
    root = copy(tmp_path / "repo")
    named(root, found)  # type: ignore[arg-type]
    with pytest.raises(ShardVersionError) as caught:
        app.open_engine(str(root))
    assert len(caught.value.message) < 300 + len(str(root))
    assert app.build_index(str(root), jobs=1).changed


def test_todays_answers(tmp_path: Path) -> None:
    """As it was committed, by another program version and on another machine: `make_shards` writes it anew."""
    root = copy(tmp_path / "repo")
    for path in root.rglob("*"):
        os.utime(path)
    built = shutil.copytree(SHARDS / "tree", tmp_path / "built")
    app.build_index(str(built), jobs=1)
    for mode in MODES:
        request = SearchRequest("kind:method" if mode == "symbolic" else "remove expired sessions", mode)
        found = []
        for where in (root, built):
            with app.open_engine(str(where), trust=True, refresh="never") as session:
                answer = session.search(request)
                assert not answer.degraded and answer.index.stale_files == 0
                found.append(answer.results)
        assert found[0] == found[1] != ()
