"""Translates atoms of conditions into formulas over sets of values, by shared rules and the `Dialect` of a language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lci_py.search.conflicts.logic import platforms
from lci_py.search.conflicts.logic.solve import FALSE, TRUE, Formula, Literal, both, either, opposite
from lci_py.search.conflicts.logic.values import Number, Values, number, numbers_where, numeric, version, words
from lci_py.source.conditions.formula import All, Atom, Grammar, Not, Some, Tokens, conjuncts, parse
from lci_py.source.text.patterns import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lci_py.search.conflicts.logic.platforms import Machine
    from lci_py.search.conflicts.logic.values import Allowed
    from lci_py.source.conditions.formula import Condition

#: Operators of two words: by the first the second, and the operator as in `COMPARISONS`.
_PAIRS = {"is": ("not", "!=="), "not": ("in", "!in")}


class Operand(NamedTuple):
    """A single operand: a name, a call, a constant. The text has blanks only between words, and uses `"` for quotes."""

    text: str


class Comparison(NamedTuple):
    """Two operands with `==`, `===`, `<`, `<=`, `>`, `>=`, `in` or `=~`. Other operators are negations of these."""

    left: str
    operator: str
    right: str


class Unknown(NamedTuple):
    """An atom that cannot be read, since its text was cut or its brackets do not match."""

    text: str


Leaf = Operand | Comparison

#: The words for constants in `Values`. A string is the word with a quote in front, so that the two never collide.
NULL, UNDEFINED, YES, NO, EMPTY = "null", "undefined", "true", "false", '"'
_KEYWORDS = {
    "None": NULL, "nil": NULL, "null": NULL, "NULL": NULL, "nullptr": NULL, "undefined": UNDEFINED,
    "True": YES, "true": YES, "TRUE": YES, "False": NO, "false": NO, "FALSE": NO,
}  # fmt: skip
#: A name that stands for one value of several: `.windows`, `:test`, `LITTLE_ENDIAN`, `Mode.Fast`, `Mode::Fast`.
_ENUMERATOR = lazily(r"[.:]\w+[?!]?|\{:\w+(?:,:\w+)*\}|[A-Z_][A-Z\d_]{2,}|(?:\w+(?:\.|::))+[A-Z]\w*")
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_VERSIONED = lazily(r"version|release", re.IGNORECASE)
#: A platform that the path of a file suggests, in any language.
_PATH = lazily(r"path\((\w+)\)")
_NEVER = Operand("0")
_ATTEMPT = lazily(r"(?:try|begin)(?: else)?|((?:except|catch|rescue)\b.*)", re.DOTALL)
_ATTEMPTS = frozenset({"try", "begin", "except", "catch", "rescue"})  # the words that these begin with
#: Values to prefer in examples, where any will do.
_COMMON = ("linux", "windows", "android", "illumos", "wasip1", "x86_64", "amd64", "gcc", "gc")
#: The value of a boolean variable that is true.
ON = 1
# A variable that is named by a text in a condition has `Values`; no such text begins with a blank. The name of a
# boolean begins with two blanks, that of a variable with several spellings with ` @`.


def _nothing(leaf: object) -> None:
    return None


def is_switch(variable: str) -> bool:
    return not variable.startswith((" @", "try ", "…"))


class Dialect(NamedTuple):
    """Describes how the conditions of one language are read, and which facts hold for them.

    Attributes:
        grammar: Says how a condition is parsed.
        falsy: The values for which a name alone, as a condition, is false.
        spell: Rewrites a condition before it is parsed.
        zero: The word that stands for the number 0 (C: an undefined macro).
        special: Translates an operand or a comparison by a rule of this language; None if the shared rules apply.
        facts: Formulas that always hold. A question includes the facts whose variables it mentions.
        usual: Formulas that hold in all usual builds; two definitions that only an unusual build has are no error.
        here: Returns the possible values of each variable on a machine.
        named: Maps an enumeration to the word before its value in messages, and to the bit of each value.
        unset: Whether switches are off unless a build sets them.
        is_switch: Whether a variable is set freely by a person or a build, mostly as one of several.
        found_out: Whether a configure script may set a variable, on some platforms only or for lack of an alternative.
    """

    grammar: Grammar = Grammar()
    falsy: Values = words(NULL, NO)
    spell: Callable[[str], str] = str
    zero: str = ""
    special: Callable[[Leaf], Formula | None] = _nothing
    facts: tuple[Formula, ...] = ()
    usual: tuple[Formula, ...] = ()
    here: Callable[[Machine], Mapping[str, Allowed]] = platforms.here
    named: Mapping[str, tuple[str, Mapping[str, int]]] = platforms.NAMED
    unset: bool = False
    is_switch: Callable[[str], bool] = is_switch
    found_out: Callable[[str], object] = _nothing


def read(tag: str, dialect: Dialect) -> Formula:
    """Parse a condition into a formula.

    A condition does not say to which statement a `try` or `except` belongs. The definitions of a name are mostly in
    the branches of one statement. So the first `try` or `except` of two conditions is taken to belong to the same
    statement, the second to a nested statement, and so on. Each becomes a comparison with a numbered variable, which
    stands for the way in which that statement ends.
    """
    condition = parse(dialect.spell(tag), dialect.grammar)
    attempts = 0
    parts: list[Formula] = []
    for part in conjuncts(condition):
        match = _attempt(part, dialect)
        if match is not None:
            attempts += 1
            parts.append(_leaf(Comparison(f"try {attempts}", "==", f'"{match[1] or ""}"'), dialect))
        else:
            parts.append(_translate(part, dialect))
    return both(*parts)


def _attempt(part: Condition, dialect: Dialect) -> re.Match[str] | None:
    if not isinstance(part, Atom) or not part.is_whole or part.tokens.texts[part.start] not in _ATTEMPTS:
        return None
    leaf = parse_atom(part, dialect.grammar)[1]
    return _ATTEMPT.fullmatch(leaf.text) if isinstance(leaf, Operand) else None


def _translate(condition: Condition, dialect: Dialect) -> Formula:
    if isinstance(condition, All):
        return both(*(_translate(part, dialect) for part in condition.parts))
    if isinstance(condition, Some):
        return either(*(_translate(part, dialect) for part in condition.parts))
    if isinstance(condition, Not):
        return opposite(_translate(condition.part, dialect))
    holds, leaf = parse_atom(condition, dialect.grammar)
    formula = _leaf(leaf, dialect)
    return formula if holds else opposite(formula)


def _leaf(leaf: Leaf | Unknown, dialect: Dialect) -> Formula:
    if isinstance(leaf, Unknown):
        return Literal(f"…{leaf.text}", ON)
    if leaf == _NEVER:
        return FALSE
    if isinstance(leaf, Operand) and (match := _PATH.fullmatch(leaf.text)):
        return platforms.TABLE.words[match[1]]
    formula = dialect.special(leaf)
    if formula is not None:
        return formula
    return _operand(leaf.text, dialect) if isinstance(leaf, Operand) else _comparison(leaf, dialect)


def flag(name: str) -> Literal:
    """The literal that a boolean variable is true."""
    return Literal(f"  {name}", ON)


def off(variable: str, dialect: Dialect) -> Literal:
    """The literal that a switch is not set."""
    if variable.startswith("  "):
        return Literal(variable, ~ON)
    return Literal(variable, words(dialect.zero) if dialect.zero else dialect.falsy)


def scalar(text: str, versions: bool = False) -> Number | str | None:
    """The value of a constant: a number, or a word; None if the text is no constant.

    Args:
        text: An operand's text, as returned by `parse_atom`.
        versions: Whether to read a string such as "2.7" as a version.
    """
    if text in _KEYWORDS:
        return _KEYWORDS[text]
    if text[:1] == '"':
        inside = text[1:-1]
        parts = version(inside) if versions else None
        return parts if parts is not None else f'"{inside}' if len(text) > 1 else None
    if (plain := number(text)) is not None:
        return plain
    if text[:1] == "(":
        parts_ = [number(item) for item in items(text) or ()]
        if parts_ and all(part is not None for part in parts_):
            return tuple(part[0] for part in parts_ if part is not None)
    return None


def in_words(values: Mapping[str, Allowed], dialect: Dialect) -> str:
    """Describes an assignment of values in words: `with A and B set, without C, on windows`.

    Args:
        values: Maps each variable to its possible values, of which an example is named.
    """
    where: list[str] = []
    present: list[str] = []
    absent: list[str] = []
    for name, allowed in values.items():
        if name in dialect.named:
            before, bits = dialect.named[name]
            common = [word for word in (*_COMMON, *bits) if bits.get(word, 0) & allowed]
            where += [f"{before}{common[0]}"] if common else []
        elif name.startswith("  ") and " <> " not in name:
            (present if allowed & ON else absent).append(name.strip())
        elif isinstance(allowed, Values) and not name.startswith((" ", "try ", "…")):
            lacking = Values(frozenset({dialect.zero})) if dialect.zero else dialect.falsy
            sample = allowed.sample(lacking)
            if sample is None:
                absent.append(name)
            else:
                present.append(f"{name} = {sample}" if sample else name)
    parts = [f"on {', '.join(where)}"] if where else []
    parts += [f"with {_joined_names(present)} set"] if present else []
    parts += [f"without {_joined_names(absent)}"] if absent else []
    return ", ".join(parts)


def _joined_names(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def equals(name: str, value: Number | str, dialect: Dialect) -> Formula:
    """The formula `name == value`."""
    return Literal(name, words(value)) if isinstance(value, str) else comparison_formula(name, "==", value, dialect)


def comparison_formula(name: str, operator: str, value: Number, dialect: Dialect) -> Formula:
    """The formula `name OPERATOR value`, for a number or version."""
    return Literal(name, numeric(numbers_where(operator, value), dialect.zero))


def compare(number: Number, operator: str, other: Number) -> bool:
    """Whether `one OPERATOR other` holds."""
    if operator == "==":
        return number == other
    return {"<": number < other, "<=": number <= other, ">": number > other, ">=": number >= other}[operator]


def _operand(text: str, dialect: Dialect) -> Formula:
    value = scalar(text)
    if value is None:
        return Literal(text, ~dialect.falsy)
    holds = value != (0,) if not isinstance(value, str) else value not in (NULL, UNDEFINED, NO, EMPTY)
    return TRUE if holds else FALSE


def _comparison(leaf: Comparison, dialect: Dialect) -> Formula:
    left, operator, right = leaf
    if operator in ("in", "=~"):
        return _member(left, operator, right, dialect)
    versions = bool(_VERSIONED.search(left) or _VERSIONED.search(right)) or operator not in ("==", "===")
    here, there = scalar(left, versions), scalar(right, versions)
    if here is not None and there is None:
        left, operator, right = right, _FLIPPED.get(operator, operator), left
        here, there = there, here
    if operator == "===":
        operator = "=="
    if here is not None:
        return (TRUE if here == there else FALSE) if operator == "==" else flag(f"{left} {operator} {right}")
    if there is None and operator == "==":
        there = _value(right, versions)
    if there is not None and operator == "==":
        return equals(left, there, dialect)
    if there is not None and not isinstance(there, str):
        return comparison_formula(left, operator, there, dialect)
    return flag(f"{left} {operator} {right}")


def _member(left: str, operator: str, right: str, dialect: Dialect) -> Formula:
    values = [_value(item, bool(_VERSIONED.search(left))) for item in (items(right) or ())] if operator == "in" else []
    constants = [value for value in values if value is not None]
    if scalar(left) is None and constants and len(constants) == len(values):
        return either(*(equals(left, value, dialect) for value in constants))
    return flag(f"{left} {operator} {right}")


def _value(text: str, versions: bool) -> Number | str | None:
    value = scalar(text, versions)
    return text if value is None and _ENUMERATOR.fullmatch(text) else value


# --- what an atom asks -----------------------------------------------------------------------------------------


def parse_atom(atom: Atom, grammar: Grammar) -> tuple[bool, Leaf | Unknown]:
    """(affirmed, content) of an atom: affirmed is False if it is negated; content is an operand or a comparison."""
    if not atom.is_whole:
        return True, Unknown(atom.source)
    tokens, start, end, is_opaque = atom
    texts = tokens.texts
    cuts: list[tuple[int, int, str]] = []
    for at in () if is_opaque else tokens.top(start, end):
        second, operator = _PAIRS.get(texts[at], ("", ""))
        if second and grammar.words and texts[at + 1 : at + 2] == [second]:
            cuts.append((at, at + 2, operator))
        elif texts[at] in grammar.comparisons and not (cuts and at < cuts[-1][1]):
            cuts.append((at, at + 1, grammar.comparisons[texts[at]]))
    if len(cuts) != 1:
        return True, Operand(compact(texts[start:end]))
    ((before, after, operator),) = cuts
    left, right = _side(tokens, start, before), _side(tokens, after, end)
    if not (left and right):
        return True, Unknown(compact(texts[start:end]))
    return operator[0] != "!", Comparison(left, operator.removeprefix("!"), right)


def compact(tokens: list[str]) -> str:
    """Joins tokens into normal form, with a blank only where two words would run together."""
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


def _side(tokens: Tokens, start: int, end: int) -> str:
    inner = tokens.inside(start, end)
    # `(3,)` is a list of one, `(X)` is X.
    return compact(tokens.texts[start:end] if "," in tokens.texts[slice(*inner)] else tokens.texts[slice(*inner)])
