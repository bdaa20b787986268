"""Comparing conditions by their text, until they are compared as formulas."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from lci_py.source.conditions import conjuncts, negate


@dataclass(frozen=True, slots=True)
class Machine:
    """What decides which conditions hold."""

    platform: str
    arch: str
    version: tuple[int, ...]

    @staticmethod
    def here() -> Machine:
        """This machine."""
        return Machine(sys.platform, "", sys.version_info[:2])


def together(one: str | None, other: str | None, language: str) -> bool | None:
    """Whether two conditions can hold at once; None if their text does not tell."""
    if one is None or other is None:
        return True
    mine, theirs = set(conjuncts(one)), set(conjuncts(other))
    for these, those in ((mine, theirs), (theirs, mine)):
        if any(part.startswith("!") and these.issuperset(conjuncts(negate(part))) for part in those):
            return False
        if any(part.startswith("not (") and part[5:-1] in these for part in those):
            return False
    return None if language == "go" else True


def never(tag: str | None, language: str) -> bool:
    """Whether a condition never holds."""
    return tag is not None and not {"0", "False", "false", "ignore"}.isdisjoint(conjuncts(tag))


def implies(one: str | None, other: str | None, language: str) -> bool:
    """Whether the second holds wherever the first does."""
    return other is None or (one is not None and set(conjuncts(other)) <= set(conjuncts(one)))


def holds(tag: str | None, language: str, machine: Machine) -> bool | None:
    """Whether a condition holds on a machine; None if that cannot be told."""
    return True if tag is None else None
