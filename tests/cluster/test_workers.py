"""A command without a scheduler: what it starts, what it leaves, and who could read it meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lci_py.cluster.workers import here, in_a_process
from lci_py.errors import IndexWriteError
from lci_py.processes import can_be_read
from tests.support.waiting import PATIENCE

_PROJECT = Path(__file__).resolve().parents[2]
#: Every Python that is started notes what it listens on. A module of the current folder notes that it was run.
_NOTING = """
import sys

def _note(event, args):
    if event in ("socket.bind", "socket.listen"):
        with open({notes!r}, "a") as file:
            file.write(f"{{event}} {{args}}\\n")

sys.addaudithook(_note)
"""
_SHADOWING = "with open({notes!r}, 'a') as file:\n    file.write(f'{{__file__}} was run\\n')\nraise ImportError\n"


def test_a_command_runs_no_file_of_its_folder_opens_no_port_and_leaves_nothing(tmp_path: Path) -> None:
    folder, temporary, notes = tmp_path / "work", tmp_path / "tmp", str(tmp_path / "notes")
    for one in (folder / "secret", temporary, tmp_path / "site"):
        one.mkdir(parents=True)
    (folder / "secret" / "store.py").write_text("def remove_expired(sessions): ...\n")
    (folder / "repos").write_text("secret secret\n")
    (tmp_path / "site" / "sitecustomize.py").write_text(_NOTING.format(notes=notes))
    for name in ("multiprocessing", "selectors", "lci_py", "numpy", "pickle", "signal", "dask", "distributed"):
        (folder / f"{name}.py").write_text(_SHADOWING.format(notes=notes))
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(tmp_path / "site")}
    program = f"import sys; sys.path[:] = [{str(_PROJECT)!r}, *sys.path[1:]]; from lci_py.__main__ import run; sys.exit(run())"
    for arguments in (["index", "--repos", "repos", "--workers", "2"], ["search", "remove expired", "-m", "multiview"]):
        done = subprocess.run(
            [sys.executable, "-c", program, "cluster", *arguments, "--store", "store", "--json"],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0 and "secret" in done.stdout, done.stderr
    assert not os.path.exists(notes), Path(notes).read_text()
    assert os.listdir(temporary) == []


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (folder := tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder


def test_nobody_else_can_read_what_a_command_needs_on_the_way(temporary: Path) -> None:
    with here() as workers:
        assert list(temporary.iterdir()) == [workers.folder]
        assert stat.S_IMODE(workers.folder.stat().st_mode) == 0o700
    assert not list(temporary.iterdir())


def test_the_next_command_removes_what_a_killed_one_has_left(temporary: Path) -> None:
    left, foreign = temporary / "lci-cluster-killed", temporary / "other"
    for folder in (left / "work", foreign):
        folder.mkdir(parents=True)
    with here() as earlier:
        for folder in (left, earlier.folder):
            os.utime(folder, (1, 1))
        with here() as later:
            assert {foreign, earlier.folder, later.folder} == set(temporary.iterdir())


def test_a_job_whose_process_is_killed_is_an_error_that_says_so() -> None:
    with pytest.raises(IndexWriteError, match="by signal 9"):
        in_a_process(_killed)
    with pytest.raises(IndexWriteError, match="its worker process failed .ValueError: invalid literal"):
        in_a_process(int, "x")
    assert in_a_process(max, 1, 2) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_two_processes_do_two_jobs_at_the_same_time(tmp_path: Path) -> None:
    ends = [tmp_path / "one", tmp_path / "two"]
    for end in ends:
        os.mkfifo(end)
    with here(5) as workers:
        assert sorted(workers.each(_meets, [(*ends,), (*reversed(ends),)])) == [(0, 2), (1, 2)]  # processes for each
        with pytest.raises(IndexWriteError, match="by signal 9"):
            list(workers.each(_killed, [(1,), (2,), (3,)]))


def test_with_a_thousand_files_open_a_job_still_runs() -> None:
    """`select` refuses descriptors from 1,024 on, which a service that indexes may well have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    held = [os.dup(0) for _ in range(1100)]
    try:
        assert in_a_process(max, 1, 2) == 2
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _meets(_folder: Path, processes: int, own: Path, other: Path) -> int:
    """Returns when another process has called this with the same pipes."""
    ends = [os.open(end, os.O_RDWR) for end in (own, other)]
    os.write(ends[1], b".")
    assert can_be_read(ends[0], PATIENCE)
    return processes


def _killed(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
