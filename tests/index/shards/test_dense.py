"""The dense shards have exact scores, however chunks are spread over segments, and damaged files are refused."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index.shards import dense
from lci_py.index.shards.arrays import Arrays, append_sums
from lci_py.index.shards.dense import DenseIndex, open_vectors, write_compact, write_dense
from lci_py.index.shards.numbering import Numbering
from tests.support.layout import random_layouts
from tests.support.properties import examples


def unit(random: np.random.Generator, n: int, dimension: int) -> np.ndarray:
    found = random.standard_normal((n, dimension)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def opened(path: Path, units: int, chunks: int, dimension: int) -> DenseIndex:
    counts = {"files": 1, "symbols": 0, "units": units, "chunks": chunks}
    return DenseIndex([path], Numbering([counts]), dimension)


# --- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "dimension"), [(0, 192), (1, 1), (5, 33), (23, 192)])
def test_the_bytes_are_those_of_faiss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, dimension: int
) -> None:
    monkeypatch.setattr(dense, "BLOCK", 7)
    random = np.random.default_rng(rows)
    data, units = unit(random, rows, dimension), np.sort(random.integers(0, 9, rows)).astype(np.int64)
    index = faiss.IndexIDMap(faiss.IndexFlatIP(dimension))
    if rows:
        index.add_with_ids(data, units)
    faiss.write_index(index, str(tmp_path / "theirs"))
    write_dense(tmp_path / "ours", data, units)
    theirs = (tmp_path / "theirs").read_bytes()
    assert (tmp_path / "ours").read_bytes()[: len(theirs)] == theirs  # what follows are our checksums
    again = faiss.read_index(str(tmp_path / "ours"))
    assert (again.ntotal, again.d) == (rows, dimension)


def changed(at: int, code: str, value: object) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + struct.pack(f"<{code}", value) + data[at + struct.calcsize(code) :]


ROWS, DIMENSION = 5, 6
IDS = 90 + 4 * ROWS * DIMENSION
END = IDS + 8 * ROWS  # of what faiss reads
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "a header alone": lambda data: data[:40],
    "cut short": lambda data: data[:-1],
    "too long": lambda data: data + b"\0",
    "no faiss file": lambda data: b"PK" + data[2:],
    "another kind of index": lambda data: data[:37] + b"IxF2" + data[41:],
    "another dimension": changed(4, "i", 7),
    "another dimension inside": changed(41, "i", 7),
    "more rows": changed(8, "q", 1 << 40),
    "more rows inside": changed(45, "q", 1 << 40),
    "another metric": changed(33, "i", 1),
    "floats for all memory": changed(74, "Q", 1 << 50),
    "ids for all memory": changed(IDS - 8, "Q", 1 << 50),
    "a unit too far": changed(IDS, "q", 3),
    "a unit below zero": changed(IDS + 8, "q", -1),
    "a file of folders": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_not_what_was_written_is_a_damaged_index(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "d.faiss"
    write_dense(path, unit(np.random.default_rng(0), ROWS, DIMENSION), np.array([0, 0, 1, 2, 2]))
    opened(path, 3, ROWS, DIMENSION).cosines(np.ones(DIMENSION, np.float32))
    path.write_bytes(DAMAGE[damage](path.read_bytes()[:END]))
    append_sums(path)  # somebody has made the checksums fit
    with pytest.raises(DamagedIndexError, match=r"d\.faiss: (?!its checksums)"):
        opened(path, 3, ROWS, DIMENSION)


@pytest.mark.parametrize(("rows", "dimension"), [(ROWS, 7), (ROWS, 0), (ROWS, -6), (4, DIMENSION), (-5, DIMENSION)])
def test_a_file_of_another_index_is_a_damaged_index(tmp_path: Path, rows: int, dimension: int) -> None:
    path = tmp_path / "d.faiss"
    write_dense(path, unit(np.random.default_rng(0), ROWS, DIMENSION), np.array([0, 0, 1, 2, 2]))
    with pytest.raises(DamagedIndexError, match="dimensions"):
        opened(path, 3, rows, dimension)


def test_vectors_without_a_dimension_are_a_damaged_index(tmp_path: Path) -> None:
    write_dense(tmp_path / "d.faiss", np.zeros((3, 0), np.float32), np.arange(3))
    with pytest.raises(DamagedIndexError, match="0 dimensions"):
        opened(tmp_path / "d.faiss", 3, 3, 0)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    write_dense(tmp_path / "real", unit(np.random.default_rng(0), 2, 3), np.arange(2))
    (tmp_path / "d.faiss").symlink_to(tmp_path / "real")
    with pytest.raises(DamagedIndexError):
        opened(tmp_path / "d.faiss", 2, 2, 3)


# --- searching --------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[0, 7, 1 << 23])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the second query on, a small segment's vectors are a copy; a large one's are copied piece by piece."""
    monkeypatch.setattr(dense, "KEPT", request.param)
    monkeypatch.setattr(dense, "_AT_A_TIME", request.param % 1000 + 3)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("dimension", [1, 2, 33, 256])
