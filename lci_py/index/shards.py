"""Write all shards of a build into its staging folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lci_py.embed.encoder import Encoder
from lci_py.index import fields
from lci_py.index.bm25 import write_lexical
from lci_py.index.dense import write_dense, write_tokens
from lci_py.index.graph import write_graph
from lci_py.index.late import write_token_bags
from lci_py.index.link import Linker
from lci_py.index.symbolic import write_symbolic

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.index.rows import Rows
    from lci_py.types import Skip

    Progress = Callable[[str, int, int], None]
    Shards = dict[str, tuple[Path, str]]


def write_shards(
    folder: Path, rows: Rows, skipped: list[Skip], encoder: Encoder | ContextualEncoder, report: Progress
) -> tuple[Shards, dict[str, int]]:
    """The shards (role -> path, suffix of its final name), and how many edges there are of each kind."""
    report("graph", 0, 0)
    linker = Linker()
    for record, test in zip(rows.records, rows.tests, strict=True):
        linker.add(record.path, test, record.extract)
    links = linker.finish()
    write_graph(folder / "graph.arrays", links)
    report("symbols", 0, 0)
    write_symbolic(folder / "symbols.sqlite", rows, skipped)
    shards = {
        "graph": (folder / "graph.arrays", ".arrays"),
        "symbols": (folder / "symbols.sqlite", ".sqlite"),
        "bm25": (folder / "bm25", ""),
        "dense": (folder / "dense.faiss", ".faiss"),
    }
    _write_text_shards(shards, folder, rows, encoder, report)
    return shards, links.edges_by_kind()


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
