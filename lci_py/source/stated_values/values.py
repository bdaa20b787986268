"""Literals in a normal form, and whether two of them mean the same value.

The form is text: `60`, `0.5`, `60s` and `10MB` for numbers, `true` and `false`, and strings in double quotes.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from lci_py.source.text.language_tables import pairs, shared_table
from lci_py.source.text.patterns import lazily

#: Unit as written -> its form, its dimension, and its factor: in seconds, in bytes, or as a share of one.
_UNITS = {
    unit.lower(): (form, dimension, float(factor))
    for row, _ in pairs(shared_table("stated_values")["values"]["units"], "\n")
    for dimension, form, factor, *others in [row.split()]
    for unit in (form, *others)
}
_BY_FORM = {form: (dimension, factor) for form, dimension, factor in _UNITS.values()}
#: 10 MB is 10^7 to some and 10 * 2^20 to others.
_BINARY = {"KB": 2.0**10, "MB": 2.0**20, "GB": 2.0**30, "TB": 2.0**40}
#: Dimension -> factors of the units that a number without a unit may be in.
_COUNTED = {
    "time": (1.0, 1e-3, 1e-6, 1e-9, 60.0, 3600.0, 86400.0),
    "size": (1.0, 1e3, 1e6, 1e9, 2.0**10, 2.0**20, 2.0**30),
    "share": (1.0, 0.01),
}
UNIT = "|".join(re.escape(unit) + ("s?" if len(unit) > 2 else "") for unit in sorted(_UNITS, key=len, reverse=True))
NUMBER = (
    r"[+-]?(?:0[xX][0-9a-fA-F][0-9a-fA-F_]{0,31}|0[bB][01][01_]{0,63}|0[oO][0-7_]{1,22}"
    r"|\d{1,3}(?:[_,']\d{3}){1,8}(?:\.\d{1,20})?|\d{1,30}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?|\.\d{1,20})"
)
_PARSED = lazily(rf"(?i:({NUMBER})\s?({UNIT})?)$")
_FORM = lazily(rf"(-?[\d.]+(?:e[+-]?\d+)?)({'|'.join(map(re.escape, _BY_FORM))})?$")
_TRUE, _FALSE = frozenset(("true", "yes", "on", "enabled")), frozenset(("false", "no", "off", "disabled"))
_NOTHING = frozenset(("", "none", "null", "nil", "undefined", "n/a", "unset", "empty", "-", "nan"))
#: A string that can be compared: a word, path or address without a placeholder.
_TOKEN = lazily(r"[\w.+:/@-]{1,80}$")


class Value(NamedTuple):
    """A value, read back from its form."""

    kind: str  # number, boolean or string
    number: float = 0.0
    unit: str = ""
    text: str = ""


def number(text: str, unit: str = "") -> str:
    """The form of a number as it is written, "" if it is not one, or at least 1e30."""
    plain = re.sub(r"[_',]", "", text)
    try:
        value = int(plain, 0) if re.match(r"[+-]?0[xXbBoO]", plain) else float(plain)
    except (ValueError, OverflowError):
        return ""
    if re.fullmatch(r"[+-]?0[0-7]+", plain):
        value = int(plain, 8)  # octal, as in C: a file's mode
    if not math.isfinite(value) or abs(value) >= 1e30:
        return ""
    form = str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))
    if isinstance(value, int):
        form = str(value)
    return form + (_UNITS[_singular(unit)][0] if unit else "")


def _singular(unit: str) -> str:
    unit = unit.lower()
    return unit if unit in _UNITS else unit.removesuffix("s")


def string(text: str) -> str:
    """The form of a string, "" if it is empty, stands for no value (`none`, `n/a`), or cannot be quoted."""
    return "" if text.strip().lower() in _NOTHING or '"' in text or "\n" in text else f'"{text}"'


def word(text: str) -> str:
    """The form of a number, boolean or string that is written without quotes, in a configuration file or in prose."""
    text = text.strip()
    lower = text.lower()
    if lower in _TRUE or lower in _FALSE:
        return "true" if lower in _TRUE else "false"
    if found := _PARSED.match(text):
        return number(found[1], found[2] or "")
    return string(text)


def read(form: str) -> Value | None:
    """The value of a form, None if the text is not one."""
    if form in ("true", "false"):
        return Value("boolean", float(form == "true"))
    if len(form) >= 2 and form[0] == form[-1] == '"':
        return Value("string", text=form[1:-1])
    found = _FORM.match(form)
    try:
        return Value("number", float(found[1]), found[2] or "") if found else None
    except ValueError:
        return None


def agree(one: str, other: str) -> bool | None:
    """Whether two forms mean the same value; None if they cannot be compared."""
    mine, theirs = read(one), read(other)
    if mine is None or theirs is None:
        return None
    if mine.kind != theirs.kind:
        mine, theirs = _loosened(mine), _loosened(theirs)
        if {mine.kind, theirs.kind} == {"boolean", "number"}:
            switch = mine.number in (0.0, 1.0) and theirs.number in (0.0, 1.0) and not mine.unit + theirs.unit
            return mine.number == theirs.number if switch else None
        if mine.kind != theirs.kind:
            return None
    if mine.kind == "number":
        return _same_number(mine, theirs)
    if mine.kind == "boolean":
        return mine.number == theirs.number
    return _same_text(mine.text, theirs.text)


def _loosened(value: Value) -> Value:
    """The number or boolean in a string, else the value itself."""
    return read(word(value.text)) or value if value.kind == "string" else value


def _same_number(one: Value, other: Value) -> bool | None:
    if one.number == other.number and (one.unit == other.unit or not one.unit or not other.unit):
        return True
    if not one.unit and not other.unit:
        return False
    dimensions = {_BY_FORM[value.unit][0] for value in (one, other) if value.unit}
    if len(dimensions) > 1:
        return None
    dimension = dimensions.pop()
    return any(math.isclose(a, b, rel_tol=1e-9) for a in _amounts(one, dimension) for b in _amounts(other, dimension))


def _amounts(value: Value, dimension: str) -> list[float]:
    if not value.unit:
        return [value.number * factor for factor in _COUNTED[dimension]]
    factors = [_BY_FORM[value.unit][1]] + ([_BINARY[value.unit]] if value.unit in _BINARY else [])
    return [value.number * factor for factor in factors]


def _same_text(one: str, other: str) -> bool | None:
    mine, theirs = (text.strip().rstrip("/").casefold() for text in (one, other))
    if mine == theirs or mine.endswith(f".{theirs}") or theirs.endswith(f".{mine}"):
        return True
    if mine.startswith(theirs) or theirs.startswith(mine) or mine.endswith(theirs) or theirs.endswith(mine):
        return None  # "auto" and "auto-detect" may be one, and "TERM" and "SIGTERM"
    return False if _TOKEN.match(mine) and _TOKEN.match(theirs) else None
