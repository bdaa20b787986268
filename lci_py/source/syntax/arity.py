"""Counts a call's arguments and a definition's parameters, to tell overloaded definitions apart.

A definition's arity is one number, so that tables of symbols stay small: the least number of arguments times 256, plus
the largest number. `UNKNOWN` stands for any number of arguments or parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lci_py.source.text.language_tables import has_rule, table_of
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN = -1
_WIDTH = 256
#: As the most: any number. Larger counts are clamped to it.
_MANY = _WIDTH - 1
#: As a number of arguments: a name without a call, in the text of a macro that is nothing but this name.
NAMED = -2
#: The largest arity.
LARGEST = _WIDTH * _WIDTH - 1
#: Types of arguments that stand for any number of arguments.
_SPREADS = frozenset({"spread_expression", "parameter_pack_expansion", "vararg"})


def pack_arity(minimum: int, maximum: int) -> int:
    """The arity, as one number, of a definition that takes `minimum` to `maximum` arguments."""
    return min(minimum, _MANY) * _WIDTH + min(maximum, _MANY)


def with_least(arity: int, minimum: int) -> int:
    """The arity with another least number of arguments."""
    return pack_arity(minimum, arity % _WIDTH)


def has_defaults(arity: int) -> bool:
    """Whether a definition may be called with fewer arguments than it has parameters."""
    return arity < 0 or arity // _WIDTH != arity % _WIDTH


def takes(arity: int, arguments: int) -> bool:
    """Whether a definition with this arity can be called with `arguments` arguments; True if either is unknown."""
    if arity < 0 or arguments < 0:
        return True
    minimum, maximum = divmod(arity, _WIDTH)
    return minimum <= arguments and (maximum == _MANY or arguments <= maximum)


def lacks_only_defaults(arity: int, arguments: int) -> bool:
    """Whether so few `arguments` would fit if some parameters had defaults, as a C++ prototype may declare."""
    maximum = arity % _WIDTH
    return arity >= 0 and (maximum == _MANY or arguments <= maximum)


def arguments_of(language: str, call: Node, callee: Node) -> int:
    """The number of arguments of a call; `UNKNOWN` if it has no argument list or one argument stands for several."""
    count = _ARGUMENTS.get(table_of(language).get("arguments", ""))
    return count(call, callee) if count is not None else UNKNOWN


def arity_of(language: str, kind: str, node: Node, name: Node) -> int:
    """The arity of a definition; `UNKNOWN` if the language has no overloading by arity."""
    count = _PARAMETERS.get(table_of(language).get("parameters", ""))
    has_one = kind in FUNCTION_KINDS or (kind in TYPE_KINDS and not has_rule(language, "function_arity"))
    return count(node, name) if count is not None and has_one else UNKNOWN


# --- arguments --------------------------------------------------------------------------------------------------------


def _child(node: Node, *types: str) -> Node | None:
    return next((child for child in node.named_children if child.type in types), None)


def _first_child(node: Node) -> Node | None:
    return node.named_children[0] if node.named_child_count else None


def _count(group: Node | None) -> int:
    if group is None:
        return UNKNOWN
    count = 0
    for child in group.named_children:
        kind = child.type
        if "comment" in kind:
            continue
        first = _first_child(child) if kind in ("value_argument", "argument") else None
        if kind in _SPREADS or (first is not None and first.type in _SPREADS):
            return UNKNOWN
        count += 1
    return count


def _plain_arguments(call: Node, callee: Node) -> int:
    group = call.child_by_field_name("arguments") or _child(call, "argument_list")
    # In `A.class.getMethod("f", B.class)` the callee is itself an argument.
    return _count(group) if group is not None and callee.start_byte < group.start_byte else UNKNOWN


def _c_arguments(call: Node, callee: Node) -> int:
    kind = call.type
    if kind == "expression_statement":
        return NAMED
    if kind == "new_expression":
        group = call.child_by_field_name("arguments")
        return 0 if group is None else _count(group) if group.type == "argument_list" else UNKNOWN
    if kind in ("call_expression", "field_initializer"):
        return _count(call.child_by_field_name("arguments") or _child(call, "argument_list"))
    declarator = call.child_by_field_name("declarator")
    if declarator is None:
        return UNKNOWN
    value = declarator.child_by_field_name("value")
    if value is None:
        return 0 if declarator.type == "identifier" else UNKNOWN
    count = _count(value)
    return count if value.type == "argument_list" or not count else UNKNOWN


def _kotlin_arguments(call: Node, callee: Node) -> int:
    if call.type == "infix_expression":
        return 1
    if call.type == "delegation_specifier":
        call = _first_child(call) or call
    group, closure = _child(call, "value_arguments"), _child(call, "annotated_lambda")
    if group is None:
        return UNKNOWN if closure is None else 1
    count = _count(group)
    # In `f(1) { … }` the lambda is a child of an outer call node.
    parent = call.parent
    outer = parent is not None and parent.type == "call_expression" and parent.named_children[0].id == call.id
    if count >= 0 and (closure or (outer and parent is not None and _child(parent, "annotated_lambda"))):
        return count + 1
    return count


def _swift_arguments(call: Node, callee: Node) -> int:
    suffix = _child(call, "call_suffix", "constructor_suffix")
    if suffix is None:
        return UNKNOWN
    group = _child(suffix, "value_arguments")
    closures = sum(child.type == "lambda_literal" for child in suffix.named_children)
    return closures if group is None else _count(group) + closures


def _scala_arguments(call: Node, callee: Node) -> int:
    if call.type == "infix_expression":
        right = call.child_by_field_name("right")
        return UNKNOWN if right is None or right.type == "tuple_expression" else 1
    if call.type == "field_expression":
        parent = call.parent
        while parent is not None and parent.type == "generic_function":
            call, parent = parent, parent.parent
        function = parent.child_by_field_name("function") if parent is not None else None
        if parent is None or parent.type != "call_expression" or function is None or function.id != call.id:
            return UNKNOWN
        call = parent
    group = call.child_by_field_name("arguments")
    return 1 if group is not None and group.type != "arguments" else _count(group)


def _elixir_arguments(call: Node, callee: Node) -> int:
    parent = call.parent
    if call.type == "unary_operator":  # &f/2
        operand = call.child_by_field_name("operand")
        right = operand.child_by_field_name("right") if operand is not None else None
        text = right.text if right is not None else None
        return int(text) if text is not None and text.isdigit() and len(text) < 4 else UNKNOWN
    if call.type == "binary_operator":  # x |> f
        return 1
    if call.type == "dot":
        if parent is None or parent.type != "call":
            return UNKNOWN
        call, parent = parent, parent.parent
    if call.type != "call" or callee.parent is None or callee.parent.id not in (call.id, call.named_children[0].id):
        return UNKNOWN
    group = _child(call, "arguments")
    count = _count(group) if group is not None else 0
    piped = parent is not None and parent.type == "binary_operator" and _is_piped(parent, call)
    return count + piped + (_child(call, "do_block") is not None)


def _is_piped(parent: Node, call: Node) -> bool:
    operator, right = parent.child_by_field_name("operator"), parent.child_by_field_name("right")
    return operator is not None and operator.type == "|>" and right is not None and right.id == call.id


# --- parameters -------------------------------------------------------------------------------------------------------


def _count_parameters(
    group: Node | None, parameters: frozenset[str], many: frozenset[str] = frozenset(), defaults: str = "="
) -> int:
    """The arity of the definition that has this parameter list.

    Args:
        parameters: Types of the nodes that are parameters.
        many: Types of nodes (children of the list or of a parameter) that stand for any number of parameters.
        defaults: The token that gives a parameter a default.
    """
    if group is None:
        return UNKNOWN
    count = optional = 0
    unbounded = False
    for child in group.children:
        kind = child.type
        if kind in many:
            unbounded = True
        elif kind == defaults:
            optional += 1
        elif kind in parameters:
            count += 1
            inner = {part.type for part in child.children}
            optional += defaults in inner
            if inner & many:
                unbounded, count = True, count - 1
    return pack_arity(max(count - optional, 0), _MANY if unbounded else count)


_JAVA, _JAVA_MANY = frozenset({"formal_parameter"}), frozenset({"spread_parameter"})
_CSHARP, _CSHARP_MANY = frozenset({"parameter"}), frozenset({"params"})
_SWIFT, _SWIFT_MANY = frozenset({"parameter"}), frozenset({"..."})
_KOTLIN = frozenset({"parameter", "class_parameter"})
_SCALA = frozenset({"parameter", "class_parameter"})
_CPP = frozenset({"parameter_declaration", "optional_parameter_declaration"})
_CPP_MANY = frozenset({"...", "variadic_parameter", "variadic_parameter_declaration"})


def _java_parameters(node: Node, name: Node) -> int:
    return _count_parameters(node.child_by_field_name("parameters"), _JAVA, _JAVA_MANY)


def _csharp_parameters(node: Node, name: Node) -> int:
    group = node.child_by_field_name("parameters") or _child(node, "parameter_list")
    arity = _count_parameters(group, _CSHARP, _CSHARP_MANY)
    first = _first_child(group) if group is not None else None
    modifier = _child(first, "modifier") if first is not None else None
    if modifier is not None and modifier.text == b"this" and arity >= _WIDTH:
        return arity - _WIDTH  # the first argument of an extension method may be the receiver
    return arity


def _swift_parameters(node: Node, name: Node) -> int:
    kinds = ("function_declaration", "protocol_function_declaration", "init_declaration", "subscript_declaration")
    return _count_parameters(node, _SWIFT, _SWIFT_MANY) if node.type in kinds else UNKNOWN


def _kotlin_parameters(node: Node, name: Node) -> int:
    primary = _child(node, "primary_constructor")
    group = _child(primary or node, "class_parameters", "function_value_parameters")
    arity = _count_parameters(group, _KOTLIN)
    if group is not None and b"vararg" in (group.text or b"") and arity >= 0:
        return pack_arity(max(arity // _WIDTH - 1, 0), _MANY)
    return arity


def _scala_parameters(node: Node, name: Node) -> int:
    group = _child(node, "parameters", "class_parameters")
    if group is None or any(child.type in ("implicit", "using") for child in group.children[:2]):
        return UNKNOWN
    arity = _count_parameters(group, _SCALA)
    types = (child.child_by_field_name("type") for child in group.named_children)
    if any(kind is not None and kind.type == "repeated_parameter_type" for kind in types):
        return pack_arity(max(arity // _WIDTH - 1, 0), _MANY)
    return arity


def _c_parameters(node: Node, name: Node, *, may_be_empty: bool = True) -> int:
    kind = node.type
    if kind == "preproc_def":
        return UNKNOWN
    if kind == "preproc_function_def":
        return _count_parameters(node.child_by_field_name("parameters"), frozenset({"identifier"}), frozenset({"..."}))
    current: Node | None = node.named_children[-1] if node.type == "template_declaration" else node
    group = None
    for _ in range(8):  # pointers and references before the name
        if current is None or group is not None:
            break
        group = current.child_by_field_name("parameters")
        current = current.child_by_field_name("declarator") or _child(current, "function_declarator")
    if group is None or not (may_be_empty or group.named_child_count):
        return UNKNOWN
    if group.named_child_count == 1 and group.text is not None and group.text[1:-1].strip() == b"void":
        return pack_arity(0, 0)
    return _count_parameters(group, _CPP, _CPP_MANY)


def _only_c_parameters(node: Node, name: Node) -> int:
    # Before C23, `int f()` says nothing about what f takes.
    return _c_parameters(node, name, may_be_empty=False)


def _elixir_parameters(node: Node, name: Node) -> int:
    head = name.parent
    if head is None or head.type != "call":
        return pack_arity(0, 0)
    if head.child_by_field_name("target") != name:
        return UNKNOWN
    group = _child(head, "arguments")
    parts = [child for child in group.named_children if child.type != "comment"] if group is not None else []
    optional = sum(
        operator is not None and operator.type == "\\\\"
        for operator in (part.child_by_field_name("operator") for part in parts)
    )
    return pack_arity(len(parts) - optional, len(parts))


def _by_name(*functions: Callable[[Node, Node], int]) -> dict[str, Callable[[Node, Node], int]]:
    """Maps the names that a language's table uses for the functions to them: `kotlin` to `_kotlin_arguments`."""
    return {function.__name__.strip("_").rpartition("_")[0]: function for function in functions}


_ARGUMENTS = _by_name(
    _plain_arguments, _kotlin_arguments, _swift_arguments, _scala_arguments, _c_arguments, _elixir_arguments
)
_PARAMETERS = _by_name(
    _java_parameters, _csharp_parameters, _kotlin_parameters, _swift_parameters, _scala_parameters, _c_parameters,
    _only_c_parameters, _elixir_parameters,
)  # fmt: skip
