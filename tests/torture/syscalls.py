"""SIGKILL and disk errors at every system call with which indexing writes, injected by strace.

python -m tests.torture.syscalls --seed 1
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.torture.kill import SCENARIOS, Bench
from tests.torture.program import STRACE, Program
from tests.torture.report import Report, arguments, in_parallel
from tests.torture.trees import rng

CALLS = (
    "write", "writev", "pwrite64", "pwritev", "pwritev2", "rename", "renameat", "renameat2", "fsync", "fdatasync",
    "sync_file_range", "ftruncate", "truncate", "fallocate", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "link",
    "linkat", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "utimensat", "copy_file_range", "sendfile",
    "flock", "openat",
)  # fmt: skip
#: System call -> the errors of a failing disk; for others ENOSPC or EIO.
_ERRORS = {"unlink": "EROFS", "unlinkat": "EROFS", "rmdir": "EROFS", "openat": "EMFILE", "flock": "ENOLCK"}
_LINE = re.compile(r"(\d+) +(\w+)\((.*)")
_OPENS_TO_WRITE = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")


@dataclass(frozen=True)
class Call:
    """The `ordinal`-th call (from 1) of this name in the main thread of a run."""

    name: str
    ordinal: int
    told: str  # its arguments without numbers


def trace_flags(log: Path, *more: str) -> list[str]:
    return ["-f", "-qq", "-y", "-o", str(log), "-e", "trace=" + ",".join(f"?{name}" for name in CALLS), *more]


def read_log(log: Path, folder: Path) -> list[Call]:
    """The calls in a log that write to something below `folder`."""
    counts: Counter[str] = Counter()
    found = []
    lines = [match for line in log.read_text("utf-8", "replace").splitlines() if (match := _LINE.match(line))]
    for process, name, rest in (match.groups() for match in lines):
        if process != lines[0][1]:
            continue  # other processes, such as git, only read
        counts[name] += 1
        if f"{folder}" in rest and (name != "openat" or _OPENS_TO_WRITE.search(rest)):
            place = re.sub(r"[0-9a-f]{8,}|\d+", "#", rest.partition(str(folder))[2])
            found.append(Call(name, counts[name], re.split(r'[">]', place)[0]))
    return found


def traced(bench: Bench, scenario: str, log: Path) -> list[Call]:
    """The writing calls of an undisturbed run. Afterwards the tree is in its other state."""
    bench.prepare(scenario, 1 - bench.flip.state)
    ran = bench.command(scenario, strace=trace_flags(log))
    assert ran.code == 0, ran.told()
    return read_log(log, bench.index)


def kill_at(bench: Bench, report: Report, scenario: str, call: Call, log: Path) -> None:
    """One run that is killed at a call."""
    old, size = bench.prepare(scenario, 1 - bench.flip.state)
    inject = f"inject={call.name}:signal=KILL:when={call.ordinal}"
    ran = bench.command(scenario, strace=trace_flags(log, "-e", inject))
    report.count("kills at a call")
    report.count("of them never reached", ran.code == 0)
    what = f"{scenario}, killed at {call.name} {call.ordinal} {call.told}"
    if ran.code not in (0, -9):
        report.violation(f"{what}: {ran.told()}")
    if wrong := bench.judge(scenario, old, size):
        report.violation(f"{what}: {wrong}")


def fail_at(bench: Bench, report: Report, scenario: str, call: Call, random_: random.Random) -> None:
    """One run in which a call fails, as on a disk that is full or broken."""
    old, size = bench.prepare(scenario, 1 - bench.flip.state)
    error = _ERRORS.get(call.name) or random_.choice(("ENOSPC", "EIO", "EDQUOT"))
    onwards = "+" if call.name in ("pwrite64", "fsync", "mkdir") and random_.random() < 0.5 else ""
    inject = f"inject={call.name}:error={error}:when={call.ordinal}{onwards}"
    ran = bench.command(scenario, strace=["-f", "-qq", "-o", "/dev/null", "-e", f"trace={call.name}", "-e", inject])
    report.count("errors at a call")
    report.count("of them told, exit 3", ran.code == 3)
    what = f"{scenario}, {error} at {call.name} {call.ordinal}{onwards} {call.told}"
    if wrong := bench.judge_failed(ran, scenario, old, size):
        report.violation(f"{what} (exit {ran.code}): {wrong}")


def every_call(bench: Bench, log: Path, report: Report, *, stride: int, share: slice) -> None:
    """Kill, and let fail, each `stride`-th call of every scenario; `share` is the part of one worker."""
    random_ = rng(report.seed, "syscalls", share.start)
    for scenario in SCENARIOS:
        calls = traced(bench, scenario, log)
        report.figures[f"calls that write, {scenario}"] = len(calls)
        chosen = calls[:: max(1, stride)][share]
        for number, call in enumerate(chosen):
            kill_at(bench, report, scenario, call, log)
            fail_at(bench, report, scenario, call, random_)
            report.progress(number + 1, len(chosen))


def main() -> int:
    given = arguments(__doc__, stride=1, workers=2)
    report = Report("SIGKILL and errors at every writing system call", given.seed)
    if STRACE is None:
        print("skipped: strace is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name:

        def work(worker: int) -> None:
            share = slice(worker, None, given.workers)
            scratch = Path(name, str(worker))
            with Program(scratch) as program:
                bench = Bench(program, scratch / "bench")
                every_call(bench, scratch / "strace.log", report, stride=given.stride, share=share)

        in_parallel(work, given.workers)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
