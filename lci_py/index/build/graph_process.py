"""The full link of a generation: where that is possible in a process of its own, beside the last shards' writing."""

from __future__ import annotations

import contextlib
import sys
import threading
from functools import cached_property
from typing import TYPE_CHECKING

from lci_py.index.build.child_process import leave_interrupts, starting
from lci_py.source.syntax.languages import is_test

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from pathlib import Path

    from lci_py.callgraph.link import Linker
    from lci_py.source.file_record import FileRecord

_FORKS = sys.platform == "linux"
#: Below so many files a process of its own saves nothing.
_FEWEST_FILES = 30


class Linking:
    """Collects the facts of all files and links them.

    Its modules need numpy, which is for after the workers are forked. Use it as a context manager: a process that it
    has started does not outlive it.
    """

    def __init__(self, jobs: int) -> None:
        """
        Args:
            jobs: How many processes may work at once.
        """
        self._jobs = jobs
        self._files = 0
        self._process: ForkProcess | None = None
        self._result: Connection | None = None

    def __enter__(self) -> Linking:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()

    @cached_property
    def _linker(self) -> Linker:
        from lci_py.callgraph.link import Linker

        return Linker()

    def add(self, record: FileRecord) -> None:
        """Take the next file, by path."""
        self._files += 1
        self._linker.add(record.path, is_test(record.path), record.extract)

    def start(self, path: Path) -> None:
        """Begin to link, now that all files are there, and go on with something else meanwhile.

        Args:
            path: Where the graph goes.
        """
        if not _FORKS or self._jobs < 2 or self._files < _FEWEST_FILES:
            return
        import multiprocessing

        context = multiprocessing.get_context("fork")
        self._result, sender = context.Pipe(duplex=False)
        # fork is safe here: the workers are gone, and this process has nothing that another thread could hold.
        self._process = context.Process(target=_link_beside, args=(self._linker, path, sender), daemon=True)
        try:
            with starting():
                self._process.start()
        except OSError:  # no process is to be had: it is done here, later
            self._process = None
        sender.close()

    def finish(self, path: Path) -> dict[str, int]:
        """Write the graph; how many edges there are of each kind."""
        if self._process is not None and self._result is not None:
            with contextlib.suppress(EOFError, OSError):
                found = self._result.recv()
                self._process.join()
                if isinstance(found, dict):
                    return found
            path.unlink(missing_ok=True)
        # Whatever ended the process, be it a lack of memory, shows here again, or it does not matter.
        return _link(self._linker, path)


def _link(linker: Linker, path: Path, *, fork: bool = False) -> dict[str, int]:
    from lci_py.index.shards.graph import write_graph

    links = linker.finish(fork=fork)
    write_graph(path, links)
    return links.edges_by_kind()


def _link_beside(linker: Linker, path: Path, sender: Connection) -> None:
    leave_interrupts()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(BaseException):  # the parent does it again, and is told what is wrong
        sender.send(_link(linker, path, fork=True))


def _end_with_parent() -> None:
    """A process whose parent was killed must not go on writing into its folder."""
    import os
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
