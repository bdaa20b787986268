"""The JSON of a search agrees with its schema and with the docs, and --max-tokens cuts it in order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, strategies as st

from lci_py.errors import NoIndexError, UnknownModeError
from lci_py.render import token_budget
from lci_py.render.json import answer as render
from lci_py.search.explain.file import STATUSES
from lci_py.source.repository.ignored import IgnoreRule
from lci_py.types.edges import ROUTE, STEPS
from lci_py.types.index import BuildSummary
from lci_py.types.record import asdict, replace
from lci_py.types.search import (
    BLOCK_KIND,
    CONFLICT_TYPES,
    FILE_KIND,
    KINDS,
    LAMBDA_KIND,
    MODES,
    RELATIONS,
    RESOLUTIONS,
    VIEWS,
    Answer,
    DefinitionSite,
    Degradation,
    GraphContext,
    GraphLink,
    IndexInfo,
    Result,
)
from lci_py.types.source import FileEntry, Skip
from tests.cli.fake_app import HIT
from tests.support.envelopes import envelope

DOCS = Path(__file__).parents[3] / "docs"
SCHEMA = json.loads((DOCS / "json-output.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
INDEX = IndexInfo(12, "2025-03-01T09:30:00Z", "abc123", "main", 0)

# Text from a repository can hold any code point, even surrogates, which stand for bytes of a path that is not UTF-8.
text = st.text(st.characters(), max_size=20)
some = st.text(st.characters(), min_size=1, max_size=20)  # of what no answer can lack: ids, files, languages
name = st.none() | text
line = st.integers(1, 10**6)
score = st.floats(-1e6, 1e6, allow_nan=False)
links = st.lists(st.builds(GraphLink, id=some, symbol=name, file=some, line=line), max_size=3).map(tuple)
count = st.integers(0, 99)
graphs = st.builds(
    GraphContext,
    callers=links,
    callees=links,
    imports=links,
    imported_by=links,
    counts=st.dictionaries(st.sampled_from(["callers", "callees", "imports", "imported_by"]), count),
)
views = st.sampled_from(VIEWS)
sites = st.builds(
    DefinitionSite,
    file=some,
    line=line,
    branch=name,
    build_tag=name,
    relation=st.sampled_from(RELATIONS),
    active=st.booleans(),
    inferred=st.none() | st.just("linux && x86_64"),
)
facts = st.dictionaries(text, st.floats() | text | st.lists(st.floats(), max_size=2), max_size=3)
weights = st.dictionaries(text, score, max_size=2)
steps = st.fixed_dictionaries(
    {"name": some, "view": st.none() | views, "value": st.none() | score, "weight": score, "adds": score},
    optional={"terms": weights},
)
standings = st.dictionaries(views, st.fixed_dictionaries({"rank": line, "score": score}), max_size=3)
explains = st.fixed_dictionaries({"waterfall": st.lists(steps, max_size=3), "views": standings})
counted = st.integers(0, 10**6)
traces = st.dictionaries(
    text,
    st.fixed_dictionaries({"ms": st.floats(0, 1e6)}, optional={"candidates_in": counted, "candidates": counted}),
    max_size=3,
)
fates = st.fixed_dictionaries(
    {"file": some, "status": st.sampled_from(STATUSES), "verdict": some},
    optional={"rank": line, "score": score, "waterfall": st.lists(steps, max_size=2), "views": standings},
)


@st.composite
def results(draw: st.DrawFn) -> Result:
    definitions = draw(st.just(()) | st.lists(sites, min_size=2, max_size=6).map(tuple))
    return Result(
        id=draw(some),
        file=draw(some),
        line=draw(line),
        end_line=draw(line),
        symbol=draw(name),
        qualified_name=draw(name),
        kind=draw(st.sampled_from([*KINDS, BLOCK_KIND])),
        language=draw(some),
        signature=draw(name),
        snippet=draw(text),
        mode_source=draw(views),
        mode_score=draw(score),
        stale=draw(st.booleans()),
        doc=draw(text),
        also_matched=draw(st.none() | st.lists(st.tuples(views, score), max_size=2).map(tuple)),
        graph=draw(st.none() | graphs),
        via=draw(st.none() | st.lists(st.tuples(some, st.sampled_from(["calls", "imports"])), max_size=2).map(tuple)),
        conflict=bool(definitions),
        definitions=definitions,
        explain=draw(st.none() | explains),
    )


degradations = st.builds(
    Degradation,
    view=some,
    failure_mode=st.sampled_from(["shard_missing", "model_mismatch", "timeout", "error"]),
    fallback_mode=some,
    confidence_impact=st.sampled_from(["high", "medium", "low"]),
    detail=text,
)
disagreements = st.fixed_dictionaries(
    {
        "conflict_type": st.sampled_from(["direct-contradiction", "numeric-mismatch"]),
        "recommended_resolution": st.just("escalate-to-user"),
        "sources": st.lists(text, max_size=2),
        "reasoning": some,
    }
)
answers = st.builds(
    Answer,
    query=text,
    mode=st.sampled_from(MODES),
    results=st.lists(results(), max_size=4).map(tuple),
    total=st.integers(0, 999),
    has_more=st.booleans(),
    index=st.builds(IndexInfo, generation=count, built_at=some, commit=name, branch=name, stale_files=count),
    plan=st.none() | facts,
    degraded=st.lists(degradations, max_size=2).map(tuple),
    conflicts=st.lists(disagreements, max_size=2).map(tuple),
    trace=st.none() | traces,
    explain_file=st.none() | fates,
)


def make(**changes: Any) -> Result:
    return replace(HIT, **{"end_line": 6, "mode_score": 0.87654321, **changes})


def answer(*found: Result, **changes: Any) -> Answer:
    return replace(Answer("q", "dense", found, len(found), False, INDEX), **changes)


def definition(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{name}"}]})


@given(answers, st.booleans())
def test_every_envelope_is_valid_and_parses(found: Answer, doc: bool) -> None:
    line = render.dumps(envelope(found, doc=doc))
    definition("searchEnvelope").validate(json.loads(line.encode("utf-8")))


@given(answers)
def test_a_json_line_is_one_line_of_harmless_characters(found: Answer) -> None:
    lines = list(render.search(found, linked=True, explain=True).lines())
    assert len(lines) == len(found.results) + 1
    for line in lines:
        assert line.splitlines() == [line]  # str.splitlines also splits at U+2028, U+0085 and others
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", line)
    for line in lines[:-1]:
        definition("result").validate(json.loads(line))
    definition("jsonlSummary").validate(json.loads(lines[-1]))


@given(text)
def test_text_survives(value: str) -> None:
    again = json.loads(render.dumps({"x": value}))["x"]
    # Two lone surrogates in a row are one character for JSON: their UTF-16 is the same.
    assert again.encode("utf-16", "surrogatepass") == value.encode("utf-16", "surrogatepass")


def test_keys_stand_in_the_order_of_the_contract() -> None:
    site = DefinitionSite("a.py", 1, None, None, "variant")
    full = make(
        stale=True,
        also_matched=(("bm25", 1.0),),
        graph=GraphContext(),
        via=(("x", "calls"),),
        conflict=True,
        definitions=(site, site),
        explain={},
    )
    head = ["id", "file", "line", "end_line", "symbol", "qualified_name", "kind", "language", "signature", "doc"]
    layers = ["stale", "also_in", "also_matched", "graph", "via", "routes", "conflict", "definitions", "explain"]
    ranked = ["snippet_line", "match_line", "snippet", "mode_source", "mode_score"]
    assert list(render.result_object(full)) == [*head, *ranked, *layers]
    # What it lists is what its result is, and so it has a signature where no snippet shows one.
    degraded = Degradation("dense", "timeout", "bm25", "high", "")
    facts = {key: {"x": 1} for key in ("plan", "trace", "truncated", "explain_file")}
    whole = answer(full, degraded=(degraded,), conflicts=({"x": 1},), **facts)
    assert list(envelope(whole)) == [
        *["schema_version", "query", "mode", "results", "total", "has_more", "index"],
        *["plan", "degraded", "conflicts", "trace", "explain_file", "truncated"],
    ]
    assert [key for key in envelope(whole)["results"][0] if key not in layers] == [*head[:-2], *ranked[2:]]


def test_what_does_not_apply_is_absent() -> None:
    plain = envelope(answer(make()))
    assert list(plain) == ["schema_version", "query", "mode", "results", "total", "has_more", "index"]
    assert list(plain["results"][0])[-1] == "mode_score"
    assert "doc" not in plain["results"][0]
    assert "doc" not in envelope(answer(make()), doc=True)["results"][0]
    assert envelope(answer(make(doc="Does f.")), doc=True)["results"][0]["doc"] == "Does f."


def test_a_block_has_no_names() -> None:
    [block] = envelope(answer(make(symbol=None, qualified_name=None, signature=None, kind=BLOCK_KIND)))["results"]
    assert not {"symbol", "qualified_name", "signature"} & set(block)


def test_what_stands_elsewhere_is_not_repeated() -> None:
    def shown(**changes: Any) -> dict[str, Any]:
        [found] = envelope(answer(make(**changes)))["results"]
        return found

    assert shown()["qualified_name"] == "a.f" and "qualified_name" not in shown(qualified_name="f")
    assert "signature" not in shown(snippet="@cached\ndef  f():\n    pass\n")
    assert shown(snippet="    pass\n")["signature"] == shown(snippet="")["signature"] == "def f()"
    assert (
        "qualified_name"
        not in envelope(answer(explain_file={"best": {"symbol": "f", "qualified_name": "f"}}))["explain_file"]["best"]
    )


def values(found: Any) -> list[Any]:
    """All values of all keys in it, but those of the two that may be empty."""
    if isinstance(found, dict):
        own = [value for key, value in found.items() if key not in ("results", "query")]
        return own + [value for item in found.values() for value in values(item)]
    return [value for item in found for value in values(item)] if isinstance(found, list) else []


@given(answers, st.booleans())
def test_nothing_that_says_nothing_is_written(found: Answer, doc: bool) -> None:
    assert all(value not in (None, "", [], {}) for value in values(envelope(found, doc=doc)))


def test_floats_have_six_digits() -> None:
    assert render.result_object(make(mode_score=0.8765432109))["mode_score"] == 0.876543
    assert render.dumps(render.round_floats({"a": [1 / 3, -0.0, float("nan")]})) == '{"a":[0.333333,0.0,null]}'


def test_graph_counts_are_never_less_than_what_is_listed() -> None:
    link = GraphLink("g", None, "a.py", 1)
    graph = GraphContext(callers=(link, link), callees=(link,), imports=(link,), counts={"callers": 9, "callees": 1})
    full = render.lean(render.result_object(make(graph=graph), linked=True)["graph"])
    assert full["counts"] == {"callers": 9} and list(full) == ["callers", "callees", "imports", "counts"]


def test_neighbours_are_short_texts_unless_ids_are_asked_for() -> None:
    links = GraphLink("g", "g", "src/a.py", 1, "A.g"), GraphLink("file:b.py", None, "b.py", 1)
    graph = GraphContext(callers=links, imports=links, counts={"callers": 9})
    [found] = render.search(answer(make(graph=graph))).whole()["results"]
    assert found["graph"] == {"callers": ["A.g :1", "b.py:1"], "counts": {"callers": 9}}
    [found] = render.search(answer(make(graph=graph)), linked=True).whole()["results"]
    assert found["graph"]["imports"] == [
        {"id": "g", "symbol": "g", "qualified_name": "A.g", "file": "src/a.py", "line": 1},
        {"id": "file:b.py", "file": "b.py", "line": 1},
    ]


def test_a_plan_is_short_unless_it_is_explained() -> None:
    plan = {"intent": "name", "signals": {"dense": 1.0}, "ladder": ["fused", "words"], "rung": "fused", "relaxed": []}

    def shown(explain: bool = False, **changes: Any) -> Any:
        return render.search(answer(plan={**plan, **changes}), explain=explain).whole().get("plan")

    assert shown() == {"intent": "name"}
    assert shown(rung="words", relaxed=["x"]) == {"intent": "name", "relaxed": ["x"], "rung": "words"}
    assert shown(explain=True) == {key: value for key, value in plan.items() if value}


def test_errors() -> None:
    error = render.error_object(UnknownModeError("fuzzy"))
    assert error["error"]["valid_modes"] == ["dense", "bm25", "symbolic", "multiview"]
    definition("error").validate(error)
    definition("error").validate(render.error_object(NoIndexError("/x\udcff")))


def test_build_and_dry_run() -> None:
    built = BuildSummary("/r", 1, True, 2, {"go": 2}, {}, 3, {"calls": 1}, {}, 0.123456789, 1, 2)
    shown = render.plain_object(asdict(built))
    definition("indexSummary").validate(json.loads(render.dumps(shown)))
    assert shown["seconds"] == 0.123457
    assert next(iter(shown)) == "schema_version"
    rules = {"c": IgnoreRule(".gitignore", 1, "c")}
    dry = render.dry_run_object([FileEntry("a", 1, 1)], [Skip("b", "binary"), Skip("c", "ignored")], rules)
    definition("dryRun").validate(dry)
    assert dry["skipped"][1] == {
        "path": "c", "reason": "ignored", "rule": {"file": ".gitignore", "line": 1, "pattern": "c"}
    }  # fmt: skip


def test_the_schema_knows_the_vocabulary() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["kind"]["enum"] == [*KINDS, BLOCK_KIND, FILE_KIND]
    assert SCHEMA["$defs"]["graphKind"]["enum"] == [*KINDS, BLOCK_KIND, FILE_KIND, LAMBDA_KIND, *STEPS[ROUTE:]]
    assert SCHEMA["$defs"]["mode"]["enum"] == list(MODES)
    assert SCHEMA["$defs"]["view"]["enum"] == list(VIEWS)
    assert SCHEMA["$defs"]["relation"]["enum"] == list(RELATIONS)
    assert SCHEMA["$defs"]["explainFile"]["properties"]["status"]["enum"] == list(STATUSES)
    assert list(SCHEMA["$defs"]["conflictsAnswer"]["properties"]["by_relation"]["properties"]) == list(RELATIONS)
    assert SCHEMA["$defs"]["disagreement"]["properties"]["conflict_type"]["enum"] == list(CONFLICT_TYPES)
    assert SCHEMA["$defs"]["disagreement"]["properties"]["recommended_resolution"]["enum"] == list(RESOLUTIONS)


@pytest.mark.parametrize("change", [{"extra": 1}, {"mode": "fuzzy"}, {"schema_version": 1}, {"degraded": []}])
def test_the_schema_refuses(change: dict[str, Any]) -> None:
    whole = envelope(answer(make()))
    VALIDATOR.validate(whole)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(whole | change)


def test_the_schema_ties_conflict_to_definitions() -> None:
    shown = render.result_object(make())
    with pytest.raises(jsonschema.ValidationError):
        definition("result").validate(shown | {"conflict": True})


BLOCKS = re.findall(r"```json\n(.*?)```", (DOCS / "json-output.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_examples_of_the_docs_are_valid(block: str) -> None:
    VALIDATOR.validate(json.loads(block))


def test_the_docs_have_examples() -> None:
    assert len(BLOCKS) >= 5


# --- --max-tokens -----------------------------------------------------------------------------------------------


def size_of(found: Answer) -> int:
    """The tokens of its JSON."""
    return token_budget.tokens(render.dumps(envelope(found)))


@given(answers, st.integers(1, 1200))
def test_a_cut_answer_fits_and_is_a_head(found: Answer, limit: int) -> None:
    cut = token_budget.cut(found, limit, size_of)
    size = token_budget.tokens(render.dumps(envelope(cut)))
    assert size <= limit or (len(cut.results) <= 1 and not cut.conflicts)
    assert bool(cut.results) == bool(found.results)  # nothing says that there is none
    assert [r.id for r in cut.results] == [r.id for r in found.results[: len(cut.results)]]
    dropped = len(found.results) - len(cut.results)
    emptied = sum(a.snippet != b.snippet for a, b in zip(found.results, cut.results, strict=False))
    if cut.truncated is None:
        assert cut == found
    else:
        note = {"results_dropped": dropped, "snippets_dropped": emptied, "max_tokens": limit}
        shown = list(zip(found.results, cut.results, strict=False))
        if silenced := sum(a.explain != b.explain for a, b in shown):
            note["explanations_dropped"] = silenced
            assert all(not b.snippet for a, b in shown if a.explain != b.explain)
        if fewer := sum(len(a.definitions) - len(b.definitions) for a, b in shown):
            note["definitions_dropped"] = fewer
            assert all(len(b.definitions) >= min(len(a.definitions), token_budget.KEPT_DEFINITIONS) for a, b in shown)
        if silent := len(found.conflicts) - len(cut.conflicts):
            note["conflicts_dropped"] = silent
            assert len(cut.results) <= 1  # results go before disagreements
        assert cut.truncated == note
        assert cut.total == found.total
        definition("searchEnvelope").validate(json.loads(render.dumps(envelope(cut))))


def test_snippets_go_before_results_and_from_the_tail() -> None:
    whole = answer(*(make(id=str(i), snippet="x" * 400) for i in range(3)))
    size = token_budget.tokens(render.dumps(envelope(whole)))
    one = token_budget.cut(whole, size - 50, size_of)
    assert [bool(r.snippet) for r in one.results] == [True, True, False]
    assert not one.has_more
    two = replace(whole, results=tuple(replace(r, snippet="") for r in whole.results[:2]))
    bare = token_budget.tokens(render.dumps(envelope(two))) + 30  # room for the note
    less = token_budget.cut(whole, bare, size_of)
    assert [r.snippet for r in less.results] == ["", ""]
    assert less.has_more
    assert less.truncated == {"results_dropped": 1, "snippets_dropped": 2, "max_tokens": bare}


def test_explanations_go_before_results() -> None:
    why = {
        "waterfall": [{"name": "content", "view": "bm25", "value": 1.0, "weight": 1.0, "adds": 1.0}] * 20,
        "views": {},
    }
    whole = answer(*(make(id=str(i), snippet="x" * 40, explain=why) for i in range(3)))
    size = token_budget.tokens(render.dumps(envelope(whole)))
    cut = token_budget.cut(whole, size // 2, size_of)
    assert [result.id for result in cut.results] == ["0", "1", "2"]
    assert [result.explain is None for result in cut.results] == [False, True, True]
    assert cut.truncated is not None and cut.truncated["explanations_dropped"] == 2
    definition("searchEnvelope").validate(envelope(cut))


def test_definitions_go_before_results_and_those_that_matter_stay() -> None:
    sites = tuple(DefinitionSite("src/b.py", i, "main", "linux" * 9, "variant", i == 30) for i in range(1, 41))
    own = DefinitionSite("src/a.py", 4, "main", "windows", "variant")
    first, last = (make(id=str(i), conflict=True, definitions=(*sites, own), snippet="") for i in range(2))
    whole = answer(first, last, conflicts=({"reasoning": "x" * 40},))
    size = token_budget.tokens(render.dumps(envelope(whole)))
    cut = token_budget.cut(whole, size - 100, size_of)
    assert cut.results[0].definitions == first.definitions
    assert cut.results[1].definitions == (sites[0], sites[29], own)
    assert cut.truncated == {
        "results_dropped": 0, "snippets_dropped": 0, "max_tokens": size - 100, "definitions_dropped": 38
    }  # fmt: skip
    definition("searchEnvelope").validate(envelope(replace(cut, conflicts=())))
    least = size_of(token_budget.cut(whole, 1, size_of))
    assert token_budget.cut(whole, least - 1, size_of).truncated["conflicts_dropped"] == 1
    several = replace(whole, conflicts=({"reasoning": "x" * 40},) * 5)
    some = token_budget.cut(several, least + 40, size_of)
    assert len(some.results) == 1
    assert some.truncated["conflicts_dropped"] == 5 - len(some.conflicts) and some.conflicts


def test_an_answer_that_fits_is_unchanged() -> None:
    whole = answer(make())
    assert token_budget.cut(whole, size_of(whole), size_of) is whole
