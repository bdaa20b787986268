"""Points-to constraints of a program, and the work list that propagates values along them.

Source:
    Andersen, "Program Analysis and Specialization for the C Programming Language", 1994, chapter 4, solved with a work
    list.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.callgraph.program import FLAGS, ITEM, OWNER, RESULT, TAKES
from lci_py.source.dataflow import constraints as ir
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Kinds of values. A value is one integer: its kind in the low bits, and a number of that kind.
FUNC, CLASS, INSTANCE, OBJECT, MODULE, BOUND, SUPER, METHOD, BUILTIN = range(9)
_BITS = 4
#: The bits of a value that are its kind. A mask, where `kind_of` would be called a million times.
KIND = (1 << _BITS) - 1
#: Maximum number of values of a variable: only the first ones are kept.
MOST_VALUES = 8
#: Maximum for a container's elements, if the further ones are functions: a table of commands.
MOST_STORED_VALUES = 64
#: Maximum number of propagation steps: a program of a million lines must not take minutes.
MOST_STEPS = 20_000_000
#: A use of a node's values: its kind, and three operands.
Use = tuple[int, int, int, int]
COPY, LOAD, STORE, SUPER_OF, CALL, EACH, BIND = range(7)
_OF_CALLS = frozenset({LOAD, CALL, EACH})
_CALLED = frozenset({FUNC, CLASS, BOUND})
_STORED = frozenset({FUNC, CLASS, BOUND, INSTANCE})
#: Number of copies from a container that have its limit: to a variable, a result, and the variable for that.
_HOPS = 3
#: Values whose members are only known when calls are followed.
_BOUND_LATER = frozenset({INSTANCE, CLASS, SUPER})
#: Maximum nesting of loads, as for an object's prototypes; deeper ones are deferred.
_MOST_NESTED = 32
#: Up to so many uses of a node are kept as a tuple.
_FEW = 16
#: Reasons to create an object without methods of lists and maps.
_PLAIN = frozenset({"prototype", "instance", "created"})


def value_of(kind: int, number: int) -> int:
    return number << _BITS | kind


def kind_of(value: int) -> int:
    return value & KIND


def number_of(value: int) -> int:
    return value >> _BITS


#: What Python calls if an object does not have a special method: the first of these that it has.
_OTHERWISE = {
    "__bool__": ("__len__",), "__str__": ("__repr__",), "__format__": ("__str__", "__repr__"), "__ne__": ("__eq__",),
    "__contains__": ("__iter__", "__getitem__"), "__reversed__": ("__len__", "__getitem__"),
    "__int__": ("__index__",), "__float__": ("__index__",),
}  # fmt: skip
_OPERATORS = frozenset(
    f"__{name}__" for name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
)


def methods_called(name: str) -> tuple[str, ...]:
    """The methods that an implicit call of the special method `name` may run: the first one that the object has runs.

    Source:
        The Python language reference, 3.3 ("Special method names").
    """
    if name.startswith("__i") and f"__{name[3:]}" in _OPERATORS:  # a += b
        return (name, f"__{name[3:]}")
    return (name, *_OTHERWISE.get(name, ()))


class Site(NamedTuple):
    """A call: nodes of result and callee, the origin (a call in the text), flags, and (position, node) arguments."""

    result: int
    callee: int
    origin: int
    flags: int
    arguments: tuple[tuple[int, int], ...]


class Function(NamedTuple):
    """The parts of a function that the analysis of a call needs. A *node* is a variable of the program.

    Attributes:
        flags, owner, result, item: As in `source.dataflow.constraints.Function`.
        first: Node of its first parameter; 0 if it has none.
        this: Node of the receiver object (`this`), if that is not an ordinary parameter; else 0.
        has_this: Whether the receiver object is not an ordinary parameter.
        receiver: Node of the receiver object, whether or not it is a parameter; 0 if there is none.
        shift: 1 if the receiver object is an ordinary parameter (`self`), else 0.
        singles: Node and name of each parameter that takes one argument.
        rest, named_rest: Nodes of the parameters for further arguments by position and by name; None if missing.
    """

    flags: int
    owner: int
    result: int
    item: int
    first: int
    this: int
    has_this: bool
    receiver: int
    shift: int
    singles: tuple[tuple[int, int], ...]
    rest: int | None
    named_rest: int | None


class Functions:
    """The functions of a program, created on demand: most are never called."""

    def __init__(self) -> None:
        self._known: dict[int, Function] = {}
        self._rows: list[list[int]] = []
        self._parameters: list[list[int]] = []
        self._starts: list[int] = []
        self._python: list[bool] = []
        self.results: NDArray[Any] = np.zeros(0, np.int64)

    @property
    def parameters(self) -> set[int]:
        """The nodes of all parameters."""
        return {row[0] for row in self._parameters}

    def take(self, functions: NDArray[Any], parameters: NDArray[Any], python: NDArray[Any]) -> None:
        """Add all functions, with nodes, names and classes as the program numbers them.

        Args:
            functions: int64 [f, 6], as in `Program.functions`.
            parameters: int64 [p, 3], as in `Program.parameters`, for all functions.
            python: bool [f], whether each function is in Python.
        """
        self.results = functions[:, [RESULT, ITEM]].reshape(-1)
        self._rows, self._parameters = functions.tolist(), parameters.tolist()
        self._starts = (np.cumsum(functions[:, TAKES]) - functions[:, TAKES]).tolist()
        self._python = python.tolist()

    def __getitem__(self, number: int) -> Function:
        function = self._known.get(number)
        if function is None:
            function = self._known[number] = self._make_function(number)
        return function

    def _make_function(self, number: int) -> Function:
        row, start = self._rows[number], self._starts[number]
        parameters = self._parameters[start : start + row[TAKES]]
        singles = tuple((node, name) for node, name, kind in parameters if kind == ir.SINGLE)
        others: dict[int, int] = {}
        if len(singles) < len(parameters):
            for node, _, kind in parameters:
                others.setdefault(kind, node)
        has_this, this = ir.THIS in others, others.get(ir.THIS, 0)
        is_first = not has_this and bool(singles) and self._python[number]
        return Function(
            row[FLAGS],
            row[OWNER],
            row[RESULT],
            row[ITEM],
            parameters[0][0] if parameters else 0,
            this,
            has_this,
            singles[0][0] if is_first else this,
            int(is_first),
            singles,
            others.get(ir.REST),
            others.get(ir.NAMED_REST),
        )


class Constraints:
    """The variables ("nodes") of a program, their possible values, and the uses of these values.

    Most constraints come from the program's text: they are arrays, sorted by the node whose values they use. Further
    constraints arise during propagation. For each value that reaches a use, one of `on_load`, `on_store`, `on_bind`,
    `on_call` and `on_each` is called. Subclasses define there the members of values, and the effects of calls.

    Attributes:
        names: Maps names and keys to their numbers.
        functions: All functions, with nodes and names as the program numbers them.
        class_named, class_python: Per class, whether it has a symbol, and whether it is in Python.
        sites: Calls: the fields of `Site`, but the start and end in `arguments`; calls in the text come first.
        last_names: Per node, the last name of the expression that it stands for in the text.
        typed: int64 [n, 2], node of a variable with a declared type, and node of that type.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {"": 0}
        self.functions = Functions()
        self.class_named: list[bool] = []
        self.class_python: list[bool] = []
        self.sites: list[tuple[int, int, int, int, int, int]] = []
        self.arguments: list[tuple[int, int]] = []
        self.exports: dict[int, dict[int, int]] = {}
        self.stars: dict[int, list[int]] = {}
        #: Node of an imported name -> the module and the name there; of several the last.
        self.origins: dict[int, tuple[int, int]] = {}
        self.members: dict[tuple[int, int], int] = {}
        self.bases: dict[int, list[int]] = {}
        self.free: list[tuple[int, int, int]] = []  # node, name, file
        self.last_names: NDArray[Any] = np.zeros(0, np.int64)
        self.typed: NDArray[Any] = np.zeros((0, 2), np.int64)
        self.steps = 0
        self.calling = False
        self.on_load: Callable[[int, int, int, int], None]
        self.on_store: Callable[[int, int, int], None]
        self.on_bind: Callable[[int, int, int], None]
        self.on_call: Callable[[int, int], None]
        self.on_each: Callable[[int, int], None]
        self._texts: list[str] = []
        # Per node: the values that it may hold, in the order of their arrival, and how they are used: a node that they
        # are copied to, or `~place` of another use in `_table`. Few uses are a tuple.
        self._held: list[tuple[int, ...]] = [()]
        self._uses: list[tuple[int, ...] | list[int]] = [()]
        self._table: list[Use] = []
        self._passed: set[int] = set()  # nodes that are arguments or are stored
        self._followed: set[int] = set()  # nodes whose values a load, a call or a loop uses
        self._copied: set[int] = set()
        self._roomy: set[int] = set()  # nodes that hold what is in containers
        self.dropped: set[int] = set()  # values that some node had no room for
        self._known: set[tuple[int, ...]] = set()
        self._queue: list[tuple[int, int]] = []  # nodes, each with a value that is new
        self._later: list[tuple[int, int]] = []  # calls, each with a value that is called
        self._nested = 0  # loads that are under way
        self._deferred: list[tuple[int, int, int, int]] = []  # those that wait for them to end, each with a value
        self._pairs: dict[tuple[int, int], int] = {}
        self._pair_list: list[tuple[int, int]] = []
        self._objects = 0
        self._made: dict[tuple[str, int], int] = {}
        self._plain: set[int] = set()

    # --- numbers --------------------------------------------------------------------------------------------------

    def name(self, text: str) -> int:
        """The number of a name; a new name is added."""
        number = self.names.get(text)
        if number is None:
            number = self.names[text] = len(self.names)
        return number

    def text(self, name: int) -> str:
        """The name that has a number; the inverse of `name`."""
        if len(self._texts) <= name:
            self._texts = list(self.names)
        return self._texts[name]

    def node(self) -> int:
        """Create a node and return its number."""
        self._held.append(())
        self._uses.append(())
        return len(self._held) - 1

    def take_nodes(self, number: int) -> int:
        """Create `number` nodes and return the number of the first node."""
        first = len(self._held)
        self._held.extend([()] * number)
        self._uses.extend([()] * number)
        return first

    def site(self, number: int) -> Site:
        """The call that has a number."""
        result, callee, origin, flags, start, stop = self.sites[number]
        return Site(result, callee, origin, flags, tuple(self.arguments[start:stop]))

    def add_site(self, site: Site) -> int:
        """Add a call that is not in the text, and return its number."""
        start = len(self.arguments)
        self.arguments.extend(site.arguments)
        self._passed.update(source for _, source in site.arguments)
        self.sites.append((*site[:4], start, len(self.arguments)))
        return len(self.sites) - 1

    def is_used(self, node: int) -> bool:
        """Whether anything depends on the values of a node."""
        return bool(self._uses[node]) or node in self._passed

    def object_of(self, what: str, number: int) -> int:
        """The object for a purpose (`what`) and a number, such as "rest" and a function; it is created once."""
        obj = self._made.get((what, number))
        if obj is None:
            obj = self._made[what, number] = self.new_object(what in _PLAIN)
        return obj

    def new_object(self, plain: bool = False) -> int:
        """Create an object; if `plain`, it is no container: it lacks the methods of lists and maps."""
        self._objects += 1
        obj = value_of(OBJECT, self._objects)
        if plain:
            self._plain.add(obj)
        return obj

    def is_plain(self, value: int) -> bool:
        """Whether an object has no methods of lists and maps."""
        return value in self._plain

    def pair(self, kind: int, first: int, second: int) -> int:
        """A value that has two parts, such as a bound method or `super()`."""
        key = (first << _BITS | kind, second)
        index = self._pairs.get(key)
        if index is None:
            index = self._pairs[key] = len(self._pair_list)
            self._pair_list.append((first, second))
        return value_of(kind, index)

    def parts(self, value: int) -> tuple[int, int]:
        """The two parts of a value that `pair` made."""
        return self._pair_list[number_of(value)]

    def values(self, node: int) -> tuple[int, ...]:
        """The possible values of a node, in the order in which they arrived."""
        return self._held[node]

    # --- constraints ----------------------------------------------------------------------------------------------

    def settle(self, rows: NDArray[Any], passed: NDArray[Any]) -> None:
        """Set the constraints that the program's text gives. Call it once, when all nodes of the text exist.

        Args:
            rows: int64 [4, n]: kind of use, the node whose values are used, and two operands.
            passed: Nodes that are passed as arguments, or are stored.
        """
        rows = self._of_use(rows[:, rows[1] > 0], passed)  # node 0 stands for unknown values
        rows = rows[:, np.argsort(rows[1], kind="stable")]
        kinds, nodes = rows[:2]
        others = np.flatnonzero(kinds != COPY)
        codes = rows[2].copy()
        codes[others] = ~np.arange(len(self._table), len(self._table) + len(others))
        self._table.extend(zip(*rows[[0, 2, 3]][:, others].tolist(), repeat(0)))
        starts = np.flatnonzero(np.diff(nodes, prepend=0))
        targets, uses = tuple(codes.tolist()), self._uses
        bounds = [*starts.tolist(), len(targets)]
        for node, start, stop in zip(nodes[starts].tolist(), bounds, bounds[1:], strict=False):
            # Those of imports and classes are there already: they come last.
            uses[node] = targets[start:stop] + tuple(uses[node]) if uses[node] else targets[start:stop]
        self._passed.update(passed.tolist())
        called = set(nodes[kinds == CALL].tolist())
        self._roomy.update(called & self.functions.parameters)
        self._followed.update(nodes[np.isin(kinds, list(_OF_CALLS))].tolist())

    def _of_use(self, rows: NDArray[Any], passed: NDArray[Any]) -> NDArray[Any]:
        """The constraints (rows) without those that only fill nodes which nothing uses."""
        roots = np.zeros(len(self._held), np.bool_)
        roots[[source >> 32 for source in self._copied]] = True
        roots[[use[1] for use in self._known]] = True
        roots[passed] = True
        roots[self.functions.results] = True
        roots[self.typed[:, 1]] = True
        roots[[node for bases in self.bases.values() for node in bases]] = True
        roots[[node for exports in self.exports.values() for node in exports.values()]] = True
        filled = np.where(np.isin(rows[0], (COPY, LOAD)), rows[2], 0)
        roots[0] = True  # what fills no node stays
        while True:
            used = roots.copy()
            used[rows[1]] = True
            stay = used[filled]
            if stay.all():
                return rows
            rows, filled = rows[:, stay], filled[stay]

    def copy(self, source: int, target: int) -> None:
        """Add a constraint: `target` may hold whatever `source` may hold."""
        key = source << 32 | target
        if source == target or key in self._copied:
            return
        self._copied.add(key)
        uses = self._uses[source]
        if len(uses) < _FEW:
            self._uses[source] = (*uses, target)
        else:
            self._append(source, target)
        source_values = self._held[source]
        if not source_values:
            return
        values = self._held[target]
        if not values and (len(source_values) <= MOST_VALUES or target in self._roomy):
            self._held[target] = source_values
            if self._uses[target]:
                for value in source_values:
                    self._queue.append((target, value))
        elif len(values) < MOST_VALUES or target in self._roomy:
            give = self.give
            for value in source_values:
                give(target, value)
        else:
            self.dropped.update(source_values)

    def load(self, node: int, target: int, key: int, on: int = 0) -> None:
        """Add a constraint: `target` may hold the member `key` of each value of `node`. If `on` is not 0, a method is
        bound to the object `on`.
        """
        if self._is_new((LOAD, node, target, key, on)):
            self._add(node, (LOAD, target, key, on))
            if self._nested == _MOST_NESTED:
                self._deferred.extend((value, target, key, on) for value in self._held[node])
                return
            self._nested += 1
            for value in self._held[node]:
                self.on_load(value, target, key, on)
            self._nested -= 1

    def store(self, node: int, key: int, source: int) -> None:
        """Add a constraint: every value of `source` becomes the member `key` of each value of `node`."""
        if self._is_new((STORE, node, key, source)):
            self._add(node, (STORE, key, source, 0))
            for value in self._held[node]:
                self.on_store(value, key, source)

    def call(self, node: int, site: int) -> None:
        """Add a constraint: every value of `node` is called at a site."""
        if self._is_new((CALL, node, site)):
            self._add(node, (CALL, site, 0, 0))
            self._later.extend((site, value) for value in self._held[node])

    def each(self, node: int, site: int) -> None:
        """Add a constraint: every value of `node` is iterated at a site, or its method is called implicitly."""
        if self._is_new((EACH, node, site)):
            self._add(node, (EACH, site, 0, 0))
            if self.calling:
                for value in self._held[node]:
                    self.on_each(site, value)

    def bind(self, source: int, target: int, on: int) -> None:
        """Add a constraint as `copy`, but a function becomes a method bound to the object `on`."""
        if self._is_new((BIND, source, target, on)):
            self.bind_new(source, target, on)

    def bind_new(self, source: int, target: int, on: int) -> None:
        """Add a constraint as `bind`, which is known to be new."""
        self._add(source, (BIND, target, on, 0))
        for value in self._held[source]:
            self.on_bind(value, target, on)

    def _is_new(self, use: tuple[int, ...]) -> bool:
        """Record a use (its kind, the node whose values are used, operands), and return whether it is new."""
        count = len(self._known)
        self._known.add(use)
        return len(self._known) != count

    def _add(self, node: int, use: Use) -> None:
        reference = ~len(self._table)
        self._table.append(use)
        uses = self._uses[node]
        if len(uses) < _FEW:
            self._uses[node] = (*uses, reference)
        else:
            self._append(node, reference)
        if use[0] in _OF_CALLS:
            self._followed.add(node)

    def _append(self, node: int, use: int) -> None:
        """Append a use to a node that already has many uses."""
        uses = self._uses[node]
        if isinstance(uses, tuple):
            self._uses[node] = [*uses, use]
        else:
            uses.append(use)

    def give(self, node: int, value: int) -> None:
        """Add a possible value to a node."""
        values = self._held[node]
        if value in values or (len(values) >= MOST_VALUES and self._is_full(node, value)):
            return
        self._held[node] = (*values, value)
        if self._uses[node]:
            self._queue.append((node, value))

    def make_room(self, node: int) -> None:
        """Raise the value limit of a node, and of nodes that copy from it in a few steps, to that of a container."""
        roomy = self._roomy
        pending = [(node, 0)]
        for at, hops in pending:
            if at not in roomy:
                roomy.add(at)
                if hops < _HOPS:
                    pending += [(use, hops + 1) for use in self._uses[at] if use >= 0]

    def is_roomy(self, node: int) -> bool:
        """Whether a node has the value limit of a container, which is higher."""
        return node in self._roomy

    def _is_full(self, node: int, value: int) -> bool:
        """Whether a node that holds at least `MOST_VALUES` values rejects a further value."""
        if node in self._roomy and value & KIND in _STORED and len(self._held[node]) < MOST_STORED_VALUES:
            return False
        self.dropped.add(value)
        return True

    # --- propagation ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Queue all values for propagation. All files must have been added."""
        self._queue = [
            (node, value)
            for node, (values, uses) in enumerate(zip(self._held, self._uses, strict=True))
            if values and uses
            for value in values
        ]

    def start_calling(self) -> None:
        """Follow calls from now on. The bases of classes must be known.

        Until then, values only pass through uses other than calls.
        """
        self.calling = True
        table, later, uses_of = self._table, self._later, self._uses
        values_of = self._held
        waiting = [(node, value) for node in sorted(self._followed) for value in values_of[node]]
        waiting = waiting[: max(0, MOST_STEPS - self.steps)]
        for node, value in waiting:
            while later:
                self.on_call(*later.pop())
            is_bound = value & KIND in _BOUND_LATER
            for use in tuple(uses_of[node]):
                if use < 0:
                    kind, a, b, c = table[~use]
                    if is_bound if kind == LOAD else kind in _OF_CALLS:
                        self._pass(value, kind, a, b, c)
        self.steps += len(waiting)

    def run(self) -> None:
        """Propagate values until nothing changes."""
        values_of, uses, table, later = self._held, self._uses, self._table, self._later
        on_load, on_call, on_store, pass_on = self.on_load, self.on_call, self.on_store, self._pass
        calling = self.calling
        while (self._queue or later or self._deferred) and self.steps < MOST_STEPS:
            deferred, self._deferred = self._deferred, []
            for load in deferred:
                on_load(*load)
            # Values in the order of their arrival: all that are new, then all that came of these, ...
            arrived, self._queue = self._queue[: MOST_STEPS - self.steps], []
            append = self._queue.append
            while later:
                on_call(*later.pop())
            for node, value in arrived:
                while later:
                    on_call(*later.pop())
                of_node = uses[node]
                # More may be added meanwhile, with their values.
                for use in of_node if of_node.__class__ is tuple else of_node[:]:
                    if use >= 0:
                        # The same as `give`, which is most of the work.
                        values = values_of[use]
                        if not values:
                            values_of[use] = (value,)
                        elif value in values or (len(values) >= MOST_VALUES and self._is_full(use, value)):
                            continue
                        else:
                            values_of[use] = (*values, value)
                        if uses[use]:
                            append((use, value))
                    else:
                        kind, a, b, c = table[~use]
                        if kind == LOAD:
                            on_load(value, a, b, c)
                        elif kind == CALL:
                            if calling:
                                on_call(a, value)
                        elif kind == STORE:
                            on_store(value, a, b)
                        else:
                            pass_on(value, kind, a, b, c)
            self.steps += len(arrived) + len(deferred)

    def _pass(self, value: int, kind: int, a: int, b: int, c: int) -> None:
        """Apply one use of a node to one of its values."""
        if kind == LOAD:
            self.on_load(value, a, b, c)
        elif kind == CALL:
            if self.calling:
                self.on_call(a, value)
        elif kind == STORE:
            self.on_store(value, a, b)
        elif kind == BIND:
            self.on_bind(value, a, b)
        elif kind == SUPER_OF:
            self.give(a, self.pair(SUPER, b, value))
        elif self.calling:
            self.on_each(a, value)
