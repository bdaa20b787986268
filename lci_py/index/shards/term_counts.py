"""Word counts as sparse matrices, and the vocabulary of these words, which splits each word once for all shards."""

from __future__ import annotations

from array import array
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.source.text.words import joined_spelling, parts, stem
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from lci_py.source.file_record import FileRecord

#: Entries that are expanded at a time: each becomes several.
_SLICE = 1 << 18
_KEY_BITS = 64


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """Convert non-negative numbers to the smallest type for stored arrays: uint8, uint16 or int32."""
    maximum = int(values.max(initial=0))
    return values.astype(np.uint8 if maximum < 1 << 8 else np.uint16 if maximum < 1 << 16 else np.int32, copy=False)


@dataclass(slots=True)
class Sparse:
    """A sparse matrix as coordinates: `value[i]` at (`row[i]`, `column[i]`); values at the same coordinates add up."""

    row: NDArray[np.int32]
    column: NDArray[np.int32]
    value: NDArray[Any]  # counts, from 1; in `narrow`'s types

    @classmethod
    def concat(cls, *items: Sparse) -> Sparse:
        return cls(
            np.concatenate([item.row for item in items]),
            np.concatenate([item.column for item in items]),
            np.concatenate([item.value for item in items]),
        )

    def scaled(self, factor: int) -> Sparse:
        return Sparse(self.row, self.column, narrow(self.value.astype(np.int64) * factor))

    def part(self, start: int, stop: int) -> Sparse:
        """The entries `start` to `stop` - 1, as views of the arrays."""
        return Sparse(self.row[start:stop], self.column[start:stop], self.value[start:stop])

    def expand(self, indptr: NDArray[np.int64], targets: NDArray[np.int32]) -> Sparse:
        """A copy in which the columns `targets[indptr[c]:indptr[c + 1]]` replace each column c."""
        counts = indptr[self.column + 1] - indptr[self.column]
        ends = np.cumsum(counts)
        # The position of each new entry in `targets`: a running number, shifted at the start of each old entry.
        positions = np.arange(int(ends[-1]) if len(ends) else 0)
        positions += np.repeat(indptr[self.column] - (ends - counts), counts)
        return Sparse(np.repeat(self.row, counts), targets[positions], np.repeat(self.value, counts))

    def summed(self, n_columns: int) -> Sparse:
        """A copy sorted by (row, column), in which equal coordinates are added up; the values are float32."""
        key = self.row.astype(np.int64)
        key *= n_columns
        key += self.column
        order = np.argsort(key, kind="stable")
        key = key[order]
        if not len(key):
            return Sparse(self.row, self.column, self.value.astype(np.float32))
        first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        value = np.add.reduceat(self.value[order], first, dtype=np.float64)
        return Sparse(self.row[order][first], self.column[order][first], value.astype(np.float32))


@dataclass(frozen=True, slots=True)
class Postings:
    """Posting lists: for each column, the rows that have it, and how often they have it."""

    starts: NDArray[np.int64]  # [columns + 1]
    rows: NDArray[np.int32]  # ascending within a column
    counts: NDArray[Any]  # from 1; in `narrow`'s types
    lengths: NDArray[np.int32]  # [rows] sum of the counts of each row


def count(bags: Sparse, indptr: NDArray[np.int64], targets: NDArray[np.int32], n_rows: int, n_columns: int) -> Postings:
    """The posting lists of bags of words, in which the columns `targets[indptr[c]:indptr[c + 1]]` replace column c.

    Args:
        bags: Entries in any order, with rows below `n_rows`.
        indptr: [columns of the bags + 1] the start of each column's new columns in `targets`.
        targets: New columns, below `n_columns`.
        n_rows: The number of rows, including rows without an entry.
    """
    # An entry is one integer (column, row, value, from high to low bits). Sorting it in place is several times faster
    # than sorting by two keys, and takes a third of the memory.
    row_bits = max(n_rows - 1, 0).bit_length()
    value_bits = _KEY_BITS - row_bits - max(n_columns - 1, 0).bit_length()
    bags = _at_most(bags, (1 << value_bits) - 1)
    value_bits = int(bags.value.max(initial=0)).bit_length()
    keys = np.empty(int(np.diff(indptr)[bags.column].sum()), np.uint64)
    filled = 0
    for start in range(0, len(bags.row), _SLICE):
        some = bags.part(start, start + _SLICE).expand(indptr, targets)
        key = some.column.astype(np.uint64)
        for bits, low in ((row_bits, some.row), (value_bits, some.value)):
            key <<= np.uint64(bits)
            key |= low.astype(np.uint64)
        keys[filled : filled + len(key)] = key
        filled += len(key)
    keys.sort()
    return _added_up(keys, value_bits, row_bits, n_rows, n_columns)


