"""The request and answer of `lci explore`. Lines are 1-based and inclusive; paths are POSIX, relative to the root."""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.search import Confidence, Degradation, Filters, IndexInfo

#: Tokens of an answer for which nobody names a bound.
EXPLORE_TOKENS = 2000
#: What a piece is for the question: it matches; it is named; it has changed; it is called by, or calls, a piece; a type
#: above or below one; it belongs to the type of one; a test that reaches one.
PieceRole = Literal["match", "named", "changed", "callee", "caller", "base", "derived", "member", "type", "test"]


class ExploreRequest(NamedTuple):
    """A request: the arguments and flags of one call of `lci explore`.

    Attributes:
        question: A question, names, or the text of an issue, a stack trace or a log.
        filters: Conditions that every definition of the answer meets.
        max_tokens: The token budget of the answer.
        places: Locations that the question names, as (path, line).
        revision: A commit: the answer shows what has changed since then, instead of answering a question.
        offset: Number of definitions shown by earlier answers to the same request, which are left out.
    """

    question: str
    filters: Filters = Filters()
    max_tokens: int = EXPLORE_TOKENS
    places: tuple[tuple[str, int], ...] = ()
    revision: str | None = None
    offset: int = 0


class Piece(NamedTuple):
    """A definition that an answer of `lci explore` shows.

    Attributes:
        line, end_line: The line of the definition's header, and its last line.
        role: Why the definition is in the answer.
        via: The qualified name of the piece from which it was reached; "" for a search result.
        edge: How it was reached from `via`: the step of the call graph, "inherits" or "member"; "" for a search result.
        mode: The view that contributed most to its score; "" if it was reached from another piece.
        ambiguous: Whether the call from or to `via` may mean another definition.
        worth: The probability that the definition belongs to the answer, in (0, 1).
        whole: Whether `lines` has every line of the definition, apart from definitions inside it.
        lines: (number, text) of each line that is shown; empty if only the location is shown.
        tokens: The estimated number of tokens that the piece takes in the answer.
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
    """A definition in a chain of calls between the pieces of an answer."""

    name: str
    ambiguous: bool  # whether the call of it may mean another definition


class ExploreAnswer(NamedTuple):
    """The result of `lci explore`.

    Attributes:
        request: The request of the user.
        pieces: The definitions shown, by file, in the order of control flow.
        chains: Chains of calls between pieces; each begins with the caller.
        info: The state of the index.
        left_out: Pieces for which the budget has no room, the best first.
        total: Number of definitions that were considered.
        degraded: Views that did not answer.
        confidence: Whether the question seems to be about this repository; None for a change, or if unknown.
        states: For each step that spent some of the budget, the piece after it; a smaller budget takes fewer steps.
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
