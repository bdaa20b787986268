"""The type of an argument, and how well it may fit a parameter."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.callgraph.lookup_tables import Definition

#: How well an argument fits a parameter. `MAYBE`: that is not known; `CONVERTED`: at most by a conversion of its own;
#: `OWN`: by one that is known to be there; `PERHAPS`: by one, if there is any.
NO, EXACT, BOXED, MAYBE, CONVERTED, PROMOTED, OWN, PERHAPS = range(8)
#: In place of the number of pointers: it is not known whether the type is one.
ANY_POINTERS = -1


class StaticType(NamedTuple):
    """A type. `null`, and functions (`->2`, `::`), have names that no type has.

    Attributes:
        name: Without what it is of.
        arrays: How many times it is an array of that, or in C++ a pointer to it.
        at: Its definition, if that is known.
        file, place, written: Else where it is named, and how: most types are told apart by their names alone.
    """

    name: str
    arrays: int = 0
    at: Definition | None = None
    file: int = -1
    place: int = -1
    written: str = ""
