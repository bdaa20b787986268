"""The values of `lci explore`. A module of its own, so that a search need not import them; named tuples, because to
define a dataclass takes half a millisecond.

Lines are 1-based and inclusive; paths are POSIX, relative to the root.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from lci_py.types.search import Confidence, Degradation, Filters, IndexInfo

#: Tokens of an answer for which nobody names a bound.
EXPLORE_TOKENS = 2000
#: What a piece is for the question: it matches; it is named; it has changed; it is called by, or calls, a piece; a type
#: above or below one; it belongs to the type of one; a test that reaches one.
PieceRole = Literal["match", "named", "changed", "callee", "caller", "base", "derived", "member", "type", "test"]


class ExploreRequest(NamedTuple):
    """The flags of one command.

    Attributes:
        question: A question, names, or the text of an issue, a stack trace or a log.
        filters: On every piece.
        max_tokens: Of the answer.
        places: FILE:LINE that the question is made of, as (path, line).
        revision: Instead of a question: what has changed since this commit.
        offset: Definitions that earlier answers to the same request have shown: they are left out.
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
        id: Of the definition.
        qualified_name: Its name.
        kind: Its kind.
        file: Where it stands.
        line: Of its header.
        end_line: Its last.
        language: Of its file.
        role: What it is for the question.
        via: The piece that led to it, by qualified name; "" for one that was searched for.
        edge: The step of the call graph that did, "inherits" or "member"; "" for one that was searched for.
        mode: The view that says most for it; "" if the graph led to it.
        ambiguous: Whether the call may mean another definition.
        worth: How likely it belongs to the answer, in (0, 1).
        whole: Whether all of its own lines are among `lines`.
        lines: (number, text) of what is shown; none if only its place is.
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
    """The answer.

    Attributes:
        request: What was asked.
        pieces: By file, in the order in which control flows.
        chains: Calls between pieces, each from its caller on.
        info: Of the index.
        left_out: Pieces that the budget has no room for, the worthiest first.
        total: Definitions that were weighed.
        degraded: Views that did not answer.
        confidence: How sure it is that the question is about this repository; None for a change, or
            if a search would not say.
        states: Each step of the budget, as the piece is after it: a smaller budget takes fewer.
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
