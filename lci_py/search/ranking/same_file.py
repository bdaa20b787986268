"""The effect of the results of one file on each other's scores (docs/adr/0008-same-file.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.search.retrievers import HitList

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: In the mean of a file's results, the k-th (from 0) weighs this to the power k.
_NEXT = 0.8
_BELOW = 1 - 1e-6
#: Number of hits that are reordered; the ones after them keep their order.
POOL = 400


def depths(files: NDArray[Any]) -> NDArray[np.int64]:
    """For each result of a ranking, in order, the number of earlier results of the same file: [n]."""
    order = np.argsort(files, kind="stable")
    grouped = files[order]
    first = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1]))) if len(files) else order
    sizes = np.diff(np.append(first, len(files)))
    result = np.empty(len(files), np.int64)
    result[order] = np.arange(len(files)) - np.repeat(first, sizes)
    return result


def damping_steps(files: NDArray[Any]) -> NDArray[np.int64]:
    """The number of times that each result is damped for its file's earlier results: [n], 0 for a file's first result,
    1 for its second and third, 2 for its fourth, and so on. In the right file, the answer is often the third best unit.
    """
    earlier = depths(files)
    return earlier - (earlier > 1)


def reorder(hits: HitList, scores: NDArray[np.float64]) -> tuple[HitList, NDArray[np.int64]]:
    """(hits, order): the list with its head sorted by new scores, best first, ties by unit; and the former index of
    each hit in the head.

    Args:
        hits: The hits in their former order; hits after the head stay after it.
        scores: [n] new scores of the first n hits, the head.
    """
    n = len(scores)
    # Rounded, so that another machine's float multiplication cannot swap two results.
    scores = np.round(scores, 9)
    order = np.lexsort((hits.units[:n], -scores))
    units, scores = hits.units[:n][order], scores[order]
    if len(hits) > n > 0:
        # Scaled rather than cut, which would turn their order into ties.
        scale = scores[-1] * _BELOW / hits.scores[n - 1] if hits.scores[n - 1] > 0 else 0.0
        units = np.concatenate((units, hits.units[n:]))
        scores = np.concatenate((scores, hits.scores[n:] * scale))
    return HitList(hits.view, units, scores, hits.total), order


def spread(hits: HitList, files: NDArray[Any], same_file: float) -> HitList:
    """Damp the further results of each file and sort again; best first, ties by unit.

    Args:
        hits: Only the first `POOL` are changed.
        files: The file of each of the first `POOL` hits.
        same_file: The multiplier for each step of damping (`damping_steps`).
    """
    return reorder(hits, hits.scores[:POOL] * np.power(same_file, damping_steps(files)))[0]


def whole(own: NDArray[np.float64], files: NDArray[Any]) -> NDArray[np.float64]:
    """The score of each hit's file: [n]. It is a weighted mean of the scores of the file's hits, in which the k-th hit
    (from 0) has the weight `_NEXT` to the power k; missing hits count 0.

    Args:
        own: [n] scores of the hits, best first.
        files: [n] the file of each hit.
    """
    places = files + 1  # -1 is a unit whose file nobody knows
    means: NDArray[np.float64] = np.bincount(places, own * np.power(_NEXT, depths(files)))[places] * (1 - _NEXT)
    return means
