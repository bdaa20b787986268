"""The request and answer of `lci similar`. Lines are 1-based and inclusive; paths are POSIX, relative to the root."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.types.search import Filters, IndexInfo


class SimilarRequest(NamedTuple):
    """A request: the flags of one call of `lci similar`. Exactly one of `name`, `place` and `code` is set."""

    name: str = ""
    place: tuple[str, int] | None = None  # path and line
    code: str = ""
    filters: Filters = Filters()
    limit: int = 10
    offset: int = 0


class Likeness(NamedTuple):
    """A definition that is similar to the requested code, and how similar it is.

    Attributes:
        score: The mean of `meaning`, `words`, `same` and `shape`, in [0, 1].
        meaning: The cosine of the two embedding vectors.
        words: The Dice coefficient of the parts of names in the two texts, each counted once.
        same: The Dice coefficient of the two texts' runs of three tokens.
        shape: The Dice coefficient of their runs of five tokens, where all names, numbers and strings count as equal.
        twin: Whether the definition is nearly the same code.
        stale: Whether the definition's file has changed since it was indexed.
    """

    id: str
    qualified_name: str
    kind: str
    file: str
    line: int
    end_line: int
    language: str
    signature: str
    score: float
    meaning: float
    words: float
    same: float
    shape: float
    twin: bool
    stale: bool


class SimilarAnswer(NamedTuple):
    """The result of `lci similar`: the similar definitions, the most similar first."""

    request: SimilarRequest
    results: tuple[Likeness, ...]
    total: int  # definitions that are like it
    info: IndexInfo
