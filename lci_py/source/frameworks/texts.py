"""Reads expressions as text: the function that an expression names, the path in it, its arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What stands for a part of a path that the text of the file does not say.
UNKNOWN = "…"
VERBS = ("get", "post", "put", "delete", "patch", "head", "options", "any", "trace", "connect")
#: Characters of an expression that is read, and of the beginning of a function without a name.
MOST_TEXT, _MOST_HEAD = 4_000, 400
#: A text in quotes, with what may stand before it.
STRING = lazily(r"""[rbufRBUF@$]*("{3}|'{3}|["'`])((?:\\.|(?!\1).)*)\1""", re.DOTALL)
_FILLED, _FORMATTED = lazily(r"\$\{[^{}]*\}|#\{[^{}]*\}"), lazily(r"\{[^{}]*\}")
_GROUP = lazily(r"\(\?P<(\w+)>(?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)")
#: A name, with what it is a member of.
_REFERENCE = lazily(r"[$@&:\\]*[A-Za-z_][\w\\]*(?:(?:\.|::|->|\?\.)\w+)*$")
_MEMBER = lazily(r"(.*)(?:\?\.|\.|::|->)(\w+)$")
#: A call of one argument or more: a function that wraps another one, perhaps one that a call made.
_CALL = lazily(r"(?P<outer>[$\w.:]+(?:->\w+|\([^()]*\))?)\s*\((?P<inner>.*)\)$", re.DOTALL)
_WRAPPED = lazily(r"[$@&]?[A-Za-z_][\w.:]*(?:\(.*\))?$", re.DOTALL)
#: PHP: `[Users::class, 'index']`, `'Users@index'`, `Users::class`.
_OF_CLASS = (
    lazily(r"(?:\[|array\()\s*(\\?[\w\\]+)::class\s*,\s*['\"](\w+)['\"]\s*,?\s*[\])]$"),
    lazily(r"['\"](\\?[\w\\]+)@(\w+)['\"]$"),
    lazily(r"(\\?[\w\\]+)::class()$"),
)
_INLINE = lazily(
    r"\s*(?:(?:async|function|func|fn|static|lambda|move)\b|\||->|\{|\(?[\w\s,:]*\)?\s*=>|\([^()]*\)\s*(?::[^=]+)?=>)"
)
_VERB = lazily(rf"\b({'|'.join(VERBS)})\s*\(")
#: A constant, or a field of a configuration as such or by its name: `PREFIX`, `settings.API`, `config["PREFIX"]`.
_SETTING = lazily(
    r"(?:process\.env\.)?((?:\w+(?:\.|::))+\w+|[A-Z][A-Z\d_]+)$"
    r"|[\w.]+(?:\[|(?:\.get|\.getOrThrow|\.fetch|getenv|env)\()\s*[\"']([\w.]+)[\"'](?:,\s*\{[^{}]*\},?)?\s*[\])]$"
)


def is_inline(text: str) -> bool:
    """Whether an expression is a function without a name."""
    return _INLINE.match(text[:_MOST_HEAD]) is not None


def reference(text: str) -> tuple[str, str] | None:
    """(Receiver, name) of the function that an expression means, or None; for `csrf_exempt(view)`, it is `view`."""
    for _ in range(4 if len(text) <= MOST_TEXT else 0):
        text = text.strip().removesuffix(",").removeprefix("&")
        if method := next(filter(None, (pattern.match(text) for pattern in _OF_CLASS)), None):
            return method[1], method[2] or "__invoke"
        if _REFERENCE.match(text):
            member = _MEMBER.match(text)
            return (member[1], member[2]) if member else ("", text.lstrip("@&:"))
        call = _CALL.match(text)
        if call is None:
            return None
        outer, inner = call["outer"], split(call["inner"])
        if outer.endswith((".as_view", ".asView")):
            text = outer.rpartition(".")[0]
        elif inner and not outer.endswith(".bind") and _WRAPPED.match(inner[-1]):
            text = inner[-1]
        else:
            text = outer.removesuffix(".bind")
    return None


def maker(text: str) -> tuple[str, str] | None:
    """(Receiver, name) of the function that makes a handler: `show` for the call `show(store)`; None without a call."""
    call = _CALL.match(text.strip()[:MOST_TEXT])
    return reference(call["outer"]) if call is not None else None


def split(text: str) -> list[str]:
    """Split a text at the commas that are outside of brackets and quotes."""
    parts, start, end = [], 0, 0
    while end < len(text):
        end = _ends(text, start, ",")
        parts.append(text[start:end].strip())
        start = end + 1
    return [part for part in parts if part]


def bracket_content(text: str, start: int) -> str:
    """The text from `start` up to the bracket that closes the bracket before `start`."""
    return text[start : _ends(text, start, "")]


def _ends(text: str, start: int, sign: str) -> int:
    """The offset of the first `sign` outside of brackets and quotes, else the end; for "", of the closing bracket."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth < 0 and not sign:
                return at
        elif char == sign and depth <= 0:
            return at
        at += 1
    return at


def content(match: re.Match[str], constant: Callable[[str], str | None] = lambda _: None) -> str:
    """The content of a `STRING` match; interpolated values become the result of `constant`, else of `setting`."""
    text = _FILLED.sub(lambda part: constant(part[0][2:-1]) or setting(part[0][2:-1]), match[2])
    is_formatted = "f" in match[0][: match.start(1) - match.start()].lower()
    return (
        _FORMATTED.sub(lambda part: constant(part[0][1:-1]) or setting(part[0][1:-1]), text) if is_formatted else text
    )


def setting(text: str) -> str:
    """The placeholder `UNKNOWN`, which stands in a path for the value of an expression.

    If the expression is a constant or a field of a configuration, its name follows, as in `…{settings.API}`:
    `search.routes` looks for the value.
    """
    match = _SETTING.match(text.strip())
    return f"{UNKNOWN}{{{(match[1] or match[2]).replace('::', '.')}}}" if match else UNKNOWN


def constant_of(source: bytes, name: str) -> str | None:
    """The text of a constant that a file assigns exactly once; None if there is no such constant, or it is no text."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        return None
    pattern = rb"(?m)\b%s\b(?:\s*:\s*[&'\w ]+?)?(?:\s+[\w.]+)?\s*:?=(?![=>])\s*([^\n]*)" % re.escape(name.encode())
    values = [value for value in re.findall(pattern, source) if not value.startswith(name.encode())]
    match = STRING.match(values[0].decode("utf-8", "replace")) if len(values) == 1 else None
    return content(match) if match else None


def sum_of(text: str) -> list[str]:
    """The operands of a string concatenation such as `BASE + "/users"`."""
    parts, start = list[str](), 0
    while start <= len(text):
        end = _ends(text, start, "+")
        parts.append(text[start:end].strip())
        start = end + 1
    return parts


def readable(path: str) -> str:
    """Rewrite a path that is a regular expression as a path with named parameters."""
    return _GROUP.sub(r"<\1>", path).removeprefix("^").removesuffix("$").replace("\\", "")


def http_chain(text: str) -> Iterator[tuple[str, str]]:
    """The calls in a chain whose names are HTTP methods, each as (name, first argument): `get(list).post(add)`."""
    at = 0
    while match := _VERB.search(text, at):
        inner = bracket_content(text, match.end())
        at = match.end() + len(inner)
        if inner.strip():
            yield match[1], split(inner)[0]


def attributes_of(head: str, mark: str) -> Iterator[tuple[str, str, int]]:
    """The attributes in a text, each as (name, arguments, offset where it starts)."""
    for match in re.finditer(mark, head):
        yield match[1], bracket_content(head, match.end()) if match[0].endswith("(") else "", match.start()


def method_of(verb: str) -> str:
    """The HTTP method that a name states; "" for any method and for other names."""
    verb = verb.removeprefix("Map").upper()
    return verb if verb.lower() in VERBS and verb != "ANY" else ""


def route_name(method: str, path: str) -> str:
    """The name of a route: `GET /path`, or just `/path` for any method."""
    path = path if path.startswith((UNKNOWN, "/")) else f"/{path}"
    return f"{method} {path}" if method else path


def part_name(method: str, path: str) -> str:
    """The name of a route as far as one file states it: just the method if the file states no path."""
    return route_name(method, path) if path else f"{method} "


def join_paths(before: str, path: str) -> str:
    """Join two parts of a path with exactly one slash."""
    if not before or not path or (before == UNKNOWN and path.startswith(UNKNOWN)):
        return path or before
    return f"{before.rstrip('/')}/{path.lstrip('/')}"
