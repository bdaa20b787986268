"""The tokenizer knows frequent parts, and turns bags of parts into bags of tokens."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("scipy", reason="of the extra `training`")

from tokenizers import Tokenizer

from lci_py.training.tokens import pieces, tokenize, train_tokenizer

PARTS = ["session", "pool", "worker", "sessionpool", "zzyzx"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    work = tmp_path_factory.mktemp("work")
    (work / "parts.json").write_text(json.dumps(PARTS))
    ids = np.repeat(np.arange(4), [300, 200, 150, 2])
    np.savez(work / "pairs.npz", answer_ids=ids, query_ids=ids[:600:7])
    train_tokenizer(work, 60, work / "tokenizer.json")
    return Tokenizer.from_file(str(work / "tokenizer.json"))


def test_frequent_parts_are_one_token_and_nothing_is_unknown(tokenizer: Tokenizer) -> None:
    assert tokenizer.get_vocab_size() <= 60
    for part in PARTS[:3]:
        assert tokenizer.encode(part).tokens == [part]
    assert tokenizer.encode("SESSION").tokens == ["session"]
    assert "[UNK]" not in tokenizer.encode("sessionpool").tokens
    assert tokenizer.encode("zzyzx").tokens == ["[UNK]"]  # never seen, nor its letters


def test_bags_of_parts_become_bags_of_tokens(tokenizer: Tokenizer) -> None:
    expand = pieces(tokenizer, PARTS)
    assert expand.shape == (len(PARTS), tokenizer.get_vocab_size())
    pointers, ids = np.array([0, 2, 2, 3]), np.array([0, 1, 2], np.int32)
    counts = np.array([4, 1, 2], np.uint8)
    number = tokenizer.token_to_id
    for block in (1, 2, 100):
        out_pointers, out_ids, weights = tokenize(pointers, ids, counts, expand, block)
        assert out_pointers.tolist() == [0, 2, 2, 3]
        found = dict(zip(out_ids.tolist(), weights.tolist(), strict=True))
        assert found == pytest.approx(
            {number("session"): 1 + np.log(4), number("pool"): 1.0, number("worker"): 1 + np.log(2)}
        )
