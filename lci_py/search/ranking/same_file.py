"""Show several files at the head of a list: a file's further results count for less (docs/adr/0008-same-file.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.search.views.hits import HitList

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A file's k-th result (from 0) in the dense mode counts this to the power k; bm25 has its own.
SAME_FILE = 0.8
_BELOW = 1 - 1e-6
#: Hits that are ranked so; the ones behind them keep their order.
POOL = 400


def depths(files: NDArray[Any]) -> NDArray[np.int64]:
    """How many of the same file come before each: [n] for the files of a list's results, in its order, [n]."""
    order = np.argsort(files, kind="stable")
    grouped = files[order]
    first = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1]))) if len(files) else order
    sizes = np.diff(np.append(first, len(files)))
    found = np.empty(len(files), np.int64)
    found[order] = np.arange(len(files)) - np.repeat(first, sizes)
    return found


def reordered(hits: HitList, scores: NDArray[np.float64]) -> tuple[HitList, NDArray[np.int64]]:
    """The hits by new scores of the first of them, best first, ties by unit; and where each of those stood before.

    Args:
        hits: In the order they have; those behind the ones with new scores stay behind them.
        scores: [n] of the first n.
    """
    n = len(scores)
    # Rounded, so that another machine's float multiplication cannot swap two results.
    scores = np.round(scores, 9)
    order = np.lexsort((hits.units[:n], -scores))
    units, scores = hits.units[:n][order], scores[order]
    if len(hits) > n > 0:
        # By a factor: cutting their scores would make ties out of order.
        scale = scores[-1] * _BELOW / hits.scores[n - 1] if hits.scores[n - 1] > 0 else 0.0
        units = np.concatenate((units, hits.units[n:]))
        scores = np.concatenate((scores, hits.scores[n:] * scale))
    return HitList(hits.view, units, scores, hits.total), order


def spread(hits: HitList, files: NDArray[Any], same_file: float | None = None) -> HitList:
    """The hits in their new order, with their new scores; best first, ties by unit.

    Args:
        hits: A longer list only adds hits behind the first `POOL`.
        files: File of each of the first `POOL` hits' units.
        same_file: What a file's k-th result (from 0) counts to the power k; `SAME_FILE` if None.
    """
    factor = SAME_FILE if same_file is None else same_file
    return reordered(hits, hits.scores[:POOL] * np.power(factor, depths(files)))[0]
