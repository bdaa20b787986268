"""Finds duplicate keys, of which only one takes effect: in a dictionary, labels of a `switch`, members of an enum,
attributes of a class, command-line flags. The query `keys.scm` of a language captures the keys.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.stated_values import is_own_code
from lci_py.source.syntax.captures import without_colon
from lci_py.source.text.patterns import lazily
from lci_py.types.source import Claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captures, Finder

TWICE = "twice"
_MAX_NAME = 100
_CAPTURES = ("key", "key.name", "key.attribute")
#: What has labels and members rather than keys with values.
_LABELLED = lazily(r"switch|match|case|when|select|enum")
#: Nodes after a label that make it hold in some cases only.
_GUARDS = frozenset({"when_clause", "guard", "guard_clause", "where_keyword", "if_clause"})
#: Between two keys: only one is compiled (`#if`, `#[cfg]`); all of another object (`...defaults`, `**defaults`); a case
#: of a shell that goes on to the next one.
_APART = lazily(
    rb"#\[|[{,\n]\s*(?:\.\.\.|\*\*)\s*[\w(]|\n[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|elseif|endif)\b|;;?&"
)


def repeated_keys(path: str, language: str, captured: Captures, finder: Finder) -> Iterator[Claim]:
    """A claim for each key that is repeated: the line of the repetition, and how many lines above it the first is."""
    if not captured.keys or not is_own_code(path, language):
        return
    first: dict[tuple[int, str, str], Node] = {}
    for match in captured.keys:
        capture = next(name for name in _CAPTURES if name in match)
        container = match["keys"][0]
        owner = captured.text(match["key.of"][0]) if "key.of" in match else ""
        for node in match[capture]:
            name = _spelling(captured.text(node), capture)
            earlier = first.setdefault((container.id, owner, name), node)
            if (
                earlier.start_byte < node.start_byte
                and len(name) <= _MAX_NAME
                and _is_twice(captured.source, container, earlier, node, capture)
                and not _is_assigned(owner, captured.source[earlier.end_byte : node.start_byte])
            ):
                line = captured.row(node.start_byte) + 1
                up = str(line - 1 - captured.row(earlier.start_byte))
                yield Claim(finder.symbol(container.start_byte), name.strip('"@.') or name, up, line, TWICE)


def _spelling(text: str, capture: str) -> str:
    """A key in normal form: with uniform quotes, or without quotes if a quoted and a bare name mean the same."""
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return f'"{text[1:-1]}"'
    return f'"{text}"' if capture == "key.name" else without_colon(text)


def _is_twice(source: bytes, container: Node, earlier: Node, other: Node, capture: str) -> bool:
    between = source[earlier.end_byte : other.start_byte]
    if container.has_error or _APART.search(between) or _kind(earlier) != _kind(other):
        return False
    around_type = f"{container.type} {container.parent.type if container.parent is not None else ''}"
    # Of two labels, one is never reached, whatever follows it.
    if (
        capture != "key.attribute"
        and not _LABELLED.search(around_type)
        and _entry(source, container, earlier) == _entry(source, container, other)
    ):
        return False  # the same is said twice: nothing is lost
    if any(
        node.next_named_sibling is not None and node.next_named_sibling.type in _GUARDS for node in (earlier, other)
    ):
        return False
    if capture == "key.attribute":  # what is used before, or in its new value, is not lost
        end = source.find(b"\n", other.end_byte)
        name = re.escape(source[other.start_byte : other.end_byte])
        rest = between + source[other.end_byte : end if end >= 0 else len(source)]
        return name != b"_" and re.search(rb"\b" + name + rb"\b", rest) is None
    return True


def _entry(source: bytes, container: Node, key: Node) -> object:
    """The words of an entry (a key with its value or branch), to compare entries; the key's id if it has neither."""
    node = key
    while (outer := node.parent) is not None and outer != container:
        node = outer
        if len(words := source[node.start_byte : node.end_byte].split()) > len(
            source[key.start_byte : key.end_byte].split()
        ):
            return words
    return key.id


def _is_assigned(owner: str, text: bytes) -> bool:
    """Whether `text` assigns to the variable `owner`, so that its name means another object afterwards."""
    return owner != "" and re.search(rb"\b" + re.escape(owner.encode()) + rb"\s*=(?!=)", text) is not None


def _kind(node: Node) -> str:
    """The word before a key that makes it a different member, such as `get` or `set` in a JavaScript object; or ""."""
    before = node.prev_sibling
    return before.type if before is not None and before.type.isalpha() else ""
