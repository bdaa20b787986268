"""Ranked output per query, recorded: a change of ranking is a diff to read. `make golden` rewrites it."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from lci_py.render.text.results import render
from lci_py.render.text.style import Page
from lci_py.search.engine import Engine
from lci_py.types.search import SearchRequest
from tests.conftest import PROJECT

GOLDEN = PROJECT / "fixtures" / "golden" / "search"
QUERIES = {
    "question": "how is the total price of an order computed",
    "name": "Inventory",
    "identifier": "parse_line",
    "two-words": "circle area",
    "phrase": '"not found"',
    "fields": 'return kind:method path:python "return self"',
}


@pytest.mark.parametrize("mode", ["dense", "bm25", "multiview"])
@pytest.mark.parametrize("name", QUERIES)
def test_golden_ranking(session: Engine, name: str, mode: str) -> None:
    answer = session.search(SearchRequest(QUERIES[name], mode, 8, snippet=2, conflicts=True))
    out = io.StringIO()
    render(answer, Page(out), snippet_lines=2, explain=False)
    path: Path = GOLDEN / f"{name}.{mode}.txt"
    if os.environ.get("LCI_UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(out.getvalue(), "utf-8")
    assert path.is_file(), "run `make golden` to record it"
    assert out.getvalue() == path.read_text("utf-8")


def test_golden_symbolic(session: Engine) -> None:
    answer = session.search(SearchRequest("kind:interface name:*", "symbolic", 50, snippet=0))
    out = io.StringIO()
    render(answer, Page(out), snippet_lines=0)
    path = GOLDEN / "interfaces.symbolic.txt"
    if os.environ.get("LCI_UPDATE_GOLDEN"):
        path.write_text(out.getvalue(), "utf-8")
    assert out.getvalue() == path.read_text("utf-8")
