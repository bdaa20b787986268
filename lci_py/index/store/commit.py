"""Publishes a generation: writes new shards beside the old ones, then replaces the old manifest by the new manifest.

So a reader sees either the whole old index or the whole new index.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lci_py.errors import DamagedIndexError, DiskFullError, ForeignFolderError, IndexError_, IndexWriteError
from lci_py.index.store.lock import HOOK_LOCKS, WRITE_LOCK, writer
from lci_py.index.store.manifest import (
    MANIFEST,
    SHARD_NAME,
    STAGING,
    Manifest,
    OpenIndex,
    Segment,
    Shard,
    hold,
    read_manifest,
    shard_digest,
    shard_state,
    verify,
)
from lci_py.interrupts import at_interrupt
from lci_py.source.repository.files import open_regular
from lci_py.types.record import dataclass, replace

IGNORE_FILE = ".gitignore"
IGNORE = "# Made by lci: the index is rebuilt, never committed.\n*\n"
#: Names of the cache and of files that SQLite puts beside it.
_CACHE = re.compile(r"cache([.-].*)?")
_BLOCK = 1 << 20
_PROGRAM = b'"program": "lci-py '
_HEAD = 4_000_000  # bytes of a manifest
_SUFFIXES = frozenset({".sqlite", ".arrays", ".faiss"})


@contextlib.contextmanager
def staging(index_dir: Path, wait: float = 0.0) -> Iterator[Path]:
    """A context manager: a new folder inside the index folder to write shards into, under the writer's lock.

    Args:
        index_dir: The index folder; created if it does not exist.
        wait: Seconds to wait for another writer.
    Raises:
        IndexWriteError: The folder cannot be written, the disk is full, or another process is writing.
    """
    try:
        with writer(index_dir, wait):
            _write_ignore(index_dir / IGNORE_FILE)
            for debris in index_dir.glob(f"{STAGING}*"):
                remove(debris)
            folder = staging_folder(index_dir)
            try:
                folder.mkdir()
                with at_interrupt(lambda: shutil.rmtree(folder, ignore_errors=True)), _as_os_error():
                    yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        older = "; the previous index is untouched" if os.path.lexists(index_dir / MANIFEST) else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (DiskFullError if full else IndexWriteError)(
            f"cannot write the index in {index_dir}: {reason}",
            hint=f"free some space, make the folder writable, or name another one in LCI_INDEX_DIR{older}",
        ) from error


def is_ours(index_dir: Path) -> bool:
    """Whether a folder has a file that only lci writes, and so is an index folder."""
    ignore = _head(index_dir / IGNORE_FILE, len(IGNORE) + 1)
    return ignore == IGNORE.encode() or _PROGRAM in _head(index_dir / MANIFEST, _HEAD)


def _head(path: Path, length: int) -> bytes:
    try:
        with open(open_regular(path)[0], "rb") as file:
            return file.read(length)
    except OSError:
        return b""


def refuse_foreign(index_dir: Path) -> None:
    """Raise ForeignFolderError unless `index_dir` is an index folder, empty or missing: LCI_INDEX_DIR may be wrong."""
    names: set[str] = set()
    with contextlib.suppress(OSError):
        names = set(os.listdir(index_dir)) - {WRITE_LOCK, *HOOK_LOCKS}
    if names == {IGNORE_FILE} and not _head(index_dir / IGNORE_FILE, 1):
        return  # a full disk
    # What names this one as ours may be damaged, too. Nobody else names files after such digests.
    shards = any(SHARD_NAME.fullmatch(name) and name.startswith("symbols-") for name in names)
    if names and not shards and not is_ours(index_dir):
        raise ForeignFolderError(str(index_dir), sorted(names))


def staging_folder(index_dir: Path) -> Path:
    """The path of the folder in which this process writes before it commits."""
    return index_dir / f"{STAGING}{os.getpid()}"


def _write_ignore(path: Path) -> None:
    # A full disk leaves an empty file. A link came with a clone, and writing would follow it.
    if not path.is_file() or path.is_symlink() or not path.stat().st_size:
        remove(path)
        path.write_text(IGNORE)


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    """A context manager that converts SQLite's error about a full disk to OSError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(errno.ENOSPC if "disk is full" in str(error) else None, str(error)) from error


@dataclass(frozen=True, slots=True)
class Draft:
    """A segment that is not published yet."""

    counts: dict[str, int]
    shards: Mapping[str, Shard | Path]  # by role; a path is in the staging folder


