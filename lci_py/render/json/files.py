"""The JSON of `lci files`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import SCHEMA_VERSION, Parts, index_object

if TYPE_CHECKING:
    from lci_py.types.files import FilesAnswer, IndexedFile


def parts(answer: FilesAnswer) -> Parts:
    """The whole answer."""
    request = answer.request
    head = {"schema_version": SCHEMA_VERSION, "command": "files", "pattern": request.pattern}
    return Parts(head, (_file(one, request.line) for one in answer.results), lambda: _tail(answer))


def _file(one: IndexedFile, line: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"file": one.file, "language": one.language}
    if line is not None:
        found["line"] = line
    return found | ({"uses": one.uses} if one.uses is not None else {})


def _tail(answer: FilesAnswer) -> dict[str, Any]:
    tail: dict[str, Any] = {
        "total": answer.total,
        "has_more": answer.total > answer.request.offset + len(answer.results),
        "index": index_object(answer.info),
    }
    return tail | ({"did_you_mean": list(answer.near)} if answer.near else {})
