"""Evaluates expressions by declarations and assignments: receivers of calls, types of fields.

Evaluation follows assignments from name to name, through any file, for a bounded number of steps. A value depends only
on the sources and that bound, not on where or in which order evaluation starts. Answers about other files come from
`LookUps`, which records a key for each question.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from lci_py.callgraph import language_rules
from lci_py.callgraph.language_rules import name_rules
from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.ancestry import Ancestry
from lci_py.callgraph.resolve.extension_methods import ExtensionMethods
from lci_py.callgraph.resolve.go_packages import in_package, named_type
from lci_py.callgraph.resolve.imports import ImportResolver
from lci_py.callgraph.resolve.module_names import RUST_MODULES, ModuleNames
from lci_py.callgraph.resolve.qualified_names import find_dotted, find_in_module
from lci_py.callgraph.resolve.type_arguments import TypeArguments, with_arguments
from lci_py.callgraph.resolve.values import (
    BASES,
    CLASS,
    DEPTH,
    EXTENDING,
    EXTERNAL,
    FUNCTION,
    HOLDERS,
    INSTANCE,
    MANY,
    MODULE,
    MOST_VALUES,
    Value,
    Values,
    distinct,
    value_of,
    with_step,
)
from lci_py.callgraph.resolve.written_types import TypeText, place_in, places_in, types_in
from lci_py.source.text.language_tables import has_rule
from lci_py.types.edges import IMPORT, PACKAGE, SCOPE, SELF, TYPE, VALUE
from lci_py.types.expressions import (
    ATTR,
    CALL,
    CAST,
    GIVEN,
    ITEM,
    NAME,
    PARAMETER,
    POINTERS,
    TEXT,
    Expr,
    Step,
    head_name,
)
from lci_py.types.search import FUNCTION_KINDS, LAMBDA_KIND, TYPE_KINDS
from lci_py.types.source import ACCESSOR, ALIAS, CLASS_METHOD, PASSED, StoredFunction, TypeHint

_ENTER, _ITEM = "__enter__", (Step(ITEM, ""),)
#: Kinds of what has local names.
_LOCALS = FUNCTION_KINDS | {LAMBDA_KIND}
#: Functions that may give another meaning to the name of the object around.
_NESTED = frozenset({"function", LAMBDA_KIND})
#: How many names are followed less for each call that passes an object, and to find what a call means.
_PASSING, _CALLED_DEPTH = 2, 8
_SPACES = frozenset({"namespace", "module"})


class Evaluator:
    """Evaluates expressions in the files of a repository.

    Attributes:
        names: Evaluates bare names.
        members: Evaluates members of values.
        ancestry: Finds the bases of types.
        types: Evaluates declarations.
        modules: Evaluates names outside all definitions.
    """

    def __init__(self, look_ups: LookUps, imports: ImportResolver, *, shared: bool = False) -> None:
        """Takes `imports`, which resolves imports by the same look-ups.

        `shared` says whether all files share the answers (`LookUps.shared`).
        """
        self._look = look_ups
        self._rules_of = look_ups.rules_of
        self.types = Types(self, look_ups)
        of_all = None if shared else Evaluator(look_ups, imports, shared=True)
        self.ancestry: Ancestry = Ancestry(
            look_ups, self.types.types_named, (of_all.ancestry, of_all.start) if of_all is not None else None
        )
        self.names = Names(self, look_ups)
        self.members = Members(self, look_ups, imports)
        self.modules = ModuleNames(look_ups, imports, self.types.rows, self.members.attribute)
        self._memo: dict[tuple[int, int, Expr, int], Values] = {}

    def start(self) -> None:
        """Start with another file: clear the caches, since cached values would leave no look-up keys."""
        self._memo.clear()
        self.names.start()
        self.members.start()
        self.ancestry.start()
        self.modules.start()

    def expression(self, file: int, scope: int, expr: Expr, depth: int = DEPTH) -> Values:
        """The values of an expression in `scope`: the index of a symbol of the file, or -1 (top level)."""
        if depth <= 0 or not expr:
            return ()
        if expr[0].kind == PARAMETER:
            return self._passed_values(file, scope, expr, depth)
        if expr[0].kind == NAME:
            scope = self.names.scope(file, scope, expr[0].name)
            if len(expr) == 1:
                return self.names.name(file, scope, expr[0].name, depth - 1)
        key = (file, scope, expr, depth)
        values = self._memo.get(key)
        if values is None:
            values = self._memo[key] = self._along(file, scope, expr, depth)
        return values

    def _passed_values(self, file: int, scope: int, parameter: Expr, depth: int) -> Values:
        """The objects that calls pass as the argument for a parameter."""
        key = (file, scope, parameter, depth)
        values = self._memo.get(key)
        if values is None:
            self._memo[key] = ()  # a function may pass its parameter to itself
            names = [step.name for step in parameter]
            owner = self._look.enclosing(self._look.definition(file, scope))
            passed = [
                value
                for other, item in self.passed(PASSED, file, scope, names)
                for value in self.expression(other, item.within, item.value, depth - _PASSING)
                # In `x = Wrapper.new(x)` the variable has both meanings; a wrapper is hardly made of one of its own.
                if head_name(item.value) == "self" or value.at != owner
            ]
            values = self._memo[key] = with_step(distinct(passed), TYPE)
        return values

    def passed(self, kind: int, file: int, index: int, names: Iterable[str]) -> Iterator[tuple[int, StoredFunction]]:
        """The arguments that calls pass for a parameter of a function (or of a class whose constructor lists it), each
        as (file of the call, argument).

        Args:
            kind: `ARGUMENT` for functions, `PASSED` for objects.
            names: The names by which calls pass the argument: the parameter's name, and its position.
        """
        facts = self._look.facts(file)
        function, parent = self._look.definition(file, index), facts.parents[index]
        is_type = function.kind in TYPE_KINDS
        makes = not is_type and (function.kind == "constructor" or facts.names[index] in language_rules.MAKING)
        if makes and parent < 0:
            return
        callee = facts.names[parent] if makes else facts.names[index]
        owner = self._look.definition(file, index if is_type else parent) if is_type or parent >= 0 else None
        head, self._look.depends_on_asker = self._look.files.heads[self._look.asker], True
        for name in names:
            for other, item in self._look.stored(head.family, kind, callee, name, tests=head.test):
                called = self.expression(other, item.within, item.holder, _CALLED_DEPTH)
                if any(self._is_called(value, function, facts.names[index], owner) for value in called):
                    yield other, item

    def _is_called(self, value: Value, function: Definition, name: str, owner: Definition | None) -> bool:
        """Whether a called value is the function, an overload of it, or a method that it overrides."""
        at = value.at
        if at is None:
            return False
        if at == function or (value.kind == CLASS and at == owner):
            return True
        if value.kind != FUNCTION or owner is None or self._look.name(at) != name:
            return False
        return self._look.enclosing(at) in self.ancestry.lineage(owner)

    def _along(self, file: int, scope: int, steps: Expr, depth: int) -> Values:
        head, rest = steps[0], steps[1:]
        if head.kind == TEXT:
            return (Value(EXTERNAL, None, TYPE, files=(file,), text="String"),)
        if head.kind == CAST:
            values = self.types.declared(file, scope, head.name, depth - 1)
        else:
            called = bool(rest) and rest[0].kind in (CALL, GIVEN)
            called = called and "separate_names" in self._rules_of[file]
            values = self.names.name(file, scope, head.name, depth - 1, called)
        if not values and rest and "qualified" in self._rules_of[file]:
            values, rest = self.qualified(file, steps)
        receivers: Values = ()
        for number, step in enumerate(rest):
            if not values:
                return ()
            if step.kind == ATTR:
                receivers = values
                following = rest[number + 1].kind if number + 1 < len(rest) else ""
                called = following in (CALL, GIVEN)
                if following == GIVEN and all(value.kind == MANY for value in values):
                    continue
                if step.name == _ENTER and called:
                    return self._context_values(values, depth - 1) if number + 2 == len(rest) else ()
                piped = step.name in language_rules.VIEWS and rest[number + 2 : number + 3] == _ITEM
                if called and (piped or step.name in language_rules.PIPED):
                    whole = [
                        value._replace(kind=FUNCTION, text=f"list<{value.text}>")
                        for value in values
                        if value.kind == MANY
                    ]
                    if whole:
                        values = tuple(whole)
                        continue
                values = self._attributes(values, step.name, depth - 1, called)
            elif step.kind == CALL:
                values = self._chained_receivers(values, receivers) or self._results(values, depth - 1)
                receivers = ()
            elif step.kind == GIVEN:
                values = distinct(v for value in values for v in self._lambda_parameter(value, step.name, depth - 1))
            elif step.kind not in POINTERS:
                values = distinct(item for value in values for item in self._items(value, depth - 1))
        return values

    def qualified(self, file: int, steps: Expr) -> tuple[Values, Expr]:
        """(values, rest): the type that a chain of names as `a.b.C.f()` begins with; the steps after the type."""
        names = [step.name for step in steps]
        family = self._look.files.families[file]
        packages = has_rule(family, "package_objects")
        for size in range(2, len(steps) + 1):
            if steps[size - 1].kind != ATTR:
                break
            for target in self._look.declaring(family, ".".join(names[:size])):
                definition = self._look.top(target, names[size - 1])
                if definition is not None and steps[size - 1].name != name_rules(family).maker:
                    return (value_of(definition, IMPORT),), steps[size:]
                if packages and self._look.files.heads[target].package == ".".join(names[:size]):
                    return (Value(MODULE, None, IMPORT, files=(target,)),), steps[size:]
        return (), steps[1:]

    def _attributes(self, values: Values, name: str, depth: int, called: bool) -> Values:
        members: list[Value] = []
        attribute = self.members.attribute
        for value in self.holders(values):
            if value.kind == FUNCTION:  # a property: reading it calls it
                for result in self.result(value, depth - 1):
                    members.extend(attribute(result, name, depth - 1))
            elif not called and value.kind == INSTANCE and (fields := self.members.as_field(value, name, depth)):
                members.extend(fields)
            elif value.kind == MANY and called and name in language_rules.ELEMENT_GETTERS:
                members.append(value._replace(kind=FUNCTION))
            elif value.kind == MANY and name.isdigit():
                text = place_in(value.text, int(name))
                members.extend(self.types.declared(value.files[0], value.place, text, depth))
            else:
                values = attribute(value, name, depth - 1)
                is_created = value.kind == CLASS and values == (value,)  # in Ruby, `C.new`
                is_created = is_created or (value.kind == MODULE and self.is_package(value))  # in Perl, `C->new`
                members.extend(self._results(values, depth - 1) if is_created and not called else values)
        return distinct(members)

    def holders(self, values: Values) -> Values:
        """The values whose members are searched. In Rust, only the module, if a function has the same name."""
        if len(values) < 2:
            return values
        modules = [v for v in values if v.kind == MODULE and "crates" in self._rules_of[v.files[0]]]
        return tuple(modules) or values

    def _chained_receivers(self, values: Values, receivers: Values) -> Values:
        """The receivers of the called methods, if all these methods return their receiver (`-> Self`); else ()."""
        for value in values:
            if value.kind != FUNCTION or value.at is None or not receivers:
                return ()
            rows = self._look.hints(value.at, "")
            if not rows or any(row.text.lstrip("&?").removeprefix("mut ") not in ("Self", "static") for row in rows):
                return ()
        return tuple(v._replace(kind=INSTANCE, step=TYPE) for v in receivers if v.kind in (INSTANCE, CLASS))

    def _results(self, values: Values, depth: int) -> Values:
        if len(values) == 1:
            return distinct(self.result(values[0], depth))
        return distinct(result for value in values for result in self.result(value, depth))

    def result(self, value: Value, depth: int) -> Values:
        """The values that a call of a value returns."""
        if depth <= 0:
            return ()
        if value.kind == MODULE:
            return (value,) if self.is_package(value) else ()
        if value.kind == EXTERNAL:
            return (value,)
        if value.kind == FUNCTION and value.at is None:
            return self._items(value._replace(kind=MANY), depth)
        if value.at is None:
            return ()
        if value.kind != FUNCTION:
            return (Value(INSTANCE, value.at, TYPE),) if value.kind == CLASS else (value,) * (value.kind == BASES)
        at = value.at
        head = self._look.files.heads[at.file]
        if has_rule(head.language, "package_objects") and self._look.name(at) == name_rules(head.language).maker:
            return (Value(MODULE, None, TYPE, files=(at.file,)),)
        outer = self._look.enclosing(at)
        if at.kind == "constructor":
            return (Value(INSTANCE, outer, TYPE),) if outer is not None else ()
        overloaded = outer is not None and "overloads" in self._rules_of[at.file]
        overloaded = overloaded and value.text != EXTENDING
        beside = self._look.own_members(outer, self._look.name(at)) if outer is not None and overloaded else []
        hints = [self._look.hints(definition, "") for definition in beside or [at]]
        values = distinct(v for rows in hints for v in self.types.rows(at.file, rows, depth - 1))
        return self.types.arguments.of_result(value, values, depth) if value.text[:1] == "<" else values

    def is_package(self, module: Value) -> bool:
        """Whether a module is represented by a class, so that objects of the class are the module."""
        return bool(module.files) and has_rule(self._look.files.families[module.files[0]], "package_objects")

    def _lambda_parameter(self, value: Value, positions: str, depth: int) -> Values:
        """The arguments that a function passes to a parameter of its lambda argument; a container's elements."""
        numbers = [int(text) for text in positions.split(",") if text.isdecimal()]
        if len(numbers) != 3:
            return ()
        number, position, count = numbers
        if value.kind == MANY:
            return self._items(value, depth) if position == count - 1 else ()
        outer = self._look.enclosing(value.at) if value.kind == FUNCTION and value.at is not None else None
        values: list[Value] = []
        for at in self._look.own_members(outer, self._look.name(value.at)) if outer and value.at else ():
            for row in self._look.hints(at, f"->{number}"):
                arguments = [argument for item in types_in(row.text)[:1] for argument in item.arguments]
                row = row._replace(text=arguments[min(position, len(arguments) - 1)] if arguments else "")
                values += self.types.arguments.of_row(value, row, depth) or self.types.rows(at.file, [row], depth)
        return distinct(values)

    def _items(self, value: Value, depth: int) -> Values:
        if value.kind == MANY:
            items = places_in(value.text)
            return distinct(v for text in items for v in self.types.declared(value.files[0], value.place, text, depth))
        if value.kind == INSTANCE and value.at is not None and value.at.kind == "type":  # `type Items []*Item`
            types = named_type(self._look, self.types.declared, value.at, depth - 1)
            return distinct(item for inner in types if inner.kind == MANY for item in self._items(inner, depth - 1))
        if value.kind == INSTANCE:
            for method in ("__iter__", "__aiter__", "__getitem__", "GetEnumerator", "iterator", "[Symbol.iterator]"):
                for iterator in self.members.attribute(value, method, depth - 1):
                    results = self._results((iterator,), depth - 1)
                    following = [step for inner in results for step in self._next(inner, depth - 1)]
                    if following:
                        return self._results(distinct(following), depth - 1)
                    return distinct(item for result in results for item in self._items(result, depth - 1)) or results
        return ()

    def _next(self, iterator: Value, depth: int) -> Values:
        if iterator.kind != INSTANCE:
            return ()
        members = self.members.attribute
        return members(iterator, "__next__", depth) or members(iterator, "__anext__", depth)

    def _context_values(self, values: Values, depth: int) -> Values:
        """The values that `with` binds: results of `__enter__`, values that a generator yields; else the object."""
        bound_values: list[Value] = []
        for value in values:
            if value.kind == MANY:
                bound_values.extend(self._items(value, depth))
            elif value.kind == INSTANCE and (methods := self.members.attribute(value, _ENTER, depth)):
                bound_values.extend(self._results(methods, depth) or (value,))
            else:
                bound_values.append(value)
        return distinct(bound_values)


