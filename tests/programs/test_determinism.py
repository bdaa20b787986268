"""Differences between two runs, and those that do not count."""

from __future__ import annotations

import json
import sys

import pytest

from tests.quality import determinism
from tests.quality.determinism import Comparison, Setup, first_difference, read_queries, settled


def _answer(built_at: str = "then", score: float = 0.5, query: str = "q") -> bytes:
    index = {"generation": 1, "built_at": built_at, "stale_files": 0}
    return json.dumps({"query": query, "results": [{"file": "é.py", "mode_score": score}], "index": index}).encode()


def test_when_an_index_was_made_is_no_part_of_an_answer():
    assert settled(_answer("then")) == settled(_answer("now"))
    assert settled(_answer(score=0.5)) != settled(_answer(score=0.500001))


def test_how_many_files_were_looked_at_again_is_no_part_of_an_answer():
    late = json.loads(_answer())
    late["index"]["unchecked_files"] = 21
    assert settled(json.dumps(late).encode()) == settled(_answer())


def test_the_first_value_that_differs_is_told():
    left, right = json.loads(_answer()), json.loads(_answer(score=0.25))
    assert first_difference(left, right) == "results[0].mode_score: 0.5 | 0.25"
    assert first_difference(left, left) == ""
    assert first_difference([1], [1, 2]) == ": [1] | [1, 2]"


def test_every_setup_is_compared_with_the_first():
    found = Comparison()
    for who, score in (("one", 0.5), ("two", 0.5), ("three", 0.25)):
        found.add("dense", who, [_answer(score=score), _answer(query="other")])
    found.add("bm25", "three", [_answer(score=0.25)])
    assert found.answers == 7
    (told,) = found.differences
    assert told.splitlines() == ["dense: 'q'", "  results[0].mode_score: 0.5 | 0.25", "  one", "  three"]


def test_an_answer_less_is_a_difference():
    found = Comparison()
    found.add("dense", "one", [_answer(), _answer()])
    found.add("dense", "two", [_answer()])
    assert found.differences == ["dense: 2 answers, 1\n  one\n  two"]


def test_questions_are_read_from_lines_and_from_both_kinds_of_judged_queries(tmp_path):
    (tmp_path / "a.txt").write_text("one\n\ntwo\n")
    (tmp_path / "b.json").write_text(
        json.dumps([{"query": "q", "relevant": ["a"]}, {"questions": [{"question": "r"}]}])
    )
    (tmp_path / "c.txt").write_text("")
    assert read_queries(tmp_path / "a.txt") == ["one", "two"]
    assert read_queries(tmp_path / "b.json") == ["q", "r"]
    with pytest.raises(SystemExit):
        read_queries(tmp_path / "c.txt")


def test_exit_status_tells_whether_anything_differs(tmp_path, monkeypatch, capsys):
    root, queries = tmp_path / "root", tmp_path / "queries.txt"
    root.mkdir()
    (root / "a.py").write_text("")
    queries.write_text("a question\n")

    def status(*answers: float) -> int:
        scores = iter(answers)

        def run(setup: Setup, arguments, home) -> bytes:
            if arguments[0] == "index":
                (home / "index").mkdir(parents=True)
                (home / "index" / "manifest.json").write_text("{}")
                return b""
            return _answer(score=next(scores) if "bm25" in arguments else 1.0) + b"\n"

        monkeypatch.setattr(determinism.Setup, "run", run)
        monkeypatch.setattr("sys.argv", ["determinism", str(tmp_path / "work"), str(root), str(queries)])
        return determinism.main()

    assert status(0.5, 0.5) == 0
    assert capsys.readouterr().out == "root: 14 answers, 0 differ\n"
    assert status(0.5, 0.25) == 1
    assert f"{sys.executable} on 2 cores" in capsys.readouterr().out
