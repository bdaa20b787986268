"""The vectors of a transformer are what numpy computes from its states, whatever else is in the batch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, strategies as st

from lci_py.embed import contextual
from lci_py.embed.contextual import ContextualEncoder
from lci_py.embed.encoder import MODEL_DIR, Encoder, open_encoder
from lci_py.embed.folder import ModelFolder
from lci_py.errors import BadModelError
from tests.support import tiny_models as tiny

PIECES = st.lists(st.sampled_from([*"abc", " ", " remove ", " session ", " zzz ", "\ud800", "é"]), max_size=40)
TEXTS = st.lists(PIECES.map("".join), max_size=12)


def opened(folder: Path, threads: int = 1) -> ContextualEncoder:
    encoder = open_encoder(ModelFolder(folder), threads=threads)
    assert isinstance(encoder, ContextualEncoder)
    return encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> ContextualEncoder:
    return opened(tiny.contextual(tmp_path_factory.mktemp("model")))


def mean(text: str, *, special: bool = True) -> np.ndarray:
    ids = [tiny.WORDS.index(word) if word in tiny.WORDS else 1 for word in text.lower().split()]
    rows = tiny.table()[[2, *ids, 3] if special else ids]
    total = rows.sum(axis=0)
    return total / np.linalg.norm(total)


def test_the_mean_over_the_mask(encoder: ContextualEncoder) -> None:
    texts = ["remove expired sessions", "Close", "a b c " * 20, "unknown words here"]
    vectors = encoder.encode_chunks(texts)
    assert (vectors.dtype, vectors.shape) == (np.float32, (4, tiny.DIMENSION))
    np.testing.assert_allclose(vectors, [mean(text) for text in texts], atol=1e-6)
    np.testing.assert_allclose(encoder.encode_text("Close the pool"), mean("Close the pool"), atol=1e-6)


@given(texts=TEXTS)
def test_a_vector_does_not_depend_on_its_batch(encoder: ContextualEncoder, texts: list[str]) -> None:
    together = encoder.encode_chunks(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal(vector, encoder.encode_text(text))
        assert abs(float(np.linalg.norm(vector)) - bool(text.strip())) < 1e-5


def test_threads_and_batches_do_not_change_vectors(tmp_path: Path) -> None:
    folder = tiny.contextual(tmp_path)
    texts = ["remove session " * (i % 300) for i in range(120)]
    one, three = opened(folder).encode_chunks(texts), opened(folder, 3).encode_chunks(texts)
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "token_type_ids")])
def test_without_a_mask_nothing_is_padded(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    texts = ["a b", "c", "remove a session", "b a", ""]
    encoder = opened(tiny.contextual(tmp_path, inputs=inputs))
    lengths = np.array([3, 1, 3, 2, 3, 1])
    assert all(len(set(lengths[rows].tolist())) == 1 for rows in encoder._batches(lengths))
    vectors = encoder.encode_chunks(texts)
    np.testing.assert_allclose(vectors[:4], [mean(text) for text in texts[:4]], atol=1e-6)


def test_a_model_that_quantizes_as_it_runs_takes_one_text_at_a_time(tmp_path: Path) -> None:
    encoder = opened(tiny.contextual(tmp_path, quantized=True))
    texts = ["a", "remove expired session", "close pool"]
    alone = [encoder.encode_text(text) for text in texts]
    np.testing.assert_array_equal(encoder.encode_chunks(texts), alone)


def test_a_model_that_pools_by_itself_takes_one_text_at_a_time(tmp_path: Path) -> None:
    """onnxruntime adds up a text's tokens in an order that depends on the batch: the last bit would."""
    encoder = opened(tiny.contextual(tmp_path, output="sentence_embedding", pooled=True))
    texts = [" ".join(tiny.WORDS[4 + (i * k) % 14] for k in range(1, 1 + i % 30)) for i in range(1, 90)]
    alone = [encoder.encode_text(text) for text in texts]
    np.testing.assert_array_equal(encoder.encode_chunks(texts), alone)


def test_batches_are_bounded(encoder: ContextualEncoder) -> None:
    lengths = np.array([0, 3, 512, 40, 40, 100, 1, 0] * 30)
    batches = list(encoder._batches(lengths))
    assert sorted(np.concatenate(batches).tolist()) == np.flatnonzero(lengths).tolist()
    assert all(len(rows) * lengths[rows].max() <= contextual.CELLS for rows in batches)


