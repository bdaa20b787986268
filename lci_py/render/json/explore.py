"""The JSON of `lci explore`. docs/json-output.md describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lci_py.render.json.answer import Parts, fields, index_object, names_of

if TYPE_CHECKING:
    from lci_py.types.explore import ExploreAnswer, Piece


def parts(answer: ExploreAnswer) -> Parts:
    """The answer as JSON."""
    request, left = answer.request, len(answer.left_out)
    head = {
        "command": "explore",
        "query": request.question,
        "revision": request.revision,
        "confidence": None if answer.confidence is None else answer.confidence._asdict(),
        "chains": [
            [{"name": link.name} | ({"ambiguous": True} if link.ambiguous else {}) for link in chain]
            for chain in answer.chains
        ],
    }
    targets = [f"{piece.file}:{piece.line}" for piece in answer.left_out[:3]]
    tail = {
        "total": answer.total,
        "has_more": bool(left),
        "left_out": {"pieces": left, "targets": targets} if left else None,
        "max_tokens": request.max_tokens,
        "index": index_object(answer.info),
        "degraded": [item._asdict() for item in answer.degraded],
    }
    return Parts(head, map(_piece, answer.pieces), lambda: tail, "pieces")


def _piece(piece: Piece) -> dict[str, Any]:
    symbol = piece.qualified_name.rpartition(".")[2]
    return {
        **fields(piece, "id file line end_line"),
        **names_of(symbol, piece.qualified_name),
        **fields(piece, "kind language role"),
        "reason": reason(piece),
        **fields(piece, "mode edge via worth tokens whole lines ambiguous? stale?"),
    }


def reason(piece: Piece) -> str:
    """Why a piece is in the answer, in words."""
    if piece.via:
        link = {"callee": "called by", "caller": "calls", "base": "above", "derived": "below"}
        return f"{link.get(piece.role, piece.role)} {piece.via}"
    said = {"named": "named in the question", "changed": "changed"}
    return said.get(piece.role) or (f"matches by {piece.mode}" if piece.mode else piece.role)
