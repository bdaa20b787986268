"""Runs the work on a fleet: in this process, or on the workers of a cluster (`dask_workers.py`).

A *job* is a function of a working folder, the number of processes it may use, and its own arguments. Without a cluster
nothing listens on a port, no other program is started, and everything that is written beside the store lies in one
private folder of this command.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lci_py.cluster.fleet import Part
from lci_py.cluster.leaf import Leaf, PartSnapshot
from lci_py.cluster.objects import Cache, Objects
from lci_py.errors import IndexWriteError, LciError
from lci_py.interrupts import at_interrupt
from lci_py.processes import leave_interrupts, ready_pipes, start
from lci_py.source.text.digest import blake2b

#: Bytes of objects that a process keeps, and parts that it has open.
CACHE_BYTES, MOST_OPEN = 20_000_000_000, 512

#: Called with a folder, a number of processes and arguments.
Job = Callable[..., Any]


class Workers(Protocol):
    """The interface of whatever does the work."""

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call a job with each of several argument tuples; yields the index of the arguments and the result, as they
        come.

        Raises:
            LciError: What the job has raised.
            IndexWriteError: A worker has failed.
        """
        ...

    def call(
        self, url: str, readable: frozenset[int] | None, method: str, calls: Sequence[tuple[Part, tuple[Any, ...]]]
    ) -> list[Any]:
        """Call a method of the leaves of several parts at once; returns each result, or the error instead.

        Args:
            readable: The indices of the parts that may be read; None for all.
            method: Of `Leaf`.
            calls: The parts, each with the arguments.
        """
        ...


class Here:
    """This process as the worker. Parts are handled one after the other; the build of each uses several processes."""

    def __init__(self, folder: Path, processes: int = 1, most: int = CACHE_BYTES) -> None:
        """Args:
        folder: A private working folder, which is removed at the end.
        processes: The number that a job may use.
        most: The bound of the object cache in bytes.
        """
        self.folder, self._processes, self._most = folder, processes, most
        self._caches: dict[str, Cache] = {}
        self._open: dict[tuple[Any, ...], Leaf] = {}  # the one that was used last is the last one

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        for place, arguments in enumerate(calls):
            yield place, job(self.folder, self._processes, *arguments)

    def call(
        self, url: str, readable: frozenset[int] | None, method: str, calls: Sequence[tuple[Part, tuple[Any, ...]]]
    ) -> list[Any]:
        found: list[Any] = []
        for part, arguments in calls:
            try:
                found.append(getattr(self._leaf(url, part, readable), method)(*arguments))
            except LciError as error:
                found.append(error)
        return found

    def _leaf(self, url: str, part: Part, readable: frozenset[int] | None) -> Leaf:
        """A part, opened; the most recently used ones stay open."""
        key = url, part.manifest, part.graph, readable
        found = self._open.pop(key, None)
        if found is None:
            if url not in self._caches:
                name = blake2b(url.encode(), digest_size=8).hexdigest()
                self._caches[url] = Cache(Objects(url), self.folder / name, self._most)
            found = Leaf(PartSnapshot(self._caches[url], part, readable))
        self._open[key] = found
        while len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return found

    def close(self) -> None:
        """Close all parts."""
        while self._open:
            self._open.popitem()[1].close()


@contextmanager
def here(processes: int = 1) -> Iterator[Here]:
    """This process as the only worker, with a folder that only this user can read; it is removed in the end, also by
    Ctrl-C.
    """
    with (
        tempfile.TemporaryDirectory(prefix="lci-cluster-", ignore_cleanup_errors=True) as folder,
        at_interrupt(partial(shutil.rmtree, folder, ignore_errors=True)),
    ):
        yield Here(Path(folder), processes)


# --- a job in a process of its own --------------------------------------------------------------------------------


def in_a_process(job: Callable[..., Any], *arguments: Any) -> Any:
    """Call a job in a new process, which ends with this one. Workers of a cluster have threads, so they cannot fork,
    and the parsers may crash.

    Raises:
        LciError: What the job has raised.
        IndexWriteError: It has raised anything else, or the process has ended before it has.
    """
    [child] = start(1, leave_interrupts, forks=False)
    try:
        child.send((job, arguments))
        while (found := child.received()) == []:
            ready_pipes([child], None)
            child.send_more()
    except LciError:
        raise
    except Exception as error:
        how = f"{type(error).__name__}: {error}"
        raise IndexWriteError(f"its process has failed ({how})", hint="run `lci index` on the repository") from error
    finally:
        child.kill()
        child.close()
    if found is None:
        how = f"by signal {child.ended_by()}" if child.ended_by() else "by itself"
        raise IndexWriteError(f"its process has ended {how}", hint="run `lci index` on the repository to see why")
    return found[0]
