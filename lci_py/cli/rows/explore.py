"""`lci explore`: builds its request from a question, locations, a text on stdin or a change, and from flags."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lci_py.cli.answering import Row
from lci_py.cli.output import Writer
from lci_py.cli.request import flag_filters, number, place_from_root, plain_text
from lci_py.errors import UsageError, Words
from lci_py.types.explore import EXPLORE_TOKENS, ExploreAnswer, ExploreRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.cli.answering import CommandRun
    from lci_py.cli.command_line import Invocation

#: Characters of stdin that are read.
_MOST_TEXT = 1_000_000


def _request(call: Invocation, _shape: str) -> ExploreRequest:
    texts, filters = call.texts("argument"), flag_filters(call)
    max_tokens, offset = number(call.values, "max_tokens") or EXPLORE_TOKENS, number(call.values, "offset") or 0
    if call.flag("diff"):
        if len(texts) > 1:
            raise UsageError(f"--diff takes one revision, not {len(texts)}", hint="lci explore --diff REV")
        return ExploreRequest(
            "", filters, max_tokens, revision=plain_text(texts[0].strip()) if texts else "HEAD", offset=offset
        )
    places, words = [], []
    for text in texts:
        location = None if " " in text else place_from_root(text, call)
        if text == "-":
            words.append(standard_input())
        elif location is not None and location[1] is not None:
            places.append((location[0], location[1]))
        else:
            words.append(text)
    question = plain_text(" ".join(words))
    if not question.strip() and not places:
        shell = "lci explore QUESTION…, a FILE:LINE, - for stdin, or --diff"
        raise UsageError("the question is missing", hint=Words(shell, "give words, or a FILE:LINE"))
    return ExploreRequest(question, filters, max_tokens, tuple(places), offset=offset)


def standard_input() -> str:
    """The text on standard input, cut at a maximum length.

    Raises:
        UsageError: Standard input is closed.
    """
    if sys.stdin is None:
        raise UsageError("cannot read -: standard input is closed", hint="give it as an argument")
    return sys.stdin.buffer.read(_MOST_TEXT).decode("utf-8", "replace")


def _fit(run: CommandRun, answer: ExploreAnswer, cost: Callable[[ExploreAnswer], int]) -> ExploreAnswer:
    """Shortens an answer to its token budget: the most important pieces that the output shape has room for."""
    if run.shape == "paths":
        return answer
    from lci_py.render.token_budget import fitted

    order = {piece.id: i for i, piece in enumerate(answer.pieces)}

    def first(count: int) -> ExploreAnswer:
        states = {piece.id: piece for piece in answer.states[:count]}
        pieces = sorted(states.values(), key=lambda piece: order[piece.id])
        rest = [piece for piece in answer.pieces if piece.id not in states]
        names = {piece.qualified_name for piece in pieces if piece.lines}
        chains = tuple(chain for chain in answer.chains if all(link.name in names for link in chain))
        rest.sort(key=lambda piece: (-piece.worth, piece.file, piece.line))
        return answer._replace(pieces=tuple(pieces), chains=chains, left_out=(*rest, *answer.left_out))

    return fitted(answer, answer.request.max_tokens, cost, len(answer.states), first)


ROW = Row(
    _request,
    writer=lambda _: Writer("explore", "explore"),
    results=lambda answer: answer.pieces,
    fit=_fit,
)
