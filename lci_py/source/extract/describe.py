"""Reads a definition's signature, its doc comment, and whether it is exported."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.syntax.captures import Captures, Entity
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.syntax.languages import LanguageSpec
    from lci_py.types.source import Symbol

#: Comment marks at the start and at the end of a line.
_OPENING = lazily(r"\s*(?:/\*+!?|\*+/|\*+(?=\s|$)|//+[!/]?|#+!?(?=\s|$)|--+\s?\|?|;+|%+|\{-\|?|-\}|@doc\b)")
_CLOSING = lazily(r"(?<!\*)\*+/\s*$")
_QUOTES = lazily(r"^[rRbBuUfF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')\s*$")
_CONTINUED = lazily(r"(?<!\\)\\\r?\n")  # a backslash at the end of a line joins it with the next one
MAX_SIGNATURE = 300
MAX_DOC = 400


def prefix(captured: Captures, row: int) -> tuple[int, list[Node], list[Node]]:
    """The comments and attributes right above the definition at `row` (from 0): (first row, comments, attributes)."""
    comments: list[Node] = []
    attributes: list[Node] = []
    entry = captured.prefixes.get(row)  # an attribute or decorator on the definition's own first line
    if entry is not None and entry[0] < row:
        row = entry[0]
        attributes.append(entry[1])
    by_row = captured.prefixes
    while (entry := by_row.get(row - 1) or (_doc_block(captured, row) if row - 2 in by_row else None)) is not None:
        first, node, text = entry
        line_start = captured.source.rfind(b"\n", 0, node.start_byte) + 1
        line_end = captured.source.find(b"\n", node.end_byte - 1)
        rest = captured.source[node.end_byte : line_end] if line_end >= 0 else b""
        # `#` alone: in the arguments of a Rust macro an attribute is a token and a group.
        if captured.source[line_start : node.start_byte].strip() not in (b"", b"#") or (rest and _is_code(rest)):
            break  # a trailing comment belongs to the code before it, an attribute to the code after it
        if text is None:
            attributes.append(node)
        else:
            comments.append(text)
        row = first
    return row, comments[::-1], attributes[::-1]


def _is_code(rest: bytes) -> bool:
    """Whether code, and not just a comment, follows an attribute on its line; `rest` is the text after it."""
    rest = rest.strip()
    return bool(rest) and not rest.startswith((b"#", b"//", b"/*", b"--", b"%"))


def _doc_block(captured: Captures, row: int) -> tuple[int, Node, Node | None] | None:
    """The `/** */` comment above a definition and one blank line, as in `prefixes`; None without such a comment."""
    entry = captured.prefixes[row - 2]
    if not captured.source.startswith(b"/**", entry[1].start_byte):
        return None
    gap = captured.source[entry[1].end_byte : entry[1].end_byte + 200].split(b"\n", 2)
    return entry if len(gap) > 2 and not gap[0].strip() and not gap[1].strip() else None


def signature(captured: Captures, entity: Entity) -> str:
    """The text of a definition up to its body, on one line, cut after `MAX_SIGNATURE` characters."""
    body = entity.body or (entity.node.child_by_field_name("body") if entity.kind != "macro" else None)
    start = entity.start if captured.parsed is captured.source else _with_attributes(captured, entity.start)
    if body is not None and body.start_byte > start:
        text = captured.source[start : body.start_byte]
    else:
        text = captured.source[start : min(entity.end, start + 4 * MAX_SIGNATURE)]
        name_end = entity.name_node.end_byte - start if entity.name_node is not None else 0
        stop = text.find(b"\n", name_end)
        while stop >= 0 and b"(" in text and text.count(b"(", 0, stop) > text.count(b")", 0, stop):
            stop = text.find(b"\n", stop + 1)  # parameters go on over several lines
        text = text if stop < 0 else text[:stop]
    signature = " ".join(text.decode("utf-8", "replace").split())
    signature = signature.removesuffix("=>").rstrip("{:=; ") if body is not None else signature.rstrip("{,; ")
    return signature if len(signature) <= MAX_SIGNATURE else signature[: MAX_SIGNATURE - 1] + "…"


def _with_attributes(captured: Captures, start: int) -> int:
    """The byte where a definition starts on its line, including attributes that were blanked (replaced by spaces)."""
    line = captured.source.rfind(b"\n", 0, start) + 1
    lead = captured.source[line:start]
    return start if captured.parsed[line:start].strip() or not lead.strip() else start - len(lead.lstrip())


def clean_doc(text: str, is_string: bool, marks: re.Pattern[str] | None = None, limit: int | None = MAX_DOC) -> str:
    """A docstring or comment without quotes and comment marks, cut after `limit` characters.

    Args:
        text: The docstring or comment as in the source.
        is_string: Whether the text is a docstring.
        marks: Pattern of the language's comment marks at the ends of a line; None for the usual marks.
        limit: The limit in characters; None for no limit.
    """
    if not text:
        return ""
    if is_string:
        text = _CONTINUED.sub("", _QUOTES.sub("", text.strip()))
    else:
        lines, size = [], 0
        for line in text.splitlines():
            lines.append((_without_marks(line) if marks is None else marks.sub("", line)).strip())
            size += len(lines[-1])
            if limit is not None and size > limit:
                break
        text = "\n".join(lines)
    text = text.strip()
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def _without_marks(line: str) -> str:
    line = line.strip()
    if line[:2] == "* " and "*/" not in line:  # most lines of most comments, without a pattern
        return line[2:]
    opening = _OPENING.match(line)
    start = opening.end() if opening is not None else 0
    closing = _CLOSING.search(line, start) if line.find("*/", start) >= 0 else None
    return line[start:] if closing is None else line[start : closing.start()]


def is_exported(spec: LanguageSpec, captured: Captures, entity: Entity, owner: Symbol | None) -> bool:
    """Whether other files can see a definition, by its modifiers and name. A member of an interface, trait or enum that
    has no modifiers is as visible as its owner.
    """
    if spec.private_name is not None and spec.private_name.search(entity.name):
        return False
    if spec.private is None and spec.public is None:
        return spec.visibility_default
    assert entity.name_node is not None
    line_start = captured.source.rfind(b"\n", 0, entity.start) + 1
    head = captured.source[line_start : entity.name_node.start_byte].decode("utf-8", "replace")
    if spec.private is not None and spec.private.search(head):
        return False
    if spec.public is not None and spec.public.search(head):
        return True
    if owner is not None and owner.kind in ("interface", "trait", "enum"):
        return owner.exported
    return spec.visibility_default
