"""Public numbers, and the segment in which each one is stored.

An index consists of *segments*: each holds some files, with its own shards and its own numbers, and never changes. A
changed file is written into another segment, and its rows in the old one are dead. A query sees *public* numbers: those
of the files, symbols, units and chunks of living files, in the order of (path, place in the file), as if one segment
held them all. So an answer does not depend on the history of the index (docs/adr/0009-segments.md). The *slot* of a
number is its place in the concatenation of all segments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lci_py.index.shards.arrays import Arrays

#: The kinds of rows that are numbered.
COUNTED = ("files", "symbols", "units", "chunks")


class Numbering:
    """The map between slots and public numbers; the identity if there is one segment without dead rows."""

    def __init__(self, counts: Sequence[Mapping[str, int]], maps: Arrays | None = None) -> None:
        """
        Args:
            counts: Per segment, the number of rows of each kind of `COUNTED`, including dead ones.
            maps: For every kind `KIND_public` (i4, the public number of each slot, -1 if dead) and `KIND_slot` (i4, the
                slot of each public number); None if there is one segment without dead rows.
        Raises:
            DamagedIndexError: The maps do not fit the counts.
        """
        self.counts = counts
        self.identity = maps is None
        self._starts = {
            kind: [sum(segment[kind] for segment in counts[:i]) for i in range(len(counts) + 1)] for kind in COUNTED
        }
        self._public: dict[str, memoryview] = {}
        self._slot: dict[str, memoryview] = {}
        self._slots: dict[str, NDArray[Any]] = {}  # the same, checked
        if maps is None:
            if len(counts) > 1:
                raise DamagedIndexError("the index has several segments and no numbering of them")
            return
        for kind in COUNTED:
            self._public[kind] = maps.view(f"{kind}_public", "i4")
            self._slot[kind] = maps.view(f"{kind}_slot", "i4")
            if len(self._public[kind]) != self._starts[kind][-1] or len(self._slot[kind]) > len(self._public[kind]):
                raise DamagedIndexError(f"the numbering of {kind} does not fit the segments")

    def total(self, kind: str) -> int:
        """The number of living rows of a kind."""
        return self._starts[kind][-1] if self.identity else len(self._slot[kind])

    def start(self, kind: str, segment: int) -> int:
        """The slot of number 0 of a segment."""
        return self._starts[kind][segment]

    def public(self, kind: str, segment: int) -> memoryview | None:
        """The public number of each number in the segment, -1 if dead; None for the identity."""
        if self.identity:
            return None
        start, stop = self._starts[kind][segment : segment + 2]
        return self._public[kind][start:stop]

    def public_array(self, kind: str, segment: int) -> NDArray[Any] | None:
        """The same for numpy: [rows of the segment] int32."""
        import numpy as np

        view = self.public(kind, segment)
        if view is None:
            return None
        found = np.frombuffer(view, np.int32) if len(view) else np.zeros(0, np.int32)
        if len(found) and not -1 <= int(found.min()) <= int(found.max()) < self.total(kind):
            raise DamagedIndexError(f"the numbering of {kind} names what does not exist")
        return found

    def split(self, kind: str, numbers: Iterable[int]) -> list[list[int]]:
        """Public numbers as numbers in their segments: one list per segment, in the given order.

        Raises:
            DamagedIndexError: There is no such number.
        """
        found: list[list[int]] = [[] for _ in self.counts]
        starts = self._starts[kind]
        for number in numbers:
            if not 0 <= number < self.total(kind):
                raise DamagedIndexError(f"number {number} of {self.total(kind)} {kind}")
            slot = number if self.identity else self._slot[kind][number]
            segment = next((i for i in range(len(self.counts)) if starts[i] <= slot < starts[i + 1]), -1)
            if segment < 0:
                raise DamagedIndexError(f"the numbering of {kind} names what does not exist")
            found[segment].append(slot - starts[segment])
        return found

    def slots_array(self, kind: str) -> NDArray[Any]:
        """The slot of every public number: [total] int32."""
        import numpy as np

        if self.identity:
            return np.arange(self.total(kind), dtype=np.int32)
        view = self._slot[kind]
        found = np.frombuffer(view, np.int32) if len(view) else np.zeros(0, np.int32)
        if len(found) and not 0 <= int(found.min()) <= int(found.max()) < self._starts[kind][-1]:
            raise DamagedIndexError(f"the numbering of {kind} names what does not exist")
        return found

    def in_public_order(self, kind: str, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Join arrays with an item per row, one array per segment, into one with an item per public number: [total].

        Raises:
            DamagedIndexError: The numbering names rows that do not exist.
        """
        import numpy as np

        if self.identity:
            return parts[0] if parts else np.zeros(0, np.int32)  # there is one segment, or none
        if kind not in self._slots:
            self._slots[kind] = self.slots_array(kind)
        found: NDArray[Any] = np.concatenate(parts)[self._slots[kind]]
        return found


def number_slots(
    paths: Sequence[Sequence[str | None]], sizes: Mapping[str, Sequence[NDArray[Any]]]
) -> dict[str, NDArray[Any]]:
    """The arrays of a numbering.

    Args:
        paths: Per segment, the path of each file; None for a dead one.
        sizes: Per kind of `COUNTED` except files, and per segment, the number of rows of each file, [files].
    Returns:
        `KIND_public` and `KIND_slot`, as `Numbering` reads them.
    """
    import numpy as np

    flat = [path for segment in paths for path in segment]
    live = np.array(
        [slot for _, slot in sorted((path, i) for i, path in enumerate(flat) if path is not None)], np.int64
    )
    found = _both(live, len(flat), "files")
    for kind, per_segment in sizes.items():
        counts = np.concatenate([np.zeros(0, np.int64), *per_segment]).astype(np.int64)
        first = np.cumsum(counts) - counts
        # The slots of the living rows, file by file: a running number, shifted at the start of each file.
        own = counts[live]
        ends = np.cumsum(own)
        slots = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first[live] - (ends - own), own)
        found |= _both(slots, int(counts.sum()), kind)
    return found


def _both(slots: NDArray[Any], total: int, kind: str) -> dict[str, NDArray[Any]]:
    import numpy as np

    public = np.full(total, -1, np.int32)
    public[slots] = np.arange(len(slots), dtype=np.int32)
    return {f"{kind}_public": public, f"{kind}_slot": slots.astype(np.int32)}
