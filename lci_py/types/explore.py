"""The values of `lci explore`. Lines are 1-based and inclusive; paths are POSIX, relative to the root."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.search import Confidence, Degradation, Filters, IndexInfo

#: Tokens of an answer for which nobody names a bound.
EXPLORE_TOKENS = 2000
#: What a piece is for the question: it matches; it is named; it has changed; it is called by, or calls, a piece; a type
#: above or below one; it belongs to the type of one; a test that reaches one.
PieceRole = Literal["match", "named", "changed", "callee", "caller", "base", "derived", "member", "type", "test"]


class ExploreRequest(NamedTuple):
    """The flags of `lci explore`.

    Attributes:
        question: A question, names, or the text of an issue, a stack trace or a log.
        filters: Conditions that every piece meets.
        max_tokens: The token budget of the answer.
        places: Locations that the question names, as (path, line).
        revision: Instead of a question: explore what has changed since this commit.
        offset: Number of definitions shown by earlier answers to the same request, which are left out.
    """

    question: str
    filters: Filters = Filters()
    max_tokens: int = EXPLORE_TOKENS
    places: tuple[tuple[str, int], ...] = ()
    revision: str | None = None
    offset: int = 0


class Piece(NamedTuple):
    """A definition in an answer.

    Attributes:
        line, end_line: The line of its header, and its last line.
        role: Its role for the question.
        via: The piece that led to it, by qualified name; "" for a search result.
        edge: How it led here: the step of the call graph, "inherits" or "member"; "" for a search result.
        mode: The view that contributed most to its score; "" if the graph led to it.
        ambiguous: Whether the call may mean another definition.
        worth: The probability that it belongs to the answer, in (0, 1).
        whole: Whether `lines` has all of its own lines.
        lines: (number, text) of the lines shown; none if only its location is.
        tokens: Estimated tokens that it takes.
        stale: Whether the file has changed since it was indexed.
    """

    id: str
    qualified_name: str
    kind: str
    file: str
    line: int
    end_line: int
    language: str
    role: PieceRole
    via: str
    edge: str
    mode: str
    ambiguous: bool
    worth: float
    whole: bool = False
    lines: tuple[tuple[int, str], ...] = ()
    tokens: int = 0
    stale: bool = False


class Link(NamedTuple):
    """A step of a chain of calls between pieces."""

    name: str
    ambiguous: bool  # whether the call of it may mean another definition


class ExploreAnswer(NamedTuple):
    """The pieces of an answer.

    Attributes:
        request: The request of the user.
        pieces: By file, in the order of control flow.
        chains: Calls between pieces, each beginning with its caller.
        info: The state of the index.
        left_out: Pieces that the budget has no room for, the best first.
        total: Number of definitions that were considered.
        degraded: Views that did not answer.
        confidence: Whether the question seems to be about this repository; None for a change, or if unknown.
        states: The steps that spent the budget, each with its piece afterwards; a smaller budget takes fewer.
    """

    request: ExploreRequest
    pieces: tuple[Piece, ...]
    chains: tuple[tuple[Link, ...], ...]
    info: IndexInfo
    left_out: tuple[Piece, ...] = ()
    total: int = 0
    degraded: tuple[Degradation, ...] = ()
    confidence: Confidence | None = None
    states: tuple[Piece, ...] = ()
