"""Tree and query matches to symbols, calls, imports, inheritance and chunks: one pass per file.

The capture names are the interface between a grammar folder and this module; docs/languages.md lists them. Nothing
here knows a language: what differs between languages is in grammars/.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lci_py.source import conditions
from lci_py.source.chunk import chunk_symbols, chunk_text
from lci_py.source.languages import TEXT, LanguageSpec, load_languages
from lci_py.types import FUNCTION_KINDS, TYPE_KINDS, Base, Call, Extract, Import, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_DROPPED_IN_FUNCTIONS = frozenset({"variable", "constant", "field", "property"})
_SPACE = re.compile(r"\s+")
_DOTS = re.compile(r"\\|::")
_COMMENT_MARKS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*+(?=\s|$)|//+[!/]?|#+!?(?=\s|$)|--+\s?\|?|;+|%+|\{-\|?|-\}|@doc\b)|\*+/\s*$")
_QUOTES = re.compile(r"^[rRbBuUfF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')\s*$")
MAX_SIGNATURE = 300
MAX_DOC = 400


@dataclass(slots=True)
class Entity:
    """A node that contains others: a definition, a naming scope (`impl T`) or a local scope (a lambda)."""

    start: int
    end: int
    role: str  # definition | scope | local
    kind: str
    name: str
    node: Node
    name_node: Node | None = None
    body: Node | None = None
    owner: str = ""  # the @parent text: a Go receiver, the `A` of `A::b`
    outer: int = -1  # index of the enclosing entity
    symbol: int = -1  # index among the symbols, -1 if dropped


class Captured:
    """The query matches of one file, sorted by role."""

    def __init__(self, spec: LanguageSpec, root: Node, source: bytes) -> None:
        self.source = source
        self.entities: list[Entity] = []
        self.calls: list[dict[str, list[Node]]] = []
        self.imports: list[dict[str, list[Node]]] = []
        self.bases: list[Node] = []
        self.docstrings: list[Node] = []
        self.prefixes: dict[int, tuple[int, Node]] = {}  # last row of a comment or attribute -> (first row, node)
        self.conditions: list[Node] = []
        self.package = ""
        best: dict[int, tuple[int, Entity]] = {}
        shapes: dict[tuple[str, ...], tuple[str, str]] = {}
        for pattern, captures in spec.cursor.matches(root):
            names = tuple(captures)
            shape = shapes.get(names)
            if shape is None:
                shape = shapes[names] = _shape(names)
            role, capture = shape
            if role == "call":
                self.calls.append(captures)
            elif role in ("definition", "scope", "local"):
                self._entity(pattern, role, capture, captures, best)
            else:
                self._other(role, captures)
        self.entities.extend(entity for _, entity in best.values())
        self.entities.sort(key=lambda e: (e.start, -e.end, e.role != "definition"))

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _entity(
        self, pattern: int, role: str, capture: str, captures: dict[str, list[Node]],
        best: dict[int, tuple[int, Entity]],
    ) -> None:  # fmt: skip
        node = captures[capture][0]
        names = captures.get("name")
        if role == "local":
            self.entities.append(Entity(node.start_byte, node.end_byte, role, "", "", node))
            return
        if not names:
            return
        name = self.text(names[0]).strip()
        if not name:
            return  # an error recovery made up a node of no width
        owner = captures.get("parent")
        body = captures.get("body")
        # A definition may have several parts, such as the clauses of a Haskell function: they are one range.
        end = max(part.end_byte for part in captures[capture])
        entity = Entity(
            node.start_byte, end, role, capture.partition(".")[2], _SPACE.sub(" ", name)[:200], node, names[0],
            body[0] if body else None, _SPACE.sub("", "::".join(map(self.text, owner))) if owner else "",
        )  # fmt: skip
        # Two patterns may match one name; the first in the files' order is the more specific one by convention.
        key = names[0].start_byte if role == "definition" else ~names[0].start_byte
        known = best.get(key)
        if known is None or pattern < known[0]:
            best[key] = (pattern, entity)

    def _other(self, role: str, captures: dict[str, list[Node]]) -> None:
        if role == "import":
            self.imports.append(captures)
        elif role == "base":
            self.bases.extend(captures["base"])
        elif role == "docstring":
            self.docstrings.extend(captures["docstring"])
        elif role == "prefix":
            for node in captures.get("comment", []) + captures.get("attribute", []):
                last, column = node.end_point
                if column == 0 and last > node.start_point[0]:
                    last -= 1  # some grammars put the line break into the comment
                self.prefixes[last] = (node.start_point[0], node)
        elif role == "condition":
            self.conditions.extend(captures["condition"])
        elif role == "package" and not self.package:
            self.package = re.sub(r"\\|::|/", ".", self.text(captures["package"][0])).strip(".")


def _shape(names: tuple[str, ...]) -> tuple[str, str]:
    """The role of a match, from its capture names, and the capture that holds the whole node."""
    for name in names:
        if name.startswith("definition."):
            return "definition", name
    for role in ("scope", "local", "import", "base", "docstring", "condition", "package"):
        if role in names:
            return role, role
    if "comment" in names or "attribute" in names:
        return "prefix", ""
    return "call", "call"


def extract(path: str, source: bytes, language: str) -> Extract:
    """Everything the index needs to know about one file.

    A file with syntax errors yields what parses. `text` files yield chunks only.

    Args:
        path: Relative to the root; some build conditions are in file names.
        source: The file's bytes; invalid UTF-8 is replaced in names and chunks.
        language: A name from grammars/, or `text`.
    """
    if language == TEXT:
        return Extract(TEXT, "", chunks=chunk_text(source))
    spec = load_languages()[language]
    tree = spec.parser.parse(spec.blanked(source))
    captured = Captured(spec, tree.root_node, source)
    symbols, nodes = _symbols(spec, captured, path)
    finder = _Finder(captured.entities)
    return Extract(
        language=language,
        package=captured.package,
        symbols=tuple(symbols),
        calls=tuple(_calls(captured, finder, symbols)),
        imports=tuple(_imports(captured)),
        bases=tuple(_bases(captured, finder, symbols)),
        chunks=chunk_symbols(symbols, nodes, tree.root_node, source),
        has_errors=tree.root_node.has_error,
    )


class _Finder:
    """The innermost entity around a byte."""

    def __init__(self, entities: list[Entity]) -> None:
        self.entities = entities
        self.starts = [entity.start for entity in entities]

    def enclosing(self, byte: int) -> int:
        index = bisect_right(self.starts, byte) - 1
        while index >= 0 and self.entities[index].end <= byte:
            index = self.entities[index].outer
        return index

    def symbol(self, byte: int) -> int:
        """The innermost symbol around a byte, -1 if none."""
        index = self.enclosing(byte)
        while index >= 0 and self.entities[index].symbol < 0:
            index = self.entities[index].outer
        return self.entities[index].symbol if index >= 0 else -1

    def caller(self, byte: int, symbols: list[Symbol]) -> int:
        """The innermost function around a byte; failing that the innermost symbol, so that nothing is lost."""
        innermost = index = self.symbol(byte)
        while index >= 0 and symbols[index].kind not in FUNCTION_KINDS:
            index = symbols[index].parent
        return index if index >= 0 else innermost


def _nest(entities: list[Entity]) -> None:
    stack: list[int] = []
    for index, entity in enumerate(entities):
        # Two names of one declaration (`int a, b`) share its node and are siblings.
        while stack and (entities[stack[-1]].end <= entity.start or entities[stack[-1]].node == entity.node):
            stack.pop()
        entity.outer = stack[-1] if stack else -1
        if entity.kind in ("field", "property") and stack and entities[stack[-1]].kind == "constructor":
            entity.outer = entities[stack[-1]].outer  # a promoted parameter is a member of the class
        stack.append(index)


def _symbols(spec: LanguageSpec, captured: Captured, path: str) -> tuple[list[Symbol], list[Node]]:
    entities = captured.entities
    _nest(entities)
    docs = {}
    finder = _Finder(entities)
    for node in captured.docstrings:
        docs.setdefault(finder.enclosing(node.start_byte), node)
    tags = conditions.Tags(spec.conditions, path, captured.source, captured.conditions)
    symbols: list[Symbol] = []
    nodes: list[Node] = []
    by_name: dict[str, int] = {}
    for index, entity in enumerate(entities):
        if entity.role != "definition" or entity.name_node is None:
            continue
        kind = _kind(spec, entities, entity)
        if not kind:
            continue
        parent, scope = _scope(captured, entity, symbols, by_name)
        entity.symbol = len(symbols)
        entity.kind = kind
        if kind in TYPE_KINDS:
            by_name.setdefault(entity.name, entity.symbol)
        symbols.append(_symbol(spec, captured, entity, kind, parent, scope, docs.get(index), tags, symbols))
        nodes.append(entity.node)
    return symbols, nodes


def _kind(spec: LanguageSpec, entities: list[Entity], entity: Entity) -> str:
    """The final kind, after its surroundings; "" for what is local to a function and so not a symbol."""
    kind = entity.kind
    around = entities[entity.outer] if entity.outer >= 0 else None
    if kind in _DROPPED_IN_FUNCTIONS:
        holder = around
        while holder is not None and holder.role == "definition" and holder.kind in _DROPPED_IN_FUNCTIONS:
            holder = entities[holder.outer] if holder.outer >= 0 else None
        if holder is not None and (holder.role == "local" or holder.kind in FUNCTION_KINDS):
            return ""
    in_type = around is not None and (around.role == "scope" or around.kind in TYPE_KINDS)
    if kind == "function" and (in_type or entity.owner):
        return "method"
    if kind == "variable":
        if spec.constant is not None and spec.constant.search(entity.name):
            return "constant"
        if in_type:
            return "field"
    return kind


def _scope(captured: Captured, entity: Entity, symbols: list[Symbol], by_name: dict[str, int]) -> tuple[int, str]:
    """The parent symbol's index (-1 if none, or if it is in another file) and the qualified name around."""
    outer = entity.outer
    while outer >= 0 and captured.entities[outer].symbol < 0 and captured.entities[outer].role != "scope":
        outer = captured.entities[outer].outer
    if outer < 0:
        parent, scope = -1, captured.package
    elif captured.entities[outer].role == "scope":
        around = captured.entities[outer]
        above, scope = _scope(captured, around, symbols, by_name)
        owner = _plain(around.name)
        parent = by_name.get(owner.rpartition(".")[2], above)
        scope = f"{scope}.{owner}" if scope else owner
    else:
        parent = captured.entities[outer].symbol
        scope = symbols[parent].qualified_name
    if entity.owner and entity.role == "definition":
        owner = _plain(entity.owner)
        if scope != owner and not scope.endswith("." + owner):
            scope = f"{scope}.{owner}" if scope else owner
        parent = by_name.get(owner.rpartition(".")[2], parent)
    return parent, scope


