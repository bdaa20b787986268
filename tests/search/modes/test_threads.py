"""Whether the views of a multiview query have threads of their own is no part of the answer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.search.modes import multiview
from lci_py.search.retrievers import LexicalRetriever
from lci_py.types.search import Answer, SearchRequest


def test_a_large_index_is_searched_in_threads_and_answers_as_without(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[threading.Thread] = []
    real = LexicalRetriever.search

    def search(self: LexicalRetriever, *args: Any) -> Any:
        used.append(threading.current_thread())
        return real(self, *args)

    monkeypatch.setattr(LexicalRetriever, "search", search)

    def ask() -> Answer:
        with app.open_engine(str(repo)) as session:
            return session.search(SearchRequest("how is the price of an Inventory computed", "multiview", 50))

    alone = ask()
    assert {thread is threading.main_thread() for thread in used} == {True}
    used.clear()
    monkeypatch.setattr(multiview, "LARGE", 0)
    assert ask().results == alone.results
    assert alone.results
    assert used[0] is not threading.main_thread()
