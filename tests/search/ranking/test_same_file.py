"""A file's further results count for less, and the list stays one order."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from lci_py.search.ranking import same_file
from lci_py.search.retrievers import HitList

SCORES = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0]), st.integers(0, 3)), max_size=60)


def ranked(rows: list[tuple[float, int]]) -> tuple[HitList, np.ndarray]:
    """Hits as a retriever gives them (best first, ties by unit), and the file of each."""
    order = sorted(range(len(rows)), key=lambda unit: (-rows[unit][0], unit))
    scores = np.array([rows[unit][0] for unit in order], np.float64)
    files = np.array([rows[unit][1] for unit in order], np.int64)
    return HitList("dense", np.array(order, np.int64), scores, len(order)), files


def test_another_file_comes_before_the_same_files_next_result() -> None:
    hits, files = ranked([(1.0, 0), (0.9, 0), (0.85, 0), (0.75, 1)])
    got = same_file.spread(hits, files, 0.8)
    assert [hit.unit for hit in got] == [0, 3, 1, 2]
    assert [hit.score for hit in got] == [1.0, 0.75, 0.72, 0.68]  # the third counts as the second does
    assert [hit.rank for hit in got] == [1, 2, 3, 4]


def test_one_files_results_keep_their_order() -> None:
    hits, files = ranked([(0.5, 7), (0.9, 7), (0.7, 7)])
    assert [hit.unit for hit in same_file.spread(hits, files, 0.8)] == [1, 2, 0]


@given(rows=SCORES, pool=st.integers(1, 20), limit=st.integers(1, 60))
def test_the_order_is_total_and_a_longer_list_only_adds(rows: list[tuple[float, int]], pool: int, limit: int) -> None:
    hits, files = ranked(rows)
    before, same_file.POOL = same_file.POOL, pool
    try:
        whole = list(same_file.spread(hits, files[:pool], 0.8))
        part = list(same_file.spread(hits.head(max(limit, pool)), files[:pool], 0.8).head(limit))
    finally:
        same_file.POOL = before
    assert sorted(hit.unit for hit in whole) == sorted(hit.unit for hit in hits)
    keys = [(-hit.score, hit.unit) for hit in whole]
    assert keys == sorted(keys)
    assert part == whole[:limit]
