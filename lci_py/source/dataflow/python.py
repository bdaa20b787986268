"""Lowers Python's syntax trees to constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    BASE,
    CLASS,
    CLASSMETHOD,
    CONSTRUCT,
    DECORATOR,
    EACH_OF,
    ENTERED,
    FREE,
    FUNC,
    GENERATOR,
    IMPORT,
    ITEM,
    LOCAL,
    MEMBER,
    MEMBER_OF,
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
    HintNode,
    Implicit,
    Scope,
)
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
    leaves,
    of_operator,
    operand_of,
    types_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import

_DECORATORS = {"staticmethod": STATIC, "classmethod": CLASSMETHOD, "property": PROPERTY, "cached_property": PROPERTY}
_LITERALS = frozenset({"integer", "float", "string", "true", "false", "none", "concatenated_string", "ellipsis"})
_NO_CODE = frozenset({"future_import_statement", "delete_statement", "comment"})
_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "generator_expression", "dictionary_comprehension"}
)
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_TUPLES = frozenset({"tuple", "list", "expression_list"})
#: Kinds of expressions that are kept as type hints of the names that they are assigned to.
_HINTS = frozenset({"call", "identifier", "attribute", "await"})
#: Kinds of expressions whose elements are known if what they stand for is.
_ITERATED = _HINTS | {"subscript"}
#: Functions that pass on the elements of their first argument.
_PASSING = frozenset({"reversed", "sorted", "list", "tuple", "set", "frozenset", "iter"})
#: Modules of the library that hold functions as values, or pass them on: `callgraph.pointsto.library_models` knows how.
_MODELLED = frozenset({"argparse", "collections", "copy", "functools", "types"})
_NAMES = frozenset({"identifier", "attribute"})
#: Functions that take the name of an attribute.
_TAKING = frozenset({"getattr", "__getattribute__"})
_QUOTES = b"\"'"


def _no_value(_node: Node) -> None:
    """Handles a node without values in it."""


class PythonFlow:
    """Walks a syntax tree once, and adds its constraints to `flow`."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        """Args:
        places: First byte of a definition's name to its place among the symbols.
        """
        self.flow = FlowBuilder()
        self.flow.given = []
        self._source = source
        self._places = places
        self._imports = {(i.line, i.module, i.name, i.alias): place for place, i in enumerate(imports)}
        self._scope: Scope = self.flow.module
        self._function = -1
        self._symbol = -1  # the symbol that code here belongs to
        self._around = -1  # the definition whose text this is: for a parameter's default, the function
        self._class = -1
        self._self = 0
        self._given: dict[str, Node] = {}  # local of the function -> the value that it was given last
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
            "assert_statement": self._assert,
            "case_clause": self._case,
            "except_clause": self._except,
        }

    # --- walking the tree ---------------------------------------------------------------------------------------------

    def run(self, root: Node) -> FlowBuilder:
        """The constraints of the whole tree."""
        self._block(root)
        return self.flow

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _calls_on(self, receiver: Node | None, *names: str, suffix: str = "") -> None:
        """Record implicit calls on an object."""
        if receiver is not None and receiver.type in ASKED:
            self.flow.implicit += [Implicit(name, receiver, suffix) for name in names]

    def _iterates(self, node: Node, right: Node | None) -> None:
        """`for … in right`, also in a comprehension."""
        later = asynchronous(node)
        self._calls_on(right, f"__{later}iter__")
        self._calls_on(right, f"__{later}next__", suffix=f".__{later}iter__()")

    def _block(self, node: Node) -> None:
        visits = self._visits
        for child in children(node):
            visit = visits.get(child.type)
            if visit is not None:
                visit(child)
            else:
                self._block(child)

    def _errors(self, node: Node) -> None:
        """Walk syntax errors directly inside a definition: they may contain a part of its body."""
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
        for decorator in decorators:
            inner = first_child(decorator)
            known = _DECORATORS.get(self._text(inner).rpartition(".")[2], 0) if inner is not None else 0
            flags |= known
            accessor = "property" if known == PROPERTY else "setter"
            symbol = self._places.get(name.start_byte, -1)
            if symbol >= 0 and inner is not None and (known == PROPERTY or self._text(inner).endswith(".setter")):
                flow.accessors.append((symbol, accessor))
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
        listed = node.child_by_field_name("superclasses")
        listed_bases = children(listed) if listed else ()
        bases = [self._value(generic_base(base)) for base in listed_bases if base.type != "keyword_argument"]
        for base in bases:
            flow.row(BASE, place, base)
        # At the top level, the class is the caller of what its body calls.
        caller = flow.function(symbol) if self._function < 0 and symbol >= 0 else self._function
        self._scope = flow.scope(self._scope, caller, owner=place, hidden=True)
        self._symbol = symbol if symbol >= 0 else self._symbol
        self._class = place
        self._make_class(node, listed, bases)
        body = node.child_by_field_name("body")
        if node.has_error:
            self._errors(node)
        if body is not None:
            self._block(body)
        self._scope, self._symbol, self._class, self._around = before
        return flow.value(CLASS, place)

    def _make_class(self, node: Node, listed: Node | None, bases: list[int]) -> None:
        """What a class statement calls: its metaclass, or that of its bases, and their `__init_subclass__`."""
        flow, line = self.flow, node.start_point[0] + 1
        called = [flow.load(base, name) for base in bases if base for name in (METACLASS, "__init_subclass__")]
        for child in children(listed) if listed is not None else ():
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
        around = self._around
        self._around = symbol if symbol >= 0 else around
        self._enter(node, function, symbol, method, flags)
        self._around = around
        return flow.value(FUNC, function)

    def _lambda(self, node: Node) -> int:
        line, end = node.start_point[0] + 1, node.end_point[0] + 1
        function = self.flow.anonymous(self._symbol, line, end, (node.start_byte, node.end_byte))
        self._enter(node, function, -1, -1, 0)
        return self.flow.value(FUNC, function)

    def _enter(self, node: Node, function: int, symbol: int, method: int, flags: int) -> None:
        """Walk the parameters of a function, whose defaults are evaluated in the enclosing scope, and its body."""
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
        """Walk the statements of a function, and record type hints of its result."""
        if declared is not None:
            self._know(RESULT, "", TYPE_OF, declared)
            self._declare(self.flow.functions[self._function].result, declared)
            self._block(body)
            return
        for child in children(body):
            given = first_child(child) if child.type == "return_statement" else None
            if given is not None and given.type in _HINTS:
                self._know(RESULT, "", VALUE_OF, given)
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
            if (module or name) in _MODELLED:
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
        line, named = node.start_point[0] + 1, value.type == "as_pattern"
        if named:
            self._know_alias(value, ENTERED)
        entered = first_child(value) if named else value
        later = asynchronous(node.parent.parent) if node.parent is not None else ""
        self._calls_on(entered, f"__{later}enter__", f"__{later}exit__")
        source = self._value(entered)
        found = self.flow.call(self._scope, self.flow.load(source, "__enter__"), line, []) if source else 0
        if source:
            self.flow.call(self._scope, self.flow.load(source, "__exit__"), line, [])
        alias = value.child_by_field_name("alias") if named else None
        if alias is not None and alias.named_child_count:
            self._assign(first_child(alias), found)

    def _alias(self, node: Node) -> int:
        """`x as y` outside `with` and `except`, as in `except*`."""
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
                made = self.flow.call(self._scope, 0, node.start_point[0] + 1, [])
                if alias is not None and alias.named_child_count and source:
                    self._assign(first_child(alias), made)
            else:
                self._visit(child)

    def _global(self, node: Node) -> None:
        for child in children(node):
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
        if right is not None and left is not None and left.type in _PATTERNS and right.type in _TUPLES:
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
                nested = target.type in _PATTERNS
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
            if self._scope.owner >= 0 and value:
                flow.row(MEMBER, self._scope.owner, flow.string(text), value)
        elif left.type == "attribute":
            name = left.child_by_field_name("attribute")
            if name is not None:
                self._calls_on(left.child_by_field_name("object"), f"{self._text(name)}=")
            obj = self._value(left.child_by_field_name("object"))
            if name is not None and obj and value:
                flow.row(STORE, obj, flow.string(self._text(name)), value)
        elif left.type == "subscript":
            self._calls_on(left.child_by_field_name("value"), "__setitem__")
            obj = self._value(left.child_by_field_name("value"))
            key = left.child_by_field_name("subscript")
            self._value(key)
            self.flow.put(obj, self._key(key), value)
        elif left.type in _PATTERNS:
            for number, child in enumerate(children(left)):
                part = flow.value(ITEM, value, flow.string(str(number))) if value else 0
                self._assign(child, part)
        elif left.type == "list_splat_pattern" and left.named_child_count:
            self._assign(first_child(left), value)

    def _augmented_assignment(self, node: Node) -> int:
        for name in of_operator(node, "__i"):
            self._calls_on(node.child_by_field_name("left"), name)
        value = self._value(node.child_by_field_name("right"))
        self._assign(node.child_by_field_name("left"), value)
        return value

    def _named_expression(self, node: Node) -> int:
        name, given = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and name.type == "identifier" and given is not None:
            self._know(LOCAL, self._text(name), VALUE_OF, given)
        value = self._value(given)
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
        if name is not None:
            self._calls_on(node.child_by_field_name("object"), self._text(name))
        return self._member(node, name)

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
        if callee_node.type == "identifier" and listed is not None:
            name = self._text(callee_node)
            if name in CALLING:
                self._calls_on(first_child(listed), f"__{name}__")
        if len(arguments) == 2 and cast_type(node) is not None:
            return arguments[1][1]
        is_taken = name_node is not None and len(arguments) > 1 and self._text(name_node) in _TAKING
        if is_taken and listed is not None and (wanted := attribute_name(listed, self._given)):
            return self.flow.either(self.flow.load(arguments[0][1], wanted), *(value for _, value in arguments[2:]))
        line = (name_node or callee_node).start_point[0] + 1
        return self.flow.call(self._scope, callee, line, arguments)

    def _arguments(self, listed: Node) -> list[tuple[int, int]]:
        """Position, as in `FlowBuilder.call`, and node of each argument."""
        if listed.type == "generator_expression":
            return [(0, self._value(listed))]
        arguments: list[tuple[int, int]] = []
        position = 0
        for child in children(listed):
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
        self._calls_on(node.child_by_field_name("value"), "__getitem__")
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
        for child in children(node):
            if child.type == "pair":
                key = child.child_by_field_name("key")
                self._value(key)
                value = self._value(child.child_by_field_name("value"))
                made = made or self.flow.value(NEW)
                self.flow.put(made, self._key(key), value)
            elif child.type == "dictionary_splat" and child.named_child_count:
                value = self._value(first_child(child))
                made = made or self.flow.value(NEW)
                self.flow.copy(made, value)
        return made or self.flow.value(NEW)

    def _list(self, node: Node) -> int:
        made = self.flow.value(NEW)
        for number, child in enumerate(children(node)):
            if child.type == "list_splat" and child.named_child_count:
                source = self._value(first_child(child))
                self.flow.put(made, "", self.flow.each(self._scope, source, child.start_point[0] + 1))
            else:
                self.flow.put(made, str(number), self._value(child))
        return made

    def _key(self, node: Node | None) -> str:
        """A constant key as it is written; "" for any other."""
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
        made = self.flow.value(NEW)
        if body is not None and body.type == "pair":
            self._value(body.child_by_field_name("key"))
            self.flow.put(made, "", self._value(body.child_by_field_name("value")))
        else:
            self.flow.put(made, "", self._value(body))
        self._scope = before
        return made

    def _either(self, node: Node) -> int:
        found = [self._value(child) for child in children(node)]
        if node.type == "conditional_expression" and len(found) == 3:
            found.pop(1)
        return self.flow.either(*found)

    def _operator(self, node: Node) -> int:
        """Walk a chain of operators without recursion: a sum of a thousand strings is nested a thousand deep."""
        operands = []
        while node.type == "binary_operator":
            right, left = node.child_by_field_name("right"), node.child_by_field_name("left")
            if right is not None:
                operands.append(right)
            if left is None:
                break
            for name in of_operator(node, "__"):
                self._calls_on(left, name)
            node = left
        else:
            operands.append(node)
        for operand in reversed(operands):
            self._visit(operand)
        return 0

    def _comparison(self, node: Node) -> int:
        for name, operand in comparison_methods(node):
            self._calls_on(operand, name)
        self._block(node)
        return 0

    def _inner(self, node: Node) -> int:
        found = 0
        for child in children(node):
            found = self._value(child)
        return found

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
        """Record the declared types of a variable or result, as far as a program may define them."""
        for text in types_of(self._text(declared)):
            head, *rest = text.split(".")
            kind = self.flow.use(self._scope, head)
            for name in rest:
                kind = self.flow.load(kind, name)
            self.flow.row(TYPED, target, kind)

    # --- type hints ---------------------------------------------------------------------------------------------------

    def _know(self, role: int, name: str, what: str = "", node: Node | None = None) -> None:
        assert self.flow.given is not None
        self.flow.given.append(HintNode(self._around, role, name, what, node))

    def _give(self, node: Node, left: Node, right: Node | None) -> None:
        """Record the type hints that an assignment gives for the names on its left."""
        kind = left.type
        if kind in _PATTERNS:
            self._give_each(node, left, right)
            return
        if kind == "identifier":
            role, name = LOCAL, self._text(left)
            if right is not None and not self._source.startswith(f"{name}.".encode(), right.start_byte):
                self._given[name] = right
        elif kind == "attribute":
            obj, attribute = left.child_by_field_name("object"), left.child_by_field_name("attribute")
            if obj is None or attribute is None or obj.type != "identifier" or self._text(obj) != "self":
                return
            role, name = MEMBER_OF, self._text(attribute)
        else:
            return
        declared = node.child_by_field_name("type")
        if declared is None and right is not None and right.type == "call":
            declared = cast_type(right)
        if declared is not None:
            self._know(role, name, TYPE_OF, declared)
        elif right is not None and (one := operand_of(right)).type in (_ITERATED if role == LOCAL else _HINTS):
            self._know(role, name, VALUE_OF, one)

    def _give_each(self, node: Node, left: Node, right: Node | None) -> None:
        """Record the hints of `a, b = …`: from the value beside each name, or from the elements of one value."""
        targets = list(children(left))
        sources = list(children(right)) if right is not None and right.type in _TUPLES else []
        starred = any(child.type in ("list_splat_pattern", "list_splat") for child in (*targets, *sources))
        if sources and len(sources) == len(targets) and not starred:
            for target, source in zip(targets, sources, strict=True):
                self._give(node, target, source)
                if target.type == "identifier" and source.type not in _HINTS:
                    self._know(LOCAL, self._text(target))
            return
        known = right is not None and right.type in _HINTS and not starred
        for number, target in enumerate(targets):
            if target.type == "identifier":
                self._know(LOCAL, self._text(target), f".{number}" if known else "", right if known else None)

    def _each_of(self, left: Node | None, right: Node | None) -> None:
        """Record that a name, or several, are elements of the value on the right."""
        if left is None or right is None:
            return
        function, arguments = self._call_parts(right)
        while function in _PASSING and arguments:
            right = arguments[0]
            function, arguments = self._call_parts(right)
        if left.type == "identifier":
            self._know(LOCAL, self._text(left), EACH_OF, right)
            return
        if left.type not in _PATTERNS:
            return
        for number, target in enumerate(children(left)):
            if function == "enumerate" and number == 1 and arguments:
                self._each_of(target, arguments[0])
            elif function == "zip" and number < len(arguments):
                self._each_of(target, arguments[number])
            elif target.type == "identifier" and function == "items" and number == 1 and arguments:
                self._know(LOCAL, self._text(target), f".values(){EACH_OF}", arguments[0])
            elif target.type == "identifier":
                known = function not in ("enumerate", "zip", "items") and right.type in _ITERATED
                self._know(LOCAL, self._text(target), f"{EACH_OF}.{number}" if known else "", right if known else None)

    def _call_parts(self, node: Node) -> tuple[str, list[Node]]:
        """The name of a called function, and its arguments; for `x.items()`, the object."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        listed = node.child_by_field_name("arguments") if function is not None else None
        if function is None or listed is None:
            return "", []
        if function.type == "attribute":
            name, obj = function.child_by_field_name("attribute"), function.child_by_field_name("object")
            items = name is not None and obj is not None and self._text(name) == "items"
            return ("items", [obj]) if items and obj is not None else ("", [])
        if function.type != "identifier" or listed.type != "argument_list":
            return "", []
        return self._text(function), [child for child in children(listed) if child.type in _ITERATED]

    # --- narrowing ----------------------------------------------------------------------------------------------------

    def _if(self, node: Node) -> None:
        """`if isinstance(x, T):`, and the code after `if not isinstance(x, T): return`."""
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is not None and body is not None:
            self._narrow_all(node, condition, body)
        self._block(node)

    def _narrow_all(self, node: Node, condition: Node, body: Node) -> None:
        if condition.type == "boolean_operator":
            operator = condition.child_by_field_name("operator")
            left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
            if operator is None or operator.type != "and" or left is None or right is None:
                return
            for part in (left, right):
                if part.type == "call":
                    self._narrow(part, part.end_byte, body.end_byte)
                elif part.type == "boolean_operator":
                    self._narrow_all(node, part, body)
        elif condition.type == "call":
            self._narrow(condition, body.start_byte, body.end_byte)
        elif condition.type == "not_operator" and node.next_named_sibling is not None and leaves(body):
            inner = condition.child_by_field_name("argument")
            around = node.parent
            if inner is not None and inner.type == "call" and around is not None and node.type == "if_statement":
                self._narrow(inner, node.end_byte, around.end_byte)

    def _assert(self, node: Node) -> None:
        condition, around = first_child(node), node.parent
        if condition is not None and condition.type == "call" and around is not None:
            self._narrow(condition, node.end_byte, around.end_byte)
        self._block(node)

    def _narrow(self, test: Node, start: int, end: int) -> None:
        """Record that a name has a type between two bytes, if the test says so."""
        function, listed = test.child_by_field_name("function"), test.child_by_field_name("arguments")
        if function is None or listed is None or self._text(function) != "isinstance" or listed.named_child_count != 2:
            return
        name, kind = listed.named_child(0), listed.named_child(1)
        if name is None or kind is None or name.type not in _NAMES:
            return
        kinds = list(children(kind)) if kind.type == "tuple" else [kind]
        if kinds and all(one.type in _NAMES for one in kinds):
            self._narrow_to(name, kinds, start, end)

    def _narrow_to(self, name: Node, kinds: Sequence[Node], start: int, end: int) -> None:
        text = "".join(self._text(name).split())
        self.flow.narrowed.append((start, end, text, "|".join("".join(self._text(one).split()) for one in kinds)))

    def _case(self, node: Node) -> None:
        """`case T(…):` for a name, and `case T(…) as x:`."""
        body = node.child_by_field_name("consequence")
        pattern = first_child(node)
        inner = first_child(pattern) if pattern is not None and pattern.type == "case_pattern" else None
        if inner is not None and inner.type == "as_pattern":
            alias = inner.named_child(inner.named_child_count - 1)
            held = first_child(inner)
            inner = first_child(held) if held is not None and held.type == "case_pattern" else held
            kind = first_child(inner) if inner is not None and inner.type == "class_pattern" else None
            if alias is not None and alias.type == "identifier" and kind is not None:
                self._know(LOCAL, self._text(alias), TYPE_OF, kind)
        kind = first_child(inner) if inner is not None and inner.type == "class_pattern" else None
        around = node.parent.parent if node.parent is not None else None
        subject = around.child_by_field_name("subject") if around is not None else None
        if kind is not None and body is not None and subject is not None and subject.type in _NAMES:
            self._narrow_to(subject, [kind], body.start_byte, body.end_byte)
        self._block(node)
