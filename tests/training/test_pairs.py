"""The questions found in small sources, and texts that are not questions."""

from __future__ import annotations

import random

import pytest

from lci_py.training.pairs import KINDS, Unit, first_paragraph, is_prose, pairs_of, query_words
from tests.training.conftest import FILES, package_text


def found(files: dict[str, str], seed: int = 0) -> list[tuple[str, str, Unit]]:
    package = package_text(files)
    return [(KINDS[kind], " ".join(words), unit) for kind, words, unit in pairs_of(package, random.Random(seed))]


def of_kind(kind: str, files: dict[str, str] = FILES) -> dict[str, str]:
    """Question -> name of the definition that answers it."""
    return {query: unit.symbol.name if unit.symbol else "" for own, query, unit in found(files) if own == kind}


def test_docs() -> None:
    assert of_kind("doc") == {
        "A metal plate with round holes in it": "PunchedPlate",
        "Compute how much material remains after punching": "covered_surface",
        "Forget every session whose cookie has expired": "removeExpired",
        "AcquireWorker waits until some worker is idle and returns it to the caller": "AcquireWorker",
    }


def test_comments_but_no_licences_and_no_notes_to_oneself() -> None:
    assert of_kind("comment") == {
        "Overlapping holes would count twice without this merge": "covered_surface",
        "Clocks of clients may run ahead by some minutes": "removeExpired",
    }


def test_names_are_split_with_or_without_their_owner() -> None:
    names = of_kind("name")
    assert {"punched plate", "merge overlapping", "remove expired", "acquire worker"} <= set(names)
    assert names["remove expired"] == "removeExpired"
    assert {"covered surface", "punched plate covered surface"} & set(names)
    assert not of_kind("name", {"a.py": "def main():\n    return 1\n\n\ndef run():\n    return 2\n"})


def test_signatures() -> None:
    queries = {query for seed in range(20) for kind, query, _ in found(FILES, seed) if kind == "signature"}
    assert any("queue" in query and "limit" in query for query in queries)


@pytest.mark.parametrize(
    ("path", "head"),
    [
        ("a.py", '"""Surfaces of plates for the workshop."""\n'),
        ("a.py", '#!/usr/bin/env python\n"""Surfaces of plates for the workshop.\n\nMore."""\n'),
        ("a.js", "/* Copyright 2020 by several authors of this */\n\n// Surfaces of plates for the workshop.\n"),
        ("a.go", "// Surfaces of plates for the workshop.\npackage plates\n"),
    ],
)
def test_the_comment_at_the_top(path: str, head: str) -> None:
    code = {"py": "total = sum(widths)\n", "js": "total += width;\n", "go": "var total = width\n"}[path[2:]] * 20
    assert list(of_kind("module", {path: head + code})) == ["Surfaces of plates for the workshop"]
    assert not of_kind("module", {path: code})


def test_paths() -> None:
    assert {"shapes plate", "web session", "pool pool"} <= set(of_kind("path"))


def test_sections_and_mentions_of_a_document() -> None:
    assert "Workshop tools Removing old sessions" in of_kind("section")
    assert of_kind("mention") == {
        "Call removeExpired every minute so that memory never fills with dead entries": "removeExpired"
    }


def test_a_name_that_is_defined_twice_is_not_known_to_be_meant() -> None:
    assert not of_kind("mention", {**FILES, "web/other.js": FILES["web/session.js"]})


def test_a_test_asks_for_what_it_is_named_after() -> None:
    assert of_kind("test") == {"merge overlapping keeps largest": "merge_overlapping"}


def test_an_answer_is_not_in_the_tests() -> None:
    files = {"tests/test_a.py": "def drop_expired():\n    return 1\n\n\ndef test_drop_expired():\n    drop_expired()\n"}
    assert not of_kind("test", files)


@pytest.mark.parametrize(
    ("doc", "paragraph"),
    [
        ("Closes the pool.\n\nMore.", "Closes the pool."),
        ("\nCloses the pool\nfor good.", "Closes the pool for good."),
        ("Closes the pool.\n@param now the time", "Closes the pool."),
        ("Closes the pool.\n:param now: the time", "Closes the pool."),
        ("Closes the pool.\nArgs:\n    now: the time", "Closes the pool."),
        ("Closes the pool.\n>>> close()", "Closes the pool."),
        ("@param now the time", ""),
        ("Closes the <b>pool</b>", "Closes the  pool"),
    ],
)
def test_first_paragraph(doc: str, paragraph: str) -> None:
    assert first_paragraph(doc) == paragraph


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("Closes the pool of workers", True),
        ("Closes it", False),  # too short
        ("Copyright 2020 by the authors of this file", False),
        ("Licensed under the terms that stand beside it", False),
        ("TODO close the pool of workers too", False),
        ("noqa because the line is long here", False),
        ("see https://example.org for the reasons", False),
        ("if (x) { return y[0]; } else { z(); }", False),
        ("===== 12 34 ===== ab cd ===== 56 78", False),
        ("many words " * 200, False),
    ],
)
def test_is_prose(text: str, prose: bool) -> None:
    assert is_prose(text) is prose


def test_long_questions_are_cut() -> None:
    assert query_words("one two, three_four! " * 50) == ("one", "two", "three_four") * 13 + ("one",)


def test_pairs_are_reproducible() -> None:
    def key(item: tuple[str, str, Unit]) -> tuple[str, str, int]:
        return item[0], item[1], item[2].number

    assert [key(item) for item in found(FILES, 3)] == [key(item) for item in found(FILES, 3)]
