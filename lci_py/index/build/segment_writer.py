"""Turns the records of files into segments, with a bounded number of chunks in memory."""

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
    from lci_py.index.build.embedding import Reuse
    from lci_py.index.build.merge_policy import SegmentState
    from lci_py.index.build.write_segment import FileData
    from lci_py.index.shards.files import FileState
    from lci_py.index.shards.segment_rows import SegmentRows
    from lci_py.index.store.cache import Cache
    from lci_py.source.file_record import FileRecord

    Progress = Callable[[str, int, int], None]
    Source = tuple[SegmentState, int]  # a segment, and a file's number in it


@dataclass(slots=True)
class Embedding:
    """The encoder of chunks, and the cache of vectors of models that read text."""

    open_encoder: Callable[[], Encoder | ContextualEncoder]
    dimension: int  # of the vectors of older segments
    cache: Cache
    generation: int
    compact: bool = False  # whether vectors are written into compact files
    embedded: int = 0  # number of texts that the model has embedded

    def get(self, keys: list[bytes], /) -> dict[bytes, bytes]:
        """The cached vectors, by key."""
        found = self.cache.get("vectors", keys)
        self.cache.touch("vectors", found, self.generation)
        return found

    def put(self, items: Mapping[bytes, bytes], /) -> None:
        """Cache new vectors."""
        self.embedded += len(items)
        self.cache.put("vectors", items, self.generation)


class SegmentWriter:
    """Takes records in the order of their paths, and writes a segment whenever it has enough chunks."""

    def __init__(self, folder: Path, embedding: Embedding | None, report: Progress, most: int) -> None:
        """Args:
        folder: For the shards.
        embedding: None leaves the embedding to a later run.
        report: Called with each stage.
        most: The maximum number of chunks per segment.
        """
        self.segments: list[SegmentState] = []
        self._bags_embedded = 0
        self._folder = folder
        self._embedding = embedding
        self._report = report
        self._most = most
        self._files: list[tuple[FileRecord, FileState, Source | None]] = []
        self._collected: FileData | None = None  # of these files
        self._chunks = 0

    @property
    def embedded_chunks(self) -> int:
        """The number of chunks that were embedded rather than copied."""
        return self._bags_embedded + (self._embedding.embedded if self._embedding is not None else 0)

    @cached_property
    def _encoder(self) -> Encoder | ContextualEncoder | None:
        return self._embedding.open_encoder() if self._embedding is not None else None

    @property
    def _gather(self) -> FileData:
        if self._collected is None:
            # Imports numpy, which must not be loaded before the workers are forked.
            from lci_py.index.build.write_segment import FileData

            self._collected = FileData()
        return self._collected

    def prepare(self) -> None:
        """Import and open what writing needs, while other processes extract the files."""
        from lci_py.embed.encoder import load_builtin
        from lci_py.index.build import embedding  # noqa: F401

        if (encoder := self._encoder) is not None and not encoder.reads_text:
            load_builtin()
        _ = self._gather

    def add(self, record: FileRecord, known: FileState, source: Source | None = None) -> None:
        """Add a file; `source` is an older segment with the same content, and the file's number there."""
        if self._files and self._chunks + len(record.extract.chunks) > self._most:
            self.flush()
        self._files.append((record, known, source))
        self._gather.add(record)
        self._chunks += len(record.extract.chunks)

    def flush(self, *, fork: bool = False) -> None:
        """Write the files that were added since the last segment; `fork` as in `write_segment`."""
        if not self._files:
            return
        import numpy as np

        from lci_py.index.build.merge_policy import SegmentState
        from lci_py.index.build.write_segment import write_segment

        files, self._files, self._chunks = self._files, [], 0
        gathered, self._collected = self._gather, None
        rows = number_rows([record for record, _, _ in files])
        folder = self._folder / f"segment-{len(self.segments)}"
        folder.mkdir()
        reuse = self._reuse(rows, [source for _, _, source in files])
        compact = self._embedding is not None and self._embedding.compact
        shards = write_segment(
            folder, rows, gathered, self._encoder, self._report, reuse, self._embedding, compact=compact, fork=fork
        )
        if self._embedding is not None and "tokens" in shards:
            self._bags_embedded += len(rows.chunk_unit) - reuse.chunks
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
            self._most *= 2
        self.segments.append(SegmentState(draft, [known for _, known, _ in files], sizes, shards["symbols"]))

    def _reuse(self, rows: SegmentRows, sources: list[Source | None]) -> Reuse:
        """The chunks whose vectors older segments have."""
        import numpy as np

        from lci_py.index.build.embedding import Embeddings, Reuse

        if self._embedding is None:
            return Reuse([], [])
        embedded = [item for item in sources if item is not None and "dense" in item[0].segment.shards]
        segments = list({id(state): state for state, _ in embedded}.values())
        found = {id(state): np.full(len(rows.chunk_unit), -1, np.int64) for state in segments}
        chunk = 0
        for record, source in zip(rows.records, sources, strict=True):
            n = len(record.extract.chunks)
            if source is not None and id(source[0]) in found and source[0].sizes["chunks"][source[1]] == n:
                first = source[0].first("chunks", source[1])
                found[id(source[0])][chunk : chunk + n] = np.arange(first, first + n)
            chunk += n
        embeddings = [
            Embeddings(
                state.path("dense"),
                state.path("tokens") if "tokens" in state.segment.shards else None,
                dimension=self._embedding.dimension,
                counts=state.segment.counts,
            )
            for state in segments
        ]
        return Reuse(embeddings, [found[id(state)] for state in segments])
