"""Whether an answer says that the index seems not to have what was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lci_py import app
from lci_py.types.search import SearchRequest
from tests.support.graph_repo import build

SOURCES = {
    "store.py": "def remove_expired_sessions(store):\n"
    '    """Remove the sessions that have expired from the store."""\n'
    "    for session in store.sessions():\n        if session.expired():\n            store.remove(session)\n",
    "text.py": 'def wrap_paragraph(text, width):\n    """Wrap a paragraph of text to a width."""\n    return text[:width]\n',
    "boot.py": "def start(app):\n    a = app.first\n    app.proxy = a\n    print('kettle')\n    for i in range(9):\n"
    "        app.do(i, a)\n    return a + app.third + 'vinegar'\n",
}


@pytest.mark.parametrize("mode", ["dense", "multiview"])
def test_a_question_about_something_else_has_low_confidence(tmp_path: Path, mode: str) -> None:
    levels = {}
    with app.open_engine(str(build(tmp_path, SOURCES))) as session:
        for query in (
            "where are expired sessions removed",
            "store of GraphQL subscriptions",
            "wrap_paragraph",
            '"store.remove("',
            "kettle vinegar",  # far from it by meaning, but there
        ):
            found = session.search(SearchRequest(query, mode)).confidence
            assert found is not None, query
            levels[query] = found.level
        assert session.search(SearchRequest("expired sessions", "bm25")).confidence is None
    assert levels == {
        "where are expired sessions removed": "high",
        "store of GraphQL subscriptions": "low",
        "wrap_paragraph": "high",
        '"store.remove("': "high",
        "kettle vinegar": "medium",
    }
