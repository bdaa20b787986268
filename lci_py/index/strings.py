"""A sorted list of strings on disk: looked up by binary search in mapped memory, never parsed."""

from __future__ import annotations

import bisect
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def sorted_order(strings: Sequence[str]) -> list[int]:
    """Positions of the strings in the order of their UTF-8 bytes (which is that of their code points)."""
    return sorted(range(len(strings)), key=strings.__getitem__)


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
    """Reader of what `write_strings` wrote.

    Raises:
        ValueError: The two files do not fit together.
        OSError: One cannot be read.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._blob = (folder / f"{name}.bin").read_bytes()
        self._offsets = load_array(folder / f"{name}.offsets.npy", np.int64)
        if len(self._offsets) == 0 or int(self._offsets[-1]) != len(self._blob):
            raise ValueError(f"{name}.bin does not match its offsets")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def find(self, text: str) -> int:
        """The string's position, -1 if it is not in the table."""
        wanted = text.encode("utf-8", "surrogatepass")
        low = bisect.bisect_left(range(len(self)), wanted, key=self._bytes)
        return low if low < len(self) and self._bytes(low) == wanted else -1

    def _bytes(self, index: int) -> bytes:
        return self._blob[int(self._offsets[index]) : int(self._offsets[index + 1])]
