"""Regular expressions that are compiled on first use, so that importing a module stays fast."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "pattern", "groupindex")


class _Pattern:
    """Stands in for a compiled pattern, and forwards its methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for method in _METHODS:  # later look-ups find these attributes, and do not come here
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazily(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern that `re.compile` returns, compiled later. The functions of `re` do not accept it.

    A malformed pattern raises `re.error` at its first use.
    """
    return cast("re.Pattern[str]", _Pattern(pattern, flags))
