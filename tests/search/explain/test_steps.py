"""Every waterfall adds up to its score: for any signals, and for real queries in all modes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.render.json import answer as render
from lci_py.search.engine import Engine
from lci_py.search.modes import single
from lci_py.search.query.plan import Plan
from lci_py.search.ranking.fusion import GRAPH, SIGNAL_VIEW, Candidates, RankedCandidates
from lci_py.search.ranking.same_file import POOL
from lci_py.types.record import replace
from lci_py.types.search import MODES, Answer, Filters, SearchRequest
from tests.search.modes.test_ranked_golden import QUERIES
from tests.support.envelopes import envelope
from tests.support.properties import examples

unit_interval = st.floats(0, 1, width=32)
WORDS = ["item", "order", "total", "parse", "line", "Inventory", "circle", "area", "not", "found", "warehouse", "add",
         "test", "price", "shape", "draw_shape", "zzqqy", "the", "of"]  # fmt: skip


@st.composite
def rankings(draw: st.DrawFn) -> tuple[Candidates, Plan]:
    n = draw(st.integers(1, 12))
    names = draw(st.lists(st.sampled_from(sorted(SIGNAL_VIEW)), unique=True, min_size=1))

    def array(values: st.SearchStrategy[Any], dtype: Any) -> Any:
        return np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype)

    factors = {name: draw(st.floats(0.1, 1.5)) for name in ("test", "block", "text")}
    candidates = Candidates(
        units=np.sort(np.array(draw(st.lists(st.integers(0, 999), min_size=n, max_size=n, unique=True)), np.int64)),
        files=array(st.integers(0, 3), np.int32),
        signals={name: array(unit_interval, np.float32) for name in names},
        factors={name: array(st.booleans(), np.bool_) for name in factors},
    )
    weights = {name: draw(st.floats(0, 2)) for name in SIGNAL_VIEW}
    saturation = draw(st.floats(0.1, 1))
    return candidates, Plan("balanced_hybrid", "live", weights, factors, saturation, {}, (), {}, 0, None, ())


@given(rankings())
def test_the_steps_of_any_fused_result_add_up_to_its_score(made: tuple[Candidates, Plan]) -> None:
    ranked = RankedCandidates(*made)
    for place, item in enumerate(ranked.head(len(ranked))):
        assert sum(step.adds for step in item.steps) == pytest.approx(item.score, abs=1e-8)
        assert all(
            step.adds == pytest.approx(step.weight * step.value, abs=1e-8)
            for step in item.steps
            if step.value is not None and step.name != GRAPH
        )
        factor = math.prod(step.weight for step in item.steps if step.value is None and step.name != "same_file")
        lifts = [step for step in item.steps if step.name == GRAPH]
        assert all(0 < step.adds <= step.weight * (step.value or 0) * factor + 1e-8 for step in lifts)
        assert ranked.find(item.unit) == (place, item)
    assert ranked.find(-1) is None


def test_what_a_step_adds_is_the_same_under_every_python() -> None:
    """Added one after the other, these three make 0.6000000000000001; from 3.12 on `sum` makes 0.6 of them."""
    signals = {"dense": 0.1, "content": 0.2, "names": 0.3}
    candidates = Candidates(
        np.array([0]), np.array([0], np.int32), {name: np.ones(1, np.float32) for name in signals},
        {"test": np.array([True])},
    )  # fmt: skip
    plan = Plan("balanced_hybrid", "live", signals, {"test": 0.7}, 0.5, {}, (), {}, 0, None, ())
    (item,) = RankedCandidates(candidates, plan).head(1)
    assert item.steps[-1].adds == 0.6 * (0.7 - 1)


def check(answer: Answer) -> None:
    """Against the answer as a script gets it: six digits of every number."""
    for result, shown in zip(answer.results, envelope(answer)["results"], strict=True):
        assert result.explain is not None
        steps = result.explain["waterfall"]
        assert sum(step["adds"] for step in steps) == pytest.approx(result.mode_score, rel=1e-6, abs=1e-8)
        signals = [step for step in steps if step["value"] is not None and step["name"] != GRAPH]
        assert all(
            step["adds"] == pytest.approx(step["value"] * step["weight"], rel=1e-6, abs=1e-8) for step in signals
        )
        total = sum(step["adds"] for step in signals)
        for step in steps[len(signals) :]:  # each factor multiplies what stands before it
            if step["name"] == GRAPH:
                assert 0 < step["adds"] <= step["weight"] * step["value"] + 1e-8
            else:
                assert step["adds"] == pytest.approx(total * (step["weight"] - 1), rel=1e-5, abs=1e-8)
            total += step["adds"]
        for step in signals:
            if "terms" in step:
                assert sum(step["terms"].values()) == pytest.approx(step["value"], rel=1e-6)
        written = [step["adds"] for step in shown.get("explain", {}).get("waterfall", ())]
        assert len(written) == len(steps)
        # Half a unit of the sixth digit of each number.
        bound = 5e-6 * sum(map(abs, [*written, shown["mode_score"]])) + 1e-8
        assert sum(written) == pytest.approx(shown["mode_score"], abs=bound)


@examples(60)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    st.sampled_from(MODES),
    st.sampled_from([Filters(), Filters(lang=("python", "go")), Filters(kind=("method", "block"))]),
)
def test_every_waterfall_of_a_real_query_adds_up(session: Engine, query: str, mode: Any, filters: Filters) -> None:
    check(session.search(SearchRequest(query, mode, 60, filters, snippet=0, explain=True)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", [*QUERIES.values(), '"=>"', "lang:python kind:method"])
def test_the_recorded_queries_add_up_to_the_last_result(session: Engine, mode: Any, query: str) -> None:
    limit = 2000 if mode == "multiview" else 100  # signals that run out towards the end are those of several
    check(session.search(SearchRequest(query, mode, limit, snippet=0, explain=True)))


@pytest.mark.parametrize("mode", ["dense", "bm25"])
def test_a_definition_of_several_chunks_is_explained_by_its_best(tmp_path: Path, mode: Any) -> None:
    lines = [f"    record_{i} = store(entry, {i})" for i in range(120)]
    lines[100] = "    retry the failed upload of a queue: upload(queue)"
    (tmp_path / "a.py").write_text("\n".join(["def long(entry):", *lines, "", "", "def upload(queue): pass", ""]))
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as opened:
        counts = opened.snapshot.numbering.total
        assert counts("chunks") > counts("units")
        for query in ("retry the failed upload", "store an entry"):
            answer = opened.search(SearchRequest(query, mode, explain=True))
            assert "long" in [result.symbol for result in answer.results]
            check(answer)


def test_results_behind_the_head_add_up(session: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ranking.same_file", "modes.single", "ranking.evidence"):
        monkeypatch.setattr(f"lci_py.search.{module}.POOL", 5)
    assert single.POOL == 5 != POOL
    for mode in ("dense", "bm25"):
        answer = session.search(SearchRequest("add an item to the order", mode, 12, snippet=0, explain=True))
        check(answer)
        names = [{step["name"] for step in result.explain["waterfall"]} for result in answer.results]  # type: ignore[index]
        assert all(("behind" in found) == (place >= 5) for place, found in enumerate(names))


def test_neighbours_are_explained_as_far_as_there_is_a_score(session: Engine) -> None:
    request = SearchRequest("add an item", "multiview", 3, snippet=0, expand=1, explain=True)
    answer = session.search(request)
    assert any(result.via and not result.mode_score for result in answer.results)
    check(answer)


@pytest.mark.parametrize("mode", MODES)
def test_explaining_changes_nothing_else(session: Engine, mode: Any) -> None:
    plain = SearchRequest("parse_line of an order", mode, 9)
    asked = SearchRequest("parse_line of an order", mode, 9, explain=True, explain_file="README.md", trace=True)
    bare, full = (envelope(session.search(request)) for request in (plain, asked))
    for result in full["results"]:
        del result["explain"]
    assert [full.pop(key) for key in ("trace", "explain_file")]
    full["plan"] = bare["plan"] = full.get("plan")
    assert full == bare


def test_a_single_mode_says_what_it_ranks_by(session: Engine) -> None:
    plan = session.search(SearchRequest('"def get"', "bm25", filters=Filters(lang=("python",)), explain=True)).plan
    assert plan is not None
    assert (plan["views"], plan["phrases"], plan["filters"]) == (["bm25"], ["def get"], {"lang": ("python",)})
    assert {"def", "get"} <= plan["terms"].keys()
    dense = session.search(SearchRequest("order", "dense", explain=True)).plan
    assert dense is not None
    assert sum(weight for name, weight in dense["weights"].items() if name != "stem") == pytest.approx(1)
    structure = session.search(SearchRequest("kind:class A*", "symbolic", explain=True)).plan
    assert structure is not None and structure["filters"] == {"kind": ("class",), "name": ("A*",)}


# --- stages -------------------------------------------------------------------------------------------------------

STAGES = {
    "dense": ["load", "plan", "filter", "phrases", "dense", "same_file", "present", "total"],
    "bm25": ["load", "plan", "filter", "phrases", "bm25", "same_file", "present", "total"],
    "symbolic": ["plan", "filter", "present", "total"],
    "multiview": [
        "load", "plan", "filter", "phrases", "dense", "bm25", "symbolic", "fusion", "graph", "present", "total",
    ],
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_every_stage_is_counted(session: Engine, mode: Any) -> None:
    query = "*" if mode == "symbolic" else '"def get"'
    request = SearchRequest(query, mode, 4, Filters(lang=("python",)), trace=True)
    answer = session.search(request)
    trace = answer.trace
    assert trace is not None
    assert [name for name in trace if name != "open"] == STAGES[mode]
    assert all(stage["ms"] >= 0 for stage in trace.values())
    everything = session.snapshot.numbering.total("symbols" if mode == "symbolic" else "units")
    assert trace["filter"]["candidates_in"] == everything > trace["filter"]["candidates"]
    if mode != "symbolic":
        assert trace["phrases"]["candidates_in"] == trace["filter"]["candidates"]
    assert trace["present"]["candidates"] == len(answer.results)
    assert trace["total"]["candidates"] == answer.total
    assert session.search(SearchRequest(query, mode)).trace is None
    # What is looked up about a file is one stage, and changes no other.
    more = session.search(replace(request, explain_file="README.md")).trace
    assert more is not None and more.pop("explain_file")
    assert {name: stage.get("candidates") for name, stage in more.items()} == {
        name: stage.get("candidates") for name, stage in trace.items() if name != "open"
    }


def test_the_opening_is_reported_once(repo: Path) -> None:
    with app.open_engine(str(repo)) as opened:
        request = SearchRequest("x", "symbolic", trace=True)
        first, second = opened.search(request).trace, opened.search(request).trace
    assert first is not None and second is not None
    assert next(iter(first)) == "open" and "open" not in second
    assert first["total"]["ms"] >= first["open"]["ms"]


def test_an_explained_answer_is_json(session: Engine) -> None:
    answer = session.search(SearchRequest("item", "multiview", explain=True, trace=True, explain_file="README.md"))
    assert json.loads(render.dumps(envelope(answer)))["explain_file"]["file"] == "README.md"