class Names:
    """Evaluates bare names (without a receiver); a part of an `Evaluator`, whose other parts it calls."""

    def __init__(self, evaluator: Evaluator, look_ups: LookUps) -> None:
        self._all = evaluator
        self._look = look_ups
        self._rules_of = look_ups.rules_of
        self._memo: dict[tuple[int, int, str, int, bool], Values] = {}

    def start(self) -> None:
        """Start with another file: clear the caches."""
        self._memo.clear()

    def name(self, file: int, scope: int, name: str, depth: int = DEPTH, callee: bool = False) -> Values:
        """The values of a bare name in a scope.

        Args:
            scope: The index of the innermost enclosing symbol, or -1.
            depth: How many further names may be followed.
            callee: Whether the name is called.
        """
        if depth <= 0:
            return ()
        key = (file, scope, name, depth, callee)
        values = self._memo.get(key)
        if values is None:
            values = self._memo[key] = self._name(file, scope, name, depth, callee)
        return values

    def scope(self, file: int, index: int, name: str) -> int:
        """The outermost scope in which a name still means the same: the enclosing scope that may bind it, or -1."""
        if index < 0 or file != self._look.own:
            return index
        facts = self._look.facts(file)
        language = name_rules(facts.head.language)
        if not language.scoped or name in RUST_MODULES:
            return index
        parents, kinds = facts.outer, facts.scope_kinds
        if name in language.own:
            holder = index
            while holder >= 0 and kinds[holder] not in HOLDERS:
                if (kinds[holder] in _NESTED and (holder, name) in facts.typed) or (holder, "this") in facts.typed:
                    return holder
                if kinds[holder] != LAMBDA_KIND and facts.owners[holder]:
                    return index
                holder = parents[holder]
            if holder >= 0 or not language.lexical:
                return holder if holder >= 0 else index
        bare = name.lstrip("$@:")
        scopes = facts.scopes.get(bare, ())
        if language.lexical or not (language.implicit_self or bare[:1].isupper()):
            while scopes and index >= 0 and index not in scopes:
                index = parents[index]
            return index if scopes else -1
        adopts, holders = language.implicit_self, TYPE_KINDS if language.implicit_self else HOLDERS
        while index >= 0 and index not in scopes:
            if kinds[index] in holders or (adopts and kinds[index] in FUNCTION_KINDS and self._is_adopted(file, index)):
                break
            index = parents[index]
        return index

    def _name(self, file: int, scope: int, name: str, depth: int, callee: bool) -> Values:
        facts = self._look.facts(file)
        language = name_rules(facts.head.language)
        if "crates" in self._rules_of[file] and name in RUST_MODULES:
            return self._all.modules.rust_module(file, scope, name)
        if name in language.own:
            objects = self.own_object(file, scope, name, depth)
            if objects:
                return objects
        bare = name.lstrip("$@:")
        if bare == language.maker:  # `new.run`: a name that stands alone is a call in Ruby
            kind = CLASS if callee else INSTANCE
            return tuple(v._replace(kind=kind) for v in self.own_object(file, scope, "self", depth))
        absolute = name.startswith("::")
        if not absolute and scope >= 0:
            outer = self._enclosing_values(file, scope, name, depth, callee)
            if outer is not None:
                return outer
        if not language.module_scope or not bare[:1].isupper():
            plain = language.plain_self and name == "self"
            return self._all.modules.outside(file, bare, depth) or (
                self.own_object(file, scope, name, depth) if plain else ()
            )
        if self._look.binding(file, bare) is None or absolute:
            declared = find_dotted(self._look, file, scope, f"::{bare}" if absolute else bare)
            if declared is not None:
                return (value_of(declared, PACKAGE),)
        return self._all.modules.outside(file, bare, depth) or (
            Value(EXTERNAL, None, IMPORT, files=(file,), text=bare),
        )

    def _enclosing_values(self, file: int, innermost: int, name: str, depth: int, callee: bool) -> Values | None:
        """The values of a name in the innermost enclosing scope that binds it; None if no scope does."""
        facts = self._look.facts(file)
        language = name_rules(facts.head.language)
        bare = name.lstrip("$@:")
        everywhere = language.implicit_self or file != self._look.own
        binders: Collection[int] = () if everywhere else facts.scopes.get(bare, ())
        if not everywhere and not binders:
            return None
        hidden = (callee and language.separate) or (name != bare and name[0] == "@")
        of_objects = "class_methods" in self._rules_of[file] and not self._is_in_class(file, innermost)
        kind_of_self = INSTANCE if of_objects else CLASS
        scope = innermost
        while scope >= 0:
            if everywhere or scope in binders:
                kind = facts.scope_kinds[scope]
                if kind in _LOCALS and not hidden:
                    rows = self._look.typed(file, scope, bare)
                    if rows and all(row.expr and row.expr[0] == (NAME, bare) for row in rows):  # `let f = f(x)`
                        rows = () if callee else [row._replace(within=facts.outer[scope]) for row in rows]
                    if rows:
                        local = self._all.types.rows(file, rows, depth)
                        inner = (
                            self._look.first_inside(file, scope, bare)
                            if all(v.kind == EXTERNAL for v in local)
                            else None
                        )
                        if inner is not None and inner.kind != "method":
                            return (value_of(inner, SCOPE),)  # const f = unknown(function f() {})
                        return tuple([v._replace(step=VALUE) if v.kind in (FUNCTION, CLASS) else v for v in local])
                inside = self._in_scope(file, scope, bare, depth, callee, kind_of_self)
                if not inside and language.implicit_self and kind != LAMBDA_KIND and self._is_adopted(file, scope):
                    beside = (
                        self._look.first_inside(file, facts.outer[scope], bare) if not facts.owners[scope] else None
                    )
                    if beside is not None and self._is_adopted(file, beside.symbol - facts.first):
                        return (value_of(beside, SELF),)
                    own = [value.at for value in self.own_object(file, scope, "self", depth)]
                    member = self._all.members.member
                    inside = tuple(v._replace(step=SELF) for at in own if at for v in member(at, bare, depth - 1))
                if inside:
                    return inside
            scope = facts.outer[scope]
        return None

    def _is_adopted(self, file: int, index: int) -> bool:
        """Whether a method belongs to a type other than the enclosing type: to its owner, or to an anonymous object."""
        facts = self._look.facts(file)
        return bool(facts.owners[index] or (facts.kinds[index] == "method" and self._look.typed(file, index, "this")))

    def _in_scope(self, file: int, scope: int, name: str, depth: int, callee: bool, kind_of_self: int) -> Values:
        """The values of a name that an enclosing definition binds, unless it binds the name as a local variable.

        Args:
            kind_of_self: Whether members of an object (`INSTANCE`) or of the type (`CLASS`) are meant.
        """
        facts = self._look.facts(file)
        kind = facts.scope_kinds[scope]
        if kind in TYPE_KINDS:
            if "implicit_self" not in self._rules_of[file]:
                return ()
            value = Value(kind_of_self, self._look.definition(file, scope), SELF)
            members = self._all.members.as_field(value, name, depth - 1) if not callee else ()
            members = members or self._all.members.of_type(value, name, depth - 1)
            if callee and name_rules(facts.head.language).separate:
                members = tuple(v for v in members if v.kind in (FUNCTION, CLASS))
            return tuple(v if v.kind == INSTANCE else v._replace(step=SELF) for v in members)
        inner = self._look.first_inside(file, scope, name)
        if inner is not None and (kind in _LOCALS or kind in _SPACES or name_rules(facts.head.language).implicit_self):
            return (value_of(inner, SCOPE),)
        if kind in _SPACES:
            return self._all.types.rows(file, self._look.typed(file, scope, name), depth)
        return ()

    def _is_in_class(self, file: int, scope: int) -> bool:
        """Whether `self` is a class: in a method that is called on the class, or in the class's body."""
        facts = self._look.facts(file)
        if "class_methods" not in self._rules_of[file]:
            return False
        while scope >= 0 and facts.scope_kinds[scope] not in FUNCTION_KINDS and facts.scope_kinds[scope] not in HOLDERS:
            scope = facts.outer[scope]
        is_method = scope >= 0 and facts.scope_kinds[scope] in FUNCTION_KINDS
        return not is_method or self._all.members.is_of_class(self._look.definition(file, scope))

    def own_object(self, file: int, scope: int, name: str, depth: int = DEPTH) -> Values:
        """The receiver object (`self`) in a scope; if `name` means `super`, the object viewed as one of its bases. ()
        if an enclosing plain function has a parameter or variable of this name.
        """
        facts = self._look.facts(file)
        rules = name_rules(facts.head.language)
        kind = BASES if name in rules.supers else INSTANCE
        if kind == INSTANCE and self._is_in_class(file, scope):
            kind = CLASS
        is_own = "this" in rules.own  # elsewhere a variable may be called so: Rust's `let this = self.project();`
        while scope >= 0 and facts.scope_kinds[scope] not in HOLDERS:
            if facts.scope_kinds[scope] in _NESTED and self._look.typed(file, scope, name):
                return ()
            if is_own and facts.scope_kinds[scope] == "method" and (rows := self._look.typed(file, scope, "this")):
                return with_step(self._all.types.rows(file, rows, depth), SELF)
            owner = facts.owners[scope] if scope < len(facts.owners) else ""
            if owner:
                type_ = self._look.near_type(file, owner) or self._look.only_type(facts.head.family, owner)
                if type_ is not None:
                    return (Value(kind, type_, SELF),)
            scope = facts.outer[scope]
        if scope < 0 and "package_objects" in self._rules_of[file]:
            return (Value(MODULE, None, SELF, files=(file,)),)
        return (Value(kind, self._look.definition(file, scope), SELF),) if scope >= 0 else ()


