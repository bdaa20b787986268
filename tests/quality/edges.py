"""Our call edges of a folder as plain values, from a temporary index, for the comparisons with truth sets."""

from __future__ import annotations

import builtins
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from lci_py import app
from lci_py.index.shards.callgraph_tables import SqlTables
from lci_py.search.engine import Engine
from lci_py.types.edges import AMBIGUOUS, CALLS, INHERITS, STEPS
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS

#: Kinds of nodes that are no symbols.
FILE, ANONYMOUS = "file", "anonymous"
#: Kinds of nodes with code of their own. In some truth sets, class bodies are callers as well.
_RUN = FUNCTION_KINDS | TYPE_KINDS | {FILE, ANONYMOUS}


class Function(NamedTuple):
    """A node of the graph.

    Attributes:
        node: Its number in the graph. The anonymous functions of a file are numbered in the order of the text.
        path: POSIX, relative to the root.
        name: Qualified name; "" of a file; of an anonymous function, the qualified name of the symbol around it.
        kind: A symbol's kind, `FILE` or `ANONYMOUS`.
        around: Node of the innermost symbol around it, -1 for none.
    """

    node: int
    path: str
    name: str
    kind: str
    line: int
    end_line: int
    around: int

    def __str__(self) -> str:
        name = f"{self.name}.<anonymous>".lstrip(".") if self.kind == ANONYMOUS else self.name
        return f"{self.path}:{self.line} {self.kind} {name}".rstrip()


class CallEdge(NamedTuple):
    """A call edge of one call site."""

    caller: Function
    callee: Function
    line: int
    step: str
    ambiguous: bool

    @property
    def how(self) -> str:
        return f"line {self.line} {self.step}" + (" ambiguous" if self.ambiguous else "")


class External(NamedTuple):
    """A call that leaves the repository.

    Attributes:
        target: The dotted name of an imported function, the name of a builtin, or else the text of the call up to its
            arguments.
        origin: "import", "builtin" or "unknown".
    """

    caller: Function
    target: str
    origin: str
    line: int


@dataclass(frozen=True)
class Graph:
    """The call graph of one indexed folder."""

    functions: dict[int, Function]
    edges: list[CallEdge]
    externals: list[External]
    bases: dict[int, list[int]]  # nodes of types to those of their bases

    @cached_property
    def by_name(self) -> dict[tuple[str, str], list[Function]]:
        """Symbols by path and qualified name."""
        found: dict[tuple[str, str], list[Function]] = defaultdict(list)
        for function in self.functions.values():
            if function.kind not in (FILE, ANONYMOUS):
                found[function.path, function.name].append(function)
        return found

    @cached_property
    def classes(self) -> dict[str, list[Function]]:
        """Types by the last part of their name."""
        found: dict[str, list[Function]] = defaultdict(list)
        for function in self.functions.values():
            if function.kind in TYPE_KINDS:
                found[function.name.rpartition(".")[2]].append(function)
        return found

    def running(self, function: Function) -> Function:
        """The function that runs the code of a node: for a variable's initialiser, the function or file around it."""
        while function.kind not in _RUN:
            around = self.functions.get(function.around)
            function = around if around is not None else self.files[function.path]
        return function

    def ancestors(self, node: int) -> set[int]:
        """The nodes of all bases of a type, direct and indirect."""
        found: set[int] = set()
        pending = [node]
        while pending:
            fresh = [base for base in self.bases.get(pending.pop(), ()) if base not in found]
            found.update(fresh)
            pending += fresh
        return found

    @cached_property
    def files(self) -> dict[str, Function]:
        """The nodes of the files, by path."""
        return {function.path: function for function in self.functions.values() if function.kind == FILE}

    @cached_property
    def callees(self) -> dict[int, list[CallEdge]]:
        """Edges by the node of their caller."""
        found: dict[int, list[CallEdge]] = defaultdict(list)
        for edge in self.edges:
            found[edge.caller.node].append(edge)
        return found


def read_graph(root: Path) -> Graph:
    """Index a folder and read its call graph.

    Raises:
        lci_py.errors.LciError: It cannot be indexed.
    """
    with indexed(root) as session:
        return graph_of(session)


