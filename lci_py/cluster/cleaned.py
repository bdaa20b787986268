"""Removing objects that no manifest names: those of former generations, and of runs that were killed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cluster.fleet import read_fleet, read_part_manifest
from lci_py.cluster.part import objects_of

if TYPE_CHECKING:
    from lci_py.cluster.objects import Objects


class Cleaned(NamedTuple):
    """What `clean` has done."""

    removed: int  # objects
    bytes: int  # of them
    kept: int
    young: int  # of them, those that no manifest names


def clean(objects: Objects, grace: float) -> Cleaned:
    """Remove the objects of a store that its fleet does not name.

    Args:
        objects: The store.
        grace: Seconds. What was written since stays: a run stores its objects before it publishes a fleet.
    Raises:
        IndexError_: The fleet, or a part of it, cannot be read; then nothing is removed.
        IndexWriteError: An object cannot be removed.
    """
    before = time.time() - grace
    listed = objects.listed()  # before the fleet is read: what is published meanwhile was written before that
    fleet = read_fleet(objects)
    named: set[str] = set()
    for part in fleet.parts:
        data = read_part_manifest(objects.content(part.manifest), objects, part)
        named.update(one.name for one in objects_of(data, objects, part))
    others = [one for one in listed if one.name not in named]
    old = [one for one in others if one.written <= before]
    objects.remove([one.name for one in old])
    return Cleaned(len(old), sum(one.bytes for one in old), len(listed) - len(old), len(others) - len(old))
