"""Conditions read as formulas over comparisons, the same way for all languages."""

from __future__ import annotations

import re
from typing import NamedTuple

from lci_py.source.text.patterns import lazily

#: Characters of a condition that is read at all; what the index stores is shorter (conditions/text.py).
MAX_TEXT = 8_000
#: Formulas in formulas; what is deeper is one operand.
MAX_NESTING = 60

_TOKEN = lazily(
    r'\s+|(?P<quoted>"(?:\\.|[^"\\]){0,200}"|\'(?:\\.|[^\'\\]){0,200}\')'
    # `defined?(X)` and `x?.y` are words; the `?` of `a?b:c` is none. The `'` of `1'000` separates digits.
    r"|(?P<word>(?:0[xX][\da-fA-F]+|\d)(?:'?[\w.])*|[\w.$@]+(?:\?\.[\w.$]+)*(?:[?](?![\w.:?]))?)"
    r"|===|!==|<=>|&&|\|\||[=!<>~]=|[=!]~|=>|->|<<|>>|\?\?|::|:=|.",
    re.DOTALL,
)
_REGEX = lazily(r"/(?:\\.|\[(?:\\.|[^\]\\]){0,100}\]|[^/\\\[]){0,100}/\w*")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())
_SPLITS = (("or",), ("and",), ("||",), ("&&",))
_COMPARISONS = {
    "==": "==", "===": "===", "is": "==", "=": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "in",
    "=~": "=~", "!=": "!==", "!==": "!===", "~=": "!==", "!~": "!=~",
}  # fmt: skip
#: What makes a text mean something else than its parts: a choice, a list, a function.
_OPAQUE = frozenset({"?", "??", "if", "lambda", ":=", ",", ";", "=>", "<=>", "xor"})
_SHELL = frozenset({"&&", "||", "!", "==", "===", "!=", "!==", "=~", "<", "<=", ">", ">=", ";"})


class Operand(NamedTuple):
    """An operand by itself: a name, a call, a constant. The text has no blanks but between words, and `"` quotes."""

    text: str


class Comparison(NamedTuple):
    """`==`, `===`, `<`, `<=`, `>`, `>=`, `in`, `=~`; their opposites are a `Not` of them."""

    left: str
    operator: str
    right: str


class Not(NamedTuple):
    """The opposite."""

    part: Tree


class All(NamedTuple):
    """A conjunction."""

    parts: tuple[Tree, ...]


class Some(NamedTuple):
    """A disjunction."""

    parts: tuple[Tree, ...]


class Unknown(NamedTuple):
    """A text that was cut, or whose brackets do not match."""

    text: str


Tree = Operand | Comparison | Not | All | Some | Unknown


class Grammar(NamedTuple):
    """Where languages differ.

    Attributes:
        loose_not: `not a == b` is `not (a == b)`; elsewhere it is `(not a) == b`.
        chains: `a < b < c` is `a < b and b < c`.
        assigns: `a = b` compares, and `!a = b` is `!(a = b)`.
        shell: Words and most signs are arguments of commands, no operators.
    """

    loose_not: bool = False
    chains: bool = False
    assigns: bool = False
    shell: bool = False


def parse(tag: str, grammar: Grammar) -> Tree:
    """Read a condition. Never fails: what is no formula is one `Operand`, or `Unknown` where the text is incomplete.

    A cut text (`…`) says nothing about what it was, so of such a tag only the conjuncts after the cut are read.
    """
    if len(tag) > MAX_TEXT:
        return Unknown(tag)
    if "…" in tag:
        head, _, rest = tag.rpartition("…")
        rest = rest.lstrip(" )")
        unknown = Unknown(f"{head}…")
        return All((unknown, parse(rest[2:], grammar))) if rest.startswith("&&") else unknown
    tokens = _tokens(tag)
    ends = _brackets(tokens)
    if not tokens or ends is None:
        return Unknown(tag)
    return _Reader(tokens, ends, grammar).read(0, len(tokens), 0)


def text_of(tokens: list[str]) -> str:
    """Tokens in one form: a blank only where two words would run together."""
    text = ""
    for token in tokens:
        blank = text and (text[-1].isalnum() or text[-1] in "_?") and (token[0].isalnum() or token[0] == "_")
        text += f" {token}" if blank else token
    return text


def items(text: str) -> list[str] | None:
    """The items of `(a, b)`, `[a, b]` or `{a, b}`; None if `text` is no list."""
    tokens = _tokens(text)
    ends = _brackets(tokens) if tokens and tokens[0] in _OPEN else None
    if not ends or ends.get(0) != len(tokens) - 1:
        return None
    found: list[list[str]] = [[]]
    at = 1
    while at < len(tokens) - 1:
        after = ends.get(at, at) + 1
        if tokens[at] == ",":
            found.append([])
        else:
            found[-1].extend(tokens[at:after])
        at = after
    return [text_of(item) for item in found if item]


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        # A `/` after an operand divides; anywhere else a regular expression begins.
        starts = text[at] == "/" and (not tokens or tokens[-1] in "=~!~(,&&||!")
        regex = _REGEX.match(text, at) if starts else None
        match = regex or _TOKEN.match(text, at)
        if match is None:
            break  # never: the last alternative takes any character
        at, token = match.end(), match.group()
        if regex is None and match["quoted"]:
            inside = token[1:-1]
            token = f'"{inside}"' if token[0] == '"' or '"' not in inside else token
        if not token.isspace():
            tokens.append(token)
    return tokens


