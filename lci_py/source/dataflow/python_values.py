"""Python's syntax as constraints: expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    CLASS,
    CLASSMETHOD,
    COPY,
    FUNC,
    GENERATOR,
    ITEM,
    LOCAL,
    NAMED_REST,
    NEW,
    REST,
    RESULT,
    SELF,
    SINGLE,
    SPREAD,
    SPREAD_NAMED,
    STATIC,
    SUPER,
    TYPE_OF,
    VALUE_OF,
    Scope,
)
from lci_py.source.dataflow.python_base import GIVEN, Lowering, first, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import


class Expressions(Lowering):
    """What expressions may be. Each method gives the node of a value, 0 for one that nobody knows."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        super().__init__(source, places, imports)
        self._expressions |= {
            "attribute": self._attribute,
            "call": self._call,
            "assignment": self._assignment,
            "augmented_assignment": self._augmented,
            "lambda": self._lambda,
            "subscript": self._subscript,
            "dictionary": self._dictionary,
            "list": self._list,
            "tuple": self._list,
            "set": self._list,
            "expression_list": self._list,
            "list_comprehension": self._comprehension,
            "set_comprehension": self._comprehension,
            "generator_expression": self._comprehension,
            "dictionary_comprehension": self._comprehension,
            "conditional_expression": self._either,
            "boolean_operator": self._either,
            "binary_operator": self._operator,
            "parenthesized_expression": self._inner,
            "await": self._inner,
            "named_expression": self._named,
            "yield": self._yield,
        }

    def _attribute(self, node: Node) -> int:
        return self._member(node, node.child_by_field_name("attribute"))

    def _member(self, node: Node, name: Node | None) -> int:
        obj = self._value(node.child_by_field_name("object"))
        return self.flow.load(obj, self._text(name)) if obj and name is not None else 0

    def _call(self, node: Node) -> int:
        callee_node = node.child_by_field_name("function")
        if callee_node is None:
            return 0
        if callee_node.type == "identifier" and self._text(callee_node) == "super" and self._class >= 0 and self._self:
            return self.flow.value(SUPER, self._class, self._self)
        name_node: Node | None = callee_node
        if callee_node.type == "attribute":
            name_node = callee_node.child_by_field_name("attribute")
            callee = self._member(callee_node, name_node)
        else:
            callee = self._value(callee_node)
        listed = node.child_by_field_name("arguments")
        arguments = self._arguments(listed) if listed is not None else []
        line = (name_node or callee_node).start_point[0] + 1
        return self.flow.call(self._scope, callee, line, arguments)

    def _arguments(self, listed: Node) -> list[tuple[int, int]]:
        """Position, as in `FlowBuilder.call`, and node of each argument."""
        if listed.type == "generator_expression":
            return [(0, self._value(listed))]
        arguments: list[tuple[int, int]] = []
        position = 0
        for child in named(listed):
            kind = child.type
            if kind == "keyword_argument":
                name = child.child_by_field_name("name")
                value = self._value(child.child_by_field_name("value"))
                if name is not None:
                    arguments.append((~self.flow.string(self._text(name)), value))
            elif kind == "list_splat":
                arguments.append((SPREAD, self._value(first(child))))
            elif kind == "dictionary_splat":
                arguments.append((SPREAD_NAMED, self._value(first(child))))
            elif kind != "comment":
                arguments.append((position, self._value(child)))
                position += 1
        return arguments

    def _subscript(self, node: Node) -> int:
        obj = self._value(node.child_by_field_name("value"))
        key = node.child_by_field_name("subscript")
        self._value(key)
        if not obj:
            return 0
        if key is not None and key.type == "slice":
            return obj
        return self.flow.value(ITEM, obj, self.flow.string(self._key(key)))

    def _dictionary(self, node: Node) -> int:
        made = 0
        for child in named(node):
            if child.type == "pair":
                key = child.child_by_field_name("key")
                self._value(key)
                value = self._value(child.child_by_field_name("value"))
                made = made or self.flow.value(NEW)
                self._put(made, self._key(key), value)
            elif child.type == "dictionary_splat" and child.named_child_count:
                value = self._value(first(child))
                made = made or self.flow.value(NEW)
                self.flow.copy(made, value)
        return made or self.flow.value(NEW)

    def _list(self, node: Node) -> int:
        made = self.flow.value(NEW)
        for number, child in enumerate(named(node)):
            if child.type == "list_splat" and child.named_child_count:
                source = self._value(first(child))
                self._put(made, "", self.flow.each(self._scope, source, child.start_point[0] + 1))
            else:
                self._put(made, str(number), self._value(child))
        return made

    def _comprehension(self, node: Node) -> int:
        before = self._scope
        self._scope = self.flow.scope(before, self._function)
        for child in named(node):
            if child.type == "for_in_clause":
                left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
                self._each_of(left, right)
                item = self.flow.each(self._scope, self._value(right), child.start_point[0] + 1)
                self._assign(left, item, None)
            elif child.type == "if_clause":
                self._block(child)
        body = node.child_by_field_name("body")
        made = self.flow.value(NEW)
        if body is not None and body.type == "pair":
            self._value(body.child_by_field_name("key"))
            self._put(made, "", self._value(body.child_by_field_name("value")))
        else:
            self._put(made, "", self._value(body))
        self._scope = before
        return made

    def _either(self, node: Node) -> int:
        found = [self._value(child) for child in named(node)]
        if node.type == "conditional_expression" and len(found) == 3:
            found.pop(1)
        found = [value for value in found if value]
        if len(found) < 2:
            return found[0] if found else 0
        target = self.flow.node()
        for value in found:
            self.flow.row(COPY, target, value)
        return target

    def _operator(self, node: Node) -> int:
        """A chain of operators, without going down it: sums of a thousand strings are nested as deep."""
        operands = []
        while node.type == "binary_operator":
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            if right is not None:
                operands.append(right)
            if left is None:
                break
            node = left
        else:
            operands.append(node)
        for operand in reversed(operands):
            self._visit(operand)
        return 0

    def _inner(self, node: Node) -> int:
        found = 0
        for child in named(node):
            found = self._value(child)
        return found

    def _yield(self, node: Node) -> int:
        value = self._value(first(node))
        if self._function >= 0:
            self.flow.flag(self._function, GENERATOR)
            target = self.flow.functions[self._function].item
            if any(child.type == "from" for child in node.children):
                value = self.flow.each(self._scope, value, node.start_point[0] + 1)
            self.flow.copy(target, value)
        return 0

    def _lambda(self, node: Node) -> int:
        line, end = node.start_point[0] + 1, node.end_point[0] + 1
        function = self.flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte))
        self._enter(node, function, -1, -1, 0)
        return self.flow.value(FUNC, function)

    def _enter(self, node: Node, function: int, symbol: int, method: int, flags: int) -> None:
        """The parameters, in the scope around for their defaults, and the body."""
        flow = self.flow
        before = self._scope, self._function, self._symbol, self._class, self._self
        inner = flow.scope(self._scope, function)
        parameters = node.child_by_field_name("parameters")
        for number, parameter in enumerate(named(parameters) if parameters is not None else ()):
            target = self._parameter(inner, function, parameter)
            if number == 0 and target and method >= 0 and not flags & STATIC:
                kind = CLASS if flags & CLASSMETHOD or self._text_of_name(node) == "__new__" else SELF
                flow.row(kind, target, method)
                self._self, self._class = target, method
        self._scope, self._function = inner, function
        self._symbol = symbol if symbol >= 0 else self._symbol
        body = node.child_by_field_name("body")
        if body is not None:
            if node.type == "lambda":
                flow.copy(flow.functions[function].result, self._value(body))
            else:
                self._body(body, node.child_by_field_name("return_type"))
        self._scope, self._function, self._symbol, self._class, self._self = before

    def _body(self, body: Node, declared: Node | None) -> None:
        """A function's statements, and what they say of its result."""
        if declared is not None:
            self._know(RESULT, "", TYPE_OF, declared)
            self._block(body)
            return
        for child in named(body):
            given = first(child) if child.type == "return_statement" else None
            if given is not None and given.type in GIVEN:
                self._know(RESULT, "", VALUE_OF, given)
            self._visit(child)

    def _text_of_name(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        return self._text(name) if name is not None else ""

    def _parameter(self, inner: Scope, function: int, node: Node) -> int:
        kind, default = SINGLE, None
        declared = None
        if node.type in ("default_parameter", "typed_default_parameter"):
            default = node.child_by_field_name("value")
            name = node.child_by_field_name("name")
            declared = node.child_by_field_name("type")
        else:
            name = node
            if node.type == "typed_parameter":
                declared = node.child_by_field_name("type")
            while name is not None and name.type != "identifier":
                kind = {"list_splat_pattern": REST, "dictionary_splat_pattern": NAMED_REST}.get(name.type, kind)
                name = first(name)
        if name is None:
            return 0
        text = self._text(name)
        if kind == SINGLE and name.type == "identifier":
            self._know(LOCAL, text, TYPE_OF if declared is not None else "", declared)
        target = self.flow.bind(inner, text)
        self.flow.parameter(function, target, text, kind)
        self.flow.copy(target, self._value(default))
        return target
