"""The request and answer of `lci outline`. Lines are 1-based and inclusive; paths are POSIX, relative to the root."""

from __future__ import annotations

from typing import NamedTuple

from lci_py.types.graph import Definition, Link
from lci_py.types.search import Filters, IndexInfo

#: Tokens of a map, unless `--max-tokens` says otherwise.
MAP_TOKENS = 1_000


class OutlineRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci outline`."""

    files: tuple[str, ...] = ()  # with no folders: outlines of these files
    folders: tuple[str, ...] = ()  # "" is the root
    filters: Filters = Filters()
    depth: int | None = None  # levels of definitions
    tests: bool = False  # tests as well
    near: tuple[str, int | None] | None = None  # a map of what is around this place
    query: str = ""  # a map of what is around the results of this search
    limit: int | None = None  # definitions of a map
    indexed_only: bool = False  # files that the index does not have are not read
    calls: bool = False  # the calls among what is shown as well

    @property
    def is_map(self) -> bool:
        return bool(self.folders) or not self.files


class Node(NamedTuple):
    """A definition of a file's outline, and the definitions inside it."""

    item: Definition
    children: tuple[Node, ...]


class FileOutline(NamedTuple):
    """The definitions of one file that an outline shows."""

    path: str
    language: str
    stale: bool
    nodes: tuple[Node, ...]


class OutlineAnswer(NamedTuple):
    """The result of `lci outline`, before it is cut to a budget and made into trees.

    Attributes:
        results: The definitions, most important first: in a map by rank, else in the order in which a budget keeps
            them. The `doc` of each is the first line of its doc comment.
        enclosing: Maps ids to definitions: those that enclose `results`.
        files: The files in their order, as (path, language, stale); in a map, only files that `results` are in.
        total: Number of definitions that could be shown.
    """

    request: OutlineRequest
    results: tuple[Definition, ...]
    enclosing: dict[str, Definition]
    files: tuple[tuple[str, str, bool], ...]  # path, language, stale
    total: int
    info: IndexInfo
    max_tokens: int | None = None  # the budget, if it cut something
    offset: int = 0  # results left out before the first one shown
    #: With `calls`; what no definition here makes or receives is a call of its file, `file:PATH`.
    calls: tuple[Link, ...] = ()
