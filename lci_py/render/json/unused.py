"""The JSON of `lci unused`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object
from lci_py.render.json.graph import place_object

if TYPE_CHECKING:
    from lci_py.types.unused import Unused, UnusedAnswer


def parts(answer: UnusedAnswer) -> Parts:
    """The answer as JSON."""
    more = answer.total > answer.request.offset + len(answer.results)
    tail = {"counts": answer.counts, "total": answer.total, "has_more": more, "index": index_object(answer.info)}
    return Parts({"command": "unused"}, map(_result, answer.results), lambda: tail)


def _result(one: Unused) -> dict[str, Any]:
    mention = {"mention": one.mention._asdict()} if one.mention is not None else {}
    return {**place_object(one.place), **fields(one, "signature certainty reason"), **mention}
