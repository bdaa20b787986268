"""Adds the constraints of files to those of the program, with the nodes, names, functions and calls renumbered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lci_py.callgraph.edges import lambda_node
from lci_py.callgraph.pointsto.constraints import (
    CALL,
    CLASS,
    COPY,
    EACH,
    FUNC,
    INSTANCE,
    LOAD,
    MODULE,
    STORE,
    SUPER_OF,
    Constraints,
    value_of,
)
from lci_py.errors import DamagedIndexError
from lci_py.source.dataflow import constraints as ir
from lci_py.source.dataflow.constraints import Flow, Function


@dataclass(frozen=True)
class FlowFile:
    """A file as the propagation takes it.

    Attributes:
        file: Its number.
        flow: Its constraints.
        first_symbol, first_lambda: Numbers of its first symbol and anonymous function.
        n_symbols, n_lambdas: How many of them it has.
        imports: Per import: the files that it means; the name that it takes from them, "" or "*" for the module itself;
            and for `import a.b` the files of `a`.
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


#: Per kind of constraint, what each operand is: the number of a (n)ode, (s)tring, (f)unction, (c)lass, (i)mport or
#: c(a)ll; + for any other number from 0 upwards; a blank for any number, or for none.
_KINDS = {
    ir.COPY: "nn ", ir.FUNC: "nf ", ir.CLASS: "nc ", ir.IMPORT: "ni ", ir.LOAD: "nns", ir.STORE: "nsn", ir.ITEM: "nns",
    ir.PUT: "nsn", ir.NEW: "n  ", ir.CALL: "nn+", ir.ARG: "a n", ir.SELF: "nc ", ir.SUPER: "ncn", ir.EACH: "nn+",
    ir.FREE: "ns ", ir.MEMBER: "csn", ir.BASE: "cn ", ir.EXPORT: "sn ", ir.STAR: "i  ",
}  # fmt: skip
_OPERANDS = np.array([[ord(what) for what in _KINDS[kind]] for kind in range(len(_KINDS))], np.uint8)
_USES = {ir.COPY: COPY, ir.LOAD: LOAD, ir.ITEM: LOAD, ir.STORE: STORE, ir.PUT: STORE, ir.SUPER: SUPER_OF}
#: Per kind, the columns of the node whose values are used, and of the two operands of the use.
_PLACES = {
    ir.COPY: (2, 1, 3), ir.LOAD: (2, 1, 3), ir.ITEM: (2, 1, 3), ir.STORE: (1, 2, 3), ir.PUT: (1, 2, 3),
    ir.SUPER: (3, 1, 2),
}  # fmt: skip


