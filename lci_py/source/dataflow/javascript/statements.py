"""Lowers statements, functions and classes of JavaScript, TypeScript and JSX to constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    ARROW,
    BASE,
    CLASS,
    DECORATOR,
    FUNC,
    GENERATOR,
    MEMBER,
    PROPERTY,
    REST,
    SINGLE,
    STATIC,
    FlowBuilder,
)
from lci_py.source.dataflow.javascript.modules import Modules
from lci_py.source.dataflow.javascript.scopes import CLASSES, FUNCTIONS, Frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import

_DECLARED = frozenset(
    {"lexical_declaration", "class_declaration", "function_declaration", "abstract_class_declaration"}
)
_NO_CODE = (
    "interface_declaration", "type_alias_declaration", "function_signature", "ambient_declaration", "method_signature",
    "abstract_method_signature", "index_signature", "implements_clause", "break_statement", "continue_statement",
)  # fmt: skip

#: Statements whose parts may not run, or run again. `for` loops have handlers of their own.
_BRANCHES = (
    "if_statement", "while_statement", "do_statement", "try_statement", "switch_statement", "with_statement",
    "labeled_statement",
)  # fmt: skip


class JavaScriptFlow(Modules):
    """Walks JavaScript's syntax tree once, and adds its constraints to `flow`."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        super().__init__(source, places, imports)
        self._handlers.update(dict.fromkeys(_NO_CODE, lambda node: 0))
        self._handlers.update(dict.fromkeys(_BRANCHES, self._branching))
        self._handlers.update(dict.fromkeys(CLASSES - {"class"}, self._class_declaration))
        self._handlers.update(
            {
                "statement_block": self._block,
                "switch_body": self._block,
                "function_declaration": self._function_declaration,
                "generator_function_declaration": self._function_declaration,
                "lexical_declaration": self._declaration,
                "variable_declaration": self._declaration,
                "return_statement": self._return,
                "for_statement": self._for,
                "for_in_statement": self._for_in,
                "catch_clause": self._catch,
            }
        )

    def run(self, root: Node) -> FlowBuilder:
        """Walk the whole tree; returns its constraints."""
        for child in root.named_children:
            self._value(child)
        self._settle()
        return self.flow

    # --- statements -----------------------------------------------------------------------------------------------

    def _branching(self, node: Node) -> int:
        self._branches += 1
        for child in node.named_children:
            self._value(child)
        self._branches -= 1
        return 0

    def _block(self, node: Node) -> int:
        children = node.named_children
        before = self._scope
        if any(child.type in _DECLARED for child in children):
            self._scope = self.flow.scope(before, self._function)
        for child in children:
            self._value(child)
        self._scope = before
        return 0

    def _declaration(self, node: Node) -> int:
        scope = self._scope if node.type == "lexical_declaration" else self._variables
        constant = node.children[0].type == "const" if node.children else False
        for child in node.named_children:
            if child.type == "variable_declarator":
                self._declarator(child, scope is self._scope, constant)
        return 0

    def _declarator(self, node: Node, local: bool, constant: bool) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        scope = self._scope if local else self._variables
        if name is None:
            return
        lists = name.type == "array_pattern" and value is not None and value.type == "array"
        if lists and value is not None and self._pairwise(name, value, scope):
            return
        result = self._direct(value, name)
        self._fixed = constant
        self._assign(name, result, scope, value)
        self._fixed = False
        if constant and name.type == "identifier" and value is not None:
            text = self._text(name)
            if value.type in ("string", "number"):
                self._constants[id(scope), text] = self._key(value)
            elif value.type == "call_expression" and self._text(value).startswith(("Symbol(", "Symbol.for(")):
                self._constants[id(scope), text] = f"[{text}]"

    def _return(self, node: Node) -> int:
        value = self._first(node)
        if self._function >= 0:
            self.flow.copy(self.flow.functions[self._function].result, value)
        return 0

    def _for(self, node: Node) -> int:
        before = self._scope
        self._scope = self.flow.scope(before, self._function)
        self._branching(node)
        self._scope = before
        return 0

    def _for_in(self, node: Node) -> int:
        before = self._scope
        source = self._value(node.child_by_field_name("right"))
        operator, kind = node.child_by_field_name("operator"), node.child_by_field_name("kind")
        item = 0
        if operator is not None and operator.type == "of":
            item = self.flow.each(before, source, node.start_point[0] + 1)
        self._scope = self.flow.scope(before, self._function)
        declared = None if kind is None else self._variables if kind.type == "var" else self._scope
        self._branches += 1
        self._assign(node.child_by_field_name("left"), item, declared)
        self._value(node.child_by_field_name("body"))
        self._branches -= 1
        self._scope = before
        return 0

    def _catch(self, node: Node) -> int:
        before = self._scope
        self._scope = self.flow.scope(before, self._function)
        self._assign(node.child_by_field_name("parameter"), 0, self._scope)
        self._value(node.child_by_field_name("body"))
        self._scope = before
        return 0

    # --- functions ------------------------------------------------------------------------------------------------

    def _function_declaration(self, node: Node) -> int:
        name = node.child_by_field_name("name")
        value = self._make_function(node, name)
        if name is not None:
            self.flow.copy(self.flow.bind(self._scope, self._text(name)), value)
        return value

    def _make_function(self, node: Node, target: Node | None, holder: int = 0) -> int:
        name = node.child_by_field_name("name")
        flags = ARROW if node.type == "arrow_function" else GENERATOR if node.type.startswith("generator") else 0
        function = self._new_function(node, self._place(name, target), flags)
        before = self._scope
        value = self.flow.value(FUNC, function)
        if name is not None and node.type in FUNCTIONS:
            self._scope = self.flow.scope(before, self._function)
            self.flow.copy(self.flow.bind(self._scope, self._text(name)), value)
        frame = self._frame if flags & ARROW else Frame(function, -1, False, holder)
        self._enter(node, function, frame)
        self._scope = before
        return value

    def _method(self, node: Node, owner: int = -1, holder: int = 0) -> int:
        name = node.child_by_field_name("name")
        if name is None:
            return 0
        flags, setter = 0, False
        for child in node.children:
            if child.start_byte >= name.start_byte:
                break
            words = () if child.is_named else child.type.split()
            flags |= GENERATOR * ("*" in words) | STATIC * ("static" in words) | PROPERTY * ("get" in words)
            setter = setter or "set" in words
        if name.type == "computed_property_name":
            self._value(name)
        function = self._new_function(node, self._place(name), flags)
        frame = Frame(function, owner, bool(flags & STATIC), holder)
        self._enter(node, function, frame, constructor=owner >= 0 and self._text(name) == "constructor")
        if frame.node:  # a method that does not use `this` need not be bound to its object
            self.flow.functions[function] = self.flow.functions[function]._replace(owner=owner)
        value = self.flow.value(FUNC, function)
        if flags & PROPERTY and owner >= 0:
            self.flow.getters.add(self._text(name))
            if (symbol := self._place(name)) >= 0:
                self.flow.accessors.append((symbol, "property"))
        if setter:
            return value  # reading the property does not return its setter
        if owner >= 0:
            self.flow.row(MEMBER, owner, self.flow.string(self._key(name)), value)
        else:
            self.flow.put(holder, self._key(name), value)
        return value

    def _new_function(self, node: Node, symbol: int, flags: int) -> int:
        if symbol >= 0:
            return self.flow.function(symbol, flags=flags)
        line, end = node.start_point[0] + 1, node.end_point[0] + 1
        return self.flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte), flags)

    def _enter(self, node: Node, function: int, frame: Frame | None, *, constructor: bool = False) -> None:
        """Walk the parameters and the body of a function; `frame` owns `this` and `arguments` in it."""
        flow = self.flow
        before = self._scope, self._variables, self._function, self._symbol, self._frame
        latest, branches = self._latest, self._branches
        self._latest, self._branches, self._fixed = {}, 0, True
        self._scope = self._variables = flow.scope(self._scope, function)
        self._function, self._frame = function, frame
        symbol = flow.functions[function].symbol
        self._symbol = symbol if symbol >= 0 else self._symbol
        if constructor:
            self._this()  # the new object is passed to a constructor even if that does not use it
        parameters = node.child_by_field_name("parameters")
        if parameters is None:
            single = node.child_by_field_name("parameter")
            if single is not None:
                self._parameter(function, self._text(single))
        else:
            for child in parameters.named_children:
                self._bind_parameter(function, child)
        self._fixed = False
        body = node.child_by_field_name("body")
        if body is not None and body.type == "statement_block":
            for child in body.named_children:
                self._value(child)
        else:
            flow.copy(flow.functions[function].result, self._direct(body))
        self._scope, self._variables, self._function, self._symbol, self._frame = before
        self._latest, self._branches = latest, branches

    def _parameter(self, function: int, name: str, kind: int = SINGLE) -> int:
        """Add a parameter to a function and return its node; `name` is "" for a pattern."""
        target = self.flow.bind(self._scope, name) if name else self.flow.node()
        self.flow.parameter(function, target, name, kind)
        return target

    def _bind_parameter(self, function: int, node: Node) -> None:
        pattern: Node | None = node
        default, kind, field = None, SINGLE, False
        if node.type in ("required_parameter", "optional_parameter"):
            pattern, default = node.child_by_field_name("pattern"), node.child_by_field_name("value")
            for child in node.children:
                field = field or child.type in ("accessibility_modifier", "readonly", "override_modifier")
                if child.type == "decorator":
                    self._value(child)
        elif node.type == "assignment_pattern":
            pattern, default = node.child_by_field_name("left"), node.child_by_field_name("right")
        elif node.type == "comment":
            return
        if pattern is None or pattern.type == "this":
            return
        if pattern.type == "rest_pattern" and pattern.named_children:
            pattern, kind = pattern.named_children[0], REST
        name = self._text(pattern) if pattern.type == "identifier" else ""
        target = self._parameter(function, name, kind)
        self.flow.copy(target, self._direct(default))
        if not name:
            self._assign(pattern, target, self._scope)
        elif field:
            self._store(self._this(), name, target)

    # --- classes --------------------------------------------------------------------------------------------------

    def _class_declaration(self, node: Node) -> int:
        name = node.child_by_field_name("name")
        value = self._make_class(node, name)
        if name is not None:
            self.flow.copy(self.flow.bind(self._scope, self._text(name)), value)
        return value

    def _make_class(self, node: Node, target: Node | None, outside: Sequence[Node] = ()) -> int:
        flow = self.flow
        name = node.child_by_field_name("name")
        symbol = self._place(name, target)
        wraps = [self._decorator(child) for child in outside]
        class_index = len(flow.classes)
        flow.classes.append(symbol)
        value = flow.value(CLASS, class_index)
        before = self._scope, self._function, self._symbol, self._frame
        self._branches += 1  # fields are initialised later
        if self._function < 0 and symbol >= 0:
            self._function = flow.function(symbol)  # outside functions, the class is the caller of what its body calls
        if name is not None or self._function != before[1]:
            self._scope = flow.scope(self._scope, self._function)
        if name is not None:
            flow.copy(flow.bind(self._scope, self._text(name)), value)
        wraps += [self._decorator(child) for child in node.children if child.type == "decorator"]
        for child in node.named_children:
            if child.type == "class_heritage":
                self._heritage(child, class_index)
        self._symbol = symbol if symbol >= 0 else self._symbol
        body = node.child_by_field_name("body")
        if body is not None:
            self._members(body, class_index)
        value = self._apply_decorators(value, wraps)
        self._branches -= 1
        self._scope, self._function, self._symbol, self._frame = before
        return value

    def _heritage(self, node: Node, class_index: int) -> None:
        for child in node.named_children:
            if child.type == "extends_clause":
                for base in child.children_by_field_name("value"):
                    self.flow.row(BASE, class_index, self._value(base))
            elif child.type != "implements_clause":
                self.flow.row(BASE, class_index, self._value(child))

    def _members(self, body: Node, class_index: int) -> None:
        pending: list[tuple[int, int]] = []
        # The initialisers of all instance fields share one `this`, and so do those of all static fields.
        frames = Frame(-1, class_index, False, 0), Frame(-1, class_index, True, 0)
        outer = self._frame
        for child in body.named_children:
            kind = child.type
            if kind == "decorator":
                pending.append(self._decorator(child))
                continue
            wraps = [*pending, *(self._decorator(part) for part in child.children if part.type == "decorator")]
            pending = []
            if kind == "method_definition":
                self._frame = outer
                value = self._apply_decorators(self._method(child, class_index), wraps)
                if wraps and value:
                    self.flow.row(
                        MEMBER, class_index, self.flow.string(self._key(child.child_by_field_name("name"))), value
                    )
            elif kind in ("field_definition", "public_field_definition"):
                self._field(child, class_index, frames, wraps)
            elif kind == "class_static_block":
                self._frame = frames[1]
                self._value(child.child_by_field_name("body"))
        self._frame = outer

    def _field(self, node: Node, class_index: int, frames: tuple[Frame, Frame], wraps: list[tuple[int, int]]) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None:
            return
        self._frame = frames[any(child.type == "static" for child in node.children)]
        if name.type == "computed_property_name":
            self._value(name)
        value = self._direct(node.child_by_field_name("value"), name, self._frame_object(node))
        value = self._apply_decorators(value, wraps)
        if value:
            self.flow.row(MEMBER, class_index, self.flow.string(self._key(name)), value)

    def _frame_object(self, node: Node) -> int:
        """The node of `this` for a field whose value is a `function` (which has its own `this`); 0 for other fields."""
        value = node.child_by_field_name("value")
        return self._this() if value is not None and value.type in ("function_expression", "generator_function") else 0

    def _decorator(self, node: Node) -> tuple[int, int]:
        """(The constraint node of a decorator, its line)."""
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        return self._value(inner), (inner or node).start_point[0] + 1

    def _apply_decorators(self, value: int, wraps: list[tuple[int, int]]) -> int:
        """The node of a value after its decorators, given as (node, line); a decorator may return another value."""
        for decorator, line in reversed(wraps):
            if decorator:
                arguments = [(0, value)] if value else []
                result = self.flow.call(self._scope, decorator, line, arguments, DECORATOR)
                value = self.flow.either(value, result) if value else 0
        return value
