"""Lowers JavaScript's expressions to constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import CONSTRUCT, NEW, PLAIN, SPREAD, SUPER
from lci_py.source.dataflow.javascript.scopes import CLASSES, FUNCTIONS, Lowering

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import

_LITERALS = (
    "number", "true", "false", "null", "undefined", "string", "regex", "comment", "meta_property",
    "property_identifier",
    "type_annotation", "type_arguments", "type_parameters", "type_identifier", "predefined_type", "jsx_text",
    "hash_bang_line", "empty_statement",
)  # fmt: skip
_INNER = (
    "parenthesized_expression", "await_expression", "as_expression", "satisfies_expression", "non_null_expression",
    "instantiation_expression", "spread_element", "computed_property_name",
)  # fmt: skip
#: Operators whose value is one of their sides; the results of others are never called.
_LOGICAL = frozenset({"||", "&&", "??", "||=", "&&=", "??=", "="})


class Expressions(Lowering):
    """Lowers all expressions except functions and classes."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        super().__init__(source, places, imports)
        self._handlers.update(dict.fromkeys(_LITERALS, lambda node: 0))
        self._handlers.update(dict.fromkeys(_INNER, self._first))
        self._handlers.update(dict.fromkeys((*FUNCTIONS, *CLASSES), self._direct))
        self._handlers.update(
            {
                "identifier": self._identifier,
                "this": lambda node: self._this(),
                "super": lambda node: self._super(),
                "member_expression": self._member,
                "subscript_expression": self._subscript,
                "call_expression": self._call,
                "new_expression": self._new,
                "assignment_expression": self._assignment,
                "augmented_assignment_expression": self._assignment,
                "binary_expression": self._binary,
                "ternary_expression": self._ternary,
                "sequence_expression": self._sequence,
                "type_assertion": self._sequence,
                "object": self._object,
                "array": self._array,
                "yield_expression": self._yield,
                "jsx_element": self._jsx,
                "jsx_self_closing_element": self._jsx,
                "jsx_expression": self._first,
            }
        )

    # --- members --------------------------------------------------------------------------------------------------

    def _super(self) -> int:
        frame = self._frame
        if frame is None or frame.owner < 0:
            return 0
        return self.flow.value(SUPER, frame.owner, self._this())

    def _member(self, node: Node) -> int:
        obj, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if obj is None or name is None:
            return 0
        text, kind = self._text(name), obj.type
        if self._has_getters and kind in ("this", "identifier", "member_expression"):
            parent = node.parent
            if parent is None or parent.child_by_field_name("function") != node:  # a call of a method reads none
                self.flow.reads.append((obj, name))
        if kind == "identifier" and text == "exports" and self._is_exports(node):
            return self._exports_node()
        module = self._required_module(obj) if kind == "call_expression" else None
        value = self._import_node(module, text) if module is not None else 0
        return value or self.flow.load(self._value(obj), text)

    def _subscript(self, node: Node) -> int:
        obj, index = self._value(node.child_by_field_name("object")), node.child_by_field_name("index")
        self._value(index)
        return self._get(obj, self._key(index))

    # --- calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: Node) -> int:
        callee = node.child_by_field_name("function")
        if callee is None:
            return 0
        module = self._required_module(node) if callee.type in ("identifier", "import") else None
        if module is not None:
            return self._import_node(module)
        function = self._value(callee)
        return self.flow.call(
            self._scope, function, _line(callee), self._argument_nodes(node.child_by_field_name("arguments"))
        )

    def _new(self, node: Node) -> int:
        callee = node.child_by_field_name("constructor")
        if callee is None:
            return 0
        argument_list = node.child_by_field_name("arguments")
        function = self._value(callee)
        return self.flow.call(self._scope, function, _line(callee), self._argument_nodes(argument_list), CONSTRUCT)

    def _argument_nodes(self, argument_list: Node | None) -> list[tuple[int, int]]:
        """For each argument (position, node). A tagged template passes its strings at 0, its expressions from 1 on."""
        if argument_list is None:
            return []
        if argument_list.type == "template_string":
            parts = [child for child in argument_list.named_children if child.type == "template_substitution"]
            return [(number, self._first(child)) for number, child in enumerate(parts, 1)]
        arguments = []
        position = 0
        for child in argument_list.named_children:
            if child.type == "comment":
                continue
            value = self._value(child)
            arguments.append((SPREAD if child.type == "spread_element" else position, value))
            position += 1
        return arguments

    def _jsx(self, node: Node) -> int:
        """Lower `<Component a={b}>c</Component>` as `Component({a: b, children: c})`; `<div>` calls nothing."""
        tag = (node.child_by_field_name("open_tag") or node) if node.type == "jsx_element" else node
        name = tag.child_by_field_name("name")
        flow = self.flow
        called = name is not None and (name.type != "identifier" or self._text(name)[:1].isupper())
        properties = flow.value(NEW, PLAIN) if called else 0
        for child in tag.named_children:
            parts = child.named_children
            if child.type == "jsx_attribute" and parts:
                value = self._direct_inside(parts[1]) if len(parts) > 1 else 0
                self.flow.put(properties, self._text(parts[0]), value)
            elif child.type == "jsx_expression":  # {...rest}
                flow.copy(properties, self._first(child))
        for child in node.named_children if node.type == "jsx_element" else ():
            if child.type.startswith("jsx_") and child.type not in ("jsx_opening_element", "jsx_closing_element"):
                self.flow.put(properties, "children", self._value(child))
        if not called or name is None:
            return 0
        return flow.call(self._scope, self._value(name), _line(name), [(0, properties)])

    def _direct_inside(self, node: Node) -> int:
        return self._first(node) if node.type == "jsx_expression" else self._value(node)

    # --- operators ------------------------------------------------------------------------------------------------

    def _assignment(self, node: Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None:
            return 0
        if left.type == "array_pattern" and right.type == "array":
            unused = node.parent is not None and node.parent.type == "expression_statement"
            if unused and self._pairwise(left, right, None):
                return 0
        logical = operator is None or operator.type in _LOGICAL
        if left.type == "member_expression" and not self._is_exports(left):
            name = left.child_by_field_name("property")
            obj = self._value(left.child_by_field_name("object"))
            value = self._direct(right, name, obj) if logical else 0 * self._value(right)
            if name is not None:
                self._store(obj, self._text(name), value)
            return value
        name = left.child_by_field_name("property") or left
        value = self._direct(right, name)
        if not logical:
            return 0
        self._assign(left, value, None, right)
        return value

    def _binary(self, node: Node) -> int:
        left = self._value(node.child_by_field_name("left"))
        operator = node.child_by_field_name("operator")
        logical = operator is not None and operator.type in _LOGICAL
        self._branches += logical
        right = self._value(node.child_by_field_name("right"))
        self._branches -= logical
        if operator is None or not logical:
            return 0
        return right if operator.type == "&&" else self.flow.either(left, right)

    def _ternary(self, node: Node) -> int:
        self._value(node.child_by_field_name("condition"))
        self._branches += 1
        values = [self._value(node.child_by_field_name(side)) for side in ("consequence", "alternative")]
        self._branches -= 1
        return self.flow.either(*values)

    def _sequence(self, node: Node) -> int:
        value = 0
        for child in node.named_children:
            value = self._value(child)
        return value

    def _yield(self, node: Node) -> int:
        value = self._first(node)
        if self._function >= 0:
            if any(child.type == "*" for child in node.children):
                value = self.flow.each(self._scope, value, node.start_point[0] + 1)
            self.flow.copy(self.flow.functions[self._function].item, value)
        return 0

    # --- containers -----------------------------------------------------------------------------------------------

    def _object(self, node: Node) -> int:
        flow = self.flow
        obj = flow.value(NEW, PLAIN)
        for child in node.named_children:
            kind = child.type
            if kind == "pair":
                key = child.child_by_field_name("key")
                if key is not None and key.type == "computed_property_name":
                    self._value(key)
                self.flow.put(obj, self._key(key), self._direct(child.child_by_field_name("value"), key, obj))
            elif kind == "shorthand_property_identifier":
                self.flow.put(obj, self._text(child), self._identifier(child))
            elif kind == "method_definition":
                self._method(child, holder=obj)
            elif kind == "spread_element":
                flow.copy(obj, self._first(child))
        return obj

    def _method(self, node: Node, owner: int = -1, holder: int = 0) -> int:
        raise NotImplementedError

    def _array(self, node: Node) -> int:
        obj = self.flow.value(NEW)
        position, certain = 0, True
        for child in node.children:
            if child.type == ",":
                position += 1
            elif child.type == "spread_element":
                certain = False  # the indices of what follows are unknown
                self.flow.put(obj, "", self.flow.each(self._scope, self._first(child), child.start_point[0] + 1))
            elif child.is_named and child.type != "comment":
                self.flow.put(obj, str(position) if certain else "", self._value(child))
        return obj


def _line(callee: Node) -> int:
    """The line of the called name; the calls in `Extract` have the same line."""
    name = callee.child_by_field_name("property") if callee.type == "member_expression" else None
    return (name or callee).start_point[0] + 1
