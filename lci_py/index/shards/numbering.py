"""Public numbers, and the segment in which the row of each number is stored.

An index consists of *segments*: each holds some files, with its own shards and its own numbers, and never changes. A
changed file is written into another segment, and its rows in the old segment are dead. A query sees *public* numbers:
they number the files, symbols, units and chunks of living files, in the order of (path, position in the file), as if
one segment held them all. So an answer does not depend on the history of the index (docs/adr/0009-segments.md). The
*slot* of a row is its position in the concatenation of all segments.

The rows of a file are consecutive in both numberings, so only files and their numbers of rows are mapped: a map of
millions of symbols would be rewritten by each refresh and read by each query.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from lci_py.index.shards.arrays import Arrays

#: The kinds of rows that are numbered.
COUNTED = ("files", "symbols", "units", "chunks")


class _Rows:
    """Where the rows of each file start, in slots and in public numbers, for one kind of rows (such as symbols)."""

    def __init__(self, sizes: memoryview, public: memoryview, slot: memoryview) -> None:
        """Compute where the rows of each file start.

        Args:
            sizes: The number of rows of each file, by the file's slot.
            public: The public number of each file, by slot.
            slot: The slot of each file, by public number.
        """
        self.sizes, self.public, self.slot = sizes, public, slot
        self.by_slot = list(accumulate(sizes, initial=0))  # [slots of files + 1] first slot of each file's rows
        own = map(sizes.__getitem__, slot)
        self.by_number = list(accumulate(own, initial=0))  # [files + 1] first public number of each file's rows

    def public_of(self, slot: int) -> int:
        file = bisect_right(self.by_slot, slot) - 1
        public = self.public[file]
        return -1 if public < 0 else self.by_number[public] + slot - self.by_slot[file]

    def slot_of(self, number: int) -> int:
        file = bisect_right(self.by_number, number) - 1
        return self.by_slot[self.slot[file]] + number - self.by_number[file]


class PublicNumbers(Sequence[int]):
    """A sequence with the public number of each row of a segment; -1 for a dead row."""

    def __init__(self, rows: _Rows, start: int, stop: int) -> None:
        self._rows, self._start, self._stop = rows, start, stop

    def __len__(self) -> int:
        return self._stop - self._start

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self._rows.public_of(self._start + number)


class Numbering:
    """Maps slots to public numbers and back. With one segment and no dead rows, both are equal (the identity)."""

    def __init__(self, counts: Sequence[Mapping[str, int]], maps: Arrays | None = None) -> None:
        """Check that the maps fit the segments.

        Args:
            counts: For each segment, the number of rows of each kind of `COUNTED`, including dead rows.
            maps: `files_public` (i4, the public number of each slot of a file, -1 if dead), `files_slot` (i4, the slot
                of each public number), and for each other kind `KIND_sizes` (i4, the number of rows of the file in each
                slot); None if there is one segment without dead rows.
        """
        self.counts = counts
        self.identity = maps is None
        self._starts = {
            kind: [sum(segment[kind] for segment in counts[:i]) for i in range(len(counts) + 1)] for kind in COUNTED
        }
        self._sizes: dict[str, memoryview] = {}
        self._rows: dict[str, _Rows] = {}  # of `_rows_of`
        self._shifts: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}  # of `_arrays`
        self._slots: dict[str, NDArray[Any]] = {}  # of `slots_array`
        if maps is None:
            if len(counts) > 1:
                raise DamagedIndexError("the index has several segments and no numbering of them")
            return
        self._public, self._slot = (maps.view(f"files_{name}", "i4") for name in ("public", "slot"))
        files = self._starts["files"][-1]
        fits = len(self._public) == files >= len(self._slot) and sum(n >= 0 for n in self._public) == len(self._slot)
        inside = min(self._slot, default=0) >= 0 and max(self._slot, default=-1) < files
        if not fits or not inside or list(map(self._public.__getitem__, self._slot)) != list(range(len(self._slot))):
            raise DamagedIndexError("the numbering of files does not fit the segments")
        for kind in COUNTED[1:]:
            self._sizes[kind] = maps.view(f"{kind}_sizes", "i4")
            if len(self._sizes[kind]) != files:
                raise DamagedIndexError(f"the numbering of {kind} does not fit the segments")

    def _rows_of(self, kind: str) -> _Rows:
        """Where the rows of each file start. `kind` is not files, and the numbering is not the identity."""
        if kind not in self._rows:
            rows = _Rows(self._sizes[kind], self._public, self._slot)
            fits = [rows.by_slot[file] for file in self._starts["files"]] == self._starts[kind]
            if not fits or min(rows.sizes, default=0) < 0:
                raise DamagedIndexError(f"the numbering of {kind} does not fit the segments")
            self._rows[kind] = rows
        return self._rows[kind]

    def total(self, kind: str) -> int:
        """The number of living rows of a kind, over all segments."""
        if self.identity:
            return self._starts[kind][-1]
        return len(self._slot) if kind == "files" else self._rows_of(kind).by_number[-1]

    def start(self, kind: str, segment: int) -> int:
        """The slot of the first row of a segment."""
        return self._starts[kind][segment]

    def public(self, kind: str, segment: int) -> Sequence[int] | None:
        """The public number of each row of a segment, -1 if dead; None if it is the same as the row's own number."""
        if self.identity:
            return None
        start, stop = self._starts[kind][segment : segment + 2]
        return self._public[start:stop] if kind == "files" else PublicNumbers(self._rows_of(kind), start, stop)

    def public_array(self, kind: str, segment: int) -> NDArray[Any] | None:
        """Like `public`, as a numpy array: [rows of the segment] int32."""
        import numpy as np

        if self.identity:
            return None
        start, stop = self._starts[kind][segment : segment + 2]
        if kind == "files":
            return np.array(self._public[start:stop], np.int32)
        first, last = self._starts["files"][segment : segment + 2]
        sizes, shifts = self._arrays(kind)
        numbers = np.arange(start, stop, dtype=np.int32)
        numbers += np.repeat(shifts[first:last], sizes[first:last])
        dead = np.array(self._public[first:last], np.int32) < 0
        if dead.any():
            numbers[np.repeat(dead, sizes[first:last])] = -1
        return numbers

    def _arrays(self, kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
        """(numbers of rows, offsets from a row's slot to its public number): arrays with an item per slot of a file."""
        import numpy as np

        if kind not in self._shifts:
            rows = self._rows_of(kind)
            by_slot, by_number = np.array(rows.by_slot, np.int64), np.array(rows.by_number, np.int64)
            public = np.maximum(np.array(self._public, np.int64), 0)
            self._shifts[kind] = np.array(rows.sizes, np.int64), (by_number[public] - by_slot[:-1]).astype(np.int32)
        return self._shifts[kind]

    def split(self, kind: str, numbers: Iterable[int]) -> list[list[int]]:
        """Convert public numbers to numbers within segments: one list per segment, in the order of `numbers`."""
        parts: list[list[int]] = [[] for _ in self.counts]
        starts, total = self._starts[kind], self.total(kind)
        for number in numbers:
            if not 0 <= number < total:
                raise DamagedIndexError(f"{number} is not one of the {total} {kind}")
            slot = (
                number
                if self.identity
                else self._slot[number]
                if kind == "files"
                else self._rows_of(kind).slot_of(number)
            )
            segment = bisect_right(starts, slot) - 1
            parts[segment].append(slot - starts[segment])
        return parts

    def slots_array(self, kind: str) -> NDArray[Any]:
        """The slot of every public number: [total] int32."""
        import numpy as np

        if self.identity:
            return np.arange(self.total(kind), dtype=np.int32)
        slots = np.array(self._slot, np.int64)
        if kind == "files":
            return slots.astype(np.int32)
        sizes, shifts = self._arrays(kind)
        result = np.arange(self.total(kind), dtype=np.int32)
        result -= np.repeat(shifts[slots], sizes[slots])
        return result

    def in_public_order(self, kind: str, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Join arrays, one per segment with an item per row, into an array with an item per public number: [total]."""
        import numpy as np

        if self.identity:
            return parts[0] if parts else np.zeros(0, np.int32)  # there is one segment, or none
        items: NDArray[Any] = np.concatenate(parts)
        if not self._in_order:
            if kind not in self._slots:
                self._slots[kind] = self.slots_array(kind)
            items = items[self._slots[kind]]
        return items

    @cached_property
    def _in_order(self) -> bool:
        """Whether the segments, one after the other, hold all files in path order, as after a full build."""
        return list(self._slot) == list(range(len(self._public)))


def number_slots(paths: Sequence[Sequence[str | None]]) -> dict[str, NDArray[Any]]:
    """The arrays `files_public` and `files_slot` of `Numbering`.

    Args:
        paths: For each segment, the path of each file; None for a dead file.
    """
    import numpy as np

    flat = [path for segment in paths for path in segment]
    live = [slot for _, slot in sorted((path, i) for i, path in enumerate(flat) if path is not None)]
    public = np.full(len(flat), -1, np.int32)
    public[live] = np.arange(len(live), dtype=np.int32)
    return {"files_public": public, "files_slot": np.array(live, np.int32)}
