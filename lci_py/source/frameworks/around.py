"""Reads the context of a registering call: groups that prefix its path, its router, the decorated definition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lci_py.source.frameworks.texts import (
    MOST_TEXT,
    STRING,
    UNKNOWN,
    constant_of,
    content,
    is_inline,
    join_paths,
    readable,
    reference,
    setting,
    sum_of,
)
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captures

Row = dict[str, Any]
#: The router at the root; that of the members of a type, whose path its attributes say, or those of its bases.
ROOTED, OF_TYPE = "/", "/type"
#: What the router of a route that has a version begins with, before the version; and the version of one without.
VERSION, NEUTRAL = "/v", "-"
#: What an object calls itself: what routes are registered on is one of its fields.
_SELVES = ("self", "this")
#: Modules whose functions make a router.
_MODULES = frozenset({"web", "axum", "http"})
#: Nodes above each other that are looked at.
_HIGHEST = 60
#: Of a call, what its function is a member of, from the outside in; and where its own name is.
_OBJECTS = ("function", "object", "receiver", "value", "operand", "expression", "scope", "path")
_OWN_NAMES = ("name", "property", "field", "attribute", "method")
#: Of a node that gives a name to a value, the field of the name.
_NAMED = {
    "assignment": "left", "augmented_assignment": "left", "assignment_expression": "left",
    "variable_declarator": "name", "short_var_declaration": "left", "assignment_statement": "left", "var_spec": "name",
    "let_declaration": "pattern", "public_field_definition": "name", "field_definition": "property",
}  # fmt: skip
_FUNCTIONS = frozenset(
    "function_definition function_declaration method_declaration function_item arrow_function function_expression"
    " func_literal lambda_expression anonymous_function method_definition closure_expression class_definition"
    " class_declaration".split()
)
_OPTION = lazily(r"""["']?(\w+)["']?\s*(?:=>|:)\s*([^,{}\[\]\n]+)""")
#: Bytes of an argument whose options are read.
_MOST_OPTIONS = 2_000


class Arguments(NamedTuple):
    """The arguments of a call or an attribute, as they are written: positional (`given`) and named."""

    given: tuple[str, ...]
    named: Mapping[str, str]

    def get(self, keys: int | str | list[int | str]) -> str:
        """The first argument that exists among `keys`: names, or positions (negative from the end); "" if none does."""
        for key in keys if isinstance(keys, list) else [keys]:
            if isinstance(key, int):
                if -len(self.given) <= key < len(self.given):
                    return self.given[key]
            elif key in self.named:
                return self.named[key]
        return ""


class Around:
    """Reads what stands around the calls of one file: groups, routers, decorated definitions."""

    def __init__(self, captured: Captures, rows: Mapping[str, Sequence[Row]]) -> None:
        """Keep the query matches of the file; `rows` maps the name of a called function to the rows of the table."""
        self._captured, self._rows = captured, rows
        self._constants: dict[str, str | None] = {}

    def prefix(self, node: Node, row: Row) -> tuple[str, str]:
        """(The prefix that enclosing groups give to a call's path, the router that the call is made on)."""
        prefix = self._of_chain(node)
        owner = self.variable_of(node) if row.get("listed") else self._root(node)
        for call in self.calls_around(node):
            before = self._of_chain(call)
            group = next((item for item in self._rows_of(call) if item["kind"] == "group" or item.get("groups")), None)
            if group is not None:
                before = join_paths(before, self._path_of_group(call, group))
                owner = owner if row.get("listed") or group.get("listed") else self._root(call)
            prefix = join_paths(before, prefix)
        return prefix, owner

    def calls_around(self, node: Node) -> Iterator[Node]:
        """The calls whose arguments or block contain a node, from the innermost to the outermost."""
        inner, outer = node, node.parent
        for _ in range(_HIGHEST):
            if outer is None:
                return
            called = self.callee(outer)
            if called is not None and inner.start_byte >= called.end_byte:
                yield outer
            inner, outer = outer, outer.parent

    def _rows_of(self, call: Node) -> Sequence[Row]:
        called = self.callee(call)
        return () if called is None else self._rows.get(self._captured.text(called), ())

    def _path_of_group(self, call: Node, row: Row) -> str:
        return self.path(self.arguments(call).get(row.get("name", 0)), row) or ""

    def _of_chain(self, node: Node) -> str:
        """The prefix that earlier calls in a call's chain set: `a` in `Route::prefix('a')->get(…)`."""
        prefix = ""
        for inner in self._chain(node):
            row = next((item for item in self._rows_of(inner) if item["kind"] == "group" and item.get("chained")), None)
            if row is not None:
                prefix = join_paths(self._path_of_group(inner, row), prefix)
        return prefix

    def _chain(self, node: Node) -> Iterator[Node]:
        """The receivers in a chain of calls, from the last to the first."""
        for _ in range(_HIGHEST):
            inner = next(filter(None, map(node.child_by_field_name, _OBJECTS)), None)
            if inner is None:
                return
            yield inner
            node = inner

    def _root(self, node: Node) -> str:
        """The variable that a chain of calls starts with; "" if the chain starts with a type or a module."""
        *outer, last = [node, *self._chain(node)]
        if self._captured.text(last) in _SELVES and outer:
            field = self._captured.text(outer[-1])
            return field if re.fullmatch(r"\w+\.\w{1,60}", field) else ""
        text, parent = self._captured.text(last), last.parent
        is_called = parent is not None and parent.child_by_field_name("function") == last
        is_type = text[:1].isupper() and not re.search(
            rb"(?m)^[ \t]*%s\s*:?=[^=]" % re.escape(text.encode()), self._captured.source
        )
        if is_called or last is node or is_type or text in _MODULES:
            return ROOTED if text == "http" else self.variable_of(node)
        return text if re.fullmatch(r"[$@\w]{1,60}", text) else ""

    def callee(self, node: Node) -> Node | None:
        """The node of the called function's name; None if the node is not a call."""
        if "call" not in node.type and "invocation" not in node.type:
            return None
        called = node.child_by_field_name("function")
        name = next(filter(None, map((called or node).child_by_field_name, _OWN_NAMES)), None)
        return name if name is not None else called

    def variable_of(self, node: Node) -> str:
        """The variable to which an expression, or a list that contains it, is assigned; "" if it is not assigned."""
        parent = node.parent
        for _ in range(_HIGHEST):
            if parent is None or parent.type in _FUNCTIONS:
                break
            field = _NAMED.get(parent.type)
            name = parent.child_by_field_name(field) if field else None
            if name is not None:
                is_value = node.start_byte >= name.end_byte
                text = self._captured.text(name).removeprefix("mut ").strip() if is_value else ""
                return f"this.{text}" if text and "field_definition" in parent.type else text
            parent = parent.parent
        return ""

    def decorated_name(self, node: Node) -> Node | None:
        """The name of the definition that a call decorates; None if the call is not a decorator."""
        decorator = node if node.type == "decorator" else node.parent
        if decorator is None or decorator.type != "decorator" or decorator.parent is None:
            return None
        defined = decorator.parent.child_by_field_name("definition")
        if defined is None:  # JavaScript: decorators stand before the method, or in the class
            sibling = decorator.next_named_sibling
            while sibling is not None and sibling.type in ("decorator", "comment"):
                sibling = sibling.next_named_sibling
            defined = sibling if sibling is not None else decorator.parent
        return defined.child_by_field_name("name")

    # --- arguments

    def arguments(self, node: Node) -> Arguments:
        """The arguments of a call. Entries of an object or table among the arguments also count as named arguments."""
        group = node.child_by_field_name("arguments") or next(
            (child for child in node.named_children if child.type == "arguments"), None
        )
        positional: list[str] = []
        keywords: dict[str, str] = {}
        for child in group.named_children if group is not None else ():
            if "comment" in child.type:
                continue
            name = child.child_by_field_name("name") if "argument" in child.type else child.child_by_field_name("key")
            text = self._captured.text(child)
            if name is not None:
                value = child.child_by_field_name("value") or child.named_children[-1]
                keywords[self._captured.text(name).strip("\"':")] = self._captured.text(value)
                continue
            positional.append(text)
            if text[:1] in "{[" and len(text) < _MOST_OPTIONS:
                keywords.update(_OPTION.findall(text))
        return Arguments(tuple(positional), keywords)

    def path(self, text: str, row: Row) -> str | None:
        """The path or name that an expression stands for; None if it stands for no path and the row requires a path."""
        if not text or is_inline(text):
            return None if row.get("needed") else ""
        if len(text) > MOST_TEXT:
            return None
        first = STRING.search(text)
        if first is None and re.fullmatch(r":\w+", text):  # a symbol
            return text[1:]
        parts = sum_of(text)
        if first is None or (len(parts) == 1 and setting(text) != UNKNOWN):
            constant = self._constant(text)
            if constant is None and (row.get("loose") or re.match(row.get("setting", "$^"), text)):
                return setting(text)
            return constant if constant is not None or not row.get("bare") or not reference(text) else text
        if row.get("whole") and len(text) != len(first[0]) and "+" not in text:
            return None
        if len(parts) > 1:
            result = "".join(self.part(part) for part in parts)
        else:
            result = f"{UNKNOWN if text[: first.start()].strip('[ ') else ''}{content(first, self._constant)}"
        return readable(result) if row.get("regex") else result

    def part(self, text: str) -> str:
        """The part of a path that an operand of a string concatenation stands for."""
        match = STRING.fullmatch(text)
        constant = self._constant(text) if match is None else content(match, self._constant)
        return setting(text) if constant is None else constant

    def _constant(self, text: str) -> str | None:
        """The text of a constant that the file assigns exactly once; None for any other name."""
        if text not in self._constants:
            self._constants[text] = constant_of(self._captured.source, text)
        return self._constants[text]
