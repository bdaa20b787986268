"""The dense shard: a faiss index over chunk vectors, whose ids are units (definitions or blocks).

Inner product with every vector: exact, and 16 ms at 200,000 chunks (docs/index-format.md). An approximate index is not
worth its recall below that size.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError
from lci_py.index.strings import StringTable, load_array, sorted_order, write_strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


def write_dense(path: Path, vectors: NDArray[np.float32], units: NDArray[np.int64]) -> None:
    """Write the shard: row i of `vectors` [n, d] is a chunk of unit `units[i]`."""
    import faiss

    index = faiss.IndexIDMap(faiss.IndexFlatIP(vectors.shape[1]))
    if len(vectors):
        index.add_with_ids(vectors, units)
    faiss.write_index(index, str(path))


def write_tokens(folder: Path, parts: Sequence[str], pieces: Sequence[Sequence[int]]) -> None:
    """Write the token ids of every identifier part of the repository: a query's words are mostly among them, and
    looking them up is faster than starting the tokenizer."""
    import numpy as np

    order = sorted_order(parts)
    write_strings(folder, "parts", [parts[i] for i in order])
    pointers = np.zeros(len(order) + 1, np.int64)
    np.cumsum([len(pieces[i]) for i in order], out=pointers[1:])
    np.save(folder / "pointers.npy", pointers, allow_pickle=False)
    np.save(folder / "pieces.npy", np.array([p for i in order for p in pieces[i]], np.int32), allow_pickle=False)


class TokenTable:
    """Reader of the token ids."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        try:
            self._parts = StringTable(folder, "parts")
            self._pointers: Any = load_array(folder / "pointers.npy", np.int64)
            self._pieces: Any = load_array(folder / "pieces.npy", np.int32)
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{folder.name}: {error}") from error
        if len(self._pointers) != len(self._parts) + 1 or int(self._pointers[-1]) != len(self._pieces):
            raise DamagedIndexError(f"{folder.name}: its arrays do not fit together")

    def find(self, part: str) -> list[int] | None:
        """Token ids of a part, None if the repository does not have it."""
        index = self._parts.find(part)
        if index < 0:
            return None
        return [int(piece) for piece in self._pieces[int(self._pointers[index]) : int(self._pointers[index + 1])]]


class DenseIndex:
    """Reader of the shard."""

    def __init__(self, path: Path, *, units: int, dimension: int) -> None:
        import faiss

        faiss.omp_set_num_threads(1)  # starting threads costs more than they save on one query
        try:
            self._index: Any = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
        except RuntimeError as error:
            raise DamagedIndexError(f"{path.name}: faiss cannot read it") from error
        if self._index.d != dimension:
            raise DamagedIndexError(f"{path.name}: {self._index.d} dimensions, the manifest says {dimension}")
        self._faiss: Any = faiss
        self._units = units
        self._ids: NDArray[np.int64] | None = None

    def search(
        self, query: NDArray[np.float32], limit: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The best units by their best chunk's cosine.

        Args:
            query: [d], unit length.
            limit: Units wanted; all of them if larger than the corpus.
            allowed: [units] mask; others are left out before ranking, not after.
        Returns:
            (units, cosines): best first, ties by unit number. Every unit whose cosine equals the last one's is
            included, so that the head does not depend on `limit`.
        """
        import numpy as np

        total = int(self._index.ntotal)
        params = None
        if allowed is not None:
            bitmap = np.packbits(allowed, bitorder="little")
            selector = self._faiss.IDSelectorBitmap(bitmap)
            params = self._faiss.SearchParameters(sel=selector)
        wanted = min(total, 2 * limit + 16)
        while True:
            scores, ids = self._index.search(query[None, :], max(wanted, 1), params=params)
            found = ids[0] >= 0
            units, cosines = ids[0][found], scores[0][found]
            if len(units) and int(units.max()) >= self._units:
                raise DamagedIndexError("the dense shard names a unit that does not exist")
            order = np.lexsort((units, -cosines))
            units, cosines = units[order], cosines[order]
            _, first = np.unique(units, return_index=True)
            first.sort()
            # faiss cuts ties at `wanted` arbitrarily: what ties with its last hit is certain only if more follow.
            complete = not found.all() or wanted >= total
            certain = first if complete else first[cosines[first] > cosines[-1]]
            if complete or len(certain) >= limit:
                return units[certain], cosines[certain]
            wanted = min(total, wanted * 4)

    def chunks_of(
        self, query: NDArray[np.float32], units: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Every chunk of the units: (chunk numbers, positions in `units`, cosines). `units` ascend."""
        import numpy as np

        total, dimension = int(self._index.ntotal), int(self._index.d)
        if total == 0 or len(units) == 0:
            none = np.zeros(0, np.int64)
            return none, none, np.zeros(0, np.float32)
        if self._ids is None:
            self._ids = self._faiss.vector_to_array(self._index.id_map)
        flat = self._faiss.downcast_index(self._index.index)
        vectors = self._faiss.rev_swig_ptr(flat.get_xb(), total * dimension).reshape(total, dimension)
        place = np.searchsorted(units, self._ids)
        place[place == len(units)] = 0
        rows = np.flatnonzero(units[place] == self._ids)
        # Not `@`: BLAS adds up in another order for the last rows of a block, and equal chunks must tie.
        return rows, place[rows], np.einsum("ij,j->i", vectors[rows], query)

    @property
    def chunks(self) -> int:
        return int(self._index.ntotal)
