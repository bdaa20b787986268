"""What a forked process computes is the same as without it, even if it fails; it does not outlive its caller."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lci_py import app, processes
from lci_py.callgraph.edges import Links
from lci_py.callgraph.link import Linker
from lci_py.callgraph.program import STORED_PROGRAM
from lci_py.callgraph.resolve.calls import FileLinker
from lci_py.processes import ForkedComputation
from lci_py.source.syntax.languages import is_test
from tests.conftest import PROJECT
from tests.support.segments import extracted
from tests.support.waiting import PATIENCE, until


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_what_the_other_process_computes_is_the_result() -> None:
    values = (np.arange(100_000, dtype=np.int32), np.zeros(0, np.uint8))
    process, *found = ForkedComputation(lambda: [np.array([os.getpid()]), *values], fork=True).result()
    assert process.tolist() != [os.getpid()]
    assert all(np.array_equal(*pair) and pair[0].dtype == pair[1].dtype for pair in zip(found, values, strict=True))


def test_what_no_other_process_can_compute_is_computed_here() -> None:
    own = os.getpid()

    def compute() -> list[np.ndarray]:
        if os.getpid() != own:
            raise OSError
        return [np.array([1])]

    assert ForkedComputation(compute, fork=sys.platform == "linux").result() == [np.array([1])]


def links_of(program: str, *, fork: bool) -> Links:
    folder = PROJECT / "fixtures" / "callgraph" / program
    linker = Linker()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "edges.txt"):
        name = path.relative_to(folder).as_posix()
        linker.add(name, is_test(name), extracted(name, path.read_text()))
    return linker.finish(fork=fork)


def check_same(links: Links, others: Links) -> None:
    for name in ("source", "target", "kind", "line", "step", "key_start", "keys"):
        one, two = getattr(links, name), getattr(others, name)
        assert len(one) and np.array_equal(one, two) and one.dtype == two.dtype
    assert all(np.array_equal(getattr(links.program, name), getattr(others.program, name)) for name in STORED_PROGRAM)
    assert all(map(np.array_equal, links.solution, others.solution))


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
@pytest.mark.parametrize("program", ["rust", "java", "c", "python"])
def test_files_are_linked_as_well_in_two_processes(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forks = []
    monkeypatch.setattr(os, "fork", lambda fork=os.fork: forks.append(1) or fork())
    alone, shared = (links_of(program, fork=fork) for fork in (False, True))
    assert len(forks) == 1
    check_same(alone, shared)


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_what_the_other_process_takes_and_never_links_is_linked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, own, link = links_of("python", fork=False), os.getpid(), FileLinker.link
    handle, waiting = os.pipe()

    def fails_elsewhere(self: FileLinker, file: int) -> object:
        if os.getpid() != own:
            os.write(waiting, b".")
            os._exit(1)
        os.read(handle, 1)  # not before the other process has taken files
        os.write(waiting, b".")
        return link(self, file)

    monkeypatch.setattr(FileLinker, "link", fails_elsewhere)
    check_same(alone, links_of("python", fork=True))


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_it_ends_when_its_caller_is_killed() -> None:
    script = (
        "import time; from lci_py.processes import ForkedComputation\n"
        "ForkedComputation(lambda: time.sleep(3600), fork=True); print('started', flush=True); time.sleep(3600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    process.kill()
    assert process.communicate(timeout=PATIENCE) == ("", None)  # ends when the last copy of the pipe is closed


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(40):
        text = f"from m{number // 2} import f\n\n\ndef f(x):\n    f(x)\n    return x(lambda: f)\n"
        (tmp_path / f"m{number}.py").write_text(text)
    time.sleep(0.1)  # the time of a file of just now is not stored
    return tmp_path


def _shards(root: Path, jobs: int) -> dict[str, bytes]:
    app.build_index(str(root), jobs=jobs, full=True)
    return {
        path.name: path.read_bytes()
        for path in (root / ".lci").iterdir()
        if "-" in path.name and "files-" not in path.name
    }


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
@pytest.mark.parametrize("fails", ["to start", "at once", "halfway"])
def test_what_a_forked_process_fails_to_do_is_done_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The result of a process that dies or fails is not used."""
    alone = _shards(root, 1)
    assert {name.partition("-")[0] for name in alone} >= {"graph", "symbols"}
    real = processes.fork

    def broken(body: Callable[[], object], *rest: Any, **options: Any) -> int:
        if body.__qualname__.startswith("ForkedComputation"):
            if fails == "to start":
                raise OSError
            return real(body if fails == "halfway" else lambda: os._exit(1), *rest, **options)
        return real(body, *rest, **options)

    monkeypatch.setattr(processes, "fork", broken)
    monkeypatch.setattr(pickle, "dump", lambda _found, file, _protocol: file.write(b"1234") and os._exit(1))
    found = _shards(root, 2)
    assert set(found) == set(alone)
    assert found == alone


def test_bases_that_lead_through_each_other_come_to_an_end(tmp_path: Path) -> None:
    circle = "type A struct { B.C }\ntype B struct { A.C }\nfunc (a A) F() { a.G(); a.x.y() }\n"
    (tmp_path / "a.go").write_text(f"package p\n{circle}")
    chain = "".join(f"class A{i}(A{i + 1}.B):\n    def f(self): self.g()\n" for i in range(300))
    (tmp_path / "b.py").write_text(f"{chain}class A300:\n    class B:\n        def g(self): ...\n")
    assert app.build_index(str(tmp_path), jobs=1).changed


@pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")
def test_the_other_process_ends_before_anybody_reads_what_it_found() -> None:
    """Until then it holds the memory that it shares with its caller, which the caller changes."""
    found = ForkedComputation(lambda: [np.zeros(1 << 20)], fork=True)
    until(lambda: os.waitid(os.P_PID, found.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG))
    assert len(found.result()[0]) == 1 << 20
