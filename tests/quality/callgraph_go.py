"""Our call graph of a Go package against `callgraph -algo static` of golang.org/x/tools.

    python -m tests.quality.callgraph go FOLDER [--truth FILE]

FOLDER is the package's folder in GOROOT (`$(go env GOROOT)/src/net`), which is indexed with its subfolders. `go` and
`callgraph` must be on PATH. FILE has the output of this command, run in GOROOT/src with GO111MODULE=off:

    callgraph -algo static -format $'{{.Caller}}\t{{.Callee}}\t{{.Filename}}:{{.Line}}' net

Conventions, and why:

- Edges are pairs of functions of the package, `f` or `T.m`, without the pointer of the receiver: Go has no overloading.
- The truth has only files of this platform's build. Our edges count if both ends are in these files (by `go list`), and
  if the truth knows the caller: unused methods are not compiled.
- On both sides, a function literal is part of the function around it, since our graph need not have a node for each. So
  an edge from a function to its own literal is left out, unlike recursion.
- There are many functions named `init`: each is identified by its file. Initialisers of variables belong to the file,
  as in our graph.
- The truth has only static calls. Our edges through an interface or a function value (the callee is an interface's
  method; steps `flow`, `override`, `callback`) that it lacks are not judged; a note counts them.
- Conversions and cgo's own functions are not calls in the source.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from lci_py.types.search import FUNCTION_KINDS
from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import FILE, CallEdge, Function, Graph, read_graph

_FORMAT = "{{.Caller}}\t{{.Callee}}\t{{.Filename}}:{{.Line}}"
_DYNAMIC = frozenset({"flow", "override", "callback"})


def compare(folder: Path, truth: Path | None) -> list[Score]:
    """One table."""
    package = folder.name
    files = _compiled(folder)
    if truth is not None:
        rows = truth.read_text("utf-8")
    else:
        rows = _run(folder.parent, "callgraph", "-algo", "static", "-format", _FORMAT, package)
    expected: set[Edge] = set()
    known: set[str] = set()
    for row in rows.splitlines():
        caller, callee, site = row.split("\t")[:3]
        path, _, _line = site.rpartition(":")
        ends = (_name(caller, package, path), _name(callee, package, path))
        known.update(end for end in ends if end)
        literal = "$" in callee and caller.split("$")[0] == callee.split("$")[0]
        if ends[0] and ends[1] and not literal:
            expected.add((ends[0], ends[1]))
    graph = read_graph(folder)
    ours: dict[Edge, str] = {}
    left: Counter[str] = Counter()
    for edge in graph.edges:
        caller_node, callee_node = _around(edge.caller, graph), _around(edge.callee, graph)
        if not {caller_node.path, callee_node.path} <= files or callee_node.kind not in FUNCTION_KINDS:
            continue
        pair = (_own(caller_node, package), _own(callee_node, package))
        if pair not in expected and (reason := _not_judged(edge, pair, known, graph)):
            left[reason] += 1
        else:
            ours.setdefault(pair, f"{edge.caller.path} {edge.how}")
    score = Score(f"go: package {package}, static calls")
    score.add("static calls", package, expected, ours)
    score.notes += [f"  not judged: {count} of our edges, {reason}" for reason, count in sorted(left.items())]
    return [score]


def _compiled(folder: Path) -> set[str]:
    fields = _run(
        folder.parent,
        "go",
        "list",
        "-f",
        "{{range .GoFiles}}{{.}} {{end}}{{range .CgoFiles}}{{.}} {{end}}",
        folder.name,
    )
    return set(fields.split())


def _run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "GO111MODULE": "off", "PWD": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def _name(function: str, package: str, path: str) -> str:
    """`f` or `T.m` for a function of the package, the file for an initialiser, "" for everything else."""
    name = function.split("$")[0]
    name = re.sub(rf"^\(\*?{re.escape(package)}\.(\w+)\)\.", rf"{package}.\1.", name)
    if not name.startswith(f"{package}.") or "_cgo" in name or "._C" in name:
        return ""
    name = name.removeprefix(f"{package}.")
    if name == "init":
        return os.path.basename(path)
    return f"init of {os.path.basename(path)}" if name.startswith("init#") else name


def _around(function: Function, graph: Graph) -> Function:
    """The declared function that a node is part of, or its file."""
    while function.kind not in FUNCTION_KINDS and function.kind != FILE:
        function = graph.functions.get(function.around) or graph.files[function.path]
    return function


def _own(function: Function, package: str) -> str:
    if function.kind == FILE:
        return function.path
    name = function.name.removeprefix(f"{package}.")
    return f"init of {function.path}" if name == "init" else name


def _not_judged(edge: CallEdge, pair: Edge, known: set[str], graph: Graph) -> str:
    if pair[0] not in known:
        return "whose caller is not compiled"
    around = graph.functions.get(edge.callee.around)
    if edge.step in _DYNAMIC:
        return f"step {edge.step}"
    return "to a method of an interface" if around is not None and around.kind == "interface" else ""
