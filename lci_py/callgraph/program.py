"""The constraints of all files for the points-to analysis, as arrays, file after file.

The numbers of nodes, names, functions, classes and calls are local to their file (`source.dataflow.constraints`). So
the arrays of a file do not depend on other files, and a refresh reuses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.source.dataflow import constraints as ir
from lci_py.types.record import NamedTuple, dataclass, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.source.dataflow.constraints import Flow

#: Columns of `Program.sizes`: how much of each array belongs to a file, and how many nodes it has.
NODES, PYTHON, STRINGS, LETTERS, ROWS, SITES, FUNCTIONS, PARAMETERS, CLASSES, IMPORTS, TARGETS = range(11)
_COLUMNS = 11
#: Name of an array -> the column with its size, and how many numbers an item has.
_PARTS = {
    "letters": (LETTERS, 1), "string_sizes": (STRINGS, 1), "rows": (ROWS, 4), "lines": (SITES, 1),
    "callers": (SITES, 1), "functions": (FUNCTIONS, 6), "parameters": (PARAMETERS, 3), "classes": (CLASSES, 1),
    "imports": (IMPORTS, 3), "targets": (TARGETS, 1),
}  # fmt: skip
#: The arrays that are stored, with their types.
STORED_PROGRAM = {"files": "i4", "sizes": "i4", **{name: "u1" if name == "letters" else "i4" for name in _PARTS}}
#: Columns of `functions`.
SYMBOL, OWNER, FLAGS, RESULT, ITEM, TAKES = range(6)
#: Per kind of constraint, what each operand is: the number of a (n)ode, (s)tring, (f)unction, (c)lass, (i)mport or
#: c(a)ll; + for any other number from 0 upwards; a blank for any number, or for none.
_KINDS = {
    ir.COPY: "nn ", ir.FUNC: "nf ", ir.CLASS: "nc ", ir.IMPORT: "ni ", ir.LOAD: "nns", ir.STORE: "nsn", ir.ITEM: "nns",
    ir.PUT: "nsn", ir.NEW: "n  ", ir.CALL: "nn+", ir.ARG: "a n", ir.SELF: "nc ", ir.SUPER: "ncn", ir.EACH: "nn+",
    ir.FREE: "ns ", ir.MEMBER: "csn", ir.BASE: "cn ", ir.EXPORT: "sn ", ir.STAR: "i  ", ir.TYPED: "nn ",
    ir.IMPLICIT_CALL: "ns+",
}  # fmt: skip
OPERANDS = np.array([[ord(what) for what in _KINDS[kind]] for kind in range(len(_KINDS))], np.uint8)

#: What an import means: its files; the name that it takes from them, "" or "*" for the module itself; and for
#: `import a.b` the files of `a`.
Meaning = tuple[tuple[int, ...], str, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Program:
    """Constraints of P files, one file after the other.

    Attributes:
        files: int32 [P], the number of each file, ascending.
        sizes: int32 [P * 11], per file, the length of its part of each array: see the columns above.
        letters: uint8, names and keys in UTF-8; the first name of each file is "".
        string_sizes: int32, the number of characters of each name or key.
        rows: int32 [R * 4], constraints, without the lines of calls.
        lines, callers: int32 [C], per row of `SITE_KINDS`: its line; the index of the enclosing function, or -1.
        functions: int32 [f * 6], the fields of `Function`, but with the number of parameters last.
        parameters: int32 [p * 3], the fields of `Parameter`.
        classes: int32, per class, its index among the file's symbols, or -1.
        imports: int32 [i * 3], per import: the imported name, and the numbers of files that the import means, and that
            `a` of `import a.b` means.
        targets: int32, for each import in order, the files that it means, and then the files of `a`.
    """

    files: NDArray[Any]
    sizes: NDArray[Any]
    letters: NDArray[Any]
    string_sizes: NDArray[Any]
    rows: NDArray[Any]
    lines: NDArray[Any]
    callers: NDArray[Any]
    functions: NDArray[Any]
    parameters: NDArray[Any]
    classes: NDArray[Any]
    imports: NDArray[Any]
    targets: NDArray[Any]

    @property
    def n_files(self) -> int:
        return len(self.files)

    @cached_property
    def columns(self) -> NDArray[Any]:
        """int32 [P, 11]: `sizes`, one row per file."""
        rows: NDArray[Any] = self.sizes.reshape(-1, _COLUMNS)
        return rows

    def owners(self, column: int) -> NDArray[Any]:
        """int64: per item of the array whose sizes by file are in this column of `sizes`, the index of its file."""
        return np.repeat(np.arange(self.n_files), self.columns[:, column])

    def starts(self, column: int) -> NDArray[Any]:
        """int64 [P + 1]: where the items of each file start in the array that a column of `sizes` describes."""
        return np.concatenate([[0], np.cumsum(self.columns[:, column], dtype=np.int64)])

    def strings(self) -> list[str]:
        """The names and keys of all files, decoded."""
        try:
            text = self.letters.tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise _damaged_error() from error
        stops = np.cumsum(self.string_sizes, dtype=np.int64).tolist()
        if len(text) != (stops[-1] if stops else 0):
            raise _damaged_error()
        return [text[start:stop] for start, stop in zip([0, *stops], stops, strict=False)]

    def only(self, mask: NDArray[Any]) -> Program:
        """The part of the program for the files where `mask`, bool [P], is true."""
        return self if mask.all() else _take_files([self], np.zeros(int(mask.sum()), np.int64), np.flatnonzero(mask))

    def renumbered(self, numbers: NDArray[Any]) -> Program:
        """The same program with other file numbers; `numbers[old]` is the new number, or -1."""
        files, targets = (numbers[before].astype(np.int32) for before in (self.files, self.targets))
        return replace(self, files=files, targets=targets)

    def with_targets(self, counts: NDArray[Any], targets: NDArray[Any]) -> Program:
        """The same program with other targets of its imports.

        Args:
            counts: int32 [i, 2], the last two columns of `imports`: numbers of files.
            targets: int32, as the attribute `targets`.
        """
        imports, sizes = self.imports.reshape(-1, 3).copy(), self.columns.copy()
        _check(len(counts) == len(imports))
        imports[:, 1:] = counts
        sums = np.bincount(self.owners(IMPORTS), weights=counts.sum(axis=1), minlength=self.n_files)
        sizes[:, TARGETS] = sums.astype(np.int32)
        return replace(self, imports=imports.reshape(-1), sizes=sizes.reshape(-1), targets=targets)


#: Bits of a callee below the name of an implicit call.
_NAME_BITS = 32


class Solution(NamedTuple):
    """The possible targets of a program's calls.

    Attributes:
        site: int32 [n], the call, as an index into `Program.lines`; ascending.
        callee: int32 [n], a number for the called variable, used in this solution only; the lowest bit is 1 for an
            implicit call (`x[k]`, `len(x)`). -1 if the target is passed to an unknown callee.
        target: int32 [n], index of the function in `Program.functions`, or `~class`.
    """

    site: NDArray[Any]
    callee: NDArray[Any]
    target: NDArray[Any]


def implicit_callee(obj: Any, name: Any) -> Any:
    """The callee of an implicit call: one number for the object's node and the method's name; integers or arrays."""
    return obj | name << _NAME_BITS


def implicit_name(callee: Any) -> Any:
    """The number of the method's name in the callee of an implicit call; for any other callee, 0 or less."""
    return callee >> _NAME_BITS


