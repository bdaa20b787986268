"""The dense shards: for each segment, a faiss index of the vectors of chunks, with the units of the chunks as ids.

A query is multiplied with every vector. This is exact, and takes 10 ms for 100,000 chunks (docs/index-format.md); for
so few, an approximate index would only lose recall. numpy is as fast as faiss, whose import takes as long as a query.
Products are summed in one fixed order, so that scores do not depend on the segment that a chunk is in.

A file of vectors has the full form (faiss's `IndexIDMap` over an `IndexFlatIP`), or the compact form with a quarter of
the size, for large repositories (docs/adr/0030-large-repositories.md).

Importing faiss takes longer than a query or a small refresh, and faiss allocates as much memory as a header asks for.
So the bytes are written and read here, and a header must fit the size of the file. Numbers are little-endian: the outer
header (code `IxMp`, i4 dimension, i8 rows, two i8 that faiss fills with 1 << 20, u1 1, i4 0), the inner header (`IxFI`,
the same), u8 number of floats, the floats, u8 number of ids, the ids (i8). The checksums come after what faiss reads.

A compact file is a file of arrays (`arrays.py`): a row consists of 8-bit integers and a scale.
"""

from __future__ import annotations

import struct
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, ChecksummedFile, append_sums, map_file, write_arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.numbering import Numbering

_HEADER = struct.Struct("<4siqqqBi")
_COUNT = struct.Struct("<Q")
_OUTER, _INNER = b"IxMp", b"IxFI"
_FILLER = 1 << 20
_TRAINED, _INNER_PRODUCT = 1, 0
_VECTORS_AT = 2 * _HEADER.size + _COUNT.size
#: The ends of the names of the two kinds of files.
WHOLE, COMPACT = ".faiss", ".arrays"
#: The largest number in a row of a compact file.
_LARGEST = (1 << 7) - 1
#: Rows that are quantised at a time.
BLOCK = 8192
#: Rows that are multiplied at a time: more would not fit into the processor's cache.
_AT_A_TIME = 1024
#: Up to this many floats are kept as a copy from the second query on: 32 MB, or 43,000 chunks of 192 dimensions.
KEPT = 1 << 23


def _head(rows: int, dimension: int) -> bytes:
    fields = (dimension, rows, _FILLER, _FILLER, _TRAINED, _INNER_PRODUCT)
    return _HEADER.pack(_OUTER, *fields) + _HEADER.pack(_INNER, *fields) + _COUNT.pack(rows * dimension)


def write_dense(path: Path, vectors: NDArray[np.float32], units: NDArray[np.int64]) -> None:
    """Write the shard: row i of `vectors` [n, d] is a chunk of unit `units[i]`.

    Raises:
        OSError: The file cannot be written.
    """
    rows, dimension = vectors.shape
    with path.open("wb") as file:
        file.write(_head(rows, dimension))
        file.write(np.ascontiguousarray(vectors, "<f4").data)
        file.write(_COUNT.pack(rows))
        file.write(np.ascontiguousarray(units, "<i8").data)
    append_sums(path)


def write_compact(path: Path, vectors: NDArray[np.float32], units: NDArray[np.int64]) -> None:
    """Like `write_dense`, but in the compact form.

    Raises:
        OSError: The file cannot be written.
    """
    rows, dimension = vectors.shape
    codes, scales = np.empty((rows, dimension), np.int8), np.empty(rows, np.float32)
    for start in range(0, rows, BLOCK):
        some = slice(start, start + BLOCK)
        codes[some], scales[some] = _quantise(np.asarray(vectors[some], np.float32))
    arrays = {"codes": codes.reshape(-1).view(np.uint8), "scales": scales, "units": units.astype(np.int32)}
    write_arrays(path, {name: np.asarray(values) for name, values in arrays.items()})


