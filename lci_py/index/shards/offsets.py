"""Where each of many short pieces of an array starts, in little more than a byte per piece.

Of each piece the size is stored, and of every `BLOCK`th the start. A size of `WIDE` or more is stored apart. Reading
works without numpy.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.shards.arrays import Arrays

#: Pieces per stored start.
BLOCK = 64
#: As the size of a piece: look it up among the wide ones.
WIDE = 255


def offset_arrays(name: str, sizes: Sequence[int] | NDArray[Any]) -> dict[str, NDArray[Any] | array[int]]:
    """The arrays for `write_arrays`, from the size of each piece: `NAME_sizes`, u1; `NAME_blocks`, the start of every
    `BLOCK`th piece, and the end of the last one; `NAME_wide` and `NAME_widths`, the numbers of wide pieces and their
    sizes."""
    import numpy as np

    all_sizes = np.asarray(sizes, np.int64)
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(all_sizes)))
    blocks = np.append(ends[:-1][::BLOCK], ends[-1])
    wide = np.flatnonzero(all_sizes >= WIDE)
    widths = all_sizes[wide]
    small = np.int32 if int(ends[-1]) < 1 << 31 else np.int64
    return {
        f"{name}_sizes": np.minimum(all_sizes, WIDE).astype(np.uint8),
        f"{name}_blocks": blocks.astype(small),
        f"{name}_wide": wide.astype(np.int32),
        f"{name}_widths": widths.astype(small),
    }


class Offsets:
    """Reader of the arrays of `offset_arrays`.

    Raises:
        DamagedIndexError: They are missing, or do not fit together.
    """

    def __init__(self, source: Arrays, name: str, total: int) -> None:
        """
        Args:
            source: The file.
            name: Of the arrays.
            total: The length of the array that the pieces are of.
        """
        self._what, self._total = f"{source.name}: {name}", total
        self._sizes = source.view(f"{name}_sizes", "u1")
        self._blocks = source.view(f"{name}_blocks", "i4", "i8")
        self._wide, self._widths = source.view(f"{name}_wide", "i4"), source.view(f"{name}_widths", "i4", "i8")
        if (
            len(self._blocks) != -(-len(self._sizes) // BLOCK) + 1
            or self._blocks[0]
            or self._blocks[-1] != total
            or len(self._wide) != len(self._widths)
        ):
            raise self._damaged()

    def __len__(self) -> int:
        return len(self._sizes)

    def span(self, piece: int) -> tuple[int, int]:
        """The start and the end of a piece.

        Raises:
            DamagedIndexError: It lies outside the array.
        """
        if not 0 <= piece < len(self):
            raise self._damaged()
        block = piece // BLOCK
        start = self._blocks[block] + sum(self._sizes[block * BLOCK : piece])
        size = self._sizes[piece]
        if len(self._wide):
            first = bisect_left(self._wide, block * BLOCK)
            last = bisect_left(self._wide, piece, first)
            start += sum(self._widths[first:last]) - WIDE * (last - first)
            if size == WIDE:
                if last == len(self._wide) or self._wide[last] != piece:
                    raise self._damaged()
                size = self._widths[last]
        if not 0 <= start <= start + size <= self._total:
            raise self._damaged()
        return start, start + size

    def at(self, place: int) -> int:
        """The piece around a place of the array."""
        block = bisect_right(self._blocks, place) - 1
        starts = self._starts(min(block, max(len(self._blocks) - 2, 0)))
        return block * BLOCK + bisect_right(starts, place) - 1

    def place(self, wanted: bytes, text: Callable[[int, int], bytes]) -> int:
        """The first piece that is not below `wanted`, if the pieces ascend; `text` gives the bytes of a span."""
        # First among the blocks: of the first piece of each, the start is stored.
        block = bisect_left(range(len(self._blocks) - 1), wanted, key=lambda block: text(*self.span(block * BLOCK)))
        if not block:
            return 0
        first = (block - 1) * BLOCK
        last = min(first + BLOCK, len(self))
        starts = self._starts(block - 1)
        return first + bisect_left(
            range(last - first), wanted, key=lambda piece: text(*self._checked(starts[piece], starts[piece + 1]))
        )

    def sizes(self) -> Iterator[int]:
        """The size of each piece."""
        if not len(self._wide):
            return iter(self._sizes)
        widths = iter(self._widths)
        return (next(widths, 0) if size == WIDE else size for size in self._sizes)

    def ends(self) -> list[int]:
        """The start of each piece, and the end of the last.

        Raises:
            DamagedIndexError: They do not fit the array.
        """
        found = list(accumulate(self.sizes(), initial=0))
        if found[-1] != self._total or min(self._widths, default=0) < 0:
            raise self._damaged()
        return found

    def longest(self, least: int) -> Iterator[int]:
        """The pieces of at least some size, at most `WIDE`."""
        import re

        data = bytes(self._sizes)
        return (match.start() for match in re.finditer(b"[\\x%02x-\\xff]" % least, data))

    def _starts(self, block: int) -> list[int]:
        """The starts of the pieces of a block, and the end of the last."""
        sizes = self._sizes[block * BLOCK : (block + 1) * BLOCK].tolist()
        if len(self._wide) and WIDE in sizes:
            return [self.span(block * BLOCK + piece)[0] for piece in range(len(sizes))] + [
                self.span(block * BLOCK + len(sizes) - 1)[1]
            ]
        return list(accumulate(sizes, initial=self._blocks[block]))

    def _checked(self, start: int, stop: int) -> tuple[int, int]:
        if not 0 <= start <= stop <= self._total:
            raise self._damaged()
        return start, stop

    def _damaged(self) -> DamagedIndexError:
        return DamagedIndexError(f"{self._what}: the pieces do not lie inside their array")
