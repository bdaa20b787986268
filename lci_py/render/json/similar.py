"""The JSON of `lci similar`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, index_object, names_of, round_floats

if TYPE_CHECKING:
    from lci_py.types.similar import Likeness, SimilarAnswer


def parts(answer: SimilarAnswer) -> Parts:
    """The answer as JSON."""
    request = answer.request
    place = ":".join(map(str, request.place)) if request.place else None
    head = {"command": "similar", "query": request.name or place or ""}
    more = answer.total > request.offset + len(answer.results)
    tail = {"total": answer.total, "has_more": more, "index": index_object(answer.info)}
    return Parts(head, map(_result, answer.results), lambda: tail)


def _result(one: Likeness) -> dict[str, Any]:
    symbol = one.qualified_name.rpartition(".")[2]
    found: dict[str, Any] = {**one._asdict(), **names_of(symbol, one.qualified_name)}
    if one.qualified_name == symbol:
        del found["qualified_name"]
    return {key: round_floats(value) for key, value in found.items() if value is not False}
