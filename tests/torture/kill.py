"""SIGKILL at random moments of indexing: a reader gets the old index or the new one, whole, and the next run works.

python -m tests.torture.kill --moments 500 --seed 1
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.torture.answers import Asked, Debris, ask, truth, usage
from tests.torture.program import Program, Ran
from tests.torture.report import Report, arguments, in_parallel
from tests.torture.trees import SIZES, Flip, rng

#: The runs that are killed: the first index, a refresh after one change or many, a rebuild.
SCENARIOS = ("cold", "one", "many", "full")


@dataclass
class Truths:
    """Answers of an index of one state of the tree while the tree is in another: (index, tree, size)."""

    known: dict[tuple[int, int, str], Asked] = field(default_factory=dict)

    def wrong(self, found: Asked, old: int, new: int, size: str) -> str | None:
        """What is wrong with answers while the tree is `new`; None if they are those of the old or the new index."""
        if found.wrong:
            return found.wrong
        if found.refused:
            return f"refused: {found.refused}"
        if len(set(found.generations)) > 1:
            return f"answers of the generations {sorted(set(found.generations))}"
        told = [found.differs(self.known[state, new, size]) for state in (old, new)]
        return None if None in told else f"neither old ({told[0]}) nor new ({told[1]})"


class Bench:
    """A tree with two states, its index, and the right answers for both."""

    def __init__(self, program: Program, scratch: Path) -> None:
        self.program = program
        self.flip = Flip(scratch / "tree")
        self.root = self.flip.root
        self.index = self.root / ".lci"
        self.truths = Truths()
        self.debris = Debris()
        self.seconds: dict[str, float] = {}
        self._learn(scratch / "truth")

    def _learn(self, scratch: Path) -> None:
        """Record all possible answers, the files that an undisturbed run leaves, and how long each run takes."""
        for size in SIZES:
            for state in (0, 1):
                self.flip.to(state, size)
                self.truths.known[state, state, size] = truth(self.program, self.root, scratch)
                self.debris.learn(scratch)
                self.flip.to(1 - state, size)
                self.truths.known[state, 1 - state, size] = ask(self.program, self.root, scratch)
            assert self.flip.state == 0
            one, other = (self.truths.known[state, state, size] for state in (0, 1))
            assert one.differs(other), "the two states of the tree answer alike: nothing would be seen"
        for scenario in SCENARIOS:
            for state in (1, 0):
                self.prepare(scenario, state)
                ran = self.command(scenario)
                assert ran.code == 0, ran.told()
                self.seconds[scenario] = min(ran.seconds, self.seconds.get(scenario, ran.seconds))
                self.debris.learn(self.index)

    def prepare(self, scenario: str, state: int) -> tuple[int, str]:
        """Prepare the tree for an index run of this kind; (the indexed state, the size of the change).

        A change back to state 0 has the size of the change away from it.
        """
        size = self.flip.size if self.flip.state or scenario not in SIZES else scenario
        if scenario == "cold":
            shutil.rmtree(self.index, ignore_errors=True)
        old = self.flip.state
        if scenario != "full":
            self.flip.to(state, size)
        return old, size

    def command(self, scenario: str, jobs: int = 1, **options: object) -> Ran:
        full = ("--full",) if scenario == "full" else ()
        argv = ("index", str(self.root), "--jobs", str(jobs), "--json", *full)
        return self.program.run(*argv, **options)  # type: ignore[arg-type]

    def judge(self, scenario: str, old: int, size: str, relief: Callable[[], None] = lambda: None) -> str | None:
        """What is wrong after a run was ended, before and after the next run; None if nothing is.

        Args:
            relief: Called before the next run, to remove what stopped the first one.
        """
        new = self.flip.state
        found = ask(self.program, self.root, limit_s=20)
        if scenario == "cold" and found.refused == "no_index":
            wrong = None
        elif scenario == "cold" and set(found.generations) == {0}:
            wrong = found.wrong or found.refused  # without its graph an index answers, though not the same
        else:
            wrong = self.truths.wrong(found, new if scenario == "cold" else old, new, size)
        relief()
        if wrong:
            self.command("full")
            return f"reader: {wrong}"
        again = self.command("again")
        if again.code != 0:
            return f"next index: {again.told()}"
        found = ask(self.program, self.root, limit_s=20)
        if wrong := self.truths.wrong(found, new, new, size):
            self.command("full")
            return f"after the next index: {wrong}"
        return self.debris.found(self.index)

    def judge_failed(
        self, ran: Ran, scenario: str, old: int, size: str, relief: Callable[[], None] = lambda: None
    ) -> str | None:
        """What is wrong with a run that could not write everything: it must either say so, or have made the index."""
        told = None
        if (wrong := ran.misbehaved()) or ran.code not in (0, 3):
            told = f"{wrong or 'exit code'}: {ran.told()}"
        if ran.code == 0:
            scenario, old = "one", self.flip.state  # only the new answers are right
        return self.judge(scenario, old, size, relief) or told


def one(bench: Bench, report: Report, random_: random.Random, number: int) -> None:
    """One kill: choose the run and the moment, kill it, check the outcome."""
    scenario = random_.choice(SCENARIOS)
    if bench.flip.state and scenario in SIZES:
        scenario = bench.flip.size  # the change back has the same size
    real = random_.random() < 0.1  # a fresh interpreter, with imports
    jobs = random_.choice((1, 2))
    state = 1 - bench.flip.state
    moment = random_.random() * (bench.seconds[scenario] * 1.1 + 1.2 * real)
    old, size = bench.prepare(scenario, state)
    ran = bench.command(scenario, jobs, kill_after=moment, fresh_interpreter=real)
    report.count(f"kills, {scenario}")
    report.count("runs that were through before the kill", ran.code == 0)
    if ran.code not in (0, -9):
        report.violation(f"kill {number} ({scenario}): {ran.told()}")
    if wrong := bench.judge(scenario, old, size):
        report.violation(f"kill {number} ({scenario}, {moment:.3f} s, {jobs} jobs, state {state}): {wrong}")
    report.most("most bytes on disk afterwards", usage(bench.index))


def moments(bench: Bench, report: Report, count: int, worker: int = 0) -> None:
    random_ = rng(report.seed, "kill", worker)
    for number in range(count):
        one(bench, report, random_, number)
        report.progress(number + 1, count)


def main() -> int:
    given = arguments(__doc__, moments=500, workers=2)
    report = Report("SIGKILL at random moments", given.seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name:

        def work(worker: int) -> None:
            scratch = Path(name, str(worker))
            share = len(range(worker, given.moments, given.workers))
            with Program(scratch) as program:
                moments(Bench(program, scratch), report, share, worker)

        in_parallel(work, given.workers)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
