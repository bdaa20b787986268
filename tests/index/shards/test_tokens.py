"""The tokens of chunks match a question the same however chunks are spread over segments; damaged files are refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.embed.encoder import Encoder
from lci_py.errors import DamagedIndexError
from lci_py.index.shards import tokens
from lci_py.index.shards.arrays import offset_arrays, write_arrays
from lci_py.index.shards.numbering import Numbering
from lci_py.index.shards.tokens import Bags, TokenBags, TokenTable, write_tokens
from tests.support.layout import random_layouts
from tests.support.properties import examples

ROWS = 50
BAGS = st.lists(st.lists(st.integers(0, ROWS - 1), max_size=9, unique=True), min_size=1, max_size=12)


def codes(seed: int, rows: int = ROWS, dimension: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).integers(-128, 128, (rows, dimension)).astype(np.float32)


def opened(path: Path, chunks: int, table: np.ndarray | None = None) -> TokenBags:
    counts = {"files": 1, "symbols": 0, "units": 1, "chunks": chunks}
    return TokenBags([path], Numbering([counts]), (codes(2) if table is None else table).__getitem__)


def written(folder: Path, bags: list[list[int]], table: np.ndarray | None = None) -> TokenBags:
    pointers = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.int64)
    write_tokens(folder / "t.arrays", [], [], pointers, np.array([token for bag in bags for token in bag], np.int32))
    return opened(folder / "t.arrays", len(bags), table)


def question(seed: int, tokens: int, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 1, tokens).astype(np.float32)
    return np.sort(random.choice(rows, tokens, replace=False)), weights / weights.sum()


@examples(80)
@given(
    bags=BAGS, seed=st.integers(0, 99), tokens=st.lists(st.integers(0, 20), min_size=1, max_size=4),
    run=st.sampled_from([1, 5, 1 << 20]), group=st.sampled_from([1, 3, 16]), kept=st.sampled_from([0, 4, 1000]),
)  # fmt: skip
def test_coverage_is_the_weighted_mean_of_the_closest_tokens(
    tmp_path_factory: pytest.TempPathFactory,
    bags: list[list[int]], seed: int, tokens: list[int], run: int, group: int, kept: int,
) -> None:  # fmt: skip
    """Of the first question as of the later ones, and in whichever pieces the work is done."""
    table = codes(seed)
    directions = table.astype(float) / np.linalg.norm(table, axis=1, keepdims=True)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("_RUN", run), ("_TOKENS", group), ("_REMEMBERED", kept)):
            patch.setattr(f"lci_py.index.shards.tokens.{name}", value)
        reader = written(tmp_path_factory.mktemp("late"), bags, table)
        for number, size in enumerate(tokens):
            asked, weights = question(seed + number, size)
            got = reader.coverage(asked, weights)
            slow = []
            for bag in bags:
                score = 0.0
                for token, weight in zip(asked.tolist(), weights.astype(float), strict=True):
                    closest = max((float(directions[token] @ directions[other]) for other in bag), default=0.0)
                    score += weight * (closest**2 if closest >= 0.3 else 0)
                slow.append(score)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, np.array(slow), atol=1e-5)
            assert ((got >= 0) & (got <= 1)).all()


@pytest.mark.parametrize("seed", range(4))
def test_equal_chunks_tie_whatever_else_is_asked_about(tmp_path: Path, seed: int) -> None:
    """Every bit: a rounding that depends on the neighbours would rank copies by chance."""
    random = np.random.default_rng(seed)
    table = codes(seed, 2000, 256)
    table[1000:1500] = table[:500] + random.integers(-9, 9, (500, 256))  # some are near to others
    table = table.clip(-128, 127)
    bags = [random.choice(2000, random.integers(0, 60), replace=False).tolist() for _ in range(150)]
    copies = [0, 31, 77, 149]
    for copy in copies:
        bags[copy] = sorted([*range(100), 1999])
    asked, weights = np.arange(1000, 1007), question(seed, 7)[1]
    values = set()
    for size in (0, 1, 2, 3, 5, 17, 64, 146):
        others = random.choice([i for i in range(150) if i not in copies], size, replace=False).tolist()
        chunks = random.permutation(np.array([*others, *copies]))
        reader = written(tmp_path, [bags[chunk] for chunk in chunks], table)
        for more in (asked, np.arange(990, 1007), asked):  # what is remembered was found beside other tokens
            reader.coverage(more, np.full(len(more), 1 / len(more), np.float32))
        values |= set(reader.coverage(asked, weights)[np.isin(chunks, copies)].tolist())
    assert len(values) == 1 and values.pop() > 0.9


def test_a_chunk_that_has_the_questions_tokens_is_covered(tmp_path: Path) -> None:
    encoder = Encoder()
    asked = encoder.question("expired session tokens of the cookie jar")
    ids = asked.ids.tolist()
    rare = encoder.question("zygote").ids.tolist()
    written(tmp_path, [ids, sorted({*ids, *rare}), [], ids[:1]])
    counts = {"files": 1, "symbols": 0, "units": 1, "chunks": 4}
    got = TokenBags([tmp_path / "t.arrays"], Numbering([counts]), encoder.token_codes).coverage(
        asked.ids, asked.weights
    )
    np.testing.assert_allclose(got[:2], 1, atol=1e-5)
    assert got[2] == 0 < got[3] < got[0] <= 1


@pytest.mark.parametrize(("largest", "size"), [(65_535, 2), (65_536, 4)])
def test_ids_are_stored_in_two_bytes_where_they_fit(tmp_path: Path, largest: int, size: int) -> None:
    table = np.ones((largest + 1, 1), np.float32)
    reader = written(tmp_path, [[3, largest], [7], []], table)
    for _ in range(3):
        assert reader.coverage(np.array([largest]), np.ones(1, np.float32)).tolist() == [1, 1, 0]
    assert Bags(tmp_path / "t.arrays", chunks=3)._ids.dtype.itemsize == size


@pytest.mark.parametrize("bags", [[], [[]], [[], []]])
def test_chunks_without_tokens_are_no_damage(tmp_path: Path, bags: list[list[int]]) -> None:
    """An empty array is still one, and there is nothing to take the closest of."""
    reader = written(tmp_path, bags)
    assert reader.coverage(*question(1, 2)).tolist() == [0.0] * len(bags)


@examples(50)
@given(seed=st.integers(0, 1 << 20), segments=st.integers(1, 4), dimension=st.sampled_from([6, 192]), data=st.data())
def test_coverage_does_not_depend_on_the_segments(
    tmp_path_factory: pytest.TempPathFactory, seed: int, segments: int, dimension: int, data: st.DataObject
) -> None:
    """To the last bit: files over 1 to 4 segments beside dead rows, and the same files in one."""
    rng = np.random.default_rng(seed)
    one, several = random_layouts(tmp_path_factory.mktemp("late"), rng, segments, 3, ROWS)
    table = codes(seed, ROWS, dimension)
    readers = [TokenBags(layout.tokens, layout.numbering, table.__getitem__) for layout in (one, several)]
    for _ in range(3):
        asked, weights = question(seed + 1, data.draw(st.integers(0, 5)))
        found = [reader.coverage(asked, weights) for reader in readers]
        slots = [layout.numbering.slots_array("chunks") for layout in (one, several)]
        assert found[0][slots[0]].tobytes() == found[1][slots[1]].tobytes()


@examples(50)
@given(seed=st.integers(0, 1 << 20), segments=st.integers(1, 4), at_a_time=st.sampled_from([1, 3, 1 << 16]))
def test_some_chunks_are_covered_as_among_all(
    tmp_path_factory: pytest.TempPathFactory, seed: int, segments: int, at_a_time: int
) -> None:
    random = np.random.default_rng(seed)
    _, layout = random_layouts(tmp_path_factory.mktemp("some"), random, segments, 6, ROWS)
    bags = TokenBags(layout.tokens, layout.numbering, codes(seed).__getitem__)
    asked, weights = question(seed, 5)
    every = bags.coverage(asked, weights)
    slots = np.flatnonzero(random.random(len(every)) < random.random())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "_AT_A_TIME", at_a_time)
        assert bags.coverage_of(asked, weights, slots).tolist() == every[slots].tolist()


def test_no_segment_covers_nothing() -> None:
    assert not len(TokenBags([], Numbering([]), codes(2).__getitem__).coverage(*question(1, 2)))


# --- parts ------------------------------------------------------------------------------------------------------------

PARTS = st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.integers(0, 40_000), max_size=4), max_size=12)


@examples(60)
@given(tables=st.lists(PARTS, min_size=1, max_size=3), others=st.lists(st.text(max_size=4), max_size=8))
def test_a_part_is_found_in_whichever_segment_has_it(
    tmp_path_factory: pytest.TempPathFactory, tables: list[dict[str, list[int]]], others: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    paths = [folder / str(i) for i in range(len(tables))]
    for path, table in zip(paths, tables, strict=True):
        write_tokens(path, list(table), list(table.values()), np.zeros(1, np.int64), np.zeros(0, np.int32))
    reader = TokenTable(paths)
    for part in {*others, *(part for table in tables for part in table)}:
        assert reader.find(part) == next((table[part] for table in tables if part in table), None)


# --- damage -----------------------------------------------------------------------------------------------------------


def sound() -> dict[str, np.ndarray | bytes]:
    """Two parts with three tokens; three chunks with five."""
    return {
        "parts": b"abc",
        **offset_arrays("parts", [1, 2]),
        **offset_arrays("pieces", [2, 1]),
        "pieces": np.array([7, 8, 9], np.int32),
        "bag_pointers": np.array([0, 2, 2, 5]),
        "bag_ids": np.array([1, 2, 3, 4, 5], np.uint16),
    }


def replaced(folder: Path, **arrays: np.ndarray | bytes | None) -> Path:
    path = folder / "t.arrays"
    write_arrays(path, {name: data for name, data in {**sound(), **arrays}.items() if data is not None})
    return path


UNREADABLE: dict[str, dict[str, np.ndarray | bytes | None]] = {
    "no pointers": {"bag_pointers": None},
    "no ids": {"bag_ids": None},
    "another dtype of ids": {"bag_ids": np.arange(5, dtype=np.int64)},
    "ids that are no numbers": {"bag_ids": b"abcde"},
    "fewer ids": {"bag_ids": np.zeros(4, np.uint16)},
    "more ids": {"bag_ids": np.zeros(6, np.uint16)},
    "another dtype of pointers": {"bag_pointers": np.array([0, 2, 2, 5], np.float32)},
    "fewer pointers": {"bag_pointers": np.array([2, 2, 5])},
    "more pointers": {"bag_pointers": np.array([0, 2, 2, 2, 5])},
    "no pointer at all": {"bag_pointers": np.zeros(0, np.int64)},
    "last pointer": {"bag_pointers": np.array([0, 2, 2, 6])},
}


@pytest.mark.parametrize("damage", UNREADABLE)
def test_arrays_that_do_not_fit_are_a_damaged_index(tmp_path: Path, damage: str) -> None:
    opened(replaced(tmp_path), 3)
    with pytest.raises(DamagedIndexError):
        opened(replaced(tmp_path, **UNREADABLE[damage]), 3)


@pytest.mark.parametrize("data", [b"", b"\0" * 300, None])
def test_a_file_of_something_else_is_a_damaged_index(tmp_path: Path, data: bytes | None) -> None:
    path = replaced(tmp_path)
    path.write_bytes(path.read_bytes()[:-1] if data is None else data)
    for reader in (lambda: opened(path, 3), lambda: TokenTable([path])):
        with pytest.raises(DamagedIndexError):
            reader()


FAR = 1 << 63
UNSOUND_PARTS: dict[str, dict[str, np.ndarray | bytes | None]] = {
    "no parts": {"parts": None},
    "no offsets": {"parts_sizes": b""},
    "no pointer": {"pieces_sizes": b""},
    "another number of pointers": offset_arrays("pieces", [3]),
    "fewer bytes": {"parts": b"ab"},
    "more tokens": {"pieces": np.zeros(4, np.int32)},
    "another first offset": {"parts_blocks": np.array([-1, 3])},
    "an offset too far": {"parts_sizes": b"\x09\x02"},
    "an offset without a size": {"parts_sizes": b"\xff\x02"},
    "a pointer too far": {"pieces_blocks": np.array([0, FAR - 1])},
    "a pointer below zero": {"pieces_blocks": np.array([-2, 3])},
}


@pytest.mark.parametrize("damage", UNSOUND_PARTS)
def test_parts_that_do_not_fit_are_a_damaged_index(tmp_path: Path, damage: str) -> None:
    table = TokenTable([replaced(tmp_path)])
    assert (table.find("a"), table.find("bc"), table.find("b")) == ([7, 8], [9], None)
    path = replaced(tmp_path, **UNSOUND_PARTS[damage])
    for part, ids in (("a", [7, 8]), ("bc", [9])):  # what is looked up goes through little of it
        with contextlib.suppress(DamagedIndexError):
            assert TokenTable([path]).find(part) in (ids, None)


@pytest.mark.parametrize(
    "pointers", [[0, 6, 2, 5], [0, -1, 2, 5], [-3, 2, 2, 5], [0, 4, 3, 5], [1, -FAR, 2, 5], [0, FAR - 1, 2, 5]]
)
def test_pointers_out_of_range_are_a_damaged_index(tmp_path: Path, pointers: list[int]) -> None:
    reader = opened(replaced(tmp_path, bag_pointers=np.array(pointers, np.int64)), 3)
    with pytest.raises(DamagedIndexError, match="outside their array"):
        reader.coverage(*question(1, 2))


@pytest.mark.parametrize(
    "ids", [np.array([1, 65_535], np.uint16), np.array([1, -1], np.int32), np.array([1, 1 << 30], np.int32)]
)
def test_a_token_that_the_model_lacks_is_a_damaged_index(tmp_path: Path, ids: np.ndarray) -> None:
    encoder = Encoder()
    counts = {"files": 1, "symbols": 0, "units": 1, "chunks": 1}
    path = replaced(tmp_path, bag_pointers=np.array([0, 2]), bag_ids=ids)
    reader = TokenBags([path], Numbering([counts]), encoder.token_codes)
    asked = encoder.question("session")
    for _ in range(2):
        with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
            reader.coverage(asked.ids, asked.weights)
