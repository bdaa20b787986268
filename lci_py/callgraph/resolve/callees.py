"""Maps called values to the symbols that run: overloads, constructors, overriding methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.ancestry import MOST_HEIRS
from lci_py.callgraph.resolve.evaluate import Evaluator
from lci_py.callgraph.resolve.overloads import Targets
from lci_py.callgraph.resolve.values import CLASS, EXTENDING, FUNCTION, INSTANCE, Value, Values
from lci_py.source.syntax.arity import UNKNOWN, takes
from lci_py.source.text.language_tables import has_rule, table_of
from lci_py.types.edges import AMBIGUOUS, OVERRIDE, SELF, TYPE

#: Methods that run when an object itself is called.
_CALLED = ("__call__", "invoke", "apply", "__invoke", "callAsFunction")
#: Maximum number of methods of an interface whose implementations are looked up.
_MOST_METHODS = 64


class Callees:
    """Finds the targets of a called value, for one file after another.

    Attributes:
        known: Maps symbols to definitions, for all targets of the file's calls.
    """

    def __init__(self, look_ups: LookUps, evaluator: Evaluator) -> None:
        self._look = look_ups
        self._members = evaluator.members
        self._ancestry = evaluator.ancestry
        self.known: dict[int, Definition] = {}
        self._interfaces: dict[int, list[Definition]] = {}
        self._memo: dict[tuple[Value, int], tuple[tuple[Definition, int], ...]] = {}

    def start(self) -> None:
        """Start with another file: clear the caches."""
        self.known.clear()
        self._memo.clear()
        self._interfaces.clear()

    def of(self, values: Iterable[Value], arguments: int = UNKNOWN) -> Targets:
        """The targets of a call of some values.

        Args:
            arguments: The number of arguments as in `Call`, for languages in `BY_ARITY`; else `UNKNOWN`.
        """
        steps: dict[int, int] = {}
        for value in values:
            targets = self._memo.get((value, arguments))
            if targets is None:
                targets = self._memo[value, arguments] = tuple(self._of_value(value, arguments))
                self.known.update((target.symbol, target) for target, _ in targets)
            for target, step in targets:
                steps.setdefault(target.symbol, step)
        if len(steps) > 1:
            return tuple((target, step | AMBIGUOUS) for target, step in steps.items())
        return tuple(steps.items())

    def _of_value(self, value: Value, arguments: int) -> Iterator[tuple[Definition, int]]:
        if value.kind == FUNCTION and value.at is not None and value.text == EXTENDING:
            yield value.at, value.step
        elif value.kind == FUNCTION and value.at is not None:
            for callee in self._as_constructor(value.at) or self._overloads(value.at, arguments):
                yield callee, value.step
        elif value.kind == CLASS and value.at is not None and value.at.kind != "type":
            for callee in self._constructors(value.at, new=value.text == "new"):
                yield callee, value.step
        elif value.kind == INSTANCE and value.at is not None:
            for name in _CALLED:
                for member in self._members.attribute(value, name, 6):
                    if member.kind == FUNCTION and member.at is not None:
                        yield member.at, TYPE
                        return

    def _overloads(self, at: Definition, arguments: int) -> list[Definition]:
        """All overloads of a definition; in a language without overloading, the last, which replaces the others."""
        facts = self._look.facts(at.file)
        rules = self._look.rules_of[at.file]
        index = at.symbol - facts.first
        parent = facts.outer[index]
        if "templates" in rules and at.kind in ("method", "constructor"):
            return self._of_cpp_type(at, facts.names[index], parent)
        if parent < 0:
            if at.owner or at.kind != "function" or "free_overloads" not in rules:
                return self._look.variants(at)
            beside = self._look.in_folder(facts.head.family, facts.head.folder, facts.names[index])
            packages = [self._look.files.heads[item.file].package for item in beside]
            return [
                item for item, package in zip(beside, packages, strict=True)
                if item.kind == "function" and not item.owner and package == facts.head.package
            ] or [at]  # fmt: skip
        overloads = self._look.all_inside(at.file, parent, facts.names[index])
        if len(overloads) > 1 and "class_methods" in rules:
            of_class = self._members.is_of_class
            overloads = [item for item in overloads if of_class(item) == of_class(at)]
        if len(overloads) < 2 or "overloads" in rules:
            return overloads or [at]
        if "by_arity" in rules:
            overloads = [item for item in overloads if takes(self._look.arity(item), arguments)] or overloads
        return overloads[-1:]

    def _of_cpp_type(self, method: Definition, name: str, parent: int) -> list[Definition]:
        """The methods that have the name and the type of `method`, defined inside the type or outside of it."""
        if not method.owner:
            owner = self._look.definition(method.file, parent) if parent >= 0 else None
        else:
            family = self._look.files.families[method.file]
            owner = self._look.near_type(method.file, method.owner) or self._look.only_type(family, method.owner)
        methods: dict[int, Definition] = {}
        if owner is not None:
            methods.update((item.symbol, item) for item in self._look.own_members(owner, name))
            methods.update((item.symbol, item) for item in self._look.outside_members(owner, name))
        if method.symbol not in methods:  # of several types of one name
            beside = self._look.variants(method) if parent < 0 else self._look.all_inside(method.file, parent, name)
            methods.update((item.symbol, item) for item in beside if item.owner == method.owner)
        return list(methods.values()) or [method]

    def _constructors(self, owner: Definition, *, new: bool = False) -> list[Definition]:
        """The constructors of a type; the type itself if it has none. `new`: whether the call is written `new C(x)`."""
        language = self._look.files.heads[owner.file].language
        if has_rule(language, "companions"):
            return self._or_companion(owner, new=new)
        names = table_of(language).get("constructors")
        if names is None:
            name = table_of(language).get("secondary_constructor", self._look.name(owner))
            constructors = self._look.own_members(owner, name)
            if has_rule(language, "templates"):
                constructors = [*constructors, *self._look.outside_members(owner, name)]
            constructors = [item for item in constructors if item.kind == "constructor"]
            if constructors and has_rule(language, "primary_constructors") and self._look.arity(owner) >= 0:
                return [owner, *constructors]
            return constructors or [owner]
        for current in self._ancestry.lineage(owner):
            for name in names:
                constructors = self._look.own_members(current, name)
                if constructors:
                    return constructors if has_rule(language, "overloads") else constructors[-1:]
        return [owner]

    def _as_constructor(self, at: Definition) -> list[Definition]:
        """All constructors of a C# class, given one (`at`), and the class itself if it may construct. Else []."""
        language = self._look.files.heads[at.file].language
        if at.kind != "constructor" or not has_rule(language, "primary_constructors"):
            return []
        owner = self._look.enclosing(at)
        return self._constructors(owner) if owner is not None else []

    def _or_companion(self, owner: Definition, *, new: bool) -> list[Definition]:
        """The targets in Scala of `new C(x)`: the class, its other constructors; of `C(x)`: the class, any `apply`."""
        targets: list[Definition] = []
        for item in self._members.companions(owner, of_name=False):
            if item.kind != "object":
                targets += [item, *(self._look.own_members(item, "this") if new else ())]
            elif not new:
                targets += self._look.own_members(item, "apply")
        return targets

    def with_overriding(self, targets: Targets, values: Values, name: str) -> Targets:
        """The targets, and the methods that override them in types derived from a receiver's declared type."""
        if not targets or not any(_may_be_derived(value) for value in values):
            return targets
        symbols = dict(targets)
        more: list[int] = []
        for value in values:
            if value.at is None or not _may_be_derived(value):
                continue
            for heir in self._ancestry.heirs(value.at):
                for member in self._look.members(heir, name):
                    self.known[member.symbol] = member
                    if member.symbol not in symbols:
                        more.append(member.symbol)
        mark = AMBIGUOUS if len(more) > 1 else 0
        return (*targets, *((symbol, OVERRIDE | mark) for symbol in dict.fromkeys(more)))

    def in_derived(self, values: Values, name: str) -> Targets:
        """The members of a name in types derived from an object's type, or in their other bases: a mixin calls these.
        Members in tests are left out, unless the call is in a test.
        """
        heads = self._look.files.heads
        members: dict[int, Definition] = {}
        for heir in [heir for value in values if value.at is not None for heir in self._ancestry.heirs(value.at)]:
            for member in self._members.attribute(Value(values[0].kind, heir, SELF), name, 8):
                at = member.at
                if member.kind == FUNCTION and at is not None and heads[at.file].test <= heads[self._look.own].test:
                    members[at.symbol] = at
        self.known.update(members)
        mark = AMBIGUOUS if len(members) > 1 else 0
        return tuple((symbol, OVERRIDE | mark) for symbol in members)

    def with_implementing(self, targets: Targets, values: Values, name: str) -> Targets:
        """The targets and, if a receiver is an interface, the methods of types with all the interface's methods."""
        symbols = dict(targets)
        more: list[int] = []
        for value in values:
            if value.kind != INSTANCE or value.at is None or value.at.kind != "interface":
                continue
            implementing = self._implementing(value.at)
            for owner in implementing if len(implementing) <= MOST_HEIRS else ():
                member = self._look.member(owner, name)
                if member is not None and member.symbol not in symbols:
                    self.known[member.symbol] = member
                    more.append(member.symbol)
        mark = AMBIGUOUS if len(more) > 1 else 0
        return (*targets, *((symbol, OVERRIDE | mark) for symbol in dict.fromkeys(more)))

    def _implementing(self, interface: Definition) -> list[Definition]:
        """The types that have all methods of an interface. Types in tests count only for calls in tests."""
        types = self._interfaces.get(interface.symbol)
        if types is None:
            types = self._interfaces[interface.symbol] = self._with_methods(self._method_set(interface))
        return types

    def _method_set(self, interface: Definition) -> list[str]:
        """The names of an interface's methods, including the methods of embedded interfaces."""
        methods: dict[str, None] = {}
        for embedded in self._ancestry.lineage(interface):
            if embedded.kind == "interface":
                methods.update(dict.fromkeys(self._look.methods(embedded)))
        return list(methods)

    def _with_methods(self, names: list[str]) -> list[Definition]:
        if len(names) > _MOST_METHODS:
            return []
        heads = self._look.files.heads
        tests = heads[self._look.own].test
        family = heads[self._look.own].family
        methods: list[Definition] = []
        for name in names:  # the first one that not too many types have
            methods = [item for item in self._look.all_named(family, name) if item.parent_kind != "interface"]
            if methods:
                break
        owners: dict[int, Definition] = {}
        for method in methods:
            outside = bool(method.owner)
            owner = self._look.near_type(method.file, method.owner) if outside else self._look.enclosing(method)
            if owner is None or (heads[owner.file].test and not tests):
                continue
            if all(self._members.member(owner, name, 6) for name in names):
                owners[owner.symbol] = owner
        return list(owners.values())


def _may_be_derived(value: Value) -> bool:
    """Whether an object may have a type that is derived from its known type."""
    if value.kind != INSTANCE or value.at is None or value.text == "exact":
        return False
    return value.step == TYPE or value.at.kind in ("interface", "trait")
