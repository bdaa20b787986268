"""Extracts implicit calls: `with x`, `for a in x`, `a + b`, reads of properties.

They may be as many as explicit calls, and nearly all are calls on external types. So only calls on objects with a type
hint in the file are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import LOCAL, MEMBER_OF, TYPE_OF
from lci_py.source.extract.type_hints import outline
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.types.search import IMPLICIT, TYPE_KINDS
from lci_py.types.source import ACCESSOR, CLASS_METHOD, Call, TypeHint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tree_sitter import Node

    from lci_py.source.dataflow.constraints import FlowBuilder
    from lci_py.source.extract.type_hints import NarrowedTypes
    from lci_py.source.syntax.captures import Captures
    from lci_py.types.source import Symbol

_OWN = lazily(r"(?:self|cls)(?:\.(\w+))?")
_FIRST = lazily(rb"[A-Za-z_]\w*")


def implicit_calls(
    captured: Captures, flow: FlowBuilder, symbols: Sequence[Symbol], narrowed: NarrowedTypes,
    caller: Callable[[int], int],
) -> list[Call]:  # fmt: skip
    """The implicit calls of methods, and of attributes that may be properties, without duplicates.

    Args:
        flow: The constraints of the file, from `dataflow.lower`.
        narrowed: The types that tests such as `isinstance` give to names.
        caller: Function that returns the innermost function around a byte, as `Call.caller`.
    """
    calls: dict[Call, None] = {}
    hints = [item for item in flow.given or () if item.node is not None]
    first_name = _FIRST.match
    hinted = {
        item.name.encode() for item in hints if item.role == LOCAL and (item.what == TYPE_OF or _is_call(item.node))
    }
    fields = {item.name for item in hints if item.role == MEMBER_OF}
    properties = {symbols[symbol].name for symbol, _ in flow.accessors}
    plain = {symbol.name for symbol in symbols} - properties
    for name, receiver, suffix in flow.implicit:
        attribute = name.removesuffix("=")
        if attribute in plain and name[:2] != "__":
            continue  # no property of the file; a method that is taken as a value
        start = receiver.start_byte
        match = first_name(captured.source, start)
        if match is None:
            continue
        first = match.group()
        own = first in (b"self", b"cls")
        if not own and first not in hinted and not narrowed:
            continue
        text = outline(captured, receiver)
        if own:
            own_match = _OWN.match(text)
            inner = own_match.group(1) if own_match is not None else None
            if inner is None and not name.startswith("__") and attribute not in properties:
                continue
            if inner is not None and inner not in fields and inner not in properties:
                continue
        receiver_text = narrowed.receiver(text, start) if narrowed else text
        if own or first in hinted or receiver_text != text:
            line = receiver.start_point[0] + 1
            calls[Call(name, receiver_text + suffix, line, caller(start), IMPLICIT)] = None
    return list(calls)


def accessors(flow: FlowBuilder) -> Iterator[TypeHint]:
    """For each method that is the getter or setter of a property, a hint that says so."""
    for symbol, what in flow.accessors:
        yield TypeHint(ACCESSOR, symbol, "", what, (), symbol)


def class_methods(language: str, symbols: Sequence[Symbol]) -> Iterator[TypeHint]:
    """For each static member, a hint that it belongs to the class itself: objects may have a member of that name."""
    if has_rule(language, "class_methods"):
        for number, symbol in enumerate(symbols):
            if "static" in symbol.traits.split():
                yield TypeHint(ACCESSOR, number, "", CLASS_METHOD, (), number)


def getter_reads(
    captured: Captures, flow: FlowBuilder, symbols: Sequence[Symbol], narrowed: NarrowedTypes,
    caller: Callable[[int], int],
) -> Iterator[Call]:  # fmt: skip
    """Reads of JavaScript properties, as calls in the file that defines their getters, in text order.

    `this`, and classes by their names, are known to have the getter. For other objects, the type decides when the call
    is resolved. The arguments are those of `implicit_calls`.
    """
    types = {symbol.name for symbol in symbols if symbol.kind in TYPE_KINDS} if flow.getters else set()
    for receiver, name in flow.reads:
        read = captured.text(name)
        if read not in flow.getters:
            continue
        at, owner = name.start_byte, outline(captured, receiver)
        own = receiver.type == "this" or (receiver.type == "identifier" and owner in types)
        owner = owner if own else narrowed.receiver(owner, at)
        yield Call(read, owner, name.start_point[0] + 1, caller(at), 0 if own else IMPLICIT)


def _is_call(node: Node | None) -> bool:
    return node is not None and node.type == "call"
