"""Resolves names to definitions: the symbols that a call or a base class means, and the step (rule) that found them.

Several rules are tried for a call, and the first match wins: the enclosing scopes; names that the file imports, through
re-exports; the object's own type (self, super) and its bases; a receiver whose type is declared or inferred from its
value; the same package; a name with only one definition in the repository. docs/call-graph.md has the details.
"""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import basename, commonpath, dirname, join, normpath, splitext

from lci_py.callgraph import language_rules
from lci_py.callgraph.edges import MOST_HOOKS, UNLINKED, Edge, lambda_node
from lci_py.callgraph.lookup_tables import Definition, shared_folders
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve import overloads
from lci_py.callgraph.resolve.callees import Callees
from lci_py.callgraph.resolve.evaluate import Evaluator
from lci_py.callgraph.resolve.extension_methods import parse_receiver
from lci_py.callgraph.resolve.imports import ImportResolver
from lci_py.callgraph.resolve.macro_calls import Expansions
from lci_py.callgraph.resolve.overloads import Targets
from lci_py.callgraph.resolve.stored_functions import StoredFunctions, StoredValues
from lci_py.callgraph.resolve.values import (
    BASES,
    CLASS,
    DEPTH,
    EXTENDING,
    EXTERNAL,
    FUNCTION,
    INSTANCE,
    MODULE,
    Value,
    Values,
)
from lci_py.source import frameworks
from lci_py.source.extract.expressions import parse
from lci_py.source.syntax.arity import NAMED, UNKNOWN
from lci_py.source.syntax.captures import ELEMENT
from lci_py.source.text.language_tables import has_rule, words_of
from lci_py.source.text.patterns import lazily
from lci_py.types.edges import AMBIGUOUS, CALLS, HOOK, IMPORTS, INHERITS, NAME, PACKAGE, ROUTE, SELF, TYPE
from lci_py.types.expressions import ATTR, CALL, head_name
from lci_py.types.search import FUNCTION_KINDS, IMPLICIT, REGISTERED, TYPE_KINDS
from lci_py.types.source import ACCESSOR, REGISTRATIONS

#: What a fault of this program raises while it links a file. A damaged shard, a full disk raise other errors.
FAULTS: tuple[type[Exception], ...] = (
    ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError,
)  # fmt: skip
#: A folder of templates: `templates/`, `views/`, `mail_templates/`, Phoenix' `user_html/`.
_TEMPLATES = lazily(
    r"(?i)(?:^|[/_-])(?:views?|templates?|tmpls?|jinja2?|e?mails?|partials?|includes?)(?:[_-][^/]*)?/|_html/"
)


