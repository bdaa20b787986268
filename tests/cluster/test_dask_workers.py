"""A fleet on a cluster of Dask on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py.cli.main import main
from lci_py.cluster import workers as workers_module
from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.indexing import PartSource, index_fleet, survey_repository
from lci_py.cluster.objects import Objects
from lci_py.cluster.root import Root
from lci_py.cluster.workers import DaskWorkers, connect, here, preferred_workers, workers_of
from lci_py.errors import EXIT_OK, EXIT_USAGE, IndexError_, UsageError
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, SearchRequest
from tests.conftest import Ran
from tests.support.fleets import QUERIES, cluster, said

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_BUILT = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster(2) as found:
        yield found


@pytest.fixture(scope="module")
def workers(address: str) -> Iterator[DaskWorkers]:
    with connect(address) as found:
        yield found


@pytest.fixture
def client(workers: DaskWorkers) -> Any:
    return workers.client


@pytest.fixture(scope="module")
def url(store: Path) -> str:
    return str(store)


def test_the_answers_are_those_of_one_index(workers: DaskWorkers, url: str, one: Engine) -> None:
    root = Root(workers, url, lambda: read_fleet(Objects(url)))
    for mode in MODES:
        for query in QUERIES[::8]:
            request = SearchRequest(query, mode, 10, snippet=2)
            assert said(root, request) == said(one, request), (query, mode)


def test_a_job_that_fails_is_an_error_of_one_line(workers: DaskWorkers) -> None:
    with pytest.raises(UsageError, match="gone is not a folder"):
        list(workers.each(survey_repository, [(PartSource("a", "/gone"), "", (), 1)]))


def test_the_workers_are_known_whatever_the_client_has_heard_last(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds a client asks the scheduler for a summary without workers, also while somebody asks for them."""

    async def nothing(n_workers: int = 0) -> None: ...

    monkeypatch.setattr(client, "_update_scheduler_info", nothing)
    monkeypatch.setattr(client, "_scheduler_identity", {"workers": {}})
    assert len(workers_of(client, 5)) == 2


def test_a_worker_that_is_killed_costs_no_answer(workers: DaskWorkers, url: str, one: Engine) -> None:
    root = Root(workers, url, lambda: read_fleet(Objects(url)))
    request = SearchRequest("store session", "multiview", 10, snippet=2)
    expected = said(one, request)
    assert said(root, request) == expected
    os.kill(next(iter(workers.client.run(os.getpid).values())), signal.SIGKILL)
    for _ in range(3):
        assert said(root, request) == expected


def test_a_late_answer_is_given_up_and_named(workers: DaskWorkers, url: str) -> None:
    root = Root(DaskWorkers(workers.client, 0.0), url, lambda: read_fleet(Objects(url)))
    with pytest.raises(IndexError_, match="no worker has answered in time"):
        root.search(SearchRequest("store", "bm25"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Ran]:
    """`lci cluster` in this process, with the fleet of this test."""

    def go(action: str, *args: str) -> Ran:
        capsys.readouterr()
        code = main(["cluster", action, "--store", str(tmp_path / "store"), *args])
        return Ran(code, *capsys.readouterr())

    return go


def test_the_command_from_end_to_end(address: str, run: Callable[..., Ran], tmp_path: Path) -> None:
    for name, text in (
        ("one", "def remove_expired(sessions):\n    pass\n"),
        ("two", "def keep(sessions):\n    pass\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "store.py").write_text(text)
    (tmp_path / "repos").write_text(f"one {tmp_path}/one\ntwo {tmp_path}/two  # the other one\n")
    of = ("--scheduler", address)
    made = run("index", *of, "--repos", str(tmp_path / "repos"), "--json")
    assert made.code == EXIT_OK and made.json()["indexed"] == ["one", "two"] and not made.err
    with here() as alone:  # the same objects as in this process
        repositories = [PartSource(name, str(tmp_path / name)) for name in ("one", "two")]
        same = index_fleet(alone, str(tmp_path / "same"), repositories, _BUILT, "test").fleet
    assert [part.graph for part in read_fleet(Objects(str(tmp_path / "store"))).parts] == [p.graph for p in same.parts]
    local = run("search", "remove expired", "-m", "multiview", "--json")
    found = run("search", *of, "remove expired", "-m", "multiview", "--json")
    assert found.code == EXIT_OK and not found.err and "degraded" not in found.json()
    assert found.json() == local.json()
    best = found.json()["results"][0]
    assert (best["repository"], best["file"]) == ("one", "one/store.py")
    _ask_in_a_batch(run, of, found, tmp_path)
    (tmp_path / "repos").write_text(f"one {tmp_path}/one\n")
    less = run("index", *of, "--repos", str(tmp_path / "repos"))
    assert less.out.startswith("1 repository, 1 files, ") and "0 indexed" in less.out
    done = run("clean", "--grace", "0", "--json")
    assert done.code == EXIT_OK and done.json()["removed"] > 5 and done.json()["kept"] > 5


def _ask_in_a_batch(run: Callable[..., Ran], of: tuple[str, ...], alone: Ran, folder: Path) -> None:
    """Each line is answered as a command of its own, a wrong one with an error, and all over one connection."""
    (folder / "lines").write_text(
        'remove expired\n{"query": "sessions", "repo": "two", "mode": "bm25"}\n{"query": "x", "near": "f"}\n{x\n'
    )
    opened = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers_module, "connect", lambda *args: opened.append(args) or connect(*args))
        said = run("search", *of, "--batch", str(folder / "lines"), "-m", "multiview")
    first, other, unknown, broken = map(json.loads, said.out.splitlines())
    assert first == alone.json() and len(opened) == 1 and said.code == EXIT_USAGE
    assert [result["file"] for result in other["results"]] == ["two/store.py"] and other["mode"] == "bm25"
    assert "near" in unknown["error"]["message"] and unknown["error"]["line"] == 3
    assert "not a JSON object" in broken["error"]["message"]


def test_few_parts_move_when_a_worker_goes() -> None:
    workers = [f"worker-{number}" for number in range(5)]
    parts = [f"part-{number}" for number in range(500)]
    first = {part: preferred_workers(part, workers)[0] for part in parts}
    assert min(Counter(first.values()).values()) > 60
    moved = [part for part in parts if preferred_workers(part, workers[:-1])[0] != first[part]]
    assert {first[part] for part in moved} == {workers[-1]} and len(moved) == Counter(first.values())[workers[-1]]


def test_nothing_else_imports_dask() -> None:
    code = (
        "import sys, lci_py.cluster.indexing, lci_py.cli.main, lci_py.app\n"
        "print([name for name in ('dask', 'distributed', 'fsspec') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=_PROJECT)
    assert done.stdout.strip() == "[]"


_PROJECT = Path(__file__).resolve().parents[2]
