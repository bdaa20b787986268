"""Represents the values that a name can have as a set of words and numbers, with intersection and complement.

An enumeration with known values (operating systems) is an integer instead, with one bit per value; `~` then also sets
the infinitely many bits above, which stand for values that no table lists.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from lci_py.source.text.patterns import lazily

#: One value of a name: `3`, `(3, 8)`, or a word.
Number = tuple[float, ...]
#: A set of numbers by the points where membership changes, sorted: each just below (0) or just above (1) a number.
Cuts = tuple[tuple[Number, int], ...]
#: The values that a literal allows a variable: `Values`, or bits of an enumeration.
Allowed = Any

_START: tuple[Number, int] = ((), 0)
ALL_NUMBERS: Cuts = (_START,)
_ZERO: Cuts = (((0,), 0), ((1,), 0))
_NUMBER = lazily(
    r"(?P<hex>0[xX][\da-fA-F](?:[\da-fA-F_']{0,17}))[uUlLzZ]{0,3}|(?P<int>-?\d(?:[\d_']{0,20}))[uUlLzZ]{0,3}"
    r"|(?P<float>-?\d{1,18}\.\d{1,18})[fF]?"
)
_VERSION = lazily(r"\d{1,9}(?:\.\d{1,9}){0,5}")


class Values:
    """A set of values: some words (or all words but some), and ranges of numbers."""

    __slots__ = ("numbers", "others", "symbols")

    def __init__(self, symbols: frozenset[str] = frozenset(), others: bool = False, numbers: Cuts = ()) -> None:
        self.symbols = symbols
        self.others = others  # all words but `symbols`
        self.numbers = numbers

    def __and__(self, other: Values) -> Values:
        if self.others:
            symbols = self.symbols | other.symbols if other.others else other.symbols - self.symbols
        else:
            symbols = self.symbols - other.symbols if other.others else self.symbols & other.symbols
        return Values(symbols, self.others and other.others, _common(self.numbers, other.numbers))

    def __or__(self, other: Values) -> Values:
        return ~(~self & ~other)

    def __invert__(self) -> Values:
        return Values(self.symbols, not self.others, _complement(self.numbers))

    def __bool__(self) -> bool:
        return self.others or bool(self.symbols) or bool(self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Values) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def sample(self, lacking: Values) -> str | None:
        """An example of the values, as text; "" if any value will do, None if all of them are in `lacking`."""
        rest = self & ~lacking
        if not rest:
            return None
        if rest.others:
            return ""
        if rest.symbols:
            return min(rest.symbols).removeprefix('"')
        point, side = rest.numbers[0]
        return ".".join(str(int(part)) for part in (*point[:-1], point[-1] + side)) if point else "0"

    def __repr__(self) -> str:
        return f"Values({'not ' if self.others else ''}{sorted(self.symbols)}, {self.numbers})"

    def _key(self) -> tuple[frozenset[str], bool, Cuts]:
        return self.symbols, self.others, self.numbers


def words(*names: str) -> Values:
    """The set that contains only the words `names`."""
    return Values(frozenset(names))


def numeric(cuts: Cuts, zero: str = "") -> Values:
    """The set of values that contains the numbers in `cuts`.

    Args:
        zero: The word that stands for 0. Any other word counts as greater than all numbers, so that comparisons are
            always decided.
    """
    endless = len(cuts) % 2 == 1
    has_zero = bool(_common(cuts, _ZERO))
    return Values(frozenset({zero}) if zero and has_zero != endless else frozenset(), endless, cuts)


def numbers_where(operator: str, number: Number) -> Cuts:
    """The numbers x for which `x OPERATOR number` holds.

    A whole number includes all versions that begin with it: 3 is the range from `>= (3,)` to `< (4,)`, so nothing lies
    between 3 and 4. A value that is compared with a whole number is a whole number, or the first part of a version.
    """
    whole = len(number) == 1 and number[0] == int(number[0])
    below, above = (number, 0), (((number[0] + 1,), 0) if whole else (number, 1))
    if operator == "==":
        return (below, above)
    if operator in (">=", ">"):
        return (below if operator == ">=" else above,)
    return (_START, below if operator == "<" else above)


def versions_with_prefix(prefix: Number) -> Cuts:
    """The versions that begin with `prefix`."""
    return ((prefix, 0), ((*prefix[:-1], prefix[-1] + 1), 0))


def number(text: str) -> Number | None:
    """Parses a number as C or Python writes it; None if `text` is no number."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match["hex"]:
        return (int(re.sub(r"[_']", "", match["hex"]), 16),)
    if match["int"]:
        return (int(re.sub(r"[_']", "", match["int"])),)
    return (float(match["float"]),)


def version(text: str) -> Number | None:
    """Parses a version without quotes: `2.7.1` is (2, 7, 1); None if `text` is no version."""
    return tuple(int(part) for part in text.split(".")) if _VERSION.fullmatch(text) else None


def _complement(cuts: Cuts) -> Cuts:
    return cuts[1:] if cuts and cuts[0] == _START else (_START, *cuts)


@lru_cache(maxsize=4096)
def _common(first: Cuts, other: Cuts) -> Cuts:
    if not first or not other:
        return ()
    if first == ALL_NUMBERS:
        return other
    if other == ALL_NUMBERS:
        return first
    ours, others = set(first), set(other)
    cuts, here, there, was = [], False, False, False
    for cut in sorted(ours | others):
        here ^= cut in ours
        there ^= cut in others
        if (here and there) != was:
            was = not was
            cuts.append(cut)
    return tuple(cuts)
