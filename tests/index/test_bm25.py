"""The lexical shard gives bm25s's scores, and the same ones to the last bit however the rows are spread over segments."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index import bags as bags_module
from lci_py.index.arrays import Arrays, write_arrays
from lci_py.index.bags import Lists, Sparse, Vocabulary, count, csr
from lci_py.index.bm25 import FIELDS, UNITS, LexicalIndex, write_lexical
from lci_py.index.numbering import Numbering, number_slots
from tests.conftest import PROJECT

WORDS = tuple("abcdefgh")


@dataclass(frozen=True)
class Unit:
    name: tuple[tuple[str, int], ...]  # words of its name, with their counts in the field's unit
    chunks: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class File:
    name: tuple[str, ...]
    units: tuple[Unit, ...]


def bag(rows: Sequence[Sequence[tuple[str, int]]], terms: Sequence[str]) -> Sparse:
    entries = [(row, terms.index(word), times) for row, words in enumerate(rows) for word, times in words]
    row, column, value = (np.array([entry[i] for entry in entries], np.int32) for i in range(3))
    return Sparse(row, column, value)


def once(words: Sequence[str]) -> list[tuple[str, int]]:
    return [(word, 1) for word in words]


def write(path: Path, files: Sequence[File], seed: int = 0) -> dict[str, int]:
    """Write a segment, whose vocabulary is its own; how many rows it has."""
    units = [(number, unit) for number, file in enumerate(files) for unit in file.units]
    chunks = [(number, chunk) for number, (_, unit) in enumerate(units) for chunk in unit.chunks]
    used = {word for _, chunk in chunks for word in chunk} | {word for file in files for word in file.name}
    terms = sorted(used | {word for _, unit in units for word, _ in unit.name})
    random.Random(seed).shuffle(terms)
    write_lexical(
        path,
        terms,
        (np.arange(len(terms) + 1), np.arange(len(terms), dtype=np.int32)),
        {
            "content": bag([once(chunk) for _, chunk in chunks], terms),
            "names": bag([unit.name for _, unit in units], terms),
            "paths": bag([once(file.name) for file in files], terms),
        },
        {
            "chunk_unit": np.array([unit for unit, _ in chunks], np.int32),
            "unit_file": np.array([file for file, _ in units], np.int32),
        },
        len(files),
    )
    return {"files": len(files), "symbols": 0, "units": len(units), "chunks": len(chunks)}


def whole(path: Path, files: Sequence[File]) -> LexicalIndex:
    """The index of one segment in which all is alive."""
    return LexicalIndex([path], Numbering([write(path, files)]))


def spread(folder: Path, segments: Sequence[Sequence[tuple[File, str | None]]]) -> LexicalIndex:
    """The index of several segments, of files and their paths; a dead file's is None."""
    counts, sizes = [], {"symbols": [], "units": [], "chunks": []}
    for number, segment in enumerate(segments):
        files = [file for file, _ in segment]
        counts.append(write(folder / f"{number}.arrays", files, number))
        sizes["symbols"].append(np.zeros(len(files), np.int64))
        sizes["units"].append(np.array([len(file.units) for file in files], np.int64))
        sizes["chunks"].append(np.array([sum(len(unit.chunks) for unit in file.units) for file in files], np.int64))
    paths = [[path for _, path in segment] for segment in segments]
    write_arrays(folder / "numbering.arrays", number_slots(paths, sizes))
    numbering = Numbering(counts, Arrays(folder / "numbering.arrays"))
    return LexicalIndex([folder / f"{number}.arrays" for number in range(len(segments))], numbering)


def documents(*texts: Sequence[str]) -> list[File]:
    """A file per text, of one unit and one chunk; every field holds the same."""
    return [File(tuple(text), (Unit(tuple((w, UNITS["names"]) for w in text), (tuple(text),)),)) for text in texts]


