"""The merge policy: chooses segments of the last generation to merge into the new segment, to keep segments few."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.numbering import COUNTED, number_slots
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lci_py.index.shards.arrays import Arrays
    from lci_py.index.shards.files import FileState
    from lci_py.index.store.commit import Draft
    from lci_py.index.store.manifest import Manifest, Segment

#: The kinds of rows that a file has.
ROWS = COUNTED[1:]
#: A segment is merged unless it is more than this many times as large as the new one. So the number of segments, and
#: how often a row is written, grow with the logarithm of the index.
_GROWTH = 3
#: Segments of up to this many chunks cost less to merge than to search one by one.
_SMALL_CHUNKS = 1_000
#: With more segments than this, new ones become larger than the setting says: each one costs every query open files.
MOST_SEGMENTS = 64


@dataclass(slots=True)
class SegmentState:
    """A segment, and which of its files are living (not replaced or removed since)."""

    segment: Segment | Draft
    files: list[FileState | None]  # by number in the segment; None if dead
    sizes: dict[str, Sequence[int]]  # kind of `ROWS` -> number of rows of each file
    symbols: Path  # path of its symbolic shard; the others are in the same folder

    @property
    def living(self) -> list[FileState]:
        return [item for item in self.files if item is not None]

    def living_rows(self, kind: str) -> int:
        """The number of living rows of one kind, such as symbols (`kind` is from `ROWS`)."""
        return sum(n for n, item in zip(self.sizes[kind], self.files, strict=True) if item is not None)

    @property
    def living_chunks(self) -> int:
        return self.living_rows("chunks")


def segment_states(
    manifest: Manifest, index_dir: Path, files: Iterable[FileState], arrays: Arrays
) -> list[SegmentState]:
    """The state of each segment of a published generation; `files` are the files in its table."""
    sizes = {kind: arrays.view(f"{kind}_sizes", "i4") for kind in ROWS}
    segments, starts = [], []
    start = 0
    for segment in manifest.segments:
        stop = start + segment.counts["files"]
        own: dict[str, Sequence[int]] = {kind: sizes[kind][start:stop].tolist() for kind in ROWS}
        if any(len(rows) != stop - start or sum(rows) != segment.counts[kind] for kind, rows in own.items()):
            raise DamagedIndexError("the table of files does not fit the segments")
        path = index_dir / segment.shards["symbols"].name
        segments.append(SegmentState(segment, [None] * (stop - start), own, path))
        starts.append(start)
        start = stop
    for item in files:
        if item.slot >= start:
            raise DamagedIndexError("a file lies outside all segments")
        if item.slot >= 0:
            segment_index = bisect_right(starts, item.slot) - 1
            segments[segment_index].files[item.slot - starts[segment_index]] = item
    return segments


def locate(segments: Sequence[SegmentState], slot: int) -> tuple[SegmentState, int]:
    """(the segment that contains the slot of a file, the number of that file in the segment)."""
    for state in segments:
        if slot < len(state.files):
            return state, slot
        slot -= len(state.files)
    raise IndexError(slot)


def to_merge(segments: Sequence[SegmentState], fresh_chunks: int, max_chunks: int) -> list[SegmentState]:
    """Choose the segments to merge: their living files are written again, into the new segment.

    Args:
        segments: The segments of the last generation.
        fresh_chunks: The number of chunks of changed files, which are in the new segment in any case.
        max_chunks: The maximum number of chunks per segment.
    """
    chosen = [state for state in segments if "dense" not in state.segment.shards]  # not embedded yet
    total = fresh_chunks + sum(state.living_chunks for state in chosen)
    rest = sorted((state for state in segments if state not in chosen), key=lambda state: state.living_chunks)
    too_many = max(0, len(rest) - MOST_SEGMENTS)
    chosen += rest[:too_many]
    total += sum(state.living_chunks for state in rest[:too_many])
    for state in rest[too_many:]:
        chunks = state.living_chunks
        dead = sum(state.sizes["chunks"]) - chunks
        if not chunks and not state.living:
            continue  # nothing to keep of it
        worth = chunks <= max(_SMALL_CHUNKS, _GROWTH * total) or dead > chunks
        if total and worth and total + chunks <= max_chunks:
            chosen.append(state)
            total += chunks
    return chosen


def table_arrays(segments: Sequence[SegmentState]) -> dict[str, NDArray[Any]]:
    """Arrays on the segments, for the files shard: row counts of each file, and the numbering if it is not trivial."""
    import numpy as np

    table: dict[str, NDArray[Any]] = {
        f"{kind}_sizes": np.array([n for state in segments for n in state.sizes[kind]], np.int32) for kind in ROWS
    }
    whole = len(segments) == 1 and None not in segments[0].files
    if not whole and segments:
        table |= number_slots([[item.path if item is not None else None for item in state.files] for state in segments])
    return table
