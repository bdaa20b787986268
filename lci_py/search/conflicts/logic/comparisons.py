"""What an atom of a condition asks: comparisons of operands, or one operand by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lci_py.source.conditions.tokens import Tokens

if TYPE_CHECKING:
    from lci_py.source.conditions.formula import Atom, Grammar

#: Operators of two words: by the first the second, and the operator as in `COMPARISONS`.
_PAIRS = {"is": ("not", "!=="), "not": ("in", "!in")}


class Operand(NamedTuple):
    """An operand by itself: a name, a call, a constant. The text has no blanks but between words, and `"` quotes."""

    text: str


class Comparison(NamedTuple):
    """`==`, `===`, `<`, `<=`, `>`, `>=`, `in` or `=~` between two operands. Their opposites are its negation."""

    left: str
    operator: str
    right: str


class Unknown(NamedTuple):
    """A text that was cut, or whose brackets do not match."""

    text: str


Leaf = Operand | Comparison


def asked(atom: Atom, grammar: Grammar, chains: bool) -> list[tuple[bool, Leaf | Unknown]]:
    """What must hold for an atom to hold: leaves, each with False if its opposite is meant.

    Args:
        atom: A part of a condition.
        grammar: The grammar that the condition was parsed by.
        chains: Whether `a < b < c` is `a < b and b < c`; elsewhere it is one operand.
    """
    if not atom.is_whole:
        return [(True, Unknown(atom.source))]
    tokens, start, end, is_opaque = atom
    texts = tokens.texts
    cuts: list[tuple[int, int, str]] = []
    for at in () if is_opaque else tokens.top(start, end):
        second, operator = _PAIRS.get(texts[at], ("", ""))
        if second and grammar.words and texts[at + 1 : at + 2] == [second]:
            cuts.append((at, at + 2, operator))
        elif texts[at] in grammar.comparisons and not (cuts and at < cuts[-1][1]):
            cuts.append((at, at + 1, grammar.comparisons[texts[at]]))
    if not cuts or (len(cuts) > 1 and not chains):
        return [(True, Operand(compact(texts[start:end])))]
    bounds = zip([start, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), end], strict=True)
    operands = [_operand(tokens, low, high) for low, high in bounds]
    if not all(operands):
        return [(True, Unknown(compact(texts[start:end])))]
    return [
        (operator[0] != "!", Comparison(left, operator.removeprefix("!"), right))
        for left, (_, _, operator), right in zip(operands, cuts, operands[1:], strict=False)
    ]


def compact(tokens: list[str]) -> str:
    """Tokens in one form: a blank only where two words would run together."""
    text = ""
    for token in tokens:
        blank = text and (text[-1].isalnum() or text[-1] in "_?") and (token[0].isalnum() or token[0] == "_")
        text += f" {token}" if blank else token
    return text


def items(text: str) -> list[str] | None:
    """The items of `(a, b)`, `[a, b]` or `{a, b}`; None if `text` is no list."""
    tokens = Tokens(text)
    last = len(tokens) - 1
    if not tokens.is_balanced or tokens.ends.get(0) != last:
        return None
    return [compact(tokens.texts[start:end]) for start, end in tokens.split(",", 1, last) if start < end]


def _operand(tokens: Tokens, start: int, end: int) -> str:
    inner = tokens.inside(start, end)
    # `(3,)` is a list of one, `(X)` is X.
    return compact(tokens.texts[start:end] if "," in tokens.texts[slice(*inner)] else tokens.texts[slice(*inner)])
