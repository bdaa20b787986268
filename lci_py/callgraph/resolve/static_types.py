"""The types of arguments, as they are declared or literal, and which of them a parameter takes.

Sources:
    Java: JLS 21, 15.12.2, in three phases: subtypes and wider numbers; boxed values; any number of arguments. C# and
    Kotlin choose in nearly the same way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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
from lci_py.callgraph.resolve.cpp_types import CppTypes, parsed
from lci_py.callgraph.resolve.evaluate import Evaluator
from lci_py.callgraph.resolve.expression_steps import steps_of, types_in
from lci_py.callgraph.resolve.library_types import (
    BOXES,
    CSHARP,
    FINAL,
    FUNCTIONAL,
    KOTLIN,
    NUMBERS,
    OF_ARRAYS,
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
from lci_py.source.extract.arguments import FUNCTION as LAMBDA, KNOWN, REFERENCE, SEPARATOR, TAKEN, UNKNOWN
from lci_py.source.extract.cpp_arguments import TEMPLATE
from lci_py.types.search import FUNCTION_KINDS
from lci_py.types.source import Typed

#: How many names an argument is followed through.
_DEPTH = 8
#: How many types it may have.
_MOST = 6


_VARIABLE = re.compile(r"(?:[A-Z]\d?|T[A-Z]\w*)\Z")


#: A name that is bound more than once may have any of several types. None of them: nothing is known.
StaticTypes = tuple[StaticType, ...]


class TypesOfArguments:
    """The types of expressions and parameters in the files of a repository."""

    def __init__(self, look_ups: LookUps, evaluator: Evaluator) -> None:
        self._look = look_ups
        self._evaluate = evaluator
        self._known: dict[tuple[int, int, str], Definition | None] = {}
        self._cpp = CppTypes(self.definition, self._with_bases, self._made_of)
        self._made: dict[int, list[StaticType | None] | None] = {}

    def start(self) -> None:
        """Begin with a file."""
        self._known.clear()
        self._made.clear()

    def argument(self, file: int, place: int, text: str) -> StaticTypes:
        """The types that an argument (`source.extract.arguments`) may have at a place; none if they are not known."""
        if text == UNKNOWN:
            return ()
        if text.startswith((LAMBDA, REFERENCE)):
            return (StaticType(text),)
        if text.startswith(KNOWN):
            return _known(self.named(file, place, text[len(KNOWN) :]))
        if self._is_cpp(file):
            return self._of_cpp(file, place, text, _DEPTH)
        return self._expression(file, place, text, _DEPTH)

    def _is_cpp(self, file: int) -> bool:
        return self._look.files.heads[file].language == "cpp"

    def _of_cpp(self, file: int, place: int, text: str, depth: int) -> StaticTypes:
        """The same for an expression of C++, which may take an address, or what is there."""
        pointers = 0
        while text[:1] in ("&", "*"):
            pointers += 1 if text[0] == "&" else -1
            text = text[1:]
        if text.startswith("new "):
            text, pointers = text[4:], pointers + 1
        if text == "this":
            own = self._evaluate.names.own_object(file, place, text)
            found: StaticTypes = tuple(StaticType(self._name_of(v.at), 1, v.at) for v in own if v.at is not None)
        elif text[:1] in ("(", "!", "-", "~", "+"):
            return ()
        else:
            found = self._expression(file, place, text, depth)
        if not pointers:
            return found
        if any(one.arrays == ANY_POINTERS or one.arrays + pointers < 0 for one in found):
            return ()
        return tuple(one._replace(arrays=one.arrays + pointers) for one in found)

    def _with_bases(self, at: Definition) -> tuple[tuple[Definition, ...], bool]:
        lineage = self._evaluate.members.lineage(at)
        return lineage, all(len(self._look.bases(one)) == len(self._evaluate.members.bases(one)) for one in lineage)

    def _made_of(self, at: Definition) -> list[StaticType | None] | None:
        """What the constructors of a C++ class take first; None if the repository defines none of them."""
        if at.symbol not in self._made:
            facts = self._look.tables.facts(at.file)
            place = at.symbol - facts.first
            name = facts.names[place]
            found = [*self._look.all_inside(at.file, place, name), *self._look.all_adopted(at, name)]
            found = [one for one in found if one.kind == "constructor"]
            taken: list[StaticType | None] = []
            for one in found:
                inner = one.symbol - self._look.tables.facts(one.file).first
                for row in self._look.typed(one.file, inner, TAKEN)[:1]:
                    first = row.text.removeprefix(TEMPLATE).partition(SEPARATOR)[0].removesuffix("...")
                    taken.append(None if row.text[:1] == TEMPLATE else self.named(one.file, inner, first))
            self._made[at.symbol] = taken if found else None
        return self._made[at.symbol]

    def named(self, file: int, place: int, text: str) -> StaticType | None:
        """The type that a declaration names at a place of a file."""
        if self._is_cpp(file):
            cpp = parsed(text)
            return StaticType(cpp[0], cpp[2], None, file, place, cpp[1]) if cpp is not None else None
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
        found = types_in(text)
        if len(found) != 1 or not found[0].name:
            return None
        item = found[0]
        arrays += item.item and not arrays
        last = self._plain(file, item.name.rpartition(".")[2])
        if last in NUMBERS or last in TOP or last == "String":
            return StaticType(last, arrays)
        type_ = StaticType(last, arrays, None, file, place, item.name)
        if _VARIABLE.match(last):  # a type parameter, which may have a bound
            at = self.definition(type_)
            return StaticType(self._name_of(at) if at is not None else "Object", arrays, at)
        return type_

    def definition(self, type_: StaticType) -> Definition | None:
        """The definition of a type in the repository."""
        if type_.at is not None or type_.file < 0:
            return type_.at
        key = type_.file, type_.place, type_.written
        if key not in self._known:
            values = self._evaluate.types.named(*key)
            known = [value.at for value in values if value.kind == CLASS]
            self._known[key] = known[0] if len(known) == 1 else None
        return self._known[key]

    def _name_of(self, at: Definition) -> str:
        facts = self._look.tables.facts(at.file)
        return facts.names[at.symbol - facts.first]

    def _plain(self, file: int, name: str) -> str:
        """One name for the types that languages name in other ways."""
        language = self._look.files.heads[file].language
        if language == "kotlin":
            return KOTLIN.get(name, name)
        if language == "csharp":
            return PRIMITIVES.get(name) or CSHARP.get(name, name)
        return name

    def _expression(self, file: int, place: int, text: str, depth: int) -> StaticTypes:
        steps = steps_of(text)
        if depth <= 0 or not steps:
            return ()
        last = steps[-1]
        if last.kind == "cast":
            return _known(self.named(file, place, last.name))
        if len(steps) == 1 and last.kind == "name":
            return self._of_name(file, place, last.name, depth) or self._of_values(file, place, text)
        if last.kind == "attr" and text.endswith(last.name):
            prefix = text[: -len(last.name)].removesuffix("->").rstrip("?!.:")
            return self._of_field(file, place, prefix, last.name, depth) or self._of_values(file, place, text)
        if last.kind == "call" and len(steps) > 1 and steps[-2].kind == "attr" and text.endswith("()"):
            name = steps[-2].name
            prefix = text[:-2].removesuffix(name).rstrip("?!.:")
            known = self._of_values(file, place, text)
            return self._result(file, place, text, depth) or known or self._of_method(file, place, prefix, name, depth)
        if last.kind == "call":
            return self._result(file, place, text, depth) or self._of_values(file, place, text)
        if last.kind == "item" and text.endswith("[]"):
            whole = self._expression(file, place, text[:-2], depth - 1)
            if whole and all(one.arrays for one in whole):
                return tuple(one._replace(arrays=one.arrays - 1) for one in whole)
        return self._of_values(file, place, text)

    def _of_name(self, file: int, place: int, name: str, depth: int) -> StaticTypes:
        facts = self._look.tables.facts(file)
        scope = place
        while scope >= 0:
            kind = facts.kinds[scope]
            rows = self._look.typed(file, scope, name) if kind in FUNCTION_KINDS else ()
            if rows:
                return self._of_rows(file, rows, depth)
            own = self._evaluate.names.own_object(file, scope, "this") if facts.owners[scope] else ()
            if own or (kind not in FUNCTION_KINDS and kind not in ("namespace", "module", "package")):
                owner = own[0].at if own and own[0].at is not None else self._look.definition(file, scope)
                for current in self._evaluate.members.lineage(owner):
                    at = current.symbol - self._look.tables.facts(current.file).first
                    rows = self._look.typed(current.file, at, name)
                    if rows:
                        return self._of_rows(current.file, rows, depth)
            scope = facts.parents[scope]
        return ()

    def _of_rows(self, file: int, rows: Sequence[Typed], depth: int) -> StaticTypes:
        found: dict[StaticType, None] = {}
        for row in [row for row in rows if row.text[:1] not in ("=", "~", "")] or rows:
            if row.text.startswith("="):
                of_value = self._of_cpp if self._is_cpp(file) else self._expression
                types = of_value(file, row.within, row.text[1:], depth - 1)
            else:
                types = _known(self.named(file, row.within, row.text) if row.text[:1] not in ("~", "") else None)
            if not types:
                return ()
            found.update(dict.fromkeys(types))
        return tuple(found) if len(found) <= _MOST else ()

    def _of_field(self, file: int, place: int, prefix: str, name: str, depth: int) -> StaticTypes:
        if prefix in BOXES and not name.islower():  # Double.NaN, Long.MAX_VALUE
            return (StaticType(BOXES[prefix]),)
        for value in self._evaluate.expression(file, place, prefix, depth):
            if value.kind not in (INSTANCE, CLASS) or value.at is None:
                continue
            for current in self._evaluate.members.lineage(value.at):
                at = current.symbol - self._look.tables.facts(current.file).first
                rows = self._look.typed(current.file, at, name)
                if rows:
                    return self._of_rows(current.file, rows, depth)
            if value.kind == CLASS and value.at.kind == "enum" and name != "length":
                return (StaticType(self._name_of(value.at), 0, value.at),)
        return ()

    def _result(self, file: int, place: int, text: str, depth: int) -> StaticTypes:
        """What a call returns."""
        steps = steps_of(text)
        if len(steps) == 2:
            values = self._evaluate.names.name(file, place, steps[0].name, depth, True)
        else:
            values = self._evaluate.expression(file, place, text.removesuffix("()"), depth)
        found: dict[StaticType, None] = {}
        for value in values:
            types: StaticTypes = ()
            if value.kind == CLASS and value.at is not None:
                types = (StaticType(self._name_of(value.at), 0, value.at),)
            elif value.kind == FUNCTION and value.at is not None:
                types = self._results_of(value, depth)
            if not types:
                return ()
            found.update(dict.fromkeys(types))
        return tuple(found) if len(found) <= _MOST else ()

    def _results_of(self, value: Value, depth: int) -> StaticTypes:
        at = value.at
        assert at is not None
        facts = self._look.tables.facts(at.file)
        place = at.symbol - facts.first
        if value.text or at.kind == "constructor":  # its result depends on the type arguments of its object
            return self._of_all(self._evaluate.result(value, depth))
        parent = facts.parents[place]
        group = self._look.all_inside(at.file, parent, facts.names[place]) if parent >= 0 else [at]
        group = [one for one in group if one.owner == at.owner]
        found: dict[StaticType, None] = {}
        for one in group or [at]:
            types = self._of_rows(at.file, self._look.typed(at.file, one.symbol - facts.first, ""), depth)
            if not types:
                return ()
            found.update(dict.fromkeys(types))
        return tuple(found)

    def _of_method(self, file: int, place: int, prefix: str, name: str, depth: int) -> StaticTypes:
        """What a method of the libraries returns."""
        known = OF_OBJECTS.get(name)
        if known is None and name in OF_STRINGS:
            text = (StaticType("String"),)
            if text == (text if prefix in ("String", "string") else self._expression(file, place, prefix, depth - 1)):
                known = OF_STRINGS[name]
        return _known(self.named(file, place, known)) if known else ()

    def _of_values(self, file: int, place: int, text: str) -> StaticTypes:
        """The types of the objects that an expression stands for."""
        return self._of_all(self._evaluate.expression(file, place, text, _DEPTH))

    def _of_all(self, values: Values) -> StaticTypes:
        found: dict[StaticType, None] = {}
        for value in values:
            if value.kind == INSTANCE and value.at is not None:
                is_cpp = self._is_cpp(value.at.file)  # where a value does not say whether it is a pointer
                found[StaticType(self._name_of(value.at), ANY_POINTERS if is_cpp else 0, value.at)] = None
                continue
            if value.files and self._is_cpp(value.files[0]):
                return ()
            last = value.text.rpartition(".")[2] if value.kind == EXTERNAL else ""
            if not last[:1].isupper() and last not in PRIMITIVES:
                return ()
            found[StaticType(last)] = None
        return tuple(found) if len(found) <= _MOST else ()

    # --- fitting --------------------------------------------------------------------------------------------------

    def fits(self, given: StaticTypes, wanted: StaticType | None, language: str) -> int:
        """How well an argument fits a parameter: one of `NO`, `EXACT`, `BOXED`, `MAYBE`."""
        if not given or wanted is None:
            return MAYBE
        if len(given) == 1:
            return self.fits_one(given[0], wanted, language)
        found = {self.fits_one(one, wanted, language) for one in given}
        return MAYBE if (NO in found or language == "cpp") and len(found) > 1 else max(found)

    def fits_one(self, given: StaticType, wanted: StaticType, language: str) -> int:
        """The same for one type."""
        if language == "cpp":
            return self._cpp.fits(given, wanted)
        primitive = wanted.name in NUMBERS
        if given.name.startswith((LAMBDA, REFERENCE)):
            return self._takes_function(given, wanted, primitive, language)
        if given.name == "null":
            return NO if primitive and not wanted.arrays else EXACT
        if wanted.name in TOP and not wanted.arrays:
            simple = given.name in NUMBERS
            return BOXED if simple and not given.arrays and language != "kotlin" else EXACT
        if given.arrays or wanted.arrays:
            return self._fits_array(given, wanted, language)
        return self._fits_value(given, wanted, primitive, language)

    def _fits_array(self, given: StaticType, wanted: StaticType, language: str) -> int:
        if given.arrays and wanted.arrays:
            inner = given._replace(arrays=given.arrays - 1), wanted._replace(arrays=wanted.arrays - 1)
            simple = any(one.name in NUMBERS and not one.arrays for one in inner)
            return (EXACT if inner[0] == inner[1] else NO) if simple else self.fits_one(*inner, language)
        return EXACT if given.arrays and wanted.name in OF_ARRAYS else NO

    def _fits_value(self, given: StaticType, wanted: StaticType, primitive: bool, language: str) -> int:
        name = given.name
        if name == wanted.name:
            return EXACT
        if name in NUMBERS:
            if wanted.name in WIDER.get(name, ()) and language != "kotlin":
                return EXACT
            if primitive:
                return BOXED if language != "java" and name == "int" and wanted.name in WHOLE else NO
            if BOXES.get(wanted.name) == name or wanted.name in OF_NUMBERS:
                return BOXED
            return self._converted(wanted, language)
        if primitive:
            inner = BOXES.get(name, "")
            return BOXED if inner and (inner == wanted.name or wanted.name in WIDER.get(inner, ())) else NO
        if name == "String":
            return EXACT if wanted.name in OF_TEXTS else self._converted(wanted, language)
        if name in BOXES:
            return EXACT if wanted.name in OF_NUMBERS else NO
        if wanted.name in FINAL or (name == "Object" and language == "java"):
            return NO
        at = self.definition(given)
        if at is not None:
            return self._derived(at, wanted)
        if name in SUPERTYPES:
            if wanted.name in SUPERTYPES[name]:
                return EXACT
            if wanted.name in SUPERTYPES:
                return NO
        return MAYBE if self.definition(wanted) is None else NO

    def _converted(self, wanted: StaticType, language: str) -> int:
        """C#: a type of one's own may say that it is made of other ones."""
        known = wanted.name in SUPERTYPES or wanted.name in FINAL
        return NO if known or language != "csharp" else CONVERTED

    def _derived(self, at: Definition, wanted: StaticType) -> int:
        """How well an object of a type of the repository fits."""
        outside: set[str] = set()
        for one in self._evaluate.members.lineage(at):
            if self._name_of(one) == wanted.name:
                return EXACT
            outside.update(name.rpartition(".")[2].partition("<")[0] for name in self._look.bases(one))
            outside.difference_update(self._name_of(base) for base in self._evaluate.members.bases(one))
        if wanted.name in outside or any(wanted.name in SUPERTYPES.get(name, ()) for name in outside):
            return EXACT
        if at.kind == "enum":
            return EXACT if wanted.name in ("Enum", "Comparable", "Serializable") else NO
        if all(name in SUPERTYPES for name in outside):
            return NO
        return MAYBE if self.definition(wanted) is None else NO

    def _takes_function(self, given: StaticType, wanted: StaticType, primitive: bool, language: str) -> int:
        if primitive or wanted.arrays:
            return NO
        if wanted.name.startswith(LAMBDA):
            same = given.name in (wanted.name, LAMBDA, REFERENCE) or wanted.name == LAMBDA
            return EXACT if same else NO
        count, known = given.name.removeprefix(LAMBDA), FUNCTIONAL.get(wanted.name)
        if known is not None:
            return NO if count.isdigit() and int(count) != known else EXACT
        if wanted.name in FINAL or wanted.name in TOP or wanted.name in SUPERTYPES:
            return NO if language == "java" else MAYBE
        at = self.definition(wanted)
        return NO if at is not None and at.kind in ("class", "enum", "struct", "object") else EXACT


def _known(found: StaticType | None) -> StaticTypes:
    return () if found is None else (found,)
