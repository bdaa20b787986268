"""Our call graph of a Python repository against what scip-python (pyright) resolves.

    python -m tests.quality.callgraph scip FOLDER [--truth FILE]

FOLDER is a checkout; FILE is the index of it that `scip-python index` (npm @sourcegraph/scip-python, with
--project-version) wrote. Without FILE, `scip-python` must be on PATH.

Calls are compared site by site: each call that Python's `ast` sees, at the position of the called name; the SCIP symbol
at that position; the `def` or `class` where the symbol is defined. A call counts as

- *inside* if that definition is in the repository. Our answer is every edge of that file and line whose callee has the
  called name, or the name of the definition. It is *right* if all of its edges go to the definition, *ambiguous* if
  some do, *wrong* if none does, and *missing* if there are no edges;
- *outside* if the repository does not define the symbol: any edge of that name is wrong;
- not at all if SCIP has no symbol there, or names a variable, a parameter or an attribute, whose values it does not
  know, or if the source contradicts it (`_is_slip`).

A class and its constructor, own or inherited, are one target: pyright says `C`, we say `C.__init__` if there is one.
Definitions that differ only in the line (overloads, a property and its setter, definitions under conditions) are one.
Pyright names the method of the declared type. Our edges to methods that override it in a derived class are neither
right nor wrong; they are counted separately, and a call that has only such edges is *overriding*. Of a union, pyright
names the method of one member only, so edges that are marked ambiguous look worse than they are.
"""

from __future__ import annotations

import ast
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.quality.callgraph_score import ratio, show_steps
from tests.quality.edges import CallEdge, Function, Graph, read_graph
from tests.quality.scip_read import occurrences

_VERDICTS = ("right", "overriding", "ambiguous", "wrong", "missing")
_MAKERS = ("__init__", "__new__")
Place = tuple[str, int]  # path, line of the definition


class Call(NamedTuple):
    path: str
    name: str
    line: int  # of the name
    column: int  # of the name, in characters
    first_line: int  # of the call
    attribute: bool


@dataclass
class SiteScore:
    """Counts of call sites; printed like a `Score`."""

    title: str
    counts: Counter[str] = field(default_factory=Counter)
    steps: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    lines: list[str] = field(default_factory=list)

    def show(self, *, verbose: bool = False) -> None:
        """Print the shares, and with `verbose` every call that is not right."""
        counts = self.counts
        inside = sum(counts[kind] for kind in _VERDICTS)
        print(self.title)
        print(f"  {inside} calls of the repository's own definitions")
        for kind in _VERDICTS:
            print(f"    {kind:10s} {counts[kind]:6d}  {ratio(counts[kind], inside)}")
        print(f"  {counts['outside']} calls of others, {counts['invented']} of them with an edge of ours")
        right, wrong = counts["edges right"], counts["edges wrong"]
        print(f"  edges: {right} right, {counts['edges overriding']} to overriding methods, {wrong} wrong,", end="")
        print(f" precision of right and wrong {ratio(right, right + wrong)}")
        show_steps(self.steps)
        for line in self.lines if verbose else ():
            print(line)


def compare(folder: Path, truth: Path | None) -> list[SiteScore]:
    """One table."""
    graph = read_graph(folder)
    score = SiteScore(f"scip: {folder.name}, calls in Python against pyright's")
    with tempfile.TemporaryDirectory(prefix="lci-quality-") as scratch:
        if truth is None:
            truth = Path(scratch) / "index.scip"
            command = ["scip-python", "index", "--project-name", folder.name, "--project-version", "1"]
            subprocess.run([*command, "--cwd", str(folder), "--output", str(truth)], check=True)
        defined: dict[str, set[tuple[str, int, int]]] = defaultdict(set)
        used: dict[tuple[str, int, int], str] = {}
        for found in occurrences(truth):
            if found.definition:
                defined[found.symbol].add((found.path, found.line, found.column))
            else:
                used[found.path, found.line, found.column] = found.symbol
    calls, names = _read(folder, graph)
    sites: dict[Place, list[CallEdge]] = defaultdict(list)
    for edge in graph.edges:
        sites[edge.caller.path, edge.line].append(edge)
    called: dict[Place, set[str]] = defaultdict(set)
    for call in calls:
        called[call.path, call.line].add(call.name)
    for call in calls:
        symbol = used.get((call.path, call.line, call.column))
        places = defined.get(symbol, set()) if symbol is not None else set()
        if symbol is None or _is_slip(symbol, call, {names.get(place, "") for place in places}, graph):
            score.counts["unknown"] += 1
            continue
        true = {(path, line) for path, line, column in places if (path, line, column) in names}
        if places and not true:
            score.counts["a value"] += 1
            continue
        lines = {call.line, call.first_line}
        edges = {e for line in lines for e in sites[call.path, line]}
        if call.name in _MAKERS:
            # `super().__init__(C())`: the other constructor is that of the class which the line names.
            beside = {name for line in lines for name in called[call.path, line]}
            edges = {e for e in edges if e.callee.name.rpartition(".")[0].rpartition(".")[2] not in beside}
        _judge(score, call, true, {names[place] for place in places if place in names}, sorted(edges), graph)
    return [score]


