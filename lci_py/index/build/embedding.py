"""Embeds the chunks of a segment, and reuses earlier embeddings.

A model of bags embeds a chunk in 30 microseconds; a refresh only copies the chunks that move from one segment to
another (`Reuse`). A model that reads text takes a tenth of a second per chunk, so its vectors are cached by the text
(`VectorCache`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lci_py.embed.encoder import tf_weight
from lci_py.index.shards.dense import RowBlocks, open_vectors
from lci_py.index.shards.term_counts import Sparse, csr
from lci_py.index.shards.text_fields import header_text, path_text
from lci_py.index.shards.tokens import Bags, TokenTable
from lci_py.source.text.digest import blake2b
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.index.shards.segment_rows import SegmentRows
    from lci_py.index.shards.text_fields import TextFields

    Progress = Callable[[str, int, int], None]

#: Chunks embedded at a time.
EMBED_SLICE = 8192
#: The same for a model that reads text, which takes seconds for these: what an interrupted run loses.
TEXT_SLICE = 256
#: Vectors looked up in the cache at a time.
LOOKUP_SLICE = 1024
#: Up to this many parts are looked up in older segments; for more, splitting them all again is as fast.
FEW_PARTS = 2048


# --- copying from older segments --------------------------------------------------------------------------------------


class Embeddings:
    """The embedded chunks of one segment: vectors, bags of tokens, and the tokens of identifier parts."""

    def __init__(self, dense: Path, tokens: Path | None, *, dimension: int, counts: Mapping[str, int]) -> None:
        """Args:
        dense: The segment's dense shard.
        tokens: Its tokens shard; None for a model that reads text.
        counts: The segment's number of `chunks` and of `units`.
        """
        chunks = counts["chunks"]
        self.vectors = open_vectors(dense, dimension=dimension, rows=chunks, units=counts["units"])
        self.bags = Bags(tokens, chunks=chunks) if tokens else None
        self.table = TokenTable([tokens] if tokens else [])


@dataclass(frozen=True, slots=True)
class Reuse:
    """The chunks of a new segment that older segments contain: the same code with the same path and header.

    If several segments have a chunk, the first one is used.
    """

    sources: Sequence[Embeddings]
    rows: Sequence[NDArray[np.int64]]  # per source, [chunks of the new segment]: number of the chunk there, or -1

    @property
    def chunks(self) -> int:
        """The number of chunks of the new segment that an older one has."""
        return int(np.logical_or.reduce([rows >= 0 for rows in self.rows]).sum()) if self.rows else 0

    def of(self, start: int, stop: int) -> list[tuple[Embeddings, NDArray[np.int64], NDArray[np.int64]]]:
        """For the new chunks from `start` to `stop`: (source, positions after `start`, numbers of the chunks there)."""
        taken = np.zeros(stop - start, np.bool_)
        found = []
        for source, rows in zip(self.sources, self.rows, strict=True):
            own = rows[start:stop]
            at = np.flatnonzero((own >= 0) & ~taken)
            taken[at] = True
            found.append((source, at, own[at]))
        return found

    def find(self, part: str) -> list[int] | None:
        """Token ids of an identifier part; None if no segment has it."""
        return next((ids for source in self.sources if (ids := source.table.find(part)) is not None), None)


class _CopiedVectors:
    """The vectors of a segment whose chunks are all in older ones; read slice by slice while they are written."""

    def __init__(self, reuse: Reuse, chunks: int, dimension: int) -> None:
        self._reuse = reuse
        self.shape = (chunks, dimension)

    def __getitem__(self, rows: slice, /) -> NDArray[np.float32]:
        start, stop, _ = rows.indices(self.shape[0])
        out = np.zeros((stop - start, self.shape[1]), np.float32)
        for source, at, chunks in self._reuse.of(start, stop):
            out[at] = source.vectors.take(chunks)
        return out


# --- models of bags ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class EmbeddedChunks:
    """The embedded chunks of a segment: what the dense shard and the tokens shard hold."""

    vectors: RowBlocks  # [chunks, dimension] float32
    parts: list[str]
    pieces: list[list[int]]  # token ids of each part
    pointers: NDArray[np.int64]  # [chunks + 1] start of each chunk's distinct tokens in `ids`
    ids: NDArray[np.int32]


@dataclass(slots=True)
class _Bags:
    """Bags of tokens, collected slice by slice."""

    lengths: list[NDArray[np.int64]] = field(default_factory=lambda: [np.zeros(1, np.int64)])
    ids: list[NDArray[np.int32]] = field(default_factory=lambda: [np.zeros(0, np.int32)])

    def add(self, n: int, found: Sequence[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]]) -> None:
        """Add `n` chunks. Each item of `found` is (positions of chunks, number of tokens of each, all their tokens)."""
        lengths = np.zeros(n, np.int64)
        for at, some, _ in found:
            lengths[at] = some
        ends = np.cumsum(lengths)
        ids = np.zeros(int(ends[-1]) if n else 0, np.int32)
        for at, some, own in found:
            starts = ends[at] - some
            ids[np.arange(len(own)) + np.repeat(starts - (np.cumsum(some) - some), some)] = own
        self.lengths.append(lengths)
        self.ids.append(ids)

    def all(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(pointers, ids)."""
        return np.cumsum(np.concatenate(self.lengths)), np.concatenate(self.ids)


