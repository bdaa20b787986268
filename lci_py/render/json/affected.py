"""The JSON of `lci affected`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object
from lci_py.render.json.graph import place_object, through_object

if TYPE_CHECKING:
    from lci_py.types.affected import AffectedAnswer, AffectedDefinition


def parts(answer: AffectedAnswer) -> Parts:
    """The answer as JSON."""
    request = answer.request
    since: dict[str, Any] = {"revision": request.revision, "commit": answer.commit} if request.diff is None else {}
    head = {
        "command": "affected",
        **(since if request.files is None else {"files": list(request.files)}),
        "changed": [{**place_object(one.place), "change": one.change} for one in answer.changed],
        "callers": [_reached_object(one) for one in answer.callers],
    }
    changes, tests, callers = answer.dropped
    dropped = {"changed_dropped": changes, "results_dropped": tests, "callers_dropped": callers}
    tail = {
        "test_files": sorted({one.place.file for one in answer.tests}),
        "by_name_files": list(answer.by_name),
        "nearest_tests": [] if any(one.reached for one in answer.tests) else [one.place.file for one in answer.tests],
        "total": len(answer.tests) + tests,
        "has_more": tests > 0,
        "dispatch": [through_object(one) for one in answer.through],
        "uncompared": list(answer.uncompared),
        "index": index_object(answer.info),
        "truncated": None if answer.max_tokens is None else {"max_tokens": answer.max_tokens, **dropped},
    }
    return Parts(head, map(_reached_object, answer.tests), lambda: tail)


def _reached_object(one: AffectedDefinition) -> dict[str, Any]:
    return {**place_object(one.place), **fields(one, "distance reason")}
