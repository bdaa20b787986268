"""Brings literal values into normal form, and compares what they mean.

The form is text: `60`, `0.5`, `60s` and `10MB` for numbers, `true` and `false`, and strings in double quotes.
"""

from __future__ import annotations

import math
import re

from lci_py.source.text.language_tables import has_rule, pairs, shared_table
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import joined_spelling
from lci_py.types.record import NamedTuple

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
    """A literal value, parsed from its normal form."""

    kind: str  # number, boolean or string
    number: float = 0.0
    unit: str = ""
    text: str = ""


def number(text: str, unit: str = "") -> str:
    """The normal form of a number with its unit; "" if the text is no number, or the number is 1e30 or more."""
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
    """The normal form of a string; "" if the string is empty, means no value (`none`, `n/a`), or cannot be quoted."""
    return "" if text.strip().lower() in _NOTHING or '"' in text or "\n" in text else f'"{text}"'


def word(text: str) -> str:
    """The normal form of an unquoted number, boolean or string, as in a configuration file or in prose."""
    text = text.strip()
    lower = text.lower()
    if lower in _TRUE or lower in _FALSE:
        return "true" if lower in _TRUE else "false"
    if match := _PARSED.match(text):
        return number(match[1], match[2] or "")
    return string(text)


def read(form: str) -> Value | None:
    """Parse a normal form; None if the text is not in normal form."""
    if form in ("true", "false"):
        return Value("boolean", float(form == "true"))
    if len(form) >= 2 and form[0] == form[-1] == '"':
        return Value("string", text=form[1:-1])
    match = _FORM.match(form)
    try:
        return Value("number", float(match[1]), match[2] or "") if match else None
    except ValueError:
        return None


def is_number(form: str) -> bool:
    """Whether a normal form means a number, with or without quotes."""
    value = read(word(form.strip('"')))
    return value is not None and value.kind == "number"


def agree(form: str, other: str) -> bool | None:
    """Whether two normal forms mean the same value; None if they cannot be compared."""
    first, second = read(form), read(other)
    if first is None or second is None:
        return None
    if first.kind != second.kind:
        first, second = _unquoted(first), _unquoted(second)
        if {first.kind, second.kind} == {"boolean", "number"}:
            # Of a flag that is a bit, the number is no switch.
            return True if first.number == second.number and not first.unit + second.unit else None
        if first.kind != second.kind:
            return None
    if first.kind == "number":
        return _same_number(first, second)
    if first.kind == "boolean":
        return first.number == second.number
    return _same_text(first.text, second.text)


def _unquoted(value: Value) -> Value:
    """The number or boolean that a string contains; the value itself if it is anything else."""
    return read(word(value.text)) or value if value.kind == "string" else value


def _same_number(first: Value, other: Value) -> bool | None:
    if first.number == other.number and (first.unit == other.unit or not first.unit or not other.unit):
        return True
    if not first.unit and not other.unit:
        return False
    dimensions = {_BY_FORM[value.unit][0] for value in (first, other) if value.unit}
    if len(dimensions) > 1:
        return None
    dimension = dimensions.pop()
    return any(math.isclose(a, b, rel_tol=1e-9) for a in _amounts(first, dimension) for b in _amounts(other, dimension))


def _amounts(value: Value, dimension: str) -> list[float]:
    if not value.unit:
        return [value.number * factor for factor in _COUNTED[dimension]]
    factors = [_BY_FORM[value.unit][1]] + ([_BINARY[value.unit]] if value.unit in _BINARY else [])
    return [value.number * factor for factor in factors]


def _same_text(value: str, other: str) -> bool | None:
    first, second = (text.strip().rstrip("/").casefold() for text in (value, other))
    if first == second or first.endswith(f".{second}") or second.endswith(f".{first}"):
        return True
    if first.startswith(second) or second.startswith(first) or first.endswith(second) or second.endswith(first):
        return None  # "auto" and "auto-detect" may be one, and "TERM" and "SIGTERM"
    return False if _TOKEN.match(first) and _TOKEN.match(second) else None


# --- literals in code -------------------------------------------------------------------------------------------------

