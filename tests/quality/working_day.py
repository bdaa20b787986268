"""Questions of a working day: what is first, and what is not among ten.

    python -m tests.quality.working_day CHECKOUTS WORK [--questions FILE] [--mode NAME ...] [--misses]

The questions and their answers are in `data/working_day.json`; those in `data/working_day_blind.json` are of three other
repositories, and nothing was chosen by them. The answers were written from the source and ripgrep before any search. CHECKOUTS holds OWNER+NAME, the tree of each repository at its revision (`git archive REVISION`); WORK
gets the indexes. An answer is `path`, `path:Qualified.name` (the definition, or what is inside of it) or `path~text` (a
result whose lines have the text); any of a question's answers counts.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from lci_py.types.search import Result, SearchRequest
from tests.quality.checkouts import opened

QUESTIONS = Path(__file__).parent / "data" / "working_day.json"
MODES = ("multiview", "bm25", "dense")
_DEPTH = 10


def answers(root: Path, result: Result, answer: str) -> bool:
    """Whether a result is what an answer names."""
    path, _, text = answer.partition("~")
    path, _, name = path.partition(":")
    if result.file != path:
        return False
    if text:
        lines = (root / path).read_text(errors="replace").splitlines()[result.line - 1 : result.end_line]
        return any(text in line for line in lines)
    own = f".{result.qualified_name or result.symbol or ''}."
    return not name or f".{name}." in own


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("checkouts", type=Path)
    ap.add_argument("work", type=Path)
    ap.add_argument("--questions", type=Path, default=QUESTIONS)
    ap.add_argument("--mode", action="append", choices=MODES)
    ap.add_argument("--misses", action="store_true", help="print what is not first")
    args = ap.parse_args()
    ranks: dict[str, list[int]] = {mode: [] for mode in args.mode or MODES}
    for item in json.loads(args.questions.read_text()):
        name = item["repository"].replace("/", "+")
        root = args.checkouts / name
        with opened(root, args.work / name) as session:
            for mode, found in ranks.items():
                for asked in item["questions"]:
                    results = session.search(SearchRequest(asked["question"], mode, _DEPTH, snippet=0)).results
                    hits = (any(answers(root, one, answer) for answer in asked["answers"]) for one in results)
                    rank = next((place for place, hit in enumerate(hits, 1) if hit), 0)
                    found.append(rank)
                    if args.misses and rank != 1:
                        first = f"{results[0].file}:{results[0].line}" if results else "nothing"
                        print(f"  {mode} {name} {rank or '-'} {asked['question']!r} first: {first}")
    for mode, found in ranks.items():
        first, missing = found.count(1) / len(found), found.count(0) / len(found)
        print(f"{mode:10s} {len(found)} questions  first {first:.3f}  not in ten {missing:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
