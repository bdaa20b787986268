"""Rust: `#[cfg]` and `#![cfg]`, macros such as `cfg_if!` around items, and notes about other files.

The condition of a module's file stands where the module is declared, and the condition that a macro puts before items
where the macro is defined; both may be in other files. So declarations of modules and definitions of macros get notes,
which `search/conflicts/rust_modules.py` reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.preprocessor import COMMENTS
from lci_py.source.conditions.rust_cfg import UNKNOWN, cfg
from lci_py.source.conditions.rust_macros import macro_note, module_note, scan, wrapped
from lci_py.source.conditions.text import File, Range, node_text
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["cfg", "ranges"]

_HEADER = lazily(rb"(?:\s+|//[^\n]*|/\*.*?\*/|#!\[(?:[^\]\"]|\"(?:\\.|[^\"\\])*\")*\]|#![^\[\n][^\n]*)*", re.DOTALL)
_BETWEEN = frozenset({"attribute_item", "line_comment", "block_comment"})


def ranges(file: File) -> list[Range]:
    """The items that `#[cfg]`, `#![cfg]` and macros put under a condition, and the notes."""
    source = file.source
    nodes: dict[str, list[Node]] = {}
    for node in file.nodes:
        nodes.setdefault(node.type, []).append(node)
    header = _HEADER.match(source)
    inner = COMMENTS.sub(b"", header.group()).decode("utf-8", "replace") if header else ""
    found = [Range(0, len(source), condition) for condition in cfg(inner)]
    covered = [(node, node.parent) for node in nodes.get("inner_attribute_item", ())]
    of_items = _covered(nodes.get("attribute_item", []))
    of_modules: dict[int, list[str]] = {}
    for attribute, item in [*covered, *of_items]:
        if item is not None:
            text = node_text(attribute)
            found.extend(Range(item.start_byte, item.end_byte, condition) for condition in cfg(text))
            of_modules.setdefault(item.id, []).append(text)
    for module in nodes.get("mod_item", ()):
        note = module_note(of_modules.get(module.id, []))
        found.append(Range(module.start_byte, module.end_byte, "", note))
    known = _macros(nodes.get("macro_definition", []), found)
    for call in nodes.get("macro_invocation", ()):
        found += _call(source, call, known)
    return found


def _covered(attributes: list[Node]) -> list[tuple[Node, Node | None]]:
    """Each attribute with the item that it belongs to, in the order of the text."""
    # From the last to the first: an attribute belongs to the same item as the one that follows it.
    items: dict[int, Node | None] = {}
    for node in sorted(attributes, key=lambda node: node.start_byte, reverse=True):
        following = node.next_named_sibling
        while following is not None and following.type in _BETWEEN and following.id not in items:
            following = following.next_named_sibling
        items[node.id] = items.get(following.id, following) if following is not None else None
    return [(node, items[node.id]) for node in sorted(attributes, key=lambda node: node.start_byte)]


def _macros(definitions: list[Node], found: list[Range]) -> dict[str, str]:
    """The conditions that macros of this file put before items; notes on these go to `found`."""
    known: dict[str, str] = {}
    for node in definitions:
        name = node.child_by_field_name("name")
        text = node_text(node) if name is not None else ""
        condition = wrapped(text)
        if name is not None and condition is not None:
            found.append(Range(node.start_byte, name.end_byte, "", macro_note(text)))
            # Which of two definitions counts depends on the conditions that they stand under.
            known[node_text(name)] = UNKNOWN.format(node_text(name)) if node_text(name) in known else condition
    return known


def _call(source: bytes, call: Node, known: dict[str, str]) -> list[Range]:
    name, arguments = call.child_by_field_name("macro"), call.children[-1]
    if name is None or arguments.type != "token_tree":
        return []
    return scan(source, arguments.start_byte, arguments.end_byte, node_text(name).rpartition(":")[2].strip(), known)
