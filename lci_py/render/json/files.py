"""The JSON of `lci files`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.render.json.answer import Parts, index_object

if TYPE_CHECKING:
    from lci_py.types.files import FilesAnswer


def parts(answer: FilesAnswer) -> Parts:
    """The answer as JSON."""
    request = answer.request
    results = (
        {"file": one.file, "language": one.language, "line": request.line, "uses": one.uses} for one in answer.results
    )
    tail = {
        "total": answer.total,
        "has_more": answer.total > request.offset + len(answer.results),
        "index": index_object(answer.info),
        "did_you_mean": list(answer.near),
    }
    return Parts({"command": "files", "pattern": request.pattern}, results, lambda: tail)
