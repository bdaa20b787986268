"""Bags of words as sparse arrays, and the vocabularies they use. One splitting of each word serves all shards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from lci_py.source.words import joined, parts, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lci_py.source.worker import FileRecord


@dataclass(slots=True)
class Sparse:
    """Coordinates of a matrix: `value[i]` at (`row[i]`, `column[i]`); repeated coordinates add up."""

    row: NDArray[np.int32]
    column: NDArray[np.int32]
    value: NDArray[np.float32]

    @classmethod
    def concat(cls, *items: Sparse) -> Sparse:
        return cls(
            np.concatenate([item.row for item in items]),
            np.concatenate([item.column for item in items]),
            np.concatenate([item.value for item in items]),
        )

    def map_rows(self, mapping: NDArray[np.int32]) -> Sparse:
        """The same entries under other row numbers: chunk to file, for instance."""
        return Sparse(mapping[self.row], self.column, self.value)

    def scaled(self, factor: float) -> Sparse:
        return Sparse(self.row, self.column, self.value * np.float32(factor))

    def expand(self, indptr: NDArray[np.int64], targets: NDArray[np.int32]) -> Sparse:
        """Replace each column c by the columns `targets[indptr[c]:indptr[c + 1]]`."""
        counts = indptr[self.column + 1] - indptr[self.column]
        ends = np.cumsum(counts)
        # Position of each new entry in `targets`: a running number, shifted at the start of each old entry.
        positions = np.arange(int(ends[-1]) if len(ends) else 0)
        positions += np.repeat(indptr[self.column] - (ends - counts), counts)
        return Sparse(np.repeat(self.row, counts), targets[positions], np.repeat(self.value, counts))

    def summed(self, n_columns: int, *, by_column: bool) -> Sparse:
        """Sorted by (column, row) or (row, column), with repeated coordinates added up."""
        n_rows = int(self.row.max()) + 1 if len(self.row) else 1
        # In place: these arrays are the peak of an index build's memory.
        key = (self.column if by_column else self.row).astype(np.int64)
        key *= n_rows if by_column else n_columns
        key += self.row if by_column else self.column
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if len(key) else np.zeros(0, np.int64)
        value = np.add.reduceat(self.value[order], first) if len(key) else self.value
        return Sparse(self.row[order][first], self.column[order][first], value.astype(np.float32))


@dataclass(slots=True)
class Vocabulary:
    """Words of the repository, the parts they split into and the lexical terms made of those."""

    words: dict[str, int] = field(default_factory=dict)
    part_ids: dict[str, int] = field(default_factory=dict)
    term_ids: dict[str, int] = field(default_factory=dict)
    word_parts: list[tuple[int, ...]] = field(default_factory=list)
    word_terms: list[tuple[int, ...]] = field(default_factory=list)
    _stems: list[int] = field(default_factory=list)  # part -> term

    def add(self, words: Iterable[str]) -> list[int]:
        """Ids of the words, new ones split on the way."""
        known = self.words
        out = []
        for word in words:
            found = known.get(word)
            if found is None:
                found = known[word] = len(known)
                self._split(word)
            out.append(found)
        return out

    def _split(self, word: str) -> None:
        pieces = []
        for part in parts(word):
            number = self.part_ids.get(part)
            if number is None:
                number = self.part_ids[part] = len(self.part_ids)
                self._stems.append(self.term_ids.setdefault(stem(part), len(self.term_ids)))
            pieces.append(number)
        terms = tuple(self._stems[piece] for piece in pieces)
        if len(pieces) > 1:
            terms += (self.term_ids.setdefault(joined(word), len(self.term_ids)),)
        self.word_parts.append(tuple(pieces))
        self.word_terms.append(terms)


def csr(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lists of column numbers as (indptr, columns)."""
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=indptr[1:])
    return indptr, np.array([column for row in rows for column in row], np.int32)


def chunk_bags(records: Sequence[FileRecord], vocabulary: Vocabulary) -> Sparse:
    """chunk x word counts over all records, chunks numbered in the records' order."""
    rows, columns, values = [], [], []
    chunk = 0
    for record in records:
        mapping = np.array(vocabulary.add(record.words), np.int32)
        local = np.frombuffer(b"".join(bag[0] for bag in record.bags), np.int32)
        columns.append(mapping[local])
        values.append(np.frombuffer(b"".join(bag[1] for bag in record.bags), np.int32).astype(np.float32))
        lengths = np.array([len(bag[0]) // 4 for bag in record.bags], np.int64)
        rows.append(np.repeat(np.arange(chunk, chunk + len(lengths), dtype=np.int32), lengths))
        chunk += len(lengths)
    if not rows:
        return Sparse(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
    return Sparse(np.concatenate(rows), np.concatenate(columns), np.concatenate(values))


def list_bags(word_lists: Iterable[Sequence[str]], vocabulary: Vocabulary) -> Sparse:
    """row x word counts from a list of words per row."""
    rows: list[int] = []
    columns: list[int] = []
    for row, words in enumerate(word_lists):
        ids = vocabulary.add(words)
        rows.extend([row] * len(ids))
        columns.extend(ids)
    return Sparse(np.array(rows, np.int32), np.array(columns, np.int32), np.ones(len(rows), np.float32))
