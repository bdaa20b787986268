"""Paths like one that nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Paths that are named.
MOST = 3
#: How much of two file names must agree, in the measure of `difflib`: missing.py is not nearly session.py.
_NEAR = 0.75


def similar_paths(name: str, known: Sequence[str]) -> list[str]:
    """Paths like a wrong one, the most similar first: of the same file name, else of a similar one.

    Args:
        name: A path, from wherever.
        known: The paths that there are.
    """
    from difflib import SequenceMatcher, get_close_matches

    names: dict[str, list[str]] = {}
    for path in known:
        names.setdefault(path.rpartition("/")[2], []).append(path)
    last = name.rstrip("/").rpartition("/")[2]
    close = [last] if last in names else get_close_matches(last, names, MOST, _NEAR)
    paths = [path for found in close for path in names[found]]
    matcher = SequenceMatcher(None, "", name, autojunk=False)
    scored = []
    for path in paths[:1000]:
        matcher.set_seq1(path)
        scored.append((-matcher.ratio(), path))
    return [path for _, path in sorted(scored)[:MOST]]
