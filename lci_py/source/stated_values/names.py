"""Names of settings: which are specific enough to compare."""

from __future__ import annotations

import re

from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import parts

_CAPITALS = lazily(r"_*[A-Z][A-Z0-9_]*$")
_FLAG = lazily(r"--?[A-Za-z]")
_ALWAYS_SECRET = frozenset(
    "pass passwd password passphrase pwd pin secret secrets credential credentials apikey passcode".split()
)
_MAYBE_SECRET = frozenset("key keys token tokens auth salt cert signature dsn webhook cookie private bearer".split())
_LONG_TOKEN = lazily(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9+/=_-]{20,}$")


def is_flag(name: str) -> bool:
    return _FLAG.match(name) is not None


def is_capital(name: str) -> bool:
    """Whether a name is written like those of environment variables and constants."""
    return _CAPITALS.match(name) is not None


def is_specific(name: str) -> bool:
    """Whether a name is clear without its context: two words, a qualified name, a constant, a flag."""
    if "." in name:
        return all(len(part) > 1 for part in name.split("."))
    if is_flag(name):
        return len(name.strip("-")) >= 3
    letters = sum(c.isalpha() for c in name)
    if is_capital(name):
        return letters >= 4
    return letters >= 6 and len([part for part in parts(name) if len(part) > 1]) >= 2


def is_secret(name: str, value: str) -> bool:
    """Whether the value may be a credential, which must be neither stored nor shown."""
    words = set(parts(name))
    if words & _ALWAYS_SECRET:
        return True
    text = value.strip('"')
    if words & _MAYBE_SECRET:
        return value not in ("true", "false") and not re.fullmatch(r"\d{1,5}\w{0,3}", text)
    return bool(_LONG_TOKEN.match(text)) or re.search(r"://[^/\s]*:[^/\s]*@", text) is not None
