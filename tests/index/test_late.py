"""The tokens of chunks: how well they answer a question's, however chunks are spread over segments; the tokens of parts;
and what a damaged array is."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from lci_py.embed.encoder import Encoder
from lci_py.errors import DamagedIndexError
from lci_py.index.arrays import write_arrays
from lci_py.index.late import Bags, TokenBags, TokenTable, write_tokens
from lci_py.index.numbering import Numbering
from tests.index.layout import random_layouts

ROWS = 50
BAGS = st.lists(st.lists(st.integers(0, ROWS - 1), max_size=9, unique=True), min_size=1, max_size=12)


def opened(path: Path, chunks: int) -> TokenBags:
    return TokenBags([path], Numbering([{"files": 1, "symbols": 0, "units": 1, "chunks": chunks}]))


def written(folder: Path, bags: list[list[int]]) -> TokenBags:
    pointers = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.int64)
    write_tokens(folder / "t.arrays", [], [], pointers, np.array([token for bag in bags for token in bag], np.int32))
    return opened(folder / "t.arrays", len(bags))


def directions(seed: int, rows: int = ROWS, dimension: int = 6) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def question(seed: int, tokens: int, dimension: int = 6) -> tuple[np.ndarray, np.ndarray]:
    weights = np.random.default_rng(seed).uniform(0.1, 1, tokens).astype(np.float32)
    return directions(seed + 1, tokens, dimension), weights / weights.sum()


@settings(max_examples=80)
@given(bags=BAGS, seed=st.integers(0, 99), tokens=st.integers(0, 5), data=st.data())
def test_coverage_is_the_weighted_mean_of_the_closest_tokens(
    tmp_path_factory: pytest.TempPathFactory, bags: list[list[int]], seed: int, tokens: int, data: st.DataObject
) -> None:
    table = directions(seed)
    asked, weights = question(seed + 1, tokens)
    chunks = data.draw(st.lists(st.integers(0, len(bags) - 1), max_size=15))
    got = written(tmp_path_factory.mktemp("late"), bags).coverage(
        np.array(chunks, np.int64), asked, weights, table.__getitem__
    )
    slow = []
    for chunk in chunks:
        score = 0.0
        for vector, weight in zip(asked.astype(float), weights.astype(float), strict=True):
            closest = max((float(vector @ table[token].astype(float)) for token in bags[chunk]), default=0.0)
            score += weight * max(0.0, closest) ** 2
        slow.append(score)
    assert got.dtype == np.float32 and got.shape == (len(chunks),)
    np.testing.assert_allclose(got, np.array(slow), atol=1e-5)
    assert ((got >= 0) & (got <= 1)).all()


@pytest.mark.parametrize("seed", range(4))
def test_equal_chunks_tie_whatever_else_is_asked_about(tmp_path: Path, seed: int) -> None:
    """Every bit: a rounding that depends on the neighbours would rank copies by chance."""
    random = np.random.default_rng(seed)
    table = directions(seed, 2000, 256)
    bags = [random.choice(2000, random.integers(0, 60), replace=False).tolist() for _ in range(150)]
    copies = [0, 31, 77, 149]
    for copy in copies:
        bags[copy] = sorted(bags[5] + [3, 1999])
    reader = written(tmp_path, bags)
    asked, weights = question(seed, 7, 256)
    values = set()
    for size in (1, 2, 3, 5, 17, 64, 146):
        others = random.choice([i for i in range(150) if i not in copies], size, replace=False)
        chunks = random.permutation(np.concatenate([others, copies]))
        got = reader.coverage(chunks, asked, weights, table.__getitem__)
        values |= set(got[np.isin(chunks, copies)].tolist())
        for copy in copies:
            values |= set(reader.coverage(np.array([copy]), asked, weights, table.__getitem__).tolist())
    assert len(values) == 1


def test_a_chunk_that_has_the_questions_tokens_is_covered(tmp_path: Path) -> None:
    encoder = Encoder()
    ids, counts = encoder.question_tokens("expired session tokens of the cookie jar")
    rare = encoder.question_tokens("zygote")[0]
    reader = written(tmp_path, [ids.tolist(), sorted({*ids.tolist(), *rare.tolist()}), [], ids[:1].tolist()])
    got = reader.coverage(
        np.arange(4), encoder.token_directions(ids), encoder.question_weights(ids, counts), encoder.token_directions
    )
    np.testing.assert_allclose(got[:2], 1, atol=1e-5)
    assert got[2] == 0 < got[3] < got[0] <= 1


@pytest.mark.parametrize(("largest", "size"), [(65_535, 2), (65_536, 4)])
def test_ids_are_stored_in_two_bytes_where_they_fit(tmp_path: Path, largest: int, size: int) -> None:
    seen: list[int] = []

    def rows(ids: np.ndarray) -> np.ndarray:
        seen.extend(ids.tolist())
        return np.ones((len(ids), 1), np.float32)

    one = np.ones((1, 1), np.float32)
    assert written(tmp_path, [[3, largest], [7]]).coverage(np.array([0]), one, one[0], rows).tolist() == [1]
    assert seen == [3, largest]
    assert Bags(tmp_path / "t.arrays", chunks=2)._ids.dtype.itemsize == size


@pytest.mark.parametrize("bags", [[], [[]], [[], []]])
def test_chunks_without_tokens_are_no_damage(tmp_path: Path, bags: list[list[int]]) -> None:
    """An empty array is still one, and there is nothing to take the closest of."""
    reader = written(tmp_path, bags)
    asked, weights = question(1, 2)
    got = reader.coverage(np.arange(len(bags)), asked, weights, directions(2).__getitem__)
    assert got.tolist() == [0.0] * len(bags)


@settings(max_examples=50)
@given(seed=st.integers(0, 1 << 20), segments=st.integers(1, 4), dimension=st.sampled_from([6, 192]), data=st.data())
def test_coverage_does_not_depend_on_the_segments(
    tmp_path_factory: pytest.TempPathFactory, seed: int, segments: int, dimension: int, data: st.DataObject
) -> None:
    """To the last bit: files over 1 to 4 segments beside dead rows, and the same files in one."""
    rng = np.random.default_rng(seed)
    one, several = random_layouts(tmp_path_factory.mktemp("late"), rng, segments, 3, ROWS)
    table = directions(seed, ROWS, dimension)
    asked, weights = question(seed + 1, data.draw(st.integers(0, 5)), dimension)
    chunks = rng.integers(0, one.numbering.total("chunks"), data.draw(st.integers(0, 30)))
    found = [
        TokenBags(layout.tokens, layout.numbering).coverage(chunks, asked, weights, table.__getitem__)
        for layout in (one, several)
    ]
    assert found[0].tobytes() == found[1].tobytes() and len(found[0]) == len(chunks)


def test_no_segment_covers_nothing() -> None:
    assert not len(TokenBags([], Numbering([])).coverage(np.zeros(0, np.int64), *question(1, 2), directions(2).take))


# --- parts ------------------------------------------------------------------------------------------------------------

PARTS = st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.integers(0, 40_000), max_size=4), max_size=12)


@settings(max_examples=60)
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
    assert reader.items() == {part: ids for table in tables[::-1] for part, ids in table.items()}


# --- damage -----------------------------------------------------------------------------------------------------------


def sound() -> dict[str, np.ndarray | bytes]:
    """Two parts with three tokens; three chunks with five."""
    return {
        "parts": b"abc",
        "parts_offsets": np.array([0, 1, 3]),
        "pointers": np.array([0, 2, 3]),
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
    "another dtype of pointers": {"bag_pointers": np.array([0, 2, 2, 5], np.int32)},
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
    "no offsets": {"parts_offsets": np.zeros(0, np.int64)},
    "no pointer": {"pointers": np.zeros(0, np.int64)},
    "another number of pointers": {"pointers": np.array([0, 3])},
    "fewer bytes": {"parts": b"ab"},
    "more tokens": {"pieces": np.zeros(4, np.int32)},
    "another first offset": {"parts_offsets": np.array([-1, 1, 3])},
    "an offset too far": {"parts_offsets": np.array([0, 9, 3])},
    "an offset below zero": {"parts_offsets": np.array([0, -FAR, 3])},
    "a pointer too far": {"pointers": np.array([0, FAR - 1, 3])},
    "a pointer below zero": {"pointers": np.array([0, -2, 3])},
}


@pytest.mark.parametrize("damage", UNSOUND_PARTS)
def test_parts_that_do_not_fit_are_a_damaged_index(tmp_path: Path, damage: str) -> None:
    table = TokenTable([replaced(tmp_path)])
    assert (table.find("a"), table.find("bc"), table.find("b")) == ([7, 8], [9], None)
    path = replaced(tmp_path, **UNSOUND_PARTS[damage])
    with pytest.raises(DamagedIndexError):
        TokenTable([path]).items()
    for part, ids in (("a", [7, 8]), ("bc", [9])):  # what is looked up goes through little of it
        with contextlib.suppress(DamagedIndexError):
            assert TokenTable([path]).find(part) in (ids, None)


def test_a_part_that_is_no_text_is_a_damaged_index(tmp_path: Path) -> None:
    with pytest.raises(DamagedIndexError, match="not UTF-8"):
        TokenTable([replaced(tmp_path, parts=b"\xff\xfe\xfd")]).items()


@pytest.mark.parametrize(
    "pointers", [[0, 6, 2, 5], [0, -1, 2, 5], [-3, 2, 2, 5], [0, 4, 3, 5], [1, -FAR, 2, 5], [0, FAR - 1, 2, 5]]
)
def test_pointers_out_of_range_are_a_damaged_index(tmp_path: Path, pointers: list[int]) -> None:
    reader = opened(replaced(tmp_path, bag_pointers=np.array(pointers, np.int64)), 3)
    with pytest.raises(DamagedIndexError, match="outside their array"):
        reader.coverage(np.arange(3), *question(1, 2), directions(2).__getitem__)


@pytest.mark.parametrize("ids", [np.array([1, 65_535], np.uint16), np.array([1, -1], np.int32)])
def test_a_token_that_the_model_lacks_is_a_damaged_index(tmp_path: Path, ids: np.ndarray) -> None:
    encoder = Encoder()
    reader = opened(replaced(tmp_path, bag_pointers=np.array([0, 2]), bag_ids=ids), 1)
    asked, counts = encoder.question_tokens("session")
    with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
        reader.coverage(
            np.array([0]), encoder.token_directions(asked), encoder.question_weights(asked, counts),
            encoder.token_directions,
        )  # fmt: skip
