"""What a fleet does again, and what it does not: parts that have changed, contents that are known, debris."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.app.upkeep import workspace_root
from lci_py.cluster import indexing
from lci_py.cluster.fleet import Fleet, Part, clean, read_fleet, write_fleet
from lci_py.cluster.indexing import PartSource, index_part, link_parts
from lci_py.cluster.objects import Objects
from lci_py.cluster.sources import Run
from lci_py.search.engine import Engine
from lci_py.source.repository.workspace_changes import add
from lci_py.types.index import BuildSummary
from lci_py.types.record import replace
from lci_py.types.search import MODES, SearchRequest
from tests.support.fleets import FILES, QUERIES, Opened, said

_BUILT = "2026-01-01T00:00:00Z"


class Store:
    """A store in memory, and how to fill it without a cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.objects = folder, Objects(f"memory://{folder}")
        self.done = 0

    def part(self, wanted: PartSource, former: Part | None = None) -> Part:
        self.folder.mkdir(exist_ok=True)
        found, _ = index_part(self.folder, 1, self.objects.url, wanted, former)
        assert found is not None
        return found

    def publish(self, parts: list[Part]) -> Opened:
        """Publish a fleet, and open it."""
        self.done += 1
        (work := self.folder / f"work-{self.done}").mkdir(parents=True)
        fleet = Fleet(0, _BUILT, "test", ()).ordered(parts)
        fleet = link_parts(work, 1, self.objects.url, fleet)
        if self.objects.listed() and self.objects._files.exists(f"{self.objects._base}/fleet.json"):
            self.objects._files.rm(f"{self.objects._base}/fleet.json")
        return Opened(self.objects.url, write_fleet(self.objects, fleet, 0), work / "cache")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[BuildSummary]:
    """What each run of the index did."""
    found: list[BuildSummary] = []
    build = indexing.build

    def noting(*args: Any, **more: Any) -> BuildSummary:
        found.append(build(*args, **more))
        return found[-1]

    monkeypatch.setattr(indexing, "build", noting)
    return found


def lay_out(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def of_folder(root: Path, name: str) -> PartSource:
    return PartSource(name, str(root / name))


def test_only_changed_files_are_extracted(store: Store, built: list[BuildSummary], tmp_path: Path) -> None:
    """A part is brought up to date by the index that it had; the answers are those of one index over all."""
    root = lay_out(tmp_path / "one", FILES)
    names = ["a", "c"]
    for name in sorted(os.listdir(root)):
        if name not in names:
            shutil.rmtree(root / name)
    old = {name: store.part(of_folder(root, name)) for name in names}
    assert [run.parsed_files for run in built] == [2, 5 - 1]
    lay_out(root, {"a/retry.py": FILES["a/retry.py"].replace("wait", "pause"), "a/new.py": "def session(): ...\n"})
    (root / "c/store.js").unlink()
    new = {name: store.part(of_folder(root, name), old[name]) for name in names}
    assert [(run.parsed_files, run.removed_files) for run in built[2:]] == [(2, 0), (0, 1)]
    opened = store.publish(list(new.values()))
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root), refresh="never") as one:
        for query in QUERIES[:8]:
            for mode in MODES:
                request = SearchRequest(query, mode, 10, snippet=2)
                assert said(opened, request) == said(one, request), (query, mode)
    # Nothing has changed: the part stays, whatever the times of its files are.
    os.utime(root / "a" / "new.py")
    assert store.part(of_folder(root, "a"), new["a"]) == new["a"]