#: Stands for the value of a definition that is not a single literal.
COMPUTED = "?"
_STRING = r"[@$bBuUrRfF]{0,2}(?:\"(?P<d>[^\"\\\n]{0,100})\"|'(?P<s>[^'\\\n]{0,100})'|`(?P<t>[^`\\\n$]{0,100})`)"
#: Durations that are one literal with a unit: Go, Rust and Java, Python, Java, Ruby and Kotlin.
_DURATIONS = (
    r"(?:(?P<go>\d+)\s*\*\s*)?\btime\.(?P<gounit>Nanosecond|Microsecond|Millisecond|Second|Minute|Hour)\b"
    r"|(?:std::time::)?Duration(?:::from_|\.of|\.from)(?P<ofunit>secs|millis|micros|nanos|Seconds|Millis|Minutes|Hours|Days)"
    r"\((?P<of>\d+)L?\)"
    r"|(?:datetime\.)?timedelta\((?P<deltaunit>milliseconds|seconds|minutes|hours|days)=(?P<delta>\d+)\)"
    r"|(?:TimeUnit\.)?(?P<tounit>MILLISECONDS|SECONDS|MINUTES|HOURS|DAYS)\.to[A-Z][a-z]+\((?P<to>\d+)L?\)"
    r"|(?P<dot>\d+)\.(?P<dotunit>seconds?|minutes?|hours?|days?|milliseconds)\b"
)
_OF_UNITS = {"secs": "s", "millis": "ms", "micros": "us", "nanos": "ns"}
_LITERAL = (
    rf"(?:{_DURATIONS}|(?P<product>\d[\d_]{{0,12}}(?:\s*(?:\*|<<)\s*\d[\d_]{{0,12}}){{1,4}})"
    rf"|(?P<number>{NUMBER})(?:[uUlLfFdDmMnN]{{1,3}}|_?[iu](?:8|16|32|64|128|size)|_?f(?:32|64))?"
    rf"|{_STRING}|(?P<word>[Tt]rue|[Ff]alse|TRUE|FALSE|YES|NO)\b)"
)
#: What may follow a value: no operator and no call.
_END = r"(?=\s*(?:$|[,;)\]}\n\r]|//|/\*|--|#|\bas const\b|\.(?:into|to_string|to_owned)\(\)|\.to_s\b))"
_VALUE = lazily(_LITERAL + _END)
_FIELD = lazily(r"(?:\w+\.)?[Ff]ield\(\s*(?:default\s*=\s*)?(?=[\w\"'.+-])(?!\w+\s*=)")
_NO_VALUE = lazily(r"(?:None|null|nil|undefined|NULL|nullptr|Nothing|undef|\(?\s*\)|\{\s*\}|\[\s*\])(?!\w)")


def literal_at(text: str, start: int) -> tuple[str, int]:
    """(normal form, end) of the literal at an offset; ("", start) if it is no literal, or in a longer expression."""
    match = _VALUE.match(text, start)
    form = _form(match) if match is not None else ""
    return (form, match.end()) if match is not None and form else ("", start)


def literal(text: str, start: int = 0, *, tuples: bool = False) -> str:
    """The normal form of the literal in `text` at `start`; "" for null and the like, `COMPUTED` for anything else.

    Args:
        text: A signature.
        tuples: Whether a comma after the value makes it a tuple, which is `COMPUTED`.
    """
    field = _FIELD.match(text, start)  # of a dataclass or a settings class
    if field is not None:
        return literal_at(text, field.end())[0] or COMPUTED
    inner = start
    while text.startswith("(", inner):
        inner += 1  # `#define X (60)`
    match = _VALUE.match(text, inner)
    if match is None:
        return "" if _NO_VALUE.match(text, start) else COMPUTED
    after = text[match.end() :].lstrip()
    if (inner > start and not after.startswith(")")) or (tuples and after.startswith(",")):
        return COMPUTED
    form = _form(match)
    return form if form else ("" if _is_string(match) else COMPUTED)


def _is_string(match: re.Match[str]) -> bool:
    return any(match[group] is not None for group in "dst")


