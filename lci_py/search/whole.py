"""Quantities over a whole collection, of which an index may be a part (docs/adr/0035-fleet-seam.md).

A part can compute nearly all of a ranking alone. The rest is asked here, under a name and with the part's own value. A
single index is its whole collection, so its own value is the answer. In a part of a fleet (`cluster.leaf`) a missing
answer is recorded, and `settle` aborts the search, which is repeated with the combined values of all parts. Until then
answers are provisional: call `settle` before anything else that is asked depends on them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

_T = TypeVar("_T")


class Whole:
    """The quantities for an index that is no part of a larger collection: its own values are the answers."""

    #: Whether there are no other parts. A part of several answers whole or not at all.
    alone = True

    def settle(self) -> None:
        """Continue only if all values asked for so far are known."""

    def once(self, _what: Hashable, make: Callable[[], _T]) -> _T:
        """Compute a value that a repeated search need not compute again, if all was settled before."""
        return make()

    def total(self, _what: Hashable, own: _T) -> _T:
        """The sum over all parts; of a tuple, item by item; of a boolean, the number of parts where it is true."""
        return own

    def largest(self, _what: Hashable, own: _T) -> _T:
        """The maximum of a number; of a mapping, key by key."""
        return own

    def nearest(self, _what: Hashable, own: _T) -> _T:
        """For a mapping to (closeness, count): for each key the largest closeness, and how many have it."""
        return own

    def joined(self, _what: Hashable, own: _T) -> _T:
        """The concatenation of a tuple, in the order of the parts."""
        return own

    def share(self, _what: Hashable, _columns: Sequence[Any], limit: int) -> int:
        """The number of the first items of a list that are among the first `limit` of all.

        Args:
            columns: The keys by which the list is sorted, the largest first; ties between parts are in their order.
        """
        return limit

    def neighbours(self, _what: Hashable, scores: Any, reached: Any, weigh: Callable[[Any, Any], _T]) -> _T:
        """The graph neighbours of the best candidates, weighed (`graph_lift`).

        Args:
            scores: Of the best candidates, best first.
            reached: Their neighbours.
            weigh: Computes the lift of `reached` from the scores of the best candidates of the whole collection.
        """
        return weigh(reached, scores)


#: Of an index that is no part of another collection.
ALONE = Whole()
