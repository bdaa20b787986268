"""Zig: `if` and `switch` that choose between types when the program is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.conditions.text import MAX_CHAIN, File, Range, any_of, bare, clip, negate, node_text
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_TYPES = frozenset({
    "struct_declaration", "union_declaration", "enum_declaration", "opaque_declaration", "error_set_declaration"
})  # fmt: skip
_CHOICES = frozenset({"if_expression", "switch_expression", "parenthesized_expression"})
_WORD = lazily(r'"(?:\\.|[^"\\])*"|\b(?:and|or)\b')
_OPERATORS = {"and": "&&", "or": "||"}


def ranges(file: File) -> list[Range]:
    """The branches of a declaration's value that are types or choose between types."""
    found: list[Range] = []
    for holder in file.nodes:
        pending = [child for child in holder.children if child.type in _CHOICES]
        while pending:
            node = pending.pop()
            if node.type == "parenthesized_expression":
                pending += [child for child in node.children if child.type in _CHOICES]
                continue
            for branch, condition in _of_if(node) if node.type == "if_expression" else _of_switch(node):
                if condition and branch.type in _TYPES | _CHOICES:
                    found.append(Range(branch.start_byte, branch.end_byte, condition))
                if branch.type in _CHOICES:
                    pending.append(branch)
    return found


def _of_if(node: Node) -> Iterator[tuple[Node, str]]:
    condition = _text(node.child_by_field_name("condition"))
    after = ""
    for child in node.children:
        if child.type in (")", "else"):
            after = child.type
        elif child.is_named and after and child.type != "payload":
            yield child, condition if after == ")" else negate(condition)
            after = ""


def _of_switch(node: Node) -> Iterator[tuple[Node, str]]:
    subject = ""
    cases: list[tuple[Node, str]] = []
    for child in node.children:
        if child.type == "switch_case":
            named = child.named_children
            if named:
                cases.append((named[-1], _case(child, subject)))
        elif child.is_named and not subject:
            subject = _text(child)
    known = [condition for _, condition in cases if condition]
    rest = negate(any_of(known[-MAX_CHAIN:]))
    if len(known) > MAX_CHAIN:
        rest = f"… && {rest}"
    for body, condition in cases:
        yield body, condition or rest


def _case(node: Node, subject: str) -> str:
    """The condition of one case; "" for `else`."""
    values = [""]
    for child in node.children:
        if child.type in ("=>", "else"):
            break
        if child.type == "comment":
            continue
        if child.type == ",":
            values.append("")
        else:
            values[-1] += _text(child)
    truths = {"true": subject, "false": negate(subject)}
    return clip(any_of([truths.get(value, f"{subject} == {value}") for value in values if value]))


def _text(node: Node | None) -> str:
    text = _WORD.sub(lambda match: _OPERATORS.get(match.group(), match.group()), node_text(node))
    return clip(bare(text))
