"""Makes regular expressions that are compiled on first use, so that importing a module stays fast."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "pattern", "groupindex")


class _Pattern:
    """Stands in for a compiled pattern: compiles it when one of its methods is first used."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given: tuple[Any, int] = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for method in _METHODS:  # later look-ups find these attributes, and do not come here
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but on first use, which may raise `re.error`. Functions like `re.sub` cannot take the result."""
    return cast("re.Pattern[AnyStr]", _Pattern(pattern, flags))


#: A path of HTTP, with or without a method.
ROUTE = lazily(r"\s*(?:(?i:get|post|put|patch|delete|head|options|any)\s+[/…]\S*|[/…]\S+)\s*$")
