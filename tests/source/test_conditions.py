"""Build conditions as the extractor attaches them to definitions, one table per family."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lci_py.source.conditions import File, Tags, conjuncts, join, negate
from lci_py.source.extract import extract


def tags(path: str, language: str, source: str) -> list[tuple[str, str | None]]:
    symbols = extract(path, textwrap.dedent(source).encode(), language).symbols
    return [(symbol.name, symbol.build_tag) for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


PYTHON = [
    ("if A:\n    def f(): ...\nelif  B( 1,\n  2 ):\n    def f(): ...\nelse:\n    def f(): ...\ndef g(): ...\n",
     ["A", "B( 1, 2 )", "not (A) && not (B( 1, 2 ))", None]),
    ("if A or B:\n    if C:\n        def f(): ...\n    else:\n        def f(): ...\n",
     ["(A or B) && C", "(A or B) && not (C)"]),
    ("try:\n    import a\n    def f(): ...\nexcept ImportError:\n    def f(): ...\n", ["try", "except ImportError"]),
    ("try: pass\nexcept (A, B) as e:\n  def f(): ...\nexcept:\n  def f(): ...\n", ["except (A, B)", "except"]),
    ("try: pass\nexcept E: pass\nelse:\n  def f(): ...\nfinally:\n  def g(): ...\n", ["try else", None]),
    ("if A:\n    try:\n        import a\n    except E:\n        def f(): ...\n", ["A && except E"]),
    ("try:\n    import a\nexcept E:\n    if A:\n        def f(): ...\n    else:\n        def f(): ...\n",
     ["except E && A", "except E && not (A)"]),
    ("if TYPE_CHECKING:\n    class A: ...\n", ["TYPE_CHECKING"]),
    ("class A:\n    if X:\n        def f(self): ...\n", [None, "X"]),
    ("if __name__ == '__main__':\n    def f(): ...\n    if x:\n        def g(): ...\n", [None, None]),
    # in a function, an `if` decides at run time
    ("def f(x):\n    if x:\n        def g(): ...\n        if y:\n            def g(): ...\n", [None, None, None]),
    ("if A:\n    def f():\n        if x:\n            def g(): ...\n", ["A", "A"]),
    ("if A:\n    def f(: ...\n", ["A"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), PYTHON, ids=range(len(PYTHON)))
def test_python(source: str, expected: list[str | None]) -> None:
    assert [tag for _, tag in tags("a.py", "python", source)] == expected


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
