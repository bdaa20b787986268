"""Starting the processes of a build: they leave Ctrl-C to their parent, and workers end with it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lci_py.source.syntax.limits import allow_last_resort


@contextmanager
def starting() -> Iterator[None]:
    """Hold Ctrl-C back while child processes start, until each has called `leave_interrupts`."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover - not on this platform, which does not fork either
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_interrupts() -> None:
    """Ignore Ctrl-C in a child process: the parent receives it, too, and ends its children."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def start_worker() -> None:
    """Prepare a worker: it ignores Ctrl-C, prints nothing, may be ended for one bad file, and ends with its parent."""
    leave_interrupts()
    allow_last_resort()
    # A grammar's C code prints to stderr when it aborts; the user must not see that.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    # Not os.getppid(): if the parent has ended already, that is the process which adopted this one.
    from multiprocessing import parent_process

    parent = parent_process()
    followed = parent.pid if parent is not None and parent.pid is not None else os.getppid()
    threading.Thread(target=_follow, args=(followed,), daemon=True).start()


def _follow(parent: int) -> None:
    # Waiting for a pipe to close would not do: the other workers hold copies of its end, so after the parent was killed
    # all of them would wait forever and keep the writer's lock.
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
