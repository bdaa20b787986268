"""Tree and query matches to symbols, calls, imports, inheritance and chunks: one pass per file.

The capture names are the interface between a grammar folder and this module; docs/languages.md lists them. Nothing
here knows a language: what differs between languages is in grammars/.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.source import conditions
from lci_py.source.dataflow.lower import Anonymous, is_followed, lower
from lci_py.source.extract.chunk import chunk_symbols, chunk_text
from lci_py.source.extract.describe import clean_doc, exported, prefix, signature
from lci_py.source.extract.marks import marks_of
from lci_py.source.extract.roles import handed_on
from lci_py.source.extract.traits import own_digests, traits_of
from lci_py.source.extract.type_hints import bound_names, outline, types_of
from lci_py.source.stated_values import claims_of
from lci_py.source.syntax.arity import arguments_of, arity_of
from lci_py.source.syntax.captures import COLON, SPACE, Captured, Entity, Finder, finish
from lci_py.source.syntax.languages import TEXT, LanguageSpec, is_deep, load_languages
from lci_py.source.syntax.limits import DEFAULTS, Limits, graver
from lci_py.source.syntax.macro_calls import called_in
from lci_py.source.syntax.selectors import receiver_of
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Base, Call, Extract, Import, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from lci_py.source.dataflow.constraints import FlowBuilder

#: What `@parent` and `@scope` names may mean: Go methods have alias types, Lua's have tables in variables.
_OWNERS = TYPE_KINDS | {"type", "variable"}
_DROPPED_IN_FUNCTIONS = frozenset({"variable", "constant", "field", "property"})
_DOTS = re.compile(r"\\|::")


def extract(path: str, source: bytes, language: str, limits: Limits = DEFAULTS, flags: tuple[str, ...] = ()) -> Extract:
    """Everything the index needs to know about one file.

    A file with syntax errors yields what parses. `text` files yield chunks only.

    Args:
        path: Relative to the root; some build conditions are in file names.
        source: The file's bytes; invalid UTF-8 is replaced in names and chunks.
        language: A name from grammars/, or `text`.
        limits: What the file may cost.
        flags: Predicates that ask for a feature flag.
    Raises:
        OutOfTime: The parser took too long; `extract_text` still gives the chunks.
    """
    if language == TEXT:
        return extract_text(source, TEXT, limits, path=path)
    spec = load_languages()[language]
    tree = spec.parse(_valid(source), limits)
    captured = Captured(spec.matches(tree.root_node, limits), source)
    marks = marks_of(captured) if spec.marks_text else b""
    tags = conditions.Tags(spec.conditions, language, conditions.File(path, source, captured.conditions, flags))
    symbols, nodes, limit = _symbols(spec, captured, tags, limits.max_file_symbols)
    if not limit and is_deep(tree, limits.max_nesting):
        limit = "too_deep"
    finder = Finder(captured.entities)
    flow = lower(language, tree.root_node, captured, imports := tuple(_imports(captured)))
    symbols = own_digests(captured, symbols, Anonymous(flow.spans) if flow is not None and flow.spans else None)
    chunks = chunk_symbols(symbols, nodes, tree.root_node, source)
    if len(chunks) > limits.max_file_chunks:
        chunks = chunk_text(source)  # fewer, since all but the last are full
    if len(chunks) > limits.max_file_chunks:
        limit = graver("too_many_chunks", limit)
    if spec.tables:
        symbols = _with_tables(symbols)
    calls = _calls(language, captured, finder, symbols, flow)
    return Extract(
        language=language,
        package=captured.package,
        symbols=tuple(symbols),
        calls=tuple(calls),
        imports=imports,
        bases=tuple(_bases(captured, finder, symbols)),
        types=tuple(types_of(captured, finder, symbols, calls, flow.given if flow is not None else None)),
        lambdas=tuple(flow.lambdas) if flow is not None else (),
        claims=tuple(claims_of(language, path, captured.source, symbols, nodes)),
        flow=flow.finish().encode() if flow is not None and is_followed(path, language) else b"",
        chunks=chunks[: limits.max_file_chunks],
        has_errors=tree.root_node.has_error,
        marks=marks if not limit else b"",
        limit=limit,
        handed=handed_on(tree.root_node, captured, symbols, imports, chunks[: limits.max_file_chunks]),
    )


def extract_text(source: bytes, language: str, limits: Limits, limit: str = "", path: str = "") -> Extract:
    """A file as lines of text: no grammar is asked, because of `limit` if there is one."""
    chunks = chunk_text(source)
    if len(chunks) > limits.max_file_chunks:
        limit = graver("too_many_chunks", limit)
    claims = tuple(claims_of(language, path, source, [], [])) if not limit else ()
    return Extract(language, "", claims=claims, chunks=chunks[: limits.max_file_chunks], limit=limit)


def _valid(source: bytes) -> bytes:
    """The source with bytes that are no UTF-8 as letters, at the same offsets: a query's predicates decode names."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return re.sub("[\udc80-\udcff]", "_", source.decode("utf-8", "surrogateescape")).encode()
    return source


