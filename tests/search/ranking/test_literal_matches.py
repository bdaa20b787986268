"""What a query spells out: a name typed as it is, and text that stands in the source, lead in every mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from lci_py.types.search import Filters, Result, SearchRequest
from tests.conftest import Ran

RANKED = ("dense", "bm25", "multiview")
FILES = {
    "pool/join_set.py": '''"""Sets of tasks that are joined."""


class JoinSet:
    """A collection of tasks."""

    def spawn(self, task):
        return self.tasks.append(task)

    def join_next(self):
        """Wait until one of the tasks in the set is complete.

        A task that was aborted counts as well.
        """
        return self.queue.pop()
''',
    "pool/__init__.py": "from pool.join_set import JoinSet\n",
    "pool/builder.py": """from pool.join_set import JoinSet

DEFAULT_JOIN_TIMEOUT = 30
MAX_JOINED = 100


def build_join_set(join, set_of_join):
    join_set = JoinSet()
    return join_set.spawn(join, set_of_join)


def join(set_of_join):
    if not set_of_join:
        raise RuntimeError(f"there is no pool running, join must be called from {set_of_join} of a pool")
    return JoinSet


def attach(place, reason):
    raise ValueError(f"cannot attach another task at {place!r}: {reason}")


def report(code, place, host):
    print(f"error {code} attaching {place} to {host} failed")
""",
    "tests/test_join_set.py": """def test_join_set():
    join_set, join, pool = JoinSet(), join, pool
    assert "there is no pool running, join must be called from inside of a pool"
""",
    "main.py": "import pool.builder\n\npool.builder.report(1, pool.builder, pool.builder)\n",
    "docs/join.md": "# Joining\n\nThere is no limit of the pool. A running join set must be called a set of joins.\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("spelled")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as opened:
        yield opened


def first(session: Engine, query: str, mode: str, filters: Filters = Filters()) -> Result:  # noqa: B008
    return session.search(SearchRequest(query, mode, 5, filters)).results[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("query", ["JoinSet", "join set", "joinset", "join_set"])
def test_the_definition_of_a_name_is_first(session: Engine, mode: str, query: str) -> None:
    found = first(session, query, mode)
    assert (found.qualified_name, found.file) == ("JoinSet", "pool/join_set.py")


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("query", ["pool.builder", "pool/builder.py", "`pool/builder`", "pool::builder", "builder.py"])
def test_a_module_is_before_those_that_import_it(session: Engine, mode: str, query: str) -> None:
    found = first(session, query, mode)
    assert (found.file, found.line) == ("pool/builder.py", 1)


@pytest.mark.parametrize("mode", RANKED)
def test_a_name_as_it_is_written_is_before_the_same_in_other_letters(session: Engine, mode: str) -> None:
    assert first(session, "join", mode).qualified_name == "join"


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize("query", ["DEFAULT_JOIN_TIMEOUT", "default join timeout"])
def test_a_constant_of_one_line_is_the_result_and_not_the_block_around_it(
    session: Engine, mode: str, query: str
) -> None:
    found = first(session, query, mode)
    assert (found.symbol, found.kind, found.line, found.end_line) == ("DEFAULT_JOIN_TIMEOUT", "constant", 3, 3)
    assert found.snippet.startswith("DEFAULT_JOIN_TIMEOUT = 30")


@pytest.mark.parametrize("mode", RANKED)
def test_filters_hold_for_what_is_spelled_out(session: Engine, mode: str) -> None:
    assert first(session, "MAX_JOINED", mode, Filters(kind=("constant",))).symbol == "MAX_JOINED"
    answer = session.search(SearchRequest("MAX_JOINED", mode, 5, Filters(path=("docs/**",))))  # type: ignore[arg-type]
    assert {result.file for result in answer.results} <= {"docs/join.md"}


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize(
    "query",
    [
        "there is no pool running, join must be called from",  # as in the source
        "RuntimeError: there is no pool running, join must be called from None of a pool",  # with a value
        # A line of a log: most of it stands nowhere, but a long part does.
        "2026-11-22T10:31:07Z worker 17 app.main crashed: there is no pool running, join must be called from 0x7f at main:9",
    ],
)
def test_a_pasted_message_finds_where_it_is_raised(session: Engine, mode: str, query: str) -> None:
    assert first(session, query, mode).qualified_name == "join"


@pytest.mark.parametrize("mode", RANKED)
@pytest.mark.parametrize(
    ("query", "name"),
    [
        # What is added before and behind speaks of other places, and the message itself has few words.
        ("pool.errors.JoinError: cannot attach another task at 'set_of_join': no running join set in the pool, limit of joins", "attach"),
        ("error 111 attaching tasks/join.sock to localhost:6379 failed: the join set of a running pool is complete", "report"),
    ],
)  # fmt: skip
def test_values_in_a_pasted_message_do_not_count(session: Engine, mode: str, query: str, name: str) -> None:
    assert first(session, query, mode).qualified_name == name


@pytest.mark.parametrize("mode", RANKED)
def test_a_sentence_of_a_doc_comment_finds_its_definition_and_not_the_type_around_it(
    session: Engine, mode: str
) -> None:
    query = "Wait until one of the tasks in the set is complete. A task that was aborted"  # over three lines
    assert first(session, query, mode).qualified_name == "JoinSet.join_next"


def test_what_is_spelled_out_is_explained(session: Engine) -> None:
    for mode in RANKED:
        answer = session.search(SearchRequest("JoinSet", mode, 2, explain=True))  # type: ignore[arg-type]
        why = answer.results[0].explain
        assert why is not None
        steps = {step["name"]: step for step in why["waterfall"]}
        assert steps["name"]["adds"] > 0 and "verbatim" not in steps
        assert sum(step["adds"] for step in why["waterfall"]) == pytest.approx(answer.results[0].mode_score)


def test_a_file_that_has_changed_is_read_as_it_is(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    before = 'def stop():\n    raise ValueError("the engine has run out of steam")\n'
    (tmp_path / "a.py").write_text(before)
    (tmp_path / "b.py").write_text("def engine(steam):\n    return steam.run('the engine'), steam.out('has run')\n" * 3)
    assert lci("index", cwd=tmp_path).code == 0
    query = "the engine has run out of steam"
    assert lci("search", query, "--json", cwd=tmp_path).json()["results"][0]["file"] == "a.py"
    (tmp_path / "a.py").unlink()
    ran = lci("search", query, "--refresh", "never", "--json", cwd=tmp_path)
    assert [result["file"] for result in ran.json()["results"]][:1] == ["b.py"]


def test_a_damaged_shard_is_named_and_the_others_answer(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    (tmp_path / "a.py").write_text(FILES["pool/builder.py"])
    assert lci("index", cwd=tmp_path).code == 0
    (shard,) = (tmp_path / ".lci").glob("bm25-*")
    shard.write_bytes(b"broken")
    ran = lci("search", "there is no pool running", "--mode", "multiview", "--json", cwd=tmp_path)
    assert [item["view"] for item in ran.json()["degraded"]] == ["bm25"]
    assert ran.json()["results"]
