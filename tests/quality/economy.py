"""What an agent pays: tokens printed until the right definition is on the screen, and the commands it takes.

    python -m tests.quality.economy BENCH REPOS [--per-kind N] [--only REPOSITORY] [--seed N] [--misses]

The cases are the known items of `known.py` (10 of each kind per repository) and those judged queries whose answer has
lines. A definition is on the screen when its lines are, the first 60 of them, whatever else was printed before; for a
literal, its line; for a judged range, which may hold several definitions and the lines between them, half of it. A token is four bytes; who has paid 20,000 gives up. Two policies, both below, both without a model:

    lci     `lci search -m multiview -n 5 QUERY`, then `lci show FILE:LINE` down the list; then the next five
    rg      `rg -n` for the content words of the query (its output is read up to 2,000 tokens), then the files by distinct
            words, then by lines that match, of each the windows of 60 lines that have matches; two thirds of a page
    rg -c   the same, but the first command only counts the lines of each file, which is cheaper

It also prints the tokens of a multiview answer of five results, as text in a pipe and as JSON, for these cases.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lci_py.render.json.answer import dumps, search as parts
from lci_py.render.text import results as search_text, show as show_text
from lci_py.render.text.style import Page
from lci_py.render.token_budget import tokens
from lci_py.search.engine import Engine
from lci_py.types.search import SearchRequest
from lci_py.types.show import ShowRequest, Target
from tests.quality.judged import Benchmark, _module
from tests.quality.known import items

CAP = 20_000
_WINDOW = 60
#: Tokens of a listing that are read: tools cut what is longer.
_LISTING = 2_000
_FIRST, _PAGES = 5, 10
#: Words of a question that nobody would search for.
_STOP = frozenset(
    "a an and are as at be been by can do does for from get has have how if in into is it its may must no not of on or "
    "set so than that the their them then there these this to up use used using was what when where which who why will "
    "with you your given returns return whether".split()
)
POLICIES = ("lci", "rg", "rg -c")


class Case(NamedTuple):
    kind: str
    query: str
    path: str
    lines: tuple[int, int]


class Paid(NamedTuple):
    """Tokens and commands until the answer was there; `found` is False if it never was."""

    tokens: int
    commands: int
    found: bool


class Screen:
    """What has been printed so far."""

    def __init__(self, case: Case) -> None:
        self._missing = set(range(case.lines[0], case.lines[1] + 1))
        self._enough = len(self._missing) // 2 if case.kind == "judged" else 0
        self._path = case.path
        self.paid = self.commands = 0

    @property
    def done(self) -> bool:
        return len(self._missing) <= self._enough

    @property
    def over(self) -> bool:
        return self.paid > CAP

    def show(self, cost: int, lines: Sequence[tuple[str, range]]) -> None:
        self.paid += cost
        self.commands += 1
        for path, numbers in lines:
            if path == self._path:
                self._missing.difference_update(numbers)

    def result(self) -> Paid:
        return Paid(min(self.paid, CAP), self.commands, self.done and not self.over)


# --- the policies -----------------------------------------------------------------------------------------------


def with_lci(session: Engine, case: Case, sizes: dict[str, list[int]]) -> Paid:
    screen, shown = Screen(case), set()
    for page in range(_PAGES):
        request = SearchRequest(case.query, "multiview", _FIRST, snippet=2, offset=page * _FIRST)
        answer = session.search(request)
        held = io.StringIO()
        search_text.render(answer, Page(held))
        cost = tokens(held.getvalue())
        if not page:
            sizes["text"].append(cost)
            sizes["JSON"].append(tokens(dumps(parts(answer).whole())))
        lines = []
        for found in answer.results:
            start = found.snippet_line or found.line
            lines.append((found.file, range(start, start + found.snippet.count("\n") + 1 if found.snippet else start)))
        screen.show(cost, lines)
        for found in answer.results:
            if screen.done or screen.over:
                return screen.result()
            if (place := (found.file, found.line)) in shown:
                continue
            shown.add(place)
            target = Target(f"{found.file}:{found.line}", "", found.file, (found.line, None))
            body = session.answer("show", ShowRequest((target,)))
            held = io.StringIO()
            show_text.render(body, Page(held))
            seen = [(item.file, range(item.start, item.start + len(item.lines))) for item in body.results]
            screen.show(tokens(held.getvalue()), seen)
        if not answer.has_more:
            break
    return screen.result()


def with_rg(root: Path, case: Case, *, count: bool) -> Paid:
    screen = Screen(case)
    words = content_words(case.query)
    if not words:
        return screen.result()
    patterns = [part for word in words for part in ("-e", re.escape(word))]
    run = subprocess.run(
        ["rg", "-n", "-i", "--no-heading", "--sort", "path", *patterns, "."], cwd=root, capture_output=True
    )
    hits: dict[str, dict[int, str]] = defaultdict(dict)
    listing, printed = 0, []
    for raw in run.stdout.decode("utf-8", "replace").splitlines():
        found = re.match(r"\./(.*?):(\d+):(.*)", raw)
        if not found:
            continue
        path, number, text = found[1], int(found[2]), found[3]
        hits[path][number] = text.lower()
        if listing < _LISTING:
            listing += tokens(raw + "\n")
            printed.append((path, range(number, number + 1)))
    if count:
        held = "".join(f"{path}:{len(lines)}\n" for path, lines in sorted(hits.items()))
        listing, printed = min(tokens(held), _LISTING), []
    screen.show(min(listing, _LISTING), printed)

    def worth(path: str) -> tuple[int, int, str]:
        texts = hits[path].values()
        distinct = sum(any(word in text for text in texts) for word in words)
        return (-distinct, -len(hits[path]), path)

    for path in sorted(hits, key=worth):
        file = (root / path).read_bytes().decode("utf-8", "replace").splitlines()
        end = 0
        for number in sorted(hits[path]):
            if screen.done or screen.over:
                return screen.result()
            if number <= end:
                continue
            first = max(end + 1, number - 5, 1)
            end = min(len(file), first + _WINDOW - 1)
            text = "".join(f"{at}: {line}\n" for at, line in enumerate(file[first - 1 : end], first))
            screen.show(tokens(text), [(path, range(first, end + 1))])
    return screen.result()


def content_words(query: str) -> list[str]:
    """The words worth searching for, each once; the query itself if it is one word."""
    found = [word.lower() for word in re.findall(r"\w+", query)]
    kept = [word for word in found if word not in _STOP and len(word) > 1]
    return list(dict.fromkeys(kept or found))


# --- the cases --------------------------------------------------------------------------------------------------


def cases(benchmark: Benchmark, maker: Any, name: str, per_kind: int, seed: str) -> Iterator[Case]:
    root = benchmark.roots[name]
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for item in items(root, name, seed, maker):
        by_kind[item[0]].append(item)
    ends = _ends(root, name, sorted({item[2] for each in by_kind.values() for item in each}))
    rng = random.Random(f"economy:{seed}:{name}")
    for kind, each in by_kind.items():
        for _, query, path, line in rng.sample(each, min(per_kind, len(each))):
            last = line if kind == "string" else ends.get(f"{path}:{line}", line)
            yield Case(kind, query, path, (line, min(last, line + _WINDOW - 1)))
    for task in benchmark.tasks(name):
        spans = [target for target in task.targets if target.get("start_line")]
        if spans:
            first, last, path = spans[0]["start_line"], spans[0]["end_line"], spans[0]["path"]
            # Judged paths start at the repository, checkouts hold a folder of it.
            parts_of = path.split("/")
            inside = ("/".join(parts_of[at:]) for at in range(len(parts_of)))
            path = next((some for some in inside if (root / some).is_file()), path)
            yield Case("judged", task.query, path, (first, min(last, first + _WINDOW - 1)))


def _ends(root: Path, name: str, files: Sequence[str]) -> dict[str, int]:
    """The last line of each definition, by its place, from Universal Ctags."""
    run = subprocess.run(
        ["ctags", "--output-format=json", "--fields=+ne", "-f", "-", "-L", "-"],
        input="\n".join(files), cwd=root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = {}
    for raw in run.stdout.splitlines():
        try:
            tag = json.loads(raw)
        except ValueError:
            continue
        if "end" in tag and "line" in tag:
            found[f"{tag['path']}:{tag['line']}"] = int(tag["end"])
    return found


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("bench", type=Path)
    ap.add_argument("repos", type=Path)
    ap.add_argument("--per-kind", type=int, default=10)
    ap.add_argument("--seed", default="1")
    ap.add_argument("--only", action="append", default=[])
    ap.add_argument("--misses", action="store_true", help="print what lci does not find within 2,000 tokens")
    args = ap.parse_args()
    benchmark = Benchmark(args.bench, args.repos, only=args.only)
    maker = _module(args.bench / "known.py")
    found: dict[str, dict[str, list[Paid]]] = {policy: defaultdict(list) for policy in POLICIES}
    sizes: dict[str, list[int]] = defaultdict(list)
    for name, session in benchmark.sessions():
        root = benchmark.roots[name]
        ways: dict[str, Callable[[Case], Paid]] = {
            "lci": lambda case, session=session: with_lci(session, case, sizes),  # type: ignore[misc]
            "rg": lambda case, root=root: with_rg(root, case, count=False),  # type: ignore[misc]
            "rg -c": lambda case, root=root: with_rg(root, case, count=True),  # type: ignore[misc]
        }
        for case in cases(benchmark, maker, name, args.per_kind, args.seed):
            for policy, way in ways.items():
                paid = way(case)
                found[policy][case.kind].append(paid)
                if args.misses and policy == "lci" and not (paid.found and paid.tokens <= 2_000):
                    print(f"  {name} {case.kind}: {case.query!r} at {case.path}:{case.lines[0]}: {paid.tokens:,}")
    kinds = sorted(found["lci"])
    print(f"{'':8s}{'policy':8s}{'cases':>6s}{'median':>8s}{'<= 2,000':>9s}{'found':>7s}{'commands':>9s}")
    for kind in [*kinds, "all"]:
        for policy in POLICIES:
            paid = [one for each in kinds if kind in (each, "all") for one in found[policy][each]]
            print(_row(kind, policy, paid))
    mine, other = (_median([one for each in found[policy].values() for one in each]) for policy in ("lci", "rg"))
    counted = _median([one for each in found["rg -c"].values() for one in each])
    print(f"lci / rg {mine / other:.2f}, lci / rg -c {mine / counted:.2f}")
    print("an answer of five: " + ", ".join(f"{how} {statistics.median(cost):,.0f}" for how, cost in sizes.items()))
    return 0


def _median(paid: Sequence[Paid]) -> float:
    return statistics.median(one.tokens if one.found else CAP for one in paid)


def _row(kind: str, policy: str, paid: Sequence[Paid]) -> str:
    cheap = sum(one.found and one.tokens <= 2_000 for one in paid) / len(paid)
    all_found = sum(one.found for one in paid) / len(paid)
    commands = statistics.median(one.commands for one in paid)
    return f"{kind:8s}{policy:8s}{len(paid):6d}{_median(paid):8,.0f}{cheap:9.2f}{all_found:7.2f}{commands:9.0f}"


if __name__ == "__main__":
    sys.exit(main())
