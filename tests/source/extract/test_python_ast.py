"""Our Python functions, methods and classes are those of Python's `ast`, in generated modules and real ones."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.quality.ast_compare import figures, ours, truth
from tests.support.properties import examples

Lines = list[str]

NAMES = [
    "a", "b", "_private", "__dunder__", "Name", "CONST", "été", "名前", "ﬁne", "µ", "ªb", "print", "exec", "match",
    "case", "type", "self", "long_name_0",
]  # fmt: skip
# ⏎ is a line break after which the text starts at the margin, at any indentation of the statement.
SIMPLE = [
    "pass",
    "x = 1",
    "x: int = 2; y = 3",
    "def_ = classy = 4",
    "return_ = lambda def_=1: (lambda: def_)()",
    "print('def fake(): pass')",
    'code = "class Fake:\\n    def fake(self): pass"',
    "text = r'''\ndef fake():\n    class Fake: pass\n'''",
    "text = '''⏎def fake():⏎    class Fake: pass⏎'''",
    "data = [1,⏎2,⏎('def', 3),⏎]",
    "⏎# def comment(): at the margin⏎",
    'text = f"""\nclass Fake:\n  def fake(): {1 + 1}\n"""',
    "data = {\n  'def': 1,\n# def fake(): pass\n  'class': [2,\n 3],\n}",
    "call(one,\n     two)(three)",
    "total = 1 + \\\n  2",
    "match = case = type = _ = 5",
    "assert x, 'def fake(): pass'",
    "del x",
    "# def commented(): pass",
    "",
    "...",
    "'class Fake: pass'",
    "x = [y for y in (1, 2) if y]",
]
HEADS = [
    ("if x:", "elif y:", "else:"),
    ("if x:",),
    ("try:", "except ValueError:", "else:", "finally:"),
    ("try:", "except (A, B) as e:"),
    ("try:", "except* C:" if sys.version_info >= (3, 11) else "except C:"),
    ("for i in x:", "else:"),
    ("while (x :=\n  y):",),
    ("with a as b, c:",),
]
PARAMETERS = [
    "",
    "self",
    "*args, **kw",
    "x=lambda: 1, /, y: 'def fake(): pass' = 2",
    "\n  one: int,\n  # two\n  two=')',\n",
]
BASES = ["", "()", "(Base)", "(a.B, metaclass=Meta)", "(\n  Base,\n  Other[int],\n)"]
DECORATORS = [
    "@plain",
    "@a.b(c)",
    "@call(\n  lambda: 1,\n  'def fake(): pass',\n)",
    "# between\n@x[0]",
    "@y  # after\n",
]
DOCS = [
    '"""One line."""',
    "'''First.\n\n    def fake(): pass\n    class Fake: ...\n    '''",
    'r"raw"',
    "u'old'",
    "'two' ''",
    "f'no {doc}'",
    "b'bytes'",
    "# before\n\n'''after a comment'''",
    "'''⏎At the margin.⏎def fake(): pass⏎'''",
]

UNITS = st.sampled_from([" ", "  ", "    ", "       "])


def _indent(lines: Lines, unit: str) -> Lines:
    return [unit + line if line.strip() else line for text in lines for line in text.split("\n")]


@st.composite
def blocks(draw: st.DrawFn, depth: int) -> Lines:
    """A body: at least one statement, so that it is never only comments."""
    lines: Lines = []
    if draw(st.booleans()):
        lines.append(draw(st.sampled_from(DOCS)))
    for _ in range(draw(st.integers(0, 3))):
        lines.extend(draw(statements(depth)))
    lines.append("pass")
    if draw(st.integers(0, 3)) == 0:
        lines.extend(["# last", ""])
    return _indent(lines, draw(UNITS))


@st.composite
def definitions(draw: st.DrawFn, depth: int) -> Lines:
    lines = draw(st.lists(st.sampled_from(DECORATORS), max_size=2))
    name = draw(st.sampled_from(NAMES))
    if draw(st.booleans()):
        head = f"class {name}{draw(st.sampled_from(BASES))}"
    else:
        returns = draw(st.sampled_from(["", " -> int", " -> 'def fake(): pass'"]))
        start = draw(st.sampled_from(["def ", "async def ", "def \\\n ", "async  def\t"]))
        head = f"{start}{name}({draw(st.sampled_from(PARAMETERS))}){returns}"
    if draw(st.integers(0, 4)) == 0:
        return [*lines, f"{head}: {draw(st.sampled_from(['pass', '...', 'x = 1; y = 2', '0 # def fake(): pass']))}"]
    return [*lines, f"{head}:{draw(st.sampled_from(['', '  # comment', ' # def fake():']))}", *draw(blocks(depth - 1))]


@st.composite
def statements(draw: st.DrawFn, depth: int) -> Lines:
    choice = draw(st.integers(0, 9)) if depth > 0 else 9
    if choice < 4:
        return draw(definitions(depth))
    if choice == 4:
        cases = [[f"  case {pattern}:", *_indent(draw(blocks(depth - 1)), "  ")] for pattern in ("0 | 1", "A(b=[*_])")]
        return ["match x:", *cases[0], *cases[1]]
    if choice < 7:
        return [line for head in draw(st.sampled_from(HEADS)) for line in (head, *draw(blocks(depth - 1)))]
    return [draw(st.sampled_from(SIMPLE))]


@st.composite
def modules(draw: st.DrawFn, windows: bool = False) -> bytes:
    lines = [line for _ in range(draw(st.integers(0, 4))) for line in draw(statements(3))]
    if windows:
        lines = [line or draw(st.sampled_from(["", "\f"])) for line in lines]
    text = draw(st.sampled_from(["", "\ufeff", "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n", "'''doc'''\n"]))
    text += "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n  \n", "\n# end"]))
    return text.replace("⏎", "\n").replace("\n", "\r\n" if windows else "\n").encode()


def check(source: bytes) -> None:
    expected = truth(source)
    assert expected is not None
    found = ours(source)
    assert sorted(found) == sorted(expected)
    for key in expected:
        for figure, want, got in figures(expected[key], found[key]):
            assert got == want, (key, figure)


@examples(80)
@given(modules())
def test_generated(source: bytes) -> None:
    check(source)


@examples(40)
@given(modules(windows=True))
def test_generated_on_windows(source: bytes) -> None:
    """CRLF, and pages cut by form feeds."""
    check(source)


REAL = ["argparse", "ast", "dataclasses", "inspect", "tokenize", "typing", "asyncio", "email"]


@pytest.mark.parametrize("module", REAL)
def test_standard_library(module: str) -> None:
    """On 3.11 all but docstrings with escapes is equal; the grammar may lack syntax of later versions."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    origin = Path(spec.origin)
    expected: set[object] = set()
    found: set[object] = set()
    total = same = 0
    for path in sorted(origin.parent.rglob("*.py")) if spec.submodule_search_locations else [origin]:
        source = path.read_bytes()
        theirs, mine = truth(source), ours(source)
        if theirs is None:
            continue
        expected.update((path, key) for key in theirs)
        found.update((path, key) for key in mine)
        for key in theirs.keys() & mine.keys():
            rows = [got == want for _, want, got in figures(theirs[key], mine[key])]
            total += len(rows)
            same += sum(rows)
    assert len(expected) > 20
    assert len(expected & found) >= 0.995 * max(len(expected), len(found))
    assert same >= 0.995 * total


DOCSTRINGS = [
    ("'plain'", "plain"),
    ('"""Quoted "word"."""', 'Quoted "word".'),
    ("R'raw'", "raw"),
    ("'''\\\n    Continued.\n    '''", "Continued."),
    ("'first' 'second'", "first"),
    ("# comment\n    'after a comment'", "after a comment"),
    ("f'{no}'", ""),
    ("rb'no'", ""),
    ("pass; 'no'", ""),
    ("x = 'no'", ""),
    ("[\n    'no']", ""),
]


@pytest.mark.parametrize("head", ["def f():", "class C:", "async def f(a, b='no'):"])
@pytest.mark.parametrize(("body", "doc"), DOCSTRINGS)
def test_docstring(head: str, body: str, doc: str) -> None:
    (found,) = ours(f"{head}\n    {body}\n".encode()).values()
    assert found.doc == doc
