"""Build conditions as the extractor attaches them to definitions, one table per family."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, strategies as st

from lci_py.source.conditions import File, Tags, conjuncts, join, negate
from lci_py.source.extract.extract import extract


def tags(path: str, language: str, source: str) -> list[tuple[str, str | None]]:
    symbols = extract(path, textwrap.dedent(source).encode(), language).symbols
    return [(symbol.name, symbol.build_tag) for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


def test_families_without_conditions() -> None:
    source = b"#if A\nint f;\n#endif\n"
    assert Tags("none", "", File("a_linux.go", source, [])).of(10, "#[cfg(a)]") is None
    assert Tags("no such family", "", File("a_linux.go", source, [])).of(10, "#[cfg(a)]") is None
    assert Tags("preprocessor", "", File("a_linux.go", source, [])).of(10, "#[cfg(a)]") == "A"  # so the source has one


@pytest.mark.parametrize(
    ("condition", "opposite"),
    [("a", "!a"), ("!a", "a"), ("a && b", "!(a && b)"), ("!(a && b)", "a && b"), ("(a) && (b)", "!((a) && (b))"),
     ("!a && b", "!(!a && b)"), ("!(a) && (b)", "!(!(a) && (b))"), ("f(a)", "!f(a)"), ("0", ""), ("", "0")],
)  # fmt: skip
def test_negate(condition: str, opposite: str) -> None:
    assert negate(condition) == opposite


def test_join_drops_repetitions_and_keeps_precedence() -> None:
    assert join(["a && b", "b", "c || d"]) == "a && b && (c || d)"
    assert join(["c || d"]) == "c || d"
    assert join(["", ""]) is None
    assert conjuncts("(a && b) && !(c && d)") == ["(a && b)", "!(c && d)"]
    assert conjuncts("a && b || c") == ["a && b || c"]
    long = [f"x{number}" for number in range(3_000)]  # conditions in conditions
    assert conjuncts(" && ".join(long)) == long


@pytest.mark.parametrize(
    ("condition", "parts"),
    [('a == "x && y" && b', ['a == "x && y"', "b"]), ('a == "(" && b', ['a == "("', "b"]),
     ("{ a && b; } && c", ["{ a && b; }", "c"]),
     # what was cut
     ("a && (b && c…", ["a", "(b && c…"]), ('a == "x… && b == "y"', ['a == "x…', 'b == "y"']), ("a) && b", ["a) && b"])],
)  # fmt: skip
def test_brackets_and_strings_hold_their_operators(condition: str, parts: list[str]) -> None:
    assert conjuncts(condition) == parts


@given(
    st.sampled_from(["preprocessor", "go"]),
    st.lists(st.sampled_from(["\n", "#if", "#else", "#endif", "#elif", "#ifndef X", "#define X", " A", "(", ")", "&&",
                              "||", "!", '"', "'", "/*", "*/", "//", "\\", "#![cfg(", "#[cfg(", "not", "=", ")]",
                              "//go:build ", "// +build ", ",", "\xe9"]), max_size=60),
)  # fmt: skip
def test_nothing_raises(family: str, parts: list[str]) -> None:
    text = "".join(parts)
    found = Tags(family, "", File("a_linux_.go", text.encode("latin-1"), []))
    for byte in range(len(text) + 1):
        tag = found.of(byte, text)
        assert tag is None or tag
