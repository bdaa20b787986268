"""Finds traits and digests of definitions, which decide whether a second definition of a name contradicts the first."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from lci_py.source.dataflow.lower import Anonymous
from lci_py.source.text import blake2b
from lci_py.source.text.language_tables import table_of
from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captures, Entity

#: accessor: reads, writes or deletes a property of the name. overload: one of several signatures, or implementations
#: chosen by argument. decorated: a decorator may keep it under another name, or a
#: macro make several of it. declaration: has no body. partial: one
#: part of several. weak: gives way to another definition. static: of the class, not of its objects. expect: stands for
#: a definition per platform. impl:X: of the implementation X, of which a type has several. local: inside a function.
TRAITS = (
    "accessor",
    "overload",
    "decorated",
    "declaration",
    "partial",
    "weak",
    "static",
    "expect",
    "impl",
    "local",
    "kept",
)

_APART = FUNCTION_KINDS | TYPE_KINDS
_symbol: Callable[[Iterable[Any]], Symbol] = partial(tuple.__new__, Symbol)  # in half of the time of `Symbol(...)`
_ATTRIBUTE = lazily(r"^\s*#!?\[\s*(?:unsafe\()?(?:\w+\s*::\s*)*(\w+)", re.MULTILINE)
_MAX_ATTRIBUTES = 2000  # characters of attributes that are read
_DECORATOR = lazily(r"^\s*@\s*([\w.]+)", re.MULTILINE)
_ACCESSORS = frozenset({"setter", "getter", "deleter"})
#: Decorators of Python's library and of pytest that do not register the definition anywhere.
_PLAIN = frozenset(
    "property staticmethod classmethod dataclass cached_property cache lru_cache abstractmethod override final wraps"
    " contextmanager total_ordering parametrize skip skipif xfail usefixtures".split()
)
_CHOOSING = frozenset({"overload", "register", "dispatch", "multimethod"})
_WEAK = lazily(r"\b(?:__)?weak(?:__)?\b|\b(?:[A-Z]+_)*WEAK(?:_[A-Z]+)*\b")
_NEVER_WEAK = frozenset({"macro", "enum_member", "field"})
_MODIFIERS = frozenset({"static", "partial", "expect", "get", "set"})
_HEAD_NODES = 12  # children before the name that are read
_C_COMMENT = lazily(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = lazily(rb"#[ \t]*(?:include\b|undef[ \t]+(\w+))")
_MAX_KEPT = 2_000  # definitions of a file; the text between them is read once for each
#: Blocks that are scopes of their own.
_BLOCKS = frozenset({"do_statement", "for_statement", "while_statement", "repeat_statement"})
_MAX_AROUND = 64
#: Members in JavaScript and Lua: without a parent, they are in a class, object or table that has no name.
_UNOWNED = frozenset({"method_definition", "pair", "field"})
_BODILESS = frozenset({
    "function_signature", "method_signature", "abstract_method_signature", "function_signature_item",
    "protocol_function_declaration",
})  # fmt: skip


def traits_of(language: str, kind: str, node: Node, name_node: Node, attributes: str) -> str:
    """The traits of one definition: words of `TRAITS` separated by blanks.

    Args:
        node: The node of the definition.
        attributes: The text of the attributes and decorators above the definition.
    """
    table = _table(language)
    read = _READERS.get(table.get("traits", ""))
    words = list(read(kind, node, name_node, attributes)) if read is not None else []
    if attributes and (plain := table.get("plain_attributes")) is not None:
        names = _ATTRIBUTE.findall(attributes[:_MAX_ATTRIBUTES])
        words += ["decorated"] if any(name not in plain for name in names) else []
    return " ".join(dict.fromkeys(words)) if words else ""


def own_digests(language: str, captured: Captures, symbols: list[Symbol]) -> list[Symbol]:
    """The symbols with digests (hashes) of their texts, and with traits that depend on their surroundings.

    The digest of a type leaves out nested functions and types, which have digests of their own. A symbol inside a
    function (named or not) or an anonymous object is `local`.
    """
    spans = {entity.symbol: entity for entity in captured.entities if entity.symbol >= 0}
    inner: dict[int, list[tuple[int, int]]] = {}
    local: list[bool] = []
    functions = _unnamed_functions(captured, spans.values())
    unnamed: set[tuple[int, str]] = set()
    has_scopes = _table(language).get("block_scopes", False)
    has_local = any(entity.role == "local" for entity in captured.entities)
    for number, symbol in enumerate(symbols):
        enclosing = symbol.parent
        inside = 0 <= enclosing < number and (local[enclosing] or symbols[enclosing].kind in FUNCTION_KINDS)
        if not inside and functions is not None:
            start = spans[number].start
            inside = 0 <= functions.at(start)[1] < start
        inside = inside or (has_local and _in_local(captured.entities, spans[number]))
        inside = inside or (enclosing < 0 and spans[number].node.type in _UNOWNED)
        inside = inside or (symbol.kind in TYPE_KINDS and _in_qualified(spans[number].node))
        if enclosing >= 0 and symbol.kind == "field" and symbols[enclosing].kind not in _APART:
            # In a struct without a name, of which one variable may have several.
            inside = inside or (enclosing, symbol.name) in unnamed
            unnamed.add((enclosing, symbol.name))
        inside = inside or (has_scopes and _in_block(spans[number].node))
        local.append(inside)
        if enclosing >= 0 and symbol.kind in _APART:
            inner.setdefault(enclosing, []).append((spans[number].start, spans[number].end))
    kept = _kept_names(language, captured, symbols, spans)
    headers: dict[int, str] = {}
    specialised: dict[int, str] = {}
    statics = sorted(captured.statics)
    returns = b"\r\n" in captured.source
    result: list[Symbol] = []
    for number, symbol in enumerate(symbols):
        entity = spans[number]
        parent = symbol.parent
        at = entity.start
        before = b""
        if number in inner and symbol.kind not in FUNCTION_KINDS:
            parts = []
            for start, end in sorted(inner[number]):
                if at <= start and end <= entity.end:
                    parts.append(captured.source[at:start])
                    at = end
            before = b"".join(parts)
        text = captured.source[at : entity.end]
        if returns:
            text = text.replace(b"\r\n", b"\n")
        if symbol.kind == "macro" and b"/" in text:
            text = _C_COMMENT.sub(b" ", text).rstrip()  # to a macro, a comment in it is a blank
        outer = entity.outer
        if outer >= 0 and captured.entities[outer].role == "scope" and outer not in headers:
            headers[outer] = f"impl:{_header(captured.source, captured.entities[outer])}"
        if parent >= 0 and parent not in specialised:
            # What is nested in a specialisation of C++ is part of it, however deep.
            specialised[parent] = _specialisation_trait(symbols[parent]) or specialised.get(symbols[parent].parent, "")
        # Kotlin: members of an `expect class` are expected, too, though no word says so.
        above = result[parent].traits if 0 <= parent < number else ""
        traits = symbol.traits
        words = (
            _static(statics, entity, spans.get(parent)) if statics else "",
            headers.get(outer) or specialised.get(parent, ""),
            "local" if local[number] else "",
            "expect" if "expect" in above and "expect" in above.split() else "",
            "kept" if number in kept else "",
        )
        if any(words):
            traits = " ".join([word for word in (traits, *words) if word])
        # The last two fields are these; `_replace` takes longer.
        result.append(_symbol((*symbol[:-2], traits, blake2b(before + text, digest_size=8).hexdigest())))
    return result


def _kept_names(language: str, captured: Captures, symbols: list[Symbol], spans: dict[int, Entity]) -> set[int]:
    """The indices of definitions whose name is used before it is redefined: `old = f` keeps the function `f`, and a
    shell command may run it. Code inside functions runs later and does not count.
    """
    table = _table(language)
    undefined = table.get("c_macros", False)
    if not undefined and "comments" not in table:
        return set()
    comment = _compile(table.get("comments", "(?!)"))
    unnamed = table.get("unnamed_uses")
    latest: dict[tuple[int, str], int] = {}
    indices: set[int] = set()
    places: defaultdict[bytes, list[int]] | None = None
    for number, symbol in enumerate(symbols):
        if symbol.kind not in _APART or (undefined and symbol.kind != "macro"):
            continue
        before = latest.get((symbol.parent, symbol.name))
        latest[symbol.parent, symbol.name] = number
        if before is None or len(indices) > _MAX_KEPT:
            continue
        if undefined:
            # A file that is included in between uses the first one, and may undefine it.
            places = _directives(captured.source) if places is None else places
            at, end = spans[before].end, spans[number].start
            if any(
                bisect_left(some, at) < bisect_left(some, end) for some in (places[b""], places[symbol.name.encode()])
            ):
                indices.add(before)
            continue
        if unnamed is not None and re.match(unnamed, symbol.name):
            indices.add(before)  # operators use it, which do not name it
            continue
        objects = [spans[index].node.parent for index in (before, number)]
        if objects[0] != objects[1] and any(node is not None and node.type == "object" for node in objects):
            indices.add(before)  # members of two objects of which only the outermost has a name
            continue
        if objects[0] != objects[1] and all(node is not None and node.type == "table_constructor" for node in objects):
            indices.add(before)  # and of two tables
            continue
        at, end = spans[before].end, spans[number].start
        text = b""
        for inner in range(before + 1, number):
            alias = captured.source.startswith(b"alias", spans[inner].start)  # Ruby's are definitions, too
            if symbols[inner].kind in FUNCTION_KINDS and spans[inner].start >= at and not alias:
                text += captured.source[at : spans[inner].start]
                at = max(at, spans[inner].end)
        text = comment.sub(b"", text + captured.source[at:end])
        pattern = rb"\w" if table.get("run_time") else rb"(?<!\w)" + re.escape(symbol.name.encode()) + rb"(?!\w)"
        owner = re.escape(symbol.qualified_name.rpartition(".")[0].rpartition(".")[2].encode())
        is_another = bool(owner) and re.search(
            rb"(?m)^[ \t]*" + owner + rb"[ \t]*=(?!=)", text
        )  # the owner is a new object
        if is_another or re.search(pattern, text):
            indices.add(before)
    return indices


def _directives(source: bytes) -> defaultdict[bytes, list[int]]:
    """Maps each macro to the ascending positions where a C file undefines it, and "" to its `#include` lines."""
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for match in _DIRECTIVE.finditer(source):
        places[match[1] or b""].append(match.start())
    return places


def _unnamed_functions(captured: Captures, entities: Iterable[Entity]) -> Anonymous | None:
    """The captured functions that are not definitions; None if there are no such functions."""
    if not captured.functions:
        return None
    definitions = {node.id for entity in entities for node in (entity.node, entity.body) if node is not None}
    spans = [
        (node.start_byte, node.end_byte)
        for node in captured.functions
        if node.id not in definitions
        and ((body := node.child_by_field_name("body")) is None or body.id not in definitions)
    ]
    return Anonymous(spans) if spans else None


def _in_block(node: Node) -> bool:
    """Whether a definition is in a block that is a scope of its own; the branch of an `if` is no such block."""
    for _ in range(_MAX_AROUND):
        if node.type in _BLOCKS:
            return True
        if node.parent is None:
            break
        node = node.parent
    return False


def _in_qualified(node: Node) -> bool:
    """Whether a type is a member of a class with a qualified name, as in `struct A::B { struct C; };`."""
    members = node.parent.parent if node.parent is not None else None
    owner = members.parent if members is not None and members.type == "field_declaration_list" else None
    name = owner.child_by_field_name("name") if owner is not None else None
    return name is not None and name.type == "qualified_identifier"


def _in_local(entities: list[Entity], entity: Entity) -> bool:
    """Whether a local scope (a lambda, a block) lies between a definition and the definition that encloses it."""
    outer = entity.outer
    while outer >= 0 and entities[outer].symbol < 0:
        if entities[outer].role == "local":
            return True
        outer = entities[outer].outer
    return False


def _static(ranges: list[tuple[int, int]], entity: Entity, parent: Entity | None) -> str:
    """The trait "static" for a member in a byte range whose members belong to the class itself; "" for others."""
    last = bisect_left(ranges, (entity.start, 0)) - 1
    if last < 0 or ranges[last][1] <= entity.start:
        return ""
    return "static" if parent is None or ranges[last][0] > parent.start else ""


def _specialisation_trait(parent: Symbol) -> str:
    """The trait `impl` of a member of a template specialisation, such as `template <> struct hash<int>`; else ""."""
    if f"{parent.name}<" not in parent.signature:
        return ""
    return f"impl:{blake2b(parent.signature.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"


def _header(source: bytes, entity: Entity) -> str:
    """A hash of the head of an implementation: its type, trait, type parameters and bounds."""
    body = entity.node.child_by_field_name("body")
    end = min(body.start_byte if body is not None else entity.end, entity.start + _MAX_ATTRIBUTES)
    start, node = entity.start, entity.node
    if node.type == "for":  # in a macro of Rust, a scope begins at this word of `impl Trait for Type`
        for _ in range(_HEAD_NODES):
            before = node.prev_sibling
            if before is None or node.type == "impl":
                break
            node = before
        start = node.start_byte if node.type == "impl" else start
    head = source[start:end]
    text = re.sub(rb"\s+", b"", head if body is not None else head.partition(b"{")[0])
    return blake2b(text, digest_size=4).hexdigest()


# --- by language ------------------------------------------------------------------------------------------------


def _python(_kind: str, _node: Node, name_node: Node, attributes: str) -> Iterator[str]:
    if not attributes:
        return
    own = (name_node.text or b"").decode("utf-8", "replace")
    for decorator in _DECORATOR.findall(attributes[:_MAX_ATTRIBUTES]):
        first, _, last = decorator.rpartition(".")
        if last in _ACCESSORS:
            yield "accessor"
        elif last in _CHOOSING:
            yield "overload"
        elif first == own:
            yield "accessor"  # `@size.validator` adds to the definition of `size` above
        if last not in _PLAIN:
            yield "decorated"


def _c(kind: str, node: Node, name_node: Node, attributes: str) -> Iterable[str]:
    if kind in _NEVER_WEAK:
        return ()
    # The text of the head, since the grammar takes macros such as `WEAK` for types.
    head = (node.text or b"")[: max(0, name_node.end_byte - node.start_byte)][-400:].decode("utf-8", "replace")
    return ("weak",) if _WEAK.search(head) or (attributes and _WEAK.search(attributes[:_MAX_ATTRIBUTES])) else ()


def _modifiers(_kind: str, node: Node, name_node: Node, _attributes: str) -> Iterator[str]:
    """The traits from modifiers before the name, in JavaScript, TypeScript, C#, Kotlin, Java, PHP and Scala."""
    own = node.type
    if own in _BODILESS or own == "parameter":  # C#: a record's property, unless its body has another one
        yield "declaration"
    name = name_node.start_byte
    for child in node.children[:_HEAD_NODES]:
        if child.start_byte >= name:
            break
        kind = child.type
        words = [kind]
        if "modifier" in kind:
            words += (child.text or b"").decode("utf-8", "replace").split()
        for word in words:
            if word in _MODIFIERS:
                # A getter may be the only definition of a property; a setter belongs to the property of its getter.
                yield {"set": "accessor", "get": "decorated"}.get(word, word)


