"""A fleet on a cluster of Dask on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py.cluster.dask_workers import DaskWorkers, connected, preferred, workers_of
from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.indexing import Repository, index_fleet, survey_some
from lci_py.cluster.objects import Objects
from lci_py.cluster.searches import Searches
from lci_py.cluster.workers import here
from lci_py.errors import IndexError_, UsageError
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, SearchRequest
from tests.support.fleets import QUERIES, cluster, make, said

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_BUILT = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def workers() -> Iterator[DaskWorkers]:
    with cluster(2) as address, connected(address) as found:
        yield found


@pytest.fixture
def client(workers: DaskWorkers) -> Any:
    return workers.client


@pytest.fixture(scope="module")
def url(one: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("cluster")
    make(str(folder / "store"), one.root, folder / "work")
    return str(folder / "store")


def test_the_answers_are_those_of_one_index(workers: DaskWorkers, url: str, one: Engine) -> None:
    root = Searches(workers, url, read_fleet(Objects(url)))
    for mode in MODES:
        for query in QUERIES[::4]:
            request = SearchRequest(query, mode, 10, snippet=2)
            assert said(root, request) == said(one, request), (query, mode)


def test_parts_are_indexed_and_linked_by_the_workers(workers: DaskWorkers, one: Engine, tmp_path: Path) -> None:
    """As in this process."""
    repositories = [Repository(name, str(one.root / name)) for name in ("a", "c")]
    made = index_fleet(workers, str(tmp_path / "store"), repositories, _BUILT, "test")
    with here() as alone:
        same = index_fleet(alone, str(tmp_path / "same"), repositories, _BUILT, "test")
    assert [part.graph for part in made.fleet.parts] == [part.graph for part in same.fleet.parts]
    assert made.fresh == ["a", "c"]


def test_a_job_that_fails_is_an_error_of_one_line(workers: DaskWorkers) -> None:
    with pytest.raises(IndexError_, match="its process has ended with exit code 1"):
        list(workers.each(_crash, [()]))
    with pytest.raises(UsageError, match="gone is not a folder"):
        list(workers.each(survey_some, [([(Repository("a", "/gone"), "", ())], 1)]))


def _crash(*_arguments: object) -> None:
    raise ValueError


def test_the_workers_are_known_whatever_the_client_has_heard_last(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds a client asks the scheduler for a summary without workers, also while somebody asks for them."""

    async def nothing(n_workers: int = 0) -> None: ...

    monkeypatch.setattr(client, "_update_scheduler_info", nothing)
    monkeypatch.setattr(client, "_scheduler_identity", {"workers": {}})
    assert len(workers_of(client, 5)) == 2


def test_a_worker_that_is_killed_costs_no_answer(workers: DaskWorkers, url: str, one: Engine) -> None:
    root = Searches(workers, url, read_fleet(Objects(url)))
    request = SearchRequest("store session", "multiview", 10, snippet=2)
    expected = said(one, request)
    assert said(root, request) == expected
    os.kill(next(iter(workers.client.run(os.getpid).values())), signal.SIGKILL)
    for _ in range(3):
        assert said(root, request) == expected


def test_a_late_answer_is_given_up_and_named(workers: DaskWorkers, url: str) -> None:
    root = Searches(workers, url, read_fleet(Objects(url)), timeout=0.0)
    with pytest.raises(IndexError_, match="no part of the fleet has answered"):
        root.search(SearchRequest("store", "bm25"))


def test_few_parts_move_when_a_worker_goes() -> None:
    workers = [f"worker-{number}" for number in range(5)]
    parts = [f"part-{number}" for number in range(500)]
    first = {part: preferred(part, workers)[0] for part in parts}
    assert min(Counter(first.values()).values()) > 60
    moved = [part for part in parts if preferred(part, workers[:-1])[0] != first[part]]
    assert {first[part] for part in moved} == {workers[-1]} and len(moved) == Counter(first.values())[workers[-1]]


def test_nothing_else_imports_dask() -> None:
    code = (
        "import sys, lci_py.cluster.part, lci_py.cli.main, lci_py.app\n"
        "print([name for name in ('dask', 'distributed', 'fsspec') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=_PROJECT)
    assert done.stdout.strip() == "[]"


_PROJECT = Path(__file__).resolve().parents[2]
