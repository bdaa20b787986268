"""Pauses the garbage collector while millions of values are made, all of which stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the collector: among so many values its runs take as long as all other work.

    What was made meanwhile counts as old afterwards, so that the next run does not go through it.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # all that is frozen becomes part of the oldest generation
        if collects:
            gc.enable()
