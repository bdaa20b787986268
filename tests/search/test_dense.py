"""Dense search: the cosine and the second look together, in which order, and with which models."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.index.shards.dense import DenseIndex
from lci_py.search import retrievers
from lci_py.search.engine import Engine
from lci_py.search.query.text import read_text
from lci_py.search.retrievers import DenseRetriever
from lci_py.types.search import SearchRequest
from tests.conftest import Ran
from tests.support import tiny_models as tiny
from tests.support.properties import examples

QUESTIONS = ("where is the stock of a warehouse counted", "Service", "open a file and read its lines", "zygote")


def ranked(dense: DenseRetriever, text: str, limit: int, allowed: np.ndarray | None = None) -> list[tuple[int, float]]:
    hits = dense.search(read_text(text), limit, allowed)
    assert hits.total == (dense.n_units if allowed is None else allowed.sum())
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    return [(hit.unit, hit.score) for hit in hits]


@pytest.mark.parametrize("text", QUESTIONS)
def test_the_ranking_does_not_depend_on_the_limit(session: Engine, text: str) -> None:
    dense, n = session.snapshot.dense, session.snapshot.n_units
    everything = ranked(dense, text, 10 * n)
    units, scores = zip(*everything, strict=True)
    assert sorted(units) == list(range(n))
    assert all(0 <= score <= 1 for score in scores)
    assert list(scores) == sorted(scores, reverse=True)
    for limit in (0, 1, 3, 10, 25, n - 1, n, n + 1):
        assert ranked(dense, text, limit) == everything[:limit]


@pytest.mark.parametrize("limit", [1, 7, 50, 10_000])
def test_ties_go_by_path_and_line(session: Engine, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Scores of few values: the order among equals is that of the units, also where the limit cuts."""
    # The retriever keeps its last scores: these rounded ones must not stay there for another test.
    monkeypatch.setattr(session.snapshot.dense, "_last", None)
    real = DenseIndex.best
    monkeypatch.setattr(DenseIndex, "best", lambda *args: np.round(real(*args), 1))
    everything = sorted(ranked(session.snapshot.dense, QUESTIONS[0], 10_000), key=lambda item: (-item[1], item[0]))
    assert ranked(session.snapshot.dense, QUESTIONS[0], limit) == everything[:limit]
    assert len({score for _, score in everything}) < 12


@pytest.mark.parametrize("allowed", [0, 1, 5])
def test_a_limit_above_what_the_filter_leaves(session: Engine, allowed: int) -> None:
    mask = np.arange(session.snapshot.n_units) < allowed
    assert sorted(unit for unit, _ in ranked(session.snapshot.dense, QUESTIONS[0], 100, mask)) == list(range(allowed))


@examples(25)
@given(text=st.sampled_from(QUESTIONS), seed=st.integers(0, 99), share=st.sampled_from([0.02, 0.3, 0.9]))
def test_a_filter_leaves_the_others_scores_and_order(session: Engine, text: str, seed: int, share: float) -> None:
    allowed = np.random.default_rng(seed).random(session.snapshot.n_units) < share
    everything = ranked(session.snapshot.dense, text, session.snapshot.n_units)
    left = [(unit, score) for unit, score in everything if allowed[unit]]
    assert ranked(session.snapshot.dense, text, session.snapshot.n_units, allowed) == left


@examples(25)
@given(text=st.sampled_from(QUESTIONS), seed=st.integers(0, 99), count=st.integers(1, 60))
def test_multiview_measures_the_score_that_the_mode_gives(session: Engine, text: str, seed: int, count: int) -> None:
    """To the last bit, whichever other units are measured."""
    scores = dict(ranked(session.snapshot.dense, text, session.snapshot.n_units))
    units = np.sort(
        np.random.default_rng(seed).choice(
            session.snapshot.n_units, min(count, session.snapshot.n_units), replace=False
        )
    )
    measured = session.snapshot.dense.scores(read_text(text), units)
    assert measured.tolist() == [scores[unit] for unit in units.tolist()]


