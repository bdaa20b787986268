"""Literals in code, and the values of definitions by their signatures."""

from __future__ import annotations

import re

from lci_py.source.stated_values.values import NUMBER, number, string
from lci_py.source.text.language_tables import has_rule
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import joined

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
_NOTHING = lazily(r"(?:None|null|nil|undefined|NULL|nullptr|Nothing|undef|\(?\s*\)|\{\s*\}|\[\s*\])(?!\w)")


def literal_at(text: str, start: int) -> tuple[str, int]:
    """The form of the literal at a place, and where it ends; ("", start) if there is none, or it is part of more."""
    found = _VALUE.match(text, start)
    form = _form(found) if found is not None else ""
    return (form, found.end()) if found is not None and form else ("", start)


def literal(text: str, start: int = 0, *, tuples: bool = False) -> str:
    """The form of the literal in `text` at `start`: `COMPUTED` for anything else, "" for null and the like.

    Args:
        text: A signature.
        start: Where the value begins.
        tuples: Whether a comma after the value makes it a tuple, which is `COMPUTED`.
    """
    field = _FIELD.match(text, start)  # of a dataclass or a settings class
    if field is not None:
        return literal_at(text, field.end())[0] or COMPUTED
    inner = start
    while text.startswith("(", inner):
        inner += 1  # `#define X (60)`
    found = _VALUE.match(text, inner)
    if found is None:
        return "" if _NOTHING.match(text, start) else COMPUTED
    after = text[found.end() :].lstrip()
    if (inner > start and not after.startswith(")")) or (tuples and after.startswith(",")):
        return COMPUTED
    form = _form(found)
    return form if form else ("" if _is_string(found) else COMPUTED)


def _is_string(found: re.Match[str]) -> bool:
    return any(found[group] is not None for group in "dst")


def _form(found: re.Match[str]) -> str:
    if found["number"] is not None:
        return number(found["number"])
    if found["word"] is not None:
        return "true" if found["word"] in ("true", "True", "TRUE", "YES") else "false"
    if _is_string(found):
        text = found["d"] if found["d"] is not None else found["s"] if found["s"] is not None else found["t"]
        return string(text)
    if found["product"] is not None:
        return _product(found["product"])
    if found["gounit"] is not None:
        return number(found["go"] or "1", found["gounit"])
    for group in ("of", "delta", "to", "dot"):
        if found[group] is not None:
            unit = found[f"{group}unit"].lower()
            return number(found[group], _OF_UNITS.get(unit, unit))
    return ""


def _product(text: str) -> str:
    """The form of `10 * 1024 * 1024` or `1 << 20`; "" if both are mixed, or if it is too large for a setting."""
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


def code_value(language: str, kind: str, name: str, signature: str) -> str:
    """The value of a constant, variable, field or macro in its one form.

    Returns:
        "" if it has none (`int x;`, `x = None`), or only its own name (as the names of events do); `COMPUTED` if the
        value is not a literal.
    """
    value = _value(language, kind, name, signature)
    return "" if value[:1] == '"' and joined(value[1:-1].replace("-", "")) == joined(name) else value


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
        found = _MEMBER.match(signature, at)
        return "" if found is None or _TYPE.match(signature, found.end()) else literal(signature, found.end())
    found = _GIVEN.match(signature, at)
    before = signature[: at - len(name)].rstrip()
    # In `a, b = 1, 2` only the tree says which value belongs to which name; `a = 1, b = 2` is clear.
    if found is None or (before.endswith(",") and "=" not in before):
        return COMPUTED if "=" in signature else ""
    return literal(signature, found.end(), tuples=has_rule(language, "python_modules"))


def _end_of(name: str, text: str) -> int:
    """Where a name ends that is a whole word of a text, -1 if the text does not contain it."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_is_word(text[at - 1 : at]) or _is_word(text[end : end + 1])):
            return end
        at = text.find(name, end)
    return -1


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
