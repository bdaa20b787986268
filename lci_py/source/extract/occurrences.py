"""Finds the occurrences of an identifier in a file by its syntax tree: comments, strings and prose do not count."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.extract.marks import SEGMENTS, are_enough, read_marks
from lci_py.source.syntax.captures import Captures
from lci_py.source.syntax.languages import decodable, load_languages
from lci_py.source.syntax.limits import DEFAULTS, Limits, time_limit
from lci_py.source.syntax.selectors import SELECTING, is_selector, selector
from lci_py.source.text.patterns import lazily
from lci_py.types.graph import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from lci_py.source.syntax.languages import LanguageSpec

#: Types of leaves that are text and never an identifier.
_TEXT = lazily(
    r"(?:^|_)(?:string|str|comment|char|character|contents?|fragment|text|heredoc|quoted|regex|escape)(?:_|$)"
)
#: Types of leaves that may be a name or plain text, such as a word of a shell command.
_EITHER = frozenset({"word"})
#: Types of nodes in which such a leaf is the name of a variable, as in $(CC).
_VARIABLES = frozenset({"variable_reference", "ifdef_directive"})
_WORD = rb"[0-9A-Za-z_\x80-\xff]"


class Occurrence(NamedTuple):
    """An occurrence of an identifier. Line and column are 1-based; the column counts characters."""

    line: int
    column: int
    role: Role


def finder(name: str) -> re.Pattern[bytes]:
    """A pattern that matches a name as a whole word; for a selector (`a:b:`), it matches the first keyword."""
    text = name.encode("utf-8", "surrogatepass")
    if is_selector(name):
        first = re.escape(text.partition(b":")[0])
        return re.compile(rb"(?<!%s)%s(?=\s*:)" % (_WORD, first))
    before = rb"(?<!%s)" % _WORD if re.match(_WORD, text[:1]) else b""
    after = rb"(?!%s)" % _WORD if re.match(_WORD, text[-1:]) else b""
    return re.compile(before + re.escape(text) + after)


def spots(source: bytes, pattern: re.Pattern[bytes], name: str) -> Iterator[int]:
    """The positions where the `finder` pattern of a name matches. It looks for the plain bytes first, to be faster."""
    text = name.encode("utf-8", "surrogatepass")
    plain = text.partition(b":")[0] if is_selector(name) else text
    at = source.find(plain)
    while at >= 0:
        match = pattern.match(source, at)
        if match is not None:
            yield at
        at = source.find(plain, at + 1 if match is None else max(match.end(), at + 1))


def occurrences(
    source: bytes, language: str, pattern: re.Pattern[bytes], limits: Limits = DEFAULTS, name: str = "", path: str = ""
) -> list[Occurrence]:
    """The identifiers of a file that a pattern of `finder` matches, in the order of the text.

    Args:
        language: A language with a grammar.
        name: The argument of `finder`; for a selector, the other keywords have to agree as well.
        path: The path of the file, which tells whether only parts of the file are code.
    Raises:
        OutOfTime: The search took longer than `limits` allow.
    """
    spec = load_languages()[language]
    text, regions = decodable(source), spec.regions_in(path)
    if regions is not None:
        text = regions.parsable(regions.readable(text))
    with time_limit(limits.max_file_seconds):
        parsed = spec.parse(text, limits)
        hits = []
        for match in pattern.finditer(text):
            root = parsed.root_at(match.start())
            node = _name_at(root, match) or _macro_at(spec, root, parsed.text, match)
            if node is not None:
                hits.append((match.start(), node))
        if name:
            hits = [(at, node) for at, node in hits if _selects(node, name)]
        if not hits:
            return []
        roles = _Roles(Captures(spec.matches_of(parsed, limits), text, parsed.text, parsed.uses))
        return list(_occurrences(text, hits, roles))


def marked_occurrences(
    source: bytes, language: str, pattern: re.Pattern[bytes], name: str, marks: bytes
) -> list[Occurrence] | None:
    """The result of `occurrences`, from a file's marks without parsing the file; None if the marks do not suffice.

    Raises:
        ValueError: The marks are damaged.
    """
    spec = load_languages()[language]
    if not told_by_marks(name, language):
        return None
    hits = list(spots(source, pattern, name))
    roles = read_marks(marks).roles(source, name.encode(), hits)
    if roles is None:
        return None
    results = []
    line, after = 1, 0
    for byte, role in zip(hits, roles, strict=True):
        if role is None:
            continue
        line, after = line + source.count(b"\n", after, byte), byte
        start = source.rfind(b"\n", 0, byte) + 1
        # A dollar belongs to names in some places of some languages.
        if b"$" in (source[byte - 1 : byte], source[byte + len(name) : byte + len(name) + 1]):
            return None
        before = source[start:byte]
        # Strings may be overwritten before parsing, and names if that is not what macros are for.
        if before.count(b'"') % 2 if spec.macros else spec.is_blanked(source, start, byte):
            return None
        column = len(before) if before.isascii() else len(decodable(before).decode("utf-8", "replace"))
        results.append(Occurrence(line, column + 1, role))
    return results


@lru_cache(maxsize=64)
def told_by_marks(name: str, language: str) -> bool:
    spec = load_languages()[language]
    return spec.marks_text and are_enough(name, spec.language)


def _is_variable(node: Node) -> bool:
    parent = node.parent
    return parent is not None and (parent.type in _VARIABLES or parent.child_by_field_name("name") == node)


def _name_at(root: Node, match: re.Match[bytes]) -> Node | None:
    """The node of the matched name, or of a dotted leaf that ends in it (Elixir's aliases); None inside text."""
    start, end = match.span()
    node = root.named_descendant_for_byte_range(start, end)
    if node is None or _TEXT.search(node.type):
        return None
    if (node.start_byte, node.end_byte) == (start, end) or node.type == "selector_expression":
        return node
    if node.child_count:
        return None
    whole = node.text or b""
    return node if node.end_byte == end and SEGMENTS.split(whole)[-1] == match.group() else None


def _macro_at(spec: LanguageSpec, root: Node, parsed: bytes, match: re.Match[bytes]) -> Node | None:
    """The node around a macro that was blanked (replaced by spaces) before parsing; None for other matches."""
    start, end = match.span()
    if not spec.macros or parsed[start:end] == match.group():
        return None
    line = match.string[match.string.rfind(b"\n", 0, start) + 1 : start]
    node = root.named_descendant_for_byte_range(start, end)
    is_text = node is None or _TEXT.search(node.type) or node.type == "preproc_arg" or line.count(b'"') % 2
    return None if is_text else node


def _selects(node: Node, name: str) -> bool:
    """Whether a node is the whole name: for a selector, its first keyword with the others, or @selector(a:b:)."""
    if node.type == "selector_expression":
        return (node.text or b"").decode("utf-8", "replace").partition("(")[2].strip(" ()") == name
    if not is_selector(name):
        return True
    return node.parent is not None and node.parent.type in SELECTING and selector(node.parent) == name


class _Roles:
    """Looks up the roles of a file's names: definition, call, import or reference."""

    def __init__(self, captured: Captures) -> None:
        self._defined = {entity.name_node.start_byte for entity in captured.entities if entity.name_node is not None}
        called = (captures["callee"][0].start_byte for captures in captured.calls if captures.get("callee"))
        self._called = {byte for byte in called if not captured.is_uncalled(byte)}
        self._called.update(use.start for use in captured.uses)
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
    row, at = 0, 0
    for byte, node in hits:
        # A macro that was overwritten has no node of its own.
        role = roles.of(byte if node.child_count and node.type != "selector_expression" else node.start_byte)
        if role == "reference" and node.type in _EITHER and not _is_variable(node):
            continue
        row, at = row + text.count(b"\n", at, byte), byte
        start = text.rfind(b"\n", 0, byte) + 1
        yield Occurrence(row + 1, len(text[start:byte].decode("utf-8", "replace")) + 1, role)
