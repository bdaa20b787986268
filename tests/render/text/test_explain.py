"""--explain, --explain-file and --trace as text. `make golden` rewrites the recorded answers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from lci_py.render.json import answer as as_json
from lci_py.render.text.style import width_of
from lci_py.types.search import Answer
from tests.conftest import PROJECT
from tests.render.json.test_answer import VALIDATOR
from tests.render.text.test_results import answer, make, shown
from tests.support.envelopes import envelope

GOLDEN = PROJECT / "fixtures" / "golden" / "explain"


def step(name: str, view: str | None, value: float | None, weight: float, adds: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "view": view, "value": value, "weight": weight, "adds": adds, **more}


FUSED = {
    "waterfall": [
        step("content", "bm25", 0.5, 0.8, 0.4),
        step("dense", "dense", 0.925, 1.0, 0.925),
        step("dense_file", "dense", 1.0, 0.5, 0.5),
        step("test", None, None, 0.6, -0.73),
        step("same_file", None, None, 0.5, -0.5475),
    ],
    "views": {"dense": {"rank": 3, "score": 0.83}, "bm25": {"rank": 1210, "score": 12.5}},
}
LEXICAL = {
    "waterfall": [
        step("content", "bm25", 3.25, 1.0, 3.25, terms={"task": 1.0, "cancel": 2.25}),
        step("names", "bm25", 12.0, 1.0, 12.0, terms={"a": 4.0, "b": 3.0, "c": 2.0, "d": 2.0, "e": 1.0}),
        step("files", "bm25", 1.0, 0.5, 0.5, terms={"task": 1.0}),
    ],
    "views": {"bm25": {"rank": 1, "score": 15.75}},
}
MATCH = {"waterfall": [step("match", "symbolic", 1.0, 1.0, 1.0)], "views": {"symbolic": {"rank": 7, "score": 1.0}}}
PLAN = {
    "intent": "balanced_hybrid",
    "ranking": "live",
    "weights": {"dense": 1.0, "content": 0.8, "names": 0.35, "paths": 0.4, "files": 0.4, "symbol": 0.4, "stem": 0.4},
    "factors": {"test": 0.6, "block": 0.95},
    "saturation": 0.5,
    "rewrites": (),
    "filters": {"lang": ("go", "rust"), "path": ("src/**",)},
    "expand": 0,
    "near": None,
    "ladder": ("strict_filter", "hybrid"),
}
TRACE = {
    "open": {"ms": 74.21},
    "filter": {"ms": 0.95, "candidates_in": 1285, "candidates": 46},
    "dense": {"ms": 112.0, "candidates_in": 46, "candidates": 46},
    "graph": {"ms": 27.54, "candidates_in": 2},
    "total": {"ms": 365.5, "candidates": 46},
}
FATE = {
    "file": "src/queue_test.go",
    "status": "ranked",
    "verdict": "rank 37 of 412: nothing from paths and names; the 10th has 1.21, it 0.84 after test took 0.40; "
    "`-n 37` shows it",
    "best": {"id": "x", "symbol": "get", "qualified_name": "Queue.get", "kind": "method", "line": 12},
    "rank": 37,
    "total": 412,
    "score": 0.84,
    "last_shown": {"rank": 10, "score": 1.21},
    "waterfall": [step("dense", "dense", 1.0, 1.24, 1.24), step("test", None, None, 0.677, -0.4)],
    "views": {"dense": {"rank": 812, "score": 0.31, "beyond": True}},
}
LEFT_OUT = {
    "file": "build/a.go",
    "status": "not_indexed",
    "verdict": "not indexed: its folder build is ignored by .gitignore",
    "reason": "ignored",
}


def multiview(**changes: Any) -> Answer:
    first = make(mode_score=0.5475, explain=FUSED, also_matched=(("bm25", 12.5),))
    around = make(id="id1", mode_score=0.0, via=(("id0", "calls"),), explain={"waterfall": [], "views": {}})
    return answer(first, around, mode="multiview", plan=PLAN, trace=TRACE, explain_file=FATE, **changes)


def bm25() -> Answer:
    found = make(mode_source="bm25", mode_score=15.75, explain=LEXICAL)
    plan = {"mode": "bm25", "views": ["bm25"], "terms": {"task": 1.0, "cancel": 1.5}, "phrases": [], "same_file": 0.8}
    return answer(found, mode="bm25", plan=plan, explain_file=LEFT_OUT)


def symbolic() -> Answer:
    return answer(make(mode_source="symbolic", mode_score=1.0, explain=MATCH), mode="symbolic")


ANSWERS = {"multiview": multiview(), "bm25": bm25(), "symbolic": symbolic()}


def recorded(name: str, text: str) -> str:
    path: Path = GOLDEN / name
    if os.environ.get("LCI_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.is_file(), "run `make golden` to record it"
    return path.read_text("utf-8")


@pytest.mark.parametrize("width", [None, 80], ids=["pipe", "80"])
@pytest.mark.parametrize("name", ANSWERS)
def test_golden_table(name: str, width: int | None) -> None:
    text = shown(ANSWERS[name], explain=True, width=width, snippet_lines=1)
    assert text == recorded(f"{name}.{width or 'pipe'}.txt", text)


@pytest.mark.parametrize("name", ANSWERS)
def test_golden_json(name: str) -> None:
    found = envelope(ANSWERS[name])
    VALIDATOR.validate(json.loads(as_json.dumps(found)))
    text = json.dumps(found, indent=1) + "\n"
    assert text == recorded(f"{name}.json", text)


@pytest.mark.parametrize("width", [50, 80])
def test_a_terminal_is_not_overrun(width: int) -> None:
    wide = {**FATE, "file": "src/" + "字" * 30 + ".go", "verdict": "w" * 90 + " and so on" * 9}
    text = shown(multiview(), explain=True, width=width) + shown(answer(make(), explain_file=wide), width=width)
    assert max(map(width_of, text.splitlines())) <= width


def test_what_decides_nothing_is_no_line_of_the_plan() -> None:
    text = shown(multiview(), explain=True)
    assert "filters" in text and not re.search("rewrites|expand|near", text)


def test_the_plan_needs_explain_and_the_rest_does_not() -> None:
    text = shown(multiview())
    assert "balanced_hybrid" not in text.rpartition("\n2 of")[0]
    assert "rank 37 of 412" in text and "trace" in text


def test_ascii_terminals_get_ascii() -> None:
    assert "0.93 x 1.00" in shown(multiview(), "ascii", explain=True)
    assert "1,285 -> 46" in shown(multiview(), "ascii", explain=True)