def _beside(first: Entity, second: Entity) -> bool:
    """Whether two definitions share one node (`a, b = 1, 2`, `attr_reader :a, :b`): neither is in the other."""
    same = (first.start, first.end) == (second.start, second.end)
    return same and first.role == second.role == "definition" and first.kind == second.kind


def _join_clauses(entities: list[Entity], source: bytes, blank: re.Pattern[bytes] | None) -> list[Entity]:
    """A signature and the equations after it are one function, from the first to the last.

    What stands between them and cannot be parsed, such as an `#else`, keeps them apart.
    """
    latest: dict[int, Entity] = {}
    kept = []
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
        kept.append(entity)
    return kept


def _nest(entities: list[Entity], *, flat: bool = False) -> None:
    """Find the enclosing entity of each; in a `flat` language a function that seems to hold another ends before it."""
    stack: list[int] = []
    for index, entity in enumerate(entities):
        if flat and entity.role == "definition" and entity.kind == "function":
            for outer in stack:
                if entities[outer].kind == "function" and not _beside(entities[outer], entity):
                    entities[outer].end = min(entities[outer].end, entity.start)
        while stack and (entities[stack[-1]].end <= entity.start or _beside(entities[stack[-1]], entity)):
            stack.pop()
        entity.outer = entity.around = stack[-1] if stack else -1
        entity.outer = entities[stack[-1]].outer if stack and entity.passes(entities[stack[-1]]) else entity.outer
        stack.append(index)


def _symbols(
    spec: LanguageSpec, captured: Captured, tags: conditions.Tags, most: int
) -> tuple[list[Symbol], list[Node], str]:  # fmt: skip
    """The first `most` symbols, the node of each, and "too_many_symbols" if there are more."""
    entities = captured.entities
    if spec.flat:
        finish(entities, captured.source)
    _nest(entities, flat=spec.flat)
    if spec.clauses:
        entities[:] = _join_clauses(entities, captured.source, spec.blank)
        _nest(entities)
    docs: dict[int, Node] = {}
    finder = Finder(entities)
    for node in captured.docstrings:
        docs.setdefault(finder.enclosing(node.start_byte), node)
    symbols: list[Symbol] = []
    nodes: list[Node] = []
    by_name: dict[str, int] = {}
    for index, entity in enumerate(entities):
        if entity.role != "definition" or entity.name_node is None:
            continue
        kind = _kind(spec, entities, entity)
        if not kind:
            continue
        if len(symbols) == most:
            return symbols, nodes, "too_many_symbols"
        parent, scope = _scope(captured, entity, symbols, by_name)
        entity.symbol = len(symbols)
        entity.kind = kind
        if kind in _OWNERS:
            by_name.setdefault(entity.name, entity.symbol)
        symbols.append(_symbol(spec, captured, entity, kind, parent, scope, docs.get(index), tags, symbols))
        nodes.append(entity.node)
    return symbols, nodes, ""


def _with_tables(symbols: list[Symbol]) -> list[Symbol]:
    """Variables that functions are defined in are objects; chunks are cut before: `local M = {}` says little alone."""
    holders = {symbol.parent for symbol in symbols if symbol.kind == "method"}
    return [
        replace(symbol, kind="object") if index in holders and symbol.kind in _DROPPED_IN_FUNCTIONS else symbol
        for index, symbol in enumerate(symbols)
    ]


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
        if scope != owner and not scope.endswith("." + owner):
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
    at, line = entity.name_node.start_byte, entity.name_node.start_point[0] + 1
    row = node.start_point[0]
    # What stands above a line belongs to the first definition on it, not to a member on the same line.
    shared = parent >= 0 and symbols[parent].line == row + 1
    first, comments, attributes = (row, [], []) if shared else prefix(captured, row)
    doc = (
        captured.text(docstring)
        if docstring is not None
        else "\n".join(captured.text(n).rstrip("\n") for n in comments)
    )
    last = captured.source.count(b"\n", entity.name_node.start_byte, max(entity.end - 1, entity.name_node.start_byte))
    attribute_text = "\n".join(captured.text(n) for n in attributes)
    return Symbol(
        name=entity.name,
        qualified_name=".".join(
            filter(None, (scope, _DOTS.sub(".", entity.name) if kind == "namespace" else entity.name))
        ),
        kind=kind,
        parent=parent,
        scope=scope,
        signature=signature(captured, entity),
        doc=clean_doc(doc, docstring is not None),
        exported=exported(spec, captured, entity, symbols[parent] if parent >= 0 else None),
        line=line,
        end_line=line + last,
        first_line=first + 1,
        build_tag=tags.of(at, attribute_text),
        arity=arity_of(spec.name, kind, node, entity.name_node),
        traits=f"{traits_of(spec.name, kind, node, entity.name_node, attribute_text)} {tags.note(at)}".strip(),
    )


