"""The lexical shard: BM25 over four fields, each a bm25s index, with one shared vocabulary.

`content` ranks chunks, `names` definitions, `paths` and `files` whole files. Term weights are computed here in one
vectorised pass over the bags of words (bm25s counts tokens in a Python loop) and stored in bm25s's own files; the
reader sums the columns itself, because importing bm25s costs more than a query. A test holds both to bm25s's answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.bags import Sparse
from lci_py.index.strings import StringTable, load_array, sorted_order, write_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    _Field = tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], int]

#: Length normalisation differs by field: a long name or path is no less relevant for being long.
FIELDS: dict[str, tuple[float, float]] = {  # field -> (k1, b)
    "content": (1.5, 0.75),
    "names": (0.8, 0.4),
    "paths": (0.8, 0.3),
    "files": (2.0, 0.6),
}
_DATA, _INDICES, _INDPTR = "data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy"


def bm25_matrix(bags: Sparse, n_rows: int, n_terms: int, k1: float, b: float) -> dict[str, NDArray[np.generic]]:
    """Score of every (row, term), as CSC arrays.

    Args:
        bags: Term counts (weighted counts are fine); repeated coordinates add up.
        n_rows: Number of documents, those without a term included.
        n_terms: Size of the vocabulary.
        k1: Saturation of repeated terms, > 0.
        b: Strength of length normalisation, 0 to 1.
    Returns:
        data [nnz] float32, indices [nnz] int32 (rows, ascending within a term), indptr [n_terms + 1] int64.
    Source:
        Robertson and Zaragoza, FnTIR 3(4), 2009, in Lucene's variant: idf = ln(1 + (N - df + 0.5) / (df + 0.5)),
        tf / (k1 (1 - b + b l / l_avg) + tf).
    """
    summed = bags.summed(n_terms, by_column=True)
    lengths = np.bincount(summed.row, weights=summed.value, minlength=max(n_rows, 1))
    mean = lengths.sum() / max(n_rows, 1) or 1.0
    df = np.bincount(summed.column, minlength=n_terms)
    idf = np.log(1.0 + (n_rows - df + 0.5) / (df + 0.5))
    norm = k1 * (1.0 - b + b * lengths / mean)
    data = idf[summed.column] * summed.value / (norm[summed.row] + summed.value)
    indptr = np.zeros(n_terms + 1, np.int64)
    np.cumsum(df, out=indptr[1:])
    return {"data": data.astype(np.float32), "indices": summed.row.astype(np.int32), "indptr": indptr}


def write_lexical(
    folder: Path, terms: Sequence[str], fields: Mapping[str, tuple[Sparse, int]], maps: Mapping[str, NDArray[np.int32]]
) -> None:
    """Write the shard.

    Args:
        folder: A new folder.
        terms: The vocabulary; a term's position is its column.
        fields: For each of `FIELDS`: its bags over `terms`, and its number of rows.
        maps: `chunk_unit` and `unit_file`: row numbers of one field in terms of another.
    """
    from bm25s import BM25

    order = sorted_order(terms)
    column = np.empty(len(terms), np.int32)
    column[order] = np.arange(len(terms))
    write_strings(folder, "terms", [terms[i] for i in order])
    for name, values in maps.items():
        np.save(folder / f"{name}.npy", values.astype(np.int32), allow_pickle=False)
    for name, (k1, b) in FIELDS.items():
        bags, n_rows = fields[name]
        retriever = BM25(method="lucene", k1=k1, b=b, backend="numpy", csc_backend="numpy")
        bags = Sparse(bags.row, column[bags.column], bags.value)
        retriever.scores = {**bm25_matrix(bags, n_rows, len(terms), k1, b), "num_docs": n_rows}
        retriever.vocab_dict = {}  # ours is terms.bin, which needs no parsing to look up a word
        retriever.nonoccurrence_array = None
        retriever.save(folder / name, show_progress=False, allow_pickle=False)


class LexicalIndex:
    """Reader of the shard. Arrays are memory-mapped; a query touches only its own terms' columns."""

    def __init__(self, folder: Path, *, files: int | None = None) -> None:
        """Open the shard. `files` is the number of files: the last ones may have no unit, and so are in no map."""
        self.folder = folder
        try:
            self._terms = StringTable(folder, "terms")
            self.chunk_unit = np.asarray(self._array("chunk_unit.npy", np.int32))
            self.unit_file = np.asarray(self._array("unit_file.npy", np.int32))
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{folder.name}: {error}") from error
        self.n_files = files if files is not None else int(self.unit_file.max(initial=-1)) + 1
        self._fields: dict[str, _Field] = {}

    def _array(self, name: str, dtype: type[np.generic]) -> Any:
        return load_array(self.folder / name, dtype)

    def _field(self, name: str) -> _Field:
        found = self._fields.get(name)
        if found is None:
            rows = {
                "content": len(self.chunk_unit),
                "names": len(self.unit_file),
            }.get(name, self.n_files)
            try:
                data = self._array(f"{name}/{_DATA}", np.float32)
                indices = self._array(f"{name}/{_INDICES}", np.int32)
                indptr = self._array(f"{name}/{_INDPTR}", np.int64)
            except (OSError, ValueError) as error:
                raise DamagedIndexError(f"{self.folder.name}: {error}") from error
            if len(indptr) != len(self._terms) + 1 or int(indptr[-1]) != len(data) or len(data) != len(indices):
                raise DamagedIndexError(f"{self.folder.name}: the arrays of {name} do not fit together")
            found = self._fields[name] = (data, indices, indptr, rows)
        return found

    def term(self, text: str) -> int:
        """The term's column, -1 if no text in the index has it."""
        return self._terms.find(text)

    def scores(self, field: str, terms: Iterable[tuple[int, float]]) -> NDArray[np.float32]:
        """Sum of the weighted BM25 scores of the terms, for every row of the field: [rows] float32."""
        data, indices, indptr, rows = self._field(field)
        out = np.zeros(rows, np.float32)
        for term, weight in terms:
            start, stop = int(indptr[term]), int(indptr[term + 1])
            if stop > start:
                where = indices[start:stop]
                if int(where[-1]) >= rows or int(where[0]) < 0:
                    raise DamagedIndexError(f"{self.folder.name}: {field} names a row that does not exist")
                out[where] += np.float32(weight) * data[start:stop]
        return out

    def rows(self, field: str, term: int) -> NDArray[np.int32]:
        """The rows that hold a term: its posting list."""
        _, indices, indptr, _ = self._field(field)
        return indices[int(indptr[term]) : int(indptr[term + 1])]
