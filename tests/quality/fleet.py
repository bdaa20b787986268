"""How many answers of a fleet are those of one index over one folder with all of its repositories.

    python -m tests.quality.fleet --repos DIR --annotations DIR [--names aiohttp,gin,…] [--per-repository 20] [--split BYTES]

DIR/NAME is a checkout, and NAME.json in the annotations a list of objects with a `query`. Prints for each mode how many
answers are the same in all that is ranked, how many have the same ten results in the same order, and how the time of
the queries compares.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from lci_py import app
from lci_py.cluster.indexing import PartSource, index_fleet
from lci_py.cluster.root import Root
from lci_py.cluster.workers import here
from lci_py.types.search import MODES, Answer, SearchRequest

_NAMES = "aiohttp,gin,libuv,rails,serde,tokio,vitest,zod"


def _queries(path: Path, count: int) -> list[str]:
    return [item["query"] for item in json.loads(path.read_text("utf-8"))][:count]


def _places(answer: Answer) -> list[tuple[Any, ...]]:
    return [(one.file, one.line, one.symbol) for one in answer.results]


def _ranked(answer: Answer) -> list[tuple[Any, ...]]:
    return [(one.id, one.mode_score, one.snippet, one.also_matched) for one in answer.results]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--annotations", type=Path, required=True)
    parser.add_argument("--names", default=_NAMES)
    parser.add_argument("--per-repository", type=int, default=20)
    parser.add_argument("--split", type=int, default=64_000_000)
    asked = parser.parse_args()
    names = sorted(asked.names.split(","))
    work = Path(tempfile.mkdtemp())
    try:
        for name in names:
            shutil.copytree(asked.repos / name, work / "one" / name, symlinks=True)
        os.environ["LCI_CONFIG_DIR"] = str(work / "config")
        began = time.perf_counter()
        app.build_index(str(work / "one"), jobs=2)
        print(f"one index: {time.perf_counter() - began:.1f} s")
        queries = [
            query for name in names for query in _queries(asked.annotations / f"{name}.json", asked.per_repository)
        ]
        with here(2) as workers, app.open_engine(str(work / "one"), refresh="never") as one:
            began = time.perf_counter()
            repositories = [PartSource(name, str(work / "one" / name)) for name in names]
            store = str(work / "store")
            made = index_fleet(workers, store, repositories, "2026-01-01T00:00:00Z", "quality", split=asked.split)
            print(f"fleet: {time.perf_counter() - began:.1f} s, {len(made.fleet.parts)} parts")
            fleet = Root(workers, store, lambda: made.fleet)
            for mode in MODES:
                same = equal = degraded = 0
                spent = [0.0, 0.0]
                for query in queries:
                    request = SearchRequest(query, mode, 10, snippet=2)
                    if mode == "symbolic":
                        request = SearchRequest(f"name:*{query.split()[0]}*", mode, 10, snippet=2)
                    answers = []
                    for number, source in enumerate((one, fleet)):
                        began = time.process_time()
                        answers.append(source.search(request))
                        spent[number] += time.process_time() - began
                    expected, found = answers
                    ten = _places(found) == _places(expected)
                    same += ten
                    equal += _ranked(found) == _ranked(expected) and found.total == expected.total
                    degraded += bool(found.degraded)
                    if not ten:
                        print(f"  {mode} differs: {query[:90]!r}")
                ms = [value / len(queries) * 1e3 for value in spent]
                print(
                    f"{mode}: {len(queries)} queries, {same} the same ten, {equal} equal, {degraded} degraded; "
                    f"CPU {ms[0]:.1f} ms in one index, {ms[1]:.1f} ms in the fleet"
                )
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
