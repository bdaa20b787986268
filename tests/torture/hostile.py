"""Hostile trees and files: the long form of tests/whole/test_hostile_trees.py.

    python -m tests.torture.hostile [--sources DIR …] [--count 1000]

Every part indexes a tree with the program as a user runs it. It checks the exit code, the outcome for every file, the
time, the files that were opened (if there is strace), and that all modes answer. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lci_py.source.repository.walk import REASONS
from lci_py.source.syntax.languages import TEXT, detect, load_languages
from lci_py.types.search import MODES
from tests.torture import check, hostile_trees as trees
from tests.torture.mutate import mutated
from tests.torture.shapes import EXPRESSION, shapes

PROJECT = Path(__file__).resolve().parents[2]
_LARGEST = 200_000  # larger files are not mutated


class Failed(Exception):
    """A check failed."""


def lci(root: Path, *argv: str, seconds: float = 600, before: tuple[str, ...] = ()) -> tuple[int, str]:
    """Exit code and output of the program, which must be JSON with nothing on stderr."""
    done = subprocess.run(
        [*before, sys.executable, "-m", "lci_py", *argv], cwd=root, capture_output=True, timeout=seconds, check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    err = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1) or err:
        raise Failed(f"{' '.join(argv)}: exit {done.returncode}: {err[-500:]}")
    return done.returncode, done.stdout.decode("utf-8")


def index(root: Path, *, files: int | None, seconds: float = 600, crashes: bool = False) -> dict[str, Any]:
    """Index a tree of `files` files (None: it is changing meanwhile), and search it in every mode."""
    began = time.monotonic()
    built: dict[str, Any] = json.loads(lci(root, "index", "--json", seconds=seconds)[1])
    took = time.monotonic() - began
    if files is not None and built["files"] + sum(built.get("skipped_by_reason", {}).values()) != files:
        raise Failed(f"{files} files, but {built['files']} indexed and {built['skipped_by_reason']} skipped")
    if not set(built["skipped_by_reason"]) <= set(REASONS):
        raise Failed(f"unknown reasons in {built['skipped_by_reason']}")
    if "parser_crash" in built["limited_by_reason"] and not crashes:
        raise Failed(f"a parser crashed: {built['warnings']}")
    for mode in MODES:
        code, out = lci(
            root, "search", "kind:function" if mode == "symbolic" else "value of name", "--mode", mode, "--json"
        )
        if set(out.rstrip("\n")) & check.CONTROLS or "error" in json.loads(out):
            raise Failed(f"{mode}: exit {code}: {out[:300]}")
    print(f"    {built['files']} files, {built['chunks']} chunks, {took:.1f} s, skipped {built['skipped_by_reason']}, "
          f"limited {built['limited_by_reason']}", flush=True)  # fmt: skip
    return built


def sources_by_language(folders: list[Path], rng: random.Random) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    paths = [
        path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()
    ]
    rng.shuffle(paths)
    for path in paths:
        language = detect(path.name)
        if language != TEXT and len(found.setdefault(language, [])) < 300 and path.stat().st_size <= _LARGEST:
            found[language].append(path.read_bytes())
    return found


def mutations(work: Path, sources: list[Path], count: int) -> None:
    rng = random.Random(1)
    for language, files in sorted(sources_by_language(sources, rng).items()):
        root, suffix = work / language, load_languages()[language].suffixes[0]
        root.mkdir()
        print(f"  {language}: {count} mutations of {len(files)} files", flush=True)
        for number in range(count):
            (root / f"m{number}{suffix}").write_bytes(mutated(files, rng))
        index(root, files=count)
        for number in range(0, count, 20):
            check.file_record(root, f"m{number}{suffix}")
        shutil.rmtree(root)


def endless(work: Path, _sources: list[Path], count: int) -> None:
    number = 0
    for language, name, shape in shapes():
        (work / language).mkdir(exist_ok=True)
        (work / language / f"{re.sub('[^a-z]', '-', name)}-{number}{EXPRESSION[language][0]}").write_bytes(
            shape(20 * count)
        )
        number += 1
    (work / "line.py").write_bytes(b"a" * 50_000_000)
    (work / "line.txt").write_bytes(b"a" * 1_900_000)
    # Each file may take ten seconds, and a third of them do.
    index(work, files=number + 2, seconds=15 * number)


def empty(work: Path, _sources: list[Path], count: int) -> None:
    for folder in range(100):
        (work / f"d{folder}").mkdir()
        for number in range(count):
            (work / f"d{folder}" / f"e{number}.py").touch()
    index(work, files=100 * count)


def ignores(work: Path, _sources: list[Path], _count: int) -> None:
    for name, data in trees.IGNORES.items():
        folder = work / name
        folder.mkdir()
        (folder / ".gitignore").write_bytes(data)
        for number in range(200):
            (folder / f"{'a' * 100}{number}.py").touch()
    lci(work, "index", "--json", seconds=120)


def depth(work: Path, _sources: list[Path], _count: int) -> None:
    trees.deep_folder(work / "repo", 1000)
    index(work / "repo", files=1)
    subprocess.run(["rm", "-rf", str(work / "repo")], check=True)


def links(work: Path, _sources: list[Path], _count: int) -> None:
    """By strace, nothing is opened outside of the root and the program's own folders."""
    root, outside = work / "repo", work / "outside"
    trees.plant_canary(outside)
    trees.link_out(root, outside)
    for argv in (["index", "--json"], ["index", "--dry-run", "--json"], ["search", "kept", "--json"]):
        if not shutil.which("strace"):
            lci(root, *argv)
            continue
        log = work / "strace.log"
        lci(root, *argv, before=("strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", str(log)))
        opened = [line for line in log.read_text("utf-8", "replace").splitlines() if " = -1" not in line]
        leaks = [line for line in opened if re.search(r"/outside|/dev/zero|\"(?:secret|dead|link)\.py", line)]
        if leaks or not any("repo" in line for line in opened):
            raise Failed(f"{argv[0]} opened what lies outside the root: {leaks[:3]}")
    index(root, files=None)
    if trees.holds_canary(root / ".lci"):
        raise Failed("the index holds what lies outside the root")


