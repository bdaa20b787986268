"""The places of an identifier in a source file, by its syntax tree: comments, strings and prose do not count."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.syntax.captures import Captured
from lci_py.source.syntax.languages import decodable, load_languages
from lci_py.source.syntax.limits import DEFAULTS, Limits, time_limit
from lci_py.source.syntax.selectors import SELECTING, is_selector, selector
from lci_py.types.graph import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

#: Types of leaves that are text and never an identifier.
_TEXT = re.compile(
    r"(?:^|_)(?:string|str|comment|char|character|contents?|fragment|text|heredoc|quoted|regex|escape)(?:_|$)"
)
#: Types of leaves that may be a name or plain text, such as a word of a shell command.
_EITHER = frozenset({"word"})
_WORD = rb"[0-9A-Za-z_\x80-\xff]"
_SEGMENTS = re.compile(rb"::|[.\\]")


class Occurrence(NamedTuple):
    """An identifier; line and column are 1-based, the column counts characters."""

    line: int
    column: int
    role: Role


def finder(name: str) -> re.Pattern[bytes]:
    """A pattern for a name as a whole word; of a selector (`a:b:`), for its first keyword."""
    text = name.encode("utf-8", "surrogatepass")
    if is_selector(name):
        first = re.escape(text.partition(b":")[0])
        return re.compile(rb"(?<!%s)%s(?=\s*:)" % (_WORD, first))
    before = rb"(?<!%s)" % _WORD if re.match(_WORD, text[:1]) else b""
    after = rb"(?!%s)" % _WORD if re.match(_WORD, text[-1:]) else b""
    return re.compile(before + re.escape(text) + after)


def occurrences(
    source: bytes, language: str, pattern: re.Pattern[bytes], limits: Limits = DEFAULTS, name: str = ""
) -> list[Occurrence]:
    """The identifiers of a file that a pattern of `finder` matches, in the order of the text.

    Args:
        source: The file's bytes.
        language: One with a grammar.
        pattern: Of `finder`.
        limits: What the file may cost.
        name: The name that `finder` was given; of a selector, the other keywords have to agree as well.
    Raises:
        OutOfTime: It took longer than it may.
    """
    spec = load_languages()[language]
    text = decodable(source)
    with time_limit(limits.max_file_seconds):
        root = spec.parse(text, limits).root_node
        hits = [
            (match.start(), node) for match in pattern.finditer(text) if (node := _name_at(root, match)) is not None
        ]
        if name:
            hits = [(at, node) for at, node in hits if _selects(node, name)]
        if not hits:
            return []
        roles = _Roles(Captured(spec.matches(root, limits), text))
        return list(_occurrences(text, hits, roles))


def _name_at(root: Node, match: re.Match[bytes]) -> Node | None:
    """The node of a name, or a dotted leaf that ends in the name (Elixir's aliases); None if it is text."""
    start, end = match.span()
    node = root.named_descendant_for_byte_range(start, end)
    if node is None or _TEXT.search(node.type):
        return None
    if (node.start_byte, node.end_byte) == (start, end) or node.type == "selector_expression":
        return node
    if node.child_count:
        return None
    whole = node.text or b""
    return node if node.end_byte == end and _SEGMENTS.split(whole)[-1] == match.group() else None


def _selects(node: Node, name: str) -> bool:
    """Whether a node is a name as a whole: for a selector, its first keyword among the others, or @selector(a:b:)."""
    if node.type == "selector_expression":
        return (node.text or b"").decode("utf-8", "replace").partition("(")[2].strip(" ()") == name
    if not is_selector(name):
        return True
    return node.parent is not None and node.parent.type in SELECTING and selector(node.parent) == name


class _Roles:
    """The roles of a file's names: definition, call, import or reference."""

    def __init__(self, captured: Captured) -> None:
        self._defined = {entity.name_node.start_byte for entity in captured.entities if entity.name_node is not None}
        called = (captures["callee"][0].start_byte for captures in captured.calls if captures.get("callee"))
        self._called = {byte for byte in called if not captured.is_uncalled(byte)}
        self._imports = [
            (captures["import"][0].start_byte, captures["import"][0].end_byte) for captures in captured.imports
        ]

    def of(self, byte: int) -> Role:
        if byte in self._defined:
            return "definition"
        if byte in self._called:
            return "call"
        return "import" if any(start <= byte < end for start, end in self._imports) else "reference"


def _occurrences(text: bytes, hits: list[tuple[int, Node]], roles: _Roles) -> Iterator[Occurrence]:
    for byte, node in hits:
        role = roles.of(node.start_byte)
        if role == "reference" and node.type in _EITHER:
            continue
        row, column = node.start_point
        start = node.start_byte - column
        yield Occurrence(row + 1, len(text[start:byte].decode("utf-8", "replace")) + 1, role)
