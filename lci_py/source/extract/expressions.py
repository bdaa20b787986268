"""Parses the text of an expression into a chain of steps.

Texts are as `source.extract.type_hints.outline` leaves them: without arguments of calls and most blanks.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.types.expressions import ADDRESS, ATTR, CALL, CAST, ITEM, NAME, TARGET, TEST, TEXT, Expr, Step

_TOKEN = re.compile(r"[@$]*[^\W\d][\w$]*|::|\?->|->|\?\.|!!|\.|[()\[\]{}<>?!&*|,#:@ ]|.")
_LABEL = re.compile(r"\bthis@(\w+)")  # Kotlin's Outer.this
_NAME = re.compile(r"[@$]*[^\W\d]")
_SKIPPED = frozenset({"&", "*", "!", "await", "mut", "try", " ", "#", "move", "ref", "in", "out"})
_DOTS = frozenset({".", "?.", "->", "?->", "::", ":", "\\"})
_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MOST_STEPS = 24
#: A chain as most are, and its parts: names that follow dots, calls and subscripts.
_PLAIN = re.compile(r"[@$]*[^\W\d][\w$]*(?:\.[@$]*[^\W\d][\w$]*|\(\)|\[\])*")
_PART = re.compile(r"(\.|\(\)|\[\])([\w@$]*)")
_WORDS = ("new", "await", "mut", "try", "move", "ref", "in", "out")


@lru_cache(maxsize=20_000)
def parse(text: str) -> Expr:
    """The steps of an expression; none if it is no chain of names, calls and subscripts."""
    if _PLAIN.fullmatch(text) and not text.startswith(_WORDS) and ".await" not in text:
        head = _PART.search(text)
        end = head.start() if head is not None else len(text)
        steps = [Step(sign[0], name) for sign, name in _PART.findall(text, end)]
        return (Step(NAME, text[:end]), *steps) if len(steps) < _MOST_STEPS else ()
    if text[:1] in ('"', "'") and text[-1:] == text[:1]:
        return (Step(TEXT, ""),)
    tokens: list[str] = _TOKEN.findall(_LABEL.sub(r"\1.this", text))
    found = _chain(tokens, 0)
    return tuple(found[0]) if found is not None and len(found[0]) <= _MOST_STEPS else ()


def parse_cpp(text: str) -> Expr:
    """The same for an expression of C++, which may be an address, or what is at one."""
    inner = text.lstrip("&*")
    signs = text[: len(text) - len(inner)]
    pointers = signs.count("&") - signs.count("*") + inner.startswith("new ")
    found = parse(inner) if inner[:1] != "!" else ()
    return (*found, *[Step(ADDRESS if pointers > 0 else TARGET, "")] * abs(pointers)) if found else ()


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
        if any(step.kind == CALL for step in names):
            return names, at
        return [*names, Step(CALL, "")], at
    if token == "(":
        inner = _chain(tokens, at + 1)
        if inner is None:
            return None
        steps, at = inner
        end = _skip_cast(tokens, at)
        if end > at:
            text, at = "".join(tokens[at + 1 : end]).removeprefix("as").strip("? "), end
            steps = [*steps, Step(TEST, text)] if text[:1] == "." else [Step(CAST, text.strip("! "))]
        if at >= len(tokens) or tokens[at] != ")":
            return None
        at += 1
        if at < len(tokens) and _NAME.match(tokens[at]) and all(s.kind in (NAME, ATTR) for s in steps):
            cast = Step(CAST, ".".join(step.name for step in steps))
            found = _chain(tokens, at)
            return ([cast], found[1]) if found is not None else None
    elif _NAME.match(token):
        steps.append(Step(NAME, token))
        at += 1
    elif token in ("::", "\\"):
        found = _chain(tokens, at + 1)
        if found is None or found[0][0].kind != NAME:
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
                steps = [Step(CAST, "".join(tokens[at + 1 : end]))]
                at = end + 1
                continue
            if at >= len(tokens) or not (_NAME.match(tokens[at]) or tokens[at].isdigit()):
                return (steps, at) if at >= len(tokens) else None
            steps.append(Step(ATTR, tokens[at]))
            at += 1
        elif token in ("(", "[", "{", "<"):
            end = _closing(tokens, at)
            if end < 0:
                return (steps, at) if token == "<" else None
            if token == "(" or (token == "{" and tokens[at - 1] != ")"):  # `f() {…}`: a lambda, or the body of a class
                steps.append(Step(CALL, ""))
            elif token == "[":
                steps.append(Step(ITEM, ""))
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
