"""Turns the definitions of a file into symbols, with their kinds, parents, qualified names and surroundings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.conditions.rust_cfg import quote
from lci_py.source.extract.describe import clean_doc, is_exported, prefix, signature
from lci_py.source.extract.traits import traits_of
from lci_py.source.syntax.arity import arity_of
from lci_py.source.syntax.captures import Captures, Entity, Finder, finish
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

    from lci_py.source.conditions import Tags
    from lci_py.source.syntax.languages import LanguageSpec

#: What `@parent` and `@scope` names may mean: Go methods have alias types, Lua's have tables in variables.
_OWNERS = TYPE_KINDS | {"type", "variable"}
_DROPPED_IN_FUNCTIONS = frozenset({"variable", "constant", "field", "property"})
_DOTS = lazily(r"\\|::")


class SymbolReader:
    """Turns the entities (captured definitions and scopes) of one file into symbols.

    `symbols`, `nodes` (the tree node of each symbol) and `finder` are complete once `read` has returned.
    """

    def __init__(self, spec: LanguageSpec, captured: Captures, tags: Tags) -> None:
        self.symbols: list[Symbol] = []
        self.nodes: list[Node] = []
        self._spec = spec
        self._captured = captured
        self._tags = tags
        self._imports: dict[str, tuple[int, str]] | None = None
        self._owners: dict[str, int] = {}  # the first symbol of each name that members may belong to

    def read(self, limit: int) -> str:
        """Read the first `limit` symbols; "too_many_symbols" if there are more, else ""."""
        spec, entities, source = self._spec, self._captured.entities, self._captured.source
        if spec.flat:
            finish(entities, source)
        _nest(entities, flat=spec.flat)
        if spec.clauses:
            entities[:] = _join_clauses(entities, source, spec.blank)
            _nest(entities)
        self.finder = Finder(entities)
        docs: dict[int, Node] = {}
        for node in self._captured.docstrings:
            docs.setdefault(self.finder.enclosing(node.start_byte), node)
        for index, entity in enumerate(entities):
            if entity.role != "definition" or entity.name_node is None:
                continue
            kind = self._kind(entity)
            if not kind:
                continue
            if len(self.symbols) == limit:
                return "too_many_symbols"
            parent, scope = self._scope(entity)
            entity.symbol = len(self.symbols)
            entity.kind = kind
            if kind in _OWNERS:
                self._owners.setdefault(entity.name, entity.symbol)
            self.symbols.append(self._symbol(entity, entity.name_node, parent, scope, docs.get(index)))
            self.nodes.append(entity.node)
        return ""

    def with_tables(self, symbols: list[Symbol]) -> list[Symbol]:
        """Turn each variable with methods into an object, in a language with tables (Lua).

        Must be called after chunking: an object would get a chunk of its own, for which `local M = {}` is too little.
        """
        if not self._spec.tables:
            return symbols
        holders = {symbol.parent for symbol in symbols if symbol.kind == "method"}
        return [
            symbol._replace(kind="object") if index in holders and symbol.kind in _DROPPED_IN_FUNCTIONS else symbol
            for index, symbol in enumerate(symbols)
        ]

    def _kind(self, entity: Entity) -> str:
        """The kind of an entity's symbol. "" for a local variable of a function, which gets no symbol."""
        entities = self._captured.entities
        kind = entity.kind
        outer = entities[entity.outer] if entity.outer >= 0 else None
        if kind in _DROPPED_IN_FUNCTIONS:
            holder = outer
            while holder is not None and holder.role == "definition" and holder.kind in _DROPPED_IN_FUNCTIONS:
                holder = entities[holder.outer] if holder.outer >= 0 else None
            if holder is not None and (holder.role == "local" or holder.kind in FUNCTION_KINDS):
                return ""
        in_type = outer is not None and (outer.role == "scope" or outer.kind in TYPE_KINDS)
        if kind == "function" and (in_type or entity.owner):
            return "method"
        if kind == "variable":
            if self._spec.constant is not None and self._spec.constant.search(entity.name):
                return "constant"
            if in_type:
                return "field"
        return kind

    def _scope(self, entity: Entity) -> tuple[int, str]:
        """(Index of the parent symbol, -1 if it is not in this file; the qualified name of the scope)."""
        entities = self._captured.entities
        outer = entity.outer
        while outer >= 0 and entities[outer].symbol < 0 and entities[outer].role != "scope":
            outer = entities[outer].outer
        if outer < 0:
            parent, scope = -1, self._captured.package
        elif entities[outer].role == "scope":
            above, scope = self._scope(entities[outer])
            owner = plain_name(entities[outer].name)
            parent, scope = self._owners.get(owner.rpartition(".")[2], above), _qualified_in(scope, owner)
        else:
            parent = entities[outer].symbol
            scope = self.symbols[parent].qualified_name
        if entity.owner and entity.role == "definition":
            owner = plain_name(entity.owner)
            owner = self._spec.parents.get(owner, owner)
            parent, scope = self._owners.get(owner.rpartition(".")[2], parent), _qualified_in(scope, owner)
        return parent, scope

    def _symbol(self, entity: Entity, name_node: Node, parent: int, scope: str, docstring: Node | None) -> Symbol:
        captured, spec, node, kind = self._captured, self._spec, entity.node, entity.kind
        outer = self.symbols[parent] if parent >= 0 else None
        row = captured.row(entity.start)
        at = name_node.start_byte
        line = row + 1 + captured.source.count(b"\n", entity.start, at)
        # Comments above a line belong to the first definition on it, not to a member on the same line.
        shared = outer is not None and outer.line == row + 1
        first, comments, attributes = (row, [], []) if shared else prefix(captured, row)
        doc = (
            captured.text(docstring)
            if docstring is not None
            else "\n".join([captured.text(n).rstrip("\n") for n in comments])
        )
        attribute_text = "\n".join([captured.text(n) for n in attributes]) if attributes else ""
        name = _DOTS.sub(".", entity.name) if kind == "namespace" else entity.name
        traits = (
            traits_of(spec.name, kind, node, name_node, attribute_text),
            self._tags.note(at),
            self._import_trait(entity.name, kind, parent, at) if has_rule(spec.name, "python_modules") else "",
        )
        return Symbol(
            name=entity.name,
            qualified_name=f"{scope}.{name}" if scope else name,
            kind=kind,
            parent=parent,
            scope=scope,
            signature=signature(captured, entity),
            doc=clean_doc(doc, docstring is not None, spec.comment_marks) if doc else "",
            exported=is_exported(spec, captured, entity, outer),
            line=line,
            end_line=line + captured.source.count(b"\n", at, max(entity.end - 1, at)),
            first_line=first + 1,
            build_tag=self._tags.of(at, attribute_text),
            arity=arity_of(spec.name, kind, node, name_node),
            traits=" ".join([word for word in traits if word]),
        )

    def _import_trait(self, name: str, kind: str, parent: int, at: int) -> str:
        """The trait of a definition whose name another branch imports (`try: from x import f`, `except …: def f`)."""
        if self._imports is None:
            self._imports = imported_under(self._captured, self._tags)
        if parent >= 0 or name not in self._imports or kind not in FUNCTION_KINDS | TYPE_KINDS:
            return ""
        line, tag = self._imports[name]
        return f"import={line}?{quote(tag)}" if tag != self._tags.of(at, "") else ""


