"""The lexical shard: BM25 over four fields. It stores word counts; a query computes the scores of its terms.

The field `content` ranks chunks, `names` definitions, `paths` and `files` whole files; `files` is not stored but added
up from `content`. A score depends on the whole collection (number of rows, number of rows with the term, lengths of the
rows). This changes with every file, so no scores are stored (docs/adr/0010-counts-not-scores.md). Only integers are
summed, so the order does not matter: the same rows have the same scores to the last bit, in whatever segments.
"""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import (
    Arrays,
    Offsets,
    StringTable,
    compact,
    offset_arrays,
    sorted_order,
    string_arrays,
    write_arrays,
)
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.numbering import Numbering
    from lci_py.index.shards.term_counts import Sparse

#: Length normalisation differs by field: a long name or path is no less relevant for being long.
FIELDS: dict[str, tuple[float, float]] = {  # field -> (k1, b)
    "content": (1.5, 0.75),
    "names": (0.8, 0.4),
    "paths": (0.8, 0.3),
    "files": (2.0, 0.6),
}
#: The stored count that means 1 in the formula: counts are integers, so that their sums are exact.
UNITS = {"content": 1, "names": 5, "paths": 1, "files": 1}
#: The kind of a field's rows, one of `numbering.COUNTED`.
ROWS = {"content": "chunks", "names": "units", "paths": "files", "files": "files"}

#: A stored count of this value means that the real one is at least as large, and stored separately.
_MANY = 15
#: Terms whose columns are cached: a long session asks for the same ones again.
_REMEMBERED = 10_000


class Term(NamedTuple):
    """A term of the vocabulary, with its place in each segment."""

    text: str
    columns: tuple[int, ...]  # in each segment; -1 in one without it


class Postings(NamedTuple):
    """The posting lists of several terms (the rows that have each term): [n], by segment, then by term."""

    rows: NDArray[np.int32]
    counts: NDArray[Any]  # how often the row has the term
    terms: NDArray[np.int64]  # positions in the list of terms


def idf(rows: int, having: int) -> float:
    """The weight of a term that is in `having` of `rows` rows: Lucene's ln(1 + (N - df + 0.5) / (df + 0.5))."""
    return math.log(1.0 + (rows - having + 0.5) / (having + 0.5))


def bm25(counts: NDArray[np.float64], norm: NDArray[np.float64], idfs: NDArray[np.float64]) -> NDArray[np.float32]:
    """The score of a term in each row that has it, idf tf / (k1 (1 - b + b l / l_avg) + tf): [n].

    Args:
        counts: How often the row has the term, tf, [n]; overwritten, as is `norm`.
        norm: The row's `length_norm`, [n].
        idfs: The term's `idf`, [n].
    Source:
        Robertson and Zaragoza, FnTIR 3(4), 2009, in Lucene's variant.
    """
    # In place: a common term has tens of thousands of rows, and allocating memory takes longer than computing.
    norm += counts
    counts *= idfs
    counts /= norm
    return counts.astype(np.float32)


def length_norm(lengths: NDArray[Any], k1: float, b: float, total: int, rows: int) -> NDArray[np.float64]:
    """The length term of BM25 for every row: k1 (1 - b + b l / l_avg).

    Args:
        lengths: The sum of the counts of each row, integers in any unit.
        k1: Saturation of repeated terms, > 0.
        b: Strength of length normalisation, 0 to 1.
        total, rows: The sum of the lengths of all rows of the collection, and the number of these rows.
    """
    mean = total / max(rows, 1) or 1.0
    norm = lengths.astype(np.float64)
    norm *= b
    norm /= mean
    norm += 1.0 - b
    norm *= k1
    return norm


