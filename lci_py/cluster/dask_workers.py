"""The workers of a cluster of Dask distributed.

Rendezvous hashing assigns each part its preferred workers, so that a worker finds most of what it needs in its cache,
and a worker that joins or leaves moves few parts. A task has no state: when its worker ends, Dask runs it on another
one, which fetches the objects. A task that has not ended in time is given up, and the answer names its repositories.

Only this module imports dask. Workers run what the scheduler sends them, so whoever can reach it unguarded can run
anything: docs/cluster.md says how to use TLS. What comes from the store is data.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections import defaultdict
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.cluster.workers import Here, in_a_process
from lci_py.errors import IndexError_, IndexWriteError, LciError, UsageError
from lci_py.source.text.digest import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lci_py.cluster.fleet import Part
    from lci_py.cluster.workers import Job

#: Seconds that the root waits for the leaves of one round trip, and for a scheduler and its workers to answer.
TIMEOUT, STARTING = 30.0, 20.0


@contextmanager
def connect(
    scheduler: str, tls: tuple[str, str, str] | None = None, timeout: float | None = None
) -> Iterator[DaskWorkers]:
    """The workers of a scheduler.

    Args:
        scheduler: Its address.
        tls: Files for it: CA, certificate and key.
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
            hint="look whether it runs, and whether it wants TLS",
        ) from None
    with client:
        yield DaskWorkers(client, TIMEOUT if timeout is None else timeout)


def preferred_workers(part: str, workers: Iterable[str]) -> list[str]:
    """The workers for a part (given by its digest), the first choice first (highest random weight).

    Source:
        Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998.
    """
    return sorted(workers, key=lambda worker: (blake2b(f"{part}\0{worker}".encode(), digest_size=8).digest(), worker))


# --- in a worker --------------------------------------------------------------------------------------------------

#: Held while leaves work: they, and the encoder that they share, are for one thread at a time.
_turn = allocate_lock()


@lru_cache(maxsize=1)
def _open_parts() -> Here:
    """The parts that this worker has open, in a private folder that is removed with it."""
    from distributed import get_worker

    folder = Path(get_worker().local_directory, "lci")
    folder.mkdir(mode=0o700, exist_ok=True)
    return Here(folder)


def run_job(job: Job, arguments: tuple[Any, ...]) -> Any:
    """A task: runs a job in a process beside the worker; returns its result, or the error that ended it."""
    try:
        return in_a_process(job, _open_parts().folder, 1, *arguments)
    except LciError as error:
        return error  # a task that raises is made again


def answer_calls(*asked: Any) -> list[Any]:
    """A task: `Here.call`."""
    with _turn:
        return _open_parts().call(*asked)


# --- the root's side ----------------------------------------------------------------------------------------------


class DaskWorkers:
    """The workers that a scheduler has."""

    def __init__(self, client: Any, timeout: float = TIMEOUT) -> None:
        self.client, self._timeout = client, timeout

    def each(self, job: Job, calls: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        from distributed import as_completed

        tasks = {
            self.client.submit(run_job, job, arguments, pure=False, retries=2, priority=-place): place
            for place, arguments in enumerate(calls)
        }
        for task in as_completed(list(tasks)):
            try:
                returned = task.result()
            except Exception as error:
                raise IndexWriteError(
                    f"a worker has failed ({type(error).__name__}: {error})", hint="look at the logs of the workers"
                ) from error
            if isinstance(returned, LciError):
                raise returned
            task.release()  # else it is made again if its worker ends later
            yield tasks[task], returned

    def call(
        self, url: str, readable: frozenset[int] | None, method: str, calls: Sequence[tuple[Part, tuple[Any, ...]]]
    ) -> list[Any]:
        """As in `Workers`, with one task for each worker."""
        from distributed import wait

        found: list[Any] = [
            IndexError_("no worker has answered in time", hint="look whether the workers run") for _ in calls
        ]
        names = workers_of(self.client, self._timeout)
        groups: dict[str, list[int]] = defaultdict(list)
        for place, (part, _) in enumerate(calls if names else ()):
            groups[preferred_workers(part.manifest.sha, names)[0]].append(place)
        tasks = {
            self.client.submit(
                answer_calls, url, readable, method, [calls[place] for place in places],
                workers=[names[worker]], allow_other_workers=True, pure=False, retries=2,
            ): places
            for worker, places in groups.items()
        }  # fmt: skip
        with suppress(TimeoutError):
            wait(list(tasks), timeout=self._timeout)
        for task, places in tasks.items():
            if task.status == "finished":
                for place, answer in zip(places, task.result(), strict=True):
                    found[place] = answer
            elif task.status == "error":
                why = IndexError_(f"its worker has failed ({task.exception()})", hint="look at the worker's log")
                for place in places:
                    found[place] = why
        if late := [task for task in tasks if task.status not in ("finished", "error")]:
            self.client.cancel(late, force=True)
        return found


def workers_of(client: Any, timeout: float) -> dict[str, str]:
    """Name and address of every worker; waits if there is none."""
    # Not `Client.scheduler_info`: what it returns is overwritten every two seconds, without workers.
    found = client.sync(client.scheduler.identity)["workers"]
    if not found:
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=timeout)
        found = client.sync(client.scheduler.identity)["workers"]
    return {str(worker["name"]): address for address, worker in found.items()}
