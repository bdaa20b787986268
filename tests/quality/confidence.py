"""How well the confidence of an answer tells questions about a repository from questions about another one.

    python -m tests.quality.confidence ANNOTATIONS REPOS [--foreign 40] [--seed 3] [--views]

ANNOTATIONS has `NAME.json`, lists of `{"query": …}`; REPOS/NAME/ is an indexed checkout, or has one below it. Every
repository is asked its own questions and a sample of those of the others. Prints the AUC of the closest score, the part
of the foreign questions that is flagged where 5 % of the own ones are, by leaving repositories out, and what the levels
say. With --views, only how often the views lead to different places (`search/conflicts/values.py`), how often the first
result is right then, and how often where they do not.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np

from lci_py import app
from lci_py.search.ranking import confidence as rule
from lci_py.types.search import SearchRequest

#: A question's repository, whether it is its own, its closest score, and the level of its answer.
_Asked = tuple[str, bool, float, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotations", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--foreign", type=int, default=40)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--views", action="store_true")
    args = parser.parse_args()
    if args.views:
        _views(args.annotations, args.repos)
        return
    questions = {
        path.stem: [item["query"] for item in json.loads(path.read_text())] for path in args.annotations.glob("*.json")
    }
    rng, asked = random.Random(args.seed), []
    for name in sorted(questions):
        if (root := _indexed(args.repos / name)) is None:
            continue
        others = [query for other in sorted(questions) if other != name for query in questions[other]]
        with app.open_engine(str(root)) as engine:
            for own, queries in ((True, questions[name]), (False, rng.sample(others, args.foreign))):
                asked += [_ask(engine, name, query, own) for query in queries]
    _report(asked)


def _indexed(folder: Path) -> Path | None:
    return next((found.parent for found in sorted(folder.rglob(".lci"))), None)


def _views(annotations: Path, repos: Path) -> None:
    right: dict[bool, list[bool]] = {True: [], False: []}
    for path in sorted(annotations.glob("*.json")):
        if (root := _indexed(repos / path.stem)) is None:
            continue
        with app.open_engine(str(root)) as engine:
            for item in json.loads(path.read_text()):
                answer = engine.search(SearchRequest(item["query"], "multiview", 1, snippet=0, conflicts=True))
                files = [one if isinstance(one, str) else one["path"] for one in item["relevant"]]
                first = answer.results[0].file if answer.results else ""
                disagree = any("views lead" in one["reasoning"] for one in answer.conflicts)
                right[disagree].append(any(f"/{file}".endswith(f"/{first}") for file in files))
    for disagree, found in right.items():
        print(f"views {'disagree' if disagree else 'agree'}: {len(found)} questions, first right {np.mean(found):.3f}")


def _ask(engine: app.Engine, name: str, query: str, own: bool) -> _Asked:
    found = engine.search(SearchRequest(query, "multiview", 10, snippet=0)).confidence
    dense = engine.snapshot.dense
    from lci_py.search.query.text import read_text

    hits = dense.search(read_text(query), 1, None)
    return name, own, float(hits.scores[0]) if len(hits) else 0.0, found.level if found is not None else "low"


def _report(asked: list[_Asked]) -> None:
    repos = np.array([row[0] for row in asked])
    own, scores = np.array([row[1] for row in asked]), np.array([row[2] for row in asked])
    higher = (scores[own][:, None] > scores[~own]).mean() + (scores[own][:, None] == scores[~own]).mean() / 2
    flagged: list[bool] = []
    wrong: list[bool] = []
    for name in sorted(set(repos)):
        out = repos == name
        least = np.quantile(scores[~out & own], 0.05)
        flagged += list(scores[out & ~own] < least)
        wrong += list(scores[out & own] < least)
    print(f"{own.sum()} own and {(~own).sum()} foreign questions, AUC {higher:.3f}")
    print(f"left out: {np.mean(flagged):.3f} of the foreign flagged, {np.mean(wrong):.3f} of the own")
    for kind, mask in (("own", own), ("foreign", ~own)):
        levels = [row[3] for row, wanted in zip(asked, mask, strict=True) if wanted]
        print(f"{kind:8}", {level: round(levels.count(level) / len(levels), 3) for level in ("high", "medium", "low")})
    print(f"thresholds {rule.LOW}, {rule.HIGH}")


if __name__ == "__main__":
    main()