def _at_most(bags: Sparse, limit: int) -> Sparse:
    """Split entries with values above the limit into several entries with the same sum."""
    times = -(-bags.value.astype(np.int64) // limit) if int(bags.value.max(initial=0)) > limit else None
    if times is None:
        return bags
    value = np.full(int(times.sum()), limit, np.int64)
    last = np.cumsum(times) - 1
    value[last] = bags.value - (times - 1) * limit
    return Sparse(np.repeat(bags.row, times), np.repeat(bags.column, times), narrow(value))


def _added_up(keys: NDArray[np.uint64], value_bits: int, row_bits: int, n_rows: int, n_columns: int) -> Postings:
    """Make posting lists from sorted keys (column, row and value in one integer), slice by slice to save memory."""
    rows, counts = [np.zeros(0, np.int32)], [np.zeros(0, np.uint8)]
    starts = np.zeros(n_columns + 1, np.int64)
    lengths = np.zeros(n_rows, np.int64)
    start = 0
    while start < len(keys):
        stop = min(start + _SLICE, len(keys))
        last = (int(keys[stop - 1]) >> value_bits) << value_bits
        # The slice ends after all entries with the same coordinates.
        stop = int(np.searchsorted(keys, np.uint64(last | ((1 << value_bits) - 1)), "right"))
        where = keys[start:stop] >> np.uint64(value_bits)
        first = np.flatnonzero(np.concatenate(([True], where[1:] != where[:-1])))
        value = np.add.reduceat(keys[start:stop] & np.uint64((1 << value_bits) - 1), first).view(np.int64)
        where = where[first]
        row = (where & np.uint64((1 << row_bits) - 1)).view(np.int64)
        starts[1:] += np.bincount((where >> np.uint64(row_bits)).view(np.int64), minlength=n_columns)
        # float64 is exact for integers up to 2**53.
        lengths += np.bincount(row, weights=value, minlength=n_rows).astype(np.int64)
        rows.append(row.astype(np.int32))
        counts.append(narrow(value))
        start = stop
    np.cumsum(starts, out=starts)
    return Postings(starts, np.concatenate(rows), np.concatenate(counts), lengths.astype(np.int32))


class Lists:
    """Many lists of numbers in two arrays: tuples would take ten times the memory and garbage-collector time."""

    __slots__ = ("ends", "values")

    def __init__(self) -> None:
        self.values = array("i")
        self.ends = array("q", [0])

    def __len__(self) -> int:
        return len(self.ends) - 1

    def append(self, numbers: list[int]) -> None:
        self.values.fromlist(numbers)
        self.ends.append(len(self.values))


@dataclass(slots=True)
class Vocabulary:
    """Numbers the words of a repository, the parts of these words, and the lexical terms made of the parts."""

    words: dict[str, int] = field(default_factory=dict)
    part_ids: dict[str, int] = field(default_factory=dict)
    term_ids: dict[str, int] = field(default_factory=dict)
    word_parts: Lists = field(default_factory=Lists)
    word_terms: Lists = field(default_factory=Lists)
    _stems: list[int] = field(default_factory=list)  # part -> term

    def add(self, words: Sequence[str]) -> list[int]:
        """The number of each word; new words are split and numbered."""
        numbers = self.words
        new = dict.fromkeys(filterfalse(numbers.__contains__, words))
        if new:
            self._split(new)
        return list(map(numbers.__getitem__, words))

    def _split(self, words: Iterable[str]) -> None:
        # One loop with local variables: it runs for every distinct word, and takes most of the time of the shard.
        word_ids, numbers, terms, stems = self.words, self.part_ids, self.term_ids, self._stems
        for word in words:
            word_ids[word] = len(word_ids)
            pieces, own = [], []
            for part in parts(word):
                number = numbers.get(part)
                if number is None:
                    number = numbers[part] = len(numbers)
                    stems.append(terms.setdefault(stem(part), len(terms)))
                pieces.append(number)
                own.append(stems[number])
            if len(pieces) > 1:
                own.append(terms.setdefault(joined_spelling(word), len(terms)))
            self.word_parts.append(pieces)
            self.word_terms.append(own)


def csr(rows: Sequence[Sequence[int]] | Lists) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Convert lists of column numbers to two arrays: (indptr: where each list starts, columns: all lists joined)."""
    if isinstance(rows, Lists):
        return np.array(rows.ends, np.int64), np.array(rows.values, np.int32)
    indptr = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=indptr[1:])
    return indptr, np.array([column for row in rows for column in row], np.int32)


@dataclass(slots=True)
class NumberedWords:
    """The distinct words of each file as numbers of a vocabulary, in the order in which the files are added."""

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    numbers: array[int] = field(default_factory=lambda: array("i"))  # of every file's distinct words, in order

    def add(self, words: Sequence[str]) -> None:
        """Add the distinct words of the next file."""
        self.numbers.fromlist(self.vocabulary.add(words))


def chunk_bags(records: Sequence[FileRecord], words: NumberedWords) -> Sparse:
    """The word counts (chunk x word) of the chunks of all records, in order; `words` has the words of the records."""
    places = np.frombuffer(b"".join([record.bag_words for record in records]), np.int32)
    value = np.frombuffer(b"".join([record.bag_counts for record in records]), np.int32)
    sizes = np.array([size for record in records for size in record.bag_sizes], np.int64)
    # A bag holds positions in the words of its file: for every entry, where these start among all.
    first = np.cumsum([0, *(len(record.words) for record in records)])[:-1]
    first = np.repeat(first, [len(record.bag_words) // 4 for record in records])
    column = np.array(words.numbers, np.int32)[places + first]
    return Sparse(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes), column, narrow(value))


def list_bags(word_lists: Iterable[Sequence[str]], vocabulary: Vocabulary) -> Sparse:
    """The word counts (row x word), from a list of words for each row."""
    lists = list(word_lists)
    column = np.array(vocabulary.add(list(chain.from_iterable(lists))), np.int32)
    row = np.repeat(np.arange(len(lists), dtype=np.int32), [len(words) for words in lists])
    return Sparse(row, column, np.ones(len(row), np.uint8))