def unstable(work: Path, _sources: list[Path], count: int) -> None:
    root, outside = work / "repo", work / "outside"
    trees.plant_canary(outside)
    check.make_unstable(root, 300)
    stop = threading.Event()
    arguments = (root, outside, random.Random(3), stop)
    changer = threading.Thread(target=check.keep_changing, args=arguments, daemon=True)
    changer.start()
    try:
        for _ in range(max(3, count // 50)):
            index(root, files=None)
    finally:
        stop.set()
        changer.join()
    if trees.holds_canary(root / ".lci"):
        raise Failed("the index holds what lies outside the root")


PARTS: tuple[Callable[[Path, list[Path], int], None], ...] = (
    links, ignores, depth, unstable, empty, endless, mutations,
)  # fmt: skip


def run(parts: list[str], sources: list[Path], count: int) -> Iterator[str]:
    """Run the parts; the names of those that failed."""
    for part in PARTS:
        if parts and part.__name__ not in parts:
            continue
        print(f"{part.__name__}", flush=True)
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="lci-hostile-") as folder:
            try:
                part(Path(folder), sources, count)
            except (Failed, AssertionError, subprocess.TimeoutExpired) as error:
                print(f"  FAILED: {error}", flush=True)
                yield part.__name__
        print(f"  {time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, nargs="*", default=[PROJECT / "fixtures" / "corpus"])
    parser.add_argument("--count", type=int, default=1000, help="files per language, and a twentieth of the depth")
    parser.add_argument("parts", nargs="*", help=", ".join(part.__name__ for part in PARTS))
    arguments = parser.parse_args()
    failed = Counter(run(arguments.parts, arguments.sources, arguments.count))
    print(f"failed: {', '.join(failed)}" if failed else "all held")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
