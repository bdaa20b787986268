"""The JSON of `lci files`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, index_object

if TYPE_CHECKING:
    from lci_py.types.files import FilesAnswer, IndexedFile


def parts(answer: FilesAnswer) -> Parts:
    """The answer as JSON."""
    request = answer.request
    head = {"command": "files", "pattern": request.pattern}
    return Parts(head, (_file(one, request.line) for one in answer.results), lambda: _tail(answer))


def _file(one: IndexedFile, line: int | None) -> dict[str, Any]:
    return {"file": one.file, "language": one.language, "line": line, "uses": one.uses}


def _tail(answer: FilesAnswer) -> dict[str, Any]:
    return {
        "total": answer.total,
        "has_more": answer.total > answer.request.offset + len(answer.results),
        "index": index_object(answer.info),
        "did_you_mean": list(answer.near),
    }
