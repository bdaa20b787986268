"""The use cases of a fleet: many repositories, each indexed separately, and all searched as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lci_py.cluster.root import Root as Root
    from lci_py.cluster.workers import Workers


def workers(
    scheduler: str | None,
    tls: tuple[str, str, str] | None = None,
    *,
    processes: int = 1,
    timeout: float | None = None,
) -> AbstractContextManager[Workers]:
    """The workers for a fleet.

    Args:
        scheduler: The address of a Dask scheduler; None for this process.
        tls: Files of Dask's TLS: CA, certificate and key.
        processes: The number of processes to use here.
        timeout: Seconds to wait for the workers of a scheduler in each step of a search.
    Raises:
        UsageError: dask is not installed.
        IndexError_: The scheduler does not answer.
    """
    if scheduler is None:
        from lci_py.cluster.workers import here

        return here(processes)
    from lci_py.cluster.workers import connect

    return connect(scheduler, tls, timeout)


def index(
    store: str,
    repositories: Sequence[tuple[str, str]],
    connection: AbstractContextManager[Workers],
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Build a fleet of exactly these repositories, or refresh it; returns a JSON object.

    Args:
        store: The URL of the fleet's store.
        repositories: (name, source) of each repository.
        connection: The workers.
        progress: As for `build_index`.
    Raises:
        UsageError: A repository or the store cannot be used.
        IndexError_: The fleet cannot be read or written.
    """
    from datetime import datetime, timezone

    from lci_py import __version__
    from lci_py.cluster.indexing import PartSource, index_fleet
    from lci_py.index.store.manifest import BUILT_AT, FORMAT

    began = time.perf_counter()
    now, program = datetime.now(timezone.utc).strftime(BUILT_AT), f"lci-py {__version__}, index format {FORMAT}"
    with connection as workers:
        result = index_fleet(
            workers, store, [PartSource(*entry) for entry in repositories], now, program, progress or (lambda *_: None)
        )
    parts = result.fleet.parts
    return {
        "store": store,
        "generation": result.fleet.generation,
        "changed": result.published,
        "repositories": sorted({part.name for part in parts}),
        "indexed": result.fresh,
        "warnings": result.warnings,
        **{kind: sum(part.counts[kind] for part in parts) for kind in ("files", "symbols", "chunks")},
        "seconds": time.perf_counter() - began,
    }


def clean(store: str, hours: float) -> dict[str, Any]:
    """Remove the objects that the fleet of a store does not name; returns a JSON object.

    Args:
        hours: Objects written within so many hours stay: a run that has not published its fleet yet may need them.
    Raises:
        UsageError: The store cannot be used.
        IndexError_: The fleet cannot be read, or an object cannot be removed.
    """
    from lci_py.cluster.fleet import clean as remove_unnamed
    from lci_py.cluster.objects import Objects

    return {"store": store, **remove_unnamed(Objects(store), hours * 3600)._asdict()}


@contextmanager
def connect(store: str, connection: AbstractContextManager[Workers], snippet: int = 2) -> Iterator[Root]:
    """A connection for searches of a fleet; each search uses the newest fleet in the store.

    Args:
        connection: The workers.
        snippet: Default number of code lines per result.
    Raises:
        UsageError: The store cannot be used.
        IndexError_: The fleet cannot be read, or no worker answers.
    """
    from lci_py.cluster.fleet import read_fleet
    from lci_py.cluster.objects import Objects
    from lci_py.cluster.root import Root as Root

    objects = Objects(store)
    fleets = [read_fleet(objects)]  # before anybody connects for it
    with connection as workers:
        yield Root(workers, store, lambda: fleets.pop() if fleets else read_fleet(objects), snippet)
