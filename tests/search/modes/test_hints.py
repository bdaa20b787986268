"""What a weak answer tells a person to run, and how tests are left out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from lci_py.types.search import Filters, Hint, SearchRequest
from tests.cli.fake import VALIDATOR
from tests.conftest import Ran
from tests.support.graph_repo import build

_TEST = "def test_{0}():\n    assert wrap_paragraph('{0} paragraph of text', {1}) == '{0}'\n"
FILES = {
    "text.py": 'def wrap_paragraph(text, width):\n    """Wrap a paragraph of text to a width."""\n    return text[:width]\n',
    "store.py": "def remove_expired(store):\n    for session in store:\n        session.drop('zq-17: Gone Away')\n",
    "geometry.py": "def quaternion(axis):\n    return axis\n",
    # One place has both words, among many others.
    "plan.py": "def everything():\n"
    + "".join(
        f"    {word} = '{word}'\n" for word in "axis barrel candle donkey engine ferret garlic hexapod insect".split()
    )
    + "".join(
        f"    {word} = '{word}'\n" for word in "jacket kettle ladder magnet needle oyster pencil quaternion".split()
    ),
    **{f"tests/test_{word}.py": _TEST.format(word, i) for i, word in enumerate(("narrow", "wide", "empty", "long"))},
    "lib.rs": "pub fn fold_lines(n: u32) -> u32 {\n    n\n}\n\n#[test]\nfn alone() {\n    fold_lines(4);\n}\n\n"
    "#[cfg(test)]\nmod tests {\n"
    "    fn folds_lines() {\n        fold_lines(3);\n    }\n}\n",
    "fold.js": "export function foldPages(pages) {\n  return pages\n}\n",
    "fold.d.ts": "export function foldPages(pages: Page[]): Page[]\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hints"), FILES)


@pytest.fixture(scope="module")
def session(root: Path) -> Iterator[Engine]:
    with app.open_engine(str(root)) as opened:
        yield opened


def hints(session: Engine, query: str, mode: str = "dense", limit: int = 1, **filters: bool) -> dict[str, Hint]:
    request = SearchRequest(query, mode, limit, Filters(**filters))  # type: ignore[arg-type]
    return {hint.kind: hint for hint in session.search(request).hints}


def test_a_text_that_stands_somewhere_is_found_by_grep(session: Engine) -> None:
    found = hints(session, "giraffe of a paragraph: gone away")["grep"]
    assert (found.file, found.line) == ("store.py", 3)
    assert found.command == "lci grep -Fi 'gone away'"  # the longest part that stands there, in another case
    assert "grep" not in hints(session, "giraffe of a paragraph: never written")
    assert "grep" not in hints(session, "wrap_paragraph")  # the answer is sure


def test_words_of_one_place_are_found_by_bm25(session: Engine) -> None:
    found = hints(session, "quaternion of the axis with a hexapod")["bm25"]
    assert (found.file, found.command) == ("plan.py", "lci search -m bm25 'quaternion of the axis with a hexapod'")
    assert "bm25" not in hints(session, "quaternion of the axis with a giraffe")  # which nothing has


@pytest.mark.parametrize("mode", ["dense", "bm25"])
def test_a_single_mode_names_the_command_that_lists_callers(session: Engine, mode: str) -> None:
    assert hints(session, "who calls wrap_paragraph", mode)["related"].command == "lci callers wrap_paragraph"
    assert "related" not in hints(session, "who calls nothing_like_it", mode)


def test_tests_are_counted_unless_somebody_asks_for_them(session: Engine) -> None:
    assert hints(session, "narrow wide empty long", "bm25", 5)["tests"].reason == "4 of 4 are tests"
    assert "tests" not in hints(session, "test of narrow wide empty", "bm25", 5)
    assert "tests" not in hints(session, "paragraph of text", "bm25", 5, no_tests=True)


def test_no_tests_in_every_command(root: Path, lci: Callable[..., Ran]) -> None:
    def files(*argv: str) -> set[str]:
        ran = lci(*argv, "--no-tests", "--json", cwd=root)
        answer = json.loads(ran.out)
        VALIDATOR.validate(answer)
        return {found["file"] for found in answer.get("results", answer.get("pieces"))}

    for argv in (["search", "paragraph of text"], ["search", "paragraph", "-m", "multiview"], ["files", "t"]):
        found = files(*argv)
        assert "text.py" in found and not any(file.startswith("tests/") for file in found), argv
    assert files("grep", "wrap_paragraph") == {"text.py"}
    assert "text.py" in files("explore", "wrap_paragraph")
    # In Rust, tests stand in the file that they test.
    assert lci("grep", "fold_lines", "-c", cwd=root).out.count("lib.rs:3") == 1
    assert lci("grep", "fold_lines", "-c", "--no-tests", cwd=root).out == "lib.rs:1\n"


def test_hints_in_text_and_json(root: Path, lci: Callable[..., Ran]) -> None:
    query = "giraffe of a paragraph: gone away"
    assert "`lci grep -Fi 'gone away'` has it at store.py:3" in lci("search", query, "-n1", cwd=root).out
    answer = lci("search", query, "-n1", "--json", cwd=root).json()
    VALIDATOR.validate(answer)
    assert answer["hints"] == [
        {"kind": "grep", "command": "lci grep -Fi 'gone away'", "reason": "has it", "file": "store.py", "line": 3}
    ]
    markdown = lci("search", query, "-n1", "--format", "markdown", cwd=root).out
    assert "`lci grep -Fi 'gone away'` has it at `store.py:3`" in markdown
    out = lci("search", "narrow wide empty long", "-m", "bm25", cwd=root).out
    assert "4 of 4 are tests (--no-tests)" in out


def test_declarations_and_tests_in_the_file_come_after_the_code(session: Engine) -> None:
    results = session.search(SearchRequest("fold pages", "bm25", 5)).results
    assert [found.file for found in results][:2] == ["fold.js", "fold.d.ts"]
    results = session.search(SearchRequest("fold lines", "bm25", 5)).results
    assert [found.symbol for found in results if found.file == "lib.rs"][:2] == ["fold_lines", "folds_lines"]
    assert {found.symbol for found in results if not found.test and found.file == "lib.rs"} == {"fold_lines"}
