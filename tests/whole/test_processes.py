"""Processes that end badly, are interrupted, or may not do everything: a clear error, no debris, nothing lost."""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.index.build import worker_pool
from lci_py.source import file_record
from lci_py.types.search import SearchRequest
from lci_py.types.source import FileEntry
from tests.conftest import PROJECT
from tests.support.records import process_file
from tests.support.waiting import PATIENCE, until

# --- processes that end -------------------------------------------------------------------------------------------


def _repository(root: Path, files: int = 12) -> Path:
    root.mkdir(exist_ok=True)
    for number in range(files):
        (root / f"f{number}.py").write_text(f"def f{number}(): pass\n")
    return root


forks = pytest.mark.skipif(sys.platform != "linux", reason="what is patched here reaches a forked process only")


@forks
@pytest.mark.parametrize("signal_number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_grammar_that_crashes_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, signal_number: int
) -> None:
    real = file_record.extract_stages

    def extract(path: str, *rest: Any, **part: Any) -> Any:
        if path in ("f3.py", "f7.py"):
            faulthandler.disable()  # pytest's, which would report the crash that is meant
            os.kill(os.getpid(), signal_number)
        yield from real(path, *rest, **part)

    monkeypatch.setattr(file_record, "extract_stages", extract)
    monkeypatch.setattr(worker_pool, "_BATCH_FILES", 2)
    built = app.build_index(str(_repository(tmp_path)), jobs=2)
    assert (built.files, built.skipped_by_reason, built.limited_by_reason) == (12, {}, {"parser_crash": 2})
    assert "f3.py, f7.py: searched as text only" in built.warnings[0]


@forks
def test_a_worker_that_is_killed_once_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, marker = file_record.extract_stages, tmp_path / "killed"

    def extract(path: str, *rest: Any, **part: Any) -> Any:
        if path == "f3.py" and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from real(path, *rest, **part)

    monkeypatch.setattr(file_record, "extract_stages", extract)
    built = app.build_index(str(_repository(tmp_path / "repo")), jobs=2)
    assert (built.files, built.skipped_by_reason, marker.exists()) == (12, {}, True)


@forks
def test_a_worker_that_dies_in_the_second_stage_costs_no_definition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = file_record.extract_stages

    def extract(path: str, *rest: Any, **part: Any) -> Any:
        stages = real(path, *rest, **part)
        yield next(stages)
        if path == "f3.py":
            os.kill(os.getpid(), signal.SIGKILL)
        yield from stages

    root = _repository(tmp_path)
    (root / "g.py").write_text("from f4 import f4\n\n\ndef caller():\n    return f4()\n")
    monkeypatch.setattr(file_record, "extract_stages", extract)
    monkeypatch.setattr(worker_pool, "_BATCH_FILES", 2)
    built = app.build_index(str(root), jobs=2, staged=True)
    assert (built.files, built.skipped_by_reason) == (13, {})
    monkeypatch.undo()
    with app.open_engine(str(root)) as engine:
        assert engine.search(SearchRequest("name:f3", "symbolic")).results[0].file == "f3.py"


@forks
def test_a_parse_that_never_ends_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = file_record.extract_stages

    def extract(path: str, *rest: Any, **part: Any) -> Any:
        if path == "f3.py":
            time.sleep(1000)
        yield from real(path, *rest, **part)

    monkeypatch.setattr(file_record, "extract_stages", extract)
    monkeypatch.setattr(worker_pool, "STALL_SECONDS", 1.0)
    built = app.build_index(str(_repository(tmp_path)), jobs=2)
    assert (built.files, built.skipped_by_reason, built.limited_by_reason) == (12, {}, {"parser_timeout": 1})


@pytest.mark.parametrize("error", [RecursionError, MemoryError, ValueError])
def test_an_exception_in_a_parse_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def extract(*_: Any, **__: Any) -> Any:
        yield from ()
        raise error("a bug")

    (tmp_path / "a.py").write_text("def a(): pass\n")
    monkeypatch.setattr(file_record, "extract_stages", extract)
    record = process_file(tmp_path, FileEntry("a.py", 14, 0))
    assert not isinstance(record, str)
    assert (record.limit, record.extract.language, len(record.bag_sizes)) == ("parser_crash", "python", 1)


def _start(root: Path, *argv: str) -> subprocess.Popen[str]:
    """`lci` as a process that parses for longer than anybody waits, in several batches."""
    script = (
        "import time, sys; from lci_py.index.build import worker_pool; from lci_py.source import file_record as record\n"
        "worker_pool._BATCH_FILES = 2; real = record.extract_stages\n"
        "record.extract_stages = lambda *a, **k: (time.sleep(3600), real(*a, **k))[1]\n"
        "from lci_py.cli.main import run; run()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, *argv], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)}, start_new_session=True,
    )  # fmt: skip


