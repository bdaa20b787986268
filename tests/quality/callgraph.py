"""How far our call graph agrees with public truth sets.

    python -m tests.quality.callgraph SET FOLDER [-v] [--truth FILE]
    python -m tests.quality.callgraph all DIR [-v]

SET is one of the names in `SETS`. The module of each set says what FOLDER and FILE are, what counts as agreement, and
why. `all` runs every set whose folder is in DIR, a folder of checkouts. This repository contains no truth sets. `-v`
prints every disagreement. There is no pass mark: the exit status is 0 unless a set cannot be run.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.quality.callgraph_score import show_steps


class TruthSet(NamedTuple):
    """Where a truth set is found, and how it is run.

    Attributes:
        module: Name of the module, which has `compare(folder)`, or `compare(folder, truth)` if a tool makes the truth.
        folder: Its folder below DIR; "" for that of the Go installation.
        truth: File below DIR that the tool wrote; None for sets that contain their truth. Without it, the tool is run.
        tools: Programs that must be on PATH if there is no such file.
        pooled: Index of the table by which steps are judged over all sets; None for sets that know no wrong edges.
    """

    module: str
    folder: str
    truth: str | None = None
    tools: tuple[str, ...] = ()
    pooled: int | None = 0


SETS = {
    "pycg": TruthSet("callgraph_pycg", "PyCG/micro-benchmark/snippets", pooled=1),
    "swarm_js": TruthSet("callgraph_swarm", "SWARM-CG/benchmarks/javascript/swarm_js", pooled=1),
    "jcg_java": TruthSet("callgraph_java", "JCG/jcg_testcases/src/main/resources/java", pooled=1),
    "javac": TruthSet("callgraph_javac", "jsoup/src/main/java", "jsoup.tsv", ("java",)),
    "jcg_js": TruthSet("callgraph_jcgjs", "JCG/jcg_testcases/src/main/resources/js", pooled=None),
    "scip": TruthSet("callgraph_scip", "aiohttp", "aiohttp.scip", ("scip-python",)),
    "go": TruthSet("callgraph_go", "", "callgraph-net.txt", ("go", "callgraph")),
    "go_module": TruthSet("callgraph_gomod", "tools", "callgraph-tools.txt", ("go", "callgraph"), pooled=1),
    "runtime_jinja": TruthSet("callgraph_runtime", "jinja/src", "jinja.tsv", ("no tool",), pooled=None),
    "runtime_marshmallow": TruthSet(
        "callgraph_runtime", "marshmallow/src", "marshmallow.tsv", ("no tool",), pooled=None
    ),
    "runtime_rake": TruthSet("callgraph_runtime", "rake/lib", "rake.tsv", ("no tool",), pooled=None),
    "clang": TruthSet("callgraph_clang", "libuv", "libuv/build/compile_commands.json"),
}


def scores(name: str, folder: Path, truth: Path | None) -> list[Any]:
    """The tables of a set's comparison, which have `lines` and `show(verbose)`."""
    found = SETS[name]
    compare = importlib.import_module(f"tests.quality.{found.module}").compare
    return list(compare(folder, truth) if found.truth is not None else compare(folder))


def show(name: str, folder: Path, truth: Path | None, *, verbose: bool) -> Mapping[str, Counter[str]]:
    """Run one set and print its tables.

    Returns:
        Per step, the counts of the table that is pooled.
    """
    shown: set[str] = set()
    found = scores(name, folder, truth)
    for score in found:
        score.lines = [line for line in score.lines if line not in shown]  # tables of one set share most of them
        shown.update(score.lines)
        score.show(verbose=verbose)
        print()
    pooled = SETS[name].pooled
    steps: Mapping[str, Counter[str]] = found[pooled].steps if pooled is not None else {}
    return steps


def _show_all(checkouts: Path, *, verbose: bool) -> None:
    pooled: dict[str, Counter[str]] = defaultdict(Counter)
    for name, found in SETS.items():
        folder = checkouts / found.folder if found.folder else _go_package()
        truth = checkouts / found.truth if found.truth is not None else None
        if truth is not None and not truth.is_file():
            truth = None
        missing = [tool for tool in found.tools if truth is None and shutil.which(tool) is None]
        if folder is None or not folder.is_dir():
            print(f"{name}: left out, {found.folder or 'go'} is not there\n")
        elif missing:
            print(f"{name}: left out, {', '.join(missing)} not on PATH\n")
        else:
            for step, row in show(name, folder, truth, verbose=verbose).items():
                pooled[step].update(row)
    print("all sets: our edges by step, inside the repository")
    show_steps(pooled)


def _go_package() -> Path | None:
    if shutil.which("go") is None:
        return None
    root = subprocess.run(["go", "env", "GOROOT"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return Path(root, "src", "net")


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("set", choices=[*SETS, "all"])
    ap.add_argument("folder", type=Path)
    ap.add_argument("-v", "--verbose", action="store_true", help="every disagreement")
    ap.add_argument("--truth", type=Path, help="what the set's own tool made, where it is not run anew")
    args = ap.parse_args()
    if not args.folder.is_dir():
        ap.error(f"{args.folder} is not a folder")
    if args.set == "all":
        _show_all(args.folder, verbose=args.verbose)
    else:
        show(args.set, args.folder, args.truth, verbose=args.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
