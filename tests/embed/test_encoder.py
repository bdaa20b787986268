"""Vectors: the same from onnxruntime and from the table, for the same bag of tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lci_py.embed.encoder import MAX_TOKENS, MODEL_DIR, Encoder, tf_weight
from lci_py.errors import BadModelError, DamagedIndexError
from lci_py.index.dense import DenseIndex, write_dense

WORDS = st.lists(
    st.sampled_from("parse getHTTPResponse pool_size ñandú v2beta x 中文 _private __init__".split()), max_size=12
)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


def through_onnx(encoder: Encoder, words: list[str]) -> np.ndarray:
    from collections import Counter

    from lci_py.source.words import parts

    counts = Counter(i for ids in encoder.pieces([p for w in words for p in parts(w)]) for i in ids)
    ids = np.array(sorted(counts), np.int64)
    weights = tf_weight(np.array([counts[i] for i in sorted(counts)], np.float32))
    return encoder.encode_bags(np.array([0, len(ids)], np.int64), ids, weights, question=True)[0]


@settings(max_examples=40, deadline=None)
@given(words=WORDS)
def test_the_query_path_gives_the_models_vector(encoder: Encoder, words: list[str]) -> None:
    np.testing.assert_allclose(encoder.encode_text(" ".join(words)), through_onnx(encoder, words), atol=2e-6)


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


def test_batches_do_not_change_vectors(encoder: Encoder) -> None:
    rng = np.random.default_rng(5)
    lengths = np.concatenate([rng.integers(0, 300, 200), [0, 1, 2000]])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ids = rng.integers(1, 32_000, indptr[-1]).astype(np.int64)
    weights = rng.uniform(1, 4, len(ids)).astype(np.float32)
    together = encoder.encode_bags(indptr, ids, weights)
    for row in (0, 7, 77, 200, 201, 202):
        span = slice(indptr[row], indptr[row + 1])
        alone = encoder.encode_bags(np.array([0, span.stop - span.start]), ids[span], weights[span])[0]
        np.testing.assert_allclose(together[row], alone, atol=1e-5)
    assert not together[200].any()


def test_a_text_of_many_tokens_is_cut_where_a_bag_is(encoder: Encoder) -> None:
    words = sorted(word for word in encoder._tokenizer.get_vocab() if word.isalpha() and word.islower())[:700]
    pieces = {piece for ids in encoder.pieces(words) for piece in ids}
    assert len(pieces) > MAX_TOKENS
    np.testing.assert_allclose(encoder.encode_text(" ".join(words)), through_onnx(encoder, words), atol=2e-6)


def test_a_token_that_the_model_lacks_is_a_damaged_index(encoder: Encoder) -> None:
    for piece in (-1, 32_000, 1 << 40):
        with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
            encoder.encode_text("session", lambda part, piece=piece: [5, piece])
        with pytest.raises(DamagedIndexError, match="a token that the model does not have"):
            encoder.token_directions(np.array([5, piece], np.int64))


def test_tokens_have_directions_and_weights(encoder: Encoder) -> None:
    ids, counts = encoder.question_tokens("where is the session of the removeExpired session")
    np.testing.assert_allclose(np.linalg.norm(encoder.token_directions(ids), axis=1), 1, atol=1e-5)
    weights = encoder.question_weights(ids, counts)
    assert (weights > 0).all() and abs(float(weights.sum()) - 1) < 1e-5
    alone = np.stack([encoder._sided_weights(ids, counts)[i] * encoder._rows(ids)[i] for i in range(len(ids))])
    np.testing.assert_allclose(weights, np.linalg.norm(alone, axis=1) / np.linalg.norm(alone, axis=1).sum(), atol=1e-6)
    total = alone.sum(0)
    bag = encoder.encode_bags(np.array([0, len(ids)], np.int64), ids, counts, question=True)[0]
    np.testing.assert_allclose(total / np.linalg.norm(total), bag, atol=1e-5)


def test_the_card_beside_the_weights_is_true(encoder: Encoder) -> None:
    assert encoder.sha256 == encoder.folder.computed_sha256()
    assert encoder.dimension == encoder._session.get_outputs()[0].shape[-1]


def test_a_folder_without_a_model_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(BadModelError, match=r"no model\.onnx"):
        Encoder(tmp_path)
    assert (MODEL_DIR / "model.onnx").is_file()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_dense_search_is_exact_for_every_limit_and_filter(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n_units = data.draw(st.integers(1, 40))
    units = np.sort(rng.integers(0, n_units, data.draw(st.integers(0, 120)))).astype(np.int64)
    # Few distinct vectors, so that ties are common.
    vectors = rng.choice([-1.0, 0.5, 1.0], (len(units), 4)).astype(np.float32)
    path = tmp_path_factory.mktemp("dense") / "dense.faiss"
    write_dense(path, vectors, units) if len(units) else write_dense(path, np.zeros((0, 4), np.float32), units)
    index = DenseIndex(path, units=n_units, dimension=4)
    query = np.array([1, 0.5, -0.25, 0.125], np.float32)
    allowed = rng.random(n_units) < 0.5 if data.draw(st.booleans()) else None
    best: dict[int, float] = {}
    for unit, vector in zip(units.tolist(), vectors, strict=True):
        if allowed is None or allowed[unit]:
            best[unit] = max(best.get(unit, -9.0), float(vector @ query))
    wanted = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    limit = data.draw(st.integers(1, 50))
    got_units, got_cosines = index.search(query, limit, allowed)
    assert list(zip(got_units.tolist(), got_cosines.tolist(), strict=True))[:limit] == wanted[:limit]
    asked = np.array(sorted(best), np.int64)
    chunks, place, cosines = index.chunks_of(query, asked)
    assert chunks.tolist() == np.flatnonzero(np.isin(units, asked)).tolist()
    assert asked[place].tolist() == units[chunks].tolist()
    np.testing.assert_allclose(cosines, vectors[chunks] @ query, atol=1e-6)
