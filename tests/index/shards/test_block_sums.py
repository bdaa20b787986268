"""Checksums of blocks: found are a flipped bit anywhere in a file, and what a disk does to pages; nothing is read twice."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from lci_py.errors import DamagedIndexError
from lci_py.index.shards import arrays
from lci_py.index.shards.arrays import SUMMED, Arrays, ChecksummedFile, append_sums, write_arrays
from lci_py.index.shards.dense import VectorFile, write_dense

SIZES = [0, 1, 7, 8, 9, SUMMED - 1, SUMMED, SUMMED + 1, 3 * SUMMED + 12]


@pytest.fixture(params=["numpy", "plain"])
def summing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With numpy, and as in a query that does not import it."""
    if request.param == "plain":
        monkeypatch.delitem(sys.modules, "numpy")
    return str(request.param)


def finished(path: Path, content: bytes) -> bytearray:
    path.write_bytes(content)
    append_sums(path)
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("size", SIZES)
def test_what_was_written_is_found_sound(tmp_path: Path, summing: str, size: int) -> None:
    content = random.Random(size).randbytes(size)
    found = ChecksummedFile(memoryview(finished(tmp_path / "x", content)), "x")
    found.check()
    found.check(0, 0)
    found.check(size // 2, size)
    assert bytes(found.content) == content


def test_both_ways_to_add_up_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\xff" * (2 * SUMMED) + random.Random(1).randbytes(SUMMED + 40)  # sums above 2**64 as well
    with_numpy = arrays._sums(memoryview(data))
    monkeypatch.delitem(sys.modules, "numpy")
    assert arrays._sums(memoryview(data)) == with_numpy
    assert len(with_numpy) == 4


@pytest.mark.parametrize("size", [1, 30, SUMMED + 20])
def test_a_flipped_bit_anywhere_in_a_file_is_damage(tmp_path: Path, summing: str, size: int) -> None:
    data = finished(tmp_path / "x", random.Random(size).randbytes(size))
    ends = {*range(min(size, 40)), *range(len(data) - 60, len(data))}
    for at in sorted(place for place in ends if place >= 0):
        for bit in range(8):
            data[at] ^= 1 << bit
            with pytest.raises(DamagedIndexError, match="x: its checksums"):
                ChecksummedFile(memoryview(data), "x").check()
            data[at] ^= 1 << bit
    ChecksummedFile(memoryview(data), "x").check()


def test_pages_that_change_places_or_are_lost_are_damage(tmp_path: Path) -> None:
    pages = [bytes([number]) * SUMMED for number in (1, 2, 3)]
    data = bytes(finished(tmp_path / "x", b"".join(pages)))
    rest = data[3 * SUMMED :]
    for wrong in ([2, 1, 3], [1, 1, 3], [1, 2, 0]):
        page = b"".join(bytes([number]) * SUMMED for number in wrong)
        with pytest.raises(DamagedIndexError):
            ChecksummedFile(memoryview(page + rest), "x").check()


def test_only_what_is_touched_is_checked_and_only_once(tmp_path: Path) -> None:
    data = finished(tmp_path / "x", bytes(4 * SUMMED))
    data[2 * SUMMED + 5] = 1
    found = ChecksummedFile(memoryview(data), "x")
    found.check(0, 2 * SUMMED)
    found.check(3 * SUMMED, 4 * SUMMED)
    for start, stop in ((2 * SUMMED + 100, 2 * SUMMED + 101), (0, 4 * SUMMED), (SUMMED, 2 * SUMMED + 1)):
        with pytest.raises(DamagedIndexError):
            found.check(start, stop)
    data[5] = 1  # in a block that is known to be sound
    found.check(0, SUMMED)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x40
    path.write_bytes(data)


def test_an_array_is_checked_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.arrays"
    write_arrays(path, {"a": np.arange(SUMMED, dtype=np.int32), "b": np.arange(SUMMED, dtype=np.int32)})
    flip(path, 7 * SUMMED)  # in the second array
    arrays = Arrays(path)
    assert arrays.array("a", "i4")[5] == 5
    for read in (arrays.view, arrays.array):
        with pytest.raises(DamagedIndexError, match="checksums"):
            read("b", "i4")
    items = arrays.array("b", "i4", check=False)
    arrays.check_items("b", 0, 10)
    assert items[9] == 9
    with pytest.raises(DamagedIndexError, match="checksums"):
        arrays.check_items("b", 0, len(items))


def test_vectors_are_checked_before_they_are_multiplied(tmp_path: Path) -> None:
    path, rows, dimension = tmp_path / "d.faiss", 3_000, 32
    write_dense(path, np.full((rows, dimension), 0.5, np.float32), np.arange(rows))

    def opened() -> VectorFile:
        return VectorFile(path, dimension=dimension, rows=rows, units=rows)

    assert opened().products(np.ones(dimension, np.float32)).tolist() == [16.0] * rows
    flip(path, 4 * rows * dimension)  # one of the last vectors
    with pytest.raises(DamagedIndexError, match="checksums"):
        opened().products(np.ones(dimension, np.float32))
