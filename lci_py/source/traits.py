"""What decides whether a second definition of a name contradicts the first: traits, and the definition's own text."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.types import FUNCTION_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.captures import Captured
    from lci_py.types import Symbol

_APART = FUNCTION_KINDS | TYPE_KINDS


def traits_of(language: str, kind: str, node: Node, name_node: Node, attributes: str) -> str:
    """The traits of one definition, words separated by blanks.

    Args:
        language: Of its file.
        kind: Its kind.
        node: The definition.
        name_node: Its name.
        attributes: The text of the attributes and decorators above it.
    """
    return ""


def own_digests(captured: Captured, symbols: list[Symbol]) -> list[Symbol]:
    """The symbols with the digest of each one's text, without the functions and types in it: these have their own."""
    spans = {entity.symbol: entity for entity in captured.entities if entity.symbol >= 0}
    inner: dict[int, list[tuple[int, int]]] = {}
    for number, symbol in enumerate(symbols):
        if symbol.parent >= 0 and symbol.kind in _APART:
            inner.setdefault(symbol.parent, []).append((spans[number].start, spans[number].end))
    made = []
    for number, symbol in enumerate(symbols):
        entity = spans[number]
        digest = hashlib.blake2b(digest_size=8)
        at = entity.start
        if symbol.kind not in FUNCTION_KINDS:
            for start, end in sorted(inner.get(number, ())):
                if at <= start and end <= entity.end:
                    digest.update(captured.source[at:start])
                    at = end
        text = captured.source[at : entity.end]
        digest.update(text.replace(b"\r\n", b"\n"))
        made.append(replace(symbol, digest=digest.hexdigest()))
    return made