def _brackets(tokens: list[str]) -> dict[int, int] | None:
    """Where each bracket closes; None if they do not match."""
    ends: dict[int, int] = {}
    stack: list[int] = []
    for at, token in enumerate(tokens):
        if token in _OPEN:
            stack.append(at)
        elif token in _CLOSE:
            if not stack or _OPEN[tokens[stack[-1]]] != token:
                return None
            ends[stack.pop()] = at
    return None if stack else ends


class _Reader:
    """One condition. Recursion goes no deeper than `MAX_NESTING`."""

    def __init__(self, tokens: list[str], ends: dict[int, int], grammar: Grammar) -> None:
        self._tokens = tokens
        self._ends = ends
        self._grammar = grammar

    def read(self, start: int, end: int, depth: int) -> Tree:
        tokens = self._tokens
        if start >= end:
            return Unknown("")
        if depth > MAX_NESTING:
            return Operand(text_of(tokens[start:end]))
        if tokens[start] == "(" and self._ends[start] == end - 1:
            while tokens[start] == "(" and self._ends.get(start) == end - 1 and end - start > 2:
                start, end = start + 1, end - 1
            return self.read(start, end, depth + 1)
        top = self._top(start, end)
        if self._grammar.shell:
            top = [at for at in top if tokens[at] in _SHELL]
        words = {tokens[at] for at in top}
        if words & _OPAQUE or ("=" in words and not self._grammar.assigns):
            return Operand(text_of(tokens[start:end]))
        for operators in _SPLITS:
            if not words.isdisjoint(operators):
                cuts = [at for at in top if tokens[at] in operators]
                bounds = zip([start, *(at + 1 for at in cuts)], [*cuts, end], strict=True)
                parts = tuple(self.read(low, high, depth + 1) for low, high in bounds)
                return Some(parts) if operators[0] in ("or", "||") else All(parts)
        return self._unary(start, end, depth, top)

    def _top(self, start: int, end: int) -> list[int]:
        """Where the tokens are that stand in no bracket, opening ones included."""
        found = []
        at = start
        while at < end:
            found.append(at)
            at = self._ends.get(at, at) + 1
        return found

    def _unary(self, start: int, end: int, depth: int, top: list[int]) -> Tree:
        tokens = self._tokens
        first = start
        while first < end and tokens[first] in (("!",) if self._grammar.shell else ("!", "not")):
            first += 1
        if first == start:
            return self._comparison(start, end, top)
        compares = any(tokens[at] in _COMPARISONS for at in top)
        loose = self._grammar.loose_not if tokens[start] == "not" else self._grammar.assigns
        if compares and not loose:
            return Operand(text_of(tokens[start:end]))
        part = self.read(first, end, depth + 1)
        return Not(part) if (first - start) % 2 else part

    def _comparison(self, start: int, end: int, top: list[int]) -> Tree:
        tokens = self._tokens
        cuts: list[tuple[int, int, str]] = []
        for at in top:
            token = tokens[at]
            if token in ("is", "not") and tokens[at + 1 : at + 2] == [{"is": "not", "not": "in"}[token]]:
                cuts.append((at, at + 2, "!==" if token == "is" else "!in"))
            elif token in _COMPARISONS and not (cuts and at < cuts[-1][1]):
                cuts.append((at, at + 1, _COMPARISONS[token]))
        if not cuts:
            return Operand(text_of(tokens[start:end]))
        if len(cuts) > 1 and not self._grammar.chains:
            return Operand(text_of(tokens[start:end]))
        starts, ends = [start, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), end]
        operands = [self._operand(low, high) for low, high in zip(starts, ends, strict=True)]
        if not all(operands):
            return Unknown(text_of(tokens[start:end]))
        parts = [_compare(operands[i], cut[2], operands[i + 1]) for i, cut in enumerate(cuts)]
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _operand(self, start: int, end: int) -> str:
        # `(3,)` is a list of one, `(X)` is X.
        while end - start > 2 and self._tokens[start] == "(" and self._ends.get(start) == end - 1:
            if "," in self._tokens[start:end]:
                break
            start, end = start + 1, end - 1
        return text_of(self._tokens[start:end])


def _compare(left: str, operator: str, right: str) -> Tree:
    operator = "==" if operator == "=" else operator
    if operator.startswith("!"):
        return Not(Comparison(left, operator[1:], right))
    return Comparison(left, operator, right)
