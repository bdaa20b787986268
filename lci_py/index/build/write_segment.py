"""Writes all shards of a segment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lci_py.embed.encoder import Encoder
from lci_py.index.build import embedding
from lci_py.index.shards import text_fields
from lci_py.index.shards.bm25 import write_lexical
from lci_py.index.shards.dense import COMPACT, WHOLE, write_compact, write_dense
from lci_py.index.shards.symbols_writer import write_symbolic
from lci_py.index.shards.term_counts import csr
from lci_py.index.shards.tokens import write_tokens
from lci_py.index.shards.unit_columns import write_unit_columns
from lci_py.processes import ForkedComputation

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.index.build.embedding import VectorCache
    from lci_py.index.shards.segment_rows import SegmentRows
    from lci_py.index.shards.term_counts import NumberedWords
    from lci_py.index.shards.text_fields import TextFields

    Progress = Callable[[str, int, int], None]


def write_segment(
    folder: Path,
    rows: SegmentRows,
    words: NumberedWords,
    encoder: Encoder | ContextualEncoder | None,
    report: Progress,
    cache: VectorCache | None,
    *,
    compact: bool = False,
    fork: bool = False,
) -> dict[str, Path]:
    """Write the shards of a segment; returns a dict from the role of each shard to its path.

    Args:
        folder: The folder for the shards.
        rows: The segment's files, symbols, units and chunks.
        words: The words of these files.
        encoder: Embeds the chunks; without an encoder or a cache, the shards with embeddings are not written.
        report: Called with each stage.
        cache: The cached vectors of a model that reads text.
        compact: Write the vectors in the compact form (8-bit integers).
        fork: Write the other shards in another process at the same time. The calling process must have no threads.
    """
    report("symbols", 0, 0)
    shards = {role: folder / f"{role}.arrays" for role in ("bm25", "facts")}
    shards["symbols"] = folder / "symbols.sqlite"

    def symbols_and_words() -> None:
        shards["symbols"].unlink(missing_ok=True)  # what a process has left that failed
        write_symbolic(shards["symbols"], rows)

    meanwhile = ForkedComputation(symbols_and_words, fork=fork)
    if not fork:
        meanwhile.result()
    write_unit_columns(shards["facts"], rows)
    report("bm25", 0, 0)
    text = text_fields.text_fields(rows, words)
    vocabulary = text.vocabulary
    terms, word_terms = list(vocabulary.term_ids), csr(vocabulary.word_terms)
    write_lexical(shards["bm25"], terms, word_terms, text.lexical, text.maps, text.n_files)
    text.lexical.clear()  # frees as much memory as the embedding needs
    if encoder is not None and cache is not None:
        report("embed", 0, len(rows.chunk_unit))
        shards |= _write_embeddings(folder, rows, text, encoder, report, cache, compact=compact)
    if fork:
        meanwhile.result()
    return shards


def _write_embeddings(
    folder: Path,
    rows: SegmentRows,
    text: TextFields,
    encoder: Encoder | ContextualEncoder,
    report: Progress,
    cache: VectorCache,
    *,
    compact: bool,
) -> dict[str, Path]:
    """Write the shards with embeddings. The arguments and the result are like those of `write_segment`."""
    units = np.array(rows.chunk_unit, np.int64)
    shards = {"dense": folder / f"dense{COMPACT if compact else WHOLE}"}
    write = write_compact if compact else write_dense
    if isinstance(encoder, Encoder):
        embedded = embedding.embed(text, encoder)
        write(shards["dense"], embedded.vectors, units)
        shards["tokens"] = folder / "tokens.arrays"
        write_tokens(shards["tokens"], embedded.parts, embedded.pieces, embedded.pointers, embedded.ids)
    else:
        write(shards["dense"], embedding.embed_texts(rows, encoder, report, cache), units)
    return shards
