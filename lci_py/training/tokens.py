"""The tokenizer: WordPiece over identifier parts, weighted by the number of chunks with a part."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

#: The number of occurrences that the trainer sees.
_SHOWN = 12_000_000


def train_tokenizer(work: Path, size: int, target: Path) -> None:
    """Write `tokenizer.json` with `size` tokens, learned from `pairs.npz`."""
    part_list: list[str] = json.loads((work / "parts.json").read_text("utf-8"))
    with np.load(work / "pairs.npz") as arrays:
        counts = np.bincount(arrays["answer_ids"], minlength=len(part_list)).astype(np.float64)
        counts += 2.0 * np.bincount(arrays["query_ids"], minlength=len(part_list))
    counts = np.ceil(counts * min(1.0, _SHOWN / counts.sum()) - 0.3).astype(np.int64)

    def shown() -> Iterator[str]:
        order = list(np.flatnonzero(counts > 0))
        random.Random(0).shuffle(order)
        for part in order:
            count = int(counts[part])
            while count > 0:  # one string of many copies is faster than many strings
                some = min(count, 2000)
                yield " ".join([part_list[part]] * some)
                count -= some

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordPieceTrainer(vocab_size=size, special_tokens=["[UNK]"], min_frequency=2, limit_alphabet=600)
    tokenizer.train_from_iterator(shown(), trainer)
    tokenizer.save(str(target))


def pieces(tokenizer: Tokenizer, part_list: list[str]) -> sparse.csr_matrix:
    """How often each part has each token, part x token."""
    pointers, columns = [0], []
    for start in range(0, len(part_list), 20_000):
        for item in tokenizer.encode_batch(part_list[start : start + 20_000], add_special_tokens=False):
            columns.extend(item.ids)
            pointers.append(len(columns))
    matrix = sparse.csr_matrix(
        (np.ones(len(columns), np.float32), np.array(columns, np.int32), pointers),
        shape=(len(part_list), tokenizer.get_vocab_size()),
    )
    matrix.sum_duplicates()
    return matrix


def tokenize(
    pointers: NDArray[np.int64],
    ids: NDArray[np.int32],
    counts: NDArray[np.uint8],
    expand: sparse.csr_matrix,
    block: int = 100_000,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Turn bags of parts into bags of tokens with weights 1 + ln(count)."""
    out_pointers, columns, weights = [np.zeros(1, np.int64)], [], []
    total = 0
    for start in range(0, len(pointers) - 1, block):
        own = pointers[start : min(start + block, len(pointers) - 1) + 1]
        data = counts[own[0] : own[-1]].astype(np.float32)
        shape = (len(own) - 1, expand.shape[0])
        bag = sparse.csr_matrix((data, ids[own[0] : own[-1]], own - own[0]), shape=shape) @ expand
        out_pointers.append(bag.indptr[1:].astype(np.int64) + total)
        total += int(bag.indptr[-1])
        columns.append(bag.indices.astype(np.int32))
        weights.append((1.0 + np.log(bag.data)).astype(np.float32))
    return np.concatenate(out_pointers), np.concatenate(columns), np.concatenate(weights)