def commit(
    index_dir: Path, segments: Sequence[Segment | Draft], global_shards: Mapping[str, Shard | Path], manifest: Manifest
) -> Manifest:
    """Publish a generation and return its manifest as written.

    Args:
        segments: Segments that are kept, and new segments, whose shards are in the staging folder.
        global_shards: For each role, a shard that is kept, or the path of a new shard in the staging folder.
        manifest: The other values of the manifest.
    """

    def published(shards: Mapping[str, Shard | Path]) -> dict[str, Shard]:
        return {
            role: _move_shard(index_dir, role, shard) if isinstance(shard, Path) else _as_is(index_dir, shard)
            for role, shard in sorted(shards.items())
        }

    manifest = replace(
        manifest,
        segments=tuple(Segment(item.counts, published(item.shards)) for item in segments),
        shards=published(global_shards),
    )
    temporary = staging_folder(index_dir) / MANIFEST
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(manifest.dumps())
        handle.flush()
        os.fsync(handle.fileno())
    _sync_folder(index_dir)  # the shards must be on the disk before the manifest that names them
    if os.path.isdir(index_dir / MANIFEST):  # not made by lci; no file can replace a folder
        remove(index_dir / MANIFEST)
    os.replace(temporary, index_dir / MANIFEST)
    _sync_folder(index_dir)
    collect(index_dir, manifest)
    return manifest


def _move_shard(index_dir: Path, role: str, path: Path) -> Shard:
    """Move a shard to its final name, unless an undamaged file with the same content has that name."""
    digest = shard_digest(path, sync=True)
    final = index_dir / f"{role}-{digest[:16]}{path.suffix if path.suffix in _SUFFIXES else '.arrays'}"
    same = False
    if os.path.lexists(final):
        with contextlib.suppress(OSError, ValueError):
            same = shard_digest(final, max_bytes=path.stat().st_size) == digest
        if not same:
            remove(final)
    if not same:
        os.replace(path, final)
    return Shard(final.name, final.stat().st_size, digest, *shard_state(final)[1:])


def _as_is(index_dir: Path, shard: Shard) -> Shard:
    """Check a kept shard, and use its current file times: if they were outdated, each query would read all of it."""
    verify(index_dir, shard)
    return replace(shard, mtime_ns=(state := shard_state(index_dir / shard.name))[1], ctime_ns=state[2])


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def collect(index_dir: Path, manifest: Manifest) -> None:
    """Delete the shards of older generations. A shard that a reader holds is left to a later run.

    The caller holds the writer's lock.
    """
    keep = {shard.name for _, shard in manifest.all_shards()}
    for item in index_dir.iterdir():
        if item.name not in keep and SHARD_NAME.fullmatch(item.name):
            remove_unheld(item)


def is_cache(name: str) -> bool:
    """Whether a file of the index folder belongs to the cache."""
    return _CACHE.fullmatch(name) is not None


def adopt(index_dir: Path, wait: float = 0.0) -> bool:
    """Seal an index that somebody else made, if its shards match its manifest; False if there is no intact index.

    Raises:
        IndexWriteError: The folder cannot be written, the disk is full, or another process is writing.
    """
    with staging(index_dir, wait):
        try:
            manifest = read_manifest(index_dir, trust=True)
            for _, shard in manifest.all_shards():
                verify(index_dir, shard, thoroughly=True)
        except IndexError_:
            return False
        commit(index_dir, manifest.segments, manifest.shards, manifest)
    return True


def copy_shards(source: OpenIndex, roles: Sequence[str], index_dir: Path, folder: Path) -> Manifest:
    """Copy the segments of another index, and some of its global shards, into an index folder.

    Args:
        source: The index to copy.
        roles: The roles of the global shards to copy.
        index_dir: The target index folder. Until a manifest there names the copies, they count as garbage.
        folder: The staging folder.
    Returns:
        The manifest of `source`, with the copies as its shards, and without the global shards that were not copied.
    Raises:
        DamagedIndexError: A shard is missing or damaged.
        OSError: The disk is full.
    """

    def copied(role: str, shard: Shard) -> Shard:
        _copy(source.index_dir / shard.name, folder / shard.name, shard)
        placed = _move_shard(index_dir, role, folder / shard.name)
        if placed.sha != shard.sha:
            raise DamagedIndexError(f"{shard.name} does not match its checksum")
        return placed

    manifest = source.manifest
    return replace(manifest, shards={role: manifest.shards[role] for role in roles}).with_shards(copied)


def _copy(path: Path, target: Path, shard: Shard) -> None:
    # No more than the manifest says: the other folder may have changed since.
    try:
        handle, info = open_regular(path)
    except OSError as error:
        raise DamagedIndexError(f"{shard.name} cannot be read ({error.strerror})") from error
    with open(handle, "rb") as old, target.open("xb") as new:
        if info.st_size != shard.bytes:
            raise DamagedIndexError(f"{shard.name} has changed since it was written")
        rest = shard.bytes
        while rest > 0 and (block := old.read(min(rest, _BLOCK))):
            new.write(block)
            rest -= len(block)


def remove_unheld(item: Path) -> None:
    """Delete a file or a folder, unless a process holds it (has it locked by `manifest.hold`)."""
    try:
        handle = hold(item, exclusive=True)
    except BlockingIOError:
        return
    remove(item)
    if handle is not None:
        os.close(handle)


def remove(item: Path) -> None:
    """Delete a file, a link or a folder; errors are ignored."""
    if item.is_dir() and not item.is_symlink():
        shutil.rmtree(item, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            item.unlink()
