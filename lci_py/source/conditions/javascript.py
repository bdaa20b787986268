"""JavaScript and TypeScript: `if`, `switch` and `try` around definitions, and decorators that ask for a flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import (
    Branch,
    Syntax,
    if_branches,
    ranges as block_ranges,
    short_circuit,
    switch_branches,
    try_branches,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader
    from lci_py.source.conditions.text import File, Range


def ranges(file: File) -> list[Range]:
    """Branches of conditionals around definitions, and what flags gate."""
    return block_ranges(_SYNTAX, file)


def _switch_branches(node: Node, reader: Reader) -> list[Branch]:
    body = node.child_by_field_name("body")
    subject = reader.condition(node.child_by_field_name("value"))
    return switch_branches(subject, body.named_children if body is not None else (), reader)


_SYNTAX = Syntax(
    conditionals={
        "if_statement": if_branches,
        "try_statement": try_branches,
        "switch_statement": _switch_branches,
        "binary_expression": short_circuit,
    },
    blocks=frozenset({"statement_block", "expression_statement"}),
    comment=r"//[^\n]*|/\*.*?\*/",
    entry=r"\brequire\.main\b|\bimport\.meta\.main\b",
    equals="===",
)
