"""Normalises tests of feature flags in conditions, so that conditions do not depend on how a program tests a flag.

`flags.is_enabled("x")`, `Flipper.enabled?(:x)` and `isEnabled('x', user)` all become `flag("x")`, so that conditions on
one flag can be compared between files and languages.
"""

from __future__ import annotations

import re
from functools import lru_cache

from lci_py.source.text.patterns import lazily

_RECEIVER = r"(?:[$@]{0,2}\w+[?!]?(?:\(\))?(?:\?\.|\?->|::|->|\.|:|\\))*"
_ARGUMENTS = r"\((?P<arguments>[^()]*(?:\([^()]*\)[^()]*)*)\)"
_LITERAL = r""":\w+[?!]?|"[^"]*"|'[^']*'"""
_FIRST_LITERAL = lazily(rf"(?:^|[(,]|\w[:=])\s*({_LITERAL})")
_FIRST = lazily(r"(?:[^,()]|\([^()]*\))*")
_QUOTES = "\"'"
_SHOWN = 80  # characters of a flag's name


def readable(text: str, predicates: tuple[str, ...], *, words: bool = False) -> str:
    """A condition with each test of a feature flag written as `flag("x")`, or `flag(settings.X)` for a value.

    Args:
        text: The condition, on one line.
        predicates: The setting `feature_flags`. `f` means a call of `f` on any receiver, whose argument is the flag's
            name; `settings.*` also matches a plain value.
        words: Whether a call's arguments are words after its name, as in a shell.
    """
    if not any(map(text.__contains__, _stems(predicates))):
        return text  # as nearly always
    pattern = _pattern(predicates, words)
    return pattern.sub(_flag, text) if pattern is not None else text


@lru_cache(maxsize=8)
def _stems(predicates: tuple[str, ...]) -> tuple[str, ...]:
    """The fixed beginnings of the predicates; a text without any of these substrings tests no flag."""
    return tuple(dict.fromkeys(name.partition("*")[0] for name in predicates))


@lru_cache(maxsize=8)
def _pattern(predicates: tuple[str, ...], words: bool) -> re.Pattern[str] | None:
    calls = "|".join(re.escape(name) for name in predicates if "*" not in name)
    values = "|".join(re.escape(name).replace(r"\*", r"\w+") for name in predicates if "*" in name)
    spaced = rf" (?P<word>{_LITERAL}{'|[^-][^ ;&|]*' if words else ''})"
    options = [
        rf"(?:{calls})(?:{_ARGUMENTS}|{spaced})" if calls else "",
        rf"(?P<value>{values})(?![\w?!])(?:\((?P<given>[^()]*)\))?" if values else "",
    ]
    text = "|".join(filter(None, options))
    return re.compile(rf"(?<![\w.$@:>-]){_RECEIVER}(?:{text})") if text else None


def _flag(match: re.Match[str]) -> str:
    groups = match.groupdict()
    if groups.get("value"):
        literal = _FIRST_LITERAL.search(groups["given"] or "")
        return f"flag({_as_string(literal[1]) if literal else groups['value']})"
    if word := groups.get("word"):
        return f"flag({_as_string(word if word[0] in f'$:{_QUOTES}' else f':{word}')})"
    arguments = groups.get("arguments") or ""
    literal = _FIRST_LITERAL.search(arguments)
    name = literal[1] if literal else _FIRST.match(arguments)[0].strip()  # type: ignore[index]  # it may be empty
    return f"flag({_as_string(name)})" if name else match[0]  # a call without a name asks for something else


def _as_string(name: str) -> str:
    """The text of a string or symbol as a string in double quotes; any other expression unchanged."""
    if name[0] in _QUOTES:
        name = f'"{name[1:-1]}"'
    elif name[0] == ":":
        name = f'"{name[1:]}"'
    return name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…"
