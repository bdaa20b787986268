"""Show several files at the head of a list: a file's further results count for less (docs/adr/0008-same-file.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lci_py.types import Hit

#: A file's k-th result (from 0) in a single mode counts this to the power k.
SAME_FILE = 0.8
_BELOW = 1 - 1e-6
#: Hits that are ranked so; the ones behind them keep their order.
POOL = 400


def spread(hits: Sequence[Hit], files: Mapping[int, int]) -> list[Hit]:
    """The hits in their new order, with their new scores; best first, ties by unit.

    Args:
        hits: Best first. A longer list only adds hits behind the first `POOL`.
        files: File of each of the first `POOL` hits' units.
    """
    depth: dict[int, int] = {}
    head = []
    for hit in hits[:POOL]:
        file = files.get(hit.unit, -1)
        depth[file] = depth.get(file, -1) + 1
        # Rounded, so that another machine's float multiplication cannot swap two results.
        head.append(replace(hit, score=round(hit.score * SAME_FILE ** depth[file], 9)))
    head.sort(key=lambda hit: (-hit.score, hit.unit))
    if len(hits) > POOL:
        # Below the head and in the order they have, by a factor: cutting their scores would make ties out of order.
        scale = head[-1].score * _BELOW / hits[POOL - 1].score if hits[POOL - 1].score > 0 else 0.0
        head.extend(replace(hit, score=hit.score * scale) for hit in hits[POOL:])
    return [replace(hit, rank=rank) for rank, hit in enumerate(head, 1)]
