"""One form for conditions written with `&&`, `||` and `!`: Go's constraints and the expressions after `#if`.

`&&` inside `||` stands in brackets, as gofmt writes it; no other brackets are kept but those that mean something.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r'__has_(?:include(?:_next)?|embed)\s*\(\s*(?:<[^>]*>|"[^"]*")[^)]*\)|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\''
    r"|[\w.$]+|&&|\|\||[=!<>]=|<<|>>|\S"
)
_WORD = re.compile(r"[\w.$]")
#: How a text binds: as an operand of everything, of `&&` and `||` but not `!`, of `||`, of nothing.
_OPERAND, _COMPARISON, _AND, _OR = range(4)
_MAX_READ, _MAX_LENGTH = 4000, 500  # characters that are read, and that are kept
_MAX_NESTING = 20  # brackets; what is in deeper ones stays as it is written
_CONSTANTS = {"true": "1", "false": "0"}
#: A neutral part is left out, a deciding one is the whole.
_NEUTRAL = {"&&": "1", "||": "0"}

_Parsed = tuple[str, int]


class _Malformed(Exception):
    """Brackets that do not match, an operator without an operand."""


def formula(text: str, *, constants: bool) -> str:
    """A condition in its one form; what is no formula keeps its words. What is too long is cut, its brackets closed.

    Args:
        text: As it is written.
        constants: Whether numbers, `true` and `false` are truth values and no names. Then what always holds is "1",
            what never does is "0".
    """
    tokens = _tokens(text[:_MAX_READ])
    try:
        made = _Reader(tokens, constants).read(0, len(tokens), 0)[0]
    except _Malformed:
        made = _spaced(tokens)
    if len(made) <= _MAX_LENGTH and len(text) <= _MAX_READ:
        return made
    made = made[:_MAX_LENGTH]
    return f"{made}…{')' * (made.count('(') - made.count(')'))}"


def _tokens(text: str) -> list[str]:
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


class _Reader:
    """Reads a formula from its tokens. Places are indices of tokens, ends exclusive."""

    def __init__(self, tokens: list[str], constants: bool) -> None:
        self._tokens = tokens
        self._constants = constants
        self._closing: dict[int, int] = {}
        opened: list[int] = []
        for place, token in enumerate(tokens):
            if token == "(":
                opened.append(place)
            elif token == ")":
                if not opened:
                    raise _Malformed
                self._closing[opened.pop()] = place
        if opened:
            raise _Malformed

    def read(self, start: int, end: int, nesting: int) -> _Parsed:
        if start >= end:
            raise _Malformed
        if nesting > _MAX_NESTING or self._split(start, end, "?")[1:]:
            return _spaced(self._tokens[start:end]), _OR
        for operator, level in (("||", _OR), ("&&", _AND)):
            parts = self._split(start, end, operator)
            if len(parts) > 1:
                return self._joined([self.read(*part, nesting + 1) for part in parts], operator, level)
        first = self._tokens[start]
        if first == "!" and self._is_operand(start + 1, end):
            return _opposite(*self.read(start + 1, end, nesting + 1))
        if first == "(" and self._closing[start] == end - 1:
            return self.read(start + 1, end - 1, nesting + 1)
        text = _spaced(self._tokens[start:end])
        if self._constants:
            text = _CONSTANTS.get(text, text)
            if re.fullmatch(r"\d+[uUlL]*", text):
                text = "0" if not text.strip("0uUlL") else "1"
        return text, _OPERAND if self._is_operand(start, end) else _COMPARISON

    def _split(self, start: int, end: int, operator: str) -> list[tuple[int, int]]:
        parts, place = [start], start
        while place < end:
            if self._tokens[place] == operator:
                parts.append(place + 1)
            place = self._closing.get(place, place) + 1
        return list(zip(parts, [*(part - 1 for part in parts[1:]), end], strict=True))

    def _is_operand(self, start: int, end: int) -> bool:
        """Whether it is one name, call, bracket, or the negation of one."""
        while start < end and self._tokens[start] == "!":
            start += 1
        if start >= end:
            return False
        if _WORD.match(self._tokens[start]) and start + 1 < end:
            start += 1  # a call
            if self._tokens[start] != "(":
                return False
        return self._closing.get(start, start) == end - 1

    def _joined(self, parts: list[_Parsed], operator: str, level: int) -> _Parsed:
        if self._constants:
            neutral = _NEUTRAL[operator]
            deciding = "0" if neutral == "1" else "1"
            if any(text == deciding for text, _ in parts):
                return deciding, _OPERAND
            parts = [part for part in parts if part[0] != neutral] or [(neutral, _OPERAND)]
        if len(parts) == 1:
            return parts[0]
        texts = [f"({text})" if own > _COMPARISON and own != level else text for text, own in parts]
        return f" {operator} ".join(dict.fromkeys(texts)), level


def _opposite(text: str, level: int) -> _Parsed:
    if text in ("0", "1"):
        return "1" if text == "0" else "0", _OPERAND
    if level == _OPERAND and text.startswith("!"):
        inner = text[1:]
        return (inner[1:-1], _OR) if inner.startswith("(") else (inner, _OPERAND)
    return f"!{text}" if level == _OPERAND else f"!({text})", _OPERAND


def _spaced(tokens: list[str]) -> str:
    """The tokens as they are usually set: blanks around binary operators."""
    text, before, unary = "", "(", False
    for token in tokens:
        is_after_operand = bool(_WORD.match(before)) or before[0] in ")\"'"
        is_call = token == "(" and bool(_WORD.match(before))
        text += token if unary or is_call or before in ("(", ",") or token in (")", ",") else f" {token}"
        unary = not is_after_operand and not _WORD.match(token) and token[0] not in "()\"',"
        before = token
    return text