def _plain(owner: str) -> str:
    """`*List[T]`, `ns::A<T>` and `&'a mut T` name List, ns.A and T."""
    name = re.sub(r"<.*|\[.*|\(.*", "", owner.lstrip("*&([ "), flags=re.DOTALL).strip()
    return re.sub(r"\\|::|:", ".", name).strip(".") or owner


def _symbol(
    spec: LanguageSpec, captured: Captured, entity: Entity, kind: str, parent: int, scope: str,
    docstring: Node | None, tags: conditions.Tags, symbols: list[Symbol],
) -> Symbol:  # fmt: skip
    assert entity.name_node is not None
    node = entity.node
    line = entity.name_node.start_point[0] + 1
    row = node.start_point[0]
    if parent >= 0 and symbols[parent].line == row + 1:
        first, comments, attributes = row, [], []  # what stands above the line is the parent's
    else:
        first, comments, attributes = _prefix(captured, row)
    doc = captured.text(docstring) if docstring is not None else "\n".join(captured.text(n) for n in comments)
    last = captured.source.count(b"\n", entity.name_node.start_byte, max(entity.end - 1, entity.name_node.start_byte))
    attribute_text = "\n".join(captured.text(n) for n in attributes)
    return Symbol(
        name=entity.name,
        qualified_name=".".join(filter(None, (scope, _DOTS.sub(".", entity.name) if kind == "namespace" else entity.name))),
        kind=kind,
        parent=parent,
        scope=scope,
        signature=_signature(captured, entity),
        doc=_clean_doc(doc, docstring is not None),
        exported=_exported(spec, captured, entity),
        line=line,
        end_line=line + last,
        first_line=first + 1,
        build_tag=tags.of(entity.name_node.start_byte, attribute_text),
    )