def _ruby(_kind: str, node: Node, _name_node: Node, _attributes: str) -> Iterator[str]:
    if node.type == "singleton_method":
        yield "static"


def _signature(_kind: str, node: Node, _name_node: Node, _attributes: str) -> Iterator[str]:
    if node.parent is not None and node.parent.type == "token_tree":
        yield "decorated"  # in the arguments of a macro or an attribute, which decides what becomes of it
    # A function of an `extern` block is all that a crate has of it: a second one is one too many.
    block = node.parent.parent if node.parent is not None else None
    if node.type in _BODILESS and (block is None or block.type != "foreign_mod_item"):
        yield "declaration"


def _swift(kind: str, node: Node, name_node: Node, attributes: str) -> Iterator[str]:
    yield from (word for word in _modifiers(kind, node, name_node, attributes) if word in ("static", "declaration"))
    head = (node.text or b"")[: max(0, name_node.start_byte - node.start_byte)]
    if kind not in TYPE_KINDS and b"class" in head.split():
        yield "static"


def _haskell(_kind: str, node: Node, _name_node: Node, _attributes: str) -> Iterator[str]:
    members = node.parent
    if members is not None and members.type == "instance_declarations" and members.parent is not None:
        start = members.parent.start_byte
        head = (members.parent.text or b"")[: min(members.start_byte - start, _MAX_ATTRIBUTES)]
        yield f"impl:{blake2b(b' '.join(head.split()), digest_size=4).hexdigest()}"


