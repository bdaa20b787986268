"""Does the work on a fleet: in this process, or on the workers of a cluster of Dask distributed.

A *job* is a function of a working folder, the number of processes that it may use, and its own arguments. Without a
cluster, no port is opened, no other program is started, and all files but the store's are in a private folder.

Rendezvous hashing assigns each part its preferred workers, so that a worker finds most of what it needs in its cache,
and a worker that joins or leaves moves few parts. A task has no state: when its worker ends, Dask runs it on another
worker, which fetches the objects. A task that has not ended in time is given up, and the answer names its repositories.

Only this module imports dask, in functions. Workers run what the scheduler sends them, so whoever can reach an
unprotected scheduler can run anything: docs/cluster.md says how to use TLS. The store is only read as data.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from _thread import allocate_lock
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from lci_py.cluster.fleet import Part
from lci_py.cluster.leaf import Leaf, PartSnapshot
from lci_py.cluster.objects import Cache, Objects
from lci_py.errors import IndexError_, IndexWriteError, LciError, UsageError
from lci_py.index.store.commit import remove
from lci_py.index.store.manifest import hold
from lci_py.interrupts import at_interrupt
from lci_py.processes import FORKS, Lost, closing_children, leave_interrupts, results, start
from lci_py.source.text import blake2b

#: Bytes of objects that a process keeps, and parts that it has open.
CACHE_BYTES, MAX_OPEN = 20_000_000_000, 512

#: What the names of working folders begin with, and seconds in which a new one is held for sure.
_PREFIX, _TO_BE_HELD = "lci-cluster-", 60

#: Called with a folder, a number of processes and arguments.
Job = Callable[..., Any]


class Here:
    """This machine as the worker. Several jobs at once run in child processes, a single job in this process."""

    def __init__(self, folder: Path, processes: int = 1, cache_bytes: int = CACHE_BYTES) -> None:
        """`folder`: private, removed at the end; `processes`: for all jobs together; `cache_bytes`: of object cache."""
        self.folder, self._processes, self._cache_bytes = folder, processes, cache_bytes
        self._caches: dict[str, Cache] = {}
        self._open: dict[tuple[Any, ...], Leaf] = {}  # the one that was used last is the last one

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call a job with each tuple of arguments in `calls`; yields (index of the tuple, result) when a call ends.

        Raises:
            LciError: The error that the job raised.
            IndexWriteError: A worker of a cluster has failed.
        """
        n_jobs = min(self._processes, len(calls))
        if n_jobs > 1 and FORKS:
            share = self._processes // n_jobs
            yield from _in_processes(n_jobs, job, [(self.folder, share, *arguments) for arguments in calls])
            return
        for index, arguments in enumerate(calls):
            yield index, job(self.folder, self._processes, *arguments)

    def call(
        self, url: str, readable: frozenset[int] | None, method: str, calls: Sequence[tuple[Part, tuple[Any, ...]]]
    ) -> list[Any]:
        """Call a method of the leaves of several parts; returns, for each part, the result or the error.

        Args:
            url: The store.
            readable: The indices of the parts that may be read; None for all.
            method: The name of a method of `Leaf`.
            calls: Each part, with the arguments for its leaf.
        """
        answers: list[Any] = []
        for part, arguments in calls:
            try:
                answers.append(getattr(self._leaf(url, part, readable), method)(*arguments))
            except LciError as error:
                answers.append(error)
        return answers

    def _leaf(self, url: str, part: Part, readable: frozenset[int] | None) -> Leaf:
        """Open the leaf of a part; the most recently used leaves stay open."""
        key = url, part.manifest, part.graph, readable
        leaf = self._open.pop(key, None)
        if leaf is None:
            if url not in self._caches:
                name = blake2b(url.encode(), digest_size=8).hexdigest()
                self._caches[url] = Cache(Objects(url), self.folder / name, self._cache_bytes)
            leaf = Leaf(PartSnapshot(self._caches[url], part, readable))
        self._open[key] = leaf
        while len(self._open) > MAX_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return leaf

    def close(self) -> None:
        """Close all open leaves."""
        while self._open:
            self._open.popitem()[1].close()


