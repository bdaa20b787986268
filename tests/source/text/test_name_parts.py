"""Which names of a segment a mistyped or shortened one may mean."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given, strategies as st

from lci_py.source.text.name_parts import NameParts, alignment, best_abbreviated, distance, nearest, pack_names

NAMES = ["ConnectionPoolManager", "SearcherBuilder", "get_http_response", "handleHTTPRequest", "JoinSet", "wait_ready"]
SHORT = st.text("abcd", min_size=0, max_size=7)


def reference(one: str, other: str) -> int:
    """Damerau's restricted distance, as its definition has it."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            costs = [table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (one[i - 1] != other[j - 1])]
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                costs.append(table[i - 2, j - 2] + 1)
            table[i, j] = min(costs)
    return table[len(one), len(other)]


@given(SHORT, SHORT, st.integers(0, 3))
def test_the_distance_is_that_of_the_definition(one: str, other: str, most: int) -> None:
    edits = reference(one, other)
    assert distance(one, other, most) == (edits if edits <= most else None)


@given(st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_a_name_with_one_letter_wrong_is_found(name: str, rng: random.Random) -> None:
    joined = name.replace("_", "").lower()
    at = rng.randrange(len(joined))
    letter = rng.choice(string.ascii_lowercase)
    wrong = rng.choice(
        [joined[:at] + joined[at + 1 :], joined[:at] + letter + joined[at:], joined[:at] + letter + joined[at + 1 :]]
    )
    found = nearest(NameParts(pack_names(NAMES)).nearest_names(wrong))
    assert [alike.spelling for alike in found] == [joined]


@pytest.mark.parametrize(
    "words, name",
    [
        ("conn pool mgr", "connectionpoolmanager"),
        ("pool manager", "connectionpoolmanager"),
        ("handle request", "handlehttprequest"),
        ("get rsp", "gethttpresponse"),
        ("join set", "joinset"),
    ],
)
def test_words_that_shorten_the_parts_of_a_name(words: str, name: str) -> None:
    assert best_abbreviated(NameParts(pack_names(NAMES)).abbreviated_names(words.split()))[0].spelling == name


@pytest.mark.parametrize("words", ["manager pool", "onn pool", "pool zebra", "ready wait"])
def test_words_in_another_order_or_with_other_letters_mean_no_name(words: str) -> None:
    assert NameParts(pack_names(NAMES)).abbreviated_names(words.split()) == []


def test_a_whole_part_counts_more_than_a_beginning_and_that_more_than_some_letters() -> None:
    name = ["conn", "pool"]
    other = ["connection", "pool"]
    third = ["cannon", "pool"]
    assert (
        alignment(["conn", "pool"], name) > alignment(["conn", "pool"], other) > alignment(["cnn", "pool"], third) > 0
    )


def test_a_short_word_is_not_mistyped_and_no_name_is_far_away() -> None:
    names = NameParts(pack_names(NAMES))
    assert names.nearest_names("jois") == []
    assert names.nearest_names("entirelyother") == []


def test_names_of_any_letters_are_kept() -> None:
    names = NameParts(pack_names(["größe_ändern", "x" * 500, "λ", "数据_读取"]))
    assert [alike.spelling for alike in nearest(names.nearest_names("größeändren"))] == ["größeändern"]
