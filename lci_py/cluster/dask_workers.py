"""The workers of a cluster of Dask distributed.

Rendezvous hashing gives each part the workers on which it is looked for first, so that a worker finds most of what it
is asked in its cache, and a worker that comes or goes moves few parts. A task has no state: when its worker ends, Dask
runs it on another one, which fetches the objects. A task that has not ended in time is given up, and the answer names
its repositories.

Only here dask is imported. Workers run what the scheduler sends them, so whoever can reach it unguarded can run
anything: docs/cluster.md says how to use TLS. What comes from the store is data.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections import defaultdict
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.leaf import pruned
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import Leaves
from lci_py.cluster.workers import CACHE_BYTES, Failed, in_a_process
from lci_py.errors import IndexError_, IndexWriteError, LciError, UsageError
from lci_py.source.text.digest import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lci_py.cluster.fleet import Fleet, Part
    from lci_py.cluster.root import Calls
    from lci_py.cluster.workers import Job

#: Seconds that the root waits for the leaves of one round trip, and for a scheduler and its workers to answer.
TIMEOUT, STARTING = 30.0, 20.0


class Tls(NamedTuple):
    """Files of Dask's TLS, as `distributed.Security` takes them."""

    ca_file: str
    cert: str
    key: str


@contextmanager
def connected(scheduler: str, tls: Tls | None = None) -> Iterator[DaskWorkers]:
    """The workers of a scheduler.

    Raises:
        UsageError: Dask is not installed.
        IndexError_: The scheduler does not answer.
    """
    try:
        from distributed import Client, Security
    except ImportError:
        raise UsageError("a cluster needs dask", hint="pip install 'lci-py[cluster]'") from None
    security = None
    if tls is not None:
        security = Security(
            tls_ca_file=tls.ca_file, tls_client_cert=tls.cert, tls_client_key=tls.key, require_encryption=True
        )
    try:
        client = Client(scheduler, security=security, timeout=STARTING)
    except (OSError, TimeoutError, ValueError) as error:
        raise IndexError_(
            f"the scheduler {scheduler} does not answer ({error})",
            hint="look whether it runs, and whether it wants TLS",
        ) from None
    with client:
        yield DaskWorkers(client)


def preferred(part: str, workers: Iterable[str]) -> list[str]:
    """The workers on which a part is looked for, the first choice first (highest random weight).

    Args:
        part: The digest of the part.
        workers: Names of workers.
    Source:
        Thaler and Ravishankar, IEEE/ACM Transactions on Networking 6(1), 1998.
    """
    return sorted(workers, key=lambda worker: (blake2b(f"{part}\0{worker}".encode(), digest_size=8).digest(), worker))


# --- in a worker --------------------------------------------------------------------------------------------------

_opened: dict[str, Leaves] = {}
#: Held while leaves work: they, and the encoder that they share, are for one thread at a time.
_turn = allocate_lock()


def _folder() -> Path:
    """A folder of this worker, which ends with it, and which only its user can read."""
    from distributed import get_worker

    folder = Path(get_worker().local_directory, "lci")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def run_job(job: Job, arguments: tuple[Any, ...]) -> Any:
    """A task: a job in a process beside the worker; or the error for which it did not end."""
    try:
        return in_a_process(job, _folder(), 1, *arguments)
    except LciError as error:
        return Failed.of(error)


def answer_calls(
    url: str, most: int, method: str, readable: frozenset[int] | None, calls: Sequence[tuple[Part, tuple[Any, ...]]]
) -> Any:
    """A task: call a method of some leaves in turn; what each returned, or the error for which it did not.

    Args:
        url: Of the store.
        most: Bytes of the worker's cache.
        method: Of `Leaf`.
        readable: The parts that may be read; None for all.
        calls: Part, and the arguments.
    """
    found: list[Any] = []
    with _turn:
        if url not in _opened:
            name = blake2b(url.encode(), digest_size=8).hexdigest()
            _opened[url] = Leaves(Cache(Objects(url), _folder() / name, most))
        for part, args in calls:
            try:
                found.append(getattr(_opened[url].leaf(part, readable), method)(*args))
            except LciError as error:
                found.append(Failed.of(error))
    return pruned(found)


# --- the root's side ----------------------------------------------------------------------------------------------


class DaskWorkers:
    """The workers that a scheduler has."""

    def __init__(self, client: Any) -> None:
        self.client = client

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
            if isinstance(returned, Failed):
                raise returned.error()
            task.release()  # else it is made again if its worker ends later
            yield tasks[task], returned

    def leaves(self, url: str, fleet: Fleet, readable: frozenset[int] | None, timeout: float | None) -> Calls:
        return _DaskLeaves(self.client, url, fleet, readable, TIMEOUT if timeout is None else timeout)


def workers_of(client: Any, timeout: float) -> dict[str, str]:
    """Name and address of every worker; if there is none, after waiting for one."""
    # Not `Client.scheduler_info`: what it returns is overwritten every two seconds, without workers.
    found = client.sync(client.scheduler.identity)["workers"]
    if not found:
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=timeout)
        found = client.sync(client.scheduler.identity)["workers"]
    return {str(worker["name"]): address for address, worker in found.items()}


class _DaskLeaves:
    """Calls leaves as tasks: one for each worker and round trip."""

    def __init__(self, client: Any, url: str, fleet: Fleet, readable: frozenset[int] | None, timeout: float) -> None:
        self._client, self._url, self._fleet, self._timeout = client, url, fleet, timeout
        self._readable = readable

    def call(self, method: str, asked: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        from distributed import wait

        names = workers_of(self._client, self._timeout)
        if not names:
            return {}
        groups: dict[str, list[int]] = defaultdict(list)
        for part in asked:
            groups[preferred(self._fleet.parts[part].manifest.sha, names)[0]].append(part)
        tasks = {}
        for worker, parts in groups.items():
            calls = [(self._fleet.parts[part], asked[part]) for part in parts]
            task = self._client.submit(
                answer_calls, self._url, CACHE_BYTES, method, self._readable, calls,
                workers=[names[worker]], allow_other_workers=True, pure=False, retries=2,
            )  # fmt: skip
            tasks[task] = parts
        with suppress(TimeoutError):
            wait(list(tasks), timeout=self._timeout)
        found: dict[int, Any] = {}
        late = []
        for task, parts in tasks.items():
            if task.status == "finished":
                answers = task.result()
                for part, answer in zip(parts, answers, strict=True):
                    found[part] = answer.error() if isinstance(answer, Failed) else answer
            elif task.status != "error":
                late.append(task)
            else:
                why = IndexError_(f"its worker has failed ({task.exception()})", hint="look at the worker's log")
                found |= dict.fromkeys(parts, why)
        if late:
            self._client.cancel(late, force=True)
        return found


__all__ = ["DaskWorkers", "Tls", "connected", "preferred", "workers_of"]
