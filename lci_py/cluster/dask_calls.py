"""A fleet on Dask distributed: the root calls its leaves as tasks, and parts are indexed as tasks.

Rendezvous hashing gives each part the workers on which it is looked for first, so that a worker finds most of what it
is asked in its cache, and a worker that comes or goes moves few parts. A task has no state: when its worker ends, Dask
runs it on another one, which fetches the objects. A task that has not ended in time is given up, and the answer names
its repositories.

Only here dask is imported. Workers run what the scheduler sends them, so whoever can reach it unguarded can run
anything: docs/cluster.md says how to use TLS. What comes from the store is data.
"""

from __future__ import annotations

import tempfile
from _thread import allocate_lock
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.fleet import Fleet, read_fleet, write_fleet
from lci_py.cluster.index_part import indexed
from lci_py.cluster.messages import Head
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.part import Leaves, info_of, linked
from lci_py.cluster.pruned import pruned
from lci_py.cluster.root import Root, starts
from lci_py.errors import IndexError_, LciError, ShardMissingError, UsageError
from lci_py.source.text.digest import blake2b

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lci_py.cluster.fleet import Part
    from lci_py.cluster.root import FleetInfo

#: Bytes of objects that a worker keeps.
CACHE_BYTES = 20_000_000_000
#: Seconds that the root waits for the leaves of one round trip, and for the workers of a new cluster.
TIMEOUT, STARTING = 30.0, 20.0


class Tls(NamedTuple):
    """Files of Dask's TLS, as `distributed.Security` takes them."""

    ca_file: str
    cert: str
    key: str


class Repository(NamedTuple):
    """A repository of a fleet: `commit` is whatever tells its states apart, "" if nothing does."""

    name: str
    source: str
    commit: str = ""


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
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=50
        )
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
            found = _opened[url] = Leaves(Cache(Objects(url), _cache_folder(url), most))
        return found


def _cache_folder(url: str) -> Path:
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
                found.append(_Failed(type(error).__name__, error.message, error.hint, isinstance(error, IndexError_)))
    if method == "head":
        heads = [one for one in found if isinstance(one, Head)]
        fewer = iter(pruned(heads, calls[0][2][0]) if heads else ())
        found = [next(fewer) if isinstance(one, Head) else one for one in found]
    return found


class _Failed(NamedTuple):
    """An error of a leaf: errors of ours take other arguments than pickle gives them."""

    kind: str
    message: str
    hint: str
    of_index: bool

    def error(self) -> LciError:
        return (IndexError_ if self.of_index else UsageError)(self.message, hint=self.hint)


def index_one(url: str, repository: Repository) -> Part | _Failed:
    """A task: index a repository, and put it into the store."""
    try:
        return indexed(url, *repository)
    except LciError as error:
        return _Failed(type(error).__name__, error.message, error.hint, isinstance(error, IndexError_))


def link_all(url: str, most: int, fleet: Fleet) -> Fleet | _Failed:
    """A task: link the call graph of all parts."""
    try:
        with tempfile.TemporaryDirectory(prefix="lci-link-") as work:
            objects = Objects(url)
            return linked(objects, Cache(objects, _cache_folder(url), most), fleet, Path(work))
    except LciError as error:
        return _Failed(type(error).__name__, error.message, error.hint, isinstance(error, IndexError_))


# --- the root's side ----------------------------------------------------------------------------------------------


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

        names = {worker["name"]: address for address, worker in self._workers().items()}
        if not names:
            return {}
        groups: dict[str, list[int]] = defaultdict(list)
        for part in asked:
            groups[preferred(self._fleet.parts[part].manifest.sha, map(str, names))[0]].append(part)
        addresses = {str(name): address for name, address in names.items()}
        tasks = {}
        for worker, parts in groups.items():
            calls = [(self._fleet.parts[part], self._starts[part], asked[part]) for part in parts]
            task = self._client.submit(
                answer_calls, self._url, self._most, method, calls,
                workers=[addresses[worker]], allow_other_workers=True, pure=False, retries=2,
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
                    found[part] = answer.error() if isinstance(answer, _Failed) else answer
            elif task.status != "error":
                late.append(task)
            else:
                why = IndexError_(f"its worker has failed ({task.exception()})", hint="look at the worker's log")
                found |= dict.fromkeys(parts, why)
        if late:
            self._client.cancel(late, force=True)
        return found

    def _workers(self) -> dict[str, Any]:
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
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


def index_fleet(
    client: Any,
    url: str,
    repositories: Sequence[Repository],
    built_at: str,
    program: str,
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
) -> tuple[Fleet, list[str]]:
    """Make a fleet of exactly these repositories. Those of which the store has that commit are not indexed again.

    Args:
        client: Of Dask.
        url: Of the store.
        repositories: With different names.
        built_at: The time.
        program: Its name and version.
        progress: Told of what is done.
    Returns:
        The fleet, and the names of the repositories that were indexed. If nothing has changed, nothing is written.
    Raises:
        IndexError_, UsageError: A repository cannot be indexed, or the store not be written. It is as it was.
    """
    from distributed import as_completed

    objects = Objects(url)
    if len({repository.name for repository in repositories}) != len(repositories) or not repositories:
        raise UsageError("a fleet has repositories with different names", hint="look at the list of repositories")
    try:
        before = read_fleet(objects)
    except ShardMissingError:
        before = Fleet(0, built_at, program, ())
    old = {(part.name, part.source, part.commit): part for part in before.parts} if before.program == program else {}
    kept = [old[key] for one in repositories if one.commit and (key := tuple(one)) in old]
    names = {part.name for part in kept}
    fresh = [one for one in repositories if one.name not in names]
    if not fresh and len(kept) == len(before.parts):
        return before, []
    tasks = {client.submit(index_one, url, one, pure=False, retries=2): one for one in fresh}
    parts = list(kept)
    for done, (_, made) in enumerate(as_completed(list(tasks), with_results=True), 1):
        if isinstance(made, _Failed):
            raise made.error()
        parts.append(made)
        progress("index", done, len(tasks))
    fleet = replace(before, built_at=built_at, program=program).ordered(parts)
    progress("graph", 0, 0)
    found = client.submit(link_all, url, CACHE_BYTES, fleet, pure=False, retries=2).result()
    if isinstance(found, _Failed):
        raise found.error()
    return write_fleet(objects, found, before.generation), sorted(one.name for one in fresh)


__all__ = ["Repository", "Tls", "connect", "connected", "index_fleet", "open_fleet", "preferred"]
