"""Parses the text of an expression into a chain of steps.

The texts come from `source.extract.type_hints.outline`, which leaves out the arguments of calls and most blanks.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.types.expressions import ADDRESS, ATTR, CALL, CAST, ITEM, NAME, TARGET, TEXT, Expr, Step

_TOKEN = re.compile(r"[@$]*[^\W\d][\w$]*|::|\?->|->|\?\.|!!|\.|[()\[\]{}<>?!&*|,#:@ ]|.")
_LABEL = re.compile(r"\bthis@(\w+)")  # Kotlin's Outer.this
_NAME = re.compile(r"[@$]*[^\W\d]")
_SKIPPED = frozenset({"&", "*", "!", "await", "mut", "try", " ", "#", "move", "ref", "in", "out"})
_DOTS = frozenset({".", "?.", "->", "?->", "::", ":", "\\"})
_BLANK = frozenset({" "})
#: What follows a name: `out.f()` calls a method of a variable with the name of a word.
_ENDS = frozenset({".", "", "[", ")"})
_OPEN = {"(": ")", "[": "]", "{": "}", "<": ">"}
_MOST_STEPS = 24


@lru_cache(maxsize=20_000)
def parse(text: str) -> Expr:
    """The steps of an expression; () if it is no chain of names, calls and subscripts."""
    if text[:1] in ('"', "'") and text[-1:] == text[:1]:
        return (Step(TEXT, ""),)
    try:
        chain = _Parser(_TOKEN.findall(_LABEL.sub(r"\1.this", text))).chain()
    except _NoChainError:
        return ()
    return tuple(chain) if len(chain) <= _MOST_STEPS else ()


def parse_cpp(text: str) -> Expr:
    """The steps of a C++ expression, as in `parse`; the expression may also take an address or dereference."""
    inner = text.lstrip("&*")
    signs = text[: len(text) - len(inner)]
    pointers = signs.count("&") - signs.count("*") + inner.startswith("new ")
    steps = parse(inner) if inner[:1] != "!" else ()
    return (*steps, *[Step(ADDRESS if pointers > 0 else TARGET, "")] * abs(pointers)) if steps else ()


class _NoChainError(Exception):
    """Raised for a text that is not a chain of names, calls and subscripts."""


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0

    def _peek(self) -> str:
        """The next token, which is not consumed; "" at the end."""
        return self._tokens[self._at]

    def chain(self) -> list[Step]:
        """Parse a chain and return its steps; the tokens after the chain remain."""
        while (token := self._peek()) in _SKIPPED and not (token.isalpha() and self._tokens[self._at + 1] in _ENDS):
            self._at += 1
        if token == "new" and self._tokens[self._at + 1] not in "(.":  # Ruby's `new` is a method
            self._at += 1
            self._skip(_BLANK)
            names = self.chain()
            # `new a.B()` makes a B; what follows the call is done with it.
            return names if any(step.kind == CALL for step in names) else [*names, Step(CALL, "")]
        self._at += token != ""
        if token in ("::", "\\"):
            steps = self.chain()
            return [Step(NAME, f"::{steps[0].name}"), *steps[1:]] if steps[0].kind == NAME else steps
        if token == "(":
            steps = self._cast(self.chain())
            if self._peek() != ")":
                raise _NoChainError
            self._at += 1
            if _NAME.match(self._peek()) and all(step.kind in (NAME, ATTR) for step in steps):  # `(T) x`
                self.chain()
                return [Step(CAST, ".".join(step.name for step in steps))]
            return self._rest(steps)
        if not _NAME.match(token):
            raise _NoChainError
        return self._rest([Step(NAME, token)])

    def _skip(self, tokens: frozenset[str]) -> None:
        while self._peek() in tokens:
            self._at += 1

    def _cast(self, steps: list[Step]) -> list[Step]:
        """Parse an `as T` after an expression, if there is one: just the cast to `T`, else the expression's `steps`."""
        start = self._at
        self._skip(_BLANK)
        if self._peek() in ("as", "is"):
            while self._peek() not in (")", ""):
                self._at += 1
        if self._at == start:
            return steps
        text = "".join(self._tokens[start + 1 : self._at]).removeprefix("as").strip("? ")
        return [Step(CAST, text.strip("! "))]

    def _rest(self, steps: list[Step]) -> list[Step]:
        while token := self._peek():
            if token in _DOTS:
                self._at += 1
                end = self._closing() if self._peek() == "<" else -1  # Java's `x.<T>f()`
                if end > 0 and _NAME.match(self._tokens[end + 1]):
                    self._at = end + 1
                token = self._peek()
                end = self._closing() if token == "(" else -1  # Go's `x.(T)`
                if end > 0:
                    steps = [Step(CAST, "".join(self._tokens[self._at + 1 : end]))]
                    self._at = end
                elif (_NAME.match(token) and token != "await") or token.isdigit():
                    steps.append(Step(ATTR, token))
                elif token in ("<", ""):
                    continue
                elif token != "await":
                    raise _NoChainError
            elif token in _OPEN:
                end = self._closing()
                if end < 0 and token == "<":
                    return steps
                if end < 0:
                    raise _NoChainError
                # `f() {…}`: a lambda, or the body of a class
                if token == "(" or (token == "{" and self._tokens[self._at - 1] != ")"):
                    steps.append(Step(CALL, ""))
                elif token == "[":
                    steps.append(Step(ITEM, ""))
                self._at = end
            elif token not in ("?", "!", "!!"):
                break
            self._at += 1
        return steps

    def _closing(self) -> int:
        """The index of the token that closes the group which the next token opens; -1 if nothing closes it."""
        opener, depth = self._peek(), 0
        for index in range(self._at, len(self._tokens)):
            depth += (self._tokens[index] == opener) - (self._tokens[index] == _OPEN[opener])
            if not depth:
                return index
        return -1
