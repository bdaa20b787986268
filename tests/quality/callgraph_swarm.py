"""Our call graph of JavaScript against SWARM-JS (126 cases, 289 edges).

    python -m tests.quality.callgraph swarm_js FOLDER

FOLDER is `benchmarks/javascript/swarm_js` of a checkout of SWARM-CG (Venkatesh et al., "An Empirical Study of Large
Language Models for Type and Call Graph Analysis", 2024). Each case is indexed on its own, with all of its files.

Names are SWARM-CG's, which follow PyCG's: `main` is the module main.js, `nested` the module nested/index.js,
`main.Cls.constructor` a definition, `main.func.<arrow1>` the first arrow function in func. As in the benchmark's own
comparison (result_analysis/metrics.py), sets of names per caller are compared. The benchmark is not consistent: it
numbers arrow functions by file or by scope, and names some after a variable. Therefore:

- A function has several candidate names: its own, that of the variable it is assigned to, that of the variable for the
  result of a call it is passed to, and its number among the arrow functions of its scope. The candidate that the case's
  truth uses is taken. All candidates mean the same function, so no other function gets credit.
- A class as a callee is its `constructor` if the truth has that name; otherwise it is not an edge.
- An anonymous function that the case's truth does not name counts as part of the function around it, and calls of it
  are not edges: in the truth, `array.map(x => f(x))` is a call of f by main.
- External callees (`<builtin>.map`, `<**JSArray**>.join`, and even `<builtin>.length`) are named without a rule, and
  not always listed (`console.log`). Ours count where the truth has them, and are not wrong elsewhere. The second table
  leaves them out: it is the figure to look at.
- Two names in the truth are mistakes (`main.returnreturnFunc_func`, and `main.A.B.bfunc` for a method of `B`). They
  count all the same, so 1.0 cannot be reached.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.quality.callgraph_js import Spelled
from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import ANONYMOUS, FILE, Function, Graph, read_graph


def compare(folder: Path) -> list[Score]:
    """Both tables: all edges, and those inside the repository."""
    every = Score("swarm_js: all edges")
    inside = Score("swarm_js: edges between the case's own functions")
    for truth_file in sorted(folder.glob("*/*/callgraph.json")):
        case = truth_file.parent
        listed = json.loads(truth_file.read_text("utf-8"))
        truth = {(caller, callee) for caller, callees in listed.items() for callee in callees}
        universe = {*listed, *(callee for _, callee in truth)}
        ours = _our_edges(case, read_graph(case), universe)
        category, name = case.parent.name, f"{case.parent.name}/{case.name}"
        every.add(category, name, truth, ours)
        within = {edge for edge in truth if _is_inside(edge)}
        inside.add(category, name, within, {edge: how for edge, how in ours.items() if _is_inside(edge)})
    return [every, inside]


def _our_edges(root: Path, graph: Graph, universe: set[str]) -> dict[Edge, str]:
    names = _Names(root, graph, universe)
    found: dict[Edge, str] = {}
    for edge in graph.edges:
        caller, callee = names.caller(edge.caller), names.callee(edge.callee)
        if callee is not None:
            found.setdefault((caller, callee), edge.how)
    for call in graph.externals:
        candidates = (
            f"<builtin>.{call.target}",
            f"<builtin>.{call.target.rpartition('.')[2]}",
            f"<global>.{call.target}",
        )
        for target in candidates:
            if target in universe:
                found.setdefault((names.caller(call.caller), target), f"line {call.line} external")
                break
    return found


class _Names:
    def __init__(self, root: Path, graph: Graph, universe: set[str]) -> None:
        self._graph = graph
        self._universe = universe
        self._spelled = Spelled(root, graph)

    def caller(self, function: Function) -> str:
        function = self._graph.running(function)
        while function.kind in ("class", ANONYMOUS) and not self._known(function):
            around = self._graph.functions.get(function.around) or self._graph.files[function.path]
            function = self._graph.running(around)
        return self._known(function) or self._candidates(function)[0]

    def callee(self, function: Function) -> str | None:
        if function.kind == "class":
            made = [f"{name}.constructor" for name in self._candidates(function)]
            return next((name for name in made if name in self._universe), None)
        known = self._known(function)
        return known or (None if function.kind == ANONYMOUS else self._candidates(function)[0])

    def _known(self, function: Function) -> str | None:
        return next((name for name in self._candidates(function) if name in self._universe), None)

    def _candidates(self, function: Function) -> list[str]:
        module = _module(function.path)
        if function.kind == FILE:
            return [module]
        spelling = self._spelled[function]
        names = list(spelling.names) if spelling is not None else []
        names.insert(0, function.name if function.kind != ANONYMOUS else f"{function.name}.<anonymous:{function.line}>")
        dotted = [".".join(filter(None, (module, name))) for name in names]
        return [*dotted, *(name.replace(".[", "[") for name in dotted)]


def _module(path: str) -> str:
    module = path.rpartition(".")[0].replace("/", ".")
    return module.removesuffix(".index")


def _is_inside(edge: Edge) -> bool:
    return not any(name.startswith("<") for name in edge)
