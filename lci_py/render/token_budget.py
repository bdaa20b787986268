"""`--max-tokens`: cut an answer to a token budget, and count what was cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.render.json.answer import dumps, result_object, summary
from lci_py.render.text.conflicts import chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.types.search import Answer, Result

#: Bytes per token, an estimate: tokenizers differ, code is nearer to three and prose to five.
BYTES_PER_TOKEN = 4
#: How many definitions a result of --conflicts keeps when there is no room for all.
KEPT_DEFINITIONS = 3


def tokens(text: str) -> int:
    """Estimated tokens of `text`."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def _cost(result: Result) -> int:
    return tokens(dumps(result_object(result, doc=True)) + ",")


def _envelope(answer: Answer) -> int:
    return tokens(dumps({**summary(answer), "results": []}))


def cut(answer: Answer, max_tokens: int) -> Answer:
    """Shorten `answer` until its JSON takes at most `max_tokens`, by the estimate of `tokens`.

    Each step works from the tail of the ranking: it drops snippets (the place of a result costs little and says most),
    then explanations of scores, then all but `KEPT_DEFINITIONS` definitions of a result, then whole results.
    Disagreements between sources go last: an answer that hides one is worse than a short answer. What is left is a head
    of the ranking, and `truncated` counts what is missing. An answer that fits is unchanged.

    Args:
        answer: What was found.
        max_tokens: > 0. The envelope counts too; a budget smaller than the envelope leaves no results.
    """
    results = list(answer.results)
    costs = [_cost(result) for result in results]
    if _envelope(answer) + sum(costs) <= max_tokens:
        return answer
    # The note itself takes room: reserve it at its longest.
    note = _note(
        max_tokens,
        results=len(results),
        snippets=len(results),
        explanations=sum(result.explain is not None for result in results),
        definitions=sum(len(result.definitions) for result in results),
        conflicts=len(answer.conflicts),
    )
    conflicts = answer.conflicts
    while conflicts and _envelope(replace(answer, conflicts=conflicts, truncated=note)) > max_tokens:
        conflicts = conflicts[:-1]
    room = max_tokens - _envelope(replace(answer, conflicts=conflicts, truncated=note))
    emptied = _lighten(results, costs, room, lambda result: replace(result, snippet=""))
    silenced = _lighten(results, costs, room, lambda result: replace(result, explain=None))
    _lighten(results, costs, room, _fewer_definitions)
    while results and sum(costs) > room:
        results.pop()
        costs.pop()
    dropped = len(answer.results) - len(results)
    kept = zip(results, answer.results, strict=False)
    note = _note(
        max_tokens,
        results=dropped,
        snippets=sum(i < len(results) for i in emptied),
        explanations=sum(i < len(results) for i in silenced),
        definitions=sum(len(old.definitions) - len(new.definitions) for new, old in kept),
        conflicts=len(answer.conflicts) - len(conflicts),
    )
    more = answer.has_more or dropped > 0
    return replace(answer, results=tuple(results), conflicts=conflicts, has_more=more, truncated=note)


def _note(max_tokens: int, *, results: int, snippets: int, **others: int) -> dict[str, int]:
    """The answer's `truncated`: how many of each were dropped; of the others only those that are not 0."""
    note = {"results_dropped": results, "snippets_dropped": snippets, "max_tokens": max_tokens}
    return note | {f"{what}_dropped": count for what, count in others.items() if count}


def _lighten(results: list[Result], costs: list[int], room: int, lighter: Callable[[Result], Result]) -> set[int]:
    """Replace results by lighter ones, last first, until all fit in `room`; return the places of those replaced."""
    total = sum(costs)
    changed: set[int] = set()
    for i in range(len(results) - 1, -1, -1):
        if total <= room:
            break
        found = lighter(results[i])
        if found != results[i]:
            results[i] = found
            changed.add(i)
            total += _cost(found) - costs[i]
            costs[i] = _cost(found)
    return changed


def _fewer_definitions(result: Result) -> Result:
    """`result` with `KEPT_DEFINITIONS` definitions, among them the active one and its own."""
    own = (result.file, result.line)
    return replace(result, definitions=tuple(chosen(result.definitions, own, KEPT_DEFINITIONS)))
