"""Finds what has changed in the tree since it was indexed: by `stat` first, then by content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lci_py.index.shards.files import FLEETING, UNSETTLED, FileState
from lci_py.source.repository.files import read_file
from lci_py.source.text import digest
from lci_py.types.record import dataclass, field, replace
from lci_py.types.source import FileEntry

if TYPE_CHECKING:
    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Manifest
    from lci_py.source.repository.walk import WalkOptions

#: A file written this shortly before it was read may be written again with the same modification time. Linux clocks
#: tick every 10 ms or faster; times in whole seconds show that a file system counts in seconds, or in steps of two.
TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_000_000_000


@dataclass(slots=True)
class Change:
    """The differences between the tree and the index."""

    same: list[FileState] = field(default_factory=list)
    touched: list[FileState] = field(default_factory=list)  # other times, same content
    dirty: list[FileEntry] = field(default_factory=list)  # new, or with other content
    replaced: list[FileState] = field(default_factory=list)  # the dirty files as the index knows them
    gone: list[FileState] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.dirty or self.gone or self.touched)

    def within(self, files: int, size: int) -> bool:
        """Whether at most `files` files have changed or are gone, and the changed files have at most `size` bytes."""
        return len(self.dirty) + len(self.gone) <= files and sum(entry.size for entry in self.dirty) <= size

    def touched_only(self) -> Change:
        """A copy that keeps only the files with other times but the same content; all others count as unchanged."""
        return Change(same=[*self.same, *self.replaced, *self.gone], touched=self.touched)


@dataclass(frozen=True, slots=True)
class PreviousGeneration:
    """The generation that a refresh starts from, and the changes in the tree since then."""

    manifest: Manifest
    table: FileTable
    changed: Change | None  # None: every file is as it was
    partly: bool = False  # there are more changes, left to a later run

    @property
    def change(self) -> Change:
        """The changes in the tree since that generation, with the list of unchanged files."""
        return self.changed if self.changed is not None else Change(same=self.table.states())


def walk_settings(options: WalkOptions) -> dict[str, Any]:
    """The settings that decide which files are indexed, as the manifest stores them."""
    return {"max_file_bytes": options.max_file_bytes, "include": list(options.include), "allow": list(options.allow),
            "exclude": list(options.exclude), "hidden": options.hidden,
            "use_ignore_files": options.use_ignore_files}  # fmt: skip


def settled_ns(entry: FileEntry, walked_ns: int) -> int:
    """The modification time to store for a file, in ns; -1 if the file could still change within the same timestamp.

    Args:
        walked_ns: When the walk began, by the wall clock.
    """
    # Both times: a modification time can be set by a program such as tar, usually to a whole second.
    coarse = entry.mtime_ns % 1_000_000_000 == entry.ctime_ns % 1_000_000_000 == 0
    tick = _COARSE_TICK_NS if coarse else TICK_NS
    return -1 if max(entry.mtime_ns, entry.ctime_ns) >= walked_ns - tick else entry.mtime_ns


def settled_mtime(mtime_ns: int, walked_ns: int) -> int:
    """The modification time to store for a folder, in ns; `UNSETTLED` if it could still change within that time."""
    tick = _COARSE_TICK_NS if mtime_ns % 1_000_000_000 == 0 else TICK_NS
    return UNSETTLED if mtime_ns >= walked_ns - tick else mtime_ns


def compare(
    root: str,
    old_files: Iterable[FileState],
    files: Sequence[FileEntry],
    walked_ns: int,
    only: Sequence[str] | None = None,
    *,
    settling: bool = False,
) -> Change:
    """Compare the files of the tree with the files of the index.

    Args:
        root: The root of the tree.
        old_files: The files of the index.
        files: The files that the walk found.
        walked_ns: When the walk began, by the wall clock.
        only: Paths of files and folders to compare; files elsewhere count as unchanged. "" is the root, None means all.
        settling: Whether a file also counts as touched if its time could not be stored before, and can be now.
    """
    change = Change()
    scope = None if only is None else frozenset(only)
    before = {item.path: item for item in old_files}
    for entry in files:
        item = before.pop(entry.path, None)
        if scope is not None and not _among(entry.path, scope):
            change.same += [item] if item is not None else []
        elif item is None:
            change.dirty.append(entry)
        elif (item.size, item.mtime_ns, item.ctime_ns) == (entry.size, entry.mtime_ns, entry.ctime_ns):
            change.same.append(item)
        else:
            _look_inside(root, item, entry, walked_ns, change, settling=settling)
    for item in before.values():
        if scope is not None and not _among(item.path, scope):
            change.same.append(item)
        else:
            change.gone.append(item)
    return change


def _look_inside(
    root: str, item: FileState, entry: FileEntry, walked_ns: int, change: Change, *, settling: bool
) -> None:
    if entry.size == item.size and item.reason not in FLEETING:
        data = read_file(root, entry.path)
        if not isinstance(data, str) and digest(data) == item.sha:
            now = replace(item, mtime_ns=settled_ns(entry, walked_ns), ctime_ns=entry.ctime_ns)
            # A missing modification time alone is no reason to write; if there is another reason, this one is stored.
            unsettled = item.mtime_ns == -1 and item.ctime_ns == entry.ctime_ns
            noted = settling and now.mtime_ns >= 0
            (change.same if unsettled and not noted else change.touched).append(now)
            return
    change.dirty.append(entry)
    change.replaced.append(item)


def _among(path: str, scope: frozenset[str]) -> bool:
    """Whether `scope` contains a path or one of its parent folders."""
    while path not in scope:
        if not path:
            return False
        path = path.rpartition("/")[0]
    return True
