"""Shortens answers to `--max-tokens`: keeps the largest part that fits, and notes what is missing from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from lci_py.types.record import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lci_py.types.search import Answer, DefinitionSite, Result
    from lci_py.types.show import ShowAnswer, ShownCode

#: Bytes per token, an estimate: tokenizers differ, code is nearer to three and prose to five.
BYTES_PER_TOKEN = 4
#: How many definitions a result of --conflicts keeps when there is no room for all.
KEPT_DEFINITIONS = 3

A = TypeVar("A")


def tokens(text: str) -> int:
    """The estimated number of tokens of `text`."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def largest(maximum: int, fits: Callable[[int], bool], minimum: int = 0) -> int:
    """The largest size up to `maximum` that fits, or `minimum` if none fits. Below a size that fits, all must fit."""
    low, high = minimum, maximum
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def fitted(
    answer: A, max_tokens: int, cost: Callable[[A], int], size: int, first: Callable[[int], A], minimum: int = 1
) -> A:
    """The whole answer if it fits, else as many of its first results (`size` in number) as fit.

    Args:
        cost: Counts the tokens of an answer as printed.
        first: Returns the answer with only its first results, given their number.
        minimum: The number of results kept whatever the budget: an empty answer would say that nothing was found.
    """
    if cost(answer) <= max_tokens:
        return answer
    return first(largest(size, lambda count: cost(first(count)) <= max_tokens, min(minimum, size)))


def head(text: str, max_tokens: int) -> str:
    """The first lines of `text` that fit (at least one), then a line with the number of missing lines."""
    lines = text.splitlines(keepends=True)
    if tokens(text) <= max_tokens:
        return text

    def part(count: int) -> str:
        return "".join((*lines[:count], f"cut to {max_tokens:,} tokens: {len(lines) - count:,} lines dropped\n"))

    return part(largest(len(lines) - 1, lambda count: tokens(part(count)) <= max_tokens, 1))


def cut(answer: Answer, max_tokens: int, cost: Callable[[Answer], int]) -> Answer:
    """Shorten the answer of a search until it takes at most `max_tokens`. An answer that fits is unchanged.

    Each step works from the tail of the ranking. The steps drop, in this order: snippets (the location of a result
    costs little and says most), explanations of scores, all but `KEPT_DEFINITIONS` definitions of a result, all of
    a result but its location and name, and whole results. Disagreements between sources go last: hiding one is worse
    than a short answer. `truncated` counts what was dropped.

    Args:
        max_tokens: > 0. The location of the first result is always shown: an empty answer would say that there are
            none.
        cost: Counts the tokens of an answer as printed.
    """
    if cost(answer) <= max_tokens:
        return answer
    lighter = list(_lighter(answer))
    steps = len(lighter) - 1

    def part(count: int) -> Answer:
        return _with_note(answer, lighter[steps - count], max_tokens)

    return part(largest(steps, lambda count: cost(part(count)) <= max_tokens))


def _lighter(answer: Answer) -> Iterator[tuple[list[Result], int]]:
    """Yields (results, number of disagreements to show): first all, then what is left after each step of shortening."""
    results, conflicts = list(answer.results), len(answer.conflicts)
    yield list(results), conflicts
    lights: tuple[Callable[[Result], Result], ...] = (
        lambda result: replace(result, snippet=""),
        lambda result: replace(result, explain=None),
        _fewer_definitions,
        lambda result: replace(result, signature=None, doc="", also_in=(), graph=None),
    )
    for light in lights:
        for i in range(len(results) - 1, -1, -1):
            lighter = light(results[i])
            if lighter != results[i]:
                results[i] = lighter
                yield list(results), conflicts
    while len(results) > 1:
        results.pop()
        yield list(results), conflicts
    while conflicts:
        conflicts -= 1
        yield list(results), conflicts


def _with_note(answer: Answer, part: tuple[list[Result], int], max_tokens: int) -> Answer:
    """The answer shortened to `part` (from `_lighter`), with the numbers of dropped results, snippets and so on."""
    results, conflicts = part
    both = list(zip(results, answer.results, strict=False))
    dropped = len(answer.results) - len(results)
    others = {
        "explanations": sum(old.explain is not None and new.explain is None for new, old in both),
        "definitions": sum(len(old.definitions) - len(new.definitions) for new, old in both),
        "conflicts": len(answer.conflicts) - conflicts,
    }
    emptied = sum(new.snippet != old.snippet for new, old in both)
    note = {"results_dropped": dropped, "snippets_dropped": emptied, "max_tokens": max_tokens}
    return replace(
        answer,
        results=tuple(results),
        conflicts=answer.conflicts[:conflicts],
        has_more=answer.has_more or dropped > 0,
        truncated=note | {f"{what}_dropped": count for what, count in others.items() if count},
    )


def chosen(sites: Sequence[DefinitionSite], own: tuple[str, int] | None, limit: int | None) -> Sequence[DefinitionSite]:
    """The first `limit` definitions, in order; the active definition and the one at `own` are always among them."""
    if limit is None or len(sites) <= limit:
        return sites
    ranked = sorted(range(len(sites)), key=lambda i: not (sites[i].active or own == (sites[i].file, sites[i].line)))
    return [sites[i] for i in sorted(ranked[:limit])]


def _fewer_definitions(result: Result) -> Result:
    """A copy of a result with `KEPT_DEFINITIONS` definitions, among them the active one and the result itself."""
    own = (result.file, result.line)
    return replace(result, definitions=tuple(chosen(result.definitions, own, KEPT_DEFINITIONS)))


# --- equal shares of the targets of `lci show` --------------------------------------------------------------------

#: Bytes of a result besides its lines and its path, about.
_HEAD = 40


def cut_shares(answer: ShowAnswer, max_tokens: int, cost: Callable[[ShowAnswer], int]) -> ShowAnswer:
    """Shortens the answer of `lci show` to a budget. All targets get the same share; what a target does not need goes
    to other targets (max-min fairness). The first definitions of a target are shown completely, and those that do not
    fit are left out. Only the very first is cut, if it alone is too long.

    Args:
        cost: Counts the tokens of an answer as printed.
    Source:
        Bertsekas and Gallager, Data Networks, 2nd edition 1992, section 6.5.2.
    """
    if cost(answer) <= max_tokens:
        return answer
    share = largest(max_tokens, lambda room: cost(_with_share(answer, room, max_tokens)) <= max_tokens, minimum=-1)
    if share >= 0:
        return _with_share(answer, share, max_tokens)
    return _fewer(_with_share(answer, 0, max_tokens), cost, max_tokens)


def _with_share(answer: ShowAnswer, share: int, max_tokens: int) -> ShowAnswer:
    """The answer in which each target has at most `share` tokens."""
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
    """A result with as many of its first lines as take at most `room` bytes, and without lists of calls. A doc comment
    above the definition is dropped first.
    """
    above = item.line - item.start if item.symbol is not None else 0
    if 0 < above < len(item.lines):
        item = item._replace(lines=item.lines[above:], start=item.line, left_above=above)
    count = 0
    for line in item.lines:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        count += 1
    return item._replace(lines=item.lines[:count], left_out=len(item.lines) - count, callers=None, callees=None)


def _fewer(light: ShowAnswer, cost: Callable[[ShowAnswer], int], max_tokens: int) -> ShowAnswer:
    """As many first results as fit, of an answer (`light`) whose results cannot be shortened further."""

    def first(count: int) -> ShowAnswer:
        return light._replace(results=light.results[:count], dropped=(*light.results[count:], *light.dropped))

    return fitted(light, max_tokens, cost, len(light.results), first)
