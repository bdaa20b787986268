"""Loads the constraints of a program's files into the analysis, with nodes, names, functions and calls renumbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
    methods_called,
    value_of,
)
from lci_py.callgraph.program import (
    CLASSES,
    FUNCTIONS,
    IMPORTS,
    ITEM,
    NODES,
    OPERANDS,
    OWNER,
    PARAMETERS,
    PYTHON,
    RESULT,
    ROWS,
    STRINGS,
    Program,
    implicit_callee,
)
from lci_py.source.dataflow import constraints as ir

if TYPE_CHECKING:
    from numpy.typing import NDArray

_USES = {ir.COPY: COPY, ir.LOAD: LOAD, ir.ITEM: LOAD, ir.STORE: STORE, ir.PUT: STORE, ir.SUPER: SUPER_OF}
#: Per kind, the columns of the node whose values are used, and of the two operands of the use.
_PLACES = {
    ir.COPY: (2, 1, 3), ir.LOAD: (2, 1, 3), ir.ITEM: (2, 1, 3), ir.STORE: (1, 2, 3), ir.PUT: (1, 2, 3),
    ir.SUPER: (3, 1, 2),
}  # fmt: skip


def gather(program: Program, to: Constraints) -> None:
    """Load a checked program into new constraints."""
    rows = program.rows.reshape(-1, 4).astype(np.int64)
    of_rows = program.owners(ROWS)
    setdefault = to.names.setdefault
    names = np.array([setdefault(text, len(to.names)) for text in program.strings()], np.int64)
    externals: list[tuple[int, int]] = []  # node and name of each import of something external
    bases = _take_files(program, to, rows, names, externals)
    first_name, first_function = program.starts(STRINGS)[:-1], program.starts(FUNCTIONS)[:-1]
    first_class = program.starts(CLASSES)[:-1]
    _functions(program, to, names, bases, first_name, first_class)
    python = program.columns[:, PYTHON].astype(np.bool_)
    to.class_named = (program.classes >= 0).tolist()
    to.class_python = python[program.owners(CLASSES)].tolist()
    _renumber(rows, of_rows, names, first_name, bases, first_function, first_class)
    uses, passed = _calls(program, to, rows, of_rows)
    _settle(to, rows, uses, passed, externals)


def _take_files(
    program: Program, to: Constraints, rows: NDArray[Any], names: NDArray[Any], externals: list[tuple[int, int]]
) -> NDArray[Any]:
    """Create the nodes, exports and imports of each file.

    Returns:
        int64 [P]: the offset of each file's node numbers.
    """
    kinds = rows[:, 0]
    indices = np.flatnonzero(np.isin(kinds, (ir.EXPORT, ir.STAR, ir.FREE, ir.IMPORT)))
    first_row = np.searchsorted(indices, program.starts(ROWS)).tolist()
    outside = rows[indices].tolist()
    nodes = program.columns[:, NODES].tolist()
    python = program.columns[:, PYTHON].tolist()
    first_name, first_import = program.starts(STRINGS).tolist(), program.starts(IMPORTS).tolist()
    imports, targets = program.imports.reshape(-1, 3).tolist(), program.targets.tolist()
    counts = program.imports.reshape(-1, 3)[:, 1:].sum(axis=1, dtype=np.int64)
    first_target = np.concatenate([[0], np.cumsum(counts)]).tolist()
    numbers: list[int] = names.tolist()
    bases = []
    for index, file in enumerate(program.files.tolist()):
        base = to.take_nodes(nodes[index] - 1) - 1
        bases.append(base)
        own, first = numbers[first_name[index] : first_name[index + 1]], first_import[index]
        file_rows = outside[first_row[index] : first_row[index + 1]]
        to.exports[file] = {own[a]: b + base if b > 0 else b for kind, a, b, _ in file_rows if kind == ir.EXPORT}
        for kind, a, _, _ in file_rows:
            if kind == ir.STAR:
                start = first_target[first + a]
                to.stars.setdefault(file, []).extend(targets[start : start + imports[first + a][1]])
        to.free.extend((a + base if a > 0 else a, own[b], file) for kind, a, b, _ in file_rows if kind == ir.FREE)
        for kind, a, b, head in file_rows:
            if kind != ir.IMPORT:
                continue
            name, n_files, n_heads = imports[first + b]
            start = first_target[first + b]
            files, node = targets[start : start + n_files], a + base if a > 0 else a
            heads = targets[start + n_files : start + n_files + n_heads]
            if head or (heads and not files):  # the head of a dotted module, or a submodule
                _import(to, file, node, heads, 0, bool(python[index]))
            else:
                _import(to, file, node, files, own[name], bool(python[index]))
            if not files and not heads:
                externals.append((node, own[name]))
    return np.array(bases, np.int64)


def _import(to: Constraints, file: int, node: int, targets: list[int], name: int, python: bool) -> None:
    """Bind a variable to a name of the imported files; to the modules (files) themselves if `name` is "" or "*"."""
    whole = name in (0, to.name("*"))
    for target in targets:
        if target == file:
            continue
        module = value_of(MODULE, target)
        if whole:
            to.give(node, module)
            if python:
                continue
        if not whole:
            to.origins[node] = (target, name)
        source = to.node()
        to.give(source, module)
        to.load(source, node, to.name("module.exports") if whole else name)


def _functions(
    program: Program, to: Constraints, names: NDArray[Any], bases: NDArray[Any], first_name: NDArray[Any],
    first_class: NDArray[Any],
) -> None:  # fmt: skip
    functions = program.functions.reshape(-1, 6).astype(np.int64)
    of_functions = program.owners(FUNCTIONS)
    functions[:, [RESULT, ITEM]] += bases[of_functions][:, None]
    functions[:, OWNER] = np.where(functions[:, OWNER] >= 0, functions[:, OWNER] + first_class[of_functions], -1)
    parameters = program.parameters.reshape(-1, 3).astype(np.int64)
    files = program.owners(PARAMETERS)
    parameters[:, 0] += bases[files]
    parameters[:, 1] = names[parameters[:, 1] + first_name[files]]
    to.functions.take(functions, parameters, program.columns[:, PYTHON].astype(np.bool_)[of_functions])


def _renumber(
    rows: NDArray[Any], of_rows: NDArray[Any], names: NDArray[Any], first_name: NDArray[Any], bases: NDArray[Any],
    first_function: NDArray[Any], first_class: NDArray[Any],
) -> None:  # fmt: skip
    """Replace the numbers that are local to files by the numbers of the whole program, in place."""
    operands = OPERANDS[rows[:, 0]]
    for column in range(3):
        kinds, numbers = operands[:, column], rows[:, column + 1]
        for what, shift in (("n", bases), ("f", first_function), ("c", first_class)):
            indices = np.flatnonzero((kinds == ord(what)) & (numbers > 0) if what == "n" else kinds == ord(what))
            numbers[indices] += shift[of_rows[indices]]
        indices = np.flatnonzero(kinds == ord("s"))
        numbers[indices] = names[numbers[indices] + first_name[of_rows[indices]]]
    keywords = np.flatnonzero((rows[:, 0] == ir.ARG) & (rows[:, 2] < 0))
    rows[keywords, 2] = ~names[~rows[keywords, 2] + first_name[of_rows[keywords]]]


def _calls(
    program: Program, to: Constraints, rows: NDArray[Any], of_rows: NDArray[Any]
) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """Add calls and loops. Returns (uses, arguments): the calls as constraints, and the nodes of their arguments."""
    kinds = rows[:, 0]
    at = np.flatnonzero(np.isin(kinds, ir.SITE_KINDS))
    site_rows, of_sites = rows[at], of_rows[at]
    implicit = site_rows[:, 0] == ir.IMPLICIT_CALL
    followed = ~implicit | np.isin(site_rows[:, 2], _callable_names(to, rows, site_rows[implicit, 2]))
    objects = np.where(implicit, site_rows[:, 1], site_rows[:, 2])
    site_rows[implicit] = np.stack([  # no result; what is called is the object and the method's name, as one number
        site_rows[implicit, 0], np.zeros(int(implicit.sum()), np.int64),
        implicit_callee(site_rows[implicit, 1], site_rows[implicit, 2]), site_rows[implicit, 3],
    ], axis=1)  # fmt: skip
    is_call = site_rows[:, 0] == ir.CALL
    at_arguments = np.flatnonzero(kinds == ir.ARG)
    arguments = rows[at_arguments]
    to.arguments.extend(zip(arguments[:, 2].tolist(), arguments[:, 3].tolist(), strict=True))
    # Arguments name the calls of their file: make it those of the program.
    calls = np.bincount(of_sites[is_call], minlength=program.n_files)
    first_call = np.cumsum(calls) - calls
    of_call = arguments[:, 1] + first_call[of_rows[at_arguments]]
    numbers = np.cumsum(is_call) - 1
    starts = np.searchsorted(of_call, numbers, side="left")
    stops = np.where(is_call, np.searchsorted(of_call, numbers, side="right"), starts)
    sites = np.arange(len(site_rows))
    columns = (site_rows[:, 1], site_rows[:, 2], sites, site_rows[:, 3], starts, stops)
    to.sites.extend(zip(*(column.tolist() for column in columns), strict=True))
    called = (objects > 0) & followed
    uses = np.stack([np.where(is_call, CALL, EACH), objects, sites, np.zeros_like(sites)])
    return [uses[:, called]], [arguments[:, 3]]


def _callable_names(to: Constraints, rows: NDArray[Any], names: NDArray[Any]) -> NDArray[Any]:
    """The names of implicit calls that can run something: some class has such a method, or a descriptor."""
    members = set(np.unique(rows[rows[:, 0] == ir.MEMBER, 2]).tolist())
    texts = list(to.names)
    described = [end for end, name in (("()", "__get__"), ("=", "__set__")) if to.names.get(name, -1) in members]
    callables = []
    for name in np.unique(names).tolist():
        text = texts[name]
        called = [*methods_called(text), *(text.removesuffix(end) for end in described if text.endswith(end))]
        if any(to.names.get(method, -1) in members for method in called):
            callables.append(name)
    return np.array(callables, np.int64)


def _settle(
    to: Constraints, rows: NDArray[Any], uses: list[NDArray[Any]], passed: list[NDArray[Any]],
    externals: list[tuple[int, int]],
) -> None:  # fmt: skip
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
    to.typed = rows[(kinds == ir.TYPED) & (rows[:, 1:3] > 0).all(axis=1), 1:3]
    for owner, source in rows[kinds == ir.BASE, 1:3].tolist():
        if source:
            to.bases.setdefault(owner, []).append(source)
    for kind, use in _USES.items():
        of_kind = rows[kinds == kind]
        columns = [of_kind[:, column] for column in _PLACES[kind]]
        uses.append(np.stack([np.full(len(of_kind), use), *columns]))
        if kind == ir.PUT:  # what is stored under any key: `table[name] = f`
            for node in np.unique(of_kind[of_kind[:, 2] == 0, 3]).tolist():
                to.make_room(node)
        if use == STORE:
            passed.append(of_kind[:, 3])
    loads = uses[-len(_USES) :][1][[3, 2]]
    externals.extend((node, name) for node, name, _ in to.free)
    pairs = np.array(externals, np.int64).reshape(-1, 2).T
    to.last_names = np.zeros(to.take_nodes(0), np.int64)
    to.last_names[loads[1]] = loads[0]
    to.last_names[pairs[0]] = pairs[1]
    to.settle(np.concatenate(uses, axis=1), np.concatenate(passed))
