"""Parses Rust's attributes: predicates of `cfg`, and the paths of modules' files."""

from __future__ import annotations

import re

from lci_py.source.conditions.text import MAX_DEPTH, any_of, clip, join, negate
from lci_py.source.text.patterns import lazily

#: The condition of items in a call of a macro that another file defines: `macro(cfg_net)`. The search resolves it.
UNKNOWN = "macro({})"
#: Characters, more than in other languages: a list of target systems is long, and says nothing if it is cut.
MAX_PREDICATE = 1000
_MAX_PLACES = 32  # of one module
# Bounded on both sides: a file of blank lines, or of `#[cfg(` without an end, must not take quadratic time.
_CFG = lazily(r"^[^\S\n]*#!?\[\s*cfg\s*\((.{0,4000}?)\)\s*\]", re.MULTILINE | re.DOTALL)
_TEST = lazily(r"^[^\S\n]*#\[\s*(?:\w+::){0,4}test\s*\]", re.MULTILINE)
_TOKEN = lazily(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\])*"|[\w:.]+|[(),=]', re.DOTALL)
_PATH = lazily(r'\s*path\s*=\s*r?#*"([^"\\]{1,400})"')
_PATH_ATTRIBUTE = lazily(rf"#\[{_PATH.pattern}")
_CFG_ATTR = lazily(r"#\[\s*cfg_attr\s*\(")
#: `#![…]` at the start of a macro's arguments hands it a predicate, if it is one: tokio's and hyper's `feature!`.
_PREDICATE_ATTRIBUTE = lazily(
    r"#!\[\s*((?:(?:all|any|not)\s*\(|(?:unix|windows|test|feature|target_\w+)\b).{0,4000})\]\Z", re.DOTALL
)


def cfg(attributes: str) -> list[str]:
    """The predicates of each `cfg` among attributes, and `test` for `#[test]`, which only a test build has.

    `cfg_attr` does not count: it only attaches attributes.
    """
    predicates = [predicate(text) for text in _CFG.findall(attributes)] if "cfg" in attributes else []
    return [*predicates, "test"] if "test]" in attributes and _TEST.search(attributes) else predicates


def predicate_of_macro(attribute: str) -> str:
    """The predicate in an attribute `#![…]` that is passed to a macro; "" for other attributes."""
    match = _PREDICATE_ATTRIBUTE.match(attribute)
    return predicate(match.group(1)) if match else ""


def paths(attributes: list[str]) -> list[tuple[str, str]]:
    """The files that a module's attributes (texts from `#[` to `]`) name, each as (path as written, condition).

    The path is "" if the module's name determines it. The last item covers all other cases.
    """
    files: list[tuple[str, str]] = []
    earlier: list[str] = []
    for attribute in [attribute for attribute in attributes if "path" in attribute][:_MAX_PLACES]:
        if match := _PATH_ATTRIBUTE.match(attribute):
            return [*files, (match.group(1), join(map(negate, earlier)) or "")]
        condition, path = _conditional(attribute)
        if path:
            files.append((path, condition))
            earlier.append(condition)
    return [*files, ("", join(map(negate, earlier)) or "")] if files else []


def _conditional(attribute: str) -> tuple[str, str]:
    """(The condition, the path) of `#[cfg_attr(condition, path = "…")]`; ("", "") for an attribute without a path."""
    head = _CFG_ATTR.match(attribute)
    depth, start, condition = 0, head.end() if head else 0, ""
    for token in _TOKEN.finditer(attribute, start) if head else ():
        text = token.group()
        depth += (text == "(") - (text == ")")
        if text == "," and depth == 0:
            if not condition:
                condition = predicate(attribute[start : token.start()])
            if match := _PATH.match(attribute, token.end()):
                return condition, match.group(1)
    return "", ""


def predicate(text: str) -> str:
    """Write a `cfg` predicate as a condition: `all(a, not(b))` is `a && !b`. Text that does not parse is kept."""
    return clip(_read(text), MAX_PREDICATE)


def _read(text: str) -> str:
    stack: list[tuple[str, list[str]]] = [("all", [])]  # no recursion: the file decides how deep its brackets go
    before = ""
    for token in _TOKEN.findall(text):
        operands = stack[-1][1]
        if token.startswith(("//", "/*")):
            continue
        if token == "(" and operands and operands[-1] == before != "":
            stack.append((operands.pop(), []))
        elif token == "(" or (token == ")" and len(stack) == 1) or len(stack) > MAX_DEPTH:
            return text
        elif token == ")":
            operator, inner = stack.pop()
            stack[-1][1].append(_combine(operator, inner))
        elif operands and (token == "=" or before == "="):
            operands[-1] += f" {token}"
        elif token != ",":
            operands.append({"true": "", "false": "0"}.get(token, token))
        before = token
    return _combine(*stack[0]) if len(stack) == 1 else text


def _combine(operator: str, operands: list[str]) -> str:
    """Join operands by `not`, `all` or `any`; "" stands for a predicate that always holds, "0" for the opposite."""
    if operator == "not" and len(operands) == 1:
        return negate(operands[0])
    if operator == "all":
        return "0" if "0" in operands else " && ".join(filter(None, operands))
    if operator == "any":
        options = [operand for operand in operands if operand != "0"]
        if "" in options:
            return ""
        return f"({any_of(options)})" if len(options) > 1 else options[0] if options else "0"
    return f"{operator}({', '.join(operands)})"


def quote(text: str) -> str:
    """Encode a text as one word: each byte of a blank, `%` or `?` becomes `%20` and the like."""
    return re.sub(r"[%?\s]", lambda match: "".join(f"%{byte:02x}" for byte in match.group().encode()), text)


def unquote(word: str) -> str:
    """The inverse of `quote`."""
    return re.sub(
        r"(?:%[0-9a-f]{2})+",
        lambda match: bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace"),
        word,
    )
