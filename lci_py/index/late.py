"""The tokens of every chunk, for the second look that dense search takes at its best candidates; and those of every
identifier part, so that a query mostly needs no tokenizer.

A vector is the sum of a text's tokens: it says what a chunk is about and smears the words. So the candidates are also
asked, for each word of the question, how close their closest token comes (docs/adr/0007-late-interaction.md). Source:
MaxSim in ColBERT (Khattab and Zaharia, SIGIR 2020), here with weights and over tokens without context.
"""

from __future__ import annotations

import bisect
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.arrays import Arrays, write_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lci_py.index.numbering import Numbering

#: Tokens whose vectors are looked up at a time: more would fall out of the processor's cache.
_BLOCK = 256
#: No vocabulary is as large: an id above it is damage, and not the size of an array to make.
_MOST = 1 << 22


def write_tokens(
    path: Path,
    parts: Sequence[str],
    pieces: Sequence[Sequence[int]],
    pointers: NDArray[np.int64],
    ids: NDArray[Any],
) -> None:
    """Write a segment's shard.

    Args:
        path: The file.
        parts: Identifier parts, distinct, in any order.
        pieces: Token ids of each.
        pointers: [chunks + 1] where each chunk's tokens start in `ids`.
        ids: Distinct token ids of each chunk.
    Raises:
        OSError: It cannot be written.
    """
    order = sorted(range(len(parts)), key=parts.__getitem__)  # code points sort as their UTF-8 bytes do
    blob = [parts[i].encode("utf-8", "surrogatepass") for i in order]
    small = np.uint16 if not len(ids) or int(ids.max()) < 1 << 16 else np.int32
    arrays: dict[str, NDArray[Any] | bytes] = {
        "parts": b"".join(blob),
        "parts_offsets": _ends([len(item) for item in blob]),
        "pointers": _ends([len(pieces[i]) for i in order]),
        "pieces": np.array([piece for i in order for piece in pieces[i]], np.int32),
        "bag_pointers": pointers.astype(np.int64),
        "bag_ids": ids.astype(small),
    }
    write_arrays(path, arrays)


