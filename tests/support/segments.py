"""A repository in memory with an index in segments: only the parts that the call graph needs."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from pathlib import Path

import numpy as np

from lci_py.callgraph.edges import Links
from lci_py.callgraph.link import Linker
from lci_py.callgraph.relink import relink
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.callgraph_tables import SqlTables
from lci_py.index.shards.graph import read_links, stored_arrays, write_graph
from lci_py.index.shards.numbering import COUNTED, Numbering, number_slots
from lci_py.index.shards.segment_rows import SegmentRows, number_rows
from lci_py.index.shards.symbols_writer import write_symbolic
from lci_py.source.extract.extract import extract
from lci_py.source.file_record import FileRecord
from lci_py.source.syntax.languages import detect, is_test
from lci_py.types.edges import STORED
from lci_py.types.source import Extract
from tests.support.layout import row_sizes


@lru_cache(maxsize=5_000)
def extracted(path: str, text: str) -> Extract:
    data = text.encode()
    return extract(path, data, detect(path, data))


def full(files: dict[str, str]) -> Links:
    """The graph by a full link."""
    linker = Linker()
    for path in sorted(files):
        linker.add(path, is_test(path), extracted(path, files[path]))
    return linker.finish()


def assert_same(found: Links, wanted: Links) -> None:
    ours, theirs = stored_arrays(found), stored_arrays(wanted)
    assert ours.keys() == theirs.keys() > STORED.keys()
    for name, values in ours.items():
        assert values.dtype == theirs[name].dtype, name
        assert values.dtype.str[1:] in STORED.get(name, (values.dtype.str[1:],)), name
        assert np.array_equal(values, theirs[name]), name


def per_file(rows: SegmentRows, owners: list[int]) -> np.ndarray:
    return np.bincount(np.array(owners, np.int64), minlength=len(rows.records))


class Segmented:
    """An index that grows by one segment with each refresh, until they are merged."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.folder = folder
        self._serial = 0
        self._merge(files)
        self.links = self._stored(full(files))

    def _merge(self, files: dict[str, str]) -> None:
        self.files = dict(files)
        self._segments: list[SegmentRows] = []
        self._shards: list[sqlite3.Connection] = []
        self._homes: dict[str, int] = {}  # path -> segment
        self._append(files)
        self.tables = self._tables()

    def _append(self, files: dict[str, str]) -> None:
        records = []
        for path in sorted(files):
            found = extracted(path, files[path])
            digests = b"12345678" * len(found.chunks)
            records.append(FileRecord(path, 1, 1, "0", 1, found, (), (), b"", b"", digests))
            self._homes[path] = len(self._segments)
        rows = number_rows(records)
        write_symbolic(self._new_file("sqlite"), rows)
        self._segments.append(rows)
        self._shards.append(sqlite3.connect(self._last))

    def _new_file(self, suffix: str) -> Path:
        self._serial += 1
        self._last = self.folder / f"{self._serial}.{suffix}"
        return self._last

    def _tables(self) -> SqlTables:
        counts = [
            dict(zip(COUNTED, map(len, (rows.records, rows.symbols, rows.units, rows.chunk_unit)), strict=True))
            for rows in self._segments
        ]
        whole = len(counts) == 1 and len(self._homes) == counts[0]["files"]
        if whole:
            return SqlTables(self._shards, Numbering(counts))
        paths = [
            [record.path if self._homes.get(record.path) == segment else None for record in rows.records]
            for segment, rows in enumerate(self._segments)
        ]
        sizes = {
            "symbols": [per_file(rows, rows.symbol_file) for rows in self._segments],
            "units": [per_file(rows, [unit.file for unit in rows.units]) for rows in self._segments],
            "chunks": [per_file(rows, rows.chunk_file) for rows in self._segments],
        }
        write_arrays(self._new_file("arrays"), number_slots(paths) | row_sizes(sizes))
        return SqlTables(self._shards, Numbering(counts, Arrays(self._last)))

    def _stored(self, links: Links) -> Links:
        write_graph(self._new_file("arrays"), links)
        return read_links(self._last)

    def refresh(self, files: dict[str, str], *, bulk_share: float = 1.0, merge: bool = False) -> Links:
        """Bring the index to these files by a new segment, and the graph by `relink`."""
        before, old = sorted(self.files), self.tables
        now = sorted(files)
        changed = {path: text for path, text in files.items() if self.files.get(path) != text}
        if merge:
            self._merge(files)
        else:
            for path in self.files.keys() - files.keys():
                del self._homes[path]
            self._append(changed)
            self.files = dict(files)
            self.tables = self._tables()
        places = {path: place for place, path in enumerate(now)}
        moved = [-1 if path in changed else places.get(path, -1) for path in before]
        fresh = [places[path] for path in sorted(changed)]
        found = relink(self.links, old, self.tables, moved, fresh, bulk_share=bulk_share)
        self.links = self._stored(found)
        return found

    def relinked(self, files: dict[str, str]) -> set[str]:
        """Paths of the files that a refresh links anew; the outcome is checked against a full link."""
        found = self.refresh(files)
        assert_same(found, full(files))
        return {sorted(files)[file] for file in found.relinked}
