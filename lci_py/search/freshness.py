"""Compares the working tree with the index: by `stat` first, then by content; a file only touched is not stale."""

from __future__ import annotations

import os
import stat
import time
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.index.shards.files import FLEETING, OURS
from lci_py.source.repository.files import ALWAYS_SKIPPED, read_file
from lci_py.source.repository.workspace import is_workspace
from lci_py.source.text import digest
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lci_py.index.shards.files import FileTable
    from lci_py.source.repository.walk import WalkResult

#: Maximum number of files that a query checks, those in changed folders first. A number rather than a time, so that two
#: runs agree. `lstat` takes 2 microseconds, however a file is named (docs/adr/0033-every-file-is-looked-at.md).
LOOKED = 120_000
#: Maximum number, and bytes, of files with another time and the same size that a query reads.
READ_FILES, READ_BYTES = 500, 16_000_000
#: Time limit of the check, for a tree on a slow disk or another machine.
SWEEP_SECONDS = 1.0
#: A search refreshes the index by itself if no more has changed than this.
QUICK_FILES, QUICK_BYTES = 20, 1_000_000
#: A search stores that touched files are unchanged, as after a copy of the tree, if they are at most this many: reading
#: them takes about a second.
NOTED_FILES = 20_000
#: Seconds for which a batch does not look at the tree again.
_LASTS_SECONDS = 1.0
_AT_A_TIME = 256
#: Age after which a file's times are trusted, whatever their resolution.
_SETTLED_NS = 3_000_000_000


@dataclass(frozen=True, slots=True)
class Sweep:
    """The result of comparing the tree with the index."""

    stale: tuple[str, ...]  # changed, gone or new
    bytes: int  # of those that are there
    unchecked: int = 0  # files that were too many to look at
    gone: frozenset[str] = frozenset()  # indexed, and no longer there
    touched: int = 0  # files with another time whose content is what was indexed, or was not read

    @property
    def few(self) -> bool:
        """Whether so little has changed that a search can refresh the index first."""
        return len(self.stale) <= QUICK_FILES and self.bytes <= QUICK_BYTES

    @property
    def worth_noting(self) -> bool:
        """Whether the index should store the new times of touched files, so that later searches need not read them."""
        return QUICK_FILES < self.touched <= NOTED_FILES


