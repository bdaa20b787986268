"""Writes conditions with `&&`, `||` and `!` in normal form: Go's constraints and the expressions after `#if`.

`&&` inside `||` is put in brackets, as by gofmt. Redundant brackets are dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.source.conditions.formula import COMPARISONS, All, Atom, Condition, Grammar, Not, Some, parse
from lci_py.source.conditions.text import alternatives, any_of, bare, join, negate
from lci_py.source.text.patterns import lazily

_ARITHMETIC = dict.fromkeys(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"), "")
_GRAMMAR = Grammar(words=False, opaque=frozenset("?"), comparisons=COMPARISONS | _ARITHMETIC)
_TOKEN = lazily(
    r'__has_(?:include(?:_next)?|embed)\s*\(\s*(?:<[^>]*>|"[^"]*")[^)]*\)|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
    r"|[\w.$]+|&&|\|\||[=!<>]=|<<|>>|\S"
)
_WORD = lazily(r"[\w.$]")
_MAX_READ, _MAX_LENGTH = 4000, 500  # characters that are read, and that are kept
_CONSTANTS = {"true": "1", "false": "0"}
_OPPOSITES = {"0": "1", "1": "0"}


class _MalformedCondition(Exception):
    """Raised for brackets that do not match, and for an operator without an operand."""


def normal_form(text: str, *, constants: bool) -> str:
    """A condition in normal form. A text that is no formula keeps its words. A long text is cut, its brackets closed.

    Args:
        constants: Whether numbers, `true` and `false` are truth values. Then a condition that always holds is "1", and
            a condition that never holds is "0".
    """
    normal = _read(text[:_MAX_READ], constants)
    if len(normal) <= _MAX_LENGTH and len(text) <= _MAX_READ:
        return normal
    normal = normal[:_MAX_LENGTH]
    return f"{normal}…{')' * (normal.count('(') - normal.count(')'))}"


@lru_cache(maxsize=1024)
def _read(text: str, constants: bool) -> str:
    try:
        return _print_condition(parse(text, _GRAMMAR), constants)
    except _MalformedCondition:
        return _join_tokens(_tokens(text))


def _print_condition(condition: Condition, constants: bool) -> str:
    if isinstance(condition, Atom):
        if not condition.is_whole:
            raise _MalformedCondition
        return _atom(_join_tokens(_tokens(condition.source)), constants)
    if isinstance(condition, Not):
        inner = _print_condition(condition.part, constants)
        if isinstance(condition.part, Atom) and _is_operand(condition.part):
            return _OPPOSITES.get(inner, f"!{inner}")
        return _OPPOSITES.get(inner) or negate(inner)
    is_all = isinstance(condition, All)
    parts = dict.fromkeys(part for side in condition.parts for part in _sides(side, constants, is_choice=not is_all))
    if constants:
        # A deciding part is the whole, a neutral one is left out.
        neutral, deciding = ("1", "0") if is_all else ("0", "1")
        if deciding in parts:
            return deciding
        parts.pop(neutral, None)
        if not parts:
            return neutral
    return (join(parts) or "") if is_all else any_of(list(parts))


def _sides(condition: Condition, constants: bool, *, is_choice: bool) -> list[str]:
    """The texts of the operands of a conjunction or (`is_choice`) disjunction. Nested disjunctions are flattened."""
    if is_choice and isinstance(condition, Some):
        return [text for part in condition.parts for text in _sides(part, constants, is_choice=True)]
    text = _print_condition(condition, constants)
    if is_choice and "||" in text and isinstance(parse(text, _GRAMMAR), Some):
        return [bare(option) for option in alternatives(text)]
    return [text]


def _atom(text: str, constants: bool) -> str:
    if constants and re.fullmatch(r"\d+[uUlL]*", text):
        return "1" if text.strip("0uUlL") else "0"
    return _CONSTANTS.get(text, text) if constants else text


def _is_operand(atom: Atom) -> bool:
    """Whether an atom is a single name or call, so that its negation needs no brackets."""
    return atom.end - atom.start == 1 or atom.tokens.ends.get(atom.start + 1) == atom.end - 1


def _tokens(text: str) -> list[str]:
    """The tokens of a preprocessor expression; `defined X` is one token, `defined(X)`."""
    tokens: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.startswith("__has_") and "(" in token:
            token = re.sub(r"\s*([(,)])\s*", r"\1", token)
        # `defined X` and `defined ( X )` are one operand.
        if tokens and tokens[-1] == "defined" and _WORD.match(token):
            tokens[-1] = f"defined({token})"
        elif token == ")" and tokens[-2:-1] == ["("] and tokens[-3:-2] == ["defined"]:
            tokens[-3:] = [f"defined({tokens[-1]})"]
        else:
            tokens.append(token)
    return tokens


def _join_tokens(tokens: list[str]) -> str:
    """Join tokens to a text, with blanks around binary operators."""
    text, before, unary = "", "(", False
    for token in tokens:
        is_after_operand = bool(_WORD.match(before)) or before[0] in ")\"'"
        is_call = token == "(" and bool(_WORD.match(before))
        text += token if unary or is_call or before in ("(", ",") or token in (")", ",") else f" {token}"
        unary = not is_after_operand and not _WORD.match(token) and token[0] not in "()\"',"
        before = token
    return text
