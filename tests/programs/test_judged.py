"""Judged queries: figures, diffs, and the search for weights, over a benchmark of a few lines."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py.search.query.plan import LIVE, Ranking, plan
from lci_py.search.query.text import read_text
from lci_py.search.ranking.fusion import Candidates
from lci_py.types.record import replace
from lci_py.types.search import Filters
from tests.quality import judged, tune
from tests.quality.judged import Benchmark, Case, Place, Score, Task
from tests.quality.judged_arrays import Block
from tests.support.properties import examples

# The measure in few words; a benchmark folder brings its own.
_SCORER = """
import math

def hit(result, target):
    return result["file"] == target["path"]

def ndcg10(results, targets):
    ranks = {next((r for r, found in enumerate(results[:10]) if hit(found, target)), None) for target in targets}
    ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(targets))))
    return sum(1 / math.log2(rank + 2) for rank in ranks if rank is not None) / ideal
"""
_SOURCES = {
    "one": {"pool.py": "def evict_connection():\n    pass\n", "wire.py": "def close_socket():\n    pass\n"},
    "two": {"text.py": "def split_words():\n    pass\n", "vowels.py": "def count_vowels():\n    pass\n"},
}
_QUERIES = {
    "one": [("evict a connection", "pool.py", "semantic"), ("close_socket", "wire.py", "symbol")],
    "two": [("split the words", "text.py", "semantic"), ("count_vowels", "vowels.py", "symbol")],
}


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    folder = tmp_path_factory.mktemp("judged")
    bench, repos = folder / "bench", folder / "repos"
    (bench / "annotations").mkdir(parents=True)
    (bench / "score.py").write_text(_SCORER)
    (bench / "repos.json").write_text(json.dumps([{"name": name} for name in (*_SOURCES, "absent")]))
    for name, sources in _SOURCES.items():
        (repos / name).mkdir(parents=True)
        for path, text in sources.items():
            (repos / name / path).write_text(text)
        items = [{"query": q, "relevant": [path], "category": category} for q, path, category in _QUERIES[name]]
        (bench / "annotations" / f"{name}.json").write_text(json.dumps(items))
    return Benchmark(bench, repos)


@pytest.fixture(autouse=True)
def kept_beside_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_rankings_and_modes_are_measured_over_what_is_there(benchmark):
    found = judged.measure(benchmark, ["live", "bm25"])
    assert {name: len(scores) for name, scores in found.items()} == {"live": 4, "bm25": 4}
    assert [score.ranks for score in found["live"]] == [(1,)] * 4
    assert judged.mean(found["live"]) == 1
    assert list(judged.by("repository", found["live"])) == ["one", "two"]


def test_another_ranking_is_fused_from_the_same_signals(benchmark):
    (case, *_), negative = benchmark.cases(), replace(LIVE, weights={intent: {"block": 1.0} for intent in LIVE.weights})
    assert case.ranked(LIVE)[0].file == "pool.py"
    assert case.ranked(negative) == []


def test_a_saved_measurement_compares_as_the_ranking_itself(benchmark, tmp_path):
    scores = judged.measure(benchmark, ["live"])["live"]
    judged.save(tmp_path / "then.json", "live", scores)
    assert judged.saved(tmp_path / "then.json") == scores


def test_difference_lists_the_worst_first_with_the_targets_that_moved():
    def score(repository: str, query: str, ndcg: float, rank: int | None) -> Score:
        return Score(Task(repository, "semantic", query, ({"path": "a.py"},)), ndcg, (rank,))

    left = [score("one", "better", 0.0, None), score("one", "same", 1.0, 1), score("two", "worse", 1.0, 1)]
    right = [score("one", "better", 1.0, 1), score("one", "same", 1.0, 1), score("two", "worse", 0.5, 3)]
    lines = list(judged.difference(("v1", "live"), left, right, None))
    assert lines[0] == "-0.500  1.000 → 0.500  two semantic: worse"
    assert lines[1].split() == ["1", "→", "3", "a.py"]
    assert lines[2].endswith("one semantic: better")
    assert lines[3].split() == ["-", "→", "1", "a.py"]
    assert [line.split() for line in lines if line.startswith(("one", "MEAN"))] == [
        ["one", "0.5000", "1.0000", "+0.5000"],
        ["MEAN", "0.7500", "0.7500", "+0.0000"],
    ]
    assert "queries: 1 better, 1 worse, 1 the same; sign test p = 1.000" in lines


def test_sign_test_is_the_binomial_one():
    assert judged.sign_test(0, 0) == 1
    assert judged.sign_test(9, 1) == pytest.approx(2 * (1 + 10) / 2**10)


# --- weights ------------------------------------------------------------------------------------------------------------


def _case(
    repository: str, signals: dict[str, list[float]], files: list[int], target: int, found: list[bool] | None = None
) -> Case:
    """A query with candidates of one line each; `target` is the number of the right file."""
    n = len(files)
    candidates = Candidates(
        np.arange(n, dtype=np.int64), np.array(files, np.int32),
        {name: np.array(values, np.float32) for name, values in signals.items()},
        {"test": np.arange(n) % 3 == 0}, None if found is None else np.array(found),
    )  # fmt: skip
    task = Task(repository, "semantic", "a question of words", ({"path": str(target)}, {"path": "7"}))
    places = tuple(Place(str(file), i + 1, i + 1) for i, file in enumerate(files))
    return Case(task, plan(read_text(task.query), Filters()), candidates, places)


@examples(100)
@given(
    seed=st.integers(0, 10_000), n=st.integers(1, 250), n_files=st.integers(1, 40),
    factor=st.sampled_from([0.0, 0.6, 1.0]), saturation=st.sampled_from([0.0, 0.5, 0.9, 1.0]), leads=st.booleans(),
    graph=st.sampled_from([0.0, 0.35, 2.0, None]),
)  # fmt: skip
def test_arrays_score_as_the_fusion_does(seed, n, n_files, factor, saturation, leads, graph, benchmark):
    rng = np.random.default_rng(seed)
    files = np.minimum(rng.integers(0, n_files * (1 + 3 * leads), n), n_files - 1)
    # Few values, so that there are ties, and exact ones, so that no rounding decides between two that are equal; one
    # file may have all the best, so that the others come from far behind.
    signals = {
        name: np.where(leads & (files == n_files - 1), 1, rng.integers(0, 5, n) / 4).tolist()
        for name in ("dense", "content")
    }
    weights, found = {"content": 0.35, "dense": 0.7}, None
    if graph is not None:
        near = np.where(rng.random(n) < 0.3, rng.integers(1, 6, n) / 8, 0)
        signals["graph"], weights["graph"] = near.tolist(), graph
        found = (rng.random(n) < np.where(near > 0, 0.5, 1)).tolist()
    case = _case("one", signals, files.tolist(), int(rng.integers(0, n_files)), found)
    ranking = Ranking("r", dict.fromkeys(LIVE.weights, weights), {"test": factor}, saturation)
    # Beside a query with more candidates, so that this one is padded.
    other = _case("one", {name: [1.0] * 300 for name in signals}, [1] * 300, 0)
    block = Block([other, case], benchmark.scorer.hit, list(weights), ["test"])
    expected = benchmark.score(case.task, case.ranked(ranking)).ndcg
    assert block.ndcg(list(weights.values()), [factor], saturation)[1] == pytest.approx(expected, abs=1e-12)


def _problem(benchmark: Benchmark, repositories: int) -> tune.Problem:
    """The signal `good` shows the right file, `bad` the opposite, and `idle` nothing."""
    good, bad = [0.1, 0.2, 0.9], [0.9, 0.8, 0.1]
    cases = [
        _case(f"r{k}", {"dense": good, "content": bad, "names": [0.5] * 3}, [0, 1, 2], 2) for k in range(repositories)
    ]
    weights = {intent: {"dense": 0.5, "content": 0.5, "names": 0.5} for intent in LIVE.weights}
    return tune.Problem(cases, benchmark, Ranking("r", weights, {}, 1.0))


def test_learning_turns_to_the_signal_that_helps_and_leaves_the_rest(benchmark):
    problem = _problem(benchmark, 3)
    start = problem.flat
    learned = dict(zip(problem.numbers, tune.learn(problem, start), strict=True))
    (group,) = {number.group for number in problem.numbers if number.group >= 0}
    weight = {name: learned[tune.Number(group, name)] for name in ("dense", "content", "names")}
    assert weight["dense"] > weight["content"]
    assert weight["names"] == 0.5  # a change that gains nothing is not made
    assert learned[tune.Number(-1, tune.SATURATION)] == 1.0
    assert problem.means(tuple(learned.values())).mean() > problem.means(start).mean()


def test_a_change_has_to_be_worth_its_price(benchmark, monkeypatch):
    problem = _problem(benchmark, 3)
    monkeypatch.setattr(tune, "PENALTY", 10)
    assert tune.learn(problem, problem.flat) == problem.flat


def test_only_free_numbers_change(benchmark):
    problem = _problem(benchmark, 3)
    learned = tune.learn(problem, problem.flat, free=["names"])
    assert learned == problem.flat


def test_a_fold_does_not_see_its_own_repository(benchmark):
    cases = [
        _case("ours", {"dense": [0.1, 0.2, 0.9], "content": [0.9, 0.8, 0.1]}, [0, 1, 2], 2),
        _case("theirs", {"dense": [0.9, 0.8, 0.1], "content": [0.1, 0.2, 0.9]}, [0, 1, 2], 2),
    ]
    weights = {intent: {"dense": 0.5, "content": 0.5} for intent in LIVE.weights}
    problem = tune.Problem(cases, benchmark, Ranking("r", weights, {}, 1.0))
    for fold, wrong in zip(tune.leave_one_out(problem, problem.flat), ("content", "dense"), strict=True):
        value = {number.name: v for number, v in zip(problem.numbers, fold.values, strict=True) if number.group >= 0}
        # Learned on the other one alone, in which the other signal is right.
        assert max(value, key=lambda name: value[name]) == wrong
        assert fold.after <= fold.before


def test_what_no_query_tells_stays_in_the_weights(benchmark):
    case = _case("r", {"dense": [0.1, 0.9], "content": [0.0, 0.0]}, [0, 1], 1)
    weights = {intent: {"dense": 0.5, "content": 0.7, "near": 0.25} for intent in LIVE.weights}
    problem = tune.Problem([case], benchmark, Ranking("r", weights, {"text": 0.3}, 1.0))
    lines = list(tune.as_source(problem, tune.learn(problem, problem.flat), []))
    assert '"content": 0.7' in lines[1] and '"near": 0.25' in lines[1]
    assert '"text": 0.3' in lines[-1]


def test_a_lift_that_helps_is_learned(benchmark):
    lifted = {"dense": [0.9, 0.2, 0.0], "graph": [0.0, 0.0, 1.0]}
    case = _case("r", lifted, [0, 1, 2], 2, found=[True, True, False])
    weights = {intent: {"dense": 0.5, "graph": 0.0} for intent in LIVE.weights}
    problem = tune.Problem([case], benchmark, Ranking("r", weights, {}, 1.0))
    start = problem.values_of(Ranking("r", weights, {}, 1.0))
    ranking = problem.ranking_of(tune.learn(problem, start))
    assert ranking.weights["balanced_hybrid"]["graph"] > 0
    assert case.ranked(ranking)[1].file == "2"  # no further up: it stays below the best without a lift


def test_numbers_become_the_ranking_they_were_read_from(benchmark):
    problem = tune.Problem(benchmark.cases(), benchmark, LIVE)
    made = problem.ranking_of(problem.values_of(LIVE))
    assert (made.weights, made.factors, made.saturation) == (LIVE.weights, LIVE.factors, LIVE.saturation)


def test_a_case_is_what_a_search_with_its_ranking_finds(benchmark):
    cut = replace(LIVE, weights={intent: {"dense": 1.0} for intent in LIVE.weights})
    (case, *_), (under, *_) = benchmark.cases(only="two"), benchmark.cases(cut, only="two")
    assert case.task == under.task and case.task.repository == "two"
    assert case.plan is not None and "graph" in case.plan.weights and case.candidates is not None
    assert under.plan is not None and under.plan.weights == {"dense": 1.0} and under.candidates is not None
    assert "graph" in case.candidates.signals and "graph" not in under.candidates.signals


@pytest.mark.parametrize(("gap", "status"), [(0.01, 0), (-0.5, 1)])
def test_check_fails_when_the_live_weights_are_too_far_above(benchmark, monkeypatch, capsys, gap, status):
    bench, repos = benchmark.roots["one"].parents[1] / "bench", benchmark.roots["one"].parent
    monkeypatch.setattr("sys.argv", ["tune", str(bench), str(repos), "--check"])
    monkeypatch.setattr(tune, "GAP", gap)
    assert tune.main() == status
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:3] == ["live,", "in-sample", "1.0000"]
    assert printed[-1] == f"the live weights are +0.0000 from leave-one-out, where {gap} is let pass"


def test_learned_numbers_are_printed_as_weights_py_has_them(benchmark):
    problem = _problem(benchmark, 2)
    lines = list(tune.as_source(problem, problem.flat, []))
    assert '{"content": 0.5, "dense": 0.5, "names": 0.5}' in lines
    assert lines[-1] == '{"test": 1}, 1'


def test_an_interval_holds_the_mean():
    low, high = judged.interval([0.1, -0.1, 0.3, 0.05])
    assert low < 0.0875 < high
    assert not math.isnan(low)
