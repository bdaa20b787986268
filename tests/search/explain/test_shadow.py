"""`--shadow`: a second ranking beside the live one, which it must not touch."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from lci_py import app
from lci_py.errors import UsageError
from lci_py.render.relative_paths import seen_from
from lci_py.render.text import results
from lci_py.render.text.style import Page
from lci_py.search.engine import Engine
from lci_py.search.explain.shadow import under
from lci_py.search.query import plan as weights
from lci_py.search.query.plan import plan
from lci_py.search.query.text import read_text
from lci_py.types.record import replace
from lci_py.types.search import Filters, SearchRequest
from tests.conftest import PROJECT
from tests.support.envelopes import envelope
from tests.support.graph_repo import build

SCHEMA = Draft202012Validator(json.loads((PROJECT / "docs" / "json-output.schema.json").read_text()))
#: The same words in a test, so that a ranking which favours tests moves it.
SOURCES = {
    "pool/pool.py": "def evict_idle():\n    pass\n",
    "pool/wire.py": "def idle_wire():\n    pass\n",
    "tests/test_pool.py": "def test_evict_idle():\n    pass\n",
}
#: Nothing but being a test counts.
TESTS_FIRST = weights.Ranking("tests_first", weights.LIVE.weights, {"test": 9.0}, 1.0)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("shadow"), SOURCES))) as opened:
        yield opened


@pytest.fixture(autouse=True)
def another_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(weights.RANKINGS, "tests_first", TESTS_FIRST)


def ask(limit: int = 10, **changes) -> SearchRequest:
    return replace(SearchRequest("evict idle", "multiview", limit, snippet=0), **changes)


def test_moves_are_told_by_both_ranks_and_the_answer_stays(session):
    plain, found = session.search(ask()), session.search(ask(shadow="tests_first"))
    assert replace(found, shadow=None) == plain
    live = [result.file for result in plain.results]
    assert live == ["pool/pool.py", "tests/test_pool.py", "pool/wire.py"]
    assert found.shadow["ranking"] == "tests_first"
    moves = [(move["file"], move["live"], move["shadow"]) for move in found.shadow["moves"]]
    assert moves == [("pool/pool.py", 1, 2), ("tests/test_pool.py", 2, 1)]
    assert found.shadow["same"] == 1
    assert {key: found.shadow["moves"][0][key] for key in ("id", "line", "symbol")} == {
        "id": plain.results[0].id, "line": 1, "symbol": "evict_idle",
    }  # fmt: skip


def test_what_is_beyond_the_results_shown_has_no_rank(session):
    found = session.search(ask(1, shadow="tests_first"))
    moves = [(move["file"], move["live"], move["shadow"]) for move in found.shadow["moves"]]
    assert moves == [("pool/pool.py", 1, None), ("tests/test_pool.py", None, 1)]
    assert found.shadow["same"] == 0


def test_all_numbers_of_the_other_ranking_count():
    numbers = {"weights": {"stem": 1.0}, "factors": {"test": 0.1}, "saturation": 0.3}
    other = weights.Ranking("other", {"balanced_hybrid": numbers["weights"]}, numbers["factors"], numbers["saturation"])
    live = plan(read_text("who evicts what is idle in a pool of connections"), Filters())
    found = under(live, other)
    assert {name: getattr(found, name) for name in numbers} == numbers
    assert replace(found, **{name: getattr(live, name) for name in (*numbers, "ranking")}) == live


def test_the_live_ranking_moves_nothing_beside_itself(session):
    assert session.search(ask(shadow="live")).shadow == {"ranking": "live", "moves": [], "same": 3}


def test_an_answer_that_nothing_ranks_has_no_moves(session):
    only_filters = ask(query="", filters=Filters(kind=("function",)), shadow="tests_first")
    for request in (only_filters, ask(query="kind:function", shadow="tests_first")):
        assert session.search(request).shadow == {"ranking": "tests_first", "moves": [], "same": 3}
    assert session.search(ask(query="zzzz", shadow="live")).shadow["moves"] == []


def test_an_unknown_ranking_names_those_there_are(session):
    for query in ("evict idle", "kind:function"):
        with pytest.raises(UsageError) as raised:
            session.search(ask(query=query, shadow="nothing_like_it"))
        assert all(name in raised.value.hint for name in weights.RANKINGS)


def test_json_fits_the_schema_and_the_table_lists_the_moves(session):
    found = session.search(ask(shadow="tests_first"))
    obj = envelope(found)
    SCHEMA.validate(obj)
    assert obj["shadow"]["same"] == 1
    file = io.StringIO()
    results.render(found, Page(file), snippet_lines=0)
    assert file.getvalue().splitlines()[-4:-1] == [
        "shadow tests_first: 2 moves, 1 the same",
        "    1 → 2  pool/pool.py:1  evict_idle",
        "    2 → 1  tests/test_pool.py:1  test_evict_idle",
    ]


def test_paths_of_moves_are_seen_from_the_folder_of_the_user(session):
    seen = seen_from(session.search(ask(shadow="tests_first")), session.root, str(Path(session.root, "pool")))
    assert [move["file"] for move in seen.shadow["moves"]] == ["pool.py", "../tests/test_pool.py"]


def test_the_flag_and_the_key_of_a_batch(lci, session):
    root = ("--root", str(session.root))
    one = lci("search", "evict idle", "-m", "multiview", "--shadow", "live", "--json", *root)
    assert one.json()["shadow"] == {"ranking": "live", "same": 3}
    lines = [{"query": "evict idle", "shadow": "live"}, {"query": "evict idle"}, {"query": "x", "shadow": 1}]
    ran = lci("search", "--batch", "-", "-m", "multiview", *root, stdin="\n".join(map(json.dumps, lines)))
    first, second, third = map(json.loads, ran.out.splitlines())
    assert first["shadow"]["ranking"] == "live" and "shadow" not in second
    assert "shadow must be a string" in third["error"]["message"]


def test_it_is_for_multiview_and_for_known_rankings(lci, session):
    root = ("--root", str(session.root))
    wrong = lci("search", "evict", "--shadow", "live", *root)
    assert wrong.code == 2 and "--mode multiview" in wrong.err
    unknown = lci("search", "evict", "-m", "multiview", "--shadow", "nothing_like_it", *root)
    assert unknown.code == 2 and "live" in unknown.err
