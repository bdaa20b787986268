"""The vectors of onnxruntime and of the table are the same for the same bag of tokens."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.embed.encoder import MAX_TOKENS, MODEL_DIR, Encoder, open_encoder, tf_weight
from lci_py.embed.folder import ModelFolder
from lci_py.errors import BadModelError, DamagedIndexError
from lci_py.source.text.words import WORD, parts
from tests.conftest import PROJECT
from tests.support import tiny_models as tiny
from tests.support.properties import examples

WORDS = st.lists(
    st.sampled_from("parse getHTTPResponse pool_size ñandú v2beta x 中文 _private __init__".split()), max_size=12
)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


@pytest.fixture(scope="module")
def onnx(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """The same model as somebody's own: onnxruntime and tokenizers read it."""
    folder = shutil.copytree(MODEL_DIR, tmp_path_factory.mktemp("copy") / "model")
    return Encoder(folder)


def through_onnx(onnx: Encoder, words: list[str]) -> np.ndarray:
    counts = Counter(i for ids in onnx.pieces([p for w in words for p in parts(w)]) for i in ids)
    ids = np.array(sorted(counts), np.int64)
    weights = tf_weight(np.array([counts[i] for i in sorted(counts)], np.float32))
    return onnx.encode_bags(np.array([0, len(ids)], np.int64), ids, weights, question=True)[0]


@examples(40)
@given(words=WORDS)
def test_the_query_path_gives_the_models_vector(encoder: Encoder, onnx: Encoder, words: list[str]) -> None:
    np.testing.assert_allclose(encoder.encode_text(" ".join(words)), through_onnx(onnx, words), atol=2e-6)


def test_known_parts_need_no_tokenizer(encoder: Encoder) -> None:
    seen = {}

    def known(part: str) -> list[int] | None:
        seen[part] = encoder.pieces([part])[0]
        return seen[part]

    vector = encoder.encode_text("removeExpired sessions", known)
    assert set(seen) == {"remove", "expired", "sessions"}
    np.testing.assert_array_equal(vector, encoder.encode_text("removeExpired sessions"))
    assert abs(float(np.linalg.norm(vector)) - 1.0) < 1e-5


@pytest.mark.parametrize("text", ["", "   ", "!!! ???", "\x00\n"])
def test_a_text_without_words_is_a_row_of_zeros(encoder: Encoder, text: str) -> None:
    assert not encoder.encode_text(text).any()


@pytest.mark.parametrize("kind", ["built in", "through onnxruntime", "tiny"])
def test_batches_do_not_change_vectors(encoder: Encoder, onnx: Encoder, tmp_path: Path, kind: str) -> None:
    """To the last bit: an index after refreshes must answer as one that was built at once."""
    if kind == "tiny":
        encoder = Encoder(tiny.bags(tmp_path))
    elif kind == "through onnxruntime":
        encoder = onnx
    rng = np.random.default_rng(5)
    lengths = np.concatenate([rng.integers(0, 300, 400), rng.integers(0, 40, 200), [0, 1, 2000]])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = rng.integers(1, len(tiny.WORDS) if kind == "tiny" else 32_000, indptr[-1]).astype(np.int64)
    weights = rng.uniform(1, 4, len(ids)).astype(np.float32)
    together = encoder.encode_bags(indptr, ids, weights)
    assert together.shape == (603, encoder.dimension) and not together[600].any()
    np.testing.assert_allclose(np.linalg.norm(together[lengths > 0], axis=1), 1, atol=1e-5)
    for size in (1, 2, 3, 5, 50, 300):
        rows = rng.choice(603, size, replace=False)
        some = np.concatenate([np.arange(indptr[row], indptr[row + 1]) for row in rows])
        pointers = np.concatenate([[0], np.cumsum(lengths[rows])])
        assert encoder.encode_bags(pointers, ids[some], weights[some]).tobytes() == together[rows].tobytes()


def test_a_text_of_many_tokens_is_cut_where_a_bag_is(encoder: Encoder, onnx: Encoder) -> None:
    words = sorted(word for word in encoder._tokenizer.get_vocab() if word.isalpha() and word.islower())[:700]
    pieces = {piece for ids in encoder.pieces(words) for piece in ids}
    assert len(pieces) > MAX_TOKENS
    np.testing.assert_allclose(encoder.encode_text(" ".join(words)), through_onnx(onnx, words), atol=2e-6)


