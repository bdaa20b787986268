"""Expressions that a value comes from, as a chain of steps: for `a.b()` the name `a`, its field `b`, and a call.

An index stores an expression as a short text (`pack`): each step is a sign for its kind, and a name. A type, which may
contain any sign, ends with a line feed. Only `pack` and `unpack` read or write such a text.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.types.record import NamedTuple

#: Kinds of steps. First comes a name, an object of a type (a cast), or a text; then fields, calls and elements of what
#: is there. Last, in C++, the address of all that or what it points to. A parameter of the function around, by its
#: place, or its last one, may have a name before it.
NAME, ATTR, CALL, ITEM, CAST, TEXT, ADDRESS, TARGET, PARAMETER, LAST = "", ".", "(", "[", "<", '"', *"&*%^"
#: What a called function gives to a lambda that is passed to it: `2,0,1` is the first of one, for the third argument.
GIVEN = ">"
POINTERS, PARAMETERS = frozenset({ADDRESS, TARGET}), frozenset({PARAMETER, LAST})
_MOST_STEPS = 64
_PACKED = re.compile(r'(<)([^\n]*)\n|([.(\["&*%^>]?)([^.(\["&*%^<>\n]*)')


class Step(NamedTuple):
    """One step of an expression. A name that begins with `::` is looked up at the top level only."""

    kind: str
    name: str


#: An expression; empty if it is no chain of steps.
Expr = tuple[Step, ...]


def head_name(expr: Expr) -> str:
    """The name that an expression begins with; "" if it does not begin with a name."""
    return expr[0].name if expr and expr[0].kind == NAME else ""


def pack(expr: Expr) -> str:
    """Turn an expression into the short text that an index stores."""
    return "".join([f"{kind}{name}\n" if kind == "<" else kind + name for kind, name in expr])


@lru_cache(maxsize=20_000)
def unpack(text: str) -> Expr:
    """The inverse of `pack`; for a text that `pack` did not make, the result is arbitrary."""
    parts = _PACKED.findall(text)[:_MOST_STEPS]
    return tuple([Step(typed or kind, type_ or name) for typed, type_, kind, name in parts if typed or kind or name])
