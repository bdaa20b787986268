"""The JSON of callers, callees, tree and refs. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.types.graph import Branch, GraphAnswer, Neighbour, OtherMeaning, Place, Reference, Through

#: Other meanings of a name that are listed.
_OTHERS = 5


def parts(answer: GraphAnswer) -> Parts:
    """The answer as JSON."""
    head = {
        "command": answer.command,
        "query": answer.query,
        "targets": [place_object(place) for place in answer.targets],
        "direction": answer.direction,
        "depth": None if answer.direction is None else answer.depth,
    }
    shown, places = answer.offset + len(answer.references) + len(answer.neighbours), answer.places_left_out
    budget = {"places_dropped": places, "max_tokens": answer.max_tokens}
    tail = {
        "external": [fields(item, "name file sites imported?") for item in answer.external]
        if answer.command == "callees"
        else None,
        "total": answer.total,
        "has_more": places > 0 if answer.command == "tree" else answer.total > shown,
        "index": index_object(answer.index),
        "unresolved_uses": answer.unresolved_uses if answer.command != "refs" else None,
        "dispatch": [through_object(item) for item in answer.through],
        "left_out": dict(answer.left_out) or ({"places": places} if places else None),
        "truncated": None if answer.max_tokens is None else budget,
        "unsearched": list(answer.unsearched),
        **other_meanings(answer.others),
        "did_you_mean": list(answer.did_you_mean),
    }
    return Parts(head, _results(answer), lambda: tail)


def _results(answer: GraphAnswer) -> list[dict[str, Any]]:
    if answer.command == "refs":
        return [_reference(item) for item in answer.references]
    if answer.command == "tree":
        return [_branch(branch) for branch in answer.branches]
    several = len(answer.targets) > 1
    return [_neighbour(item, several=several) for item in answer.neighbours]


def other_meanings(others: Sequence[OtherMeaning]) -> dict[str, Any]:
    """Further meanings of an ambiguous name: the first few, and their number if there are more."""
    if not others:
        return {}
    found: dict[str, Any] = {"other_meanings": [other._asdict() for other in others[:_OTHERS]]}
    return found | ({"other_meanings_total": len(others)} if len(others) > _OTHERS else {})


def place_object(place: Place) -> dict[str, Any]:
    """A definition, an anonymous function or a file."""
    return fields(place, "id qualified_name kind file line")


def _edge(item: Neighbour | Branch) -> dict[str, Any]:
    return fields(item, "sites step confidence ambiguous?")


def _neighbour(item: Neighbour, *, several: bool) -> dict[str, Any]:
    """A neighbour; if several definitions were asked for, also those that its calls belong to."""
    return {**place_object(item.place), **_edge(item), "targets": list(item.targets) if several else []}


def through_object(item: Through) -> dict[str, Any]:
    """A declared method with implementations."""
    return {**place_object(item.place), **fields(item, "types calls listed")}


def _branch(branch: Branch) -> dict[str, Any]:
    # The root of a tree has no step: no call leads to it.
    return {
        **place_object(branch.place),
        **(_edge(branch) if branch.step else {}),
        **fields(branch, "cycle? repeated? more?"),
        "children": [_branch(child) for child in branch.children],
    }


def _reference(item: Reference) -> dict[str, Any]:
    enclosing = place_object(item.enclosing) if item.enclosing is not None else None
    found = fields(item, "file line column role text language")
    return {**found, "enclosing": enclosing, "stale": item.stale or None}
