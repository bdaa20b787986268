"""What a search asks of the whole collection of which its index may be a part (docs/adr/0035-fleet-seam.md).

Nearly all of a ranking a part can tell alone. The rest is asked here, each by a name and with what the index has.
An index by itself is its whole collection: that is the answer. In a part of a fleet (`cluster.leaf`) an answer that is
not there yet is noted as lacking, and `settle` breaks the search off: it is made again with what all parts have said.
Until then answers are provisional: settle before something else that is asked follows from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

_T = TypeVar("_T")


class Whole:
    """Of an index that is all of its collection."""

    #: Whether there are no other parts. A part of several answers whole or not at all.
    alone = True

    def settle(self) -> None:
        """Go on only if everything is known that has been asked so far."""

    def once(self, _what: Hashable, make: Callable[[], _T]) -> _T:
        """What a search that is broken off need not make again, if everything was settled when it was made."""
        return make()

    def total(self, _what: Hashable, own: _T) -> _T:
        """The sum of a number over all parts; of a tuple, that of each item; of a boolean, in how many it holds."""
        return own

    def largest(self, _what: Hashable, own: _T) -> _T:
        """The largest of a number; of a mapping, that of each key."""
        return own

    def nearest(self, _what: Hashable, own: _T) -> _T:
        """Of a mapping to (closeness, count): for each key the largest closeness, and how many have it."""
        return own

    def joined(self, _what: Hashable, own: _T) -> _T:
        """All items of a tuple, in the order of the parts."""
        return own

    def share(self, _what: Hashable, _columns: Sequence[Any], limit: int) -> int:
        """How many of the first items of a list are among the first `limit` of all.

        Args:
            columns: The keys by which the list is sorted, the largest first; ties between parts are in their order.
            limit: How many.
        """
        return limit

    def neighbours(self, _what: Hashable, scores: Any, reached: Any, weigh: Callable[[Any, Any], _T]) -> _T:
        """What the graph has around the best candidates (`graph_lift`).

        Args:
            scores: Of the best candidates, best first.
            reached: What is around them.
            weigh: Makes of those of the best candidates of all what is around them.
        """
        return weigh(reached, scores)


#: Of an index that is no part of another collection.
ALONE = Whole()
