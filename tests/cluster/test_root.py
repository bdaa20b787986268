"""A search over parts gives the answer of one index over all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lci_py import app
from lci_py.errors import IndexError_, LciError, UsageError
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, Filters, SearchRequest
from tests.support.fleets import Fleet, indexed_paths

#: Repositories that call and import each other, with names and words in common.
FILES = {
    "a-b/notes.md": "# Retries\n\nThe store retries a failed write three times.\n",
    "a/store.py": (
        'import os\nfrom a.retry import backoff\n\n\nclass Store:\n    """Keeps sessions."""\n\n'
        "    def save(self, session, config):\n        cfg = config\n        return backoff(lambda: session.write(cfg))\n\n"
        "    def remove_expired(self, sessions):\n        for session in sessions:\n"
        "            if session.expired():\n                self.drop(session)\n\n"
        "    def drop(self, session):\n        raise KeyError(f\"cannot drop {session}: permission denied\")\n"
    ),
    "a/retry.py": (
        "def backoff(work, times=3):\n    for attempt in range(times):\n        try:\n            return work()\n"
        "        except OSError:\n            wait(attempt)\n\n\ndef wait(attempt):\n    return attempt * 2\n"
    ),
    "b/cmd/main.go": (
        "package main\n\n// Run starts the server.\nfunc Run(config Config) error {\n\treturn serve(config)\n}\n\n"
        "func serve(c Config) error {\n\treturn nil\n}\n\ntype Config struct {\n\tName string\n}\n"
    ),
    "b/cmd/main_test.go": "package main\n\nfunc TestRun(t *testing.T) {\n\tRun(Config{})\n}\n",
    "c/app.py": (
        "from a.store import Store\n\n\ndef run(config):\n    store = Store()\n    store.save(None, config)\n"
        "    store.remove_expired([])\n    return store\n\n\nSTORE = Store()\n"
    ),
    "c/index.js": "export * from './store.js'\n",
    "c/store.js": "export class Store {\n  save(session) { return backoff(() => session) }\n}\nfunction backoff(f) { return f() }\n",
    "c/tests/test_app.py": "from c.app import run\n\n\ndef test_run():\n    assert run({})\n",
}  # fmt: skip
LONG = (
    "Saving a session fails\n\nSee store.py and `remove_expired`.\n\n"
    '  File "a/store.py", line 12, in drop\n\nThe server in cmd/main.go says nothing.\n'
)
QUERIES = (
    "where are expired sessions removed", "store", "Store", "remove_expired", "parse config", "configuration retries",
    '"session"', '"session" "nowhere else"', '"=> session"', '"cannot drop" "def run"', "stroe sessoin", "xyzzy", LONG,
    "KeyError: cannot drop 'x.db': permission denied", "the store retries a failed write", "lang:python save",
    "kind:function", "name:*e* lang:go", "path:c/** run", "serve",
)  # fmt: skip


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("one")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root), refresh="never") as engine:
        yield engine


def split(one: Engine, folder: Path, cuts: list[int]) -> Fleet:
    paths = indexed_paths(one)
    bounds = [0, *sorted(cuts), len(paths)]
    return Fleet(one.root, [paths[a:b] for a, b in zip(bounds, bounds[1:], strict=False)], folder)


@pytest.fixture(scope="module")
def fleet(one: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """One part for each repository."""
    paths = indexed_paths(one)
    found = split(one, tmp_path_factory.mktemp("parts"), [i for i in range(1, len(paths)) if first(paths, i)])
    yield found
    found.close()


def first(paths: list[str], i: int) -> bool:
    return paths[i].partition("/")[0] != paths[i - 1].partition("/")[0]


def said(source: Any, request: SearchRequest) -> Any:
    """The answer, or the error, without what is of the index and not of the query."""
    try:
        found = dataclasses.asdict(source.search(request))
    except LciError as error:
        return type(error).__name__, error.message
    return {key: value for key, value in found.items() if key not in ("index", "trace")}


@pytest.mark.parametrize("mode", MODES)
def test_the_answers_are_those_of_one_index(one: Engine, fleet: Fleet, mode: Any) -> None:
    assert len(fleet.info.parts) == 4
    results = 0
    for query in QUERIES:
        request = SearchRequest(query, mode, 10, snippet=2)
        expected = said(one, request)
        assert said(fleet.root, request) == expected, query
        results += len(expected["results"])
    assert results > 20


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [
    {"filters": Filters(lang=("python",))}, {"filters": Filters(kind=("function", "method"), exclude=("c/**",))},
    {"filters": Filters(name=("S*",))}, {"limit": 2}, {"limit": 3, "offset": 2}, {"context": (1, 2)},
])  # fmt: skip
def test_filters_limits_and_offsets(one: Engine, fleet: Fleet, mode: Any, more: dict[str, Any]) -> None:
    for query in ("store session", '"session"', "run"):
        request = SearchRequest(query, mode, **{"limit": 10, **more})
        assert said(fleet.root, request) == said(one, request)


@given(data=st.data())
@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_does_not_matter_how_the_files_are_divided(
    one: Engine, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(FILES)), max_size=4))
    fleet = split(one, tmp_path_factory.mktemp("cut"), cuts)
    try:
        for query in data.draw(st.lists(st.sampled_from(QUERIES), min_size=3, max_size=6)):
            for mode in MODES:
                request = SearchRequest(query, mode, 10, snippet=2)
                assert said(fleet.root, request) == said(one, request)
    finally:
        fleet.close()


def test_round_trips(fleet: Fleet) -> None:
    """Statistics, heads and results; multiview asks twice more for what is around its best results, and once for links.
    What was counted for a query is known to the next one."""
    asked = fleet.calls.asked
    for mode, query, trips in (
        ("symbolic", "name:Store", ["matches", "present"]),
        ("dense", "expired sessions", ["head", "present"]),
        ("bm25", "expired sessions", ["head", "present"]),
        ("multiview", "expired sessions", ["head", "around", "present", "links"]),
    ):
        asked.clear()
        fleet.root.search(SearchRequest(query, mode, 5))
        before = [method for method, _ in asked if method == "counts"]
        assert len(before) <= 3
        asked.clear()
        fleet.root.search(SearchRequest(query, mode, 5))
        assert [method for method, _ in asked if method != "features"] == trips


def test_a_part_that_does_not_answer_is_named(one: Engine, fleet: Fleet, tmp_path: Path) -> None:
    request = SearchRequest("store sessions", "multiview", 10)
    whole = fleet.root.search(request)
    assert not whole.degraded
    fleet.calls.lost = {1}  # a
    found = fleet.root.search(request)
    assert [(item.view, item.failure_mode, item.confidence_impact) for item in found.degraded] == [
        ("repositories", "error", "high")
    ]
    assert found.degraded[0].detail.startswith("a: ")
    assert found.results and not any(result.file.startswith("a/") for result in found.results)
    fleet.calls.lost = {0, 1, 2, 3}
    with pytest.raises(IndexError_):
        fleet.root.search(request)
    fleet.calls.lost = set()
    # What was counted meanwhile, without that part, is forgotten.
    assert said(fleet.root, request) == said(one, request)
    for late in ("counts", "head", "around", "present", "links"):
        assert late in {method for method, _ in fleet.calls.asked}


def test_a_part_that_is_lost_in_the_middle(one: Engine, fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever call it misses: the answer names it, and the next one is whole again."""
    request = SearchRequest("store sessions", "multiview", 10)
    call = fleet.calls.call
    for lost in ("counts", "head", "around", "features", "present", "links"):

        def losing(method: str, asked: Any, lost: str = lost) -> Any:
            found = call(method, asked)
            return {part: answer for part, answer in found.items() if method != lost or part != 1}

        monkeypatch.setattr(fleet.calls, "call", losing)
        fleet.root._facts = type(fleet.root._facts)()
        found = fleet.root.search(request)
        monkeypatch.undo()
        assert ([item.view for item in found.degraded] == ["repositories"]) or lost == "features"
        assert said(fleet.root, request) == said(one, request)


def test_what_a_fleet_does_not_answer_is_refused(fleet: Fleet) -> None:
    with pytest.raises(UsageError, match="--near"):
        fleet.root.search(SearchRequest("store", "multiview", near="a/store.py"))
    with pytest.raises(UsageError, match="kind"):
        fleet.root.search(SearchRequest("store", "dense", filters=Filters(kind=("klass",))))


def test_the_graph_of_the_parts_is_that_of_one_index(one: Engine, fleet: Fleet) -> None:
    """Edges lead from one part into another one, as in one index over all of them."""
    request = SearchRequest("run", "multiview", 1, snippet=0, filters=Filters(path=("c/app.py",)))
    found = fleet.root.search(request).results[0]
    assert found.graph is not None and found.graph == one.search(request).results[0].graph
    assert {link.file for link in found.graph.callees} == {"a/store.py"}
