"""Readers in every mode against a writer that commits all the time: every answer belongs to one generation.

    python -m tests.torture.readers --seconds 120 --readers 8 --seed 1

Every file shows the generation g of the tree: its definitions and those that it calls are named `stamp_…_gen_g`. The
writer changes all files, indexes, and begins again. An answer may be of any g, but of only one.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.torture.answers import MODES, Debris, bound, usage, write_batch
from tests.torture.program import NO_REFRESH, Program, Ran, frozen
from tests.torture.report import Report, arguments
from tests.torture.trees import rng, write

FILES = 12
_STAMP = re.compile(r"_gen_(\d+)")
_BATCH_LINES = 60


def stamp(root: Path, generation: int) -> None:
    """Rewrite every file in place: each shows its generation, and calls the next file's definition."""
    for number in range(FILES):
        here, there = f"stamp_{number}_gen_{generation}", f"stamp_{(number + 1) % FILES}_gen_{generation}"
        if number % 3 == 0:
            text = f'def {here}(value):\n    """Stamp of {here}: expired sessions."""\n    return {there}(value)\n'
            write(root / f"src/part{number}.py", text)
        elif number % 3 == 1:
            text = f"// Stamp of {here}: the queue.\nexport function {here}(value) {{\n  return {there}(value);\n}}\n"
            write(root / f"web/part{number}.js", text)
        else:
            text = f"package src\n\n// Stamp of {here}: a buffer.\nfunc {here}(value int) int {{ return {there}(value) }}\n"
            write(root / f"go/part{number}.go", text)


def generations_in(answer: Any) -> Iterator[tuple[str, int]]:
    """(place, generation) of every stamp in an answer, except for those in the query."""
    for result in answer["results"]:
        for key in ("symbol", "qualified_name", "signature", "snippet", "graph", "definitions", "doc"):
            for found in _STAMP.findall(json.dumps(result.get(key))):
                yield key, int(found)


class Reader(threading.Thread):
    """Searches until told to stop: every mode, `def`, `status`, and a batch that outlives generations."""

    def __init__(self, program: Program, root: Path, report: Report, number: int, stop: threading.Event) -> None:
        super().__init__(name=f"reader {number}")
        self._program, self._root, self._report, self._stop_asking = program, root, report, stop
        self._random = rng(report.seed, "reader", number)
        self.seen: dict[int, int] = {}  # generation of the index to that of the tree
        self.failure: BaseException | None = None
        queries = [{"query": "stamp value", "mode": MODES[n % 4], "limit": 50} for n in range(_BATCH_LINES)]
        for query in queries[2::4]:
            query |= {"query": "", "name": ["stamp_*"]}
        self._batch = write_batch(program.home / f"batch{number}.jsonl", queries)

    def run(self) -> None:
        try:
            while not self._stop_asking.is_set():
                self._random.choice((self._one, self._one, self._one, self._many, self._definition, self._status))()
        except BaseException as error:
            self.failure = error

    def _command(self, *argv: str) -> Ran | None:
        where = ("--root", str(self._root), "--json")
        ran = self._program.run(*argv, *where, *frozen(argv[0]), cwd=self._root)
        self._report.count(f"answers, {argv[0]}")
        if (wrong := ran.misbehaved()) or ran.code != 0:
            self._report.violation(f"{wrong or 'no answer'}: {ran.told()}")
            return None
        return ran

    def _one(self) -> None:
        mode = self._random.choice(MODES)
        query = "name:stamp_*" if mode == "symbolic" else self._random.choice(("stamp expired sessions", "stamp value"))
        if ran := self._command("search", query, "--mode", mode, "-n", "50"):
            self._judge(ran.json(), mode, complete=mode == "symbolic")

    def _definition(self) -> None:
        # It says what the changed files define now, whatever the generation of the index.
        if (ran := self._command("def", "stamp_*")) and not ran.json()["results"]:
            self._report.violation("def: no definition")

    def _status(self) -> None:
        self._command("status")

    def _many(self) -> None:
        flags = ("--root", str(self._root), *NO_REFRESH)
        ran = self._program.run("search", "--batch", str(self._batch), *flags, cwd=self._root)
        if (wrong := ran.misbehaved()) or ran.code != 0:
            self._report.violation(f"{wrong or 'no answer'}: {ran.told()}")
            return
        answers = [json.loads(line) for line in ran.out.splitlines()]
        self._report.count("answers, batch", len(answers))
        for answer in answers:
            if "error" in answer:
                self._report.violation(f"batch: {answer}")
                return
            self._judge(answer, f"batch, {answer['mode']}", complete=answer["mode"] == "symbolic")
        if len({answer["index"]["generation"] for answer in answers}) != 1:
            self._report.violation("one batch answered from several generations")

    def _judge(self, answer: Any, what: str, *, complete: bool) -> None:
        said = list(generations_in(answer))
        found = {number for _, number in said}
        index = answer["index"]["generation"]
        if answer.get("degraded"):
            self._report.violation(f"{what}: degraded: {answer['degraded']}")
        if len(found) != 1:
            torn = {key for key, number in said if number != self.seen.get(index)}
            self._report.violation(f"{what}: generations {sorted(found)} in one answer, in {sorted(torn)}")
            return
        if complete and len(answer["results"]) != FILES:
            self._report.violation(f"{what}: {len(answer['results'])} definitions of {FILES}")
        number = found.pop()
        if self.seen.setdefault(index, number) != number:
            self._report.violation(f"{what}: generation {index} said {self.seen[index]}, now {number}")


