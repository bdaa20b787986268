"""Our call graph of a Go module of many packages against `callgraph -algo static` of golang.org/x/tools.

    python -m tests.quality.callgraph go_module FOLDER [--truth FILE]

FOLDER is the module's folder, with its go.mod. `go` and `callgraph` must be on PATH, and `go list` must find what the
module requires. FILE has the output of this command, run in FOLDER for the packages that `go list` can load:

    callgraph -algo static -format $'{{.Caller}}\t{{.Callee}}\t{{.Filename}}:{{.Line}}' $(go list ./...)

Edges are pairs of functions `folder:f` or `folder:T.m`. The conventions are those of `callgraph_go`; besides, calls by
`init` and by initialisers of variables are left out. The second table has the edges between packages only.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from lci_py.types.search import FUNCTION_KINDS
from tests.quality.callgraph_go import _DYNAMIC, _FORMAT, _around
from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import Function, read_graph

_METHOD = re.compile(r"\(\*?(?P<package>[\w./-]+)\.(?P<type>\w+)\)\.(?P<name>\w+)$")
_FUNCTION = re.compile(r"(?P<package>(?:[\w.-]+/)*[\w-]+)\.(?:(?P<type>\w+)\.)?(?P<name>\w+)$")


def compare(folder: Path, truth: Path | None) -> list[Score]:
    """Both tables: edges within packages, and those between them."""
    module = _run(folder, "go", "list", "-m").strip()
    listed = _run(folder, "go", "list", "-e", "-f", "{{.ImportPath}} {{range .GoFiles}}{{.}} {{end}}", "./...")
    files: set[str] = set()
    for package, *names in map(str.split, listed.splitlines()):
        inside = package.removeprefix(module).lstrip("/")
        files.update(f"{inside}/{name}".lstrip("/") for name in names)
    packages = [line.split()[0] for line in listed.splitlines()]
    rows = (
        truth.read_text("utf-8")
        if truth is not None
        else _run(folder, "callgraph", "-algo", "static", "-format", _FORMAT, *packages)
    )
    expected: set[Edge] = set()
    known: set[str] = set()
    for row in rows.splitlines():
        ends = [_name(end, module) for end in row.split("\t")[:2]]
        known.update(filter(None, ends))
        if all(ends) and ends[0] != ends[1] and not re.search(r":init\b", ends[0]):
            expected.add((ends[0], ends[1]))
    graph = read_graph(folder)
    ours: dict[Edge, str] = {}
    for edge in graph.edges:
        caller, callee = _around(edge.caller, graph), _around(edge.callee, graph)
        if not {caller.path, callee.path} <= files or not {caller.kind, callee.kind} <= FUNCTION_KINDS:
            continue
        pair = (_own(caller), _own(callee))
        around = graph.functions.get(edge.callee.around)
        dynamic = edge.step in _DYNAMIC | {"field"} or (around is not None and around.kind == "interface")
        if pair in expected or (pair[0] in known and not pair[0].endswith(":init") and not dynamic):
            ours.setdefault(pair, f"{edge.caller.path} {edge.how}")
    scores = []
    for title, between in (("within packages", False), ("between packages", True)):
        score = Score(f"go: module {module}, static calls {title}")
        chosen = {pair: how for pair, how in ours.items() if _is_between(pair) == between and pair[0] != pair[1]}
        score.add("static calls", module, {pair for pair in expected if _is_between(pair) == between}, chosen)
        scores.append(score)
    return scores


def _run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PWD": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def _name(function: str, module: str) -> str:
    """`folder:f` or `folder:T.m` for a function of the module, "" for any other."""
    found = _METHOD.match(function.split("$")[0]) or _FUNCTION.match(function.split("$")[0])
    if found is None or not f"{found['package']}/".startswith(f"{module}/"):
        return ""
    folder = found["package"].removeprefix(module).lstrip("/")
    return f"{folder}:{'.'.join(filter(None, (found['type'], found['name'])))}"


def _own(function: Function) -> str:
    name = function.name.partition(".")[2]
    if function.kind == "method" and "." not in name:
        name = function.name  # a type that has the name of its package
    return f"{function.path.rpartition('/')[0]}:{name}"


def _is_between(pair: Edge) -> bool:
    return pair[0].partition(":")[0] != pair[1].partition(":")[0]
