"""Names of settings: which are specific enough to compare, and the normal form of their spellings."""

from __future__ import annotations

import re

from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import joined, parts

_LAST = lazily(r"[^.:#/]+$")
_CAPITALS = lazily(r"_*[A-Z][A-Z0-9_]*$")
_FLAG = lazily(r"--?[A-Za-z]")
#: A constant that holds the default of an option: DEFAULT_MAX_SIZE, max_size_default.
_DEFAULT = lazily(r"^default(?=.{4})|(?<=.{4})default$")
_ALWAYS_SECRET = frozenset(
    "pass passwd password passphrase pwd pin secret secrets credential credentials apikey passcode".split()
)
_MAYBE_SECRET = frozenset("key keys token tokens auth salt cert signature dsn webhook cookie private bearer".split())
_LONG_TOKEN = lazily(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9+/=_-]{20,}$")


def last_part(name: str) -> str:
    """`timeout` of `Config.timeout` and `a::b#timeout`."""
    found = _LAST.search(name)
    return found.group() if found else name


def claimed(name: str) -> str:
    """The normal form of the names of one setting: `MAX_SIZE`, `--max-size`, `a.maxSize`, `DEFAULT_MAX_SIZE`."""
    return _DEFAULT.sub("", joined(last_part(name.lstrip("-")).replace("-", "")))


def is_flag(name: str) -> bool:
    return _FLAG.match(name) is not None


def is_capital(name: str) -> bool:
    """Whether a name is written like those of environment variables and constants."""
    return _CAPITALS.match(name) is not None


def is_specific(name: str) -> bool:
    """Whether a name is clear without its context: two words, a qualified name, a constant, a flag."""
    if name != last_part(name):
        return all(len(part) > 1 for part in re.split(r"[.:#/]+", name) if part)
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
