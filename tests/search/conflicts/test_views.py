"""Views that lead to different places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.fake import VALIDATOR


def test_both_places_are_named(lci: Callable[..., Any], repo: Path) -> None:
    """By meaning, the loop that tries again; by words, the type named `Failure`."""
    asked = ("search", "-m", "multiview", "retry on failure", "--root", str(repo))
    answer = lci(*asked, "--conflicts", "--json").json()
    VALIDATOR.validate(answer)
    (entry,) = answer["conflicts"]
    assert entry["recommended_resolution"] == "escalate-to-user"
    by_meaning, by_words = entry["sources"]
    dense, bm25 = (lci(*asked[:2], mode, *asked[3:], "-n", "1", "--json").json() for mode in ("dense", "bm25"))
    firsts = [answer["results"][0] for answer in (dense, bm25)]
    assert [by_meaning, by_words] == [f"{one['file']}:{one['line']}" for one in firsts]
    said = lci(*asked, "--conflicts").out
    assert all(f"\n    {place}\n" in said for place in entry["sources"]), (
        "places that are not shown, as a person reads them"
    )
    plain = lci(*asked, "--json").json()
    assert "conflicts" not in plain
    assert [one["id"] for one in plain["results"]] == [one["id"] for one in answer["results"]]


def test_views_that_agree(lci: Callable[..., Any], repo: Path) -> None:
    for query in ("Failure", "how is a mail sent again"):
        assert (
            "conflicts"
            not in lci("search", "-m", "multiview", query, "--conflicts", "--json", "--root", str(repo)).json()
        ), query
