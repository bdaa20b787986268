"""What calls of macros call: a macro's text stands where its name does, so its calls are made there.

Source:
    ISO/IEC 9899:2018, 6.10.3.4: names in a macro's text mean what they mean where the macro is used, and are replaced
    in turn, save inside their own text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lci_py.callgraph.edges import AMBIGUOUS
from lci_py.callgraph.resolve.overloads import Targets
from lci_py.types.search import FUNCTION_KINDS

if TYPE_CHECKING:
    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps

#: Macros in macros that are looked into, and definitions that one call of a macro may lead to.
_DEPTH, _MOST = 6, 64


class Resolver(Protocol):
    """What names mean in the file of a call (index.resolve)."""

    file: int
    known: dict[int, Definition]  # symbol to definition, of what was found

    def meant(self, name: str, receiver: str, caller: int, arguments: int, *, of_macro: bool) -> Targets:
        """The definitions that a call means."""

    def in_scope(self, file: int, place: int, name: str, arguments: int) -> Targets:
        """Those of them that can be seen from a place of any file."""


def expanded(look: LookUps, resolver: Resolver, caller: int, targets: Targets) -> Targets:
    """What is called besides, if some of a call's targets are macros: the functions and macros that they lead to.

    Args:
        look: Answers for the macros of other files.
        resolver: Of the file of the call. A name means what it does there; failing that, where the macro is.
        caller: The symbol around the call, or -1.
        targets: What the call means.
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
            # A macro may be defined twice, under conditions: what all of its texts call is certain.
            step_mark = mark if all(call in calls for _, calls in texts) else AMBIGUOUS
            for target, step in _called(resolver, caller, at.file, place, call):
                if resolver.known[target].kind in FUNCTION_KINDS and len(found) < _MOST:
                    found.setdefault(target, step | step_mark)
                    if depth < _DEPTH:
                        pending.append((target, (step | step_mark) & AMBIGUOUS, depth + 1))
    own = {symbol for symbol, _ in targets}
    return tuple((symbol, step) for symbol, step in found.items() if symbol not in own)


def _called(resolver: Resolver, caller: int, file: int, place: int, call: tuple[str, str, int]) -> Targets:
    """What a call in a macro's text means: as seen from where the macro is used, then from where it stands."""
    name, receiver, arguments = call
    if not receiver:
        found = resolver.in_scope(resolver.file, caller, name, arguments)
        found = found or resolver.in_scope(file, place, name, arguments)
        if found:
            return found
    return resolver.meant(name, receiver, caller, arguments, of_macro=True)