def _quantise(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round rows to 8-bit integers; returns (integers [n, d], the scale of each row [n], 0 for a row of zeros)."""
    scales = np.abs(vectors).max(axis=1, initial=0) / np.float32(_LARGEST)
    codes = np.rint(vectors / np.where(scales > 0, scales, np.float32(1))[:, None])
    return codes.astype(np.int8), scales


class Vectors(Protocol):
    """Reads a file of vectors.

    Attributes:
        units: [rows] the unit of each row.
    """

    units: NDArray[np.int64]

    def products(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of each row with the query: [rows]. Equal rows have equal products."""


def open_vectors(path: Path, *, dimension: int, rows: int, units: int) -> Vectors:
    """Open a file of vectors in the full or the compact form. Arguments and errors are those of `VectorFile`."""
    kind = VectorFile if path.suffix == WHOLE else CompactFile
    return kind(path, dimension=dimension, rows=rows, units=units)


class CompactFile:
    """Reads a file in the compact form, which it maps into memory."""

    def __init__(self, path: Path, *, dimension: int, rows: int, units: int) -> None:
        """The arguments are those of `VectorFile`."""
        self.rows, self.dimension = rows, dimension
        self._arrays = Arrays(path)
        codes = self._arrays.array("codes", "u1", check=False)
        self._scales = self._arrays.array("scales", "f4")
        owners = self._arrays.array("units", "i4")
        if dimension <= 0 or rows < 0 or (len(codes), len(self._scales), len(owners)) != (rows * dimension, rows, rows):
            raise DamagedIndexError(f"{path.name}: not {rows} vectors of {dimension} dimensions")
        if rows and not 0 <= int(owners.min()) <= int(owners.max()) < units:
            raise DamagedIndexError(f"{path.name}: it names a unit that does not exist")
        self._codes = codes.view(np.int8).reshape(rows, dimension)
        self.units: NDArray[np.int64] = owners.astype(np.int64)

    def products(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of each row with the query: [rows]. Equal rows have equal products."""
        out = np.empty(self.rows, np.float32)
        space = np.empty((_AT_A_TIME, self.dimension), np.float32)
        for start in range(0, self.rows, _AT_A_TIME):
            stop = min(start + _AT_A_TIME, self.rows)
            self._arrays.check_items("codes", start * self.dimension, stop * self.dimension)
            some = space[: stop - start]
            some[:] = self._codes[start:stop]
            np.einsum("ij,j->i", some, query, out=out[start:stop])  # not `@`, as in `VectorFile`
        out *= self._scales
        return out


class VectorFile:
    """Reads a file in the full form, which it maps into memory."""

    def __init__(self, path: Path, *, dimension: int, rows: int, units: int) -> None:
        """Open a file and check its header.

        Args:
            dimension: The length of a vector.
            rows: The number of vectors.
            units: The number of units of the segment; every unit number is smaller.
        Raises:
            DamagedIndexError: The file is damaged, or has another dimension, or a unit out of range.
        """
        self.path, self.rows, self.dimension = path, rows, dimension
        if dimension <= 0 or rows < 0:
            raise DamagedIndexError(f"{path.name}: the manifest says {rows} rows of {dimension} dimensions")
        try:
            self._summed = ChecksummedFile(map_file(path), path.name)
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{path.name}: {error}") from error
        data = self._summed.content
        ids_at = _VECTORS_AT + 4 * rows * dimension
        if len(data) >= _HEADER.size and (header := _HEADER.unpack_from(data))[0] == _OUTER and header[1] != dimension:
            raise DamagedIndexError(f"{path.name}: {header[1]} dimensions, the manifest says {dimension}")
        if (
            len(data) != ids_at + _COUNT.size + 8 * rows
            or data[:_VECTORS_AT] != _head(rows, dimension)
            or data[ids_at : ids_at + _COUNT.size] != _COUNT.pack(rows)
        ):
            raise DamagedIndexError(f"{path.name}: not {rows} vectors of {dimension} dimensions")
        self._summed.check(ids_at)
        # As bytes: the floats start at an odd offset, where numpy gathers floats slowly.
        shape = (rows, 4 * dimension)
        self._raw = np.frombuffer(data, np.uint8, rows * 4 * dimension, _VECTORS_AT).reshape(shape)
        self._asked = False
        self._floats: NDArray[np.float32] | None = None
        self.units: NDArray[np.int64] = np.frombuffer(data, "<i8", rows, ids_at + _COUNT.size).astype(np.int64)
        if rows and not 0 <= int(self.units.min()) <= int(self.units.max()) < units:
            raise DamagedIndexError(f"{path.name}: it names a unit that does not exist")

    def products(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of each row with the query: [rows]. Equal rows have equal products."""
        if self._floats is None and self._asked and self.rows * self.dimension <= KEPT:
            self._floats = self._copy(0, self.rows)
        self._asked = True
        # Not `@`: BLAS sums in another order for the last rows of a block, and equal chunks must tie.
        if self._floats is not None:
            return np.asarray(np.einsum("ij,j->i", self._floats, query))
        out = np.empty(self.rows, np.float32)
        for start in range(0, self.rows, _AT_A_TIME):
            stop = min(start + _AT_A_TIME, self.rows)
            np.einsum("ij,j->i", self._copy(start, stop), query, out=out[start:stop])
        return out

    def _copy(self, start: int, stop: int) -> NDArray[np.float32]:
        width = 4 * self.dimension
        # Rows that are checked now are still in the processor's cache when they are copied.
        self._summed.check(_VECTORS_AT + start * width, _VECTORS_AT + stop * width)
        out = np.empty((stop - start, self.dimension), "<f4")
        out.view(np.uint8)[:] = self._raw[start:stop]
        return np.asarray(out, np.float32)


class DenseIndex:
    """Reads the dense shards of all segments. A chunk's number is its slot; units have public numbers."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering, dimension: int) -> None:
        """Open the shard of each segment; `dimension` is the length of a vector."""
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
        """The public number of the unit of every slot (chunk); -1 for a dead chunk."""
        parts: list[NDArray[Any]] = [np.zeros(0, np.int64)]
        for segment, file in enumerate(self._files):
            public = self._numbering.public_array("units", segment)
            parts.append(file.units if public is None else public[file.units].astype(np.int64))
        return np.concatenate(parts)

    def cosines(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of every chunk's vector with `query`, a vector of unit length: [slots of chunks]."""
        cosines = np.concatenate([np.zeros(0, np.float32), *(file.products(query) for file in self._files)])
        return np.asarray(np.fmax(cosines, np.float32(-1)))  # NaN counts as the smallest cosine

    def best(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each unit, the largest of `values` [slots of chunks] over its chunks: [units]; -inf for no chunks."""
        return self.best_of(slice(None), values)

    def best_of(self, slots: NDArray[np.int64] | slice, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Like `best`, over the chunks in `slots` [n] with `values` [n]; -inf for a unit without such a chunk."""
        best = np.full(self.units + 1, -np.inf, np.float32)  # the last one is for dead chunks
        np.maximum.at(best, self._unit[slots], values)
        return best[:-1]

    def slots(self, unit: int) -> NDArray[np.int64]:
        """The slots of a unit's chunks, ascending."""
        return np.flatnonzero(self._unit == unit)

    def slots_of(self, units: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The slots of the chunks of all units that are True in `units` [units]; ascending."""
        return np.flatnonzero(np.append(units, False)[self._unit])  # the last one is for dead chunks

    def of_files(self, values: NDArray[np.float32], unit_file: NDArray[np.int32], n_files: int) -> NDArray[np.float32]:
        """For each file, the sum of its chunks' values, divided by the square root of their number: [files]; 0 for a
        file without chunks.

        Args:
            values: [slots of chunks] a value for each chunk.
            unit_file: [units] the file of each unit.
        """
        if self._file is None or len(self._file) != len(values):
            # The last number is for dead chunks.
            self._file = np.append(unit_file, n_files).astype(np.int64)[self._unit]
            self._roots = np.sqrt(np.maximum(np.bincount(self._file, minlength=n_files + 1), 1))
        # The chunks of a file follow each other in one segment, so they are always summed in the same order.
        sums = np.bincount(self._file, values, minlength=n_files + 1)
        return np.asarray((sums / self._roots)[:n_files], np.float32)
