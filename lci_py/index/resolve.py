"""Names to definitions: which symbols a call or a base class means, and what says so.

The steps of a call, first match wins: the scopes around the call; names the file imports, through re-exports; the
object's own type (self, super) and its bases; a receiver whose type is declared, or follows from what it was given;
the same package; a name that only one definition in the repository has. docs/call-graph.md tells more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lci_py.index import overloads, rules
from lci_py.index.evaluate import BASES, CLASS, FUNCTION, INSTANCE, Evaluator, Value, Values
from lci_py.index.expansions import expanded
from lci_py.index.facts import EXPANDING
from lci_py.index.imports import ImportResolver
from lci_py.index.links import AMBIGUOUS, CALLS, IMPORTS, INHERITS, NAME, OVERRIDE, PACKAGE, TYPE, Edge, lambda_node
from lci_py.index.lookups import LookUps
from lci_py.index.overloads import Targets
from lci_py.index.receivers import steps_of
from lci_py.index.tables import Definition
from lci_py.source.arity import NAMED, UNKNOWN, takes
from lci_py.source.languages import load_languages
from lci_py.types import FUNCTION_KINDS, TYPE_KINDS

#: How a call of an object is spelled as a method of it.
_CALLED = ("__call__", "invoke", "apply", "__invoke", "callAsFunction")
#: Derived types that are looked at for methods in the place of the one that is declared.
_MOST_HEIRS = 12


class FileLinker:
    """Edges of one file after another.

    Source:
        Tracked look-ups and re-use while no answer has changed are what build systems do: Mokhov, Mitchell and Peyton
        Jones, "Build systems à la carte", ICFP 2018.
    """

    def __init__(self, look_ups: LookUps) -> None:
        self._look = look_ups
        self._imports = ImportResolver(look_ups)
        selfs = {name: frozenset(spec.self_names) for name, spec in load_languages().items()}
        self._evaluator = Evaluator(look_ups, self._imports, selfs)

    def link(self, file: int) -> tuple[list[Edge], set[int]]:
        """A file's edges, distinct by all but the step (the first counts), and the keys of its look-ups."""
        self._look.start(file)
        self._evaluator.start()
        calls = _CallResolver(self._look, self._imports, self._evaluator, file)
        edges: dict[tuple[int, int, int, int], int] = {}
        for item, targets in calls.imports:
            for target in targets:
                if target != file:
                    edges.setdefault((~file, ~target, IMPORTS, item.line), 0)
        facts = calls.facts
        known: dict[tuple[str, str, int, int], Targets] = {}
        for call in self._look.tables.calls(file):
            asked = (call.name, call.receiver, call.caller, call.arguments)
            around, source = call.caller, facts.first + call.caller
            if call.caller < -1:
                around = facts.lambdas[-2 - call.caller].symbol
                source = lambda_node(self._look.tables.first_lambda[file] - 2 - call.caller)
            elif call.caller < 0:
                source = ~file
            if asked not in known:
                known[asked] = calls.resolve(call.name, call.receiver, around, call.arguments)
            for target, step in known[asked]:
                edges.setdefault((source, target, CALLS, call.line), step)
        for base in facts.bases:
            source = facts.first + base.symbol
            for value in self._evaluator.type_named(file, facts.parents[base.symbol], base.name):
                if value.at is not None and value.at.symbol != source:
                    edges.setdefault((source, value.at.symbol, INHERITS, base.line), value.step)
        return [Edge(*edge, step) for edge, step in edges.items()], self._look.keys


