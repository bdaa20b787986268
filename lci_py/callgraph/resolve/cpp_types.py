"""Rates how well C++ arguments fit parameters by type, as far as types are declared or literal.

Source:
    ISO/IEC 14882:2020, 12.2.4 (over.ics.rank): the same type, then a promotion, then a standard conversion, then a
    user-defined conversion; if two are equal, a function comes before a template.
"""

from __future__ import annotations

from collections.abc import Callable

from lci_py.callgraph.lookup_tables import Definition
from lci_py.callgraph.resolve.argument_types import (
    ANY_POINTERS,
    BOXED,
    EXACT,
    MAYBE,
    NO,
    OWN,
    PERHAPS,
    PROMOTED,
    StaticType,
)
from lci_py.source.extract.cpp_arguments import DEDUCED, NOTHING, POINTER, UNKNOWN, ZERO

_NUMBERS = {
    "bool": "boolean", "boolean": "boolean", "_Bool": "boolean", "char": "char", "signedchar": "schar",
    "int8_t": "schar", "unsignedchar": "uchar", "uint8_t": "uchar", "short": "short", "shortint": "short",
    "int16_t": "short", "unsignedshort": "ushort", "unsignedshortint": "ushort", "uint16_t": "ushort", "int": "int",
    "signed": "int", "signedint": "int", "int32_t": "int", "unsigned": "uint", "unsignedint": "uint", "uint": "uint",
    "uint32_t": "uint", "long": "long", "longint": "long", "unsignedlong": "ulong", "unsignedlongint": "ulong",
    "longunsignedint": "ulong", "ulong": "ulong", "longlong": "llong", "longlongint": "llong", "llong": "llong",
    "unsignedlonglong": "ullong", "unsignedlonglongint": "ullong", "ullong": "ullong", "float": "float",
    "double": "double", "longdouble": "longdouble", "wchar_t": "wchar_t", "char8_t": "char8_t", "char16_t": "char16_t",
    "char32_t": "char32_t", ZERO: ZERO,
    # Another name of one of two or three of the above: which, depends on the platform.
    "size_t": "size_t", "ssize_t": "ssize_t", "ptrdiff_t": "ptrdiff_t", "int64_t": "int64_t", "uint64_t": "uint64_t",
    "intptr_t": "intptr_t", "uintptr_t": "uintptr_t", "time_t": "time_t", "off_t": "off_t", "__int128": "int128",
    "unsigned__int128": "uint128",
}  # fmt: skip
_OF_PLATFORM = frozenset(
    {"size_t", "ssize_t", "ptrdiff_t", "int64_t", "uint64_t", "intptr_t", "uintptr_t", "time_t", "off_t"}
)
_LARGE = frozenset({"uint", "long", "ulong", "llong", "ullong", "int"}) | _OF_PLATFORM
_SMALL = frozenset({"boolean", "char", "schar", "uchar", "short", "ushort"})
NUMBERS = frozenset(_NUMBERS.values())
#: Classes of the library that a text is made to.
_TEXTS = frozenset({"string", "string_view"})
_CLASSES = frozenset({"class", "struct", "union"})


def number(name: str) -> str:
    """The canonical name of a numeric type; "" for any other type."""
    return _NUMBERS.get(name.removeprefix("std.").removeprefix("std::"), "")


