"""Python's syntax as constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    BASE,
    CLASS,
    CLASSMETHOD,
    CONSTRUCT,
    DECORATOR,
    FUNC,
    IMPORT,
    LOCAL,
    MEMBER,
    PROPERTY,
    STAR,
    STATIC,
    VALUE_OF,
    FlowBuilder,
)
from lci_py.source.dataflow.python_base import first, named
from lci_py.source.dataflow.python_values import Expressions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import

_DECORATORS = {"staticmethod": STATIC, "classmethod": CLASSMETHOD, "property": PROPERTY, "cached_property": PROPERTY}
_NOTHING = frozenset({"future_import_statement", "delete_statement", "comment"})


class PythonFlow(Expressions):
    """Goes through a syntax tree once. `flow` has what was found."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        super().__init__(source, places, imports)
        self._expressions["as_pattern"] = self._alias
        self._visits |= self._expressions
        self._visits["identifier"] = lambda node: None  # to read a variable does nothing
        self._visits |= {
            "function_definition": lambda node: self._define(node, []),
            "class_definition": lambda node: self._define(node, []),
            "decorated_definition": self._decorated,
            "return_statement": self._return,
            "import_statement": self._import,
            "import_from_statement": self._import,
            "for_statement": self._for,
            "with_item": self._with_item,
            "as_pattern": self._alias,
            "global_statement": self._global,
            "nonlocal_statement": self._global,
            "raise_statement": self._raise,
            "except_clause": self._except,
            **dict.fromkeys(_NOTHING, lambda node: None),
        }

    def run(self, root: Node) -> FlowBuilder:
        """Everything in the tree."""
        self._block(root)
        return self.flow

    def _decorated(self, node: Node) -> None:
        decorators = [child for child in named(node) if child.type == "decorator"]
        definition = node.child_by_field_name("definition")
        if definition is not None:
            self._define(definition, decorators)

    def _define(self, node: Node, decorators: list[Node]) -> None:
        flow = self.flow
        name = node.child_by_field_name("name")
        if name is None:
            return
        text = self._text(name)
        flags = 0
        wraps = []
        for decorator in decorators:
            inner = first(decorator)
            known = _DECORATORS.get(self._text(inner).rpartition(".")[2], 0) if inner is not None else 0
            flags |= known
            if not known and inner is not None:
                wraps.append((self._value(inner), inner.start_point[0] + 1))
        make = self._class_body if node.type == "class_definition" else self._function_body
        value = make(node, self._places.get(name.start_byte, -1), flags)
        for decorator_node, line in reversed(wraps):
            value = flow.call(self._scope, decorator_node, line, [(0, value)], DECORATOR)
        target = flow.bind(self._scope, text)
        flow.copy(target, value)
        if self._scope.owner >= 0:
            flow.row(MEMBER, self._scope.owner, flow.string(text), value)

    def _class_body(self, node: Node, symbol: int, _flags: int) -> int:
        flow = self.flow
        place = len(flow.classes)
        flow.classes.append(symbol)
        before = self._scope, self._symbol, self._class, self._around
        self._around = symbol if symbol >= 0 else self._around
        bases = node.child_by_field_name("superclasses")
        for base in named(bases) if bases is not None else ():
            if base.type != "keyword_argument":
                flow.row(BASE, place, self._value(base))
        # At the top level what the body calls is called by the class.
        caller = flow.function(symbol) if self._function < 0 and symbol >= 0 else self._function
        self._scope = flow.scope(self._scope, caller, owner=place, hidden=True)
        self._symbol = symbol if symbol >= 0 else self._symbol
        self._class = place
        body = node.child_by_field_name("body")
        if node.has_error:
            self._errors(node)
        if body is not None:
            self._block(body)
        self._scope, self._symbol, self._class, self._around = before
        return flow.value(CLASS, place)

    def _function_body(self, node: Node, symbol: int, flags: int) -> int:
        flow = self.flow
        method = self._scope.owner
        if symbol >= 0:
            function = flow.function(symbol, method, flags)
        else:
            line, end = node.start_point[0] + 1, node.end_point[0] + 1
            function = flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte), flags)
        around = self._around
        self._around = symbol if symbol >= 0 else around
        self._enter(node, function, symbol, method, flags)
        self._around = around
        return flow.value(FUNC, function)

    def _return(self, node: Node) -> None:
        value = self._value(first(node))
        if self._function >= 0:
            self.flow.copy(self.flow.functions[self._function].result, value)

    def _import(self, node: Node) -> None:
        line = node.start_point[0] + 1
        module_node = node.child_by_field_name("module_name")
        module = self._text(module_node) if module_node is not None else ""
        for child in named(node):
            if module_node is not None and child.start_byte == module_node.start_byte:
                continue
            if child.type == "wildcard_import":
                place = self._imports.get((line, module, "*", ""), -1)
                if place >= 0:
                    self.flow.row(STAR, place)
                continue
            alias_node = child.child_by_field_name("alias") if child.type == "aliased_import" else None
            name_node = child.child_by_field_name("name") if child.type == "aliased_import" else child
            if name_node is None:
                continue
            name, alias = self._text(name_node), self._text(alias_node) if alias_node is not None else ""
            key = (line, module, name, alias) if module_node is not None else (line, name, "", alias)
            place = self._imports.get(key, -1)
            bound = alias or (name if module_node is not None else name.partition(".")[0])
            head = int(module_node is None and not alias and "." in name)
            target = self.flow.bind(self._scope, bound)
            if place >= 0:
                self.flow.row(IMPORT, target, place, head)

    def _for(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._each_of(left, right)
        if left is not None and left.type == "pattern_list":
            self._know_all(left)
        item = self.flow.each(self._scope, self._value(right), node.start_point[0] + 1)
        self._assign(left, item, None)
        for name in ("body", "alternative"):
            part = node.child_by_field_name(name)
            if part is not None:
                self._visit(part)

    def _with_item(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is None:
            return
        if value.type != "as_pattern":
            self._value(value)
            return
        self._know_alias(value)
        source = self._value(first(value))
        line = node.start_point[0] + 1
        found = self.flow.call(self._scope, self.flow.load(source, "__enter__"), line, []) if source else 0
        alias = value.child_by_field_name("alias")
        if alias is not None and alias.named_child_count:
            self._assign(first(alias), found, None)

    def _alias(self, node: Node) -> int:
        """An alias elsewhere, as in `except*`."""
        self._know_alias(node)
        self._block(node)
        return 0

    def _know_alias(self, node: Node) -> None:
        alias = node.child_by_field_name("alias")
        name = first(alias) if alias is not None else None
        if name is not None and name.type == "identifier":
            self._know(LOCAL, self._text(name), VALUE_OF, first(node))

    def _except(self, node: Node) -> None:
        for child in named(node):
            if child.type == "as_pattern":
                self._know_alias(child)
                source = self._value(first(child))
                alias = child.child_by_field_name("alias")
                made = self.flow.call(self._scope, 0, node.start_point[0] + 1, [])
                if alias is not None and alias.named_child_count and source:
                    self._assign(first(alias), made, None)
            else:
                self._visit(child)

    def _global(self, node: Node) -> None:
        for child in named(node):
            name = self._text(child)
            if node.type == "global_statement":
                self._scope.outer[name] = self.flow.module
                continue
            around = self._scope.parent
            while around is not None and (around.hidden or name not in around.bound):
                around = around.parent
            if around is not None:
                self._scope.outer[name] = around

    def _raise(self, node: Node) -> None:
        for number, child in enumerate(named(node)):
            value = self._value(child)
            if not number and child.type != "call":
                self.flow.call(self._scope, value, child.start_point[0] + 1, [], CONSTRUCT)
