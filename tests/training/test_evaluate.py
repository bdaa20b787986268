"""Measures of cases that are small enough to compute by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="of the extra `training`")

from scipy import sparse

from lci_py.training import evaluate
from lci_py.training.dataset import Parts
from lci_py.training.pairs import KINDS
from tests.training.conftest import FILES, mined


def questions(
    queries: list[list[int]], units: list[list[int]], files: list[int], wanted: list[int]
) -> evaluate.Questions:
    kinds = np.array([KINDS.index("doc")] * (len(queries) - 1) + [KINDS.index("name")])
    return evaluate.Questions(
        "tiny", sparse.csr_matrix(np.array(queries, np.float32)), sparse.csr_matrix(np.array(units, np.float32)),
        np.array(files), np.array(wanted), kinds,
    )  # fmt: skip


EYE = np.eye(3, dtype=np.float32)
ONES = np.ones(3, np.float32)
TOKENS = sparse.csr_matrix(EYE)
EMBED = evaluate.table_embedder(EYE, ONES)


def test_mrr_of_a_case_worked_out_by_hand() -> None:
    # Ranks 1; 2 (unit 0 is closer); 1.5 (units 0 and 2 are equally far).
    units = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    item = questions([[1, 0, 0], [5, 1, 0], [1, 0, 1]], units, [0, 1, 2], [0, 1, 2])
    inside, over_all = evaluate.mrr([item], EMBED, TOKENS)
    assert inside == over_all == pytest.approx((1 + 1 / 2 + 1 / 1.5) / 3)
    # A second package of the same: every answer has a twin, so ranks 1.5, 3.5 and 2.5 over all.
    inside, over_all = evaluate.mrr([item, item], EMBED, TOKENS)
    assert inside == pytest.approx((1 + 1 / 2 + 1 / 1.5) / 3)
    assert over_all == pytest.approx((1 / 1.5 + 1 / 3.5 + 1 / 2.5) / 3)


def test_gains_of_files_by_their_best_chunk() -> None:
    item = questions([[1, 0, 0]] * 3, [[1, 0, 0]] * 5, [2, 0, 2, 1, 0], [2, 0, 1])
    scores = np.array([[0.1, 0.2, 0.9, 0.5, 0.3], [0.1, 0.2, 0.9, 0.5, 0.3], [0.1, 0.2, 0.9, 0.5, 0.3]], np.float32)
    np.testing.assert_allclose(evaluate.gains_of(item, scores), [1, 1 / np.log2(4), 1 / np.log2(3)])


def test_the_eleventh_file_gains_nothing() -> None:
    files = list(range(12))
    item = questions([[1, 0, 0]] * 2, [[1, 0, 0]] * 12, files, [10, 9])
    scores = -np.tile(np.arange(12, dtype=np.float32), (2, 1))
    np.testing.assert_allclose(evaluate.gains_of(item, scores), [0, 1 / np.log2(11)])


def test_ndcg_of_a_case_worked_out_by_hand() -> None:
    item = questions([[1, 0, 0], [0, 3, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 1, 2], [0, 2])
    mean, by_kind = evaluate.ndcg([item], EYE, ONES, TOKENS)
    assert mean == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert by_kind == {"doc": 1.0, "name": round(1 / np.log2(3), 4)}
    # A token that counts for more in a question turns the second one round.
    turned, _ = evaluate.ndcg([item], EYE, np.array([1, 1, 9], np.float32), TOKENS)
    assert turned == 1.0


def test_coverage_is_the_weighted_mean_of_each_tokens_closest() -> None:
    query, code = sparse.csr_matrix([[1.0, 1, 0]]), sparse.csr_matrix([[1.0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 2]])
    rows = np.array([[1, 0], [0, 3], [1, 1]], np.float32)  # the second counts three times as much
    found = evaluate.coverage(query.astype(np.float32), code.astype(np.float32), rows, ONES)
    np.testing.assert_allclose(found, [[0.25, 1, 0, 0.5]], atol=1e-6)  # cosine of 45 degrees, squared


def package(work: Path) -> dict[str, str]:
    """Sixty documented functions, so that there is enough to ask."""
    names = [f"{a}{b}" for a in ("amber", "birch", "cedar", "dusty", "ember") for b in range(10, 22)]
    return {**FILES, **{f"src/{name}.py": f'''def compute_{name}(first_{name}, second_{name}):
    """Find the {name} value of some given numbers."""
    third_{name} = first_{name} * second_{name} + offset_{name}
    return combine(third_{name}, width, height, depth)
''' for name in names}}  # fmt: skip


def test_questions_of_a_mined_package(tmp_path: Path) -> None:
    tiny = mined(tmp_path, package(tmp_path), part="dev")
    parts = Parts()
    (within,) = evaluate.within(tmp_path, [tiny.package], parts)
    (whole,) = evaluate.repositories(tmp_path, [tiny.package], parts)
    assert len(within.wanted) >= 50
    assert within.queries.shape[0] == within.units.shape[0] == len(within.wanted)
    assert set(within.kinds) == {KINDS.index("doc")}
    assert whole.units.shape[0] == len(whole.unit_file) == len(tiny.arrays["unit_file"])
    assert set(whole.wanted) <= set(whole.unit_file)
    numbers = parts.numbers
    for item in (within, whole):
        assert item.queries.max() >= 1
        assert item.units.data.min() > 0
    row = next(r for r in range(len(within.wanted)) if within.queries[r, numbers["ember"]])
    asked, code = within.queries[row], within.units[row]
    assert asked[0, numbers["given"]] == 1
    assert code[0, numbers["given"]] == 0  # only the doc comment had it
    assert code[0, numbers["ember"]] > 1
    identity = sparse.identity(len(numbers), np.float32, "csr")
    table = evaluate.table_embedder(np.eye(len(numbers), dtype=np.float32), np.ones(len(numbers), np.float32))
    assert evaluate.mrr([within], table, identity)[0] > 0.3  # the same words lead there


def test_a_small_package_asks_nothing(tmp_path: Path) -> None:
    tiny = mined(tmp_path, FILES, part="dev")
    assert evaluate.within(tmp_path, [tiny.package], Parts()) == []
