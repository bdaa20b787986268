"""One file's constraints into those of the program: its nodes, names, functions and calls get the program's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lci_py.errors import DamagedIndexError
from lci_py.index.links import lambda_node
from lci_py.index.points import (
    CLASS,
    FUNC,
    INSTANCE,
    MODULE,
    Points,
    use_call,
    use_copy,
    use_each,
    use_load,
    use_store,
    use_super,
    value_of,
)
from lci_py.source import flow as ir
from lci_py.source.flow import Flow, Function


@dataclass(frozen=True)
class FlowFile:
    """What the propagation has to know of a file.

    Attributes:
        file: Its number.
        flow: Its constraints.
        first_symbol, first_lambda: Numbers of its first symbol and anonymous function.
        n_symbols, n_lambdas: How many it has.
        imports: Per import, the files that it means, its name in their module ("" or "*": the module itself), and the
            module's dotted head's files for `import a.b`.
        python: Whether it is Python.
    """

    file: int
    flow: Flow
    first_symbol: int
    n_symbols: int
    first_lambda: int
    n_lambdas: int
    imports: Sequence[tuple[tuple[int, ...], str, tuple[int, ...]]]
    python: bool


def gather(points: Points, item: FlowFile) -> None:
    """Add a file's constraints.

    Raises:
        DamagedIndexError: They name what there is not.
    """
    rows = np.array(item.flow.rows, np.int64).reshape(-1, 4)
    _check(item, rows)
    _Gathering(points, item, rows).run()


#: Per constraint and operand, what its numbers count: nodes, strings, functions, classes, imports, or nothing.
_KINDS = {
    ir.COPY: "nn ", ir.FUNC: "nf ", ir.CLASS: "nc ", ir.IMPORT: "ni ", ir.LOAD: "nns", ir.STORE: "nsn", ir.ITEM: "nns",
    ir.PUT: "nsn", ir.NEW: "n  ", ir.CALL: "nn+", ir.ARG: "+ n", ir.SELF: "nc ", ir.SUPER: "ncn", ir.EACH: "nn+",
    ir.FREE: "ns ", ir.MEMBER: "csn", ir.BASE: "cn ", ir.EXPORT: "sn ", ir.STAR: "i  ",
}  # fmt: skip


def _check(item: FlowFile, rows: NDArray[Any]) -> None:
    flow = item.flow
    limits = {
        "n": flow.nodes, "s": len(flow.strings), "f": len(flow.functions), "c": len(flow.classes),
        "i": len(item.imports), "+": 1 << 31,
    }  # fmt: skip
    kinds = rows[:, 0]
    good = not len(kinds) or (int(kinds.min()) >= 0 and int(kinds.max()) <= ir.STAR)
    for kind, operands in _KINDS.items():
        chosen = rows[kinds == kind]
        for place, what in enumerate(operands, 1):
            if what != " " and len(chosen):
                column = chosen[:, place]
                good = good and int(column.min()) >= 0 and int(column.max()) < limits[what]
    calls = int((kinds == ir.CALL).sum())
    arguments = rows[kinds == ir.ARG]
    named = arguments[arguments[:, 2] < 0, 2]
    good = good and not (arguments[:, 1] >= calls).any() and not (~named >= len(flow.strings)).any()
    good = good and not (np.diff(arguments[:, 1]) < 0).any()
    good = good and len(flow.callers) == int(np.isin(kinds, (ir.CALL, ir.EACH)).sum())
    good = good and all(-1 <= caller < len(flow.functions) for caller in flow.callers)
    good = good and all(-1 <= symbol < item.n_symbols for symbol in flow.classes)
    for function in flow.functions:
        good = good and -2 - item.n_lambdas < function.symbol < item.n_symbols and function.symbol != -1
        good = good and -1 <= function.owner < len(flow.classes)
        good = good and 0 <= min(function.result, function.item) <= max(function.result, function.item) < flow.nodes
        good = good and all(0 <= p.node < flow.nodes and 0 <= p.name < len(flow.strings) for p in function.parameters)
    if not good or flow.nodes < 1:
        raise DamagedIndexError("the symbolic shard: constraints name what there is not")


class _Gathering:
    """The work of `gather`."""

    def __init__(self, points: Points, item: FlowFile, rows: NDArray[Any]) -> None:
        self._points = points
        self._item = item
        self._rows = rows
        self._names = np.array([points.name(text) for text in item.flow.strings], np.int64)
        self._base = points.take_nodes(item.flow.nodes - 1) - 1
        self._first_function = len(points.functions)
        self._first_class = len(points.class_node)

    def run(self) -> None:
        points, item, base = self._points, self._item, self._base
        names = self._names.tolist()
        points.functions.extend(self._function(function, names) for function in item.flow.functions)
        for function in item.flow.functions:
            symbol = function.symbol
            known = item.first_symbol + symbol if symbol >= 0 else lambda_node(item.first_lambda - 2 - symbol)
            points.function_node.append(known)
        points.class_node.extend(item.first_symbol + symbol if symbol >= 0 else -1 for symbol in item.flow.classes)
        points.class_python.extend(item.python for _ in item.flow.classes)
        points.function_python.extend(item.python for _ in item.flow.functions)
        for _, (node, source, _) in self._each(ir.COPY):
            points.uses.setdefault(source + base, []).append(use_copy(node + base))
        for kind in (ir.LOAD, ir.ITEM):
            chosen = self._chosen(kind)
            keys = self._names[chosen[:, 3]].tolist()
            for node, obj, key in zip(
                (chosen[:, 1] + base).tolist(), (chosen[:, 2] + base).tolist(), keys, strict=True
            ):
                points.uses.setdefault(obj, []).append(use_load(node, key))
        for kind in (ir.STORE, ir.PUT):
            chosen = self._chosen(kind)
            keys = self._names[chosen[:, 2]].tolist()
            for obj, key, source in zip(
                (chosen[:, 1] + base).tolist(), keys, (chosen[:, 3] + base).tolist(), strict=True
            ):
                points.uses.setdefault(obj, []).append(use_store(key, source))
                points.passed.add(source)
        self._values()
        self._calls()
        self._names_of_file(names)

    def _chosen(self, kind: int) -> NDArray[Any]:
        found: NDArray[Any] = self._rows[self._rows[:, 0] == kind]
        return found

    def _each(self, kind: int) -> list[tuple[int, tuple[int, int, int]]]:
        return [(row[0], (row[1], row[2], row[3])) for row in self._chosen(kind).tolist()]

    def _function(self, function: Function, names: list[int]) -> Function:
        base = self._base
        return Function(
            function.symbol,
            self._first_class + function.owner if function.owner >= 0 else -1,
            function.flags,
            function.result + base,
            function.item + base,
            tuple(p._replace(node=p.node + base, name=names[p.name]) for p in function.parameters),
        )

    def _values(self) -> None:
        points, base = self._points, self._base
        for what, kind, first in (
            (ir.FUNC, FUNC, self._first_function),
            (ir.CLASS, CLASS, self._first_class),
            (ir.SELF, INSTANCE, self._first_class),
        ):
            for _, (node, number, _) in self._each(what):
                points.give(node + base, value_of(kind, first + number))
        for _, (node, plain, _) in self._each(ir.NEW):
            points.give(node + base, points.new_object(plain == ir.PLAIN))
        for _, (node, owner, obj) in self._each(ir.SUPER):
            points.uses.setdefault(obj + base, []).append(use_super(node + base, self._first_class + owner))

    def _calls(self) -> None:
        points, base, rows = self._points, self._base, self._rows
        chosen = rows[np.isin(rows[:, 0], (ir.CALL, ir.EACH))]
        is_call = chosen[:, 0] == ir.CALL
        arguments = self._chosen(ir.ARG)
        first = len(points.arguments)
        position = arguments[:, 2]
        named = position < 0
        position = position.copy()
        position[named] = ~self._names[~position[named]]
        sources = np.where(arguments[:, 3] > 0, arguments[:, 3] + base, 0).tolist()
        points.arguments.extend(zip(position.tolist(), sources, strict=True))
        points.passed.update(sources)
        numbers = np.cumsum(is_call) - 1
        starts = first + np.searchsorted(arguments[:, 1], numbers, side="left")
        stops = np.where(is_call, first + np.searchsorted(arguments[:, 1], numbers, side="right"), starts)
        of_function = points.function_node[self._first_function :]
        callers = [~self._item.file if n < 0 else of_function[n] for n in self._item.flow.callers]
        results = (chosen[:, 1] + base).tolist()
        callees = np.where(chosen[:, 2] > 0, chosen[:, 2] + base, 0).tolist()
        site = len(points.sites)
        points.sites.extend(
            zip(results, callees, callers, chosen[:, 3].tolist(), starts.tolist(), stops.tolist(), strict=True)
        )
        for number, (callee, called) in enumerate(zip(callees, is_call.tolist(), strict=True), site):
            if callee:
                points.uses.setdefault(callee, []).append(use_call(number) if called else use_each(number))

    def _names_of_file(self, names: list[int]) -> None:
        points, item, base = self._points, self._item, self._base
        for _, (owner, name, source) in self._each(ir.MEMBER):
            key = (self._first_class + owner, names[name])
            if key not in points.members:
                points.members[key] = points.take_nodes(1)
            points.copy(source + base, points.members[key])
        for _, (owner, source, _) in self._each(ir.BASE):
            if source:
                points.bases.setdefault(self._first_class + owner, []).append(source + base)
        points.exports[item.file] = {names[name]: node + base for _, (name, node, _) in self._each(ir.EXPORT)}
        for _, (place, _, _) in self._each(ir.STAR):
            points.stars.setdefault(item.file, []).extend(item.imports[place][0])
        for _, (node, name, _) in self._each(ir.FREE):
            points.free.append((node + base, names[name], item.file))
        for _, (node, place, head) in self._each(ir.IMPORT):
            self._import(node + base, place, bool(head))

    def _import(self, node: int, place: int, head: bool) -> None:
        points, item = self._points, self._item
        targets, name, heads = item.imports[place]
        if head:
            targets, name = heads, ""
        for target in targets:
            if target == item.file:
                continue
            module = value_of(MODULE, target)
            if name in ("", "*"):
                points.give(node, module)
                if item.python:
                    continue
                name = "module.exports"
            source = points.take_nodes(1)
            points.give(source, module)
            points.load(source, node, points.name(name))
