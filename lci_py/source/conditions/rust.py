"""Rust: `#[cfg]` and `#![cfg]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.preprocessor import COMMENTS
from lci_py.source.conditions.text import MAX_DEPTH, File, Range, any_of, clip, negate, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

# Bounded on both sides: a file of blank lines, or of `#[cfg(` without an end, must not take quadratic time.
_CFG = re.compile(r"^[^\S\n]*#!?\[\s*cfg\s*\((.{0,2000}?)\)\s*\]", re.MULTILINE | re.DOTALL)
_RUST_HEADER = re.compile(
    rb"(?:\s+|//[^\n]*|/\*.*?\*/|#!\[(?:[^\]\"]|\"(?:\\.|[^\"\\])*\")*\]|#![^\[\n][^\n]*)*", re.DOTALL
)
_RUST_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[\w:.]+|[(),=]')
_RUST_BETWEEN = frozenset({"attribute_item", "line_comment", "block_comment"})


def ranges(file: File) -> list[Range]:
    """What `#[cfg]` and `#![cfg]` cover."""
    source, nodes = file.source, file.nodes
    header = _RUST_HEADER.match(source)
    inner = COMMENTS.sub(b"", header.group()).decode("utf-8", "replace") if header else ""
    found = [Range(0, len(source), condition) for condition in cfg(inner)]
    # From the last to the first: what an attribute covers, those before it cover as well.
    items: dict[int, Node | None] = {}
    for node in sorted(nodes, key=lambda node: node.start_byte, reverse=True):
        following = node.next_named_sibling if node.type == "attribute_item" else None
        while following is not None and following.type in _RUST_BETWEEN and following.id not in items:
            following = following.next_named_sibling
        items[node.id] = items.get(following.id, following) if following is not None else None
    for node in nodes:
        covered = node.parent if node.type == "inner_attribute_item" else items[node.id]
        if covered is not None:
            found.extend(Range(covered.start_byte, covered.end_byte, condition) for condition in cfg(node_text(node)))
    return found


def cfg(attributes: str) -> list[str]:
    """The conditions of the `cfg` among some attributes. `cfg_attr` attaches an attribute, it removes nothing."""
    if "cfg" not in attributes:
        return []
    return [clip(_predicate(text)) for text in _CFG.findall(attributes)]


def _predicate(text: str) -> str:
    """`all(a, not(b))` is `a && !b`. What does not parse stays as it is written."""
    stack: list[tuple[str, list[str]]] = [("all", [])]  # no recursion: the file decides how deep its brackets go
    before = ""
    for token in _RUST_TOKEN.findall(text):
        operands = stack[-1][1]
        if token == "(" and operands and operands[-1] == before:
            stack.append((operands.pop(), []))
        elif token == "(" or (token == ")" and len(stack) == 1) or len(stack) > MAX_DEPTH:
            return text
        elif token == ")":
            operator, inner = stack.pop()
            stack[-1][1].append(_combine(operator, inner))
        elif operands and (token == "=" or before == "="):
            operands[-1] += f" {token}"
        elif token != ",":
            operands.append(token)
        before = token
    return _combine(*stack[0]) if len(stack) == 1 else text


def _combine(operator: str, operands: list[str]) -> str:
    if operator == "not" and len(operands) == 1:
        return negate(operands[0])
    if operator == "all":
        return " && ".join(operands)
    if operator == "any" and operands:
        return f"({any_of(operands)})" if len(operands) > 1 else operands[0]
    return f"{operator}({', '.join(operands)})"