def commit_continuously(
    program: Program, root: Path, report: Report, seconds: float, enough: Callable[[], bool]
) -> int:
    """Change the tree and index it, again and again, for `seconds` and until it is enough; return the last generation."""
    end, generation = time.monotonic() + seconds, 1
    index = root / ".lci"
    while time.monotonic() < end or not enough():
        generation += 1
        stamp(root, generation)
        ran = program.run("index", str(root), "--jobs", "1", "--json")
        report.count("commits")
        report.most("most bytes on disk while readers hold old shards", usage(index))
        if ran.code != 0:
            report.violation(f"writer: {ran.told()}")
    return generation


def readers_and_writer(
    program: Program,
    scratch: Path,
    report: Report,
    *,
    seconds: float,
    readers: int,
    answers: int = 0,
    generations: int = 0,
) -> None:
    """Read while a writer commits, for `seconds` and until searches had so many answers, from so many generations."""

    def enough() -> bool:
        seen = {number for thread in threads for number in list(thread.seen)}
        asked = report.figures.get("answers, search", 0)
        return asked >= answers and len(seen) >= generations or any(thread.failure for thread in threads)

    root = scratch / "tree"
    debris = Debris()
    fresh = 0
    for _ in range(2):  # a new index, then a refreshed one
        stamp(root, 1)
        assert program.run("index", str(root), "--jobs", "1").code == 0
        debris.learn(root / ".lci")
        fresh = fresh or usage(root / ".lci")
    stop = threading.Event()
    threads = [Reader(program, root, report, number, stop) for number in range(readers)]
    for thread in threads:
        thread.start()
    try:
        last = commit_continuously(program, root, report, seconds, enough)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for thread in threads:
        if thread.failure is not None:
            raise thread.failure
    merged: dict[int, int] = {}
    for thread in threads:
        for index, generation in thread.seen.items():
            if merged.setdefault(index, generation) != generation:
                report.violation(f"readers disagree on what generation {index} is")
    report.figures["generations seen"] = len(merged)
    _afterwards(program, root, report, last + 1, debris, bound(fresh))


def _afterwards(program: Program, root: Path, report: Report, last: int, debris: Debris, most: int) -> None:
    """Once the readers are gone, one more commit must remove all files that they held."""
    stamp(root, last)
    assert program.run("index", str(root), "--jobs", "1").code == 0
    ran = program.run("search", "name:stamp_*", "--mode", "symbolic", "-n", "50", "--json", "--root", str(root))
    if {number for _, number in generations_in(ran.json())} != {last}:
        report.violation(f"the last generation is not there: {ran.told()}")
    report.figures["bytes on disk afterwards"] = used = usage(root / ".lci")
    report.figures["bytes on disk, bound"] = most
    if used > most:
        report.violation(f"{used:,} bytes on disk afterwards")
    if (odd := debris.found(root / ".lci")) is not None:
        report.violation(odd)


def main() -> int:
    given = arguments(__doc__, seconds=120, readers=8)
    report = Report("readers against a writer", given.seed)
    with tempfile.TemporaryDirectory(prefix="lci-torture-") as name, Program(Path(name)) as program:
        readers_and_writer(program, Path(name), report, seconds=given.seconds, readers=given.readers)
    return report.end()


if __name__ == "__main__":
    sys.exit(main())