def test_an_output_of_whole_texts_is_taken_as_it_is(tmp_path: Path) -> None:
    vector = opened(tiny.contextual(tmp_path, output="sentence_embedding")).encode_text("remove")
    np.testing.assert_allclose(vector, tiny.table()[2] / np.linalg.norm(tiny.table()[2]), atol=1e-6)


def test_pooling_by_the_first_token(tmp_path: Path) -> None:
    encoder = opened(
        tiny.contextual(tmp_path, pooling={"pooling_mode_cls_token": True, "pooling_mode_max_tokens": False})
    )
    np.testing.assert_allclose(encoder.encode_text("a"), tiny.table()[2] / np.linalg.norm(tiny.table()[2]), atol=1e-6)


@pytest.mark.parametrize(
    ("cut", "settings", "limit"),
    [
        (None, {}, 512),
        (10, {}, 10),
        (10, {"sentence_bert_config": {"max_seq_length": 20}}, 20),
        (None, {"tokenizer_config": {"model_max_length": 30}}, 30),
        (None, {"tokenizer_config": {"model_max_length": 10**30}}, 512),
        (None, {"config": {"max_position_embeddings": 34, "model_type": "roberta"}}, 32),
    ],
)
def test_a_long_text_is_cut_at_the_models_limit(tmp_path: Path, cut: int | None, settings: dict, limit: int) -> None:
    encoder = opened(tiny.contextual(tmp_path, cut=cut, **settings))
    assert encoder.limit == limit
    kept = "a b c remove " * 200
    kept = " ".join(kept.split()[: limit - 2])
    np.testing.assert_array_equal(encoder.encode_text(kept + " close" * 400), encoder.encode_text(kept))


def test_texts_of_any_size_and_kind(encoder: ContextualEncoder) -> None:
    for text in ("x" * 5_000_000, " " * 5_000_000 + "a", "\x00", "\ud800", "中" * 100_000):
        vector = encoder.encode_text(text)
        assert np.isfinite(vector).all()
    assert not encoder.encode_text(" \n").any()
    assert not encoder.encode_chunks(["", "\t"]).any()
    assert encoder.encode_chunks([]).shape == (0, tiny.DIMENSION)


def test_a_text_without_a_token_is_a_row_of_zeros(tmp_path: Path) -> None:
    encoder = opened(tiny.contextual(tmp_path, special=False))
    vectors = encoder.encode_chunks(["\u0085", "a"])
    assert not vectors[0].any()
    np.testing.assert_allclose(vectors[1], mean("a", special=False), atol=1e-6)


def test_prompts(tmp_path: Path) -> None:
    prompts = {"prompts": {"query": "open file ", "passage": "method "}}
    encoder = opened(tiny.contextual(tmp_path, config_sentence_transformers=prompts))
    np.testing.assert_allclose(encoder.encode_text("a"), mean("open file a"), atol=1e-6)
    np.testing.assert_allclose(encoder.encode_chunks(["a"])[0], mean("method a"), atol=1e-6)


# --- the folder ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["model.onnx", "onnx/model.onnx", "encoder_q8.onnx"])
def test_where_the_model_lies(tmp_path: Path, at: str) -> None:
    folder = ModelFolder(tiny.contextual(tmp_path / "bert", at=at))
    assert (folder.onnx, folder.name) == (tmp_path / "bert" / at, "bert")


def test_the_hash_covers_what_decides_the_vectors(tmp_path: Path) -> None:
    seen = {ModelFolder(tiny.contextual(tmp_path)).sha256}
    assert seen == {ModelFolder(tmp_path / ".").sha256}
    (tmp_path / "README.md").write_text("nothing of the model")
    assert seen == {ModelFolder(tmp_path).sha256}
    (tmp_path / "model.onnx_data").write_text("weights")
    seen.add(ModelFolder(tmp_path).sha256)
    (tmp_path / "config_sentence_transformers.json").write_text('{"prompts": {"query": "q "}}')
    seen.add(ModelFolder(tmp_path).sha256)
    tiny.contextual(tmp_path, seed=1)
    seen.add(ModelFolder(tmp_path).sha256)
    tiny.write_tokenizer(tmp_path, cut=9)
    seen.add(ModelFolder(tmp_path).sha256)
    assert len(seen) == 5


