"""The tokens of every chunk, for late interaction; and the tokens of every identifier part, to save the tokenizer.

A chunk's vector is the sum of its tokens: it describes the subject but blurs single words. So dense search also
measures, for each token of the question, how close the closest token of a chunk is (docs/adr/0007-late-interaction.md).
Source: MaxSim in ColBERT (Khattab and Zaharia, SIGIR 2020), here with weights and with tokens without context.

Few tokens are near a token of the question, and only chunks that contain such a token are examined. A query looks up
the tokens of an identifier part here, so it rarely has to load the tokenizer.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, Offsets, compact, offset_arrays, write_arrays
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.numbering import Numbering

#: Least cosine of two tokens that are near each other (docs/ranking.md).
NEAR = np.float32(0.3)
#: Tokens of chunks that are searched or sorted at a time: a bound of the memory.
_RUN = 1 << 18
#: Tokens of a question that are compared at a time.
_TOKENS = 16
#: Chunks whose tokens are looked at together where not all are.
_AT_A_TIME = 1 << 16
#: Tokens of questions whose near tokens are cached, and identifier parts whose tokens are cached.
_REMEMBERED = 1 << 12
#: Larger than every vocabulary: an id above it is damage, and no array of that size is allocated.
_MOST = 1 << 22


def write_tokens(
    path: Path,
    parts: Sequence[str],
    pieces: Sequence[Sequence[int]],
    pointers: NDArray[np.int64],
    ids: NDArray[Any],
) -> None:
    """Write a segment's shard into a new file.

    Args:
        parts: Distinct identifier parts, in any order.
        pieces: Token ids of each part.
        pointers: [chunks + 1] start of each chunk's tokens in `ids`.
        ids: Distinct token ids of each chunk.
    Raises:
        OSError: The file cannot be written.
    """
    from lci_py.index.shards.term_counts import narrow  # only writing needs it

    order = sorted(range(len(parts)), key=parts.__getitem__)  # code points sort as their UTF-8 bytes do
    blob = [parts[i].encode("utf-8", "surrogatepass") for i in order]
    small = np.uint16 if not len(ids) or int(ids.max()) < 1 << 16 else np.int32
    arrays: dict[str, NDArray[Any] | array[int] | bytes] = {
        "parts": b"".join(blob),
        **offset_arrays("parts", [len(item) for item in blob]),
        **offset_arrays("pieces", [len(pieces[i]) for i in order]),
        "pieces": narrow(np.array([piece for i in order for piece in pieces[i]], np.int64)),
        "bag_pointers": compact(pointers.astype(np.int64)),
        "bag_ids": ids.astype(small),
    }
    write_arrays(path, arrays)


class _Parts:
    """The identifier parts of one segment, and their tokens."""

    def __init__(self, path: Path) -> None:
        arrays = Arrays(path)
        self._blob = arrays.view("parts", "u1")
        self._pieces = arrays.view("pieces", "u1", "u2", "i4")
        self._offsets = Offsets(arrays, "parts", len(self._blob))
        self._pointers = Offsets(arrays, "pieces", len(self._pieces))
        if len(self._offsets) != len(self._pointers):
            raise DamagedIndexError(f"{path.name}: its arrays do not fit together")

    def __len__(self) -> int:
        return len(self._offsets)

    def find(self, key: bytes) -> list[int] | None:
        def part(start: int, stop: int) -> bytes:
            return self._blob[start:stop].tobytes()

        index = self._offsets.place(key, part)
        if index == len(self) or part(*self._offsets.span(index)) != key:
            return None
        start, stop = self._pointers.span(index)
        return self._pieces[start:stop].tolist()


class TokenTable:
    """Reads the tokens of identifier parts, from the shards of all segments."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._segments = [_Parts(path) for path in paths]
        self._found: dict[str, list[int] | None] = {}

    def find(self, part: str) -> list[int] | None:
        """The token ids of an identifier part; None if no segment has the part."""
        if part not in self._found:
            if len(self._found) > _REMEMBERED:
                self._found.clear()
            key = part.encode("utf-8", "surrogatepass")
            tokens = None
            for segment in self._segments:
                if (tokens := segment.find(key)) is not None:
                    break
            self._found[part] = tokens
        return self._found[part]


