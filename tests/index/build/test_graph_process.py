"""The graph is the same whether or not another process links it, even if that process fails."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from lci_py.callgraph import forked
from lci_py.index.build import graph_process
from lci_py.index.build.graph_process import GraphProcess

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no process is forked here")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(40):
        text = f"from m{number // 2} import f\n\n\ndef f(x):\n    f(x)\n    return x(lambda: f)\n"
        (tmp_path / f"m{number}.py").write_text(text)
    return tmp_path


def _graph(root: Path, jobs: int) -> bytes:
    app.build_index(str(root), jobs=jobs, full=True)
    (path,) = (root / ".lci").glob("graph-*")
    return path.read_bytes()


def _started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the processes that are started."""
    found: list[int] = []
    start = GraphProcess.start

    def noted(self: GraphProcess, path: Path) -> None:
        start(self, path)
        if self._process is not None:
            found.append(self._process.pid or 0)

    monkeypatch.setattr(GraphProcess, "start", noted)
    return found


def test_a_process_of_its_own_links_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = _started(monkeypatch)
    alone = _graph(root, 1)
    assert not started
    assert _graph(root, 2) == alone and len(started) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def _dies(*_args: object) -> None:
    os._exit(9)


def _writes_half(_linker: object, path: Path, _sender: object) -> None:
    path.write_bytes(b"half")
    os._exit(9)


def _fails(*_args: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("end", [_dies, _writes_half, _fails])
def test_what_a_process_fails_to_link_is_linked_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, end: Callable[..., None]
) -> None:
    alone = _graph(root, 1)
    started = _started(monkeypatch)
    monkeypatch.setattr(graph_process, "_link_forked", end)
    assert _graph(root, 2) == alone and len(started) == 1


@pytest.mark.parametrize("data", [b"", b"end.", b"1234end.", None])
def test_what_a_process_beside_fails_to_follow_is_followed_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch, data: bytes | None
) -> None:
    """The result of a process that dies or fails is not used."""
    alone = _graph(root, 1)

    def broken(self: forked.Forked) -> None:
        if data is None:
            raise OSError
        reader, writer = os.pipe()
        self._pipe, self._process = reader, os.fork()
        if not self._process:
            os.write(writer, data)
            os._exit(0 if data == b"" else 1)
        os.close(writer)

    monkeypatch.setattr(forked.Forked, "_start", broken)
    assert _graph(root, 2) == alone


def test_bases_that_lead_through_each_other_come_to_an_end(tmp_path: Path) -> None:
    circle = "type A struct { B.C }\ntype B struct { A.C }\nfunc (a A) F() { a.G(); a.x.y() }\n"
    (tmp_path / "a.go").write_text(f"package p\n{circle}")
    chain = "".join(f"class A{i}(A{i + 1}.B):\n    def f(self): self.g()\n" for i in range(300))
    (tmp_path / "b.py").write_text(f"{chain}class A300:\n    class B:\n        def g(self): ...\n")
    assert app.build_index(str(tmp_path), jobs=1).changed
