"""Memory of an index build: pauses or slows the garbage collector while millions of long-lived values are created.

The main process of an index build makes hardly any cycles: its values live until a stage is done, and are freed by
reference counts. Worker processes make many cycles: the values of a parsed file refer to each other.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: So many more containers than before start a collection while an index is built. Python's default is 700.
_MANY = 50_000


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the collector, whose runs over millions of values would take as long as all other work.

    Values created during the pause end up in the oldest generation, which the next runs skip.
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


def return_freed() -> None:
    """Return freed memory to the system: the C library of Linux keeps what lies between blocks that are in use."""
    import ctypes  # only a large tree needs it

    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def collect_rarely() -> None:
    """Make the collector run less often from now on."""
    gc.set_threshold(_MANY, *gc.get_threshold()[1:])
