"""The JSON of `lci outline`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object
from lci_py.render.outline_tree import trees

if TYPE_CHECKING:
    from lci_py.types.outline import FileOutline, Node, OutlineAnswer


def parts(answer: OutlineAnswer) -> Parts:
    """The answer as JSON."""
    # A key `query` stays where it is empty, as that of a search does.
    query = {"query": answer.request.query} if answer.request.query else {}
    head = {"command": "outline", "map": answer.request.is_map, **query}
    left = answer.total - answer.offset - len(answer.items)
    cut = None if answer.max_tokens is None else {"max_tokens": answer.max_tokens, "definitions_dropped": left}
    tail = {"total": answer.total, "has_more": left > 0, "index": index_object(answer.info), "truncated": cut}
    return Parts(head, map(_file, trees(answer)), lambda: tail)


def _file(found: FileOutline) -> dict[str, Any]:
    return {
        "file": found.path,
        "language": found.language,
        "definitions": [_node(node) for node in found.nodes],
        "stale": found.stale or None,
    }


def _node(node: Node) -> dict[str, Any]:
    own = fields(node.item, "id qualified_name kind line end_line signature doc exported")
    return {**own, "children": [_node(child) for child in node.children]}
