"""Python: `if`, `try` and `match` around definitions, and decorators that ask for a feature flag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import Branch, Syntax, if_branches, try_branches
from lci_py.source.conditions.text import MAX_CHAIN, clip, join

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader

_VALUES = frozenset({"string", "integer", "float", "true", "false", "none", "concatenated_string", "dotted_name"})


def _match_branches(node: Node, reader: Reader) -> list[Branch]:
    subject = reader.condition(node.child_by_field_name("subject"))
    body = node.child_by_field_name("body")
    branches: list[Branch] = []
    written: list[str] = []
    for case in body.named_children if body is not None else ():
        block = case.child_by_field_name("consequence")
        if block is None:
            continue
        patterns = [child for child in case.named_children if child.type == "case_pattern"]
        guard = case.child_by_field_name("guard")
        asked = reader.condition(guard.named_children[0]) if guard is not None and guard.named_children else ""
        own = join([_pattern(subject, patterns, reader), asked]) or ""
        branches.append(Branch(block.start_byte, block.end_byte, reader.later(written, own), [block]))
        written.append(own)
    return branches


def _pattern(subject: str, patterns: list[Node], reader: Reader) -> str:
    """What must hold for a pattern to match; "" if it matches everything."""
    inner = patterns[0].named_children if len(patterns) == 1 else []
    if len(inner) == 1 and inner[0].type == "union_pattern":
        inner = inner[0].named_children[:MAX_CHAIN]
    shown = [reader.raw(child) for child in inner]
    if inner and all(_is_value(child.type, shown) for child, shown in zip(inner, shown, strict=True)):
        return reader.one_of(subject, shown)
    whole = ", ".join(map(reader.raw, patterns))
    return "" if whole.isidentifier() else clip(f"{subject} matches {whole}")


def _is_value(kind: str, shown: str) -> bool:
    # A dotted name is a value, a plain one is a variable that anything is bound to.
    return kind in _VALUES and (kind != "dotted_name" or "." in shown)


ranges = Syntax(
    conditionals={"if_statement": if_branches, "try_statement": try_branches, "match_statement": _match_branches},
    blocks=frozenset({"block", "with_statement"}),
    comment=r"#[^\n]*",
    entry=r"\b__name__\b",
    words=True,
).ranges
