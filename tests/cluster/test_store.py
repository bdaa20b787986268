"""A fleet in a store answers as one index; and every way to break the store is an error that says so, never a wrong
answer."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py.cluster import objects, workers
from lci_py.cluster.fleet import FLEET, read_fleet, write_fleet
from lci_py.cluster.indexing import PartSource, index_part
from lci_py.cluster.objects import NAME, Cache, Objects
from lci_py.cluster.sources import Run
from lci_py.errors import IndexError_, IndexWriteError, ShardMissingError, UsageError
from lci_py.search.engine import Engine
from lci_py.types.record import replace
from lci_py.types.search import MODES, SearchRequest
from tests.support.fleets import QUERIES, Opened, Parts, said


def opened_of(store: Path, folder: Path, **more: Any) -> Opened:
    return Opened(str(store), read_fleet(Objects(str(store))), folder, **more)


def test_the_answers_are_those_of_one_index(one: Engine, store: Path, tmp_path: Path) -> None:
    """Of a store in a folder; `test_root.py` has one in memory."""
    opened = opened_of(store, tmp_path / "cache")
    for query in QUERIES[::3]:
        for mode in MODES:
            request = SearchRequest(query, mode, 10, snippet=2)
            assert said(opened, request) == said(one, request), (query, mode)
    answer = opened.search(SearchRequest("store", "bm25"))
    assert answer.index.generation == 1 and answer.index.stale_files == 0
    assert not any(result.stale for result in answer.results)
    opened.workers.close()


def test_with_a_small_cache(one: Engine, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache holds little, and the answers are the same."""
    opened = parts.opened(parts.fleet(), most=20_000)
    monkeypatch.setattr(workers, "MAX_OPEN", 1)
    for mode in MODES:
        request = SearchRequest("store session", mode, 10, snippet=2)
        assert said(opened, request) == said(one, request)
    opened.workers.close()
    opened.search(SearchRequest("store", "symbolic"))
    opened.workers.close()
    monkeypatch.setattr(objects, "_OPENING", 0)
    [cache] = opened.workers._caches.values()
    cache._evict()
    assert sum(item.stat().st_size for item in cache.folder.iterdir()) <= 20_000


def test_of_what_may_not_be_read_nothing_is_told(parts: Parts) -> None:
    """Neither its results nor its share in the statistics, nor its place in the graph."""
    opened = parts.opened(parts.fleet(), readable=["c", "d"])
    for mode in MODES:
        found = opened.search(SearchRequest("run", mode, 50))
        assert found.results and {result.file[0] for result in found.results} <= {"c", "d"}
    other = parts.opened(parts.fleet(["c", "d"]))
    assert [part.name for part in other.fleet.parts] == ["c", "d"]
    for query in QUERIES:
        for mode in ("dense", "bm25", "symbolic"):
            request = SearchRequest(query, mode, 10, snippet=2)  # type: ignore[arg-type]
            assert said(opened, request) == said(other, request), (query, mode)
    run = opened.search(SearchRequest("run", "multiview", 1)).results[0]
    assert run.file == "c/app.py" and run.graph is not None
    assert run.graph.counts["callees"] == 0 and run.graph.counts["callers"] == 1


def test_equal_content_is_stored_once(one: Engine, store: Path, tmp_path: Path) -> None:
    """Indexing again adds nothing; a copy under another name shares what holds no paths."""
    shutil.copytree(store, tmp_path / "store")
    store = tmp_path / "store"
    before = set(os.listdir(store / "objects"))
    objects = Objects(str(store))
    old = next(part for part in read_fleet(objects).parts if part.name == "a")
    new = index_part(tmp_path, 1, str(store), PartSource("a", str(one.root / "a"), Run(commit="of a")))[0]
    shared = {
        name
        for name in set(os.listdir(store / "objects")) - before
        if not name.startswith(("part", "files", "symbols"))
    }
    assert shared == set() and new.counts == old.counts
    index_part(tmp_path, 1, str(store), PartSource("fork", str(one.root / "a")))
    fresh = {name.partition("-")[0] for name in set(os.listdir(store / "objects")) - before}
    assert "texts" not in fresh and "symbols" in fresh