def write_lexical(
    path: Path,
    terms: Sequence[str],
    word_terms: tuple[NDArray[np.int64], NDArray[np.int32]],
    fields: Mapping[str, Sparse],
    maps: Mapping[str, NDArray[np.int32]],
    n_files: int,
) -> None:
    """Write the shard of a segment into a new file.

    Args:
        terms: The vocabulary (all distinct terms).
        word_terms: The terms of each word, as (indptr, indices in `terms`).
        fields: Word counts of the rows of `content`, `names` and `paths`, in `UNITS`.
        maps: `chunk_unit`, the unit of each chunk, and `unit_file`, the file of each unit, by numbers in the segment.
    """
    from lci_py.index.shards.term_counts import count, narrow  # only writing needs it

    order = sorted_order(terms)
    column = np.empty(len(terms), np.int32)
    column[order] = np.arange(len(terms))
    arrays = string_arrays("terms", [terms[i] for i in order])
    arrays |= {name: values.astype(np.int32) for name, values in maps.items()}
    sizes = {"content": len(maps["chunk_unit"]), "names": len(maps["unit_file"]), "paths": n_files}
    indptr, targets = word_terms[0], column[word_terms[1]]
    for name, n_rows in sizes.items():
        postings = count(fields[name], indptr, targets, n_rows, len(terms))
        arrays |= {
            f"{name}_lengths": postings.lengths,
            **offset_arrays(name, np.diff(postings.starts)),
            f"{name}_rows": narrow(postings.rows),
            **_count_arrays(name, postings.counts),
        }
        if name == "content":
            owner = maps["unit_file"][maps["chunk_unit"]]
            lengths = np.bincount(owner, weights=postings.lengths, minlength=n_files)
            arrays["files_lengths"] = lengths.astype(np.int32)
    write_arrays(path, arrays)


