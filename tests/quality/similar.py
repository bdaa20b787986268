"""How often `lci similar` finds a twin, in repositories with an index.

    python -m tests.quality.similar [--per 10] [--seed 1] REPOSITORY…

pairs      a function, no test, and the one that has most of its tokens in the same order, .6 to .95 of them (difflib,
           which is not what lci compares by): the first is asked about
planted    a function with two in five of its names written otherwise, a line lost and a line more: as code on stdin

For each: how often the twin is the first answer, among the first three, and said to be a near duplicate; and how often
a near duplicate is said of planted code whose original is left out (--exclude): these are other twins, or mistakes.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from lci_py import app
from lci_py.types.search import Filters
from lci_py.types.similar import SimilarRequest

_TOKEN = re.compile(r"\w+|[^\w\s]")
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
#: Lines and tokens of a function that is taken; pairs that are compared by difflib.
_LINES, _TOKENS, _COMPARED = (8, 60), 60, 4000


class Function(NamedTuple):
    file: str
    line: int
    end: int
    name: str
    code: str

    @property
    def tokens(self) -> list[str]:
        return _TOKEN.findall(self.code)


def functions(engine: app.Engine) -> list[Function]:
    found = []
    symbols = engine.snapshot.symbols
    for row in symbols.in_files(symbols.paths()):
        if (
            row["kind"] in ("function", "method")
            and not row["test"]
            and _LINES[0] <= row["end_line"] - row["line"] <= _LINES[1]
        ):
            lines = (engine.root / row["file"]).read_text("utf-8", "replace").split("\n")
            code = "\n".join(lines[row["line"] - 1 : row["end_line"]])
            found.append(Function(row["file"], row["line"], row["end_line"], row["qualified_name"], code))
    return [one for one in found if len(one.tokens) >= _TOKENS]


def pairs(some: list[Function], count: int, chance: random.Random) -> list[tuple[Function, Function]]:
    """Functions that share many rare runs of tokens are compared; no function is in two pairs."""
    having: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, one in enumerate(some):
        for run in set(zip(*(one.tokens[start:] for start in range(4)), strict=False)):
            having[run].append(i)
    shared: Counter[tuple[int, int]] = Counter()
    for places in having.values():
        if len(places) <= 12:
            shared.update((a, b) for at, a in enumerate(places) for b in places[at + 1 :])
    near: defaultdict[int, list[int]] = defaultdict(list)
    for (a, b), times in shared.most_common(_COMPARED):
        if times >= 8:
            near[a].append(b)
            near[b].append(a)
    found, used = [], set()
    for a in chance.sample(sorted(near), len(near)):
        ratios = {b: SequenceMatcher(None, some[a].tokens, some[b].tokens, False).ratio() for b in near[a]}
        b = max(ratios, key=ratios.__getitem__)
        one, other = some[a], some[b]
        apart = one.file != other.file or one.end < other.line or other.end < one.line
        if apart and not {a, b} & used and 0.6 <= ratios[b] <= 0.95:
            found.append((one, other))
            used |= {a, b}
        if len(found) == count:
            break
    return found


def written_otherwise(one: Function, chance: random.Random) -> str:
    names = sorted(set(_NAME.findall(one.code)))
    other = {name: "".join(reversed(name[:3])) + name[3:] + "Of" for name in names if chance.random() < 0.4}
    lines = _NAME.sub(lambda match: other.get(match[0], match[0]), one.code).split("\n")
    del lines[chance.randrange(2, len(lines) - 1)]
    place = chance.randrange(2, len(lines))
    return "\n".join([*lines[:place], lines[place - 1].replace("(", "(checked, "), *lines[place:]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--per", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    total: Counter[str] = Counter()
    for repository in args.repositories:
        chance = random.Random(args.seed)
        with app.open_engine(str(repository)) as engine:
            some = functions(engine)
            for kind, asked in (
                *(("pairs", (SimilarRequest(place=(one.file, one.line)), other)) for one, other in pairs(some, args.per, chance)),
                *(("planted", (SimilarRequest(code=written_otherwise(one, chance)), one))
                  for one in chance.sample(some, min(args.per, len(some)))),
            ):  # fmt: skip
                request, twin = asked
                results = engine.answer("similar", request).results
                rank = next(
                    (i for i, one in enumerate(results) if (one.file, one.qualified_name) == (twin.file, twin.name)), 99
                )
                total[f"{kind} asked"] += 1
                total[f"{kind} first"] += rank == 0
                total[f"{kind} in three"] += rank < 3
                total[f"{kind} said"] += rank < 99 and results[rank].twin
                if rank:
                    print(
                        f"{kind}: {repository.name} {twin.file}:{twin.line} {twin.name} is {rank + 1}; first {results[0] if results else None}"
                    )
                if kind == "planted":
                    without = engine.answer("similar", request._replace(filters=Filters(exclude=(twin.file,)))).results
                    total["said without"] += any(one.twin for one in without)
    for what, count in sorted(total.items()):
        print(f"{what:<16} {count:4}")


if __name__ == "__main__":
    main()
