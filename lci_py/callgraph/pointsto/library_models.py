"""Models of built-in functions and containers: the effects of `map`, `append` or `apply` on functions and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lci_py.callgraph.pointsto.constraints import BOUND, BUILTIN, FUNC, OBJECT, Site, kind_of, number_of
from lci_py.callgraph.pointsto.members import PointsTo
from lci_py.source.dataflow import constraints as ir

#: Methods that put their arguments into a container, and those that return what is in it.
_PUTTERS = frozenset("append add insert appendleft push unshift extend update".split())
#: Methods that put their second argument into a container.
_SETTERS = frozenset({"set", "setdefault"})
#: Methods that return what is at a key, or their second argument.
_WITH_DEFAULT = frozenset({"get", "pop", "setdefault"})
_GETTERS = frozenset(
    """get pop popleft popitem setdefault values copy shift at find findLast slice concat reverse sort flat
    filter next keys""".split()
)
_WHOLE = frozenset("values copy slice concat reverse sort flat filter keys".split())
#: Methods that return pairs of keys and values.
_PAIRED = frozenset({"items", "entries"})
#: Methods that return a new container with the elements at other indices.
_MOVED = frozenset("slice concat reverse flat filter".split())
#: Methods that call a function with the elements of the container.
_CALLERS = frozenset(
    """forEach map filter find findIndex findLast some every flatMap sort then catch finally reduce
    reduceRight""".split()
)
#: Functions that return their argument, or a copy of that container.
_SAME = frozenset("list tuple set frozenset sorted reversed iter dict copy deepcopy".split())
_CONTAINERS = frozenset("Set WeakSet Array".split())
_MAPS = frozenset({"Map", "WeakMap"})
#: Modules of Python's library, and functions of theirs, by the names under which the lowering of imports lists them.
_MODULES = frozenset({"argparse", "collections", "copy", "functools", "types"})
_COPIES = frozenset({"copy.copy", "copy.deepcopy", "collections.OrderedDict", "collections.deque"})
_OF_MODULES = _COPIES | {
    "argparse.ArgumentParser", "collections.defaultdict", "functools.partial", "types.SimpleNamespace",
}  # fmt: skip
#: Functions of Python that call a special method of their arguments.
CALLING = {
    "len": "__len__", "str": "__str__", "print": "__str__", "repr": "__repr__", "format": "__format__",
    "hash": "__hash__", "bool": "__bool__", "int": "__int__", "float": "__float__", "abs": "__abs__",
    "bytes": "__bytes__", "round": "__round__", "reversed": "__reversed__", "next": "__next__", "iter": "__iter__",
    "dir": "__dir__",
}  # fmt: skip
#: Functions of Python that iterate over their arguments.
ITERATING = frozenset("list tuple set frozenset sorted enumerate zip map filter sum min max any all dict".split())
#: Those that ask for the length first, and those that compare the elements.
_SIZED = frozenset({"list", "tuple", "sorted"})
_COMPARING = {"sorted": "__lt__", "min": "__lt__", "max": "__gt__"}
BUILTINS = (
    _SAME | _CONTAINERS | _MAPS | _MODULES | _OF_MODULES
    | {"map", "filter", "next", "enumerate", "zip", "Object", "Promise", "Reflect"}
)  # fmt: skip
_GIVES_FIRST = frozenset({"functools.partial", "Promise.resolve", "Promise.all", "Object.freeze", "Object.seal"})
#: Methods of argparse's parsers that return a part of the parser: all parts share one set of defaults.
_PARTS = frozenset("add_subparsers add_parser add_argument_group add_mutually_exclusive_group".split())
_PARSED = frozenset({"parse_args", "parse_intermixed_args"})
_PARSED_IN_PART = frozenset({"parse_known_args", "parse_known_intermixed_args"})
_OF_PARSERS = _PARTS | _PARSED | _PARSED_IN_PART | {"set_defaults"}
#: Functions that take other functions and do not call them.
KEEPERS = frozenset(
    """wraps update_wrapper isinstance issubclass print id hash type repr str len getattr hasattr setattr callable
    log warn error debug info removeListener removeEventListener off clearTimeout signature getsource append add
    cast dict partial SimpleNamespace""".split()
)
#: Methods of containers that call nothing and return no element: `items.remove(x)` means no element of that name.
_SILENT = frozenset("remove discard index count clear reverse indexOf lastIndexOf includes has delete".split())
METHODS = _PUTTERS | _SETTERS | _GETTERS | _PAIRED | _CALLERS | _OF_PARSERS | _SILENT


class Calls(Protocol):
    """The part of the solver that the library models use."""

    @property
    def points(self) -> PointsTo: ...

    def link(self, site: int, function: int, obj: int) -> None:
        """Add a call of a function on an object (0: none) at a site."""

    def synthetic(self, key: tuple[object, ...], site: Site) -> int:
        """Create a call that is not in the text, once per key, and return its number."""

    def implicit_call(self, site: int, node: int, name: str) -> None:
        """Add an implicit call of the special method `name` on the values of a node."""

    def iterate(self, site: int, node: int) -> int:
        """Add a loop over the values of a node, and return the node of the elements."""


class Library:
    """Applies the effects of calls of library functions and methods."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._points = calls.points
        self._known: dict[str, Callable[[int, Site, list[int]], None]] = {
            "map": self._map,
            "filter": self._filter,
            "next": self._next,
            **dict.fromkeys(("enumerate", "Object.entries"), self._index_pairs),
            "zip": self._pairs,
            "Array.of": self._array_of,
            "Array.from": self._array_from,
            "Object.values": lambda site, call, arguments: self._container(site, call, arguments[:1]),
            "Object.create": self._create,
            "Object.setPrototypeOf": self._set_prototype,
            "Object.assign": self._assign,
            "argparse.ArgumentParser": self._parser,
            "collections.defaultdict": self._default_dict,
            "types.SimpleNamespace": self._namespace,
            **dict.fromkeys(_SAME | _GIVES_FIRST | _COPIES, self._same),
            **dict.fromkeys(_CONTAINERS, self._container),
            **dict.fromkeys(_MAPS, self._pairs_by_key),
            "dict": self._dict,
        }

    def function(self, site: int, name: str) -> None:
        """Apply a call of a built-in function, given by its dotted name."""
        call = self._points.site(site)
        arguments = [source for position, source in call.arguments if position >= 0]
        model = self._known.get(name)
        if model is not None:
            model(site, call, arguments)
        if name in CALLING:
            for source in arguments if name == "print" else arguments[:1]:
                self._calls.implicit_call(site, source, CALLING[name])
        elif name in ITERATING:
            for source in arguments:
                elements = self._calls.iterate(site, source)
                if name in _SIZED:
                    self._calls.implicit_call(site, source, "__len__")
                if name in _COMPARING:
                    self._calls.implicit_call(site, elements, _COMPARING[name])

    def method(self, site: int, value: int, key: int) -> None:
        """Apply a call of a built-in method of a value. `key` is the number of the method's name."""
        points = self._points
        name = points.text(key)
        call = points.site(site)
        if kind_of(value) == BUILTIN:
            self.function(site, f"{points.text(number_of(value))}.{name}")
            return
        if kind_of(value) in (FUNC, BOUND):
            self._of_function(site, value, name)
            return
        if kind_of(value) != OBJECT:
            return
        arguments = [source for position, source in call.arguments if position >= 0]
        if name in _OF_PARSERS:
            self._of_parser(site, call, value, name)
            return
        if name in _PUTTERS:
            key_node = points.field(value, 0)
            for source in arguments:
                if name in ("update", "extend"):
                    points.load(source, key_node, 0)
                else:
                    points.copy(source, key_node)
        if name in _CALLERS and arguments:
            self._call_each(site, arguments[0], points.everything(value), name)
        if name in _MOVED:
            obj = points.object_of("moved", site)
            points.copy(points.everything(value), points.field(obj, 0))
            points.give(call.result, obj)
            for source in arguments if name == "concat" else ():
                points.load(source, points.field(obj, 0), 0)
        elif name in _WHOLE:
            points.give(call.result, value)
        if name in _PAIRED:
            outer, inner = points.object_of("pairs", site), points.object_of("pair", site)
            values = points.field(inner, points.name("1"))
            points.make_room(values)
            points.copy(points.everything(value), values)
            points.give(points.field(outer, 0), inner)
            points.give(call.result, outer)
        if name in _GETTERS:
            points.make_room(call.result)
            points.copy(points.everything(value), call.result)
        second = [source for position, source in call.arguments if position == 1]
        for source in second if name in _SETTERS else ():
            points.copy(source, points.field(value, 0))
        for source in second if name in _WITH_DEFAULT else ():
            points.copy(source, call.result)

    def _of_parser(self, site: int, call: Site, value: int, name: str) -> None:
        """Apply a method of argparse. A parser and its result are one object, so that the result has all defaults."""
        points = self._points
        if name == "set_defaults":
            self._put_named(call, value)
        elif name in _PARSED_IN_PART:
            pair = points.object_of("parsed", site)
            points.give(points.field(pair, points.name("0")), value)
            points.give(call.result, pair)
        else:
            points.give(call.result, value)

    def _put_named(self, call: Site, value: int) -> None:
        """Store the arguments that a call passes by name as attributes of an object."""
        for position, source in call.arguments:
            if position < 0:
                self._points.copy(source, self._points.field(value, ~position))

    def _of_function(self, site: int, value: int, name: str) -> None:
        """Apply `f.call(this, ...)`, `f.apply(this, [...])` or `f.bind(this)`."""
        points = self._points
        call = points.site(site)
        arguments = [source for position, source in call.arguments if position >= 0]
        if name == "bind":
            points.give(call.result, value)
            if arguments:
                node = self._this_of(value)
                if node:
                    points.copy(arguments[0], node)
        elif name in ("call", "apply"):
            number = number_of(value) if kind_of(value) == FUNC else number_of(points.parts(value)[0])
            passed = (
                tuple((p - 1, source) for p, source in call.arguments if p > 0 and p < ir.SPREAD)
                if name == "call"
                else tuple((ir.SPREAD, source) for p, source in call.arguments if p == 1)
            )
            inner = self._calls.synthetic(("call", site, value), call._replace(arguments=passed))
            self._calls.link(inner, number, 0)
            node = self._this_of(value)
            if node and arguments:
                points.copy(arguments[0], node)

    def _this_of(self, value: int) -> int:
        number = number_of(value) if kind_of(value) == FUNC else number_of(self._points.parts(value)[0])
        return self._points.functions[number].this

    def _call_each(self, site: int, callee: int, items: int, name: str) -> None:
        """Call a function with each element of a container."""
        points = self._points
        call = points.site(site)
        position = 1 if name.startswith("reduce") else 0
        result = points.node()
        inner = self._calls.synthetic(
            ("each", site, callee, items),
            call._replace(callee=callee, result=result, arguments=((position, items),)),
        )
        points.call(callee, inner)
        results = points.object_of("results", site)
        points.copy(result, points.field(results, 0))
        if name in ("map", "flatMap", "then"):
            points.give(call.result, results)
        if name in ("then", "reduce", "reduceRight", "catch"):
            points.copy(result, call.result)

    def _parser(self, site: int, call: Site, arguments: list[int]) -> None:
        self._points.give(call.result, self._points.object_of("parser", site))

    def _namespace(self, site: int, call: Site, arguments: list[int]) -> None:
        namespace = self._points.object_of("namespace", site)
        self._put_named(call, namespace)
        self._points.give(call.result, namespace)

    def _dict(self, site: int, call: Site, arguments: list[int]) -> None:
        """Apply `dict(a=f)`, whose keys are texts, or `dict(x)`, a copy of x."""
        points = self._points
        keywords = [(~position, source) for position, source in call.arguments if position < 0]
        mapping = points.object_of("dict", site) if keywords else 0
        for key, source in keywords:
            for quote in "\"'":
                points.copy(source, points.field(mapping, points.name(f"{quote}{points.text(key)}{quote}")))
        if mapping:
            points.give(call.result, mapping)
        self._same(site, call, arguments)

    def _default_dict(self, site: int, call: Site, arguments: list[int]) -> None:
        """Apply `defaultdict(list)`: the value of a key may be a new container."""
        points = self._points
        container = points.object_of("container", site)
        points.give(points.field(container, 0), points.object_of("default", site))
        points.give(call.result, container)

    def _pairs_by_key(self, site: int, call: Site, arguments: list[int]) -> None:
        """Apply `new Map([[k, v]])`: `get` returns values, a loop yields pairs."""
        points = self._points
        container, pair = points.object_of("container", site), points.object_of("pair", site)
        values, second = points.field(container, 0), points.name("1")
        points.give(values, pair)
        points.copy(values, points.field(pair, second))
        elements = points.node()
        for source in arguments[:1]:
            points.load(source, elements, 0)
        points.load(elements, values, second)
        points.give(call.result, container)

    def _same(self, site: int, call: Site, arguments: list[int]) -> None:
        for source in arguments[:1]:
            self._points.copy(source, call.result)
        if not call.arguments:  # `list()`
            self._points.give(call.result, self._points.object_of("container", site))

    def _map(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        if not arguments:
            return
        results = points.object_of("results", site)
        points.give(call.result, results)
        items = points.node()
        for source in arguments[1:]:
            points.load(source, items, 0)
        for source in arguments:  # some functions take the callback last
            self._call_each(site, source, items, "map")

    def _filter(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        self._map(site, call, arguments)
        for source in arguments[1:]:
            points.load(source, points.field(points.object_of("results", site), 0), 0)

    def _next(self, site: int, call: Site, arguments: list[int]) -> None:
        for source in arguments[:1]:
            self._points.load(source, call.result, 0)

    def _pairs(self, site: int, call: Site, arguments: list[int], only: str = "") -> None:
        points = self._points
        outer, inner = points.object_of("pairs", site), points.object_of("pair", site)
        points.give(points.field(outer, 0), inner)
        points.give(call.result, outer)
        for at, source in enumerate(arguments):
            key = points.name(only or str(at))
            points.load(source, points.field(inner, key), 0)

    def _container(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        container = points.object_of("container", site)
        points.give(call.result, container)
        for source in arguments:
            points.load(source, points.field(container, 0), 0)

    def _array_of(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        array = points.object_of("container", site)
        points.give(call.result, array)
        for source in arguments:
            points.copy(source, points.field(array, 0))

    def _array_from(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        if len(arguments) < 2:
            self._same(site, call, arguments)
            return
        items = points.field(points.object_of("items", site), 0)
        points.load(arguments[0], items, 0)
        self._call_each(site, arguments[1], items, "map")

    def _index_pairs(self, site: int, call: Site, arguments: list[int]) -> None:
        """Make the result of `enumerate` or `Object.entries`: pairs of a key and an element."""
        self._pairs(site, call, arguments[:1], "1")

    def _create(self, site: int, call: Site, arguments: list[int]) -> None:
        obj = self._points.object_of("created", site)
        for source in arguments[:1]:
            self._points.copy(source, self._points.prototype(obj))
        self._points.give(call.result, obj)

    def _set_prototype(self, site: int, call: Site, arguments: list[int]) -> None:
        if len(arguments) < 2:
            return
        self._points.copy(arguments[0], call.result)
        for value in tuple(self._points.values(arguments[0])):
            if kind_of(value) == OBJECT:
                self._points.copy(arguments[1], self._points.prototype(value))

    def _assign(self, site: int, call: Site, arguments: list[int]) -> None:
        if not arguments:
            return
        self._points.copy(arguments[0], call.result)
        for source in arguments[1:]:
            for value in tuple(self._points.values(source)):
                if kind_of(value) == OBJECT:
                    for key, node in self._points.keys(value):
                        self._points.store(arguments[0], key, node)
