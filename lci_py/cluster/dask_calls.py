"""A search of a fleet on Dask distributed: the root calls its leaves as tasks.

Rendezvous hashing gives each part the workers on which it is looked for first, so that a worker finds most of what it
is asked in its cache, and a worker that comes or goes moves few parts. A task has no state: when its worker ends, Dask
runs it on another one, which fetches the objects. A task that has not ended in time is given up, and the answer names
its repositories.

Only here and in `dask_index` dask is imported. Workers run what the scheduler sends them, so whoever can reach it
unguarded can run anything: docs/cluster.md says how to use TLS. What comes from the store is data.
"""

from __future__ import annotations

import tempfile
from _thread import allocate_lock
from collections import defaultdict
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.messages import Head
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import Leaves, info_of
from lci_py.cluster.pruned import pruned
from lci_py.cluster.root import Root, starts
from lci_py.errors import IndexError_, LciError, UsageError
from lci_py.index.build.child_process import FORKS
from lci_py.source.text.digest import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lci_py.cluster.fleet import Fleet, Part
    from lci_py.cluster.root import FleetInfo
    from lci_py.types.search import Answer, SearchRequest

#: Bytes of objects that a worker keeps.
CACHE_BYTES = 20_000_000_000
#: Seconds that the root waits for the leaves of one round trip, and for the workers of a new cluster.
TIMEOUT, STARTING = 30.0, 20.0
#: Of a cluster for one command. Dask's own values make every process measure itself up to 100 times a second, which
#: takes as much as a thirtieth of a core of each; and every worker import everything anew.
_FOR_ONE_COMMAND = {
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "60s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.multiprocessing-method": "forkserver" if FORKS else "spawn",
    "distributed.worker.profile.enabled": False,
}


class Tls(NamedTuple):
    """Files of Dask's TLS, as `distributed.Security` takes them."""

    ca_file: str
    cert: str
    key: str


def connect(scheduler: str | None, workers: int = 2, tls: Tls | None = None) -> Any:
    """A client of a scheduler, or of a cluster of its own on this machine. Use it as a context manager.

    Raises:
        UsageError: Dask is not installed.
        IndexError_: The scheduler does not answer.
    """
    try:
        from distributed import Client, LocalCluster, Security
    except ImportError:
        raise UsageError("a cluster needs dask", hint="pip install 'lci-py[cluster]'") from None
    security = None
    if tls is not None:
        security = Security(
            tls_ca_file=tls.ca_file, tls_client_cert=tls.cert, tls_client_key=tls.key, require_encryption=True
        )
    try:
        if scheduler is not None:
            return Client(scheduler, security=security, timeout=STARTING)
        import dask.config

        with dask.config.set(_FOR_ONE_COMMAND):
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0",
                host="127.0.0.1", silence_logs=50, scheduler_sync_interval=10,
            )  # fmt: skip
        return Client(cluster, timeout=STARTING)
    except (OSError, TimeoutError, ValueError) as error:
        raise IndexError_(
            f"the scheduler {scheduler or 'of this machine'} does not answer ({error})",
            hint="look whether it runs, and whether it wants TLS",
        ) from None


@contextmanager
def connected(scheduler: str | None, workers: int = 2, tls: Tls | None = None) -> Iterator[Any]:
    """A client, as `connect` gives it, which is closed in the end, with the workers that were started for it."""
    client = connect(scheduler, workers, tls)
    try:
        yield client
    finally:
        client.close()
        if scheduler is None:
            client.cluster.close()


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
_lock = allocate_lock()
#: Held while leaves work: they, and the encoder that they share, are for one thread at a time.
_turn = allocate_lock()


def _leaves(url: str, most: int) -> Leaves:
    """The open parts of this worker."""
    with _lock:
        found = _opened.get(url)
        if found is None:
            found = _opened[url] = Leaves(Cache(Objects(url), cache_folder(url), most))
        return found


def cache_folder(url: str) -> Path:
    """A folder of this worker, which ends with it."""
    name = blake2b(url.encode(), digest_size=8).hexdigest()
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        return Path(get_worker().local_directory, f"lci-{name}")
    return Path(tempfile.mkdtemp(prefix="lci-cluster-"))


def answer_calls(
    url: str, most: int, method: str, calls: Sequence[tuple[Part, dict[str, int], tuple[Any, ...]]]
) -> Any:
    """A task: call a method of some leaves in turn; what each returned, or the error for which it did not.

    Args:
        url: Of the store.
        most: Bytes of the worker's cache.
        method: Of `Leaf`.
        calls: Part, the first numbers of its rows, and the arguments.
    """
    found: list[Any] = []
    with _turn:
        leaves = _leaves(url, most)
        for part, first, args in calls:
            try:
                found.append(getattr(leaves.leaf(part, first), method)(*args))
            except LciError as error:
                found.append(Failed.of(error))
    if method == "head":
        heads = [one for one in found if isinstance(one, Head)]
        fewer = iter(pruned(heads, calls[0][2][0]) if heads else ())
        found = [next(fewer) if isinstance(one, Head) else one for one in found]
    return found


