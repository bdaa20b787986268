"""The second look of dense search: at which units, in which order, and with which models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from lci_py import app
from lci_py.embed.encoder import Encoder
from lci_py.search import retriever
from lci_py.search.query import read_text
from lci_py.search.retriever import DenseRetriever
from lci_py.search.session import Session
from lci_py.types import SearchRequest
from tests import tiny_models as tiny
from tests.conftest import Ran

QUESTIONS = ("where is the stock of a warehouse counted", "Service", "open a file and read its lines", "zygote")


def ranked(dense: DenseRetriever, text: str, limit: int, allowed: np.ndarray | None = None) -> list[tuple[int, float]]:
    hits = dense.search(read_text(text), limit, allowed)
    assert hits.total == (dense.n_units if allowed is None else allowed.sum())
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return [(hit.unit, hit.score) for hit in hits]


@pytest.mark.parametrize("text", QUESTIONS)
@pytest.mark.parametrize("pool", [1, 7, 60, 10_000])
def test_the_ranking_does_not_depend_on_the_limit(
    session: Session, monkeypatch: pytest.MonkeyPatch, pool: int, text: str
) -> None:
    monkeypatch.setattr(retriever, "LATE_POOL", pool)
    monkeypatch.setattr(Encoder, "late", 20.0)  # the tokens move units far
    dense, n = session.dense, session.n_units
    everything = ranked(dense, text, 10 * n)
    units, scores = zip(*everything, strict=True)
    assert sorted(units) == list(range(n))
    assert all(0 <= score <= 1 for score in scores)
    assert list(scores) == sorted(scores, reverse=True)
    for limit in {1, 3, 10, 25, max(1, pool - 1), pool, pool + 1, 2 * pool, 3 * pool + 5, n - 1, n}:
        assert ranked(dense, text, limit) == everything[:limit]


def test_ties_in_the_pool_go_by_path_and_line(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of few values: the order among equals is that of the units."""
    monkeypatch.setattr(retriever, "LATE_POOL", 50)
    real = DenseRetriever._scores
    monkeypatch.setattr(DenseRetriever, "_scores", lambda *args: np.round(real(*args), 1))
    found = ranked(session.dense, QUESTIONS[0], 50)
    assert found == sorted(found, key=lambda item: (-item[1], item[0]))
    assert len({score for _, score in found}) < 10


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_the_pool_is_the_best_by_cosine_and_the_rest_follow_in_that_order(
    session: Session, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    """Of what the filter leaves: it comes first."""
    monkeypatch.setattr(retriever, "LATE_POOL", 20)
    dense, query = session.dense, read_text(QUESTIONS[0])
    allowed = None if share == 1 else np.random.default_rng(1).random(session.n_units) < share
    units, cosines = dense.index.search(dense.embed(query), session.n_units, allowed)
    found = ranked(dense, query.text, session.n_units, allowed)
    assert {unit for unit, _ in found[:20]} == set(units[:20].tolist())
    assert [unit for unit, _ in found[20:]] == units[20:].tolist()
    late = dense.encoder.late
    assert late > 0
    expected = np.minimum(np.maximum(cosines[20:], 0) / (1 + late), found[19][1])
    np.testing.assert_allclose([score for _, score in found[20:]], expected, atol=1e-6)
    assert [unit for unit, _ in found[:20]] != units[:20].tolist()  # or there was no second look


def test_no_score_behind_the_pool_is_above_one_in_it(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """faiss and numpy round in different places; here by far."""
    monkeypatch.setattr(retriever, "LATE_POOL", 20)
    real = DenseRetriever._scores
    monkeypatch.setattr(DenseRetriever, "_scores", lambda *args: real(*args) * np.float32(0.1))
    scores = [score for _, score in ranked(session.dense, QUESTIONS[0], session.n_units)]
    assert scores == sorted(scores, reverse=True)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.sampled_from(QUESTIONS), seed=st.integers(0, 99), share=st.sampled_from([0.02, 0.3, 0.9]))
def test_a_filter_leaves_the_others_scores_and_order(session: Session, text: str, seed: int, share: float) -> None:
    assert session.n_units <= retriever.LATE_POOL
    allowed = np.random.default_rng(seed).random(session.n_units) < share
    everything = ranked(session.dense, text, session.n_units)
    left = [(unit, score) for unit, score in everything if allowed[unit]]
    assert ranked(session.dense, text, session.n_units, allowed) == left


@settings(max_examples=25)
@given(text=st.sampled_from(QUESTIONS), seed=st.integers(0, 99), count=st.integers(1, 60))
def test_multiview_measures_the_score_that_the_mode_gives(session: Session, text: str, seed: int, count: int) -> None:
    """To the last bit, whichever other units are measured."""
    scores = dict(ranked(session.dense, text, session.n_units))
    units = np.sort(np.random.default_rng(seed).choice(session.n_units, min(count, session.n_units), replace=False))
    measured = session.dense.scores(read_text(text), units)
    assert measured.tolist() == [scores[unit] for unit in units.tolist()]


def test_a_score_is_the_best_chunks(session: Session) -> None:
    """(max(cosine, 0) + late * coverage) / (1 + late), with the coverage of tests/index/test_late.py."""
    dense, query = session.dense, read_text(QUESTIONS[2])
    encoder, late = dense.encoder, dense.encoder.late
    units = np.arange(session.n_units)
    chunks, place, cosines = dense.index.chunks_of(dense.embed(query), units)
    ids, counts = encoder.question_tokens(query.text)
    asked, weights = encoder.token_directions(ids), encoder.question_weights(ids, counts)
    best = [0.0] * len(units)
    for chunk, unit, cosine in zip(chunks.tolist(), place.tolist(), cosines.tolist(), strict=True):
        covered = float(dense.bags.coverage(np.array([chunk]), asked, weights, encoder.token_directions)[0])
        best[unit] = max(best[unit], (max(cosine, 0) + late * covered) / (1 + late))
    np.testing.assert_allclose(dense.scores(query, units), best, atol=1e-6)


TOPIC = (
    "def resend(request, response):\n"
    '    """Send the request and read the response of the request."""\n'
    "    return request.send(response)\n"
)
OTHER = (
    "invoice printer margin colour ledger temperature orbit violin harvest kernel voltage mosaic ticket glacier pension "
    "router tariff basil turbine quartz salmon canvas pulley lantern dividend"
).split()


def test_a_rare_word_of_the_query_finds_the_chunk_that_has_it(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """Among so many other words that the vector hardly shows it."""
    long = "".join(f"    {word}.update(total, {word}_{i})\n" for i, word in enumerate(OTHER))
    (tmp_path / "about.py").write_text(TOPIC)
    (tmp_path / "exact.py").write_text(f"def nightly(request):\n{long}    zygote(request)\n")
    assert lci("index", cwd=tmp_path).code == 0
    ran = lci("search", "send request zygote", "--mode", "dense", "--json", cwd=tmp_path)
    assert [result["file"] for result in ran.json()["results"]] == ["exact.py", "about.py"]
    with app.open_session(str(tmp_path)) as session:  # what the vectors alone say
        units, _ = session.dense.index.search(session.dense.embed(read_text("send request zygote")), 2)
        assert session.unit_table.paths[session.unit_table.file[units[0]]] == "about.py"


@pytest.mark.parametrize("make", [tiny.contextual, tiny.bags])
def test_a_model_without_a_table_ranks_by_the_cosine(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    root, model = tmp_path / "repo", make(tmp_path / "model")
    root.mkdir()
    for i, word in enumerate(tiny.WORDS[4:]):
        (root / f"{i:02}.py").write_text(f"def {word}():\n    return {tiny.WORDS[-1 - i]}\n")
    app.build_index(str(root), jobs=1, model=str(model))
    with app.open_session(str(root), str(model)) as session:
        dense, text = session.dense, "remove expired session"
        assert dense.bags is None
        units, cosines = dense.index.search(dense.embed(read_text(text)), 99)
        assert cosines.min() < 0
        assert [unit for unit, _ in ranked(dense, text, 99)] == units.tolist()
        np.testing.assert_allclose([score for _, score in ranked(dense, text, 99)], np.clip(cosines, 0, 1), atol=1e-6)
        merged = session.search(SearchRequest(text, "multiview"))
        assert merged.results and not merged.degraded


@pytest.mark.parametrize("files", [{}, {"a.txt": "%%% !!!\n"}])
def test_an_index_without_a_token_answers(tmp_path: Path, lci: Callable[..., Ran], files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert lci("index", cwd=tmp_path).code == 0
    ran = lci("search", "send request zygote", "--json", "--mode", "dense", cwd=tmp_path)
    assert (ran.code, ran.err) in ((0, ""), (1, "")), ran.out
    assert "error" not in ran.json()
