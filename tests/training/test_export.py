"""The exported model computes what numpy does with the table, and its file can be read without onnxruntime."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

pytest.importorskip("onnx", reason="of the extras `test` and `training`")

from lci_py.embed.encoder import Encoder, tf_weight
from lci_py.training.export import export, quantize
from tests.support.tiny_models import WORDS, write_tokenizer

DIMENSION = 16
RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(len(WORDS), DIMENSION)).astype(np.float32)
RATIOS = RNG.uniform(0.2, 3, len(WORDS)).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    write_tokenizer(source, special=False)
    target = tmp_path_factory.mktemp("target") / "model"
    card = export(target, "tiny", ROWS, RATIOS, source / "tokenizer.json", {"late": 0.5})
    assert json.loads((target / "model.json").read_text()) == card
    return target


def by_hand(ids: list[int], weights: np.ndarray, *, question: bool) -> np.ndarray:
    codes, scales = quantize(ROWS)
    rows = codes[ids] * scales[ids].astype(np.float32)[:, None]
    side = RATIOS.astype(np.float16)[ids].astype(np.float32) if question else 1.0
    total = (weights * side) @ rows
    return total / np.linalg.norm(total)


@pytest.mark.parametrize("question", [False, True])
def test_the_model_gives_what_numpy_gives(folder: Path, question: bool) -> None:
    ids = np.array([5, 7, 9, 5, 20, 6, 1])
    weights = np.array([1, 1.7, 2, 1, 3, 1, 1], np.float32)
    pointers = np.array([0, 3, 3, 7])
    found = Encoder(folder).encode_bags(pointers, ids, weights, question=question)
    np.testing.assert_allclose(found[0], by_hand([5, 7, 9], weights[:3], question=question), atol=1e-6)
    np.testing.assert_allclose(found[2], by_hand([5, 20, 6, 1], weights[3:], question=question), atol=1e-6)
    assert not found[1].any()


def test_questions_and_code_differ_by_the_ratios(folder: Path) -> None:
    encoder, pointers = Encoder(folder), np.array([0, 2])
    ids, weights = np.array([5, 7]), np.ones(2, np.float32)
    code, question = (encoder.encode_bags(pointers, ids, weights, question=side) for side in (False, True))
    assert np.abs(code - question).max() > 0.01


def test_a_question_read_from_the_table_is_the_models(folder: Path) -> None:
    encoder = Encoder(folder)
    ids = [WORDS.index("cookie"), WORDS.index("remove")]
    expected = by_hand(
        sorted(ids), tf_weight(np.array([1, 2] if ids[0] < ids[1] else [2, 1], np.float32)), question=True
    )
    np.testing.assert_allclose(encoder.encode_text("remove cookie remove"), expected, atol=1e-6)


def test_the_card_says_where_the_arrays_lie(folder: Path) -> None:
    card = json.loads((folder / "model.json").read_text())
    data = (folder / "model.onnx").read_bytes()
    codes, scales = quantize(ROWS)
    for name, array in (("codes", codes), ("scales", scales), ("ratios", RATIOS.astype(np.float16))):
        offset = card["table"][f"{name}_offset"]
        np.testing.assert_array_equal(np.frombuffer(data, array.dtype, array.size, offset).reshape(array.shape), array)
    assert (card["name"], card["dimension"], card["late"], card["table"]["rows"]) == (
        "tiny",
        DIMENSION,
        0.5,
        len(WORDS),
    )
    assert card["sha256"] == hashlib.sha256(data + (folder / "tokenizer.json").read_bytes()).hexdigest()


def test_an_export_is_reproducible(folder: Path, tmp_path: Path) -> None:
    export(tmp_path, "tiny", ROWS, RATIOS, folder / "tokenizer.json", {"late": 0.5})
    for name in ("model.onnx", "model.json", "tokenizer.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


@given(
    arrays.arrays(
        np.float32, (3, 5), elements=st.floats(-50, 50, width=32).filter(lambda value: value == 0 or abs(value) > 1e-3)
    )
)
def test_the_error_of_quantizing_is_half_a_step(rows: np.ndarray) -> None:
    codes, scales = quantize(rows)
    back = codes * scales.astype(np.float32)[:, None]
    largest = np.abs(rows).max(axis=1, keepdims=True)
    # Half a step; and what the largest value loses when its scale is rounded to float16 (2^-11, or 2^-25 if subnormal).
    assert (np.abs(back - rows) <= 0.501 * largest / 127 + largest * 2**-11 + 127 * 2**-25).all()
    used = np.abs(codes.astype(int)).max(axis=1)[largest[:, 0] > 0]
    assert ((used >= 126) & (used <= 127)).all()  # all of int8


def test_a_row_of_zeros_stays_one() -> None:
    codes, scales = quantize(np.zeros((2, 4), np.float32))
    assert not codes.any()
    assert not scales.any()
