"""Judged queries: the quality of a ranking, and how another ranking changes each query.

    python -m tests.quality.judged BENCH REPOS [--left NAME] [--right NAME] [--only REPOSITORY] [--save FILE] [--top N]

BENCH has `repos.json`, `annotations/NAME.json` and `score.py`. The measure (NDCG@10) and the rule for hits are those of
`score.py`; `--scorer` names another file with functions `ndcg10` and `hit`. REPOS has the checkouts,
REPOS/NAME/BENCHMARK_ROOT; nothing is written into them.

NAME is a ranking of `weights.py`, a single mode (`dense`, `bm25`), or a file that `--save` wrote, by which two states
of the code are compared. The queries are searched with each ranking, since the results that the graph lifts depend on
it. Without `--left`, only `--right` is measured. There is no pass mark: the exit status is 0 unless nothing can be run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from lci_py.search.engine import Engine
from lci_py.search.modes import multiview
from lci_py.search.query.plan import LIVE, Plan, Ranking, plan as make_plan
from lci_py.search.ranking.fusion import Candidates, RankedCandidates
from lci_py.types.record import replace
from lci_py.types.search import SearchRequest
from tests.quality.checkouts import KEPT, opened
from tests.quality.rankings import RANKINGS

SINGLE = ("dense", "bm25")
#: Ranks of targets below this are not reported.
SEEN = 100
_TOP = 10
#: Number of resamplings for an interval, and their seed.
_SAMPLES, _SEED = 10_000, 1


def under(plan: Plan, ranking: Ranking) -> Plan:
    """A copy of a plan that has the weights of another ranking."""
    return replace(
        plan,
        ranking=ranking.name,
        weights=ranking.weights_of(plan.intent, plan.files),
        factors=ranking.factors,
        saturation=ranking.saturation,
    )


class Place(NamedTuple):
    """The place of a unit, with the attributes of a result."""

    file: str
    line: int
    end_line: int


class Task(NamedTuple):
    """One judged query of a benchmark folder."""

    repository: str
    category: str
    query: str
    targets: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Case:
    """A judged query with the input of a multiview ranking.

    Attributes:
        task: The query.
        plan: The plan of the ranking that was searched with; None if multiview ranks nothing (no candidates, or only
            `field:value` terms).
        candidates: The signals of the candidates; None if `plan` is.
        places: [candidates] the place of each.
    """

    task: Task
    plan: Plan | None
    candidates: Candidates | None
    places: tuple[Place, ...]

    def ranked(self, ranking: Ranking) -> list[Place]:
        """The head of the ranking, best first. The graph lifts neighbours of the best results of the ranking that was
        searched with."""
        if self.plan is None or self.candidates is None:
            return []
        units = RankedCandidates(self.candidates, under(self.plan, ranking)).units[:SEEN]
        return [self.places[i] for i in np.searchsorted(self.candidates.units, units).tolist()]


class Score(NamedTuple):
    """The outcome of a query: NDCG@10, and the rank of each target, None beyond `SEEN`."""

    task: Task
    ndcg: float
    ranks: tuple[int | None, ...]


# --- reading a benchmark folder -----------------------------------------------------------------------------------------


class Benchmark:
    """A benchmark folder and its checkouts.

    Raises:
        SystemExit: One of the files does not exist.
    """

    def __init__(self, bench: Path, repos: Path, *, scorer: Path | None = None, only: Sequence[str] = ()) -> None:
        self._bench = bench
        self.scorer = _module(scorer or bench / "score.py")
        specs = json.loads((bench / "repos.json").read_text())
        self.roots = {
            spec["name"]: repos / spec["name"] / (spec.get("benchmark_root") or "")
            for spec in specs
            if (not only or spec["name"] in only) and (repos / spec["name"]).is_dir()
        }
        if not self.roots:
            raise SystemExit(f"none of the repositories of {bench / 'repos.json'} is in {repos}")

    def tasks(self, name: str) -> list[Task]:
        """The judged queries of a repository."""
        items = json.loads((self._bench / "annotations" / f"{name}.json").read_text())
        return [Task(name, item["category"], item["query"], tuple(_targets(item))) for item in items]

    def sessions(self, only: str | None = None) -> Iterator[tuple[str, Engine]]:
        """Each repository's index, or that of one, up to date."""
        for name, root in self.roots.items():
            if only not in (None, name):
                continue
            with opened(root, KEPT / "judged" / name) as session:
                yield name, session

    def cases(self, ranking: Ranking = LIVE, *, only: str | None = None) -> list[Case]:
        """Every query, or those of one repository, with the signals of its candidates."""
        return [case(session, task, ranking) for name, session in self.sessions(only) for task in self.tasks(name)]

    def score(self, task: Task, places: Sequence[Place]) -> Score:
        """Judge a list of results, best first."""
        results = [place._asdict() for place in places]
        ranks = [
            next((rank for rank, result in enumerate(results, 1) if self.scorer.hit(result, target)), None)
            for target in task.targets
        ]
        return Score(task, self.scorer.ndcg10(results, list(task.targets)), tuple(ranks))


