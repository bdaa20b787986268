"""Whether two revisions of this program give the same answers, and what `--conflicts` costs.

    python -m tests.quality.conflicts_identical same FOLDER --revision REVISION [--queries 40]
    python -m tests.quality.conflicts_identical cost FOLDER [--queries 200] [--index DIR]

`same` indexes the folder with a revision of this checkout and with the program as it is now, asks both the same queries
in every mode, as JSON and as a table, and compares the bytes. Only the index's build time and generation may differ.
The exit status is 1 if anything else does.

`cost` searches with and without `--conflicts` in one process, in turns, and prints what the flag adds to the fastest of
three searches, in CPU time and in wall-clock time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from lci_py import app
from lci_py.search.engine import Engine
from lci_py.types.search import MODES, Mode, SearchRequest

PROJECT = Path(__file__).resolve().parents[2]
#: The build's number and time, and how many files a loaded machine had no time to look at.
_INDEX = re.compile(rb'"index":\{"generation":\d+,"built_at":"[^"]*",|,"unchecked_files":\d+')
#: Milliseconds that --conflicts may add to a search.
BAR = 10.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("same", "cost"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--revision", help="of this checkout, to compare with")
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--index", type=Path, help="an index folder to use for `cost`, made if there is none")
    args = parser.parse_args()
    if args.what == "same" and not args.revision:
        parser.error("same needs --revision")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.setdefault("LCI_CONFIG_DIR", f"{scratch}/config")
        if args.what == "same":
            return same(args.folder.resolve(), args.revision, args.queries, Path(scratch))
        return cost(args.folder.resolve(), args.queries, args.index or Path(scratch) / "index")


# --- queries ------------------------------------------------------------------------------------------------------


def queries(session: Engine, count: int) -> list[str]:
    """Names, names split into words, and words of two names; always the same ones for the same tree."""
    names = sorted(
        {row[0] for segment in session.snapshot.symbols.segments for row in segment.execute("SELECT name FROM symbols")}
    )
    chosen = random.Random(1).sample(names, min(len(names), 2 * count))
    made = []
    for i, (one, other) in enumerate(zip(chosen[::2], chosen[1::2], strict=False)):
        words = [" ".join(re.findall(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])", name)).lower() for name in (one, other)]
        made.append((one, words[0] or one, f"{words[0]} {words[1]}".strip() or other)[i % 3])
    return made


def ambiguous(session: Engine, count: int) -> list[str]:
    """Names with several definitions, for which the flag has work to do."""
    sql = "SELECT name FROM symbols WHERE build_tag IS NOT NULL GROUP BY name HAVING count(*) BETWEEN 2 AND 50"
    names = sorted({row[0] for segment in session.snapshot.symbols.segments for row in segment.execute(sql)})
    return random.Random(2).sample(names, min(len(names), count))


@contextmanager
def opened(folder: Path, index: Path) -> Iterator[Engine]:
    os.environ["LCI_INDEX_DIR"] = str(index)
    with app.open_engine(str(folder), refresh="never") as session:
        yield session


# --- same ---------------------------------------------------------------------------------------------------------


def same(folder: Path, revision: str, count: int, scratch: Path) -> int:
    packed = subprocess.run(["git", "archive", revision], cwd=PROJECT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(scratch / "program")
    programs = {revision: (scratch / "program", scratch / "before"), "now": (PROJECT, scratch / "now")}
    for name, (program, index) in programs.items():
        print(f"index with {name}", flush=True)
        lci(program, index, "index", str(folder), "--quiet")
    with opened(folder, scratch / "now") as session:
        asked = [*queries(session, count), *ambiguous(session, count // 4)]
    differing = total = 0
    for mode in MODES:
        batch = "".join(json.dumps({"query": query, "mode": mode}) + "\n" for query in asked).encode()
        before, now = (
            lci(*where, "search", "--batch", "-", "--root", str(folder), "--refresh", "never", stdin=batch).splitlines()
            for where in programs.values()
        )
        for query, old, new in zip(asked, before, now, strict=True):
            total += 1
            differing += differs(f"{mode} --json {query!r}", _INDEX.sub(b"", old), _INDEX.sub(b"", new))
        for query in asked[:: max(1, len(asked) // 8)]:
            flags = ("search", query, "--mode", mode, "--root", str(folder), "--refresh", "never")
            total += 1
            old, new = (lci(*where, *flags) for where in programs.values())
            differing += differs(f"{mode} {query!r}", old, new)
    print(f"{total} answers, {differing} differ")
    return 1 if differing else 0


def lci(program: Path, index: Path, *args: str, stdin: bytes = b"") -> bytes:
    env = {**os.environ, "PYTHONPATH": str(program), "LCI_INDEX_DIR": str(index), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "lci_py", *args],
        input=stdin,
        capture_output=True,
        check=False,
        env=env,
        cwd=index.parent,
    )
    if done.returncode > 1:
        raise SystemExit(f"lci {' '.join(args)}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def differs(what: str, old: bytes, new: bytes) -> bool:
    if old == new:
        return False
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    print(
        f"{what} differs at byte {at}\n  before {old[max(0, at - 60) : at + 60]!r}\n  now    {new[max(0, at - 60) : at + 60]!r}"
    )
    return True


# --- cost ---------------------------------------------------------------------------------------------------------


def cost(folder: Path, count: int, index: Path) -> int:
    os.environ["LCI_INDEX_DIR"] = str(index)
    if not (index / "manifest.json").exists():
        app.build_index(str(folder))
    gc.disable()  # as the program does for a query
    worst = 0.0
    with opened(folder, index) as session:
        asked = {"any": queries(session, count), "ambiguous": ambiguous(session, count)}
        for kind, texts in asked.items():
            for mode in MODES:
                worst = max(worst, measure(session, f"{mode}, {kind} names", mode, texts))
    print(f"most {worst:.1f} ms, bar {BAR:.0f} ms")
    return 1 if worst > BAR else 0


def measure(session: Engine, what: str, mode: Mode, texts: list[str]) -> float:
    """Print what the flag adds to searches for these texts, and return the largest CPU time."""
    added: dict[str, list[float]] = {"cpu": [], "clock": []}
    conflicts = shown = 0
    for text in texts:
        plain, flagged = (SearchRequest(text, mode, conflicts=flag) for flag in (False, True))
        session.search(plain)
        times: dict[tuple[str, bool], list[float]] = {(kind, flag): [] for kind in added for flag in (False, True)}
        for request in (plain, flagged) * 3:
            cpu, clock = time.process_time(), time.perf_counter()
            answer = session.search(request)
            times["cpu", request.conflicts].append((time.process_time() - cpu) * 1e3)
            times["clock", request.conflicts].append((time.perf_counter() - clock) * 1e3)
        gc.collect()
        conflicts += sum(result.conflict for result in answer.results)
        shown += len(answer.results)
        for kind, found in added.items():
            found.append(min(times[kind, True]) - min(times[kind, False]))
    if not texts:
        return 0.0
    line = f"{what:<27}"
    for kind, found in added.items():
        ordered = sorted(found)
        tail = ordered[int(0.95 * (len(ordered) - 1))]
        line += f"  {kind} median {statistics.median(found):5.2f} ms, 95% {tail:6.2f}, most {ordered[-1]:6.2f};"
    print(f"{line}  {conflicts} of {shown} results flagged", flush=True)
    return max(added["cpu"])


if __name__ == "__main__":
    sys.exit(main())
