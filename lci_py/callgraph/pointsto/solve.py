"""Solves the constraints of a program: finds the possible targets of each call of a function as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lci_py.callgraph.edges import MOST_HOOKS
from lci_py.callgraph.pointsto.constraints import (
    BOUND,
    BUILTIN,
    CLASS,
    FUNC,
    INSTANCE,
    KIND,
    METHOD,
    MODULE,
    OBJECT,
    SUPER,
    Function,
    Site,
    kind_of,
    methods_called,
    number_of,
    value_of,
)
from lci_py.callgraph.pointsto.library_models import BUILTINS, CALLING, ITERATING, KEEPERS, METHODS, Library
from lci_py.callgraph.pointsto.members import PointsTo
from lci_py.callgraph.pointsto.program_constraints import gather
from lci_py.callgraph.program import (
    FUNCTIONS,
    SITES,
    Program,
    Solution,
    implicit_callee,
    implicit_name,
    solution_of,
)
from lci_py.source.dataflow import constraints as ir
from lci_py.source.frameworks import Hook, hook_packages

#: Maximum number of members that a computed name may mean.
_MOST_MATCHING = 200


class Solver:
    """Solves one program; a second program needs a new solver."""

    def __init__(self, program: Program, submodule: Callable[[int, str], tuple[int, ...]], language: str = "") -> None:
        """Prepares to solve a checked program; see `PointsTo` for the other arguments."""
        self.points = PointsTo(submodule, METHODS, language)
        self._packages = hook_packages(language)
        self._program = program
        self._library = Library(self)
        self.points.on_call = self._call_value
        self.points.on_each = self._iterate_value
        self._targets: set[tuple[int, int, int]] = set()  # call in the text, node of what is called, target
        self._linked: set[tuple[int, int, int]] = set()
        self._special: dict[tuple[int, int], int] = {}  # object and name of an implicit call -> node of the method
        self._extra: dict[tuple[object, ...], int] = {}
        self._callers: list[int] = []  # of the calls in the text: functions, -1 outside of them

    def solve(self) -> Solution:
        """The possible targets of each call."""
        points = self.points
        gather(self._program, points)
        init, constructor = points.name("__init__"), points.name("constructor")
        self._constructors, self._allocators = (init, constructor), (points.name("__new__"),)
        iterated = self._has_method("__iter__", "__next__")
        builtins = BUILTINS | {name for name in ITERATING if iterated}
        builtins |= {name for name, method in CALLING.items() if self._has_method(*methods_called(method))}
        for node, name, file in points.free:
            text = points.text(name)
            if text in builtins or text.partition(".")[0] in self._packages:
                points.give(node, value_of(BUILTIN, name))
            for star in points.stars.get(file, ()):
                source = points.node()
                points.give(source, value_of(MODULE, star))
                points.load(source, node, name)
        points.start()
        points.run()
        points.follow_calls()
        points.run()
        self._give_declared()
        points.run()
        # An unknown decorator is taken to return what it decorates.
        for result, callee, _, flags, start, stop in tuple(points.sites):
            if flags & ir.DECORATOR and start < stop and not self._is_known(callee):
                points.copy(points.arguments[start][1], result)
        points.run()
        self._callbacks()
        return solution_of(self._targets)

    def _has_method(self, *names: str) -> bool:
        """Whether any class of the program has a method with one of the names."""
        numbers = {self.points.names.get(name, -1) for name in names}
        return any(name in numbers for _, name in self.points.members)

    def _give_declared(self) -> None:
        """Give variables without values an object of their declared type: callers outside the repository pass it."""
        values = self.points.values
        missing = [(node, value) for node, of in self.points.typed.tolist() if not values(node) for value in values(of)]
        for node, value in missing:
            if kind_of(value) == CLASS:
                self.points.give(node, value_of(INSTANCE, number_of(value)))

    def _is_known(self, node: int) -> bool:
        points = self.points
        return any(
            v & KIND not in (METHOD, BUILTIN, OBJECT, MODULE) or self._is_by_pattern(v) for v in points.values(node)
        )

    def _is_by_pattern(self, value: int) -> bool:
        """Whether a value stands for all members of an object whose names match a pattern."""
        return value & KIND == METHOD and self.points.parts(value)[1] in self.points.patterns

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call_value(self, site: int, value: int) -> None:
        points = self.points
        kind = value & KIND
        flags = points.sites[site][3]
        if kind == FUNC:
            if flags & ir.CONSTRUCT:
                self._construct_function(site, value)
            else:
                self.link(site, number_of(value), 0)
        elif kind == BOUND:
            function, obj = points.parts(value)
            if flags & ir.CONSTRUCT and points.functions[number_of(function)].has_this:  # `new shapes.Circle()`
                self._construct_function(site, function)
            else:
                self.link(site, number_of(function), obj)
        elif kind == CLASS:
            self._construct(site, value)
        elif kind == INSTANCE:
            if flags & ir.CONSTRUCT:
                return
            node = points.object_of("called", value)
            target = points.field(node, 0)
            points.load(self._holding(value), target, points.name("__call__"))
            points.call(target, site)
        elif kind == SUPER:
            owner, obj = points.parts(value)
            self._constructor(site, points.lineage_of(obj, owner), obj)
        elif kind == METHOD:
            owner, key = points.parts(value)
            if key in points.patterns:
                self._called_by_pattern(site, owner, key)
            elif owner & KIND in (INSTANCE, CLASS):
                name = points.text(key)
                hooks = [hook for hook in points.hooks[number_of(owner)] if name in hook.callers]
                self._run_hooks(site, number_of(owner), hooks, key)
            else:
                self._library.method(site, owner, key)
        elif kind == BUILTIN:
            self._library.function(site, points.text(number_of(value)))

    def _run_hooks(self, site: int, number: int, hooks: Iterable[Hook], caller: int = 0) -> None:
        """Add calls of a class's hooks (methods that a library calls) on an object of the class. `caller` is the name
        (its number) of the library method that calls them.
        """
        points = self.points
        _, callee, origin, *_ = points.sites[site]
        obj = value_of(INSTANCE, number)
        inner = self.synthetic(("hook", site), Site(0, callee, origin, 0, ()))
        names = [name for name in points.hooks_in(number, hooks) if name != caller]
        if len(names) > MOST_HOOKS and self._enclosing_class(origin) in points.lineage(number):
            return  # one of many hooks calls all of them
        holder = points.object_of("hooks", number)
        for name in names:
            target = points.field(holder, name)
            points.load(self._holding(obj), target, name)
            points.call(target, inner)

    def _enclosing_class(self, origin: int) -> int:
        """The class of the method that contains the call `origin` of the text; -1 if the call is in no method."""
        if not self._callers:
            first = self._program.starts(FUNCTIONS)[self._program.owners(SITES)]
            callers = self._program.callers
            self._callers = np.where(callers >= 0, first + callers, -1).tolist()
        function = self._callers[origin]
        return self.points.functions[function].owner if function >= 0 else -1

    def _called_by_pattern(self, site: int, owner: int, key: int) -> None:
        """Add calls of all members of the value `owner` whose names match the pattern `key`."""
        points = self.points
        holder = points.object_of("matching", owner)
        for name in points.matching(owner, key)[:_MOST_MATCHING]:
            target = points.field(holder, name)
            points.load(self._holding(owner), target, name)
            points.call(target, site)

    def _holding(self, value: int) -> int:
        """The node that holds only this value."""
        points = self.points
        node = points.field(points.object_of("holder", value), 0)
        points.give(node, value)
        return node

    def link(self, site: int, function: int, obj: int) -> None:
        """Add a call of a function on the object `obj`; 0 if there is no object."""
        points = self.points
        target = points.functions[function]
        shift = 0
        if obj and target.receiver:
            points.give(target.receiver, obj)
            shift = target.shift
        linked = len(self._linked)
        self._linked.add((site, function, shift))
        if len(self._linked) == linked:
            return
        result, callee, origin, _, start, stop = points.sites[site]
        self._targets.add((origin, callee, function))
        if start < stop:
            self._pass(points.arguments[start:stop], target, function, shift)
        if not result:
            return
        if target.flags & ir.GENERATOR:
            generator = points.object_of("generator", function)
            points.copy(target.item, points.field(generator, 0))
            points.give(result, generator)
        elif points.is_used(result):
            points.copy(target.result, result)

    def _pass(self, arguments: Iterable[tuple[int, int]], callee: Function, function: int, shift: int) -> None:
        """Copy the arguments of a call to a function's parameters; the first `shift` parameters get none."""
        points = self.points
        singles, rest, keywords = callee.singles, callee.rest, callee.named_rest
        if rest is not None:
            points.give(rest, points.object_of("rest", function))
        if keywords is not None:
            points.give(keywords, points.object_of("named", function))
        for position, source in arguments:
            if 0 <= position < len(singles) - shift:
                node = singles[position + shift][0]
                if points.is_used(node):
                    points.copy(source, node)
            elif position == ir.SPREAD:
                for at, (node, _) in enumerate(singles[shift:]):
                    points.load(source, node, points.name(str(at)))
                if rest is not None:
                    points.load(source, points.field(points.object_of("rest", function), 0), 0)
            elif position == ir.SPREAD_NAMED:
                for node, name in singles:
                    text = points.text(name)
                    for key in (text, f'"{text}"', f"'{text}'"):
                        points.load(source, node, points.name(key))
            elif position < 0:
                target = next((node for node, name in singles if name == ~position), None)
                if target is not None:
                    points.copy(source, target)
                elif keywords is not None:
                    text = points.text(~position)
                    for key in (f'"{text}"', f"'{text}'"):
                        points.copy(source, points.field(points.object_of("named", function), points.name(key)))
            elif rest is not None:
                at = position + shift - len(singles)
                points.copy(source, points.field(points.object_of("rest", function), points.name(str(at))))

    def _construct(self, site: int, value: int) -> None:
        points = self.points
        number = number_of(value)
        instance = value_of(INSTANCE, number)
        points.give(points.sites[site][0], instance)
        lineage = points.lineage(number)
        allocates = self._constructor(site, lineage, value, self._allocators)
        if not self._constructor(site, lineage, instance) and not allocates and points.class_named[number]:
            self._edge(site, ~number)

    def _constructor(self, site: int, lineage: Iterable[int], obj: int, names: tuple[int, ...] = ()) -> bool:
        """Add a call of the first constructor in a lineage (a class and its bases) on `obj`; False if there is none."""
        points = self.points
        for owner in lineage:
            for name in names or self._constructors:
                node = points.members.get((owner, name))
                for value in tuple(points.values(node)) if node is not None else ():
                    if kind_of(value) == FUNC:
                        self.link(site, number_of(value), obj)
                        return True
        return False

    def _construct_function(self, site: int, value: int) -> None:
        points = self.points
        obj = points.object_of("instance", number_of(value))
        points.load(self._holding(value), points.prototype(obj), points.name("prototype"))
        points.give(points.site(site).result, obj)
        self.link(site, number_of(value), obj)

    def synthetic(self, key: tuple[object, ...], site: Site) -> int:
        """The number of a call that is not in the text; the call is created once per key."""
        if key not in self._extra:
            self._extra[key] = self.points.add_site(site)
        return self._extra[key]

    def _iterate_value(self, site: int, value: int) -> None:
        """Apply a loop over a value, or an implicit call of one of its methods."""
        points = self.points
        if name := implicit_name(points.sites[site][1]):
            if (target := self._special_method(value, name)) >= 0:
                points.call(target, site)
            return
        each = points.site(site)
        if kind_of(value) == OBJECT:
            points.make_room(each.result)
            points.copy(points.everything(value), each.result)
        elif kind_of(value) == INSTANCE:
            holder = points.object_of("iterated", value)
            iterate, step = points.field(holder, points.name("iter")), points.field(holder, points.name("next"))
            points.load(self._holding(value), iterate, points.name("__iter__"))
            points.load(self._holding(value), iterate, points.name("[Symbol.iterator]"))
            iterator = points.node()
            first = self.synthetic(("iter", site), each._replace(callee=iterate, result=iterator, arguments=()))
            points.call(iterate, first)
            points.load(iterator, step, points.name("__next__"))
            points.load(iterator, step, points.name("next"))
            result = points.field(holder, points.name("result"))
            second = self.synthetic(("next", site), each._replace(callee=step, result=result, arguments=()))
            points.call(step, second)
            points.copy(result, each.result)
            points.load(result, each.result, points.name("value"))
            points.load(iterator, each.result, 0)

    def implicit_call(self, site: int, node: int, name: str) -> None:
        """Add a call of a special method by a built-in function: `len(x)` calls `x.__len__()`."""
        self._each_at(site, implicit_callee(node, self.points.name(name)), node)

    def iterate(self, site: int, node: int) -> int:
        """Add a loop that a built-in function makes, such as `list(x)`; returns the node of the elements."""
        return self.points.sites[self._each_at(site, node, node)][0]

    def _each_at(self, site: int, callee: int, node: int) -> int:
        points = self.points
        key = ("each", site, callee)
        if key not in self._extra:
            result = 0 if implicit_name(callee) else points.node()
            loop = self.synthetic(key, Site(result, callee, points.sites[site][2], 0, ()))
            points.each(node, loop)
        return self._extra[key]

    def _special_method(self, value: int, name: int) -> int:
        """The node of the method that an implicit call runs on an object; -1 if the object has no such method."""
        node = self._special.get((value, name))
        if node is None:
            node = self._special[value, name] = self._find_special_method(value, name)
        return node

    def _find_special_method(self, value: int, name: int) -> int:
        points = self.points
        if value & KIND == INSTANCE:
            lineage = points.lineage(number_of(value))
        elif value & KIND == SUPER:
            owner, obj = points.parts(value)
            lineage = points.lineage_of(obj, owner)
        else:
            return -1
        text = points.text(name)
        attribute = points.names.get(text.rstrip("()="), -1) if text[-1] != "_" else -1
        accessor = points.names.get("__set__" if text[-1] == "=" else "__get__", -1)
        for method in methods_called(text):
            number = points.names.get(method, -1)
            for owner in lineage:
                node = points.members.get((owner, number))
                if node is not None and attribute >= 0:
                    return node
                if node is not None:
                    return self._loaded(self._holding(value), number)
                if (owner, attribute) in points.members:  # a descriptor, or a plain attribute
                    return self._loaded(points.members[owner, attribute], accessor)
        return -1

    def _loaded(self, node: int, name: int) -> int:
        """The node that holds the member `name` of all values of a node."""
        key = ("loaded", node, name)
        if key not in self._extra:
            self._extra[key] = target = self.points.node()
            self.points.load(node, target, name)
        return self._extra[key]

    # --- edges ----------------------------------------------------------------------------------------------------

    def _edge(self, site: int, target: int) -> None:
        _, callee, origin, _, _, _ = self.points.sites[site]
        self._targets.add((origin, callee, target))

    def _callbacks(self) -> None:
        """Add functions that are passed to an unknown callee as targets, since the callee may call them.

        Then add functions without callers that are passed to a function of the program and were lost there, because a
        variable had too many values.
        """
        points = self.points
        arguments, values, parts = points.arguments, points.values, points.parts
        parameters = points.functions.parameters
        lost: list[tuple[int, int]] = []
        hooked = {number for number, hooks in points.hooks.items() if any(hook.takers for hook in hooks)}
        for _, callee, origin, flags, start, stop in points.sites:
            if start == stop or flags & ir.DECORATOR:
                continue
            if hooked:
                self._take_hooks(
                    callee, origin, {v for _, source in arguments[start:stop] for v in values(source)}, hooked
                )
            functions = []
            for _, source in arguments[start:stop]:
                for value in values(source):
                    passed = parts(value)[0] if value & KIND == BOUND else value
                    if passed & KIND == FUNC:
                        functions.append((number_of(passed), source, value))
            if not functions:
                continue
            if self._is_known(callee):
                lost += [
                    (origin, number)
                    for number, source, value in functions
                    if value in points.dropped and source not in parameters
                ]
                continue
            if any(self._is_of_object(value) for value in points.values(callee)):
                continue
            if self._last_name(callee) in KEEPERS:
                continue
            self._targets.update((origin, -1, number) for number, _, _ in functions)
        called = {target for _, _, target in self._targets}
        self._targets.update((origin, -1, number) for origin, number in lost if number not in called)

    def _last_name(self, callee: int) -> str:
        """The last name of the called expression; "" if the expression has no name."""
        names = self.points.last_names
        name = self.points.text(int(names[callee])) if callee < len(names) else ""
        return name.rpartition(".")[2]

    def _take_hooks(self, callee: int, origin: int, passed: set[int], hooked: set[int]) -> None:
        """Add as targets the hooks (methods that a library calls) of classes and objects passed to `callee`."""
        points = self.points
        for value in sorted(passed):
            number = number_of(value)
            if value & KIND not in (CLASS, INSTANCE) or number not in hooked:
                continue
            name = self._last_name(callee)
            hooks = [hook for hook in points.hooks[number] if hook.takers and hook.takers.fullmatch(name)]
            for method in points.hooks_in(number, hooks):
                owner = next(base for base in points.lineage(number) if (base, method) in points.members)
                methods = points.values(points.members[owner, method])
                self._targets.update((origin, -1, number_of(item)) for item in methods if kind_of(item) == FUNC)

    def _is_of_object(self, value: int) -> bool:
        """Whether a value is a built-in method of a container or function, for which there is a library model."""
        return kind_of(value) == METHOD and kind_of(self.points.parts(value)[0]) in (OBJECT, FUNC, BOUND)
