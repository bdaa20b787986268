"""A fleet on a cluster of Dask on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lci_py.cluster import dask_index
from lci_py.cluster.dask_calls import connect, open_fleet, preferred, workers_of
from lci_py.cluster.dask_index import Repository, index_fleet
from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.objects import Objects
from lci_py.errors import IndexError_, IndexWriteError, UsageError
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, SearchRequest
from tests.support.branch_repo import commit, git, init
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


def test_only_what_has_changed_is_indexed(client: Any, one: Engine, tmp_path: Path) -> None:
    """A folder with the same commit is not looked at; of a git repository only the parts with other files are indexed."""
    url, bare = str(tmp_path / "store"), tmp_path / "bare.git"
    root = init(tmp_path / "tree", {f"{folder}/m.py": f"def {folder}(): ...\n" for folder in ("x", "y", "z")})
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    repositories = [Repository(name, str(one.root / name), f"of {name}") for name in NAMES[:1]]
    repositories.append(Repository("git", str(bare)))
    made = index_fleet(client, url, repositories, _BUILT, "test", split=20)
    assert made.fresh == sorted(one.name for one in repositories) and not made.warnings
    assert [part.start for part in made.fleet.parts if part.name == "git"] == ["", "y/m.py", "z/m.py"]
    assert index_fleet(client, url, repositories, _BUILT, "test", split=20) == made._replace(fresh=[], published=False)
    commit(root, {"y/m.py": "def changed(): ...\n"})
    git(root, "push", "-q", str(bare), "main")
    again = index_fleet(client, url, repositories, _BUILT, "test", split=20)
    parts = {(part.name, part.start): part for part in made.fleet.parts}
    changed = [part.start for part in again.fleet.parts if part.manifest != parts[part.name, part.start].manifest]
    assert (again.fleet.generation, again.fresh, changed) == (2, ["git"], ["y/m.py"])
    assert {part.commit for part in again.fleet.parts if part.name == "git"} == {git(bare, "rev-parse", "main")}
    assert index_fleet(client, url, repositories[1:], _BUILT, "test", split=20).fleet.generation == 3
    for wrong, error in (
        (repositories[:1] * 2, UsageError), ([], UsageError), ([repositories[1]._replace(commit="x")], UsageError),
        ([*repositories, Repository("gone", str(one.root / "gone"))], UsageError),
        ([repositories[0]._replace(name=".a")], UsageError),
    ):  # fmt: skip
        with pytest.raises(error):
            index_fleet(client, url, wrong, _BUILT, "test")
    assert read_fleet(Objects(url)).generation == 3


def test_a_task_that_fails_is_an_error_of_one_line(client: Any) -> None:
    with pytest.raises(IndexWriteError, match="a worker has failed .ValueError: "):
        dask_index._result(client.submit(int, "no number", pure=False))


def test_linking_in_shares_makes_the_same_graph(
    client: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of several workers links some of the calls."""
    fleet = read_fleet(Objects(url))
    monkeypatch.setattr(dask_index, "_FEWEST_FILES", 1)
    again = dask_index._linked(client, url, replace(fleet, parts=tuple(replace(p, graph=None) for p in fleet.parts)))
    assert again == fleet


def test_the_workers_are_known_whatever_the_client_has_heard_last(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds a client asks the scheduler for a summary without workers, also while somebody asks for them."""

    async def nothing(n_workers: int = 0) -> None: ...

    monkeypatch.setattr(client, "_update_scheduler_info", nothing)
    monkeypatch.setattr(client, "_scheduler_identity", {"workers": {}})
    assert len(workers_of(client, 5)) == 2


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
