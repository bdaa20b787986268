"""Lowers Python's syntax trees to constraints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    BASE,
    CLASS,
    CLASSMETHOD,
    CONSTRUCT,
    DECORATOR,
    ENTERED,
    FREE,
    FUNC,
    GENERATOR,
    IMPORT,
    ITEM,
    LOCAL,
    MEMBER,
    NAMED_REST,
    NEW,
    PROPERTY,
    REST,
    RESULT,
    SELF,
    SINGLE,
    SPREAD,
    SPREAD_NAMED,
    STAR,
    STATIC,
    STORE,
    SUPER,
    TYPE_OF,
    TYPED,
    VALUE_OF,
    FlowBuilder,
    Implicit,
    Scope,
)
from lci_py.source.dataflow.python_hints import HINTS, PATTERNS, TUPLES, PythonHints
from lci_py.source.dataflow.python_implicit import (
    ASKED,
    CALLING,
    METACLASS,
    asynchronous,
    attribute_name,
    cast_type,
    children,
    comparison_methods,
    first_child,
    generic_base,
    of_operator,
    types_of,
)
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import

_DECORATORS = {"staticmethod": STATIC, "classmethod": CLASSMETHOD, "property": PROPERTY, "cached_property": PROPERTY}
_LITERALS = frozenset({"integer", "float", "string", "true", "false", "none", "concatenated_string", "ellipsis"})
_NO_CODE = frozenset({"future_import_statement", "comment"})
_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "generator_expression", "dictionary_comprehension"}
)
#: Modules of the library that hold functions as values, or pass them on: `callgraph.pointsto.library_models` knows how.
_MODELLED = frozenset({"argparse", "collections", "copy", "functools", "types"})
#: Functions that take the name of an attribute.
_TAKING = frozenset({"getattr", "__getattribute__"})
#: What is stored in the own object, and names of functions and properties.
_STORED = lazily(rb"self\.(\w+)(?::[^=\n]*)?\s*=(?!=)")
_DEFINED = lazily(rb"def[ \t]+(\w+)")
_PROPERTY = lazily(rb"(\w+)\s*=\s*property\(")
#: The bases of a class: what a library calls on its objects depends on them.
_BASES = lazily(rb"^[ \t]*class[ \t]+\w+[ \t]*\(([^()]*)\)", re.MULTILINE)
_HEADS = lazily(rb"(?:^|,)\s*(\w+)")
_QUOTES = b"\"'"


def _no_value(_node: Node) -> None:
    """Ignore a node that contains no values."""


class PythonFlow(PythonHints):
    """Walks Python's syntax tree once, and adds its constraints to `flow`."""

    def __init__(
        self, source: bytes, places: Mapping[int, int], imports: Sequence[Import], *, followed: bool
    ) -> None:  # fmt: skip
        """Start a walk.

        Args:
            places: Maps the first byte of each definition's name to its symbol index.
            followed: Whether the points-to analysis covers the file.
        """
        super().__init__(source)
        self._places = places
        self._imports = {(i.line, i.module, i.name, i.alias): index for index, i in enumerate(imports)}
        self._scope: Scope = self.flow.module
        self._function = -1
        self._symbol = -1  # the symbol that code here belongs to
        self._class = -1
        self._self = 0
        self._followed = followed
        # The names of functions and properties, and those that the file only stores in `self`.
        defined = _DEFINED.findall(source) + (_PROPERTY.findall(source) if b"property(" in source else [])
        self._functions = {name.decode("utf-8", "replace") for name in defined}
        stored = _STORED.findall(source) if followed else ()
        bases = b",".join(_BASES.findall(source)) if followed else b""
        self._bases = {name.decode("utf-8", "replace") for name in _HEADS.findall(bases)}
        self._fields = {name.decode("utf-8", "replace") for name in stored} - self._functions
        self._function_of: dict[int, int] = {}  # node -> the function that it stands for
        self._setters: dict[int, int] = {}  # node of a property -> that of its setter
        # Handlers of expressions. Each returns the node of the value, 0 if that is unknown.
        self._expressions: dict[str, Callable[[Node], int]] = {
            "identifier": self._identifier,
            "attribute": self._attribute,
            "call": self._call,
            "assignment": self._assignment,
            "augmented_assignment": self._augmented_assignment,
            "lambda": self._lambda,
            "subscript": self._subscript,
            "dictionary": self._dictionary,
            **dict.fromkeys(("list", "tuple", "set", "expression_list"), self._list),
            **dict.fromkeys(_COMPREHENSIONS, self._comprehension),
            **dict.fromkeys(("conditional_expression", "boolean_operator"), self._either),
            "binary_operator": self._operator,
            "comparison_operator": self._comparison,
            "not_operator": self._not,
            **dict.fromkeys(("parenthesized_expression", "await"), self._inner),
            "named_expression": self._named_expression,
            "yield": self._yield,
            "as_pattern": self._alias,
        }
        # Handlers of syntax whose value is not used.
        self._visits: dict[str, Callable[[Node], object]] = {
            **self._expressions,
            **dict.fromkeys((*_LITERALS, *_NO_CODE, "identifier"), _no_value),
            "function_definition": lambda node: self._define(node, []),
            "class_definition": lambda node: self._define(node, []),
            "decorated_definition": self._decorated_definition,
            "return_statement": self._return,
            "import_statement": self._import,
            "import_from_statement": self._import,
            "for_statement": self._for,
            "with_item": self._with_item,
            "global_statement": self._global,
            "nonlocal_statement": self._global,
            "raise_statement": self._raise,
            "if_statement": self._if,
            "elif_clause": self._if,
            "while_statement": self._while,
            "delete_statement": self._delete,
            "interpolation": self._interpolation,
            "assert_statement": self._assert,
            "case_clause": self._case,
            "except_clause": self._except,
        }

    # --- walking the tree ---------------------------------------------------------------------------------------------

    def run(self, root: Node) -> FlowBuilder:
        """Walk the whole tree; returns its constraints."""
        self._block(root)
        return self.flow

    def _calls_on(self, receiver: Node | None, value: int, *names: str, suffix: str = "") -> None:
        """Record implicit calls of the methods `names` on an object, whose constraint node is `value`."""
        if receiver is not None and receiver.type in ASKED:
            for name in names if value else ():
                self._follow_call(receiver, value, name)
            self.flow.implicit += [Implicit(name, receiver, suffix) for name in names]

    def _follow_call(self, receiver: Node, value: int, name: str) -> None:
        """Record an implicit call, unless the points-to analysis leaves out the file because it is a test."""
        if self._followed:
            self.flow.implicit_call(self._scope, value, name, receiver.start_point[0] + 1)

    def _accesses(self, receiver: Node | None, value: int, name: str, suffix: str) -> None:
        """Record that an attribute is read (`suffix` is `()`) or set (`=`): a property calls its functions then."""
        if receiver is None or receiver.type not in ASKED:
            return
        is_own = value != 0 and value == self._self
        if not is_own or name in self._functions:
            self.flow.implicit.append(Implicit(name if suffix == "()" else f"{name}=", receiver))
        # Plain fields and constants are no properties.
        if value and not name.isupper() and not (is_own and name in self._fields):
            self._follow_call(receiver, value, name + suffix)

    def _tested(self, node: Node | None) -> int:
        """Walk an expression used as a truth value, which calls its `__bool__`; returns the node of its value."""
        value = self._value(node)
        if node is not None and value:
            self._follow_call(node, value, "__bool__")
        return value

    def _iterates(self, node: Node, right: Node | None) -> None:
        """Record the implicit calls of `for … in right`, in a statement or a comprehension."""
        later = asynchronous(node)
        self._calls_on(right, 0, f"__{later}iter__")
        self._calls_on(right, 0, f"__{later}next__", suffix=f".__{later}iter__()")

    def _block(self, node: Node) -> None:
        visits = self._visits
        for child in children(node):
            visit = visits.get(child.type)
            if visit is not None:
                visit(child)
            else:
                self._block(child)

    def _errors(self, node: Node) -> None:
        """Walk the syntax errors that are children of a definition: they may contain a part of its body."""
        for child in children(node):
            if child.type == "ERROR":
                self._block(child)

    def _visit(self, node: Node) -> None:
        visit = self._visits.get(node.type)
        if visit is not None:
            visit(node)
        else:
            self._block(node)

    def _value(self, node: Node | None) -> int:
        if node is None:
            return 0
        kind = node.type
        expression = self._expressions.get(kind)
        if expression is not None:
            return expression(node)
        # The parts of an f-string are evaluated, too.
        if kind not in _LITERALS or (kind == "string" and self._source[node.start_byte] not in _QUOTES):
            self._block(node)
        return 0

    # --- definitions --------------------------------------------------------------------------------------------------

    def _decorated_definition(self, node: Node) -> None:
        decorators = [child for child in children(node) if child.type == "decorator"]
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
        suffix = ""
        for decorator in decorators:
            inner = first_child(decorator)
            flag = _DECORATORS.get(self._text(inner).rpartition(".")[2], 0) if inner is not None else 0
            flags |= flag
            accessor = "property" if flag == PROPERTY else "setter"
            symbol = self._places.get(name.start_byte, -1)
            if flag == PROPERTY or (inner is not None and self._text(inner).endswith(".setter")):
                suffix = "()" if flag == PROPERTY else "="
                if symbol >= 0:
                    flow.accessors.append((symbol, accessor))
            elif not flag and inner is not None:
                wraps.append((self._value(inner), inner.start_point[0] + 1))
        make = self._class_body if node.type == "class_definition" else self._function_body
        value = make(node, self._places.get(name.start_byte, -1), flags)
        for decorator_node, line in reversed(wraps):
            value = flow.call(self._scope, decorator_node, line, [(0, value)], DECORATOR)
        owner = self._scope.owner
        if owner >= 0 and suffix:
            flow.row(MEMBER, owner, flow.string(text + suffix), value)
        if suffix == "=":
            return  # a setter: its name still means the getter
        target = flow.bind(self._scope, text)
        flow.copy(target, value)
        if owner >= 0:
            self._function_of[target] = self._function_of.get(value, -1)
            flow.row(MEMBER, owner, flow.string(text), value)

    def _class_body(self, node: Node, symbol: int, _flags: int) -> int:
        flow = self.flow
        class_index = len(flow.classes)
        flow.classes.append(symbol)
        before = self._scope, self._symbol, self._class, self._around
        self._around = symbol if symbol >= 0 else self._around
        superclasses = node.child_by_field_name("superclasses")
        listed_bases = children(superclasses) if superclasses else ()
        bases = [self._value(generic_base(base)) for base in listed_bases if base.type != "keyword_argument"]
        for base in bases:
            flow.row(BASE, class_index, base)
        # At the top level, the class is the caller of what its body calls.
        caller = flow.function(symbol) if self._function < 0 and symbol >= 0 else self._function
        self._scope = flow.scope(self._scope, caller, owner=class_index, hidden=True)
        self._symbol = symbol if symbol >= 0 else self._symbol
        self._class = class_index
        self._make_class(node, superclasses, bases)
        body = node.child_by_field_name("body")
        if node.has_error:
            self._errors(node)
        if body is not None:
            self._block(body)
        self._scope, self._symbol, self._class, self._around = before
        return flow.value(CLASS, class_index)

    def _make_class(self, node: Node, superclasses: Node | None, bases: list[int]) -> None:
        """Record what a class statement calls: the metaclass of the class or of its bases, and `__init_subclass__`."""
        flow, line = self.flow, node.start_point[0] + 1
        called = [flow.load(base, name) for base in bases if base for name in (METACLASS, "__init_subclass__")]
        for child in children(superclasses) if superclasses is not None else ():
            name = child.child_by_field_name("name") if child.type == "keyword_argument" else None
            if name is not None and self._text(name) == "metaclass":
                called.append(self._value(child.child_by_field_name("value")))
                flow.row(MEMBER, self._class, flow.string(METACLASS), called[-1])
        for value in called:
            flow.call(self._scope, value, line, [])

    def _function_body(self, node: Node, symbol: int, flags: int) -> int:
        flow = self.flow
        method = self._scope.owner
        if symbol >= 0:
            function = flow.function(symbol, method, flags)
        else:
            line, end = node.start_point[0] + 1, node.end_point[0] + 1
            function = flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte), flags)
        outer = self._around
        self._around = symbol if symbol >= 0 else outer
        self._enter(node, function, symbol, method, flags)
        self._around = outer
        return self._function_value(function)

    def _function_value(self, function: int) -> int:
        value = self.flow.value(FUNC, function)
        self._function_of[value] = function
        return value

    def _lambda(self, node: Node) -> int:
        line, end = node.start_point[0] + 1, node.end_point[0] + 1
        function = self.flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte))
        self._enter(node, function, -1, -1, 0)
        return self._function_value(function)

    def _enter(self, node: Node, function: int, symbol: int, method: int, flags: int) -> None:
        """Walk a function's parameters, whose defaults are evaluated in the enclosing scope, and then its body."""
        flow = self.flow
        before = self._scope, self._function, self._symbol, self._class, self._self, self._given
        self._given = {}
        inner = flow.scope(self._scope, function)
        parameters = node.child_by_field_name("parameters")
        for number, parameter in enumerate(children(parameters) if parameters is not None else ()):
            target = self._parameter(inner, function, parameter)
            if number == 0 and target and method >= 0 and not flags & STATIC:
                name = node.child_by_field_name("name")
                kind = CLASS if flags & CLASSMETHOD or (name and name.text == b"__new__") else SELF
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
        self._scope, self._function, self._symbol, self._class, self._self, self._given = before

    def _body(self, body: Node, declared: Node | None) -> None:
        """Walk a function's statements, and record type hints of its result: `declared`, or the returned values."""
        if declared is not None:
            self._know(RESULT, "", TYPE_OF, declared)
            self._declare(self.flow.functions[self._function].result, declared)
            self._block(body)
            return
        for child in children(body):
            value = first_child(child) if child.type == "return_statement" else None
            if value is not None and value.type in HINTS:
                self._know(RESULT, "", VALUE_OF, value)
            self._visit(child)

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
                name = first_child(name)
        if name is None:
            return 0
        text = self._text(name)
        if kind == SINGLE and name.type == "identifier":
            self._know(LOCAL, text, TYPE_OF if declared is not None else "", declared)
        target = self.flow.bind(inner, text)
        self.flow.parameter(function, target, text, kind)
        if declared is not None and kind == SINGLE:
            self._declare(target, declared)
        self.flow.copy(target, self._value(default))
        return target

    # --- statements ---------------------------------------------------------------------------------------------------

    def _return(self, node: Node) -> None:
        value = self._value(first_child(node))
        if self._function >= 0:
            self.flow.copy(self.flow.functions[self._function].result, value)

    def _import(self, node: Node) -> None:
        line = node.start_point[0] + 1
        module_node = node.child_by_field_name("module_name")
        module = self._text(module_node) if module_node is not None else ""
        for child in children(node):
            if module_node is not None and child.start_byte == module_node.start_byte:
                continue
            if child.type == "wildcard_import":
                index = self._imports.get((line, module, "*", ""), -1)
                if index >= 0:
                    self.flow.row(STAR, index)
                continue
            alias_node = child.child_by_field_name("alias") if child.type == "aliased_import" else None
            name_node = child.child_by_field_name("name") if child.type == "aliased_import" else child
            if name_node is None:
                continue
            name, alias = self._text(name_node), self._text(alias_node) if alias_node is not None else ""
            key = (line, module, name, alias) if module_node is not None else (line, name, "", alias)
            index = self._imports.get(key, -1)
            bound = alias or (name if module_node is not None else name.partition(".")[0])
            head = int(module_node is None and not alias and "." in name)
            target = self.flow.bind(self._scope, bound)
            if index >= 0:
                self.flow.row(IMPORT, target, index, head)
            if (module or name) in _MODELLED or bound in self._bases:
                self.flow.row(FREE, target, self.flow.string(f"{module}.{name}" if module else name))

    def _for(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self._each_of(left, right)
        self._iterates(node, right)
        item = self.flow.each(self._scope, self._value(right), node.start_point[0] + 1)
        self._assign(left, item)
        for name in ("body", "alternative"):
            part = node.child_by_field_name(name)
            if part is not None:
                self._visit(part)

    def _with_item(self, node: Node) -> None:
        value = node.child_by_field_name("value")
        if value is None:
            return
        line, has_alias = node.start_point[0] + 1, value.type == "as_pattern"
        if has_alias:
            self._know_alias(value, ENTERED)
        entered = first_child(value) if has_alias else value
        later = asynchronous(node.parent.parent) if node.parent is not None else ""
        self._calls_on(entered, 0, f"__{later}enter__", f"__{later}exit__")
        source, result = self._value(entered), 0
        for name in (f"__{later}exit__", f"__{later}enter__") if source else ():
            result = self.flow.call(self._scope, self.flow.load(source, name), line, [])
        alias = value.child_by_field_name("alias") if has_alias else None
        if alias is not None and alias.named_child_count:
            self._assign(first_child(alias), result)

    def _alias(self, node: Node) -> int:
        """Handle `x as y` where it stands outside `with` and `except`, such as in `except*`."""
        self._know_alias(node)
        self._block(node)
        return 0

    def _know_alias(self, node: Node, what: str = VALUE_OF) -> None:
        alias = node.child_by_field_name("alias")
        name = first_child(alias) if alias is not None else None
        if name is not None and name.type == "identifier":
            self._know(LOCAL, self._text(name), what, first_child(node))

    def _except(self, node: Node) -> None:
        for child in children(node):
            if child.type == "as_pattern":
                self._know_alias(child)
                source = self._value(first_child(child))
                alias = child.child_by_field_name("alias")
                instance = self.flow.call(self._scope, 0, node.start_point[0] + 1, [])
                if alias is not None and alias.named_child_count and source:
                    self._assign(first_child(alias), instance)
            else:
                self._visit(child)

    def _global(self, node: Node) -> None:
        for child in children(node):
            name = self._text(child)
            if node.type == "global_statement":
                self._scope.outer[name] = self.flow.module
                continue
            outer = self._scope.parent
            while outer is not None and (outer.hidden or name not in outer.bound):
                outer = outer.parent
            if outer is not None:
                self._scope.outer[name] = outer

    def _raise(self, node: Node) -> None:
        for number, child in enumerate(children(node)):
            value = self._value(child)
            if not number and child.type != "call":
                self.flow.call(self._scope, value, child.start_point[0] + 1, [], CONSTRUCT)

    # --- assignments --------------------------------------------------------------------------------------------------

    def _assignment(self, node: Node) -> int:
        # `a = b = ...` is nested, and a program may have written a long one: a loop instead of recursion.
        lefts: list[Node | None] = []
        while True:
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            if left is not None:
                self._give(node, left, right)
            if right is None or right.type != "assignment":
                break
            lefts.append(left)
            node = right
        value = 0
        if right is not None and left is not None and left.type in PATTERNS and right.type in TUPLES:
            self._pairwise(left, right)
        else:
            value = self._value(right)
            self._assign(left, value)
        for outer in reversed(lefts):
            self._assign(outer, value)
        return value

    def _pairwise(self, left: Node, right: Node) -> None:
        targets = [child for child in children(left) if child.type != "comment"]
        sources = [child for child in children(right) if child.type != "comment"]
        values = [self._value(child) for child in sources]
        stars = [at for at, child in enumerate(targets) if child.type == "list_splat_pattern"]
        if any(child.type == "list_splat" for child in sources) or (not stars and len(targets) != len(sources)):
            return
        if not stars:
            for target, source, value in zip(targets, sources, values, strict=True):
                nested = target.type in PATTERNS
                if nested and source.type in ("tuple", "list"):
                    self._pairwise(target, source)
                else:
                    self._assign(target, value)
            return
        star, after = stars[0], len(targets) - stars[0] - 1
        for target, value in zip(targets[:star], values, strict=False):
            self._assign(target, value)
        for target, value in zip(targets[star + 1 :], values[len(values) - after :], strict=False):
            self._assign(target, value)
        rest = self.flow.value(NEW)
        for number, value in enumerate(values[star : len(values) - after]):
            self.flow.put(rest, str(number), value)
        if targets[star].named_child_count:
            self._assign(first_child(targets[star]), rest)

    def _assign(self, left: Node | None, value: int) -> None:
        flow = self.flow
        if left is None:
            return
        if left.type == "identifier":
            text = self._text(left)
            flow.copy(flow.bind(self._scope, text), value)
            owner = self._scope.owner
            if owner >= 0 and value:
                flow.row(MEMBER, owner, flow.string(text), value)
                if value in self._setters:
                    flow.row(MEMBER, owner, flow.string(f"{text}()"), value)
                    flow.row(MEMBER, owner, flow.string(f"{text}="), self._setters[value])
        elif left.type == "attribute":
            name = left.child_by_field_name("attribute")
            obj = 0
            if name is not None:
                obj = self._value(receiver := left.child_by_field_name("object"))
                self._accesses(receiver, obj, self._text(name), "=")
            if name is not None and obj and value:
                flow.row(STORE, obj, flow.string(self._text(name)), value)
        elif left.type == "subscript":
            obj = self._value(receiver := left.child_by_field_name("value"))
            self._calls_on(receiver, obj, "__setitem__")
            key = left.child_by_field_name("subscript")
            self._keyed(key)
            self.flow.put(obj, self._key(key), value)
        elif left.type in PATTERNS:
            for number, child in enumerate(children(left)):
                part = flow.value(ITEM, value, flow.string(str(number))) if value else 0
                self._assign(child, part)
        elif left.type == "list_splat_pattern" and left.named_child_count:
            self._assign(first_child(left), value)

    def _augmented_assignment(self, node: Node) -> int:
        left = node.child_by_field_name("left")
        before = self._value(left)
        for name in of_operator(node, "__i"):
            self._calls_on(left, before, name)
        value = self._value(node.child_by_field_name("right"))
        self._assign(left, value)
        return value

    def _named_expression(self, node: Node) -> int:
        name, right = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and name.type == "identifier" and right is not None:
            self._know(LOCAL, self._text(name), VALUE_OF, right)
        value = self._value(right)
        self._assign(name, value)
        return value

    # --- expressions --------------------------------------------------------------------------------------------------

    def _identifier(self, node: Node) -> int:
        name = self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        scope = self._scope
        if scope.outer:
            scope = scope.outer.get(name, scope)
        return scope.names.get(name) or self.flow.use(scope, name)

    def _attribute(self, node: Node) -> int:
        name = node.child_by_field_name("attribute")
        obj = self._value(receiver := node.child_by_field_name("object"))
        if name is None:
            return 0
        read = self._text(name)
        self._accesses(receiver, obj, read, "()")
        return self.flow.load(obj, read)

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
        argument_list = node.child_by_field_name("arguments")
        arguments = self._arguments(argument_list) if argument_list is not None else []
        if callee_node.type == "identifier" and argument_list is not None:
            name = self._text(callee_node)
            if name in CALLING:
                self._calls_on(first_child(argument_list), 0, f"__{name}__")
            if self._scope.owner >= 0 and name in _DECORATORS and arguments:
                return self._accessor(arguments, _DECORATORS[name])
        if len(arguments) == 2 and cast_type(node) is not None:
            return arguments[1][1]
        if len(arguments) == 2 and callee_node.text == b"isinstance" and all(value for _, value in arguments):
            self.flow.row(TYPED, arguments[0][1], arguments[1][1])  # its callers are elsewhere
        is_taken = name_node is not None and len(arguments) > 1 and self._text(name_node) in _TAKING
        if is_taken and argument_list is not None and (attribute := attribute_name(argument_list, self._given)):
            return self.flow.either(self.flow.load(arguments[0][1], attribute), *(value for _, value in arguments[2:]))
        line = (name_node or callee_node).start_point[0] + 1
        return self.flow.call(self._scope, callee, line, arguments)

    def _accessor(self, arguments: list[tuple[int, int]], flag: int) -> int:
        """The node of the function `f` in `property(f, g)` or `classmethod(f)` in a class body, marked with `flag`."""
        flow = self.flow
        function = self._function_of.get(arguments[0][1], -1)
        if function < 0 or arguments[0][0] not in (0, ~flow.string("fget")):
            return 0
        flow.functions.append(flow.functions[function]._replace(flags=flag))
        value = self._function_value(len(flow.functions) - 1)
        setter = next((node for position, node in arguments if position in (1, ~flow.string("fset"))), 0)
        if flag == PROPERTY:
            self._setters[value] = setter
        return value

    def _arguments(self, argument_list: Node) -> list[tuple[int, int]]:
        """The arguments of a call, each as (position as in `FlowBuilder.call`, node)."""
        if argument_list.type == "generator_expression":
            return [(0, self._value(argument_list))]
        arguments: list[tuple[int, int]] = []
        position = 0
        for child in children(argument_list):
            kind = child.type
            if kind == "keyword_argument":
                name = child.child_by_field_name("name")
                value = self._value(child.child_by_field_name("value"))
                if name is not None:
                    arguments.append((~self.flow.string(self._text(name)), value))
            elif kind == "list_splat":
                arguments.append((SPREAD, self._value(first_child(child))))
            elif kind == "dictionary_splat":
                arguments.append((SPREAD_NAMED, self._value(first_child(child))))
            elif kind != "comment":
                arguments.append((position, self._value(child)))
                position += 1
        return arguments

    def _subscript(self, node: Node) -> int:
        obj = self._value(receiver := node.child_by_field_name("value"))
        self._calls_on(receiver, obj, "__getitem__")
        key = node.child_by_field_name("subscript")
        self._keyed(key)
        if not obj:
            return 0
        if key is not None and key.type == "slice":
            return obj
        return self.flow.value(ITEM, obj, self.flow.string(self._key(key)))

    def _keyed(self, key: Node | None) -> None:
        """Walk the key of a subscript, whose `__hash__` is called."""
        value = self._value(key)
        if key is not None and value:
            self._follow_call(key, value, "__hash__")

    def _dictionary(self, node: Node) -> int:
        obj = 0
        for child in children(node):
            if child.type == "pair":
                key = child.child_by_field_name("key")
                self._value(key)
                value = self._value(child.child_by_field_name("value"))
                obj = obj or self.flow.value(NEW)
                self.flow.put(obj, self._key(key), value)
            elif child.type == "dictionary_splat" and child.named_child_count:
                value = self._value(first_child(child))
                obj = obj or self.flow.value(NEW)
                self.flow.copy(obj, value)
        return obj or self.flow.value(NEW)

    def _list(self, node: Node) -> int:
        obj = self.flow.value(NEW)
        for number, child in enumerate(children(node)):
            if child.type == "list_splat" and child.named_child_count:
                source = self._value(first_child(child))
                self.flow.put(obj, "", self.flow.each(self._scope, source, child.start_point[0] + 1))
            else:
                self.flow.put(obj, str(number), self._value(child))
        return obj

    def _key(self, node: Node | None) -> str:
        """The source text of a key that is a constant string or integer; "" for any other key."""
        return self._text(node) if node is not None and node.type in ("string", "integer") else ""

    def _comprehension(self, node: Node) -> int:
        before = self._scope
        self._scope = self.flow.scope(before, self._function)
        for child in children(node):
            if child.type == "for_in_clause":
                left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
                self._each_of(left, right)
                self._iterates(child, right)
                item = self.flow.each(self._scope, self._value(right), child.start_point[0] + 1)
                self._assign(left, item)
            elif child.type == "if_clause":
                self._block(child)
        body = node.child_by_field_name("body")
        obj = self.flow.value(NEW)
        if body is not None and body.type == "pair":
            self._value(body.child_by_field_name("key"))
            self.flow.put(obj, "", self._value(body.child_by_field_name("value")))
        else:
            self.flow.put(obj, "", self._value(body))
        self._scope = before
        return obj

    def _either(self, node: Node) -> int:
        parts = list(children(node))
        tested = 1 if node.type == "conditional_expression" else 0
        values = [(self._tested if number == tested else self._value)(part) for number, part in enumerate(parts)]
        if tested and len(values) == 3:
            values.pop(1)
        return self.flow.either(*values)

    def _not(self, node: Node) -> int:
        self._tested(node.child_by_field_name("argument"))
        return 0

    def _operator(self, node: Node) -> int:
        """Walk a chain of operators without recursion, since a sum of a thousand strings is nested a thousand deep."""
        operands, names = [], []
        while node.type == "binary_operator":
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            if right is not None:
                operands.append(right)
            if left is None:
                break
            for name in of_operator(node, "__"):
                names.append((name, left))
            node = left
        else:
            operands.append(node)
        parts = [
            part for operand in operands for part in (children(operand) if operand.type == "tuple" else (operand,))
        ]
        values = {part.id: self._value(part) for part in reversed(parts)}
        for name, left in names:
            self._calls_on(left, values.get(left.id, 0), name)
        for part in parts[:-1] if node.type == "string" else ():  # `"%s" % x`
            self._follow_call(part, values[part.id], "__str__")
        return 0

    def _comparison(self, node: Node) -> int:
        values = {child.id: self._value(child) for child in children(node)}
        for name, operand in comparison_methods(node):
            self._calls_on(operand, values[operand.id], name)
        return 0

    def _interpolation(self, node: Node) -> None:
        """Handle a value in an f-string, which calls the value's `__format__` or `__repr__`."""
        conversions = [child for child in children(node) if child.type == "type_conversion"]
        for child in children(node):
            value = self._value(child)
            self._follow_call(
                child, value, "__repr__" if conversions and conversions[0].text == b"!r" else "__format__"
            )

    def _inner(self, node: Node) -> int:
        value = 0
        for child in children(node):
            value = self._value(child)
        return value

    def _yield(self, node: Node) -> int:
        value = self._value(first_child(node))
        if self._function >= 0:
            self.flow.flag(self._function, GENERATOR)
            target = self.flow.functions[self._function].item
            if any(child.type == "from" for child in node.children):
                value = self.flow.each(self._scope, value, node.start_point[0] + 1)
            self.flow.copy(target, value)
        return 0

    def _declare(self, target: int, declared: Node) -> None:
        """Record the declared types of a variable or result. Skips types that no program defines, such as `int`."""
        for text in types_of(self._text(declared)):
            head, *rest = text.split(".")
            kind = self.flow.use(self._scope, head)
            for name in rest:
                kind = self.flow.load(kind, name)
            self.flow.row(TYPED, target, kind)

    # --- tests --------------------------------------------------------------------------------------------------------

    def _if(self, node: Node) -> None:
        """Narrow the type of `x` in `if isinstance(x, T):`, and after `if not isinstance(x, T): return`."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is not None and body is not None:
            self._narrow_all(node, condition, body)
        self._while(node)

    def _while(self, node: Node) -> None:
        condition = node.child_by_field_name("condition")
        for child in children(node):
            if condition is not None and child.id == condition.id:
                self._tested(child)
            else:
                self._visit(child)

    def _assert(self, node: Node) -> None:
        condition, block = first_child(node), node.parent
        if condition is not None and condition.type == "call" and block is not None:
            self._narrow(condition, node.end_byte, block.end_byte)
        self._block(node)

    def _case(self, node: Node) -> None:
        self._know_case(node)
        self._block(node)

    def _delete(self, node: Node) -> None:
        for child in children(node):
            for part in children(child) if child.type in TUPLES else (child,):
                value = self._value(receiver := part.child_by_field_name("value"))
                self._calls_on(receiver, value, "__delitem__")
                self._keyed(part.child_by_field_name("subscript"))
