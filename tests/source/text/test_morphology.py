"""Which forms of a word are looked up: those of the same derivation, but not words that only begin alike."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lci_py.source.text.words import STOPWORDS, forms, stem


@pytest.mark.parametrize(
    "family",
    [
        "resolve resolver resolution",
        "parse parser parsing",
        "serialize serializer serialization serializable",
        "valid validate validation validator",
        "execute executor execution",
        "configure configuration",
        "authenticate authentication authenticator",
        "apply applied application",
        "register registration",
        "format formatter",
        "map mapper",
        "time timer",
        "cancel cancellation canceller",
        "manage manager management",
        "depend dependency dependent",
        "subscribe subscription subscriber",
        "include inclusion",
        "permit permission",
        "convert conversion converter",
        "behavior behaviour",
        "cookie cookies",
    ],
)
def test_forms_of_one_word_find_each_other(family: str) -> None:
    words = [stem(word) for word in family.split()]
    assert all(len(word) < 4 or set(words) - {word} <= set(forms(word)) for word in words), family


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("header", "head"), ("letter", "let"), ("folder", "fold"), ("master", "mast"),  # no agents
        ("format", "form"), ("action", "act"), ("option", "opt"),  # too short without the suffix
        ("version", "verse"), ("session", "second"), ("timeout", "time"), ("important", "import"),
        ("worker", "work"),  # a stop word
    ],
)  # fmt: skip
def test_words_that_only_begin_alike_do_not(word: str, other: str) -> None:
    assert stem(other) not in forms(stem(word))


@pytest.mark.parametrize("word", ["map", "é" * 9, "utf8", "", "a_b_c"])
def test_what_is_no_english_word_has_none(word: str) -> None:
    assert forms(word) == ()


@given(st.text("abcdeghilmnorstuvyz", min_size=1, max_size=24))
def test_forms_are_other_stems_each_once(word: str) -> None:
    found = forms(word)
    assert len(found) == len(set(found)) <= 400
    assert word not in found and not any(form in STOPWORDS or len(form) < 3 for form in found)
