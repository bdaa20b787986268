"""`lci clean`: deletes from the index folder what lci wrote there, and nothing else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from lci_py.errors import IndexWriteError
from lci_py.index.store.background_run import HOOK_LOG
from lci_py.index.store.commit import IGNORE_FILE, is_cache, is_ours, remove, remove_unheld
from lci_py.index.store.lock import HOOK_LOCKS, WRITE_LOCK, writer
from lci_py.index.store.manifest import MANIFEST, SHARD_NAME
from lci_py.index.store.search_log import OLD_SEARCH_LOG, SEARCH_LOG
from lci_py.types.record import NamedTuple

_LOGS = (HOOK_LOG, SEARCH_LOG, OLD_SEARCH_LOG)


class CleanResult(NamedTuple):
    """What `lci clean` deleted. `kept` has the files that stay: foreign files, and shards in use."""

    freed_bytes: int
    kept: tuple[str, ...]


def clean(index_dir: Path, *, cache_only: bool = False, wait: float = 0.0) -> CleanResult:
    """Delete an index, or only its cache, under the writer's lock. Links are deleted, not followed.

    Raises:
        IndexWriteError: The folder is not lci's, is a link, or cannot be written; or another process is writing.
    """
    if os.path.islink(index_dir):
        raise IndexWriteError(f"{index_dir} is a symbolic link", hint="name the folder that it leads to")
    if not os.path.isdir(index_dir) or not os.listdir(index_dir):
        return CleanResult(0, ())
    if not is_ours(index_dir):
        raise IndexWriteError(
            f"{index_dir} does not look like an index: nothing was removed",
            hint="see --root and LCI_INDEX_DIR, or remove the folder yourself",
        )
    try:
        with writer(index_dir, wait):
            freed = _remove_all(index_dir, cache_only=cache_only)
            rest = tuple(sorted(set(os.listdir(index_dir)) - {IGNORE_FILE, WRITE_LOCK}))
            if cache_only:
                return CleanResult(freed, ())
            if not rest:
                # The lock is deleted last and while held: a process that waits for it sees that its file is gone.
                for name in (IGNORE_FILE, WRITE_LOCK):
                    freed += _size(index_dir / name)
                    remove(index_dir / name)
        if not rest:
            _remove_empty(index_dir)
        return CleanResult(freed, rest)
    except OSError as error:
        raise IndexWriteError(
            f"cannot clean {index_dir}: {error.strerror or error}", hint="make the folder writable"
        ) from error


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:  # a writer that waited for the lock has started a new index
        pass


def _remove_all(index_dir: Path, *, cache_only: bool) -> int:
    freed = 0
    # The manifest first: then no new reader comes, and if this is interrupted, what is left is debris.
    for item in sorted(index_dir.iterdir(), key=lambda item: item.name != MANIFEST):
        shard = SHARD_NAME.fullmatch(item.name) is not None
        own = shard or item.name in (MANIFEST, *_LOGS, *HOOK_LOCKS) or item.name.startswith("tmp-")
        if not is_cache(item.name) and (cache_only or not own):
            continue
        before = _size(item)
        (remove_unheld if shard else remove)(item)
        freed += before - _size(item)
    return freed


def _size(item: Path) -> int:
    """The size in bytes of a file, or of all files in a folder; 0 if it does not exist. Links are not followed."""
    try:
        info = os.lstat(item)
    except OSError:
        return 0
    if not stat.S_ISDIR(info.st_mode):
        return info.st_size
    inside = (os.path.join(folder, name) for folder, _, names in os.walk(item) for name in names)
    return sum(_size(Path(path)) for path in inside)
