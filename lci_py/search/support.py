"""Let a file's results support each other: a file that answers in several places answers better."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.search.hits import HitList
from lci_py.search.spread import POOL, SAME_FILE, depths

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How much the file counts beside the hit itself (docs/ranking.md).
FILE = 0.5
_BELOW = 1 - 1e-6


def supported(hits: HitList, files: NDArray[Any]) -> tuple[HitList, NDArray[Any]]:
    """The hits in their new order, with their new scores (best first, ties by unit), and the files in that order.

    A file's score is the mean of those of its hits, of which the k-th (from 0) weighs `SAME_FILE` to the power k; what
    a file has fewer of counts 0.

    Args:
        hits: A longer list only adds hits behind the first `POOL`, which alone support each other.
        files: File of each of the first `POOL` hits' units.
    """
    own, units = hits.scores[:POOL], hits.units[:POOL]
    places = files + 1  # -1 is a unit whose file nobody knows
    whole = np.bincount(places, own * np.power(SAME_FILE, depths(files)))[places] * (1 - SAME_FILE)
    # Rounded, so that another machine's float multiplication cannot swap two results.
    scores: NDArray[np.float64] = np.round((own + FILE * whole) / (1 + FILE), 9)
    order = np.lexsort((units, -scores))
    units, scores = units[order], scores[order]
    if len(hits) > POOL:
        # Below the head and in the order they have, by a factor: cutting their scores would make ties out of order.
        scale = scores[-1] * _BELOW / hits.scores[POOL - 1] if hits.scores[POOL - 1] > 0 else 0.0
        units = np.concatenate((units, hits.units[POOL:]))
        scores = np.concatenate((scores, hits.scores[POOL:] * scale))
    return HitList(hits.view, units, scores, hits.total), files[order]
