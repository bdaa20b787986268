"""Full disks: the old index stays, the error is typed, and nothing is left behind once there is room again.

    python -m tests.torture.disk --seed 1

Two ways to run out of space: a limit on the size of files (RLIMIT_FSIZE), and a small file system (tmpfs, where
mounting is permitted) that runs out of blocks or inodes.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.torture.answers import usage
from tests.torture.kill import Bench
from tests.torture.program import LINUX, Program
from tests.torture.report import Report, arguments
from tests.torture.trees import rng

_INSIDE = "LCI_TORTURE_MOUNTS"  # set in the process with its own mounts
_DISK_BYTES = 48 << 20
_DISK_INODES = 4000


def file_limits(bench: Bench, report: Report, count: int) -> None:
    """Index runs with a limit on the size of files, from nothing to more than the largest file needs."""
    random_ = rng(report.seed, "disk")
    largest = max(path.stat().st_size for path in bench.index.rglob("*") if path.is_file())
    for number in range(count):
        limit = int(largest * 1.2 * (number / count) ** 3)  # most files are small
        scenario = random_.choice(("cold", "one", "many", "full"))
        old, size = bench.prepare(scenario, 1 - bench.flip.state)
        ran = bench.command(scenario, file_size=limit)
        report.count("runs under a file size limit")
        report.count("of them told, exit 3", ran.code == 3)
        if wrong := bench.judge_failed(ran, scenario, old, size):
            report.violation(f"{scenario}, files of at most {limit} bytes (exit {ran.code}): {wrong}")
        report.progress(number + 1, count)


def _can_mount() -> bool:
    """Whether a process with mounts of its own can mount a tmpfs."""
    if not LINUX or shutil.which("unshare") is None:
        return False
    with tempfile.TemporaryDirectory() as name:
        done = subprocess.run([*_unshare(), "mount", "-t", "tmpfs", "none", name], capture_output=True, check=False)
    return done.returncode == 0


def _unshare() -> list[str]:
    return ["unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",))]


def small_disk(program: Program, disk: Path, report: Report, count: int) -> None:
    """Index runs on the small tmpfs `disk`, with less and less room."""
    bench = Bench(program, disk / "bench")
    random_ = rng(report.seed, "tmpfs")
    needed = usage(bench.index)
    for number in range(count):
        scenario = random_.choice(("cold", "one", "many", "full"))
        old, size = bench.prepare(scenario, 1 - bench.flip.state)
        kind = random_.choice(("blocks", "blocks", "inodes"))
        room = _fill(disk, random_, kind, needed)
        ran = bench.command(scenario)
        report.count(f"runs short of {kind}")
        report.count("of them told, exit 3", ran.code == 3)
        if wrong := bench.judge_failed(ran, scenario, old, size, lambda: shutil.rmtree(disk / "ballast")):
            report.violation(f"{scenario}, room for {room} {kind} (exit {ran.code}): {wrong}")
        report.progress(number + 1, count)


def _fill(disk: Path, random_: random.Random, kind: str, needed: int) -> int:
    """Leave room for some bytes or inodes, mostly less than needed; return how much."""
    ballast = disk / "ballast"
    ballast.mkdir()
    state = os.statvfs(disk)
    if kind == "blocks":
        room = int(needed * 1.5 * random_.random())
        with (ballast / "a").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, state.f_bavail * state.f_frsize - room))
        return room
    room = random_.randrange(60)
    with contextlib.suppress(OSError):
        for number in range(state.f_favail - room):
            (ballast / str(number)).touch()
    return room


def _on_small_disk(seed: int, count: int) -> int:
    """The part that runs with its own mounts."""
    report = Report("a small disk", seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name:
        disk = Path(name, "disk")
        disk.mkdir()
        options = f"size={_DISK_BYTES},nr_inodes={_DISK_INODES}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(disk)], check=True)
        try:
            with Program(Path(name, "outside")) as program:
                small_disk(program, disk, report, count)
        finally:
            subprocess.run(["umount", str(disk)], check=False)
    return report.end()


def main() -> int:
    given = arguments(__doc__, limits=120, fills=120)
    if os.environ.get(_INSIDE):
        return _on_small_disk(given.seed, given.fills)
    report = Report("a limit on the size of files", given.seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name, Program(Path(name)) as program:
        file_limits(Bench(program, Path(name, "bench")), report, given.limits)
    code = report.end()
    if not _can_mount():
        print("\na small disk: skipped, mounting is not permitted here")
        return code
    again = [
        *_unshare(),
        sys.executable,
        "-m",
        "tests.torture.disk",
        "--seed",
        str(given.seed),
        "--fills",
        str(given.fills),
    ]
    return max(code, subprocess.run(again, env={**os.environ, _INSIDE: "1"}, check=False).returncode)


if __name__ == "__main__":
    sys.exit(main())
