"""`--max-tokens`: cut an answer to a budget, and say what was cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.render.json import dumps, result_object, summary

if TYPE_CHECKING:
    from lci_py.types import Answer, Result

#: Bytes that count as one token. Code is nearer to three and prose to five; tokenizers differ, so it is an estimate.
BYTES_PER_TOKEN = 4


def tokens(text: str) -> int:
    """Estimated tokens of `text`."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def _cost(result: Result) -> int:
    return tokens(dumps(result_object(result, doc=True)) + ",")


def cut(answer: Answer, max_tokens: int) -> Answer:
    """`answer` so that its JSON is within `max_tokens`, by the estimate of `tokens`.

    Snippets go first, from the tail: where a thing is costs little and says most. Then results go, from the tail.
    What is left is a head of the ranking, and `truncated` counts what it lacks. An answer that fits is unchanged.

    Args:
        answer: What was found.
        max_tokens: > 0. The envelope counts too; a budget smaller than it leaves no results.
    """
    results = list(answer.results)
    costs = [_cost(result) for result in results]
    if tokens(dumps({**summary(answer), "results": []})) + sum(costs) <= max_tokens:
        return answer
    # The note itself takes room: reserve it at its longest.
    note = {"results_dropped": len(results), "snippets_dropped": len(results), "max_tokens": max_tokens}
    room = max_tokens - tokens(dumps({**summary(replace(answer, truncated=note)), "results": []}))
    total = sum(costs)
    emptied: set[int] = set()
    for i in range(len(results) - 1, -1, -1):
        if total <= room:
            break
        if results[i].snippet:
            results[i] = replace(results[i], snippet="")
            emptied.add(i)
            total += _cost(results[i]) - costs[i]
            costs[i] = _cost(results[i])
    while results and total > room:
        results.pop()
        total -= costs.pop()
    dropped = len(answer.results) - len(results)
    note |= {"results_dropped": dropped, "snippets_dropped": sum(i < len(results) for i in emptied)}
    return replace(answer, results=tuple(results), has_more=answer.has_more or dropped > 0, truncated=note)
