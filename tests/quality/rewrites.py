"""What rewrites add to questions that use another form of a name than the code does.

    python -m tests.quality.rewrites FOLDER [-v]

FOLDER has a checkout of each repository of `data/rewrites.json`, with the name and at the revision given there. Prints,
per repository, NDCG@10 of the files that answer the questions, in multiview without rewrites and with them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from lci_py.search.engine import Engine
from lci_py.search.modes import multiview
from lci_py.search.query.rewrites import NO_WORDING
from lci_py.types.search import SearchRequest
from tests.quality.checkouts import KEPT, opened

DATA = Path(__file__).parent / "data" / "rewrites.json"
TOP = 10


class Asked(NamedTuple):
    """A question, and how well it was answered without rewrites and with them."""

    repository: str
    text: str
    before: float
    after: float
    rewrites: tuple[str, ...]


def ndcg(found: Sequence[str], wanted: Sequence[str]) -> float:
    """NDCG@10: a wanted file has the rank of its first result, and all wanted files have the same gain."""
    ranks = [found.index(file) for file in wanted if file in found[:TOP]]
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(TOP, len(wanted))))
    return sum(1 / math.log2(rank + 2) for rank in ranks) / ideal


def asked(session: Engine, repository: str, query: Mapping[str, Any]) -> Asked:
    """Search one question without rewrites and with them."""
    request = SearchRequest(query["query"], "multiview", TOP, snippet=0)
    with mock.patch.object(multiview, "look_up", lambda *_, **__: NO_WORDING):
        before = session.search(request)
    after = session.search(request)
    scores = (ndcg([result.file for result in answer.results], query["files"]) for answer in (before, after))
    return Asked(repository, query["query"], *scores, rewrites=tuple((after.plan or {})["rewrites"]))


def report(questions: Sequence[Asked]) -> Iterator[str]:
    """A row per repository, and one of all."""
    names = list(dict.fromkeys(question.repository for question in questions))
    width = max(map(len, [*names, "all"])) + 2
    yield f"{'NDCG@10':{width}}{'n':>4}{'without':>10}{'with':>10}{'gain':>9}   better, worse"
    for name in [*names, "all"]:
        some = [question for question in questions if name in ("all", question.repository)]
        before, after = (sum(values) / len(some) for values in zip(*((q.before, q.after) for q in some), strict=True))
        better, worse = sum(q.after > q.before for q in some), sum(q.after < q.before for q in some)
        yield f"{name:{width}}{len(some):>4}{before:>10.3f}{after:>10.3f}{after - before:>+9.3f}   {better}, {worse}"


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("folder", type=Path)
    ap.add_argument("--data", type=Path, default=DATA, help="another file of questions")
    ap.add_argument("-v", "--verbose", action="store_true", help="every question with its rewrites")
    args = ap.parse_args()
    data = json.loads(args.data.read_text())
    questions: list[Asked] = []
    for name in data["repositories"]:
        root = args.folder / name
        if not root.is_dir():
            print(f"{name}: left out, it is not in {args.folder}", file=sys.stderr)
            continue
        with opened(root, KEPT / "rewrites" / name) as session:
            queries = [query for query in data["queries"] if query["repository"] == name]
            missing = {file for query in queries for file in query["files"]} - set(session.snapshot.unit_table.paths)
            for file in sorted(missing):
                print(f"cannot be found: {name}: {file}", file=sys.stderr)
            questions += [asked(session, name, query) for query in queries]
    if not questions:
        ap.error(f"nothing to measure in {args.folder}")
    print("\n".join(report(questions)))
    for q in questions if args.verbose else ():
        print(f"{q.before:.2f} {q.after:.2f}  {q.repository}: {q.text}  [{'; '.join(q.rewrites)}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
