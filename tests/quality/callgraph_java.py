"""Our call graph of Java against the Java cases of JCG.

    python -m tests.quality.callgraph jcg_java FOLDER

FOLDER is `jcg_testcases/src/main/resources/java` of a checkout of JCG (Reif et al., "Judge: Identifying, Understanding,
and Evaluating Sources of Unsoundness in Call Graphs", ISSTA 2019): Markdown with sources. The truth is in annotations
of the calling methods: the name and line of a call, and the classes that declare its targets. A source starts after the
line that names its file; a case without such lines is one file.

The comparison follows JCG's own matcher (CGMatcher.scala):

- `@DirectCall`: an edge from the annotated method at that line to a method of that name, declared in that class.
- `@IndirectCall`: a path of any length from the annotated method to such a method. Code of the Java library between
  them is not indexed, so our edges to callbacks must bridge it.
- A constructor is `<init>`; a class as a callee is its `<init>`. Calls in a lambda or in a field's initialiser count as
  calls of the method or class around them: unlike the byte code, our index has no method for them.
- JCG also demands that the caller is reachable from main. Our graph has no entry points, so this is left out.

Wrong edges are known for direct calls only. *Strict*: our edge starts in the annotated method at the line of the
annotation, and goes to a method of that name in a class that is not among the targets. *Lenient*: the class is one of
`prohibitedTargets`, which few cases list. Edges to methods without a body are not judged: such a method never runs, but
it is what the source names. Strict is the figure to look at: the listed targets of a direct call are all that it can
reach when main runs (in the library cases: for any client).

Targets outside the sources (`Ljava/lang/Integer;`) count in the first table only. Calls that exist only in the byte
code count as well: `HIDDEN` names their categories, and a note gives the recall without them.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tree_sitter_java
from tree_sitter import Language, Node, Parser

from tests.quality.callgraph_jcgjs import cases, write_case
from tests.quality.callgraph_score import Edge, Score, ratio
from tests.quality.edges import ANONYMOUS, CallEdge, Function, Graph, read_graph

#: Cases about calls that the virtual machine, reflection or method handles make.
HIDDEN = frozenset({
    "Classloading", "DynamicProxies", "ModernReflection", "Reflection", "Serialization", "SignaturePolymorphicMethods",
    "Unsafe",
})  # fmt: skip
_PARSER = Parser(Language(tree_sitter_java.language()))
_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.M)


class Annotation(NamedTuple):
    """One annotation; classes are dotted names with their package."""

    direct: bool
    path: str
    method: str  # of the caller
    first_line: int  # of the caller
    last_line: int
    name: str
    line: int  # of the call, 0 for any
    resolved: tuple[str, ...]
    prohibited: tuple[str, ...]


def compare(folder: Path) -> list[Score]:
    """Three tables: all targets, those in the sources, and these again with the lenient count of wrong edges."""
    every = Score("jcg_java: all targets, strict")
    strict = Score("jcg_java: targets in the case's own sources, strict")
    lenient = Score("jcg_java: the same, lenient")
    for markdown in sorted(folder.glob("*.md")):
        for name, sources, _ in cases(markdown.read_text("utf-8"), "java"):
            with tempfile.TemporaryDirectory(prefix="lci-quality-") as scratch:
                root = Path(scratch)
                write_case(root, sources)
                matcher = _Matcher(read_graph(root), sources)
            case = f"{markdown.stem}/{name}"
            truth: set[Edge] = set()
            found: dict[Edge, str] = {}
            wrong: dict[Edge, str] = {}
            prohibited: dict[Edge, str] = {}
            for note in (note for path, source in sources.items() for note in annotated(path, source)):
                truth |= matcher.expected(note)
                found.update(matcher.found(note))
                wrong.update(matcher.wrong(note))
                prohibited.update(matcher.prohibited(note))
            wrong = {edge: how for edge, how in wrong.items() if edge not in truth}
            own = {edge for edge in truth if matcher.is_inside(edge)}
            own_found = {edge: how for edge, how in found.items() if edge in own}
            every.add(markdown.stem, case, truth, {**found, **wrong})
            strict.add(markdown.stem, case, own, {**own_found, **wrong})
            lenient.add(markdown.stem, case, own, {**own_found, **prohibited})
    for score in (every, strict):
        score.notes.append(_visible(score))
    return [every, strict, lenient]


def _visible(score: Score) -> str:
    seen: Counter[str] = Counter()
    for category, row in score.rows.items():
        if category not in HIDDEN:
            seen.update(row)
    recall, precision = ratio(seen["tp"], seen["truth"]), ratio(seen["tp"], seen["tp"] + seen["fp"])
    return f"  without the {len(HIDDEN)} categories that source syntax does not show: {seen['tp']} of {seen['truth']}, precision {precision}, recall {recall}"


# --- the truth --------------------------------------------------------------------------------------------------------


def annotated(path: str, source: str) -> Iterator[Annotation]:
    """The annotations of all methods of a source, including those inside a container annotation."""
    pending = [_PARSER.parse(source.encode()).root_node]
    while pending:
        node = pending.pop()
        pending += reversed(node.children)
        kind = _text(node.child_by_field_name("name")) if node.type == "annotation" else ""
        if kind in ("DirectCall", "IndirectCall"):
            method = node
            while method.type not in ("method_declaration", "constructor_declaration") and method.parent is not None:
                method = method.parent
            values = dict(_pairs(node))
            name = _text(method.child_by_field_name("name"))
            yield Annotation(
                kind == "DirectCall", path, name, method.start_point[0] + 1, method.end_point[0] + 1,
                _strings(values["name"])[0], int(_text(values["line"])) if "line" in values else 0,
                _classes(values.get("resolvedTargets")), _classes(values.get("prohibitedTargets")),
            )  # fmt: skip


def abstract_lines(source: str) -> Iterator[int]:
    """The lines of methods without a body."""
    pending = [_PARSER.parse(source.encode()).root_node]
    while pending:
        node = pending.pop()
        pending += node.children
        if node.type == "method_declaration" and node.child_by_field_name("body") is None:
            yield from range(node.start_point[0] + 1, node.end_point[0] + 2)


def _pairs(node: Node) -> Iterator[tuple[str, Node]]:
    arguments = node.child_by_field_name("arguments")
    for pair in arguments.named_children if arguments is not None else ():
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            yield _text(key), value


def _strings(node: Node | None) -> list[str]:
    return re.findall(r'"([^"]*)"', _text(node))


def _classes(node: Node | None) -> tuple[str, ...]:
    """Names of byte code, `La/b/Outer$Inner;`, as dotted names."""
    return tuple(re.sub(r"[/$]", ".", name.removeprefix("L").removesuffix(";")) for name in _strings(node))


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


# --- ours -------------------------------------------------------------------------------------------------------------


class _Matcher:
    def __init__(self, graph: Graph, sources: dict[str, str]) -> None:
        self._graph = graph
        self._packages = {
            path: (m.group(1) if (m := _PACKAGE.search(source)) else "") for path, source in sources.items()
        }
        self._abstract = {(path, line) for path, source in sources.items() for line in abstract_lines(source)}
        self._owners = {self._target(function)[0] for function in graph.functions.values()}
        self._inner: dict[int, list[Function]] = {}
        for function in graph.functions.values():
            if function.kind == ANONYMOUS:
                self._inner.setdefault(function.around, []).append(function)

    def expected(self, note: Annotation) -> set[Edge]:
        return {(self._caller(note), f"{owner}.{note.name}") for owner in note.resolved}

    def found(self, note: Annotation) -> dict[Edge, str]:
        """The expected targets that we have, with the origin of the edge; "" for a path."""
        if note.direct:
            ends = {".".join(self._target(edge.callee)): edge.how for edge in self._edges(note)}
        else:
            ends = dict.fromkeys(self._reached(note), "")
        return {edge: ends[edge[1]] for edge in self.expected(note) if edge[1] in ends}

    def wrong(self, note: Annotation) -> dict[Edge, str]:
        """Our edges from the call of a direct annotation to functions of its name that are not its targets."""
        if not note.direct:
            return {}
        allowed = {target for _, target in self.expected(note)}
        return {
            (self._caller(note), target): e.how
            for e in self._edges(note)
            if (e.callee.path, e.callee.line) not in self._abstract
            and (target := ".".join(self._target(e.callee))) not in allowed
            and target.endswith(f".{note.name}")
        }

    def prohibited(self, note: Annotation) -> dict[Edge, str]:
        ends = {".".join(self._target(e.callee)) for e in self._edges(note)} if note.direct else self._reached(note)
        listed = {f"{owner}.{note.name}" for owner in note.prohibited}
        return {(self._caller(note), target): "prohibited" for target in listed & ends}

    def _caller(self, note: Annotation) -> str:
        return f"{note.path}:{note.method}:{note.line or '*'}"

    def is_inside(self, edge: Edge) -> bool:
        return edge[1].rpartition(".")[0] in self._owners

    def _edges(self, note: Annotation) -> Iterator[CallEdge]:
        """The edges of the annotated method at the annotated line."""
        for caller in self._callers(note):
            for edge in self._out(caller):
                if not note.line or edge.line == note.line:
                    yield edge

    def _callers(self, note: Annotation) -> Iterator[Function]:
        for function in self._graph.functions.values():
            inside = function.path == note.path and note.first_line <= function.line <= note.last_line
            if inside and function.name.rpartition(".")[2] == note.method:
                yield function

    def _out(self, function: Function) -> Iterator[CallEdge]:
        yield from self._graph.callees.get(function.node, ())
        for inner in self._inner.get(function.node, ()):
            yield from self._out(inner)

    def _reached(self, note: Annotation) -> set[str]:
        """All functions that a path from the annotated method reaches."""
        seen: set[int] = set()
        ends: set[str] = set()
        pending = list(self._callers(note))
        while pending:
            for edge in self._out(pending.pop()):
                ends.add(".".join(self._target(edge.callee)))
                if edge.callee.node not in seen:
                    seen.add(edge.callee.node)
                    pending.append(edge.callee)
        return ends

    def _target(self, function: Function) -> tuple[str, str]:
        """The class that declares a function, with its package, and the function's name in byte code."""
        package = self._packages.get(function.path, "")
        name = function.name
        if package and not name.startswith(f"{package}."):
            name = f"{package}.{name}"
        if function.kind in ("class", "enum", "interface"):
            return name, "<init>"
        owner, _, last = name.rpartition(".")
        return owner, "<init>" if function.kind == "constructor" else last