def _objc(kind: str, node: Node, name_node: Node, attributes: str) -> Iterator[str]:
    if node.type == "class_interface":
        # A class may be defined once per platform; a category or an extension adds to a class.
        yield "impl:interface" if node.child_by_field_name("superclass") is not None else "partial"
    elif node.type == "class_implementation":
        category = node.child_by_field_name("category")
        yield "impl:class" if category is None else "partial"
    elif kind == "function":  # a weak variable or property is a weak reference
        yield from _c(kind, node, name_node, attributes)
    if node.type == "method_declaration":
        yield "declaration"
    if node.type.startswith("method_") and node.children[0].type == "+":
        yield "static"


#: By `traits` of a language's table.
_READERS: dict[str, Callable[[str, Node, Node, str], Iterable[str]]] = {
    "decorators": _python,
    "attributes": _c,
    "instances": _haskell,
    "categories": _objc,
    "modifiers": _modifiers,
    "singletons": _ruby,
    "bodies": _signature,
    "specifiers": _swift,
}


def _table(language: str) -> dict[str, Any]:
    table: dict[str, Any] = table_of(language).get("conflicts", _EMPTY)
    return table


_EMPTY: dict[str, Any] = {}


@lru_cache(maxsize=32)
def _compile(comments: str) -> re.Pattern[bytes]:
    return re.compile(comments.encode(), re.MULTILINE)