class Members:
    """Evaluates members of values; a part of an `Evaluator`, whose other parts it calls."""

    def __init__(self, evaluator: Evaluator, look_ups: LookUps, imports: ImportResolver) -> None:
        self._all = evaluator
        self._look = look_ups
        self._rules_of = look_ups.rules_of
        self._import = imports
        self._extensions = ExtensionMethods(look_ups, evaluator.ancestry.lineage, imports)
        self._memo: dict[tuple[Value, str, int], Values] = {}

    def start(self) -> None:
        """Start with another file: clear the caches."""
        self._memo.clear()

    def attribute(self, value: Value, name: str, depth: int) -> Values:
        """The values of a member of a value."""
        if depth <= 0:
            return ()
        key = (value, name, depth)
        values = self._memo.get(key)
        if values is None:
            values = self._memo[key] = self._attribute(value, name, depth)
        return values

    def _attribute(self, value: Value, name: str, depth: int) -> Values:
        if value.kind == EXTERNAL:
            full = f"{value.text}.{name}"[:200]
            declared = find_dotted(self._look, value.files[0], -1, f"::{full}") if value.files else None
            if declared is not None:
                return (value_of(declared, PACKAGE),)
            added = self._extensions.of_library_type(value, name) or self._extensions.of(value, name)
            return added or (value._replace(text=full),)
        if value.kind == MODULE:
            return self._of_module(value, name, depth)
        if value.at is None:
            return self._extensions.of(value, name)
        if value.kind == BASES:
            inherited = (self._look.member(base, name) for base in self._all.ancestry.lineage(value.at)[1:])
            return next(((value_of(member, SELF),) for member in inherited if member is not None), ())
        if name == "this":  # Outer.this
            return (value._replace(kind=INSTANCE, step=SELF),)
        step = value.step
        members = self.of_type(value, name, depth) or self._of_class(value, name) or self._extensions.of(value, name)
        if value.text[:1] == "<" or "generic" in self._rules_of[value.at.file]:
            members = self._all.types.arguments.of_member(value, name, members, depth)
        if value.kind == INSTANCE and step != SELF:
            step = TYPE
        return tuple([v if v.kind == INSTANCE or v.step == step else v._replace(step=step) for v in members])

    def of_type(self, value: Value, name: str, depth: int) -> Values:
        """The values of a member of a type or of its companions. `value` is the type, or an object of the type."""
        assert value.at is not None
        for owner in self.companions(value.at, of_name=value.kind == CLASS):
            members = self.member(owner, name, depth, of_class=value.kind == CLASS)
            if members:
                return members
        return ()

    def companions(self, owner: Definition, *, of_name: bool) -> list[Definition]:
        """A type and, in some languages, its companions: objects or classes beside the type that have the same name.

        Args:
            of_name: Whether objects come first, since the name alone means the object.
        """
        facts = self._look.facts(owner.file)
        if "companions" not in self._rules_of[owner.file]:
            return [owner]
        beside = [
            item for item in self._look.all_named(facts.head.family, self._look.name(owner))
            if item.file == owner.file and item.kind in TYPE_KINDS and item != owner
            and self._look.enclosing(item) == self._look.enclosing(owner)
        ]  # fmt: skip
        return sorted([owner, *beside], key=lambda item: (item.kind == "object") != of_name)

    def _of_class(self, value: Value, name: str) -> Values:
        """The values of `value.name` where no member has the name: a constructor, or what a module defines."""
        assert value.at is not None
        language = self._look.files.heads[value.at.file].language
        if value.kind == INSTANCE:
            return (value._replace(kind=CLASS),) if name == "class" and has_rule(language, "class_of_objects") else ()
        if name == name_rules(language).maker:
            return (value,)
        if has_rule(language, "module_scope"):
            declared = find_in_module(self._look, value.at, name)
            return (value_of(declared, value.step),) if declared is not None else ()
        return ()

    def _of_module(self, value: Value, name: str, depth: int) -> Values:
        modules = self._all.modules
        if self._all.is_package(value):
            declared = self._look.top(value.files[0], name)
            if declared is not None:
                return (value_of(declared, value.step),)
            is_maker = name == name_rules(self._look.files.families[value.files[0]]).maker  # an inherited constructor
            return (value._replace(step=TYPE),) if is_maker else ()
        if value.files and has_rule(self._look.files.families[value.files[0]], "packages"):
            return in_package(self._look, self._all.types.rows, value.files[0], name, depth - 1)
        for file in value.files:
            values = modules.in_module(file, name, depth - 1, outside=True) or modules.rust_module(file, -1, name)
            if values:
                return with_step(values, IMPORT)
        for file in value.files:  # a package's submodule
            files = self._import.submodule(file, name)
            if files:
                return (Value(MODULE, None, IMPORT, files=files),)
        return ()

    def member(self, owner: Definition, name: str, depth: int, *, of_class: bool = False) -> Values:
        """The values of a member of a type or, if the type lacks the member, of the first base that has it.

        Args:
            of_class: Whether the member is taken from the type itself rather than from an object of the type.
        """
        lineage = self._all.ancestry.lineage(owner)
        rules = self._rules_of[owner.file]
        apart = "separate_members" in rules
        others: dict[int, Definition | None] = {}
        by_class = "class_methods" in rules
        for current in lineage if by_class else ():
            items = [*self._look.own_members(current, name), *self._look.outside_members(current, name)]
            for item in items:
                if self.is_of_class(item) == of_class:
                    return (value_of(item, SELF),)
            others[current.symbol] = items[0] if items else None
        for current in lineage:
            definition = others[current.symbol] if by_class else self._look.member(current, name)
            if definition is not None:
                return (value_of(definition, SELF),)
            values = None if apart else self._fields(current, name, depth)
            if values is not None:
                return values
        return next(
            (values for base in lineage if apart and (values := self._fields(base, name, depth)) is not None), ()
        )

    def is_of_class(self, member: Definition) -> bool:
        """Whether a member belongs to the class itself rather than to the objects of the class."""
        return CLASS_METHOD in self._look.declarations(member, ACCESSOR)

    def as_field(self, value: Value, name: str, depth: int) -> Values:
        """The values of a field, in languages where a field and a method may have the same name."""
        if value.at is None or "separate_members" not in self._rules_of[value.at.file]:
            return ()
        for current in self._all.ancestry.lineage(value.at):
            fields = self._fields(current, name, depth)
            if fields is not None:
                return self._all.types.arguments.of_member(value, name, fields, depth)
        return ()

    def _fields(self, owner: Definition, name: str, depth: int) -> Values | None:
        rows = self._look.hints(owner, name)
        return self._all.types.rows(owner.file, rows, depth - 1) if rows else None


