"""What a part of a larger collection must know of the whole, so that it ranks its own units as one index of all would
(docs/adr/0035-fleet-seam.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.index.shards.bm25 import Collection
    from lci_py.types.search import View


class NameCounts(NamedTuple):
    """What decides how much each definition counts whose whole name the query is."""

    exact: bool = False  # one is spelled like the query, whatever the filters say
    small: int = 0  # those that pass the filters and have no unit of their own


class Whole(NamedTuple):
    """The statistics of a collection for one query, as one of its parts needs them; None is what is not known yet.

    Attributes:
        collection: What BM25 asks.
        names: How many definitions the query names.
        mentioned: For each mention of files in a long question how many segments the closest files of all share with
            it, and how many files these are.
        best: The largest score of the view bm25.
        hits: How many of this part's hits of each view are among the best of all.
        read: How many of this part's places of each text are among those that are read.
        peaks: The largest value of each signal, by which it is scaled.
        highest: The largest score of a candidate before the graph is asked.
        around: [n] this part's units around the best results of all, ascending, and how much they are lifted.
    """

    collection: Collection | None = None
    names: NameCounts | None = None
    mentioned: Mapping[tuple[tuple[str, ...], float], tuple[int, int]] | None = None
    best: float | None = None
    hits: Mapping[View, int] | None = None
    read: tuple[int, ...] | None = None
    peaks: Mapping[str, float] | None = None
    highest: float | None = None
    around: tuple[NDArray[np.int64], NDArray[np.float32]] | None = None


#: Of an index that is no part of another collection.
ALONE = Whole()
