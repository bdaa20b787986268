"""Resolves calls through function pointers: finds the functions that a field, a variable or a parameter may hold.

`source.extract.stored_functions` extracts what each file stores in which *slot* (a field, variable or parameter). A
field is identified by its struct type and name, so all values stored in that field of any object count. Questions about
other files are look-ups; chains of dependent look-ups end after `_HOPS` slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lci_py.callgraph import language_rules
from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.evaluate import Evaluator
from lci_py.callgraph.resolve.overloads import Targets
from lci_py.callgraph.resolve.values import CLASS, FUNCTION, INSTANCE
from lci_py.callgraph.resolve.written_types import types_in
from lci_py.source.extract.expressions import parse
from lci_py.source.text.language_tables import has_rule, words_of
from lci_py.types.edges import AMBIGUOUS, FIELD
from lci_py.types.expressions import ATTR, CALL, CAST, ITEM, LAST, NAME, PARAMETERS, Expr, Step, head_name
from lci_py.types.record import NamedTuple
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import (
    APPLIED,
    ARGUMENT,
    ELEMENT,
    FIELD as STORED_FIELD,
    FIELD_TYPE,
    LAST_ARGUMENT,
    LOCAL,
    SAME_TYPE,
    VARIABLE,
    VARIABLE_TYPE,
    StoredFunction,
)

#: Maximum length of a chain of slots, and number of names of a type.
_HOPS, _MOST_ALIASES = 4, 4
#: How many further names an expression may be followed through.
_DEPTH = 8
#: Maximum number of targets if the type that a field belongs to is unknown, and if it is known.
_MOST_BY_NAME, _MOST = 4, 32


class SlotFunctions(NamedTuple):
    """The functions that a slot may hold. `certain`: whether the slot itself is known rather than only its name."""

    functions: tuple[Definition, ...]
    certain: bool


_NOTHING = SlotFunctions((), False)


def _targets(look: LookUps, definitions: dict[int, Definition], slot: SlotFunctions, *, tests: bool) -> Targets:
    """The targets of a call through a slot, also added to `definitions`; [] if the slot may hold too many functions."""
    targets = [item for item in slot.functions if tests or not look.files.heads[item.file].test]
    if len(targets) > (_MOST if slot.certain else _MOST_BY_NAME):
        return ()
    definitions.update((item.symbol, item) for item in targets)
    mark = AMBIGUOUS if len(targets) > 1 or not slot.certain else 0
    return tuple((item.symbol, FIELD | mark) for item in targets)


class StoredValues:
    """Resolves calls through stored functions, for languages whose expressions an `Evaluator` understands.

    A table is one slot: `handlers[k]` and `handlers.get(k)` may be every function that is stored in the table.
    """

    def __init__(self, look_ups: LookUps, evaluator: Evaluator, definitions: dict[int, Definition]) -> None:
        self._look = look_ups
        self._evaluate = evaluator
        self._known = definitions
        self._file = -1
        self._language = ""
        self._rules: frozenset[str] = frozenset()
        self._fields: dict[tuple[int, str, int], dict[int, Definition]] = {}

    def start(self, file: int) -> None:
        """Start with another file: clear the caches."""
        self._file = file
        self._language = self._look.files.heads[file].language
        self._rules = self._look.rules_of[file]
        self._fields.clear()

    def of_member(self, caller: int, receiver: str, name: str) -> Targets:
        """The functions in a field of an object; if `name` is a method that calls the object, those in the object."""
        if "function_tables" in self._rules:
            return self._targets(
                self._of_entry(caller, receiver, name) or self._held_functions(caller, parse(receiver))
            )
        steps = parse(receiver)
        if name in words_of(self._language, "calling"):  # `this.handler.accept(x)`: what the field holds
            return self._targets(self._held_functions(caller, steps))
        return self._targets(self._of_attribute(caller, steps, name, _HOPS))

    def of_name(self, caller: int, name: str) -> Targets:
        """The functions that a variable may hold, directly or as an entry of a table."""
        return self._targets(self._held_functions(caller, (Step(NAME, name.lstrip("$")),)))

    def _held_functions(self, scope: int, steps: Expr, hops: int = _HOPS) -> dict[int, Definition]:
        """The functions that may be the value of an expression or, if that is a table, entries of it."""
        getters = language_rules.ELEMENT_GETTERS
        while steps:
            if steps[-1].kind == ITEM or (steps[-1].kind == ATTR and steps[-1].name in language_rules.PARTS):
                steps = steps[:-1]
            elif len(steps) > 2 and steps[-1].kind == CALL and steps[-2].name in getters:
                steps = steps[:-2]
            else:
                break
        if not steps or hops <= 0:
            return {}
        if len(steps) == 1 and steps[0].kind == NAME:
            return self._of_plain(scope, steps[0].name, hops)
        if steps[-1].kind != ATTR:
            return {}
        return self._of_attribute(scope, steps[:-1], steps[-1].name, hops)

    def _of_plain(self, innermost: int, name: str, hops: int) -> dict[int, Definition]:
        """The functions in a variable, a parameter or a field of `self`."""
        facts = self._look.facts(self._file)
        scope = innermost
        while scope >= 0:
            functions: dict[int, Definition] = {}
            for value in facts.of_locals.get((scope, LOCAL, name), ()):
                functions.update(self._functions(self._file, scope, value, hops))
            rows = self._look.typed(self._file, scope, name) if not functions else ()
            for row in rows:
                steps = row.expr
                if steps and steps[0].name != name and steps[0].kind not in PARAMETERS:
                    functions.update(self._held_functions(scope, steps, hops - 1))
            if functions or (rows and facts.kinds[scope] in FUNCTION_KINDS):
                return functions
            if facts.kinds[scope] in TYPE_KINDS:
                functions.update(self._of_field(self._look.definition(self._file, scope), name.lstrip("@"), hops))
                if name[:1] == "@":
                    functions.update(self._of_field(self._look.definition(self._file, scope), name, hops))
                if functions:
                    return functions
            elif facts.owners[scope] and name[:1] == "@":
                break
            scope = facts.parents[scope]
        return self._of_variable(self._file, name, hops)

    def _of_attribute(self, scope: int, steps: Expr, name: str, hops: int) -> dict[int, Definition]:
        """The functions in a field of an object, or in the entries of a table that the object is taken from."""
        functions: dict[int, Definition] = {}
        if "function_tables" in self._rules:
            return self._of_entry(scope, ".".join(step.name for step in steps), name)
        objects = [value for value in self._evaluate.expression(self._file, scope, steps) if value.at is not None]
        for value in objects:
            if value.at is not None and value.kind in (INSTANCE, CLASS):
                functions.update(self._of_field(value.at, name, hops))
        if not functions and objects and steps and steps[-1].kind == NAME and scope >= 0:
            for row in self._look.typed(self._file, scope, steps[-1].name):
                source = row.expr
                if source and source[-1].kind == ITEM and source[0].name != steps[-1].name:
                    functions.update(self._held_functions(scope, source, hops - 1))
        return functions

    def _of_entry(self, caller: int, table: str, name: str) -> dict[int, Definition]:
        """The functions in an entry of a table, where the table is in this file or imported."""
        functions = self._of_variable(self._file, f"{table}.{name}", _HOPS)
        for value in self._evaluate.expression(self._file, caller, parse(table)) if not functions else ():
            if value.at is not None and value.at.file != self._file:
                functions.update(self._of_variable(value.at.file, f"{self._look.name(value.at)}.{name}", _HOPS))
        return functions

    def _of_variable(self, of: int, name: str, hops: int) -> dict[int, Definition]:
        """The functions in a top-level variable of a file; in Go, of the file's package."""
        head = self._look.files.heads[of]
        functions: dict[int, Definition] = {}
        tests = self._look.files.heads[self._file].test
        for file, item in self._look.stored(head.family, VARIABLE, name, "", tests=tests):
            if file == of or (
                has_rule(head.language, "packages") and self._look.files.heads[file].folder == head.folder
            ):
                functions.update(self._functions(file, item.within, item.value, hops))
        return functions

    def _of_field(self, owner: Definition, field: str, hops: int) -> dict[int, Definition]:
        """The functions in a field of a type, or of one of its bases."""
        functions = self._fields.get((owner.symbol, field, hops))
        if functions is None:
            functions = {}
            for base in self._evaluate.ancestry.lineage(owner):
                functions.update(self._of_own_field(base, field, hops))
            self._fields[owner.symbol, field, hops] = functions
        return functions

    def _of_own_field(self, owner: Definition, field: str, hops: int) -> Iterator[tuple[int, Definition]]:
        head = self._look.files.heads[self._file]
        stored, name = self._look.stored, self._look.name(owner)
        for file, item in (
            *stored(head.family, STORED_FIELD, name, field, tests=head.test),
            *stored(head.family, STORED_FIELD, "", field, tests=head.test),
        ):
            owners = self._evaluate.expression(file, item.within, item.holder, _DEPTH)
            if any(value.at == owner for value in owners):
                yield from self._functions(file, item.within, item.value, hops)

    def _functions(self, file: int, scope: int, value: Expr, hops: int) -> Iterator[tuple[int, Definition]]:
        if value and value[-1].kind in PARAMETERS:
            yield from self._of_parameter(file, scope, value, hops - 1).items()
            return
        for result in self._evaluate.expression(file, scope, value, _DEPTH):
            if result.kind == FUNCTION and result.at is not None and result.at.kind in FUNCTION_KINDS:
                yield result.at.symbol, result.at

    # --- parameters -----------------------------------------------------------------------------------------------

    def _of_parameter(self, file: int, scope: int, parameter: Expr, hops: int) -> dict[int, Definition]:
        """The functions that callers pass for a parameter of a function."""
        if hops <= 0 or scope < 0:
            return {}
        return dict(self._functions_passed(file, scope, parameter, hops))

    def _functions_passed(self, file: int, scope: int, parameter: Expr, hops: int) -> Iterator[tuple[int, Definition]]:
        last = parameter[-1]
        names = filter(None, (last.name, head_name(parameter), LAST_ARGUMENT if last.kind == LAST else ""))
        for other, item in self._evaluate.passed(ARGUMENT, file, scope, names):
            yield from self._functions(other, item.within, item.value, hops)

    def _targets(self, functions: dict[int, Definition]) -> Targets:
        slot = SlotFunctions(tuple(functions[symbol] for symbol in sorted(functions)), True)
        return _targets(self._look, self._known, slot, tests=self._look.files.heads[self._file].test)


