"""The JSON of `lci history`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object, round_floats
from lci_py.render.json.graph import place_object

if TYPE_CHECKING:
    from lci_py.types.history import Commit, HistoryAnswer


def parts(answer: HistoryAnswer) -> Parts:
    """The answer as JSON."""
    head = {"command": "history", "target": place_object(answer.place)}
    tail = {
        "total": answer.total,
        "has_more": answer.total > answer.request.offset + len(answer.results),
        "index": index_object(answer.info),
        "first": None if answer.first is None else _commit(answer.first._replace(patch="")),
        "changed_together": [round_floats(one._asdict()) for one in answer.companions],
        "other_definitions": [place_object(place) for place in answer.others],
        "uncommitted": answer.uncommitted or None,
        "incomplete": True if answer.incomplete else None,
    }
    return Parts(head, map(_commit, answer.results), lambda: tail)


def _commit(one: Commit) -> dict[str, Any]:
    return {"commit": one.id, **fields(one, "date author subject added removed file patch")}
