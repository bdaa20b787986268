"""Splits, joins, negates and cuts conditions as text. Equal conditions are equal strings; nothing is evaluated."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.conditions.formula import Tokens
from lci_py.source.text.patterns import lazily
from lci_py.types.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tree_sitter import Node

_NAME = lazily(r"[\w.]+")
_PLAIN_ATOM = lazily(r"[$@\\]{0,3}[\w.:]+[?!]?(?:\([^()]*\))?")
_LOOSE = lazily(r"\|\||\?.*:|\b(?:or|if|lambda)\b|:=")
_LOOSELY, _CHOICE, _OR = frozenset(("||", "?", "or", "if", "lambda", ":=")), frozenset("?"), frozenset(("||",))
# Sources are untrusted: a chain of thousands of #elif, or #if nested as deep, must not make conditions of its length.
MAX_CONDITION = 200  # characters of one condition
MAX_DEPTH = 16  # conditions around one definition; the innermost are kept
MAX_CHAIN = 64  # negated branches in the condition of an `else`; the nearest are kept
_MAX_NEGATED = 2_000  # characters of them
# The conditions of a file are joined, negated and split again for each definition.
_tokens = lru_cache(maxsize=256)(Tokens)


class Range(NamedTuple):
    """A byte range of a file that has a condition or a note."""

    start: int
    end: int
    condition: str  # "" if there is only a note
    note: str = ""  # what the definition in these bytes says about other files: words separated by blanks


class File(NamedTuple):
    """A file that conditions are read from.

    Attributes:
        path: The path relative to the root; Go has constraints in file names.
        source: The file's bytes.
        nodes: The nodes that the query captures as @condition, in any order.
        flags: Predicates that test a feature flag, as in the setting `feature_flags`.
    """

    path: str
    source: bytes
    nodes: list[Node]
    flags: tuple[str, ...] = ()


def node_text(node: Node | None) -> str:
    """The text of a node; "" for None."""
    return ((node.text if node is not None else None) or b"").decode("utf-8", "replace")


def conjuncts(condition: str) -> list[str]:
    """The conjuncts (operands of `&&`) of a condition, as they are written."""
    if "&&" not in condition:
        return [condition]
    if _has_top(condition, _OR):
        return [condition]  # `a && b || c` is a disjunction
    tokens = _tokens(condition)
    return [tokens.source(*side) for side in tokens.split("&&", 0, len(tokens))]


def alternatives(condition: str) -> list[str]:
    """The operands of a disjunction (`||`), as they are written; [condition] for any other condition."""
    if "||" not in condition:
        return [condition]
    tokens = _tokens(condition)
    return [tokens.source(*side) for side in tokens.split("||", *tokens.inside(0, len(tokens)))]


def join(conditions: Iterable[str]) -> str | None:
    """The conjunction of `conditions`, with each conjunct once; None without conditions."""
    parts = list(dict.fromkeys(part for condition in conditions for part in conjuncts(condition) if part))
    if len(parts) > 1:
        parts = list(dict.fromkeys(f"({part})" if _has_top(part, _LOOSELY) else part for part in parts))
        if len(parts) == 1:  # the same part, with its brackets and without
            parts = [bare(parts[0])]
    return " && ".join(parts) if parts else None


def negate(condition: str) -> str:
    """The negation of a condition. "" stands for a condition that always holds, "0" for one that never does."""
    if condition in ("0", ""):
        return "0" if not condition else ""
    if condition.startswith("!") and _is_atom(condition[1:]):
        return condition[1:]
    if condition.startswith("!(") and is_bracketed(condition[1:]):
        return condition[2:-1]
    return f"!{condition}" if _is_atom(condition) or is_bracketed(condition) else f"!({condition})"


def _is_atom(text: str) -> bool:
    """Whether a text is a name, or a call of a name with any arguments."""
    if _PLAIN_ATOM.fullmatch(text):
        return True
    name = _NAME.match(text)
    return name is not None and is_bracketed(text[name.end() :])


def bare(condition: str) -> str:
    """Strip the brackets around a whole condition."""
    if not condition.startswith("("):
        return condition
    tokens = _tokens(condition)
    return tokens.source(*tokens.inside(0, len(tokens)))


def is_bracketed(condition: str) -> bool:
    """Whether one pair of brackets encloses the whole condition: `(a && b)`, but not `(a) && (b)`."""
    return condition.startswith("(") and bare(condition) != condition.rstrip()


def any_of(options: list[str]) -> str:
    """Join options to a disjunction (`||`); options that contain `&&` or `?:` are put in brackets, as by gofmt."""
    if len(options) < 2:
        return "".join(options)
    return " || ".join(
        f"({option})" if len(conjuncts(option)) > 1 or _has_top(option, _CHOICE) else option for option in options
    )


def _has_top(text: str, operators: frozenset[str]) -> bool:
    """Whether one of the operators occurs outside all brackets. All of them must bind more loosely than `&&`."""
    if not _LOOSE.search(text):
        return False
    tokens = _tokens(text)
    return any(tokens.texts[at] in operators for at in tokens.top(0, len(tokens)))


def clip(text: str, limit: int = MAX_CONDITION) -> str:
    """Write a text on one line, cut to `limit` characters, with `…` at the end of a cut text."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def chain(earlier: Sequence[str], own: str, negated: Callable[[str], str] = negate) -> str:
    """The condition of a later branch: no earlier condition holds, and its own (`own`) does."""
    negations: list[str] = []
    size = 0
    for part in map(negated, reversed(earlier)):
        size += len(part)
        if len(negations) == MAX_CHAIN or size > _MAX_NEGATED:
            negations.append("…")  # says that more is asked, so that nothing is concluded from what is left
            break
        negations.append(part)
    return join([*reversed(negations), own]) or ""