def _prefix(captured: Captured, row: int) -> tuple[int, list[Node], list[Node]]:
    """Climb over the comments and attributes right above a definition: first row, comments, attributes."""
    comments: list[Node] = []
    attributes: list[Node] = []
    found = captured.prefixes.get(row)  # an attribute or decorator on the definition's own first line
    if found is not None and found[0] < row:
        row = found[0]
        attributes.append(found[1])
    while (found := captured.prefixes.get(row - 1) or _doc_block(captured, row)) is not None:
        first, node = found
        line_start = captured.source.rfind(b"\n", 0, node.start_byte) + 1
        line_end = captured.source.find(b"\n", node.end_byte - 1)
        rest = captured.source[node.end_byte : line_end] if line_end >= 0 else b""
        if captured.source[line_start : node.start_byte].strip() or rest.strip():
            break  # a trailing comment belongs to the code before it, an attribute to what follows on its line
        (comments if "comment" in node.type or node.type == "haddock" else attributes).insert(0, node)
        row = first
    return row, comments, attributes


def _doc_block(captured: Captured, row: int) -> tuple[int, Node] | None:
    """A `/** */` comment that one blank line separates from the definition at `row`."""
    found = captured.prefixes.get(row - 2)
    if found is None or not captured.source.startswith(b"/**", found[1].start_byte):
        return None
    gap = captured.source[found[1].end_byte : found[1].end_byte + 200].split(b"\n", 2)
    return found if len(gap) > 2 and not gap[0].strip() and not gap[1].strip() else None


