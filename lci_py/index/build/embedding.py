"""Embeds the chunks of a segment (turns each chunk into a vector).

A model of bags of words embeds a chunk in 30 microseconds, less than writing the chunk takes. A model that reads text
takes a tenth of a second, so its vectors are cached by text (`VectorCache`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lci_py.embed.encoder import tf_weight
from lci_py.index.shards.term_counts import Sparse, csr
from lci_py.index.shards.text_fields import header_text, path_text
from lci_py.source.text import blake2b
from lci_py.types.record import dataclass

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

# --- models of bags ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class EmbeddedChunks:
    """The vectors and tokens of a segment's chunks, for the dense shard and the tokens shard."""

    vectors: NDArray[np.float32]  # [chunks, dimension]
    parts: list[str]
    pieces: list[list[int]]  # token ids of each part
    pointers: NDArray[np.int64]  # [chunks + 1] start of each chunk's distinct tokens in `ids`
    ids: NDArray[np.int32]


def embed(text: TextFields, encoder: Encoder) -> EmbeddedChunks:
    """Embed the bag of words of every chunk.

    The vector and tokens of a chunk do not depend, to the last bit, on the chunks that are embedded with it.
    """
    parts = list(text.vocabulary.part_ids)
    pieces = encoder.pieces(parts) if parts else []
    splits = (*csr(text.vocabulary.word_parts), *csr(pieces))
    vectors = np.zeros((text.n_chunks, encoder.dimension), np.float32)
    all_lengths, all_ids = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
    # In slices, to bound the memory: a word expands to several tokens.
    for start in range(0, text.n_chunks, EMBED_SLICE):
        stop = min(start + EMBED_SLICE, text.n_chunks)
        lengths, ids, counts = _tokens(text.embedded, start, stop, splits)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        vectors[start:stop] = encoder.encode_bags(indptr, ids.astype(np.int64), tf_weight(counts))
        all_lengths.append(lengths)
        all_ids.append(ids)
    return EmbeddedChunks(vectors, parts, pieces, np.cumsum(np.concatenate(all_lengths)), np.concatenate(all_ids))


def _tokens(
    embedded: Sparse,
    start: int,
    stop: int,
    splits: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The tokens of the chunks `start` to `stop` - 1, as (number of tokens of each chunk, token ids, token counts)."""
    part_ptr, part_ids, piece_ptr, piece_ids = splits
    own = np.flatnonzero((embedded.row >= start) & (embedded.row < stop))
    words = Sparse(embedded.row[own] - np.int32(start), embedded.column[own], embedded.value[own])
    n_pieces = int(piece_ids.max()) + 1 if len(piece_ids) else 1
    summed = words.expand(part_ptr, part_ids).expand(piece_ptr, piece_ids).summed(n_pieces)
    return np.bincount(summed.row, minlength=stop - start), summed.column, summed.value


# --- models that read text --------------------------------------------------------------------------------------------


class VectorCache(Protocol):
    """A cache of vectors under the key from `vector_key`; a vector is stored as little-endian float32."""

    def get(self, keys: list[bytes], /) -> dict[bytes, bytes]:
        """Maps each key that is in the cache to its vector, as bytes."""
        ...

    def put(self, items: Mapping[bytes, bytes], /) -> None:
        """Store vectors immediately, so that they outlast a crash of this process."""
        ...


def vector_key(text: str, encoder_key: str) -> bytes:
    """The cache key of a text's vector, 20 bytes; `encoder_key` is the hash of the model."""
    digest = blake2b(encoder_key.encode("utf-8"), digest_size=20)
    digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def chunk_texts(rows: SegmentRows) -> Iterator[str]:
    """The text of each chunk for a model that reads text: the path, the header of the definition, and the code."""
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
    """Yields slices of the chunks: a list of each chunk's (text, key), and a dict from key to cached vector."""
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
    """Embed the texts of all chunks, except texts whose vectors are cached: [chunks, dimension].

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
        new_vectors = encoder.encode_chunks([text for text, _ in waiting.values()])
        for vector, (key, (_, places)) in zip(new_vectors, waiting.items(), strict=True):
            vectors[places] = vector
            done[key] = places[0]
        cache.put(dict(zip(waiting, (vector.astype("<f4").tobytes() for vector in new_vectors), strict=True)))
        waiting.clear()

    for some, cached in _looked_up(rows, encoder.sha256, cache):
        for text, key in some:
            vector = vectors[done[key]] if key in done else _vector(cached.get(key), size)
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