def _ends(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


class _Parts:
    """One segment's parts and their tokens."""

    def __init__(self, path: Path) -> None:
        arrays = Arrays(path)
        self._name = path.name
        self._blob = arrays.view("parts", "u1")
        self._offsets = arrays.view("parts_offsets", "i8")
        self._pointers = arrays.view("pointers", "i8")
        self._pieces = arrays.view("pieces", "i4")
        ends = (self._offsets, self._blob), (self._pointers, self._pieces)
        if len(self._offsets) != len(self._pointers) or any(
            not len(pointers) or pointers[0] or pointers[-1] != len(items) for pointers, items in ends
        ):
            raise DamagedIndexError(f"{path.name}: its arrays do not fit together")

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def find(self, wanted: bytes) -> list[int] | None:
        blob, offsets = self._blob, self._offsets

        def part(index: int) -> bytes:
            return blob[offsets[index] : offsets[index + 1]].tobytes()  # wherever: that is checked of the one found

        index = bisect.bisect_left(range(len(self)), wanted, key=part)
        if index == len(self):
            return None
        self._check(offsets[index : index + 2], len(blob))
        if part(index) != wanted:
            return None
        pointers = self._pointers[index : index + 2]
        self._check(pointers, len(self._pieces))
        return self._pieces[pointers[0] : pointers[1]].tolist()

    def _check(self, ends: Sequence[int], size: int) -> None:
        if min(ends) < 0 or max(ends) > size or list(ends) != sorted(ends):
            raise DamagedIndexError(f"{self._name}: a part or its tokens lie outside their array")

    def items(self) -> dict[str, list[int]]:
        blob, pieces = bytes(self._blob), self._pieces.tolist()
        offsets, pointers = self._offsets.tolist(), self._pointers.tolist()
        self._check(offsets, len(blob))
        self._check(pointers, len(pieces))
        try:
            parts = [blob[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets)]
        except UnicodeDecodeError as error:
            raise DamagedIndexError(f"{self._name}: a part is not UTF-8") from error
        return dict(zip(parts, [pieces[a:b] for a, b in pairwise(pointers)], strict=True))


class TokenTable:
    """Reader of the parts' tokens, of all segments.

    Raises:
        DamagedIndexError: A file is not what `write_tokens` writes.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._segments = [_Parts(path) for path in paths]

    def find(self, part: str) -> list[int] | None:
        """Token ids of a part, None if no segment has it."""
        wanted = part.encode("utf-8", "surrogatepass")
        for segment in self._segments:
            found = segment.find(wanted)
            if found is not None:
                return found
        return None

    def items(self) -> dict[str, list[int]]:
        """All parts and their token ids."""
        found: dict[str, list[int]] = {}
        for segment in self._segments:
            found = segment.items() | found  # the first that has a part, as in `find`
        return found


class Bags:
    """One segment's bags of tokens, by its own chunk numbers.

    Raises:
        DamagedIndexError: The file is not what `write_tokens` writes, or has another number of chunks.
    """

    def __init__(self, path: Path, *, chunks: int) -> None:
        arrays = Arrays(path)
        self._pointers = arrays.array("bag_pointers", "i8")
        self._ids = arrays.array("bag_ids", "u2", "i4")
        if len(self._pointers) != chunks + 1 or int(self._pointers[-1]) != len(self._ids):
            raise DamagedIndexError(f"{path.name}: its arrays do not fit together")

    def take(self, chunks: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The bags of some chunks: how many tokens each has, and all of them, one bag after the other."""
        starts, stops = self._pointers[chunks], self._pointers[chunks + 1]
        # Not by lengths: the difference of two far numbers can wrap around.
        if ((starts < 0) | (stops < starts) | (stops > len(self._ids))).any():
            raise DamagedIndexError("the tokens of a chunk lie outside their array")
        lengths = stops - starts
        ends = np.cumsum(lengths)
        place = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
        ids = self._ids[place].astype(np.int32)
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < _MOST:
            raise DamagedIndexError("the tokens shard names a token that the model does not have")
        return lengths, ids


class TokenBags:
    """Reader of the chunks' tokens, of all segments, by public numbers.

    Raises:
        DamagedIndexError: A file is not what `write_tokens` writes, or does not belong to the numbering.
    """

    def __init__(self, paths: Sequence[Path], numbering: Numbering) -> None:
        if len(paths) != len(numbering.counts):
            raise DamagedIndexError(f"{len(paths)} tokens shards of {len(numbering.counts)} segments")
        counts = [segment["chunks"] for segment in numbering.counts]
        self._segments = [Bags(path, chunks=count) for path, count in zip(paths, counts, strict=True)]
        self._starts = np.cumsum([0, *counts])
        self._slots = None if numbering.identity else numbering.slots_array("chunks")

    def _take(self, chunks: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Positions of the chunks in another order, and their bags (lengths, tokens) in that order."""
        slots = chunks if self._slots is None else self._slots[chunks]
        order, lengths, ids = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for segment, start, stop in zip(self._segments, self._starts[:-1], self._starts[1:], strict=True):
            own = np.flatnonzero((slots >= start) & (slots < stop))
            if len(own):
                order.append(own)
                some, tokens = segment.take(slots[own] - start)
                lengths.append(some)
                ids.append(tokens)
        return np.concatenate(order), np.concatenate(lengths), np.concatenate(ids)

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
            chunks: Public numbers of the chunks.
            question: [tokens, d] vectors of the question's tokens, unit length.
            weights: [tokens] positive, adding up to 1.
            rows: Vectors of token ids: [n] -> [n, d], unit length.
        Raises:
            DamagedIndexError: The arrays name what is not there.
        """
        order, lengths, ids = self._take(chunks)
        out = np.zeros(len(chunks), np.float32)
        used = np.flatnonzero(lengths > 0)
        if not len(used) or not len(weights):
            return out
        ends = np.cumsum(lengths[used])
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
        out[order[used]] = np.minimum(total, 1)
        return out
