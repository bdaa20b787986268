"""Both measures side by side: the right file (judged queries) and the right definition (known items), for every mode.

    python -m tests.quality.known BENCH REPOS [--mode NAME ...] [--seed N ...] [--only REPOSITORY] [--save FILE] [--left FILE]

BENCH has `repos.json`, `annotations/NAME.json`, `score.py` (the measure of files, NDCG@10) and `known.py` (which makes
known items from the checkouts and says what finds one, MRR@10). REPOS has the checkouts; nothing is written into them.
`--left` compares with what `--save` wrote: every query that the two judge differently, worst first. There is no pass
mark: neither of the two measures may be bought with the other, and a person reads both.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lci_py.search.engine import Engine
from lci_py.types.search import SearchRequest
from tests.quality.checkouts import KEPT
from tests.quality.judged import Benchmark, _module
from tests.quality.messages import messages

MODES = ("multiview", "bm25", "dense")
#: `whole` is `string` with the comments and decorators above a definition counted as its own, which the lines from `line`
#: to `end_line` leave out: a literal may stand in them.
#: `message` is a literal with placeholders, of which a user pastes what the program prints: with values in their place.
KINDS = ("name", "words", "string", "whole", "message", "doc")
_PER_KIND = 20


class Item(NamedTuple):
    """A query and what it is worth.

    Attributes:
        repository: Its name.
        kind: `file`, of which the value is NDCG@10; or a kind of `known.py`, of which it is the reciprocal rank.
        query: The text.
        value: In [0, 1].
        first: The place of the first result.
        wanted: Where the answer is.
    """

    repository: str
    kind: str
    query: str
    value: float
    first: str
    wanted: str


def items(root: Path, name: str, seed: str, maker: Any) -> list[Any]:
    """The known items of a checkout: (kind, query, path, line). Kept, since Universal Ctags is slow to start."""
    kept = KEPT / "known" / f"{name}-{seed}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(maker.make(root, _PER_KIND, seed)))
    found: list[Any] = json.loads(kept.read_text())
    return found


def asked(session: Engine, query: str, mode: str) -> list[dict[str, Any]]:
    """The first ten results, with the keys that the measures read."""
    answer = session.search(SearchRequest(query, mode, 10, snippet=0))  # type: ignore[arg-type]
    rows = session.snapshot.symbols.in_files(sorted({found.file for found in answer.results}))
    firsts = {row["id"]: row["first_line"] for row in rows}
    return [
        {
            "file": found.file,
            "line": found.line,
            "end_line": found.end_line,
            "first": firsts.get(found.id) or found.line,
        }
        for found in answer.results
    ]


def of_repository(
    benchmark: Benchmark, maker: Any, name: str, session: Engine, mode: str, seeds: Sequence[str]
) -> Iterator[Item]:
    """Every query of a repository."""
    for task in benchmark.tasks(name):
        found = asked(session, task.query, mode)
        wanted = " ".join(target["path"] for target in task.targets)
        yield Item(name, "file", task.query, benchmark.scorer.ndcg10(found, list(task.targets)), _first(found), wanted)
    for seed in seeds:
        for kind, query, path, line in items(benchmark.roots[name], name, seed, maker):
            found = asked(session, query, mode)
            rank = maker.rank(kind, path, line, found)
            yield Item(name, kind, query, 1 / rank if rank else 0.0, _first(found), f"{path}:{line}")
            if kind == "string":
                from_first = [{**each, "line": min(each["first"], each["line"])} for each in found]
                rank = maker.rank(kind, path, line, from_first)
                yield Item(name, "whole", query, 1 / rank if rank else 0.0, _first(found), f"{path}:{line}")
        for query, path, line in messages(benchmark.roots[name], _PER_KIND, seed):
            found = asked(session, query, mode)
            rank = maker.rank("string", path, line, found)
            yield Item(name, "message", query, 1 / rank if rank else 0.0, _first(found), f"{path}:{line}")


def _first(found: Sequence[dict[str, Any]]) -> str:
    return f"{found[0]['file']}:{found[0]['line']}" if found else "-"


def figures(found: Sequence[Item]) -> dict[str, float]:
    """The mean of each measure: `file` over repositories, as `score.py` gives it; the others over queries, as
    `known.py` does. `large` is `file` over the repositories of 150 files and more that joined last."""
    by: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in found:
        by[item.kind][item.repository].append(item.value)
    means = {name: sum(values) / len(values) for name, values in by["file"].items()}
    made = {"file": sum(means.values()) / len(means)}
    large = [means[name] for name in LARGE if name in means]
    if large:
        made["large"] = sum(large) / len(large)
    for kind in KINDS:
        values = [value for each in by[kind].values() for value in each]
        if values:
            made[kind] = sum(values) / len(values)
    return made


#: The six repositories in which the size of the pool shows.
LARGE = ("laravel-framework", "rails", "vitest", "pandoc", "vapor", "serde")


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("bench", type=Path)
    ap.add_argument("repos", type=Path)
    ap.add_argument("--mode", action="append", choices=MODES, help="one mode; repeatable; all if left out")
    ap.add_argument("--seed", action="append", help="a sample of known items; repeatable; 1 if left out")
    ap.add_argument("--only", action="append", default=[], help="only this repository; repeatable")
    ap.add_argument("--save", type=Path)
    ap.add_argument("--left", type=Path, help="what --save wrote before")
    args = ap.parse_args()
    benchmark = Benchmark(args.bench, args.repos, only=args.only)
    maker = _module(args.bench / "known.py")
    modes, seeds = args.mode or MODES, args.seed or ["1"]
    found: dict[str, list[Item]] = {mode: [] for mode in modes}
    for name, session in benchmark.sessions():
        for mode in modes:
            found[mode] += of_repository(benchmark, maker, name, session, mode, seeds)
    before = {} if args.left is None else json.loads(args.left.read_text())
    for mode in modes:
        print(f"{mode:10s} " + "  ".join(f"{kind} {value:.4f}" for kind, value in figures(found[mode]).items()))
        if mode in before:
            print("\n".join(difference([Item(*item) for item in before[mode]], found[mode])))
    if args.save:
        args.save.write_text(json.dumps(found))
    return 0


def difference(left: Sequence[Item], right: Sequence[Item]) -> Iterator[str]:
    """Every query that two states of the code judge differently, worst first, and the figures of the left."""
    known = {item[:3]: item for item in left}
    pairs = [(known[item[:3]], item) for item in right if item[:3] in known]
    for a, b in sorted(pairs, key=lambda pair: pair[1].value - pair[0].value):
        if a.value != b.value:
            yield f"  {b.value - a.value:+.3f} {b.repository} {b.kind}: {b.query!r} is at {b.wanted}: {a.first} → {b.first}"
    yield "  before     " + "  ".join(f"{kind} {value:.4f}" for kind, value in figures(left).items())


if __name__ == "__main__":
    sys.exit(main())