class Gatherer:
    """Takes files one by one. `settle` hands their constraints to the program."""

    def __init__(self, constraints: Constraints) -> None:
        self._to = constraints
        self._rows: list[NDArray[Any]] = []
        self._sites: list[NDArray[Any]] = []
        self._uses: list[NDArray[Any]] = []
        self._passed: list[NDArray[Any]] = []
        self._named: list[tuple[int, int]] = []  # node and name of each import of something external
        self._n_sites = 0
        self._n_arguments = 0

    def add(self, item: FlowFile) -> None:
        """Take a file.

        Raises:
            DamagedIndexError: Its constraints name something that does not exist.
        """
        rows = np.array(item.flow.rows, np.int64).reshape(-1, 4)
        _check(item, rows)
        to, flow = self._to, item.flow
        names = [to.name(text) for text in flow.strings]
        base = to.take_nodes(flow.nodes - 1) - 1
        first_class = len(to.class_node)
        first_function = len(to.functions)
        to.functions.extend(_function(function, names, base, first_class) for function in flow.functions)
        to.function_node.extend(
            item.first_symbol + f.symbol if f.symbol >= 0 else lambda_node(item.first_lambda - 2 - f.symbol)
            for f in flow.functions
        )
        to.function_python.extend(item.python for _ in flow.functions)
        to.class_node.extend(item.first_symbol + symbol if symbol >= 0 else -1 for symbol in flow.classes)
        to.class_python.extend(item.python for _ in flow.classes)
        _renumber(rows, np.array(names, np.int64), base, first_function, first_class)
        to.exports[item.file] = dict(rows[rows[:, 0] == ir.EXPORT, 1:3].tolist())
        for place in rows[rows[:, 0] == ir.STAR, 1].tolist():
            to.stars.setdefault(item.file, []).extend(item.imports[place][0])
        to.free.extend((node, name, item.file) for node, name in rows[rows[:, 0] == ir.FREE, 1:3].tolist())
        for node, place, head in rows[rows[:, 0] == ir.IMPORT, 1:].tolist():
            _import(to, item, node, place, bool(head))
            if not item.imports[place][0]:
                self._named.append((node, to.name(item.imports[place][1])))
        self._calls(item, rows, first_function)
        self._rows.append(rows[~np.isin(rows[:, 0], _TAKEN)].astype(np.int32))

    def _calls(self, item: FlowFile, rows: NDArray[Any], first_function: int) -> None:
        chosen = rows[np.isin(rows[:, 0], (ir.CALL, ir.EACH))]
        is_call = chosen[:, 0] == ir.CALL
        arguments = rows[rows[:, 0] == ir.ARG]
        self._to.arguments.extend(zip(arguments[:, 2].tolist(), arguments[:, 3].tolist(), strict=True))
        numbers = np.cumsum(is_call) - 1
        starts = self._n_arguments + np.searchsorted(arguments[:, 1], numbers, side="left")
        stops = self._n_arguments + np.searchsorted(arguments[:, 1], numbers, side="right")
        nodes = np.array([~item.file, *self._to.function_node[first_function:]], np.int64)
        callers = nodes[np.array(item.flow.callers, np.int64) + 1]
        stops = np.where(is_call, stops, starts)
        self._sites.append(np.stack([chosen[:, 1], chosen[:, 2], callers, chosen[:, 3], starts, stops]))
        sites = np.arange(self._n_sites, self._n_sites + len(chosen))
        called = np.flatnonzero(chosen[:, 2] > 0)
        kinds = np.where(is_call, CALL, EACH)
        uses = np.stack([kinds, chosen[:, 2], sites, np.zeros_like(sites)])
        self._uses.append(uses[:, called])
        self._passed.append(arguments[:, 3])
        self._n_sites += len(chosen)
        self._n_arguments += len(arguments)

    def settle(self) -> None:
        """Hand all constraints over. Call it once, after the last file."""
        to = self._to
        rows = np.concatenate(self._rows) if self._rows else np.zeros((0, 4), np.int32)
        self._rows.clear()
        kinds = rows[:, 0]
        for kind, value in ((ir.FUNC, FUNC), (ir.CLASS, CLASS), (ir.SELF, INSTANCE)):
            for node, number in rows[kinds == kind, 1:3].tolist():
                to.give(node, value_of(value, number))
        for node, plain in rows[kinds == ir.NEW, 1:3].tolist():
            to.give(node, to.new_object(plain == ir.PLAIN))
        for owner, name, source in rows[kinds == ir.MEMBER, 1:].tolist():
            if (owner, name) not in to.members:
                to.members[owner, name] = to.node()
            to.copy(source, to.members[owner, name])
        for owner, source in rows[kinds == ir.BASE, 1:3].tolist():
            if source:
                to.bases.setdefault(owner, []).append(source)
        to.sites.extend(map(tuple, np.concatenate(self._sites, axis=1).T.tolist()) if self._sites else ())
        for kind, use in _USES.items():
            chosen = rows[kinds == kind].astype(np.int64)
            columns = [chosen[:, place] for place in _PLACES[kind]]
            self._uses.append(np.stack([np.full(len(chosen), use), *columns]))
            if use == STORE:
                self._passed.append(chosen[:, 3])
        loads = self._uses[-len(_USES) :][1][[3, 2]]
        self._named.extend((node, name) for node, name, _ in to.free)
        named = np.array(self._named, np.int64).reshape(-1, 2).T
        to.last_names = np.zeros(to.take_nodes(0), np.int64)
        to.last_names[loads[1]] = loads[0]
        to.last_names[named[0]] = named[1]
        none = np.zeros(0, np.int64)
        to.settle(np.concatenate(self._uses, axis=1), np.concatenate([none, *self._passed]))


