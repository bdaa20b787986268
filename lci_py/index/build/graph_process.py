"""Link the call graph of a new index, where possible in a process of its own while this one writes other shards."""

from __future__ import annotations

import contextlib
import sys
import threading
from functools import cached_property
from typing import TYPE_CHECKING

from lci_py.index.build.child_process import leave_interrupts, starting
from lci_py.interrupts import at_interrupt
from lci_py.source.syntax.languages import is_test

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from pathlib import Path

    from lci_py.callgraph.link import Linker
    from lci_py.source.file_record import FileRecord

_FORKS = sys.platform == "linux"
#: With fewer files a process of its own saves no time.
_FEWEST_FILES = 30
_WAITING_S = 0.5


class GraphProcess:
    """Collects the facts of all files and links them.

    Use it as a context manager: a process that it has started does not outlive it.
    """

    def __init__(self, jobs: int) -> None:
        """
        Args:
            jobs: The number of processes that may work at once.
        """
        self._jobs = jobs
        self._files = 0
        self._process: ForkProcess | None = None
        self._result: Connection | None = None
        self._at_interrupt = at_interrupt(self._end)

    def __enter__(self) -> GraphProcess:
        self._at_interrupt.__enter__()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._end()
        self._at_interrupt.__exit__()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()

    @cached_property
    def _linker(self) -> Linker:
        # Imports numpy, which must not be loaded before the workers are forked.
        from lci_py.callgraph.link import Linker

        return Linker()

    def add(self, record: FileRecord) -> None:
        """Take the next file, in the order of paths."""
        self._files += 1
        self._linker.add(record.path, is_test(record.path), record.extract)

    def start(self, path: Path) -> None:
        """Start to link in another process, when all files have been added.

        Args:
            path: The graph's file.
        """
        if not _FORKS or self._jobs < 2 or self._files < _FEWEST_FILES:
            return
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self._result, sender = context.Pipe(duplex=False)
        # fork is safe here: the workers have ended, and no thread of this process holds a lock.
        self._process = context.Process(target=_link_forked, args=(self._linker, path, sender), daemon=True)
        try:
            with starting():
                self._process.start()
        except OSError:  # too many processes: `finish` links in this one
            self._process = None
        sender.close()

    def finish(self, path: Path, waiting: Callable[[], None]) -> dict[str, int]:
        """Write the graph, if no process has; return the number of edges of each kind.

        Args:
            path: The graph's file.
            waiting: Called now and then while the process works.
        """
        if self._process is not None and self._result is not None:
            with contextlib.suppress(EOFError, OSError):
                while not self._result.poll(_WAITING_S):
                    waiting()
                found = self._result.recv()
                self._process.join()
                if isinstance(found, dict):
                    return found
            path.unlink(missing_ok=True)
        # The process failed, perhaps for lack of memory. If that was no accident, the same error comes up here.
        return _link(self._linker, path)


def _link(linker: Linker, path: Path, *, fork: bool = False) -> dict[str, int]:
    from lci_py.index.shards.graph import write_graph

    links = linker.finish(fork=fork)
    write_graph(path, links)
    return links.edges_by_kind()


def _link_forked(linker: Linker, path: Path, sender: Connection) -> None:
    leave_interrupts()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(BaseException):  # the parent links again, and raises the error itself
        sender.send(_link(linker, path, fork=True))


def _end_with_parent() -> None:
    """End this process when its parent is killed: it must not go on writing into the parent's folder."""
    import os
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
