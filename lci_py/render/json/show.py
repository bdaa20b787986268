"""The JSON of `lci show`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object
from lci_py.render.json.graph import place_object, through_object

if TYPE_CHECKING:
    from lci_py.types.show import Calls, ShowAnswer, ShownCode, ShowRequest


def parts(answer: ShowAnswer) -> Parts:
    """The answer as JSON."""
    head = {"command": "show", "targets": [{"target": target, "total": total} for target, total in answer.totals]}
    shown = answer.offset + len(answer.results) + len(answer.dropped)
    budget = {
        "max_tokens": answer.max_tokens,
        "results_dropped": len(answer.dropped),
        "lines_dropped": sum(item.left_out + item.left_above for item in answer.results),
    }
    tail = {
        "total": answer.total,
        "has_more": bool(answer.dropped) or answer.total > shown,
        "index": index_object(answer.info),
        "unknown": [{"target": one.target, "message": one.message, "near": list(one.near)} for one in answer.unknown],
        "truncated": None if answer.max_tokens is None else budget,
    }
    return Parts(head, (_result(item, answer.request) for item in answer.results), lambda: tail)


def _result(item: ShownCode, request: ShowRequest) -> dict[str, Any]:
    found = fields(item, "target id file line end_line qualified_name kind language signature doc")
    if item.symbol is None or not (request.signature or request.doc):
        found |= {"text_line": item.start, "text": "\n".join(item.lines)}
    if item.left_out:
        rest = item.start + len(item.lines)
        found["left_out"] = {"lines": item.left_out, "target": f"{item.file}:{rest}-{rest + item.left_out - 1}"}
    if item.left_above:
        target = f"{item.file}:{item.start - item.left_above}-{item.start - 1}"
        found["left_above"] = {"lines": item.left_above, "target": target}
    if item.stale:
        found["stale"] = True
    for key, calls in (("callers", item.callers), ("callees", item.callees)):
        if calls is not None:
            found[key] = _calls(calls)
    return found


def _calls(calls: Calls) -> dict[str, Any]:
    results = []
    for item in calls.shown:
        results.append({**place_object(item.place), **fields(item, "sites ambiguous?")})
    return {"results": results, "total": calls.total, "dispatch": [through_object(item) for item in calls.through]}
