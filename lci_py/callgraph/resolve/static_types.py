"""Determines the types of arguments, as declared or literal, and which parameters take them.

Sources:
    Java: JLS 21, 15.12.2, in three phases: subtypes and wider numbers; boxed values; any number of arguments. C# and
    Kotlin choose in nearly the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lci_py.callgraph.language_rules import TRANSPARENT
from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.lookups import LookUps
from lci_py.callgraph.resolve.argument_types import (
    ANY_POINTERS,
    BOXED,
    CONVERTED,
    EXACT,
    MAYBE,
    NO,
    StaticType,
)
from lci_py.callgraph.resolve.cpp_types import CppTypes, parse_type
from lci_py.callgraph.resolve.evaluate import Evaluator
from lci_py.callgraph.resolve.library_types import (
    BOXES,
    CSHARP,
    FINAL,
    FUNCTIONAL,
    KOTLIN,
    NUMBERS,
    OF_ARRAYS,
    OF_NULLABLE,
    OF_NUMBERS,
    OF_OBJECTS,
    OF_STRINGS,
    OF_TEXTS,
    PRIMITIVES,
    SUPERTYPES,
    TOP,
    WHOLE,
    WIDER,
)
from lci_py.callgraph.resolve.values import CLASS, EXTERNAL, FUNCTION, INSTANCE, Value, Values
from lci_py.callgraph.resolve.written_types import types_in
from lci_py.source.extract.arguments import FUNCTION as LAMBDA, KNOWN, REFERENCE, SEPARATOR, UNKNOWN
from lci_py.source.extract.cpp_arguments import TEMPLATE
from lci_py.source.extract.expressions import parse, parse_cpp
from lci_py.source.text.language_tables import has_rule
from lci_py.types.expressions import ADDRESS, ATTR, CALL, CAST, ITEM, NAME, POINTERS, Expr
from lci_py.types.search import FUNCTION_KINDS
from lci_py.types.source import TAKES, TypeHint

#: How many names an argument is followed through.
_DEPTH = 8
#: How many types it may have.
_MOST = 6


_VARIABLE = re.compile(r"(?:[A-Z]\d?|T[A-Z]\w*)\Z")


#: A name that is bound more than once may have any of several types. None of them: nothing is known.
StaticTypes = tuple[StaticType, ...]


class TypesOfArguments:
    """Determines the types of expressions and parameters in the files of a repository."""

    def __init__(self, look_ups: LookUps, evaluator: Evaluator) -> None:
        self._look = look_ups
        self._evaluate = evaluator
        self._rules: frozenset[str] = frozenset()
        self._known: dict[tuple[int, int, str], Definition | None] = {}
        self._cpp = CppTypes(self.definition, self._with_bases, self._made_of)
        self._made: dict[int, list[StaticType | None] | None] = {}

    def start(self, file: int) -> None:
        """Start with another file: clear the caches."""
        self._rules = self._look.rules_of[file]
        self._known.clear()
        self._made.clear()

    def argument(self, file: int, scope: int, text: str) -> StaticTypes:
        """The types that an argument (a text from `source.extract.arguments`) may have in a scope; () if unknown."""
        if text == UNKNOWN:
            return ()
        if text.startswith((LAMBDA, REFERENCE)):
            return (StaticType(text),)
        if text.startswith(KNOWN):
            return _as_types(self.type_named(file, scope, text[len(KNOWN) :]))
        return self._expression(file, scope, parse_cpp(text) if self._is_cpp(file) else parse(text), _DEPTH)

    def _is_cpp(self, file: int) -> bool:
        return "templates" in self._look.rules_of[file]

    def _of_pointer(self, file: int, scope: int, expr: Expr, depth: int) -> StaticTypes:
        """The types of a C++ expression that ends in address or dereference operators."""
        plain = tuple([step for step in expr if step.kind not in POINTERS])
        pointers = sum(1 if step.kind == ADDRESS else -1 for step in expr[len(plain) :])
        types = self._expression(file, scope, plain, depth)
        if any(type_.arrays == ANY_POINTERS or type_.arrays + pointers < 0 for type_ in types):
            return ()
        return tuple(type_._replace(arrays=type_.arrays + pointers) for type_ in types)

    def _with_bases(self, at: Definition) -> tuple[tuple[Definition, ...], bool]:
        lineage = self._evaluate.ancestry.lineage(at)
        return lineage, all(len(self._look.bases(base)) == len(self._evaluate.ancestry.bases(base)) for base in lineage)

    def _made_of(self, at: Definition) -> list[StaticType | None] | None:
        """The type of the first parameter of each constructor of a C++ class; None if the repository defines none."""
        if at.symbol not in self._made:
            name = self._look.name(at)
            constructors = [*self._look.own_members(at, name), *self._look.outside_members(at, name)]
            constructors = [item for item in constructors if item.kind == "constructor"]
            types: list[StaticType | None] = []
            for item in constructors:
                for text in self._look.declarations(item, TAKES)[:1]:
                    first = text.partition(SEPARATOR)[0].removesuffix("...")
                    inner = self._look.place(item)
                    types.append(None if text[:1] == TEMPLATE else self.type_named(item.file, inner, first))
            self._made[at.symbol] = types if constructors else None
        return self._made[at.symbol]

    def type_named(self, file: int, scope: int, text: str) -> StaticType | None:
        """The type that a declaration in a scope of a file names."""
        if self._is_cpp(file):
            cpp = parse_type(text)
            return StaticType(cpp[0], cpp[2], None, file, scope, cpp[1]) if cpp is not None else None
        if text == "String" or text in NUMBERS:
            return StaticType(text)
        text = text.lstrip("@").removesuffix("?")
        arrays = 0
        while text.endswith(("[]", "...")):
            text, arrays = text[: -2 if text.endswith("[]") else -3].removesuffix("?"), arrays + 1
        if text == "dynamic":  # C#: any type, of which nothing is known
            return None
        if text.startswith(LAMBDA) or text == "null":
            return StaticType(text, arrays)
        parts = types_in(text)
        if len(parts) != 1 or not parts[0].name:
            return None
        item = parts[0]
        arrays += item.item and not arrays
        last = self._plain(file, item.name.rpartition(".")[2])
        if last in NUMBERS or last in TOP or last == "String":
            return StaticType(last, arrays)
        type_ = StaticType(last, arrays, None, file, self._scope_of_types(file, scope), item.name)
        if last == "Action" and "delegates" in self._rules and self.definition(type_) is None:
            return StaticType(f"{LAMBDA}0", arrays)  # a function, like `Action<T>`
        if _VARIABLE.match(last):  # a type parameter, which may have a bound
            at = self.definition(type_)
            return StaticType(self._look.name(at) if at is not None else "Object", arrays, at)
        return type_

    def _scope_of_types(self, file: int, scope: int) -> int:
        """The outermost scope in which type names mean the same. With it, equal types become equal `StaticType`s."""
        facts = self._look.facts(file)
        while file == self._look.own and scope >= 0 and facts.kinds[scope] in FUNCTION_KINDS:
            if scope in facts.inside:  # it may define types
                break
            scope = facts.parents[scope]
        return scope

    def definition(self, type_: StaticType) -> Definition | None:
        """The definition of a type in the repository; None if unknown."""
        if type_.at is not None or type_.file < 0:
            return type_.at
        key = type_.file, type_.place, type_.written
        if key not in self._known:
            values = self._evaluate.types.types_named(*key)
            classes = [value.at for value in values if value.kind == CLASS]
            self._known[key] = classes[0] if len(classes) == 1 else None
        return self._known[key]

    def _plain(self, file: int, name: str) -> str:
        """The canonical name of a standard type, which other languages than Java may call by another name."""
        language = self._look.files.heads[file].language
        if has_rule(language, "number_objects"):
            return KOTLIN.get(name, name)
        if has_rule(language, "own_conversions"):
            return PRIMITIVES.get(name) or CSHARP.get(name, name)
        return name

    def _expression(self, file: int, scope: int, expr: Expr, depth: int) -> StaticTypes:
        if depth <= 0 or not expr:
            return ()
        last, before = expr[-1], expr[:-1]
        types: StaticTypes = ()
        if last.kind in POINTERS:
            return self._of_pointer(file, scope, expr, depth)
        if last.kind == CAST:
            return _as_types(self.type_named(file, scope, last.name))
        if last.kind == NAME and last.name == "this" and self._is_cpp(file):
            own = self._evaluate.names.own_object(file, scope, "this")
            return tuple(StaticType(self._look.name(v.at), 1, v.at) for v in own if v.at is not None)
        if last.kind == NAME:
            types = self._of_name(file, scope, last.name, depth)
        elif last.kind == ATTR:
            types = self._of_field(file, scope, before, last.name, depth)
        elif last.kind == CALL:
            types = self._result(file, scope, before, depth)
        elif last.kind == ITEM:
            whole = self._expression(file, scope, before, depth - 1)
            if all(type_.arrays for type_ in whole):
                types = tuple(type_._replace(arrays=type_.arrays - 1) for type_ in whole)
        if not types:
            values = self._evaluate.expression(file, scope, expr, _DEPTH)
            member = before[-1] if last.kind == CALL else last
            if member.kind == ATTR and "own_conversions" in self._rules:
                # A member of a library's type, of which only the name is known: `DateTime.Now`.
                values = tuple(v for v in values if v.kind != EXTERNAL or not v.text.endswith(f".{member.name}"))
                if not values and member.name in OF_NULLABLE:
                    types = self._expression(file, scope, expr[: -2 if last.kind == CALL else -1], depth - 1)
                    return types if all(type_.at is None and type_.name not in TRANSPARENT for type_ in types) else ()
            types = self._of_all(values)
        if not types and last.kind == CALL and len(before) > 1 and before[-1].kind == ATTR:
            return self._of_method(file, scope, before[:-1], before[-1].name, depth)
        return types

    def _of_name(self, file: int, innermost: int, name: str, depth: int) -> StaticTypes:
        facts = self._look.facts(file)
        scope = innermost
        while scope >= 0:
            kind = facts.kinds[scope]
            rows = self._look.typed(file, scope, name) if kind in FUNCTION_KINDS else ()
            if rows:
                return self._of_rows(file, rows, depth)
            own = self._evaluate.names.own_object(file, scope, "this") if facts.owners[scope] else ()
            if own or (kind not in FUNCTION_KINDS and kind not in ("namespace", "module", "package")):
                owner = own[0].at if own and own[0].at is not None else self._look.definition(file, scope)
                for current in self._evaluate.ancestry.lineage(owner):
                    rows = self._look.hints(current, name)
                    if rows:
                        return self._of_rows(current.file, rows, depth)
            scope = facts.parents[scope]
        return ()

    def _of_rows(self, file: int, rows: Sequence[TypeHint], depth: int) -> StaticTypes:
        distinct: dict[StaticType, None] = {}
        for row in [row for row in rows if row.is_type] or rows:
            if row.is_value:
                types = self._expression(file, row.within, row.expr, depth - 1)
            else:
                types = _as_types(self.type_named(file, row.within, row.text) if row.is_type else None)
            if not types:
                return ()
            distinct.update(dict.fromkeys(types))
        return tuple(distinct) if len(distinct) <= _MOST else ()

    def _of_field(self, file: int, scope: int, of: Expr, name: str, depth: int) -> StaticTypes:
        if len(of) == 1 and of[0].name in BOXES and not name.islower():  # Double.NaN, Long.MAX_VALUE
            return (StaticType(BOXES[of[0].name]),)
        for value in self._evaluate.expression(file, scope, of, depth):
            if value.kind not in (INSTANCE, CLASS) or value.at is None:
                continue
            for current in self._evaluate.ancestry.lineage(value.at):
                rows = self._look.hints(current, name)
                if rows:
                    return self._of_rows(current.file, rows, depth)
            if value.kind == CLASS and value.at.kind == "enum" and name != "length":
                return (StaticType(self._look.name(value.at), 0, value.at),)
        return ()

    def _result(self, file: int, scope: int, called: Expr, depth: int) -> StaticTypes:
        """The types that a call may return."""
        if len(called) == 1:
            values = self._evaluate.names.name(file, scope, called[0].name, depth, True)
        else:
            values = self._evaluate.expression(file, scope, called, depth)
        distinct: dict[StaticType, None] = {}
        for value in values:
            types: StaticTypes = ()
            if value.kind == CLASS and value.at is not None:
                types = (StaticType(self._look.name(value.at), 0, value.at),)
            elif value.kind == FUNCTION and value.at is not None:
                types = self._results_of(value, depth)
            if not types:
                return ()
            distinct.update(dict.fromkeys(types))
        return tuple(distinct) if len(distinct) <= _MOST else ()

    def _results_of(self, value: Value, depth: int) -> StaticTypes:
        at = value.at
        assert at is not None
        if value.text or at.kind == "constructor":  # its result depends on the type arguments of its object
            return self._of_all(self._evaluate.result(value, depth))
        outer = self._look.enclosing(at)
        group = self._look.own_members(outer, self._look.name(at)) if outer is not None else [at]
        group = [item for item in group if item.owner == at.owner]
        distinct: dict[StaticType, None] = {}
        for item in group or [at]:
            types = self._of_rows(at.file, self._look.hints(item, ""), depth)
            if not types:
                return ()
            distinct.update(dict.fromkeys(types))
        return tuple(distinct)

    def _of_method(self, file: int, scope: int, of: Expr, name: str, depth: int) -> StaticTypes:
        """The types that a method of a library type returns."""
        result = OF_OBJECTS.get(name)
        if result is None and name in OF_STRINGS:
            text = (StaticType("String"),)
            is_type = len(of) == 1 and of[0].name in ("String", "string")
            if text == (text if is_type else self._expression(file, scope, of, depth - 1)):
                result = OF_STRINGS[name]
        return _as_types(self.type_named(file, scope, result)) if result else ()

    def _of_all(self, values: Values) -> StaticTypes:
        """The types of values; () if any of the types is unknown."""
        types: dict[StaticType, None] = {}
        for value in values:
            if value.kind == INSTANCE and value.at is not None:
                is_cpp = self._is_cpp(value.at.file)  # where a value does not say whether it is a pointer
                types[StaticType(self._look.name(value.at), ANY_POINTERS if is_cpp else 0, value.at)] = None
                continue
            if value.files and self._is_cpp(value.files[0]):
                return ()
            last = value.text.rpartition(".")[2] if value.kind == EXTERNAL else ""
            if not last[:1].isupper() and last not in PRIMITIVES:
                return ()
            types[StaticType(last)] = None
        return tuple(types) if len(types) <= _MOST else ()

    # --- fitting --------------------------------------------------------------------------------------------------

    def fits(self, argument: StaticTypes, parameter: StaticType | None) -> int:
        """How well an argument fits a parameter: `NO`, `EXACT`, `BOXED`, `MAYBE`, ... of argument_types.py."""
        if not argument or parameter is None:
            return MAYBE
        if len(argument) == 1:
            return self.fits_one(argument[0], parameter)
        ranks = {self.fits_one(type_, parameter) for type_ in argument}
        return MAYBE if (NO in ranks or "templates" in self._rules) and len(ranks) > 1 else max(ranks)

    def fits_one(self, argument: StaticType, parameter: StaticType) -> int:
        """How well an argument of one known type fits a parameter, as `fits`."""
        if "templates" in self._rules:
            return self._cpp.fits(argument, parameter)
        primitive = parameter.name in NUMBERS
        if argument.name.startswith((LAMBDA, REFERENCE)):
            return self._takes_function(argument, parameter, primitive)
        if argument.name == "null":
            return NO if primitive and not parameter.arrays else EXACT
        if parameter.name in TOP and not parameter.arrays:
            simple = argument.name in NUMBERS
            return BOXED if simple and not argument.arrays and "number_objects" not in self._rules else EXACT
        if argument.arrays or parameter.arrays:
            return self._fits_array(argument, parameter)
        return self._fits_value(argument, parameter, primitive)

    def _fits_array(self, argument: StaticType, parameter: StaticType) -> int:
        if argument.arrays and parameter.arrays:
            inner = argument._replace(arrays=argument.arrays - 1), parameter._replace(arrays=parameter.arrays - 1)
            simple = any(type_.name in NUMBERS and not type_.arrays for type_ in inner)
            return (EXACT if inner[0] == inner[1] else NO) if simple else self.fits_one(*inner)
        return EXACT if argument.arrays and parameter.name in OF_ARRAYS else NO

    def _fits_value(self, argument: StaticType, parameter: StaticType, primitive: bool) -> int:
        name = argument.name
        if name == parameter.name:
            return EXACT
        if name in NUMBERS:
            if parameter.name in WIDER.get(name, ()) and "number_objects" not in self._rules:
                return EXACT
            if primitive:
                return BOXED if "strict_types" not in self._rules and name == "int" and parameter.name in WHOLE else NO
            if BOXES.get(parameter.name) == name or parameter.name in OF_NUMBERS:
                return BOXED
            return self._converted(parameter)
        if primitive:
            inner = BOXES.get(name, "")
            return BOXED if inner and (inner == parameter.name or parameter.name in WIDER.get(inner, ())) else NO
        if name == "String":
            return EXACT if parameter.name in OF_TEXTS else self._converted(parameter)
        if name in BOXES:
            return EXACT if parameter.name in OF_NUMBERS else NO
        if parameter.name in FINAL or (name == "Object" and "strict_types" in self._rules):
            return NO
        at = self.definition(argument)
        if at is not None:
            return self._derived(at, parameter)
        if name in SUPERTYPES:
            if parameter.name in SUPERTYPES[name]:
                return EXACT
            if parameter.name in SUPERTYPES:
                return NO
        return MAYBE if self.definition(parameter) is None else NO

    def _converted(self, parameter: StaticType) -> int:
        """How well a C# argument fits a parameter whose type may declare conversions from other types."""
        is_final = parameter.name in SUPERTYPES or parameter.name in FINAL or parameter.name.startswith(LAMBDA)
        return NO if is_final or "own_conversions" not in self._rules else CONVERTED

    def _derived(self, at: Definition, parameter: StaticType) -> int:
        """How well an object fits a parameter, where `at` is the object's type in the repository."""
        outside: set[str] = set()
        for base in self._evaluate.ancestry.lineage(at):
            if self._look.name(base) == parameter.name:
                return EXACT
            outside.update(name.rpartition(".")[2].partition("<")[0] for name in self._look.bases(base))
            outside.difference_update(self._look.name(other) for other in self._evaluate.ancestry.bases(base))
        if parameter.name in outside or any(parameter.name in SUPERTYPES.get(name, ()) for name in outside):
            return EXACT
        if at.kind == "enum":
            return EXACT if parameter.name in ("Enum", "Comparable", "Serializable") else NO
        if all(name in SUPERTYPES for name in outside):
            return NO
        return MAYBE if self.definition(parameter) is None else NO

    def _takes_function(self, argument: StaticType, parameter: StaticType, primitive: bool) -> int:
        if primitive or parameter.arrays:
            return NO
        if parameter.name.startswith(LAMBDA):
            same = argument.name in (parameter.name, LAMBDA, REFERENCE) or parameter.name == LAMBDA
            return EXACT if same else NO
        count, arity = argument.name.removeprefix(LAMBDA), FUNCTIONAL.get(parameter.name)
        if arity is not None:
            return NO if count.isdigit() and int(count) != arity else EXACT
        if parameter.name in FINAL:
            return NO
        if parameter.name in TOP and "strict_types" not in self._rules:
            return BOXED
        if parameter.name in TOP or parameter.name in SUPERTYPES:
            return NO if "strict_types" in self._rules else MAYBE
        at = self.definition(parameter)
        return NO if at is not None and at.kind in ("class", "enum", "struct", "object") else EXACT


def _as_types(type_: StaticType | None) -> StaticTypes:
    return () if type_ is None else (type_,)
