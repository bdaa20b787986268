"""A file's results support each other, and the list stays one order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.search.ranking.evidence import FILE, Evidence
from lci_py.search.ranking.same_file import whole
from tests.conftest import Ran
from tests.search.ranking.test_same_file import SCORES, ranked


def test_the_mean_of_a_files_results() -> None:
    hits, files = ranked([(0.8, 0), (0.78, 1), (0.7, 1), (0.1, 2)])
    # 0.2 * (the first + 0.8 * the second + ...), for each result of the file.
    assert whole(hits.scores, files) == pytest.approx([0.2 * 0.8, *[0.2 * (0.78 + 0.8 * 0.7)] * 2, 0.2 * 0.1])


def test_a_unit_of_no_known_file_has_a_file_of_its_own() -> None:
    assert whole(np.array([0.5, 0.25]), np.array([-1, 0])) == pytest.approx([0.1, 0.05])


@given(rows=SCORES)
def test_a_mean_is_never_above_the_best(rows: list[tuple[float, int]]) -> None:
    hits, files = ranked(rows)
    means = whole(hits.scores, files)
    assert all(0 <= mean <= max(hits.scores[files == file]) + 1e-12 for mean, file in zip(means, files, strict=True))


@given(
    rows=SCORES,
    factors=st.lists(st.sampled_from([0.6, 1.0]), min_size=60, max_size=60),
    extra=st.lists(st.sampled_from([0.0, 0.9]), min_size=60, max_size=60),
    pool=st.integers(1, 60),
)
def test_the_order_is_total(rows: list[tuple[float, int]], factors: list[float], extra: list[float], pool: int) -> None:
    hits, files = ranked(rows)
    n = min(pool, len(hits))
    found = Evidence(
        hits, files[:n], {"file": (FILE, whole(hits.scores[:n], files[:n]))}, 1 / (1 + FILE),
        {"test": np.array(factors[:n])}, {"name": (1.0, np.array(extra[:n]))},
    )  # fmt: skip
    got, own = found.ranked()
    assert sorted(got.units.tolist()) == sorted(hits.units.tolist())
    assert own.tolist() == [rows[unit][1] for unit in got.units[:n].tolist()]
    keys = [(-hit.score, hit.unit) for hit in got]
    assert keys == sorted(keys) and all(0 <= hit.score <= 2 for hit in got)


def test_dense_shows_the_file_with_more_to_say_first(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """Two copies of one function, one beside more on the subject. By itself, the one in a.py is the closer."""
    function = 'def expire_session(session):\n    """Remove the expired session."""\n    session.remove()\n\n\n'
    (tmp_path / "a.py").write_text(function + "def paint(canvas):\n    canvas.fill()\n")
    (tmp_path / "b.py").write_text(function + "def open_session(session):\n    session.load()\n")
    assert lci("index", cwd=tmp_path).code == 0
    ran = lci("search", "remove an expired session", "--json", cwd=tmp_path)
    assert [result["file"] for result in ran.json()["results"]][0] == "b.py"
