"""The tree against the index: by `stat` first, then by content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from lci_py.index.shards.files import UNSETTLED, Known
from lci_py.source.repository.read import read_file
from lci_py.source.text.digest import digest
from lci_py.types.source import FileEntry

#: A file that was written so shortly before it was read may be written again within the same tick of its clock. Linux
#: has ticks of up to 10 ms, and file systems that count whole seconds (or two) give themselves away.
TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_000_000_000
#: Not known from the content, so to be looked at again each time.
FLEETING = frozenset({"unreadable", "vanished", "special", "symlink", "too_large"})


@dataclass(slots=True)
class Change:
    """What has happened to the tree since it was indexed."""

    same: list[Known] = field(default_factory=list)
    touched: list[Known] = field(default_factory=list)  # other times, same content
    dirty: list[FileEntry] = field(default_factory=list)  # new, or of another content
    replaced: list[Known] = field(default_factory=list)  # what the index has of the dirty ones
    gone: list[Known] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.dirty or self.gone or self.touched)


def settled_ns(entry: FileEntry, walked_ns: int) -> int:
    """The modification time to remember: -1 if the file could change without another one."""
    # Both: a modification time can be set, to a whole second mostly, as unpacking an archive does.
    coarse = entry.mtime_ns % 1_000_000_000 == entry.ctime_ns % 1_000_000_000 == 0
    tick = _COARSE_TICK_NS if coarse else TICK_NS
    return -1 if max(entry.mtime_ns, entry.ctime_ns) >= walked_ns - tick else entry.mtime_ns


def settled_mtime(mtime_ns: int, walked_ns: int) -> int:
    """The same of a folder, of which only the modification time is known; `UNSETTLED` instead of -1."""
    tick = _COARSE_TICK_NS if mtime_ns % 1_000_000_000 == 0 else TICK_NS
    return UNSETTLED if mtime_ns >= walked_ns - tick else mtime_ns


def compare(
    root: str, known: Iterable[Known], files: Sequence[FileEntry], walked_ns: int, only: Sequence[str] | None = None
) -> Change:
    """Sort the files.

    Args:
        root: The repository.
        known: What is indexed.
        files: What the walk found.
        walked_ns: When it began, by the wall clock.
        only: Leave all others as they are: paths of files and folders; "" is the root.
    """
    change = Change()
    named = None if only is None else frozenset(only)
    before = {item.path: item for item in known}
    for entry in files:
        item = before.pop(entry.path, None)
        if named is not None and not _among(entry.path, named):
            change.same += [item] if item is not None else []
        elif item is None:
            change.dirty.append(entry)
        elif (item.size, item.mtime_ns, item.ctime_ns) == (entry.size, entry.mtime_ns, entry.ctime_ns):
            change.same.append(item)
        else:
            _look_inside(root, item, entry, walked_ns, change)
    for item in before.values():
        if named is not None and not _among(item.path, named):
            change.same.append(item)
        else:
            change.gone.append(item)
    return change


def _look_inside(root: str, item: Known, entry: FileEntry, walked_ns: int, change: Change) -> None:
    if entry.size == item.size and item.reason not in FLEETING:
        data = read_file(root, entry.path)
        if not isinstance(data, str) and digest(data) == item.sha:
            now = replace(item, mtime_ns=settled_ns(entry, walked_ns), ctime_ns=entry.ctime_ns)
            # Only a time that was not worth remembering: no reason to write, but if there is another, it is known now.
            unsettled = item.mtime_ns == -1 and item.ctime_ns == entry.ctime_ns
            (change.same if unsettled else change.touched).append(now)
            return
    change.dirty.append(entry)
    change.replaced.append(item)


def _among(path: str, named: frozenset[str]) -> bool:
    """Whether a path, or a folder that it lies in, is named."""
    while path not in named:
        if not path:
            return False
        path = path.rpartition("/")[0]
    return True
