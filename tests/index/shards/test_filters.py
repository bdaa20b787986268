"""Filters on paths and names: what they match, and that no glob takes longer than its length allows."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given, strategies as st
from pathspec import GitIgnoreSpec

from lci_py.errors import BadGlobError
from lci_py.index.shards.filters import name_glob, path_test, row_test
from lci_py.source.repository.ignore_rules import IgnoreRules
from lci_py.types.search import Filters

_PIECES = ["a", "b", "c", "*", "**", "?", "[ab]", ".", "a.b", "*a", "\\*", "-"]
segment = st.lists(st.sampled_from(_PIECES), min_size=1, max_size=4).map("".join)
glob = st.tuples(
    st.sampled_from(["", "/"]),
    st.lists(segment | st.just("**"), min_size=1, max_size=5).map("/".join),
    st.sampled_from(["", "/", "/**"]),
).map("".join)
# Of nothing but stars before `**/`, the library says that files match, and git that they do not.
glob = glob.filter(lambda text: not re.fullmatch(r"/?(?:\*+/)+\*\*/", text))
name = st.text("abc.*-", min_size=1, max_size=4).filter(lambda text: text not in (".", ".."))
path = st.lists(name, min_size=1, max_size=6).map("/".join)


def passes(path: str, *globs: str) -> bool:
    test = path_test(Filters(path=globs))
    return test is None or test(path)


@given(st.lists(glob, min_size=1, max_size=2), path)
def test_globs_are_those_of_gitignore(globs: list[str], where: str) -> None:
    assert passes(where, *globs) == bool(GitIgnoreSpec.from_lines(globs).match_file(where))


@pytest.mark.parametrize(
    ("glob", "where", "matches"),
    [
        ("src", "lib/src/a.py", True),  # a folder covers its content
        ("src/", "lib/src", False),  # a file of that name is none
        ("a/**/", "a/b", True),
        ("a/**", "a", False),
        ("*/**/", "a/b", False),
        ("a[!b]c", "a/c", False),
        ("#a", "#a", True),
        ("[[]id].py", "x/[id].py", True),
    ],
)
def test_a_glob(glob: str, where: str, matches: bool) -> None:
    assert passes(where, glob) == matches


# Each of these would take longer than the universe has existed, if it went back to try another place.


@pytest.mark.parametrize(
    ("glob", "where"),
    [
        ("*a" * 30 + "*b", "a" * 200),
        ("*?" * 30 + "b", "a" * 200),
        ("*[a-z]" * 30 + "*-", "a" * 200),
        ("**/a/" * 30 + "b", "/".join("a" * 90)),
        ("x/" + "**/a/" * 30 + "b", "x/" + "/".join("a" * 90)),
        ("**/*a/*/" * 20 + "b", "/".join("a" * 90)),
        ("**/*a*a/" * 20 + "b", "/".join(["aaa"] * 90)),
    ],
)
def test_no_path_glob_goes_back(glob: str, where: str) -> None:
    assert not passes(where, glob)
    assert not path_test(Filters(path=("a*",), exclude=(glob,)))("b")  # type: ignore[misc]
    assert IgnoreRules([glob]).match(where.rpartition("/")[2], where, False) is None


@pytest.mark.parametrize("glob", ["*a" * 30 + "*b", "*?" * 30 + "b", "*[a-z]" * 30 + "*-"])
def test_no_name_glob_goes_back(glob: str) -> None:
    with sqlite3.connect(":memory:") as database:
        assert database.execute("SELECT ? GLOB ?", ("a" * 200, name_glob(glob))).fetchone() == (0,)
    row = {"file": "b", "language": "python", "kind": "function", "symbol": "a" * 200, "qualified_name": "a" * 200}
    assert not row_test(Filters(name=(glob,)))(**row)


@pytest.mark.parametrize("glob", ["!a", " ", "[a", "[z-a]", "a" * 10_001])
def test_what_is_no_glob(glob: str) -> None:
    with pytest.raises(BadGlobError, match=re.escape("glob")):
        path_test(Filters(path=(glob,)))
