"""Waiting for what another process or thread does: as long as it takes, since a busy machine must not fail a test."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
#: Seconds after which something counts as hanging: many times what anything takes on a busy machine.
PATIENCE = 300.0


def until(condition: Callable[[], Found], what: str = "it") -> Found:
    """What the condition returns once that is true.

    Raises:
        AssertionError: It has not become true.
    """
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} has not happened"
        time.sleep(0.02)
    return found