def test_a_former_part_that_cannot_be_read_is_made_anew(store: Store, tmp_path: Path) -> None:
    root = lay_out(tmp_path / "one", FILES)
    old = store.part(of_folder(root, "a"))
    for one in store.objects.listed():
        if one.name.startswith(("symbols", "files")):
            store.objects.remove([one.name])
    again = store.part(of_folder(root, "a"), old)
    assert again.counts == old.counts
    store.publish([again]).search(SearchRequest("store", "bm25"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Repositories of which one is a fork, as a workspace."""
    monkeypatch.setenv("LCI_DATA_DIR", str(tmp_path / "data"))
    root = lay_out(tmp_path / "repositories", FILES)
    shutil.copytree(root / "a", root / "fork")
    (root / "fork" / "retry.py").write_text("def another(): ...\n")
    add("w", [str(root / name) for name in ("a", "c", "fork")], None)
    where = workspace_root("w")
    app.build_index(where, jobs=1)
    with app.open_engine(where, refresh="never") as engine:
        yield engine


def test_copies_are_folded_as_in_a_workspace(workspace: Engine, store: Store, tmp_path: Path) -> None:
    parts = [store.part(of_folder(tmp_path / "repositories", name)) for name in ("a", "c", "fork")]
    opened = store.publish(parts)
    folded = 0
    for query in QUERIES[::4]:
        for mode in MODES:
            for limit in (1, 10):
                request = SearchRequest(query, mode, limit, snippet=2)
                expected = said(workspace, request)
                assert said(opened, request) == expected, (query, mode, limit)
                folded += sum(bool(result["also_in"]) for result in expected["results"])
    assert folded > 10
    # Of what may not be read no copy is named.
    alone = Opened(store.objects.url, opened.fleet, tmp_path / "cache", readable=["fork", "c"])
    found = alone.search(SearchRequest("remove_expired", "bm25", 3))
    assert found.results[0].file == "fork/store.py" and not found.results[0].also_in


def test_cleaning(store: Store, tmp_path: Path) -> None:
    root = lay_out(tmp_path / "one", FILES)
    old = store.part(of_folder(root, "a"))
    lay_out(root, {"a/retry.py": "def other(): ...\n"})
    opened = store.publish([store.part(of_folder(root, "a")), store.part(of_folder(root, "c"))])
    expected = said(opened, SearchRequest("store session", "multiview", 5))
    young = clean(store.objects, 3600)
    assert young.removed == 0 and young.young > 3
    done = clean(store.objects, 0)
    assert (done.removed, done.young) == (young.young, 0) and done.bytes > 0
    names = {one.name for one in store.objects.listed()}
    assert old.manifest.name not in names and len(names) == done.kept
    again = Opened(store.objects.url, read_fleet(store.objects), tmp_path / "fresh")
    assert said(again, SearchRequest("store session", "multiview", 5)) == expected
    assert clean(store.objects, 0).removed == 0


def test_cleaning_a_fleet_that_cannot_be_read_removes_nothing(store: Store, tmp_path: Path) -> None:
    root = lay_out(tmp_path / "one", FILES)
    store.publish([store.part(of_folder(root, "a"))])
    fleet = read_fleet(store.objects)
    store.objects.remove([fleet.parts[0].manifest.name])
    before = store.objects.listed()
    with pytest.raises(Exception, match="has no part-"):
        clean(store.objects, 0)
    assert store.objects.listed() == before


def test_what_is_stored_again_is_young(tmp_path: Path) -> None:
    """A run may use an object that is debris until it publishes."""
    objects = Objects(str(tmp_path / "store"))
    (tmp_path / "file").write_bytes(b"x")
    named = objects.put("texts", tmp_path / "file", ".arrays")
    path = tmp_path / "store" / "objects" / named.name
    os.utime(path, (1, 1))
    assert objects.put("texts", tmp_path / "file", ".arrays") == named
    assert path.stat().st_mtime > 1e9


def test_a_part_keeps_its_new_commit(store: Store, tmp_path: Path) -> None:
    """Also if no file of it has changed."""
    root = lay_out(tmp_path / "one", FILES)
    old = store.part(PartSource("a", str(root / "a"), Run(commit="v1")))
    assert store.part(PartSource("a", str(root / "a"), Run(commit="v2")), old) == replace(old, commit="v2")
