"""Where places contradict each other on a value: the rule, a repository with known answers, and the command line."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError
from lci_py.index.shards.stated_values import StatedValue, names_in, stated_values_of
from lci_py.search.conflicts.values import all_of, disagreements
from lci_py.search.engine import Engine
from lci_py.types.search import CONFLICT_TYPES, RESOLUTIONS, Filters, SearchRequest


def row(place: str, name: str, value: str, how: str, **more: Any) -> StatedValue:
    file, _, line = place.partition(":")
    kind = more.pop("kind", "constant" if how == "code" else "")
    language = more.pop("language", "python" if file.endswith(".py") else "markdown")
    qualified = more.pop("qualified_name", name if how == "code" else "")
    values = {"conditioned": False, "is_test": False, **more}
    return StatedValue(file, int(line or 1), name, value, how, language, qualified, kind, **values)


def said(*rows: StatedValue) -> list[tuple[str, str, list[str]]]:
    found = disagreements(rows)
    for entry in found:
        assert entry["conflict_type"] in CONFLICT_TYPES
        assert entry["recommended_resolution"] in RESOLUTIONS
        assert all(source in entry["reasoning"] for source in (entry["sources"][0], entry["sources"][-1]))
    return [(entry["conflict_type"], entry["recommended_resolution"], entry["sources"]) for entry in found]


CODE = row("src/a.py:12", "MAX_RETRIES", "60", "code")
READ = row("README.md:40", "MAX_RETRIES", "300", "prose")


def test_the_sentence_cites_both_places() -> None:
    assert disagreements([CODE, READ]) == [
        {
            "conflict_type": "numeric-mismatch",
            "sources": ["src/a.py:12", "README.md:40"],
            "recommended_resolution": "prefer-authoritative",
            "reasoning": "MAX_RETRIES is 60 in src/a.py:12 but README.md:40 says 300.",
        }
    ]


DISAGREE = [
    ([row("a.py:1", "LOG_FORMAT", '"json"', "code"), row("R.md:2", "LOG_FORMAT", '"text"', "prose")],
     "direct-contradiction", "prefer-authoritative"),
    ([row("a.py:1", "USE_CACHE", "true", "default"), row("R.md:2", "USE_CACHE", "false", "prose")],
     "direct-contradiction", "prefer-authoritative"),
    ([row("a.py:1", "--max-size", "5", "default"), row("R.md:2", "--max-size", "6", "prose")],
     "numeric-mismatch", "prefer-authoritative"),
    ([row("a.js:1", "maxSize", "5", "code", qualified_name="DEFAULTS.maxSize", kind="property"),
      row("R.md:2", "maxSize", "6", "prose")], "numeric-mismatch", "prefer-authoritative"),
    ([row(".env.example:1", "MAX_RETRIES", "70", "config"), row("a.py:1", "MAX_RETRIES", '"60"', "default")],
     "numeric-mismatch", "prefer-authoritative"),
    ([row("a.go:1", "MaxSize", "5", "option"), row("R.md:2", "MaxSize", "6", "prose")],
     "numeric-mismatch", "prefer-authoritative"),
    ([row("a.py:3", "f.size", "6", "comment"), row("a.py:1", "f.size", "5", "beside")],
     "numeric-mismatch", "prefer-authoritative"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "kind", "resolution"), DISAGREE, ids=range(len(DISAGREE)))
def test_what_contradicts(rows: list[StatedValue], kind: str, resolution: str) -> None:
    assert [(found[0], found[1]) for found in said(*rows)] == [(kind, resolution)]


AGREE = [
    # The same in another form.
    [CODE, row("R.md:2", "MAX_RETRIES", "1min", "prose")],
    [row("a.py:1", "USE_CACHE", "true", "code"), row("R.md:2", "USE_CACHE", "1", "prose")],
    # Somebody else is meant, or nobody knows who.
    [row("a.py:1", "max_size", "5", "code", qualified_name="Row.max_size"), row("R.md:2", "max_size", "6", "prose")],
    [
        row("a.py:1", "HEADER_SIZE", "2", "code", qualified_name="Key.HEADER_SIZE"),
        row("R.md:2", "HEADER_SIZE", "0", "prose"),
    ],
    [row("packages/a/x.py:1", "MAX_RETRIES", "60", "code"), row("packages/b/R.md:2", "MAX_RETRIES", "6", "prose")],
    [CODE, row("b.py:1", "MAX_RETRIES", "?", "code"), READ],
    [*(row(f"{n}.py:1", "MAX_RETRIES", str(n), "code") for n in range(3)), READ],
    [row("a.py:1", "max_size", "5", "code", qualified_name="Config.max_size"), row("R.md:2", "max_size", "6", "prose")],
    # No evidence.
    [row("tests/a.py:1", "MAX_RETRIES", "60", "code", is_test=True), READ],
    [row("examples/a.py:1", "MAX_RETRIES", "60", "code"), READ],
    [row("vendor/a.py:1", "MAX_RETRIES", "60", "code"), READ],
    [row("src/a.py:1", "MAX_RETRIES", "60", "code", conditioned=True), READ],
    # A setting, not a default.
    [CODE, row("config.yaml:1", "MAX_RETRIES", "300", "config")],
    [row("a.py:1", "MAX_RETRIES", "60", "default"), row(".env:1", "MAX_RETRIES", "300", "config")],
    [CODE, row("config.yaml:1", "MAX_RETRIES", "300", "config"), row("R.md:1", "MAX_RETRIES", "60", "prose")],
    [row(".env.example:1", "POOL_SIZE", "70", "config"), row("a.py:1", "POOL_SIZE", "0", "default")],
    [row(".env.example:1", "POOL_NAME", '"x"', "config"), row("a.py:1", "POOL_NAME", '"y"', "default")],
    # "Not set" is no value.
    [row("a.py:1", "MAX_RETRIES", "-1", "code"), READ],
    # Two scopes, two documents.
    [row("a/a.py:1", "MAX_RETRIES", "60", "code"), row("b/a.py:1", "MAX_RETRIES", "70", "code"), READ],
    [READ, row("docs/a.md:1", "MAX_RETRIES", "60", "prose")],
    # Parts of a program that set something for themselves.
    [row("a.py:1", "SERVER_PORT", "5", "default"), row("b.py:1", "SERVER_PORT", "6", "default")],
    [row("a.py:1", "MAX_RETRIES", "5", "code"), row("b.py:1", "MAX_RETRIES", "6", "code")],
    [row("a.py:1", "DB_MODE", '"a"', "default"), row("a.py:9", "DB_MODE", '"b"', "default")],
    # A build sets what a `#define` only has a value for.
    [row("a.h:1", "CA_BUNDLE", '"a"', "code", kind="macro"), row("R.md:2", "CA_BUNDLE", '"auto"', "prose")],
    # A credential is not shown.
    [row("a.py:1", "ADMIN_PASSWORD", '"a"', "code"), row("R.md:2", "ADMIN_PASSWORD", '"b"', "prose")],
]


@pytest.mark.parametrize("rows", AGREE, ids=range(len(AGREE)))
def test_what_does_not(rows: list[StatedValue]) -> None:
    assert said(*rows) == []


def test_documents_that_say_the_same_are_one_entry() -> None:
    other = row("docs/a.md:3", "MAX_RETRIES", "300", "prose")
    (entry,) = disagreements([CODE, READ, other])
    assert entry["sources"] == ["src/a.py:12", "README.md:40", "docs/a.md:3"]


def test_documents_of_two_packages_are_two_entries() -> None:
    code = [row(f"packages/{name}/x.py:1", "MAX_RETRIES", "60", "code") for name in "ab"]
    read = [row(f"packages/{name}/README.md:1", "MAX_RETRIES", "300", "prose") for name in "ab"]
    assert [sources for _, _, sources in said(*code, *read)] == [
        ["packages/a/x.py:1", "packages/a/README.md:1"],
        ["packages/b/x.py:1", "packages/b/README.md:1"],
    ]


# --- a repository -------------------------------------------------------------------------------------------------

FILES = {
    "pool/client.py": """
        import os
        MAX_RETRIES = 60
        POOL_SIZE = int(os.environ.get("POOL_SIZE", "10"))
        QUEUE_LIMIT = 7

        def fetch(url, max_tries=3):
            return os.environ.get("FETCH_MODE", "fast")
        """,
    "pool/cli.py": """
        def main(parser):
            parser.add_argument("--idle-time", type=int, default=30)
        """,
    "README.md": """
        # Pool

        - `MAX_RETRIES`: how often (default: 300)
        - `POOL_SIZE`: rows (default: 10)
        - `--idle-time`: seconds. Defaults to `45`.
        """,
    "docs/config.md": """
        | Variable | Default |
        |---|---|
        | `FETCH_MODE` | `slow` |
        | `QUEUE_LIMIT` | `7` |
        """,
    "config.yaml": "QUEUE_LIMIT: 100\n",
    "tests/test_client.py": "MAX_RETRIES = 1\n",
}
EXPECTED = [
    "the default of --idle-time is 30 in pool/cli.py:3 but README.md:6 says 45.",
    'the default of FETCH_MODE is "fast" in pool/client.py:8 but docs/config.md:4 says "slow".',
    "MAX_RETRIES is 60 in pool/client.py:3 but README.md:4 says 300.",
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
    return sorted((entry["reasoning"] for entry in found), key=str.lower)


def test_all_of_a_repository(opened: Engine) -> None:
    assert reasons(all_of(opened.snapshot, Filters())) == sorted(EXPECTED, key=str.lower)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(path=("docs/**",)), [1]), (Filters(exclude=("pool/client.py",), path=("pool/**",)), [0]),
        (Filters(lang=("python",)), [0, 1, 2]), (Filters(kind=("constant",)), [2]), (Filters(name=("FETCH_*",)), [1]),
        (Filters(name=("[!F]*",), lang=("markdown",)), [0, 2]), (Filters(lang=("go",)), []),
    ],
)  # fmt: skip
def test_filters_keep_what_one_place_passes(opened: Engine, filters: Filters, expected: list[int]) -> None:
    assert reasons(all_of(opened.snapshot, filters)) == sorted((EXPECTED[i] for i in expected), key=str.lower)


@pytest.mark.parametrize(
    ("query", "mode", "expected"),
    [
        ("MAX_RETRIES", "symbolic", [2]), ("FETCH_MODE", "symbolic", [1]), ("fetch", "symbolic", [1]),
        ("name:main", "symbolic", [0]), ("QUEUE_LIMIT", "symbolic", []), ("Pool rows", "bm25", [0, 2]),
    ],
)  # fmt: skip
def test_a_search_shows_what_its_results_are_about(opened: Engine, query: str, mode: Any, expected: list[int]) -> None:
    answer = opened.search(SearchRequest(query, mode, conflicts=True))
    assert set(reasons(answer.conflicts)) >= {EXPECTED[i] for i in expected}
    assert bool(answer.conflicts) == bool(expected)
    assert opened.search(SearchRequest(query, mode)).conflicts == ()


def test_a_refresh_brings_the_claims_of_what_has_changed(root: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", FILES)
    app.build_index(str(other), jobs=1)
    (other / "README.md").write_text("`MAX_RETRIES` (default: 60)\n")
    app.build_index(str(other), jobs=1)
    with app.open_engine(str(other)) as session:
        assert reasons(all_of(session.snapshot, Filters())) == [EXPECTED[1]]


def test_the_name_of_a_file_decides_how_its_content_is_read(tmp_path: Path) -> None:
    text = "`MAX_RETRIES` (default: 5)\n"
    write(tmp_path, {"a.py": "MAX_RETRIES = 6\n", "CHANGES.md": text, ".lci.toml": ""})
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        assert all_of(session.snapshot, Filters()) == ()
    (tmp_path / "README.md").write_text(text)  # the same content: the cache must not answer for it
    app.build_index(str(tmp_path), jobs=1)
    with app.open_engine(str(tmp_path)) as session:
        assert [entry["sources"] for entry in all_of(session.snapshot, Filters())] == [["a.py:1", "README.md:1"]]


def test_the_command_line(root: Path, lci: Callable[..., Any]) -> None:
    done = lci("search", "MAX_RETRIES", "--mode", "symbolic", "--conflicts", "--json", cwd=root)
    assert [entry["reasoning"] for entry in json.loads(done.out)["conflicts"]] == [EXPECTED[2]]
    assert "conflicts" not in lci("search", "MAX_RETRIES", "--mode", "symbolic", "--json", cwd=root).json()
    listed = lci("conflicts", cwd=root)
    assert all(reason.split(" ")[0] in listed.out for reason in EXPECTED)
    below = lci("conflicts", cwd=root / "docs").out
    assert "but config.md:4 says" in " ".join(below.split())


# --- data from disk -----------------------------------------------------------------------------------------------

GOOD = ("a.py", 3, "MAX_SIZE", "5", "prose", "text", None, None, None, 0)


@pytest.mark.parametrize("place", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("bad", [None, b"\xff", -1, 2.5])
def test_a_damaged_row_is_an_error(place: int, bad: object) -> None:
    damaged = [*GOOD[:place], bad, *GOOD[place + 1 :]]

    def execute(sql: str, values: object = ()) -> list[list[object]]:
        if "FROM claims" in sql:
            return [damaged]
        return [[0]] if "max(id)" in sql else [["a.py"]] if "SELECT path" in sql else []

    index: Any = SimpleNamespace(segments=[SimpleNamespace(name="s", live="1", execute=execute)])
    for read in (lambda: stated_values_of(index, ["MAX_SIZE"]), lambda: names_in(index, [("a.py", 1, 9)])):
        with pytest.raises(DamagedIndexError):
            read()