def _signature(captured: Captured, entity: Entity) -> str:
    body = entity.body or entity.node.child_by_field_name("body")
    start = entity.node.start_byte
    if body is not None and body.start_byte > start:
        text = captured.source[start : body.start_byte]
    else:
        text = captured.source[start : min(entity.end, start + 4 * MAX_SIGNATURE)]
        name_end = entity.name_node.end_byte - start if entity.name_node is not None else 0
        stop = text.find(b"\n", name_end)
        while 0 <= stop and text.count(b"(", 0, stop) > text.count(b")", 0, stop):
            stop = text.find(b"\n", stop + 1)  # parameters go on over several lines
        text = text if stop < 0 else text[:stop]
    signature = _SPACE.sub(" ", text.decode("utf-8", "replace")).strip()
    signature = signature.removesuffix("=>").rstrip("{:= ") if body is not None else signature.rstrip("{,; ")
    return signature if len(signature) <= MAX_SIGNATURE else signature[: MAX_SIGNATURE - 1] + "…"


def _clean_doc(text: str, is_string: bool) -> str:
    if not text:
        return ""
    if is_string:
        text = _QUOTES.sub("", text.strip())
    else:
        text = "\n".join(_COMMENT_MARKS.sub("", line).strip() for line in text.splitlines())
    text = text.strip()
    return text if len(text) <= MAX_DOC else text[: MAX_DOC - 1] + "…"


def _exported(spec: LanguageSpec, captured: Captured, entity: Entity) -> bool:
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
    return spec.visibility_default


def _calls(captured: Captured, finder: _Finder, symbols: list[Symbol]) -> list[Call]:
    calls = []
    for captures in captured.calls:
        names = captures.get("callee")
        if not names:
            continue
        node = names[0]
        receiver = captures.get("receiver")
        owner = _SPACE.sub("", captured.text(receiver[0])) if receiver else ""
        calls.append(
            Call(captured.text(node), owner[:80], node.start_point[0] + 1, finder.caller(node.start_byte, symbols))
        )
    return calls


def _imports(captured: Captured) -> list[Import]:
    imports = []
    for captures in captured.imports:
        module = "".join(captured.text(n) for n in captures.get("import.module", [])[:1]).strip("\"'`<> ")
        alias = "".join(captured.text(n) for n in captures.get("import.alias", [])[:1])
        line = captures["import"][0].start_point[0] + 1
        names = [captured.text(n) for n in captures.get("import.name", [])] or [""]
        imports.extend(Import(module, name, alias, line) for name in names)
    return imports


def _bases(captured: Captured, finder: _Finder, symbols: list[Symbol]) -> list[Base]:
    types = {symbol.name: index for index, symbol in reversed(list(enumerate(symbols))) if symbol.kind in TYPE_KINDS}
    bases = []
    for node in captured.bases:
        index = finder.enclosing(node.start_byte)
        while index >= 0 and captured.entities[index].symbol < 0 and captured.entities[index].role != "scope":
            index = captured.entities[index].outer
        if index < 0:
            continue
        entity = captured.entities[index]
        owner = types.get(_plain(entity.name).rpartition(".")[2], -1) if entity.role == "scope" else entity.symbol
        if owner >= 0:
            bases.append(Base(owner, _plain(_SPACE.sub("", captured.text(node)))))
    return bases
