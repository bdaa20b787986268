"""What every variable of a program may hold, by propagation: files' constraints put together and solved.

Source:
    Andersen, "Program Analysis and Specialization for the C Programming Language", 1994, chapter 4, solved with a work
    list; instances by class and containers by where they are made, as in Salis et al., "PyCG", ICSE 2021.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from lci_py.source import flow as ir
from lci_py.source.flow import Function

#: Kinds of values; a value is its kind and a number of that kind, in one integer.
FUNC, CLASS, INSTANCE, OBJECT, MODULE, BOUND, SUPER, METHOD, BUILTIN = range(9)
_BITS = 4
#: A variable that may be more than this says nothing any more. It keeps the first ones.
MOST_VALUES = 8
#: Values that are passed on, all in all: a program of a million lines must not take minutes.
MOST_STEPS = 20_000_000


def value_of(kind: int, number: int) -> int:
    """A value."""
    return number << _BITS | kind


def kind_of(value: int) -> int:
    return value & (1 << _BITS) - 1


def number_of(value: int) -> int:
    return value >> _BITS


#: What functions have as members in any case.
OF_FUNCTIONS = frozenset({"call", "apply", "bind"})
#: Objects that belong to functions and are no lists.
_PLAIN = frozenset({"prototype", "instance", "created"})
#: What is done with the values of a node, and its operands.
Use = tuple[int, int, int, int]
_COPY, _LOAD, _STORE, _BIND, _SUPER, _CALL, _EACH = range(7)
_OF_CALLS = (_LOAD, _CALL, _EACH)


class Site(NamedTuple):
    """A call: node of its result, what is called, the node (of the graph) it comes from, line with flags, arguments."""

    result: int
    callee: int
    caller: int
    line: int
    arguments: tuple[tuple[int, int], ...]


def use_copy(target: int) -> Use:
    return (_COPY, target, 0, 0)


def use_load(target: int, key: int) -> Use:
    return (_LOAD, target, key, 0)


def use_store(key: int, source: int) -> Use:
    return (_STORE, key, source, 0)


def use_super(target: int, owner: int) -> Use:
    return (_SUPER, target, owner, 0)


def use_call(site: int) -> Use:
    return (_CALL, site, 0, 0)


def use_each(site: int) -> Use:
    return (_EACH, site, 0, 0)


class Points:
    """The constraints of a program, and what follows from them.

    Nodes, functions, classes and containers are numbered through the whole program. Calls are left to `on_call`.
    """

    def __init__(self, submodule: Callable[[int, str], tuple[int, ...]], methods: frozenset[str]) -> None:
        """
        Args:
            submodule: File and name -> the files of a module inside the package that the file stands for.
            methods: Names of what containers have as methods.
        """
        self.submodule = submodule
        self.methods = methods
        self.names: dict[str, int] = {"": 0}
        self.functions: list[Function] = []
        self.function_node: list[int] = []  # its node in the graph
        self.class_node: list[int] = []  # its symbol's number, -1 if it has none
        self.class_python: list[bool] = []
        self.function_python: list[bool] = []
        self.sites: list[tuple[int, int, int, int, int, int]] = []  # as `Site`, with where its arguments start and end
        self.arguments: list[tuple[int, int]] = []
        self.passed: set[int] = set()  # nodes that are arguments, or are stored
        self.steps = 0
        self._nodes = 1
        self._held: dict[int, set[int]] = {}
        self.uses: dict[int, list[Use]] = {}
        self._copied: set[int] = set()
        self._resolved: dict[tuple[int, int], int] = {}
        self._known: set[tuple[int, Use]] = set()  # uses that were added while solving
        self._later: list[tuple[int, int]] = []  # calls of values that are known: site, value
        self._fields: dict[tuple[int, int], int] = {}
        self._keys: dict[int, list[int]] = {}  # object -> its fields' nodes
        self._all: dict[int, int] = {}  # object -> node of everything in it
        self._pairs: dict[tuple[int, int], int] = {}
        self._pair_list: list[tuple[int, int]] = []
        self._objects = 0
        self._made: dict[tuple[str, int], int] = {}
        self._prototypes: dict[int, int] = {}
        self._plain: set[int] = set()
        self.members: dict[tuple[int, int], int] = {}
        self.bases: dict[int, list[int]] = {}
        self._lineages: dict[int, tuple[int, ...]] = {}
        self.exports: dict[int, dict[int, int]] = {}
        self.stars: dict[int, list[int]] = {}
        self._queue: deque[tuple[int, int]] = deque()
        self.free: list[tuple[int, int, int]] = []  # node, name, file
        self.calling = False
        self.on_call: Callable[[int, int], None] = lambda site, value: None
        self.on_each: Callable[[int, int], None] = lambda site, value: None

    # --- numbers --------------------------------------------------------------------------------------------------

    def name(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def node(self) -> int:
        """A new node."""
        return self.take_nodes(1)

    def take_nodes(self, number: int) -> int:
        """The first of so many new nodes."""
        self._nodes += number
        return self._nodes - number

    def site(self, number: int) -> Site:
        """A call by its number."""
        result, callee, caller, line, start, stop = self.sites[number]
        return Site(result, callee, caller, line, tuple(self.arguments[start:stop]))

    def add_site(self, site: Site) -> int:
        """The number of a call that is not in the text."""
        start = len(self.arguments)
        self.arguments.extend(site.arguments)
        self.passed.update(source for _, source in site.arguments)
        self.sites.append((*site[:4], start, len(self.arguments)))
        return len(self.sites) - 1

    def is_used(self, node: int) -> bool:
        """Whether it matters what a node may be."""
        return node in self.uses or node in self.passed

    def made(self, what: str, number: int) -> int:
        """The object that belongs to something: the rest parameter of a function, its generator, ..."""
        found = self._made.get((what, number))
        if found is None:
            found = self._made[what, number] = self.new_object(what in _PLAIN)
        return found

    def new_object(self, plain: bool = False) -> int:
        """A container; a plain one has no methods of lists and maps."""
        self._objects += 1
        found = value_of(OBJECT, self._objects)
        if plain:
            self._plain.add(found)
        return found

    def pair(self, kind: int, first: int, second: int) -> int:
        """A value of two parts: a bound method, or what `super()` is."""
        key = (first << _BITS | kind, second)
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = len(self._pair_list)
            self._pair_list.append((first, second))
        return value_of(kind, found)

    def parts(self, value: int) -> tuple[int, int]:
        return self._pair_list[number_of(value)]

    def values(self, node: int) -> Iterable[int]:
        return self._held.get(node, ())

    def field(self, obj: int, key: int) -> int:
        """The node of a member of an object."""
        found = self._fields.get((obj, key))
        if found is None:
            found = self._fields[obj, key] = self.node()
            if kind_of(obj) == OBJECT:
                self._keys.setdefault(obj, []).append(found)
                if obj in self._all:
                    self.copy(found, self._all[obj])
        return found

    def everything(self, obj: int) -> int:
        """The node of all that is in an object."""
        found = self._all.get(obj)
        if found is None:
            found = self._all[obj] = self.node()
            for node in self._keys.get(obj, ()):
                self.copy(node, found)
        return found

    # --- constraints ----------------------------------------------------------------------------------------------

    def copy(self, source: int, target: int) -> None:
        """Whatever `source` may be `target` may be, from now on."""
        key = source << 32 | target
        if source == target or key in self._copied:
            return
        self._copied.add(key)
        self.uses.setdefault(source, []).append((_COPY, target, 0, 0))
        held = self._held.get(source)
        if held:
            for value in tuple(held):
                self.give(target, value)

    def load(self, node: int, target: int, key: int, on: int = 0) -> None:
        """A member of whatever `node` may be goes into `target`, bound to `on` if that is another object."""
        if self._use(node, (_LOAD, target, key, on)):
            for value in tuple(self._held.get(node, ())):
                self._load(value, target, key, on)

    def store(self, node: int, key: int, source: int) -> None:
        """What `source` may be becomes a member of whatever `node` may be."""
        if self._use(node, (_STORE, key, source, 0)):
            for value in tuple(self._held.get(node, ())):
                self._store(value, key, source)

    def call(self, node: int, site: int) -> None:
        """Whatever `node` may be is called at a site."""
        if self._use(node, (_CALL, site, 0, 0)):
            self._later.extend((site, value) for value in self._held.get(node, ()))

    def bind(self, source: int, target: int, on: int) -> None:
        """The same as `copy`, but a method becomes one of the object `on`."""
        if self._use(source, (_BIND, target, on, 0)):
            for value in tuple(self._held.get(source, ())):
                self._bind(value, target, on)

    def _use(self, node: int, use: Use) -> bool:
        """Add a constraint; False if it is there."""
        if (node, use) in self._known:
            return False
        self._known.add((node, use))
        self.uses.setdefault(node, []).append(use)
        return True

    def give(self, node: int, value: int) -> None:
        """A value that a variable may have."""
        held = self._held.get(node)
        if held is None:
            held = self._held[node] = set()
        elif value in held or len(held) >= MOST_VALUES:
            return
        held.add(value)
        if node in self.uses:
            self._queue.append((node, value))

    # --- solving --------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Pass values on until nothing changes."""
        queue, uses, give = self._queue, self.uses, self.give
        while (queue or self._later) and self.steps < MOST_STEPS:
            while self._later:
                self.on_call(*self._later.pop())
            if not queue:
                continue
            node, value = queue.popleft()
            self.steps += 1
            for use in tuple(uses[node]):
                kind, a, b, c = use
                if kind == _COPY:
                    give(a, value)
                elif kind == _LOAD:
                    self._load(value, a, b, c)
                elif kind == _STORE:
                    self._store(value, a, b)
                elif kind == _BIND:
                    self._bind(value, a, b)
                elif kind == _SUPER:
                    give(a, self.pair(SUPER, b, value))
                elif not self.calling:
                    continue
                elif kind == _CALL:
                    self.on_call(a, value)
                else:
                    self.on_each(a, value)

    def start(self) -> None:
        """From now on values are passed on: all files are there."""
        self._queue.clear()
        for node, held in self._held.items():
            if node in self.uses:
                self._queue.extend((node, value) for value in held)

    def start_calling(self) -> None:
        """From now on calls are followed: the bases of classes are known."""
        self.calling = True
        for number in range(len(self.class_node)):
            self.lineage(number)
        for node, held in self._held.items():
            if any(use[0] in _OF_CALLS for use in self.uses.get(node, ())):
                self._queue.extend((node, value) for value in held)

    def _store(self, value: int, key: int, source: int) -> None:
        if kind_of(value) in (INSTANCE, OBJECT, CLASS, FUNC, MODULE):
            if kind_of(value) == MODULE:
                node = self.exports.get(number_of(value), {}).get(key)
                if node is not None:
                    self.copy(source, node)
                return
            self.copy(source, self.field(value, key))

    def _load(self, value: int, target: int, key: int, on: int) -> None:
        kind = kind_of(value)
        if kind == OBJECT:
            self._of_object(value, target, key, on)
        elif kind == INSTANCE:
            if self.calling:
                self._of_instance(value, target, key)
        elif kind == CLASS:
            if self.calling:
                self._of_class(number_of(value), target, key, value)
            else:
                node = self.members.get((number_of(value), key))
                if node is not None:
                    self.copy(node, target)
        elif kind == MODULE:
            self._of_module(number_of(value), target, key, set())
        elif kind == FUNC:
            self._of_function(value, target, key)
        elif kind == SUPER and self.calling:
            owner, obj = self.parts(value)
            self._of_lineage(self.lineage_of(obj, owner), target, key, obj)
        elif kind == BUILTIN or (kind == BOUND and self.text(key) in OF_FUNCTIONS):
            self.give(target, self.pair(METHOD, value, key))

    def _of_object(self, value: int, target: int, key: int, on: int) -> None:
        if key == 0:
            self.copy(self.everything(value), target)
            return
        if on and on != value:
            self._member_of(value, target, key, on)
            return
        found = self._resolved.get((value, key))
        if found is None:
            found = self._resolved[value, key] = self.node()
            self._member_of(value, found, key, value)
            if self.text(key) in self.methods and value not in self._plain:
                self.give(found, self.pair(METHOD, value, key))
        self.copy(found, target)

    def _member_of(self, value: int, target: int, key: int, on: int) -> None:
        self.bind(self.field(value, key), target, on)
        if value in self._plain or self.text(key) not in self.methods:  # what is in a list is not one of its methods
            self.bind(self.field(value, 0), target, on)
        self.load(self.prototype(value), target, key, on)

    def prototype(self, value: int) -> int:
        """The node of the objects where members are looked for that an object does not have itself."""
        found = self._prototypes.get(value)
        if found is None:
            found = self._prototypes[value] = self.node()
        return found

    def _of_instance(self, value: int, target: int, key: int) -> None:
        found = self._resolved.get((value, key))
        if found is None:
            # Once for every class and name: there are many more places that look.
            found = self._resolved[value, key] = self.node()
            lineage = self.lineage(number_of(value))
            for owner in lineage:
                self.copy(self.field(value_of(INSTANCE, owner), key), found)
            self._of_lineage(lineage, found, key, value)
        self.copy(found, target)

    def _of_lineage(self, lineage: Sequence[int], target: int, key: int, on: int) -> None:
        for owner in lineage:
            node = self.members.get((owner, key))
            if node is not None:
                self.bind(node, target, on)
                break
        for owner in lineage:
            found = self._fields.get((value_of(CLASS, owner), key))
            if found is not None:
                self.bind(found, target, on)

    def _of_class(self, number: int, target: int, key: int, on: int) -> None:
        if not self.class_python[number] and key == self.name("prototype"):
            self.give(target, on)  # what is put there is a member of its instances
            return
        lineage = self.lineage(number)
        self.copy(self.field(value_of(CLASS, number), key), target)
        for owner in lineage:
            node = self.members.get((owner, key))
            if node is not None:
                self.bind(node, target, on)
                return

    def _of_module(self, file: int, target: int, key: int, seen: set[int]) -> None:
        if file in seen:
            return
        seen.add(file)
        exports = self.exports.get(file)
        if exports is None:
            return
        node = exports.get(key)
        if node is not None:
            self.copy(node, target)
            return
        default = exports.get(self.name("module.exports"))
        if default is not None and key == self.name("default"):
            self.copy(default, target)  # what a CommonJS module is, as others import it
        elif default is not None:
            self.load(default, target, key)
        for star in self.stars.get(file, ()):
            self._of_module(star, target, key, seen)
        for found in self.submodule(file, self._text(key)):
            self.give(target, value_of(MODULE, found))

    def _text(self, name: int) -> str:
        if not hasattr(self, "_texts") or len(self._texts) <= name:
            self._texts: list[str] = list(self.names)
        return self._texts[name]

    def text(self, name: int) -> str:
        """A name by its number."""
        return self._text(name)

    def _of_function(self, value: int, target: int, key: int) -> None:
        if self.text(key) == "prototype":
            self.give(target, self.made("prototype", number_of(value)))
        self.copy(self.field(value, key), target)
        if self.text(key) in OF_FUNCTIONS:
            self.give(target, self.pair(METHOD, value, key))

    def _bind(self, value: int, target: int, on: int) -> None:
        if kind_of(value) != FUNC:
            self.give(target, value)
            return
        function = self.functions[number_of(value)]
        kind = kind_of(on)
        has_this = any(p.kind == ir.THIS for p in function.parameters)
        if function.flags & ir.PROPERTY and kind in (INSTANCE, OBJECT):
            first = function.parameters[0].node if function.parameters else 0
            self.give(first, on)
            self.copy(function.result, target)
        elif function.flags & ir.CLASSMETHOD:
            self.give(target, self.pair(BOUND, value, value_of(CLASS, number_of(on)) if kind == INSTANCE else on))
        elif has_this or (function.owner >= 0 and not function.flags & ir.STATIC and kind == INSTANCE):
            self.give(target, self.pair(BOUND, value, on))
        else:
            self.give(target, value)

    # --- classes --------------------------------------------------------------------------------------------------

    def lineage(self, number: int) -> tuple[int, ...]:
        """A class and its bases in the order in which members are looked for (C3)."""
        found = self._lineages.get(number)
        if found is None:
            self._lineages[number] = (number,)  # should it be among its own bases
            bases: dict[int, None] = {}
            for node in self.bases.get(number, ()):
                for value in sorted(self._held.get(node, ())):
                    if kind_of(value) == CLASS:
                        bases[number_of(value)] = None
            lists = [list(self.lineage(base)) for base in bases] + [list(bases)]
            found = self._lineages[number] = (number, *(item for item in merged(lists) if item != number))
        return found

    def lineage_of(self, obj: int, after: int) -> tuple[int, ...]:
        """The rest of an object's lineage after a class of it."""
        if kind_of(obj) not in (INSTANCE, CLASS):
            return ()
        lineage = self.lineage(number_of(obj))
        if after in lineage:
            return lineage[lineage.index(after) + 1 :]
        return self.lineage(after)[1:]


def merged(lists: list[list[int]]) -> Iterable[int]:
    """C3: the first head that is in no tail, again and again."""
    while True:
        lists = [items for items in lists if items]
        if not lists:
            return
        tails = {item for items in lists for item in items[1:]}
        chosen = next((items[0] for items in lists if items[0] not in tails), lists[0][0])
        yield chosen
        lists = [[item for item in items if item != chosen] for items in lists]
