"""Reads `#if` conditions of C, C++ and Haskell, whose names have values, and of Swift, whose names are set or not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.search.conflicts.logic import platforms
from lci_py.search.conflicts.logic.atoms import Comparison, Dialect, Operand, compare, flag, is_switch, scalar
from lci_py.search.conflicts.logic.solve import FALSE, TRUE, Formula, Literal, both, either, opposite
from lci_py.search.conflicts.logic.tables import table
from lci_py.search.conflicts.logic.values import ALL_NUMBERS, Values, numbers_where, numeric
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lci_py.search.conflicts.logic.atoms import Leaf
    from lci_py.search.conflicts.logic.platforms import Machine
    from lci_py.search.conflicts.logic.values import Allowed

UNDEFINED = "undefined"
#: The macros that compilers define themselves, and those whose value is a version.
MACROS = table("macros").words
VERSIONS = frozenset(name for name, formula in MACROS.items() if formula[0] == " @compiler")
_DEFINED = lazily(r"defined\(([\w$]+)\)|defined ([\w$]+)")
_CALL = lazily(r"(\w+)(\(.*\))", re.DOTALL)
#: A macro that is called like a system: `TARGET_OS_LINUX`, `OS_WINDOWS`, `PLATFORM_MACOS`.
_SYSTEM = lazily(r"(?:\w+_)?(?:OS|PLATFORM)_([A-Z\d]+)")
_NAME = lazily(r"[A-Za-z_$][\w$]*")
_OPERATORS = frozenset({"==", "<", "<=", ">", ">="})  # of C; a source may have others
_BYTE_ORDER = lazily(r"_*BYTE_ORDER_*")
_BYTE_ORDERS = {"LITTLE": 2, "1234": 2, "BIG": 1, "4321": 1}
_NEITHER = Values(frozenset({UNDEFINED}), numbers=numbers_where("==", (0,)))
#: Macros of tools that read the code and build nothing of it.
_TOOLS = frozenset((
    "DOXYGEN", "__DOXYGEN__", "DOXYGEN_SHOULD_SKIP_THIS", "DOXYGEN_ONLY", "DOXYGEN_RUN", "__INTELLISENSE__",
    "__cppcheck__", "__clang_analyzer__", "__COVERITY__", "__CHECKER__", "__JETBRAINS_IDE__", "__HADDOCK_VERSION__",
    "SWIG", "__CDT_PARSER__",
))  # fmt: skip


def _defined_formula(name: str) -> Formula:
    if name in _TOOLS:
        return FALSE
    if name in MACROS and not name.startswith("TARGET_OS_"):  # on other systems, these are defined as 0
        return MACROS[name]
    if not name.startswith("TARGET_OS_") and (system := _system(name)):
        return system
    return Literal(name, Values(frozenset({UNDEFINED}), True, ALL_NUMBERS))


def _system(name: str) -> Formula | None:
    """The formula for the operating system after which a macro is named; None if the name contains no system."""
    match = _SYSTEM.fullmatch(name)
    return platforms.system_of(match[1]) if match else None


def _c(leaf: Leaf) -> Formula | None:
    if isinstance(leaf, Comparison):
        return _c_comparison(leaf)
    text = leaf.text
    if match := _DEFINED.fullmatch(text):
        return _defined_formula(match[1] or match[2])
    if text in MACROS or text in _TOOLS:
        return MACROS.get(text, FALSE)
    return _system(text)


def _c_comparison(leaf: Comparison) -> Formula | None:
    left, operator, right = leaf
    if operator not in _OPERATORS:
        return None
    if operator == "==" and _BYTE_ORDER.fullmatch(left):
        big = next((big for word, big in _BYTE_ORDERS.items() if word in right), None)
        return Literal(" @bytes", big) if big is not None else None
    value = scalar(right)
    if left not in MACROS or value is None or isinstance(value, str):
        return None
    # A macro that is not defined is 0; one that is defined is 1, unless it tells a version.
    undefined = compare((0,), operator, value)
    if left in VERSIONS:
        defined: Formula = Literal(left, numeric(numbers_where(operator, value)))
    else:
        defined = TRUE if compare((1,), operator, value) else FALSE
    return either(both(MACROS[left], defined), both(opposite(MACROS[left]), TRUE if undefined else FALSE))


_SWIFT_WORDS = table("modules").words
_SWIFT_VERSION = lazily(r"(>=|<)(\d{1,4}(?:\.\d{1,4}){0,3})")


def _swift(leaf: Leaf) -> Formula | None:
    if not isinstance(leaf, Operand):
        return None
    match = _CALL.fullmatch(leaf.text)
    if match is None:
        return flag(leaf.text) if _NAME.fullmatch(leaf.text) and leaf.text not in ("true", "false") else None
    function, inside = match[1], match[2][1:-1]
    if function in ("swift", "compiler") and (version := _SWIFT_VERSION.fullmatch(inside)):
        parts = tuple(int(part) for part in version[2].split("."))
        return Literal(function, numeric(numbers_where(version[1], parts)))
    formula = platforms.system_of(inside) if function == "os" else _SWIFT_WORDS.get(leaf.text)
    return formula or flag(leaf.text)


def _machine_values(machine: Machine) -> Mapping[str, Allowed]:
    width = numeric(numbers_where("==", (machine.pointer_bits // 8,)))
    return platforms.here(machine) | dict.fromkeys(("__SIZEOF_POINTER__", "SIZEOF_VOID_P", "SIZEOF_VOIDP"), width)


def _is_set_by_a_build(variable: str) -> bool:
    """Whether a macro is defined by builds (perhaps on some systems only), and not by the compiler."""
    return is_switch(variable) and variable.strip() not in MACROS


C = Dialect(
    falsy=_NEITHER, zero=UNDEFINED, special=_c, facts=platforms.FACTS, here=_machine_values,
    found_out=_is_set_by_a_build,
)  # fmt: skip
SWIFT = Dialect(special=_swift, facts=platforms.FACTS, here=_machine_values)
