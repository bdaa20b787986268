"""Learns the weights of the multiview ranking on judged queries, by coordinate search.

    python -m tests.quality.tune BENCH REPOS [--start NAME] [--free NAME] [--check]

BENCH and REPOS are those of `tests.quality.judged`. The signals of all candidates are measured once. Then one number
after the other (every weight of every intent, every factor, the saturation) is set to the value of a fixed grid that
gives the best mean over repositories, until nothing changes. Nothing is random. A change must gain `PENALTY` for each
unit that a number is away from its start, so that noise does not move it. Intents that share weights keep sharing them.

The graph lifts neighbours of the best results, which depend on the weights. During one search for weights, the lifts
stay those of the start, or of the live ranking if the start has none. All printed figures of learned weights come from
searches with these weights.

Leave-one-out shows how well the weights generalise: each repository is judged by weights that were learned on the
others. `--start flat` begins with neutral weights (all 0.5, no factor, no saturation) and gives the honest figure,
since `live` may have been learned on all repositories. `--check` only compares the live weights with leave-one-out from
flat ones, and exits 1 if they are more than `GAP` apart. Choices that are not numbers of a `Ranking` (which signals
there are, how each is scaled, how far the graph is followed) are not learned.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lci_py.search.query.plan import Ranking
from tests.quality.judged import Benchmark, Case
from tests.quality.judged_arrays import Block
from tests.quality.rankings import RANKINGS

Values = tuple[float, ...]

STEP = 0.05
_MULTIPLIERS = (0.0, 0.5, 0.75, 1.33, 2.0)
_FROM_ZERO = (0.05, 0.1, 0.2, 0.4)
_LARGEST = 3.0
#: Gain in mean NDCG@10 that each unit of a number's distance from its start must bring.
PENALTY = 0.001
_PASSES = 8
#: How far the live weights may be above leave-one-out before `--check` fails.
GAP = 0.01
_FLAT = 0.5


class Number(NamedTuple):
    """One number that is learned: a weight of a group of intents, a factor or the saturation."""

    group: int  # -1 for a number that all intents share
    name: str


class Problem:
    """The judged queries as arrays, and the numbers that can be learned on them.

    Attributes:
        repositories: Names, in the order of the rows of the means.
        groups: Intents that share their weights.
        numbers: The numbers to learn, in the order of learning.
    """

    def __init__(self, cases: Sequence[Case], benchmark: Benchmark, like: Ranking) -> None:
        self.repositories = list(dict.fromkeys(case.task.repository for case in cases))
        self.groups = _groups(like)
        self._like = like
        asked = [case.candidates for case in cases if case.candidates is not None]
        signals = sorted({name for found in asked for name in found.signals}.union(*like.weights.values()))
        factors = sorted({name for found in asked for name in found.factors} | set(like.factors))
        self.numbers = [
            *(Number(group, name) for group in range(len(self.groups)) for name in signals),
            *(Number(-1, name) for name in (*factors, SATURATION)),
        ]
        self._blocks = []
        self._share = np.zeros((len(self.repositories), len(cases)))
        for row, name in enumerate(self.repositories):
            own = [case.task.repository == name for case in cases]
            self._share[row, own] = 1 / sum(own)
        for group in self.groups:
            own = [i for i, case in enumerate(cases) if case.plan is not None and case.plan.intent in group]
            self._blocks.append(
                (np.array(own, int), Block([cases[i] for i in own], benchmark.scorer.hit, signals, factors))
            )
        self._shape = len(signals), len(factors), len(cases)
        self._known: dict[tuple[int, Values, Values], NDArray[np.float64]] = {}

    def values_of(self, ranking: Ranking) -> Values:
        """The values of the numbers in a ranking; 0 for a weight and 1 for a factor that it lacks."""
        found = []
        for group, name in self.numbers:
            if group >= 0:
                found.append(ranking.weights[self.groups[group][0]].get(name, 0.0))
            else:
                found.append(ranking.saturation if name == SATURATION else ranking.factors.get(name, 1.0))
        return tuple(found)

    def ranking_of(self, values: Values) -> Ranking:
        """A ranking with these numbers."""
        weights: list[dict[str, float]] = [{} for _ in self.groups]
        shared = {}
        for (group, name), value in zip(self.numbers, values, strict=True):
            (weights[group] if group >= 0 else shared)[name] = value
        saturation = shared.pop(SATURATION)
        of_intent = {intent: weights[k] for k, group in enumerate(self.groups) for intent in group}
        return Ranking("learned", of_intent, shared, saturation)

    @cached_property
    def flat(self) -> Values:
        """Neutral values; numbers that no query depends on keep theirs."""
        live = zip(self.numbers, self.values_of(self._like), strict=True)
        return tuple(value if not self.used(number) else _FLAT if number.group >= 0 else 1.0 for number, value in live)

    def used(self, number: Number) -> bool:
        """Whether a query depends on the number."""
        blocks = [block for _, block in self._blocks]
        if number.group >= 0:
            return number.name in blocks[number.group].told
        return number.name == SATURATION or any(number.name in block.told for block in blocks)

    def means(self, values: Values) -> NDArray[np.float64]:
        """The mean NDCG@10 of each repository: [repositories]."""
        n_signals, n_factors, n_cases = self._shape
        ndcg = np.zeros(n_cases)
        shared = values[len(self.groups) * n_signals :]
        for group, (own, block) in enumerate(self._blocks):
            weights = values[group * n_signals : (group + 1) * n_signals]
            key = (group, weights, shared)
            # Folds walk nearly the same way: most of what one asks for, another has asked for.
            if key not in self._known:
                self._known[key] = block.ndcg(weights, shared[:n_factors], shared[n_factors])
            ndcg[own] = self._known[key]
        found: NDArray[np.float64] = self._share @ ndcg
        return found


SATURATION = "saturation"


def _groups(ranking: Ranking) -> list[tuple[str, ...]]:
    groups: list[list[str]] = []
    for intent, weights in ranking.weights.items():
        same = next((group for group in groups if ranking.weights[group[0]] == weights), None)
        if same is None:
            groups.append([intent])
        else:
            same.append(intent)
    return [tuple(group) for group in groups]


def learn(problem: Problem, start: Values, *, without: int | None = None, free: Sequence[str] = ()) -> Values:
    """Coordinate search.

    Args:
        problem: The queries.
        start: The initial values, from which the penalty is measured.
        without: The row of a repository that is left out.
        free: Names of the numbers that may change; all if empty.
    """
    kept = np.arange(len(problem.repositories)) != (-1 if without is None else without)

    def worth(values: Values) -> float:
        moved = sum(abs(value - was) for value, was in zip(values, start, strict=True))
        return float(problem.means(values)[kept].mean()) - PENALTY * moved

    best, value = start, worth(start)
    for _ in range(_PASSES):
        before = best
        for place, number in enumerate(problem.numbers):
            if not problem.used(number) or (free and number.name not in free):
                continue
            for tried in _grid(best[place], 1.0 if number.group < 0 else _LARGEST):
                other = (*best[:place], tried, *best[place + 1 :])
                if (found := worth(other)) > value + 1e-9:
                    best, value = other, found
        if best == before:
            break
    return best


def _grid(value: float, largest: float) -> list[float]:
    """What a number is tried at besides its value; the way from the start never leaves multiples of `STEP`."""
    tried = {value * by for by in _MULTIPLIERS} | {value - STEP, value + STEP}
    tried |= set() if value else set(_FROM_ZERO)
    rounded = {round(min(max(one, 0.0), max(largest, value)) / STEP) * STEP for one in tried}
    return sorted(round(one, 9) for one in rounded if abs(one - value) > 1e-9)


class Fold(NamedTuple):
    """One repository, judged by numbers that were learned without it."""

    repository: str
    before: float  # with the numbers of the start
    after: float
    values: Values


def leave_one_out(problem: Problem, start: Values, free: Sequence[str] = ()) -> Iterator[Fold]:
    """A fold for each repository."""
    before = problem.means(start)
    for row, repository in enumerate(problem.repositories):
        values = learn(problem, start, without=row, free=free)
        yield Fold(repository, float(before[row]), float(problem.means(values)[row]), values)


def again(problem: Problem, benchmark: Benchmark, values: Values, row: int, free: Sequence[str] = ()) -> Values:
    """Learn a fold's numbers once more, starting from their values, with the lifts that these lead to.

    The lifts of the first round are those of the start, which differ from those of good numbers.
    """
    ranking = problem.ranking_of(values)
    own = Problem(benchmark.cases(ranking), benchmark, ranking)
    return learn(own, values, without=row, free=free) if own.numbers == problem.numbers else values


def searched(problem: Problem, benchmark: Benchmark, values: Values, repository: str) -> float:
    """The mean NDCG@10 of a repository's queries when they are searched with these numbers."""
    ranking = problem.ranking_of(values)
    cases = benchmark.cases(ranking, only=repository)
    return statistics.mean(benchmark.score(case.task, case.ranked(ranking)).ndcg for case in cases)


