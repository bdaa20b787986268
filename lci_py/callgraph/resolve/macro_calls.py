"""Calls inside a macro are attributed to the code that uses the macro, since its text replaces its name there.

Source:
    ISO/IEC 9899:2018, 6.10.3.4: names in a macro's text mean what they mean where the macro is used. They are replaced
    in turn, except inside their own text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lci_py.callgraph.edges import AMBIGUOUS
from lci_py.callgraph.resolve.overloads import Targets
from lci_py.types.search import FUNCTION_KINDS

if TYPE_CHECKING:
    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps

#: How deep macros may be nested, and how many definitions one call of a macro may lead to.
_DEPTH, _MOST = 6, 64


class Resolver(Protocol):
    """Resolves calls of one file (calls.py)."""

    file: int
    known: dict[int, Definition]  # symbol to definition, of all that was found

    def meant(self, name: str, receiver: str, caller: int, arguments: int, *, of_macro: bool) -> Targets:
        """The definitions that a call means."""

    def in_scope(self, file: int, place: int, name: str, arguments: int) -> Targets:
        """The definitions that a name in a macro's text means, if it is seen from a place of any file."""


def expanded(look: LookUps, resolver: Resolver, caller: int, targets: Targets) -> Targets:
    """The functions and macros that are called by those of a call's targets that are macros.

    Args:
        look: Where to ask for the texts of macros.
        resolver: Of the file of the call. A name means what it means there; failing that, where the macro is defined.
        caller: The place of the symbol around the call, or -1.
        targets: The definitions that the call means.
    """
    found: dict[int, int] = {}
    entered: set[int] = set()
    pending = [(symbol, step & AMBIGUOUS, 1) for symbol, step in targets]
    while pending:
        symbol, mark, depth = pending.pop()
        at = resolver.known.get(symbol)
        if at is None or at.kind != "macro" or symbol in entered:
            continue
        entered.add(symbol)
        texts = look.expansion(at)
        for place, call in dict.fromkeys((place, call) for place, calls in texts for call in calls):
            # A macro may be defined several times, under conditions: a call that is in all of its texts is certain.
            step_mark = mark if all(call in calls for _, calls in texts) else AMBIGUOUS
            for target, step in _called(resolver, caller, at.file, place, call):
                if resolver.known[target].kind in FUNCTION_KINDS and len(found) < _MOST:
                    found.setdefault(target, step | step_mark)
                    if depth < _DEPTH:
                        pending.append((target, (step | step_mark) & AMBIGUOUS, depth + 1))
    own = {symbol for symbol, _ in targets}
    return tuple((symbol, step) for symbol, step in found.items() if symbol not in own)


def _called(resolver: Resolver, caller: int, file: int, place: int, call: tuple[str, str, int]) -> Targets:
    """What a call in a macro's text means where the macro is used; failing that, where the macro is defined."""
    name, receiver, arguments = call
    if not receiver:
        found = resolver.in_scope(resolver.file, caller, name, arguments)
        found = found or resolver.in_scope(file, place, name, arguments)
        if found:
            return found
    return resolver.meant(name, receiver, caller, arguments, of_macro=True)
