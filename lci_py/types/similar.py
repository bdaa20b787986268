"""The values of `lci similar`. Lines are 1-based and inclusive; paths are POSIX, relative to the root."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.types.search import Filters, IndexInfo


class SimilarRequest(NamedTuple):
    """The flags of `lci similar`; exactly one of `name`, `place` and `code` is set."""

    name: str = ""
    place: tuple[str, int] | None = None  # path and line
    code: str = ""
    filters: Filters = Filters()
    limit: int = 10
    offset: int = 0


class Likeness(NamedTuple):
    """A definition, and its similarity to the given code.

    Attributes:
        score: The mean of `meaning`, `words`, `same` and `shape`, in [0, 1].
        meaning: Cosine of the vectors.
        words: Dice coefficient of the parts of their names, each counted once.
        same: Dice coefficient of their runs of three tokens.
        shape: Dice coefficient of their runs of five tokens, where all names, numbers and strings count as equal.
        twin: Whether it is nearly the same code.
        stale: Whether its file has changed since it was indexed.
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
    """The similar definitions, the most similar first."""

    request: SimilarRequest
    results: tuple[Likeness, ...]
    total: int  # definitions that are like it
    info: IndexInfo
