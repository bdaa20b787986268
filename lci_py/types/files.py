"""The request and the answer of `lci files`. Paths are POSIX, relative to the root; lines are 1-based."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.types.search import Filters, IndexInfo


class FilesRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci files`."""

    pattern: str = ""  # parts of paths, separated by blanks; a glob if it has one's signs; "" for every file
    line: int | None = None  # what followed the pattern: session.py:12
    filters: Filters = Filters()
    limit: int | None = None  # None for all
    offset: int = 0  # files left out before the first one shown


class IndexedFile(NamedTuple):
    """An indexed file whose path matches the pattern of the request."""

    file: str
    language: str
    uses: int | None  # calls and imports that lead to it from other files; None while there is no graph
    matches: tuple[tuple[int, int], ...] = ()  # where parts of the pattern stand in the path: start, end


class FilesAnswer(NamedTuple):
    """The result of `lci files`: the best match comes first; among equal matches, the file that is used most."""

    request: FilesRequest
    results: tuple[IndexedFile, ...]
    total: int
    info: IndexInfo
    near: tuple[str, ...] = ()  # paths that may be meant where none fits
