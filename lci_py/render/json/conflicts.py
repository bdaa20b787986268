"""The JSON of `lci conflicts`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object, round_floats, site_object
from lci_py.types.search import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.types.conflicts import Conflict, ConflictsAnswer


def parts(answer: ConflictsAnswer) -> Parts:
    """The answer as JSON."""
    tail = {
        "conflicts": round_floats(answer.conflicts),
        "total": answer.total,
        "has_more": answer.total > answer.offset + len(answer.results),
        "by_relation": {name: answer.by_relation[name] for name in RELATIONS if answer.by_relation.get(name)},
        "diff": _diff(*answer.since, answer.uncompared) if answer.since else None,
        "left_out": {**answer.left_out, "undecided": answer.undecided or None},
        "index": index_object(answer.index),
    }
    return Parts({}, map(_conflict, answer.results), lambda: tail)


def _conflict(found: Conflict) -> dict[str, Any]:
    return {
        **fields(found, "qualified_name kind language relation"),
        # A symbol that exists on one branch only may have a single definition, which contradicts nothing.
        "conflict": len(found.definitions) > 1 or None,
        "definitions": [site_object(site) for site in found.definitions],
        **fields(found, "same_text? witness missing_on"),
    }


def _diff(revision: str, commit: str | None, uncompared: Sequence[str] | None) -> dict[str, Any]:
    """The commit that the work tree was compared with; the repositories of a workspace have one each."""
    return {"revision": revision, "commit": commit, "uncompared": list(uncompared or ())}
