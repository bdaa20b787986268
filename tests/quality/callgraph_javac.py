"""Our call graph of Java sources against javac, which says what each written call means.

    python -m tests.quality.callgraph javac FOLDER [--truth FILE]

FOLDER has Java sources, best without those of several versions of one library (`src/main/java`). FILE is the output of
`java tests/quality/javac_calls.java FOLDER CLASSPATH`, which says what is printed; without it, `java` (a JDK of at least
17) is run with an empty class path.

A pair is a site, `path:line name`, and a declaration in FOLDER. Pairs are compared, so two calls of one function in a
line count once. *Truth* are the calls that javac attributes to a declaration of FOLDER; *tp* those with an edge there,
alone or with others. *Wrong* are our edges from a site of a call to a definition of the called name, if javac says
something else of all calls of that name in the line: another declaration, or one outside of FOLDER. Those that are not
marked as ambiguous are the wrong ones of docs/call-graph.md. Not judged, and counted in notes: edges to a method that
overrides the one that javac names, since it may run, and sites with a call that javac could not attribute.
"""

from __future__ import annotations

import subprocess
from collections import Counter, defaultdict
from pathlib import Path

from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from tests.quality.callgraph_score import Edge, Score, ratio
from tests.quality.edges import Function, Graph, read_graph

_PROGRAM = Path(__file__).with_name("javac_calls.java")


def compare(folder: Path, truth: Path | None) -> list[Score]:
    """One table; its categories are methods and constructors."""
    rows = truth.read_text("utf-8") if truth is not None else _run(folder)
    graph = read_graph(folder)
    declarations = _Declarations(graph)
    targets: dict[str, list[list[str]]] = defaultdict(list)
    overridden: set[tuple[str, str]] = set()
    score = Score(f"javac: {folder}")
    for kind, *fields in (row.split("\t") for row in rows.splitlines()):
        if kind == "call":
            path, line, name, target = fields
            targets[f"{path}:{line} {name}"].append([declarations.own(each) for each in target.split(" ")])
        elif kind == "overrides":
            overridden.add((declarations.own(fields[0]), declarations.own(fields[1])))
        elif kind == "note":
            score.notes.append(f"  {fields[0]}")
    ours: dict[str, dict[str, str]] = defaultdict(dict)
    for edge in graph.edges:
        site = f"{edge.caller.path}:{edge.line} {_called(edge.callee)}"
        if site in targets:
            ours[site][str(edge.callee)] = edge.how
    left: Counter[str] = Counter()
    expected: dict[str, set[Edge]] = defaultdict(set)
    judged: dict[str, dict[Edge, str]] = defaultdict(dict)
    answered: set[Edge] = set()
    for site, calls in targets.items():
        if ["?"] in calls:
            left["sites with a call that javac could not attribute"] += 1
            continue
        edges = dict(ours.get(site, {}))
        category = "calls of methods"
        for call in calls:
            if call != ["-"]:
                right = next((each for each in call if each in edges), call[0])
                category = "calls of methods" if " method " in right else "calls of constructors"
                expected[category].add((site, right))
                answered.update([(site, right)] if edges else ())
        means = {each for call in calls for each in call}
        for callee, how in edges.items():
            if callee not in means and any((callee, each) in overridden for each in means):
                left["edges to a method that overrides the one that javac names"] += 1
            else:
                judged[category][site, callee] = how
    for category in sorted({*expected, *judged}):
        score.add(category, "", expected[category], judged[category])
    total = score.total()
    score.notes.append(
        f"  answered {len(answered)} of {total['truth']}, right of these {ratio(total['tp'], len(answered))}"
    )
    score.notes += [f"  not judged: {count} {what}" for what, count in sorted(left.items())]
    return [score]


def _run(folder: Path) -> str:
    command = ["java", str(_PROGRAM), str(folder)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def _called(callee: Function) -> str:
    """The name by which a definition is called."""
    name = callee.name.rpartition(".")[0] if callee.kind == "constructor" else callee.name
    return name.rpartition(".")[2]


class _Declarations:
    """The definitions of our index that declarations of javac are."""

    def __init__(self, graph: Graph) -> None:
        self._named: dict[tuple[str, str], list[Function]] = defaultdict(list)
        for function in graph.functions.values():
            if function.kind in FUNCTION_KINDS or function.kind in TYPE_KINDS:
                self._named[function.path, _called(function)].append(function)

    def own(self, declaration: str) -> str:
        """The innermost definition of that name around the line, as text; else the declaration."""
        if declaration in ("-", "?"):
            return declaration
        path, line, name = declaration.rsplit(":", 2)
        around = [each for each in self._named[path, name] if each.line <= int(line) <= each.end_line]
        return str(max(around, key=lambda each: each.line)) if around else declaration
