"""A first index that is ended before it is complete: the next one goes on from there, and is what a fresh one is."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from lci_py import app
from lci_py.errors import NoIndexError
from lci_py.index.build import worker
from lci_py.index.store import cache
from lci_py.index.store.manifest import read_manifest
from tests.conftest import PROJECT
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is patched here reaches a forked process only")

_FILES, _BATCH, _KEPT = 24, 2, 10
#: Sends itself a signal when so many files are kept.
_ENDED = f"""
import os, sys
from lci_py.index.build import generation, worker_pool
worker_pool._BATCH_FILES = {_BATCH}
real, kept, by = generation.GenerationBuilder._keep, 0, int(sys.argv.pop())
def keep(self, batch):
    global kept
    done = real(self, batch)
    kept += len(batch)
    if kept == {_KEPT}:
        os.kill(os.getpid(), by)
    return done
generation.GenerationBuilder._keep = keep
from lci_py.cli.main import run
run()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(_FILES):
        (root / f"m{number:02}.py").write_text(
            f"from m{number // 2:02} import f\n\n\ndef f(x):\n    return f(x) + {number}\n"
        )
    return root


def _ended(root: Path, by: signal.Signals, *flags: str) -> subprocess.CompletedProcess[str]:
    """The outcome of `lci index`, ended when some files are kept."""
    return subprocess.run(
        [sys.executable, "-c", _ENDED, "index", "--jobs", "2", *flags, str(int(by))], cwd=root, capture_output=True,
        text=True, timeout=PATIENCE, check=False, env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip


def _shards(root: Path, index: Path) -> dict[str, str]:
    """The digest of every shard."""
    found = read_manifest(index)
    return {f"{number} {role}": shard.sha for number, (role, shard) in enumerate(found.all_shards())}


def _fresh(root: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The shards of an index that knows nothing of an earlier one."""
    with monkeypatch.context() as patch:
        patch.setenv("LCI_INDEX_DIR", str(root.parent / "fresh"))
        app.build_index(str(root), jobs=1, full=True)
    return _shards(root, root.parent / "fresh")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL, signal.SIGSEGV])
def test_the_next_run_goes_on_and_makes_the_same(
    root: Path, by: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = _ended(root, by)
    assert ended.returncode == (130 if by == signal.SIGINT else -by), ended.stderr
    if by == signal.SIGINT:
        assert re.fullmatch(rf"lci: stopped: \d+ of {_FILES} files are kept, .*goes on from there\n", ended.stderr)
    with pytest.raises(NoIndexError):  # a search knows nothing of it
        app.open_engine(str(root), refresh="never")
    built = app.build_index(str(root), jobs=2)
    assert (built.files, built.parsed_files + built.reused_files) == (_FILES, _FILES)
    assert _KEPT - _BATCH <= built.reused_files < _FILES
    assert _shards(root, root / ".lci") == _fresh(root, monkeypatch)
    assert not [name for name in os.listdir(root / ".lci") if re.search(r"^tmp-|-journal$", name)]


def test_the_message_as_json(root: Path) -> None:
    told = json.loads(_ended(root, signal.SIGINT, "--json").stdout)["error"]
    kept = told["kept_files"]
    assert _KEPT - _BATCH <= kept < _FILES and told == {
        "code": "interrupted",
        "message": f"stopped: {kept} of {_FILES} files are kept",
        "hint": "`lci index` goes on from there",
        "kept_files": kept,
        "files": _FILES,
    }


def test_full_does_not_look_at_what_is_kept_and_says_so(root: Path) -> None:
    ended = _ended(root, signal.SIGINT, "--full")
    assert ended.stderr == "lci: interrupted, the index is unchanged; run the command again\n"
    assert app.build_index(str(root), jobs=2, full=True).reused_files == 0


def test_what_has_changed_since_is_extracted_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _ended(root, signal.SIGKILL)
    for path in root.glob("*.py"):
        path.write_text(path.read_text().replace("return", "yield"))
    time.sleep(0.1)  # the index notes of a file that is younger than a tick of the clock that it is
    assert app.build_index(str(root), jobs=2).reused_files == 0
    assert _shards(root, root / ".lci") == _fresh(root, monkeypatch)


def test_another_version_of_the_program_extracts_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _ended(root, signal.SIGKILL)
    monkeypatch.setattr(worker, "__version__", "another")
    assert app.build_index(str(root), jobs=2).reused_files == 0


def test_records_that_were_altered_are_extracted_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _ended(root, signal.SIGKILL)
    with closing(sqlite3.connect(root / ".lci" / cache.FILE)) as db:
        db.execute("UPDATE records SET body = (SELECT body FROM records LIMIT 1)")
        db.commit()
    assert app.build_index(str(root), jobs=2).reused_files <= 1
    assert _shards(root, root / ".lci") == _fresh(root, monkeypatch)


def test_what_is_kept_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_BYTES_BUILDING", 0)
    kept: list[int] = []
    app.build_index(str(root), jobs=2, progress=lambda stage, done, _: kept.append(done) if stage == "kept" else None)
    assert kept == [0]  # and it says so
    assert cache.size_of(root / ".lci") < 50_000