def _group(leader: int) -> Iterator[int]:
    """Processes of a session that run, or could."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            yield int(name)


@forks
def test_ctrl_c_ends_everything_and_keeps_the_old_index(tmp_path: Path) -> None:
    root = _repository(tmp_path / "repo")
    app.build_index(str(root), jobs=1)
    before = sorted(os.listdir(root / ".lci"))
    process = _start(root, "index", "--full", "--jobs", "2", "--json")
    until(lambda: len(list(_group(process.pid))) == 3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    out, err = process.communicate(timeout=PATIENCE)  # it does not wait for what is being parsed
    assert (process.returncode, err) == (130, ""), out
    assert json.loads(out)["error"]["code"] == "interrupted"
    until(lambda: not list(_group(process.pid)))
    assert sorted(os.listdir(root / ".lci")) == before
    assert not app.build_index(str(root), jobs=1).changed


@forks
def test_workers_do_not_outlive_a_killed_program(tmp_path: Path) -> None:
    root = _repository(tmp_path / "repo")
    process = _start(root, "index", "--jobs", "2")
    until(lambda: len(list(_group(process.pid))) == 3)
    process.kill()
    process.communicate(timeout=PATIENCE)
    until(lambda: not list(_group(process.pid)))
    assert app.build_index(str(root), jobs=1).files == 12  # the lock went with them
    assert not list((root / ".lci").glob("tmp-*"))


@forks
def test_a_worker_whose_parent_is_gone_before_it_begins_ends(tmp_path: Path) -> None:
    """Killed between the fork and the worker's first line, the parent's number is another process's by then."""
    script = (
        "import os, signal, time; import lci_py.processes as processes\n"
        "real = processes.serve\n"
        "def late(*ends):\n"
        "    os.kill(os.getppid(), signal.SIGKILL); time.sleep(0.5); real(*ends); time.sleep(3600)\n"
        "processes.serve = late; processes.start(1, bool); time.sleep(3600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    process.communicate(timeout=PATIENCE)  # ends when the last copy of the pipe is closed
    until(lambda: not list(_group(process.pid)))


# --- another user ---


def _run_unprivileged(folder: Path, *commands: list[str]) -> list[tuple[int, dict[str, Any]]]:
    """Exit code and JSON of each command, run by somebody who may not read or write everything, as root may."""
    script = f"""
import contextlib, io, json, os, sys
from lci_py.cli.main import main
import lci_py.index.build.worker
sys.stdout.flush()
def run(argv):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main(argv)
    return code, json.loads(out.getvalue())
# Everything is imported before the change of user, who may not be able to read this Python.
os.environ["LCI_INDEX_DIR"] = {str(folder / "warm-up")!r}
os.makedirs("warm"); open("warm/a.py", "w").write("def a(): pass")
run(["index", "warm", "--json"]); run(["search", "a", "--json", "--root", "warm"])
run(["search", "x", "--mode", "fuzzy", "--json"])
os.environ["LCI_INDEX_DIR"] = {str(folder / "index")!r}
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.environ["LCI_CONFIG_DIR"] = {str(folder / "config")!r}
print(json.dumps([run(argv) for argv in {commands!r}]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "LCI_JOBS": "1", "HOME": str(folder)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return [(code, answer) for code, answer in json.loads(done.stdout)]


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that another user can enter: pytest's own are private."""
    folder = Path(tempfile.mkdtemp(prefix="lci-test-"))
    os.chmod(folder, 0o777)
    yield folder
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            os.chmod(path, 0o777)
    shutil.rmtree(folder)


def test_an_unreadable_folder_and_file(public: Path) -> None:
    root = public / "repo"
    (root / "secret").mkdir(parents=True)
    (root / "secret" / "a.py").write_text("def hidden(): pass\n")
    (root / "locked.py").write_text("def locked(): pass\n")
    (root / "open.py").write_text("def visible(): pass\n")
    os.chmod(root / "secret", 0)
    os.chmod(root / "locked.py", 0)
    index, secret = _run_unprivileged(
        public, ["index", str(root), "--json"], ["index", str(root / "secret"), "--json"]
    )  # fmt: skip
    assert (index[0], index[1]["files"], index[1]["skipped_by_reason"]) == (0, 1, {"unreadable": 2})
    assert (secret[0], secret[1]["error"]["code"]) == (2, "bad_path")


def test_an_index_folder_of_somebody_else(public: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = _repository(public / "repo", 2)
    monkeypatch.setenv("LCI_INDEX_DIR", str(public / "index"))
    app.build_index(str(root), jobs=1)
    for path in (public / "index", *(public / "index").rglob("*")):
        os.chmod(path, 0o555 if path.is_dir() else 0o444)
    where = ["f1", "--root", str(root), "--json"]
    index, search, trusted = _run_unprivileged(
        public, ["index", str(root), "--full", "--json"], ["search", *where], ["search", *where, "--trust-index"]
    )
    assert (index[0], index[1]["error"]["code"]) == (3, "index_write")
    assert (search[0], search[1]["error"]["code"]) == (3, "index_untrusted")
    assert (trusted[0], trusted[1]["results"][0]["symbol"]) == (0, "f1")
