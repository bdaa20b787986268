"""A search where there is no index makes one, answers from its first generation, and leaves the graph to the background."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from lci_py.cli.main import main
from lci_py.errors import DiskFullError, LciError
from lci_py.index.build.detached import until_searchable
from lci_py.index.build.generation import GenerationBuilder
from lci_py.index.store import commit
from lci_py.index.store.manifest import read_manifest
from lci_py.types.index import SEARCHABLE
from lci_py.types.search import SearchRequest
from tests.conftest import PROJECT, Ran
from tests.support.waiting import PATIENCE, until
from tests.whole.test_worktrees import repository

Lci = Callable[..., Ran]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    main = repository(tmp_path.resolve() / "main")
    time.sleep(0.1)  # the time of a file of just now is not stored
    return main


class Stopped(Exception):
    """Ends a build."""


def half_built(root: Path) -> None:
    """Leave generation 0 behind, as a run does that is killed after it."""

    def stop(stage: str, _done: int, _total: int) -> None:
        if stage == SEARCHABLE:
            raise Stopped

    with pytest.raises(Stopped):
        app.build_index(str(root), jobs=1, progress=stop)
    assert not read_manifest(root / ".lci").is_complete


def shards(root: Path) -> set[str]:
    """The names of the shards, which hold digests of their content; not of the table of files, which has times."""
    names = {shard.name for _, shard in read_manifest(root / ".lci").all_shards()}
    return {name for name in names if not name.startswith("files-")}


# --- by the way -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["dense", "bm25", "symbolic", "multiview"])
def test_a_search_makes_the_index_and_the_background_completes_it(lci: Lci, root: Path, mode: str) -> None:
    query = "name:read_1" if mode == "symbolic" else "read_1"
    ran = lci("search", query, "--mode", mode, "--json", cwd=root / "src")
    found = ran.json()
    assert (ran.code, ran.err, found["results"][0]["symbol"]) == (0, "", "read_1")
    assert found["index"]["generation"] in (0, 1)
    until(lambda: read_manifest(root / ".lci").is_complete)
    assert lci("index", "--json", "--wait", "60", cwd=root).json()["changed"] is False
    made = shards(root)
    app.build_index(str(root), full=True)
    assert shards(root) == made


def test_a_command_that_asks_the_graph_waits_for_it(lci: Lci, root: Path) -> None:
    (root / "src" / "g.py").write_text("def write_1(x):\n    return x\n\n\ndef caller(x):\n    return write_1(x)\n")
    ran = lci("callers", "src/g.py::write_1", "--json", cwd=root)
    assert (ran.code, [item["symbol"] for item in ran.json()["results"]]) == (0, ["caller"])
    assert read_manifest(root / ".lci").is_complete


def test_def_and_grep_make_the_index_too(lci: Lci, root: Path, tmp_path: Path) -> None:
    assert lci("def", "read_2", "--paths", cwd=root).out == "src/f2.py:1\n"
    other = repository(tmp_path / "other")
    assert lci("grep", "value . 3", "--paths", cwd=other).out.startswith("src/f3.py:2")


def test_what_forbids_it(lci: Lci, root: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.py").write_text("def f(): pass\n")
    for args, folder in ((("--refresh", "never"), root), ((), plain)):
        ran = lci("search", "read", "--json", *args, cwd=folder)
        assert (ran.code, ran.json()["error"]["code"]) == (3, "no_index")
        assert not (folder / ".lci").exists()
    (root / ".lci.toml").write_text("auto_index = false\n")
    assert lci("search", "read", cwd=root).code == 3
    assert not (root / ".lci").exists()
    assert lci("search", "f", "--paths", "--root", str(plain)).out == "a.py:1\n"


@pytest.mark.parametrize("most", [(5, 1 << 30), (1000, 100)])
def test_a_large_tree_is_left_to_whoever_asks_for_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, most: tuple[int, int]
) -> None:
    monkeypatch.setattr(app, "_AUTO_LIMITS", most)
    for whole in (False, True):
        with pytest.raises(LciError, match="which has over .* too many to index on the fly") as caught:
            app.open_engine(str(root), whole=whole)
        error = caught.value
        assert (error.code, error.exit_code, error.details["most_files"]) == ("no_index", 3, most[0])
        assert f"`lci index {root}`" in error.hint and not (root / ".lci").exists()
    with app.open_engine(str(root), refresh="always") as engine:  # asked for
        assert engine.search(SearchRequest("read_1", "bm25")).results


def test_what_fails_before_the_answer_is_the_answer(lci: Lci, root: Path) -> None:
    (root / ".lci").symlink_to(root / "src")
    ran = lci("search", "read", "--json", cwd=root)
    assert (ran.code, ran.json()["error"]["code"]) == (3, "index_write")


def test_a_root_on_a_full_disk_has_its_index_elsewhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = commit._write_ignore

    def full(path: Path) -> None:
        if path.is_relative_to(root):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path)

    monkeypatch.setattr(commit, "_write_ignore", full)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said: list[str] = []
    for _ in range(2):  # the second finds the index of the first
        with app.open_engine(str(root), say=said.append) as engine:
            assert engine.search(SearchRequest("read_1", "bm25")).results
            assert engine.snapshot.index_dir.is_relative_to(tmp_path / "cache")
    assert str(tmp_path / "cache") in said[0] and not (root / ".lci" / "manifest.json").exists()
    # Whoever asks for the index in the root is told, and so is a search where no disk has room.
    with pytest.raises(DiskFullError, match="No space left on device"):
        app.build_index(str(root))
    monkeypatch.setattr(commit, "_write_ignore", lambda path: full(root / path.name))
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(LciError, match="No space left") as caught:
        app.open_engine(str(root))
    assert (caught.value.code, caught.value.exit_code) == ("disk_full", 3)


# --- generation 0 -----------------------------------------------------------------------------------------------------


def test_without_its_graph_an_index_answers_and_says_so(lci: Lci, root: Path) -> None:
    half_built(root)
    ran = lci("search", "read the value", "--mode", "multiview", "--strict", "--json", cwd=root)
    assert ran.code == 4 and ran.json()["results"]
    [degraded] = ran.json()["degraded"]
    assert (degraded["view"], degraded["failure_mode"]) == ("graph", "shard_missing")
    assert "the call graph is not built yet" in degraded["detail"]
    assert lci("search", "read the value", "--strict", cwd=root).code == 0  # dense reads no graph
    status = lci("status", "--json", cwd=root).json()
    assert status["complete"] is False
    assert any("the call graph is not built yet" in warning for warning in status["warnings"])
    for command in ("callers", "callees", "tree", "refs"):
        ran = lci(command, "src/f1.py::read_1", "--refresh", "never", "--json", cwd=root)
        assert (ran.code, ran.json()["error"]["code"]) == (3, "graph_pending"), command


@pytest.mark.parametrize("completed", [("index",), ("callers", "src/f1.py::read_1")])
def test_what_a_killed_run_has_left_is_completed(lci: Lci, root: Path, completed: tuple[str, ...]) -> None:
    half_built(root)
    assert lci(*completed, cwd=root).code in (0, 1)
    made = shards(root)
    assert read_manifest(root / ".lci").is_complete and not lci("status", "--json", cwd=root).json().get("warnings")
    app.build_index(str(root), full=True)
    assert shards(root) == made


def test_nothing_is_parsed_again_to_complete_it(root: Path) -> None:
    half_built(root)
    built = app.build_index(str(root))
    assert (built.parsed_files, built.generation) == (0, 1)


def test_an_index_that_is_there_stays_until_the_next_is_whole(root: Path) -> None:
    app.build_index(str(root))
    stages: list[str] = []
    built = app.build_index(str(root), full=True, progress=lambda stage, _done, _total: stages.append(stage))
    assert (built.generation, built.searchable_seconds, SEARCHABLE in stages) == (2, None, False)


# --- the process in the background ------------------------------------------------------------------------------------

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")


def test_its_failure_is_seen_in_the_status(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_self: GenerationBuilder) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(GenerationBuilder, "link", fails)
    with app.open_engine(str(root)) as engine:
        assert engine.search(SearchRequest("read_1", "bm25")).results
    until(lambda: (root / ".lci" / "hook.log").exists())
    until(lambda: "no room" in "".join(app.status(str(root))["warnings"]))
    monkeypatch.undo()
    app.build_index(str(root), wait=PATIENCE)
    assert not app.status(str(root))["warnings"]


def test_nobody_waits_for_it(tmp_path: Path) -> None:
    """Whoever reads the output of a search sees its end when the search ends."""
    script = (
        "import os, sys, time\nfrom pathlib import Path\nfrom lci_py.index.build.detached import until_searchable\n"
        "def work(report):\n"
        f"    Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        f"    report({SEARCHABLE!r}, 0, 0)\n"
        "    time.sleep(600)\n"
        f"until_searchable(Path({str(tmp_path)!r}), work, print, lambda: None)\n"
        "print('answer')\n"
    )
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, env=env)
    background = int((tmp_path / "pid").read_text())
    assert (done.stdout, done.stderr) == ("answer\n", "")
    os.kill(background, signal.SIGKILL)  # it lives


def test_its_end_without_a_word_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="has ended"), contextlib.suppress(ProcessLookupError):
        until_searchable(tmp_path, lambda _report: os.kill(os.getpid(), signal.SIGKILL), print, lambda: None)


# --- folders that nobody has called a project ---------------------------------------------------------------------


class _Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside of git with more files than are indexed unasked."""
    for number in range(5):
        (tmp_path / f"f{number}.py").write_text(f"def f{number}(): pass\n")
    monkeypatch.setattr("lci_py.cli.index._UNASKED", (4, 1_000_000))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_says_yes_to_a_large_folder_outside_of_git(plain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "no_index" and "in no git work tree" in error["message"]
    assert f"lci index --yes {plain}" in error["hint"] and not (plain / ".lci").exists()
    assert main(["index", "--yes", "--jobs", "1"]) == 0
    assert main(["index", "--jobs", "1"]) == 0  # there is an index: it is only brought up to date
    shutil.rmtree(plain / ".lci")
    (plain / ".git").mkdir()
    assert main(["index", "--jobs", "1"]) == 0


@pytest.mark.parametrize("said", ["y\n", "\n"])
def test_a_person_is_asked(
    plain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", _Keyboard(said))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code = main(["index", "--jobs", "1"])
    assert "Index 5 files (0 MB)? [y/N]" in capsys.readouterr().err
    assert (code, (plain / ".lci").exists()) == ((0, True) if said == "y\n" else (1, False))


def test_nobody_is_invited_to_index_the_home_folder(
    plain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (plain / "user").mkdir()
    monkeypatch.setenv("HOME", str(plain / "user"))
    assert main(["search", "f1"]) == 3
    said = capsys.readouterr().err
    assert "go to a project" in said and "lci index" not in said
    monkeypatch.setenv("HOME", str(plain.parent / "elsewhere"))
    assert main(["search", "f1"]) == 3
    assert f"run `lci index {plain}`" in capsys.readouterr().err
