"""Searches of one store: of the fleet that it holds when somebody asks, and of the repositories that they name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.objects import Objects
from lci_py.cluster.root import Root
from lci_py.errors import UsageError

if TYPE_CHECKING:
    from lci_py.cluster.fleet import Fleet
    from lci_py.cluster.workers import Workers
    from lci_py.types.search import Answer, SearchRequest

#: Sets of repositories that one process keeps statistics of.
_MOST_ROOTS = 16


class Searches:
    """Searches of one store. What a search has counted is kept until another fleet is published."""

    def __init__(
        self, workers: Workers, url: str, fleet: Fleet, *, timeout: float | None = None, snippet: int = 2
    ) -> None:
        """
        Args:
            workers: Who searches.
            url: Of the store.
            fleet: What it holds.
            timeout: Seconds to wait for the workers in each step.
            snippet: Lines of a result where a request does not say.
        """
        self._workers, self._url, self._fleet = workers, url, fleet
        self._timeout, self._snippet = timeout, snippet
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
            self._roots[repositories] = self._root(repositories)
        return self._roots[repositories].search(request)

    def _root(self, repositories: tuple[str, ...]) -> Root:
        fleet = self._fleet
        places = None
        if repositories:
            names = [part.name for part in fleet.parts]
            places = [i for i, name in enumerate(names) if any(fnmatchcase(name, glob) for glob in repositories)]
            if not places:
                some = ", ".join(names[:5])
                raise UsageError("no repository of the fleet has such a name", hint=f"it has {some}")
        leaves = self._workers.leaves(self._url, fleet, None if places is None else frozenset(places), self._timeout)
        return Root(fleet, leaves, readable=places, snippet=self._snippet)
