"""Expressions as values, and as the texts that an index stores."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lci_py.source.extract.expressions import parse, parse_cpp
from lci_py.types.expressions import (
    ADDRESS,
    ATTR,
    CALL,
    CAST,
    ITEM,
    LAST,
    NAME,
    PARAMETER,
    TARGET,
    TEXT,
    Expr,
    Step,
    pack,
    unpack,
)

NAMES = st.from_regex(r"[@$]?[^\W\d]\w*", fullmatch=True)
HEADS = st.one_of(
    st.builds(Step, st.sampled_from((NAME,)), st.one_of(NAMES, NAMES.map("::{}".format))),
    st.builds(Step, st.just(CAST), st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",)))),
    st.builds(Step, st.sampled_from((PARAMETER, LAST)), st.integers(0, 300).map(str)),
    st.just(Step(TEXT, "")),
)
STEPS = st.one_of(
    st.builds(Step, st.just(ATTR), st.one_of(NAMES, st.integers(0, 9).map(str))),
    st.builds(Step, st.sampled_from((CALL, ITEM, ADDRESS, TARGET)), st.just("")),
)


@given(HEADS, st.lists(STEPS, max_size=12))
def test_a_packed_expression_is_the_same_expression(head: Step, steps: list[Step]) -> None:
    assert unpack(pack((head, *steps))) == (head, *steps)


@given(st.text("ab.()[]{}<>&*!?:$@ \"',1 new as", max_size=24))
def test_any_text_gives_an_expression_that_can_be_packed(text: str) -> None:
    for found in (parse(text), parse_cpp(text)):
        assert unpack(pack(found)) == found


def _expr(*steps: tuple[str, str]) -> Expr:
    return tuple(Step(*step) for step in steps)


@pytest.mark.parametrize(
    ("text", "expr"),
    [
        ("a", _expr((NAME, "a"))),
        ("self.pool.get().close()", _expr((NAME, "self"), (ATTR, "pool"), (ATTR, "get"), (CALL, ""), (ATTR, "close"),
                                          (CALL, ""))),
        ("$x->y[]", _expr((NAME, "$x"), (ATTR, "y"), (ITEM, ""))),
        ("new a.B()", _expr((NAME, "a"), (ATTR, "B"), (CALL, ""))),
        ("new B", _expr((NAME, "B"), (CALL, ""))),
        ("newer.b", _expr((NAME, "newer"), (ATTR, "b"))),
        ("f().await.g()", _expr((NAME, "f"), (CALL, ""), (ATTR, "g"), (CALL, ""))),
        ("f().awaited", _expr((NAME, "f"), (CALL, ""), (ATTR, "awaited"))),
        ("(x as Foo<T>).y", _expr((CAST, "Foo<T>"), (ATTR, "y"))),
        ("::a.b", _expr((NAME, "::a"), (ATTR, "b"))),
        ("Outer.this@Inner", _expr((NAME, "Outer"), (ATTR, "Inner"), (ATTR, "this"))),
        ("a+b", _expr((NAME, "a"))),
        ("(a or b).c", ()),
        ("1", ()),
    ],
)  # fmt: skip
def test_parsing(text: str, expr: Expr) -> None:
    assert parse(text) == expr


def test_an_address_comes_last() -> None:
    assert parse_cpp("&x.y") == _expr((NAME, "x"), (ATTR, "y"), (ADDRESS, ""))
    assert parse_cpp("**x") == _expr((NAME, "x"), (TARGET, ""), (TARGET, ""))
    assert parse_cpp("new X()") == _expr((NAME, "X"), (CALL, ""), (ADDRESS, ""))
    assert parse_cpp("*&x") == _expr((NAME, "x"))
    assert parse_cpp("!x") == ()
