"""CPU time of whole processes, paired against another checkout: start-up of the commands, and full index runs.

    python -m tests.bench.paired OTHER REPO [REPO …] [--pairs 40] [--index-pairs 5] [--instructions]

OTHER is a checkout of this project with its own environment in .venv; `git worktree add` and `make test` make one. REPO is
a folder to index and search; nothing is written into it. The two programs take turns, so that what else the machine
does concerns both. Printed are the medians, their ratio, and the median of the ratios of the pairs. With --instructions,
the commands run once each under valgrind, which counts their instructions: the same number on a busy machine (to .1 %).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
QUESTION = "how is a request matched to a handler"


def _environment(scratch: Path) -> dict[str, str]:
    env = {**os.environ, "LCI_INDEX_DIR": str(scratch / "index"), "LCI_CONFIG_DIR": str(scratch / "config")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # a program that is compiled at every start measures the compiler
    return env


def cpu_seconds(python: Path, scratch: Path, args: Sequence[str]) -> float:
    """Processor time of one run of the program, its worker processes included."""
    env = _environment(scratch)
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    pid = os.posix_spawn(python, [str(python), "-m", "lci_py", *args], env, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) > 1:
        raise SystemExit(f"{python} -m lci_py {' '.join(args)}: exit {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def instructions(python: Path, scratch: Path, args: Sequence[str]) -> float:
    """Millions of instructions of one run of the program, without those of other processes."""
    with tempfile.NamedTemporaryFile("r") as log:
        counting = ["--tool=callgrind", "--callgrind-out-file=/dev/null", f"--log-file={log.name}"]
        env = {**_environment(scratch), "PYTHONHASHSEED": "0"}
        command = ["valgrind", *counting, str(python), "-m", "lci_py", *args]
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        counted = re.search(r"Collected : (\d+)", log.read())
    if counted is None:
        raise SystemExit("valgrind did not count: is it installed?")
    return int(counted[1]) / 1e6


def commands(repo: Path) -> dict[str, list[str]]:
    """What is timed on an index, by the name that is printed."""
    root = ["--root", str(repo)]
    modes = {mode: ["search", QUESTION, "--mode", mode, *root] for mode in ("bm25", "dense", "multiview")}
    symbolic = ["search", "kind:function", "--mode", "symbolic", *root]
    return {
        "--help": ["--help"],
        "symbolic": symbolic,
        **modes,
        "def": ["def", "*", *root],
        "grep": ["grep", "def ", *root],
    }


def compare(what: str, programs: Sequence[tuple[Path, Path]], args: Sequence[str], pairs: int, *, fresh: bool) -> None:
    """Time one command with both programs, and print a line.

    Args:
        what: Its name in the line.
        programs: (python, scratch folder) of the other checkout and of this one.
        args: The command's arguments.
        pairs: How often each runs.
        fresh: Whether each run begins without an index.
    """
    times: list[list[float]] = [[], []]
    for pair in range(pairs):
        for which in (0, 1) if pair % 2 else (1, 0):
            python, scratch = programs[which]
            if fresh:
                shutil.rmtree(scratch / "index", ignore_errors=True)
            times[which].append(cpu_seconds(python, scratch, args))
    before, now = (statistics.median(found) for found in times)
    paired = statistics.median(new / old for old, new in zip(*times, strict=True))
    print(f"{what:24} {before:8.3f} s {now:8.3f} s  ratio {now / before:.3f}, of pairs {paired:.3f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("repos", type=Path, nargs="+", metavar="repo")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--index-pairs", type=int, default=5)
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()
    pythons = (args.other.resolve() / ".venv" / "bin" / "python", HERE / ".venv" / "bin" / "python")
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # neither checkout is the current folder, which Python would import from
        programs = [(python, Path(scratch) / str(number)) for number, python in enumerate(pythons)]
        for repo in (path.resolve() for path in args.repos):
            index = ["index", "--full", "--quiet", str(repo)]
            for python, folder in programs:
                shutil.rmtree(folder / "index", ignore_errors=True)
                cpu_seconds(python, folder, index)
            for name, command in commands(repo).items() if args.instructions else ():
                if name == "grep":
                    continue  # its threads wait for one another, which valgrind makes last for minutes
                for python, folder in programs:
                    cpu_seconds(python, folder, command)  # compiles the modules that it imports
                before, now = (instructions(python, folder, command) for python, folder in programs)
                print(f"{repo.name} {name:20} {before:8.1f} M {now:8.1f} M  ratio {now / before:.3f}", flush=True)
            if args.instructions:
                continue
            for name, command in commands(repo).items() if args.pairs else ():
                compare(f"{repo.name} {name}", programs, command, args.pairs, fresh=False)
            if args.index_pairs:
                compare(f"{repo.name} index", programs, index, args.index_pairs, fresh=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
