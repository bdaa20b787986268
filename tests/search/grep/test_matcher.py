"""Lines and places of matches, compared with Python's own expressions, line by line."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, strategies as st

from lci_py.errors import BadPatternError
from lci_py.search.grep.matcher import compile_pattern, lines
from lci_py.types.grep import GrepRequest
from tests.support.properties import examples

_chars = st.sampled_from(["a", "b", "A", "B", "_", " ", "-", "\n", "\n", "é", "1", "\t", "s", "S", "ſ"])
_texts = st.lists(_chars, max_size=30).map("".join)
#: Patterns that mean the same to both.
_patterns = st.sampled_from(
    [
        "a",
        "ab",
        "a b",
        "-a",
        "a*",
        "^a",
        "b$",
        "^$",
        "a|ab",
        "(a|b)+",
        "[^a]b",
        "a.b",
        r"\w+",
        r"\W",
        r"\s",
        "s",
        "",
        "é+",
    ]
)
_flags = st.sampled_from([{}, {"ignore_case": True}, {"words": True}, {"ignore_case": True, "words": True}])


def found(data: bytes, pattern: str, **flags: bool) -> list[tuple[int, list[tuple[int, int]]]]:
    """Of each line that matches its number, and the places of the matches in it."""
    matcher = compile_pattern(GrepRequest(pattern, **flags)).matcher  # type: ignore[arg-type]
    return [
        (data.count(b"\n", 0, start) + 1, [(a - start, b - start) for a, b in matcher.spans(data, (start, stop))])
        for start, stop in lines(matcher, data)
    ]


def expected(text: str, pattern: str, **flags: bool) -> list[int]:
    source = rf"(?:^|\W)(?:{pattern})(?:\W|$)" if flags.get("words") else pattern
    compiled = re.compile(source, re.IGNORECASE if flags.get("ignore_case") else 0)
    rows = text.split("\n")
    if not rows[-1]:
        rows.pop()
    return [number for number, row in enumerate(rows, 1) if compiled.search(row)]


@examples(400)
@given(_texts, _patterns, _flags)
@example("a\nb", "[^a]b", {})
@example("\n", "", {})
@example("a", "a*", {})
@example("ſ", "s", {"ignore_case": True})
def test_the_lines_that_match(text: str, pattern: str, flags: dict[str, bool]) -> None:
    hits = found(text.encode(), pattern, **flags)
    assert [number for number, _ in hits] == expected(text, pattern, **flags)
    assert all(spans for _, spans in hits)


@pytest.mark.parametrize(
    ("data", "pattern", "flags", "spans"),
    [
        (b"foo foo", "foo", {}, [(0, 3), (4, 7)]),
        (b"foo foo", "foo", {"words": True}, [(0, 3), (4, 7)]),
        (b"foo foo", "fo+", {"words": True}, [(0, 3), (4, 7)]),
        (b"foo", "fo|foo", {"words": True}, [(0, 3)]),
        (b"x -2 -2", "-2", {"words": True}, [(2, 4), (5, 7)]),
        (b"aaa", "aa", {"fixed": True}, [(0, 2)]),
        (b"a.b axb", "a.b", {"fixed": True}, [(0, 3)]),
        (b"a.b axb", "a.b", {}, [(0, 3), (4, 7)]),
        ("éfoo foo".encode(), "foo", {"words": True}, [(6, 9)]),
        ("fooé foo".encode(), "fo{2}", {"words": True}, [(6, 9)]),
        ("\u212a k".encode(), "k", {"ignore_case": True}, [(0, 3), (4, 5)]),
        ("É".encode(), "é", {"ignore_case": True}, [(0, 2)]),
        (b"Ab aB", "ab", {"smart_case": True}, [(0, 2), (3, 5)]),
        (b"Ab aB", "Ab", {"smart_case": True}, [(0, 2)]),
        (b"\xe9foo", "foo", {}, [(1, 4)]),
    ],
)
def test_the_places_of_matches(data: bytes, pattern: str, flags: dict[str, bool], spans: list[tuple[int, int]]) -> None:
    assert found(data, pattern, **flags) == [(1, spans)]


@pytest.mark.parametrize("pattern", ["a(", "a)(b", "[", r"\1", "a\nb", r"a\nb", "(?=a)", "\udcff", "(\\w{500}){500}"])
def test_what_is_no_pattern(pattern: str) -> None:
    for words in (False, True):
        with pytest.raises(BadPatternError):
            compile_pattern(GrepRequest(pattern, words=words))


def test_a_text_needs_no_regular_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "re2", None)
    for request in (
        GrepRequest("a+b(", fixed=True),
        GrepRequest(r"a\+b\("),
        GrepRequest("a+B(", fixed=True, ignore_case=True, words=True),
    ):
        assert len(list(lines(compile_pattern(request).matcher, b"x a+b( y\n"))) == 1
    with pytest.raises(BadPatternError, match="google-re2"):
        compile_pattern(GrepRequest("a+b"))


def test_time_is_linear_in_the_text() -> None:
    """A pattern that takes Python's own expressions longer than the universe has existed."""
    assert not list(lines(compile_pattern(GrepRequest("(a|a)*(a|a)*(a|a)*b$")).matcher, b"a" * 5_000 + b"c\n"))