# --- the formula --------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=20), min_size=1, max_size=8).filter(any))
def test_the_scores_are_those_of_bm25s(texts: list[list[str]]) -> None:
    from bm25s import BM25

    with TemporaryDirectory() as folder:
        index = whole(Path(folder) / "shard", documents(*texts))
        ids = {word: i for i, word in enumerate(WORDS)}
        query = [word for word in WORDS if index.term(word) is not None]
        for field, (k1, b) in FIELDS.items():
            theirs = BM25(method="lucene", k1=k1, b=b, backend="numpy")
            rows = [[ids[word] for word in text] for text in texts]
            theirs.index((rows, ids), create_empty_token=False, show_progress=False)
            expected = theirs.get_scores_from_ids([ids[word] for word in query])
            ours = index.scores(field, [(index.term(word) or (), 1.0) for word in query])
            np.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-6)


def test_a_scope_counts_two_fifths_of_a_name(tmp_path: Path) -> None:
    # 0.4 of a term in a row of length 0.4, of two rows: by hand.
    units = (Unit((("scope", 2),), ()), Unit((("name", 5),), ()))
    index = whole(tmp_path / "shard", [File((), units)])
    mean, (k1, b) = 0.7, FIELDS["names"]
    idf = np.log(1 + (2 - 1 + 0.5) / 1.5)
    expected = [idf * tf / (k1 * (1 - b + b * tf / mean) + tf) for tf in (0.4, 1.0)]
    terms = [(index.term("scope") or (), 1.0), (index.term("name") or (), 1.0)]
    np.testing.assert_allclose(index.scores("names", terms), expected, rtol=1e-6)


def test_weights_add_up_in_the_order_of_the_terms(tmp_path: Path) -> None:
    index = whole(tmp_path / "shard", documents("ab", "bc", "c"))
    a, b = (index.term(word) or () for word in "ab")
    single = [index.scores("content", [(term, 1.0)]) for term in (a, b)]
    both = index.scores("content", [(a, 1.5), (b, 0.7)])
    np.testing.assert_array_equal(both, single[0] * np.float32(1.5) + single[1] * np.float32(0.7))
    assert both[2] == 0 and both[0] > both[1] > 0


def test_terms_are_found_in_any_script_and_only_whole(tmp_path: Path) -> None:
    terms = ["pool", "connection", "ünïcode", "a", "zebra", "\udc80"]
    index = whole(tmp_path / "shard", documents(*[[term] for term in terms]))
    assert [index.term(term) for term in ("", "b", "zebras", "ünïcod", "z")] == [None] * 5
    assert [index.rows("files", index.term(term) or ()).tolist() for term in terms] == [[i] for i in range(6)]


def test_an_empty_index_has_no_terms_and_no_scores(tmp_path: Path) -> None:
    index = whole(tmp_path / "shard", [])
    assert index.term("a") is None and index.n_files == 0
    assert [len(index.scores(field, [])) for field in FIELDS] == [0, 0, 0, 0]


# --- segments -----------------------------------------------------------------------------------------------------

UNIT = st.builds(
    Unit,
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from([2, 5])), max_size=4).map(tuple),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(tuple), max_size=3).map(tuple),
)
FILE = st.builds(File, st.lists(st.sampled_from(WORDS), max_size=3).map(tuple), st.lists(UNIT, max_size=3).map(tuple))
#: Files, with the segment that each is in, and whether it is alive.
PLACED = st.lists(st.tuples(FILE, st.integers(0, 3), st.integers(0, 3).map(bool)), max_size=9)


@settings(max_examples=150, deadline=None)
@given(placed=PLACED, order=st.randoms(use_true_random=False))
def test_the_answer_does_not_depend_on_the_segments(placed: list[tuple[File, int, bool]], order: random.Random) -> None:
    names = [f"{i}.py" for i in range(len(placed))]
    order.shuffle(names)
    segments: list[list[tuple[File, str | None]]] = [[] for _ in range(1 + max((n for _, n, _ in placed), default=0))]
    for (file, number, alive), name in sorted(zip(placed, names, strict=True), key=lambda item: item[1]):
        segments[number].append((file, name if alive else None))
    live = sorted((name, i) for i, name in enumerate(names) if placed[i][2])
    with TemporaryDirectory() as folder:
        one = whole(Path(folder) / "whole", [placed[i][0] for _, i in live])
        many = spread(Path(folder), segments)
        assert many.n_files == one.n_files
        np.testing.assert_array_equal(many.unit_file, one.unit_file)
        np.testing.assert_array_equal(many.chunk_unit, one.chunk_unit)
        for field in FIELDS:
            for word in WORDS:
                ours, expected = many.term(word), one.term(word)
                if ours is None or expected is None:  # only dead rows have it
                    assert expected is None and (ours is None or not len(many.rows(field, ours)))
                else:
                    np.testing.assert_array_equal(many.rows(field, ours), one.rows(field, expected))
            query = [(word, 0.5 + i / 3) for i, word in enumerate(WORDS)]
            scores = [
                index.scores(field, [(term, weight) for word, weight in query if (term := index.term(word))])
                for index in (many, one)
            ]
            assert scores[0].tobytes() == scores[1].tobytes()


