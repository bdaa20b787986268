"""Long questions: an issue's whole text as the query, and the files and functions that its fix changed as the answer.

    python -m tests.quality.long_questions LITE REPOS WORK [--mode NAME ...] [--only TEXT] [--misses]

LITE is `data/swebench_lite.jsonl` of ITMO-NSS-team/chronorepo_icdm26 (instance, repository, commit, text, patch).
REPOS has a bare repository OWNER+NAME/repo for each repository that could be had; instances of others are left out.
WORK gets a tree and an index of each instance. The changed functions are those of the tree before the fix that have a
line that the patch removes, or between whose lines it adds one: methods and functions of modules, with all inside them.

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


def instances(lite: Path, repos: Path) -> Iterator[Instance]:
    """Those whose commit is at hand."""
    for line in lite.read_text().splitlines():
        item = json.loads(line)
        repository = repos / item["repo"].replace("/", "+") / "repo"
        if not repository.is_dir() or not _has(repository, item["base_commit"]):
            continue
        functions = set()
        patches = re.split(r"^diff --git .*\n", item["patch"], flags=re.M)[1:]
        changed = {match[1]: patch for patch in patches if (match := re.search(r"^--- a/(\S+)", patch, re.M))}
        for path, patch in changed.items():
            if path.endswith(".py"):
                shown = ["git", "-C", repository, "show", f"{item['base_commit']}:{path}"]
                source = subprocess.run(shown, capture_output=True, check=True).stdout.decode()
                functions |= {(path, name) for name in changed_functions(source, patch)}
        text, commit = item["problem_statement"], item["base_commit"]
        yield Instance(item["instance_id"], text, frozenset(changed), frozenset(functions), repository, commit)


def changed_functions(source: str, patch: str) -> set[str]:
    """The qualified names of the functions of a Python file that the patch of it changes."""
    functions = list(_functions(ast.parse(source)))
    names = set()
    at, removes = 0, False
    for line in patch.splitlines():
        if match := re.match(r"@@ -(\d+)(,0)?", line):
            at, removes = int(match[1]) + (match[2] is not None), False
        elif line.startswith("+") and not line.startswith("+++") and not removes and line[1:].strip():
            # Behind the last line of a function, only what is indented more than its `def` belongs to it.
            indent = len(line[1:]) - len(line[1:].lstrip())
            blank = next(i for i in range(at - 1, -1, -1) if i == 0 or source.splitlines()[i - 1].strip())
            names |= {name for name, first, last, column in functions if first <= blank <= last and indent > column}
        elif line.startswith("-") and not line.startswith("---"):
            names |= {name for name, first, last, _ in functions if first <= at <= last}
            at, removes = at + 1, True
        elif line.startswith(" "):
            at, removes = at + 1, False
    return names


def _functions(module: ast.Module) -> Iterator[tuple[str, int, int, int]]:
    """The functions of a module and the methods of its classes: name, first and last line, column of `def`."""
    waiting: list[tuple[ast.AST, str]] = [(module, "")]
    for node, scope in waiting:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(item.lineno for item in child.decorator_list)])
                yield scope + child.name, first, child.end_lineno or first, child.col_offset
            else:
                inner = f"{scope}{child.name}." if isinstance(child, ast.ClassDef) else scope
                waiting.append((child, inner))


def _has(repository: Path, commit: str) -> bool:
    done = subprocess.run(["git", "-C", repository, "cat-file", "-e", f"{commit}^{{commit}}"], capture_output=True)
    return done.returncode == 0


def tree(instance: Instance, work: Path) -> Path:
    """The instance's files; a repository may lack the largest."""
    into = work / instance.name / "tree"
    if not into.exists():
        git = ["git", "-C", str(instance.repository)]
        listed = subprocess.run([*git, "ls-tree", "-rz", instance.commit], capture_output=True, check=True).stdout
        rows = [row.partition(b"\t") for row in listed.split(b"\0") if b" blob " in row]
        asked = b"".join(head.split()[2] + b"\n" for head, _, _ in rows)
        blobs = io.BytesIO(
            subprocess.run([*git, "cat-file", "--batch"], input=asked, capture_output=True, check=True).stdout
        )
        for head, _, path in rows:
            said = blobs.readline().split()
            if said[1] == b"missing":
                continue
            content = blobs.read(int(said[2]) + 1)[:-1]
            if not head.startswith(b"120000"):
                (into / path.decode()).parent.mkdir(parents=True, exist_ok=True)
                (into / path.decode()).write_bytes(content)
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
        for file, wanted in item.functions
    )


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("lite", type=Path)
    ap.add_argument("repos", type=Path)
    ap.add_argument("work", type=Path)
    ap.add_argument("--mode", action="append", choices=MODES)
    ap.add_argument("--only", default="", help="instances whose name has this text")
    ap.add_argument("--misses", action="store_true", help="print where the first changed file is")
    args = ap.parse_args()
    found = [item for item in instances(args.lite, args.repos) if args.only in item.name]
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