def embed(text: TextFields, encoder: Encoder, reuse: Reuse | None = None) -> EmbeddedChunks:
    """Embed the bag of words of every chunk, except the chunks that `reuse` has.

    Vectors and tokens are the same to the last bit whether they are computed or copied, and whichever chunks are
    embedded together.
    """
    reuse = reuse or Reuse([], [])
    parts = list(text.vocabulary.part_ids)
    pieces = _pieces(parts, encoder, reuse)
    splits = (*csr(text.vocabulary.word_parts), *csr(pieces))
    vectors = np.zeros((text.n_chunks, encoder.dimension), np.float32)
    bags = _Bags()
    # In slices, to bound the memory: a word expands to several tokens.
    for start in range(0, text.n_chunks, EMBED_SLICE):
        stop = min(start + EMBED_SLICE, text.n_chunks)
        new = np.ones(stop - start, np.bool_)
        found = []
        for source, at, chunks in reuse.of(start, stop):
            new[at] = False
            vectors[start + at] = source.vectors.take(chunks)
            if source.bags:
                found.append((at, *source.bags.take(chunks)))
        at = np.flatnonzero(new)
        if len(at):
            lengths, ids, counts = _tokens(text.embedded, start, new, splits)
            indptr = np.concatenate(([0], np.cumsum(lengths)))
            vectors[start + at] = encoder.encode_bags(indptr, ids.astype(np.int64), tf_weight(counts))[at]
            found.append((at, lengths[at], ids))
        bags.add(stop - start, found)
    return EmbeddedChunks(vectors, parts, pieces, *bags.all())


def _pieces(parts: list[str], encoder: Encoder, reuse: Reuse) -> list[list[int]]:
    known = {part: ids for part in parts if (ids := reuse.find(part)) is not None} if len(parts) <= FEW_PARTS else {}
    unknown = [part for part in parts if part not in known]
    known.update(zip(unknown, encoder.pieces(unknown) if unknown else [], strict=True))
    return [known[part] for part in parts]