class CppTypes:
    """Compares C++ types, including types of the repository."""

    def __init__(
        self, definition: Callable[[StaticType], Definition | None],
        bases: Callable[[Definition], tuple[tuple[Definition, ...], bool]],
        made_of: Callable[[Definition], list[StaticType | None] | None],
    ) -> None:  # fmt: skip
        """Takes three functions: `definition` returns the definition of a type in the repository.

        `bases` returns a type with all its bases, and whether the repository defines all of them. `made_of` returns
        the first parameter types of a class's constructors.
        """
        self._definition = definition
        self._bases = bases
        self._made_of = made_of

    def fits(self, argument: StaticType, parameter: StaticType) -> int:
        """How well an argument's type fits a parameter's type: one of `NO` ... `PERHAPS` in argument_types.py."""
        fit = self._fits(argument, parameter)
        return self._by_constructor(argument, parameter) if fit == PERHAPS and not parameter.arrays else fit

    def _by_constructor(self, argument: StaticType, parameter: StaticType) -> int:
        """How well a type fits if a constructor converts it. No second conversion by a constructor can follow."""
        at = self._definition(parameter)
        firsts = self._made_of(at) if at is not None and at.kind in _CLASSES else None
        if firsts is None:
            return PERHAPS
        fit = {MAYBE if first is None or first.name == DEDUCED else self._fits(argument, first) for first in firsts}
        if not fit.isdisjoint((EXACT, PROMOTED, BOXED)):
            return OWN
        # An object of a class may convert itself.
        return PERHAPS if MAYBE in fit or self._kind(argument) in ("class", "library", "") else NO

    def _fits(self, argument: StaticType, parameter: StaticType) -> int:
        if parameter.name == DEDUCED:
            return self._deduced(argument, parameter)
        if argument.name == DEDUCED:
            return MAYBE
        if argument.name.startswith((POINTER, "::")):
            return self._function(argument, parameter)
        if parameter.name.startswith(POINTER):
            return self._to_function(argument)
        if argument.name == NOTHING:
            if parameter.arrays:
                return BOXED
            return NO if parameter.name in NUMBERS else PERHAPS
        if argument.arrays == ANY_POINTERS:
            as_value, as_pointer = (self._fits(argument._replace(arrays=number), parameter) for number in (0, 1))
            return as_value if as_value == as_pointer else MAYBE
        if argument.arrays and parameter.arrays:
            return self._pointers(argument, parameter)
        if argument.arrays:
            return self._from_pointer(argument, parameter)
        if parameter.arrays:
            return self._to_pointer(argument)
        return self._values(argument, parameter)

    def _kind(self, type_: StaticType) -> str:
        """The kind of a type: "number", "void", "enum", "class" or "library"; "" if it is unknown."""
        if type_.name in NUMBERS:
            return "number"
        if type_.name == "void":
            return "void"
        at = self._definition(type_)
        if at is not None:
            return "class" if at.kind in _CLASSES else at.kind if at.kind == "enum" else ""
        return "library" if type_.written.startswith("std.") else ""

    def _deduced(self, argument: StaticType, parameter: StaticType) -> int:
        if not parameter.arrays:
            return EXACT
        if argument.arrays == ANY_POINTERS:
            return MAYBE
        if argument.arrays >= parameter.arrays:
            return EXACT
        if self._kind(argument) != "" or argument.name.startswith(POINTER) or argument.name == NOTHING:
            return NO
        return MAYBE

    def _function(self, argument: StaticType, parameter: StaticType) -> int:
        if parameter.name in NUMBERS and parameter.name != "boolean":
            return NO
        if parameter.arrays or parameter.name in _TEXTS or self._kind(parameter) == "enum":
            return NO
        return MAYBE

    def _to_function(self, argument: StaticType) -> int:
        if argument.name in (NOTHING, ZERO):
            return BOXED
        return NO if self._kind(argument) in ("number", "enum") else MAYBE

    def _pointers(self, argument: StaticType, parameter: StaticType) -> int:
        if parameter.name == "void" and parameter.arrays == 1 and argument.name != "void":
            return BOXED
        kinds = self._kind(argument), self._kind(parameter)
        if argument.arrays != parameter.arrays:
            return MAYBE if "" in kinds else NO
        if argument.name == parameter.name:
            return EXACT if self._may_be_same(argument, parameter) else NO
        if "" in kinds or kinds == ("library", "library") or _is_of_platform(argument, parameter):
            return MAYBE
        if kinds == ("class", "class") and argument.arrays == 1:
            derived = self._derived(argument, parameter)
            return derived if derived != PERHAPS else NO
        return MAYBE if kinds == ("class", "library") and not self._is_whole(argument) else NO

    def _from_pointer(self, argument: StaticType, parameter: StaticType) -> int:
        if parameter.name == "boolean":
            return BOXED
        kind = self._kind(parameter)
        if kind in ("number", "enum", "void"):
            return NO
        if argument.name == "char" and argument.arrays == 1 and parameter.name in _TEXTS and kind in ("library", ""):
            return OWN
        return MAYBE if kind == "" else PERHAPS

    def _to_pointer(self, argument: StaticType) -> int:
        if argument.name == ZERO:
            return BOXED
        kind = self._kind(argument)
        return NO if kind in ("number", "enum") else MAYBE if kind == "" else PERHAPS

    def _values(self, argument: StaticType, parameter: StaticType) -> int:
        if argument.name == ZERO:
            argument = argument._replace(name="int")
        if argument.name == parameter.name:
            return EXACT if self._may_be_same(argument, parameter) else PERHAPS
        kinds = self._kind(argument), self._kind(parameter)
        if kinds == ("number", "number"):
            return self._numbers(argument.name, parameter.name)
        if "" in kinds:
            return MAYBE
        if kinds[0] == "enum":
            return MAYBE if kinds[1] == "number" else PERHAPS if kinds[1] != "enum" else NO
        if kinds[1] == "enum":
            return NO if kinds[0] == "number" else PERHAPS
        if kinds == ("class", "class"):
            return self._derived(argument, parameter)
        if kinds == ("library", "library"):
            return OWN if (argument.name, parameter.name) == ("string", "string_view") else MAYBE
        return MAYBE if kinds == ("class", "library") and not self._is_whole(argument) else PERHAPS

    def _numbers(self, argument: str, parameter: str) -> int:
        if argument in _OF_PLATFORM or parameter in _OF_PLATFORM:
            return MAYBE if argument in _LARGE and parameter in _LARGE else BOXED
        if parameter == "int" and argument in _SMALL:
            return PROMOTED
        return PROMOTED if (argument, parameter) == ("float", "double") else BOXED

    def _may_be_same(self, argument: StaticType, parameter: StaticType) -> bool:
        """Whether two types with the same name may be the same type."""
        at, other = self._definition(argument), self._definition(parameter)
        return at is None or other is None or at == other

    def _derived(self, argument: StaticType, parameter: StaticType) -> int:
        at, other = self._definition(argument), self._definition(parameter)
        if at is None or other is None:
            return MAYBE
        if at == other:
            return EXACT
        return BOXED if other in self._bases(at)[0] else PERHAPS

    def _is_whole(self, argument: StaticType) -> bool:
        """Whether the repository defines all direct and indirect bases of a type."""
        at = self._definition(argument)
        return at is not None and self._bases(at)[1]


def _is_of_platform(argument: StaticType, parameter: StaticType) -> bool:
    names = {argument.name, parameter.name}
    return names <= _LARGE and not names.isdisjoint(_OF_PLATFORM)


def parse_type(text: str) -> tuple[str, str, int] | None:
    """(name of a type, the name with its scopes and dots, number of pointers); None if the text is not a type."""
    name = text.rstrip("*&")
    pointers = len(text) - len(text.rstrip("*&")) - text[len(name) :].count("&")
    for word in ("const ", "struct ", "enum "):
        name = name.removeprefix(word)
    if name in ("", UNKNOWN) or name.startswith("decltype"):
        return None
    dotted = name.partition("<")[0].replace("::", ".").strip(".")
    if name.rfind(">") < len(name) - 1 and "<" in name:  # a member of a template
        return None
    plain = number(dotted)
    return plain or dotted.rpartition(".")[2], dotted, pointers
