"""Finds the methods that Python calls implicitly, and the expression that a value comes from.

Source:
    The Python language reference, 3.3 ("Special method names"). For an operator, only the left operand's method counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.dataflow.constraints import ANY_NAME
from lci_py.source.syntax.selectors import CASTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tree_sitter import Node

#: Kinds of expressions of which it may be known what is called on them.
ASKED = frozenset({"identifier", "attribute", "call", "subscript"})
#: Functions that call a method of their first argument: `len(x)` calls `x.__len__()`.
CALLING = frozenset("len iter next reversed str repr abs hash bool int float bytes".split())
#: Statements that leave a block.
_LEAVING = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_FEW = 4
#: Where the metaclass of a class is stored among its members.
METACLASS = "<metaclass>"
_HOLE = re.compile(r"\{[^{}]*\}")
#: Minimum number of letters in the written part of a computed name.
_LEAST = 3
#: What `x or []` falls back to: it has no type of its own.
_EMPTY = frozenset({"list", "dictionary", "set", "tuple", "none"})
#: Types around the one that counts, and what separates several.
_TRANSPARENT = re.compile(r"(?:\w+\.)?(?:Optional|Union|Annotated|Final|ClassVar)\[(.*)\]", re.DOTALL)
_SEPARATOR = re.compile(r"[\s\"']*[|,][\s\"']*")
_DOTTED = re.compile(r"[^\W\d][\w.]*")
_BUILT_IN = frozenset("str int float bool bytes complex object list dict set tuple type None Any".split())
_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
    "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
}  # fmt: skip


def children(node: Node) -> Iterable[Node]:
    """The named children of a node, in order.

    For a node with few children, as most nodes have, this takes a third of the time of `named_children`, which also
    creates the unnamed children.
    """
    count = node.named_child_count
    return map(node.named_child, range(count)) if count < _FEW else node.named_children  # type: ignore[arg-type]


def first_child(node: Node) -> Node | None:
    """The first named child of a node; None if it has no named child."""
    return node.named_child(0) if node.named_child_count else None


def of_operator(node: Node, prefix: str) -> Iterator[str]:
    """The names of the methods that an operator calls. `prefix` is `__`, or `__i` for an augmented assignment."""
    operator = node.child_by_field_name("operator")
    name = _OPERATORS.get(operator.type.removesuffix("=")) if operator is not None else None
    if name is not None:
        yield f"{prefix}{name}__"


def comparison_methods(node: Node) -> Iterator[tuple[str, Node]]:
    """For each comparison in a chain (the called method, its receiver): `x in y` calls `__contains__` of `y`."""
    before: Node | None = None
    name = ""
    for child in node.children:
        if not child.is_named:
            word = _OPERATORS.get(child.type)
            name = f"__{word}__" if word else "__contains__" if child.type in ("in", "not in") else ""
            continue
        operand = child if name == "__contains__" else before
        if name and operand is not None:
            yield name, operand
        before, name = child, ""


def attribute_name(argument_list: Node, values: Mapping[str, Node]) -> str:
    """The attribute name that `getattr(x, name)` takes, with `*` for a computed part: `visit_*` for `f"visit_{kind}"`.

    If no part of the name is constant: `ANY_NAME` if the object is `self`, else "".

    Args:
        argument_list: The node of the argument list.
        values: Maps the function's locals to their values.
    """
    arguments = [child for child in argument_list.named_children if child.type != "comment"]
    if len(arguments) < 2:
        return ""
    name = _pattern(arguments[1], values)
    if name.replace("*", "").isidentifier():
        return name if "*" not in name or len(name) > _LEAST else ""
    return ANY_NAME if name == "*" and arguments[0].text == b"self" else ""


def _pattern(node: Node, values: Mapping[str, Node], depth: int = 3) -> str:
    """The glob for the possible values of a string expression, with `*` for each computed part."""
    if node.type == "string":
        parts = [child for child in node.named_children if child.type not in ("string_start", "string_end")]
        return "".join((child.text or b"").decode() if child.type == "string_content" else "*" for child in parts)
    if node.type == "identifier" and depth:
        value = values.get((node.text or b"").decode())
        return _pattern(value, values, depth - 1) if value is not None else "*"
    if node.type == "call":
        return _of_text_method(node, values, depth)
    operator = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if node.type != "binary_operator" or operator is None or left is None or right is None:
        return "*"
    if operator.type == "%":
        return _pattern(left, values, depth).replace("%s", "*")
    if operator.type != "+":
        return "*"
    return f"{_pattern(left, values, depth)}{_pattern(right, values, depth)}".replace("**", "*")


def _of_text_method(call: Node, values: Mapping[str, Node], depth: int) -> str:
    """The glob for the result of a string's method: `visit_*` for `"visit_{}".format(kind).lower()`."""
    function = call.child_by_field_name("function")
    of, name = (
        function.child_by_field_name(field) if function is not None else None for field in ("object", "attribute")
    )
    if of is None or name is None or not depth:
        return "*"
    before = _pattern(of, values, depth - 1)
    if name.text == b"format":
        return _HOLE.sub("*", before)
    return getattr(before, (name.text or b"").decode())() if name.text in (b"lower", b"upper", b"strip") else "*"


def asynchronous(node: Node | None) -> str:
    """ "a" for an asynchronous statement, whose methods have that letter in their names (`__aiter__`); else ""."""
    return "a" if node is not None and node.children[0].type == "async" else ""


def operand_of(node: Node) -> Node:
    """The operand that has an expression's type: `x` in `x or []` and `x if c else None`; else the node itself."""
    parts = [child for child in node.named_children if child.type != "comment"]
    operator = node.child_by_field_name("operator") if node.type == "boolean_operator" else None
    if node.type == "conditional_expression" and len(parts) == 3:
        del parts[1]
    elif operator is None or operator.type != "or":
        return node
    candidates = [part for part in parts if part.type not in _EMPTY]
    return candidates[0] if len(candidates) == 1 else node


def generic_base(base: Node) -> Node:
    """The node of `Base` for a base class `Base[T]`; other nodes unchanged."""
    return (base.child_by_field_name("value") or base) if base.type == "subscript" else base


def leaves(body: Node) -> bool:
    """Whether a block ends with a jump out of the enclosing block, such as `return`."""
    last = body.named_child(body.named_child_count - 1) if body.named_child_count else None
    return last is not None and last.type in _LEAVING


def types_of(text: str) -> list[str]:
    """The dotted names of those types in an annotation (`Pool | None`, `Optional[Pool]`) that a program may define."""
    text = text.strip("\"' ")
    inner = _TRANSPARENT.fullmatch(text)
    parts = _SEPARATOR.split(inner[1] if inner else text)
    return [part for part in parts if part not in _BUILT_IN and _DOTTED.fullmatch(part)]


def cast_type(call: Node) -> Node | None:
    """The node of the type `T` in `cast(T, x)`; None for other calls."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.named_child_count != 2 or function.text not in CASTS:
        return None
    return first_child(arguments)