def solution_of(targets: Iterable[tuple[int, int, int]]) -> Solution:
    """Builds a solution from (call, callee, target) in any order; see `implicit_callee` for implicit calls."""
    rows = np.fromiter(chain.from_iterable(targets), np.int64).reshape(-1, 3)
    rows = rows[np.lexsort(rows.T[::-1])]
    _, ranks = np.unique(rows[:, 1], return_inverse=True)
    ranks = ranks.reshape(-1) - int((rows[:, 1] == -1).any())
    callee = np.where(ranks < 0, -1, ranks << 1 | (implicit_name(rows[:, 1]) > 0))
    site, target = rows[:, [0, 2]].astype(np.int32).T
    return Solution(site.copy(), callee.astype(np.int32), target.copy())


def join_programs(programs: Sequence[Program]) -> Program:
    """The union of several programs, sorted by file number."""
    sizes = [program.n_files for program in programs]
    files = np.concatenate([np.zeros(0, np.int32), *(program.files for program in programs)])
    order = np.argsort(files, kind="stable")
    sources = np.repeat(np.arange(len(programs)), sizes)[order]
    places = np.concatenate([np.zeros(0, np.int64), *map(np.arange, sizes)])[order]
    return _take_files(programs, sources, places)


def _take_files(programs: Sequence[Program], sources: NDArray[Any], places: NDArray[Any]) -> Program:
    """Chosen files of several programs: `sources` has the program of each file, `places` its index in that program."""
    # Neighbours in one program are copied together.
    cuts = np.flatnonzero((np.diff(sources) != 0) | (np.diff(places) != 1)) + 1
    firsts = np.append(0, cuts)[: len(places)]
    lasts = np.append(cuts, len(places))[: len(firsts)] - 1
    runs = list(zip(sources[firsts].tolist(), places[firsts].tolist(), (places[lasts] + 1).tolist(), strict=True))
    starts = {column: [program.starts(column).tolist() for program in programs] for column, _ in _PARTS.values()}
    parts = {
        "files": [programs[source].files[start:stop] for source, start, stop in runs],
        "sizes": [programs[source].columns[start:stop].reshape(-1) for source, start, stop in runs],
    }
    for name, (column, width) in _PARTS.items():
        begins = starts[column]
        parts[name] = [
            getattr(programs[source], name)[begins[source][start] * width : begins[source][stop] * width]
            for source, start, stop in runs
        ]
    return Program(**{
        name: np.concatenate([np.zeros(0, f"<{kind}"), *parts[name]]) for name, kind in STORED_PROGRAM.items()
    })  # fmt: skip


