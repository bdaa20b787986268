"""From the records of files to the shards of segments, a bounded number of chunks at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.index.numbering import COUNTED
from lci_py.index.rows import number
from lci_py.index.store import Draft

if TYPE_CHECKING:
    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.index.files import Known
    from lci_py.index.parts import Part
    from lci_py.source.worker import FileRecord

    Progress = Callable[[str, int, int], None]

#: Memory of a run is that of so many chunks at a time.
SEGMENT_CHUNKS = 50_000


@dataclass(slots=True)
class Tally:
    """What the manifest counts, of some files; adding up what came and subtracting what went gives that of all."""

    files_by_language: Counter[str] = field(default_factory=Counter)
    symbols_by_kind: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)  # of `COUNTED`, bytes_read, files_with_errors

    def add(self, record: FileRecord, units: int) -> None:
        found = record.extract
        self.files_by_language[found.language] += 1
        self.symbols_by_kind.update(symbol.kind for symbol in found.symbols)
        self.numbers.update(
            files=1, symbols=len(found.symbols), units=units, chunks=len(found.chunks), bytes_read=record.size,
            files_with_errors=int(found.has_errors),
        )  # fmt: skip


class SegmentWriter:
    """Takes records in the order of their paths, and writes a segment whenever enough have come together."""

    def __init__(
        self,
        folder: Path,
        encoder: Callable[[], Encoder | ContextualEncoder] | None,
        report: Progress,
        most: int = SEGMENT_CHUNKS,
    ) -> None:
        """
        Args:
            folder: Where the shards go.
            encoder: Makes the encoder; None leaves the embedding for later.
            report: Told the stages.
            most: Chunks of a segment.
        """
        self.parts: list[Part] = []
        self.embedded_chunks = 0
        self._folder = folder
        self._open_encoder = encoder
        self._report = report
        self._most = most
        self._records: list[FileRecord] = []
        self._known: list[Known] = []
        self._chunks = 0

    @cached_property
    def _encoder(self) -> Encoder | ContextualEncoder | None:
        return self._open_encoder() if self._open_encoder is not None else None

    def add(self, record: FileRecord, known: Known) -> None:
        """Take a file."""
        if self._records and self._chunks + len(record.extract.chunks) > self._most:
            self.flush()
        self._records.append(record)
        self._known.append(known)
        self._chunks += len(record.extract.chunks)

    def flush(self) -> None:
        """Write what has come together."""
        if not self._records:
            return
        import numpy as np

        from lci_py.index.parts import Part
        from lci_py.index.shards import write_segment

        records, files = self._records, self._known
        self._records, self._known, self._chunks = [], [], 0
        rows = number(records)
        folder = self._folder / f"segment-{len(self.parts)}"
        folder.mkdir()
        shards = write_segment(folder, rows, self._encoder, self._report)
        if self._encoder is not None:
            self.embedded_chunks += len(rows.chunk_unit)
        n = len(records)
        owners: dict[str, Any] = {
            "symbols": rows.symbol_file, "units": [unit.file for unit in rows.units], "chunks": rows.chunk_file
        }  # fmt: skip
        sizes = {
            kind: np.bincount(np.array(owner, np.int64), minlength=n).astype(np.int32) for kind, owner in owners.items()
        }
        counts = {"files": n, **{kind: len(owner) for kind, owner in owners.items()}}
        draft = Draft({kind: counts[kind] for kind in COUNTED}, shards)
        self.parts.append(Part(draft, list(files), sizes, shards["symbols"]))
