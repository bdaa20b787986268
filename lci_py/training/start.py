"""The table that training starts from: vectors of single tokens from a sentence model.

The sentence model (all-MiniLM-L6-v2, Apache-2.0) is a folder that `--model` of lci would also accept. Its vectors are
reduced to their first principal components, and scaled by how rare the token is: a / (a + p), the weight of smooth
inverse frequency (Arora, Liang and Ma, ICLR 2017).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from lci_py.embed.contextual import ContextualEncoder
from lci_py.embed.folder import ModelFolder, load_session

_RARE = 1e-3


def sentence_vectors(model: Path, tokenizer: Tokenizer) -> NDArray[np.float32]:
    """Vectors of every token's text: [tokens, dimension of the sentence model]."""
    folder = ModelFolder(model)
    encoder = ContextualEncoder(folder, load_session(folder, threads=2, optimised=True), threads=2)
    vocabulary = tokenizer.get_vocab()
    texts = [token.removeprefix("##") for token in sorted(vocabulary, key=vocabulary.__getitem__)]
    return encoder.encode_chunks(texts)


def start_table(vectors: NDArray[np.float32], frequency: NDArray[np.float64], dimension: int) -> NDArray[np.float32]:
    """The table [tokens, dimension], from `vectors` [tokens, any] and how often each token occurs [tokens]."""
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    turned = centred @ axes[:, ::-1][:, :dimension]
    turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-6)
    share = frequency / frequency.sum()
    return np.asarray(turned * (_RARE / (_RARE + share))[:, None], np.float32)
