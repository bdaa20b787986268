"""Parses the text of an expression into a chain of steps, and the text of a type into names and arguments.

Texts are as `source.extract.type_hints` leaves them: without arguments of calls and most blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"[@$]*[^\W\d][\w$]*|::|\?->|->|\?\.|!!|\.|[()\[\]{}<>?!&*|,#:@ ]|.")
_LABEL = re.compile(r"\bthis@(\w+)")  # Kotlin's Outer.this
_NAME = re.compile(r"[@$]*[^\W\d]")
_SKIPPED = frozenset({"&", "*", "!", "await", "mut", "try", " ", "#", "move", "ref", "in", "out"})
_DOTS = frozenset({".", "?.", "->", "?->", "::", ":", "\\"})
_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MOST_STEPS = 24


class Step(NamedTuple):
    """One step of an expression: a `name`, `cast` (to a type) or `text` at its start; then `attr`, `call`, `item`, or
    the `test` of a field (`.kind="a"`) that leaves some of the values.

    A name that is looked up at the top level only begins with `::`.
    """

    kind: str
    name: str


@lru_cache(maxsize=20_000)
def steps_of(text: str) -> tuple[Step, ...]:
    """The steps of an expression; none if it is no chain of names, calls and subscripts."""
    if text[:1] in ('"', "'") and text[-1:] == text[:1]:
        return (Step("text", ""),)
    tokens: list[str] = _TOKEN.findall(_LABEL.sub(r"\1.this", text))
    found = _chain(tokens, 0)
    return tuple(found[0]) if found is not None and len(found[0]) <= _MOST_STEPS else ()


def text_of(steps: Iterable[Step]) -> str:
    """A text with these steps."""
    parts = []
    for step in steps:
        kind, name = step
        parts.append(
            f".{name}" if kind == "attr" else "()" if kind == "call" else "[]" if kind == "item"
            else f"(x as {name})" if kind == "cast" else '""' if kind == "text" else name
        )  # fmt: skip
    return "".join(parts)


def _chain(tokens: list[str], at: int) -> tuple[list[Step], int] | None:
    while at < len(tokens) and tokens[at] in _SKIPPED:
        at += 1
    if at >= len(tokens):
        return None
    steps: list[Step] = []
    token = tokens[at]
    if token == "new" and at + 1 < len(tokens) and tokens[at + 1] not in "(.":  # Ruby's `new` is a method
        at += 1
        while at < len(tokens) and tokens[at] == " ":
            at += 1
        first = _chain(tokens, at)
        if first is None:
            return None
        names, at = first
        # `new a.B()` makes a B; what follows the call is done with it.
        if any(step.kind == "call" for step in names):
            return names, at
        return [*names, Step("call", "")], at
    if token == "(":
        inner = _chain(tokens, at + 1)
        if inner is None:
            return None
        steps, at = inner
        end = _skip_cast(tokens, at)
        if end > at:
            text, at = "".join(tokens[at + 1 : end]).removeprefix("as").strip("? "), end
            steps = [*steps, Step("test", text)] if text[:1] == "." else [Step("cast", text.strip("! "))]
        if at >= len(tokens) or tokens[at] != ")":
            return None
        at += 1
        if at < len(tokens) and _NAME.match(tokens[at]) and all(s.kind in ("name", "attr") for s in steps):
            cast = Step("cast", ".".join(step.name for step in steps))
            found = _chain(tokens, at)
            return ([cast], found[1]) if found is not None else None
    elif _NAME.match(token):
        steps.append(Step("name", token))
        at += 1
    elif token in ("::", "\\"):
        found = _chain(tokens, at + 1)
        if found is None or found[0][0].kind != "name":
            return found
        steps, at = found
        return [steps[0]._replace(name=f"::{steps[0].name}"), *steps[1:]], at
    elif token == "." and at + 1 < len(tokens) and _NAME.match(tokens[at + 1]):
        return None
    else:
        return None
    return _rest(tokens, at, steps)


def _skip_cast(tokens: list[str], at: int) -> int:
    while at < len(tokens) and tokens[at] == " ":
        at += 1
    if at < len(tokens) and tokens[at] in ("as", "is"):
        while at < len(tokens) and tokens[at] != ")":
            at += 1
    return at


def _rest(tokens: list[str], at: int, steps: list[Step]) -> tuple[list[Step], int] | None:
    while at < len(tokens):
        token = tokens[at]
        if token in _DOTS:
            at += 1
            if at < len(tokens) and tokens[at] == "<":
                continue
            if at < len(tokens) and tokens[at] == "await":
                at += 1
                continue
            if at < len(tokens) and tokens[at] == "(" and _closing(tokens, at) > 0:  # Go's `x.(T)`
                end = _closing(tokens, at)
                steps = [Step("cast", "".join(tokens[at + 1 : end]))]
                at = end + 1
                continue
            if at >= len(tokens) or not (_NAME.match(tokens[at]) or tokens[at].isdigit()):
                return (steps, at) if at >= len(tokens) else None
            steps.append(Step("attr", tokens[at]))
            at += 1
        elif token in ("(", "[", "{", "<"):
            end = _closing(tokens, at)
            if end < 0:
                return (steps, at) if token == "<" else None
            if token == "(" or (token == "{" and tokens[at - 1] != ")"):  # `f() {…}`: a lambda, or the body of a class
                steps.append(Step("call", ""))
            elif token == "[":
                steps.append(Step("item", ""))
            at = end + 1
        elif token in ("?", "!", "!!"):
            at += 1
        else:
            break
    return steps, at


def _closing(tokens: list[str], at: int) -> int:
    """Index of the token that closes the group opened here, -1 if none does."""
    opener, closer = tokens[at], _OPEN[tokens[at]]
    depth = 0
    for place in range(at, len(tokens)):
        if tokens[place] == opener:
            depth += 1
        elif tokens[place] == closer:
            depth -= 1
            if not depth:
                return place
    return -1


class TypeText(NamedTuple):
    """A type as written: its dotted name, and the texts between its brackets. `item`: it is a container of those."""

    name: str
    arguments: tuple[str, ...]
    item: bool


_ARRAY = re.compile(r"^\[[\w.]*\](?=.)|^\.\.\.")
_NOISE = re.compile(r"^(?:[&*?]+|'\w+(?=\W|$)|const\b|mut\b|dyn\b|impl\b|out\b|ref\b|in\b|struct\b|enum\b|class\b|"
                    r"some\b|any\b|final\b|inout\b|static\b|unsigned\b|params\b|typename\b|readonly\b| )")  # fmt: skip
_DOTTED = re.compile(r"[@$]?[^\W\d][\w$]*(?:(?:::|[.\\])[^\W\d][\w$]*)*")


@lru_cache(maxsize=20_000)
def types_in(text: str) -> tuple[TypeText, ...]:
    """The types in the text of a declaration: several for a union."""
    text = text.strip("\"'` ")
    if len(text) > 1 and text[0] == "(" and text[-1] == ")" and "," not in text:
        text = text[1:-1]
    parts = _split(text, "|")
    if len(parts) > 1:
        return tuple(found for part in parts for found in types_in(part))[:8]
    item = False
    while True:
        match = _NOISE.match(text)
        if match and match.end():
            text = text[match.end() :]
            continue
        array = _ARRAY.match(text)
        if array:
            item, text = True, text[array.end() :]
        elif text.startswith("map["):
            end = text.find("]")
            item, text = True, text[end + 1 :] if end > 0 else ""
        else:
            break
        if text.startswith(("[", "map[")):  # of containers
            return (TypeText("", (text,), True),)
    text = text.lstrip("\\:")
    if text.startswith("[") and text.endswith("]"):  # Swift's [T] and [K: V]
        inner = _split(text[1:-1], ":")
        return (TypeText("", (inner[-1],), True),)
    match = _DOTTED.match(text)
    if match is None:
        return ()
    name = re.sub(r"::|\\", ".", match.group()).lstrip("$@")
    rest = text[match.end() :].rstrip("?!&* ")
    arguments: tuple[str, ...] = ()
    if rest[:1] in ("<", "["):
        closer = {"<": ">", "[": "]"}[rest[0]]
        end = rest.rfind(closer)
        if end > 1:
            arguments = tuple(part for part in _split(rest[1:end], ",") if part)
            rest = rest[end + 1 :].rstrip("?!&* ")
        elif end == 1:
            item, rest = True, ""
    if rest.endswith("[]"):
        item = True
    return (TypeText(name, arguments, item),)


@lru_cache(maxsize=20_000)
def places_in(text: str) -> tuple[str, ...]:
    """The types of the places of a tuple; the type itself if there is one."""
    return tuple(_split(text, ",")) if "," in text else (text,)


def place_in(text: str, number: int) -> str:
    """The type of one place of a tuple; that of any element of another container."""
    items = places_in(text)
    return items[0] if items[-1] == "..." else items[min(number, len(items) - 1)]


def _split(text: str, separator: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == separator and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
