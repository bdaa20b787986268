"""The call graph, which most queries can do without; the answer says when it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lci_py.errors import GraphPendingError, IndexError_, ShardMissingError
from lci_py.types.search import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.types.search import View

_T = TypeVar("_T")


class OptionalGraph:
    """The graph as one query uses it. Once it has failed it is not used again."""

    def __init__(self, *, or_nothing: bool = False) -> None:
        """Args:
        or_nothing: Whether failures are raised, except for a graph that is still to be built.
        """
        self._or_nothing = or_nothing
        self._error: IndexError_ | None = None

    def ask(self, work: Callable[[], _T]) -> _T | None:
        """Run `work`, which reads the graph: its result, or None if it fails or the graph has failed before."""
        if self._error is not None:
            return None
        try:
            return work()
        except IndexError_ as error:
            if self._or_nothing and not isinstance(error, GraphPendingError):
                raise
            self._error = error
            return None

    def degraded(self, answering: Sequence[View], *, wanted: bool) -> tuple[Degradation, ...]:
        """An entry if the graph failed.

        Args:
            answering: The views that answered.
            wanted: Whether the query asks for the graph itself (--near, --expand), and not only for a better ranking.
        """
        if self._error is None:
            return ()
        others, impact = "+".join(answering) or "none", "high" if wanted else "medium"
        return (Degradation("graph", failure(self._error), others, impact, detail(self._error)),)


def failure(error: IndexError_) -> str:
    """The reason code in `degraded`; a shard that is still to be built counts as missing."""
    missing = isinstance(error, ShardMissingError)
    return "shard_missing" if missing else error.code if error.code == "model_mismatch" else "error"


def detail(error: IndexError_) -> str:
    """The message in `degraded`: what is wrong and what to do."""
    return f"{error.message}: {error.hint}" if error.hint else error.message