@contextmanager
def here(processes: int = 1) -> Iterator[Here]:
    """A context manager: this process as the only worker. Its folder, which only this user can read, is removed at the
    end, also on Ctrl-C; if this run is killed, the next run removes it.
    """
    for debris in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another run holds it, or removes it
            info = debris.lstat()
            old = info.st_uid == os.getuid() and info.st_mtime < time.time() - _TO_BE_HELD
            if old and (handle := hold(debris, exclusive=True)) is not None:
                remove(debris)
                os.close(handle)
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as folder,
        at_interrupt(partial(shutil.rmtree, folder, ignore_errors=True)),
    ):
        lock = hold(Path(folder), exclusive=False)
        try:
            yield Here(Path(folder), processes)
        finally:
            if lock is not None:
                os.close(lock)


# --- jobs in processes of their own -------------------------------------------------------------------------------


def in_a_process(job: Callable[..., Any], *arguments: Any) -> Any:
    """Call a job in a new process, which ends together with this one. It is no fork, because a worker of a cluster has
    threads; it is a process, because the parsers may crash.

    Raises:
        LciError: The error that the job raised.
        IndexWriteError: The job raised another exception, or its process ended.
    """
    [(_, result)] = _in_processes(1, job, [arguments], forks=False)
    return result


def _in_processes(
    n_processes: int, job: Callable[..., Any], calls: Sequence[tuple[Any, ...]], *, forks: bool = True
) -> Iterator[tuple[int, Any]]:
    """Like `Here.each`, but runs the calls in child processes, which end together with this process.

    Raises:
        LciError: The error that a job raised.
        IndexWriteError: A job raised another exception, or its process ended.
    """
    hint = "run `lci index` on the repository to see why"
    try:
        with closing_children(start(n_processes, leave_interrupts, forks=forks)) as children:
            for (index, _), result in results(children, deque(enumerate(calls)), lambda call: (job, *call[1])):
                if isinstance(result, Lost):
                    how = f"by signal {result.signal}" if result.signal else "by itself"
                    raise IndexWriteError(f"its worker process ended {how}", hint=hint)
                yield index, result
    except LciError:
        raise
    except Exception as error:
        raise IndexWriteError(f"its worker process failed ({type(error).__name__}: {error})", hint=hint) from error


# --- a cluster of Dask ----------------------------------------------------------------------------------------------

#: Seconds that the root waits for the leaves of one round trip, and for a scheduler and its workers to answer.
TIMEOUT, STARTING = 30.0, 20.0


@contextmanager
def connect(
    scheduler: str, tls: tuple[str, str, str] | None = None, timeout: float | None = None
) -> Iterator[DaskWorkers]:
    """A context manager: the workers of a scheduler.

    Args:
        scheduler: The scheduler's address.
        tls: The files for TLS: CA, certificate and key.
        timeout: Seconds to wait for the workers in each step of a search.
    Raises:
        UsageError: Dask is not installed.
        IndexError_: The scheduler does not answer.
    """
    try:
        from distributed import Client, Security
    except ImportError:
        raise UsageError("a cluster needs dask", hint="pip install 'lci-py[cluster]'") from None
    files = dict(zip(("tls_ca_file", "tls_client_cert", "tls_client_key"), tls or (), strict=False))
    security = Security(**files, require_encryption=True) if tls else None
    try:
        client = Client(scheduler, security=security, timeout=STARTING)
    except (OSError, TimeoutError, ValueError) as error:
        raise IndexError_(
            f"the scheduler {scheduler} does not answer ({error})",
            hint="check that it runs, and whether it requires TLS",
        ) from None
    with client:
        yield DaskWorkers(client, TIMEOUT if timeout is None else timeout)


