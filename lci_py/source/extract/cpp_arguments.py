"""Writes the arguments and parameters of C++ as the short texts of `source.extract.arguments`.

The texts of types keep the stars of pointers, and lose references, qualifiers and template arguments: `const Foo<T>* &`
is `Foo*`. A type that a template deduces is `auto`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.extract.type_hints import shorten
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

#: The types of string literals, of `nullptr`, of pointers to functions, and of unknown arguments.
TEXT, NOTHING, POINTER, UNKNOWN = "char*", "null", "->", "?"
#: The type of a deduced parameter, and of the literal 0, which may be a pointer as well.
DEDUCED, ZERO = "auto", "0"
#: Before the types that a template takes: conditions on its arguments may rule it out.
TEMPLATE = "~"
_KNOWN, _SEPARATOR = "#", ";"
#: Bytes before a name that may belong to its declarator.
_NEAR = 80

# A name in a chain without arguments, maybe with its address or what it points to, a number, a text, a character.
_PLAIN = lazily(
    r"""\s*(?:(?P<name>[&*]?[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*(?:\(\))?)|(?P<number>\d[\w.]*)"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<char>'(?:[^'\\]|\\.)[^']*'))\s*"""
)
_NO_NAMES = frozenset({"new", "delete", "sizeof", "throw", "this()"})
_WORDS = {"nullptr": "#null", "NULL": UNKNOWN, "true": "#boolean", "false": "#boolean"}
_QUALIFIERS = lazily(r"\b(?:const|volatile|struct|class|union|enum|typename|constexpr|register)\b|\s+")
_NAME = lazily(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_BEFORE = lazily(rb"([A-Za-z_]\w*) ?\Z")
_VARIABLE = lazily(r"(?:class|typename|auto)\s*(?:\.\.\.)?\s*([A-Za-z_]\w*)")
_COMMENT = lazily(r"/\*.*?\*/|//[^\n]*")
_SIGNS = lazily(r"[<>(),]")
_BUILTIN = frozenset("unsigned signed long short int char double".split())
_CHAINS = frozenset({"call_expression", "field_expression", "subscript_expression", "qualified_identifier"})
_TRUTHS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
#: Of expressions that name a type: where it is.
_TYPED = {
    "new_expression": lazily(r"new\s+([\w:]+(?:<[^(){}]*>)?)"),
    "cast_expression": lazily(r"\(([^()]*)\)"),
    "compound_literal_expression": lazily(r"([\w:]+(?:<[^(){}]*>)?)\s*\{"),
}
_CAST = lazily(r"(?:static|dynamic|const|reinterpret)_cast<(.+)>\(\)")
_MOVED = lazily(r"(?:std::)?(?:move|forward)(?:<.*>)?\(\)")


def number(text: str) -> str:
    """The type of a number literal."""
    text = text.lower().lstrip("+-").replace("'", "")
    if text == "0":
        return ZERO
    if not text.startswith("0x") and ("." in text or "e" in text or text[-1:] == "f"):
        return {"f": "float", "l": "longdouble"}.get(text[-1:], "double")
    digits = text.rstrip("ul")
    suffix = text[len(digits) :]
    if len(digits) > 9:
        return "long"
    return ("u" if "u" in suffix else "") + ("llong" if "ll" in suffix else "long" if "l" in suffix else "int")


def type_text(text: str) -> str:
    """The short text of a type, with its namespaces: `ns::Foo*` for `const ns::Foo<T> * &`."""
    if "(" in text:
        return POINTER if "(*" in text.partition("<")[0] else UNKNOWN
    text = _QUALIFIERS.sub("", text)
    match = _NAME.match(text)
    if match is None or match.group() == "decltype":
        return UNKNOWN
    name = match.group().lstrip(":")
    end = text.rfind(">") + 1
    rest = text[max(end, match.end()) :]
    if end and rest.startswith("::"):  # a member of a template
        return UNKNOWN
    return name[:80] + "*" * min(rest.count("*") + rest.count("["), 3)


@lru_cache(maxsize=8192)
def argument(kind: str, text: str) -> str:
    """The short text of one argument.

    Args:
        kind: The type of the argument's node; for a binary operator, the operator.
        text: The argument as it is written.
    """
    match = _PLAIN.fullmatch(text)
    if match is not None:
        role = match.lastgroup or ""
        part = match[role]
        if role == "name":
            return UNKNOWN if part in _NO_NAMES else _WORDS.get(part) or part
        return _KNOWN + (number(part) if role == "number" else TEXT if role == "text" else "char")
    if kind in _CHAINS:
        return _chain(kind, text)
    if kind == "pointer_expression" and text[:1] in "&*":
        inner = argument("call_expression", text[1:].strip())
        return text[0] + inner if inner[:1] not in ("#", "?", "&", "*", "-") else UNKNOWN
    if kind == "parenthesized_expression":
        return argument("", text[1:-1].strip())
    if kind in _TYPED:
        match_of = _TYPED[kind].match(text)
        type_ = type_text(match_of.group(1)) if match_of is not None else UNKNOWN
        return f"{_KNOWN}{type_}{'*' if kind == 'new_expression' else ''}" if type_ != UNKNOWN else UNKNOWN
    if kind == "lambda_expression":
        return POINTER
    found_type = _literal(kind, text)
    return _KNOWN + found_type if found_type else UNKNOWN


def _chain(kind: str, text: str) -> str:
    short = shorten(text)
    if kind == "call_expression" and short.endswith("()"):
        cast = _CAST.fullmatch(short) if "_cast<" in short else None
        if cast is not None:
            type_ = type_text(cast.group(1))
            return _KNOWN + type_ if type_ != UNKNOWN else UNKNOWN
        if _MOVED.fullmatch(short):
            return argument("", text.partition("(")[2].rpartition(")")[0].strip())
    return short if short and _SEPARATOR not in short and short[:1] not in "(!-~+" else UNKNOWN


def _literal(kind: str, text: str) -> str:
    if kind in ("string_literal", "raw_string_literal", "concatenated_string"):
        return TEXT if text[:1] in ('"', "R") else ""
    if kind == "char_literal":
        return "char" if text[:1] == "'" else ""
    if kind in ("number_literal", "unary_expression") and text.lstrip("+- ")[:1].isdigit():
        return number(text.lstrip("+- "))
    if kind == "sizeof_expression":
        return "size_t"
    return "boolean" if kind in _TRUTHS or (kind == "unary_expression" and text[:1] == "!") else ""


def methods_with_defaults(body: bytes) -> Iterator[tuple[str, int, list[str]]]:
    """Methods that a class declares with default arguments: (name, number of parameters without default, all types).

    Args:
        body: The text of the class, with each run of blanks as a single space.
    """
    for part in body.split(b";") if b"=" in body else ():
        if b"=" not in part or b"(" not in part:
            continue
        part = part.replace(b"{}", b"0")
        part = part[max(part.rfind(b"{"), part.rfind(b"}")) + 1 :]
        opening, closing = part.find(b"("), part.rfind(b")")
        name = _BEFORE.search(part[max(0, opening - _NEAR) : opening]) if b"=" in part[opening:closing] else None
        if name is None:
            continue
        parameters = _parameters(part[opening + 1 : closing].decode("utf-8", "replace"))
        required = next((index for index, parameter in enumerate(parameters) if "=" in parameter), len(parameters))
        yield name.group(1).decode(), required, [_declared_type(parameter) for parameter in parameters]


def _parameters(text: str) -> list[str]:
    parameters, depth, start = [], 0, 0
    for match in _SIGNS.finditer(text):
        sign = match.group()
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            parameters.append(text[start : match.start()])
            start = match.end()
    return [*parameters, text[start:]]


def _declared_type(parameter: str) -> str:
    parameter = parameter.partition("=")[0]
    if "(" in parameter and "(" in parameter.partition("<")[0]:
        return POINTER if "(*" in parameter.replace(" ", "") else UNKNOWN
    if ">::" in parameter or "decltype" in parameter:
        return UNKNOWN
    words = _NAME.findall(_QUALIFIERS.sub(" ", parameter.partition("<")[0]))
    if not words:
        return UNKNOWN
    count = next((index for index, word in enumerate(words) if word not in _BUILTIN), len(words))
    after = parameter.rpartition(">")[2]
    name = "".join(words[: max(count, 1)]).lstrip(":")
    return name + "*" * min(after.count("*") + after.count("["), 3)


def agree(declaration: Sequence[str], definition: Sequence[str]) -> bool:
    """Whether the parameter types of a declaration fit those of a definition: same number, same names."""
    return len(declaration) == len(definition) and all(
        a.rpartition(":")[2] == b.rpartition(":")[2] or UNKNOWN in (a, b) or DEDUCED in b
        for a, b in zip(declaration, definition, strict=True)
    )


def parameter_types(node: Node) -> str:
    """The joined types of a definition's parameters."""
    template = b""
    current: Node | None = node
    if node.type == "template_declaration":
        template = node.children[1].text or b""
        current = node.named_children[-1]
    for _ in range(8):  # pointers and references before the name
        if current is None:
            break
        parameters = current.child_by_field_name("parameters")
        inner = current.child_by_field_name("declarator")
        if parameters is not None:
            # The parameters of a template around `A<T>::f` may be those of the class, which are not deduced.
            owned = inner is not None and inner.type == "qualified_identifier"
            return _types_of_parameters(parameters.text or b"", template, owned)
        if inner is None:
            inner = next((child for child in current.named_children if child.type == "function_declarator"), None)
        current = inner
    return ""


@lru_cache(maxsize=4096)
def _types_of_parameters(parameters: bytes, template: bytes, owned: bool) -> str:
    text = _COMMENT.sub(" ", parameters.decode("utf-8", "replace"))[1:-1]
    variables = frozenset(_VARIABLE.findall(template.decode("utf-8", "replace"))) if template else frozenset[str]()
    types: list[str] = []
    for parameter in _parameters(text):
        type_ = f"{UNKNOWN}..." if parameter.strip() == "..." else _declared_type(parameter)
        name = type_.rstrip("*")
        if "..." in parameter and name != UNKNOWN:
            type_ = f"{DEDUCED}..."
        elif name in variables or name == DEDUCED:
            type_ = UNKNOWN if owned else DEDUCED + type_[len(name) :]
        types.append(type_)
    return (TEMPLATE if template and not owned else "") + _SEPARATOR.join(types)