def test_a_token_that_the_model_lacks_is_a_damaged_index(encoder: Encoder) -> None:
    for piece in (-1, 32_000, 1 << 40):
        with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
            encoder.encode_text("session", lambda part, piece=piece: [5, piece])
        with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
            encoder.token_codes(np.array([5, piece], np.int64))
        with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
            encoder.encode_bags(np.array([0, 2]), np.array([5, piece], np.int64), np.ones(2, np.float32))


@pytest.mark.parametrize("text", ["where is the session of the removeExpired session", "session", "", "%"])
def test_a_question_is_its_vector_and_the_share_of_each_token(encoder: Encoder, text: str) -> None:
    asked = encoder.question(text)
    ids, counts = encoder.question_tokens(text)
    assert asked.ids.tolist() == ids.tolist() and (asked.weights > 0).all()
    assert asked.vector.tobytes() == encoder.encode_text(text).tobytes()
    scale = encoder._sided_weights(ids, counts) * encoder._scales(ids)
    sizes = np.linalg.norm(encoder.token_codes(ids) * scale[:, None], axis=1)
    np.testing.assert_allclose(asked.weights, sizes / max(sizes.sum(), 1e-9), atol=1e-6)


def test_a_tokens_code_is_its_row_up_to_a_factor(encoder: Encoder) -> None:
    ids = np.array([7, 4000, 31_999], np.int64)
    codes = encoder.token_codes(ids)
    assert (codes == np.rint(codes)).all() and np.abs(codes).max() <= 128
    rows = encoder.encode_bags(np.arange(4), ids, np.ones(3, np.float32))
    np.testing.assert_allclose(codes / np.linalg.norm(codes, axis=1, keepdims=True), rows, atol=1e-6)


def test_the_card_beside_the_weights_is_true(encoder: Encoder) -> None:
    assert encoder.sha256 == encoder.folder.computed_sha256()
    assert encoder.dimension == encoder._session.get_outputs()[0].shape[-1]


def test_a_folder_without_a_model_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(BadModelError, match=r"no model\.onnx"):
        Encoder(tmp_path)
    assert (MODEL_DIR / "model.onnx").is_file()


# --- tokens without the tokenizer -------------------------------------------------------------------------------------


@examples(200)
@given(text=st.text(max_size=12))
def test_the_tokens_of_a_part_are_the_tokenizers(encoder: Encoder, onnx: Encoder, text: str) -> None:
    split = [part for word in WORD.findall(text) for part in parts(word)]
    assert encoder.pieces(split) == onnx.pieces(split)


def test_the_tokens_of_every_letter_are_the_tokenizers(encoder: Encoder, onnx: Encoder) -> None:
    letters = [chr(code) for code in range(128, 0x3000) if chr(code).isalnum()]
    split = list(dict.fromkeys(part for c in letters for word in (f"ab{c}", f"{c}s") for part in parts(word)))
    assert len(split) > 7000
    assert encoder.pieces(split) == onnx.pieces(split)


NO_PARTS = [
    "a" * 100,
    "a" * 101,
    "Session",
    "a_b",
    "a b",
    "",
    "ﬁ",
    "9" * 100,
    "İx",
    "a+-b",
    "नमस्ते",
    "a\u200db",
    "1²½",
    "\t",
]


def test_what_is_no_part_has_the_tokenizers_tokens(encoder: Encoder, onnx: Encoder) -> None:
    assert encoder.pieces(NO_PARTS) == onnx.pieces(NO_PARTS)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_another_model_without_the_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    folder = ModelFolder(shutil.copytree(MODEL_DIR, tmp_path / "model"))
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == library else real(name))
    with pytest.raises(BadModelError, match="needs the extra model") as caught:
        open_encoder(folder)
    assert caught.value.hint.startswith("pip install 'lci-py[model]'")


def test_embedding_needs_neither_onnxruntime_nor_tokenizers() -> None:
    code = (
        "import sys, numpy as np\nfrom lci_py.embed.encoder import Encoder\nencoder = Encoder()\n"
        "ids = [i for part in ('session', 'größe') for i in encoder.pieces([part])[0]]\n"
        "bag = np.array(ids, np.int64), np.ones(len(ids), np.float32)\n"
        "assert encoder.encode_bags(np.array([0, len(ids)]), *bag).any()\n"
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PROJECT)
