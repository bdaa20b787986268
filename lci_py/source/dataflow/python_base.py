"""Python's syntax as constraints: where things are, and what assignments do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import (
    EACH_OF,
    ITEM,
    LOCAL,
    MEMBER,
    MEMBER_OF,
    NEW,
    PUT,
    STORE,
    TYPE_OF,
    VALUE_OF,
    FlowBuilder,
    Given,
    Scope,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tree_sitter import Node

    from lci_py.types.source import Import

_LITERALS = frozenset({"integer", "float", "string", "true", "false", "none", "concatenated_string", "ellipsis"})
PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
_TUPLES = frozenset({"tuple", "list", "expression_list"})
#: What a name is given counts if it is one of these.
GIVEN = frozenset({"call", "identifier", "attribute", "await"})
_FEW = 4
_QUOTES = b"\"'"


def named(node: Node) -> Iterable[Node]:
    """The named children of a node, in order.

    For the few that most nodes have it takes a third of the time of `named_children`, which makes the others as well.
    """
    count = node.named_child_count
    return map(node.named_child, range(count)) if count < _FEW else node.named_children  # type: ignore[arg-type]


def first(node: Node) -> Node | None:
    """The first named child of a node."""
    return node.named_child(0) if node.named_child_count else None


class Lowering:
    """The state of a walk through a syntax tree, and what all parts of it need."""

    def __init__(self, source: bytes, places: Mapping[int, int], imports: Sequence[Import]) -> None:
        """
        Args:
            source: The file.
            places: First byte of a definition's name -> place among the symbols.
            imports: The file's.
        """
        self.flow = FlowBuilder()
        self.flow.given = []
        self._source = source
        self._places = places
        self._imports = {(i.line, i.module, i.name, i.alias): place for place, i in enumerate(imports)}
        self._scope: Scope = self.flow.module
        self._function = -1
        self._symbol = -1  # what code here belongs to
        self._around = -1  # the definition whose text this is: of a parameter's default, the function
        self._class = -1
        self._self = 0
        self._expressions: dict[str, Callable[[Node], int]] = {"identifier": self._identifier}
        #: What is done with a node whose value nobody asks for.
        self._visits: dict[str, Callable[[Node], object]] = dict.fromkeys(_LITERALS, _nothing)

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _block(self, node: Node) -> None:
        visits = self._visits
        for child in named(node):
            visit = visits.get(child.type)
            if visit is not None:
                visit(child)
            else:
                self._block(child)

    def _errors(self, node: Node) -> None:
        """What could not be parsed right inside a definition: a part of its body may stand there."""
        for child in named(node):
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
        # An f-string's parts are evaluated, too.
        if kind not in _LITERALS or (kind == "string" and self._source[node.start_byte] not in _QUOTES):
            self._block(node)
        return 0

    def _identifier(self, node: Node) -> int:
        name = self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        scope = self._scope
        if scope.outer:
            scope = scope.outer.get(name, scope)
        return scope.names.get(name) or self.flow.use(scope, name)

    def _assignment(self, node: Node) -> int:
        # `a = b = ...` is nested: not gone down, for the sake of what a program has written.
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
        if right is not None and left is not None and left.type in PATTERNS and right.type in _TUPLES:
            self._pairwise(left, right)
        else:
            value = self._value(right)
            self._assign(left, value, right)
        for outer in reversed(lefts):
            self._assign(outer, value, None)
        return value

    def _pairwise(self, left: Node, right: Node) -> None:
        targets = [child for child in named(left) if child.type != "comment"]
        sources = [child for child in named(right) if child.type != "comment"]
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
        if targets[star].named_child_count:
            self._assign(first(targets[star]), rest, None)

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
        elif left.type in PATTERNS:
            for number, child in enumerate(named(left)):
                part = flow.value(ITEM, value, flow.string(str(number))) if value else 0
                self._assign(child, part, None)
        elif left.type == "list_splat_pattern" and left.named_child_count:
            self._assign(first(left), value, None)

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
        name, given = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and name.type == "identifier" and given is not None:
            self._know(LOCAL, self._text(name), VALUE_OF, given)
        value = self._value(given)
        self._assign(name, value, None)
        return value

    # --- what is known of names -----------------------------------------------------------------------------------

    def _know(self, role: int, name: str, what: str = "", node: Node | None = None) -> None:
        assert self.flow.given is not None
        self.flow.given.append(Given(self._around, role, name, what, node))

    def _give(self, node: Node, left: Node, right: Node | None) -> None:
        """Take down what an assignment says of the names on its left."""
        kind = left.type
        if kind == "pattern_list":
            self._know_all(left)
            return
        if kind == "identifier":
            role, name = LOCAL, self._text(left)
        elif kind == "attribute":
            obj, attribute = left.child_by_field_name("object"), left.child_by_field_name("attribute")
            if obj is None or attribute is None or obj.type != "identifier" or self._text(obj) != "self":
                return
            role, name = MEMBER_OF, self._text(attribute)
        else:
            return
        declared = node.child_by_field_name("type")
        if declared is not None:
            self._know(role, name, TYPE_OF, declared)
        elif right is not None and (right.type in GIVEN or (right.type == "subscript" and role == LOCAL)):
            self._know(role, name, VALUE_OF, right)

    def _know_all(self, names: Node) -> None:
        """Names that get something, nobody knows what."""
        for child in named(names):
            if child.type == "identifier":
                self._know(LOCAL, self._text(child))

    def _each_of(self, left: Node | None, right: Node | None) -> None:
        """Take down that a name is each of what is on the right."""
        if left is not None and left.type == "identifier" and right is not None:
            self._know(LOCAL, self._text(left), EACH_OF, right)


def _nothing(_node: Node) -> None:
    """A literal, or what has no values in it."""