def imported_under(captured: Captures, tags: Tags) -> dict[str, tuple[int, str]]:
    """Maps each name that a Python module imports under a condition to the first import: (line, condition)."""
    imports: dict[str, tuple[int, str]] = {}
    for captures in captured.imports:
        node = captures["import"][0]
        tag = tags.of(node.start_byte, "")
        if tag is None or _in_function(node):
            continue
        for name_node in captures.get("import.alias") or captures.get("import.name", []):
            imports.setdefault(captured.text(name_node), (name_node.start_point[0] + 1, tag))
    return imports


def _in_function(node: Node) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.type in ("function_definition", "class_definition"):
            return True
        parent = parent.parent
    return False


def plain_name(owner: str) -> str:
    """The plain dotted name of a type: List for `*List[T]`, ns.A for `ns::A<T>`, T for `&'a mut T`."""
    name = re.sub(r"<.*|\[.*|\(.*", "", owner.lstrip("*&([ "), flags=re.DOTALL).strip()
    return re.sub(r"\\|::|:", ".", name).strip(".") or owner


def _qualified_in(scope: str, owner: str) -> str:
    """The qualified name of `owner` in `scope`; `scope` itself if it already ends with `owner`."""
    if scope == owner or scope.endswith("." + owner):
        return scope
    return f"{scope}.{owner}" if scope else owner


def _share_node(first: Entity, second: Entity) -> bool:
    """Whether two definitions share a node, and neither contains the other: `a, b = 1, 2`, `attr_reader :a, :b`."""
    same = (first.start, first.end) == (second.start, second.end)
    return same and first.role == second.role == "definition" and first.kind == second.kind


def _join_clauses(entities: list[Entity], source: bytes, blank: re.Pattern[bytes] | None) -> list[Entity]:
    """Join a signature and the equations or clauses after it into one function (Haskell, Elixir).

    Equations are not joined across text that the grammar cannot parse, such as an `#else`.
    """
    latest: dict[int, Entity] = {}
    remaining = []
    for entity in entities:
        before = latest.get(entity.outer)
        if entity.role == "definition":
            latest[entity.outer] = entity
            if (
                before is not None
                and (before.kind, before.name, entity.kind) == ("function", entity.name, "function")
                and (blank is None or not blank.search(source, before.end, entity.start))
            ):
                before.end = entity.end
                latest[entity.outer] = before
                continue
        remaining.append(entity)
    return remaining


def _nest(entities: list[Entity], *, flat: bool = False) -> None:
    """Set the enclosing entity of each entity. In a `flat` language, functions do not nest: a function ends where a
    later function begins, or an entity that is `apart`.
    """
    stack: list[int] = []
    for index, entity in enumerate(entities):
        if flat and entity.role == "definition" and (entity.kind == "function" or entity.apart):
            for outer in stack:
                if entities[outer].kind == "function" and not _share_node(entities[outer], entity):
                    entities[outer].end = min(entities[outer].end, entity.start)
        while stack and (entities[stack[-1]].end <= entity.start or _share_node(entities[stack[-1]], entity)):
            stack.pop()
        entity.outer = entity.around = stack[-1] if stack else -1
        entity.outer = entities[stack[-1]].outer if stack and entity.passes(entities[stack[-1]]) else entity.outer
        stack.append(index)
