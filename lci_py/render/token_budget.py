"""`--max-tokens`: cut an answer to a budget, and say what was cut."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lci_py.render.json.answer import dumps, result_object, summary
from lci_py.render.text.conflicts import chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.types.search import Answer, Result

#: Bytes that count as one token. Code is nearer to three and prose to five; tokenizers differ, so it is an estimate.
BYTES_PER_TOKEN = 4
#: Definitions that a result of --conflicts keeps when there is no room for all: enough to show that there are others.
KEPT_DEFINITIONS = 3


def tokens(text: str) -> int:
    """Estimated tokens of `text`."""
    return -(-len(text.encode()) // BYTES_PER_TOKEN)


def _cost(result: Result) -> int:
    return tokens(dumps(result_object(result, doc=True)) + ",")


def _envelope(answer: Answer) -> int:
    return tokens(dumps({**summary(answer), "results": []}))


def cut(answer: Answer, max_tokens: int) -> Answer:
    """`answer` so that its JSON is within `max_tokens`, by the estimate of `tokens`.

    Snippets go first, from the tail: where a thing is costs little and says most. Then what explains a score, then all
    but `KEPT_DEFINITIONS` of a result's definitions, each from the tail; then results. Disagreements between sources go
    last: an answer that picks one of them in silence is worse than a short one. What is left is a head of the ranking,
    and `truncated` counts what it lacks. An answer that fits is unchanged.

    Args:
        answer: What was found.
        max_tokens: > 0. The envelope counts too; a budget smaller than it leaves no results.
    """
    results = list(answer.results)
    costs = [_cost(result) for result in results]
    if _envelope(answer) + sum(costs) <= max_tokens:
        return answer
    note = {"results_dropped": len(results), "snippets_dropped": len(results), "max_tokens": max_tokens}
    definitions = sum(len(result.definitions) for result in results)
    explained = sum(result.explain is not None for result in results)
    for key, count in (
        ("explanations_dropped", explained),
        ("definitions_dropped", definitions),
        ("conflicts_dropped", len(answer.conflicts)),
    ):
        note |= {key: count} if count else {}
    # The note itself takes room: reserve it at its longest.
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
    note = {
        "results_dropped": dropped,
        "snippets_dropped": sum(i < len(results) for i in emptied),
        "max_tokens": max_tokens,
    }
    kept = zip(results, answer.results, strict=False)
    for key, count in (
        ("explanations_dropped", sum(i < len(results) for i in silenced)),
        ("definitions_dropped", sum(len(old.definitions) - len(new.definitions) for new, old in kept)),
        ("conflicts_dropped", len(answer.conflicts) - len(conflicts)),
    ):
        note |= {key: count} if count else {}
    more = answer.has_more or dropped > 0
    return replace(answer, results=tuple(results), conflicts=conflicts, has_more=more, truncated=note)


def _lighten(results: list[Result], costs: list[int], room: int, lighter: Callable[[Result], Result]) -> set[int]:
    """Put lighter results in place of the last ones until all fit; which those are."""
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
    """With the first definitions in their order, the one that counts here and the result's own always among them."""
    own = (result.file, result.line)
    return replace(result, definitions=tuple(chosen(result.definitions, own, KEPT_DEFINITIONS)))
