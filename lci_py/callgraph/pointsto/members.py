"""Models the members of values: of objects, instances, classes, modules and functions.

Instances are distinguished by class, containers by where they are created.

Source:
    Salis et al., "PyCG: Practical Call Graph Generation in Python", ICSE 2021.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, islice

from lci_py.callgraph.linearize import merge_orders
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
    Constraints,
    Function,
    kind_of,
    number_of,
    value_of,
)
from lci_py.source.dataflow import constraints as ir
from lci_py.source.frameworks import Hook, hooks_of

#: Binds a node to another one, on an object: `Constraints.bind` or `bind_new`.
Bind = Callable[[int, int, int], None]
#: Maximum number of bases that are searched for a member: a chain of thousands would take quadratic time.
_LINEAGE = 128
_STARS = 500
#: Members that every function has.
OF_FUNCTIONS = frozenset({"call", "apply", "bind"})


class PointsTo(Constraints):
    """Adds a model of members to the constraints. Subclasses or users define the effect of calls (`on_call`)."""

    def __init__(
        self, submodule: Callable[[int, str], tuple[int, ...]], methods: frozenset[str], language: str
    ) -> None:
        """Prepares an empty analysis. `methods` are the names of the methods of containers.

        `submodule` takes (file, name) and returns the files of a module inside the package that the file stands for.
        `language` is the language of the files whose classes may have bases from libraries.
        """
        super().__init__()
        self.submodule = submodule
        self._methods = {self.name(method) for method in sorted(methods)}
        self.on_load = self._load
        self.on_store = self._store
        self.on_bind = self._bind
        self._resolved: dict[tuple[int, int], int] = {}
        self._fields: dict[tuple[int, int], int] = {}
        self._awaited: dict[tuple[int, int], list[int]] = {}  # members that nothing is stored in so far -> readers
        self._of_classes: set[int] = set()  # keys of fields of classes
        self._keys: dict[int, list[tuple[int, int]]] = {}  # object -> key and node of each field
        self._all: dict[int, int] = {}  # object -> node of all its fields
        self._prototypes: dict[int, int] = {}
        self._inherited: dict[
            int, list[tuple[int, int, int]]
        ] = {}  # objects without prototypes so far -> loads of these
        self._lineages: dict[int, tuple[int, ...]] = {}
        self._language = language
        #: Class to the hooks of its library bases, for those that have any.
        self.hooks: dict[int, tuple[Hook, ...]] = {}
        self._callers_of_hooks: set[int] = set()  # names

    def follow_calls(self) -> None:
        """Follow calls from now on. The bases of classes must be known."""
        self.calling = True
        of_libraries = {owner: hooks for owner in self.bases if (hooks := self._library_hooks(owner))}
        for number in range(len(self.class_named)):
            lineage = self.lineage(number)
            if not of_libraries.keys().isdisjoint(lineage):
                hooks = self.hooks[number] = tuple(hook for base in lineage for hook in of_libraries.get(base, ()))
                self._callers_of_hooks.update(self.name(name) for hook in hooks for name in sorted(hook.callers))
        self.start_calling()

    def _library_hooks(self, number: int) -> tuple[Hook, ...]:
        """The hooks of a class: its methods that base classes from libraries call."""
        hooks: list[Hook] = []
        for value in [value for node in self.bases[number] for value in self.values(node)]:
            module, name = value, ""
            if kind_of(value) == METHOD:
                module, key = self.parts(value)
                name = f".{self.text(key)}"
            if kind_of(module) == BUILTIN:
                hooks += hooks_of(self._language, self.text(number_of(module)) + name)
        return tuple(hooks)

    def hooks_in(self, number: int, hooks: Iterable[Hook]) -> list[int]:
        """The names (numbers) of a class's methods that are among the hooks, ascending."""
        hooks = tuple(hooks)
        names = {name for owner in self.lineage(number) for name in self._names_of.get(owner, ())}
        return sorted(name for name in names if any(hook.has(self.text(name)) for hook in hooks))

    @cached_property
    def patterns(self) -> dict[int, re.Pattern[str]]:
        """Maps the number of a partly computed name, as in `getattr(x, "visit_" + kind)`, to a pattern of names."""
        return {
            number: re.compile(r"\w+" if text == ir.ANY_NAME else r"\w+".join(map(re.escape, text.split("*"))))
            for text, number in self.names.items()
            if text == ir.ANY_NAME or ("*" in text and text.replace("*", "").isidentifier())
        }

    def matching(self, value: int, key: int) -> list[int]:
        """The members of `value` (a class, an instance or a module) whose names match the pattern `key`, ascending."""
        pattern = self.patterns[key]
        if value & KIND == MODULE:
            names = set(self.exports.get(number_of(value), ()))
        else:
            names = {name for owner in self.lineage(number_of(value)) for name in self._names_of.get(owner, ())}
        matches = sorted(name for name in names if pattern.fullmatch(self.text(name)))
        if self.text(key) != ir.ANY_NAME:
            return matches
        return [name for name in matches if f'"{self.text(name)}"' in self.names]

    @cached_property
    def _names_of(self) -> dict[int, list[int]]:
        """Maps a class to the names of the members that it defines."""
        names: dict[int, list[int]] = {}
        for owner, name in self.members:
            names.setdefault(owner, []).append(name)
        return names

    def keys(self, obj: int) -> list[tuple[int, int]]:
        """The members of an object, each as (key, node)."""
        return list(self._keys.get(obj, ()))

    def field(self, obj: int, key: int) -> int:
        """The node of a member of an object; created on first use."""
        member = self._fields.get((obj, key))
        if member is None:
            member = self._fields[obj, key] = self.node()
            kind = obj & KIND
            if kind == INSTANCE:
                for node in self._awaited.pop((obj, key), ()):
                    self.copy(member, node)
            elif kind == OBJECT:
                if key == 0:
                    self.make_room(member)
                self._keys.setdefault(obj, []).append((key, member))
                if obj in self._all:
                    self.copy(member, self._all[obj])
            elif kind == CLASS:
                self._of_classes.add(key)
        return member

    def everything(self, obj: int) -> int:
        """The node that stands for all fields of an object."""
        whole = self._all.get(obj)
        if whole is None:
            whole = self._all[obj] = self.node()
            self.make_room(whole)
            for _, node in self._keys.get(obj, ()):
                self.copy(node, whole)
        return whole

    def _store(self, value: int, key: int, source: int) -> None:
        kind = value & KIND
        if kind == MODULE:
            node = self.exports.get(number_of(value), {}).get(key)
            if node is not None:
                self.copy(source, node)
        elif kind in (INSTANCE, OBJECT, CLASS, FUNC):
            self.copy(source, self.field(value, key))
            if kind == INSTANCE and self._is_element(key):
                for function in self._methods_of(self.lineage(number_of(value)), "__setitem__"):
                    for node, _ in function.singles[2:3]:
                        self.copy(source, node)

    def _load(self, value: int, target: int, key: int, on: int) -> None:
        kind = value & KIND
        if key in self.patterns and kind in (INSTANCE, CLASS, MODULE):
            self.give(target, self.pair(METHOD, value, key))
        elif kind == INSTANCE:
            if self.calling:
                member = self._resolved.get((value, key))
                self.copy(self._of_instance(value, key) if member is None else member, target)
        elif kind == OBJECT:
            self._of_object(value, target, key, on)
        elif kind == CLASS:
            if self.calling:
                self._of_class(number_of(value), target, key, value)
            else:
                node = self.members.get((number_of(value), key))
                if node is not None:
                    self.copy(node, target)
        elif kind == MODULE:
            self._of_modules(number_of(value), target, key)
        elif kind == FUNC:
            self._of_function(value, target, key)
        elif kind == SUPER and self.calling:
            owner, obj = self.parts(value)
            self._of_lineage(self.lineage_of(obj, owner), target, key, obj, self.bind)
        elif kind == BUILTIN or (kind == BOUND and self.text(key) in OF_FUNCTIONS):
            self.give(target, self.pair(METHOD, value, key))

    def _of_object(self, value: int, target: int, key: int, on: int) -> None:
        if key == 0:
            self.make_room(target)
            self.copy(self.everything(value), target)
            return
        if on and on != value:
            self._member_of(value, target, key, on, self.bind)
            return
        member = self._resolved.get((value, key))
        if member is None:
            member = self._resolved[value, key] = self.node()
            if self.is_roomy(self.field(value, key)):
                self.make_room(member)
            self._member_of(value, member, key, value, self.bind_new)
            if key in self._methods and not self.is_plain(value):
                self.give(member, self.pair(METHOD, value, key))
        if self.is_roomy(member):
            self.make_room(target)
        self.copy(member, target)

    def _member_of(self, value: int, target: int, key: int, on: int, bind: Bind) -> None:
        bind(self.field(value, key), target, on)
        if self.is_plain(value) or key not in self._methods:  # an element of a list is not its method
            bind(self.field(value, 0), target, on)
        prototype = self._prototypes.get(value)
        if prototype is None:
            self._inherited.setdefault(value, []).append((target, key, on))
        else:
            self.load(prototype, target, key, on)

    def prototype(self, value: int) -> int:
        """The node of an object's prototypes (objects that are searched for members which the object lacks)."""
        node = self._prototypes.get(value)
        if node is None:
            node = self._prototypes[value] = self.node()
            for target, key, on in self._inherited.pop(value, ()):
                self.load(node, target, key, on)
        return node

    def _of_instance(self, value: int, key: int) -> int:
        """The node of a member of an instance. It is created once per class and name, since it is used often."""
        member = self._resolved[value, key] = self.node()
        lineage = self.lineage(number_of(value))
        fields, awaited = self._fields, self._awaited
        for owner in lineage:
            slot = value_of(INSTANCE, owner), key
            field = fields.get(slot)
            if field is not None:
                self.copy(field, member)
            elif slot in awaited:
                awaited[slot].append(member)
            else:
                awaited[slot] = [member]
        self._of_lineage(lineage, member, key, value, self.bind_new)
        if self._is_element(key):
            for function in self._methods_of(lineage, "__getitem__"):
                self.copy(function.result, member)
        return member

    def _is_element(self, key: int) -> bool:
        """Whether a key stands for an element of a container rather than for a member with a name."""
        return key == 0 or self.text(key)[0] in "\"'0123456789"

    def _methods_of(self, lineage: Sequence[int], name: str) -> list[Function]:
        """The methods of a name in a lineage (class and bases): several if a class defines the name repeatedly."""
        number = self.names.get(name, -1)
        node = next((self.members[owner, number] for owner in lineage if (owner, number) in self.members), 0)
        return [self.functions[number_of(value)] for value in self.values(node) if value & KIND == FUNC]

    def _of_lineage(self, lineage: Sequence[int], target: int, key: int, on: int, bind: Bind) -> None:
        members, fields = self.members, self._fields
        for owner in lineage:
            node = members.get((owner, key))
            if node is not None:
                bind(node, target, on)
                break
        else:
            self._of_library(target, key, on)
        if key in self._of_classes:
            for owner in lineage:
                field = fields.get((value_of(CLASS, owner), key))
                if field is not None:
                    bind(field, target, on)

    def _of_class(self, number: int, target: int, key: int, on: int) -> None:
        if not self.class_python[number] and key == self.name("prototype"):
            self.give(target, on)  # what is stored in the prototype is a member of the instances
            return
        lineage = self.lineage(number)
        self.copy(self.field(value_of(CLASS, number), key), target)
        for owner in lineage:
            node = self.members.get((owner, key))
            if node is not None:
                self.bind(node, target, on)
                return
        self._of_library(target, key, on)

    def _of_library(self, target: int, key: int, on: int) -> None:
        """Give `target` the method `key` of a library class, if that method calls hooks of the object or class `on`."""
        if key in self._callers_of_hooks and on & KIND in (INSTANCE, CLASS):
            name = self.text(key)
            if any(name in hook.callers for hook in self.hooks.get(number_of(on), ())):
                self.give(target, self.pair(METHOD, on, key))

    def _of_modules(self, file: int, target: int, key: int) -> None:
        """Copy the value of a name in a module to `target`. If the module lacks the name, search the modules that it
        imports by `*`, directly or indirectly, and then its submodules. The search ends after `_STARS` imports:
        thousands of modules may import each other's names.
        """
        seen: set[int] = set()
        budget = _STARS
        pending = [(-1, iter((file,)))]  # a module, and those whose names it takes over
        is_bound = [False]
        while pending:
            module, stars = pending[-1]
            star = next(stars, None) if budget else None
            budget -= budget > 0
            if star is None:
                pending.pop()
                if is_bound.pop():
                    is_bound[-1:] = [True]
                elif module >= 0:
                    for submodule in self.submodule(module, self.text(key)):
                        self.give(target, value_of(MODULE, submodule))
            elif star not in seen:
                seen.add(star)
                exports = self.exports.get(star)
                if exports is None:
                    continue
                if self._copy_export(exports, target, key):
                    # A package has `from .base import *`, and that has `from . import x`: then its x is this one.
                    is_bound[-1] |= self.origins.get(exports.get(key, 0)) != (file, key)
                else:
                    pending.append((star, iter(self.stars.get(star, ()))))
                    is_bound.append(False)

    def _copy_export(self, exports: dict[int, int], target: int, key: int) -> bool:
        """Copy a module's export of a name to `target`; returns False if the module does not export the name itself."""
        node = exports.get(key)
        if node is not None:
            self.copy(node, target)
            return True
        default = exports.get(self.name("module.exports"))
        if default is not None and key == self.name("default"):
            self.copy(default, target)  # the value of a CommonJS module is its default export
        elif default is not None:
            self.load(default, target, key)
        return False

    def _of_function(self, value: int, target: int, key: int) -> None:
        if self.text(key) == "prototype":
            self.give(target, self.object_of("prototype", number_of(value)))
        self.copy(self.field(value, key), target)
        if self.text(key) in OF_FUNCTIONS:
            self.give(target, self.pair(METHOD, value, key))

    def _bind(self, value: int, target: int, on: int) -> None:
        if value & KIND != FUNC:
            self.give(target, value)
            if value & KIND == INSTANCE and on & KIND in (INSTANCE, CLASS):  # a descriptor: what its method returns
                for getter in self._methods_of(self.lineage(number_of(value)), "__get__"):
                    self.copy(getter.result, target)
                    for (node, _), argument in zip(getter.singles, (value, on), strict=False):
                        self.give(node, argument)
            return
        function = self.functions[number_of(value)]
        kind = on & KIND
        if function.flags & ir.PROPERTY and kind in (INSTANCE, OBJECT):
            self.give(function.first, on)
            self.copy(function.result, target)
        elif function.flags & ir.CLASSMETHOD:
            self.give(target, self.pair(BOUND, value, value_of(CLASS, number_of(on)) if kind == INSTANCE else on))
        elif function.has_this or (function.owner >= 0 and not function.flags & ir.STATIC and kind == INSTANCE):
            self.give(target, self.pair(BOUND, value, on))
        else:
            self.give(target, value)

    # --- classes --------------------------------------------------------------------------------------------------

    def lineage(self, number: int) -> tuple[int, ...]:
        """A class and its bases, at most `_LINEAGE`, in the order in which they are searched for members (C3)."""
        lineages = self._lineages
        if number in lineages:
            return lineages[number]
        lineages[number] = (number,)  # a class may be among its own bases
        pending = [(number, bases := self._bases(number), iter(bases))]
        while pending:
            current, bases, rest = pending[-1]
            base = next((base for base in rest if base not in lineages), None)
            if base is not None:
                lineages[base] = (base,)
                pending.append((base, of_base := self._bases(base), iter(of_base)))
                continue
            lists = [list(lineages[base]) for base in bases]
            order = merge_orders([*lists, bases]) if len(bases) > 1 else chain(*lists)
            lineages[current] = (current, *islice((item for item in order if item != current), _LINEAGE - 1))
            pending.pop()
        return lineages[number]

    def _bases(self, number: int) -> list[int]:
        """The bases of a class, each once."""
        values = [value for node in self.bases.get(number, ()) for value in sorted(self.values(node))]
        return list(dict.fromkeys(number_of(value) for value in values if kind_of(value) == CLASS))

    def lineage_of(self, obj: int, after: int) -> tuple[int, ...]:
        """The classes after the class `after` in an object's lineage (its class and bases, in search order)."""
        if kind_of(obj) not in (INSTANCE, CLASS):
            return ()
        lineage = self.lineage(number_of(obj))
        if after in lineage:
            return lineage[lineage.index(after) + 1 :]
        return self.lineage(after)[1:]
