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

    def fits(self, given: StaticType, wanted: StaticType) -> int:
        """How well an argument's type fits a parameter's type: one of `NO` ... `PERHAPS` in argument_types.py."""
        found = self._fits(given, wanted)
        return self._by_constructor(given, wanted) if found == PERHAPS and not wanted.arrays else found

    def _by_constructor(self, given: StaticType, wanted: StaticType) -> int:
        """How well a type fits if a constructor converts it. No second conversion by a constructor can follow."""
        at = self._definition(wanted)
        taken = self._made_of(at) if at is not None and at.kind in _CLASSES else None
        if taken is None:
            return PERHAPS
        fit = {MAYBE if one is None or one.name == DEDUCED else self._fits(given, one) for one in taken}
        if not fit.isdisjoint((EXACT, PROMOTED, BOXED)):
            return OWN
        # An object of a class may convert itself.
        return PERHAPS if MAYBE in fit or self._kind(given) in ("class", "library", "") else NO

    def _fits(self, given: StaticType, wanted: StaticType) -> int:
        if wanted.name == DEDUCED:
            return self._deduced(given, wanted)
        if given.name == DEDUCED:
            return MAYBE
        if given.name.startswith((POINTER, "::")):
            return self._function(given, wanted)
        if wanted.name.startswith(POINTER):
            return self._to_function(given)
        if given.name == NOTHING:
            if wanted.arrays:
                return BOXED
            return NO if wanted.name in NUMBERS else PERHAPS
        if given.arrays == ANY_POINTERS:
            one, other = (self._fits(given._replace(arrays=number), wanted) for number in (0, 1))
            return one if one == other else MAYBE
        if given.arrays and wanted.arrays:
            return self._pointers(given, wanted)
        if given.arrays:
            return self._from_pointer(given, wanted)
        if wanted.arrays:
            return self._to_pointer(given)
        return self._values(given, wanted)

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

    def _deduced(self, given: StaticType, wanted: StaticType) -> int:
        if not wanted.arrays:
            return EXACT
        if given.arrays == ANY_POINTERS:
            return MAYBE
        if given.arrays >= wanted.arrays:
            return EXACT
        return MAYBE if self._kind(given) == "" and not given.name.startswith(POINTER) and given.name != NOTHING else NO

    def _function(self, given: StaticType, wanted: StaticType) -> int:
        if wanted.name in NUMBERS and wanted.name != "boolean":
            return NO
        if wanted.arrays or wanted.name in _TEXTS or self._kind(wanted) == "enum":
            return NO
        return MAYBE

    def _to_function(self, given: StaticType) -> int:
        if given.name in (NOTHING, ZERO):
            return BOXED
        return NO if self._kind(given) in ("number", "enum") else MAYBE

    def _pointers(self, given: StaticType, wanted: StaticType) -> int:
        if wanted.name == "void" and wanted.arrays == 1 and given.name != "void":
            return BOXED
        kinds = self._kind(given), self._kind(wanted)
        if given.arrays != wanted.arrays:
            return MAYBE if "" in kinds else NO
        if given.name == wanted.name:
            return EXACT if self._may_be_same(given, wanted) else NO
        if "" in kinds or kinds == ("library", "library") or _is_of_platform(given, wanted):
            return MAYBE
        if kinds == ("class", "class") and given.arrays == 1:
            derived = self._derived(given, wanted)
            return derived if derived != PERHAPS else NO
        return MAYBE if kinds == ("class", "library") and not self._is_whole(given) else NO

    def _from_pointer(self, given: StaticType, wanted: StaticType) -> int:
        if wanted.name == "boolean":
            return BOXED
        kind = self._kind(wanted)
        if kind in ("number", "enum", "void"):
            return NO
        if given.name == "char" and given.arrays == 1 and wanted.name in _TEXTS and kind in ("library", ""):
            return OWN
        return MAYBE if kind == "" else PERHAPS

    def _to_pointer(self, given: StaticType) -> int:
        if given.name == ZERO:
            return BOXED
        kind = self._kind(given)
        return NO if kind in ("number", "enum") else MAYBE if kind == "" else PERHAPS

    def _values(self, given: StaticType, wanted: StaticType) -> int:
        if given.name == ZERO:
            given = given._replace(name="int")
        if given.name == wanted.name:
            return EXACT if self._may_be_same(given, wanted) else PERHAPS
        kinds = self._kind(given), self._kind(wanted)
        if kinds == ("number", "number"):
            return self._numbers(given.name, wanted.name)
        if "" in kinds:
            return MAYBE
        if kinds[0] == "enum":
            return MAYBE if kinds[1] == "number" else PERHAPS if kinds[1] != "enum" else NO
        if kinds[1] == "enum":
            return NO if kinds[0] == "number" else PERHAPS
        if kinds == ("class", "class"):
            return self._derived(given, wanted)
        if kinds == ("library", "library"):
            return OWN if (given.name, wanted.name) == ("string", "string_view") else MAYBE
        return MAYBE if kinds == ("class", "library") and not self._is_whole(given) else PERHAPS

    def _numbers(self, given: str, wanted: str) -> int:
        if given in _OF_PLATFORM or wanted in _OF_PLATFORM:
            return MAYBE if given in _LARGE and wanted in _LARGE else BOXED
        if wanted == "int" and given in _SMALL:
            return PROMOTED
        return PROMOTED if (given, wanted) == ("float", "double") else BOXED

    def _may_be_same(self, given: StaticType, wanted: StaticType) -> bool:
        """Whether two types with the same name may be the same type."""
        one, other = self._definition(given), self._definition(wanted)
        return one is None or other is None or one == other

    def _derived(self, given: StaticType, wanted: StaticType) -> int:
        one, other = self._definition(given), self._definition(wanted)
        if one is None or other is None:
            return MAYBE
        if one == other:
            return EXACT
        return BOXED if other in self._bases(one)[0] else PERHAPS

    def _is_whole(self, given: StaticType) -> bool:
        """Whether the repository defines all direct and indirect bases of a type."""
        at = self._definition(given)
        return at is not None and self._bases(at)[1]


def _is_of_platform(given: StaticType, wanted: StaticType) -> bool:
    return given.name in _LARGE and wanted.name in _LARGE and not _OF_PLATFORM.isdisjoint((given.name, wanted.name))


def parse_type(text: str) -> tuple[str, str, int] | None:
    """(name of a type, the name with its scopes and dots, number of pointers); None if the text is not a type."""
    name = text.rstrip("*&")
    pointers = len(text) - len(text.rstrip("*&")) - text[len(name) :].count("&")
    for word in ("const ", "struct ", "enum "):
        name = name.removeprefix(word)
    if name in ("", UNKNOWN) or name.startswith("decltype"):
        return None
    written = name.partition("<")[0].replace("::", ".").strip(".")
    if name.rfind(">") < len(name) - 1 and "<" in name:  # a member of a template
        return None
    plain = number(written)
    return plain or written.rpartition(".")[2], written, pointers
