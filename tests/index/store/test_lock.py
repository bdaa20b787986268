"""One writer at a time: a second one waits, or gets an error that names the first; of the runs of hooks, one waits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from lci_py.errors import IndexWriteError
from lci_py.index.store import lock
from lci_py.index.store.clean import clean
from lci_py.index.store.lock import HOOK_LOCKS, WRITE_LOCK, turn, writer
from tests.conftest import PROJECT, Ran
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs flock")

HOLD = """
import sys, pathlib
from lci_py.index.store.lock import writer
with writer(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def holder(folder: Path) -> subprocess.Popen[str]:
    """A process that holds the lock until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT, text=True
    )
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


def refused(folder: Path) -> str:
    with pytest.raises(IndexWriteError) as caught, writer(folder):
        raise AssertionError("two writers")
    assert caught.value.exit_code == 3
    return caught.value.message


def test_the_holder_is_named(tmp_path: Path) -> None:
    process = holder(tmp_path)
    assert f"(process {process.pid})" in refused(tmp_path)
    process.communicate("\n", timeout=PATIENCE)
    with writer(tmp_path):
        assert f"(process {os.getpid()})" in refused(tmp_path)
    assert (tmp_path / WRITE_LOCK).read_text().strip() == ""


def test_a_wait_ends_when_the_other_is_done(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n")
    process = holder(tmp_path / ".lci")
    threading.Timer(0.5, lambda: process.communicate("\n")).start()
    ran = lci("index", "--json", "--wait", "60", cwd=tmp_path)
    assert (ran.code, ran.json()["files"]) == (0, 1)
    process.wait(PATIENCE)


def test_a_wait_ends_by_itself(tmp_path: Path) -> None:
    with writer(tmp_path):
        started = time.monotonic()
        with pytest.raises(IndexWriteError, match="wait"), writer(tmp_path, wait=0.3):
            pass
        assert time.monotonic() - started >= 0.3


def test_no_wait_does_not_sleep_while_the_holder_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sleep(_: float) -> None:
        raise AssertionError("slept")

    with writer(tmp_path):
        monkeypatch.setattr(time, "sleep", sleep)
        refused(tmp_path)


def test_a_holder_that_was_killed_is_not_named(tmp_path: Path) -> None:
    killed = holder(tmp_path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=PATIENCE)
    assert (tmp_path / WRITE_LOCK).read_text().strip() == str(killed.pid)
    handle = lock._try(tmp_path)  # a new holder, which has yet to write its number
    assert handle is not None
    threading.Timer(0.1, lambda: lock._write_holder(handle, str(os.getpid()))).start()
    assert f"(process {os.getpid()})" in refused(tmp_path)
    os.close(handle)


def test_a_lock_that_comes_free_while_the_holder_is_looked_up_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = lock._try(tmp_path)
    assert handle is not None
    monkeypatch.setattr(time, "sleep", lambda _: os.close(handle))
    with writer(tmp_path):
        pass


def test_a_holder_that_says_nothing_is_not_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = lock._try(tmp_path)
    assert handle is not None
    monkeypatch.setattr(time, "sleep", lambda _: None)
    for content in ("", "-1", "0", "x" * 30, "9" * 20):
        (tmp_path / WRITE_LOCK).write_text(content)
        assert "process" not in refused(tmp_path)
    os.close(handle)


def test_a_lock_on_a_file_that_was_removed_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`lci clean` removes the folder while another process waits for its lock."""
    folder = tmp_path / ".lci"
    old = lock._try(folder)
    assert old is not None
    (folder / WRITE_LOCK).unlink()
    with writer(folder):
        assert "another" in refused(folder)
        os.close(old)
        assert "another" in refused(folder)


def test_a_lock_whose_file_is_removed_while_it_is_taken_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real = fcntl.flock

    def flock(handle: int, operation: int) -> None:
        monkeypatch.setattr(fcntl, "flock", real)
        (tmp_path / WRITE_LOCK).unlink()  # `lci clean`, which had the lock, is done
        real(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with writer(tmp_path):
        assert f"(process {os.getpid()})" in refused(tmp_path)


# --- turns of the hooks' runs -------------------------------------------------------------------------------------


def test_one_runs_one_waits_and_the_rest_go(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with turn(tmp_path) as ours:
            order.append(f"second {ours}")

    with turn(tmp_path) as ours:
        assert ours
        waiting = threading.Thread(target=second)
        waiting.start()
        until(lambda: lock_is_held(tmp_path / HOOK_LOCKS[1]))
        for _ in range(3):
            with turn(tmp_path) as other:
                assert not other
        order.append("first")
    waiting.join(PATIENCE)
    assert order == ["first", "second True"]
    with turn(tmp_path) as ours:
        assert ours


def lock_is_held(path: Path) -> bool:
    import fcntl

    with path.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


# --- clean --------------------------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text("def a(): pass\n")
    app.build_index(str(tmp_path / "repo"), jobs=1)
    return tmp_path / "repo"


def total(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def test_clean_removes_the_index(root: Path, lci: Callable[..., Ran]) -> None:
    for name in ("tmp-1/half", "cache/ab/cd", "hook.lock"):
        (root / ".lci" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / ".lci" / name).write_bytes(b"x" * 1000)
    expected = total(root / ".lci")
    ran = lci("clean", "--json", cwd=root)
    assert ran.code == 0
    found = ran.json()
    assert ("kept" in found, found["freed_bytes"] - expected in (0, 20)) == (False, True)  # 20: the lock was written to
    assert not (root / ".lci").exists() and (root / "a.py").exists()
    assert lci("clean", "--json", "--root", str(root)).json()["freed_bytes"] == 0  # again, nothing
    assert lci("search", "a", cwd=root).code == 3
    assert lci("index", cwd=root).code == 0


def test_clean_of_the_cache_keeps_the_index(root: Path, lci: Callable[..., Ran]) -> None:
    (root / ".lci" / "cache-1.sqlite").write_bytes(b"x" * 1000)
    size = (root / ".lci" / "cache.sqlite").stat().st_size
    assert lci("clean", "--cache", "--json", cwd=root).json()["freed_bytes"] == 1000 + size
    assert not list((root / ".lci").glob("cache*"))
    assert lci("search", "a", "-m", "bm25", cwd=root).code == 0


def test_clean_keeps_what_is_not_ours_and_follows_no_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    index = root / ".lci"
    (index / "notes.txt").write_text("mine")
    (index / "tmp-9").symlink_to(tmp_path / "precious")
    (index / ("bm25-" + "0" * 16)).symlink_to(tmp_path / "precious")
    (index / "cache").mkdir()
    (index / "cache" / "link").symlink_to(tmp_path / "precious")
    found = clean(index)
    assert found.kept == ("notes.txt",)
    assert (tmp_path / "precious" / "file").exists()
    assert sorted(os.listdir(index)) == [".gitignore", "notes.txt", WRITE_LOCK]


def test_clean_refuses_a_folder_that_is_not_an_index(
    tmp_path: Path, lci: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home" / "tmp-work").mkdir(parents=True)
    (tmp_path / "home" / "manifest.json").write_text('{"name": "a web page"}')
    (tmp_path / "home" / ".gitignore").write_text("*.o\n")
    ran = lci("clean", "--json", cwd=tmp_path, LCI_INDEX_DIR=str(tmp_path / "home"))
    assert (ran.code, ran.json()["error"]["code"]) == (3, "index_write")
    assert (tmp_path / "home" / "tmp-work").exists()
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / ".lci").symlink_to(tmp_path / "home")
    assert lci("clean", "--json", cwd=tmp_path / "link").json()["error"]["code"] == "index_write"


def test_clean_leaves_a_shard_that_is_read_and_waits_for_no_writer(root: Path) -> None:
    with app.open_engine(str(root)) as session:
        kept = clean(root / ".lci").kept
        assert sorted(kept) == sorted(shard.name for _, shard in session.snapshot.manifest.all_shards())
        assert session.snapshot.symbols.paths()
    with writer(root / ".lci"), pytest.raises(IndexWriteError):
        clean(root / ".lci")
    assert clean(root / ".lci").kept == ()
    assert not (root / ".lci").exists()


def test_clean_of_a_damaged_or_foreign_index(root: Path) -> None:
    (root / ".lci" / "manifest.json").write_text("garbage")
    assert clean(root / ".lci").kept == ()
    assert not (root / ".lci").exists()