_TAKEN = (ir.EXPORT, ir.STAR, ir.FREE, ir.IMPORT, ir.CALL, ir.EACH, ir.ARG)


def _renumber(rows: NDArray[Any], names: NDArray[Any], base: int, first_function: int, first_class: int) -> None:
    """Replace a file's numbers by those of the program, in place."""
    operands = _OPERANDS[rows[:, 0]]
    numbers = rows[:, 1:]
    nodes = (operands == ord("n")) & (numbers > 0)
    numbers[nodes] += base
    strings = operands == ord("s")
    numbers[strings] = names[numbers[strings]]
    numbers[operands == ord("f")] += first_function
    numbers[operands == ord("c")] += first_class
    named = (rows[:, 0] == ir.ARG) & (rows[:, 2] < 0)
    rows[named, 2] = ~names[~rows[named, 2]]


def _check(item: FlowFile, rows: NDArray[Any]) -> None:
    flow = item.flow
    kinds = rows[:, 0]
    if len(rows) and not (int(kinds.min()) >= 0 and int(kinds.max()) <= ir.STAR):
        raise _damaged()
    limits = np.zeros(128, np.int64)
    limits[ord(" ")] = limits[ord("+")] = 1 << 40
    limits[ord("n")], limits[ord("s")], limits[ord("i")] = flow.nodes, len(flow.strings), len(item.imports)
    limits[ord("f")], limits[ord("c")] = len(flow.functions), len(flow.classes)
    limits[ord("a")] = int((kinds == ir.CALL).sum())
    operands = _OPERANDS[kinds]
    numbers = rows[:, 1:]
    good = bool(((numbers >= 0) | (operands == ord(" "))).all() and (numbers < limits[operands]).all())
    arguments = rows[kinds == ir.ARG]
    named = ~arguments[arguments[:, 2] < 0, 2]
    good = good and not (named >= len(flow.strings)).any() and not (np.diff(arguments[:, 1]) < 0).any()
    callers = np.array(flow.callers, np.int64)
    good = good and len(callers) == int(np.isin(kinds, (ir.CALL, ir.EACH)).sum())
    good = good and int(callers.min(initial=0)) >= -1 and int(callers.max(initial=-1)) < len(flow.functions)
    good = good and all(-1 <= symbol < item.n_symbols for symbol in flow.classes)
    for function in flow.functions:
        good = good and -2 - item.n_lambdas < function.symbol < item.n_symbols and function.symbol != -1
        good = good and -1 <= function.owner < len(flow.classes)
        good = good and 0 <= min(function.result, function.item) <= max(function.result, function.item) < flow.nodes
        good = good and all(0 <= p.node < flow.nodes and 0 <= p.name < len(flow.strings) for p in function.parameters)
    if not good or flow.nodes < 1:
        raise _damaged()


def _damaged() -> DamagedIndexError:
    return DamagedIndexError("the symbolic shard: constraints name what there is not")


def _function(function: Function, names: list[int], base: int, first_class: int) -> Function:
    return Function(
        function.symbol,
        first_class + function.owner if function.owner >= 0 else -1,
        function.flags,
        function.result + base,
        function.item + base,
        tuple(p._replace(node=p.node + base, name=names[p.name]) for p in function.parameters),
    )


def _import(to: Constraints, item: FlowFile, node: int, place: int, head: bool) -> None:
    targets, name, heads = item.imports[place]
    if head:
        targets, name = heads, ""
    for target in targets:
        if target == item.file:
            continue
        module = value_of(MODULE, target)
        if name in ("", "*"):
            to.give(node, module)
            if item.python:
                continue
        source = to.node()
        to.give(source, module)
        to.load(source, node, to.name("module.exports" if name in ("", "*") else name))
