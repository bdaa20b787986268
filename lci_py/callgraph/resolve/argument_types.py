"""Types of arguments, and constants that say how well an argument fits a parameter."""

from __future__ import annotations

from lci_py.callgraph.lookup_tables import Definition
from lci_py.types.record import NamedTuple

#: How well an argument fits a parameter. `MAYBE`: unknown; `CONVERTED`: at most by a user-defined conversion; `OWN`: by
#: one that exists; `PERHAPS`: by one, if it exists.
NO, EXACT, BOXED, MAYBE, CONVERTED, PROMOTED, OWN, PERHAPS = range(8)
#: In place of the number of pointers: unknown.
ANY_POINTERS = -1


class StaticType(NamedTuple):
    """A type. `null` and functions (`->2`, `::`) have names that no real type has.

    Attributes:
        name: The name without type arguments.
        arrays: The number of array dimensions or, in C++, of pointers.
        at: The type's definition, if known.
        file, place, written: Else, the file, scope and text that name it; most types are compared by `name` alone.
    """

    name: str
    arrays: int = 0
    at: Definition | None = None
    file: int = -1
    place: int = -1
    written: str = ""
