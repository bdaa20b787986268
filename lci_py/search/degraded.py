"""Optional parts of the index that a query can do without; the answer names those that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

from lci_py.errors import GraphPendingError, IndexError_, ShardMissingError
from lci_py.types.search import Degradation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.types.search import View

_T = TypeVar("_T")
#: The call graph, and the repository's abbreviations (the shard `related`).
Extra = Literal["graph", "related"]


class Extras:
    """The failures of one query. A part that has failed is not used again."""

    def __init__(self, *, or_nothing: bool = False) -> None:
        """Args:
        or_nothing: Whether failures are raised, except for a graph that is still to be built.
        """
        self._or_nothing = or_nothing
        self.errors: dict[Extra, IndexError_] = {}

    def ask(self, part: Extra, work: Callable[[], _T]) -> _T | None:
        """Run `work`, which reads a part: its result, or None if it fails or the part has failed before."""
        if part in self.errors:
            return None
        try:
            return work()
        except IndexError_ as error:
            if self._or_nothing and not isinstance(error, GraphPendingError):
                raise
            self.errors[part] = error
            return None

    def degraded(self, answering: Sequence[View], *, wanted: bool) -> tuple[Degradation, ...]:
        """An entry for each part that failed.

        Args:
            answering: The views that answered.
            wanted: Whether the query asks for the graph itself (--near, --expand), and not only for a better ranking.
        """
        impacts = {"graph": "high" if wanted else "medium", "related": "low"}
        others = "+".join(answering) or "none"
        return tuple(
            Degradation(part, failure(error), others, impacts[part], detail(error))
            for part, error in sorted(self.errors.items())
        )


def failure(error: IndexError_) -> str:
    """The reason code in `degraded`; a shard that is still to be built counts as missing."""
    missing = isinstance(error, ShardMissingError)
    return "shard_missing" if missing else error.code if error.code == "model_mismatch" else "error"


def detail(error: IndexError_) -> str:
    """The message in `degraded`: what is wrong and what to do."""
    return f"{error.message}: {error.hint}" if error.hint else error.message
