"""Checksums at the end of a shard: a sum for each block, which a reader compares when it first reads the block.

The times of a shard tell whether somebody has written it, not whether bits have changed on the disk. So every file of
arrays or vectors ends with the sum of each of its blocks, as 64-bit words modulo 2^64: a flipped bit, a page of zeros
and a page from elsewhere change it. numpy adds up as fast as memory can be read, ten times as fast as a cryptographic
digest. A sum is no protection from people; that is what the seal of the manifest is for.

After the content, padded to 8 bytes, come the sums (u8 each, little-endian), the content's length, and the exclusive or
of the length and a magic number.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Bytes of a block. A query that reads little of a large shard checks little more.
BLOCK = 1 << 16
_WORD = 8
_END = 2 * _WORD
_MAGIC = int.from_bytes(b"lci sums", "little")
_MODULUS = 1 << 64


def append_sums(path: Path) -> None:
    """Finish a file: add the sums of its blocks.

    Raises:
        OSError: It cannot be written.
    """
    with path.open("r+b") as file:
        sums, length = [], 0
        while block := file.read(BLOCK):
            length += len(block)
            sums += _sums(memoryview(block + bytes(-len(block) % _WORD)))
        file.write(bytes(-length % _WORD))
        file.write(b"".join(value.to_bytes(_WORD, "little") for value in (*sums, length, length ^ _MAGIC)))


class Summed:
    """The content of a file that `append_sums` has finished.

    Attributes:
        content: The file without the sums. It is only checked by `check`.
    """

    def __init__(self, data: memoryview, name: str) -> None:
        """`name` is that of the file, for errors.

        Raises:
            DamagedIndexError: It does not end as `append_sums` ends a file.
        """
        self._name = name
        length, again = (int.from_bytes(data[-at : -at + _WORD or None], "little") for at in (_END, _WORD))
        n_blocks = -(-length // BLOCK)
        end = len(data) - _END - _WORD * n_blocks
        if length != again ^ _MAGIC or end != length + -length % _WORD:
            raise DamagedIndexError(f"{name}: its checksums are missing")
        self.content = data[:length]
        self._words = data[:end]
        self._wanted = data[end:-_END].cast("Q")
        self._seen = bytearray(n_blocks)

    def check(self, start: int = 0, stop: int | None = None) -> None:
        """Check the blocks of a byte range of the content (by default all of it) that were not checked before."""
        seen = self._seen
        last = len(seen) if stop is None else -(-stop // BLOCK)
        at = seen.find(0, start // BLOCK, last)
        while at >= 0:
            end = seen.find(1, at, last)
            end = last if end < 0 else end
            if _sums(self._words[at * BLOCK : end * BLOCK]) != self._wanted[at:end].tolist():
                raise DamagedIndexError(f"{self._name}: its checksums do not match")
            seen[at:end] = b"\1" * (end - at)
            at = seen.find(0, end, last)

    def check_many(self, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> None:
        """As `check` for the bytes from each of `starts` to before the corresponding stop, all inside the content."""
        import numpy as np

        touched = np.zeros(len(self._seen) + 1, np.int32)  # +1 where a range begins, -1 behind its end
        np.add.at(touched, starts // BLOCK, 1)
        np.add.at(touched, -(-stops // BLOCK), -1)
        edges = np.diff(np.cumsum(touched) > 0, prepend=False, append=False).nonzero()[0].tolist()
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            self.check(first * BLOCK, min(last * BLOCK, len(self.content)))


def _sums(data: memoryview) -> list[int]:
    """The sum of each block of whole words."""
    if "numpy" not in sys.modules:  # a query that needs no numpy reads some small arrays only
        return [sum(data[at : at + BLOCK].cast("Q")) % _MODULUS for at in range(0, len(data), BLOCK)]
    import numpy as np

    words = np.frombuffer(data, "<u8")
    whole = len(words) // (BLOCK // _WORD) * (BLOCK // _WORD)
    found: list[int] = words[:whole].reshape(-1, BLOCK // _WORD).sum(axis=1).tolist()
    return found if whole == len(words) else [*found, int(words[whole:].sum())]
