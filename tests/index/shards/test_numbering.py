"""Public numbers: a query sees the living files as if one segment held them all."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.numbering import COUNTED, Numbering, number_slots
from tests.support.layout import row_sizes

ROWS = COUNTED[1:]


@dataclass(frozen=True)
class File:
    path: str
    alive: bool
    rows: tuple[int, int, int]  # of ROWS

    def size(self, kind: str) -> int:
        return 1 if kind == "files" else self.rows[ROWS.index(kind)]


@st.composite
def layouts(draw: st.DrawFn) -> list[list[File]]:
    """Segments, none of them empty; a path is alive in one of them at most, and dead in any."""
    segments: list[list[File]] = [[] for _ in range(draw(st.integers(1, 5)))]
    names = st.text("ab/é.", min_size=1, max_size=4)
    sizes = st.tuples(*[st.integers(0, 4)] * 3)
    for path in draw(st.lists(names, unique=True, max_size=12)):
        home = draw(st.integers(-1, len(segments) - 1))  # -1: it is gone
        for number, segment in enumerate(segments):
            if number == home or draw(st.booleans()):
                segment.append(File(path, number == home, draw(sizes)))
    return [sorted(segment, key=lambda file: file.path) for segment in segments if segment]


def numbered(segments: Sequence[Sequence[File]]) -> dict[str, np.ndarray]:
    paths = [[file.path if file.alive else None for file in segment] for segment in segments]
    sizes = {kind: [np.array([file.size(kind) for file in s], np.int32) for s in segments] for kind in ROWS}
    return number_slots(paths) | row_sizes(sizes)


def counts_of(segments: Sequence[Sequence[File]]) -> list[dict[str, int]]:
    return [{kind: sum(file.size(kind) for file in segment) for kind in COUNTED} for segment in segments]


def opened(segments: Sequence[Sequence[File]], **changes: object) -> Numbering:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbering.arrays"
        write_arrays(path, {**numbered(segments), **changes})  # type: ignore[arg-type]
        return Numbering(counts_of(segments), Arrays(path))


def naive(segments: Sequence[Sequence[File]], kind: str) -> list[tuple[int, int]]:
    """(segment, number in it) of every living row, by path and place in the file."""
    rows = []
    for number, segment in enumerate(segments):
        start = 0
        for file in segment:
            if file.alive:
                rows += [(file.path, place, number, start + place) for place in range(file.size(kind))]
            start += file.size(kind)
    return [(segment, number) for _, _, segment, number in sorted(rows)]


@given(layouts())
def test_numbers_count_the_living_by_path_and_place(segments: list[list[File]]) -> None:
    numbering = opened(segments)
    for kind in COUNTED:
        wanted = naive(segments, kind)
        assert numbering.total(kind) == len(wanted)
        assert [numbering.start(kind, i) for i in range(len(segments))] == np.cumsum(
            [0, *(counts[kind] for counts in counts_of(segments))]
        ).tolist()[:-1]
        slots = [numbering.start(kind, segment) + number for segment, number in wanted]
        assert numbering.slots_array(kind).tolist() == slots
        public = {place: i for i, place in enumerate(wanted)}
        for segment, counts in enumerate(counts_of(segments)):
            own = [public.get((segment, number), -1) for number in range(counts[kind])]
            assert list(numbering.public(kind, segment) or ()) == own
            found = numbering.public_array(kind, segment)
            assert found is not None and found.tolist() == own


@given(layouts(), st.data())
def test_numbers_are_found_in_their_segments(segments: list[list[File]], data: st.DataObject) -> None:
    numbering = opened(segments)
    for kind in COUNTED:
        wanted = naive(segments, kind)
        numbers = data.draw(st.lists(st.integers(0, len(wanted) - 1), max_size=20)) if wanted else []
        expected = [[wanted[n][1] for n in numbers if wanted[n][0] == i] for i in range(len(segments))]
        assert numbering.split(kind, numbers) == expected
        for wrong in (-1, len(wanted)):
            with pytest.raises(DamagedIndexError):
                numbering.split(kind, [wrong])


def test_one_whole_segment_needs_no_map() -> None:
    numbering = Numbering([{"files": 2, "symbols": 3, "units": 4, "chunks": 5}])
    assert numbering.identity and [numbering.total(kind) for kind in COUNTED] == [2, 3, 4, 5]
    assert numbering.public("units", 0) is None and numbering.public_array("units", 0) is None
    assert numbering.split("units", [3, 0]) == [[3, 0]]
    assert numbering.slots_array("chunks").tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(DamagedIndexError):
        numbering.split("units", [4])


def test_no_segment_has_nothing() -> None:
    numbering = Numbering([])
    assert [numbering.total(kind) for kind in COUNTED] == [0, 0, 0, 0]
    assert numbering.slots_array("units").tolist() == [] and numbering.split("units", []) == []


TWO = [[File("a", True, (1, 2, 3)), File("c", False, (1, 1, 1))], [File("b", True, (2, 0, 2))]]


@pytest.mark.parametrize(
    "changes",
    [
        {"units_sizes": np.ones(2, np.int32)},  # of other segments
        {"units_sizes": np.ones(3, np.int64)},
        {"files_public": np.zeros(2, np.uint8)},
        {"files_slot": np.zeros(9, np.int32)},  # more than there are
        {"files_slot": np.array([0, 3], np.int32)},
        {"files_slot": np.array([0, -1], np.int32)},
        {"files_slot": np.array([0, 0], np.int32)},  # one file twice
        {"files_public": np.array([0, 1, 1], np.int32)},
    ],
)
def test_maps_that_do_not_fit_are_refused_at_once(changes: dict[str, np.ndarray]) -> None:
    with pytest.raises(DamagedIndexError):
        opened(TWO, **changes)


@pytest.mark.parametrize("wrong", [-2, 3, 2**31 - 1])
def test_sizes_that_lead_elsewhere_are_refused_by_who_follows_them(wrong: int) -> None:
    assert opened(TWO).public_array("units", 0).tolist() == [0, 1, -1]  # type: ignore[union-attr]
    numbering = opened(TWO, units_sizes=np.array([wrong, 1, 0], np.int32))
    with pytest.raises(DamagedIndexError):
        numbering.public_array("units", 0)
    with pytest.raises(DamagedIndexError):
        numbering.slots_array("units")
    with pytest.raises(DamagedIndexError):
        numbering.split("units", [1])


def test_several_segments_without_maps_are_refused() -> None:
    with pytest.raises(DamagedIndexError):
        Numbering(counts_of(TWO))
