"""The request and the answer of `lci grep`.

Lines and columns are 1-based, columns count characters; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from collections.abc import Iterator

from lci_py.types.record import NamedTuple
from lci_py.types.search import Filters, IndexInfo


class GrepRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci grep`."""

    pattern: str
    fixed: bool = False  # the pattern is a text, not a regular expression
    ignore_case: bool = False
    smart_case: bool = False  # ignore case if the pattern has no capital letter
    words: bool = False  # only matches with no letter, digit or underscore right before or after
    invert: bool = False  # the lines that do not match
    only: bool = False  # each match as a line of its own; with `invert`, nothing
    filters: Filters = Filters()
    context: tuple[int, int] = (0, 0)  # lines before and after each one
    max_count: int | None = None  # lines of one file
    limit: int | None = None  # lines of all files, or files where `lines` is not "text"
    lines: str = "text"  # text, count: how many per file, or none: only the files
    enclosing: bool = True  # say what is around a line
    marks: bool = True  # say where in a line all matches are


class EnclosingDefinition(NamedTuple):
    """The innermost definition that encloses a line."""

    id: str
    symbol: str
    qualified_name: str
    kind: str
    line: int
    end_line: int


class Line(NamedTuple):
    """A line of a file that matches the pattern, or that is shown as context of such a line."""

    number: int
    text: str  # without its line end
    spans: tuple[tuple[int, int], ...]  # where in `text` the matches are
    matches: bool  # else it is one of the context
    enclosing: EnclosingDefinition | None


class FileLines(NamedTuple):
    """The lines of one file that match the pattern, with their context."""

    path: str
    language: str  # "" if nobody asked for it
    stale: bool
    matching: int  # how many lines match
    lines: tuple[Line, ...]  # in order, with the context


class Tally:
    """Counts that grow during a search: matching lines, files with such lines, and results within the limit."""

    __slots__ = ("files", "info", "lines", "shown")

    def __init__(self, info: IndexInfo) -> None:
        self.lines = self.files = self.shown = 0
        self.info = info


class GrepAnswer(NamedTuple):
    """The result of `lci grep`. Iterating over `files` runs the search, in the order of the paths."""

    request: GrepRequest
    files: Iterator[FileLines]
    tally: Tally  # complete once `files` has ended
    offset: int = 0  # lines, or files, left out before the first one shown

    @property
    def info(self) -> IndexInfo:
        return self.tally.info
