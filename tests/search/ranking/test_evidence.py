"""What the bm25 mode counts besides BM25: the file's name and other results, coverage, and what kind of file it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.types.search import Mode, Result, SearchRequest

FILLER = {f"other{i}.py": f"def unrelated_{i}(first, second):\n    return first - second * {i}\n" for i in range(12)}


def ranked(tmp_path: Path, files: dict[str, str], query: str, mode: Mode = "bm25") -> list[Result]:
    for name, text in {**FILLER, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        return list(session.search(SearchRequest(query, mode, 20, explain=True)).results)


def step(result: Result, name: str) -> dict[str, Any] | None:
    assert result.explain is not None
    return next((found for found in result.explain["waterfall"] if found["name"] == name), None)


@pytest.mark.parametrize(("query", "first"), [("parse invoice", "z.py"), ("parse invoice test", "a_test.py")])
def test_tests_come_lower_unless_they_are_asked_for(tmp_path: Path, query: str, first: str) -> None:
    text = "def parse(line):\n    return invoice(line)\n"
    results = ranked(tmp_path, {"a_test.py": text, "z.py": text}, query)
    assert results[0].file == first
    lowered = step(next(result for result in results if result.file == "a_test.py"), "test")
    assert (lowered is None) == (first == "a_test.py")


@pytest.mark.parametrize("mode", ["bm25", "dense", "multiview"])
@pytest.mark.parametrize(
    ("folder", "query", "lower"),
    [
        ("examples", "parse invoice", True),
        ("bench/client", "parse invoice", True),
        ("docs/code", "parse invoice", True),
        ("examples", "parse invoice example", False),  # is asked for
        ("a/docs", "parse invoice", False),  # may be a package
        ("benchmarked", "parse invoice", False),
    ],
)
def test_examples_and_benchmarks_come_lower_unless_they_are_asked_for(
    tmp_path: Path, mode: Mode, folder: str, query: str, lower: bool
) -> None:
    text = "def parse(line):\n    return invoice(line)\n"
    results = ranked(tmp_path, {f"{folder}/a.py": text, "zz/a.py": text}, query, mode)
    assert results[0].file == "zz/a.py" or not lower
    lowered = step(next(result for result in results if result.file == f"{folder}/a.py"), "aside")
    assert (lowered is not None) == lower


def test_a_test_or_a_text_beside_the_sources_is_lowered_once(tmp_path: Path) -> None:
    files = {"examples/test_a.py": "def parse(line):\n    return invoice(line)\n", "docs/a.md": "# Parse an invoice\n"}
    for result in ranked(tmp_path, files, "parse invoice")[:2]:
        assert step(result, "aside") is None
        assert (step(result, "test") is None) == (result.file == "docs/a.md") == (step(result, "text") is not None)


def test_the_file_that_is_named_like_the_query_comes_first(tmp_path: Path) -> None:
    text = "def start(entry):\n    return schedule(entry, retries)\n"
    results = ranked(tmp_path, {"alpha.py": text, "scheduling.py": text}, "schedule retries")
    assert [result.file for result in results[:2]] == ["scheduling.py", "alpha.py"]
    found = step(results[0], "stem")  # a long word needs only begin like the name
    assert found is not None and found["value"] == pytest.approx(1) and step(results[1], "stem") is None


def test_a_unit_with_all_of_the_words_is_worth_more_than_one_with_some(tmp_path: Path) -> None:
    files = {
        "a.py": "def one(queue):\n    queue.flush(); queue.flush(); queue.flush(); queue.flush()\n",
        "b.py": "def two(queue):\n    queue.flush(deadline)\n",
    }
    results = ranked(tmp_path, files, "flush deadline zzzunknown")
    assert [result.file for result in results] == ["b.py", "a.py"]
    # What nobody has is no shortcoming; a.py lacks one of the two, and their compound is nowhere.
    assert step(results[0], "coverage") is None
    lost = step(results[1], "coverage")
    assert lost is not None and lost["weight"] == pytest.approx(0.75)


def test_a_file_that_answers_in_several_places_comes_first(tmp_path: Path) -> None:
    one = "def a(token):\n    return refresh(token)\n"
    files = {"m.py": one, "n.py": one + "\n\n" + one.replace("def a", "def b")}
    results = ranked(tmp_path, files, "refresh")
    assert [result.file for result in results] == ["n.py", "m.py", "n.py"]
    several, single = step(results[0], "file"), step(results[1], "file")
    assert several and single and several["adds"] > 1.5 * single["adds"] > 0
    damped = step(results[2], "same_file")
    assert damped is not None and damped["weight"] == 0.5


def test_the_view_of_multiview_is_plain_bm25(tmp_path: Path) -> None:
    text = "def parse(line):\n    return invoice(line)\n"
    results = ranked(tmp_path, {"a_test.py": text, "invoice.py": text}, "parse invoice")
    with app.open_engine(str(tmp_path)) as session:
        merged = session.search(SearchRequest("parse invoice", "multiview", 20, explain=True)).results
    own = {result.id: result.explain["views"]["bm25"]["score"] for result in results if result.explain}
    theirs = {
        result.id: result.explain["views"]["bm25"]["score"]
        for result in merged
        if result.explain and "bm25" in result.explain["views"]
    }
    assert own == theirs and own
