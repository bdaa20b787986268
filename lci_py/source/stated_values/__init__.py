"""Values of settings and constants, as stated by definitions, defaults, configuration files and prose.

A claim is a name, a literal value and a place. The value of a constant is part of its signature, which is in the index
anyway, so `code_value` reads it on demand. Claims of all other places are collected when the file is indexed.
`search.conflicts.values` decides which claims on one name, spelled alike, contradict each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.stated_values.file_roles import CODE, PROSE, place_kind
from lci_py.source.stated_values.names import is_secret, is_specific
from lci_py.source.stated_values.values import COMPUTED, code_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lci_py.types.source import Claim, Symbol

__all__ = ["COMPUTED", "HOW", "MAX_CLAIMS", "claims_of", "code_value", "is_specific", "place_kind"]

#: Kinds of places that state a value: a constant (read from its signature, never stored); the default of an environment
#: variable or a flag; a field of a table of defaults; a line of a template of a configuration;
#: one that is commented out there; a sentence or a table; a comment, and what the code beside it says otherwise; a key
#: that is given twice (`repeated_keys`).
HOW = ("code", "default", "option", "config", "commented", "prose", "comment", "beside", "twice")
#: Their names are qualified by what they belong to.
_OWNED = frozenset(("comment", "beside"))
MAX_CLAIMS = 2_000
MAX_NAME = MAX_VALUE = 100


def claims_of(language: str, path: str, source: bytes, symbols: Sequence[Symbol]) -> Iterator[Claim]:
    """The values that a file states, at most `MAX_CLAIMS`, in the order of its lines.

    Names that mean nothing without context (`timeout`), and values that may be credentials, are left out.

    Args:
        language: `text` for a file without a grammar.
        path: Relative to the root; it decides how a text file is read.
        symbols: Its definitions.
    """
    kind = place_kind(path, language)
    if not kind:
        return
    found: list[Claim] = []
    # Imported here, because a reader of the index needs none of these patterns.
    if kind == CODE:
        from lci_py.source.stated_values import code_defaults, comments

        found += code_defaults.defaults(language, source)
        found += list(comments.contradicted(language, source, symbols, found))
    else:
        from lci_py.source.stated_values.documents import settings, statements

        found += statements(source) if kind == PROSE else settings(path, source)
    found.sort(key=lambda claim: claim.line)
    seen = set()
    for claim in found:
        fits = len(claim.name) <= MAX_NAME and len(claim.value) <= MAX_VALUE
        named = claim.how in _OWNED or is_specific(claim.name)
        if fits and named and claim not in seen and not is_secret(claim.name, claim.value):
            seen.add(claim)
            yield claim
            if len(seen) == MAX_CLAIMS:
                return