class StoredFunctions:
    """Resolves calls through function pointers in C and C++, for one file after another.

    Attributes:
        known: Maps symbols to definitions, for all targets.
    """

    def __init__(self, look_ups: LookUps, definitions: dict[int, Definition]) -> None:
        self._look = look_ups
        self.known = definitions
        self._fields: dict[tuple[tuple[str, ...], str, int], SlotFunctions] = {}
        self._macros: dict[tuple[str, int], list[str]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._file = -1
        self._family = ""
        self._tests = False

    def start(self, file: int) -> None:
        """Start with another file: clear the caches."""
        self._file = file
        self._family = self._look.files.families[file]
        self._tests = self._look.files.heads[file].test
        self._fields.clear()
        self._macros.clear()
        self._names.clear()

    def of_member(self, caller: int, receiver: str, name: str) -> Targets:
        """The functions that `receiver->name` may hold."""
        types = self._types(caller, parse(receiver))
        return self._targets(self._of_field(types, name, _HOPS))

    def of_name(self, caller: int, name: str, *, local: bool) -> Targets:
        """The functions that a variable or parameter may hold.

        Args:
            caller: The index of the symbol that encloses the call.
            local: Whether the variable is a local or a parameter.
        """
        functions: dict[int, Definition] = {}
        if local:
            for value in self._of_locals(caller, LOCAL, name):
                functions.update(self._functions(self._file, caller, value, _HOPS))
        else:
            rows = self._stored_rows(VARIABLE, name)
            for file, item in [row for row in rows if row[0] == self._file] or rows:
                functions.update(self._functions(file, item.within, item.value, _HOPS))
        return self._targets(SlotFunctions(tuple(functions.values()), True))

    def of_macro(self, caller: int, name: str) -> Targets:
        """The functions that a function passes to a macro which calls them."""
        functions: dict[int, Definition] = {}
        for position in self._called_positions(name, _HOPS):
            for file, item in self._stored_rows(ARGUMENT, name, position):
                if (file, item.within) == (self._file, caller):
                    functions.update(self._functions(file, caller, item.value, _HOPS))
        return self._targets(SlotFunctions(tuple(functions.values()), True))

    def _called_positions(self, macro: str, hops: int) -> list[str]:
        """The positions of a macro's parameters that its text calls, or passes to another macro that calls them."""
        positions = self._macros.get((macro, hops))
        if positions is None:
            positions = self._macros[macro, hops] = self._of_text(macro, hops)
        return positions

    def _of_text(self, macro: str, hops: int) -> list[str]:
        positions: dict[str, None] = {}
        for _, item in self._stored_rows(APPLIED, macro):
            inner = head_name(item.holder)
            if not inner or (
                hops > 0 and inner != macro and item.holder[-1].name in self._called_positions(inner, hops - 1)
            ):
                positions.update((step.name, None) for step in item.value)
        return list(positions)

    def _targets(self, slot: SlotFunctions) -> Targets:
        return _targets(self._look, self.known, slot, tests=self._tests)

    # --- types ----------------------------------------------------------------------------------------------------

    def _of_locals(self, caller: int, kind: int, name: str) -> list[Expr]:
        """The expressions stored in a local variable of a function of the file, or of an enclosing function."""
        facts = self._look.facts(self._file)
        while caller >= 0:
            values = facts.of_locals.get((caller, kind, name))
            if values:
                return values
            caller = facts.parents[caller]
        return []

    def _stored_rows(self, kind: int, owner: str, name: str = "") -> Sequence[tuple[int, StoredFunction]]:
        return self._look.stored(self._family, kind, owner, name, tests=self._tests)

    def _aliases(self, type_: str) -> tuple[str, ...]:
        """The names of a type: the name itself and its aliases, at most `_MOST_ALIASES`."""
        aliases = self._names.get(type_)
        if aliases is not None:
            return aliases
        names = [type_]
        for name in names:
            for _, item in self._stored_rows(SAME_TYPE, name):
                if head_name(item.value) not in names and len(names) < _MOST_ALIASES:
                    names.append(head_name(item.value))
        aliases = self._names[type_] = tuple(names)
        return aliases

    def _types(self, caller: int, steps: Expr) -> tuple[str, ...]:
        """All names (aliases) of the type of an expression; () if unknown."""
        if not steps:
            return ()
        head = steps[0]
        if head.kind == CAST:
            types = [item.name for item in types_in(head.name)]
        elif head.name in ("this", "self"):
            types = self._own_types(caller)
        else:
            values = self._of_locals(caller, VARIABLE_TYPE, head.name)
            values = values or [item.value for _, item in self._stored_rows(VARIABLE_TYPE, head.name)]
            types = [head_name(value) for value in values]
            if not types:
                types = self._declared_types(self._own_types(caller), head.name)
        if any(step.kind == CALL for step in steps):
            return ()
        return self._along(types, [step.name for step in steps[1:] if step.kind == ATTR])

    def _along(self, types: Sequence[str], fields: Sequence[str]) -> tuple[str, ...]:
        """All names of the type that a chain of fields leads to, from a field of `types`."""
        for field in fields:
            types = self._declared_types(types, field)
        return self._aliases(types[0]) if types and types[0] else ()

    def _own_types(self, caller: int) -> list[str]:
        """The name of the enclosing class, or of the class to which a method definition belongs."""
        facts = self._look.facts(self._file)
        while caller >= 0:
            if facts.owners[caller] or facts.kinds[caller] in ("struct", "class", "union"):
                return [facts.owners[caller] or facts.names[caller]]
            caller = facts.parents[caller]
        return []

    def _declared_types(self, types: Iterable[str], field: str) -> list[str]:
        """The declared types of a field, in the first of `types` that has the field."""
        for type_ in types:
            for alias in self._aliases(type_):
                declared = [head_name(item.value) for _, item in self._stored_rows(FIELD_TYPE, alias, field)]
                if declared:
                    return declared
        return []

    # --- slots ----------------------------------------------------------------------------------------------------

    def _of_field(self, types: tuple[str, ...], field: str, hops: int) -> SlotFunctions:
        functions = self._fields.get((types, field, hops))
        if functions is None:
            # If nothing is stored in a field of this type, it may be stored through another type, after a cast.
            functions = (self._of_type(types, field, hops) if types else None) or self._by_name(field, hops)
            self._fields[types, field, hops] = functions
        return functions

    def _of_type(self, types: tuple[str, ...], field: str, hops: int) -> SlotFunctions | None:
        """The functions stored in a field of a type; None if nothing is stored in it outside of macros."""
        rows: list[tuple[int, StoredFunction]] = []
        for name in types:
            rows += self._stored_rows(STORED_FIELD, name, field)
        type_names = set(types)
        owned: dict[Expr, bool] = {}
        for file, item in self._stored_rows(STORED_FIELD, "", field):
            if item.holder not in owned:
                first, *path = [step.name for step in item.holder] or [""]
                owned[item.holder] = not type_names.isdisjoint(self._along([first], path))
            if owned[item.holder]:
                rows.append((file, item))
        for name in types:
            for index in {item.place for _, item in self._stored_rows(FIELD_TYPE, name, field)}:
                rows += [row for other in types for row in self._stored_rows(ELEMENT, other, str(index))]
        functions = self._functions_of_rows(rows, hops)
        # Stores in macros count only if the macros are used.
        return SlotFunctions(functions, True) if functions or not all(self._is_in_macro(*row) for row in rows) else None

    def _is_in_macro(self, file: int, item: StoredFunction) -> bool:
        return item.within >= 0 and self._look.facts(file).kinds[item.within] == "macro"

    def _by_name(self, field: str, hops: int) -> SlotFunctions:
        """The functions stored in fields of this name, whatever the type of the object."""
        rows = list(self._look.stored_anywhere(self._family, STORED_FIELD, field, tests=self._tests))
        for _, item in self._look.stored_anywhere(self._family, FIELD_TYPE, field, tests=self._tests):
            for name in self._aliases(item.owner):
                rows += self._stored_rows(ELEMENT, name, str(item.place))
        functions = self._functions_of_rows(rows, hops)
        return SlotFunctions(functions, False) if len(functions) <= _MOST_BY_NAME else _NOTHING

    def _functions_of_rows(self, rows: list[tuple[int, StoredFunction]], hops: int) -> tuple[Definition, ...]:
        """The functions that stored rows (file, item) mean. Once there are more functions than a slot may hold, the
        remaining rows are skipped: each file of a program may store a static function of the same name.
        """
        functions: dict[int, Definition] = {}
        seen: set[tuple[int, StoredFunction]] = set()
        count = 0
        for row in rows:
            if row in seen:
                continue
            seen.add(row)
            file, item = row
            for symbol, function in self._functions(file, item.within, item.value, hops):
                if symbol not in functions:
                    count += self._tests or not self._look.files.heads[function.file].test
                    functions[symbol] = function
            if count > _MOST:
                break
        return tuple(functions[symbol] for symbol in sorted(functions))

    def _functions(self, file: int, scope: int, value: Expr, hops: int) -> Iterator[tuple[int, Definition]]:
        """Yields the functions that a value, which is stored in a file, means there: (symbol, definition)."""
        kind, name = value[0] if value else Step(NAME, "")
        if kind in PARAMETERS:
            if scope < 0 or hops <= 0:
                return
            facts = self._look.facts(file)
            for other, item in self._passed(file, facts.names[scope], name):
                yield from self._functions(other, item.within, item.value, hops - 1)
        elif len(value) > 1:
            *path, field = [step.name for step in value[1:]]
            if hops > 0:
                slot = self._of_field(self._along([name], path), field, hops - 1)
                yield from ((item.symbol, item) for item in slot.functions)
        else:
            for definition in self._functions_named(file, name):
                yield definition.symbol, definition

    def _passed(self, file: int, name: str, position: str) -> list[tuple[int, StoredFunction]]:
        """The arguments passed to a function of a file: by that file, and by files without a function of this name."""
        own = self._look.top(file, name)
        static = own is not None and own.static
        top = self._look.top
        return [
            row
            for row in self._stored_rows(ARGUMENT, name, position)
            if row[0] == file or not (static or top(row[0], name))
        ]

    def _functions_named(self, file: int, name: str) -> list[Definition]:
        """The functions of a name, as seen from a file."""
        own = self._look.top(file, name)
        if own is not None:
            return [own] if own.kind in FUNCTION_KINDS else []
        functions = [item for item in self._look.all_named(self._family, name) if item.kind == "function"]
        return functions if len(functions) <= _MOST_BY_NAME else []
