"""Definitions here beside those of a branch: what is the same, what has moved, what has changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.search.conflicts.branches import unlike
from lci_py.search.conflicts.sites import definition_sites
from lci_py.search.engine import Engine
from lci_py.types.conflicts import ConflictsRequest
from lci_py.types.search import DefinitionSite, Filters
from tests.support.branch_repo import branch, init


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


# --- of an index --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A function that differs on a branch, one that is defined twice here and differs, and one on each side only."""
    twice = "def twice():\n    return 1\n\n\n"
    files = {
        "a.py": f"def one():\n    return 1\n\n\n{twice}",
        "b.py": "def gone():\n    pass\n",
        "c.sh": "f() { :; }\n",
    }
    files["a.py"] += twice.replace("1", "2")
    root = init(tmp_path_factory.mktemp("branches") / "repo", files)
    branch(root, "other", {"a.py": files["a.py"].replace("return", "yield"), "b.py": None, "d.py": "def new(): pass\n"})
    app.build_index(str(root), jobs=1, branches=("other",))
    return app.open_engine(str(root), refresh="never")


def told(site: DefinitionSite) -> str:
    return f"{site.branch} {site.file}:{site.line} {site.relation}{' *' if site.active else ''}"


CONFLICTS = {
    "twice": (["main a.py:5 duplicate", "main a.py:9 duplicate *", "other a.py:5 branch", "other a.py:9 branch"], ()),
    "one": (["main a.py:1 branch *", "other a.py:1 branch"], ()),
    "gone": (["main b.py:1 branch *"], ("other",)),
    "new": (["other d.py:1 branch"], ("main",)),
}


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        (ConflictsRequest(name="*"), ["twice", "one", "gone", "new"]),
        (ConflictsRequest(branches=True), ["twice", "one", "gone", "new"]),
        (ConflictsRequest(relations=("branch",)), ["twice", "one", "gone", "new"]),
        (ConflictsRequest(name="*", relations=("branch",)), ["twice", "one", "gone", "new"]),
        (ConflictsRequest(name="*", relations=("duplicate",)), ["twice"]),
        (ConflictsRequest(name="n*"), ["new"]),
        (ConflictsRequest(Filters(path=("d.py", "b.py")), name="*"), ["gone", "new"]),
        (ConflictsRequest(Filters(lang=("bash",)), name="*"), []),
        (ConflictsRequest(Filters(kind=("class",)), name="*"), []),
        (ConflictsRequest(Filters(name=("[gn]*",), lang=("python",), kind=("function",)), name="*"), ["gone", "new"]),
        (ConflictsRequest(Filters(parent=("*",)), name="*"), []),
    ],
)
def test_conflicts_with_a_branch(session: Engine, request_: ConflictsRequest, names: list[str]) -> None:
    answer = session.answer("conflicts", request_)
    found = {one.qualified_name: ([told(site) for site in one.definitions], one.missing_on) for one in answer.results}
    assert list(found) == names
    assert found == {name: CONFLICTS[name] for name in names}


@pytest.mark.parametrize(("name", "expected"), [("one", 2), ("twice", 4), ("gone", 0)])
def test_a_search_tells_what_a_branch_has_otherwise(session: Engine, name: str, expected: int) -> None:
    row = session.snapshot.symbols.same_name(name, "python", 9)[0]
    sites = definition_sites(session.snapshot, row["id"], "python", name)
    assert [told(site) for site in sites] == (CONFLICTS[name][0] if expected else [])
