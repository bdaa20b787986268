"""How an edge of the graph was found, and how sure that is."""

from __future__ import annotations

#: The rules that resolve a call, surest first; an edge's `step` is a place here, with `AMBIGUOUS` added.
STEPS = ("scope", "import", "self", "type", "package", "flow", "name", "override", "callback")
#: The edge is one of several possible.
AMBIGUOUS = 0x80
_CONFIDENCE = (1.0, 0.95, 0.95, 0.9, 0.85, 0.8, 0.6, 0.7, 0.6)


def confidence(step: int) -> float:
    """How likely the edge is right, in (0, 1]."""
    place = step & ~AMBIGUOUS
    sure = _CONFIDENCE[place] if place < len(_CONFIDENCE) else 0.5
    return sure / 2 if step & AMBIGUOUS else sure
