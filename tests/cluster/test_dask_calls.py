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

from lci_py.cluster.dask_calls import connect, open_fleet, preferred
from lci_py.cluster.dask_index import Repository, index_fleet
from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.objects import Objects
from lci_py.errors import IndexError_, UsageError
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, SearchRequest
from tests.support.fleets import NAMES, QUERIES, make, said

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_BUILT = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect(None, workers=2) as found:
        yield found
        found.cluster.close()


@pytest.fixture(scope="module")
def url(one: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("cluster")
    make(str(folder / "store"), one.root, folder / "work")
    return str(folder / "store")


def test_the_answers_are_those_of_one_index(client: Any, url: str, one: Engine) -> None:
    root = open_fleet(client, url, read_fleet(Objects(url)))
    for mode in MODES:
        for query in QUERIES[::4]:
            request = SearchRequest(query, mode, 10, snippet=2)
            assert said(root, request) == said(one, request), (query, mode)


def test_only_what_has_changed_is_indexed(client: Any, url: str, one: Engine) -> None:
    repositories = [Repository(name, str(one.root / name), f"of {name}") for name in NAMES]
    assert index_fleet(client, url, repositories, _BUILT, "test").fresh == []
    assert read_fleet(Objects(url)).generation == 1
    changed = [*repositories[:-1], repositories[-1]._replace(commit="2")]
    fleet, fresh, _ = index_fleet(client, url, changed, _BUILT, "test")
    assert (fleet.generation, fresh) == (2, [NAMES[-1]])
    for wrong, error in (
        (repositories[:1] * 2, UsageError), ([], UsageError),
        ([*changed, Repository("gone", str(one.root / "gone"))], UsageError),
    ):  # fmt: skip
        with pytest.raises(error):
            index_fleet(client, url, wrong, _BUILT, "test")
    assert read_fleet(Objects(url)).generation == 2


def test_a_worker_that_is_killed_costs_no_answer(client: Any, url: str, one: Engine) -> None:
    root = open_fleet(client, url, read_fleet(Objects(url)))
    request = SearchRequest("store session", "multiview", 10, snippet=2)
    expected = said(one, request)
    assert said(root, request) == expected
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    for _ in range(3):
        assert said(root, request) == expected


def test_a_late_answer_is_given_up_and_named(client: Any, url: str) -> None:
    root = open_fleet(client, url, read_fleet(Objects(url)), timeout=0.0)
    with pytest.raises(IndexError_, match="no part of the fleet has answered"):
        root.search(SearchRequest("store", "bm25"))


def test_a_repository_that_may_not_be_read(client: Any, url: str) -> None:
    root = open_fleet(client, url, read_fleet(Objects(url)), readable=lambda name: name != "a")
    found = root.search(SearchRequest("store", "bm25", 50))
    assert found.results and not any(result.file.startswith("a/") for result in found.results)


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