def _form(match: re.Match[str]) -> str:
    if match["number"] is not None:
        return number(match["number"])
    if match["word"] is not None:
        return "true" if match["word"] in ("true", "True", "TRUE", "YES") else "false"
    if _is_string(match):
        text = match["d"] if match["d"] is not None else match["s"] if match["s"] is not None else match["t"]
        return string(text)
    if match["product"] is not None:
        return _product(match["product"])
    if match["gounit"] is not None:
        return number(match["go"] or "1", match["gounit"])
    for group in ("of", "delta", "to", "dot"):
        if match[group] is not None:
            unit = match[f"{group}unit"].lower()
            return number(match[group], _OF_UNITS.get(unit, unit))
    return ""


def _product(text: str) -> str:
    """The normal form of `10 * 1024 * 1024` or `1 << 20`; "" if both operators occur, or if the result is too large."""
    factors = [int(factor.replace("_", "")) for factor in re.findall(r"\d[\d_]*", text)]
    if "<<" in text:
        if "*" in text or len(factors) != 2 or factors[1] > 62:
            return ""
        return number(str(factors[0] << factors[1]))
    product = 1
    for factor in factors:
        product *= factor
    return number(str(product)) if product < 10**29 else ""


#: Between a definition's name and its value: `= `, `: int = `, `TYPE = `, `[] = `.
_GIVEN = lazily(
    r"['\"]?\s*(?:\[\s*\]\s*)?[?!]?(?:\s*<const>)?(?:\s*:\s*[^=:]{0,80}?|\s+[\w.*\[\]<>]{1,40})?\s*(?<![=!<>]):?=(?![=>~])\s*"
)
_MEMBER = lazily(r"['\"]?\s*:\s*")
#: In a TypeScript interface, a type follows the name instead of a value.
_TYPE = lazily(r"(?:readonly )?(?:number|string|boolean|any|unknown|object|never|[A-Z]\w*(?=\s*(?:$|[|<\[&])))")
_DEFINE = lazily(r"#\s*define\s+(?=\S)")
_BLANK = lazily(r"\s+")
_NAME = lazily(r'"[A-Z][A-Z0-9]*_[A-Z0-9_]+"$')


def code_value(language: str, kind: str, name: str, signature: str) -> str:
    """The value of a constant, variable, field or macro in normal form.

    Returns:
        "" if the definition has no value (`int x;`, `x = None`), or the value is just a name: the definition's own, as
            for events, or a setting's, as in `#define HINT "AUDIO_HINT"`; `COMPUTED` if the value is no literal.
    """
    value = _value(language, kind, name, signature)
    is_name = value[:1] == '"' and (
        joined_spelling(value[1:-1].replace("-", "")) == joined_spelling(name) or _NAME.match(value)
    )
    return "" if is_name else value


def _value(language: str, kind: str, name: str, signature: str) -> str:
    at = _end_of(name, signature)
    if at < 0:
        return ""
    if kind == "macro":
        # In a macro with parameters, the bracket comes right after the name.
        blank = _BLANK.match(signature, at) if _DEFINE.match(signature) else None
        return literal(signature, blank.end()) if blank and blank.end() < len(signature) else ""
    if has_rule(language, "attribute_constants") and signature.startswith("@"):
        blank = _BLANK.match(signature, at)
        return literal(signature, blank.end()) if blank else ""
    if kind == "property" and has_rule(language, "taken_apart"):
        match = _MEMBER.match(signature, at)
        return "" if match is None or _TYPE.match(signature, match.end()) else literal(signature, match.end())
    match = _GIVEN.match(signature, at)
    before = signature[: at - len(name)].rstrip()
    # In `a, b = 1, 2` only the tree says which value belongs to which name; `a = 1, b = 2` is clear.
    if match is None or (before.endswith(",") and "=" not in before):
        return COMPUTED if "=" in signature else ""
    return literal(signature, match.end(), tuples=has_rule(language, "python_modules"))


def _end_of(name: str, text: str) -> int:
    """The offset after a name's first occurrence as a whole word in a text; -1 if the name does not occur."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_is_word(text[at - 1 : at]) or _is_word(text[end : end + 1])):
            return end
        at = text.find(name, end)
    return -1


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