def nothing() -> Program:
    """An empty program, without files."""
    return join_programs(())


def of_file(file: int, flow: Flow, meanings: Sequence[Meaning], *, python: bool) -> Program:
    """The program of one file.

    Args:
        file: The number of the file.
        meanings: The meaning of each import.
        python: Whether the file is in Python.
    Raises:
        DamagedIndexError: A number is too large.
    """
    strings = {text: index for index, text in reversed(list(enumerate(flow.strings)))}
    texts = list(flow.strings)
    names = []
    for _, name, _ in meanings:
        if name not in strings:
            strings[name] = len(texts)
            texts.append(name)
        names.append(strings[name])
    letters = "".join(texts).encode("utf-8", "surrogatepass")
    try:
        rows = np.array(flow.rows, np.int32).reshape(-1, 4)
        functions = _table([(*f[:5], len(f.parameters)) for f in flow.functions], 6)
        parameters = _table([p for f in flow.functions for p in f.parameters], 3)
        classes, nodes = np.array(flow.classes, np.int32), np.array([flow.nodes], np.int32)
    except (OverflowError, ValueError, TypeError) as error:
        raise _damaged_error() from error
    calls = np.isin(rows[:, 0], ir.SITE_KINDS)
    lines = rows[calls, 3] & ir.LINE
    rows[calls, 3] &= ~ir.LINE
    targets = [file for means, _, heads in meanings for file in (*means, *heads)]
    imports = [(name, len(means), len(heads)) for name, (means, _, heads) in zip(names, meanings, strict=True)]
    counts = (
        int(nodes[0]), python, len(texts), len(letters), len(rows), len(flow.callers), len(functions),
        len(parameters), len(classes), len(imports), len(targets),
    )  # fmt: skip
    if len(lines) != len(flow.callers):
        raise _damaged_error()
    return Program(
        files=np.array([file], np.int32),
        sizes=np.array(counts, np.int32),
        letters=np.frombuffer(letters, np.uint8),
        string_sizes=np.array([len(text) for text in texts], np.int32),
        rows=rows.reshape(-1),
        lines=lines,
        callers=np.array(flow.callers, np.int32),
        functions=functions.reshape(-1),
        parameters=parameters.reshape(-1),
        classes=classes,
        imports=_table(imports, 3).reshape(-1),
        targets=np.array(targets, np.int32),
    )


def _table(rows: Iterable[Sequence[int]], width: int) -> NDArray[Any]:
    return np.array(list(rows), np.int32).reshape(-1, width)


def is_same_but_for_lines(program: Program, other: Program) -> bool:
    """Whether two programs have the same constraints, apart from the lines of calls and definitions."""
    alike = ("files", "sizes", "letters", "string_sizes", "rows", "callers", "parameters", "imports", "targets")
    functions, others = (part.functions.reshape(-1, 6)[:, OWNER:] for part in (program, other))
    return (
        all(np.array_equal(getattr(program, name), getattr(other, name)) for name in alike)
        and np.array_equal(functions, others)
        and np.array_equal(program.classes >= 0, other.classes >= 0)
    )


# --- an index is data: what it holds is checked before it is used ----------------------------------------------------


def check_sizes(program: Program, n_files: int) -> None:
    """Check that array sizes and file numbers are consistent; like other checks, raises `DamagedIndexError`."""
    files, sizes = program.files, program.sizes
    _check(len(sizes) == len(files) * _COLUMNS and (not len(sizes) or int(sizes.min()) >= 0))
    _check(not len(files) or (int(files[0]) >= 0 and int(files[-1]) < n_files and bool((files[1:] > files[:-1]).all())))
    totals = program.columns.sum(axis=0, dtype=np.int64).tolist()
    _check(all(len(getattr(program, name)) == totals[column] * width for name, (column, width) in _PARTS.items()))
    _check(not len(files) or bool((program.columns[:, [NODES, STRINGS]] > 0).all()))
    _check(bool((program.string_sizes >= 0).all()) and bool((program.lines >= 0).all()))
    _check(not program.string_sizes[program.starts(STRINGS)[:-1]].any())
    _check(totals[NODES] < 1 << 30)
    _check(not len(program.targets) or (int(program.targets.min()) >= 0 and int(program.targets.max()) < n_files))


