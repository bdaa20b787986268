"""The lexical shard has the scores of bm25s, however files are spread over segments, and refuses damaged files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index.shards import term_counts
from lci_py.index.shards.arrays import Arrays, ChecksummedFile, append_sums, map_file, write_arrays
from lci_py.index.shards.bm25 import FIELDS, UNITS, LexicalIndex, bm25, idf, length_norm, write_lexical
from lci_py.index.shards.numbering import Numbering, number_slots
from lci_py.index.shards.term_counts import Sparse, count
from tests.support.layout import row_sizes
from tests.support.properties import examples

Bag = list[tuple[int, int]]  # (word, count), a word as often as it likes
#: A word's terms are its parts and the whole of it: words share terms, and one has a term twice.
TERMS = ["pool", "connection", "ünïcode", "a", "zebra", "connectionpool", "aa"]
WORD_TERMS = [[0], [1], [1, 0, 5], [2], [3], [3, 3, 6], [4]]

BAG = st.lists(st.tuples(st.integers(0, len(WORD_TERMS) - 1), st.integers(1, 3) | st.just(300)), max_size=5)


@dataclass(frozen=True)
class File:
    names: list[Bag]  # per unit
    chunks: list[tuple[int, Bag]]  # (unit, content)
    path: Bag


@st.composite
def file(draw: st.DrawFn) -> File:
    names = draw(st.lists(BAG, max_size=3))
    chunks = draw(st.lists(st.tuples(st.integers(0, len(names) - 1), BAG), max_size=4)) if names else []
    return File(names, chunks, draw(BAG))


def bags_of(files: Sequence[File]) -> dict[str, list[Bag]]:
    return {
        "content": [bag for file in files for _, bag in file.chunks],
        "names": [bag for file in files for bag in file.names],
        "paths": [file.path for file in files],
        "files": [[item for _, bag in file.chunks for item in bag] for file in files],
    }


def sparse(rows: Sequence[Bag]) -> Sparse:
    entries = [(row, word, value) for row, bag in enumerate(rows) for word, value in bag]
    row, word, value = (np.array([entry[i] for entry in entries], np.int32) for i in range(3))
    return Sparse(row, word, value)


def write(path: Path, files: Sequence[File], order: Sequence[int] = range(len(TERMS))) -> dict[str, int]:
    """Write a segment, whose vocabulary is that of its files, in the order given; how many rows it has."""
    rows = bags_of(files)
    used = {term for field in rows.values() for bag in field for word, _ in bag for term in WORD_TERMS[word]}
    terms = [term for term in order if term in used]
    places = [[terms.index(term) for term in word if term in used] for word in WORD_TERMS]
    word_terms = np.cumsum([0, *map(len, places)]), np.array([term for word in places for term in word], np.int32)
    first = np.cumsum([0, *(len(file.names) for file in files)])
    maps = {
        "chunk_unit": np.array([first[i] + unit for i, file in enumerate(files) for unit, _ in file.chunks], np.int32),
        "unit_file": np.array([i for i, file in enumerate(files) for _ in file.names], np.int32),
    }
    fields = {field: sparse(rows[field]) for field in ("content", "names", "paths")}
    write_lexical(path, [TERMS[term] for term in terms], word_terms, fields, maps, len(files))
    return {"files": len(files), "symbols": 0, "units": len(rows["names"]), "chunks": len(rows["content"])}


def whole(folder: Path, files: Sequence[File]) -> LexicalIndex:
    """One segment without dead rows."""
    return LexicalIndex([folder / "one.arrays"], Numbering([write(folder / "one.arrays", files)]))


# --- the formula ------------------------------------------------------------------------------------------------------


@examples(60)
@given(files=st.lists(file(), min_size=1, max_size=6))
def test_scores_are_those_of_bm25s(tmp_path_factory: pytest.TempPathFactory, files: list[File]) -> None:
    from bm25s import BM25

    index = whole(tmp_path_factory.mktemp("bm25"), files)
    for field, (k1, b) in FIELDS.items():
        rows = bags_of(files)[field]
        texts = [[term for word, value in bag for term in WORD_TERMS[word] * value] for bag in rows]
        if not any(texts):  # bm25s refuses an empty vocabulary
            continue
        # It counts whole words only. With counts and k1 in fifths, numerator and denominator are both five times theirs.
        theirs = BM25(method="lucene", k1=k1 * UNITS[field], b=b, backend="numpy")
        theirs.index((texts, {str(i): i for i in range(len(TERMS))}), create_empty_token=False, show_progress=False)
        for number, text in enumerate(TERMS):
            term = index.term(text)
            got = index.scores(field, [(term, 1.0)]) if term is not None else np.zeros(len(texts), np.float32)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, theirs.get_scores_from_ids([number]), rtol=1e-5, atol=1e-6)


def test_terms_weigh_what_they_are_given(tmp_path: Path) -> None:
    index = whole(tmp_path, [File([[(1, 1)], [(0, 2), (4, 1)]], [(0, [(0, 1), (1, 2)]), (1, [(0, 1)])], [(0, 1)])])
    pool, connection = index.term("pool"), index.term("connection")
    assert pool is not None and connection is not None
    single = [index.scores("content", [(term, 1.0)]) for term in (pool, connection)]
    both = index.scores("content", [(pool, 0.5), (connection, 2.0)])
    assert both.tolist() == (np.float32(0.5) * single[0] + np.float32(2) * single[1]).tolist() and both[0] > both[1] > 0
    assert index.scores("content", []).tolist() == [0, 0]


def test_a_row_of_mean_length_has_no_length_to_normalise() -> None:
    assert length_norm(np.array([2, 4, 6], np.int32), 1.5, 0.75, 12, 3).tolist() == [0.9375, 1.5, 2.0625]
    assert length_norm(np.zeros(2, np.int32), 0.5, 0.5, 0, 2).tolist() == [0.25, 0.25]
    score = bm25(np.array([1.0, 3.0]), np.array([1.5, 1.5]), np.full(2, idf(7, 2)))
    np.testing.assert_allclose(score, np.log(1 + 5.5 / 2.5) * np.array([1 / 2.5, 3 / 4.5]), rtol=1e-6)


# --- segments ---------------------------------------------------------------------------------------------------------


@st.composite
def spread(draw: st.DrawFn) -> tuple[list[File], list[list[tuple[str, File, bool]]]]:
    """Living files by path; and those over segments, beside dead ones."""
    living = draw(st.lists(file(), max_size=7))
    segments: list[list[tuple[str, File, bool]]] = [[] for _ in range(draw(st.integers(1, 4)))]
    for place, one in enumerate(living):
        own = draw(st.integers(0, len(segments) - 1))
        for number, segment in enumerate(segments):
            if number == own:
                segment.append((f"{place:02}", one, True))
            elif draw(st.booleans()):
                segment.append((f"{place:02}", draw(file()), False))  # what it was
        for segment in segments:
            if draw(st.integers(0, 4)) == 0:
                segment.append((f"{place:02} gone", draw(file()), False))
    return living, segments


def several(
    folder: Path, segments: Sequence[Sequence[tuple[str, File, bool]]], order: Sequence[int] = range(len(TERMS))
) -> LexicalIndex:
    paths = [folder / f"{number}.arrays" for number in range(len(segments))]
    counts = [write(path, [file for _, file, _ in files], order) for path, files in zip(paths, segments, strict=True)]
    write_arrays(folder / "numbering.arrays", numbers(segments))
    return LexicalIndex(paths, Numbering(counts, Arrays(folder / "numbering.arrays")))


def numbers(segments: Sequence[Sequence[tuple[str, File, bool]]]) -> dict[str, np.ndarray]:
    alive = [[path if alive else None for path, _, alive in segment] for segment in segments]
    sizes = {
        "symbols": [np.zeros(len(segment), np.int64) for segment in segments],
        "units": [np.array([len(file.names) for _, file, _ in segment], np.int64) for segment in segments],
        "chunks": [np.array([len(file.chunks) for _, file, _ in segment], np.int64) for segment in segments],
    }
    return number_slots(alive) | row_sizes(sizes)


@examples(100)
@given(files=spread(), order=st.permutations(range(len(TERMS))))
def test_an_answer_does_not_depend_on_the_segments(
    tmp_path_factory: pytest.TempPathFactory,
    files: tuple[list[File], list[list[tuple[str, File, bool]]]],
    order: list[int],
) -> None:
    """To the last bit: files over 1 to 4 segments beside dead ones, and the same files in one."""
    folder = tmp_path_factory.mktemp("bm25")
    living, segments = files
    one, split = whole(folder, living), several(folder, segments, order)
    assert one.n_files == split.n_files == len(living)
    assert one.unit_file.tobytes() == split.unit_file.tobytes()
    assert one.chunk_unit.tobytes() == split.chunk_unit.tobytes()
    for field, rows in bags_of(living).items():
        known = []
        for number, text in enumerate(TERMS):
            has = [row for row, bag in enumerate(rows) if any(number in WORD_TERMS[word] for word, _ in bag)]
            pair = one.term(text), split.term(text)
            for index, term in zip((one, split), pair, strict=True):  # its rows are what it is found in, dead ones not
                assert (index.rows(field, term).tolist() if term is not None else []) == has
            if pair[1] is not None:
                known.append((pair, 0.3 + number))
        theirs = one.scores(field, [(term, weight) for (term, _), weight in known if term is not None])
        ours = split.scores(field, [(term, weight) for (_, term), weight in known])
        assert theirs.tobytes() == ours.tobytes() and len(ours) == len(rows)


def test_the_rows_of_a_term_ascend(tmp_path: Path) -> None:
    here = File([[(0, 1)]], [(0, [(0, 1)])], [(0, 1)])
    index = several(tmp_path, [[("b", here, True), ("d", here, True)], [("a", here, True), ("c", here, True)]])
    term = index.term("pool")
    assert term is not None
    assert [index.rows(field, term).tolist() for field in FIELDS] == [[0, 1, 2, 3]] * 4


def test_no_segment_finds_nothing() -> None:
    index = LexicalIndex([], Numbering([]))
    assert index.term("pool") is None and index.n_files == 0
    assert all(index.scores(field, []).tolist() == [] for field in FIELDS)


@pytest.mark.parametrize("files", [[], [File([], [], [])], [File([[]], [(0, [])], [])]])
def test_a_segment_without_terms_finds_nothing(tmp_path: Path, files: list[File]) -> None:
    index = whole(tmp_path, files)
    assert index.term("pool") is None and index.term("") is None
    assert [len(index.scores(field, [])) for field in FIELDS] == [len(rows) for rows in bags_of(files).values()]
    other = ("z", File([[(0, 1)]], [(0, [(0, 1)])], [(0, 1)]), True)
    split = several(tmp_path, [[("a", file, True) for file in files], [other]])
    term = split.term("pool")
    assert term is not None and split.rows("files", term).tolist() == [len(files)]


def test_words_that_are_not_there_are_not_found(tmp_path: Path) -> None:
    index = whole(tmp_path, [File([], [], [(word, 1) for word in range(len(WORD_TERMS))])])
    assert [index.term(text) for text in ("", "b", "zebras", "ünïcod", "connection pool", "\ud800")] == [None] * 6
    found = [term for text in TERMS if (term := index.term(text)) is not None]
    assert sorted(term.columns for term in found) == [(i,) for i in range(len(TERMS))]


# --- counting ---------------------------------------------------------------------------------------------------------


@examples(60)
@given(
    rows=st.lists(
        st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9) | st.integers(1, 700)), max_size=8), max_size=9
    ),
    size=st.integers(1, 5),
)
def test_counts_add_up(rows: list[Bag], size: int) -> None:
    """Whatever the slices are."""
    indptr = np.cumsum([0, *map(len, WORD_TERMS)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(term_counts, "_SLICE", size)
        found = count(
            sparse(rows), indptr, np.array([t for word in WORD_TERMS for t in word], np.int32), len(rows), len(TERMS)
        )
    table = np.zeros((len(TERMS), len(rows)), np.int64)
    for row, bag in enumerate(rows):
        for word, value in bag:
            for term in WORD_TERMS[word]:
                table[term, row] += value
    terms, places = np.nonzero(table)
    assert found.rows.tolist() == places.tolist() and found.counts.tolist() == table[terms, places].tolist()
    assert found.starts.tolist() == [0, *np.cumsum(np.count_nonzero(table, axis=1)).tolist()]
    assert found.lengths.tolist() == table.sum(axis=0).tolist()


def test_a_value_too_large_to_stand_beside_its_coordinates_counts_whole() -> None:
    n_rows, n_columns, value = 1 << 20, 1 << 21, (1 << 24) + 3  # 20, 21 and 25 bits of 64
    items = Sparse(np.array([5, 5, 6], np.int32), np.zeros(3, np.int32), np.array([value, 7, 1], np.int32))
    found = count(items, np.array([0, 1]), np.array([n_columns - 1], np.int32), n_rows, n_columns)
    assert found.starts[-2:].tolist() == [0, 2]
    assert found.rows.tolist() == [5, 6] and found.counts.tolist() == [value + 7, 1]
    assert found.lengths[4:8].tolist() == [0, value + 7, 1, 0]


# --- damage -----------------------------------------------------------------------------------------------------------

FILES = [
    File([[(2, 5)], [(0, 1)]], [(0, [(2, 1), (4, 2)]), (1, [(0, 1)])], [(0, 2)]),
    File([[(1, 1)]], [(0, [(1, 400)])], [(1, 1)]),
]
OFFSETS = ("sizes", "blocks", "wide", "widths")
ARRAYS = [
    *("terms", "chunk_unit", "unit_file", "files_lengths"),
    *(f"{field}_{name}" for field in ("terms", "content", "names", "paths") for name in OFFSETS),
    *(
        f"{field}_{name}"
        for field in ("content", "names", "paths")
        for name in ("lengths", "rows", "counts", "many", "often")
    ),
]


def use(path: Path, counts: dict[str, int]) -> None:
    index = LexicalIndex([path], Numbering([counts]))
    for text in TERMS:
        term = index.term(text)
        for field in FIELDS if term is not None else ():
            index.scores(field, [(term, 1.0)])
            index.rows(field, term)


def replaced(folder: Path, name: str, values: np.ndarray | None) -> tuple[Path, dict[str, int]]:
    counts = write(folder / "sound.arrays", FILES)
    sound = Arrays(folder / "sound.arrays")
    use(folder / "sound.arrays", counts)
    arrays = {each: sound.array(each, "u1", "u2", "i4", "i8") for each in ARRAYS}
    assert values is None or values.tolist() != arrays[name].tolist() or values.dtype != arrays[name].dtype
    path = folder / "lexical.arrays"
    write_arrays(path, {each: found for each, found in (arrays | {name: values}).items() if found is not None})
    return path, counts


def with_item(values: np.ndarray, place: int, item: int) -> np.ndarray:
    wide = np.int64 if values.dtype == np.int64 or abs(item) >= 1 << 31 else np.int32
    changed = values.copy() if values.dtype == np.uint8 and 0 <= item < 1 << 8 else values.astype(wide)
    changed[place] = item
    return changed


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_is_missing_or_too_short_or_of_another_type_is_damage(tmp_path: Path, name: str) -> None:
    write(tmp_path / "x.arrays", FILES)
    sound = Arrays(tmp_path / "x.arrays").array(name, "u1", "u2", "i4", "i8")
    for values in (None, *((sound[:0], sound[:-1]) if len(sound) else ()), sound.astype(np.float32)):
        path, counts = replaced(tmp_path, name, values)
        with pytest.raises(DamagedIndexError, match=r"lexical\.arrays: "):
            use(path, counts)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_is_too_long_is_damage(tmp_path: Path, name: str) -> None:
    write(tmp_path / "x.arrays", FILES)
    sound = Arrays(tmp_path / "x.arrays").array(name, "u1", "u2", "i4", "i8")
    path, counts = replaced(tmp_path, name, np.append(sound, np.ones(1, sound.dtype)))
    with pytest.raises(DamagedIndexError, match=r"lexical\.arrays: "):
        use(path, counts)


@pytest.mark.parametrize("field", ["content", "names", "paths"])
def test_postings_of_no_term_are_damage(tmp_path: Path, field: str) -> None:
    path, counts = replaced(tmp_path, "chunk_unit", None)
    sound = Arrays(tmp_path / "sound.arrays")
    arrays = {name: sound.array(name, "u1", "u2", "i4", "i8") for name in ARRAYS}
    for name in (f"{field}_rows", f"{field}_counts"):
        arrays[name] = np.append(arrays[name], np.repeat(arrays[name][-1:], 2 if name.endswith("rows") else 1))
    write_arrays(path, arrays)
    with pytest.raises(DamagedIndexError, match="do not lie inside"):
        use(path, counts)


FAR = 1 << 40
OUTSIDE = [
    *((name, place, item) for name in ("chunk_unit", "unit_file") for place, item in ((0, -1), (-1, 3))),
    *((f"{field}_lengths", 0, -1) for field in FIELDS),
    *((f"{field}_rows", place, item) for field in ("content", "names", "paths") for place, item in ((0, -1), (-1, 3))),
    *((f"{field}_counts", 0, item) for field in ("content", "names", "paths") for item in (0, 15)),
    ("content_many", 0, 0),
    ("content_often", 0, 0),
    *(
        (f"{name}", place, item)
        for name in ("content_blocks", "names_blocks", "paths_blocks", "terms_blocks")
        for place, item in ((0, -1), (0, 1), (0, FAR), (0, -FAR), (-1, -1), (-1, FAR), (-1, -FAR), (-1, 0))
    ),
]


@pytest.mark.parametrize(("name", "place", "item"), OUTSIDE)
def test_a_number_out_of_range_is_damage(tmp_path: Path, name: str, place: int, item: int) -> None:
    write(tmp_path / "x.arrays", FILES)
    sound = Arrays(tmp_path / "x.arrays").array(name, "u1", "u2", "i4", "i8")
    path, counts = replaced(tmp_path, name, with_item(sound, place, item))
    with pytest.raises(DamagedIndexError, match=r"lexical\.arrays: "):
        use(path, counts)


@pytest.mark.parametrize("row", [-1, 0, 9])
def test_rows_of_a_term_that_do_not_ascend_are_damage(tmp_path: Path, row: int) -> None:
    counts = write(tmp_path / "x.arrays", [File([[]], [(0, [(0, 1)])] * 3, [])])
    sound = Arrays(tmp_path / "x.arrays")
    arrays = {each: sound.array(each, "u1", "u2", "i4", "i8") for each in ARRAYS}
    assert arrays["content_rows"].tolist() == [0, 1, 2]  # of one term
    write_arrays(tmp_path / "lexical.arrays", arrays | {"content_rows": with_item(arrays["content_rows"], 1, row)})
    with pytest.raises(DamagedIndexError, match="a row that does not exist"):
        use(tmp_path / "lexical.arrays", counts)


def content(path: Path) -> bytes:
    """A file of arrays without its checksums."""
    return bytes(ChecksummedFile(map_file(path), path.name).content)


@examples(100)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3))
def test_a_shard_with_flipped_bits_answers_or_is_damage(
    tmp_path_factory: pytest.TempPathFactory, flips: list[tuple[float, int]]
) -> None:
    path = tmp_path_factory.mktemp("bm25") / "lexical.arrays"
    counts = write(path, FILES)
    data = bytearray(content(path))
    for place, bits in flips:
        data[int(place * len(data))] ^= bits
    path.write_bytes(data)
    append_sums(path)  # somebody has made the checksums fit
    try:
        use(path, counts)
    except DamagedIndexError as error:
        assert "lexical.arrays: " in str(error)


@pytest.mark.parametrize("kind", ["files", "units", "chunks"])
def test_a_shard_of_another_index_is_damage(tmp_path: Path, kind: str) -> None:
    counts = write(tmp_path / "x.arrays", FILES)
    for n in (0, counts[kind] - 1, counts[kind] + 1):
        with pytest.raises(DamagedIndexError):
            use(tmp_path / "x.arrays", {**counts, kind: n})


def test_rows_that_live_in_dead_ones_are_damage(tmp_path: Path) -> None:
    segments = [[("a", FILES[0], False), ("b", FILES[1], True)]]
    counts = [write(tmp_path / "0.arrays", FILES[:2])]
    for kind in ("units", "chunks"):
        maps = numbers(segments)
        maps[f"{kind}_sizes"] += np.array([-1, 1], np.int32)  # the first file's last row counts as the second's
        write_arrays(tmp_path / "wrong.arrays", maps)
        with pytest.raises(DamagedIndexError, match="not deleted in deleted"):
            LexicalIndex([tmp_path / "0.arrays"], Numbering(counts, Arrays(tmp_path / "wrong.arrays")))
