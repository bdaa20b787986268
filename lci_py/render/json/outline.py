"""The JSON of `lci outline`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import SCHEMA_VERSION, dumps, index_object
from lci_py.render.outline_tree import trees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lci_py.types.outline import FileOutline, Node, OutlineAnswer


def answer_object(answer: OutlineAnswer) -> dict[str, Any]:
    """The whole answer."""
    return {**_head(answer), "results": [_file(found) for found in trees(answer)], **_tail(answer)}


def jsonl(answer: OutlineAnswer) -> Iterator[str]:
    """One file per line, then one ``{"summary": …}`` line."""
    for found in trees(answer):
        yield dumps(_file(found))
    yield dumps({"summary": {**_head(answer), **_tail(answer)}})


def _head(answer: OutlineAnswer) -> dict[str, Any]:
    request = answer.request
    head: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "command": "outline", "map": request.is_map}
    if request.query:
        head["query"] = request.query
    return head


def _tail(answer: OutlineAnswer) -> dict[str, Any]:
    left = answer.total - len(answer.items)
    tail: dict[str, Any] = {"total": answer.total, "has_more": left > 0, "index": index_object(answer.info)}
    if answer.max_tokens is not None:
        tail["truncated"] = {"max_tokens": answer.max_tokens, "definitions_dropped": left}
    return tail


def _file(found: FileOutline) -> dict[str, Any]:
    made: dict[str, Any] = {
        "file": found.path,
        "language": found.language,
        "definitions": [_node(node) for node in found.nodes],
    }
    if found.stale:
        made["stale"] = True
    return made


def _node(node: Node) -> dict[str, Any]:
    item = node.item
    return {
        "id": item.id,
        "symbol": item.symbol,
        "qualified_name": item.qualified_name,
        "kind": item.kind,
        "line": item.line,
        "end_line": item.end_line,
        "signature": item.signature,
        "doc": item.doc,
        "exported": item.exported,
        "children": [_node(child) for child in node.children],
    }
