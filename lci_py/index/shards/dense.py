"""The dense shards: a faiss index per segment over the vectors of chunks, with their units as ids.

A query is multiplied with every vector, which is exact and takes 10 ms for 100,000 chunks (docs/index-format.md); for
fewer, an approximate index would only lose recall. numpy is as fast as faiss, whose import takes as long as a query.
Products are summed in one fixed order, so that scores do not depend on the segment that a chunk is in.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.index.shards.vectors import open_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.numbering import Numbering


class DenseIndex:
    """Reader of the shards of all segments: chunks by slots, units by public numbers."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering, dimension: int) -> None:
        """Args:
        dimension: Length of a vector.
        """
        self._numbering = numbering
        self._files = [
            open_vectors(path, dimension=dimension, rows=counts["chunks"], units=counts["units"])
            for path, counts in zip(paths, numbering.counts, strict=True)
        ]
        self.chunks = numbering.total("chunks")
        self.units = numbering.total("units")
        self._file: NDArray[np.int64] | None = None

    @cached_property
    def _unit(self) -> NDArray[np.int64]:
        """The public unit of every slot; -1 if it is dead."""
        found: list[NDArray[Any]] = [np.zeros(0, np.int64)]
        for segment, file in enumerate(self._files):
            public = self._numbering.public_array("units", segment)
            found.append(file.units if public is None else public[file.units].astype(np.int64))
        return np.concatenate(found)

    def cosines(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of every chunk's vector with `query`, a vector of unit length: [slots of chunks]."""
        found = np.concatenate([np.zeros(0, np.float32), *(file.products(query) for file in self._files)])
        return np.asarray(np.fmax(found, np.float32(-1)))  # NaN counts as the smallest cosine

    def best(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """The largest of the `values` [slots of chunks] of each unit's chunks: [units]; -inf without chunks."""
        return self.best_of(slice(None), values)

    def best_of(self, slots: NDArray[np.int64] | slice, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """As `best`, for some chunks: `slots` [n] with `values` [n]; -inf for a unit without one of them."""
        found = np.full(self.units + 1, -np.inf, np.float32)  # the last one is for dead chunks
        np.maximum.at(found, self._unit[slots], values)
        return found[:-1]

    def slots(self, unit: int) -> NDArray[np.int64]:
        """The slots of a unit's chunks, ascending."""
        return np.flatnonzero(self._unit == unit)

    def slots_of(self, units: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The slots of the chunks of all units marked in `units`, [units]; ascending."""
        return np.flatnonzero(np.append(units, False)[self._unit])  # the last one is for dead chunks

    def of_files(self, values: NDArray[np.float32], unit_file: NDArray[np.int32], n_files: int) -> NDArray[np.float32]:
        """The sum of the values of each file's chunks, divided by the square root of their number: [files], 0 without
        chunks.

        Args:
            values: [slots of chunks]
            unit_file: [units] the file of each unit.
        """
        if self._file is None or len(self._file) != len(values):
            # The last number is for dead chunks.
            self._file = np.append(unit_file, n_files).astype(np.int64)[self._unit]
            self._roots = np.sqrt(np.maximum(np.bincount(self._file, minlength=n_files + 1), 1))
        # The chunks of a file follow each other in one segment, so they are always summed in the same order.
        sums = np.bincount(self._file, values, minlength=n_files + 1)
        return np.asarray((sums / self._roots)[:n_files], np.float32)
