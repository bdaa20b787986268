"""A tiny training run learns, and gives the same result twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lci_py.types.record import replace

pytest.importorskip("torch", reason="of the extra `training`")
pytest.importorskip("scipy", reason="of the extra `training`")

import torch
from scipy import sparse

from lci_py.training.evaluate import table_embedder
from lci_py.training.stages import open_model, table_of
from lci_py.training.start import start_table
from lci_py.training.train import Bag, Recipe, Table, blocks, save, train

TOKENS, WIDTH, PAIRS = 60, 8, 128
RECIPE = Recipe(dimension=WIDTH, batch=32, block=16, epochs=20, rate=1e-1)


def data() -> tuple[np.ndarray, Bag, Bag, np.ndarray, np.ndarray]:
    """Questions in tokens 0-29 and answers in 30-59: i goes with i + 30, which the start does not know."""
    rng = np.random.default_rng(0)
    ids = np.stack([rng.permutation(30)[:3] for _ in range(PAIRS)]).astype(np.int32)
    pointers = np.arange(0, 3 * PAIRS + 1, 3)
    weights = np.ones(3 * PAIRS, np.float32)
    start = rng.normal(size=(TOKENS, WIDTH)).astype(np.float32)
    groups = np.repeat(np.arange(4), PAIRS // 4)
    query, answer = Bag(pointers, ids.ravel(), weights), Bag(pointers, ids.ravel() + 30, weights)
    return start, query, answer, groups, np.ones(PAIRS, np.float32)


def run(recipe: Recipe) -> tuple[Table, list[float]]:
    lines: list[str] = []
    model = train(recipe, *data(), report=lines.append)
    return model, [float(line.split("loss ")[1].split(",")[0]) for line in lines]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other cost more than such small matrices."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def trained() -> tuple[Table, list[float]]:
    return run(RECIPE)


def hits(model: Table) -> float:
    """Share of questions whose own answer is the closest."""
    _, query, answer, _, _ = data()
    rng, every = np.random.default_rng(0), np.arange(PAIRS)
    with torch.no_grad():
        scores = model(*query.rows(every, 0, rng), 0) @ model(*answer.rows(every, 0, rng), 1).T
    return float((scores.argmax(1) == torch.arange(PAIRS)).float().mean())


def test_training_lowers_the_loss_and_finds_the_answers(trained: tuple[Table, list[float]]) -> None:
    model, losses = trained
    assert losses[-1] < losses[0]
    assert hits(Table(data()[0], RECIPE)) < 0.1
    assert hits(model) > 0.4


def test_one_seed_gives_one_model() -> None:
    first, again, other = (run(replace(RECIPE, epochs=2, seed=seed)) for seed in (0, 0, 1))
    assert first[1] == again[1]
    for name, value in first[0].state_dict().items():
        assert torch.equal(value, again[0].state_dict()[name])
    assert not torch.equal(first[0].rows, other[0].rows)


@pytest.mark.parametrize(
    "more",
    [{"two_weights": False, "dropout": 0.2}, {"limit": 64}, {"batch": 4096}],
    ids=str,
)
def test_every_part_of_a_recipe_trains(more: dict[str, float]) -> None:
    model, losses = run(replace(RECIPE, epochs=2, **more))  # type: ignore[arg-type]
    assert np.isfinite(losses).all()
    assert all(torch.isfinite(value).all() for value in model.state_dict().values())
    start = Table(data()[0], replace(RECIPE, **more)).state_dict()  # type: ignore[arg-type]
    for name, value in model.state_dict().items():
        assert not torch.equal(value, start[name]), name


def test_blocks_hold_every_pair_once_and_one_group_each() -> None:
    groups = np.tile([3, 1, 2], 20)
    cut = blocks(groups, 8, np.random.default_rng(0))
    assert sorted(np.concatenate(cut).tolist()) == list(range(len(groups)))
    assert all(len(set(groups[block])) == 1 and len(block) <= 8 for block in cut)
    assert len(cut) == 3 * 3  # full ones, but for the last of a group


def vectors(model: Table, bags: sparse.csr_matrix, question: bool) -> np.ndarray:
    """What the trained model itself makes of bags of tokens with counts."""
    ids, pointers = (torch.from_numpy(array.astype(np.int64)) for array in (bags.indices, bags.indptr))
    with torch.no_grad():
        return model(ids, pointers, torch.from_numpy(1 + np.log(bags.data)), 0 if question else 1).numpy()


def test_a_table_is_what_was_trained(trained: tuple[Table, list[float]], tmp_path: Path) -> None:
    """rows and ratios, as they are exported, give the vectors of the trained model."""
    model = trained[0]
    save(model, RECIPE, tmp_path / "model.pt")
    rows, ratios = table_of(open_model(tmp_path / "model.pt"))
    bags = sparse.random(20, TOKENS, 0.2, "csr", np.float32, random_state=np.random.default_rng(1))
    bags.data = np.ceil(bags.data * 5)
    for question in (True, False):
        np.testing.assert_allclose(
            table_embedder(rows, ratios)(bags, question), vectors(model, bags, question), atol=1e-5
        )


def test_rows_of_a_bag() -> None:
    bag = Bag(np.array([0, 2, 2, 5]), np.arange(5, dtype=np.int32), np.arange(5, dtype=np.float32))
    ids, pointers, weights = bag.rows(np.array([2, 1, 0]), 0.0, np.random.default_rng(0))
    assert (ids.tolist(), pointers.tolist(), weights.tolist()) == ([2, 3, 4, 0, 1], [0, 3, 3, 5], [2, 3, 4, 0, 1])


def test_the_start_keeps_likeness_and_weighs_rare_tokens_more() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 24)).astype(np.float32) * np.float32(0.05)
    vectors[:, 9:15] *= 20  # the principal components
    vectors[1, 9:15] = vectors[0, 9:15]  # alike in these only
    frequency = np.full(40, 10.0)
    frequency[2] = 100_000
    table = start_table(vectors, frequency, 6)
    sizes = np.linalg.norm(table, axis=1)
    assert table.shape == (40, 6)
    assert table[0] @ table[1] / sizes[0] / sizes[1] > 0.99
    assert sizes[2] < 0.01 * sizes[3] * 1.5
    np.testing.assert_allclose(sizes[[0, 1, 3, 4]], sizes[0], rtol=1e-5)
