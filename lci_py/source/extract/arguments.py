"""Writes the arguments of calls and the parameters of functions as short texts, for overload resolution."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lci_py.source.extract import cpp_arguments
from lci_py.source.extract.type_hints import outline, type_text
from lci_py.source.syntax.arity import arguments_of
from lci_py.source.text.language_tables import has_rule, table_of
from lci_py.source.text.patterns import lazily
from lci_py.types.search import FUNCTION_KINDS, TYPE_KINDS
from lci_py.types.source import BASE_ARGUMENTS, DECLARED, TAKES, TYPE_PARAMETERS, TypeHint

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from tree_sitter import Node

    from lci_py.source.syntax.captures import Captures
    from lci_py.types.source import Symbol

#: Between two types, or two arguments.
SEPARATOR = ";"
#: Arguments: a type that is known (`#int`), a function of so many parameters (`->2`), another function, one of which
#: nothing is known. Anything else is an expression, as `outline` leaves it.
KNOWN, FUNCTION, REFERENCE, UNKNOWN = "#", "->", "::", "?"
#: Before an argument or a parameter of Swift without a label.
NO_LABEL = "_"
#: Types with type arguments for which no lambda is passed.
_NO_FUNCTIONS = frozenset("List Map Set Collection Iterable Iterator Class Optional Stream Comparable".split())
#: Delegates of the library, by how many type arguments say no type of a parameter.
_DELEGATES = {"Action": 0, "Predicate": 0, "Func": 1}
_MOST = 12
#: Bytes of arguments that are read as text.
_READ = 200
#: How deep expressions and types in each other are looked at.
_NESTED = 8
_SPACE = lazily(r"\s+")
_NAME = lazily(r"[A-Za-z_]\w*")

#: The text after a call without a trailing lambda.
_ALONE = lazily(rb"\s*[^\s{@/\w]")

_LITERALS = {
    "null_literal": "null", "character_literal": "char", "true": "boolean", "false": "boolean",
    "boolean_literal": "boolean", "string_literal": "String", "text_block": "String", "template_expression": "String",
    "verbatim_string_literal": "String", "raw_string_literal": "String", "multiline_string_literal": "String",
    "interpolated_string_expression": "String", "class_literal": "Class", "typeof_expression": "Type",
    "instanceof_expression": "boolean", "is_pattern_expression": "boolean", "is_expression": "boolean",
    "in_expression": "boolean",
}  # fmt: skip
_INTEGERS = frozenset({
    "decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal",
    "integer_literal", "number_literal",
})  # fmt: skip
_FLOATS = frozenset({"decimal_floating_point_literal", "hex_floating_point_literal", "real_literal", "float_literal"})
_LAMBDAS = frozenset({"lambda_expression", "lambda_literal", "anonymous_function", "anonymous_method_expression"})
_REFERENCES = frozenset({"method_reference", "callable_reference"})
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||", "===", "!==", "in", "!in"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%"})
#: Numeric types by size: an operator gives the larger one.
_SIZES = ("int", "long", "float", "double")
#: Names and chains of names, which `outline` can shorten.
_EXPRESSIONS = frozenset({
    "identifier", "simple_identifier", "method_invocation", "field_access", "this", "this_expression",
    "object_creation_expression", "invocation_expression", "member_access_expression", "call_expression",
    "navigation_expression", "array_access", "element_access_expression", "index_expression", "generic_name",
})  # fmt: skip


def arguments(language: str, captured: Captures, call: Node, callee: Node) -> tuple[int, str]:
    """(The number of a call's arguments, as `source.syntax.arity` counts them; their joined texts, "" if unknown)."""
    count = arguments_of(language, call, callee)
    if count <= 0:
        return count, ""
    if has_rule(language, "passed_types"):
        return count, _argument_text(language, captured, call)
    return count, _labels(captured, call) if has_rule(language, "labels") else ""


def _argument_text(language: str, captured: Captures, call: Node) -> str:
    texts: list[str] = []
    group = _group(language, call)
    is_cpp = has_rule(language, "templates")
    for child in group.named_children if group is not None else ():
        kind = child.type
        if "comment" in kind:
            continue
        value: Node | None = child
        name = ""
        if kind in ("argument", "value_argument"):
            # `out`, `ref` and `*` stand before the value; `name:` and `name =` say which parameter is meant.
            if child.child_count > 1 and any(part.type in (":", "=") for part in child.children):
                name = f"{captured.text(child.named_children[0])}="
            value = child.named_children[-1] if child.named_child_count else child.child(0)
            if value is not None and value.type == "declaration_expression":
                declared = value.child_by_field_name("type")
                plain = declared is not None and declared.type != "implicit_type"
                texts.append(name + (KNOWN + _type(declared) if declared is not None and plain else UNKNOWN))
                continue
        if is_cpp:
            texts.append(_cpp_argument(captured, child))
        else:
            texts.append(name + (_argument(captured, value) if value is not None else UNKNOWN))
    if has_rule(language, "trailing_lambdas") and (closure := _trailing(captured, call)) is not None:
        texts.append(_function(closure))
    if len(texts) > _MOST or texts.count(UNKNOWN) == len(texts):
        return ""
    return SEPARATOR.join(texts)


def _labels(captured: Captures, call: Node) -> str:
    """The labels of the arguments of a Swift call, joined; "" if it has no arguments or too many."""
    suffix = next((child for child in call.named_children if child.type.endswith("_suffix")), None)
    group = suffix.named_children[0] if suffix is not None and suffix.named_child_count else None
    if group is None or group.type != "value_arguments":
        return ""
    labels: list[str] = []
    for child in group.named_children:
        if child.type == "value_argument":
            label = child.child_by_field_name("name")
            labels.append(f"{captured.text(label) if label is not None else NO_LABEL}={UNKNOWN}")
    closures = sum(child.type == "lambda_literal" for child in (suffix.named_children if suffix is not None else ()))
    labels += [UNKNOWN] * closures
    return SEPARATOR.join(labels) if len(labels) <= _MOST else ""


def _group(language: str, call: Node) -> Node | None:
    if has_rule(language, "trailing_lambdas"):
        if call.type == "delegation_specifier" and call.named_child_count:
            call = call.named_children[0]
        return next((child for child in call.named_children if child.type == "value_arguments"), None)
    if has_rule(language, "templates") and call.type == "declaration":
        declarator = call.child_by_field_name("declarator")
        value = declarator.child_by_field_name("value") if declarator is not None else None
        return value if value is not None and value.type == "argument_list" else None
    group = call.child_by_field_name("arguments")
    return group or next((child for child in call.named_children if child.type == "argument_list"), None)


def _trailing(captured: Captures, call: Node) -> Node | None:
    """The trailing lambda that follows the parentheses of a Kotlin call; None without such a lambda."""
    end = call.end_byte
    if captured.source[end - 1 : end] != b"}" and _ALONE.match(captured.source, end):
        return None  # the parent of a node is looked for from the root
    parent = call.parent
    outer = parent is not None and parent.type == "call_expression" and parent.named_children[0].id == call.id
    for node in (call, parent) if outer and parent is not None else (call,):
        for child in node.named_children:
            if child.type == "annotated_lambda" and child.named_child_count:
                return child.named_children[-1]
    return None


def _argument(captured: Captures, node: Node) -> str:
    kind = node.type
    while kind == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[0]
        kind = node.type
    if kind in _EXPRESSIONS:
        text = outline(captured, node)
        if kind == "identifier" and text in ("null", "true", "false"):
            return f"{KNOWN}{'null' if text == 'null' else 'boolean'}"
        return text if text and SEPARATOR not in text else UNKNOWN
    if kind in _LAMBDAS:
        return _function(node)
    if kind in _REFERENCES:
        return REFERENCE
    type_ = _literal_type(captured, node)
    return KNOWN + type_ if type_ else UNKNOWN


def _cpp_argument(captured: Captures, node: Node) -> str:
    kind = node.type
    start, end = node.start_byte, node.end_byte
    if end - start > _READ:
        return FUNCTION if kind == "lambda_expression" else UNKNOWN
    if kind == "binary_expression":
        sign = node.child_by_field_name("operator")
        kind = sign.type if sign is not None else kind
    return cpp_arguments.argument(kind, captured.source[start:end].decode("utf-8", "replace"))


def _literal_type(captured: Captures, node: Node, depth: int = _NESTED) -> str:
    """The type of a literal, or of an operator applied to literals; "" if unknown."""
    kind = node.type
    if depth <= 0:
        return ""
    literal = _LITERALS.get(kind)
    if literal is not None:
        return literal
    if kind in _INTEGERS:
        return "long" if captured.text(node)[-1:] in "lL" else "int"
    if kind in _FLOATS:
        return {"f": "float", "m": "decimal"}.get(captured.text(node)[-1:].lower(), "double")
    if kind in ("cast_expression", "as_expression", "array_creation_expression"):
        type_ = node.child_by_field_name("type") or node.child_by_field_name("right")
        if type_ is None:
            return ""
        sizes = [child for child in node.children if child.type in ("dimensions", "dimensions_expr")]
        arrays = sum(captured.text(size).count("[") if size.type == "dimensions" else 1 for size in sizes)
        return _type(type_) + "[]" * arrays
    if kind in ("unary_expression", "prefix_unary_expression"):
        operand = node.named_children[-1] if node.named_child_count else None
        sign = node.children[0].type
        return (
            "boolean"
            if sign == "!"
            else _literal_type(captured, operand, depth - 1)
            if operand and sign in "+-"
            else ""
        )
    if kind == "binary_expression":
        return _of_operator(captured, node, depth)
    if kind in ("ternary_expression", "conditional_expression"):
        parts = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        types = {_literal_type(captured, part, depth - 1) for part in parts if part is not None}
        return types.pop() if len(types) == 1 else ""
    if kind == "parenthesized_expression" and node.named_child_count:
        return _literal_type(captured, node.named_children[0], depth - 1)
    return ""


def _of_operator(captured: Captures, node: Node, depth: int) -> str:
    sign = node.child_by_field_name("operator")
    if sign is not None and captured.text(sign) in _COMPARISONS:
        return "boolean"
    types: list[str] = []
    # Along the left side without recursion: a sum of a thousand strings is nested a thousand deep.
    current: Node | None = node
    while current is not None and current.type == "binary_expression":
        sign, right = current.child_by_field_name("operator"), current.child_by_field_name("right")
        text = captured.text(sign) if sign is not None else ""
        type_ = _literal_type(captured, right, depth - 1) if right is not None else ""
        if text not in _ARITHMETIC:
            return ""
        if text == "+" and type_ == "String":
            return "String"
        types.append(type_)
        current = current.child_by_field_name("left")
    types.append(_literal_type(captured, current, depth - 1) if current is not None else "")
    if types[-1] == "String":
        return "String"
    return max(types, key=_SIZES.index) if all(item in _SIZES for item in types) else ""


def _function(node: Node) -> str:
    """The text for a lambda argument, which ends with the number of its parameters if they are explicit."""
    group = node.child_by_field_name("parameters")
    if group is None:
        group = next((child for child in node.named_children if child.type == "lambda_parameters"), None)
    if group is None:  # Kotlin: none, or `it`
        return FUNCTION
    single = group.type in ("identifier", "implicit_parameter")
    return f"{FUNCTION}{1 if single else group.named_child_count}"


def type_parameters(language: str, nodes: Sequence[Node], symbols: Sequence[Symbol]) -> Iterator[TypeHint]:
    """For each generic type of a file, a hint with the names of its type parameters."""
    if not has_rule(language, "generic"):
        return
    for index, symbol in enumerate(symbols):
        group = _list(nodes[index], "type_parameters", "type_parameter_list") if symbol.kind in TYPE_KINDS else None
        if group is not None:
            names = [_NAME.search(_text(child)) for child in group.named_children if "parameter" in child.type]
            variables = [name.group() for name in names if name is not None]
            if variables and len(variables) == len(names):
                yield TypeHint(TYPE_PARAMETERS, index, "", ",".join(variables), (), index)


def unnamed_owners(language: str, nodes: Sequence[Node], symbols: Sequence[Symbol]) -> Iterator[TypeHint]:
    """For each method of an anonymous class, a hint at the type of `this`: `Base` in `new Base() {…}`."""
    for index, symbol in enumerate(symbols if has_rule(language, "inside_methods") else ()):
        if symbol.kind == "method" and (symbol.parent < 0 or symbols[symbol.parent].kind not in TYPE_KINDS):
            body = nodes[index].parent
            expression = body.parent if body is not None else None
            base = expression.child_by_field_name("type") if expression is not None else None
            if base is not None and expression is not None and expression.type == "object_creation_expression":
                yield TypeHint(DECLARED, index, "this", _SPACE.sub("", _text(base)), (), symbol.parent)


def base_arguments(language: str, captured: Captures, bases: Iterable[tuple[int, Node]]) -> Iterator[TypeHint]:
    """For each base with type arguments, such as `Base<Foo>`, a hint with the text of the base.

    Args:
        bases: Pairs (symbol index of a type, node of one of its bases).
    """
    if not has_rule(language, "generic"):
        return
    for symbol, node in bases:
        after = node.next_named_sibling if node.type == "identifier" else None
        end = after.end_byte if after is not None and after.type == "type_arguments" else node.end_byte
        text = captured.source[node.start_byte : min(end, node.start_byte + _READ)].decode("utf-8", "replace")
        if text.rstrip().endswith(">"):
            yield TypeHint(BASE_ARGUMENTS, symbol, "", _SPACE.sub("", text), (), symbol)


# --- parameters -------------------------------------------------------------------------------------------------------


def parameter_types(
    language: str, nodes: Sequence[Node], symbols: Sequence[Symbol], derived: Container[int]
) -> Iterator[TypeHint]:  # fmt: skip
    """Hints with the parameters of the functions that have overloads in their file, or whose type has a base.

    Args:
        nodes: The node of each symbol.
        derived: The symbol indices of the types that have bases.
    """
    if not has_rule(language, "passed_types") and not has_rule(language, "labels"):
        return
    if has_rule(language, "templates"):
        yield from _taken_in_cpp(nodes, symbols)
        return
    if has_rule(language, "strict_types"):
        yield from _generic_parameters(nodes, symbols)
    counts = Counter((symbol.parent, symbol.name) for symbol in symbols if symbol.kind in FUNCTION_KINDS)
    constructors = {symbol.parent for symbol in symbols if symbol.kind == "constructor"}
    bounds: dict[int, dict[str, str]] = {-1: {}}
    extensible = has_rule(language, "extension_methods")
    for index, symbol in enumerate(symbols):
        if symbol.arity <= 0:
            continue
        kind = symbol.kind
        if kind in FUNCTION_KINDS:
            is_needed = counts[symbol.parent, symbol.name] > 1 or symbol.parent in derived
            is_needed = is_needed or (kind == "constructor" and symbols[symbol.parent].arity > 0)
            is_needed = is_needed or (extensible and "this " in symbol.signature)
        else:  # its head lists the parameters of a constructor
            is_needed = kind in TYPE_KINDS and index in constructors
        if has_rule(language, "labels"):
            text = SEPARATOR.join(_parameter_labels(nodes[index])) if is_needed else ""
        else:
            variables = _variables(language, index, symbols, nodes, bounds) if is_needed else {}
            names = has_rule(language, "named_arguments")
            text = SEPARATOR.join(_parameter_texts(nodes[index], variables, names=names)) if is_needed else ""
        if text:
            yield TypeHint(TAKES, index, "", text, (), index)


def _generic_parameters(nodes: Sequence[Node], symbols: Sequence[Symbol]) -> Iterator[TypeHint]:
    """For each parameter of a generic type, a hint under its position (`->0`): callers may pass a lambda for it."""
    for index, symbol in enumerate(symbols):
        is_generic = symbol.kind in FUNCTION_KINDS and symbol.arity != 0 and "<" in symbol.signature
        group = nodes[index].child_by_field_name("parameters") if is_generic else None
        for number, node in enumerate(group.named_children if group is not None else ()):
            type_ = node.child_by_field_name("type")
            if type_ is not None and type_.type == "generic_type":
                text = type_text(_text(type_))
                if isinstance(text, str) and text.partition("<")[0] not in _NO_FUNCTIONS:
                    yield TypeHint(DECLARED, index, f"{FUNCTION}{number}", text, (), index)


def _taken_in_cpp(nodes: Sequence[Node], symbols: Sequence[Symbol]) -> Iterator[TypeHint]:
    """Hints with the parameters of C++ functions that have overloads in the file, and of constructors."""
    counts = Counter(symbol.name for symbol in symbols if symbol.kind in FUNCTION_KINDS)
    for index, symbol in enumerate(symbols):
        kind = symbol.kind
        if kind in FUNCTION_KINDS and symbol.arity > 0 and (counts[symbol.name] > 1 or kind == "constructor"):
            text = cpp_arguments.parameter_types(nodes[index])
            if text:
                yield TypeHint(TAKES, index, "", text, (), index)


def _variables(
    language: str, index: int, symbols: Sequence[Symbol], nodes: Sequence[Node], cache: dict[int, dict[str, str]]
) -> dict[str, str]:
    """Maps each type parameter that is visible in a definition to its bound; `cache` has those of earlier calls."""
    inner: list[int] = []
    while index not in cache:
        inner.append(index)
        index = symbols[index].parent
    bounds = cache[index]
    for at in reversed(inner):
        own: dict[str, str] = {}
        group = _list(nodes[at], "type_parameters", "type_parameter_list")
        for node in group.named_children if group is not None else ():
            if node.type == "type_parameter" and node.named_child_count:
                name, *bound = node.named_children
                if bound and bound[0].type == "type_bound" and bound[0].named_child_count:
                    bound = bound[0].named_children
                own.setdefault(_text(name), _type(bound[0]) if bound else str(table_of(language)["top_type"]))
        for clause in nodes[at].named_children if own else ():
            if clause.type == "type_parameter_constraints_clause":  # where T : IShape
                types = [part.child_by_field_name("type") for part in clause.named_children[1:]]
                own.update(
                    {_text(clause.named_children[0]): _type(type_) for type_ in types[::-1] if type_ is not None}
                )
        bounds = cache[at] = {**bounds, **own} if own else bounds
    return bounds


def _list(node: Node, *kinds: str) -> Node | None:
    return next((child for child in node.named_children if child.type in kinds), None)


def _parameter_labels(node: Node) -> Iterator[str]:
    """The labels of a Swift function's parameters; their types are left out."""
    for child in node.named_children:
        if child.type == "parameter":
            label = child.child_by_field_name("external_name") or child.child_by_field_name("name")
            many = "..." if any(part.type == "..." for part in child.children) else ""
            yield f"{_text(label) if label is not None else NO_LABEL}:{UNKNOWN}{many}"


def _parameter_texts(node: Node, variables: dict[str, str], *, names: bool) -> Iterator[str]:
    group = node.child_by_field_name("parameters")
    if group is None:
        group = _list(node, "function_value_parameters", "parameter_list", "formal_parameters", "primary_constructor")
        if group is not None and group.type == "primary_constructor":
            group = _list(group, "class_parameters")
    many = False
    for child in group.children if group is not None else ():
        kind = child.type
        name = ""
        if kind in ("formal_parameter", "parameter", "class_parameter"):
            type_ = child.child_by_field_name("type")
            name_of = child.child_by_field_name("name") if names else None
            if type_ is None:  # Kotlin: the name and the type
                parts = [part for part in child.named_children if "modifier" not in part.type]
                type_ = parts[1] if len(parts) > 1 else None
                name_of = parts[0] if names and parts else None
            name = f"{_text(name_of)}:" if name_of is not None else name
            if names and any(part.type == "modifier" and _text(part) == "this" for part in child.children):
                name += "this "  # an extension method
            yield name + _erased_type(type_, variables) + ("..." if many else _dimensions(child))
            many = False
        elif kind == "spread_parameter":
            parts = [part for part in child.named_children if part.type not in ("modifiers", "variable_declarator")]
            yield _erased_type(parts[0] if parts else None, variables) + "..."
        elif kind == "parameter_modifiers":
            many = "vararg" in _text(child)
        elif kind == "params":
            many = True
        elif many and kind == "array_type":
            inner = child.child_by_field_name("type")
            yield (":" if names else "") + _erased_type(inner, variables) + "..."
            many = False


def _dimensions(parameter: Node) -> str:
    """The array brackets after the name of a parameter."""
    group = parameter.child_by_field_name("dimensions")
    return "[]" * _text(group).count("[") if group is not None else ""


def _erased_type(node: Node | None, variables: dict[str, str]) -> str:
    text = _type(node) if node is not None else UNKNOWN
    name = text.rstrip("[]")
    return variables.get(name, name) + text[len(name) :]


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _type(node: Node, depth: int = _NESTED) -> str:
    """The text of a type without its type arguments: `Map[]` for `Map<String, T>[]`."""
    kind = node.type
    if depth <= 0:
        return UNKNOWN
    if kind in ("array_type",):
        inner = node.child_by_field_name("element") or node.child_by_field_name("type")
        rank = node.child_by_field_name("dimensions") or node.child_by_field_name("rank")
        return (_type(inner, depth - 1) if inner is not None else UNKNOWN) + "[]" * max(
            _text(rank).count("[") if rank else 1, 1
        )
    if kind == "nullable_type" and node.named_child_count:
        inner_text = _type(node.named_children[0], depth - 1)
        return inner_text + "?" if inner_text.islower() else inner_text
    if kind == "function_type":
        group = _list(node, "function_type_parameters")
        return f"{FUNCTION}{group.named_child_count if group is not None else ''}"
    if kind == "generic_name":
        name, group = _text(node.named_children[0]), node.named_children[-1]
        if name in _DELEGATES:
            return f"{FUNCTION}{group.named_child_count - _DELEGATES[name]}"
        if name == "Expression" and group.named_child_count:  # the tree of a lambda
            return _type(group.named_children[0], depth - 1)
    text = _text(node)
    if text.isidentifier():
        return text[:80]
    text = _SPACE.sub("", text) if kind != "annotated_type" else _text(node.named_children[-1])
    text = text.partition("<")[0] if "<" in text else text
    return text[:80] if SEPARATOR not in text else UNKNOWN
