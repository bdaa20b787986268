"""Shells: `if`, `case`, `&&` and `||` around functions and assignments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.blocks import Branch, Syntax
from lci_py.source.conditions.text import MAX_CHAIN, MAX_DEPTH
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions.blocks import Reader

_CLAUSES = frozenset({"elif_clause", "else_clause"})
_REDIRECTION = lazily(r" ?(?:\d?|&)>{1,2}&? ?(?:/dev/null|\d)\b| 2>&1")
_TEST = lazily(r"(!? ?)(?:\[\[? (?P<in>(?:(?!\]\]?(?: |$)).)*) \]\]?|test (?P<words>[^&|]*[^&| ]))")
_EXPANSION = lazily(r'"(\$(?:\w+|\{[^{}"]*\}|\([^()"]*\)))"')
_COMPARED = lazily(r"( == | != )([\w./*?-]+)(?= |$)")


def _spelled(shown: str, reader: Reader) -> str:
    """`[ "$(uname)" = Darwin ]`, `[[ $(uname) == "Darwin" ]]` and `test …` as `$(uname) == "Darwin"`."""
    shown = _tests(_REDIRECTION.sub("", shown)).strip()
    if shown.startswith("! ") and "&&" not in shown and "||" not in shown:
        return reader.negate(reader.spell(shown[2:]))
    return reader.spell(shown)


def _tests(shown: str) -> str:
    def plain(match: re.Match[str]) -> str:
        inner = _EXPANSION.sub(r"\1", match["in"] or match["words"] or "")
        inner = re.sub(r" ==? ", " == ", inner)
        inner = _COMPARED.sub(r'\1"\2"', inner)
        if inner.startswith("! "):
            inner = f"!({inner[2:]})"
        bang = match[1].strip()
        return f"!({inner})" if bang else inner

    return _TEST.sub(plain, shown)


def _if_branches(node: Node, reader: Reader) -> list[Branch]:
    branches: list[Branch] = []
    written: list[str] = []
    for part in (node, *(child for child in node.named_children if child.type in _CLAUSES)):
        words = [child.type for child in part.children]
        own, first = "", 1
        if part.type != "else_clause":
            if "then" not in words:
                continue
            first = words.index("then") + 1
            asked = [child for child in part.children[1 : first - 1] if child.type not in (";", "\n", "comment")]
            if any(child.has_error for child in asked):
                return branches
            own = _spelled("; ".join(map(reader.raw, asked)), reader)
            if not branches and "BASH_SOURCE" in own:
                return []  # a script's entry point
        held = [child for child in part.children[first:] if child.is_named and child.type not in _CLAUSES]
        if held:
            branches.append(Branch(held[0].start_byte, held[-1].end_byte, reader.later(written, own), held))
        written.append(own)
    return branches


def _case_branches(node: Node, reader: Reader) -> list[Branch]:
    subject = _EXPANSION.sub(r"\1", reader.raw(node.child_by_field_name("value")))
    branches: list[Branch] = []
    written: list[str] = []
    for item in node.named_children:
        if item.type != "case_item":
            continue
        patterns = item.children_by_field_name("value")
        held = [child for child in item.named_children if child not in patterns and child.type != "comment"]
        shown = [reader.raw(pattern).strip("\"'") for pattern in patterns[:MAX_CHAIN]]
        own = "" if "*" in shown else reader.one_of(subject, [f'"{pattern}"' for pattern in shown])
        if held:
            branches.append(Branch(held[0].start_byte, held[-1].end_byte, reader.later(written, own), held))
        written.append(own)
    return branches


def _list_branches(node: Node, reader: Reader) -> list[Branch]:
    """`a && b || c`: b under a, c under not a. In a longer list, the last one depends on all before it."""
    branches = []
    for _ in range(MAX_DEPTH):
        if len(node.children) != 3:
            break
        left, operator, right = node.children
        asked = left
        if operator.type == "||" and left.type == "list" and left.children[1].type == "&&":
            asked = left.children[0]
        condition = _spelled(reader.raw(asked), reader)
        if operator.type == "||":
            condition = reader.negate(condition)
        branches.append(Branch(right.start_byte, right.end_byte, condition, [right]))
        if left.type != "list":
            break
        node = left
    return branches


ranges = Syntax(
    conditionals={"if_statement": _if_branches, "case_statement": _case_branches, "list": _list_branches},
    blocks=frozenset({"compound_statement"}),
    comment=r"(?<= )#[^\n]*",
    shell=True,
).ranges