class FileLinker:
    """Finds the edges of one file after another.

    Source:
        Tracked look-ups, whose results are reused while no answer has changed, as in build systems: Mokhov, Mitchell,
        Peyton Jones, "Build systems à la carte", ICFP 2018.
    """

    def __init__(self, look_ups: LookUps) -> None:
        self._renew(look_ups)

    def _renew(self, look_ups: LookUps) -> None:
        self.look_ups = look_ups
        self.imports = ImportResolver(look_ups)
        self.evaluator = Evaluator(look_ups, self.imports)
        self.callees = Callees(look_ups, self.evaluator)
        self.pointers = StoredFunctions(look_ups, self.callees.known)
        self.stored_values = StoredValues(look_ups, self.evaluator, self.callees.known)
        self.overloads = overloads.Overloads(look_ups, self.evaluator, self.callees.known)

    def link(self, file: int) -> tuple[list[Edge], set[int]]:
        """(edges, keys): a file's distinct edges, each with the first step (rule) that found it; its look-up keys.

        If linking raises an error, which is a bug of this program, the file has no edges and the key `UNLINKED`: other
        files are not affected, and every refresh tries again.
        """
        try:
            return self._edges_of(file), self.look_ups.keys
        except FAULTS:
            # What was being evaluated is left half done.
            self._renew(LookUps(self.look_ups.tables, self.look_ups.sites))
            return [], {UNLINKED}

    def _edges_of(self, file: int) -> list[Edge]:
        self.look_ups.start(file)
        self.evaluator.start()
        self.callees.start()
        self.pointers.start(file)
        self.stored_values.start(file)
        self.overloads.start(file)
        calls = _CallResolver(self, file)
        edges: dict[tuple[int, int, int, int], int] = {}
        for item, targets in calls.imports:
            for target in targets:
                if target != file:
                    edges.setdefault((~file, ~target, IMPORTS, item.line), 0)
        self._add_calls(file, calls, edges)
        facts = calls.facts
        for base in facts.bases:
            source = facts.first + base.symbol
            for value in self.evaluator.types.types_named(file, facts.outer[base.symbol], base.name):
                if value.at is not None and value.at.symbol != source:
                    edges.setdefault((source, value.at.symbol, INHERITS, base.line), value.step)
        return [Edge(*edge, step) for edge, step in edges.items()]

    def _add_calls(self, file: int, calls: _CallResolver, edges: dict[tuple[int, int, int, int], int]) -> None:
        facts = calls.facts
        memo: dict[tuple[str, str, int, int], Targets] = {}
        for name, receiver, line, caller, arguments, passed in self.look_ups.tables.calls(file):
            key = (name, receiver, caller, arguments)
            targets = memo.get(key) if arguments > REGISTERED else None
            if targets is None:
                scope = facts.place_of(caller)
                if arguments <= REGISTERED:
                    targets = calls.registered(name, receiver, scope, REGISTERED - arguments, passed)
                elif arguments == IMPLICIT:
                    targets = memo[key] = calls.implicit(name, receiver, scope)
                else:
                    targets = memo[key] = calls.resolve(name, receiver, scope, arguments)
            if not targets:
                continue
            if calls.extended and (name, receiver) in calls.extended:
                targets = self.overloads.of_extension(targets, receiver, arguments, passed, caller)
            elif passed and arguments > REGISTERED:
                targets = self.overloads.by_types(targets, passed, caller)
            source = facts.first + caller
            if caller < -1:
                source = lambda_node(self.look_ups.tables.first_lambda[file] - 2 - caller)
            elif caller < 0:
                source = ~file
            for target, step in targets:
                if arguments <= REGISTERED:  # says more than how the same text is understood as a value
                    edges.pop((source, target, CALLS, line), None)
                edges.setdefault((source, target, CALLS, line), step)


