"""Conditions from several places as one that a person can read: joined, without what the other parts say already.

What is known of Rust's targets counts, too: `!windows && target_os = "fuchsia"` becomes `target_os = "fuchsia"`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from lci_py.search.conflicts import logic
from lci_py.source.conditions import text
from lci_py.source.conditions.text import any_of, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LANGUAGE = "rust"  # whose modules have conditions
_MAX_TEXT = 4000  # characters of a condition; a longer one is cut
_MAX_PARTS = 60  # of a condition that is shortened


def all_of(conditions: Iterable[str | None]) -> str | None:
    """The conjunction of conditions: None if there are none, "0" if they contradict each other."""
    return _all_of(tuple(dict.fromkeys(part for one in conditions if one for part in _parts(one))))


def one_of(conditions: Iterable[str]) -> str:
    """The disjunction of conditions: "0" if there are none, "" if it always holds."""
    return _one_of(tuple(dict.fromkeys(one for one in conditions if one != "0")))


@lru_cache(maxsize=4096)
def _all_of(parts: Sequence[str]) -> str | None:
    if len(parts) < 2:
        return join(parts)
    whole = join(parts)
    if logic.never(whole, _LANGUAGE):
        return "0"
    left = list(parts)
    while len(left) > 1 and sum(map(len, left)) > _MAX_TEXT:
        left = [*left[: -2 if left[-1] == "…" else -1], "…"]  # nothing is concluded from what is missing
    # What is denied says less than what is asked for, and a long part less than a short one.
    tried = sorted(left, key=lambda part: (part.startswith("!"), len(part)), reverse=True)
    for part in tried if len(left) <= _MAX_PARTS else ():
        rest = [other for other in left if other != part]
        around = join(rest)
        if logic.implies(around, part, _LANGUAGE):
            left = rest
        elif len(options := _alternatives(part)) > 1:
            possible = [one for one in options if logic.together(around, one, _LANGUAGE) is not False]
            shorter = [_needed(one, around) for one in possible]
            if all(shorter):
                left[left.index(part)] = any_of(shorter) if len(shorter) == 1 else f"({any_of(shorter)})"
    return join(left) if len(left) != 1 else text.bare(left[0])


def _needed(option: str, around: str | None) -> str:
    """An option without the parts of it that hold anyway."""
    parts = _parts(option)
    return join([part for part in parts if len(parts) == 1 or not logic.implies(around, part, _LANGUAGE)]) or ""


@lru_cache(maxsize=4096)
def _one_of(options: Sequence[str]) -> str:
    kept = list(options)
    for option in options:  # one that asks for more than another one adds nothing
        rest = [other for other in kept if other != option]
        if any(logic.implies(option, other, _LANGUAGE) for other in rest):
            kept = rest
    if len(kept) < 2:
        return kept[0] if kept else "0"
    parts = [_parts(one) for one in kept]
    if shared := [part for part in parts[0] if all(part in option for option in parts)]:
        rest_of = one_of([join(part for part in option if part not in shared) or "" for option in parts])
        return join([*shared, f"({rest_of})" if len(_alternatives(rest_of)) > 1 else rest_of]) or ""
    whole = any_of(kept)
    if logic.implies(None, whole, _LANGUAGE):
        return ""
    found: list[str] = []
    for each in parts:
        left = list(each)
        for part in each:  # beside `a`, the option `!a && b` can be `b`
            rest = [other for other in left if other != part]
            if rest and logic.implies(join(rest), whole, _LANGUAGE):
                left = rest
        found += _alternatives(join(left) or "")
    return any_of(list(dict.fromkeys(found)))


@lru_cache(maxsize=4096)
def _parts(condition: str) -> tuple[str, ...]:
    """The conjuncts, with brackets around those that are a disjunction."""
    parts = text.conjuncts(text.bare(condition))
    return tuple(f"({part})" if len(_alternatives(part)) > 1 and not text.enclosed(part) else part for part in parts)


@lru_cache(maxsize=4096)
def _alternatives(condition: str) -> tuple[str, ...]:
    return tuple(text.alternatives(condition))
