"""A file's results support each other, and the list stays one order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.search.ranking import same_file
from lci_py.search.views.hits import HitList
from tests.conftest import Ran
from tests.search.ranking.test_same_file import SCORES, ranked


def test_a_file_that_answers_in_several_places_comes_first() -> None:
    hits, files = ranked([(0.8, 0), (0.78, 1), (0.7, 1), (0.1, 2)])
    got, own = same_file.supported(hits, files)
    assert [hit.unit for hit in got] == [1, 0, 2, 3] and own.tolist() == [1, 0, 1, 2]
    # 0.2 * (the first + 0.8 * the second + ...) counts half of the result itself.
    expected = [(0.78 + 0.1 * (0.78 + 0.8 * 0.7)) / 1.5, (0.8 + 0.1 * 0.8) / 1.5]
    assert [hit.score for hit in got][:2] == pytest.approx(expected)


def test_a_file_of_equal_perfect_hits_keeps_its_scores() -> None:
    hits, files = ranked([(1.0, 3)] * 400)
    assert same_file.supported(hits, files)[0].scores == pytest.approx(np.ones(400))


@given(rows=SCORES, pool=st.integers(1, 20), limit=st.integers(1, 60))
def test_the_order_is_total_and_a_longer_list_only_adds(rows: list[tuple[float, int]], pool: int, limit: int) -> None:
    hits, files = ranked(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(same_file, "POOL", pool)
        whole, own = same_file.supported(hits, files[:pool])
        part = same_file.supported(hits.head(max(limit, pool)), files[:pool])[0].head(limit)
    assert sorted(hit.unit for hit in whole) == sorted(hit.unit for hit in hits)
    assert own.tolist() == [rows[unit][1] for unit in whole.units[:pool].tolist()]
    keys = [(-hit.score, hit.unit) for hit in whole]
    assert keys == sorted(keys) and all(0 <= hit.score <= 1 for hit in whole)
    assert list(part) == list(whole)[:limit]


def test_a_unit_of_no_known_file_is_ranked_like_the_others() -> None:
    hits = HitList("dense", np.array([4, 2]), np.array([0.5, 0.25]), 2)
    got, files = same_file.supported(hits, np.array([-1, 0]))
    assert got.units.tolist() == [4, 2] and files.tolist() == [-1, 0]


def test_dense_shows_the_file_with_more_to_say_first(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """Two copies of one function, one beside more on the subject. By itself, the one in a.py is the closer."""
    function = 'def expire_session(session):\n    """Remove the expired session."""\n    session.remove()\n\n\n'
    (tmp_path / "a.py").write_text(function + "def paint(canvas):\n    canvas.fill()\n")
    (tmp_path / "b.py").write_text(function + "def open_session(session):\n    session.load()\n")
    assert lci("index", cwd=tmp_path).code == 0
    ran = lci("search", "remove an expired session", "--json", cwd=tmp_path)
    assert [result["file"] for result in ran.json()["results"]][0] == "b.py"
