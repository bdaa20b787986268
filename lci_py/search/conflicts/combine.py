"""Conditions from several places as one that a person can read: joined, and shortened where one part decides another.

`a && (b || !a)` becomes `a && b`, and `a || (a && b)` becomes `a`. Parts are compared as texts, not as logic.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.source.conditions import text
from lci_py.source.conditions.text import any_of, join

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_TEXT = 4000  # characters of a condition; a longer one loses its innermost parts
_MAX_ROUNDS = 4


def all_of(conditions: Iterable[str | None]) -> str | None:
    """The conjunction of conditions: None if there are none, "0" if they contradict each other."""
    parts = list(dict.fromkeys(part for one in conditions if one for part in _parts(one)))
    for _ in range(_MAX_ROUNDS if len(parts) > 1 else 0):
        shorter = _shortened(parts)
        if shorter == parts:
            break
        parts = shorter
    while len(parts) > 1 and sum(map(len, parts)) > _MAX_TEXT:
        parts.pop()
    return join(parts)


def one_of(conditions: Iterable[str]) -> str:
    """The disjunction of conditions: "0" if there are none, "" if it always holds."""
    options = [dict.fromkeys(_parts(one)) for one in dict.fromkeys(conditions) if one != "0"]
    # An option that asks for more than another one adds nothing.
    kept = [
        mine
        for i, mine in enumerate(options)
        if not any(
            j != i and o.keys() <= mine.keys() and (o.keys() != mine.keys() or j < i) for j, o in enumerate(options)
        )
    ]
    if len(kept) < 2:
        return (join(kept[0]) or "") if kept else "0"
    if shared := [part for part in kept[0] if all(part in option for option in kept)]:
        rest = one_of([join(part for part in option if part not in shared) or "" for option in kept])
        return join([*shared, f"({rest})" if rest else ""]) or ""
    single = {next(iter(option)) for option in kept if len(option) == 1}
    if any(negate(part) in single for part in single):
        return ""
    # Beside `a`, the option `!a && b` can be `b`.
    rest_of = [[part for part in option if len(option) == 1 or negate(part) not in single] for option in kept]
    return any_of([side for option in rest_of for side in _alternatives(join(option) or "")])


def _shortened(parts: list[str]) -> list[str]:
    """The parts, without the alternatives in them that the others rule out; ["0"] if nothing is left."""
    known = {part: place for place, part in reversed(list(enumerate(parts)))}
    for place, part in enumerate(parts):
        if part.startswith("!("):
            for option in _alternatives(part[1:]):
                known.setdefault(negate(option), place)
    found: list[str] = []
    for place, part in enumerate(parts):
        if part == "0" or negate(part) in known:
            return ["0"]
        options = _alternatives(part)
        if len(options) < 2:
            found.append(part)
            continue
        left = []
        for option in options:
            needed = _parts(option)
            if not any(known.get(negate(one), place) != place for one in needed):
                left.append([one for one in needed if known.get(one, place) == place])
        if not left:
            return ["0"]
        if len(left) == 1:
            found += left[0]
        elif all(left):
            found.append(f"({any_of([' && '.join(option) for option in left])})")
    return list(dict.fromkeys(found))


negate = lru_cache(maxsize=4096)(text.negate)


@lru_cache(maxsize=4096)
def _parts(condition: str) -> tuple[str, ...]:
    """The conjuncts, with brackets around those that are a disjunction."""
    parts = text.conjuncts(text.bare(condition))
    return tuple(f"({part})" if len(_alternatives(part)) > 1 and not text.enclosed(part) else part for part in parts)


@lru_cache(maxsize=4096)
def _alternatives(condition: str) -> tuple[str, ...]:
    return tuple(text.alternatives(condition))
