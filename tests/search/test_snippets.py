"""The lines of a result are those that match the query best."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.search.answer.results import LineMatcher, _marks
from lci_py.search.engine import Engine
from lci_py.search.query.text import read_text
from lci_py.types.search import MODES, Result, SearchRequest
from tests.conftest import Ran

SOURCE = """\
import os


class Pool:
    pass


# Sweeps what is idle, on every tick of the timer.
def collect(pool, limit):
    count = 0
    for item in pool:
        count += 1
    while count > limit:
        count -= 1

    session = pool.oldest()
    if session.expired:
        pool.drop_session(session)  # the connection is closed
    return count


def naïve_queries(text):
    größe = 1
    return "Straße queries"  # ünd größe


def read_frame(source):
    count = 0
    # A source that fails may be used again.
    # It is read from there.
    if source.closed:
        raise EOFError(f"cannot read a frame from a source that fails: {source}")
    return source.next()


def last():
    return None
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("snippets")
    (root / "pool.py").write_text(SOURCE, "utf-8")
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as engine:
        yield engine


def found(engine: Engine, query: str, symbol: str, mode: str = "bm25", **more: Any) -> Result:
    results = engine.search(SearchRequest(query, mode, 20, **more)).results  # type: ignore[arg-type]
    return next(result for result in results if result.symbol == symbol)


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(SOURCE.split("\n"), 1) if text in line)


@pytest.mark.parametrize("mode", ["dense", "bm25", "multiview"])
def test_the_lines_that_match_are_shown(opened: Engine, mode: str) -> None:
    result = found(opened, "expired sessions dropped", "collect", mode, snippet=3)
    assert result.snippet.split("\n")[0] == "    session = pool.oldest()"
    assert result.line == line_of("def collect")
    assert result.match_line == result.snippet_line == line_of("session = pool")
    assert [result.snippet.split("\n")[place][a:b] for place, a, b in result.marks] == [
        "session", "session", "expired", "drop", "session", "session",
    ]  # fmt: skip


def test_a_definition_that_matches_as_well_at_its_start_is_shown_from_there(opened: Engine) -> None:
    result = found(opened, "collect", "collect", snippet=3)
    assert (result.snippet_line, result.match_line) == (None, result.line)
    result = found(opened, "count pool", "collect", snippet=3)
    assert result.snippet_line is None  # other lines have as much, and no more


def test_of_lines_with_the_same_words_the_one_that_has_them_together_is_shown(opened: Engine) -> None:
    found = opened.search(SearchRequest("read frame: source fails", "bm25", 1, snippet=2)).results[0]
    assert found.symbol == "read_frame"
    assert 'raise EOFError(f"cannot read a frame' in found.snippet


def test_words_of_the_comment_alone_show_what_it_is_about(opened: Engine) -> None:
    result = found(opened, "sweep idle timer", "collect", snippet=3)
    assert result.snippet.startswith("def collect") and (result.match_line, result.snippet_line) == (None, None)
    phrase = found(opened, '"on every tick"', "collect", snippet=3)
    assert phrase.snippet.startswith("# Sweeps what is idle") and phrase.match_line == phrase.line - 1


def test_nothing_that_matches_shows_the_first_lines(opened: Engine) -> None:
    result = found(opened, "naive", "last", "dense", snippet=3)
    assert (result.snippet_line, result.match_line, result.marks) == (None, None, ())
    assert result.snippet.startswith("def last")
    assert found(opened, "session expired", "collect", snippet=0).match_line is None


def test_a_phrase_is_always_in_the_window(opened: Engine) -> None:
    for mode in MODES:
        query = 'name:collect "connection is"'
        result = found(opened, query, "collect", mode, snippet=2)
        assert "connection is" in result.snippet, mode
        marked = [result.snippet.split("\n")[place][a:b] for place, a, b in result.marks]
        assert "connection is" in marked


def test_marks_count_characters(opened: Engine) -> None:
    result = found(opened, "query größe straße", "naïve_queries", snippet=4)
    lines = result.snippet.split("\n")
    assert [lines[place][a:b] for place, a, b in result.marks] == [
        "naïve_queries", "größe", "Straße", "queries", "größe",
    ]  # fmt: skip


def test_a_symbolic_query_marks_the_name(opened: Engine) -> None:
    result = found(opened, "coll*", "collect", "symbolic", snippet=1)
    assert result.match_line is None  # `coll` is a piece of a word, not one
    result = found(opened, "*_queries", "naïve_queries", "symbolic", snippet=1)
    assert result.match_line == result.line