def check_places(program: Program, n_symbols: NDArray[Any], n_lambdas: NDArray[Any]) -> None:
    """Check the indices of symbols and anonymous functions; `n_symbols` and `n_lambdas` have the counts in each file.

    The sizes of the program must have been checked.
    """
    files = program.files[program.owners(FUNCTIONS)]
    symbols = program.functions.reshape(-1, 6)[:, SYMBOL]
    _check(bool(((symbols < n_symbols[files]) & (symbols != -1) & (symbols > -2 - n_lambdas[files])).all()))
    files = program.files[program.owners(CLASSES)]
    _check(bool(((program.classes >= -1) & (program.classes < n_symbols[files])).all()))
    functions = program.columns[program.owners(SITES), FUNCTIONS]
    _check(bool(((program.callers >= -1) & (program.callers < functions)).all()))


def check_solution(program: Program, solution: Solution) -> None:
    """Check that a solution refers only to calls, variables and functions of the program."""
    site, callee, target = solution
    _check(len(site) == len(callee) == len(target))
    if not len(site):
        return
    _check(int(site.min()) >= 0 and int(site.max()) < len(program.lines) and int(callee.min()) >= -1)
    _check(-len(program.classes) <= int(target.min()) and int(target.max()) < len(program.functions) // 6)
    classes = target[target < 0]
    _check(not (program.classes[~classes] < 0).any())


def check_constraints(program: Program) -> None:
    """Check that the constraints refer only to existing nodes. The sizes of the program must have been checked."""
    sizes, rows, of_rows = program.columns, program.rows.reshape(-1, 4), program.owners(ROWS)
    kinds = rows[:, 0]
    _check(not len(rows) or (int(kinds.min()) >= 0 and int(kinds.max()) < len(OPERANDS)))
    calls = np.bincount(of_rows[kinds == ir.CALL], minlength=program.n_files)
    sites = np.bincount(of_rows[np.isin(kinds, ir.SITE_KINDS)], minlength=program.n_files)
    _check(np.array_equal(sites, sizes[:, SITES]))
    limits = np.full((program.n_files, 128), (1 << 31) - 1, np.int32)
    for what, column in (("n", NODES), ("s", STRINGS), ("i", IMPORTS), ("f", FUNCTIONS), ("c", CLASSES)):
        limits[:, ord(what)] = sizes[:, column]
    limits[:, ord("a")] = calls
    operands, numbers = OPERANDS[kinds], rows[:, 1:]
    limit = limits.reshape(-1)[(of_rows * 128).astype(np.int32)[:, None] + operands]
    good = (numbers >= 0) & (numbers < limit)
    _check(bool((good | (operands == ord(" "))).all()))
    of_arguments, arguments = of_rows[kinds == ir.ARG], rows[kinds == ir.ARG]
    keywords = arguments[:, 2] < 0
    _check(not (~arguments[keywords, 2] >= sizes[of_arguments[keywords], STRINGS]).any())
    _check(not ((arguments[1:, 1] < arguments[:-1, 1]) & (of_arguments[1:] == of_arguments[:-1])).any())
    _check_functions(program)
    imports = program.imports.reshape(-1, 3)
    of_imports = program.owners(IMPORTS)
    _check(bool((imports >= 0).all()) and bool((imports[:, 0] < sizes[of_imports, STRINGS]).all()))
    n_targets = np.bincount(of_imports, weights=imports[:, 1:].sum(axis=1, dtype=np.int64), minlength=program.n_files)
    _check(np.array_equal(n_targets.astype(np.int64), sizes[:, TARGETS]))


def _check_functions(program: Program) -> None:
    sizes, functions = program.columns, program.functions.reshape(-1, 6)
    of_functions = program.owners(FUNCTIONS)
    owners = functions[:, OWNER]
    _check(bool(((owners >= -1) & (owners < sizes[of_functions, CLASSES])).all()))
    nodes = functions[:, [RESULT, ITEM]]
    _check(bool(((nodes >= 0) & (nodes < sizes[of_functions, NODES][:, None])).all()))
    _check(bool((functions[:, TAKES] >= 0).all()))
    takes = np.bincount(of_functions, weights=functions[:, TAKES], minlength=program.n_files)
    _check(np.array_equal(takes.astype(np.int64), sizes[:, PARAMETERS]))
    of_parameters, parameters = program.owners(PARAMETERS), program.parameters.reshape(-1, 3)
    limits = sizes[of_parameters][:, [NODES, STRINGS]]
    _check(bool(((parameters[:, :2] >= 0) & (parameters[:, :2] < limits)).all()))


def _check(holds: bool | np.bool_) -> None:
    if not holds:
        raise _damaged_error()


def _damaged_error() -> DamagedIndexError:
    return DamagedIndexError("the graph: its constraints refer to nodes that do not exist")
