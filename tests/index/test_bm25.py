"""The lexical shard gives bm25s's scores, from bm25s's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lci_py.errors import DamagedIndexError
from lci_py.index.bags import Sparse
from lci_py.index.bm25 import FIELDS, LexicalIndex, bm25_matrix, write_lexical

DOCUMENTS = st.lists(st.lists(st.integers(0, 12), max_size=30), min_size=1, max_size=12)


def bags(documents: list[list[int]]) -> Sparse:
    rows = [row for row, words in enumerate(documents) for _ in words]
    columns = [word for words in documents for word in words]
    return Sparse(np.array(rows, np.int32), np.array(columns, np.int32), np.ones(len(rows), np.float32))


@settings(max_examples=60, deadline=None)
@given(documents=DOCUMENTS.filter(lambda found: any(found)))
def test_the_matrix_is_that_of_bm25s(documents: list[list[int]]) -> None:
    from bm25s import BM25

    theirs = BM25(method="lucene", k1=1.5, b=0.75, backend="numpy")
    theirs.index((documents, {str(i): i for i in range(13)}), create_empty_token=False, show_progress=False)
    ours = bm25_matrix(bags(documents), len(documents), 13, 1.5, 0.75)
    for word in range(13):
        span = slice(int(ours["indptr"][word]), int(ours["indptr"][word + 1]))
        dense = np.zeros(len(documents), np.float32)
        dense[ours["indices"][span]] = ours["data"][span]
        np.testing.assert_allclose(dense, theirs.get_scores_from_ids([word]), rtol=1e-5, atol=1e-6)


def write(folder: Path, documents: list[list[int]], terms: list[str]) -> None:
    n = len(documents)
    field = (bags(documents), n)
    ids = np.arange(n, dtype=np.int32)
    write_lexical(folder, terms, dict.fromkeys(FIELDS, field), {"chunk_unit": ids, "unit_file": ids})


def test_bm25s_opens_the_shard_and_agrees_with_the_reader(tmp_path: Path) -> None:
    from bm25s import BM25

    terms = ["pool", "connection", "ünïcode", "a", "zebra"]
    write(tmp_path, [[0, 1, 1], [1, 3], [4, 4, 4, 0], []], terms)
    index = LexicalIndex(tmp_path)
    theirs = BM25.load(tmp_path / "content", load_vocab=False, mmap=True)
    columns = [index.term(term) for term in ("connection", "pool")]
    assert -1 not in columns
    np.testing.assert_allclose(
        index.scores("content", [(column, 1.0) for column in columns]), theirs.get_scores_from_ids(columns), rtol=1e-6
    )
    assert [index.term(term) for term in ("", "b", "zebras", "ünïcod")] == [-1, -1, -1, -1]
    assert sorted(index.term(term) for term in terms) == list(range(5))


@pytest.mark.parametrize("file", ["indices.csc.index.npy", "indptr.csc.index.npy", "data.csc.index.npy"])
def test_arrays_that_do_not_fit_are_refused(tmp_path: Path, file: str) -> None:
    write(tmp_path, [[0], [1]], ["a", "b"])
    array = np.load(tmp_path / "content" / file)
    np.save(tmp_path / "content" / file, array[:-1])
    with pytest.raises(DamagedIndexError):
        LexicalIndex(tmp_path).scores("content", [(0, 1.0)])


def test_a_row_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    write(tmp_path, [[0], [0]], ["a"])
    np.save(tmp_path / "content" / "indices.csc.index.npy", np.array([0, 7], np.int32))
    with pytest.raises(DamagedIndexError):
        LexicalIndex(tmp_path).scores("content", [(0, 1.0)])
