"""Our call graph of Python against the micro-benchmark of PyCG (119 cases, 264 edges).

    python -m tests.quality.callgraph pycg FOLDER

FOLDER is `micro-benchmark/snippets` of a checkout of PyCG (Salis et al., "PyCG: Practical Call Graph Generation in
Python", ICSE 2021). Each case is indexed on its own, with all of its files; PyCG starts from main.py.

Names are PyCG's: `main` is the module main.py, `nested` the package nested/__init__.py, `main.Cls.func` a definition,
`main.func.<lambda1>` the first lambda in func; `<builtin>.len` and `ext.Cls` are outside of the case.

Conventions, and why:

- All edges of callgraph.json count, as in PyCG's own test, which demands that the two graphs are equal. A second table
  has only the edges between the case's own functions: code search has no use for `<**PyStr**>.join`.
- An edge is a pair (caller, callee) for any number of calls, since the truth has no lines.
- Where our callee is a class, the truth has its `__init__`. If no such name occurs in the truth, creating an instance
  runs no code of the repository and is not an edge.
- A class body and the initialiser of a variable belong to the scope around them, unless the truth names the class as a
  caller.
- External callees: an imported name is called by its origin (`ext.function`), a builtin is `<builtin>.NAME`. Methods of
  external classes, strings or dicts would need types: they are misses as long as the index does not name them.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import ANONYMOUS, FILE, Function, Graph, read_graph


def compare(folder: Path) -> list[Score]:
    """Both tables: all edges, and those inside the repository."""
    every = Score("pycg: all edges, as PyCG's own test compares them")
    inside = Score("pycg: edges between the case's own functions")
    for truth_file in sorted(folder.glob("*/*/callgraph.json")):
        case = truth_file.parent
        graph = json.loads(truth_file.read_text("utf-8"))
        truth = {(caller, callee) for caller, callees in graph.items() for callee in callees}
        universe = {*graph, *(callee for _, callee in truth)}
        ours = our_edges(read_graph(case), universe)
        modules = {_module(path.relative_to(case).as_posix()).split(".")[0] for path in case.rglob("*.py")}
        category, name = case.parent.name, f"{case.parent.name}/{case.name}"
        every.add(category, name, truth, ours)
        within = {edge for edge in truth if _is_inside(edge, modules)}
        inside.add(category, name, within, {edge: how for edge, how in ours.items() if _is_inside(edge, modules)})
    return [every, inside]


def our_edges(graph: Graph, universe: set[str]) -> dict[Edge, str]:
    """Our edges in PyCG's names, with the origin of each."""
    names = _Names(graph, universe)
    found: dict[Edge, str] = {}
    for edge in graph.edges:
        caller, callee = names.caller(edge.caller), names.callee(edge.callee)
        if callee is not None:
            found.setdefault((caller, callee), edge.how)
    for call in graph.externals:
        if call.origin == "unknown":
            continue
        target = f"<builtin>.{call.target}" if call.origin == "builtin" else call.target
        found.setdefault((names.caller(call.caller), target), f"line {call.line} external")
    return found


class _Names:
    def __init__(self, graph: Graph, universe: set[str]) -> None:
        self._graph = graph
        self._universe = universe
        self._lambdas: dict[int, str] = {}
        counts: dict[str, int] = {}
        for function in sorted(graph.functions.values(), key=lambda f: (f.path, f.line, f.node)):
            if function.kind == ANONYMOUS:
                scope = _dotted(_module(function.path), function.name)
                counts[scope] = counts.get(scope, 0) + 1
                self._lambdas[function.node] = f"{scope}.<lambda{counts[scope]}>"

    def caller(self, function: Function) -> str:
        function = self._graph.running(function)
        while function.kind == "class" and self._name(function) not in self._universe:
            around = self._graph.functions.get(function.around) or self._graph.files[function.path]
            function = self._graph.running(around)
        return self._name(function)

    def callee(self, function: Function) -> str | None:
        if function.kind == "class":
            made = f"{self._name(function)}.__init__"
            return made if made in self._universe else None
        return self._name(function)

    def _name(self, function: Function) -> str:
        if function.kind == ANONYMOUS:
            return self._lambdas[function.node]
        if function.kind == FILE:
            return _module(function.path)
        return _dotted(_module(function.path), function.name)


def _dotted(*names: str) -> str:
    return ".".join(filter(None, names))


def _module(path: str) -> str:
    module = path.removesuffix(".py").replace("/", ".")
    return "" if module == "__init__" else module.removesuffix(".__init__")


def _is_inside(edge: Edge, modules: set[str]) -> bool:
    return all(name.split(".")[0] in modules and not name.startswith("<") for name in edge)