def _targets(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for target in [*item["relevant"], *item.get("secondary", [])]:
        yield target if isinstance(target, dict) else {"path": target}


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_score", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SystemExit(f"{path} is not there: it defines the measure")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case(session: Engine, task: Task, ranking: Ranking = LIVE) -> Case:
    """Search a query in multiview, and keep the input of its ranking."""
    with mock.patch.object(multiview, "make_plan", partial(make_plan, ranking=ranking)):
        merged = multiview.multiview(session.snapshot, SearchRequest(task.query, "multiview", 1, snippet=0)).merged
    if merged is None or merged.outcome.candidates is None:
        return Case(task, None, None, ())
    plan, candidates = merged.plan, merged.outcome.candidates
    units = candidates.units.tolist()
    rows = session.snapshot.symbols.result_rows(units)
    places = tuple(Place(row["file"], row["line"], row["end_line"]) for row in (rows[unit] for unit in units))
    return Case(task, plan, candidates, places)


# --- measuring ----------------------------------------------------------------------------------------------------------


def measure(benchmark: Benchmark, names: Iterable[str]) -> dict[str, list[Score]]:
    """Score rankings and single modes: name -> scores."""
    found: dict[str, list[Score]] = {name: [] for name in names}
    for repository, session in benchmark.sessions():
        for task in benchmark.tasks(repository):
            for name, scores in found.items():
                if name in RANKINGS:
                    places = case(session, task, RANKINGS[name]).ranked(RANKINGS[name])
                else:
                    answer = session.search(SearchRequest(task.query, name, SEEN, snippet=0))
                    places = [Place(result.file, result.line, result.end_line) for result in answer.results]
                scores.append(benchmark.score(task, places))
    return found


def saved(path: Path) -> list[Score]:
    """Scores that `--save` wrote."""
    return [
        Score(Task(item["repo"], item["category"], item["query"], tuple(item["targets"])), item["ndcg10"], tuple(item["ranks"]))
        for item in json.loads(path.read_text())["queries"]
    ]  # fmt: skip


def save(path: Path, name: str, scores: Sequence[Score]) -> None:
    """Write scores, to compare a later state of the code with them."""
    queries = [
        {
            "repo": score.task.repository, "category": score.task.category, "query": score.task.query,
            "ndcg10": score.ndcg, "ranks": score.ranks, "targets": score.task.targets,
        }
        for score in scores
    ]  # fmt: skip
    path.write_text(json.dumps({"name": name, "queries": queries}, indent=1) + "\n")


def by(key: str, scores: Sequence[Score]) -> dict[str, float]:
    """The mean NDCG@10 of each repository or category."""
    groups: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        groups[getattr(score.task, key)].append(score.ndcg)
    return {name: sum(values) / len(values) for name, values in groups.items()}


def mean(scores: Sequence[Score]) -> float:
    """The benchmark's figure: the mean over repositories of their means over queries."""
    means = by("repository", scores)
    return sum(means.values()) / len(means)


def sign_test(wins: int, losses: int) -> float:
    """The two-sided sign test, without ties: the probability of such a split if both sides are equally likely."""
    n, few = wins + losses, min(wins, losses)
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2**n) if n else 1.0


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """The bootstrap 95 % interval of the mean difference over repositories."""
    values = np.array(differences)
    drawn = np.random.default_rng(_SEED).integers(0, len(values), (_SAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


# --- printing -----------------------------------------------------------------------------------------------------------


def figures(name: str, scores: Sequence[Score]) -> Iterator[str]:
    """Print one side: the mean by repository and category."""
    for repository, value in by("repository", scores).items():
        yield f"{repository:24}{value:8.4f}"
    categories = ", ".join(f"{category} {value:.4f}" for category, value in sorted(by("category", scores).items()))
    yield f"{name}: NDCG@10 {mean(scores):.4f} over {len(by('repository', scores))} repositories; {categories}"


def difference(names: tuple[str, str], left: Sequence[Score], right: Sequence[Score], top: int | None) -> Iterator[str]:
    """Print both sides: every query that differs, worst first; the means; and the significance of the difference."""
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a.ndcg != b.ndcg or a.ranks != b.ranks]
    pairs.sort(key=lambda pair: (pair[1].ndcg - pair[0].ndcg, pair[0].task[:3]))
    shown = pairs if top is None or len(pairs) <= 2 * top else [*pairs[:top], *pairs[len(pairs) - top :]]
    for a, b in shown:
        yield f"{b.ndcg - a.ndcg:+.3f}  {a.ndcg:.3f} → {b.ndcg:.3f}  {a.task.repository} {a.task.category}: {a.task.query}"
        for target, before, after in zip(a.task.targets, a.ranks, b.ranks, strict=True):
            if before != after:
                yield f"{'':8}{_rank(before):>4} → {_rank(after):<4} {_told(target)}"
    if len(shown) < len(pairs):
        yield f"({len(pairs) - len(shown)} more differ)"
    yield f"\n{'':24}{names[0]:>10}{names[1]:>10}{'change':>10}"
    ours, theirs = by("repository", right), by("repository", left)
    for repository in ours:
        yield _row(repository, theirs[repository], ours[repository])
    yield _row("MEAN", mean(left), mean(right))
    for category, value in sorted(by("category", left).items()):
        yield _row(category, value, by("category", right)[category])
    low, high = interval([ours[name] - theirs[name] for name in ours])
    yield f"\n95 % interval of the change, over repositories: {low:+.4f} to {high:+.4f}"
    yield _votes("queries", [b.ndcg - a.ndcg for a, b in zip(left, right, strict=True)])
    yield _votes("repositories", [ours[name] - theirs[name] for name in ours])


def _row(name: str, left: float, right: float) -> str:
    return f"{name:24}{left:10.4f}{right:10.4f}{right - left:+10.4f}"


def _votes(noun: str, differences: Sequence[float]) -> str:
    wins, losses = sum(d > 1e-9 for d in differences), sum(d < -1e-9 for d in differences)
    same = len(differences) - wins - losses
    return f"{noun}: {wins} better, {losses} worse, {same} the same; sign test p = {sign_test(wins, losses):.3f}"


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _told(target: Mapping[str, Any]) -> str:
    span = f":{target['start_line']}-{target['end_line']}" if target.get("start_line") is not None else ""
    return f"{target['path']}{span}"


# --- the command --------------------------------------------------------------------------------------------------------


def _side(name: str, found: Mapping[str, list[Score]], benchmark: Benchmark) -> list[Score]:
    if name in found:
        return found[name]
    return [score for score in saved(Path(name)) if score.task.repository in benchmark.roots]


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("bench", type=Path)
    ap.add_argument("repos", type=Path)
    ap.add_argument("--left", help="what to compare with")
    ap.add_argument("--right", default="live", help="what is measured; live if left out")
    ap.add_argument("--scorer", type=Path, help="the measure; BENCH/score.py if left out")
    ap.add_argument("--only", action="append", default=[], help="only this repository; repeatable")
    ap.add_argument("--save", type=Path, help="write what --right gave, for a later --left")
    ap.add_argument("--top", type=int, help="the worst and the best N of the queries that differ; all if left out")
    args = ap.parse_args()
    names = [name for name in (args.left, args.right) if name]
    wanted = [name for name in names if name in RANKINGS or name in SINGLE]
    for name in set(names) - set(wanted):
        if not Path(name).is_file():
            ap.error(f"{name} is no ranking ({', '.join(RANKINGS)}), no mode ({', '.join(SINGLE)}) and no file")
    benchmark = Benchmark(args.bench, args.repos, scorer=args.scorer, only=args.only)
    found = measure(benchmark, wanted)
    right = _side(args.right, found, benchmark)
    if args.left:
        left = _side(args.left, found, benchmark)
        if [score.task for score in left] != [score.task for score in right]:
            ap.error(f"{args.left} and {args.right} are not of the same queries")
        print("\n".join(difference((Path(args.left).stem, Path(args.right).stem), left, right, args.top)))
    else:
        print("\n".join(figures(args.right, right)))
    if args.save:
        save(args.save, args.right, right)
    return 0


if __name__ == "__main__":
    sys.exit(main())