def test_rows_in_dead_files_are_refused_where_others_are_alive(tmp_path: Path) -> None:
    files = documents("a", "b")
    counts = write(tmp_path / "shard", files)
    sizes = {"symbols": [np.zeros(2, np.int64)], "units": [np.ones(2, np.int64)], "chunks": [np.ones(2, np.int64)]}
    maps = number_slots([["x", "y"]], sizes)
    maps["files_public"], maps["files_slot"] = np.array([0, -1], np.int32), np.array([0], np.int32)
    write_arrays(tmp_path / "numbering", maps)
    with pytest.raises(DamagedIndexError):
        LexicalIndex([tmp_path / "shard"], Numbering([counts], Arrays(tmp_path / "numbering")))


# --- counting -----------------------------------------------------------------------------------------------------

ENTRIES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5), st.integers(1, 70_000)), max_size=40)


@settings(max_examples=100, deadline=None)
@given(entries=ENTRIES, slice_=st.sampled_from([1, 3, 1 << 18]))
def test_counts_add_up_by_term_whatever_the_slices_are(entries: list[tuple[int, int, int]], slice_: int) -> None:
    words = [[0], [1, 2], [], [2], [0, 1, 2, 3], [3, 3]]  # the terms of each word
    row, column, value = (np.array([entry[i] for entry in entries], np.int32) for i in range(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bags_module, "_SLICE", slice_)
        found = count(Sparse(row, column, value), *csr(words), 9, 4)
    expected: Counter[tuple[int, int]] = Counter()
    for i, number in enumerate(column.tolist()):
        for term in words[number]:
            expected[term, int(row[i])] += int(value[i])
    terms = np.repeat(np.arange(4), np.diff(found.starts)).tolist()
    triples = list(zip(terms, found.rows.tolist(), found.counts.tolist(), strict=True))
    assert triples == [(*key, times) for key, times in sorted(expected.items())]
    lengths = Counter[int]()
    for (_, where), times in expected.items():
        lengths[where] += times
    assert found.lengths.tolist() == [lengths[i] for i in range(9)]


def test_a_value_too_large_to_stand_beside_its_coordinates_counts_whole() -> None:
    n_rows, n_columns, value = 1 << 20, 1 << 21, (1 << 24) + 3  # 20, 21 and 25 bits
    bags = Sparse(np.array([5, 5, 6], np.int32), np.array([0, 0, 0], np.int32), np.array([value, 7, 1], np.int32))
    found = count(bags, np.array([0, 1]), np.array([n_columns - 1], np.int32), n_rows, n_columns)
    assert found.starts[-2:].tolist() == [0, 2]
    assert (found.rows.tolist(), found.counts.tolist()) == ([5, 6], [value + 7, 1])


def test_words_are_split_once_into_parts_and_terms() -> None:
    vocabulary = Vocabulary()
    assert vocabulary.add(["getNames", "x", "getNames", "names"]) == [0, 1, 0, 2]
    assert vocabulary.add(["names", "x"]) == [2, 1]
    parts, terms = list(vocabulary.part_ids), list(vocabulary.term_ids)

    def named(lists: Lists, names: list[str]) -> list[list[str]]:
        indptr, numbers = csr(lists)
        return [[names[i] for i in numbers[a:b]] for a, b in zip(indptr[:-1], indptr[1:], strict=True)]

    assert named(vocabulary.word_parts, parts) == [["get", "names"], ["x"], ["names"]]
    assert named(vocabulary.word_terms, terms) == [["get", "name", "getnames"], ["x"], ["name"]]


# --- damage -------------------------------------------------------------------------------------------------------


def arrays_of(path: Path) -> dict[str, Any]:
    arrays = Arrays(path)
    return {name: arrays.array(name, "u1", "u2", "i4", "i8", "f4").copy() for name in arrays._table}


def ask(path: Path, counts: dict[str, int]) -> None:
    index = LexicalIndex([path], Numbering([counts]))
    for field in FIELDS:
        terms = [term for word in ("a", "b", "c") if (term := index.term(word))]
        assert np.isfinite(index.scores(field, [(term, 1.0) for term in terms])).all()
        for term in terms:
            index.rows(field, term)


def _set(place: int, value: int) -> Any:
    def change(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        array = array.astype(np.int32) if array.dtype.itemsize < 4 else array
        array[place] = value
        return array

    return change


NAMES = ("content", "names", "paths")
DAMAGE = [
    *[(f"{name}_{part}", lambda array: array[:-1]) for name in NAMES for part in ("starts", "rows", "counts", "lengths")],
    *[(name, lambda array: array[:-1]) for name in ("terms", "terms_offsets", "unit_file", "chunk_unit", "files_lengths")],
    *[(f"{name}_{part}", None) for name in NAMES for part in ("starts", "rows", "counts", "lengths")],
    *[(name, None) for name in ("terms", "terms_offsets", "unit_file", "chunk_unit", "files_lengths")],
    *[(f"{name}_rows", _set(place, value)) for name in NAMES for place, value in ((0, -1), (1, -1), (1, 3), (1, 2**31 - 1))],
    *[(f"{name}_counts", _set(1, value)) for name in NAMES for value in (0, -5)],
    *[(f"{name}_lengths", _set(0, -1)) for name in FIELDS],
    *[(f"{name}_starts", _set(place, value)) for name in NAMES for place, value in ((1, -1), (1, 99), (1, 5), (3, 2**31 - 1))],
    *[(name, _set(0, value)) for name in ("unit_file", "chunk_unit") for value in (-1, 3)],
    *[(name, lambda array: array.astype(np.float32)) for name in ("content_counts", "content_rows", "unit_file")],
    ("terms_offsets", lambda array: array[:0]),
]  # fmt: skip


@pytest.mark.parametrize("name,change", DAMAGE, ids=[f"{i}-{name}" for i, (name, _) in enumerate(DAMAGE)])
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, name: str, change: Any) -> None:
    counts = write(tmp_path / "shard", documents("ab", "abc", "bc"))
    ask(tmp_path / "shard", counts)
    arrays = arrays_of(tmp_path / "shard")
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name])
    write_arrays(tmp_path / "damaged", arrays)
    with pytest.raises(DamagedIndexError):
        ask(tmp_path / "damaged", counts)


