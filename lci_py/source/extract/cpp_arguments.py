"""What calls of C++ pass and what its functions take, as the short texts of `source.extract.arguments`.

The texts of types keep the stars of pointers, and lose references, qualifiers and template arguments: `const Foo<T>* &`
is `Foo*`. A type that a template deduces is `auto`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

#: The types of literals, of any kind of pointer that `nullptr` is, of a pointer to a function, and what says nothing.
TEXT, NOTHING, POINTER, UNKNOWN = "char*", "null", "->", "?"
#: The type of a parameter that takes what it is given, and of the literal that is a pointer as well.
DEDUCED, ZERO = "auto", "0"
#: Before the types that a template takes: conditions on its arguments may rule it out.
TEMPLATE = "~"
_KNOWN, _SEPARATOR, _MOST, _OF_CLASS = "#", ";", 12, "|"
#: Bytes before a name that may belong to its declarator.
_NEAR = 80

# A name in a chain without arguments, maybe with its address or what it points to, a number, a text, a character.
_PLAIN = lazily(
    rb"""\s*(?:(?P<name>[&*]?[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*(?:\(\))?)|(?P<number>\d[\w.]*)"""
    rb"""|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<char>'(?:[^'\\]|\\.)[^']*'))\s*(?:,|\)\Z)"""
)
_WORDS = {"nullptr": "#null", "NULL": UNKNOWN, "true": "#boolean", "false": "#boolean"}
_POINTED = lazily(rb"(?:\s|const\b|[*&])*")
_QUALIFIERS = lazily(r"\b(?:const|volatile|struct|class|union|enum|typename|constexpr|register)\b|\s+")
_NAME = lazily(r"(?:::)?[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_DECLARED = lazily(
    rb"([A-Za-z_]\w*) ?\(((?:[^;{}()]|\([^;{}()]*\)){1,600})\)(?: ?(?:const|noexcept|override|= ?0))* ?;"
)
_SIGNS = lazily(r"[<>(),]")
_BUILTIN = frozenset("unsigned signed long short int char double".split())
_CAST = lazily(r"(?:static|dynamic|const|reinterpret)_cast<(.+)>\(\)")
_MOVED = lazily(r"(?:std::)?(?:move|forward)(?:<.*>)?\(\)")


@lru_cache(maxsize=4096)
def plain(text: bytes) -> tuple[int, str] | None:
    """The number of arguments and what they are, of a text in parentheses; None if they are more than plain ones."""
    if text[:1] != b"(":
        return None
    found: list[str] = []
    at, end = 1, len(text) - 1
    if not text[1:end].strip():
        return 0, ""
    while at < end:
        match = _PLAIN.match(text, at)
        if match is None:
            return None
        kind, at = match.lastgroup or "", match.end()
        part = match[kind].decode("utf-8", "replace")
        if kind == "name":
            if part in ("new", "delete", "sizeof", "throw", "this()"):
                return None
            found.append(_WORDS.get(part) or part)
        else:
            found.append(_KNOWN + (number(part) if kind == "number" else TEXT if kind == "text" else "char"))
    return _joined(found)


def _joined(found: list[str]) -> tuple[int, str]:
    is_known = any(one not in (UNKNOWN, _KNOWN) for one in found) and len(found) <= _MOST
    return len(found), _SEPARATOR.join(found) if is_known else ""


def number(text: str) -> str:
    """The type of a number."""
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
    """The text of a type: `Foo*` of `const ns::Foo<T> * &`, with the namespaces before it."""
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


def literal(kind: str, text: str, known: str) -> str:
    """The type of a literal or of an operator's result, `known` to other languages' rules; "" if it is not known."""
    if kind == "null":
        return NOTHING if text == "nullptr" else ""
    if kind in ("string_literal", "raw_string_literal", "concatenated_string"):
        return TEXT if text[:1] in ('"', "R") else ""
    if kind == "char_literal":
        return "char" if text[:1] == "'" else ""
    if kind == "number_literal":
        return number(text)
    if kind == "sizeof_expression":
        return "size_t"
    return known if known == "boolean" else ""


def stars(source: bytes, start: int, name: int, end: int) -> str:
    """The stars of a declaration: those between its type's end and the start of its name, and one per array after it.

    Args:
        source: The file.
        start: Where the type ends.
        name: Where the name starts; before `start` if there is none, as for a function's result.
        end: Where the name ends.
    """
    if name < start:
        match = _POINTED.match(source, start)
        return "*" * min(match.group().count(b"*"), 3) if match is not None else ""
    before = source[max(start, name - _NEAR) : name]
    found = before.rpartition(b",")[2].count(b"*") if b"*" in before else 0
    arrays = source[end : end + 1] == b"["
    return "*" * min(found + arrays, 3) if found or arrays else ""


def called(text: str) -> str | None:
    """The type of a cast that is written as a call, given its outline; "" of one that gives its argument; else None."""
    cast = _CAST.fullmatch(text) if "_cast<" in text else None
    if cast is not None:
        return type_text(cast.group(1))
    return "" if _MOVED.fullmatch(text) else None


def defaulted(body: bytes) -> Iterator[tuple[str, int, str]]:
    """The methods that a class declares with defaults: name, how many parameters have none, and their types.

    Args:
        body: The text of the class in single spaces.
    """
    for match in _DECLARED.finditer(body) if b"=" in body else ():
        if b"=" not in match.group(2):
            continue
        parameters = _parameters(match.group(2).decode("utf-8", "replace"))
        least = next((place for place, one in enumerate(parameters) if "=" in one), len(parameters))
        yield match.group(1).decode(), least, _SEPARATOR.join(map(_declared_type, parameters))


def _parameters(text: str) -> list[str]:
    found, depth, start = [], 0, 0
    for match in _SIGNS.finditer(text):
        sign = match.group()
        depth += (sign in "<(") - (sign in ">)")
        if sign == "," and not depth:
            found.append(text[start : match.start()])
            start = match.end()
    return [*found, text[start:]]


def _declared_type(parameter: str) -> str:
    parameter = parameter.partition("=")[0]
    words = _NAME.findall(_QUALIFIERS.sub(" ", parameter.partition("<")[0]))
    if not words:
        return UNKNOWN
    count = next((place for place, word in enumerate(words) if word not in _BUILTIN), len(words))
    after = parameter.rpartition(">")[2]
    name = "".join(words[: max(count, 1)]).lstrip(":")
    return name + "*" * min(after.count("*") + after.count("["), 3)


def agree(declared: str, taken_by: str) -> bool:
    """Whether a declaration may be of a definition: as many parameters, of types of the same names."""
    one, other = declared.split(_SEPARATOR), taken_by.split(_SEPARATOR)
    return len(one) == len(other) and all(
        a.rpartition(":")[2] == b.rpartition(":")[2] or UNKNOWN in (a, b) or DEDUCED in b
        for a, b in zip(one, other, strict=True)
    )


def taken(node: Node) -> str:
    """The types of the parameters of a definition."""
    types = list(_each_taken(node))
    is_template = node.type == "template_declaration" and types[0][:1] != _OF_CLASS
    return (TEMPLATE if is_template else "") + _SEPARATOR.join(types).replace(_OF_CLASS, "") if types else ""


def _each_taken(node: Node) -> Iterator[str]:
    variables: set[str] = set()
    current: Node | None = node
    if node.type == "template_declaration":
        group = node.child_by_field_name("parameters")
        for child in group.named_children if group is not None else ():
            name = next((part for part in child.named_children if part.type == "type_identifier"), None)
            if name is not None:
                variables.add(_text(name))
        current = node.named_children[-1]
    parameters = None
    owned = False
    for _ in range(8):  # pointers and references before the name
        if current is None or parameters is not None:
            break
        parameters = current.child_by_field_name("parameters")
        inner = current.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in current.named_children if child.type == "function_declarator"), None)
        owned = inner is not None and inner.type == "qualified_identifier"
        current = inner
    for child in parameters.children if parameters is not None else ():
        kind = child.type
        if kind == "...":
            yield f"{UNKNOWN}..."
        elif kind == "variadic_parameter_declaration":
            yield f"{DEDUCED}..."
        elif kind in ("parameter_declaration", "optional_parameter_declaration"):
            # The parameters of a template around `A<T>::f` may be those of the class, which are not deduced.
            yield (_OF_CLASS if owned else "") + _taken(child, variables, UNKNOWN if owned else DEDUCED)


def _taken(parameter: Node, variables: set[str], deduced: str) -> str:
    type_ = parameter.child_by_field_name("type")
    declarator = parameter.child_by_field_name("declarator")
    after = _text(declarator) if declarator is not None else ""
    if type_ is None or type_.type in ("dependent_type", "decltype"):
        return UNKNOWN
    if "(" in after:
        return POINTER if "(*" in after else UNKNOWN
    text = _text(type_)
    stars = "*" * min(after.count("*") + after.count("["), 3)
    if text in variables or text == "auto":
        return deduced + stars if deduced != UNKNOWN else UNKNOWN
    found = type_text(text)
    return found if found in (UNKNOWN, POINTER) else (found + stars)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