class Failed(NamedTuple):
    """An error of a task: errors of ours take other arguments than pickle gives them."""

    message: str
    hint: str
    of_index: bool

    @classmethod
    def of(cls, error: LciError) -> Failed:
        return cls(error.message, error.hint, isinstance(error, IndexError_))

    def error(self) -> LciError:
        return (IndexError_ if self.of_index else UsageError)(self.message, hint=self.hint)


# --- the root's side ----------------------------------------------------------------------------------------------


def workers_of(client: Any, timeout: float) -> dict[str, str]:
    """Name and address of every worker; if there is none, after waiting for one."""
    # Not `Client.scheduler_info`: what it returns is overwritten every two seconds, without workers.
    found = client.sync(client.scheduler.identity)["workers"]
    if not found:
        with suppress(TimeoutError):
            client.wait_for_workers(1, timeout=timeout)
        found = client.sync(client.scheduler.identity)["workers"]
    return {str(worker["name"]): address for address, worker in found.items()}


class DaskCalls:
    """Calls leaves as tasks: one for each worker and round trip."""

    def __init__(
        self, client: Any, url: str, fleet: Fleet, *, timeout: float = TIMEOUT, most: int = CACHE_BYTES
    ) -> None:
        """
        Args:
            client: Of Dask.
            url: Of the store; workers read it.
            fleet: What is searched.
            timeout: Seconds of one round trip.
            most: Bytes of each worker's cache.
        """
        self._client, self._url, self._fleet, self._timeout, self._most = client, url, fleet, timeout, most
        self._info: FleetInfo = info_of(fleet)
        self._starts = [starts(self._info, part) for part in range(len(fleet.parts))]

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
            calls = [(self._fleet.parts[part], self._starts[part], asked[part]) for part in parts]
            task = self._client.submit(
                answer_calls, self._url, self._most, method, calls,
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


def open_fleet(
    client: Any, url: str, fleet: Fleet, readable: Callable[[str], bool] | None = None, **options: Any
) -> Root:
    """The root of a search.

    Args:
        client: Of Dask.
        url: Of the store.
        fleet: What the store holds.
        readable: Whether a repository may be read; None for all.
        options: `timeout` and `most`, as `DaskCalls` takes them; `limit` and `snippet`, as `Root` does.
    Raises:
        UsageError: None of them may be read.
    """
    own = {name: options.pop(name) for name in ("timeout", "most") if name in options}
    places = None
    if readable is not None:
        places = [place for place, part in enumerate(fleet.parts) if readable(part.name)]
        if not places:
            some = ", ".join(part.name for part in fleet.parts[:5])
            raise UsageError("no repository of the fleet has such a name", hint=f"it has {some}")
    return Root(info_of(fleet), DaskCalls(client, url, fleet, **own), readable=places, **options)


#: Sets of repositories that one process keeps statistics of.
_MOST_ROOTS = 16


class Searches:
    """Searches of one fleet with one client. What a search has counted is kept until another fleet is published."""

    def __init__(self, client: Any, url: str, fleet: Fleet, **options: Any) -> None:
        """
        Args:
            client: Of Dask.
            url: Of the store.
            fleet: What it holds.
            options: As `open_fleet` takes them.
        """
        self._client, self._url, self._fleet, self._options = client, url, fleet, options
        self._fresh = True
        self._roots: dict[tuple[str, ...], Root] = {}

    def search(self, request: SearchRequest, repositories: tuple[str, ...] = ()) -> Answer:
        """Answer a request about the fleet as it is now.

        Args:
            request: What is asked.
            repositories: Globs; the others are not looked at, and count for nothing. Empty for all.
        Raises:
            UsageError: The request cannot be used, or no repository has such a name.
            IndexError_: The fleet cannot be read, or no worker answers.
        """
        fleet = self._fleet if self._fresh else read_fleet(Objects(self._url))
        self._fresh = False
        if fleet != self._fleet or len(self._roots) == _MOST_ROOTS:
            self._fleet, self._roots = fleet, {}
        if repositories not in self._roots:

            def readable(name: str) -> bool:
                return any(fnmatchcase(name, glob) for glob in repositories)

            chosen = readable if repositories else None
            self._roots[repositories] = open_fleet(self._client, self._url, fleet, chosen, **self._options)
        return self._roots[repositories].search(request)


__all__ = ["DaskCalls", "Failed", "Searches", "Tls", "cache_folder", "connect", "connected", "open_fleet", "preferred"]
