"""Ruby, PHP and Lua: `if`, `case` and `begin` around definitions, as statements and as modifiers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import (
    Branch,
    Syntax,
    if_branches,
    short_circuit,
    switch_branches,
    try_branches,
)
from lci_py.source.conditions.text import MAX_CHAIN, clip
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader

_RESCUE = frozenset({"rescue", "else", "ensure"})
_DEFINED = lazily(r"\bdefined\? *([\w.:@$]+)")
_GLOBAL = lazily(r"(?<![\w\\])\\(?=\w+(?![\w\\]))")


def _unless_branches(node: Node, reader: Reader) -> list[Branch]:
    asked = reader.condition(node.child_by_field_name("condition"))
    opposite = reader.negate(asked)
    branches = []
    for name, condition in (("consequence", opposite), ("body", opposite), ("alternative", asked)):
        if block := node.child_by_field_name(name):
            branches.append(Branch(block.start_byte, block.end_byte, condition, [block]))
    return branches


def _begin_branches(node: Node, reader: Reader) -> list[Branch]:
    clauses = [child for child in node.named_children if child.type in _RESCUE]
    tried = [child for child in node.named_children if child.type not in _RESCUE]
    is_tried = any(clause.type == "rescue" for clause in clauses)
    branches = []
    if tried:
        branches.append(Branch(tried[0].start_byte, tried[-1].end_byte, "begin" if is_tried else "", tried))
    for clause in clauses:
        caught = clause.child_by_field_name("exceptions")
        condition = {"ensure": "", "else": "begin else"}.get(clause.type, clip(f"rescue {reader.raw(caught)}".rstrip()))
        branches.append(Branch(clause.start_byte, clause.end_byte, condition, clause.named_children))
    return branches


def _case_branches(node: Node, reader: Reader) -> list[Branch]:
    subject = reader.condition(node.child_by_field_name("value"))
    branches: list[Branch] = []
    written: list[str] = []
    for part in node.named_children:
        own = ""
        if part.type == "when":
            values = [reader.raw(value) for value in part.children_by_field_name("pattern")[:MAX_CHAIN]]
            own = reader.one_of(subject, values) if subject else " || ".join(map(reader.spell, values))
        elif part.type != "else":
            continue
        branches.append(Branch(part.start_byte, part.end_byte, reader.later(written, own), part.named_children))
        written.append(own)
    return branches


def _or_branches(node: Node, reader: Reader) -> list[Branch]:
    """Lua's `M.f = M.f or function …` defines the function only if there is none yet."""
    assigned = re.match(r"([\w.:]+) ?= ?(.*)", reader.raw(node))
    if assigned is None or not assigned[2].startswith(f"{assigned[1]} or "):
        return []
    return [Branch(node.start_byte, node.end_byte, reader.negate(assigned[1]))]


ruby_ranges = Syntax(
    conditionals={
        **dict.fromkeys(("if", "elsif", "if_modifier"), if_branches),
        **dict.fromkeys(("unless", "unless_modifier"), _unless_branches),
        "begin": _begin_branches,
        "case": _case_branches,
    },
    blocks=frozenset({"then", "else"}),
    comment=r"#[^\n]*",
    tidy=lambda shown: _DEFINED.sub(r"defined?(\1)", shown),
    entry=r"\b__FILE__ ?==|== ?__FILE__\b|\$PROGRAM_NAME\b",
).ranges
php_ranges = Syntax(
    conditionals={
        "if_statement": if_branches,
        "try_statement": try_branches,
        "switch_statement": switch_branches,
        "binary_expression": short_circuit,
    },
    blocks=frozenset({"compound_statement", "colon_block", "expression_statement"}),
    comment=r"//[^\n]*|#[^\n]*|/\*.*?\*/",
    tidy=lambda shown: _GLOBAL.sub("", shown),
).ranges
lua_ranges = Syntax(
    conditionals={"if_statement": if_branches, "assignment_statement": _or_branches},
    blocks=frozenset({"block", "do_statement"}),
    comment=r"--[^\n]*",
    words=True,
).ranges