def test_context_is_around_the_line_that_matches_best(opened: Engine) -> None:
    match = line_of("drop_session")
    for context in ((1, 1), (0, 0), (2, 0), (0, 3), (100, 10**30)):
        result = found(opened, "drop session connection closed", "collect", context=context)
        first, last = max(1, match - context[0]), min(match + context[1], SOURCE.count("\n") + 1)
        assert result.snippet == "\n".join(SOURCE.split("\n")[first - 1 : last])
        assert (result.snippet_line or result.line) == first


def test_a_file_that_changed_shows_only_what_is_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text(SOURCE, "utf-8")
    app.build_index(str(tmp_path), jobs=1)
    (tmp_path / "pool.py").write_text(SOURCE.replace("return None", "session_expired = 1"), "utf-8")
    with app.open_engine(str(tmp_path), refresh="never") as engine:
        result = found(engine, "session expired", "collect", context=(50, 50))
        assert result.stale and result.snippet.startswith("# Sweeps") and result.snippet.endswith("return count")
        gone = found(engine, "last", "last", snippet=3)
        assert gone.stale and not gone.snippet and gone.match_line is None


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("queries", "query Queries inquiry sub_query", ["query", "Queries", "query"]),
        ("id", "width id userId ID", ["id", "Id", "ID"]),
        ("connection pool", "ConnectionPool pooled", ["ConnectionPool", "pooled"]),
        ("removing", "remove removed Remover", ["remove", "removed"]),
        ("getHTTPResponse", "get_http_response other", ["get_http_response"]),
    ],
)
def test_words_are_found_as_the_index_counts_them(query: str, text: str, marked: list[str]) -> None:
    found = LineMatcher(read_text(query).terms).found([text.encode()])
    assert [text[a:b] for _, a, b in _marks(0, text.encode(), found[0])] == marked


def test_a_hostile_line_costs_little() -> None:
    lines = [b"a" * 100_000, b"\xff\xfe" * 1000, *([b"a_a_a_a"] * 5000), b""]
    found = LineMatcher([("a", 1.0), ("b", 1.0)], ["\udcff", "a_a"]).found(lines)
    assert 0 < len(found) <= 700


# --- on the command line ------------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pool.py").write_text(SOURCE, "utf-8")
    app.build_index(str(tmp_path), jobs=1)
    return tmp_path


def test_paths_name_the_line_that_matches(root: Path, lci: Callable[..., Ran]) -> None:
    ran = lci("search", "session expired", "--kind", "function", "--paths", "-n1", cwd=root)
    assert ran.out == f"pool.py:{line_of('session = pool')}\n"
    assert (
        lci("search", "session expired", "-k", "function", "--paths", "-n1", "--snippet", "0", cwd=root).out == ran.out
    )


def test_text_shows_the_signature_above(root: Path, lci: Callable[..., Ran], on_a_terminal: Callable[..., str]) -> None:
    ran = lci("search", "session expired", "-n1", "-k", "function", cwd=root)
    first = line_of("def collect")
    file, head, signature, *code, _ = ran.out.splitlines()
    assert file == "pool.py" and re.match(f"{first}-\\d+ function collect  ", head)
    assert signature == "    def collect(pool, limit)" and "session = pool.oldest()" in code[0]
    assert len(code) == 2
    shown = on_a_terminal(root, "search", "session expired", "-n1", "-k", "function", "--color", "never")
    lines = shown.replace("\r", "").splitlines()
    assert lines[0].startswith(f"pool.py:{first}  function collect") and lines[1] == signature
    assert len([line for line in lines if "│" in line]) == 4


def test_context_flags(root: Path, lci: Callable[..., Ran]) -> None:
    def shown(*flags: str) -> list[str]:
        out = lci("search", "oldest session", "-n1", "-k", "function", *flags, cwd=root).out
        return [found[1] for line in out.splitlines() if (found := re.match(r" +\d+: +(.+)", line))]

    match, after = "session = pool.oldest()", "if session.expired:"
    assert shown("-C0") == [match] and shown("-A1") == [match, after] and shown("-B", "0") == [match]
    assert shown("-C1", "-B0") == [match, after] and len(shown("-C", "7")) == 12  # and three blank lines
    ran = lci("search", "x", "-C1", "--snippet", "3", cwd=root)
    assert ran.code == 2 and "cannot be used together" in ran.err
    ran = lci(
        "search", "--batch", "-", "-m", "bm25", cwd=root, stdin='{"query": "oldest session", "context": 0, "limit": 1}'
    )
    assert ran.json()["results"][0]["snippet"].strip() == match
