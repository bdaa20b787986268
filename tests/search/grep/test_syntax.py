"""What a regular expression requires is in every line that it matches."""

from __future__ import annotations

import re

import pytest
import re2
from hypothesis import given, strategies as st

from lci_py.search.grep.syntax import required_texts
from tests.support.properties import examples

_atoms = st.sampled_from(
    ["a", "b", "ab", "Xy", "é", r"\.", r"\w", r"\d", r"\S", ".", "[ab]", "[^a]", r"[\w\]]", "[[:alpha:]]", "[]x]", "^",
     "$", r"\b", r"\x61", r"\x{62}", r"\pL", r"\Qa.b\E", "{", "}", "x{,3}", "-", r"\t", "(?i)", "[a]", r"\141"]
)  # fmt: skip
_signs = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0}", "{1,2}", "{0,1}", "+?", "??", "{2}?"])
_expressions = st.recursive(
    st.builds(lambda atom, sign: atom + sign, _atoms, _signs),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map("|".join)
        | st.builds(lambda head, body, sign: f"({head}{body}){sign}", st.sampled_from(["", "?:", "?i:"]), inner, _signs)
    ),
    max_leaves=8,
)
_texts = st.lists(st.sampled_from(["a", "b", "A", "X", "x", "y", "é", ".", "1", " ", "{", "]", "-", "\t"]), max_size=12)


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


@examples(250)
@given(_expressions, _texts.map("".join))
def test_a_match_holds_a_text_of_every_clause(expression: str, text: str) -> None:
    try:
        compiled = re2.compile(expression, _options())
    except re2.error:
        return
    found = required_texts(expression)
    match = compiled.search(text)
    if match is not None:
        for clause in found.clauses:
            assert any(wanted.lower() in match.group().lower() for wanted in clause), (expression, text)
    if found.literal is not None:
        assert (found.literal in text) == (match is not None)
    if text.isascii():  # beyond ASCII, \w means more than to RE2
        again = re2.compile(found.pattern, _options()).search(text)
        assert (again is None) == (match is None)
        assert match is None or again.span() == match.span()


@pytest.mark.parametrize(
    ("expression", "clauses"),
    [
        ("foo", [("foo",)]),
        (r"foo\.bar\(", [("foo.bar(",)]),
        ("foo(bar|baz)+qux", [("foo",), ("bar", "baz"), ("qux",)]),
        ("(foo)bar", [("foobar",)]),
        ("foo|bar.*long_name", [("foo", "long_name")]),
        ("foo|b?", []),
        ("colou?r", [("colo",), ("r",)]),
        ("fo+bar", [("fo",), ("bar",)]),
        ("(abc)*def", [("def",)]),
        (r"vm_\w+_page", [("vm_",), ("_page",)]),
        ("[[:alpha:]]foo", [("foo",)]),
        ("[x]yz", [("xyz",)]),
    ],
)
def test_what_is_required(expression: str, clauses: list[tuple[str, ...]]) -> None:
    assert list(required_texts(expression).clauses) == clauses


@pytest.mark.parametrize("expression", ["a**", r"\8", "(?P<n", "(" * 300 + "a" + ")" * 300, "a)b", "["])
def test_what_is_not_understood_requires_nothing(expression: str) -> None:
    assert required_texts(expression).clauses == ()


def test_capital_letters_that_count_for_smart_case() -> None:
    capitals = {
        text: required_texts(text).capitals
        for text in (r"foo\W", "Foo", r"\p{Lu}x", "[A]", "[a-z]", r"\x{AB}c", r"\QA\E")
    }
    assert [text for text, found in capitals.items() if found] == ["Foo", "[A]", r"\QA\E"]


def test_words_and_digits_are_those_of_unicode() -> None:
    for expression, text in ((r"\w", "é"), (r"[\w]", "é"), (r"\d", "٣"), (r"\s", "\u2003")):
        assert re2.search(required_texts(expression).pattern, text) and re.search(expression, text)
        upper = expression.upper() if len(expression) == 2 else r"[^\w]"
        assert not re2.search(required_texts(upper).pattern, text)
