"""Arranges the definitions of an outline as trees, and selects as many definitions as a budget has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.token_budget import fitted
from lci_py.types.outline import FileOutline, Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.types.graph import Definition
    from lci_py.types.outline import OutlineAnswer


#: Levels of a tree; what is deeper stands on the last one. JSON of hundreds of levels is more than readers take.
_DEEPEST = 100


def trees(answer: OutlineAnswer) -> list[FileOutline]:
    """The files of an answer, with their definitions as trees. In a map, files keep the order of the results."""
    items: dict[str, dict[str, Definition]] = {}
    for item in answer.results:
        own = items.setdefault(item.file, {})
        for id in (*item.above, item.id):
            own.setdefault(id, answer.enclosing[id])
    files = {path: (language, stale) for path, language, stale in answer.files}
    paths = list(items) if answer.request.is_map else list(files)
    return [FileOutline(path, *files[path], _nodes(items.get(path, {}))) for path in paths]


def _nodes(items: dict[str, Definition]) -> tuple[Node, ...]:
    children: dict[str, list[Definition]] = {}
    for item in items.values():
        above = item.above[:_DEEPEST]
        children.setdefault(above[-1] if above else "", []).append(item)

    def below(id: str) -> tuple[Node, ...]:
        own = sorted(children.get(id, ()), key=lambda item: (item.line, -item.end_line, item.id))
        return tuple(Node(item, below(item.id)) for item in own)

    return below("")


def within_tokens(answer: OutlineAnswer, max_tokens: int, cost: Callable[[OutlineAnswer], int]) -> OutlineAnswer:
    """Shortens an outline to as many of its first definitions as take at most `max_tokens`."""
    size = len(answer.results)

    def first(count: int) -> OutlineAnswer:
        return answer._replace(results=answer.results[:count], max_tokens=max_tokens)

    return fitted(answer if answer.total == size else first(size), max_tokens, cost, size, first)
