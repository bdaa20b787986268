"""The short forms of tests/torture/kill.py, syscalls.py, disk.py and writers.py, on one bench."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.waiting import until
from tests.torture import disk, kill, syscalls, writers
from tests.torture.kill import Bench
from tests.torture.program import STRACE
from tests.torture.report import Report
from tests.torture.trees import rng

Unknown = Callable[[], list[str]]
needs_strace = pytest.mark.skipif(STRACE is None, reason="needs strace")


def test_sigkill_at_random_moments(bench: Bench, report: Report, unknown: Unknown) -> None:
    kill.moments(bench, report, 2)
    assert unknown() == []


def test_what_a_killed_run_left_is_cleared_up(bench: Bench) -> None:
    before = set(bench.index.iterdir())

    def left() -> set[Path]:
        """What a run leaves that is killed as soon as it has written something; nothing if it has ended before."""
        running = bench.program.start("index", str(bench.root), "--full", "--jobs", "1")
        while Path(f"/proc/{running.pid}").exists() and not set(bench.index.iterdir()) - before:
            time.sleep(0.001)
        bench.program.kill(running)
        return set(bench.index.iterdir()) - before

    until(left)
    assert bench.command("again").code == 0
    assert bench.debris.found(bench.index) is None


@needs_strace
def test_sigkill_and_errors_at_system_calls(bench: Bench, report: Report, unknown: Unknown, tmp_path: Path) -> None:
    calls = syscalls.traced(bench, "one", tmp_path / "log")
    assert {"openat", "write", "fsync"} <= {call.name for call in calls}
    random_ = rng(1, "calls")
    for call in random_.sample(calls, 2) + calls[-1:]:
        syscalls.kill_at(bench, report, "one", call, tmp_path / "log")
    # Not `write`: numpy.save loses errors of buffered writes, and the index is published all the same.
    for call in random_.sample([call for call in calls if call.name != "write"], 2):
        syscalls.fail_at(bench, report, "one", call, random_)
    assert report.figures["of them never reached"] <= 1
    assert unknown() == []


def test_files_that_may_not_grow(bench: Bench, report: Report, unknown: Unknown) -> None:
    disk.file_limits(bench, report, 3)
    assert report.figures["of them told, exit 3"] >= 2
    assert unknown() == []


def test_two_writers(bench: Bench, report: Report, unknown: Unknown) -> None:
    writers.writers(bench, report, 1)
    assert unknown() == []


def test_a_wrong_answer_is_noticed(bench: Bench) -> None:
    """Of the index of the other state, with the tree of this one: what a lost refresh would give."""
    known = bench.truths.known
    assert "neither" in (bench.truths.wrong(known[1, 0, "one"], 0, 0, "one") or "")
    assert bench.truths.wrong(known[0, 0, "one"], 0, 0, "one") is None


def test_debris_is_noticed(bench: Bench) -> None:
    (bench.index / "tmp-1").mkdir()
    assert bench.debris.found(bench.index) == "debris: tmp-#"
    (bench.index / "tmp-1").rmdir()
    assert bench.debris.found(bench.index) is None
