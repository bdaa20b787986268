"""The tokens of every chunk, for the second look that dense search takes at its best candidates.

A vector is the sum of a text's tokens: it says what a chunk is about and smears the words. So the candidates are also
asked, for each word of the question, how close their closest token comes (docs/adr/0007-late-interaction.md). Source:
MaxSim in ColBERT (Khattab and Zaharia, SIGIR 2020), here with weights and over tokens without context.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.strings import load_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Tokens whose vectors are looked up at a time: more would fall out of the processor's cache.
_BLOCK = 256
#: No vocabulary is as large: an id above it is damage, and not the size of an array to make.
_MOST = 1 << 22


def write_token_bags(folder: Path, indptr: NDArray[np.int64], ids: NDArray[np.int32]) -> None:
    """Write which tokens each chunk has: chunk i's distinct ids are `ids[indptr[i]:indptr[i + 1]]`."""
    small = np.uint16 if not len(ids) or int(ids.max()) < 1 << 16 else np.int32
    np.save(folder / "bag_pointers.npy", indptr.astype(np.int64), allow_pickle=False)
    np.save(folder / "bag_ids.npy", ids.astype(small), allow_pickle=False)


class TokenBags:
    """Reader of the chunks' tokens."""

    def __init__(self, folder: Path, *, chunks: int) -> None:
        try:
            self._pointers: Any = load_array(folder / "bag_pointers.npy", np.int64)
            self._ids: Any = load_array(folder / "bag_ids.npy", np.uint16, np.int32)
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{folder.name}: {error}") from error
        if len(self._pointers) != chunks + 1 or int(self._pointers[-1]) != len(self._ids):
            raise DamagedIndexError(f"{folder.name}: its arrays do not fit together")

    def coverage(
        self,
        chunks: NDArray[np.int64],
        question: NDArray[np.float32],
        weights: NDArray[np.float32],
        rows: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    ) -> NDArray[np.float32]:
        """How well each chunk's tokens answer each token of the question: [len(chunks)], in [0, 1].

        The weighted mean over the question's tokens of max(0, cosine)^2 with the chunk's closest token.

        Args:
            chunks: Numbers of the chunks.
            question: [tokens, d] vectors of the question's tokens, unit length.
            weights: [tokens] positive, adding up to 1.
            rows: Vectors of token ids: [n] -> [n, d], unit length.
        Raises:
            DamagedIndexError: The arrays name what is not there.
        """
        starts, stops = np.asarray(self._pointers[chunks]), np.asarray(self._pointers[chunks + 1])
        # Not by lengths: the difference of two far numbers can wrap around.
        if ((starts < 0) | (stops < starts) | (stops > len(self._ids))).any():
            raise DamagedIndexError("the tokens of a chunk lie outside their array")
        lengths = stops - starts
        out = np.zeros(len(chunks), np.float32)
        used = np.flatnonzero(lengths > 0)
        if not len(used) or not len(weights):
            return out
        ends = np.cumsum(lengths[used])
        place = np.arange(int(ends[-1])) + np.repeat(starts[used] - (ends - lengths[used]), lengths[used])
        ids = np.asarray(self._ids[place]).astype(np.int64)
        if not 0 <= int(ids.min()) <= int(ids.max()) < _MOST:
            raise DamagedIndexError("the tokens shard names a token that the model does not have")
        seen = np.zeros(int(ids.max()) + 1, np.bool_)  # not `unique`, which sorts them all
        seen[ids] = True
        distinct = np.flatnonzero(seen)
        position = np.zeros(len(seen), np.int64)
        position[distinct] = np.arange(len(distinct))
        back = position[ids]
        near = np.empty((len(question), len(distinct)), np.float32)
        for start in range(0, len(distinct), _BLOCK):
            # Not `@`: BLAS adds up in another order for some columns, and equal chunks must tie.
            block = rows(distinct[start : start + _BLOCK])
            near[:, start : start + _BLOCK] = np.einsum("ik,jk->ij", question, block)
        near = np.maximum(near, 0) ** 2
        total = np.zeros(len(used), np.float32)
        for token, weight in enumerate(weights.tolist()):
            total += np.float32(weight) * np.maximum.reduceat(near[token][back], ends - lengths[used])
        out[used] = np.minimum(total, 1)
        return out