class _CallResolver:
    """Resolves the calls of one file."""

    def __init__(self, linker: FileLinker, file: int) -> None:
        self._look = linker.look_ups
        self._evaluate = linker.evaluator
        self._callees = linker.callees
        self._pointers, self._values = linker.pointers, linker.stored_values
        self._overloads = linker.overloads
        self.file = file
        self.known = linker.callees.known  # symbol to definition, of targets
        self._arguments = UNKNOWN  # of the current call
        self._resolved: dict[tuple[str, str, int, int], Targets] = {}  # by name, receiver, scope and arguments
        self.extended: set[tuple[str, str]] = set()  # names and receivers of calls of extension methods
        self._expansions = Expansions(self._look, linker.evaluator.names.scope, self)
        self.facts = self._look.facts(file)
        self.imports = [(item, linker.imports.targets(file, item)) for item in self.facts.imports]
        self._imported_files = {target for _, targets in self.imports for target in targets}
        head = self.facts.head
        self._language = head.language
        self._rules = self._look.rules_of[file]
        supers = language_rules.name_rules(head.language).supers
        self._delegates = supers | {"this"} if has_rule(head.language, "delegating") else frozenset()
        self._family = head.family
        self._folder = head.folder
        self._test = head.test

    def resolve(self, name: str, receiver: str, caller: int, arguments: int = UNKNOWN) -> Targets:
        """The definitions that a call means, each with its step (rule); [] if they are external or uncertain.

        Args:
            name: The called name.
            receiver: The text before the name.
            caller: The index of the enclosing symbol, or -1.
            arguments: The number of arguments, as in `Call`.
        """
        kind = self.facts.scope_kinds[caller] if caller >= 0 else ""
        targets = self.meant(name, receiver, caller, arguments, of_macro=kind == "macro")
        # Outside functions a macro mostly defines functions: then these call what is in its text.
        if kind in FUNCTION_KINDS and kind != "macro" and "expanding" in self._rules and self._has_macro(targets):
            through = self._pointers.of_macro(caller, name)
            return (*targets, *self._expansions.of(caller, targets), *through)
        return targets

    def registered(self, name: str, receiver: str, caller: int, kind: int, fallback: str) -> Targets:
        """The functions or template files that a name registers with a framework.

        Args:
            name, receiver, caller: As in `resolve`.
            kind: An index of `REGISTRATIONS`.
            fallback: The index of the symbol that a decorator registers; or `?` and the function (with its receiver) to
                try if the name resolves to nothing; or "".
        """
        if fallback.isdecimal():
            return ((self.facts.first + int(fallback), ROUTE + kind),)
        if REGISTRATIONS[kind] == "template":
            files = self._templates(name)
            several = len({dirname(self._look.files.heads[file].path) for file in files}) > 1
            return tuple((~file, ROUTE + kind | (AMBIGUOUS if several else 0)) for file in files)
        targets = (
            self._fixture(name, caller) if REGISTRATIONS[kind] == "fixture" else self.resolve(name, receiver, caller)
        )
        if not targets and fallback:
            receiver, _, name = fallback[1:].rpartition(".")
            targets = self.resolve(name, receiver, caller)
        return tuple((symbol, ROUTE + kind | (step & AMBIGUOUS)) for symbol, step in targets)

    def _templates(self, name: str) -> list[int]:
        """The files of a template; there may be one for each format. A relative name means files beside this file; any
        other name, the files whose paths end in the name, in the nearest template folder.
        """
        heads, own = self._look.files.heads, self.facts.head.path.split("/")
        endings = ("",) if "." in basename(name) else frameworks.table_of(self._language).templates
        if name.startswith("."):
            beside = [self._look.at(normpath(join(self._folder, name)) + ending) for ending in endings]
            if files := [file for file in beside if file >= 0]:
                return files
        name = normpath(name.lstrip("~/")).lstrip("./")
        base, is_whole = basename(name), _TEMPLATES.search(name) is not None
        nearest: dict[tuple[bool, int], set[int]] = {}
        for ending in endings:
            for _, file in self._look.ending_in((base + ending).rpartition(".")[0]):
                path = f"/{heads[file].path}"
                above = path.removesuffix(f"/{name}{ending}")
                if above != path and file != self.file and (is_whole or _TEMPLATES.search(f"{basename(above)}/")):
                    rank = heads[file].test > self._test, -shared_folders(own, path[1:].split("/"))
                    nearest.setdefault(rank, set()).add(file)
        return sorted(nearest[min(nearest)]) if nearest else []

    def _fixture(self, name: str, caller: int) -> Targets:
        """The fixture that pytest passes for a parameter: of the class, the file or the nearest `conftest.py`."""
        outer = self.facts.outer[caller] if caller >= 0 else -1
        fixture = self._look.first_inside(self.file, outer, name) if outer >= 0 else None
        fixture = fixture or self._look.top(self.file, name)
        folder: str | None = self._folder
        while fixture is None and folder is not None:
            file = self._look.at(f"{folder}/conftest.py".removeprefix("/"))
            fixture = self._look.top(file, name) if file >= 0 else None
            folder = folder.rpartition("/")[0] if folder else None
        return ((fixture.symbol, 0),) if fixture is not None and fixture.kind in FUNCTION_KINDS else ()

    def implicit(self, name: str, receiver: str, caller: int) -> Targets:
        """The methods that the language calls implicitly on an object (`source.extract.implicit_calls`)."""
        callees: list[Value] = []
        values = self._evaluate.expression(self.file, caller, parse(receiver))
        properties = [
            result for value in values if value.kind == FUNCTION for result in self._evaluate.result(value, 8)
        ]
        for value in (*values, *properties):
            if value.kind != INSTANCE or value.at is None:
                continue
            if not name.startswith("__"):
                callees += self._accessors(value, name)
                continue
            methods = self._evaluate.members.attribute(value, name, 8)
            if not methods and name.startswith("__i") and name not in ("__iter__", "__int__"):  # a += b
                methods = self._evaluate.members.attribute(value, f"__{name[3:]}", 8)
            callees += [method for method in methods if method.kind == FUNCTION]
        if name.startswith("__"):
            return self._run(callees)
        targets = {value.at.symbol: value.step for value in callees if value.at is not None}
        self.known.update((value.at.symbol, value.at) for value in callees if value.at is not None)
        mark = AMBIGUOUS if len(targets) > 1 else 0
        return tuple((symbol, step | mark) for symbol, step in targets.items())

    def _accessors(self, value: Value, name: str) -> list[Value]:
        """The getter of the property `name` of an object; the setter if the name ends in `=`."""
        assert value.at is not None
        bare, accessor = name.removesuffix("="), "setter" if name.endswith("=") else "property"
        for owner in self._evaluate.ancestry.lineage(value.at):
            members = self._look.own_members(owner, bare)
            for item in members:
                if accessor in self._look.declarations(item, ACCESSOR):
                    return [Value(FUNCTION, item, SELF if value.step == SELF else TYPE)]
            if members:
                break
        return []

    def _has_macro(self, targets: Targets) -> bool:
        return any(symbol in self.known and self.known[symbol].kind == "macro" for symbol, _ in targets)

    def meant(self, name: str, receiver: str, caller: int, arguments: int, *, of_macro: bool) -> Targets:
        """The definitions that a call means, as `resolve`, but without the calls inside macros that it means.
        `of_macro`: whether the call is itself in a macro's text.
        """
        self._arguments = arguments if "by_arity" in self._rules else UNKNOWN
        return self._allowed_targets(self._targets_by_name(name, receiver, caller), arguments, of_macro=of_macro)

    def in_scope(self, file: int, scope: int, name: str, arguments: int) -> Targets:
        """The definitions that a name in a macro's text means if it is looked up from a scope of any file."""
        return self._allowed_targets(self._run(self._called_values(file, scope, name)), arguments, of_macro=True)

    def _allowed_targets(self, targets: Targets, arguments: int, *, of_macro: bool) -> Targets:
        if not targets:
            return ()
        if arguments == NAMED:
            return overloads.targets_without_call(targets, self.known, of_macro=of_macro)
        if "inherited_overloads" in self._rules:
            targets = self._overloads.inherited(targets, arguments)
        targets = self._overloads.overriding(targets, arguments)
        return overloads.fitting(targets, arguments, self.known, self._overloads.arity)

    def _targets_by_name(self, name: str, receiver: str, caller: int) -> Targets:
        if name.endswith(ELEMENT) and name != ELEMENT:  # a table of this name, and never a function
            return self._through_pointer(name.removesuffix(ELEMENT), receiver, caller)
        if receiver in language_rules.CONSTRUCTED and receiver != language_rules.name_rules(self._language).maker:
            types = self._evaluate.types.types_named(self.file, caller, name)
            return self._run(value._replace(text="new") for value in types)
        scope = caller
        first = head_name(parse(receiver)) if receiver else name
        in_method = name == "super" and "super_calls" in self._rules  # means the method of the same name
        if first and not in_method:
            caller = self._evaluate.names.scope(self.file, caller, first)
        key = (name, receiver, caller, self._arguments)
        targets = self._resolved.get(key)
        if targets is None:
            targets = self._targets_on_receiver(name, receiver, caller) if receiver else self._bare(name, caller)
            self._resolved[key] = targets
        if len(targets) > MOST_HOOKS and (self.facts.first + scope, HOOK | AMBIGUOUS) in targets:
            return ()  # one of many hooks calls all of them: whoever calls the first one says more
        if not targets and "storing" in self._rules:
            return self._through_pointer(name, receiver, scope)
        return targets

    def _targets_on_receiver(self, name: str, receiver: str, caller: int) -> Targets:
        """The definitions that a method call on a receiver means."""
        expr = parse_receiver(receiver) if "extension_methods" in self._rules else parse(receiver)
        values = self._evaluate.expression(self.file, caller, expr)
        if not values and "qualified" in self._rules:
            types, rest = self._evaluate.qualified(self.file, parse(f"{receiver}.{name}"))
            if types and not rest:
                return self._run(types)
        if not values:
            if self._is_bound(receiver, caller) or name in words_of(self._language, "builtin_methods"):
                return ()
            return self._only(name, methods=True, free="module_objects" in self._rules)
        callees: list[Value] = []
        for value in self._evaluate.holders(values):
            if value.kind == FUNCTION:  # a property, or what a function has as an attribute
                for result in self._evaluate.result(value, DEPTH):
                    callees.extend(self._evaluate.members.attribute(result, name, 8))
            else:
                callees.extend(self._evaluate.members.attribute(value, name, 8))
        if any(value.text == EXTENDING for value in callees):
            members = [value for value in callees if value.kind == FUNCTION and value.text != EXTENDING]
            if members:  # they come first
                callees = members
            else:
                self.extended.add((name, receiver))
        if name == "class" and "class_of_objects" in self._rules:
            callees = [value for value in callees if value.kind == FUNCTION]  # to ask for the class makes no object
        targets = self._run(callees) or self._called_by_library(values, name)
        if not targets and "package_objects" in self._rules and all(value.step == SELF for value in values):
            return self._only(name, methods=True, free=True)  # it may be inherited
        is_own = all(value.step == SELF and value.kind != BASES for value in values)
        if not targets and is_own and "mixins" in self._rules:
            return self._callees.in_derived(values, name)
        if len(values) > 1 and "typed" in self._rules and any(v.kind == EXTERNAL for v in values):
            targets = tuple((symbol, step | AMBIGUOUS) for symbol, step in targets)
        if not targets and "extensions" in self._rules and all(value.kind == INSTANCE for value in values):
            return self._only(name, methods=True, free=True)
        if "virtual" in self._rules:
            targets = self._callees.with_overriding(targets, values, name)
        elif "method_sets" in self._rules:
            targets = self._callees.with_implementing(targets, values, name)
        return targets

    def _called_by_library(self, values: Values, name: str) -> Targets:
        """The hooks (methods that a library calls) that a library method runs on the object: `start` of a thread calls
        `run`. If the object's type has no such hook, the hooks of derived types.
        """
        if name not in frameworks.hook_callers(self._language):
            return ()
        members, ancestry, look = self._evaluate.members, self._evaluate.ancestry, self._look
        methods_run: list[Value] = []
        derived: dict[int, int] = {}
        for value in values:
            if value.at is None or value.kind not in (INSTANCE, CLASS, BASES):
                continue
            obj = value._replace(kind=INSTANCE)
            for hook in ancestry.hooks(value.at):
                if name not in hook.callers:
                    continue
                methods = {*hook.names}
                if hook.pattern.pattern != "$^":
                    defined = {method for owner in ancestry.lineage(value.at) for method in look.methods(owner)}
                    methods |= {method for method in defined if hook.pattern.fullmatch(method)}
                for method in sorted(methods - {name}):
                    own = [v for v in members.attribute(obj, method, 8) if v.kind == FUNCTION]
                    methods_run += own
                    derived.update(() if own else self._callees.in_derived((obj,), method))
        targets = self._run(methods_run) or tuple(derived.items())
        several = AMBIGUOUS if len(targets) > 1 else 0
        return tuple((symbol, HOOK | (step & AMBIGUOUS) | several) for symbol, step in targets)

    def _through_pointer(self, name: str, receiver: str, caller: int) -> Targets:
        """The functions that a called field, variable or parameter may hold."""
        if "expanding" not in self._rules:
            values = self._values
            if not receiver and "separate_names" in self._rules and name[:1] != "$":
                return ()  # a function's name, never a variable's
            return values.of_member(caller, receiver, name) if receiver else values.of_name(caller, name)
        if receiver:
            return self._pointers.of_member(caller, receiver, name)
        return self._pointers.of_name(caller, name, local=self._is_local(name, caller, of_file=False))

    def _is_bound(self, receiver: str, caller: int) -> bool:
        """Whether a receiver is known to have a value, even if the members of the value are unknown."""
        steps = parse(receiver)
        if steps and "capital_types" in self._rules and steps[0].name[:1].isupper():
            return True
        if len(steps) == 2 and steps[1].kind == ATTR:
            owners = self._evaluate.names.name(self.file, caller, steps[0].name)
            return any(self._is_made_outside(value, steps[1].name) for value in owners)
        if not steps or len(steps) > 1:
            return not steps
        return bool(self._evaluate.names.name(self.file, caller, steps[0].name))

    def _is_made_outside(self, value: Value, name: str) -> bool:
        """Whether a field holds the result of a call of an external name: `this.m = new Map()`."""
        for owner in self._evaluate.ancestry.lineage(value.at) if value.at is not None else ():
            for row in self._look.hints(owner, name):
                if len(row.expr) == 2 and row.expr[1].kind == CALL:
                    return not self._evaluate.names.name(owner.file, row.within, row.expr[0].name)
        return False

    def _bare(self, name: str, caller: int) -> Targets:
        if name == "super" and "super_calls" in self._rules:
            return self._of_super(caller)
        if name in words_of(self._language, "own_constructors"):
            return self._own_constructor(name, caller)
        values = self._called_values(self.file, caller, name)
        if name in self._delegates:
            return self._run(self._constructed_class(value) for value in values)
        if values:
            targets = self._run(values)
            if not targets and values[0].kind == MODULE:
                return self._macro(name)  # an exported macro is imported from the root of its crate
            if targets or not any(value.kind == INSTANCE for value in values):
                return targets
            # `new Clock()`, where a property of that name and type hides the type from all but `new`
            return self._run(v._replace(kind=CLASS) for v in values if self._is_named_like_its_type(v, name))
        if self._is_local(name, caller):
            return ()
        macro = self._macro(name)
        if macro:
            return macro
        if name in self.facts.bindings or "explicit_names" in self._rules:
            return ()
        if self._is_of_library(name):
            return ()
        implicit = "implicit_self" in self._rules
        if implicit and "mixins" in self._rules:
            own = self._evaluate.names.own_object(self.file, caller, "self")
            inherited = self._callees.in_derived(own, name) or self._called_by_library(own, name)
            if inherited:
                return inherited
        return self._only(name, methods=implicit, free=True, anywhere="program_scope" in self._rules)

    def _is_of_library(self, name: str) -> bool:
        """Whether a name is a macro of a standard header that the file includes, and of no header in the repository."""
        header = language_rules.STANDARD_MACROS.get(name, "")
        if not header or "expanding" not in self._rules:
            return False
        included = any(item.module == header and not targets for item, targets in self.imports)
        return included and not any(self._look.top(target, name) for target in sorted(self._imported_files))

    def _constructed_class(self, value: Value) -> Value:
        """The class that `this(...)` or `super(...)` constructs, given the value of `this` or `super`."""
        if value.kind == BASES and value.at is not None:
            bases = [base for base in self._evaluate.ancestry.bases(value.at) if base.kind != "interface"]
            return value._replace(kind=CLASS, at=bases[0] if bases else None)
        return value._replace(kind=CLASS) if value.kind == INSTANCE else value

    def _is_named_like_its_type(self, value: Value, name: str) -> bool:
        """Whether the class of an object has the name `name`."""
        return value.kind == INSTANCE and value.at is not None and self._look.name(value.at) == name

    def _macro(self, name: str) -> Targets:
        """The macro of a name, if no other definition has the name; for languages with macros that all files see."""
        if "macros_anywhere" not in self._rules:
            return ()
        macro = self._look.only(self._family, name)
        return ((macro.symbol, PACKAGE),) if macro is not None and macro.kind == "macro" else ()

    def _run(self, values: Iterable[Value]) -> Targets:
        return self._callees.of(values, self._arguments)

    def _called_values(self, file: int, scope: int, name: str) -> Values:
        """The values of a bare name (without a receiver) that is called."""
        values = self._evaluate.names.name(file, scope, name, callee=True)
        if "tagged_types" in self._rules:
            return tuple(value for value in values if value.kind != CLASS)
        return values

    def _of_super(self, caller: int) -> Targets:
        """The target of Ruby's `super`: the method of the same name in the bases of the class."""
        if caller < 0:
            return ()
        bases = self._evaluate.names.name(self.file, caller, "super")
        name, members = self.facts.names[caller], self._evaluate.members
        of_class = members.is_of_class(self._look.definition(self.file, caller))
        for value in bases:
            for base in self._evaluate.ancestry.lineage(value.at)[1:] if value.at is not None else ():
                for item in self._look.members(base, name):
                    if members.is_of_class(item) == of_class:
                        return self._run([Value(FUNCTION, item, SELF)])
        return self._run(f for value in bases for f in members.attribute(value, name, 8))

    def _own_constructor(self, name: str, caller: int) -> Targets:
        """The target of `new self` or `this(x)`: the constructor of the enclosing class, or of a base of that class."""
        types: list[Value] = []
        for value in self._evaluate.names.name(self.file, caller, name):
            if value.kind == INSTANCE:
                types.append(value._replace(kind=CLASS))
            elif value.kind == BASES and value.at is not None:
                types.extend(Value(CLASS, base, value.step) for base in self._evaluate.ancestry.bases(value.at)[:1])
        return self._run(types)

    def _is_local(self, name: str, caller: int, *, of_file: bool = True) -> bool:
        """Whether a local variable has this name; if `of_file`, variables outside functions count as well."""
        if "separate_names" in self._rules:
            return False
        while caller >= 0:
            if (caller, name) in self.facts.typed:
                return True
            caller = self.facts.outer[caller]
        return of_file and (-1, name) in self.facts.typed

    def _only(self, name: str, *, methods: bool, free: bool, anywhere: bool = False) -> Targets:
        """The only definition of a name, if it is near or imported, or if the language has a single namespace. Tests
        are targets only of calls in tests.

        Args:
            methods: Whether the call may mean a method.
            free: Whether the call may mean a function that is no method.
            anywhere: Whether the language has a single namespace for the whole program.
        """
        definition = self._look.only(self._family, name)
        if definition is None:
            return (self._included_function(name) or self._several(name)) if anywhere else ()
        self.known[definition.symbol] = definition
        is_method = definition.kind in ("method", "constructor")
        if definition.kind in TYPE_KINDS and definition.parent_kind in TYPE_KINDS and "nested_hidden" in self._rules:
            return ()
        if (is_method and not methods) or (self._look.files.heads[definition.file].test and not self._test):
            return ()
        if definition.kind == "function" and not free:
            return ()  # what is called on an object is a member of it, save where files or tables are the objects
        if is_method and self._look.is_common(self._family, name):
            return ()
        near = self._look.files.folders[definition.file] == self._folder or definition.file in self._imported_files
        if anywhere and not is_method:
            return ((definition.symbol, PACKAGE),)
        return ((definition.symbol, NAME),) if near else ()

    def _included_function(self, name: str) -> Targets:
        """The `static` function of this name in a source file that this file includes."""
        for target in sorted(self._imported_files) if "expanding" in self._rules else ():
            definition = self._look.top(target, name)
            if definition is not None and definition.static:
                self.known[definition.symbol] = definition
                return ((definition.symbol, PACKAGE),)
        return ()

    def _nearest(self, matches: list[Definition]) -> list[Definition]:
        """Chooses among definitions in several programs of one repository: those in files that this file includes, or
        whose header it includes; if there are none, those in the nearest folders.

        If a definition's file shares a header with this file, files without any header of the repository are left out.
        """
        heads, folders = self._look.files.heads, self._look.files.folders
        included = {heads[target].path.rpartition("/")[2] for target in self._imported_files}
        stems = {splitext(name)[0] for name in included}
        near = [item for item in matches if splitext(heads[item.file].path)[0].rpartition("/")[2] in stems]
        if near:
            return near
        if any(not included.isdisjoint(self._look.includes(item.file)) for item in matches if not self._is_open(item)):
            matches = [item for item in matches if self._is_open(item) or self._includes_own(item)]
        shared = [len(commonpath((f"/{self._folder}", f"/{folders[item.file]}"))) for item in matches]
        return [item for item, length in zip(matches, shared, strict=True) if length == max(shared)]

    def _is_open(self, item: Definition) -> bool:
        """Whether the file of a definition is meant to be included, so that no header has to declare the definition."""
        return item.kind == "macro" or splitext(self._look.files.heads[item.file].path)[1].startswith(".h")

    def _includes_own(self, item: Definition) -> bool:
        """Whether the file of a definition includes a header that may be in the repository."""
        return any(self._look.ending_in(splitext(name)[0]) for name in sorted(self._look.includes(item.file)))

    def _is_other_name(self, item: Definition, name: str) -> bool:
        """Whether a definition is `#define name other`: where its header is included, the name means only `other`."""
        if item.kind != "macro":
            return False
        texts = [calls for _, calls in self._look.expansion(item)]
        return bool(texts) and all(len(calls) == 1 and calls[0][0] != name and calls[0][2] == NAMED for calls in texts)

    def _several(self, name: str) -> Targets:
        """All functions and macros of a name: programs in the repository may be linked with different definitions."""
        items = [
            item for item in self._look.all_named(self._family, name)
            if item.kind in ("function", "macro") and (self._test or not self._look.files.heads[item.file].test)
        ]  # fmt: skip
        mark = AMBIGUOUS if len(items) > 1 else 0
        if mark and "expanding" in self._rules:
            renamed = [item for item in items if item.file in self._imported_files and self._is_other_name(item, name)]
            items = renamed or self._nearest(items)
            # Where a header with a macro is included, its name is that macro.
            included = len(items) == 1 and items[0].kind == "macro" and items[0].file in self._imported_files
            mark = 0 if len(renamed) == 1 or included else mark
        self.known |= {item.symbol: item for item in items}
        return tuple((item.symbol, PACKAGE | mark) for item in items)
