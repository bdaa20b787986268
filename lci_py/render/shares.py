"""`--max-tokens` of `lci show`: divides the budget equally between the targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.token_budget import BYTES_PER_TOKEN, fitted, largest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.types.show import ShowAnswer, ShownCode

#: Bytes of a result besides its lines and its path, about.
_HEAD = 40


def cut(answer: ShowAnswer, max_tokens: int, cost: Callable[[ShowAnswer], int]) -> ShowAnswer:
    """The answer within a budget. All targets have the same share: what one does not need, the others get (max-min
    fairness). Of the definitions of one target the first ones are whole, and those that do not fit are left out; the
    first of all is cut at its end if it alone is too long.

    Args:
        cost: Counts the tokens of an answer as written.
    Source:
        Bertsekas and Gallager, Data Networks, 2nd edition 1992, section 6.5.2.
    """
    if cost(answer) <= max_tokens:
        return answer
    share = largest(max_tokens, lambda room: cost(_with_share(answer, room, max_tokens)) <= max_tokens, least=-1)
    if share >= 0:
        return _with_share(answer, share, max_tokens)
    return _fewer(_with_share(answer, 0, max_tokens), cost, max_tokens)


def _with_share(answer: ShowAnswer, share: int, max_tokens: int) -> ShowAnswer:
    """The answer with `share` tokens for each target."""
    rooms: dict[str, int] = {}
    results, dropped = [], []
    for item in answer.results:
        first = item.target not in rooms
        room = rooms.get(item.target, share * BYTES_PER_TOKEN) - _HEAD - len(item.file)
        size = sum(len(line.encode()) + 1 for line in item.lines)
        if size > room and first:
            results.append(item := _shorten(item, room))
            rooms[item.target] = 0
        elif size > room:
            dropped.append(item)
            rooms[item.target] = 0
        else:
            results.append(item)
            rooms[item.target] = room - size
    return answer._replace(results=tuple(results), dropped=tuple(dropped), max_tokens=max_tokens)


def _shorten(item: ShownCode, room: int) -> ShownCode:
    """A result with as many of its lines as take at most `room` bytes, and without lists of calls. A doc comment above
    the definition is dropped first.
    """
    above = item.line - item.start if item.symbol is not None else 0
    if 0 < above < len(item.lines):
        item = item._replace(lines=item.lines[above:], start=item.line, left_above=above)
    kept = 0
    for line in item.lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept += 1
    return item._replace(lines=item.lines[:kept], left_out=len(item.lines) - kept, callers=None, callees=None)


def _fewer(least: ShowAnswer, cost: Callable[[ShowAnswer], int], max_tokens: int) -> ShowAnswer:
    """The first results of an answer whose results are already as short as possible."""

    def first(count: int) -> ShowAnswer:
        return least._replace(results=least.results[:count], dropped=(*least.results[count:], *least.dropped))

    return fitted(least, max_tokens, cost, len(least.results), first)
