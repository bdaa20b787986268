"""Points-to constraints of a program, and the work list that propagates values along them.

Source:
    Andersen, "Program Analysis and Specialization for the C Programming Language", 1994, chapter 4, solved with a work
    list.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lci_py.callgraph.program import FLAGS, ITEM, OWNER, RESULT, TAKES
from lci_py.source.dataflow import constraints as ir

#: Kinds of values. A value is one integer: its kind in the low bits, and a number of that kind.
FUNC, CLASS, INSTANCE, OBJECT, MODULE, BOUND, SUPER, METHOD, BUILTIN = range(9)
_BITS = 4
#: The bits of a value that are its kind. A mask, where `kind_of` would be called a million times.
KIND = (1 << _BITS) - 1
#: A variable that may hold more values than this says nothing: it keeps the first ones.
MOST_VALUES = 8
#: Values that are propagated in all: a program of a million lines must not take minutes.
MOST_STEPS = 20_000_000
#: A use of a node's values: its kind, and three operands.
Use = tuple[int, int, int, int]
COPY, LOAD, STORE, SUPER_OF, CALL, EACH, BIND = range(7)
_OF_CALLS = frozenset({LOAD, CALL, EACH})
#: What objects are made for that have no methods of lists and maps.
_PLAIN = frozenset({"prototype", "instance", "created"})


def value_of(kind: int, number: int) -> int:
    return number << _BITS | kind


def kind_of(value: int) -> int:
    return value & KIND


def number_of(value: int) -> int:
    return value >> _BITS


class Site(NamedTuple):
    """A call: nodes of its result and of what is called, the call in the text that it comes from, flags, arguments."""

    result: int
    callee: int
    origin: int
    flags: int
    arguments: tuple[tuple[int, int], ...]


class Function(NamedTuple):
    """A function as calls need it.

    Attributes:
        flags, owner, result, item: As in `source.dataflow.constraints.Function`.
        first: Node of its first parameter, 0 if it has none.
        this: Node of the object that it is called on, where that is no ordinary parameter: 0 if there is none.
        has_this: Whether it has such a parameter.
        singles: Node and name of each parameter that takes one argument.
        rest, named_rest: Nodes of the parameters that take all other arguments, None if there are none.
    """

    flags: int
    owner: int
    result: int
    item: int
    first: int
    this: int
    has_this: bool
    singles: tuple[tuple[int, int], ...]
    rest: int | None
    named_rest: int | None


class Functions:
    """The functions of a program. Most are never called: each is only made when somebody asks for it."""

    def __init__(self) -> None:
        self._known: dict[int, Function] = {}
        self._rows: list[list[int]] = []
        self._parameters: list[list[int]] = []
        self._starts: list[int] = []
        self.results: NDArray[Any] = np.zeros(0, np.int64)

    def take(self, functions: NDArray[Any], parameters: NDArray[Any]) -> None:
        """Take all functions, with nodes, names and classes as the program numbers them.

        Args:
            functions: int64 [f, 6], as in `Program.functions`.
            parameters: int64 [p, 3], of all of them.
        """
        self.results = functions[:, [RESULT, ITEM]].reshape(-1)
        self._rows, self._parameters = functions.tolist(), parameters.tolist()
        self._starts = (np.cumsum(functions[:, TAKES]) - functions[:, TAKES]).tolist()

    def __getitem__(self, number: int) -> Function:
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._made(number)
        return found

    def _made(self, number: int) -> Function:
        row, start = self._rows[number], self._starts[number]
        parameters = self._parameters[start : start + row[TAKES]]
        of_kind: dict[int, list[int]] = {}
        for node, _, kind in parameters:
            of_kind.setdefault(kind, []).append(node)
        first_of = {kind: nodes[0] for kind, nodes in of_kind.items()}
        return Function(
            row[FLAGS],
            row[OWNER],
            row[RESULT],
            row[ITEM],
            parameters[0][0] if parameters else 0,
            first_of.get(ir.THIS, 0),
            ir.THIS in first_of,
            tuple((node, name) for node, name, kind in parameters if kind == ir.SINGLE),
            first_of.get(ir.REST),
            first_of.get(ir.NAMED_REST),
        )


class Constraints:
    """The variables ("nodes") of a program, what they may hold, and how their values are used.

    Most constraints come from the program's text: they are kept as arrays, sorted by the node whose values they use.
    The others arise while values are propagated. `on_load`, `on_store`, `on_bind`, `on_call` and `on_each` are called
    for each value that reaches such a use: they know what the members of a value are, and what a call does.

    Attributes:
        names: Names and keys to their numbers.
        functions: All functions, with nodes and names as the program numbers them.
        function_python: Per function, whether it is Python.
        class_named, class_python: Per class, whether it has a symbol, and whether it is Python.
        sites: Calls as `Site`, with the start and end of their arguments in `arguments`; those of the text first.
        last_names: Per node, the last name of the expression that it stands for in the text.
    """

    def __init__(self) -> None:
        self.names: dict[str, int] = {"": 0}
        self.functions = Functions()
        self.function_python: list[bool] = []
        self.class_named: list[bool] = []
        self.class_python: list[bool] = []
        self.sites: list[tuple[int, int, int, int, int, int]] = []
        self.arguments: list[tuple[int, int]] = []
        self.exports: dict[int, dict[int, int]] = {}
        self.stars: dict[int, list[int]] = {}
        self.members: dict[tuple[int, int], int] = {}
        self.bases: dict[int, list[int]] = {}
        self.free: list[tuple[int, int, int]] = []  # node, name, file
        self.last_names: NDArray[Any] = np.zeros(0, np.int64)
        self.steps = 0
        self.calling = False
        self.on_load: Callable[[int, int, int, int], None]
        self.on_store: Callable[[int, int, int], None]
        self.on_bind: Callable[[int, int, int], None]
        self.on_call: Callable[[int, int], None]
        self.on_each: Callable[[int, int], None]
        self._texts: list[str] = []
        # Per node: the values that it may hold, in the order of their arrival; whether a constraint uses them; whether
        # the node is an argument or is stored.
        self._held: list[dict[int, None] | None] = [None]
        self._watched = bytearray(1)
        self._passed = bytearray(1)
        self._starts: list[int] = [0, 0]
        self._kinds: list[int] = []
        self._first: list[int] = []
        self._second: list[int] = []
        self._of_calls: list[bool] = []  # per node of the text, whether a load, a call or a loop uses its values
        self._more: dict[int, list[Use]] = {}
        self._copied: set[int] = set()
        self._known: set[tuple[int, Use]] = set()
        self._later: list[tuple[int, int]] = []  # calls that `run` has yet to follow: site, value
        self._queue: deque[tuple[int, int]] = deque()
        self._pairs: dict[tuple[int, int], int] = {}
        self._pair_list: list[tuple[int, int]] = []
        self._objects = 0
        self._made: dict[tuple[str, int], int] = {}
        self._plain: set[int] = set()

    # --- numbers --------------------------------------------------------------------------------------------------

    def name(self, text: str) -> int:
        """The number of a name."""
        return self.names.setdefault(text, len(self.names))

    def text(self, name: int) -> str:
        """A name by its number."""
        if len(self._texts) <= name:
            self._texts = list(self.names)
        return self._texts[name]

    def node(self) -> int:
        """A new node."""
        self._held.append(None)
        self._watched.append(0)
        self._passed.append(0)
        return len(self._held) - 1

    def take_nodes(self, number: int) -> int:
        """Add so many nodes and return the first."""
        first = len(self._held)
        self._held.extend([None] * number)
        self._watched.extend(bytes(number))
        self._passed.extend(bytes(number))
        return first

    def site(self, number: int) -> Site:
        """A call by its number."""
        result, callee, origin, flags, start, stop = self.sites[number]
        return Site(result, callee, origin, flags, tuple(self.arguments[start:stop]))

    def add_site(self, site: Site) -> int:
        """Add a call that is not in the text, and return its number."""
        start = len(self.arguments)
        self.arguments.extend(site.arguments)
        for _, source in site.arguments:
            self._passed[source] = 1
        self.sites.append((*site[:4], start, len(self.arguments)))
        return len(self.sites) - 1

    def is_used(self, node: int) -> bool:
        """Whether anything depends on what a node may hold."""
        return bool(self._watched[node] or self._passed[node])

    def made(self, what: str, number: int) -> int:
        """The object that is made for something, once: for the rest parameter of a function, for its generator, ..."""
        found = self._made.get((what, number))
        if found is None:
            found = self._made[what, number] = self.new_object(what in _PLAIN)
        return found

    def new_object(self, plain: bool = False) -> int:
        """A new container; a plain one has no methods of lists and maps."""
        self._objects += 1
        found = value_of(OBJECT, self._objects)
        if plain:
            self._plain.add(found)
        return found

    def is_plain(self, value: int) -> bool:
        """Whether an object has no methods of lists and maps."""
        return value in self._plain

    def pair(self, kind: int, first: int, second: int) -> int:
        """A value made of two parts, such as a bound method or `super()`."""
        key = (first << _BITS | kind, second)
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = len(self._pair_list)
            self._pair_list.append((first, second))
        return value_of(kind, found)

    def parts(self, value: int) -> tuple[int, int]:
        """The two parts of a value that `pair` made."""
        return self._pair_list[number_of(value)]

    def values(self, node: int) -> Iterable[int]:
        """The values that a node may hold, in the order of their arrival."""
        return self._held[node] or ()

    # --- constraints ----------------------------------------------------------------------------------------------

    def settle(self, rows: NDArray[Any], passed: NDArray[Any]) -> None:
        """Take the constraints of the text. Call it once, when all nodes of the text are there.

        Args:
            rows: int64 [4, n]: kind of use, the node whose values are used, and two operands.
            passed: Nodes that are arguments, or are stored.
        """
        rows = self._of_use(rows, passed)
        kinds, nodes, first, second = rows[:, np.argsort(rows[1], kind="stable")]
        self._kinds, self._first, self._second = kinds.tolist(), first.tolist(), second.tolist()
        total = len(self._held)
        of_calls = np.zeros(total, np.bool_)
        of_calls[nodes[np.isin(kinds, list(_OF_CALLS))]] = True
        self._of_calls = of_calls.tolist()
        counts = np.bincount(nodes, minlength=total)
        self._starts = [0, *np.cumsum(counts).tolist()]
        watched = np.frombuffer(self._watched, np.uint8) | (counts > 0)
        watched[0] = 0  # node 0 stands for unknown values
        self._watched = bytearray(watched.tobytes())
        marks = np.zeros(total, np.uint8)
        marks[passed] = 1
        self._passed = bytearray((np.frombuffer(self._passed, np.uint8) | marks).tobytes())

    def _of_use(self, rows: NDArray[Any], passed: NDArray[Any]) -> NDArray[Any]:
        """The constraints without those that fill a node whose values nothing uses."""
        kept = np.frombuffer(self._watched, np.uint8).astype(np.bool_)
        kept[passed] = True
        kept[self.functions.results] = True
        kept[[node for bases in self.bases.values() for node in bases]] = True
        kept[[node for exports in self.exports.values() for node in exports.values()]] = True
        fills = np.isin(rows[0], (COPY, LOAD))
        while True:
            used = kept.copy()
            used[rows[1]] = True
            stay = ~fills | used[rows[2]]
            if stay.all():
                return rows
            rows, fills = rows[:, stay], fills[stay]

    def copy(self, source: int, target: int) -> None:
        """From now on, `target` may hold whatever `source` may hold."""
        key = source << 32 | target
        if source == target or key in self._copied:
            return
        self._copied.add(key)
        self._add(source, (COPY, target, 0, 0))
        held = self._held[source]
        if held:
            give = self.give
            for value in tuple(held):
                give(target, value)

    def load(self, node: int, target: int, key: int, on: int = 0) -> None:
        """`target` may hold a member of whatever `node` may hold, bound to `on` if that is another object."""
        if self._is_new(node, (LOAD, target, key, on)):
            for value in tuple(self._held[node] or ()):
                self.on_load(value, target, key, on)

    def store(self, node: int, key: int, source: int) -> None:
        """Whatever `source` may hold becomes a member of whatever `node` may hold."""
        if self._is_new(node, (STORE, key, source, 0)):
            for value in tuple(self._held[node] or ()):
                self.on_store(value, key, source)

    def call(self, node: int, site: int) -> None:
        """Whatever `node` may hold is called at a site."""
        if self._is_new(node, (CALL, site, 0, 0)):
            self._later.extend((site, value) for value in self._held[node] or ())

    def bind(self, source: int, target: int, on: int) -> None:
        """Like `copy`, but a function becomes a method bound to the object `on`."""
        if self._is_new(source, (BIND, target, on, 0)):
            for value in tuple(self._held[source] or ()):
                self.on_bind(value, target, on)

    def _is_new(self, node: int, use: Use) -> bool:
        """Add a constraint; False if it is there already."""
        known = len(self._known)
        self._known.add((node, use))
        if len(self._known) == known:
            return False
        self._add(node, use)
        return True

    def _add(self, node: int, use: Use) -> None:
        uses = self._more.get(node)
        if uses is None:
            self._more[node] = [use]
        else:
            uses.append(use)
        self._watched[node] = 1

    def give(self, node: int, value: int) -> None:
        """Add a value to those that a node may hold."""
        held = self._held[node]
        if held is None:
            self._held[node] = {value: None}
        elif value in held or len(held) >= MOST_VALUES:
            return
        else:
            held[value] = None
        if self._watched[node]:
            self._queue.append((node, value))

    # --- propagation ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to propagate. All files must be there."""
        self._queue.clear()
        for node, held in enumerate(self._held):
            if held and self._watched[node]:
                self._queue.extend((node, value) for value in held)

    def start_calling(self) -> None:
        """Follow calls from now on. The bases of classes must be known."""
        self.calling = True
        for node, held in enumerate(self._held):
            if held and self._watched[node]:
                of_text = node < len(self._of_calls) and self._of_calls[node]
                if of_text or any(use[0] in _OF_CALLS for use in self._more.get(node, ())):
                    self._queue.extend((node, value) for value in held)

    def run(self) -> None:
        """Propagate values until nothing changes."""
        queue, later, starts, kinds, first, second = (
            self._queue, self._later, self._starts, self._kinds, self._first, self._second
        )  # fmt: skip
        held, watched = self._held, self._watched
        on_load, on_call, pass_on, give = self.on_load, self.on_call, self._pass, self.give
        more, last, steps = self._more, len(starts) - 1, self.steps
        while (queue or later) and steps < MOST_STEPS:
            while later:
                on_call(*later.pop())
            if not queue:
                continue
            node, value = queue.popleft()
            steps += 1
            if node < last:
                for at in range(starts[node], starts[node + 1]):
                    kind = kinds[at]
                    if kind == COPY:
                        # The same as `give`, which is most of the work.
                        target = first[at]
                        values = held[target]
                        if values is None:
                            held[target] = {value: None}
                        elif value in values or len(values) >= MOST_VALUES:
                            continue
                        else:
                            values[value] = None
                        if watched[target]:
                            queue.append((target, value))
                    elif kind == LOAD:
                        on_load(value, first[at], second[at], 0)
                    else:
                        pass_on(value, kind, first[at], second[at], 0)
            if node in more:
                for kind, a, b, c in tuple(more[node]):
                    if kind == COPY:
                        give(a, value)
                    else:
                        pass_on(value, kind, a, b, c)
        self.steps = steps

    def _pass(self, value: int, kind: int, a: int, b: int, c: int) -> None:
        """Apply a use of a node's values to a value."""
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
