"""An engine that logs its searches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.search.engine import Engine
from lci_py.types.record import replace

if TYPE_CHECKING:
    from lci_py.index.store.search_log import SearchLog
    from lci_py.search.snapshot import Snapshot
    from lci_py.types.search import Answer, SearchRequest


class LoggedEngine(Engine):
    """An engine that also writes its searches to the search log."""

    def __init__(self, snapshot: Snapshot, opening: float | None, log: SearchLog) -> None:
        super().__init__(snapshot, opening)
        self._log = log

    @property
    def log_problem(self) -> str:
        """Why the last search could not be logged; "" if it was."""
        return self._log.problem

    def search(self, request: SearchRequest) -> Answer:
        """Answer one query, and log it."""
        answer = super().search(replace(request, trace=True))
        self._log.add(request, answer)
        return answer if request.trace else replace(answer, trace=None)