def graph_of(session: Engine) -> Graph:
    """The call graph of an open index."""
    functions = {function.node: function for function in _functions(session)}
    graph = session.snapshot.graph
    bases: dict[int, list[int]] = defaultdict(list)
    for i in (graph.kind == INHERITS).nonzero()[0].tolist():
        bases[int(graph.source[i])].append(int(graph.target[i]))
    edges = []
    for i in (graph.kind == CALLS).nonzero()[0].tolist():
        step = int(graph.step[i])
        caller, callee = functions[int(graph.source[i])], functions[int(graph.target[i])]
        name, ambiguous = STEPS[step & ~AMBIGUOUS], bool(step & AMBIGUOUS)
        edges.append(CallEdge(caller, callee, int(graph.line[i]), name, ambiguous))
    return Graph(functions, edges, list(_externals(session, functions, edges)), bases)


@contextmanager
def indexed(root: Path) -> Iterator[Engine]:
    """A temporary index of a folder."""
    before = {name: os.environ.get(name) for name in ("LCI_INDEX_DIR", "LCI_CONFIG_DIR")}
    with tempfile.TemporaryDirectory(prefix="lci-quality-") as scratch:
        os.environ.update(LCI_INDEX_DIR=f"{scratch}/index", LCI_CONFIG_DIR=f"{scratch}/config")
        try:
            app.build_index(str(root), jobs=1, defer_dense=True)
            with app.open_engine(str(root), refresh="never") as session:
                yield session
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _functions(session: Engine) -> Iterator[Function]:
    n_symbols, n_files = session.snapshot.graph.n_symbols, session.snapshot.graph.n_files
    paths = session.snapshot.symbols.paths()
    # A new index has one segment, whose numbers are the graph's.
    sql = "SELECT id, file, qualified_name, kind, line, end_line, coalesce(parent, -1) FROM symbols ORDER BY id"
    names = []
    for number, file, name, kind, line, end_line, parent in session.snapshot.symbols.segments[0].execute(sql):
        names.append(name)
        yield Function(number, paths[file], name, kind, line, end_line, parent)
    for file, path in enumerate(paths):
        yield Function(n_symbols + file, path, "", FILE, 0, 0, -1)
    columns = ("lambda_file", "lambda_line", "lambda_end_line", "lambda_symbol")
    anonymous = zip(*(getattr(session.snapshot.graph, column).tolist() for column in columns), strict=True)
    for k, (file, line, end_line, around) in enumerate(anonymous):
        name = names[around] if 0 <= around < n_symbols else ""
        yield Function(n_symbols + n_files + k, paths[file], name, ANONYMOUS, line, end_line, around)


# --- what is called outside the repository ----------------------------------------------------------------------------


def _externals(session: Engine, functions: dict[int, Function], edges: list[CallEdge]) -> Iterator[External]:
    """Calls without an edge whose name is a builtin or imported from outside, by the calls and imports of each file."""
    numbering = session.snapshot.numbering
    connections = [segment.db for segment in session.snapshot.symbols.segments]
    tables = SqlTables(connections, numbering)
    inside = _modules(session.snapshot.symbols.paths())
    reached = {(edge.caller.node, edge.line, _last(edge.callee)) for edge in edges}
    for file, head in enumerate(tables.files.heads):
        facts = tables.facts(file)
        bound: dict[str, str] = {}
        for item in facts.imports:
            if item.module.lstrip(".").split(".")[0] in inside or item.module.startswith("."):
                continue
            target = f"{item.module}.{item.name}" if item.name not in ("", "*") else item.module
            bound[item.alias or item.name or item.module.split(".")[0]] = target
        own = {name for name in facts.names if name}
        for call in tables.calls(file):
            node = facts.first + call.caller if call.caller >= 0 else session.snapshot.graph.n_symbols + file
            if (node, call.line, call.name) in reached:
                continue
            first, _, rest = (f"{call.receiver}.{call.name}" if call.receiver else call.name).partition(".")
            if first in bound:
                yield External(functions[node], ".".join(filter(None, (bound[first], rest))), "import", call.line)
            elif not rest and head.language == "python" and hasattr(builtins, first) and first not in own:
                yield External(functions[node], first, "builtin", call.line)
            else:
                yield External(functions[node], ".".join(filter(None, (first, rest))), "unknown", call.line)


def _last(function: Function) -> str:
    name = function.name
    if function.kind == "constructor":
        name = name.rpartition(".")[0]
    return name.rpartition(".")[2]


def _modules(paths: list[str]) -> set[str]:
    return {part.rpartition(".")[0] or part for path in paths for part in path.split("/")}
