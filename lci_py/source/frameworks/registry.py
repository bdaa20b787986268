"""Collects what one file registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.frameworks.texts import is_inline, reference, split
from lci_py.types.search import REGISTERED
from lci_py.types.source import REGISTRATIONS, Call, Registration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.types.source import Symbol

_MOST_NAME, _MOST_TARGET = 300, 200


class Registry:
    """The registrations of one file, and the calls that stand for edges to what is registered by its name."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self.registered: list[Registration] = []
        self.calls: list[Call] = []
        self._symbols = symbols

    def add(self, kind: str, name: str, router: str, text: str, scope: int, line: int) -> None:
        """Add a function that an expression names.

        Args:
            kind: One of `REGISTRATIONS`.
            name, router, scope, line: As in `Registration`.
            text: The expression.
        """
        target = None if is_inline(text) else reference(text)
        self.note(Registration(kind, name, router, ".".join(filter(None, target or ())), scope, -1, line))
        if target is not None:
            self.call(kind, target, scope, line)

    def note(self, item: Registration) -> None:
        """Add a registration; one of a definition has its edge, too."""
        if len(item.name) > _MOST_NAME or len(item.target) > _MOST_TARGET:
            return
        self.registered.append(item)
        if item.symbol >= 0:
            self.call(item.kind, ("", self._symbols[item.symbol].name), item.scope, item.line, str(item.symbol))

    def fixtures(self, number: int) -> None:
        """Add the fixtures that a function takes as parameters (pytest)."""
        symbol = self._symbols[number]
        for parameter in split(symbol.signature.partition("(")[2].rpartition(")")[0]):
            name = parameter.partition(":")[0].strip()
            if name.isidentifier() and name not in ("self", "cls"):
                self.call("fixture", ("", name), number, symbol.line)

    def call(self, kind: str, target: tuple[str, str], scope: int, line: int, symbol: str = "") -> None:
        """Add a call, of a receiver and a name or else of a symbol, that stands for an edge."""
        receiver, name = target
        self.calls.append(Call(name, receiver, line, scope, REGISTERED - REGISTRATIONS.index(kind), symbol))