@pytest.mark.parametrize("kind", ["files", "units", "chunks"])
def test_a_shard_of_another_index_is_refused(tmp_path: Path, kind: str) -> None:
    counts = write(tmp_path / "shard", documents("ab", "abc", "bc"))
    with pytest.raises(DamagedIndexError):
        ask(tmp_path / "shard", {**counts, kind: counts[kind] + 1})


@settings(max_examples=200, deadline=None)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3))
def test_a_damaged_shard_answers_or_is_refused(flips: list[tuple[float, int]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shard"
        counts = write(path, documents("ab", "abc", "bc"))
        data = bytearray(path.read_bytes())
        for place, bits in flips:
            data[int(place * len(data))] ^= bits
        path.write_bytes(data)
        try:
            ask(path, counts)
        except DamagedIndexError:
            pass


# --- the page -----------------------------------------------------------------------------------------------------


def test_the_page_names_the_arrays(tmp_path: Path) -> None:
    write(tmp_path / "shard", documents("ab", "abc"))
    page = (PROJECT / "docs" / "index-format.md").read_text("utf-8")
    section = page.partition("## bm25-*.arrays\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| `")]
    written = {}
    for names, kinds, _ in rows:
        for name in re.findall(r"`([^`]+)`", names):
            fields = FIELDS if name == "FIELD_lengths" else NAMES if name.startswith("FIELD") else [""]
            written |= {name.replace("FIELD", field): kinds for field in fields}
    arrays = Arrays(tmp_path / "shard")
    assert set(written) == set(arrays._table)
    for name, (kind, _, _) in arrays._table.items():
        assert kind in written[name], name