def test_parts_with_paths_in_common(parts: Parts) -> None:
    fleet = parts.fleet()
    with pytest.raises(IndexWriteError, match="in common"):
        fleet.ordered([*fleet.parts, fleet.parts[0]])


def test_a_run_that_another_one_has_overtaken(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "store")
    objects = Objects(str(tmp_path / "store"))
    fleet = read_fleet(objects)
    assert write_fleet(objects, fleet, 1).generation == 2
    with pytest.raises(IndexWriteError, match="meanwhile"):
        write_fleet(objects, fleet, 1)
    assert read_fleet(objects).generation == 2


def test_a_fleet_of_an_older_format_is_made_anew(store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "store")
    objects = Objects(str(tmp_path / "store"))
    fleet = read_fleet(objects)
    edited(tmp_path / "store", lambda data: data.update(format=1))
    with pytest.raises(IndexError_) as raised:
        read_fleet(objects)
    assert "lci cluster index" in raised.value.hint
    assert write_fleet(objects, fleet, 0) == replace(fleet, generation=1) == read_fleet(objects)


# --- ways to break a store ----------------------------------------------------------------------------------------


def of_role(store: Path, role: str) -> list[Path]:
    found = sorted((store / "objects").glob(f"{role}-*"))
    assert found
    return found