class _CallResolver:
    """What the calls of one file mean."""

    def __init__(self, look_ups: LookUps, imports: ImportResolver, evaluator: Evaluator, file: int) -> None:
        self._look = look_ups
        self._evaluate = evaluator
        self.file = self._file = file
        self.known: dict[int, Definition] = {}  # symbol to definition, of targets
        self._arguments = UNKNOWN  # of the call that is looked at
        self.facts = look_ups.tables.facts(file)
        self.imports = [(item, imports.targets(file, item)) for item in self.facts.imports]
        self._imported_files = {target for _, targets in self.imports for target in targets}
        head = self.facts.head
        self._language = head.language
        self._family = head.family
        self._folder = head.folder
        self._test = head.test

    def resolve(self, name: str, receiver: str, caller: int, arguments: int = UNKNOWN) -> Targets:
        """The definitions that a call means with the step that says so; none if it is external or not certain.

        Args:
            name: What is called.
            receiver: The text before it.
            caller: The symbol around it, or -1.
            arguments: How many it has, as in `Call`.
        """
        kind = self.facts.kinds[caller] if caller >= 0 else ""
        targets = self.meant(name, receiver, caller, arguments, of_macro=kind == "macro")
        # Outside of functions a macro mostly defines some, which call what is in its text.
        if kind in FUNCTION_KINDS and kind != "macro" and self._language in EXPANDING and self._has_macro(targets):
            return (*targets, *expanded(self._look, self, caller, targets))
        return targets

    def _has_macro(self, targets: Targets) -> bool:
        return any(symbol in self.known and self.known[symbol].kind == "macro" for symbol, _ in targets)

    def meant(self, name: str, receiver: str, caller: int, arguments: int, *, of_macro: bool) -> Targets:
        """The same without what macros call; `of_macro`: the call stands in a macro's text."""
        self._arguments = arguments
        return self._allowed(self._named(name, receiver, caller), arguments, of_macro=of_macro)

    def in_scope(self, file: int, place: int, name: str, arguments: int) -> Targets:
        """What a name in a macro's text means that can be seen from a place of any file."""
        self._arguments = arguments
        found = self._targets(self._called(file, place, name))
        return self._allowed(found, arguments, of_macro=True)

    def _allowed(self, targets: Targets, arguments: int, *, of_macro: bool) -> Targets:
        if arguments == NAMED:
            return overloads.named(targets, self.known, of_macro=of_macro)
        return overloads.fitting(targets, arguments, self.known, self._look.arity)

    def _named(self, name: str, receiver: str, caller: int) -> Targets:
        if not receiver:
            return self._bare(name, caller)
        if receiver in rules.CONSTRUCTED:
            made = self._evaluate.type_named(self._file, caller, name)
            return self._targets(value._replace(text="new") for value in made)
        values = self._evaluate.expression(self._file, caller, receiver)
        if not values and self._language in rules.QUALIFIED:
            named, rest = self._evaluate.qualified(self._file, steps_of(f"{receiver}.{name}"))
            if named and not rest:
                return self._targets(named)
        if not values:
            if self._is_bound(receiver, caller) or name in rules.BUILTIN_METHODS.get(self._language, ()):
                return ()
            return self._only(name, methods=True, free=self._language in rules.MODULE_OBJECTS)
        found: list[Value] = []
        for value in values:
            if value.kind == FUNCTION:  # a property, or what a function has as an attribute
                for result in self._evaluate.result(value, 4):
                    found.extend(self._evaluate.attribute(result, name, 8))
            else:
                found.extend(self._evaluate.attribute(value, name, 8))
        targets = self._targets(found)
        if not targets and self._language in rules.EXTENSIONS and all(value.kind == INSTANCE for value in values):
            return self._only(name, methods=True, free=True)
        if self._language in rules.VIRTUAL:
            targets = self._with_overriding(targets, values, name)
        return targets

    def _is_bound(self, receiver: str, caller: int) -> bool:
        """Whether the head of a receiver is something, though nobody knows what its members are."""
        steps = steps_of(receiver)
        if steps and self._language in rules.CAPITAL_TYPES and steps[0].name[:1].isupper():
            return True
        if not steps or len(steps) > 1:
            return not steps
        return bool(self._evaluate.name(self._file, caller, steps[0].name))

    def _bare(self, name: str, caller: int) -> Targets:
        if name == "super" and self._language == "ruby":
            return self._of_super(caller)
        if name in rules.OWN_CONSTRUCTORS.get(self._language, ()):
            return self._own_constructor(name, caller)
        values = self._called(self._file, caller, name)
        if self._language in rules.DELEGATING and (name == "this" or name in rules.SUPERS):
            return self._targets(self._evaluate.constructed(value) for value in values)
        if values:
            targets = self._targets(values)
            if targets or not any(value.kind == INSTANCE for value in values):
                return targets
            # `new Clock()`, where a property of that name and type hides the type from all but `new`
            return self._targets(self._evaluate.named_like_its_type(value, name) for value in values)
        if self._is_local(name, caller):
            return ()
        if self._language in rules.MACROS_ANYWHERE:
            macro = self._look.only(self._family, name)
            if macro is not None and macro.kind == "macro":
                return ((macro.symbol, PACKAGE),)
        if name in self.facts.bindings or self._language in rules.EXPLICIT_NAMES:
            return ()
        implicit = self._language in rules.IMPLICIT_SELF
        return self._only(name, methods=implicit, free=True, anywhere=self._language in rules.PROGRAM_SCOPE)

    def _called(self, file: int, place: int, name: str) -> Values:
        """What a bare name that is called stands for."""
        values = self._evaluate.name(file, place, name, callee=True)
        if self._language in rules.TAGGED_TYPES:
            return tuple(value for value in values if value.kind != CLASS)
        return values

    def _of_super(self, caller: int) -> Targets:
        """Ruby's `super`: the method of the same name in what the class is derived from."""
        if caller < 0:
            return ()
        bases = self._evaluate.name(self._file, caller, "super")
        return self._targets(f for value in bases for f in self._evaluate.attribute(value, self.facts.names[caller], 8))

    def _own_constructor(self, name: str, caller: int) -> Targets:
        """`new self`, `this(x)`: the constructor of the class around, or of its base."""
        found: list[Value] = []
        for value in self._evaluate.name(self._file, caller, name):
            if value.kind == INSTANCE:
                found.append(value._replace(kind=CLASS))
            elif value.kind == BASES and value.at is not None:
                found.extend(Value(CLASS, base, value.step) for base in self._evaluate.bases(value.at)[:1])
        return self._targets(found)

    def _is_local(self, name: str, caller: int) -> bool:
        if self._language in rules.SEPARATE_NAMES:
            return False
        while caller >= 0:
            if (caller, name) in self.facts.typed:
                return True
            caller = self.facts.parents[caller]
        return (-1, name) in self.facts.typed

    # --- targets --------------------------------------------------------------------------------------------------

    def _targets(self, values: Iterable[Value]) -> Targets:
        found: dict[int, int] = {}
        for value in values:
            for target, step in self._of_value(value):
                found.setdefault(target.symbol, step)
                self.known[target.symbol] = target
        if len(found) > 1:
            return tuple((target, step | AMBIGUOUS) for target, step in found.items())
        return tuple(found.items())

    def _of_value(self, value: Value) -> Iterator[tuple[Definition, int]]:
        if value.kind == FUNCTION and value.at is not None:
            for found in self._as_constructor(value.at) or self._overloads(value.at):
                yield found, value.step
        elif value.kind == CLASS and value.at is not None and value.at.kind != "type":
            for found in self._constructors(value.at, new=value.text == "new"):
                yield found, value.step
        elif value.kind == INSTANCE and value.at is not None:
            for name in _CALLED:
                for member in self._evaluate.attribute(value, name, 6):
                    if member.kind == FUNCTION and member.at is not None:
                        yield member.at, TYPE
                        return

    def _overloads(self, at: Definition) -> list[Definition]:
        """Definitions of one name in one place. Where there are no overloads the last one counts, as at run time."""
        facts = self._look.tables.facts(at.file)
        place = at.symbol - facts.first
        parent = facts.parents[place]
        if parent < 0:
            return self._look.variants(at, facts.names[place])
        found = self._look.all_inside(at.file, parent, facts.names[place])
        if len(found) < 2 or facts.head.language in rules.OVERLOADS:
            return found or [at]
        if facts.head.language in rules.BY_ARITY:
            found = [item for item in found if takes(self._look.arity(item), self._arguments)] or found
        return found[-1:]

    def _constructors(self, owner: Definition, *, new: bool = False) -> list[Definition]:
        """The constructors of a type, the type itself if the repository defines none; `new`: it is called as one."""
        facts = self._look.tables.facts(owner.file)
        language = facts.head.language
        if language in rules.COMPANIONS:
            return self._or_companion(owner, new=new)
        names = rules.CONSTRUCTORS.get(language)
        if names is None:
            place = owner.symbol - facts.first
            name = rules.SECONDARY_CONSTRUCTORS.get(language, facts.names[place])
            found = self._look.all_inside(owner.file, place, name)
            found = [item for item in found if item.kind == "constructor"]
            if found and language in rules.PRIMARY_CONSTRUCTORS and self._look.arity(owner) >= 0:
                return [owner, *found]
            return found or [owner]
        for current in self._evaluate.lineage(owner):
            for name in names:
                own = current.symbol - self._look.tables.facts(current.file).first
                found = self._look.all_inside(current.file, own, name)
                if found:
                    return found if language in rules.OVERLOADS else found[-1:]
        return [owner]

    def _as_constructor(self, at: Definition) -> list[Definition]:
        """The constructors of a class, if one of them is found under its name (C#) and the class itself is another."""
        facts = self._look.tables.facts(at.file)
        around = facts.parents[at.symbol - facts.first]
        if at.kind != "constructor" or around < 0 or facts.head.language not in rules.PRIMARY_CONSTRUCTORS:
            return []
        return self._constructors(self._look.definition(at.file, around))

    def _or_companion(self, owner: Definition, *, new: bool) -> list[Definition]:
        """Scala's `new C(x)`: the class, or a further constructor; `C(x)`: that of a case class, or an `apply`."""
        found: list[Definition] = []
        for item in self._evaluate.companions(owner, of_name=False):
            place = item.symbol - self._look.tables.facts(item.file).first
            if item.kind != "object":
                found += [item, *(self._look.all_inside(item.file, place, "this") if new else ())]
            elif not new:
                found += self._look.all_inside(item.file, place, "apply")
        return found

    def _with_overriding(self, targets: Targets, values: Values, name: str) -> Targets:
        """Add what types derived from a receiver's declared one put in the place of a method."""
        if not targets or not any(_may_be_derived(value) for value in values):
            return targets
        found = dict(targets)
        more: list[int] = []
        for value in values:
            if value.at is None or not _may_be_derived(value):
                continue
            heirs = self._heirs(value.at)
            for heir in heirs if len(heirs) <= _MOST_HEIRS else ():
                for member in self._look.members(heir, name):
                    self.known[member.symbol] = member
                    if member.symbol not in found:
                        more.append(member.symbol)
        mark = AMBIGUOUS if len(more) > 1 else 0
        return (*targets, *((symbol, OVERRIDE | mark) for symbol in dict.fromkeys(more)))

    def _heirs(self, owner: Definition) -> list[Definition]:
        """All types derived from one, directly or not."""
        found: dict[int, Definition] = {}
        pending = [owner]
        while pending and len(found) <= _MOST_HEIRS:
            current = pending.pop()
            facts = self._look.tables.facts(current.file)
            for heir in self._look.heirs(facts.head.family, facts.names[current.symbol - facts.first]):
                if heir.symbol not in found and current in self._evaluate.bases(heir):
                    found[heir.symbol] = heir
                    pending.append(heir)
        return list(found.values())

    def _only(self, name: str, *, methods: bool, free: bool, anywhere: bool = False) -> Targets:
        """The definitions of a name, if something speaks for them besides: they are near, or imported, or the language
        has one name space for the program. Code does not call tests."""
        found = self._look.only(self._family, name)
        if found is None:
            return self._several(name) if anywhere else ()
        self.known[found.symbol] = found
        is_method = found.kind in ("method", "constructor")
        if found.kind in TYPE_KINDS and found.around in TYPE_KINDS and self._language in rules.NESTED_HIDDEN:
            return ()
        if (is_method and not methods) or (self._look.files.heads[found.file].test and not self._test):
            return ()
        if found.kind == "function" and not free:
            return ()  # what is called on an object is a member of it, save where files or tables are the objects
        if is_method and self._look.is_common(self._family, name):
            return ()
        near = self._look.files.folders[found.file] == self._folder or found.file in self._imported_files
        if anywhere and not is_method:
            return ((found.symbol, PACKAGE),)
        return ((found.symbol, NAME),) if near else ()

    def _several(self, name: str) -> Targets:
        """Definitions of one name in a program that is linked, or loaded, from some of them."""
        found = [
            item for item in self._look.all_named(self._family, name)
            if item.kind in ("function", "macro") and (self._test or not self._look.files.heads[item.file].test)
        ]  # fmt: skip
        self.known |= {item.symbol: item for item in found}
        mark = AMBIGUOUS if len(found) > 1 else 0
        return tuple((item.symbol, PACKAGE | mark) for item in found)


def _may_be_derived(value: Value) -> bool:
    """Whether an object may be of a type derived from the one that is known."""
    if value.kind != INSTANCE or value.at is None or value.text == "exact":
        return False
    return value.step == TYPE or value.at.kind in ("interface", "trait")