class Freshness:
    """Compares indexed files with their current state."""

    def __init__(
        self, root: Path, table: FileTable, read: Callable[[str], bytes | None], walk: Callable[[], WalkResult]
    ) -> None:
        """Prepare to compare.

        Args:
            table: The indexed files.
            read: Returns the content of a file, None if it cannot be read.
            walk: Lists the files as an index run would.
        """
        self._base = os.path.join(str(root), "")
        self._linked = is_workspace(root)  # its folders are links, which this user has made
        self._table = table
        self._read = read
        self._walk = walk
        self._changed: dict[str, bool] = {}
        self._last: tuple[float, Sweep] | None = None
        self._odd: frozenset[int] = frozenset()  # places of the files that had another time in the last sweep

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self._changed.clear()
        if self._last is not None and time.monotonic() - self._last[0] >= _LASTS_SECONDS:
            self._last = None

    def look_again(self) -> None:
        """Do a complete sweep next time, no matter how recent the last one is."""
        self._last = None

    @cached_property
    def _paths(self) -> list[str]:
        return self._table.paths()

    @cached_property
    def _stats(self) -> tuple[list[int], list[int], list[int]]:
        return self._table.stat_columns()

    def changed(self, path: str) -> bool:
        """Whether a file differs from what was indexed."""
        is_changed = self._changed.get(path)
        if is_changed is None:
            index = self._file_index(path)
            is_changed = index is None or (bool(self._touched_files((index,))) and self._differs(index))
            self._changed[path] = is_changed
        return is_changed

    def indexable(self, path: str) -> bool:
        """Whether the index has a file, or would add it now."""
        return self._file_index(path) is not None or path in self.sweep().stale

    def sha(self, path: str) -> str:
        """The digest of a file's indexed content; "" if it is not indexed."""
        index = self._file_index(path)
        return "" if index is None else self._table.known_at(index).sha

    def _touched_files(self, indices: Iterable[int]) -> list[int]:
        """The files whose `stat` has changed; files with an unchanged `stat` were not written."""
        # Strings rather than paths, local names, and no call but the one: this runs for every indexed file of every
        # query.
        lstat, base, paths = os.lstat, self._base, self._paths
        sizes, mtimes, ctimes = self._stats
        touched = []
        for index in indices:
            try:
                info = lstat(base + paths[index])
            except (OSError, ValueError):
                touched.append(index)
                continue
            if info.st_ctime_ns != ctimes[index] or info.st_mtime_ns != mtimes[index] or info.st_size != sizes[index]:
                touched.append(index)
        return touched

    def _gone(self, index: int) -> bool:
        """Whether a file no longer exists."""
        try:
            os.lstat(self._base + self._paths[index])
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False
        return False

    def _stat(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(self._base + path)
        except (OSError, ValueError):
            return None

    def _other_size(self, index: int) -> bool:
        """Whether the size alone shows that a file was changed."""
        size, mtime_ns = self._stats[0][index], self._stats[1][index]
        if (info := self._stat(self._paths[index])) is None:
            return True
        # A file that changed while it was indexed has no time, and perhaps another size than what was read of it.
        return mtime_ns >= 0 and info.st_size != size and stat.S_ISREG(info.st_mode)

    def _differs(self, index: int) -> bool:
        state = self._table.known_at(index)
        if state.slot >= 0 and self._other_size(index):
            return True
        # Not kept: after a checkout every file is read here, and they need not all stay in memory.
        data = self._read(state.path)
        if data is None:
            return state.slot >= 0
        if digest(data) == state.sha:
            return False
        if state.slot >= 0:
            return True
        from lci_py.source.repository.content import content_reason

        return content_reason(state.path, data) is None

    def sweep(self, *, whole: bool = False) -> Sweep:
        """Compare the tree with the index, once per query: as much as the query has time for, or the `whole` tree."""
        if not whole and self._last is not None:
            return self._last[1]
        result = self._look(whole)
        self._last = (time.monotonic(), result)
        return result

    def changed_since(self, paths: Iterable[str]) -> int:
        """The number of files that were unchanged in the last sweep and have changed since.

        If it is 0 for the files that an answer has read, the answer is consistent with the tree that the sweep saw.
        """
        stale = set(self.sweep().stale)
        places = [index for path in paths if path not in stale and (index := self._file_index(path)) is not None]
        # For a file whose time had changed before, only its content can tell.
        return sum(index not in self._odd or self._differs(index) for index in self._touched_files(places))

    def _file_index(self, path: str) -> int | None:
        """The index of a file in the table; None if the table lacks it."""
        index = bisect_left(self._paths, path)
        return index if index < len(self._paths) and self._paths[index] == path else None

    def there(self) -> Callable[[str], bool] | None:
        """A function that tests whether the file at a path still exists; None if all indexed files do."""
        gone = self.sweep().gone
        return (lambda path: path not in gone) if gone else None

    def _look(self, whole: bool) -> Sweep:
        paths, deadline = self._paths, time.monotonic() + SWEEP_SECONDS
        suspects = self._suspects()
        places: Sequence[int] = range(len(paths))
        if not whole and len(paths) > LOOKED:
            if suspects:
                places = sorted(places, key=lambda index: paths[index].rpartition("/")[0] not in suspects)
            places = places[:LOOKED]
        odd: list[int] = []
        checked = 0
        while checked < len(places) and (whole or time.monotonic() <= deadline):
            some = places[checked : checked + _AT_A_TIME]
            odd += self._touched_files(some)
            checked += len(some)
        unchecked = len(paths) - checked
        self._odd = frozenset(odd)
        indexed = self._table.slots() if odd else []
        gone = frozenset(paths[index] for index in odd if indexed[index] >= 0 and self._gone(index))
        stale = set(gone)
        touched = 0
        files, size = READ_FILES, READ_BYTES
        for index in odd:
            path = paths[index]
            if path in gone:
                continue
            if path not in self._changed and not whole and not (indexed[index] >= 0 and self._other_size(index)):
                files, size = files - 1, size - self._stats[0][index]
                if files < 0 or size < 0 or time.monotonic() > deadline:
                    unchecked, touched = unchecked + 1, touched + self._may_be_noted(index)
                    continue
            if self.changed(path):
                stale.add(path)
            else:
                touched += self._may_be_noted(index)
        if not unchecked and self._has_news(suspects):
            # Something was added, removed or renamed, or an ignore file changed: only a walk shows the effect.
            walked = {entry.path for entry in self._walk().files}
            stale |= walked.difference(paths)
            slots = self._table.slots()
            stale |= {path for path, slot in zip(paths, slots, strict=True) if slot >= 0 and path not in walked}
        stale_paths = tuple(sorted(stale))
        size = sum(info.st_size for path in stale_paths if (info := self._stat(path)) is not None)
        return Sweep(stale_paths, size, unchecked, gone, touched)

    def _may_be_noted(self, index: int) -> bool:
        """Whether an index run that finds the file's content unchanged would store its new times."""
        if self._table.known_at(index).reason in FLEETING:
            return False
        if self._stats[1][index] >= 0:
            return True
        # It was written just before it was read: the run stores a time when it is certain that nothing more was.
        if (info := self._stat(self._paths[index])) is None:
            return False
        # A time in the future, as after the clock was set back, is not believed for long.
        settled = time.time_ns() - max(info.st_mtime_ns, info.st_ctime_ns) > _SETTLED_NS
        return info.st_ctime_ns != self._stats[2][index] or settled

    def _suspects(self) -> frozenset[str]:
        """The folders and ignore files whose modification times have changed since the tree was listed."""
        return frozenset(
            path for path, mtime_ns in self._table.folders() if mtime_ns != OURS and self._mtime(path) != mtime_ns
        )

    def _has_news(self, suspects: frozenset[str]) -> bool:
        """Whether a suspect folder has an entry that the walk did not see, or an ignore file has changed."""
        if not suspects:
            return False
        # The name of a folder ends with a slash: a file that became a folder is news.
        names_of: dict[str, set[str]] = {}
        skipped = self._table.skipped_paths()
        for path in [*self._paths, *skipped, *(f"{path}/" for path, _ in self._table.folders() if path)]:
            folder, _, name = path.rstrip("/").rpartition("/")
            names_of.setdefault(folder, set()).add(f"{name}/" if path.endswith("/") else name)
        return any(self._has_new_name(path, names_of.get(path, set())) for path in suspects)

    def _mtime(self, path: str) -> int:
        try:
            # A repository of a workspace is a link, whose own time does not matter.
            follow = self._linked and "/" not in path
            return os.stat(self._base + path, follow_symlinks=follow).st_mtime_ns
        except (OSError, ValueError):
            return -1  # as the table says of one that was not there

    def _has_new_name(self, folder: str, names: set[str]) -> bool:
        # A folder's time changes with every file that comes and goes, also with those that no index has.
        follow = self._linked and not folder
        try:
            with os.scandir(self._base + folder) as entries:
                return any(
                    entry.name not in ALWAYS_SKIPPED
                    and not (follow and not entry.is_symlink())
                    and (f"{entry.name}/" if entry.is_dir(follow_symlinks=follow) else entry.name) not in names
                    for entry in entries
                )
        except NotADirectoryError:
            return True  # an ignore file
        except (OSError, ValueError):
            return not names  # gone with all its files, unless it is an ignore file, which has none


class SourceReader:
    """Reads lines of the working tree; each file with shown lines is read once per query."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, bytes | None] = {}
        self._lines: dict[str, list[bytes] | None] = {}  # None: its first lines have been asked for once
        self._digests: dict[str, str] = {}
        self.paths: set[str] = set()  # the files that the answer at hand has read

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self._files.clear()
        self._lines.clear()
        self._digests.clear()
        self.paths.clear()

    def lines(self, path: str) -> list[bytes] | None:
        """The file's lines without line breaks; None if it cannot be read (or is no longer a regular file)."""
        if (result := self._lines.get(path)) is None and (data := self._content(path)) is not None:
            result = self._lines[path] = data.split(b"\n")
        return result

    def some(self, path: str, first: int, last: int) -> list[bytes]:
        """The lines from `first` to `last`, as far as the file has them."""
        data = self._content(path)
        if path not in self._lines and data is not None:
            self._lines[path] = None
            return data.split(b"\n", min(max(last, 0), len(data)))[
                first - 1 : last
            ]  # not the whole file for a few lines
        return (self.lines(path) or [])[first - 1 : last]

    def digest(self, path: str) -> str:
        """The digest of the content that is shown; "" if it cannot be read."""
        result = self._digests.get(path)
        if result is None:
            data = self._content(path)
            result = self._digests[path] = "" if data is None else digest(data)
        return result

    def _content(self, path: str) -> bytes | None:
        if path not in self._files:
            self._files[path] = self.read(path)
        return self._files[path]

    def read(self, path: str) -> bytes | None:
        """The file's content, None if it cannot be read; it is not cached, unlike shown lines."""
        self.paths.add(path)
        return self.compared(path)

    def compared(self, path: str) -> bytes | None:
        """As `read`, for a comparison with the index: the answer does not count as depending on the file."""
        # The index is data from disk: a path in it must not lead out of the root, nor into a device or a FIFO.
        if ".." in path.split("/"):
            return None
        try:
            content = read_file(str(self.root), path)
        except (OSError, ValueError):  # short of something; a NUL in the path
            return None
        return content if isinstance(content, bytes) else None
