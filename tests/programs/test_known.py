"""The figures of both measures."""

from __future__ import annotations

import pytest

from tests.quality.known import Item, difference, figures


def item(repository: str, kind: str, value: float, query: str = "q") -> Item:
    return Item(repository, kind, query, value, "a.py:1", "b.py:2")


def test_files_are_averaged_over_repositories_and_definitions_over_queries() -> None:
    found = [
        *[item("rails", "file", value) for value in (1.0, 0.0)],
        item("gin", "file", 1.0),
        *[item("rails", "name", value) for value in (1.0, 1.0, 0.5)],
        item("gin", "name", 0.0),
    ]
    assert figures(found) == pytest.approx({"file": 0.75, "large": 0.5, "name": 0.625})


def test_what_differs_is_listed_worst_first() -> None:
    left = [item("gin", "file", 1.0, "one"), item("gin", "file", 0.5, "two"), item("gin", "name", 1.0, "same")]
    right = [item("gin", "file", 0.5, "one"), item("gin", "file", 1.0, "two"), item("gin", "name", 1.0, "same")]
    lines = list(difference(left, right))
    assert [line.split()[0] for line in lines] == ["-0.500", "+0.500", "before"]
    assert "one" in lines[0] and "same" not in " ".join(lines)