def edited(store: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the manifest of the fleet, and leave its seal as it was."""
    data = json.loads((store / FLEET).read_bytes())
    change(data)
    (store / FLEET).write_text(json.dumps(data))


def flip(path: Path, at: float = 0.5) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * at)] ^= 1
    path.write_bytes(data)


def each(store: Path, role: str, work: Callable[[Path], Any]) -> None:
    for path in of_role(store, role):
        work(path)


def exchanged(store: Path, role: str) -> None:
    first, second = of_role(store, role)[:2]
    data = first.read_bytes()
    shutil.copy(second, first)
    second.write_bytes(data)


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


ROLES = ("part", "files", "symbols", "bm25", "facts", "dense", "tokens", "texts", "partgraph")
#: Only some modes read them.
BREAKS: dict[str, Callable[[Path], Any]] = {
    **{f"{role} missing": lambda store, role=role: each(store, role, Path.unlink) for role in ROLES},
    **{f"{role} torn": lambda store, role=role: each(store, role, lambda path: os.truncate(path, path.stat().st_size // 2))
       for role in ROLES},
    **{f"{role} flipped": lambda store, role=role: each(store, role, flip) for role in ROLES},
    **{f"{role} of another part": lambda store, role=role: exchanged(store, role)
       for role in ("part", "files", "symbols", "bm25", "facts", "texts", "partgraph")},
    "part longer": lambda store: each(store, "part", lambda path: path.write_bytes(path.read_bytes() + b" ")),
    "symbols empty": lambda store: each(store, "symbols", lambda path: path.write_bytes(b"")),
    "bm25 a folder": lambda store: each(store, "bm25", folder_instead),
}  # fmt: skip
MANIFEST_BREAKS: dict[str, Callable[[Path], Any]] = {
    "missing": lambda store: (store / FLEET).unlink(),
    "empty": lambda store: (store / FLEET).write_bytes(b""),
    "torn": lambda store: os.truncate(store / FLEET, 200),
    "flipped": lambda store: flip(store / FLEET),
    "no JSON": lambda store: (store / FLEET).write_bytes(b"\x80\x04}q\x00."),
    "a list": lambda store: (store / FLEET).write_text("[]"),
    "deep": lambda store: (store / FLEET).write_text("[" * 100_000),
    "another format": lambda store: edited(store, lambda data: data.update(format=99)),
    "no format": lambda store: edited(store, lambda data: data.pop("format")),
    "without seal": lambda store: edited(store, lambda data: data.update(seal=None)),
    "another seal": lambda store: edited(store, lambda data: data.update(seal="0" * 64)),
    "a part less": lambda store: edited(store, lambda data: data["parts"].pop()),
    "a part twice": lambda store: edited(store, lambda data: data["parts"].append(data["parts"][0])),
    "another commit": lambda store: edited(store, lambda data: data["parts"][0].update(commit="x")),
    "an older generation": lambda store: edited(store, lambda data: data.update(generation=0)),
    "a path as name": lambda store: edited(store, lambda data: data["parts"][0]["manifest"].__setitem__(0, "../x")),
    "a folder": lambda store: folder_instead(store / FLEET),
    "no store": lambda store: shutil.rmtree(store),
}  # fmt: skip


def test_ways_to_break_a_store_are_many() -> None:
    assert len(BREAKS) + len(MANIFEST_BREAKS) >= 40


@pytest.mark.parametrize("name", MANIFEST_BREAKS)
def test_a_broken_manifest_is_refused(store: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(store, broken := tmp_path / "store")
    MANIFEST_BREAKS[name](broken)
    with pytest.raises(IndexError_) as raised:
        read_fleet(Objects(str(broken)))
    assert raised.value.hint and "Traceback" not in raised.value.message


@pytest.fixture(scope="module")
def of_one_index(one: Engine) -> list[tuple[SearchRequest, Any]]:
    """Requests, and what one index answers."""
    requests = [SearchRequest("store session", mode, 10, snippet=2) for mode in MODES]
    requests.append(SearchRequest('"session"', "multiview", 10, snippet=2))
    return [(request, said(one, request)) for request in requests]


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_object_degrades_the_answer_or_is_an_error(
    of_one_index: list[tuple[SearchRequest, Any]], store: Path, tmp_path: Path, name: str
) -> None:
    """An answer is that of one index, or it names what is missing, or there is none."""
    shutil.copytree(store, broken := tmp_path / "store")
    BREAKS[name](broken)
    noticed = 0
    opened = opened_of(broken, tmp_path / "cache")
    for request, expected in of_one_index:
        try:
            found = opened.search(request)
        except IndexError_ as error:
            assert error.hint or error.message
            noticed += 1
            continue
        if found.degraded:
            assert {item.view for item in found.degraded} <= {"repositories", "graph"}
            assert all(item.detail for item in found.degraded)
            noticed += 1
        else:
            assert said(opened, request) == expected
    assert noticed
    opened.workers.close()


def test_one_broken_part_is_named_and_the_others_answer(one: Engine, store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, broken := tmp_path / "store")
    part = next(part for part in read_fleet(Objects(str(store))).parts if part.name == "a")
    flip(broken / "objects" / part.manifest.name)
    opened = opened_of(broken, tmp_path / "cache")
    for mode in MODES:
        found = opened.search(SearchRequest("run", mode, 10))
        assert [item.detail.partition(":")[0] for item in found.degraded] == ["a"]
        assert found.results and not any(result.file.startswith("a/") for result in found.results)


def test_a_graph_that_is_not_linked_yet_is_said(parts: Parts) -> None:
    fleet = parts.fleet()
    opened = parts.opened(replace(fleet, parts=tuple(replace(part, graph=None) for part in fleet.parts)))
    found = opened.search(SearchRequest("store session", "multiview", 5))
    assert found.results and [item.view for item in found.degraded] == ["graph"]


def test_a_link_in_the_cache_is_not_followed(store: Path, tmp_path: Path) -> None:
    objects, cache = Objects(str(store)), Cache(Objects(str(store)), tmp_path / "cache", 1 << 30)
    named = read_fleet(objects).parts[0].manifest
    (tmp_path / "secret").write_bytes(b"x" * named.bytes)
    (tmp_path / "cache" / named.name).symlink_to(tmp_path / "secret")
    path = cache.path(named)
    assert not path.is_symlink() and path.read_bytes() != b"x" * named.bytes
    assert (tmp_path / "secret").read_bytes() == b"x" * named.bytes
    assert all(NAME.fullmatch(one.name) for one in objects.listed())


def test_a_store_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        Objects("nosuchprotocol://x")
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexError_):
        read_fleet(Objects(str(tmp_path / "file")))
    with pytest.raises(ShardMissingError, match="has no fleet.json"):
        read_fleet(Objects(str(tmp_path / "none")))
