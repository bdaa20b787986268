"""Reads of JavaScript's getters as calls, in the file that defines them.

Of `this`, and of classes by their names, it is known that they have the getter. Of another object its type says so
when the call is resolved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.extract.type_hints import outline
from lci_py.types.search import IMPLICIT, TYPE_KINDS
from lci_py.types.source import Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.source.dataflow.constraints import FlowBuilder
    from lci_py.source.dataflow.lower import Anonymous
    from lci_py.source.extract.type_hints import Narrowed
    from lci_py.source.syntax.captures import Captured, Finder
    from lci_py.types.source import Symbol


def getter_reads(
    captured: Captured, finder: Finder, symbols: list[Symbol], anonymous: Anonymous | None, flow: FlowBuilder | None,
    narrowed: Narrowed,
) -> Iterator[Call]:  # fmt: skip
    """The calls that reading a property makes, in text order.

    Args:
        captured: The query matches of the file.
        finder: Over their entities.
        symbols: The file's.
        anonymous: Its anonymous functions.
        flow: What the lowering found.
        narrowed: What tests say of names.
    """
    if flow is None or not flow.getters:
        return
    types = {symbol.name for symbol in symbols if symbol.kind in TYPE_KINDS}
    starts = {entity.symbol: entity.start for entity in finder.entities if entity.symbol >= 0}
    for receiver, name in flow.reads:
        read = captured.text(name)
        if read not in flow.getters:
            continue
        at, owner = name.start_byte, outline(captured, receiver)
        own = receiver.type == "this" or (receiver.type == "identifier" and owner in types)
        caller = finder.caller(at, symbols, of_variables=False)
        place, start = anonymous.at(at) if anonymous is not None else (-1, -1)
        if place >= 0 and start > starts.get(caller, -1):
            caller = -2 - place
        owner = owner if own else narrowed.receiver(owner, at)
        yield Call(read, owner, name.start_point[0] + 1, caller, 0 if own else IMPLICIT)