def preferred_workers(part: str, workers: Iterable[str]) -> list[str]:
    """All workers in the order of preference for a part, which is named by its digest (highest random weight).

    Source:
        Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998.
    """
    return sorted(workers, key=lambda worker: (blake2b(f"{part}\0{worker}".encode(), digest_size=8).digest(), worker))


# --- in a worker --------------------------------------------------------------------------------------------------

#: Held while leaves work: they, and the encoder that they share, are for one thread at a time.
_turn = allocate_lock()


@lru_cache(maxsize=1)
def _open_parts() -> Here:
    """The object that keeps parts open in this Dask worker; its private folder is removed together with the worker."""
    from distributed import get_worker

    folder = Path(get_worker().local_directory, "lci")
    folder.mkdir(mode=0o700, exist_ok=True)
    return Here(folder)


def run_job(job: Job, arguments: tuple[Any, ...]) -> Any:
    """A Dask task: runs a job in a process beside the worker; returns its result, or the error that ended it."""
    try:
        return in_a_process(job, _open_parts().folder, 1, *arguments)
    except LciError as error:
        return error  # a task that raises is made again


def answer_calls(*arguments: Any) -> list[Any]:
    """A Dask task: calls `Here.call` with these arguments."""
    with _turn:
        return _open_parts().call(*arguments)


# --- the root's side ----------------------------------------------------------------------------------------------


class DaskWorkers:
    """Does the work on the Dask workers of a scheduler."""

    def __init__(self, client: Any, timeout: float = TIMEOUT) -> None:
        self.client, self._timeout = client, timeout

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Like `Here.each`, but each call is a Dask task."""
        from distributed import as_completed

        tasks = {
            self.client.submit(run_job, job, arguments, pure=False, retries=2, priority=-index): index
            for index, arguments in enumerate(calls)
        }
        for task in as_completed(list(tasks)):
            try:
                returned = task.result()
            except Exception as error:
                raise IndexWriteError(
                    f"a worker has failed ({type(error).__name__}: {error})", hint="see the logs of the workers"
                ) from error
            if isinstance(returned, LciError):
                raise returned
            task.release()  # else it is made again if its worker ends later
            yield tasks[task], returned

    def call(
        self, url: str, readable: frozenset[int] | None, method: str, calls: Sequence[tuple[Part, tuple[Any, ...]]]
    ) -> list[Any]:
        """Like `Here.call`, with one Dask task for each worker."""
        from distributed import wait

        answers: list[Any] = [
            IndexError_("no worker has answered in time", hint="check that the workers run") for _ in calls
        ]
        names = workers_of(self.client, self._timeout)
        groups: dict[str, list[int]] = defaultdict(list)
        for index, (part, _) in enumerate(calls if names else ()):
            groups[preferred_workers(part.manifest.sha, names)[0]].append(index)
        tasks = {
            self.client.submit(
                answer_calls, url, readable, method, [calls[index] for index in places],
                workers=[names[worker]], allow_other_workers=True, pure=False, retries=2,
            ): places
            for worker, places in groups.items()
        }  # fmt: skip
        with suppress(TimeoutError):
            wait(list(tasks), timeout=self._timeout)
        for task, places in tasks.items():
            if task.status == "finished":
                for index, answer in zip(places, task.result(), strict=True):
                    answers[index] = answer
            elif task.status == "error":
                why = IndexError_(f"its worker has failed ({task.exception()})", hint="see the worker's log")
                for index in places:
                    answers[index] = why
        if late := [task for task in tasks if task.status not in ("finished", "error")]:
            self.client.cancel(late, force=True)
        return answers


#: Whatever does the work.
Workers = Here | DaskWorkers


def workers_of(client: Any, timeout: float) -> dict[str, str]:
    """Maps the name of each worker to its address; waits until there is at least one worker."""
    # Not `Client.scheduler_info`: what it returns is overwritten every two seconds, without workers.
    workers = client.sync(client.scheduler.identity)["workers"]
    if not workers:
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=timeout)
        workers = client.sync(client.scheduler.identity)["workers"]
    return {str(worker["name"]): address for address, worker in workers.items()}
