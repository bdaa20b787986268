"""The graph in a multiview query: without it the views still answer, and the answer says that it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lci_py.errors import IndexError_, ShardMissingError
from lci_py.types import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.types import View

_T = TypeVar("_T")


class GraphGuard:
    """Whatever one query asks of the graph. After the first failure, which is kept, nothing more is asked."""

    def __init__(self) -> None:
        self.error: IndexError_ | None = None

    def ask(self, work: Callable[[], _T]) -> _T | None:
        """What `work` reads from the graph; None if the graph fails, or has failed."""
        if self.error is not None:
            return None
        try:
            return work()
        except IndexError_ as error:
            self.error = error
            return None

    def degraded(self, answering: Sequence[View], *, wanted: bool) -> tuple[Degradation, ...]:
        """The entry of a graph that failed, as a tuple that is empty if it did not.

        Args:
            answering: The views that did answer.
            wanted: Whether the query asks for the graph itself (--near, --expand), and not only for a better ranking.
        """
        if self.error is None:
            return ()
        mode = "shard_missing" if isinstance(self.error, ShardMissingError) else "error"
        impact = "high" if wanted else "medium"
        return (Degradation("graph", mode, "+".join(answering) or "none", impact, detail(self.error)),)


def detail(error: IndexError_) -> str:
    """What is wrong and what to do, as `degraded` says it."""
    return f"{error.message}: {error.hint}" if error.hint else error.message
