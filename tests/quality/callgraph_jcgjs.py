"""Our call graph of JavaScript against the JavaScript cases of JCG.

    python -m tests.quality.callgraph jcg_js FOLDER

FOLDER is `jcg_testcases/src/main/resources/js` of a checkout of JCG (Reif et al., "Judge: Identifying, Understanding,
and Evaluating Sources of Unsoundness in Call Graphs", ISSTA 2019, and its later parts): Markdown with the sources and
the links of each case. A source starts after the line that names its file.

The comparison follows JCG's own code (CallGraph.scala): `File.name` is a function; for `File.name:line` the line must
agree, too. `<global>` is the top level of any file, and `File.<anonymous:line>` is a function without a name. Of an
indirect link only the callee counts. A case lists only the links that it is about (a case about a method does not list
the constructor), so there is a recall but no precision; `-v` also prints our edges that are not listed.

`Native.Array_prototype_map` and the like are outside of the sources. A link to one counts as found if we have a call of
that name without a callee. A link from one (`Native.… -> f`) counts as found if we have an edge to f from a function
that the case lists as a caller of the native function.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tests.quality.callgraph_js import Spelled
from tests.quality.callgraph_score import Edge, Score
from tests.quality.edges import ANONYMOUS, FILE, External, Function, Graph, read_graph

_CASE = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.S | re.M)
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)


def cases(markdown: str, language: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """The cases in a file of JCG: name, sources by path, and the JSON block ("" if there is none)."""
    for name, body in _CASE.findall(markdown):
        sources: dict[str, str] = {}
        links = ""
        for kind, block in _BLOCK.findall(body):
            if kind == language:
                head, _, source = block.partition("\n")
                named = head.startswith("//")
                sources[head.lstrip("/ ").strip() if named else f"source{len(sources)}.{language}"] = (
                    source if named else block
                )
            elif kind == "json":
                links = block
        yield name, sources, links


def write_case(folder: Path, sources: dict[str, str]) -> None:
    """Write the sources of a case below a folder."""
    for path, source in sources.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source, "utf-8")


def compare(folder: Path) -> list[Score]:
    """Two tables of recalls: all links, and those between the case's own functions."""
    every = Score("jcg_js: all links", judge_extra=False)
    inside = Score("jcg_js: links between the case's own functions", judge_extra=False)
    for markdown in sorted(folder.glob("*.md")):
        for name, sources, block in cases(markdown.read_text("utf-8"), "js"):
            links = json.loads(re.sub(r",(\s*\])", r"\1", block))  # one case has a trailing comma
            truth = [(str(a), str(b)) for a, b in links["directLinks"]]
            truth += [("*", str(b)) for b in links["indirectLinks"]]
            with tempfile.TemporaryDirectory(prefix="lci-quality-") as scratch:
                root = Path(scratch)
                write_case(root, sources)
                matcher = _Matcher(root, read_graph(root))
            found = {edge: "" for edge in truth if matcher.has(edge, truth)}
            own = [edge for edge in truth if not any(end.startswith("Native.") for end in edge)]
            every.add(markdown.stem, f"{markdown.stem}/{name}", truth, found)
            inside.add(markdown.stem, f"{markdown.stem}/{name}", own, {edge: "" for edge in own if edge in found})
            every.lines += [f"  {markdown.stem}/{name}: unlisted  {edge}" for edge in matcher.unlisted(truth)]
    return [every, inside]


class _Matcher:
    def __init__(self, root: Path, graph: Graph) -> None:
        self._graph = graph
        self._spelled = Spelled(root, graph)
        self._edges = [(self._labels(graph.running(e.caller)), self._labels(e.callee), e) for e in graph.edges]

    def has(self, edge: Edge, truth: list[Edge]) -> bool:
        caller, callee = edge
        if callee.startswith("Native."):
            return any(caller in self._labels(self._graph.running(e.caller)) for e in self._external(callee))
        callers = {a for a, b in truth if b == caller} if caller.startswith("Native.") else {caller}
        return any(callee in to and ("*" in callers or callers & of) for of, to, _ in self._edges)

    def unlisted(self, truth: list[Edge]) -> list[str]:
        callees = {callee for _, callee in truth}
        return [f"{e.caller} -> {e.callee} ({e.how})" for _, to, e in self._edges if not to & callees]

    def _external(self, native: str) -> Iterator[External]:
        name = native.removeprefix("Native.").lower()
        for call in self._graph.externals:
            dotted = call.target.lower()
            if name == dotted.replace(".", "_") or name.endswith(f"_prototype_{dotted.rpartition('.')[2]}"):
                yield call

    def _labels(self, function: Function) -> set[str]:
        stem = PurePosixPath(function.path).stem
        if function.kind == FILE:
            return {"<global>"}
        spelling = self._spelled[function]
        last = set(spelling.last) if spelling is not None else set()
        if function.kind != ANONYMOUS:
            last.add("constructor" if function.kind == "class" else function.name.rpartition(".")[2])
        labels = {f"{stem}.{name}" for name in last} | {f"{stem}.{name}:{function.line}" for name in last}
        if function.kind == ANONYMOUS:
            labels.add(f"{stem}.<anonymous:{function.line}>")
        return labels
