"""Turns the records of files (what was extracted from each file) into segments, with few chunks in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.index.build.merge_policy import MOST_SEGMENTS
from lci_py.index.shards.numbering import COUNTED
from lci_py.index.shards.segment_rows import number_rows
from lci_py.index.store.commit import Draft
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.index.build.merge_policy import SegmentState
    from lci_py.index.shards.files import FileState
    from lci_py.index.shards.term_counts import NumberedWords
    from lci_py.index.store.cache import Cache
    from lci_py.source.file_record import FileRecord

    Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Embedding:
    """The encoder that embeds chunks, and the cache of vectors for models that read text."""

    open_encoder: Callable[[], Encoder | ContextualEncoder]
    cache: Cache
    generation: int
    compact: bool = False  # whether vectors are written into compact files
    embedded: int = 0  # number of chunks that the model has embedded; equal texts count once

    def get(self, keys: list[bytes], /) -> dict[bytes, bytes]:
        """Maps each key that is in the cache to its vector, as bytes."""
        vectors = self.cache.get("vectors", keys)
        self.cache.touch("vectors", vectors, self.generation)
        return vectors

    def put(self, items: Mapping[bytes, bytes], /) -> None:
        """Cache new vectors."""
        self.embedded += len(items)
        self.cache.put("vectors", items, self.generation)


class SegmentWriter:
    """Takes the records of files in the order of their paths, and writes a segment whenever it has enough chunks."""

    def __init__(self, folder: Path, embedding: Embedding | None, report: Progress, max_chunks: int) -> None:
        """Write shards into `folder`. `report` is called with each stage; a segment has at most `max_chunks` chunks.
        Without `embedding`, a later run embeds the chunks.
        """
        self.segments: list[SegmentState] = []
        self._folder = folder
        self._embedding = embedding
        self._report = report
        self._max_chunks = max_chunks
        self._files: list[tuple[FileRecord, FileState]] = []
        self._numbered: NumberedWords | None = None  # of these files
        self._chunks = 0

    @property
    def embedded_chunks(self) -> int:
        """The number of chunks that were embedded, not counting chunks whose vectors were cached."""
        return self._embedding.embedded if self._embedding is not None else 0

    @cached_property
    def _encoder(self) -> Encoder | ContextualEncoder | None:
        return self._embedding.open_encoder() if self._embedding is not None else None

    @property
    def _words(self) -> NumberedWords:
        if self._numbered is None:
            # Imports numpy, which must not be loaded before the workers are forked.
            from lci_py.index.shards.term_counts import NumberedWords

            self._numbered = NumberedWords()
        return self._numbered

    def prepare(self) -> None:
        """Import and open what the writing of segments needs, while other processes extract the files."""
        from lci_py.embed.encoder import load_builtin
        from lci_py.index.build import write_segment  # noqa: F401

        if (encoder := self._encoder) is not None and not encoder.reads_text:
            load_builtin()
        _ = self._words

    def add(self, record: FileRecord, state: FileState) -> None:
        """Add a file: what was extracted from it (`record`), and its entry in the table of files (`state`)."""
        if self._files and self._chunks + len(record.extract.chunks) > self._max_chunks:
            self.flush()
        self._files.append((record, state))
        self._words.add(record.words)
        self._chunks += len(record.extract.chunks)

    def flush(self, *, fork: bool = False) -> None:
        """Write a segment of the files that were added since the last segment; for `fork`, see `write_segment`."""
        if not self._files:
            return
        import numpy as np

        from lci_py.index.build.merge_policy import SegmentState
        from lci_py.index.build.write_segment import write_segment

        files, self._files, self._chunks = self._files, [], 0
        words, self._numbered = self._words, None
        rows = number_rows([record for record, _ in files])
        folder = self._folder / f"segment-{len(self.segments)}"
        folder.mkdir()
        compact = self._embedding is not None and self._embedding.compact
        shards = write_segment(
            folder, rows, words, self._encoder, self._report, self._embedding, compact=compact, fork=fork
        )
        if self._embedding is not None and "tokens" in shards:
            self._embedding.embedded += len(rows.chunk_unit)
        owners: dict[str, Any] = {
            "symbols": rows.symbol_file, "units": [unit.file for unit in rows.units], "chunks": rows.chunk_file
        }  # fmt: skip
        sizes = {
            kind: np.bincount(np.array(owner, np.int64), minlength=len(files)).tolist()
            for kind, owner in owners.items()
        }
        counts = {"files": len(files), **{kind: len(owner) for kind, owner in owners.items()}}
        draft = Draft({kind: counts[kind] for kind in COUNTED}, shards)
        beyond = len(self.segments) - MOST_SEGMENTS // 2
        if beyond >= 0 and not beyond % 4:
            self._max_chunks *= 2
        self.segments.append(SegmentState(draft, [state for _, state in files], sizes, shards["symbols"]))
