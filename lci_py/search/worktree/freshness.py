"""Is the tree still what was indexed? By `stat` first, then by content; a file that was only touched is not stale."""

from __future__ import annotations

import os
import time
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.index.shards.files import OURS
from lci_py.source.repository.paths import ALWAYS_SKIPPED
from lci_py.source.text.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.index.shards.files import FileTable
    from lci_py.source.repository.walk import WalkResult

#: What a query may spend on looking at files that are not in its answer.
SWEEP_SECONDS = 0.05
#: A search refreshes the index by itself if no more has changed than this.
QUICK_FILES, QUICK_BYTES = 20, 1_000_000
#: Seconds for which a batch does not look at the tree again.
_LASTS_SECONDS = 1.0
_AT_A_TIME = 256


@dataclass(frozen=True, slots=True)
class Sweep:
    """The result of comparing the tree with the index."""

    stale: tuple[str, ...]  # changed, gone or new
    bytes: int  # of those that are there
    unchecked: int = 0  # files that there was no time for

    @property
    def few(self) -> bool:
        """Whether so little has changed that a search can refresh the index first."""
        return len(self.stale) <= QUICK_FILES and self.bytes <= QUICK_BYTES


class Freshness:
    """Compares each indexed file with the file as it is now."""

    def __init__(
        self, root: Path, table: FileTable, read: Callable[[str], bytes | None], walk: Callable[[], WalkResult]
    ) -> None:
        """
        Args:
            root: The repository.
            table: What is indexed.
            read: The content of a file, None if it cannot be read.
            walk: Lists the files as an index run would.
        """
        self._base = os.path.join(str(root), "")
        self._table = table
        self._read = read
        self._walk = walk
        self._changed: dict[str, bool] = {}
        self._last: tuple[float, Sweep] | None = None

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self._changed.clear()

    @cached_property
    def _paths(self) -> list[str]:
        return self._table.paths()

    @cached_property
    def _stats(self) -> list[tuple[int, int, int]]:
        return self._table.stats()

    def changed(self, path: str) -> bool:
        """Whether a file differs from what was indexed."""
        found = self._changed.get(path)
        if found is None:
            place = bisect_left(self._paths, path)
            known = place < len(self._paths) and self._paths[place] == path
            found = self._changed[path] = not known or (not self._untouched(place) and self._differs(place))
        return found

    def sha(self, path: str) -> str:
        """Digest of what was indexed of a file; "" if it was not."""
        place = bisect_left(self._paths, path)
        known = place < len(self._paths) and self._paths[place] == path
        return self._table.known_at(place).sha if known else ""

    def _untouched(self, place: int) -> bool:
        """Whether `stat` is unchanged: then nothing was written to the file."""
        try:
            # A string, not a Path: this runs for every indexed file of every query.
            info = os.lstat(self._base + self._paths[place])
        except (OSError, ValueError):
            return False
        return (info.st_size, info.st_mtime_ns, info.st_ctime_ns) == self._stats[place]

    def _differs(self, place: int) -> bool:
        known = self._table.known_at(place)
        # Not kept: after a checkout every file is read here, and they need not all stay in memory.
        data = self._read(known.path)
        if data is None:
            return known.slot >= 0
        if digest(data) == known.sha:
            return False
        if known.slot >= 0:
            return True
        from lci_py.source.repository.content import content_reason

        return content_reason(known.path, data) is None

    def sweep(self, seconds: float | None = SWEEP_SECONDS) -> Sweep:
        """Look at all files, or at as many as there is time for; None is no limit."""
        now = time.monotonic()
        if seconds is not None and self._last is not None and now - self._last[0] < _LASTS_SECONDS:
            return self._last[1]
        found = self._look(None if seconds is None else now + seconds)
        self._last = (time.monotonic(), found)
        return found

    def _look(self, deadline: float | None) -> Sweep:
        paths = self._paths
        stale: list[str] = []
        for start in range(0, len(paths), _AT_A_TIME):
            if deadline is not None and time.monotonic() > deadline:
                return self._swept(stale, len(paths) - start)
            places = range(start, min(start + _AT_A_TIME, len(paths)))
            stale += [paths[i] for i in places if not self._untouched(i) and self.changed(paths[i])]
        if self._moved():
            # Something was added, removed or renamed, or an ignore file changed: only a walk tells what that means.
            listed = {entry.path for entry in self._walk().files}
            stale += sorted(listed.difference(paths))
            slots = self._table.slots()
            stale += [path for path, slot in zip(paths, slots, strict=True) if slot >= 0 and path not in listed]
        return self._swept(stale, 0)

    def _moved(self) -> bool:
        """Whether a folder has a name that the walk did not see, or an ignore file changed."""
        suspects = [
            path for path, mtime_ns in self._table.folders() if mtime_ns != OURS and self._mtime(path) != mtime_ns
        ]
        if not suspects:
            return False
        known: dict[str, set[str]] = {}
        seen = [*self._paths, *(path.rstrip("/") for path in self._table.skipped_paths())]
        for path in [*seen, *(path for path, _ in self._table.folders())]:
            folder, _, name = path.rpartition("/")
            known.setdefault(folder, set()).add(name)
        return any(self._has_new_name(path, known.get(path, set())) for path in suspects)

    def _mtime(self, path: str) -> int:
        try:
            return os.lstat(self._base + path).st_mtime_ns
        except (OSError, ValueError):
            return -1  # as the table says of one that was not there

    def _has_new_name(self, folder: str, known: set[str]) -> bool:
        # A folder's time changes with every file that comes and goes, also with those that no index has.
        try:
            return not ALWAYS_SKIPPED.union(known).issuperset(os.listdir(self._base + folder))
        except NotADirectoryError:
            return True  # an ignore file
        except (OSError, ValueError):
            return not known  # gone with all its files, unless it is an ignore file, which has none

    def _swept(self, stale: list[str], unchecked: int) -> Sweep:
        size = 0
        for path in (found := tuple(sorted(set(stale)))):
            try:
                size += os.lstat(self._base + path).st_size
            except (OSError, ValueError):
                continue
        return Sweep(found, size, unchecked)