def test_a_hash_is_recalled_while_the_files_are_the_same(tmp_path: Path) -> None:
    folder = ModelFolder(tiny.contextual(tmp_path))
    note = {**folder.record(), "sha256": "as noted"}
    again = ModelFolder(tmp_path)
    again.recall(note)
    assert again.sha256 == "as noted"
    os.utime(tmp_path / "tokenizer.json", ns=(1, 1))
    changed = ModelFolder(tmp_path)
    changed.recall(note)
    assert changed.sha256 == folder.sha256


def test_the_folder_in_the_package_is_the_built_in_model(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(MODEL_DIR)
    for path in (None, MODEL_DIR, tmp_path / "link"):
        folder = ModelFolder(path)
        assert folder.builtin and folder.record() == {}
    shutil.copytree(MODEL_DIR, tmp_path / "copy")
    (tmp_path / "copy" / "model.json").write_text('{"sha256": "a lie", "dimension": 3}')
    copy = open_encoder(ModelFolder(tmp_path / "copy"))
    assert isinstance(copy, Encoder)
    assert (copy.sha256, copy.dimension) == (Encoder().sha256, Encoder().dimension)
    np.testing.assert_allclose(copy.encode_text("close a pool"), Encoder().encode_text("close a pool"), atol=2e-6)


def _damage(name: str, folder: Path) -> None:
    tiny.contextual(folder)
    if name == "nothing":
        shutil.rmtree(folder)
    elif name == "a file":
        shutil.rmtree(folder)
        folder.write_text("")
    elif name == "no onnx":
        (folder / "model.onnx").unlink()
    elif name == "two onnx":
        (folder / "model.onnx").rename(folder / "a.onnx")
        (folder / "b.onnx").touch()
    elif name == "a pipe":
        (folder / "model.onnx").unlink()
        os.mkfifo(folder / "model.onnx")
    elif name == "no tokenizer":
        (folder / "tokenizer.json").unlink()
    elif name == "garbage for onnx":
        (folder / "model.onnx").write_bytes(b"\x00\xff garbage" * 50)
    elif name == "half an onnx":
        data = (folder / "model.onnx").read_bytes()
        (folder / "model.onnx").write_bytes(data[: len(data) // 2])
    elif name == "garbage for a tokenizer":
        (folder / "tokenizer.json").write_text("{")
    elif name == "an empty tokenizer":
        (folder / "tokenizer.json").write_text("{}")
    elif name == "other inputs":
        tiny.contextual(folder, inputs=("input_ids", "position_ids"))
    elif name == "a fixed shape":
        tiny.contextual(folder, shape=(1, 128))
    elif name == "another type":
        tiny.contextual(folder, inputs=("input_ids", "attention_mask"), kind=onnx.TensorProto.INT32)
        model = onnx.load(folder / "model.onnx")
        model.graph.input[1].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        onnx.save(model, folder / "model.onnx")
    elif name == "last token":
        tiny.contextual(folder, pooling={"pooling_mode_lasttoken": True})
    elif name == "prompts":
        tiny.contextual(folder, config_sentence_transformers={"prompts": {"query": 1}})
    elif name == "no JSON":
        (folder / "tokenizer_config.json").write_text("{")
    elif name == "no room":
        tiny.contextual(folder, sentence_bert_config={"max_seq_length": 2})


DAMAGES = (
    "nothing", "a file", "no onnx", "two onnx", "a pipe", "no tokenizer", "garbage for onnx", "half an onnx",
    "garbage for a tokenizer", "an empty tokenizer", "other inputs", "a fixed shape", "another type", "last token",
    "prompts", "no JSON", "no room",
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_model_is_one_line(tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]) -> None:
    _damage(damage, tmp_path / "model")
    with pytest.raises(BadModelError) as caught:
        open_encoder(ModelFolder(tmp_path / "model"))
    assert (caught.value.code, caught.value.exit_code) == ("bad_model", 2)
    assert str(tmp_path / "model") in caught.value.message
    assert caught.value.hint and "\n" not in caught.value.message and len(caught.value.message) < 600
    assert capfd.readouterr() == ("", "")


def test_a_model_that_fails_on_a_text(tmp_path: Path) -> None:
    tiny.contextual(tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(tiny.table()[:4], "table"))
    onnx.save(model, tmp_path / "model.onnx")
    encoder = opened(tmp_path)
    with pytest.raises(BadModelError, match="failed on a text of 3 tokens"):
        encoder.encode_text("remove")
