"""Long questions: an issue's whole text as the query, and the files and functions that its fix changed as the answer.

    python -m tests.quality.long_questions LITE FUNCTIONS REPOS WORK [--mode NAME ...] [--save FILE] [--only TEXT]

LITE is `data/swebench_lite.jsonl` of ITMO-NSS-team/chronorepo_icdm26 (instance, repository, commit, text, patch).
FUNCTIONS is a result file of gersteinlab/LocAgent, whose `meta_data` names the functions that each patch edits. REPOS
has a bare repository OWNER+NAME/repo for each repository that could be had; instances of others are left out. WORK gets
a tree and an index of each instance.

Measures: file Acc@k, whether all changed files are among the first k files of the results; function Acc@k (strict),
whether all edited functions are among the first k results, which hit a function if they are it or are inside of it.
Printed as well: how many queries had fewer than ten results, and the CPU time per query of an index that has answered
before.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lci_py.types.search import SearchRequest
from tests.quality.checkouts import opened

MODES = ("multiview", "bm25", "dense")
_DEPTH = 60  # results that are looked at


class Instance(NamedTuple):
    """An issue and its fix."""

    name: str
    text: str
    files: frozenset[str]
    functions: frozenset[tuple[str, str]]  # (file, qualified name)
    repository: Path
    commit: str


class Outcome(NamedTuple):
    """What a query found."""

    name: str
    files: list[str]  # distinct, best first
    functions: list[tuple[str, str]]
    results: int
    ms: float


def instances(lite: Path, functions: Path, repos: Path) -> Iterator[Instance]:
    """Those whose commit is at hand."""
    edited = {}
    for line in functions.read_text().splitlines():
        item = json.loads(line)
        meta = item["meta_data"] if isinstance(item["meta_data"], dict) else ast.literal_eval(item["meta_data"])
        changes = meta["gt_file_changes"]
        changes = ast.literal_eval(changes) if isinstance(changes, str) else changes
        edited[item["instance_id"]] = [
            name for change in changes for name in change["changes"].get("edited_entities") or ()
        ]
    for line in lite.read_text().splitlines():
        item = json.loads(line)
        repository = repos / item["repo"].replace("/", "+") / "repo"
        if not repository.is_dir() or not _has(repository, item["base_commit"]):
            continue
        files = frozenset(re.findall(r"^--- a/(\S+)", item["patch"], re.M))
        named = (name.partition(":")[::2] for name in edited.get(item["instance_id"], ()))
        yield Instance(
            item["instance_id"], item["problem_statement"], files, frozenset(named), repository, item["base_commit"]
        )  # fmt: skip


def _has(repository: Path, commit: str) -> bool:
    done = subprocess.run(["git", "-C", repository, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True)
    return done.returncode == 0


def tree(instance: Instance, work: Path) -> Path:
    """The instance's files."""
    into = work / instance.name / "tree"
    if not into.exists():
        into.mkdir(parents=True)
        made = subprocess.run(
            ["git", "-C", instance.repository, "archive", instance.commit], capture_output=True, check=True
        )
        with tarfile.open(fileobj=io.BytesIO(made.stdout)) as archive:
            archive.extractall(into, filter="data")
    return into


def measure(found: Sequence[Instance], work: Path, modes: Sequence[str]) -> dict[str, list[Outcome]]:
    """Every query in every mode."""
    made: dict[str, list[Outcome]] = {mode: [] for mode in modes}
    for instance in found:
        with opened(tree(instance, work), work / instance.name) as session:
            for mode in modes:
                # An index that has answered before, but not this question.
                for text in (instance.text, "how is a file opened and read"):
                    session.search(SearchRequest(text, mode, 1, snippet=0))  # type: ignore[arg-type]
                began = time.process_time()
                answer = session.search(SearchRequest(instance.text, mode, _DEPTH, snippet=0))  # type: ignore[arg-type]
                ms = (time.process_time() - began) * 1e3
                files = list(dict.fromkeys(result.file for result in answer.results))
                functions = [(result.file, result.qualified_name or "") for result in answer.results]
                made[mode].append(Outcome(instance.name, files, functions, len(answer.results), ms))
    return made


def figures(found: Sequence[Instance], outcomes: Sequence[Outcome]) -> Mapping[str, float]:
    """The measures by name."""
    made: dict[str, float] = {}
    for k in (1, 5, 10):
        made[f"file@{k}"] = _mean([item.files <= set(got.files[:k]) for item, got in zip(found, outcomes, strict=True)])
    with_functions = [(item, got) for item, got in zip(found, outcomes, strict=True) if item.functions]
    for k in (5, 10):
        made[f"function@{k}"] = _mean([_all(item, got.functions[:k]) for item, got in with_functions])
    times = sorted(got.ms for got in outcomes)
    made["few"] = sum(got.results < 10 for got in outcomes)
    made |= {"p50 ms": times[len(times) // 2], "worst ms": times[-1]}
    return made


def _all(item: Instance, got: Sequence[tuple[str, str]]) -> bool:
    return all(
        any(file == path and (name == wanted or name.startswith(wanted + ".")) for path, name in got)
        for file, wanted in ((file, _dotted(file, wanted)) for file, wanted in item.functions)
    )


def _dotted(file: str, name: str) -> str:
    return name.replace("::", ".")


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("lite", type=Path)
    ap.add_argument("functions", type=Path)
    ap.add_argument("repos", type=Path)
    ap.add_argument("work", type=Path)
    ap.add_argument("--mode", action="append", choices=MODES)
    ap.add_argument("--only", default="", help="instances whose name has this text")
    ap.add_argument("--misses", action="store_true", help="print where the first changed file is")
    args = ap.parse_args()
    found = [item for item in instances(args.lite, args.functions, args.repos) if args.only in item.name]
    modes = args.mode or MODES
    made = measure(found, args.work, modes)
    for mode in modes:
        shown = figures(found, made[mode])
        print(f"{mode:10s} {len(found)} issues  " + "  ".join(f"{name} {value:.3f}" for name, value in shown.items()))
        if args.misses:
            for item, got in zip(found, made[mode], strict=True):
                ranks = [got.files.index(file) + 1 if file in got.files else 0 for file in sorted(item.files)]
                if not ranks or min(ranks) == 0 or max(ranks) > 5:
                    print(f"  {item.name} {ranks} {sorted(item.files)} first: {got.files[:3]} {item.text[:90]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
