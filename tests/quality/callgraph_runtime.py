"""Our call graph of a library against the calls that its own tests make at run time.

    python -m tests.quality.callgraph runtime_python FOLDER --truth FILE
    python -m tests.quality.callgraph runtime_ruby FOLDER --truth FILE

FOLDER is the library's own code without its tests (`src/jinja2`, `lib`). FILE is what `runtime_trace.py` (under pytest,
by `sys.setprofile`) or `runtime_trace.rb` (by TracePoint) wrote about it; they say what is left out.

A pair is a caller and a function that ran, both of FOLDER. Anonymous functions and blocks count as the definition around
them; code outside definitions is its file. Tests run a part of all calls, so there are no wrong edges, only missing
pairs. The first table counts edges. The second one also counts what `lci callers` lists besides: calls through the method
of a base and calls with a computed name (step `dispatch`). Those that it only counts are in a note. Of the categories,
*implicit* are functions that run without a written call: special methods, properties, `method_missing`.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from lci_py.search.navigate.dispatch import Dispatch
from lci_py.search.navigate.nodes import Nodes
from lci_py.types.search import FUNCTION_KINDS
from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import ANONYMOUS, FILE, Function, Graph, graph_of, indexed

#: Special methods that a written call runs.
_WRITTEN = frozenset({"__init__", "__call__"})
_HIDDEN = frozenset(
    {"method_missing", "respond_to_missing?", "respond_to?", "to_s", "inspect", "inherited", "included"}
)


class Pair(NamedTuple):
    """One line of the truth."""

    path: str
    line: int  # of the call
    callee_path: str
    callee_line: int  # the first one of the function, its decorators included
    name: str


def compare(folder: Path, truth: Path | None) -> list[Score]:
    """Both tables: edges, and edges with calls by dispatch.

    Raises:
        FileNotFoundError: There is no truth.
    """
    if truth is None:
        raise FileNotFoundError("no file of calls: run the library's tests with tests/quality/runtime_trace")
    rows = [line.split("\t") for line in truth.read_text("utf-8").splitlines()]
    pairs = {Pair(path, int(line), callee, int(first), name) for path, line, callee, first, name in rows}
    with indexed(folder) as session:
        graph = graph_of(session)
        match = _Match(graph)
        expected: dict[Edge, str] = {}
        ends: dict[Edge, int] = {}
        for pair in sorted(pairs):
            caller, callee = match.around(pair.path, pair.line), match.callee(pair)
            if callee is None or caller.node == callee.node:
                continue
            edge = (str(caller), str(callee))
            expected[edge] = match.category(callee)
            ends[edge] = callee.node
        ours = {(str(match.owner(edge.caller)), str(edge.callee)): edge.how for edge in graph.edges}
        nodes = Nodes(session.snapshot)
        missing = sorted({node for edge, node in ends.items() if edge not in ours and node < nodes.first_file})
        dispatch = Dispatch(nodes)
        listed, counted = dict(ours), set[Edge]()
        for node, row in session.snapshot.symbols.symbol_rows(missing).items():
            calls, through = dispatch.calls([row], [node], "callers")
            callee = str(graph.functions[node])
            for call in calls:
                listed.setdefault((str(match.owner(graph.functions[call.node])), callee), "dispatch")
            for site in (site for one in through for site, _ in one.sites):
                counted.add((str(match.owner(graph.functions[site])), callee))
    scores = []
    for title, found in (("edges", ours), ("edges and dispatch", listed)):
        score = Score(f"{folder.name}: pairs that ran, {title}", judge_extra=False)
        for category in sorted(set(expected.values())):
            wanted = [edge for edge, of in expected.items() if of == category]
            score.add(category, category, wanted, {edge: found[edge] for edge in wanted if edge in found})
        scores.append(score)
    only_counted = sum(edge in counted for edge in expected.keys() - listed.keys())
    scores[-1].notes.append(f"  {only_counted} of the missing ones are counted as calls of a base's method")
    return scores


class _Match:
    """Finds the functions that the truth names by path and line."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._in_file: dict[str, list[Function]] = defaultdict(list)
        for function in graph.functions.values():
            self._in_file[function.path].append(function)
        self._properties = {function.node for function in graph.functions.values() if _is_property(function)}

    def around(self, path: str, line: int) -> Function:
        """The innermost definition with code around a line, or the file."""
        best = self._graph.files[path]
        for function in self._in_file[path]:
            holds = function.kind not in (FILE, ANONYMOUS) and best.line <= function.line <= line <= function.end_line
            if holds and self._graph.running(function).node == function.node:
                best = function
        return best

    def callee(self, pair: Pair) -> Function | None:
        """The function that ran; None if the index has no definition of its name there (`define_method`)."""
        if pair.name == "<lambda>":
            kinds, name = {ANONYMOUS}, None
        else:
            kinds, name = FUNCTION_KINDS, pair.name
        found = [
            function for function in self._in_file[pair.callee_path]
            if function.kind in kinds and function.line >= pair.callee_line
            and (name is None or function.name.rpartition(".")[2] == name)
        ]  # fmt: skip
        first = min(found, key=lambda function: function.line, default=None)
        return first if first is not None and first.line - pair.callee_line < 40 else None

    def owner(self, function: Function) -> Function:
        """The definition with code that an anonymous function or a variable is in, or the file."""
        return (
            self._graph.running(self._around(function)) if function.kind == ANONYMOUS else self._graph.running(function)
        )

    def _around(self, function: Function) -> Function:
        return self._graph.functions.get(function.around, self._graph.files[function.path])

    def category(self, callee: Function) -> str:
        """Whether a function runs by a written call."""
        name = callee.name.rpartition(".")[2]
        special = name.startswith("__") and name.endswith("__") and name not in _WRITTEN
        return "implicit" if special or name in _HIDDEN or callee.kind == "property" else "written"


def _is_property(function: Function) -> bool:
    return function.kind == "property"