def test_a_score_is_the_best_chunks(session: Engine) -> None:
    """(max(cosine, 0) + late * coverage) / (1 + late), with the coverage of tests/index/shards/test_tokens.py."""
    dense, text = session.snapshot.dense, QUESTIONS[2]
    late, asked = dense.encoder.late, dense.encoder.question(text)
    assert late > 0
    cosines = dense.index.cosines(asked.vector)
    covered = dense.bags.coverage(asked.ids, asked.weights)
    best = dense.index.best((np.maximum(cosines, 0) + late * covered) / (1 + late))
    scores = dense.scores(read_text(text), np.arange(session.snapshot.n_units))
    np.testing.assert_allclose(scores, best, atol=1e-6)
    assert covered.max() > 0.5 and (cosines < 0).any()


TOPIC = (
    "def resend(request, response):\n"
    '    """Send the request and read the response of the request."""\n'
    "    return request.send(response)\n"
)
OTHER = ("invoice", "printer", "margin", "colour")


def test_a_rare_word_of_the_query_finds_the_chunk_that_has_it(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """Among other words, so that its vector is further from the question than another chunk's."""
    long = "".join(f"    {word}.update(total, {word}_{i})\n" for i, word in enumerate(OTHER))
    (tmp_path / "about.py").write_text(TOPIC)
    (tmp_path / "exact.py").write_text(f"def nightly(request):\n{long}    zygote(request)\n")
    assert lci("index", cwd=tmp_path).code == 0
    ran = lci("search", "send request zygote", "--mode", "dense", "--json", cwd=tmp_path)
    assert [result["file"] for result in ran.json()["results"]] == ["exact.py", "about.py"]
    with app.open_engine(str(tmp_path)) as session:  # what the vectors alone say
        index = session.snapshot.dense.index
        cosines = index.best(index.cosines(session.snapshot.encoder.encode_text("send request zygote")))
        assert session.snapshot.unit_table.paths[session.snapshot.unit_table.file[cosines.argmax()]] == "about.py"


@pytest.mark.parametrize("make", [tiny.contextual, tiny.bags])
def test_a_model_without_a_table_ranks_by_the_cosine(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    root, model = tmp_path / "repo", make(tmp_path / "model")
    root.mkdir()
    for i, word in enumerate(tiny.WORDS[4:]):
        (root / f"{i:02}.py").write_text(f"def {word}():\n    return {tiny.WORDS[-1 - i]}\n")
    app.build_index(str(root), jobs=1, model=str(model))
    with app.open_engine(str(root), str(model)) as session:
        dense, text = session.snapshot.dense, "remove expired session"
        assert dense.bags is None
        cosines = dense.index.best(dense.index.cosines(dense.encoder.encode_text(text)))
        assert cosines.min() < 0
        units = np.argsort(-np.maximum(cosines, 0), kind="stable")
        assert [unit for unit, _ in ranked(dense, text, 99)] == units.tolist()
        np.testing.assert_allclose(
            [score for _, score in ranked(dense, text, 99)], np.clip(cosines[units], 0, 1), atol=1e-6
        )
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


@examples(40)
@given(
    text=st.sampled_from(QUESTIONS), seed=st.integers(0, 99), share=st.sampled_from([None, 0.1, 0.6]),
    limit=st.integers(0, 12),
)  # fmt: skip
def test_of_many_units_only_those_near_the_head_are_measured(
    session: Engine, text: str, seed: int, share: float | None, limit: int
) -> None:
    """The head and every score are those of measuring all, to the last bit."""
    whole, n = session.snapshot.dense, session.snapshot.n_units
    allowed = None if share is None else np.random.default_rng(seed).random(n) < share
    parts = whole.index, whole.encoder, None, whole.bags, n
    wanted = DenseRetriever(*parts).search(read_text(text), limit, allowed)
    few = np.random.default_rng(seed).choice(n, 5, replace=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrievers, "FEW_UNITS", 0)
        dense = DenseRetriever(*parts)
        found = dense.search(read_text(text), limit, allowed)
        # Of a word that nothing has, every unit may be among the best.
        assert dense._last is not None and (limit > 5 or text == "zygote" or not dense._last.measured.all())
        assert (found.units.tolist(), found.scores.tolist(), found.total) == (
            wanted.units.tolist(), wanted.scores.tolist(), wanted.total,
        )  # fmt: skip
        assert dense.scores(read_text(text), few).tolist() == whole.scores(read_text(text), few).tolist()
