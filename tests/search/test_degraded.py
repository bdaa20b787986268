"""Multiview without what it reads besides the views: they answer, and the answer says what is missing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from lci_py import app
from lci_py.cli.main import main
from lci_py.errors import DamagedIndexError, UsageError
from lci_py.index.shards.graph import GraphIndex
from lci_py.search.engine import Engine
from lci_py.types.search import Answer, SearchRequest
from tests.cli.fake import VALIDATOR

QUESTION = "stock of the warehouse"


def shard(root: Path) -> Path:
    (found,) = (root / ".lci").glob("graph-*")
    return found


def cut(root: Path) -> None:
    os.truncate(shard(root), shard(root).stat().st_size // 2)


def flip(root: Path) -> None:
    data = bytearray(shard(root).read_bytes())
    data[len(data) // 2] ^= 0xFF
    shard(root).write_bytes(data)


def remove(root: Path) -> None:
    shard(root).unlink()


@pytest.fixture
def root(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "repo"
    shutil.copytree(repo, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("LCI_REFRESH", "never")
    return copy


@pytest.fixture
def fresh(repo: Path) -> Iterator[Engine]:
    with app.open_engine(str(repo)) as opened:
        yield opened


def ask(root: Path, **options: object) -> Answer:
    with app.open_engine(str(root)) as session:
        return session.search(SearchRequest(QUESTION, "multiview", 20, explain=True, **options))  # type: ignore[arg-type]


def signals(answer: Answer) -> set[str]:
    return {step["name"] for result in answer.results for step in (result.explain or {})["waterfall"]}


@pytest.mark.parametrize(("damage", "mode"), [(cut, "error"), (flip, "error"), (remove, "shard_missing")])
def test_the_views_answer_without_the_graph(root: Path, damage: Callable[[Path], None], mode: str) -> None:
    whole = ask(root)
    assert not whole.degraded and "hub" in signals(whole) and all(result.graph for result in whole.results)
    damage(root)
    answer = ask(root)
    (entry,) = answer.degraded
    assert (entry.view, entry.failure_mode, entry.fallback_mode) == ("graph", mode, "dense+bm25+symbolic")
    assert entry.confidence_impact == "medium" and "lci index --full" in entry.detail
    assert answer.results and not any(result.graph for result in answer.results)
    assert not signals(answer) & {"hub", "graph", "near"}


def test_what_asks_for_the_graph_itself_says_so_more_loudly(root: Path) -> None:
    flip(root)
    near = ask(root, near="README.md")
    assert [(item.view, item.confidence_impact) for item in near.degraded] == [("graph", "high")]
    assert near.plan is not None and near.plan["near"] is None and "near" not in signals(near)
    around = ask(root, expand=2)
    assert [(item.view, item.confidence_impact) for item in around.degraded] == [("graph", "high")]
    assert around.results == ask(root).results
    assert around.expansion == {"hops": [], "shown": 0, "left_out": 0}
    with pytest.raises(UsageError, match="not in the index"):
        ask(root, near="nothing.md")


def test_other_views_may_fail_with_it(root: Path) -> None:
    remove(root)
    for path in (root / ".lci").glob("tokens-*"):
        path.unlink()
    found = {item.view: item.fallback_mode for item in ask(root).degraded}
    assert found == {"dense": "bm25+symbolic", "graph": "bm25+symbolic"}


def test_without_words_nothing_is_rewritten(root: Path) -> None:
    for path in (root / ".lci").glob("bm25-*"):
        path.unlink()
    assert [item.view for item in ask(root).degraded] == ["bm25"]


def test_the_command_says_it_and_exits_4_if_strict(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flip(root)
    command = ("search", QUESTION, "-m", "multiview", "--expand", "1", "--explain")
    assert main((*command, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    VALIDATOR.validate(found)
    assert found["degraded"][0]["view"] == "graph" and "graph" not in found["results"][0]
    assert main((*command, "--strict")) == 4
    assert "degraded: graph (error), answered by dense+bm25+symbolic; impact high" in capsys.readouterr().out
    assert main(("callers", "Warehouse")) == 3


def test_a_graph_whose_numbers_lie_is_damage(fresh: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of an index with --trust-index: the checksums fit, the content does not."""
    whole = fresh.search(SearchRequest(QUESTION, "multiview", 20))
    pointers = fresh.snapshot.graph.in_ptr.copy()
    pointers[:] = np.arange(len(pointers))[::-1]
    monkeypatch.setattr(fresh.snapshot.graph, "in_ptr", pointers)
    fresh.snapshot.graph.__dict__.pop("importers")
    answer = fresh.search(SearchRequest(QUESTION, "multiview", 20))
    assert [item.view for item in answer.degraded] == ["graph"] and len(answer.results) == len(whole.results)


def test_a_graph_of_other_files_is_damage(fresh: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    read = GraphIndex.__init__

    def one_less(graph: GraphIndex, path: Path) -> None:
        read(graph, path)
        graph.n_files -= 1

    monkeypatch.setattr(GraphIndex, "__init__", one_less)
    with pytest.raises(DamagedIndexError, match="other files"):
        _ = fresh.snapshot.graph
    assert [item.view for item in fresh.search(SearchRequest(QUESTION, "multiview")).degraded] == ["graph"]
