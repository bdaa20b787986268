"""The keys of each command's results, from which `--fields` chooses. docs/json-output.schema.json has the same."""

from __future__ import annotations

_NAMES = ("symbol", "qualified_name", "kind")
_PLACE = ("id", *_NAMES, "repository", "file", "line")
_DEFINED = ("id", "repository", "file", "line", "end_line", *_NAMES, "language", "signature")
_FOUND = (
    "snippet_line", "match_line", "snippet", "mode_source", "mode_score", "stale", "also_in", "also_matched", "graph",
    "via", "routes", "conflict", "definitions", "explain",
)  # fmt: skip
_CALLED = (*_PLACE, "sites", "step", "confidence", "ambiguous", "targets")
FIELDS: dict[str, tuple[str, ...]] = {
    "explore": (
        "id", "repository", "file", "line", "end_line", *_NAMES, "language", "role", "reason", "mode", "edge", "via",
        "worth", "tokens", "whole", "lines", "ambiguous", "stale",
    ),
    "search": (*_DEFINED, *_FOUND),
    "def": (*_DEFINED, "doc", *_FOUND),
    "show": (
        "target", *_DEFINED, "doc", "text_line", "text", "left_out", "left_above", "stale", "callers", "callees",
    ),
    "outline": ("repository", "file", "language", "definitions", "stale"),
    "grep": (
        "repository", "file", "line", "column", "match", "text", "language", "enclosing", "before", "after",
        "more_matches", "stale",
    ),
    "similar": (*_DEFINED, "score", "meaning", "words", "same", "shape", "twin", "stale"),
    "files": ("repository", "file", "language", "line", "uses"),
    "history": ("repository", "commit", "date", "author", "subject", "added", "removed", "file", "patch"),
    "refs": ("repository", "file", "line", "column", "role", "text", "language", "enclosing", "stale"),
    "callers": _CALLED,
    "callees": _CALLED,
    "path": ("calls", "places", "ambiguous"),
    "affected": (*_PLACE, "distance", "reason"),
    "unused": (*_PLACE, "signature", "certainty", "reason", "mention"),
    "conflicts": (
        *_NAMES, "language", "relation", "conflict", "definitions", "missing_on", "same_text", "witness",
    ),
}  # fmt: skip
