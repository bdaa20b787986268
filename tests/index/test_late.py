"""The tokens of chunks: how well they answer a question's, and what a damaged array is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lci_py.embed.encoder import Encoder
from lci_py.errors import DamagedIndexError
from lci_py.index.late import TokenBags, write_token_bags

ROWS = 50
BAGS = st.lists(st.lists(st.integers(0, ROWS - 1), max_size=9, unique=True), min_size=1, max_size=12)


def written(folder: Path, bags: list[list[int]]) -> TokenBags:
    pointers = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])]).astype(np.int64)
    write_token_bags(folder, pointers, np.array([token for bag in bags for token in bag], np.int32))
    return TokenBags(folder, chunks=len(bags))


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
    assert np.load(tmp_path / "bag_ids.npy").dtype.itemsize == size


@pytest.mark.parametrize("bags", [[], [[]], [[], []]])
def test_chunks_without_tokens_are_no_damage(tmp_path: Path, bags: list[list[int]]) -> None:
    """An empty array is still one, and there is nothing to take the closest of."""
    reader = written(tmp_path, bags)
    asked, weights = question(1, 2)
    got = reader.coverage(np.arange(len(bags)), asked, weights, directions(2).__getitem__)
    assert got.tolist() == [0.0] * len(bags)


def save(name: str, array: np.ndarray) -> Callable[[Path], None]:
    return lambda folder: np.save(folder / name, array)


def archive(folder: Path) -> None:
    np.savez(folder / "bag_ids.npz", np.zeros(5, np.uint16))
    (folder / "bag_ids.npz").rename(folder / "bag_ids.npy")


FOUR = np.array([0, 2, 2, 5], np.int64)  # the pointers of three chunks with five tokens
UNREADABLE: dict[str, Callable[[Path], object]] = {
    "no pointers": lambda folder: (folder / "bag_pointers.npy").unlink(),
    "no ids": lambda folder: (folder / "bag_ids.npy").unlink(),
    "empty file": lambda folder: (folder / "bag_ids.npy").write_bytes(b""),
    "garbage": lambda folder: (folder / "bag_ids.npy").write_bytes(b"\0" * 300),
    "cut short": lambda folder: (folder / "bag_ids.npy").write_bytes((folder / "bag_ids.npy").read_bytes()[:-1]),
    "an archive": archive,
    "objects": save("bag_ids.npy", np.array([1, None, 2, 3, 4], object)),
    "another dtype of ids": save("bag_ids.npy", np.arange(5, dtype=np.int64)),
    "ids that are no numbers": save("bag_ids.npy", np.array(list("abcde"))),
    "two dimensions": save("bag_ids.npy", np.zeros((5, 1), np.uint16)),
    "no dimension": save("bag_ids.npy", np.array(5, np.uint16)),
    "fewer ids": save("bag_ids.npy", np.zeros(4, np.uint16)),
    "more ids": save("bag_ids.npy", np.zeros(6, np.uint16)),
    "another dtype of pointers": save("bag_pointers.npy", FOUR.astype(np.float64)),
    "fewer pointers": save("bag_pointers.npy", FOUR[1:]),
    "more pointers": save("bag_pointers.npy", np.array([0, 2, 2, 2, 5])),
    "no pointer at all": save("bag_pointers.npy", FOUR[:0]),
    "last pointer": save("bag_pointers.npy", np.array([0, 2, 2, 6])),
}  # fmt: skip


@pytest.mark.parametrize("damage", UNREADABLE)
def test_arrays_that_do_not_fit_are_a_damaged_index(tmp_path: Path, damage: str) -> None:
    written(tmp_path, [[1, 2], [], [3, 4, 5]])
    UNREADABLE[damage](tmp_path)
    with pytest.raises(DamagedIndexError):
        TokenBags(tmp_path, chunks=3)


FAR = 1 << 63


@pytest.mark.parametrize(
    "pointers", [[0, 6, 2, 5], [0, -1, 2, 5], [-3, 2, 2, 5], [0, 4, 3, 5], [1, -FAR, 2, 5], [0, FAR - 1, 2, 5]]
)
def test_pointers_out_of_range_are_a_damaged_index(tmp_path: Path, pointers: list[int]) -> None:
    written(tmp_path, [[1, 2], [], [3, 4, 5]])
    np.save(tmp_path / "bag_pointers.npy", np.array(pointers, np.int64))
    reader = TokenBags(tmp_path, chunks=3)
    with pytest.raises(DamagedIndexError, match="outside their array"):
        reader.coverage(np.arange(3), *question(1, 2), directions(2).__getitem__)


@pytest.mark.parametrize("ids", [np.array([1, 65_535], np.uint16), np.array([1, -1], np.int32)])
def test_a_token_that_the_model_lacks_is_a_damaged_index(tmp_path: Path, ids: np.ndarray) -> None:
    encoder = Encoder()
    np.save(tmp_path / "bag_pointers.npy", np.array([0, 2], np.int64))
    np.save(tmp_path / "bag_ids.npy", ids)
    asked, counts = encoder.question_tokens("session")
    with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
        TokenBags(tmp_path, chunks=1).coverage(
            np.array([0]), encoder.token_directions(asked), encoder.question_weights(asked, counts),
            encoder.token_directions,
        )  # fmt: skip
