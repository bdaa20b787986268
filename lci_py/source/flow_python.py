"""Python's syntax as constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.flow import (
    BASE,
    CLASS,
    CLASSMETHOD,
    CONSTRUCT,
    COPY,
    DECORATOR,
    FUNC,
    GENERATOR,
    IMPORT,
    ITEM,
    MEMBER,
    NAMED_REST,
    NEW,
    PROPERTY,
    PUT,
    REST,
    SELF,
    SINGLE,
    SPREAD,
    SPREAD_NAMED,
    STAR,
    STATIC,
    STORE,
    SUPER,
    FlowBuilder,
    Scope,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types import Import

_DECORATORS = {"staticmethod": STATIC, "classmethod": CLASSMETHOD, "property": PROPERTY, "cached_property": PROPERTY}
_LITERALS = frozenset({"integer", "float", "string", "true", "false", "none", "concatenated_string", "ellipsis"})
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_TUPLES = frozenset({"tuple", "list", "expression_list"})


class PythonFlow:
    """Goes through a syntax tree once. `flow` has what was found."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        """
        Args:
            source: The file.
            places: First byte of a definition's name -> place among the symbols.
            imports: The file's.
        """
        self.flow = FlowBuilder()
        self._source = source
        self._places = places
        self._imports = {(i.line, i.module, i.name, i.alias): place for place, i in enumerate(imports)}
        self._scope: Scope = self.flow.module
        self._function = -1
        self._symbol = -1
        self._class = -1
        self._self = 0
        self._statements: dict[str, Callable[[Node], None]] = {
            "function_definition": lambda node: self._define(node, []),
            "class_definition": lambda node: self._define(node, []),
            "decorated_definition": self._decorated,
            "return_statement": self._return,
            "import_statement": self._import,
            "import_from_statement": self._import,
            "future_import_statement": lambda node: None,
            "for_statement": self._for,
            "with_item": self._with_item,
            "global_statement": self._global,
            "nonlocal_statement": self._global,
            "raise_statement": self._raise,
            "delete_statement": lambda node: None,
            "except_clause": self._except,
            "comment": lambda node: None,
        }
        self._expressions: dict[str, Callable[[Node], int]] = {
            "identifier": lambda node: self.flow.use(self._scope, self._text(node)),
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
            "parenthesized_expression": self._inner,
            "await": self._inner,
            "named_expression": self._named,
            "yield": self._yield,
        }

    def run(self, root: Node) -> FlowBuilder:
        """Everything in the tree."""
        self._block(root)
        return self.flow

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # --- statements -----------------------------------------------------------------------------------------------

    def _block(self, node: Node) -> None:
        for child in node.named_children:
            self._visit(child)

    def _visit(self, node: Node) -> None:
        statement = self._statements.get(node.type)
        if statement is not None:
            statement(node)
            return
        expression = self._expressions.get(node.type)
        if expression is not None:
            expression(node)
        elif node.type not in _LITERALS:
            self._block(node)

    def _value(self, node: Node | None) -> int:
        if node is None:
            return 0
        expression = self._expressions.get(node.type)
        if expression is not None:
            return expression(node)
        if node.type == "string" or node.type not in _LITERALS:
            self._block(node)  # an f-string's parts are evaluated, too
        return 0

    def _decorated(self, node: Node) -> None:
        decorators = [child for child in node.named_children if child.type == "decorator"]
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
            inner = decorator.named_children[0] if decorator.named_children else None
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
        bases = node.child_by_field_name("superclasses")
        for base in bases.named_children if bases is not None else ():
            if base.type != "keyword_argument":
                flow.row(BASE, place, self._value(base))
        before = self._scope, self._symbol, self._class
        # At the top level what the body calls is called by the class.
        caller = flow.function(symbol) if self._function < 0 and symbol >= 0 else self._function
        self._scope = flow.scope(self._scope, caller, owner=place, hidden=True)
        self._symbol = symbol if symbol >= 0 else self._symbol
        self._class = place
        body = node.child_by_field_name("body")
        if body is not None:
            self._block(body)
        self._scope, self._symbol, self._class = before
        return flow.value(CLASS, place)

    def _function_body(self, node: Node, symbol: int, flags: int) -> int:
        flow = self.flow
        method = self._scope.owner
        if symbol >= 0:
            function = flow.function(symbol, method, flags)
        else:
            line, end = node.start_point[0] + 1, node.end_point[0] + 1
            function = flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte), flags)
        self._enter(node, function, symbol, method, flags)
        return flow.value(FUNC, function)

    def _enter(self, node: Node, function: int, symbol: int, method: int, flags: int) -> None:
        """The parameters, in the scope around for their defaults, and the body."""
        flow = self.flow
        before = self._scope, self._function, self._symbol, self._class, self._self
        inner = flow.scope(self._scope, function)
        parameters = node.child_by_field_name("parameters")
        for number, parameter in enumerate(parameters.named_children if parameters is not None else ()):
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
                self._block(body)
        self._scope, self._function, self._symbol, self._class, self._self = before

    def _text_of_name(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        return self._text(name) if name is not None else ""

    def _parameter(self, inner: Scope, function: int, node: Node) -> int:
        kind, default = SINGLE, None
        if node.type in ("default_parameter", "typed_default_parameter"):
            default = node.child_by_field_name("value")
            name = node.child_by_field_name("name")
        else:
            name = node
            while name is not None and name.type != "identifier":
                kind = {"list_splat_pattern": REST, "dictionary_splat_pattern": NAMED_REST}.get(name.type, kind)
                name = name.named_children[0] if name.named_children else None
        if name is None:
            return 0
        target = self.flow.bind(inner, self._text(name))
        self.flow.parameter(function, target, self._text(name), kind)
        self.flow.copy(target, self._value(default))
        return target

    def _return(self, node: Node) -> None:
        value = self._value(node.named_children[0]) if node.named_children else 0
        if self._function >= 0:
            self.flow.copy(self.flow.functions[self._function].result, value)

    def _yield(self, node: Node) -> int:
        value = self._value(node.named_children[0]) if node.named_children else 0
        if self._function >= 0:
            self.flow.flag(self._function, GENERATOR)
            target = self.flow.functions[self._function].item
            if any(child.type == "from" for child in node.children):
                value = self.flow.each(self._scope, value, node.start_point[0] + 1)
            self.flow.copy(target, value)
        return 0

    def _import(self, node: Node) -> None:
        line = node.start_point[0] + 1
        module_node = node.child_by_field_name("module_name")
        module = self._text(module_node) if module_node is not None else ""
        for child in node.named_children:
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
        source = self._value(node.child_by_field_name("right"))
        item = self.flow.each(self._scope, source, node.start_point[0] + 1)
        self._assign(node.child_by_field_name("left"), item, None)
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
        source = self._value(value.named_children[0])
        line = node.start_point[0] + 1
        found = self.flow.call(self._scope, self.flow.load(source, "__enter__"), line, []) if source else 0
        alias = value.child_by_field_name("alias")
        if alias is not None and alias.named_children:
            self._assign(alias.named_children[0], found, None)

    def _except(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "as_pattern":
                source = self._value(child.named_children[0])
                alias = child.child_by_field_name("alias")
                made = self.flow.call(self._scope, 0, node.start_point[0] + 1, [])
                if alias is not None and alias.named_children and source:
                    self._assign(alias.named_children[0], made, None)
            else:
                self._visit(child)

    def _global(self, node: Node) -> None:
        for child in node.named_children:
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
        for number, child in enumerate(node.named_children):
            value = self._value(child)
            if not number and child.type != "call":
                self.flow.call(self._scope, value, child.start_point[0] + 1, [], CONSTRUCT)

    # --- expressions ----------------------------------------------------------------------------------------------

    def _attribute(self, node: Node) -> int:
        name = node.child_by_field_name("attribute")
        obj = self._value(node.child_by_field_name("object"))
        return self.flow.load(obj, self._text(name)) if name is not None else 0

    def _call(self, node: Node) -> int:
        callee_node = node.child_by_field_name("function")
        if callee_node is None:
            return 0
        if callee_node.type == "identifier" and self._text(callee_node) == "super" and self._class >= 0 and self._self:
            return self.flow.value(SUPER, self._class, self._self)
        callee = self._value(callee_node)
        arguments: list[tuple[int, int]] = []
        listed = node.child_by_field_name("arguments")
        position = 0
        if listed is not None and listed.type == "generator_expression":
            arguments.append((0, self._value(listed)))
        elif listed is not None:
            for child in listed.named_children:
                if child.type == "keyword_argument":
                    name = child.child_by_field_name("name")
                    value = self._value(child.child_by_field_name("value"))
                    if name is not None:
                        arguments.append((~self.flow.string(self._text(name)), value))
                elif child.type == "list_splat":
                    arguments.append((SPREAD, self._value(child.named_children[0]) if child.named_children else 0))
                elif child.type == "dictionary_splat":
                    value = self._value(child.named_children[0]) if child.named_children else 0
                    arguments.append((SPREAD_NAMED, value))
                elif child.type != "comment":
                    arguments.append((position, self._value(child)))
                    position += 1
        name_node = callee_node.child_by_field_name("attribute") if callee_node.type == "attribute" else callee_node
        line = (name_node or callee_node).start_point[0] + 1
        return self.flow.call(self._scope, callee, line, arguments)

    def _assignment(self, node: Node) -> int:
        right = node.child_by_field_name("right")
        left = node.child_by_field_name("left")
        if right is not None and left is not None and left.type in _PATTERNS and right.type in _TUPLES:
            self._pairwise(left, right)
            return 0
        value = self._value(right)
        self._assign(left, value, right)
        return value

    def _pairwise(self, left: Node, right: Node) -> None:
        targets = [child for child in left.named_children if child.type != "comment"]
        sources = [child for child in right.named_children if child.type != "comment"]
        values = [self._value(child) for child in sources]
        stars = [at for at, child in enumerate(targets) if child.type == "list_splat_pattern"]
        if any(child.type == "list_splat" for child in sources) or (not stars and len(targets) != len(sources)):
            return
        if not stars:
            for target, source, value in zip(targets, sources, values, strict=True):
                nested = target.type in _PATTERNS
                if nested and source.type in ("tuple", "list"):
                    self._pairwise(target, source)
                else:
                    self._assign(target, value, source)
            return
        star, after = stars[0], len(targets) - stars[0] - 1
        for target, value in zip(targets[:star], values, strict=False):
            self._assign(target, value, None)
        for target, value in zip(targets[star + 1 :], values[len(values) - after :], strict=False):
            self._assign(target, value, None)
        rest = self.flow.value(NEW)
        for number, value in enumerate(values[star : len(values) - after]):
            self._put(rest, str(number), value)
        if targets[star].named_children:
            self._assign(targets[star].named_children[0], rest, None)

    def _assign(self, left: Node | None, value: int, _source: Node | None) -> None:
        flow = self.flow
        if left is None:
            return
        if left.type == "identifier":
            text = self._text(left)
            flow.copy(flow.bind(self._scope, text), value)
            if self._scope.owner >= 0 and value:
                flow.row(MEMBER, self._scope.owner, flow.string(text), value)
        elif left.type == "attribute":
            name = left.child_by_field_name("attribute")
            obj = self._value(left.child_by_field_name("object"))
            if name is not None and obj and value:
                flow.row(STORE, obj, flow.string(self._text(name)), value)
        elif left.type == "subscript":
            obj = self._value(left.child_by_field_name("value"))
            key = left.child_by_field_name("subscript")
            self._value(key)
            self._put(obj, self._key(key), value)
        elif left.type in _PATTERNS:
            for number, child in enumerate(left.named_children):
                part = flow.value(ITEM, value, flow.string(str(number))) if value else 0
                self._assign(child, part, None)
        elif left.type == "list_splat_pattern" and left.named_children:
            self._assign(left.named_children[0], value, None)

    def _key(self, node: Node | None) -> str:
        """A constant key as it is written; "" for any other."""
        return self._text(node) if node is not None and node.type in ("string", "integer") else ""

    def _put(self, container: int, key: str, value: int) -> None:
        if container and value:
            self.flow.row(PUT, container, self.flow.string(key), value)

    def _augmented(self, node: Node) -> int:
        value = self._value(node.child_by_field_name("right"))
        self._assign(node.child_by_field_name("left"), value, None)
        return value

    def _named(self, node: Node) -> int:
        value = self._value(node.child_by_field_name("value"))
        self._assign(node.child_by_field_name("name"), value, None)
        return value

    def _lambda(self, node: Node) -> int:
        line, end = node.start_point[0] + 1, node.end_point[0] + 1
        function = self.flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte))
        self._enter(node, function, -1, -1, 0)
        return self.flow.value(FUNC, function)

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
        for child in node.named_children:
            if child.type == "pair":
                key = child.child_by_field_name("key")
                self._value(key)
                value = self._value(child.child_by_field_name("value"))
                made = made or self.flow.value(NEW)
                self._put(made, self._key(key), value)
            elif child.type == "dictionary_splat" and child.named_children:
                value = self._value(child.named_children[0])
                made = made or self.flow.value(NEW)
                self.flow.copy(made, value)
        return made or self.flow.value(NEW)

    def _list(self, node: Node) -> int:
        made = self.flow.value(NEW)
        for number, child in enumerate(node.named_children):
            if child.type == "list_splat" and child.named_children:
                source = self._value(child.named_children[0])
                self._put(made, "", self.flow.each(self._scope, source, child.start_point[0] + 1))
            else:
                self._put(made, str(number), self._value(child))
        return made

    def _comprehension(self, node: Node) -> int:
        before = self._scope
        self._scope = self.flow.scope(before, self._function)
        for child in node.named_children:
            if child.type == "for_in_clause":
                item = self.flow.each(
                    self._scope, self._value(child.child_by_field_name("right")), child.start_point[0] + 1
                )
                self._assign(child.child_by_field_name("left"), item, None)
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
        found = [self._value(child) for child in node.named_children]
        if node.type == "conditional_expression" and len(found) == 3:
            found.pop(1)
        found = [value for value in found if value]
        if len(found) < 2:
            return found[0] if found else 0
        target = self.flow.node()
        for value in found:
            self.flow.row(COPY, target, value)
        return target

    def _inner(self, node: Node) -> int:
        found = 0
        for child in node.named_children:
            found = self._value(child)
        return found
