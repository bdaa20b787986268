"""Finds the order in which a class and its bases are searched for a member."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")


def merge_orders(lists: list[list[T]]) -> Iterator[T]:
    """Merge orders of bases: repeatedly yield the first head of a list that is in no list's tail; failing that, the
    first head of all.

    Source:
        Barrett et al., "A Monotonic Superclass Linearization for Dylan", OOPSLA 1996 (C3, Python's order).
    """
    while True:
        lists = [items for items in lists if items]
        if not lists:
            return
        tails = {item for items in lists for item in items[1:]}
        head = next((items[0] for items in lists if items[0] not in tails), lists[0][0])
        yield head
        lists = [[item for item in items if item != head] for items in lists]
