"""The dense shards: exact scores, the same however chunks are spread over segments, and what a damaged file is."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index import vectors
from lci_py.index.dense import DenseIndex
from lci_py.index.numbering import Numbering
from lci_py.index.vectors import write_dense
from tests.index.layout import random_layouts


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
    monkeypatch.setattr(vectors, "BLOCK", 7)
    random = np.random.default_rng(rows)
    data, units = unit(random, rows, dimension), np.sort(random.integers(0, 9, rows)).astype(np.int64)
    index = faiss.IndexIDMap(faiss.IndexFlatIP(dimension))
    if rows:
        index.add_with_ids(data, units)
    faiss.write_index(index, str(tmp_path / "theirs"))
    write_dense(tmp_path / "ours", data, units)
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    again = faiss.read_index(str(tmp_path / "ours"))
    assert (again.ntotal, again.d) == (rows, dimension)


def changed(at: int, code: str, value: object) -> Callable[[bytes], bytes]:
    return lambda data: data[:at] + struct.pack(f"<{code}", value) + data[at + struct.calcsize(code) :]


ROWS, DIMENSION = 5, 6
IDS = 90 + 4 * ROWS * DIMENSION
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
    opened(path, 3, ROWS, DIMENSION).search(np.ones(DIMENSION, np.float32), 3)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.raises(DamagedIndexError, match=r"d\.faiss: "):
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


@pytest.mark.parametrize("chunks", [3, 7, 17, 401])
def test_equal_chunks_tie_wherever_they_stand(tmp_path: Path, chunks: int) -> None:
    """A product of matrices rounds the last rows in another way, which would rank copies out of the order of paths."""
    vector, query = unit(np.random.default_rng(1), 2, 256)
    write_dense(tmp_path / "d.faiss", np.tile(vector, (chunks, 1)), np.arange(chunks, dtype=np.int64))
    index = opened(tmp_path / "d.faiss", chunks, chunks, 256)
    found, place, cosines = index.chunks_of(query, np.arange(chunks, dtype=np.int64))
    assert found.tolist() == place.tolist() == list(range(chunks)) and len(np.unique(cosines)) == 1
    units, best = index.search(query, chunks)
    assert units.tolist() == list(range(chunks)) and set(best.tolist()) == set(cosines.tolist())


@settings(max_examples=60)
@given(data=st.data())
def test_search_is_exact_for_every_limit_and_filter(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n_units = data.draw(st.integers(1, 40))
    units = np.sort(rng.integers(0, n_units, data.draw(st.integers(0, 120)))).astype(np.int64)
    # Few distinct vectors, so that ties are common.
    rows = rng.choice([-0.5, 0.25, 0.5], (len(units), 4)).astype(np.float32)
    path = tmp_path_factory.mktemp("dense") / "dense.faiss"
    write_dense(path, rows, units)
    index = opened(path, n_units, len(units), 4)
    query = np.array([0.75, 0.5, -0.25, 0.125], np.float32)
    allowed = rng.random(n_units) < 0.5 if data.draw(st.booleans()) else None
    best: dict[int, float] = {}
    for number, vector in zip(units.tolist(), rows, strict=True):
        if allowed is None or allowed[number]:
            best[number] = max(best.get(number, -9.0), float(vector @ query))
    wanted = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    limit = data.draw(st.integers(0, 50))
    got_units, got_cosines = index.search(query, limit, allowed)
    assert list(zip(got_units.tolist(), got_cosines.tolist(), strict=True)) == wanted[:limit]
    asked = np.array(sorted(best), np.int64)
    chunks, place, cosines = index.chunks_of(query, asked)
    assert chunks.tolist() == np.flatnonzero(np.isin(units, asked)).tolist()
    assert asked[place].tolist() == units[chunks].tolist()
    np.testing.assert_allclose(cosines, rows[chunks] @ query, atol=1e-6)


def test_many_ties_at_the_limit_go_by_unit(tmp_path: Path) -> None:
    """faiss names some of them, in no order: the others must be looked for."""
    random = np.random.default_rng(3)
    rows = unit(random, 3000, 16)
    query = rows[7].copy()
    same = random.choice(3000, 900, replace=False)
    rows[same] = rows[5]
    cosines = np.einsum("ij,j->i", rows, query)
    better = int((cosines > cosines[5]).sum())
    write_dense(tmp_path / "d.faiss", rows, np.arange(3000, dtype=np.int64))
    units, _ = opened(tmp_path / "d.faiss", 3000, 3000, 16).search(query, better + 20)
    assert units[-20:].tolist() == sorted({5, *same.tolist()})[:20]


@settings(max_examples=50)
@given(
    seed=st.integers(0, 1 << 20), segments=st.integers(1, 4), dimension=st.sampled_from([3, 33, 192]), data=st.data()
)
def test_an_answer_does_not_depend_on_the_segments(
    tmp_path_factory: pytest.TempPathFactory, seed: int, segments: int, dimension: int, data: st.DataObject
) -> None:
    """To the last bit: files over 1 to 4 segments beside dead rows, and the same files in one."""
    rng = np.random.default_rng(seed)
    one, several = random_layouts(tmp_path_factory.mktemp("dense"), rng, segments, dimension, 20)
    whole, spread = (DenseIndex(layout.dense, layout.numbering, dimension) for layout in (one, several))
    n = one.numbering.total("units")
    assert whole.chunks == spread.chunks
    query = unit(rng, 1, dimension)[0]
    allowed = rng.random(n) < data.draw(st.sampled_from([0.0, 0.3, 0.9])) if data.draw(st.booleans()) else None
    limit = data.draw(st.integers(1, n + 3))
    for left, right in zip(whole.search(query, limit, allowed), spread.search(query, limit, allowed), strict=True):
        assert left.tobytes() == right.tobytes() and left.dtype == right.dtype
    asked = np.sort(rng.choice(n, int(rng.integers(0, n + 1)), replace=False))
    for left, right in zip(whole.chunks_of(query, asked), spread.chunks_of(query, asked), strict=True):
        assert left.tobytes() == right.tobytes() and left.dtype == right.dtype


def test_dead_chunks_take_no_place(tmp_path: Path) -> None:
    """Not even if they are the closest by far, and more than faiss is asked for."""
    rng = np.random.default_rng(11)
    _, several = random_layouts(tmp_path, rng, 3, 8, 20)
    index = DenseIndex(several.dense, several.numbering, 8)
    n = several.numbering.total("units")
    units, _ = index.search(unit(rng, 1, 8)[0], n)
    assert sorted(units.tolist()) == list(range(n))
    assert sum(segment.file.rows for segment in index._segments) > index.chunks


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_ours_however_faiss_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Another release, processor or filter may add up in another order, by position even."""
    random = np.random.default_rng(seed)
    rows = unit(random, 2000, 64)
    rows[random.integers(0, 2000, 1000)] = rows[3]
    query = unit(random, 1, 64)[0]
    write_dense(tmp_path / "d.faiss", rows, np.arange(2000) // 2)
    index = opened(tmp_path / "d.faiss", 1000, 2000, 64)
    expected = [index.search(query, limit) for limit in (1, 10, 400)]
    index._segments[0]._open()
    real = index._segments[0]._index
    noise = random.uniform(-1, 1, 2000) * 64 * 2.0**-24

    class Rough:
        def search(self, query: np.ndarray, wanted: int, params: object = None) -> tuple[np.ndarray, np.ndarray]:
            scores, found = real.search(query, 2000)
            scores = scores[0] + noise[found[0]].astype(np.float32)
            order = np.argsort(-scores, kind="stable")[:wanted]
            return scores[order][None], found[0][order][None]

    index._segments[0]._index = Rough()
    for limit, (units, cosines) in zip((1, 10, 400), expected, strict=True):
        got, scores = index.search(query, limit)
        assert got.tolist() == units.tolist() and scores.tobytes() == cosines.tobytes()


def test_as_many_shards_as_segments(tmp_path: Path) -> None:
    one, several = random_layouts(tmp_path, np.random.default_rng(1), 2, 4, 20)
    with pytest.raises(DamagedIndexError, match="1 dense shards of 2 segments"):
        DenseIndex(one.dense, several.numbering, 4)
    with pytest.raises(DamagedIndexError):
        DenseIndex(several.dense[::-1], several.numbering, 4)