# --- printing -----------------------------------------------------------------------------------------------------------


def spread(values: Sequence[float]) -> str:
    """The mean and the standard deviation."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.4f}  (standard deviation over repositories {deviation:.4f})"


def table(folds: Sequence[Fold]) -> Iterator[str]:
    yield f"{'held out':24}{'start':>10}{'learned':>10}{'change':>10}"
    for fold in folds:
        yield f"{fold.repository:24}{fold.before:10.4f}{fold.after:10.4f}{fold.after - fold.before:+10.4f}"
    changes = [fold.after - fold.before for fold in folds]
    wins, losses = sum(change > 1e-9 for change in changes), sum(change < -1e-9 for change in changes)
    yield f"held out, before     {spread([fold.before for fold in folds])}"
    yield f"held out, learned    {spread([fold.after for fold in folds])}"
    yield f"the change           {spread(changes)}; {wins} better, {losses} worse"


def as_source(problem: Problem, values: Values, folds: Sequence[Fold]) -> Iterator[str]:
    """Print the numbers in the form of `weights.py`, and how much the folds disagree on each."""
    for group, intents in enumerate(problem.groups):
        yield f"# {', '.join(intents)}"
        pairs = [(n.name, v) for n, v in zip(problem.numbers, values, strict=True) if n.group == group and v]
        yield "{" + ", ".join(f'"{name}": {value:g}' for name, value in pairs) + "}"
    shared = {n.name: v for n, v in zip(problem.numbers, values, strict=True) if n.group < 0}
    saturation = shared.pop(SATURATION)
    yield "# factors, saturation"
    yield "{" + ", ".join(f'"{name}": {value:g}' for name, value in shared.items()) + f"}}, {saturation:g}"
    if folds:
        yield "\nlearned on all, and by the folds: smallest, median, largest"
    for place, number in enumerate(problem.numbers if folds else ()):
        of_folds = sorted(fold.values[place] for fold in folds)
        name = f"{problem.groups[number.group][0]} {number.name}" if number.group >= 0 else number.name
        told = f"{of_folds[0]:>8g}{statistics.median(of_folds):>8g}{of_folds[-1]:>8g}"
        yield f"{name:36}{values[place]:>8g}{told}"


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("bench", type=Path)
    ap.add_argument("repos", type=Path)
    ap.add_argument("--start", default="live", choices=[*RANKINGS, "flat"], help="where to begin; live if left out")
    ap.add_argument("--free", action="append", default=[], help="only this weight or factor may change; repeatable")
    ap.add_argument("--check", action="store_true", help="only see how far the live weights are above leave-one-out")
    ap.add_argument("--scorer", type=Path, help="the measure; BENCH/score.py if left out")
    args = ap.parse_args()
    benchmark = Benchmark(args.bench, args.repos, scorer=args.scorer)
    live = RANKINGS["live"]
    problem = Problem(benchmark.cases(), benchmark, live)
    unknown = set(args.free) - {number.name for number in problem.numbers}
    if unknown:
        ap.error(
            f"no number is called {sorted(unknown)[0]}: {', '.join(dict.fromkeys(n.name for n in problem.numbers))}"
        )
    in_sample = problem.means(problem.values_of(live)).tolist()
    print(f"live, in-sample      {spread(in_sample)}", flush=True)
    if args.check or args.start == "flat":
        start = problem.flat
        problem = Problem(benchmark.cases(problem.ranking_of(start)), benchmark, live)
    else:
        start = problem.values_of(RANKINGS[args.start])
    folds = []
    for row, fold in enumerate(leave_one_out(problem, start, args.free)):
        values = fold.values
        if args.check or args.start == "flat":
            values = again(problem, benchmark, values, row, args.free)
        folds.append(fold._replace(values=values, after=searched(problem, benchmark, values, fold.repository)))
    print("\n".join(table(folds)))
    if args.check:
        gap = statistics.mean(in_sample) - statistics.mean(fold.after for fold in folds)
        print(f"the live weights are {gap:+.4f} from leave-one-out, where {GAP} is let pass")
        return int(gap > GAP)
    values = learn(problem, start, free=args.free)
    means = [searched(problem, benchmark, values, repository) for repository in problem.repositories]
    print(f"learned, in-sample   {spread(means)}\n")
    print("\n".join(as_source(problem, values, folds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
