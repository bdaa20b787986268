"""Multiview answers who calls a definition and which tests reach it from the call graph; the other modes do not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lci_py import app
from lci_py.search.engine import Engine
from lci_py.types.search import SearchRequest

FILES = {
    "pool.py": """def release(connection):
    \"\"\"Who calls release, uses it and invokes it gives a connection back.\"\"\"
    connection.idle = True


def forget(connection):
    release(connection)
""",
    "client.py": "from pool import release\n\n\nclass Client:\n    def stop(self):\n        release(self.connection)\n",
    "tests/test_client.py": "from client import Client\n\n\ndef test_stopping():\n    Client().stop()\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("related")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    app.build_index(str(root), jobs=1)
    with app.open_engine(str(root)) as opened:
        yield opened


@pytest.mark.parametrize(
    "query", ["who calls release", "callers of `release`?", "where is release called", "uses of release()"]
)
def test_callers_lead(session: Engine, query: str) -> None:
    answer = session.search(SearchRequest(query, "multiview", 5))
    assert {found.qualified_name for found in answer.results[:2]} == {"Client.stop", "forget"}
    assert answer.plan is not None and answer.plan["command"] == "lci callers release"


@pytest.mark.parametrize("query", ["tests for release", "which tests cover Client.stop", "where is release tested?"])
def test_tests_lead(session: Engine, query: str) -> None:
    answer = session.search(SearchRequest(query, "multiview", 5))
    assert answer.results[0].qualified_name == "test_stopping"
    assert answer.plan is not None and answer.plan["command"].startswith("lci affected --files ")


@pytest.mark.parametrize("mode", ["dense", "bm25"])
def test_a_single_mode_ranks_by_its_own_evidence(session: Engine, mode: str) -> None:
    answer = session.search(SearchRequest("who calls release", mode, 5))  # type: ignore[arg-type]
    assert answer.results[0].qualified_name == "release"
    assert not (answer.plan or {}).get("command")


@pytest.mark.parametrize(
    "query", ["who calls nothing_like_it", "who calls back when the connection is released", "tests"]
)
def test_other_questions_are_as_before(session: Engine, query: str) -> None:
    plan = session.search(SearchRequest(query, "multiview", 5)).plan
    assert plan is not None and not plan["command"]
