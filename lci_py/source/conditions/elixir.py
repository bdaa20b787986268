"""Elixir: `if`, `unless`, `case` and `cond` around definitions; all of them are calls with a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import Branch, Syntax

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader


def _call_branches(node: Node, reader: Reader) -> list[Branch]:
    name = reader.raw(node.child_by_field_name("target"))
    block = next((child for child in node.named_children if child.type == "do_block"), None)
    arguments = next((child for child in node.named_children if child.type == "arguments"), None)
    asked = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if name in ("case", "cond"):
        return _clause_branches(reader.condition(asked), block, reader) if block is not None else []
    if name not in ("if", "unless") or asked is None:
        return []
    condition = reader.condition(asked)
    opposite = reader.negate(condition)
    if name == "unless":
        condition, opposite = opposite, condition
    if block is None:
        return _keyword_branches(arguments, condition, opposite, reader)
    held = [child for child in block.named_children if child.type != "else_block"]
    branches = [Branch(held[0].start_byte, held[-1].end_byte, condition, held)] if held else []
    others = [child for child in block.named_children if child.type == "else_block"]
    return branches + [Branch(one.start_byte, one.end_byte, opposite, one.named_children) for one in others]


def _keyword_branches(arguments: Node | None, condition: str, opposite: str, reader: Reader) -> list[Branch]:
    """`if x, do: …, else: …`."""
    branches = []
    last = arguments.named_children[-1] if arguments is not None else None
    for pair in last.named_children if last is not None and last.type == "keywords" else ():
        key, value = reader.raw(pair.child_by_field_name("key")), pair.child_by_field_name("value")
        if value is not None and key in ("do:", "else:"):
            held = condition if key == "do:" else opposite
            branches.append(Branch(value.start_byte, value.end_byte, held, [value]))
    return branches


def _clause_branches(subject: str, block: Node, reader: Reader) -> list[Branch]:
    branches: list[Branch] = []
    written: list[str] = []
    for clause in block.named_children:
        body = clause.child_by_field_name("right")
        if clause.type != "stab_clause" or body is None:
            continue
        pattern = reader.raw(clause.child_by_field_name("left"))
        if not subject:
            own = reader.spell(pattern)
        else:
            own = "" if pattern.isidentifier() else reader.spell(f"{subject} == {pattern}")
        branches.append(Branch(body.start_byte, body.end_byte, reader.later(written, own), body.named_children))
        written.append(own)
    return branches


ranges = Syntax(
    conditionals={"call": _call_branches},
    blocks=frozenset(),
    comment=r"#[^\n]*",
    single=False,  # 'x' is a list of characters
).ranges
