"""The dense shard's scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lci_py.index.dense import DenseIndex, write_dense


@pytest.mark.parametrize("chunks", [3, 7, 17, 401])
def test_equal_chunks_tie_wherever_they_stand(tmp_path: Path, chunks: int) -> None:
    """A product of matrices rounds the last rows in another way, which would rank copies out of the order of paths."""
    random = np.random.default_rng(1)
    vector, query = (v / np.linalg.norm(v) for v in random.standard_normal((2, 256)).astype(np.float32))
    write_dense(tmp_path / "d.faiss", np.tile(vector, (chunks, 1)), np.arange(chunks, dtype=np.int64))
    index = DenseIndex(tmp_path / "d.faiss", units=chunks, dimension=256)
    found, place, cosines = index.chunks_of(query, np.arange(chunks, dtype=np.int64))
    assert found.tolist() == place.tolist() == list(range(chunks)) and len(np.unique(cosines)) == 1
