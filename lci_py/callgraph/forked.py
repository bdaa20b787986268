"""Runs one computation in a forked process while the caller goes on. A process that has threads must not use it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.processes import end_with_parent, fork

if TYPE_CHECKING:
    from numpy.typing import NDArray

_END = b"end."


class ForkedComputation:
    """Computes arrays in a forked process; if that process cannot be started or fails, `result` computes them."""

    def __init__(self, compute: Callable[[], Sequence[NDArray[Any]]], *, fork: bool) -> None:
        """Start a process that runs `compute`, or leave the computation to `result` if `fork` is False.

        `compute` returns one-dimensional arrays, and has no side effects.
        """
        self._compute = compute
        self._process = 0
        self._found = -1
        if fork:
            with suppress(OSError):
                self._start()

    def _start(self) -> None:
        # Not a pipe: it holds 64 kB, and a process that waits until somebody reads the rest keeps all its memory.
        handle = os.memfd_create("lci")
        parent = os.getpid()

        def write() -> None:
            end_with_parent(parent)  # nobody waits for the arrays then
            with open(handle, "wb") as file:
                for found in self._compute():
                    data = BytesIO()  # `np.save` would not write through a buffer
                    np.save(data, found, allow_pickle=False)
                    file.write(data.getbuffer())
                file.write(_END)

        try:
            self._process = fork(write)
        except OSError:
            os.close(handle)
            raise
        self._found = handle

    def result(self) -> Sequence[NDArray[Any]]:
        """Wait for the arrays and return them."""
        if self._found >= 0:
            _, status = os.waitpid(self._process, 0)
            with open(self._found, "rb") as file:
                file.seek(0)  # the place in it is that of the other process, too
                data = BytesIO(file.read())
            if status == 0 and data.getvalue().endswith(_END):
                return _arrays(data)
        return self._compute()


def _arrays(data: BytesIO) -> list[NDArray[Any]]:
    found = []
    stop = len(data.getbuffer()) - len(_END)
    while data.tell() < stop:
        found.append(np.load(data, allow_pickle=False))
    return found
