"""The JSON of `lci path`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object, round_floats
from lci_py.render.json.graph import other_meanings, place_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.types.chains import Frontier, Hop, PathAnswer


def parts(answer: PathAnswer) -> Parts:
    """The answer as JSON."""
    head = {
        "command": "path",
        "from": answer.request.source,
        "to": answer.request.target,
        "sources": [place_object(place) for place in answer.sources],
        "targets": [place_object(place) for place in answer.targets],
        "depth": answer.request.depth,
    }
    tail = {
        "total": answer.total,
        "has_more": answer.total > answer.offset + len(answer.chains),
        "index": index_object(answer.info),
        **other_meanings(answer.others),
        "frontier": None if answer.frontier is None else _frontier(answer.frontier),
    }
    return Parts(head, map(_chain, answer.chains), lambda: tail)


def _chain(chain: Sequence[Hop]) -> dict[str, Any]:
    ambiguous = any(hop.ambiguous for hop in chain)
    return {"calls": len(chain) - 1, "places": [_hop(hop) for hop in chain], "ambiguous": ambiguous or None}


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        **(place_object(hop.place) if hop.place is not None else {"external": hop.name}),
        **fields(hop, "sites text step"),
        "confidence": round_floats(hop.confidence) if hop.step else None,
        **fields(hop, "ambiguous? passed_elsewhere?"),
    }


def _frontier(frontier: Frontier) -> dict[str, Any]:
    return {
        **fields(frontier, "reached depth ended"),
        "places": [{**place_object(lost.place), "call": lost.name, "call_line": lost.line} for lost in frontier.places],
    }
