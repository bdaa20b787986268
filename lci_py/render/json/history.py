"""The JSON of `lci history`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import SCHEMA_VERSION, Parts, index_object, rounded
from lci_py.render.json.graph import place_object

if TYPE_CHECKING:
    from lci_py.types.history import Commit, HistoryAnswer


def parts(answer: HistoryAnswer) -> Parts:
    """The whole answer."""
    head = {"schema_version": SCHEMA_VERSION, "command": "history", "target": place_object(answer.place)}
    return Parts(head, map(_commit, answer.results), lambda: _tail(answer))


def _commit(one: Commit) -> dict[str, Any]:
    found = {
        "commit": one.id,
        "date": one.date,
        "author": one.author,
        "subject": one.subject,
        "added": one.added,
        "removed": one.removed,
        "file": one.file,
    }
    return found | ({"patch": one.patch} if one.patch else {})


def _tail(answer: HistoryAnswer) -> dict[str, Any]:
    shown = answer.request.offset + len(answer.results)
    tail: dict[str, Any] = {"total": answer.total, "has_more": answer.total > shown, "index": index_object(answer.info)}
    if answer.first is not None:
        tail["first"] = _commit(answer.first._replace(patch=""))
    if answer.companions:
        tail["changed_together"] = [rounded(one._asdict()) for one in answer.companions]
    if answer.others:
        tail["other_definitions"] = [place_object(place) for place in answer.others]
    marks = {"uncommitted": answer.uncommitted, "incomplete": bool(answer.incomplete)}
    return tail | {mark: True for mark, holds in marks.items() if holds}
