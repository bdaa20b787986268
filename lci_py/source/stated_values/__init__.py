"""Finds contradictions within a file: a comment that states another default than the code, or a key that occurs twice.

Both sides of a contradiction are in one file, so they are compared when it is indexed; only differences are stored.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from lci_py.source.text.language_tables import shared_table
from lci_py.source.text.patterns import lazily
from lci_py.source.text.words import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.types.source import Claim, Symbol

#: Kinds of claims: a comment; the code beside it, which says otherwise; a key that is given twice (`repeated_keys`).
HOW = ("comment", "beside", "twice")
MAX_CLAIMS = 2_000
MAX_NAME = MAX_VALUE = 100
_ALWAYS_SECRET = frozenset(
    "pass passwd password passphrase pwd pin secret secrets credential credentials apikey passcode".split()
)
_MAYBE_SECRET = frozenset("key keys token tokens auth salt cert signature dsn webhook cookie private bearer".split())
_LONG_TOKEN = lazily(r"(?=\S*\d)(?=\S*[A-Za-z])[A-Za-z0-9+/=_-]{20,}$")


def claims_of(language: str, path: str, source: bytes, symbols: Sequence[Symbol]) -> Iterator[Claim]:
    """The contradictions in a file, as pairs of claims: a default in a comment, and a different default in the code.

    At most `MAX_CLAIMS` claims, in the order of lines. Values that may be credentials are left out.

    Args:
        path: Relative to the root. Tests, examples and third-party code have no claims.
        symbols: The definitions of the file.
    """
    if not is_own_code(path, language):
        return
    from lci_py.source.stated_values import comments  # a reader of the index needs none of its patterns

    seen = set()
    for claim in sorted(comments.contradicting_claims(language, source, symbols), key=lambda claim: claim.line):
        fits = len(claim.name) <= MAX_NAME and len(claim.value) <= MAX_VALUE
        if fits and claim not in seen and not is_secret(claim.name, claim.value):
            seen.add(claim)
            yield claim
            if len(seen) == MAX_CLAIMS:
                return


def is_secret(name: str, value: str) -> bool:
    """Whether a value, by its text and its name, may be a credential, which must be neither stored nor shown."""
    words = set(parts(name))
    if words & _ALWAYS_SECRET:
        return True
    text = value.strip('"')
    if words & _MAYBE_SECRET:
        return value not in ("true", "false") and not re.fullmatch(r"\d{1,5}\w{0,3}", text)
    return bool(_LONG_TOKEN.match(text)) or re.search(r"://[^/\s]*:[^/\s]*@", text) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(shared_table("stated_values")["files"][name], re.IGNORECASE)


@lru_cache(maxsize=8)  # asked for the key of a record, and then by its extraction
def is_own_code(path: str, language: str) -> bool:
    """Whether a file is the program's own code: no test, example or text. Its record's cache key contains this."""
    from lci_py.source.syntax.languages import TEXT, is_test  # a reader of the index needs no grammars

    in_documents = _pattern("documents").search(path)  # where code only shows how something is used
    return language != TEXT and not (in_documents or is_elsewhere(path) or is_test(path))


def is_elsewhere(path: str) -> bool:
    """Whether a file is not about this project itself: an example, third-party code, history or a translation."""
    folder, _, base = path.rpartition("/")
    is_example = "example" in base.lower().partition(".")[0]
    return is_example or bool(_pattern("elsewhere").search(f"{folder}/") or _pattern("bundler").search(base))
