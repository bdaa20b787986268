"""Python: `if` and `try` around definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.conditions.text import MAX_CHAIN, File, Range, clip, join, node_text

if TYPE_CHECKING:
    from tree_sitter import Node

_PYTHON_BLOCKS = frozenset({"if_statement", "try_statement"})


def ranges(file: File) -> list[Range]:
    """Branches of `if` and `try` around definitions."""
    nodes = file.nodes
    # What stands in a function decides at run time, not what a build gets. An inner block is reached from its outer.
    pending = [node for node in nodes if node.type in _PYTHON_BLOCKS and _at_definition_level(node)]
    found = []
    while pending:
        node = pending.pop()
        branches = _if_branches(node) if node.type == "if_statement" else _try_branches(node)
        for block, condition in branches:
            if condition:
                found.append(Range(block.start_byte, block.end_byte, condition))
            pending.extend(child for child in block.children if child.type in _PYTHON_BLOCKS)
    return found


def _at_definition_level(node: Node) -> bool:
    around = node.parent
    if around is not None and around.type == "block":
        around = around.parent
    return around is not None and around.type in ("module", "class_definition")


def _if_branches(node: Node) -> list[tuple[Node, str]]:
    branches: list[tuple[Node, str]] = []
    earlier: list[str] = []
    for part in [node, *node.children_by_field_name("alternative")]:
        block = part.child_by_field_name("consequence" if part.type != "else_clause" else "body")
        if part.type == "else_clause":
            condition = join(f"not ({text})" for text in earlier[-MAX_CHAIN:]) or ""
        else:
            condition = clip(node_text(part.child_by_field_name("condition")))
            earlier.append(condition)
        if block is not None:
            branches.append((block, condition))
    # A script's entry point is in every build, and what it decides, it decides at run time.
    return [] if "__name__" in earlier[0] else branches


def _try_branches(node: Node) -> list[tuple[Node, str]]:
    branches: list[tuple[Node, str]] = []
    for part in node.children:
        block = next((child for child in reversed(part.children) if child.type == "block"), None)
        if part.type == "block":
            branches.append((part, "try"))
        elif block is not None and part.type.startswith("except"):
            caught = next((child for child in part.named_children if child.type != "comment"), block)
            if caught.type == "as_pattern":
                caught = caught.named_children[0]
            branches.append((block, clip(f"except {node_text(caught) if caught != block else ''}")))
        elif block is not None:
            branches.append((block, "try else" if part.type == "else_clause" else ""))
    return branches
