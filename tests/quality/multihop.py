"""Whether search finds the place that a question is after if the question describes another place, linked to it.

    python -m tests.quality.multihop FOLDER [--only NAME] [--data FILE] [--mode MODE] [-v]

FOLDER has a checkout of each repository of data/multihop.json under its `name`; missing ones are left out. Every
question describes one place (`asked`) and wants another, which calls, imports or inheritance link to the first
(`bridges`; each of several is an answer). Both were found by reading the code at the given revision. The repositories
of the split `test` are for judging only: nothing was ever tuned by them.

A place is found if one of the first ten results is in its file and overlaps its definition, so that a class counts for
its methods. By the measure `itself`, the result must be the definition or lie inside it; by `file`, any result in the
file counts. All figures are shares of the questions. There is no pass mark: the exit status is 0 unless nothing can be
run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lci_py.search.engine import Engine
from lci_py.types.search import Mode, Result, SearchRequest
from tests.quality.checkouts import KEPT, opened

DATA = Path(__file__).resolve().parent / "data" / "multihop.json"
MODES: tuple[Mode, ...] = ("dense", "bm25", "multiview")
TOP = 10
#: The split that must not be used for tuning.
JUDGED_ONLY = "test"
#: A place below this rank counts as not found.
_SEEN = 100
MEASURES = ("bridge", "itself", "file", "asked")


class Place(NamedTuple):
    """A definition that the data names, with its lines in the index: several ranges for overloads."""

    file: str
    symbol: str
    spans: tuple[tuple[int, int], ...]

    def overlaps(self, result: Result) -> bool:
        return result.file == self.file and any(
            result.line <= last and first <= result.end_line for first, last in self.spans
        )

    def is_at(self, result: Result) -> bool:
        return result.file == self.file and any(
            first <= result.line and result.end_line <= last for first, last in self.spans
        )


class Question(NamedTuple):
    """One judged question; `ranks` has mode to measure to the rank of its first hit, None for none."""

    repository: str
    split: str
    text: str
    hops: int
    ranks: dict[str, dict[str, int | None]]

    def found(self, mode: str, measure: str) -> bool:
        rank = self.ranks[mode][measure]
        return rank is not None and rank <= TOP


def measured(
    spec: Mapping[str, Any], session: Engine, modes: Sequence[Mode], problems: list[str]
) -> Iterator[Question]:
    """All questions of a repository with their ranks. Names that the index lacks are added to `problems`."""
    for item in spec["questions"]:
        asked = _place(session, item["asked"])
        bridges = [_place(session, bridge) for bridge in item["bridges"]]
        for place in (asked, *bridges):
            if not place.spans:
                problems.append(f"{spec['name']}: no {place.symbol} in {place.file}")
        ranks = {}
        for mode in modes:
            answer = session.search(SearchRequest(item["question"], mode, _SEEN, snippet=0))
            ranks[mode] = _ranks(answer.results, asked, bridges)
        yield Question(spec["name"], spec["split"], item["question"], item["hops"], ranks)


def _place(session: Engine, named: Mapping[str, str]) -> Place:
    symbol = named["symbol"]
    spans = [
        (row["line"], row["end_line"])
        for row in session.snapshot.symbols.in_files([named["file"]])
        if row["qualified_name"] == symbol or row["qualified_name"].endswith("." + symbol)
    ]
    return Place(named["file"], symbol, tuple(spans))


def _ranks(results: Sequence[Result], asked: Place, bridges: Sequence[Place]) -> dict[str, int | None]:
    files = {bridge.file for bridge in bridges}
    tests = {
        "bridge": lambda result: any(bridge.overlaps(result) for bridge in bridges),
        "itself": lambda result: any(bridge.is_at(result) for bridge in bridges),
        "file": lambda result: result.file in files,
        "asked": asked.overlaps,
    }
    return {
        name: next((k for k, result in enumerate(results, 1) if test(result)), None) for name, test in tests.items()
    }


def recall(questions: Sequence[Question], mode: str, measure: str) -> float:
    """The share of questions whose place is among the first ten."""
    return sum(question.found(mode, measure) for question in questions) / len(questions)


def report(questions: Sequence[Question], modes: Sequence[str]) -> Iterator[str]:
    """The tables: each split by repository, and both splits together by measure."""
    splits = list(dict.fromkeys(question.split for question in questions))
    width = max(len(name) for question in questions for name in (question.repository, question.split)) + 2
    yield f"recall@{TOP} of the bridging place"
    yield from _header(width, modes)
    for split in splits:
        of_split = [question for question in questions if question.split == split]
        for name in dict.fromkeys(question.repository for question in of_split):
            yield _row(name, width, [question for question in of_split if question.repository == name], modes)
        yield _row(split.upper(), width, of_split, modes)
    if len(splits) > 1:
        yield _row("ALL", width, questions, modes)
    for hops in (1, 2):
        if some := [question for question in questions if question.hops == hops]:
            yield _row(f"{hops} hop{'s' * (hops > 1)}", width, some, modes)
    for measure in MEASURES[1:]:
        title = {"itself": "the bridge itself", "file": "the bridge's file", "asked": "the place asked about"}[measure]
        yield f"\nrecall@{TOP} of {title}"
        yield from _header(width, modes)
        for split in splits:
            yield _row(split.upper(), width, [q for q in questions if q.split == split], modes, measure)
        if len(splits) > 1:
            yield _row("ALL", width, questions, modes, measure)


def _header(width: int, modes: Sequence[str]) -> Iterator[str]:
    against = f"{'to best single mode':>24}" if "multiview" in modes and len(modes) > 1 else ""
    yield f"{'':{width}}{'n':>4}" + "".join(f"{mode:>11}" for mode in modes) + against


def _row(name: str, width: int, questions: Sequence[Question], modes: Sequence[str], measure: str = "bridge") -> str:
    shares = {mode: recall(questions, mode, measure) for mode in modes}
    text = f"{name:{width}}{len(questions):>4}" + "".join(f"{share:>11.3f}" for share in shares.values())
    singles = [mode for mode in modes if mode != "multiview"]
    if not singles or "multiview" not in modes:
        return text
    best = max(singles, key=lambda mode: shares[mode])
    won = sum(q.found("multiview", measure) and not q.found(best, measure) for q in questions)
    lost = sum(q.found(best, measure) and not q.found("multiview", measure) for q in questions)
    return f"{text}{shares['multiview'] - shares[best]:>+10.3f} (+{won} -{lost} {best})"


def details(questions: Sequence[Question], modes: Sequence[str]) -> Iterator[str]:
    """Print every question with the rank of the bridge and, after a slash, of the place that it describes."""
    yield "ranks: bridge/asked, - for none of the first 100\n" + " ".join(f"{mode:>9}" for mode in modes)
    for question in questions:
        cells = [f"{_told(ranks['bridge'])}/{_told(ranks['asked'])}" for ranks in question.ranks.values()]
        yield " ".join(f"{cell:>9}" for cell in cells) + f"  {question.repository} {question.hops}: {question.text}"


def _told(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path)
    ap.add_argument("--data", type=Path, default=DATA, help="another file of questions")
    ap.add_argument("--only", action="append", help="only this repository, or this split; repeatable")
    ap.add_argument("--mode", action="append", help=f"only this mode; repeatable. If left out: {', '.join(MODES)}")
    ap.add_argument("-v", "--verbose", action="store_true", help="every question, with its ranks")
    args = ap.parse_args()
    questions: list[Question] = []
    problems: list[str] = []
    modes = [mode for mode in MODES if not args.mode or mode in args.mode]
    for spec in json.loads(args.data.read_text()):
        if args.only and not {spec["name"], spec["split"]} & set(args.only):
            continue
        if not (args.folder / spec["name"]).is_dir():
            print(f"{spec['name']}: left out, it is not in {args.folder}", file=sys.stderr)
            continue
        with opened(args.folder / spec["name"], KEPT / "multihop" / spec["name"]) as session:
            questions += measured(spec, session, modes, problems)
    if not questions or not modes:
        ap.error(f"nothing to measure in {args.folder}")
    print("\n".join(report(questions, modes)))
    if args.verbose:
        listed = [q for q in questions if q.split != JUDGED_ONLY or args.only]
        print("\n" + "\n".join(details(listed, modes)))
    for problem in dict.fromkeys(problems):
        print(f"cannot be found: {problem}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