class Types:
    """Evaluates type hints (declared types and assigned values); a part of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator, look_ups: LookUps) -> None:
        self._all = evaluator
        self._look = look_ups
        self._rules_of = look_ups.rules_of

    @cached_property
    def arguments(self) -> TypeArguments:
        return TypeArguments(self._look, self.declared, self._all.ancestry.lineage)

    def rows(self, file: int, rows: Iterable[TypeHint], depth: int) -> Values:
        """The values of a name, given its type hints: by declared types or, where more exact, assigned objects."""
        if depth <= 0:
            return ()
        rows = list(rows)
        declared = [row for row in rows if row.is_type]
        values: list[Value] = []
        for row in declared or rows[:MOST_VALUES]:
            if row.is_value:
                values.extend(self._all.expression(file, row.within, row.expr, depth - 1))
            elif row.kind == ALIAS:
                values.extend(v._replace(kind=CLASS) for v in self.declared(file, row.within, row.text, depth - 1))
            elif row.is_type:
                values.extend(self.declared(file, row.within, row.text, depth - 1))
        if declared and len(declared) < len(rows):
            values = list(self._assigned_values(file, rows, tuple(values), depth)) or values
        return distinct(values)

    def _assigned_values(self, file: int, rows: list[TypeHint], declared: Values, depth: int) -> Values:
        """The objects assigned to a local with a declared type, if a call creates each of them; else ()."""
        assigned = [row for row in rows if row.is_value]
        scope = rows[0].scope
        if scope < 0 or self._look.facts(file).scope_kinds[scope] not in _LOCALS:
            return ()
        objects: list[Value] = []
        for row in assigned[:MOST_VALUES]:
            values = self._all.expression(file, row.within, row.expr, depth - 1)
            steps = [step for step in row.expr if step.kind not in POINTERS]
            if len(values) != 1 or values[0].kind != INSTANCE or steps[-1].kind != CALL:
                return ()
            objects.append(values[0]._replace(text="exact"))
        types = {value.at for value in declared if value.kind == INSTANCE}
        if not all(value.at and types.intersection(self._all.ancestry.lineage(value.at)) for value in objects):
            return ()
        return tuple(objects)

    def declared(self, file: int, scope: int, text: str, depth: int) -> Values:
        """The values of a variable, field or result whose declared type is `text`."""
        if depth <= 0:
            return ()
        return distinct(v for item in types_in(text) for v in self._declared_values(file, scope, item, depth))

    def _declared_values(self, file: int, scope: int, item: TypeText, depth: int) -> Iterator[Value]:
        last, language = item.name.rpartition(".")[2], self._look.files.heads[file].language
        if item.arguments and not item.item and language_rules.is_transparent(language, last):
            for argument in item.arguments:
                yield from self.declared(file, scope, argument, depth - 1)
            return
        if item.item and not item.arguments:
            yield Value(MANY, None, TYPE, files=(file,), text=item.name, place=scope)
            return
        if item.name in name_rules(self._look.files.heads[file].language).own_types:
            yield from with_step(self._all.names.own_object(file, scope, "self"), TYPE)
            return
        types = self.types_named(file, scope, item.name, depth - 1) if item.name else ()
        if item.arguments and all(v.kind == EXTERNAL for v in types) and language_rules.is_container(language, last):
            types = ()
        for value in types:
            obj = Value(INSTANCE, value.at, TYPE) if value.kind == CLASS else value
            whole = item.arguments and obj.kind == INSTANCE
            yield with_arguments(obj, file, scope, item.arguments) if whole else obj
        if item.arguments and not types:
            text = item.arguments[0 if last in language_rules.FIRST_ARGUMENT else -1]
            if last in language_rules.TUPLES:
                text = ",".join(item.arguments)
            yield Value(MANY, None, TYPE, files=(file,), text=text, place=scope)
        elif item.name and not types and "typed" in self._rules_of[file]:
            yield Value(EXTERNAL, None, TYPE, files=(file,), text=item.name[:200])

    def types_named(self, file: int, scope: int, dotted: str, depth: int = DEPTH) -> Values:
        """The types that a name means in a scope; the name may be dotted."""
        names = [name for name in dotted.replace("::", ".").replace("\\", ".").split(".") if name]
        if not names or depth <= 0:
            return ()
        rules = self._rules_of[file]
        if "module_scope" in rules and self._look.binding(file, names[0]) is None:
            declared = find_dotted(self._look, file, scope, ".".join(names))
            if declared is not None and declared.kind in HOLDERS:
                return (value_of(declared, SCOPE if declared.file == file else PACKAGE),)
        values = self._in_scope(file, scope, names[0], depth - 1)
        if not values and len(names) > 1 and "qualified" in rules:
            values, rest = self._all.qualified(file, tuple(Step(ATTR, name) for name in names))
            names = [names[0], *(step.name for step in rest)]
        for name in names[1:]:
            values = distinct(v for value in values for v in self._all.members.attribute(value, name, depth - 1))
        types = tuple(value for value in values if value.kind in (CLASS, EXTERNAL))
        outside = len(names) > 1 and "qualified" in rules and names[0][:1].islower()
        if not types and "program_types" in rules and not outside:
            only = self._look.only_type(self._look.files.families[file], names[-1])
            if only is not None:
                return (value_of(only, PACKAGE),)
        return types

    def _in_scope(self, file: int, innermost: int, name: str, depth: int) -> Values:
        facts = self._look.facts(file)
        scope = innermost
        while scope >= 0:
            definition = self._look.first_inside(file, scope, name)
            if definition is not None and definition.kind in HOLDERS:
                return (value_of(definition, SCOPE),)
            if facts.name_at(scope) == name and facts.scope_kinds[scope] in TYPE_KINDS:
                return (value_of(self._look.definition(file, scope), SCOPE),)
            scope = facts.outer[scope]
        return self._all.modules.outside(file, name, depth) or self._inherited(file, innermost, name)

    def _inherited(self, file: int, scope: int, name: str) -> Values:
        """The type of this name that an enclosing type inherits from its bases."""
        facts = self._look.facts(file)
        if self._look.binding(file, name) is not None or "implicit_self" not in self._rules_of[file]:
            return ()
        while scope >= 0:
            if facts.scope_kinds[scope] in TYPE_KINDS:
                for base in self._all.ancestry.lineage(self._look.definition(file, scope))[1:]:
                    member = self._look.member(base, name)
                    if member is not None and member.kind in HOLDERS:
                        return (value_of(member, SCOPE),)
            scope = facts.outer[scope]
        return ()
