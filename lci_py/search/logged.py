"""A session that logs its searches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lci_py.search.snapshot import Session

if TYPE_CHECKING:
    from lci_py.index.store.search_log import SearchLog
    from lci_py.types.search import Answer, SearchRequest


class LoggedSession(Session):
    """Answers as a `Session` does."""

    def __init__(self, *args: Any, log: SearchLog, **options: Any) -> None:
        super().__init__(*args, **options)
        self._log = log

    @property
    def log_problem(self) -> str:
        """Why the last search could not be logged, "" if it was."""
        return self._log.problem

    def search(self, request: SearchRequest) -> Answer:
        """Answer one query, and log it."""
        answer = super().search(replace(request, trace=True))
        self._log.add(request, answer)
        return answer if request.trace else replace(answer, trace=None)
