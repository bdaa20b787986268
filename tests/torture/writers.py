"""Two writers at once, and one that is stopped while another wants to write: exit 3 names the process, nothing breaks.

python -m tests.torture.writers --rounds 60 --seed 1
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.torture.answers import ask
from tests.torture.kill import Bench
from tests.torture.program import Program, Ran, Running
from tests.torture.report import Report, arguments
from tests.torture.trees import rng

#: Writers that start at the same moment.
AT_ONCE = 4


def _start(bench: Bench, *flags: str) -> Running:
    return bench.program.start("index", str(bench.root), "--jobs", "1", "--json", *flags)


def _refused_by(ran: Ran) -> int | None:
    """The process that the error names, None if it names none."""
    found = re.search(r"process (\d+)|pid (\d+)", ran.out)
    return int(found[1] or found[2]) if found else None


def race(bench: Bench, report: Report, random_: random.Random) -> None:
    """Several writers at nearly the same time: each of them succeeds, or names one that was running."""
    bench.prepare("one", 1 - bench.flip.state)
    runs: list[Running] = []
    for _ in range(AT_ONCE):
        runs.append(_start(bench, *random_.choice(((), ("--full",)))))
        time.sleep(random_.random() * 0.05)
    pids = [run.pid for run in runs]
    ended = [run.wait() for run in runs]
    for pid, ran in zip(pids, ended, strict=True):
        report.count("writers at once")
        report.count("of them refused, exit 3", ran.code == 3)
        if (wrong := ran.misbehaved()) or ran.code not in (0, 3):
            report.violation(f"two writers: {wrong or 'exit code'}: {ran.told()}")
        elif ran.code == 3 and (named := _refused_by(ran)) not in set(pids) - {pid}:
            report.violation(f"two writers: names {named}, of {pids}: {ran.told()}")
    if all(ran.code != 0 for ran in ended):
        report.violation("two writers: none of them was through")
    _settled(bench, report, "two writers")


def stopped(bench: Bench, report: Report, random_: random.Random) -> None:
    """A writer is stopped at some point; another one and readers run; the first one is continued or killed.

    Sometimes the tree changes back meanwhile, so that what the first writer has read is out of date.
    """
    _, size = bench.prepare("one", 1 - bench.flip.state)
    first = _start(bench)
    time.sleep(random_.random() * bench.seconds["one"])
    with suppress(ProcessLookupError):
        os.killpg(first.pid, signal.SIGSTOP)
    try:
        report.count("writers stopped")
        if random_.random() < 0.5:
            report.count("trees that changed meanwhile")
            bench.flip.to(1 - bench.flip.state, size)
        second = bench.program.run("index", str(bench.root), "--jobs", "1", "--json", "--wait", "1", limit_s=20)
        if (wrong := second.misbehaved()) or second.code not in (0, 3):
            report.violation(f"beside a stopped writer: {wrong or 'exit code'}: {second.told()}")
        if second.code == 3:
            report.count("others refused meanwhile, exit 3")
            if (named := _refused_by(second)) != first.pid:
                report.violation(f"a stopped writer is {first.pid}, the error names {named}: {second.told()}")
        found = ask(bench.program, bench.root, limit_s=20)
        if wrong := bench.truths.wrong(found, 1 - bench.flip.state, bench.flip.state, size):
            report.violation(f"readers beside a stopped writer: {wrong}")
    finally:
        ending = random_.choice((signal.SIGCONT, signal.SIGKILL))
        with suppress(ProcessLookupError):
            os.killpg(first.pid, ending)
    ran = first.wait()
    if ran.code not in (0, 3, -9) or (ending == signal.SIGCONT and (ran.code < 0 or ran.misbehaved())):
        report.violation(f"a writer that was stopped, then {ending.name}: {ran.told()}")
    _settled(bench, report, f"a writer that was stopped, then {ending.name}")


def _settled(bench: Bench, report: Report, what: str) -> None:
    if wrong := bench.judge(
        "one", bench.flip.state if what == "two writers" else 1 - bench.flip.state, bench.flip.size
    ):
        report.violation(f"{what}, afterwards: {wrong}")


def writers(bench: Bench, report: Report, rounds: int) -> None:
    random_ = rng(report.seed, "writers")
    for number in range(rounds):
        race(bench, report, random_)
        stopped(bench, report, random_)
        report.progress(number + 1, rounds)


def main() -> int:
    given = arguments(__doc__, rounds=60)
    report = Report("two writers", given.seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name, Program(Path(name)) as program:
        writers(Bench(program, Path(name, "bench")), report, given.rounds)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
