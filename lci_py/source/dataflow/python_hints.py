"""Reads the types of names from Python's text: annotations, assignments, loops, and tests such as `isinstance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import EACH_OF, LOCAL, MEMBER_OF, TYPE_OF, VALUE_OF, FlowBuilder, HintNode
from lci_py.source.dataflow.python_implicit import cast_type, children, first_child, leaves, operand_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern"})
TUPLES = frozenset({"tuple", "list", "expression_list"})
#: Kinds of expressions that are kept as type hints of the names that they are assigned to.
HINTS = frozenset({"call", "identifier", "attribute", "await"})
#: Kinds of expressions whose elements are known if what they stand for is.
_ITERATED = HINTS | {"subscript"}
#: Functions that pass on the elements of their first argument.
_PASSING = frozenset({"reversed", "sorted", "list", "tuple", "set", "frozenset", "iter"})
_NAMES = frozenset({"identifier", "attribute"})


class PythonHints:
    """Adds type hints to `flow`, and narrowed types: types that a name has in a range of the text only."""

    def __init__(self, source: bytes) -> None:
        self.flow = FlowBuilder()
        self.flow.given = []
        self._source = source
        self._around = -1  # the definition whose text this is: for a parameter's default, the function
        self._given: dict[str, Node] = {}  # local of the function -> the value that it was given last

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _know(self, role: int, name: str, what: str = "", node: Node | None = None) -> None:
        assert self.flow.given is not None
        self.flow.given.append(HintNode(self._around, role, name, what, node))

    def _give(self, node: Node, left: Node, right: Node | None) -> None:
        """Record the type hints that an assignment gives for the names on its left."""
        kind = left.type
        if kind in PATTERNS:
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
        elif right is not None and (operand := operand_of(right)).type in (_ITERATED if role == LOCAL else HINTS):
            self._know(role, name, VALUE_OF, operand)

    def _give_each(self, node: Node, left: Node, right: Node | None) -> None:
        """Record the hints of `a, b = …`: from the values at their positions, or from the elements of one value."""
        targets = list(children(left))
        sources = list(children(right)) if right is not None and right.type in TUPLES else []
        starred = any(child.type in ("list_splat_pattern", "list_splat") for child in (*targets, *sources))
        if sources and len(sources) == len(targets) and not starred:
            for target, source in zip(targets, sources, strict=True):
                self._give(node, target, source)
                if target.type == "identifier" and source.type not in HINTS:
                    self._know(LOCAL, self._text(target))
            return
        has_hint = right is not None and right.type in HINTS and not starred
        for number, target in enumerate(targets):
            if target.type == "identifier":
                self._know(LOCAL, self._text(target), f".{number}" if has_hint else "", right if has_hint else None)

    def _each_of(self, left: Node | None, right: Node | None) -> None:
        """Record that the names on the left are elements of the value on the right."""
        if left is None or right is None:
            return
        function, arguments = self._call_parts(right)
        while function in _PASSING and arguments:
            right = arguments[0]
            function, arguments = self._call_parts(right)
        if left.type == "identifier":
            self._know(LOCAL, self._text(left), EACH_OF, right)
            return
        if left.type not in PATTERNS:
            return
        for number, target in enumerate(children(left)):
            if function == "enumerate" and number == 1 and arguments:
                self._each_of(target, arguments[0])
            elif function == "zip" and number < len(arguments):
                self._each_of(target, arguments[number])
            elif target.type == "identifier" and function == "items" and number == 1 and arguments:
                self._know(LOCAL, self._text(target), f".values(){EACH_OF}", arguments[0])
            elif target.type == "identifier":
                has_hint = function not in ("enumerate", "zip", "items") and right.type in _ITERATED
                self._know(
                    LOCAL, self._text(target), f"{EACH_OF}.{number}" if has_hint else "", right if has_hint else None
                )

    def _call_parts(self, node: Node) -> tuple[str, list[Node]]:
        """(The name of a called function, its arguments); for `x.items()`, `x` is the argument. Else ("", [])."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        argument_list = node.child_by_field_name("arguments") if function is not None else None
        if function is None or argument_list is None:
            return "", []
        if function.type == "attribute":
            name, obj = function.child_by_field_name("attribute"), function.child_by_field_name("object")
            items = name is not None and obj is not None and self._text(name) == "items"
            return ("items", [obj]) if items and obj is not None else ("", [])
        if function.type != "identifier" or argument_list.type != "argument_list":
            return "", []
        return self._text(function), [child for child in children(argument_list) if child.type in _ITERATED]

    # --- narrowing ----------------------------------------------------------------------------------------------------

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
            block = node.parent
            if inner is not None and inner.type == "call" and block is not None and node.type == "if_statement":
                self._narrow(inner, node.end_byte, block.end_byte)

    def _narrow(self, test: Node, start: int, end: int) -> None:
        """Record that a name has a type from byte `start` to `end`, if the test is `isinstance(name, type)`."""
        function, arguments = test.child_by_field_name("function"), test.child_by_field_name("arguments")
        if (
            function is None
            or arguments is None
            or self._text(function) != "isinstance"
            or arguments.named_child_count != 2
        ):
            return
        name, kind = arguments.named_child(0), arguments.named_child(1)
        if name is None or kind is None or name.type not in _NAMES:
            return
        kinds = list(children(kind)) if kind.type == "tuple" else [kind]
        if kinds and all(type_.type in _NAMES for type_ in kinds):
            self._narrow_to(name, kinds, start, end)

    def _narrow_to(self, name: Node, kinds: Sequence[Node], start: int, end: int) -> None:
        text = "".join(self._text(name).split())
        self.flow.narrowed.append((start, end, text, "|".join("".join(self._text(kind).split()) for kind in kinds)))

    def _know_case(self, node: Node) -> None:
        """Record the type `T` that `case T(…):` gives to the matched name, and `case T(…) as x:` to `x`."""
        body = node.child_by_field_name("consequence")
        pattern = first_child(node)
        inner = first_child(pattern) if pattern is not None and pattern.type == "case_pattern" else None
        if inner is not None and inner.type == "as_pattern":
            alias = inner.named_child(inner.named_child_count - 1)
            subpattern = first_child(inner)
            inner = (
                first_child(subpattern) if subpattern is not None and subpattern.type == "case_pattern" else subpattern
            )
            kind = first_child(inner) if inner is not None and inner.type == "class_pattern" else None
            if alias is not None and alias.type == "identifier" and kind is not None:
                self._know(LOCAL, self._text(alias), TYPE_OF, kind)
        kind = first_child(inner) if inner is not None and inner.type == "class_pattern" else None
        statement = node.parent.parent if node.parent is not None else None
        subject = statement.child_by_field_name("subject") if statement is not None else None
        if kind is not None and body is not None and subject is not None and subject.type in _NAMES:
            self._narrow_to(subject, [kind], body.start_byte, body.end_byte)
