"""Zig: `if` and `switch` that choose between types when the program is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import Branch, Syntax
from lci_py.source.conditions.text import MAX_CHAIN, any_of, clip
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader

_WORD = lazily(r'"(?:\\.|[^"\\])*"|\b(?:and|or)\b')
_OPERATORS = {"and": "&&", "or": "||"}


def _if_branches(node: Node, reader: Reader) -> list[Branch]:
    condition = reader.condition(node.child_by_field_name("condition"))
    branches: list[Branch] = []
    after = ""
    for child in node.children:
        if child.type in (")", "else"):
            after = child.type
        elif child.is_named and after and child.type != "payload":
            branches.append(Branch([child], condition if after == ")" else reader.negate(condition)))
            after = ""
    return branches


def _switch_branches(node: Node, reader: Reader) -> list[Branch]:
    subject = ""
    cases: list[Branch] = []
    for child in node.named_children:
        if child.type == "switch_case":
            cases.append(Branch(child.named_children[-1:], _case(child, subject, reader)))
        elif not subject:
            subject = reader.condition(child)
    known = [condition for _, condition in cases if condition]
    rest = ("… && " if len(known) > MAX_CHAIN else "") + reader.negate(any_of(known[-MAX_CHAIN:]))
    return [Branch(nodes, condition or rest) for nodes, condition in cases if nodes]


def _case(node: Node, subject: str, reader: Reader) -> str:
    """The condition of one case; "" for `else`."""
    values = [""]
    for child in node.children:
        if child.type in ("=>", "else"):
            break
        if child.type == ",":
            values.append("")
        elif child.type != "comment":
            values[-1] += reader.raw(child)
    truths = {"true": subject, "false": reader.negate(subject)}
    return clip(any_of([truths.get(value, f"{subject} == {value}") for value in values if value]))


ranges = Syntax(
    conditionals={"if_expression": _if_branches, "switch_expression": _switch_branches},
    blocks=frozenset({"variable_declaration", "using_namespace_declaration", "parenthesized_expression"}),
    comment=r"//[^\n]*",
    tidy=lambda shown: _WORD.sub(lambda match: _OPERATORS.get(match.group(), match.group()), shown),
    single=False,  # 'x' is a number
).ranges
