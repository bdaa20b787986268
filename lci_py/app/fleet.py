"""The use cases of a fleet: many repositories, each indexed by itself, and all searched as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lci_py.cluster.searches import Searches as Searches
    from lci_py.cluster.workers import Workers


def index(
    store: str,
    repositories: Sequence[tuple[str, str, str]],
    *,
    scheduler: str | None = None,
    workers: int = 2,
    tls: tuple[str, str, str] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Make a fleet of exactly these repositories, or bring it up to date; returns one JSON-able object.

    Args:
        store: The URL of its store.
        repositories: Name, source and commit ("" for none) of each, as the list of repositories has them.
        scheduler: The address of a scheduler of Dask; None to do the work here.
        workers: How many processes work here.
        tls: Files of Dask's TLS: CA, certificate and key.
        progress: As for `build_index`.
    Raises:
        UsageError: A repository or the store cannot be used, or dask is not installed.
        IndexError_: The fleet cannot be read or written, or the scheduler does not answer.
    """
    from datetime import datetime, timezone

    from lci_py import __version__
    from lci_py.cluster.indexing import Repository, index_fleet
    from lci_py.index.store.manifest import BUILT_AT, FORMAT

    began = time.perf_counter()
    now = datetime.now(timezone.utc).strftime(BUILT_AT)
    with _fleet_workers(scheduler, tls, workers) as who:
        fleet, fresh, published, warnings = index_fleet(
            who,
            store,
            [Repository(*one) for one in repositories],
            now,
            f"lci-py {__version__}, index format {FORMAT}",
            progress or (lambda _stage, _done, _total: None),
        )
    return {
        "store": store,
        "generation": fleet.generation,
        "changed": published,
        "repositories": sorted({part.name for part in fleet.parts}),
        "indexed": fresh,
        "warnings": warnings,
        **{kind: sum(part.counts[kind] for part in fleet.parts) for kind in ("files", "symbols", "chunks")},
        "seconds": time.perf_counter() - began,
    }


def clean(store: str, hours: float) -> dict[str, Any]:
    """Remove what the fleet of a store does not name; returns one JSON-able object.

    Args:
        store: The URL of the store.
        hours: What was written in the last hours stays: a run that has not published yet may need it.
    Raises:
        UsageError: The store cannot be used.
        IndexError_: The fleet cannot be read, or an object not be removed.
    """
    from lci_py.cluster.cleaned import clean as remove_unnamed
    from lci_py.cluster.objects import Objects

    return {"store": store, **remove_unnamed(Objects(store), hours * 3600)._asdict()}


@contextmanager
def connect(
    store: str,
    *,
    scheduler: str | None = None,
    timeout: float | None = None,
    tls: tuple[str, str, str] | None = None,
    snippet: int = 2,
) -> Iterator[Searches]:
    """A connection for searches of a fleet.

    Args:
        store: The URL of its store.
        scheduler: As for `index`.
        timeout: Seconds to wait for the workers in each step.
        tls: As for `index`.
        snippet: Lines of code per result, where a request does not say.
    Raises:
        UsageError: The store cannot be used.
        IndexError_: The fleet cannot be read, or no worker answers.
    """
    from lci_py.cluster.fleet import read_fleet
    from lci_py.cluster.objects import Objects
    from lci_py.cluster.searches import Searches as Searches

    fleet = read_fleet(Objects(store))  # before anybody connects for it
    with _fleet_workers(scheduler, tls) as who:
        yield Searches(who, store, fleet, timeout=timeout, snippet=snippet)


def _fleet_workers(
    scheduler: str | None, tls: tuple[str, str, str] | None, processes: int = 1
) -> AbstractContextManager[Workers]:
    """Those of a scheduler, or this process with some processes of its own."""
    if scheduler is None:
        from lci_py.cluster.workers import here

        return here(processes)
    from lci_py.cluster.dask_workers import Tls, connected

    return connected(scheduler, None if tls is None else Tls(*tls))
