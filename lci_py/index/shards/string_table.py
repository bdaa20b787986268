"""A sorted table of strings on disk, searched by bisection in mapped memory and never parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Offsets, offset_arrays

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.arrays import Arrays


def sorted_order(strings: Sequence[str]) -> list[int]:
    """Positions of the strings in the order of their UTF-8 bytes, which is the order of their code points."""
    return sorted(range(len(strings)), key=strings.__getitem__)


def string_arrays(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any] | array[int] | bytes]:
    """The arrays of a table for `write_arrays`, from sorted strings: `NAME` (their bytes), and where each starts
    (`offsets`)."""
    blob = [text.encode("utf-8", "surrogatepass") for text in strings]
    return {name: b"".join(blob), **offset_arrays(name, [len(item) for item in blob])}


def compact(offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Ascending offsets as int32 if they fit, else as int64."""
    return offsets.astype(np.int32) if len(offsets) and int(offsets[-1]) < 1 << 31 else offsets


class StringTable:
    """Reader of the arrays of `string_arrays`.

    Raises:
        DamagedIndexError: The strings and their offsets are missing, or do not fit together.
    """

    def __init__(self, source: Arrays, name: str) -> None:
        self._what = f"{source.name}: {name}"
        self._blob = source.view(name, "u1")
        self._offsets = Offsets(source, name, len(self._blob))

    def __len__(self) -> int:
        return len(self._offsets)

    def find(self, text: str) -> int:
        """The position of a string; -1 if it is not in the table.

        Raises:
            DamagedIndexError: A string that was compared lies outside its array.
        """
        wanted = text.encode("utf-8", "surrogatepass")
        low = self._offsets.place(wanted, self._between)
        return low if low < len(self) and self._bytes(low) == wanted else -1

    def starting(self, prefix: str, most: int) -> list[str] | None:
        """The strings that start with a text, in order; None if there are more than `most`.

        Raises:
            DamagedIndexError: A string that was compared lies outside its array, or is not UTF-8.
        """
        wanted = prefix.encode("utf-8", "surrogatepass")
        low = self._offsets.place(wanted, self._between)
        high = self._offsets.place(wanted + b"\xff", self._between)  # this byte never occurs in UTF-8
        return None if high - low > most else [self.text(place) for place in range(low, high)]

    def text(self, index: int) -> str:
        """A string by its position.

        Raises:
            DamagedIndexError: It lies outside its array, or is not UTF-8.
        """
        try:
            return self._bytes(index).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise DamagedIndexError(f"{self._what} are no text") from None

    def _bytes(self, index: int) -> bytes:
        return self._between(*self._offsets.span(index))

    def _between(self, start: int, stop: int) -> bytes:
        return bytes(self._blob[start:stop])
