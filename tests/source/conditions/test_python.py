"""Conditions of Python's definitions, and the form that questions for a feature flag take in every language."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, strategies as st

from lci_py.config import FEATURE_FLAGS
from lci_py.source.conditions.flags import readable
from lci_py.source.extract.extract import extract
from tests.support.properties import examples


def tags(source: str, flags: tuple[str, ...] = FEATURE_FLAGS) -> list[str | None]:
    symbols = extract("a.py", textwrap.dedent(source).encode(), "python", flags=flags).symbols
    return [symbol.build_tag for symbol in sorted(symbols, key=lambda symbol: symbol.line)]


PYTHON = [
    ("if A:\n    def f(): ...\nelif  B( 1,\n  2 ):\n    def f(): ...\nelse:\n    def f(): ...\ndef g(): ...\n",
     ["A", "not (A) && B(1, 2)", "not (A) && not (B(1, 2))", None]),
    ("if A or B:\n    if C:\n        def f(): ...\n    else:\n        def f(): ...\n",
     ["(A or B) && C", "(A or B) && not (C)"]),
    ("try:\n    import a\n    def f(): ...\nexcept ImportError:\n    def f(): ...\n", ["try", "except ImportError"]),
    ("try: pass\nexcept (A, B) as e:\n  def f(): ...\nexcept:\n  def f(): ...\n", ["except (A, B)", "except"]),
    ("try: pass\nexcept E: pass\nelse:\n  def f(): ...\nfinally:\n  def g(): ...\n", ["try else", None]),
    ("if A:\n    try:\n        import a\n    except E:\n        def f(): ...\n", ["A && except E"]),
    ("try:\n    import a\nexcept E:\n    if A:\n        def f(): ...\n    else:\n        def f(): ...\n",
     ["except E && A", "except E && not (A)"]),
    ("if TYPE_CHECKING:\n    class A: ...\n", ["TYPE_CHECKING"]),
    ("class A:\n    if X:\n        def f(self): ...\n    try: pass\n    except E:\n        def f(self): ...\n",
     [None, "X", "except E"]),
    ("if A:\n    class B:\n        if C:\n            def f(self): ...\n", ["A", "A && C"]),
    ("with a:\n    if X:\n        with b:\n            def f(self): ...\n", ["X"]),
    ("if __name__ == '__main__':\n    def f(): ...\n    if x:\n        def g(): ...\n", [None, None]),
    ("if False:\n    x = 1\nelse:\n    x = 2\nif True:\n    y = 1\nelse:\n    y = 2\n", ["0", None, None, "0"]),
    # one form for all ways to write it
    ("if sys.platform=='win32':\n    x = 1\n", ['sys.platform == "win32"']),
    ("if (sys.version_info>=(3,11)):\n    x = 1\n", ["sys.version_info >= (3, 11)"]),
    ("if not A:\n    x = 1\nelse:\n    x = 2\n", ["not (A)", "A"]),
    ("if not (A):\n    x = 1\nif not (A or B):\n    x = 2\n", ["not (A)", "not (A or B)"]),
    ("if not A and B:\n    x = 1\n", ["not A and B"]),
    ("if (A) or (B):\n    x = 1\nif ((A or (B))):\n    x = 2\n", ["(A) or (B)", "A or (B)"]),
    ("if a.b != 'c':\n    x = 1\nelse:\n    x = 2\n", ['a.b != "c"', 'a.b == "c"']),
    ("if ssl is not None:\n    x = 1\nelse:\n    x = 2\n", ["ssl is not None", "ssl is None"]),
    ("if p not in ('a', 'b'):\n    x = 1\nelse:\n    x = 2\n", ['p not in ("a", "b")', 'p in ("a", "b")']),
    ("if (A  # why\n    and \"# no\"):\n    x = 1\n", ['A and "# no"']),
    ("if A \\\n  and B:\n    x = 1\n", ["A and B"]),
    ("if A == '\"':\n    x = 1\n", ["A == '\"'"]),
    ("match sys.platform:\n    case 'win32':\n        x = 1\n    case _:\n        x = 3\n", ["…", "…"]),
    # in a function, an `if` decides at run time
    ("def f(x):\n    if x:\n        def g(): ...\n        if y:\n            def g(): ...\n", [None, None, None]),
    ("if A:\n    def f():\n        if x:\n            def g(): ...\n", ["A", "A"]),
    ("for x in y:\n    if x:\n        def f(): ...\n", [None]),
    ("if A:\n    def f(: ...\n", ["A"]),
    # decorators that run at test time decide nothing about the definition
    ("@skipIf(A, 'why')\ndef f(): ...\n@pytest.mark.skipif(A)\ndef f(): ...\n", [None, None]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), PYTHON, ids=range(len(PYTHON)))
def test_python(source: str, expected: list[str | None]) -> None:
    assert tags(source) == expected


FLAGS = [
    ("if is_enabled('x'):\n    f = 1\nelse:\n    f = 2\n", ['flag("x")', 'not (flag("x"))']),
    ("if flags.client().is_enabled(\"x\", user):\n    f = 1\n", ['flag("x")']),
    ("if A and not self.flags.is_enabled('x'):\n    f = 1\n", ['A and not flag("x")']),
    ("if is_enabled(Flags.X):\n    f = 1\n", ["flag(Flags.X)"]),
    ("if tracer.is_enabled():\n    f = 1\n", ["tracer.is_enabled()"]),  # which flag?
    ("if not_is_enabled('x') or is_enabled_now('x'):\n    f = 1\n", ['not_is_enabled("x") or is_enabled_now("x")']),
    ("if is_enabled:\n    f = 1\n", ["is_enabled"]),
    ("if settings.FLAG_X:\n    f = 1\nif django.conf.settings.FLAG_X:\n    f = 1\n",
     ["flag(settings.FLAG_X)", "flag(settings.FLAG_X)"]),
    ("if settings.get('FLAG_X'):\n    f = 1\n", ['flag("FLAG_X")']),
    ("if mysettings.FLAG_X:\n    f = 1\n", ["mysettings.FLAG_X"]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), FLAGS, ids=range(len(FLAGS)))
def test_flags(source: str, expected: list[str | None]) -> None:
    assert tags(source, (*FEATURE_FLAGS, "settings.*")) == expected


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Flipper.enabled?(:x)", 'flag("x")'),
        ("Flipper.enabled? :x", 'flag("x")'),
        ("$this->flags->isEnabled('x')", 'flag("x")'),
        ('!Feature::isEnabled("x") && y', '!flag("x") && y'),
        ("@flags.isEnabled(ctx, 'x')", 'flag("x")'),
        ("isEnabled(f(a, b))", "flag(f(a, b))"),
    ],
)
def test_one_flag_has_one_form_in_all_languages(asked: str, expected: str) -> None:
    assert readable(asked, FEATURE_FLAGS) == expected


def test_a_shells_flags_are_words() -> None:
    assert readable("feature_enabled new-ui", FEATURE_FLAGS, words=True) == 'flag("new-ui")'
    assert readable("feature_enabled and x", FEATURE_FLAGS) == "feature_enabled and x"
    assert readable("feature_enabled $1", FEATURE_FLAGS, words=True) == "flag($1)"


def test_without_predicates_nothing_is_a_flag() -> None:
    assert readable("is_enabled('x')", ()) == "is_enabled('x')"


@pytest.mark.parametrize(
    "source",
    [
        "if A: x = 1\n" + "elif B: x = 1\n" * 1500 + "else: x = 2\n",
        "if A:\n" + "".join(f"{' ' * n}if B:\n" for n in range(1, 90)) + " " * 90 + "x = 1\n",
        "if " + "(" * 400 + "A" + ")" * 400 + ":\n    x = 1\nelse:\n    x = 2\n",
        "if " + "a.b(" * 100 + ")" * 100 + ":\n    x = 1\nelse:\n    x = 2\n",
        "if " + " and ".join(["not x"] * 10_000) + ":\n    x = 1\nelse:\n    x = 2\n",
        "if is_enabled" + "(" * 8_000 + ":\n    x = 1\n",
        "if " + "is_enabled." * 8_000 + "x:\n    x = 1\n",
        "match x:\n" + "    case 1: x = 1\n" * 1500,
        "try: x = 1\n" + "except E: x = 1\n" * 1500,
        "@is_enabled(" + "x" * 100_000 + ")\ndef f(): ...\n",
    ],
    ids=range(10),
)
def test_conditions_of_hostile_files_are_bounded(source: str) -> None:
    for tag in tags(source):
        assert tag is None or len(tag) < 4000


@examples(60)
@given(
    st.lists(
        st.sampled_from(["if A:", "elif B:", "else:", "try:", "except E:", "finally:", "match x:", "case 1:", "case _:",
                         "with a:", "class C:", "def f():", "x = 1", "if not (is_enabled('x')):", "@is_enabled('y')",
                         "if (", ")", "'", "\xe9"]),
        max_size=30,
    ),
    st.lists(st.integers(0, 4), min_size=30, max_size=30),
)  # fmt: skip
def test_nothing_raises(lines: list[str], depths: list[int]) -> None:
    source = "".join(f"{'  ' * depth}{line}\n" for line, depth in zip(lines, depths, strict=False))
    assert all(tag is None or tag for tag in tags(source))


@given(st.text(alphabet="is_enabled('x\")$@:.->?[ \\#", max_size=60))
def test_no_text_is_too_odd_for_flags(asked: str) -> None:
    assert isinstance(readable(asked, (*FEATURE_FLAGS, "settings.*"), words=True), str)
