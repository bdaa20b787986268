"""Offsets of pieces: what is written is read, and damage is an error or a span inside the array."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import (
    BLOCK,
    WIDE,
    Arrays,
    Offsets,
    StringTable,
    offset_arrays,
    string_arrays,
    write_arrays,
)
from tests.support.properties import examples

SIZES = st.one_of(st.integers(0, 4), st.integers(WIDE - 3, WIDE + 3), st.integers(0, 3000))


def opened(folder: Path, sizes: list[int], **changes: np.ndarray) -> Offsets:
    write_arrays(folder / "x.arrays", {**offset_arrays("it", sizes), **changes})
    return Offsets(Arrays(folder / "x.arrays"), "it", sum(sizes))


@examples(60)
@given(sizes=st.lists(SIZES, max_size=3 * BLOCK + 2), least=st.integers(1, WIDE))
def test_every_piece_is_found(tmp_path_factory: pytest.TempPathFactory, sizes: list[int], least: int) -> None:
    found = opened(tmp_path_factory.mktemp("offsets"), sizes)
    ends = list(accumulate(sizes, initial=0))
    assert len(found) == len(sizes)
    assert [found.span(piece) for piece in range(len(sizes))] == list(pairwise(ends))
    assert list(found.longest(least)) == [piece for piece, size in enumerate(sizes) if size >= least]
    for piece, (start, stop) in enumerate(pairwise(ends)):
        if start < stop:
            assert found.piece_at(start) == found.piece_at(stop - 1) == (piece, start, stop)


@examples(60)
@given(st.sets(st.text("abé", max_size=4) | st.sampled_from(["a" * 254, "a" * 255, "b" * 900]), max_size=200))
def test_every_string_is_found(tmp_path_factory: pytest.TempPathFactory, texts: set[str]) -> None:
    path = tmp_path_factory.mktemp("strings") / "x.arrays"
    strings = sorted(texts)
    write_arrays(path, string_arrays("it", strings))
    table = StringTable(Arrays(path), "it")
    assert [table.find(text) for text in strings] == list(range(len(strings)))
    for text in {"", "ab", "bé", "zz", "a" * 253} - texts:
        assert table.find(text) == -1
    for prefix in ("", "a", "bb", "a" * 250, "z"):
        assert table.starting(prefix, len(strings)) == [text for text in strings if text.startswith(prefix)]


@examples(100)
@given(
    st.lists(SIZES, min_size=1, max_size=2 * BLOCK),
    st.sampled_from(["sizes", "blocks", "wide", "widths"]),
    st.integers(0, 1 << 20),
    st.integers(-300, 4000),
)
def test_damage_is_an_error_or_a_span_inside(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], name: str, place: int, value: int
) -> None:
    values = np.array(offset_arrays("it", sizes)[f"it_{name}"])
    if not len(values):
        return
    values[place % len(values)] = value % 256 if name == "sizes" else value
    try:
        found = opened(tmp_path_factory.mktemp("damage"), sizes, **{f"it_{name}": values})
    except DamagedIndexError:
        return
    for piece in range(len(sizes)):
        try:
            start, stop = found.span(piece)
        except DamagedIndexError:
            continue
        assert 0 <= start <= stop <= sum(sizes)