@pytest.mark.parametrize("chunks", [3, 7, 17, 401])
def test_equal_chunks_tie_wherever_they_stand(tmp_path: Path, chunks: int, dimension: int) -> None:
    """A product of matrices rounds the last rows in another way, which would rank copies out of the order of paths."""
    vector, query = unit(np.random.default_rng(1), 2, dimension)
    write_dense(tmp_path / "d.faiss", np.tile(vector, (chunks, 1)), np.arange(chunks, dtype=np.int64))
    index = opened(tmp_path / "d.faiss", chunks, chunks, dimension)
    found = [index.cosines(query) for _ in range(3)]
    assert len(found[0]) == chunks and len(np.unique(np.concatenate(found))) == 1
    assert index.best(found[0]).tobytes() == found[0].tobytes()


@examples(60)
@given(data=st.data())
def test_a_unit_is_as_near_as_its_nearest_chunk(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n_units = data.draw(st.integers(1, 40))
    units = rng.integers(0, n_units, data.draw(st.integers(0, 120))).astype(np.int64)
    rows = rng.choice([-0.5, 0.25, 0.5], (len(units), 4)).astype(np.float32)
    path = tmp_path_factory.mktemp("dense") / "dense.faiss"
    write_dense(path, rows, units)
    index = opened(path, n_units, len(units), 4)
    query = np.array([0.75, 0.5, -0.25, 0.125], np.float32)
    for _ in range(3):
        cosines = index.cosines(query)
        assert cosines.tolist() == (rows @ query).tolist()  # these sums are exact
    best = [max((float(cosines[i]) for i in np.flatnonzero(units == n)), default=-np.inf) for n in range(n_units)]
    assert index.best(cosines).tolist() == best


@pytest.mark.usefixtures("kept")
def test_what_is_no_number_is_far_from_everything(tmp_path: Path) -> None:
    rows = unit(np.random.default_rng(0), 3, 4)
    rows[1] = np.nan
    write_dense(tmp_path / "d.faiss", rows, np.arange(3))
    index = opened(tmp_path / "d.faiss", 3, 3, 4)
    for _ in range(2):
        assert index.cosines(rows[0]).tolist()[1] == -1


@examples(50)
@given(
    seed=st.integers(0, 1 << 20), segments=st.integers(1, 4), dimension=st.sampled_from([3, 33, 192]),
)  # fmt: skip
def test_an_answer_does_not_depend_on_the_segments(
    tmp_path_factory: pytest.TempPathFactory, seed: int, segments: int, dimension: int
) -> None:
    """To the last bit: files over 1 to 4 segments beside dead rows, and the same files in one."""
    rng = np.random.default_rng(seed)
    one, several = random_layouts(tmp_path_factory.mktemp("dense"), rng, segments, dimension, 20)
    whole, spread = (DenseIndex(layout.dense, layout.numbering, dimension) for layout in (one, several))
    assert whole.chunks == spread.chunks
    for _ in range(3):
        query = unit(rng, 1, dimension)[0]
        left, right = whole.cosines(query), spread.cosines(query)
        slots = [layout.numbering.slots_array("chunks") for layout in (one, several)]
        assert left[slots[0]].tobytes() == right[slots[1]].tobytes()
        assert whole.best(left).tobytes() == spread.best(right).tobytes()


def test_dead_chunks_are_nobodys(tmp_path: Path) -> None:
    """Not even if they are the closest by far."""
    _, several = random_layouts(tmp_path, np.random.default_rng(11), 3, 8, 20)
    index = DenseIndex(several.dense, several.numbering, 8)
    alive = several.numbering.slots_array("chunks")
    values = np.full(sum(counts["chunks"] for counts in several.numbering.counts), 9, np.float32)
    assert len(alive) == index.chunks < len(values)
    values[alive] = 0.5
    assert index.best(values).tolist() == [0.5] * several.numbering.total("units")


def test_shards_of_other_segments(tmp_path: Path) -> None:
    _, several = random_layouts(tmp_path, np.random.default_rng(1), 2, 4, 20)
    with pytest.raises(DamagedIndexError):
        DenseIndex(several.dense[::-1], several.numbering, 4)


# --- the compact file -------------------------------------------------------------------------------------------------


@examples(40)
@given(seed=st.integers(0, 1 << 20), rows=st.integers(0, 30), dimension=st.sampled_from([1, 6, 192]))
def test_a_compact_row_is_near(tmp_path_factory: pytest.TempPathFactory, seed: int, rows: int, dimension: int) -> None:
    folder, random = tmp_path_factory.mktemp("compact"), np.random.default_rng(seed)
    data = unit(random, rows, dimension) * 2.0 ** random.integers(-9, 9, (rows, 1)).astype(np.float32)
    data[random.random(rows) < 0.2] = 0
    owners = random.integers(0, 5, rows)
    write_compact(folder / "one.arrays", data, owners)
    found = open_vectors(folder / "one.arrays", dimension=dimension, rows=rows, units=5)
    assert np.array_equal(found.units, owners)
    lengths = np.linalg.norm(data, axis=1)
    question = unit(random, 1, dimension)[0]
    assert (np.abs(found.products(question) - data @ question) <= lengths / 50).all()


def test_equal_compact_rows_have_equal_products(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense, "_AT_A_TIME", 7)
    random = np.random.default_rng(1)
    write_compact(tmp_path / "x.arrays", np.repeat(unit(random, 1, 192), 40, axis=0), np.zeros(40, np.int64))
    found = open_vectors(tmp_path / "x.arrays", dimension=192, rows=40, units=1)
    assert len(set(found.products(unit(random, 1, 192)[0]).tolist())) == 1


@pytest.mark.parametrize("wrong", [{"rows": 4}, {"dimension": 5}, {"units": 2}])
def test_a_compact_file_of_another_index_is_refused(tmp_path: Path, wrong: dict[str, int]) -> None:
    write_compact(tmp_path / "x.arrays", unit(np.random.default_rng(1), 5, 6), np.arange(5) % 3)
    right = {"rows": 5, "dimension": 6, "units": 3}
    open_vectors(tmp_path / "x.arrays", **right)
    with pytest.raises(DamagedIndexError):
        open_vectors(tmp_path / "x.arrays", **right | wrong)


def test_a_flipped_bit_of_a_compact_row_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.arrays"
    write_compact(path, unit(np.random.default_rng(1), 5, 6), np.zeros(5, np.int64))
    at = Arrays(path)._table["codes"][1]
    data = bytearray(path.read_bytes())
    data[at] ^= 4
    path.write_bytes(data)
    with pytest.raises(DamagedIndexError):
        open_vectors(path, dimension=6, rows=5, units=1).products(np.ones(6, np.float32))
