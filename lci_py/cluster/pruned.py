"""The heads of the parts that one worker has, as one head would be: what cannot be among the best of all is left out.

The best of all parts that lie in some of them are among the best of these. So what reaches the root grows with the
number of workers, not of parts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lci_py.search.ranking.spelled import HEAD, Likely, best_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.cluster.messages import Ask, Head, Hits
    from lci_py.search.ranking.spelled import Stated
    from lci_py.types.search import View


def pruned(heads: Sequence[Head], ask: Ask) -> list[Head]:
    """The heads, one for each part as before, without what the root cannot use.

    Args:
        heads: Of some parts, as they answer `ask`.
        ask: The query.
    """
    best = {view: _best(heads, view, ask.limit) for view in ask.views}
    dense = best["dense"][:HEAD] if ask.views == ("dense",) else None
    likely: list[NDArray[np.int64]] = []  # for each text, its chunks
    read: list[set[int]] = []  # and the units that are read for it
    for number, text in enumerate(texts_of(ask.asked)):
        if dense is not None:
            read.append(set(dense[: text.head].tolist()))
            continue
        columns = (np.concatenate(column) for column in zip(*(head.likely[number] for head in heads), strict=True))
        found = best_of(Likely(*columns), text)
        likely.append(found.chunks)
        read.append(set(found.units.tolist()))
    literal = np.sort(np.concatenate([np.zeros(0, np.int64), *(h.literal for h in heads if h.literal is not None)]))
    kept = np.unique(np.concatenate([np.zeros(0, np.int64), *best.values(), literal[: ask.limit]]))
    return [_only(head, kept, likely, read) for head in heads]


def _best(heads: Sequence[Head], view: View, limit: int) -> NDArray[np.int64]:
    """The best units of a view, best first; ties by unit."""
    found = [head.hits[view] for head in heads]
    units = np.concatenate([np.zeros(0, np.int64), *(units for units, _, _ in found)])
    scores = np.concatenate([np.zeros(0), *(scores for _, scores, _ in found)])
    best: NDArray[np.int64] = units[np.lexsort((units, -scores))[:limit]]
    return best


def _only(head: Head, kept: NDArray[np.int64], likely: Sequence[NDArray[np.int64]], read: Sequence[set[int]]) -> Head:
    """A head with these units, and those that the query spells out."""
    stated: list[dict[Stated, float]] = [
        {place: value for place, value in own.items() if place[1] in units}
        for own, units in zip(head.stated, read, strict=True)
    ]
    spelled = [*head.names, *(unit for own in stated for _, unit, _, _ in own)]
    there = np.isin(head.units, kept) | np.isin(head.units, np.array(spelled, np.int64))
    if there.all():
        return head
    units, files = head.units[there], head.files[there]
    inside = set(units.tolist())

    def some(hits: Hits) -> Hits:
        own = np.isin(hits[0], kept)
        return hits[0][own], hits[1][own], hits[2]

    return replace(
        head,
        units=units,
        files=files,
        paths={file: head.paths[file] for file in np.unique(files).tolist()},
        flags={name: column[there] for name, column in head.flags.items()},
        allowed=head.allowed[there],
        dense=head.dense[there] if len(head.dense) else head.dense,
        whole=head.whole[there] if len(head.whole) else head.whole,
        fields={name: column[there] for name, column in head.fields.items()},
        coverage=head.coverage[there] if len(head.coverage) else head.coverage,
        importers=head.importers[there] if len(head.importers) else head.importers,
        hits={view: some(hits) for view, hits in head.hits.items()},
        likely=[_of_chunks(own, chunks) for own, chunks in zip(head.likely, likely, strict=True)],
        stated=stated,
        places={unit: line for unit, line in head.places.items() if unit in inside},
        literal=None if head.literal is None else head.literal[np.isin(head.literal, units)],
    )


def _of_chunks(found: Likely, chunks: NDArray[np.int64]) -> Likely:
    own = np.isin(found.chunks, chunks)
    return Likely(found.chunks[own], found.units[own], found.shares[own], found.scores[own])
