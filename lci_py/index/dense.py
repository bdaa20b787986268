"""The dense shards: a faiss index per segment over chunk vectors, whose ids are units (definitions or blocks).

Inner product with every vector: exact, and 16 ms at 200,000 chunks (docs/index-format.md). An approximate index is not
worth its recall below that size. faiss finds the candidates; their cosines are computed anew in one way, so that
neither a score nor an order depends on the segment that a chunk is in, nor on how faiss rounds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.vectors import VectorFile, write_dense

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.index.numbering import Numbering

__all__ = ["DenseIndex", "write_dense"]


class _Segment:
    """One segment's vectors, with public numbers."""

    def __init__(self, path: Path, numbering: Numbering, number: int, dimension: int) -> None:
        counts = numbering.counts[number]
        self.file = VectorFile(path, dimension=dimension, rows=counts["chunks"], units=counts["units"])
        public = numbering.public_array("units", number)
        self.chunks = numbering.public_array("chunks", number)
        #: Public unit of every row, -1 if it is dead.
        self.units: NDArray[Any] = self.file.units if public is None else public[self.file.units]
        self.alive = None if public is None or (self.units >= 0).all() else self.units >= 0
        self._faiss: Any = None
        self._whole: Any = None
        self._index: Any = None

    def _open(self) -> None:
        import faiss

        faiss.omp_set_num_threads(1)  # starting threads costs more than they save on one query
        # Mapped where faiss can do it: reading takes ten times as long as searching.
        flags = getattr(faiss, "IO_FLAG_MMAP_IFC", faiss.IO_FLAG_MMAP)
        try:
            self._whole = faiss.read_index(str(self.file.path), flags)
            self._index = faiss.downcast_index(self._whole.index)  # its ids are rows
        except (RuntimeError, AttributeError) as error:
            raise DamagedIndexError(f"{self.file.path.name}: faiss cannot read it") from error
        self._faiss = faiss

    def nearest(
        self, query: NDArray[np.float32], wanted: int, mask: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], float]:
        """Rows of (nearly) the largest inner products, and the bound that the others' stay below: -inf if there are
        no others."""
        if not self.file.rows:
            return np.zeros(0, np.int64), -np.inf
        if self._index is None:
            self._open()
        params = None
        if mask is not None:
            bitmap = np.packbits(mask, bitorder="little")
            selector = self._faiss.IDSelectorBitmap(bitmap)
            params = self._faiss.SearchParameters(sel=selector)
        scores, rows = self._index.search(query[None, :], wanted, params=params)
        found = rows[0] >= 0
        others = bool(found.all()) and wanted < self.file.rows
        # Both round: by no more than a unit in the last place of 1 per product and sum.
        bound = float(scores[0].min()) + 2 * self.file.dimension * 2.0**-24 if others else -np.inf
        return rows[0][found], bound


class _Probe:
    """How far one segment has been searched for one query."""

    def __init__(
        self, segment: _Segment, query: NDArray[np.float32], wanted: int, allowed: NDArray[np.bool_] | None
    ) -> None:
        self._segment, self._query = segment, query
        # A dead row's number is -1: the last of the mask.
        self._mask = segment.alive if allowed is None else allowed[segment.units]
        self._wanted = min(segment.file.rows, wanted)
        self._search()

    def _search(self) -> None:
        rows, self.bound = self._segment.nearest(self._query, self._wanted, self._mask)
        self.units = self._segment.units[rows]
        self.cosines = self._segment.file.cosines(self._query, rows)

    def more(self) -> None:
        self._wanted = min(self._segment.file.rows, 4 * self._wanted)
        self._search()


class DenseIndex:
    """Reader of the shards of all segments, in public numbers."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering, dimension: int) -> None:
        """
        Args:
            paths: The shard of every segment.
            numbering: Of the segments.
            dimension: Of the vectors.
        Raises:
            DamagedIndexError: A shard is not what was written, or does not belong to the numbering.
        """
        if len(paths) != len(numbering.counts):
            raise DamagedIndexError(f"{len(paths)} dense shards of {len(numbering.counts)} segments")
        self._segments = [_Segment(path, numbering, i, dimension) for i, path in enumerate(paths)]
        self._units = numbering.total("units")
        self._rows = sum(segment.file.rows for segment in self._segments)
        self.chunks = numbering.total("chunks")

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best units by their best chunk's cosine.

        Args:
            query: [d], unit length.
            limit: Units wanted; all of them if larger than the corpus.
            allowed: [units] mask; others are left out before ranking, not after.
        Returns:
            (units, cosines) of at most `limit` units: best first, ties by unit number.
        """
        if allowed is not None:
            allowed = np.append(allowed, False)
        probes = [
            # A segment's share and some more: it is asked again if it turns out to have the best.
            _Probe(segment, query, (2 * limit + 16) * segment.file.rows // self._rows + 64, allowed)
            for segment in self._segments
            if segment.file.rows
        ]
        while True:
            units = np.concatenate([np.zeros(0, np.int64), *(probe.units for probe in probes)])
            cosines = np.concatenate([np.zeros(0, np.float32), *(probe.cosines for probe in probes)])
            order = np.lexsort((units, -cosines))
            units, cosines = units[order], cosines[order]
            _, first = np.unique(units, return_index=True)
            first.sort()
            units, cosines = units[first][:limit], cosines[first][:limit]
            # What a segment has not named may be as close as the bound: a better or an equal one must not be missed.
            worst = float(cosines[-1]) if len(units) == limit and limit else -np.inf
            short = [probe for probe in probes if probe.bound >= worst and probe.bound > -np.inf]
            if not short or not limit:
                return units, cosines
            for probe in short:
                probe.more()

    def chunks_of(
        self, query: NDArray[np.float32], units: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Every chunk of the units: (chunk numbers, positions in `units`, cosines), chunks ascending."""
        position = np.full(self._units + 1, -1, np.int64)  # the last is that of dead rows
        position[units] = np.arange(len(units))
        chunks, places, cosines = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        for segment in self._segments:
            place = position[segment.units]
            rows = np.flatnonzero(place >= 0)
            chunks.append(rows if segment.chunks is None else segment.chunks[rows].astype(np.int64))
            places.append(place[rows])
            cosines.append(segment.file.cosines(query, rows))
        found, place, cosine = np.concatenate(chunks), np.concatenate(places), np.concatenate(cosines)
        if len(found) and int(found.min()) < 0:
            raise DamagedIndexError("the numbering has a living unit with a dead chunk")
        order = np.argsort(found, kind="stable")
        return found[order], place[order], cosine[order]
