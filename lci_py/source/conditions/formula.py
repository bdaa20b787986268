"""Conditions as formulas: the one reader of `&&`, `||`, `!` and brackets, for sources and for what the index stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.conditions.tokens import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Characters; a longer text is not read.
MAX_TEXT = 8_000
#: Formulas in formulas; a deeper one is an atom.
MAX_NESTING = 60
#: Tokens of choices, lists, functions and assignments: the operators beside them do not join what they seem to.
OPAQUE = frozenset({"?", "??", "if", "lambda", ":=", ",", ";", "=>", "<=>", "xor", "="})
#: By token the comparison; those with a "!" are the negation of the rest.
COMPARISONS = {
    "==": "==", "===": "===", "is": "==", "=": "==", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "in": "in",
    "=~": "=~", "!=": "!==", "!==": "!===", "~=": "!==", "!~": "!=~",
}  # fmt: skip
_OPERATORS = (("or", True), ("and", False), ("||", True), ("&&", False))


class Atom(NamedTuple):
    """A part without operators: the tokens from `start` to before `end`."""

    tokens: Tokens
    start: int
    end: int
    is_opaque: bool = False  # whether it has operators all the same, which do not mean what they usually do

    @property
    def source(self) -> str:
        """The part as it is written."""
        return self.tokens.source(self.start, self.end) if self.tokens.is_balanced else self.tokens.text

    @property
    def is_whole(self) -> bool:
        """False if the text was cut (`…`) or is too long, its brackets do not match, or an operand is missing."""
        text = self.tokens.text
        return self.start < self.end and self.tokens.is_balanced and len(text) <= MAX_TEXT and "…" not in text


class Not(NamedTuple):
    """The opposite."""

    part: Condition


class All(NamedTuple):
    """A conjunction."""

    parts: tuple[Condition, ...]


class Some(NamedTuple):
    """A disjunction."""

    parts: tuple[Condition, ...]


Condition = Atom | Not | All | Some


class Grammar(NamedTuple):
    """Where languages differ.

    Attributes:
        words: Whether `and`, `or` and `not` are operators, too.
        opaque: Tokens that make an atom of all that stands beside them, as in `OPAQUE`.
        comparisons: As in `COMPARISONS`.
        loose: Negations of a whole comparison: with `not` in it, `not a == b` is `not (a == b)`. Elsewhere it means
            `(not a) == b`, which is an atom.
    """

    words: bool = True
    opaque: frozenset[str] = OPAQUE
    comparisons: Mapping[str, str] = COMPARISONS
    loose: frozenset[str] = frozenset()


def parse(text: str, grammar: Grammar) -> Condition:
    """Read a condition. Never fails: what is no formula is one atom.

    A cut text (`…`) says nothing about what it was, so of such a text only the conjuncts after the cut are read.
    """
    if "…" in text:
        head, _, rest = text.rpartition("…")
        rest = rest.lstrip(" )")
        cut = _whole(Tokens(f"{head}…"))
        return All((cut, parse(rest[2:], grammar))) if rest.startswith("&&") else cut
    tokens = Tokens(text)
    if not tokens.is_balanced or len(text) > MAX_TEXT:
        return _whole(tokens)
    return _read(tokens, 0, len(tokens), grammar, 0)


def conjuncts(condition: Condition) -> list[Condition]:
    """What must all hold for a condition to hold; none of it is a conjunction."""
    if not isinstance(condition, All):
        return [condition]
    return [part for each in condition.parts for part in conjuncts(each)]


def _whole(tokens: Tokens) -> Atom:
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
