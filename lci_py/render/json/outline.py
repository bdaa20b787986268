"""The JSON of `lci outline`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import SCHEMA_VERSION, Parts, index_object, names
from lci_py.render.outline_tree import trees

if TYPE_CHECKING:
    from lci_py.types.outline import FileOutline, Node, OutlineAnswer


def parts(answer: OutlineAnswer) -> Parts:
    """The whole answer."""
    return Parts(_head(answer), (_file(found) for found in trees(answer)), lambda: _tail(answer))


def _head(answer: OutlineAnswer) -> dict[str, Any]:
    request = answer.request
    head: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "command": "outline", "map": request.is_map}
    if request.query:
        head["query"] = request.query
    return head


def _tail(answer: OutlineAnswer) -> dict[str, Any]:
    left = answer.total - answer.offset - len(answer.items)
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
        **names(item.symbol, item.qualified_name),
        "kind": item.kind,
        "line": item.line,
        "end_line": item.end_line,
        "signature": item.signature,
        "doc": item.doc,
        "exported": item.exported,
        "children": [_node(child) for child in node.children],
    }