def _is_slip(symbol: str, call: Call, names: set[str], graph: Graph) -> bool:
    """Whether scip-python's answer is unusable or contradicts the source.

    It uses local symbols without a definition, takes a class of the file for a builtin of the same name, and an
    attribute with a class as its value (`self._request_class()`) for the class around it.
    """
    if " local " in symbol and not names:
        return True
    if "python-stdlib" in symbol and graph.by_name.get((call.path, call.name)):
        return True
    return call.attribute and bool(names - {""}) and call.name not in names


def _judge(
    score: SiteScore, call: Call, true: set[Place], names: set[str], edges: list[CallEdge], graph: Graph
) -> None:
    right: list[CallEdge] = []
    over: list[CallEdge] = []
    wrong: list[CallEdge] = []
    for edge in edges:
        if _is_named(edge.callee, names | {call.name}, bool(true), graph):
            if true and _is_target(edge.callee, true, names, graph):
                right.append(edge)
            elif true and _overrides(edge.callee, true, graph):
                over.append(edge)
            else:
                wrong.append(edge)
    for label, found in (("right", right), ("overriding", over), ("wrong", wrong)):
        score.counts[f"edges {label}"] += len(found)
        for edge in found:
            score.steps[(edge.step or "any step") + (" ambiguous" if edge.ambiguous else "")][label] += 1
    if not true:
        score.counts["outside"] += 1
        score.counts["invented"] += bool(wrong)
        verdict = "invented" if wrong else ""
    else:
        verdict = (
            ("ambiguous" if wrong else "right") if right else "wrong" if wrong else "overriding" if over else "missing"
        )
        score.counts[verdict] += 1
    if verdict in ("ambiguous", "wrong", "missing", "invented"):
        ours = "; ".join(f"{edge.callee} ({edge.how})" for edge in [*right, *wrong])
        goal = ", ".join(f"{path}:{line}" for path, line in sorted(true)) or "outside"
        score.lines.append(f"  {verdict:9s} {call.path}:{call.line} {call.name}()  is {goal}  ours {ours or 'none'}")


def _is_named(callee: Function, names: set[str], inside: bool, graph: Graph) -> bool:
    """Whether an edge of the line is about a call of one of these names."""
    owner, _, last = callee.name.rpartition(".")
    if last in _MAKERS and last not in names:
        # The constructor of a base, called by the name of a class that has none.
        return owner.rpartition(".")[2] in names or (inside and any(_has_no_maker(name, graph) for name in names))
    return last in names


def _is_target(callee: Function, true: set[Place], names: set[str], graph: Graph) -> bool:
    if (callee.path, callee.line) in true:
        return True
    owner, _, last = callee.name.rpartition(".")
    if last not in _MAKERS:
        return any((callee.path, line) in true for line in _lines(callee, graph))
    around = graph.functions.get(callee.around)
    if around is not None and (around.path, around.line) in true:
        return True
    return any(_has_no_maker(name, graph) for name in names)


def _overrides(callee: Function, true: set[Place], graph: Graph) -> bool:
    """Whether a method is in a class derived from the class of a true target."""
    above = [graph.functions[node] for node in graph.ancestors(callee.around)]
    return any(path == base.path and base.line <= line <= base.end_line for base in above for path, line in true)


def _lines(callee: Function, graph: Graph) -> Iterator[int]:
    """The lines at which a name is defined again in its file and scope."""
    for function in graph.by_name[callee.path, callee.name]:
        yield function.line


def _has_no_maker(name: str, graph: Graph) -> bool:
    """Whether there are classes of this name, and none has a constructor of its own."""
    found = graph.classes.get(name, [])
    return bool(found) and not any(graph.by_name.get((c.path, f"{c.name}.__init__")) for c in found)


def _read(folder: Path, graph: Graph) -> tuple[list[Call], dict[tuple[str, int, int], str]]:
    """All calls of the indexed files, and the names of `def` and `class` by path, line and column."""
    calls: list[Call] = []
    names: dict[tuple[str, int, int], str] = {}
    for path in sorted(path for path in graph.files if path.endswith(".py")):
        source = (folder / path).read_bytes()
        lines = source.split(b"\n")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                text = lines[node.lineno - 1].decode("utf-8", "replace")
                names[path, node.lineno, text.find(node.name, node.col_offset + len("def"))] = node.name
            elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                line, end = node.func.end_lineno or 0, node.func.end_col_offset or 0
                column = len(lines[line - 1][: end - len(name.encode())].decode("utf-8", "replace"))
                calls.append(Call(path, name, line, column, node.lineno, isinstance(node.func, ast.Attribute)))
    return calls, names