def _tokens(
    embedded: Sparse,
    start: int,
    new: NDArray[np.bool_],
    splits: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Tokens of the new chunks from `start` on: (number of tokens of each, their ids, their counts)."""
    part_ptr, part_ids, piece_ptr, piece_ids = splits
    own = np.flatnonzero((embedded.row >= start) & (embedded.row < start + len(new)))
    own = own[new[embedded.row[own] - start]]
    words = Sparse(embedded.row[own] - np.int32(start), embedded.column[own], embedded.value[own])
    n_pieces = int(piece_ids.max()) + 1 if len(piece_ids) else 1
    summed = words.expand(part_ptr, part_ids).expand(piece_ptr, piece_ids).summed(n_pieces)
    return np.bincount(summed.row, minlength=len(new)), summed.column, summed.value


def copy_embedding(reuse: Reuse, dimension: int) -> EmbeddedChunks:
    """Copy the embedding of a segment whose chunks are all in older ones, with the parts of all the older segments.

    Raises:
        ValueError: A chunk is in no older segment.
    """
    n = len(reuse.rows[0]) if reuse.rows else 0
    bags = _Bags()
    for start in range(0, n, EMBED_SLICE):
        stop = min(start + EMBED_SLICE, n)
        found = reuse.of(start, stop)
        if sum(len(at) for _, at, _ in found) != stop - start:
            raise ValueError("a chunk to be copied is in no older segment")
        bags.add(stop - start, [(at, *source.bags.take(chunks)) for source, at, chunks in found if source.bags])
    known: dict[str, list[int]] = {}
    for source in reuse.sources:
        known = source.table.items() | known
    return EmbeddedChunks(_CopiedVectors(reuse, n, dimension), list(known), list(known.values()), *bags.all())


# --- models that read text --------------------------------------------------------------------------------------------


class VectorCache(Protocol):
    """Vectors by `vector_key`, as bytes: little-endian float32."""

    def get(self, keys: list[bytes], /) -> dict[bytes, bytes]:
        """The cached vectors, by key."""
        ...

    def put(self, items: Mapping[bytes, bytes], /) -> None:
        """Store vectors at once, so that they outlast a crash of this process."""
        ...


def vector_key(text: str, encoder_key: str) -> bytes:
    """The key of a text's vector, 20 bytes; `encoder_key` is the hash of the model."""
    digest = blake2b(encoder_key.encode("utf-8"), digest_size=20)
    digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def chunk_texts(rows: SegmentRows) -> Iterator[str]:
    """The text of each chunk for a model that reads text: path, kind and name of the definition, code."""
    number = 0
    for record in rows.records:
        for chunk in record.extract.chunks:
            unit = rows.units[rows.chunk_unit[number]]
            symbol = rows.symbols[unit.symbol] if unit.symbol >= 0 else None
            yield "\n".join(filter(None, (path_text(record.path), header_text(symbol), chunk.text)))
            number += 1


def _looked_up(
    rows: SegmentRows, encoder_key: str, cache: VectorCache
) -> Iterator[tuple[list[tuple[str, bytes]], dict[bytes, bytes]]]:
    """Slice by slice: the texts and keys of the chunks, and their cached vectors."""
    some: list[tuple[str, bytes]] = []
    total = len(rows.chunk_unit)
    for number, text in enumerate(chunk_texts(rows), 1):
        some.append((text, vector_key(text, encoder_key)))
        if len(some) == LOOKUP_SLICE or number == total:
            yield some, cache.get(list(dict.fromkeys(key for _, key in some)))
            some = []


def embed_texts(
    rows: SegmentRows, encoder: ContextualEncoder, report: Progress, cache: VectorCache
) -> NDArray[np.float32]:
    """Embed the texts of all chunks, except those whose vectors are cached: [chunks, dimension].

    New vectors are cached slice by slice.
    """
    total, size = len(rows.chunk_unit), 4 * encoder.dimension
    vectors = np.zeros((total, encoder.dimension), np.float32)
    waiting: dict[bytes, tuple[str, list[int]]] = {}
    done: dict[bytes, int] = {}  # keys embedded since the last look-up, with a chunk that has the vector
    number = 0

    def encode() -> None:
        if not waiting:
            return
        report("embed", number, total)
        found = encoder.encode_chunks([text for text, _ in waiting.values()])
        for vector, (key, (_, places)) in zip(found, waiting.items(), strict=True):
            vectors[places] = vector
            done[key] = places[0]
        cache.put(dict(zip(waiting, (vector.astype("<f4").tobytes() for vector in found), strict=True)))
        waiting.clear()

    for some, known in _looked_up(rows, encoder.sha256, cache):
        for text, key in some:
            vector = vectors[done[key]] if key in done else _vector(known.get(key), size)
            if vector is None:
                waiting.setdefault(key, (text, []))[1].append(number)
            else:
                vectors[number] = vector
            number += 1
            if len(waiting) == TEXT_SLICE:
                encode()
        done.clear()
    encode()
    return vectors


def _vector(data: bytes | None, size: int) -> NDArray[np.float32] | None:
    # A vector of another length, or with a NaN in it, is embedded again.
    if data is None or len(data) != size:
        return None
    vector = np.frombuffer(data, "<f4")
    return vector if np.isfinite(vector).all() else None
