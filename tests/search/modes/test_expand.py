"""`--expand`: neighbours of the best results, each with the way back, bounded and counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from lci_py.search.modes import expand
from lci_py.types.search import Answer, Filters, SearchRequest
from tests.support.graph_repo import build

#: A utility that many call, and a chain of three behind the one that asks for it.
SOURCES = {
    "core/zebra.py": "def zebra_stripe():\n    return paint()\n\n\ndef paint():\n    return mix()\n\n\ndef mix():\n    return 1\n",
    **{
        f"use/user{i:02}.py": f"from core.zebra import zebra_stripe\n\n\ndef caller_{i:02}():\n    return zebra_stripe()\n"
        for i in range(60)
    },
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with app.open_engine(str(build(tmp_path_factory.mktemp("expand"), SOURCES))) as opened:
        yield opened


def search(session: Engine, hops: int, limit: int = 1, **filters: tuple[str, ...]) -> Answer:
    request = SearchRequest("zebra_stripe", "multiview", limit, Filters(**filters), snippet=1, expand=hops)
    return session.search(request)


def test_each_neighbour_leads_back_to_a_result(session: Engine) -> None:
    answer = search(session, 2)
    plain = search(session, 0)
    assert answer.results[:1] == plain.results and plain.expansion is None
    assert (answer.total, answer.has_more) == (plain.total, plain.has_more)
    ids = {result.id: result for result in answer.results}
    assert len(ids) == len(answer.results)
    for place, result in enumerate(answer.results[1:], 1):
        assert result.via
        for target, _ in result.via:
            assert target in [known.id for known in answer.results[:place]]
    (hit,) = plain.results
    by_name = {result.qualified_name or result.file: result.via for result in answer.results[1:]}
    assert by_name["paint"] == ((hit.id, "called_by"),)
    assert by_name["mix"] == ((next(r.id for r in answer.results if r.symbol == "paint"), "called_by"),)
    assert by_name["caller_00"] == ((hit.id, "calls"),)
    assert by_name["use/user00.py"][0] == (hit.id, "imports")


def test_what_many_call_does_not_flood_the_answer(session: Engine) -> None:
    one = search(session, 1)
    callers = [result for result in one.results if ("calls" in {relation for _, relation in result.via or ()})]
    assert len(callers) == 5
    # 60 callers, 60 importing files, and paint.
    assert one.expansion == {
        "hops": [{"hop": 1, "found": 121, "shown": 8, "left_out": 113}],
        "shown": 8,
        "left_out": 113,
    }
    many = search(session, 5, limit=10)
    whole = search(session, 1, limit=200)  # a neighbour that is a result already is not one again
    assert len({result.id for result in whole.results}) == len(whole.results)
    assert len(many.results) <= 10 + expand.MOST
    assert all(hop["shown"] <= expand.PER_HOP for hop in many.expansion["hops"])
    assert many.expansion["left_out"] == sum(hop["left_out"] for hop in many.expansion["hops"])


def test_neighbours_pass_the_filters(session: Engine) -> None:
    assert {r.file for r in search(session, 2, path=("core/",)).results} == {"core/zebra.py"}
    functions = search(session, 1, kind=("function",))
    assert len(functions.results) > 1 and {r.kind for r in functions.results} == {"function"}
    named = search(session, 1, name=("zebra*", "pai*"))
    assert [r.symbol for r in named.results] == ["zebra_stripe", "paint"]


def test_the_same_twice_and_in_a_context_with_qualified_names(session: Engine, tmp_path: Path) -> None:
    assert search(session, 3) == search(session, 3)
    source = "class Zebra:\n    def __init__(self):\n        self.n = 1\n\n\ndef make_it():\n    return Zebra()\n"
    with app.open_engine(str(build(tmp_path, {"m.py": source}))) as other:
        (hit,) = [r for r in other.search(SearchRequest("Zebra", "multiview", 5)).results if r.symbol == "Zebra"]
    # Who makes objects of a type calls its constructor.
    assert [(link.symbol, link.qualified_name) for link in hit.graph.callers] == [("make_it", "make_it")]
