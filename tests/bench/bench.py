"""Timings on real trees, of whole processes and in-process, and ratios to a peer in the same run.

    python -m tests.bench.bench                                   # packages of this Python's standard library
    python -m tests.bench.bench --repos DIR [--only NAME]         # every folder in DIR
    python -m tests.bench.bench --repos DIR --peer VENV/bin       # also semble, with $SEMBLE_MODEL_NAME set
    python -m tests.bench.bench --repos DIR --peer VENV/bin --picture docs/first-answer.svg

Each figure is a median, and each ratio the median of the ratios of neighbouring runs, since machines are noisy.

first      one cold search, from no index to the answer, in s
complete   until `lci index` has nothing left to do, against the peer's first search, in s
warm       a search with everything built, in s
refresh    `lci index` after one file has changed, as a share of a whole `lci index`
nothing    `lci index` when nothing has changed, against `lci index --dry-run` (process start, walk, and reading), in s
peak       memory of the largest process of a cold search, in MiB
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
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


class Clock:
    """Times the commands on one tree, and the peer beside them."""

    def __init__(self, tree: Path, lci: list[str], peer: Path | None, work: Path) -> None:
        self.tree, self.lci, self.work = tree, lci, work
        self.index = work / "index"
        self.env = {**os.environ, "LCI_INDEX_DIR": str(self.index), "SEMBLE_CACHE_LOCATION": str(work / "peer")}
        self.search = [*lci, "search", QUERY, "--root", str(tree), "--mode", "multiview", "--json"]
        self.peer = [str(peer / "semble"), "search", QUERY, str(tree)] if peer else None

    def ours(self, *command: str) -> tuple[float, float]:
        return timed([*self.lci, *command], self.env)

    def theirs(self) -> tuple[float, float]:
        return timed(self.peer, self.env) if self.peer else (0.0, 0.0)

    def cold(self) -> dict[str, tuple[float, float]]:
        """Everything from nothing, once."""
        for folder in (self.index, self.work / "peer"):
            shutil.rmtree(folder, ignore_errors=True)
        started = time.perf_counter()
        first, memory = timed(self.search, self.env)
        self.ours("index", str(self.tree), "--quiet", "--wait", "600")
        complete = time.perf_counter() - started
        peer, peer_memory = self.theirs()
        return {"first": (first, peer), "complete": (complete, peer), "peak": (memory, peer_memory)}

    def warm(self) -> tuple[float, float]:
        return timed(self.search, self.env)[0], self.theirs()[0]

    def nothing(self) -> tuple[float, float]:
        return self.ours("index", str(self.tree), "--quiet")[0], self.ours("index", "--dry-run", str(self.tree))[0]

    def refresh(self) -> tuple[float, float]:
        """With a line more in the largest file, in a copy of the tree."""
        copy = self.work / "copy"
        shutil.copytree(self.tree, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".lci"))
        env = {**self.env, "LCI_INDEX_DIR": str(self.work / "copied")}
        command = [*self.lci, "index", str(copy), "--quiet"]
        whole = timed([*command, "--full"], env)[0]
        listed = subprocess.run([*self.lci, "index", "--dry-run", str(copy)], capture_output=True, text=True, env=env)
        code = [copy / name for name in listed.stdout.splitlines() if not name.endswith((".md", ".txt", ".json"))]
        with max(code, key=lambda path: path.stat().st_size).open("a") as file:
            file.write("\n\n")
        time.sleep(0.1)
        one = timed(command, env)[0]
        for folder in (copy, self.work / "copied"):
            shutil.rmtree(folder)
        return one, whole


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--repos", type=Path)
    ap.add_argument("--only", action="append")
    ap.add_argument("--peer", type=Path, help="bin folder of an environment with semble")
    ap.add_argument("--lci", default=f"{sys.executable} -m lci_py")
    ap.add_argument("--runs", type=int, default=3)
    ap.add_argument("--picture", type=Path, help="write quality over time to the first result, as SVG")
    args = ap.parse_args()
    forms = {
        "first": "{:.2f}", "complete": "{:.2f}", "warm": "{:.2f}", "refresh": "{:.2f}", "nothing": "{:.2f}",
        "peak": "{:.0f}",
    }  # fmt: skip
    print(f"{'tree':20s}" + "".join(f"{name:>17s}" for name in forms) + "   in-process ms per mode")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in forms}
    for tree in trees(args):
        work = Path(tempfile.mkdtemp())
        clock = Clock(tree, shlex.split(args.lci), args.peer, work)
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in forms}
        for _ in range(args.runs):
            for name, pair in clock.cold().items():
                runs[name].append(pair)
        for _ in range(args.runs):
            runs["warm"].append(clock.warm())
            runs["nothing"].append(clock.nothing())
            runs["refresh"].append(clock.refresh())
        os.environ["LCI_INDEX_DIR"] = str(clock.index)
        with multiprocessing.get_context("spawn").Pool(1) as pool:  # the peak of a child counts what its parent has
            medians = pool.apply(in_process, (tree,))
        modes = "  ".join(f"{mode} {ms:.1f}" for mode, ms in medians.items())
        print(f"{tree.name[:20]:20s}" + "".join(f"{_cell(runs[n], f):>17s}" for n, f in forms.items()) + f"   {modes}")
        sys.stdout.flush()
        for name, pairs in runs.items():
            found[name].append(tuple(statistics.median(pair[side] for pair in pairs) for side in (0, 1)))  # type: ignore[arg-type]
        shutil.rmtree(work)
    for name, pairs in found.items():
        ours, theirs = (sum(pair[side] for pair in pairs) for side in (0, 1))
        if theirs:
            ratios = [a / b for a, b in pairs]
            worst = f"median {statistics.median(ratios):.2f}, worst {max(ratios):.2f}"
            print(f"{name:9s} {ours:.1f} / {theirs:.1f} = {ours / theirs:.2f}; of the trees: {worst}")
    if args.picture:
        args.picture.write_text(picture(found))
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def _cell(pairs: list[tuple[float, float]], form: str) -> str:
    ours, theirs = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    if not theirs:
        return form.format(ours)
    ratio = statistics.median(a / b for a, b in pairs)
    return f"{form.format(ours)}/{form.format(theirs)}={ratio:.2f}"


# --- the picture --------------------------------------------------------------------------------------------------

#: NDCG@10 on the judged queries of 28 repositories: published (CodeRankEmbed, semble), and measured by score.py (lci).
QUALITY = {
    "CodeRankEmbed hybrid": 0.848, "semble": 0.843, "CodeRankEmbed": 0.735, "lci multiview": 0.897, "lci bm25": 0.854,
    "lci dense": 0.868,
}  # fmt: skip
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 680, 320, 56, 20, 160, 44
_LOWEST, _HIGHEST = 0.70, 0.92


def picture(found: dict[str, list[tuple[float, float]]]) -> str:
    """Quality over the time from no index to the first result, as SVG.

    Methods whose time was not measured in this run are lines across: their quality is published, their time depends on
    the machine. The modes of lci share one index, and their times differ by that of a warm search.

    Args:
        found: Per figure, the pairs (ours, the peer's) of all trees.
    """
    ours, theirs = (statistics.mean(pair[side] for pair in found["first"]) for side in (0, 1))
    longest = 1.4 * max(ours, theirs)
    x = lambda seconds: _LEFT + (_WIDTH - _LEFT - _RIGHT) * seconds / longest  # noqa: E731
    y = lambda value: _TOP + (_HEIGHT - _TOP - _BOTTOM) * (_HIGHEST - value) / (_HIGHEST - _LOWEST)  # noqa: E731
    right, bottom = x(longest), y(_LOWEST)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<path d="M{_LEFT},{_TOP}V{bottom:.1f}H{right:.1f}" fill="none" stroke="#444"/>',
    ]
    for value in (0.70, 0.75, 0.80, 0.85, 0.90):
        lines.append(f'<text x="{_LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end" fill="#444">{value:.2f}</text>')
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100) if longest / step <= 8)
    for number in range(int(longest / step) + 1):
        at = x(number * step)
        lines.append(
            f'<text x="{at:.1f}" y="{bottom + 16:.1f}" text-anchor="middle" fill="#444">{number * step:g}</text>'
        )
    middle = (_LEFT + right) / 2
    lines.append(
        f'<text x="{middle:.1f}" y="{_HEIGHT - 8}" text-anchor="middle" fill="#444">'
        "seconds from no index to the first result (mean of the trees)</text>"
    )
    lines.append(
        f'<text x="14" y="{(_TOP + bottom) / 2:.1f}" text-anchor="middle" fill="#444" '
        f'transform="rotate(-90 14 {(_TOP + bottom) / 2:.1f})">NDCG@10</text>'
    )
    for name, value in QUALITY.items():
        seconds = ours if name.startswith("lci") else theirs if name == "semble" else 0.0
        color = "#0a5fb4" if name.startswith("lci") else "#b4460a"
        if not seconds:
            lines.append(
                f'<path d="M{_LEFT},{y(value):.1f}H{right:.1f}" stroke="#b4460a" stroke-dasharray="4 4" fill="none"/>'
            )
            lines.append(f'<text x="{right + 6:.1f}" y="{y(value) + 4:.1f}" fill="{color}">{name}</text>')
            continue
        lines.append(f'<circle cx="{x(seconds):.1f}" cy="{y(value):.1f}" r="5" fill="{color}"/>')
        lines.append(f'<text x="{x(seconds) + 9:.1f}" y="{y(value) + 4:.1f}" fill="{color}">{name} {value:.3f}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    main()