def _count_arrays(name: str, counts: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Arrays that store counts: `NAME_counts`, two counts in a byte; for counts of `_MANY` or more, `NAME_many` has the
    indices and `NAME_often` the values.
    """
    from lci_py.index.shards.term_counts import narrow

    few = np.minimum(counts, _MANY).astype(np.uint8)
    few = np.append(few, np.zeros(len(few) % 2, np.uint8))
    many = np.flatnonzero(counts >= _MANY)
    return {
        f"{name}_counts": few[::2] | few[1::2] << 4,
        f"{name}_many": compact(many),
        f"{name}_often": narrow(counts[many]),
    }


class _Lists(NamedTuple):
    """The stored arrays of the posting lists of a field."""

    offsets: Offsets
    rows: NDArray[Any]
    counts: NDArray[np.uint8]
    many: NDArray[Any]
    often: NDArray[Any]


class _Segment:
    """A segment's shard, in the segment's numbers. Its arrays are mapped: a query reads only its terms' columns."""

    def __init__(self, path: Path, counts: Mapping[str, int]) -> None:
        self.counts = counts
        self.arrays = Arrays(path)
        self.terms = StringTable(self.arrays, "terms")
        self._postings: dict[str, _Lists] = {}

    def rows_of(self, name: str, kind: str) -> NDArray[np.int32]:
        """The array called `name`, which must have an item for each row of `kind`."""
        values = self.arrays.array(name, "i4")
        if len(values) != self.counts[kind]:
            raise self.damaged(f"{name} has {len(values)} items for {self.counts[kind]} {kind}")
        return values

    def map_to(self, name: str, kind: str, target: str) -> NDArray[np.int32]:
        """The array called `name`, which maps each row of `kind` to a row of `target`."""
        rows = self.rows_of(name, kind)
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < self.counts[target]:
            raise self.damaged(f"{name} names {target} that do not exist")
        return rows

    def lengths(self, field: str) -> NDArray[np.int32]:
        lengths = self.rows_of(f"{field}_lengths", ROWS[field])
        if int(lengths.min(initial=0)) < 0:
            raise self.damaged(f"{field} has rows of negative length")
        return lengths

    def postings(self, field: str, columns: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.int64]]:
        """(rows, counts, sizes): the rows with each term, term by term; the term's count in each; rows per term.

        All terms are read at once: with a dozen terms and few rows each, the number of calls determines the time.
        """
        lists = self._postings.get(field) or self._open(field)
        spans = [lists.offsets.span(column) for column in columns]
        for start, stop in spans:
            self.arrays.check_items(f"{field}_rows", start, stop)
            self.arrays.check_items(f"{field}_counts", start // 2, (stop + 1) // 2)
        rows = np.concatenate([lists.rows[start:stop] for start, stop in spans], dtype=np.int32)
        often = np.concatenate([self._often(field, lists, start, stop) for start, stop in spans])
        sizes = np.array([stop - start for start, stop in spans], np.int64)
        if len(rows):
            ascends = np.concatenate((rows[1:] > rows[:-1], [True]))
            ascends[np.cumsum(sizes)[sizes > 0] - 1] = True  # the last row of a term
            inside = rows.min() >= 0 and rows.max() < self.counts[ROWS[field]]
            if not inside or not ascends.all() or often.min() < 1:
                raise self.damaged(f"{field} has a row that does not exist, a row twice, or a count of 0")
        return rows, often, sizes

    def _often(self, field: str, lists: _Lists, start: int, stop: int) -> NDArray[Any]:
        """The counts of the postings `start` to `stop` - 1 of a field."""
        pairs = lists.counts[start // 2 : (stop + 1) // 2]
        counts = np.empty(2 * len(pairs), np.uint8)
        np.bitwise_and(pairs, _MANY, out=counts[::2])
        np.right_shift(pairs, 4, out=counts[1::2])
        counts = counts[start % 2 : start % 2 + stop - start]
        places = np.flatnonzero(counts == _MANY)
        if not len(places):
            return counts
        first, last = np.searchsorted(lists.many, (start, stop))
        if not np.array_equal(lists.many[first:last] - start, places):
            raise self.damaged(f"the arrays of {field} do not fit together")
        often = counts.astype(np.int32)
        often[places] = lists.often[first:last]
        return often

    def _open(self, field: str) -> _Lists:
        rows = self.arrays.array(f"{field}_rows", "u1", "u2", "i4", check=False)
        counts = self.arrays.array(f"{field}_counts", "u1", check=False)
        many = self.arrays.array(f"{field}_many", "i4", "i8")
        often = self.arrays.array(f"{field}_often", "u1", "u2", "i4")
        offsets = Offsets(self.arrays, field, len(rows))
        if len(offsets) != len(self.terms) or len(counts) != (len(rows) + 1) // 2 or len(many) != len(often):
            raise self.damaged(f"the arrays of {field} do not fit together")
        self._postings[field] = lists = _Lists(offsets, rows, counts, many, often)
        return lists

    def damaged(self, what: str) -> DamagedIndexError:
        return DamagedIndexError(f"{self.arrays.name}: {what}")


class LexicalIndex:
    """Reads the lexical shards of all segments, in public numbers. Dead rows (of old file versions) do not count."""

    def __init__(self, paths: Sequence[Path], numbering: Numbering) -> None:
        """Open the lexical shard of each segment."""
        self._numbering = numbering
        self._segments = [_Segment(path, counts) for path, counts in zip(paths, numbering.counts, strict=True)]
        self._public: dict[str, list[NDArray[np.int32] | None]] = {}
        self._norms: dict[str, NDArray[np.float64]] = {}
        self._columns: dict[str, tuple[int, ...]] = {}
        #: The last result of each field: `files` needs that of `content`, and multiview asks for all of them twice.
        self._last: dict[str, tuple[tuple[Term, ...], Postings]] = {}
        self.n_files = numbering.total("files")
        self.unit_file = self._map("unit_file", "units", "files")  # [units] the file of each
        self.chunk_unit = self._map("chunk_unit", "chunks", "units")  # [chunks] the unit of each

    def term(self, text: str) -> Term | None:
        """Look up a term, for `scores` and `rows`; None if no segment has it. Perhaps only dead rows have the term."""
        columns = self._columns.get(text)
        if columns is None:
            if len(self._columns) >= _REMEMBERED:
                self._columns.clear()
            columns = self._columns[text] = tuple(segment.terms.find(text) for segment in self._segments)
        return Term(text, columns) if any(column >= 0 for column in columns) else None

    # A part of a larger collection overrides these: its rows are scored with the statistics of the collection.

    def ask(self, texts: Iterable[str]) -> None:
        """In a part of a fleet: request the statistics of terms from the whole fleet. Here: does nothing."""

    def size(self, field: str) -> int:
        """The number of rows of a field, in the whole collection."""
        return self._numbering.total(ROWS[field])

    def length(self, field: str, lengths: NDArray[np.int32]) -> int:
        """The sum of the row lengths of a field in the whole collection; `lengths` has the rows of this index."""
        return int(lengths.sum(dtype=np.int64))

    def having(self, field: str, terms: Sequence[Term], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of rows with each term, in the whole collection: [terms]. `numbers`: the term of each posting."""
        return np.bincount(numbers, minlength=len(terms))

    def starting(self, prefix: str, limit: int) -> set[str] | None:
        """The terms that start with a prefix; None if a segment has more than `limit`."""
        matches: set[str] = set()
        for segment in self._segments:
            terms = segment.terms.starting(prefix, limit)
            if terms is None:
                return None
            matches.update(terms)
        return matches

    def frequency(self, field: str, term: Term) -> int:
        """The number of rows of a field that have a term; not for the field `files`."""
        total = 0
        for column, segment, public in zip(term.columns, self._segments, self._publics(ROWS[field]), strict=True):
            if column >= 0:
                rows, _, _ = segment.postings(field, [column])
                total += len(rows) if public is None else int((public[rows] >= 0).sum())
        return total

    def scores(self, field: str, terms: Iterable[tuple[Term, float]]) -> NDArray[np.float32]:
        """For every row of the field, the sum of the weighted BM25 scores of the terms: [rows] float32."""
        norm = self._norm(field)
        out = np.zeros(len(norm), np.float32)
        unweighted, weights = zip(*terms, strict=True) if (terms := list(terms)) else ((), ())
        rows, counts, numbers = self.postings(field, unweighted)
        if len(rows):
            total = self.size(field)
            idfs = np.array([idf(total, df) for df in self.having(field, unweighted, numbers).tolist()])
            scores = bm25(counts / np.float64(UNITS[field]), norm[rows], idfs[numbers])
            scores *= np.array(weights, np.float32)[numbers]
            np.add.at(out, rows, scores)  # adds a row's scores in the order of the terms
        return out

    def _norm(self, field: str) -> NDArray[np.float64]:
        """The `length_norm` of each row of a field."""
        norm = self._norms.get(field)
        if norm is None:
            lengths = self._lengths(field)
            norm = length_norm(lengths, *FIELDS[field], self.length(field, lengths), self.size(field))
            self._norms[field] = norm
        return norm

    def rows(self, field: str, term: Term) -> NDArray[np.int32]:
        """The posting list of a term: the rows that have it, ascending."""
        return np.sort(self.postings(field, (term,)).rows)

    def postings(self, field: str, terms: tuple[Term, ...]) -> Postings:
        """The posting lists of several terms, without dead rows."""
        if field == "files":
            return self._by_file(self.postings("content", terms))
        if (last := self._last.get(field)) is not None and last[0] == terms:
            return last[1]
        parts = []
        for i, (segment, public) in enumerate(zip(self._segments, self._publics(ROWS[field]), strict=True)):
            own = [(number, term.columns[i]) for number, term in enumerate(terms) if term.columns[i] >= 0]
            if not own:
                continue
            rows, counts, sizes = segment.postings(field, [column for _, column in own])
            numbers = np.repeat(np.array([number for number, _ in own], np.int64), sizes)
            if public is not None:
                rows = public[rows]
                alive = rows >= 0
                rows, counts, numbers = rows[alive], counts[alive], numbers[alive]
            parts.append(Postings(rows, counts, numbers))
        if len(parts) == 1:
            postings = parts[0]
        else:
            empty = Postings(np.zeros(0, np.int32), np.zeros(0, np.uint8), np.zeros(0, np.int64))
            postings = Postings(*(np.concatenate(columns) for columns in zip(empty, *parts, strict=True)))
        self._last[field] = (terms, postings)
        return postings

    def _by_file(self, chunks: Postings) -> Postings:
        """Add up the counts of chunks by file. A file is in one segment, so its chunks are consecutive."""
        files, terms = self._chunk_file[chunks.rows], chunks.terms
        if not len(files):
            return Postings(files, chunks.counts, terms)
        first = np.flatnonzero(np.concatenate(([True], (files[1:] != files[:-1]) | (terms[1:] != terms[:-1]))))
        return Postings(files[first], np.add.reduceat(chunks.counts, first, dtype=np.int64), terms[first])

    @cached_property
    def _chunk_file(self) -> NDArray[np.int32]:
        files: NDArray[np.int32] = self.unit_file[self.chunk_unit]
        return files

    def _lengths(self, field: str) -> NDArray[np.int32]:
        parts = []
        for segment in self._segments:
            parts.append(segment.lengths(field))
        return self._numbering.in_public_order(ROWS[field], parts)

    def _map(self, name: str, kind: str, target: str) -> NDArray[np.int32]:
        parts = []
        for segment, public in zip(self._segments, self._publics(target), strict=True):
            rows = segment.map_to(name, kind, target)
            parts.append(rows if public is None else public[rows])
        whole = self._numbering.in_public_order(kind, parts)
        if int(whole.min(initial=0)) < 0:
            raise DamagedIndexError(f"the numbering has {kind} that are not deleted in deleted {target}")
        return whole

    def _publics(self, kind: str) -> list[NDArray[np.int32] | None]:
        publics = self._public.get(kind)
        if publics is None:
            publics = [self._numbering.public_array(kind, i) for i in range(len(self._segments))]
            self._public[kind] = publics
        return publics
