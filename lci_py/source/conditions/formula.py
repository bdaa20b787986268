"""Tokenises conditions, the same way for all languages, and parses them into formulas of `&&`, `||`, `!` and brackets.

It is the only such parser, both for sources and for conditions stored in the index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = lazily(
    # No string has a `…` in it: where a text was cut, the quote that opened one is alone.
    r'"(?:\\.|[^"\\…]){0,200}"|\'(?:\\.|[^\'\\…]){0,200}\''
    # `defined?(X)` and `x?.y` are words; the `?` of `a?b:c` is none. The `'` of `1'000` separates digits.
    r"|(?:0[xX][\da-fA-F]+|\d)(?:'?[\w.])*|[\w.$@]+(?:\?\.[\w.$]+)*(?:[?](?![\w.:?]))?"
    r"|===|!==|<=>|&&|\|\||[=!<>~]=|[=!]~|=>|->|<<|>>|\?\?|::|:=|\S",
    re.DOTALL,
)
_REGEX = lazily(r"/(?:\\.|\[(?:\\.|[^\]\\]){0,100}\]|[^/\\\[]){0,100}/\w*")
_OPEN = {"(": ")", "[": "]", "{": "}"}
_CLOSE = frozenset(_OPEN.values())


class Tokens:
    """The tokens of a text. Time and memory are linear in the text's length.

    Attributes:
        text: The text.
        texts: The texts of the tokens. A string token has double quotes, unless its content has some.
        ends: Maps the index of each opening bracket to the index of its closing bracket.
        is_balanced: Whether there are tokens and all brackets match.
    """

    __slots__ = ("_starts", "ends", "is_balanced", "text", "texts")

    def __init__(self, text: str) -> None:
        self.text = text
        self.texts: list[str] = []
        self._starts: list[int] = []
        self._cut()
        self.ends: dict[int, int] = {}
        self.is_balanced = self._match() and bool(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def source(self, start: int, end: int) -> str:
        """The source text of the tokens `start` to `end` (excluded)."""
        return self.text[self._starts[start] : self._starts[end - 1] + len(self.texts[end - 1])] if start < end else ""

    def top(self, start: int, end: int) -> list[int]:
        """The indices, from `start` to before `end`, of tokens outside all brackets and of the outermost brackets."""
        indices = []
        at = start
        while at < end:
            indices.append(at)
            at = self.ends.get(at, at) + 1
        return indices

    def split(self, operator: str, start: int, end: int) -> list[tuple[int, int]]:
        """The operands of an operator that is outside of brackets, each as the indices (first token, end)."""
        cuts = [start - 1]
        for at in self.top(start, end):
            token = self.texts[at]
            if token == operator:
                cuts.append(at)
            elif token in ("(", ")") and at not in self.ends:
                break  # the text was cut, and the bracket holds the rest
        return [(cut + 1, following) for cut, following in zip(cuts, [*cuts[1:], end], strict=True)]

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """The range (start, end) without the round brackets that enclose all tokens from `start` to before `end`."""
        while end - start > 2 and self.texts[start] == "(" and self.ends.get(start) == end - 1:
            start, end = start + 1, end - 1
        return start, end

    def _cut(self) -> None:
        text = self.text
        if "/" not in text and "'" not in text:  # as nearly always: nothing depends on the token before
            matches = list(_TOKEN.finditer(text))
            self.texts, self._starts = [match.group() for match in matches], [match.start() for match in matches]
            return
        match = _TOKEN.search(text)
        while match:
            token = match.group()
            if token == "/" and (not self.texts or self.texts[-1] in "=~!~(,&&||!"):
                # After an operand it divides; anywhere else a regular expression begins.
                match = _REGEX.match(text, match.start()) or match
                token = match.group()
            elif token[0] == "'" and len(token) > 1 and '"' not in token:
                token = f'"{token[1:-1]}"'
            self.texts.append(token)
            self._starts.append(match.start())
            match = _TOKEN.search(text, match.end())

    def _match(self) -> bool:
        opened: list[int] = []
        is_balanced = True
        for at, token in enumerate(self.texts):
            if token in _OPEN:
                opened.append(at)
            elif token in _CLOSE:
                while opened and _OPEN[self.texts[opened[-1]]] != token:
                    opened.pop()
                    is_balanced = False
                if opened:
                    self.ends[opened.pop()] = at
                else:
                    is_balanced = False
        return is_balanced and not opened


# --- formulas ---------------------------------------------------------------------------------------------------------

#: Characters; a longer text is not read.
MAX_TEXT = 8_000
#: Formulas in formulas; a deeper one is an atom.
MAX_NESTING = 60
#: Tokens of choices, lists, functions and assignments, which bind the operators beside them differently.
OPAQUE = frozenset({"?", "??", "if", "lambda", ":=", ",", ";", "=>", "<=>", "xor", "="})
#: By token the comparison; those with a "!" are the negation of the rest.
COMPARISONS = {
    "==": "==", "===": "===", "is": "==", "=": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "in",
    "=~": "=~", "!=": "!==", "!==": "!===", "~=": "!==", "!~": "!=~",
}  # fmt: skip
_OPERATORS = (("or", True), ("and", False), ("||", True), ("&&", False))


class Atom(NamedTuple):
    """A part of a formula without operators: the tokens from `start` to before `end`."""

    tokens: Tokens
    start: int
    end: int
    is_opaque: bool = False  # whether it has operators all the same, which do not mean what they usually do

    @property
    def source(self) -> str:
        """The source text of the atom."""
        return self.tokens.source(self.start, self.end) if self.tokens.is_balanced else self.tokens.text

    @property
    def is_whole(self) -> bool:
        """Whether the atom is complete: not cut (`…`), not too long, all brackets match, and no operand is missing."""
        text = self.tokens.text
        return self.start < self.end and self.tokens.is_balanced and len(text) <= MAX_TEXT and "…" not in text


class Not(NamedTuple):
    """The negation of a condition."""

    part: Condition


class All(NamedTuple):
    """The conjunction (`&&`) of several conditions."""

    parts: tuple[Condition, ...]


class Some(NamedTuple):
    """The disjunction (`||`) of several conditions."""

    parts: tuple[Condition, ...]


Condition = Atom | Not | All | Some


class Grammar(NamedTuple):
    """Describes how a language's formulas differ from those of other languages.

    Attributes:
        words: Whether `and`, `or` and `not` are operators, too.
        opaque: Operators that are not parsed: an operand that contains one is a single atom. The default is `OPAQUE`.
        comparisons: The comparison operators, like the default `COMPARISONS`.
        loose: Negations that bind more loosely than a comparison. If `not` is loose, `not a == b` is `not (a == b)`;
            else it is `(not a) == b`, which is an atom.
    """

    words: bool = True
    opaque: frozenset[str] = OPAQUE
    comparisons: Mapping[str, str] = COMPARISONS
    loose: frozenset[str] = frozenset()


def parse(text: str, grammar: Grammar) -> Condition:
    """Parse a condition. Never fails: a text that is no formula becomes one atom.

    In a cut text, everything up to the cut (`…`) is one atom; only the conjuncts after it are parsed.
    """
    if "…" in text:
        head, _, rest = text.rpartition("…")
        rest = rest.lstrip(" )")
        cut = _whole_atom(Tokens(f"{head}…"))
        return All((cut, parse(rest[2:], grammar))) if rest.startswith("&&") else cut
    tokens = Tokens(text)
    if not tokens.is_balanced or len(text) > MAX_TEXT:
        return _whole_atom(tokens)
    return _read(tokens, 0, len(tokens), grammar, 0)


def conjuncts(condition: Condition) -> list[Condition]:
    """The conjuncts of a condition, with nested conjunctions flattened."""
    if not isinstance(condition, All):
        return [condition]
    return [part for each in condition.parts for part in conjuncts(each)]


def _whole_atom(tokens: Tokens) -> Atom:
    return Atom(tokens, 0, len(tokens))


def _read(tokens: Tokens, start: int, end: int, grammar: Grammar, depth: int) -> Condition:
    start, end = tokens.inside(start, end)
    texts = tokens.texts
    at_top = {texts[at] for at in tokens.top(start, end)}
    if depth > MAX_NESTING or not at_top.isdisjoint(grammar.opaque):
        return Atom(tokens, start, end, is_opaque=True)
    for operator, is_choice in _OPERATORS if grammar.words else _OPERATORS[2:]:
        if operator in at_top:
            sides = tokens.split(operator, start, end)
            parts = tuple(_read(tokens, *side, grammar, depth + 1) for side in sides)
            return Some(parts) if is_choice else All(parts)
    first = start
    while first < end and (texts[first] == "!" or (texts[first] == "not" and grammar.words)):
        first += 1
    if first == start:
        return Atom(tokens, start, end)
    if texts[start] not in grammar.loose and not at_top.isdisjoint(grammar.comparisons):
        return Atom(tokens, start, end, is_opaque=True)
    part = _read(tokens, first, end, grammar, depth + 1)
    return Not(part) if (first - start) % 2 else part
