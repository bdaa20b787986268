"""Reads Objective-C's selectors: names whose keywords are spread over the head of a method, or over a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

#: Nodes after a keyword: a parameter where the method is declared, a colon where it is called.
_COLONS = frozenset({"method_parameter", ":"})
_BODY = frozenset({"compound_statement", ";"})
#: The nodes that have a selector.
SELECTING = frozenset({"message_expression", "method_declaration", "method_definition"})
_SELECTOR = re.compile(r"(?!.*::)\w+(?::\w*)*:")
_MAX_NODES = 200
_MAX_CHAIN = 20
#: Messages that give an object of the same type.
#: The functions that say which type a value has.
CASTS = (b"cast", b"typing.cast", b"t.cast")
_SAME = frozenset({"alloc", "self", "copy", "mutableCopy", "retain", "autorelease"})


def is_selector(name: str) -> bool:
    """Whether a name is a selector with arguments: `count:`, `initWithFrame:style:`."""
    return _SELECTOR.fullmatch(name) is not None


def selector(node: Node) -> str:
    """The selector of a method, or of the method that a message calls: `initWithFrame:style:`, or `count`.

    Args:
        node: A method's definition or declaration, or a message.
    """
    is_message = node.type == "message_expression"
    parts: list[str] = []
    # A method's node has keywords, parameters and body; a message's node has the receiver before the keywords.
    for index, child in enumerate(node.children[:_MAX_NODES]):
        if child.type in _COLONS:
            parts.append(":")
        elif child.type == "identifier" and (not is_message or node.field_name_for_child(index) == "method"):
            parts.append((child.text or b"").decode("utf-8", "replace"))
        elif child.type in _BODY or (child.type == "," and not is_message):
            break  # after a comma come C parameters, which have no keywords
    return "".join(parts)


def receiver_of(node: Node) -> str:
    """The receiver of a message as a chain of calls: `Shelf.init()` for `[[Shelf alloc] init]`.

    For Python's `cast(T, x)` it is `(x as T)`; "" for other nodes. Messages that return an object of the same type,
    such as `alloc`, are left out.
    """
    if node.type == "call":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or function.text not in CASTS or arguments.named_child_count != 2:
            return ""
        type_ = arguments.named_child(0)
        return f"(x as {(type_.text or b'').decode('utf-8', 'replace')})" if type_ is not None else ""
    parts: list[str] = []
    while node.type == "message_expression" and len(parts) < _MAX_CHAIN:
        name = selector(node)
        if name not in _SAME:
            parts.append(f"{name}()")
        inner = node.child_by_field_name("receiver")
        if inner is None:
            return ""
        node = inner
    if node.type != "identifier":
        return ""
    return ".".join([(node.text or b"").decode("utf-8", "replace"), *reversed(parts)])


def body(node: Node) -> Node | None:
    """The node of a method's body, or of the semicolon that ends its declaration; None if there is neither."""
    return next((child for child in node.children if child.type in _BODY), None)
