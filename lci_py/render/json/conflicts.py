"""The JSON of `lci conflicts`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import SCHEMA_VERSION, Parts, index_object, names, rounded, site_object
from lci_py.types.search import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.types.conflicts import Conflict, ConflictsAnswer


def parts(answer: ConflictsAnswer) -> Parts:
    """The whole answer."""
    return Parts(
        {"schema_version": SCHEMA_VERSION}, (_conflict(found) for found in answer.results), lambda: _tail(answer)
    )


def _conflict(found: Conflict) -> dict[str, Any]:
    obj: dict[str, Any] = {
        **names(found.symbol, found.qualified_name),
        "kind": found.kind,
        "language": found.language,
        "relation": found.relation,
    }
    # A symbol that exists on one branch only may have a single definition, which contradicts nothing.
    if len(found.definitions) > 1:
        obj["conflict"] = True
    obj["definitions"] = [site_object(site) for site in found.definitions]
    if found.same_text:
        obj["same_text"] = True
    if found.witness:
        obj["witness"] = found.witness
    if found.missing_on:
        obj["missing_on"] = list(found.missing_on)
    return obj


def _diff(revision: str, commit: str | None, uncompared: Sequence[str] | None) -> dict[str, Any]:
    """What the work tree was compared with; the repositories of a workspace have each a commit of their own."""
    found: dict[str, Any] = {"revision": revision}
    if commit is not None:
        found["commit"] = commit
    if uncompared:
        found["uncompared"] = list(uncompared)
    return found


def _tail(answer: ConflictsAnswer) -> dict[str, Any]:
    tail: dict[str, Any] = {}
    if answer.conflicts:
        tail["conflicts"] = rounded(answer.conflicts)
    left_out = {**answer.left_out, **({"undecided": answer.undecided} if answer.undecided else {})}
    return tail | {
        "total": answer.total,
        "has_more": answer.total > answer.offset + len(answer.results),
        "by_relation": {name: answer.by_relation[name] for name in RELATIONS if answer.by_relation.get(name)},
        **({"diff": _diff(*answer.since, answer.uncompared)} if answer.since else {}),
        **({"left_out": left_out} if left_out else {}),
        "index": index_object(answer.index),
    }
