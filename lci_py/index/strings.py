"""A sorted list of strings on disk: looked up by binary search in mapped memory, never parsed."""

from __future__ import annotations

import bisect
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.index.arrays import Arrays


def sorted_order(strings: Sequence[str]) -> list[int]:
    """Positions of the strings in the order of their UTF-8 bytes (which is that of their code points)."""
    return sorted(range(len(strings)), key=strings.__getitem__)


def string_arrays(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any] | bytes]:
    """The arrays of a table for `write_arrays`: `NAME` (the strings, one after the other) and `NAME_offsets`; the
    strings must be sorted."""
    blob = [text.encode("utf-8", "surrogatepass") for text in strings]
    offsets = np.zeros(len(blob) + 1, np.int64)
    np.cumsum([len(item) for item in blob], out=offsets[1:])
    return {name: b"".join(blob), f"{name}_offsets": compact(offsets)}


def compact(offsets: NDArray[np.int64]) -> NDArray[Any]:
    """Ascending offsets in the smaller of the types that a reader takes: int32, int64."""
    return offsets.astype(np.int32) if len(offsets) and int(offsets[-1]) < 1 << 31 else offsets


def write_strings(folder: Path, name: str, strings: Sequence[str]) -> None:
    """Write `NAME.bin` (the strings, one after the other) and `NAME.offsets.npy`; they must be sorted."""
    blob = [text.encode("utf-8", "surrogatepass") for text in strings]
    offsets = np.zeros(len(blob) + 1, np.int64)
    np.cumsum([len(item) for item in blob], out=offsets[1:])
    (folder / f"{name}.bin").write_bytes(b"".join(blob))
    np.save(folder / f"{name}.offsets.npy", offsets, allow_pickle=False)


# numpy reads a header with `ast`, which raises SystemError now and then when two threads use it (CPython gh-106905, in
# 3.11 before 3.11.8 and 3.12 before 3.12.2); the views of a multiview query load in threads.
_LOADING = threading.Lock()


def load_array(path: Path, *dtypes: type[np.generic]) -> NDArray[np.generic]:
    """Map a one-dimensional array of one of the types.

    Raises:
        ValueError: The file holds something else.
        OSError: It cannot be read.
    """
    array: NDArray[np.generic]
    try:
        with _LOADING:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        with _LOADING:
            array = np.load(path, allow_pickle=False)  # an empty array cannot be mapped
    except EOFError as error:
        raise ValueError(f"{path.name} is empty") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path.name} is no array")  # numpy opens an archive of arrays as well
    if array.dtype not in dtypes or array.ndim != 1:
        raise ValueError(f"{path.name} is {array.dtype} of {array.ndim} dimensions")
    return array


class StringTable:
    """Reader of what `string_arrays` or `write_strings` made.

    Raises:
        ValueError: The strings and their offsets do not fit together.
        DamagedIndexError: The file of arrays lacks them.
        OSError: A file cannot be read.
    """

    def __init__(self, source: Arrays | Path, name: str) -> None:
        if isinstance(source, Path):
            self._blob = memoryview((source / f"{name}.bin").read_bytes())
            self._offsets = load_array(source / f"{name}.offsets.npy", np.int64).data
        else:
            self._blob = source.view(name, "u1")
            self._offsets = source.view(f"{name}_offsets", "i4", "i8")
        if len(self._offsets) == 0 or self._offsets[-1] != len(self._blob):
            raise ValueError(f"{name} do not match their offsets")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def find(self, text: str) -> int:
        """The string's position, -1 if it is not in the table."""
        wanted = text.encode("utf-8", "surrogatepass")
        low = bisect.bisect_left(range(len(self)), wanted, key=self._bytes)
        return low if low < len(self) and self._bytes(low) == wanted else -1

    def _bytes(self, index: int) -> bytes:
        return bytes(self._blob[self._offsets[index] : self._offsets[index + 1]])
