"""Definitions here beside those of a branch: what is the same, what has moved, what has changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, strategies as st

from lci_py.search.conflicts.branch_diff import unlike


def row(digest: str, file: str = "a.c", line: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "file": file, "line": line, "digest": digest, "kind": "function", "build_tag": None, "signature": "int f()",
        "traits": "", **more,
    }  # fmt: skip


def shown(here: list[dict[str, Any]], there: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Pairs as FILE:DIGEST, "" for none."""

    def name(row: Any) -> str:
        return "" if row is None else f"{row['file']}:{row['digest']}"

    return [(name(one), name(other)) for one, other in unlike(here, there)]


def test_equal_texts_are_the_same() -> None:
    assert shown([row("x")], [row("x", line=99)]) == []
    assert shown([row("x")], [row("x", file="b.c")]) == []  # moved
    assert shown([row("x", build_tag="A")], [row("x", build_tag="B")]) == []
    assert shown([], []) == []


def test_other_texts_differ() -> None:
    assert shown([row("x")], [row("y")]) == [("a.c:x", "a.c:y")]
    assert shown([row("x")], []) == [("a.c:x", "")]
    assert shown([], [row("x")]) == [("", "a.c:x")]
    assert shown([row("x")], [row("y", file="b.c")]) == [("a.c:x", "b.c:y")]  # moved, and changed


def test_the_same_path_comes_before_another() -> None:
    here = [row("x"), row("y", file="b.c")]
    there = [row("v", file="b.c"), row("w")]
    assert shown(here, there) == [("a.c:x", "a.c:w"), ("b.c:y", "b.c:v")]


def test_several_in_one_file_are_paired_by_condition_then_by_order() -> None:
    here = [row("a", line=1, build_tag="A"), row("b", line=2, build_tag="B")]
    there = [row("b2", line=1, build_tag="B"), row("a2", line=2, build_tag="A")]
    assert shown(here, there) == [("a.c:a", "a.c:a2"), ("a.c:b", "a.c:b2")]
    here, there = [row("a", line=1), row("b", line=2)], [row("c", line=1), row("d", line=2), row("e", line=3)]
    assert shown(here, there) == [("a.c:a", "a.c:c"), ("a.c:b", "a.c:d"), ("", "a.c:e")]


def test_an_overload_that_comes_in_between_makes_no_difference_of_the_others() -> None:
    one, two = row("1", line=1, signature="f(int)"), row("2", line=2, signature="f(long)")
    new = row("n", line=1, signature="f(char)")
    assert shown([one, two], [new, {**one, "line": 2}, {**two, "line": 3}]) == [("", "a.c:n")]
    changed = row("9", line=3, signature="f(long)")
    assert shown([one, two], [new, one, changed]) == [("a.c:2", "a.c:9"), ("", "a.c:n")]


def test_kinds_that_cannot_replace_each_other_are_apart() -> None:
    assert shown([row("x")], [row("x", kind="macro")]) == []
    assert shown([row("x", kind="class")], [row("y", kind="struct")]) == [("a.c:x", "a.c:y")]
    assert shown([row("x")], [row("x", kind="class")]) == [("a.c:x", ""), ("", "a.c:x")]
    assert shown([row("x", traits="static declaration")], [row("y")]) == [("a.c:x", ""), ("", "a.c:y")]


def test_what_is_local_is_part_of_something_else() -> None:
    assert shown([row("x", traits="local")], [row("y", traits="static local")]) == []


ROWS = st.lists(
    st.builds(
        row,
        st.sampled_from("xyz"),
        st.sampled_from(["a.c", "b.c"]),
        st.integers(1, 9),
        build_tag=st.sampled_from([None, "A"]),
        signature=st.sampled_from(["f()", "f(int)"]),
        kind=st.sampled_from(["function", "macro", "class"]),
    ),
    max_size=6,
)


@given(ROWS, ROWS)
def test_each_definition_is_in_one_pair_or_is_the_same(here: list[dict[str, Any]], there: list[dict[str, Any]]) -> None:
    pairs = unlike(here, there)
    for side, rows in ((0, here), (1, there)):
        used = [id(pair[side]) for pair in pairs if pair[side] is not None]
        assert len(used) == len(set(used)) and set(used) <= set(map(id, rows))
    assert all(one is None or other is None or one["digest"] != other["digest"] for one, other in pairs)
    # As many texts are the same as there can be, whatever the order.
    groups = {"function": "f", "macro": "f", "class": "c"}
    texts = [Counter((groups[r["kind"]], r["digest"]) for r in rows) for rows in (here, there)]
    same = (texts[0] & texts[1]).total()
    assert len(here) - sum(one is not None for one, _ in pairs) == same
    assert len(there) - sum(other is not None for _, other in pairs) == same


@given(ROWS, ROWS)
def test_both_directions_agree(here: list[dict[str, Any]], there: list[dict[str, Any]]) -> None:
    forth, back = unlike(here, there), unlike(there, here)
    assert Counter((one is None, other is None) for one, other in forth) == Counter(
        (one is None, other is None) for other, one in back
    )
