"""Timings on real trees, of whole processes and in-process, and ratios to a peer in the same run.

    python -m tests.bench.bench                                   # packages of this Python's standard library
    python -m tests.bench.bench --repos DIR [--only NAME]         # every folder in DIR
    python -m tests.bench.bench --repos DIR --peer VENV/bin       # also semble, with $SEMBLE_MODEL_NAME set

Each figure is a median, and each ratio the median of the ratios of neighbouring runs, since machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

QUERY = "where are expired connections removed from the pool"
MODES = ("symbolic", "bm25", "dense", "multiview")


def timed(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Wall-clock seconds and peak MiB of one process, which must exit with 0 or 1."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    error = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(command)} failed: {error.decode()[-300:]}")
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def in_process(tree: Path) -> dict[str, float]:
    """Median milliseconds of a warm query, per mode."""
    from lci_py import app
    from lci_py.types.search import SearchRequest

    medians = {}
    with app.open_engine(str(tree)) as session:
        for mode in MODES:
            query = "connection" if mode == "symbolic" else QUERY
            times = []
            for _ in range(15):
                started = time.perf_counter()
                session.search(SearchRequest(query, mode))
                times.append((time.perf_counter() - started) * 1e3)
            medians[mode] = statistics.median(times)
    return medians


def trees(args: argparse.Namespace) -> list[Path]:
    if args.repos is None:
        stdlib = Path(sysconfig.get_path("stdlib"))
        return [stdlib / name for name in ("json", "asyncio", "email", "unittest")]
    roots = {path.name: path for path in sorted(args.repos.iterdir()) if path.is_dir()}
    listing = args.repos.parent / "repos.json"
    if listing.is_file():  # a benchmark of which only a folder of each repository is indexed
        for spec in json.loads(listing.read_text()):
            if spec["name"] in roots:
                roots[spec["name"]] = roots[spec["name"]] / (spec.get("benchmark_root") or "")
    return [path for name, path in roots.items() if not args.only or name in args.only]


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--repos", type=Path)
    ap.add_argument("--only", action="append")
    ap.add_argument("--peer", type=Path, help="bin folder of an environment with semble")
    ap.add_argument("--lci", default=f"{sys.executable} -m lci_py")
    ap.add_argument("--runs", type=int, default=3)
    args = ap.parse_args()
    work = Path(tempfile.mkdtemp())
    lci = shlex.split(args.lci)
    print(f"{'tree':24s} {'first result s':>16s} {'warm search s':>16s} {'peak MiB':>12s}   in-process ms per mode")
    totals, warm_ratios = [0.0, 0.0], []
    for tree in trees(args):
        index = work / tree.name
        env = {**os.environ, "LCI_INDEX_DIR": str(index), "SEMBLE_CACHE_LOCATION": str(work / "peer")}
        os.environ["LCI_INDEX_DIR"] = str(index)
        search = [*lci, "search", QUERY, "--root", str(tree), "--mode", "multiview", "--json"]
        peer = [str(args.peer / "semble"), "search", QUERY, str(tree)] if args.peer else None
        first, warm, peak = [], [], []
        for _ in range(args.runs):
            for folder in (index, work / "peer"):
                shutil.rmtree(folder, ignore_errors=True)
            wall, memory = timed([*lci, "index", str(tree), "--quiet"], env)
            wall += timed(search, env)[0]
            other = timed(peer, env) if peer else (0.0, 0.0)
            first.append((wall, other[0]))
            peak.append((memory, other[1]))
        for _ in range(args.runs):
            warm.append((timed(search, env)[0], timed(peer, env)[0] if peer else 0.0))
        cells = [_cell(pairs, form) for pairs, form in ((first, "{:.2f}"), (warm, "{:.2f}"), (peak, "{:.0f}"))]
        modes = "  ".join(f"{mode} {ms:.1f}" for mode, ms in in_process(tree).items())
        print(f"{tree.name[:24]:24s} {cells[0]:>16s} {cells[1]:>16s} {cells[2]:>12s}   {modes}", flush=True)
        for side in (0, 1):
            totals[side] += statistics.median(pair[side] for pair in first)
        if peer:
            warm_ratios.append(statistics.median(ours / theirs for ours, theirs in warm))
    shutil.rmtree(work)
    if warm_ratios:
        print(
            f"total first result {totals[0]:.1f} / {totals[1]:.1f} s = {totals[0] / totals[1]:.2f}; "
            f"median warm search ratio {statistics.median(warm_ratios):.2f}"
        )
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def _cell(pairs: list[tuple[float, float]], form: str) -> str:
    ours, theirs = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    if not theirs:
        return form.format(ours)
    ratio = statistics.median(a / b for a, b in pairs)
    return f"{form.format(ours)}/{form.format(theirs)}={ratio:.2f}"


if __name__ == "__main__":
    main()