def _calls(
    language: str, captured: Captured, finder: Finder, symbols: list[Symbol], flow: FlowBuilder | None
) -> list[Call]:  # fmt: skip
    around = Anonymous(flow.spans) if flow is not None and flow.spans else None
    starts = {entity.symbol: entity.start for entity in finder.entities if entity.symbol >= 0} if around else {}
    defined = {entity.name_node.start_byte for entity in finder.entities if entity.name_node is not None}
    calls: dict[int, Call] = {}
    bare: list[Node] = []
    for captures in captured.calls:
        names = captures.get("callee")
        if not names:
            continue
        if "bare" in captures:
            bare += names
            continue
        node = names[0]
        at = node.start_byte
        receiver = captures.get("receiver")
        # Where a name is defined it is not called, save by a definition that only hands on (Elixir's defdelegate). Of
        # two matches the one with a receiver counts.
        if (not receiver and (at in defined or at in calls)) or captured.is_uncalled(at):
            continue
        owner = (receiver_of(receiver[0]) or outline(captured, receiver[0])) if receiver else ""
        caller = finder.caller(at, symbols, of_variables=flow is None)
        if around is not None:
            place, start = around.at(at)
            if place >= 0 and start > starts.get(caller, -1):
                caller = -2 - place
        count = arguments_of(language, captures["call"][0], node)
        calls[at] = Call(captured.called(captures), owner, node.start_point[0] + 1, caller, count)
    bound = bound_names(captured, finder, symbols) if bare else set()
    for node in bare:
        at, name = node.start_byte, captured.text(node)
        if at in defined or at in calls or captured.is_uncalled(at):
            continue
        if not _is_bound(finder.symbol(at), name, symbols, bound):
            calls[at] = Call(name, "", node.start_point[0] + 1, finder.caller(at, symbols, of_variables=flow is None))
    return [*calls.values(), *_expansions(captured, finder)]


def _expansions(captured: Captured, finder: Finder) -> Iterator[Call]:
    """What is called in the texts of macros, and in the functions that they define."""
    used: set[int] = set()
    for entity, called in captured.generated:
        line = entity.node.start_point[0] + 1
        if entity.name_node is not None and entity.start not in used:
            used.add(entity.start)
            yield Call(captured.text(entity.name_node), "", line, -1)
        if entity.symbol >= 0:
            yield from (Call(one.name, one.receiver, line, entity.symbol, one.arguments) for one in called)
    for node, start, end in captured.expansions:
        macro = finder.symbol(start - 1)
        line, at = node.start_point[0] + 1, node.start_byte
        for one in called_in(captured.source, start, end) if macro >= 0 else ():
            line, at = line + captured.source.count(b"\n", at, one.start), one.start
            yield Call(one.name, one.receiver, line, macro, one.arguments)


def _is_bound(place: int, name: str, symbols: list[Symbol], bound: set[tuple[int, str]]) -> bool:
    """Whether a name stands for a local, a parameter or a member around a place."""
    while place >= 0:
        if (place, name) in bound:
            return True
        place = symbols[place].parent
    return (-1, name) in bound


def _imports(captured: Captured) -> list[Import]:
    imports: list[Import] = []
    for captures in captured.imports:
        module = _module(captured, captures)
        alias = "".join(captured.text(n) for n in captures.get("import.alias", [])[:1])
        line = captures["import"][0].start_point[0] + 1
        names = [COLON.sub("", captured.text(n)) for n in captures.get("import.name", [])]
        for role, name in (("import.all", "*"), ("import.default", "default")):
            names = [name] if role in captures else names
        names = names or [""]
        imports.extend(Import(module, name, alias, line) for name in names)
    return imports


def _module(captured: Captured, captures: dict[str, list[Node]]) -> str:
    """What stands from the first to the last @import.module; nested lists (`use std::{io::Read}`) are joined."""
    nodes = captures.get("import.module", [])
    if not nodes:
        return ""
    start, end = nodes[0].start_byte, nodes[-1].end_byte
    for name in captures.get("import.name", []):
        if start < name.start_byte < end:
            end = name.start_byte - 1  # the name is the path's last part (Kotlin, Scala, Swift), after a dot
    text = captured.source[start:end].decode("utf-8", "replace")
    if "{" in text:
        text = "::".join(map(captured.text, nodes))
    return text.strip("\"'`<> ")


def _bases(captured: Captured, finder: Finder, symbols: list[Symbol]) -> list[Base]:
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
            bases.append(Base(owner, _plain(SPACE.sub("", captured.text(node)))))
    return bases
