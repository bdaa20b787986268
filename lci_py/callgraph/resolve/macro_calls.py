"""Attributes calls inside a macro to the code that uses the macro, since its text replaces its name there.

Source:
    ISO/IEC 9899:2018, 6.10.3.4: names in a macro's text mean what they mean where the macro is used. Macros in the text
    are replaced as well, except inside their own text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import proxy

from lci_py.callgraph.resolve.overloads import Targets
from lci_py.types.edges import AMBIGUOUS
from lci_py.types.search import FUNCTION_KINDS

if TYPE_CHECKING:
    from lci_py.callgraph.lookup_tables import Definition
    from lci_py.callgraph.lookups import LookUps

#: How deep macros may be nested, and how many macros and functions one call of a macro may lead to.
_DEPTH, _MOST = 6, 64
#: Expansions of one macro that are kept, by what its names mean where it is used.
_MOST_KEPT = 4
_NAME = re.compile(r"[^\W\d]\w*")


class Resolver(Protocol):
    """Resolves the calls of one file (implemented in calls.py)."""

    file: int
    known: dict[int, Definition]  # symbol to definition, of all that was found

    def meant(self, name: str, receiver: str, caller: int, arguments: int, *, of_macro: bool) -> Targets:
        """The definitions that a call means; see `_CallResolver.meant`."""

    def in_scope(self, file: int, scope: int, name: str, arguments: int) -> Targets:
        """The definitions that a name in a macro's text means if it is looked up from a scope of any file."""


class _Expansion(NamedTuple):
    """The calls in a macro's expansion: the same wherever the same scopes bind the names in the macro's text."""

    names: tuple[str, ...]
    scopes: tuple[int, ...]  # per name
    targets: Targets


class Expansions:
    """Finds the calls inside macros that one file uses."""

    def __init__(self, look: LookUps, scope: Callable[[int, int, str], int], resolver: Resolver) -> None:
        """Takes the look-ups that give the texts of macros.

        `scope` returns the outermost scope of a file in which a name means the same as in a certain scope.
        """
        self._look = look
        self._scope = scope
        # The resolver holds this object, and all that is known of a file: no collection runs that would free a cycle.
        self._resolver: Resolver = proxy(resolver)
        self._kept: dict[Targets, list[_Expansion]] = {}
        self._here: dict[tuple[str, int, int], Targets] = {}

    def of(self, caller: int, targets: Targets) -> Targets:
        """The functions that a call runs through macros: macros among its targets, and macros in their texts, call
        them. An inner macro counts as called by the outer macro's text, not by the outer macro's user.

        Args:
            caller: The index of the symbol that encloses the call, or -1. Names are looked up from this scope first,
                and then from the macro's definition.
            targets: The definitions that the call means.
        """
        expansions = self._kept.setdefault(targets, [])
        for former in expansions:
            if self._scopes(caller, former.names) == former.scopes:
                return former.targets
        expansion = self._expansion_of(caller, targets)
        if len(expansions) < _MOST_KEPT:
            expansions.append(expansion)
        return expansion.targets

    def _scopes(self, caller: int, names: tuple[str, ...]) -> tuple[int, ...]:
        return tuple([self._scope(self._resolver.file, caller, name) for name in names])

    def _expansion_of(self, caller: int, targets: Targets) -> _Expansion:
        definitions = self._resolver.known
        steps: dict[int, int] = {}
        names: dict[str, None] = {}
        entered: set[int] = set()
        pending = [(symbol, step & AMBIGUOUS, 1) for symbol, step in targets]
        while pending and len(entered) < _MOST:
            symbol, mark, depth = pending.pop()
            at = definitions.get(symbol)
            if at is None or at.kind != "macro" or symbol in entered:
                continue
            entered.add(symbol)
            texts = self._look.expansion(at)
            for scope, call in dict.fromkeys((scope, call) for scope, calls in texts for call in calls):
                names.update(dict.fromkeys((call[0], *_NAME.findall(call[1])) if call[1] else (call[0],)))
                # A macro may be defined several times, under conditions: a call that is in all of its texts is certain.
                step_mark = mark if all(call in calls for _, calls in texts) else AMBIGUOUS
                for target, step in self._call_targets(caller, at.file, scope, call):
                    kind = definitions[target].kind
                    if kind == "macro":
                        if depth < _DEPTH:
                            pending.append((target, (step | step_mark) & AMBIGUOUS, depth + 1))
                    elif kind in FUNCTION_KINDS and len(steps) < _MOST:
                        steps.setdefault(target, step | step_mark)
        own = {symbol for symbol, _ in targets}
        looked_up = tuple(names)
        reached = tuple((symbol, step) for symbol, step in steps.items() if symbol not in own)
        return _Expansion(looked_up, self._scopes(caller, looked_up), reached)

    def _call_targets(self, caller: int, file: int, scope: int, call: tuple[str, str, int]) -> Targets:
        """The targets of a call in a macro's text, looked up where the macro is used, then where it is defined."""
        name, receiver, arguments = call
        resolver = self._resolver
        if not receiver:
            key = (name, arguments, self._scope(resolver.file, caller, name))
            here = self._here.get(key)
            if here is None:
                here = self._here[key] = resolver.in_scope(resolver.file, caller, name, arguments)
            targets = here or resolver.in_scope(file, scope, name, arguments)
            if targets:
                return targets
        return resolver.meant(name, receiver, caller, arguments, of_macro=True)
