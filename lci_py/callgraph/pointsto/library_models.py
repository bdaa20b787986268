"""Models of built-in functions and containers: what `map`, `append` or `apply` do with functions and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lci_py.callgraph.pointsto.constraints import BOUND, BUILTIN, FUNC, OBJECT, Site, kind_of, number_of
from lci_py.callgraph.pointsto.members import PointsTo
from lci_py.source.dataflow import constraints as ir

#: Methods that put their arguments into a container, and those that return what is in it.
_PUTTERS = frozenset("append add insert appendleft push unshift set extend update".split())
_GETTERS = frozenset(
    """get pop popleft popitem setdefault values items copy shift at find findLast slice concat reverse sort flat
    filter next keys entries""".split()
)
_WHOLE = frozenset("values items copy slice concat reverse sort flat filter keys entries".split())
#: Methods that return a new container with the elements at other indices.
_MOVED = frozenset("slice concat reverse flat filter".split())
#: Methods that call a function with the elements of the container.
_CALLERS = frozenset(
    """forEach map filter find findIndex findLast some every flatMap sort then catch finally reduce
    reduceRight""".split()
)
#: Functions that return their argument, or a copy of that container.
_SAME = frozenset("list tuple set frozenset sorted reversed iter dict copy deepcopy".split())
_CONTAINERS = frozenset("Map Set WeakMap WeakSet Array".split())
BUILTINS = (
    _SAME | _CONTAINERS | {"map", "filter", "next", "enumerate", "zip", "partial", "Object", "Promise", "Reflect"}
)
_GIVES_FIRST = frozenset({"partial", "Promise.resolve", "Promise.all", "Object.freeze", "Object.seal"})
#: Functions that take other functions and do not call them.
KEEPERS = frozenset(
    """wraps update_wrapper isinstance issubclass print id hash type repr str len getattr hasattr setattr callable
    log warn error debug info removeListener removeEventListener off clearTimeout signature getsource append add
    cast""".split()
)
METHODS = _PUTTERS | _GETTERS | _CALLERS


class Calls(Protocol):
    """What the library asks of the solver."""

    @property
    def points(self) -> PointsTo: ...

    def link(self, site: int, function: int, obj: int) -> None:
        """Follow a call of a function at a site."""

    def synthetic(self, key: tuple[object, ...], site: Site) -> int:
        """The number of a call that is not in the text."""


class Library:
    """Follows calls of functions and methods that no file defines."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._points = calls.points
        self._known: dict[str, Callable[[int, Site, list[int]], None]] = {
            "map": self._map,
            "filter": self._filter,
            "next": self._next,
            "enumerate": lambda site, call, found: self._pairs(site, call, found[:1], "1"),
            "zip": self._pairs,
            "Array.of": self._array_of,
            "Array.from": self._array_from,
            "Object.values": self._values,
            "Object.entries": self._entries,
            "Object.create": self._create,
            "Object.setPrototypeOf": self._set_prototype,
            "Object.assign": self._assign,
            **dict.fromkeys(_SAME | _GIVES_FIRST, self._same),
            **dict.fromkeys(_CONTAINERS, self._container),
        }

    def function(self, site: int, name: str) -> None:
        """Follow a call of a built-in function, given by its dotted name."""
        known = self._known.get(name)
        if known is not None:
            call = self._points.site(site)
            known(site, call, [source for position, source in call.arguments if position >= 0])

    def method(self, site: int, value: int, key: int) -> None:
        """Follow a call of a built-in method of a value. `key` is the number of the method's name."""
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
            made = points.made("moved", site)
            points.copy(points.everything(value), points.field(made, 0))
            points.give(call.result, made)
            for source in arguments if name == "concat" else ():
                points.load(source, points.field(made, 0), 0)
        elif name in _WHOLE:
            points.give(call.result, value)
        if name in _GETTERS:
            points.copy(points.everything(value), call.result)

    def _of_function(self, site: int, value: int, name: str) -> None:
        """`f.call(this, ...)`, `f.apply(this, [...])`, `f.bind(this)`."""
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
        """Follow the calls of a function with the elements of a container."""
        points = self._points
        call = points.site(site)
        position = 1 if name.startswith("reduce") else 0
        result = points.node()
        inner = self._calls.synthetic(
            ("each", site, callee, items),
            call._replace(callee=callee, result=result, arguments=((position, items),)),
        )
        points.call(callee, inner)
        made = points.made("results", site)
        points.copy(result, points.field(made, 0))
        if name in ("map", "flatMap", "then"):
            points.give(call.result, made)
        if name in ("then", "reduce", "reduceRight", "catch"):
            points.copy(result, call.result)

    def _same(self, site: int, call: Site, arguments: list[int]) -> None:
        for source in arguments[:1]:
            self._points.copy(source, call.result)

    def _map(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        if not arguments:
            return
        made = points.made("results", site)
        points.give(call.result, made)
        items = points.node()
        for source in arguments[1:]:
            points.load(source, items, 0)
        for source in arguments:  # some functions take the callback last
            self._call_each(site, source, items, "map")

    def _filter(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        self._map(site, call, arguments)
        for source in arguments[1:]:
            points.load(source, points.field(points.made("results", site), 0), 0)

    def _next(self, site: int, call: Site, arguments: list[int]) -> None:
        for source in arguments[:1]:
            self._points.load(source, call.result, 0)

    def _pairs(self, site: int, call: Site, arguments: list[int], only: str = "") -> None:
        points = self._points
        outer, inner = points.made("pairs", site), points.made("pair", site)
        points.give(points.field(outer, 0), inner)
        points.give(call.result, outer)
        for at, source in enumerate(arguments):
            key = points.name(only or str(at))
            points.load(source, points.field(inner, key), 0)

    def _container(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        made = points.made("container", site)
        points.give(call.result, made)
        for source in arguments:
            points.load(source, points.field(made, 0), 0)

    def _array_of(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        made = points.made("container", site)
        points.give(call.result, made)
        for source in arguments:
            points.copy(source, points.field(made, 0))

    def _array_from(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        if len(arguments) < 2:
            self._same(site, call, arguments)
            return
        items = points.field(points.made("items", site), 0)
        points.load(arguments[0], items, 0)
        self._call_each(site, arguments[1], items, "map")

    def _values(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        made = points.made("values", site)
        points.give(call.result, made)
        for source in arguments[:1]:
            points.load(source, points.field(made, 0), 0)

    def _entries(self, site: int, call: Site, arguments: list[int]) -> None:
        points = self._points
        made, pair = points.made("values", site), points.made("pair", site)
        points.give(points.field(made, 0), pair)
        points.give(call.result, made)
        for source in arguments[:1]:
            points.load(source, points.field(pair, points.name("1")), 0)

    def _create(self, site: int, call: Site, arguments: list[int]) -> None:
        made = self._points.made("created", site)
        for source in arguments[:1]:
            self._points.copy(source, self._points.prototype(made))
        self._points.give(call.result, made)

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
