"""Comments that contradict the code beside them: a repository with known answers, searches, and the command line."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.stated_values import contradicted_comments, repeated_keys
from lci_py.search.conflicts.values import all_of
from lci_py.search.engine import Engine
from lci_py.types.search import Filters, SearchRequest

FILES = {
    "pool/client.py": '''
        # Rows of a page, 300 by default.
        MAX_ROWS = 60

        def fetch(url, max_tries=3, mode="fast"):
            """Get a page.

            Args:
                max_tries: How often; 3 by default.
                mode: How. Defaults to "slow".
            """

        if WINDOWS:
            # 4 by default.
            MAX_PIPES = 5
        ''',
    "pool/cli.py": """
        def main(parser):
            parser.add_argument("--idle-time", type=int, default=30, help="seconds (default: 45)")
        """,
    "README.md": "- `MAX_ROWS`: how many (default: 70)\n",
    "tests/test_client.py": "# 2 by default.\nMAX_ROWS = 1\n",
}
EXPECTED = [
    "the default of --idle-time is 30 in pool/cli.py:3 but the same line says 45.",
    "the default of MAX_ROWS is 60 in pool/client.py:3 but its comment in pool/client.py:2 says 300.",
    'the default of fetch.mode is "fast" in pool/client.py:5 but its comment in pool/client.py:10 says "slow".',
]


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write(tmp_path_factory.mktemp("disagreements"), FILES)
    app.build_index(str(root), jobs=1)
    return root


@pytest.fixture(scope="module")
def opened(root: Path) -> Iterator[Engine]:
    with app.open_engine(str(root)) as session:
        yield session


def reasons(found: tuple[dict[str, Any], ...]) -> list[str]:
    return [entry["reasoning"] for entry in found]


def test_the_entries_of_a_repository(opened: Engine) -> None:
    found = all_of(opened.snapshot, Filters())
    assert reasons(found) == EXPECTED
    kinds = ["numeric-mismatch", "numeric-mismatch", "direct-contradiction"]
    assert [entry["conflict_type"] for entry in found] == kinds
    assert {entry["recommended_resolution"] for entry in found} == {"prefer-authoritative"}
    assert [entry["sources"] for entry in found[:2]] == [["pool/cli.py:3"], ["pool/client.py:3", "pool/client.py:2"]]


@pytest.mark.parametrize(
    ("filters", "name", "expected"),
    [
        (Filters(path=("pool/client.py",)), "", [1, 2]), (Filters(exclude=("pool/client.py",)), "", [0]),
        (Filters(lang=("python",)), "", [0, 1, 2]), (Filters(lang=("go",)), "", []),
        (Filters(kind=("constant",)), "", [1]), (Filters(), "fetch", [2]), (Filters(), "MAX_*", [1]),
    ],
)  # fmt: skip
def test_filters(opened: Engine, filters: Filters, name: str, expected: list[int]) -> None:
    assert reasons(all_of(opened.snapshot, filters, name)) == [EXPECTED[i] for i in expected]


@pytest.mark.parametrize(
    ("query", "mode", "expected"),
    [("MAX_ROWS", "symbolic", [1]), ("fetch", "symbolic", [2]), ("name:main", "symbolic", [0])],
)
def test_a_search_shows_what_its_results_are_about(opened: Engine, query: str, mode: Any, expected: list[int]) -> None:
    answer = opened.search(SearchRequest(query, mode, conflicts=True))
    assert reasons(answer.conflicts) == [EXPECTED[i] for i in expected]
    assert opened.search(SearchRequest(query, mode)).conflicts == ()


def test_a_refresh_brings_the_claims_of_what_has_changed(tmp_path: Path) -> None:
    app.build_index(str(write(tmp_path, FILES)), jobs=1)
    (tmp_path / "pool" / "client.py").write_text("# Rows of a page, 300 by default.\nMAX_ROWS = 300\n")
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        assert reasons(all_of(session.snapshot, Filters())) == EXPECTED[:1]


def test_the_path_of_a_file_decides_whether_its_comments_count(tmp_path: Path) -> None:
    text = "# Rows of a page, 300 by default.\nMAX_ROWS = 60\n"
    write(tmp_path, {"examples/a.py": text, ".lci.toml": ""})
    app.build_index(str(tmp_path), jobs=1)
    (tmp_path / "a.py").write_text(text)  # the same content: the cache must not answer for it
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        assert [entry["sources"] for entry in all_of(session.snapshot, Filters())] == [["a.py:2", "a.py:1"]]


def test_the_command_line(root: Path, lci: Callable[..., Any]) -> None:
    found = lci("search", "MAX_ROWS", "--mode", "symbolic", "--conflicts", "--json", cwd=root).json()
    assert reasons(found["conflicts"]) == [EXPECTED[1]]
    assert "conflicts" not in lci("search", "MAX_ROWS", "--mode", "symbolic", "--json", cwd=root).json()
    listed = " ".join(lci("conflicts", cwd=root / "pool").out.split())
    assert "MAX_ROWS is 60 in client.py:3" in listed


# --- data from disk -----------------------------------------------------------------------------------------------

GOOD = ("a.py", 3, "MAX_SIZE", "5", "comment", "text", None, None, None, 0)


@pytest.mark.parametrize("place", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("bad", [None, b"\xff", -1, 2.5])
def test_a_damaged_row_is_an_error(place: int, bad: object) -> None:
    damaged = [*GOOD[:place], bad, *GOOD[place + 1 :]]
    index: Any = SimpleNamespace(segments=[SimpleNamespace(name="s", live="1", execute=lambda sql: [damaged])])
    for read in (contradicted_comments, repeated_keys):
        with pytest.raises(DamagedIndexError):
            read(index)
