"""Whether a file is generated, and which parts of it only re-export what other files define."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import ReExports

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captured, Entity
    from lci_py.types.source import Chunk, Import, Symbol

#: A file re-exports if this share of its code (rows outside comments) is imports and exports.
_NEARLY_ALL = 0.8
_HEAD_LINES, _HEAD_BYTES, _TAIL_BYTES = 20, 2048, 200
# Looser than `content_reason`, whose files are left out: these are searched, but ranked lower.
_MARK = lazily(rb"@generated\b|\bcode generated\b|\bdo not edit\b|\bauto-?generated\b|\bautomatically generated\b")
_COMMENT = lazily(rb"\s*(?://|/\*|\*|\(\*|<!--|--|;|%|'|#(?![a-z]))")
_NAME = lazily(
    r"_pb2(_grpc)?\.pyi?$|\.pb\.\w+$|\.(g|gr|freezed|mocks)\.dart$|\.min\.\w+$|\.(g|designer|generated)\.(cs|vb)$"
    r"|^zz_generated|[._-]generated?\.\w+$|[._-]gen\.(go|tsx?|jsx?|dart|cs)$|^(moc|qrc)_.*\.cpp$|\.tab\.[ch]$|^lex\.yy\.",
    re.IGNORECASE,
)
_FOLDER = lazily(r"(^|/)(__generated__|generated)/", re.IGNORECASE)
#: How statements begin that export what they do not define.
_EXPORTS = (b"export", b"module.exports", b"exports.")
_QUIET = lazily(r"comment|^(package|attribute|inner_attribute|hash_bang|php_tag|header)")
#: Definitions with which a Python module describes its re-exports.
_INTERFACE = frozenset({"__all__", "__getattr__", "__dir__"})
#: Kinds of symbols that make a file more than re-exports. A header's include guard does not count as a macro.
_OWN = FUNCTION_KINDS | TYPE_KINDS | {"type", "section"}
_GUARD = lazily(r"_(H|HH|HPP|HXX|INCLUDED)_*$")


class _Statement(NamedTuple):
    """A statement of the top level: its rows, from 0, and whether it re-exports; None for a comment and the like."""

    first: int
    last: int
    hands_on: bool | None


def is_generated_name(path: str) -> bool:
    """Whether a path looks like that of a generated file."""
    return bool(_NAME.search(path.rpartition("/")[2]) or _FOLDER.search(path))


def has_mark(source: bytes) -> bool:
    """Whether a comment in the first lines says that a program wrote the file, or the last one where its source is."""
    if b"# sourceMappingURL=" in source[-_TAIL_BYTES:]:
        return True
    head = source[:_HEAD_BYTES].lower()
    if b"generated" not in head and b"do not edit" not in head:
        return False
    return any(_MARK.search(line) and _COMMENT.match(line) for line in head.split(b"\n")[:_HEAD_LINES])


def handed_on(
    root: Node, captured: Captured, symbols: Sequence[Symbol], imports: Iterable[Import], chunks: Sequence[Chunk]
) -> ReExports:
    """Whether a file as a whole, and which of its chunks, only re-export what other files define.

    Args:
        root: The tree's root.
        captured: What its queries found.
        symbols: The file's definitions.
        imports: Its imports.
        chunks: Its chunks.
    """
    rows = sorted({one.line - 1 for one in imports})
    defines = any(one.kind in _OWN and one.kind != "macro" and one.name not in _INTERFACE for one in symbols)
    blocks = [place for place, chunk in enumerate(chunks) if chunk.symbol < 0]
    if defines:
        blocks = [place for place in blocks if _between(rows, chunks[place].line - 1, chunks[place].end_line)]
        if not blocks:
            return ReExports()
    elif not rows and not any(symbol.kind == "module" for symbol in symbols):
        return ReExports()  # without imports there is nothing to re-export
    # Visiting nodes is slow: past the last chunk with imports they are visited only if the whole file may re-export.
    last = max(chunks[place].end_line for place in blocks) - 1 if defines else -1
    statements = _top_level(root, captured, symbols, rows, last)
    starts, ends = [one.first for one in statements], [one.last for one in statements]
    places = []
    for place in blocks:
        here = statements[bisect_left(ends, chunks[place].line - 1) : bisect_left(starts, chunks[place].end_line)]
        found = {one.hands_on for one in here}
        if True in found and False not in found:
            places.append(place)
    return ReExports(not defines and _nearly_all(statements), tuple(places))


def _between(ascending: Sequence[int], start: int, stop: int) -> bool:
    place = bisect_left(ascending, start)
    return place < len(ascending) and ascending[place] < stop


def _nearly_all(statements: Iterable[_Statement]) -> bool:
    rows = {True: 0, False: 0, None: 0}
    for first, last, hands_on in statements:
        rows[hands_on] += last - first + 1
    return rows[True] > 0 and rows[True] >= _NEARLY_ALL * (rows[True] + rows[False])


def _top_level(
    root: Node, captured: Captured, symbols: Sequence[Symbol], imports: Sequence[int], last: int
) -> list[_Statement]:
    """The statements of the top level, up to row `last`, or all of them if that is -1."""
    entities = [entity for entity in captured.entities if entity.symbol >= 0]
    starts = [entity.start for entity in entities]
    found = []
    for node in _flat(root):
        first, end = node.start_point[0], node.end_point[0]
        if 0 <= last < first:
            break
        inside = entities[bisect_left(starts, node.start_byte) : bisect_left(starts, node.end_byte)]
        brings = _between(imports, first, end + 1)
        found.append(_Statement(first, end, _hands_on(node, captured.source, inside, symbols, brings=brings)))
    return found


def _flat(root: Node) -> Iterator[Node]:
    """The nodes of the top level, including those inside `#if`."""
    cursor = root.walk()  # one node at a time, unlike `children`
    more = cursor.goto_first_child()
    while more:
        if (node := cursor.node) is not None:
            if node.type.startswith("preproc_if"):
                yield from (inner for inner in node.children if inner.type != "identifier")
            else:
                yield node
        more = cursor.goto_next_sibling()


def _hands_on(
    node: Node, source: bytes, inside: Iterable[Entity], symbols: Sequence[Symbol], *, brings: bool
) -> bool | None:
    own = False
    for entity in inside:
        symbol = symbols[entity.symbol]
        if symbol.kind == "macro" and _GUARD.search(symbol.name):
            return None
        if symbol.name in _INTERFACE or _is_elsewhere(entity, symbol):
            brings = True
        elif symbol.kind in _OWN:
            return False
        else:
            own = True
    if brings:
        return True
    if own:
        return False
    if source.startswith(_EXPORTS, node.start_byte):
        return True
    # A string alone is a docstring or a directive.
    quiet = _QUIET.search(node.type) is not None or source[node.start_byte : node.start_byte + 1] in (b'"', b"'")
    return None if quiet or not node.is_named else False


def _is_elsewhere(entity: Entity, symbol: Symbol) -> bool:
    """Whether a definition only declares a module that is another file, such as Rust's `mod a;`."""
    one_line = symbol.kind == "module" and symbol.line == symbol.end_line
    return one_line and entity.node.child_by_field_name("body") is None
