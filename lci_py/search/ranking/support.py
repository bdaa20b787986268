"""Let a file's results support each other: a file that answers in several places answers better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.search.ranking.same_file import POOL, SAME_FILE, depths, reordered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.search.views.hits import HitList

#: How much the file counts beside the hit itself (docs/ranking.md).
FILE = 0.5


def whole(own: NDArray[np.float64], files: NDArray[Any]) -> NDArray[np.float64]:
    """The score of each hit's file: the mean of those of its hits, of which the k-th (from 0) weighs `SAME_FILE` to the
    power k; what a file has fewer of counts 0. [n]

    Args:
        own: [n] scores of the hits, best first.
        files: [n] the file of each.
    """
    places = files + 1  # -1 is a unit whose file nobody knows
    found: NDArray[np.float64] = np.bincount(places, own * np.power(SAME_FILE, depths(files)))[places] * (1 - SAME_FILE)
    return found


def supported(hits: HitList, files: NDArray[Any]) -> tuple[HitList, NDArray[Any]]:
    """The hits in their new order, with their new scores (best first, ties by unit), and the files in that order.

    Args:
        hits: A longer list only adds hits behind the first `POOL`, which alone support each other.
        files: File of each of the first `POOL` hits' units.
    """
    own = hits.scores[:POOL]
    changed, order = reordered(hits, (own + FILE * whole(own, files)) / (1 + FILE))
    return changed, files[order]
