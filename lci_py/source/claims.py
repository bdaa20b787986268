"""What places say the values of settings and constants are: definitions, configuration files, prose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.words import joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from lci_py.types import Claim, Symbol

#: Kinds of places that state a value.
HOW = ("code", "default", "config", "prose")


def claims_of(
    language: str, path: str, source: bytes, symbols: Sequence[Symbol], nodes: Sequence[Node]
) -> Iterator[Claim]:
    """The values that a file states, in the order of its lines.

    Args:
        language: `text` for a file without a grammar.
        path: Relative to the root: what a text file is, its name says.
        source: Its bytes.
        symbols: Its definitions.
        nodes: The node of each.
    """
    return iter(())


def claimed(name: str) -> str:
    """What names of one setting have in common, however they are written: `MAX_SIZE`, `--max-size`, `maxSize`."""
    return joined(name)
