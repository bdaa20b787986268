"""Write all shards of a build into its staging folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lci_py.embed.encoder import Encoder
from lci_py.index import fields
from lci_py.index.bm25 import write_lexical
from lci_py.index.dense import write_dense, write_tokens
from lci_py.index.late import write_token_bags
from lci_py.index.symbolic import write_symbolic

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.index.rows import Rows

    Progress = Callable[[str, int, int], None]
    Shards = dict[str, tuple[Path, str]]


def write_segment(
    folder: Path, rows: Rows, encoder: Encoder | ContextualEncoder | None, report: Progress
) -> dict[str, Path]:
    """Write the shards of a segment into a folder; without an encoder, those that need none. Role -> path."""
    report("symbols", 0, 0)
    shards = {"symbols": folder / "symbols.sqlite"}
    write_symbolic(shards["symbols"], rows)
    _write_text_shards(shards, folder, rows, encoder, report)
    return shards


def _write_text_shards(
    shards: Shards, folder: Path, rows: Rows, encoder: Encoder | ContextualEncoder, report: Progress
) -> None:
    report("bm25", 0, 0)
    text = fields.text_fields(rows)
    (folder / "bm25").mkdir()
    write_lexical(folder / "bm25", text.terms, text.lexical, text.maps)
    text.lexical.clear()  # as large as everything that the embedding needs
    report("embed", 0, len(rows.chunk_unit))
    if isinstance(encoder, Encoder):
        embedded = fields.embed(text, encoder)
        vectors = embedded.vectors
        (folder / "tokens").mkdir()
        write_tokens(folder / "tokens", list(text.vocabulary.part_ids), embedded.pieces)
        write_token_bags(folder / "tokens", embedded.pointers, embedded.ids)
        shards["tokens"] = (folder / "tokens", "")
    else:
        vectors = fields.embed_texts(rows, encoder, report)
    write_dense(folder / "dense.faiss", vectors, np.array(rows.chunk_unit, np.int64))
