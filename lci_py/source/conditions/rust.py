"""Reads the conditions of Rust: `#[cfg]`, `#![cfg]`, macros such as `cfg_if!` around items; and notes for other files.

The condition of a module's file is written where the module is declared. The condition that a macro puts before items
is written where the macro is defined. Both may be in other files, so declarations of modules and definitions of macros
get notes, which `search/conflicts/rust_modules.py` reads.

The syntax tree of a macro's arguments has only tokens. `cfg_if!` and `cfg_select!` are built in. Any other macro is
read from its definition: if a macro does nothing but put `#[cfg]` before its items, as tokio's `cfg_net!` does, that
is the condition of the items in its calls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.conditions.preprocessor import COMMENTS
from lci_py.source.conditions.rust_cfg import UNKNOWN, cfg, paths, predicate, predicate_of_macro, quote
from lci_py.source.conditions.text import File, Range, chain, join, node_text
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

__all__ = ["cfg", "ranges"]

_HEADER = lazily(rb"(?:\s+|//[^\n]*|/\*.*?\*/|#!\[(?:[^\]\"]|\"(?:\\.|[^\"\\])*\")*\]|#![^\[\n][^\n]*)*", re.DOTALL)
_BETWEEN = frozenset({"attribute_item", "line_comment", "block_comment"})


def ranges(file: File) -> list[Range]:
    """The ranges of items that `#[cfg]`, `#![cfg]` and macros put under a condition; and ranges with notes."""
    source = file.source
    nodes: dict[str, list[Node]] = {}
    for node in file.nodes:
        nodes.setdefault(node.type, []).append(node)
    header = _HEADER.match(source)
    inner = COMMENTS.sub(b"", header.group()).decode("utf-8", "replace") if header else ""
    spans = [Range(0, len(source), condition) for condition in cfg(inner)]
    covered = [(node, node.parent) for node in nodes.get("inner_attribute_item", ())]
    of_items = _attribute_items(nodes.get("attribute_item", []))
    of_modules: dict[int, list[str]] = {}
    for attribute, item in [*covered, *of_items]:
        if item is not None:
            text = node_text(attribute)
            spans.extend(Range(item.start_byte, item.end_byte, condition) for condition in cfg(text))
            of_modules.setdefault(item.id, []).append(text)
    for module in nodes.get("mod_item", ()):
        note = module_note(of_modules.get(module.id, []))
        spans.append(Range(module.start_byte, module.end_byte, "", note))
    macros = _macros(nodes.get("macro_definition", []), spans)
    for call in nodes.get("macro_invocation", ()):
        spans += _call(call, macros)
    return spans


def _attribute_items(attributes: list[Node]) -> list[tuple[Node, Node | None]]:
    """Each attribute with the item that follows it (None if none does), in the order of the text."""
    # From the last to the first: an attribute belongs to the same item as the one that follows it.
    items: dict[int, Node | None] = {}
    for node in sorted(attributes, key=lambda node: node.start_byte, reverse=True):
        following = node.next_named_sibling
        while following is not None and following.type in _BETWEEN and following.id not in items:
            following = following.next_named_sibling
        items[node.id] = items.get(following.id, following) if following is not None else None
    return [(node, items[node.id]) for node in sorted(attributes, key=lambda node: node.start_byte)]


def _macros(definitions: list[Node], spans: list[Range]) -> dict[str, str]:
    """Maps each macro of this file to the condition that it puts before items; adds notes on the macros to `spans`."""
    macros: dict[str, str] = {}
    for node in definitions:
        name = node.child_by_field_name("name")
        text = node_text(node) if name is not None else ""
        condition = condition_of_macro(text)
        if name is not None and condition is not None:
            spans.append(Range(node.start_byte, name.end_byte, "", macro_note(text)))
            # Which of two definitions counts depends on the conditions that they stand under.
            macros[node_text(name)] = UNKNOWN.format(node_text(name)) if node_text(name) in macros else condition
    return macros


def _call(call: Node, macros: Mapping[str, str]) -> Iterator[Range]:
    """The conditions of items in the arguments of a macro call, and notes on the modules among these items.

    Args:
        macros: Maps the file's own macros to their conditions, from `condition_of_macro`.
    """
    name, arguments = call.child_by_field_name("macro"), call.children[-1]
    pending: list[_Block] = []
    if name is not None and arguments.type == "token_tree":
        pending.append(_of_macro(node_text(name).rpartition(":")[2].strip(), arguments, macros))
    while pending:
        block = pending.pop()
        if block.macro in _BRANCHING:
            pending += _branches(block)
        elif block.macro not in _OPAQUE:
            yield from _items(block, macros, pending)


# --- macros -------------------------------------------------------------------------------------------------------

_NAMED_AS_WRAPPER = lazily(r"(?:cfg|if)_|\w*_cfg(?:_|$)")
_WORDS = frozenset({"fn", "mod", "impl", "trait", "struct", "enum", "union", "use"})
_FIELDS = frozenset({"struct", "enum", "union"})
_OPAQUE = frozenset({"fn", "macro_rules"})
_BRANCHING = frozenset({"cfg_if", "cfg_select"})
_MAX_WRAPPER = 6_000  # characters of a macro's definition
_COMMENT = lazily(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WRAPPER = lazily(
    r"macro_rules!\s*\w+\s*\{\s*\(\s*\$\(\s*\$(\w+)\s*:\s*item\s*\)\s*[*+]\s*\)\s*=>\s*\{(.*)\}\s*;?\s*\}\s*\Z",
    re.DOTALL,
)
_ATTRIBUTE_TEXT = lazily(r"#\[(?:[^\[\]\"]|\"(?:\\.|[^\"\\])*\"|\[[^\[\]]*\])*\]")


class _Block(NamedTuple):
    """A bracketed block in the arguments of a macro."""

    tree: Node
    condition: str = ""  # of what stands in them
    macro: str = ""  # whose arguments they hold
    word: str = ""  # the keyword of the item whose body they are


def _of_macro(name: str, tree: Node, macros: Mapping[str, str]) -> _Block:
    return _Block(tree, macros.get(name, UNKNOWN.format(name) if _NAMED_AS_WRAPPER.match(name) else ""), name)


def _branches(block: _Block) -> Iterator[_Block]:
    """The blocks of `cfg_if! { if #[cfg(a)] { … } else { … } }` and of `cfg_select! { a => { … } _ => { … } }`."""
    earlier: list[str] = []
    predicates: list[str] = []
    start = 1  # of the predicate, in the text of the block
    text = block.tree.text or b""
    for child in block.tree.children:
        at = child.start_byte - block.tree.start_byte
        if child.type == "=>":
            predicates = [text[start:at].decode("utf-8", "replace").strip()]
        elif child.type == "token_tree" and _opening(child) == "[":
            predicates.append(f"#{node_text(child)}")
        elif child.type == "token_tree" and _opening(child) == "{":
            if block.macro == "cfg_if":
                own = _conditions(predicates)
            elif predicates:
                own = "" if predicates == ["_"] else predicate(predicates[0])
            else:
                continue
            is_branch = bool(own or earlier)
            yield _Block(child, chain(earlier, own) if is_branch else "")
            earlier += [own] if is_branch else []
            predicates, start = [], at + child.end_byte - child.start_byte
        if child.type == ",":
            start = at + 1


def _items(block: _Block, macros: Mapping[str, str], pending: list[_Block]) -> Iterator[Range]:
    """The conditions of items or fields in a block, and notes on modules; nested blocks are added to `pending`."""
    condition, has_fields = block.condition, block.word in _FIELDS
    attributes: list[str] = []
    start, word, calls, sign, name = -1, "", "", "", ""
    for child in block.tree.children:
        kind, ends = child.type, False
        if kind == "token_tree" and sign and _opening(child) == "[":
            text = sign + node_text(child)
            if sign == "#":
                attributes.append(text)
            elif block.macro:
                # The predicate that a macro is handed takes the place of what its definition says.
                condition = predicate_of_macro(text) or condition
            else:
                condition = join([condition, _conditions([text])]) or ""
        elif kind == "token_tree" and not has_fields:
            is_block = _opening(child) == "{"
            if calls:
                pending.append(_of_macro(calls, child, macros))
            elif is_block and word not in ("fn", "use"):
                pending.append(_Block(child, word=word))
            ends = is_block and word != "use"
        elif kind == "#" and start < 0:
            start = child.start_byte
        elif not word and (kind in _WORDS or (kind == "identifier" and child.text == b"union")):
            word = node_text(child)
        elif kind == "!" and name and not word:
            calls = name
        if start < 0 and (word or calls):
            start = child.start_byte
        if ends or kind == ("," if has_fields else ";"):
            if own := _conditions(attributes):
                yield Range(start, child.end_byte, own)
            if word == "mod" and kind == ";":
                yield Range(start, child.end_byte, "", module_note(attributes))
            start, attributes, word, calls = -1, [], "", ""
        sign = f"{sign}{kind}" if kind in ("#", "!") and (sign or kind == "#") else ""
        name = node_text(child) if kind == "identifier" else ""
    if own := _conditions(attributes):
        yield Range(start, block.tree.end_byte - 1, own)
    if condition:
        yield Range(block.tree.start_byte, block.tree.end_byte, condition)


def _opening(tree: Node) -> str:
    return tree.children[0].type if tree.children else ""


def _conditions(attributes: list[str]) -> str:
    return join(condition for text in attributes for condition in cfg(text)) or ""


def module_note(attributes: list[str]) -> str:
    """The note on a module in a file of its own: `external`, and a `path=` for each possible path of the file.

    Args:
        attributes: The attributes of the `mod`, each from its `#[` to its `]`.
    """
    places = (f"path={quote(path)}?{quote(condition)}" for path, condition in paths(attributes))
    return " ".join(("external", *places))


def macro_note(text: str) -> str:
    """The note on a macro: `when=` and the condition that it puts before its items; "" if it does anything else."""
    condition = condition_of_macro(text)
    return "" if condition is None else f"when={quote(condition)}"


def condition_of_macro(text: str) -> str | None:
    """The condition that a macro puts before its items, from its definition; None if it does anything else."""
    if len(text) > _MAX_WRAPPER or not (head := _WRAPPER.match(_COMMENT.sub("", text))):
        return None
    attributes = _ATTRIBUTE_TEXT.findall(head.group(2))
    rest = "".join(_ATTRIBUTE_TEXT.sub("", head.group(2)).split())
    if not rest and not attributes:
        return "0"  # it drops the items; another definition of the macro, under the opposite condition, keeps them
    items = rf"\$\(\${head.group(1)}\)[*+]"
    match = re.fullmatch(rf"{items}|(\w+)!\{{{items}\}};?", rest)  # they may go on to another macro
    if match is None or "$" in "".join(attributes):
        return None
    return join([_conditions(attributes), UNKNOWN.format(match.group(1)) if match.group(1) else ""]) or ""