class Bags:
    """The bags of tokens (the distinct tokens of each chunk) of one segment, by the segment's chunk numbers."""

    def __init__(self, path: Path, *, chunks: int) -> None:
        self._arrays = arrays = Arrays(path)
        self._pointers = arrays.array("bag_pointers", "i4", "i8", check=False)
        self._ids = arrays.array("bag_ids", "u2", "i4", check=False)
        if len(self._pointers) != chunks + 1 or int(self._pointers[-1]) != len(self._ids):
            raise DamagedIndexError(f"{path.name}: its arrays do not fit together")

    def take(self, chunks: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(number of tokens of each of these chunks, the tokens of all these chunks, chunk by chunk)."""
        self._arrays.check_ranges("bag_pointers", chunks, chunks + 2)
        starts, stops = self._pointers[chunks], self._pointers[chunks + 1]
        # Compare the ends, not the lengths: a difference of damaged numbers can overflow.
        if ((starts < 0) | (stops < starts) | (stops > len(self._ids))).any():
            raise DamagedIndexError("the tokens of a chunk lie outside their array")
        self._arrays.check_ranges("bag_ids", starts, stops)
        lengths = stops - starts
        ends = np.cumsum(lengths)
        offsets = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
        ids = self._ids[offsets].astype(np.int32)
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < _MOST:
            raise DamagedIndexError("the tokens shard names a token that the model does not have")
        return lengths, ids

    def runs(self) -> list[Run]:
        """All bags of the segment, divided into runs of whole chunks with about `_RUN` tokens each."""
        for name in ("bag_pointers", "bag_ids"):
            self._arrays.check_items(name, 0, len(self._pointers) if name == "bag_pointers" else len(self._ids))
        pointers = self._pointers
        if int(pointers[0]) or (pointers[1:] < pointers[:-1]).any():
            raise DamagedIndexError("the tokens of a chunk lie outside their array")
        cuts = np.searchsorted(pointers, np.arange(_RUN, len(self._ids), _RUN))
        bounds = sorted({0, *cuts.tolist(), len(pointers) - 1})
        return [
            Run(start, pointers[start : stop + 1] - pointers[start], self._ids[pointers[start] : pointers[stop]])
            for start, stop in pairwise(bounds)
        ]


class Run:
    """Consecutive chunks of a segment, and their tokens.

    The first question scans all tokens. The second question builds lists of the chunks of each token, which takes as
    long as ten scans.
    """

    def __init__(self, start: int, pointers: NDArray[np.int64], ids: NDArray[Any]) -> None:
        """`start`: the first chunk's number; `pointers`: [chunks + 1], where each chunk's tokens start in `ids`."""
        self.start, self.chunks = start, len(pointers) - 1
        self._pointers, self._ids = pointers, ids
        self._asked = False
        self._lists: _Lists | None = None

    def size(self) -> int:
        """A number larger than every token id in the run."""
        if not len(self._ids):
            return 0
        if not 0 <= int(self._ids.min()) <= int(self._ids.max()) < _MOST:
            raise DamagedIndexError("the tokens shard names a token that the model does not have")
        return int(self._ids.max()) + 1

    def mark(self, mask: NDArray[np.bool_]) -> None:
        """Set `mask`, [size or more], to True for every token in the run."""
        mask[self._ids] = True

    def lists(self, tokens: NDArray[np.int64], size: int) -> _Lists:
        """The chunks with each token of `tokens`, perhaps also with other tokens; all token ids are below `size`."""
        if self._lists is not None:
            return self._lists
        if self._asked:
            owner = np.repeat(np.arange(self.chunks, dtype=np.int32), np.diff(self._pointers))
            self._lists = _Lists(self._ids, owner, size)
            return self._lists
        self._asked = True
        is_wanted = np.zeros(size, np.bool_)
        is_wanted[tokens] = True
        places = np.flatnonzero(is_wanted.take(self._ids))
        return _Lists(self._ids[places], np.searchsorted(self._pointers, places, "right") - 1, size)


class _Lists:
    """For each token, the list of the chunks that contain it."""

    def __init__(self, ids: NDArray[Any], owner: NDArray[Any], size: int) -> None:
        self._chunks = owner[np.argsort(ids, kind="stable")]
        self._counts = np.bincount(ids, minlength=size)
        self._starts = np.cumsum(self._counts) - self._counts

    def closest(self, near: Near, tokens: int, chunks: int) -> NDArray[np.float32]:
        """[tokens, chunks]: for each token of the question, the value of a chunk's closest token; 0 if none is near."""
        counts = self._counts[near.tokens]
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        own = self._chunks[np.arange(total) + np.repeat(self._starts[near.tokens] - (ends - counts), counts)]
        best = np.zeros(tokens * chunks, np.float32)
        np.maximum.at(best, np.repeat(near.asked * chunks, counts) + own, np.repeat(near.values, counts))
        return best.reshape(tokens, chunks)


class Near(NamedTuple):
    """Pairs of a question's token and a token of the index whose vectors are close, with the squared cosine."""

    asked: NDArray[np.int64]  # [n] place of the question's token
    tokens: NDArray[np.int64]  # [n] token ids
    values: NDArray[np.float32]  # [n] squared cosine of the two


class TokenBags:
    """Reads the tokens of chunks, from the shards of all segments."""

    def __init__(
        self, paths: Sequence[Path], numbering: Numbering, codes: Callable[[NDArray[np.int64]], NDArray[np.float32]]
    ) -> None:
        """Open the shards. `codes` maps token ids [n] to their vectors [n, d], up to a scale: whole numbers whose inner
        products stay below 2^24.
        """
        counts = [segment["chunks"] for segment in numbering.counts]
        self._segments = [Bags(path, chunks=count) for path, count in zip(paths, counts, strict=True)]
        self._starts = [numbering.start("chunks", segment) for segment in range(len(counts) + 1)]
        self._codes = codes
        self._near: dict[int, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    @cached_property
    def _runs(self) -> list[Run]:
        """The runs of all segments, in the order of slots."""
        runs = []
        for start, bags in zip(self._starts, self._segments, strict=False):
            for run in bags.runs():
                run.start += start
                runs.append(run)
        return runs

    @cached_property
    def _vocabulary(self) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        """(token ids of the index, ascending; their vectors; the lengths of these vectors)."""
        mask = np.zeros(
            max((run.size() for run in self._runs), default=0), np.bool_
        )  # faster than `unique`, which sorts
        for run in self._runs:
            run.mark(mask)
        ids = np.flatnonzero(mask)
        codes = self._codes(ids)
        return ids, codes, _lengths(codes)

    def _nearest(self, tokens: NDArray[np.int64]) -> Near:
        """The tokens of the index whose vectors are near the vector of a token in `tokens`."""
        unknown = np.array([token for token in tokens.tolist() if token not in self._near], np.int64)
        if len(unknown):
            if len(self._near) > _REMEMBERED:
                self._near.clear()
                unknown = tokens
            self._near.update(zip(unknown.tolist(), _near(self._vocabulary, self._codes(unknown)), strict=True))
        return _join_near([self._near[token] for token in tokens.tolist()])

    def coverage(self, tokens: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """How well the tokens of each chunk match the tokens of a question: [slots of chunks], in [0, 1].

        The weighted mean, over the tokens of the question, of the squared cosine with the closest token of the chunk; 0
        for a cosine below `NEAR`.

        Args:
            tokens: [tokens] token ids of the question.
            weights: [tokens] positive, with the sum 1.
        """
        out = np.zeros(self._starts[-1], np.float32)
        ids = self._vocabulary[0]
        if not len(ids) or not len(tokens):
            return out
        size = int(ids[-1]) + 1
        near = self._nearest(tokens)
        for run in self._runs:
            _add_up(out[run.start : run.start + run.chunks], run, near, weights, size)
        return np.asarray(np.minimum(out, np.float32(1)))

    def coverage_of(
        self, tokens: NDArray[np.int64], weights: NDArray[np.float32], slots: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Like `coverage`, for the chunks in `slots` (ascending), and reads only their tokens: [len(slots)]."""
        out = np.zeros(len(slots), np.float32)
        if not len(tokens):
            return out
        cuts = np.searchsorted(slots, self._starts).tolist()
        for segment, (start, stop) in enumerate(pairwise(cuts)):
            for first in range(start, stop, _AT_A_TIME):
                last = min(first + _AT_A_TIME, stop)
                lengths, ids = self._segments[segment].take(slots[first:last] - self._starts[segment])
                if not len(ids):
                    continue
                run = Run(0, np.concatenate(([0], np.cumsum(lengths))), ids)
                mask = np.zeros(run.size(), np.bool_)
                run.mark(mask)
                near = self._nearest_of(tokens, mask)
                _add_up(out[first:last], run, near, weights, len(mask))
        return np.asarray(np.minimum(out, np.float32(1)))

    def _nearest_of(self, tokens: NDArray[np.int64], mask: NDArray[np.bool_]) -> Near:
        """The tokens marked in `mask` whose vectors are near the vector of a token in `tokens`."""
        ids = np.flatnonzero(mask)
        codes = self._codes(ids)
        return _join_near(_near((ids, codes, _lengths(codes)), self._codes(tokens)))


def _near(
    vocabulary: tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]], vectors: NDArray[np.float32]
) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """For each vector in `vectors`: (the tokens of the vocabulary that are near it, the squares of their cosines)."""
    ids, codes, lengths = vocabulary
    # Sums of whole numbers are exact in any order, so BLAS gives the same result on every machine.
    cosines = codes @ vectors.T / lengths[:, None] / _lengths(vectors)
    places = [np.flatnonzero(cosines[:, i] >= NEAR) for i in range(len(vectors))]
    return [(ids[near], cosines[near, i] ** 2) for i, near in enumerate(places)]


def _join_near(parts: Sequence[tuple[NDArray[np.int64], NDArray[np.float32]]]) -> Near:
    return Near(
        np.repeat(np.arange(len(parts)), [len(tokens) for tokens, _ in parts]),
        np.concatenate([tokens for tokens, _ in parts]),
        np.concatenate([values for _, values in parts]),
    )


def _add_up(total: NDArray[np.float32], run: Run, all_near: Near, weights: NDArray[np.float32], size: int) -> None:
    """Add to `total`, [chunks of the run], the weighted values of each chunk for all tokens of a question."""
    lists = run.lists(all_near.tokens, size)
    for start in range(0, len(weights), _TOKENS):  # a question may have hundreds
        some = slice(*np.searchsorted(all_near.asked, (start, start + _TOKENS)))
        near = Near(all_near.asked[some] - start, all_near.tokens[some], all_near.values[some])
        own = weights[start : start + _TOKENS]
        for weight, values in zip(own, lists.closest(near, len(own), run.chunks), strict=True):
            total += weight * values


def _lengths(codes: NDArray[np.float32]) -> NDArray[np.float32]:
    # Not numpy.linalg.norm: a sum of whole numbers is exact, so the root is the same on every machine.
    squares = np.einsum("ij,ij->i", codes, codes)
    return np.asarray(np.sqrt(np.maximum(squares, 1)))
