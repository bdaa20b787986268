"""The only module that writes the index folder. Shards are written beside the old ones, the manifest replaces the old
one last: a reader sees the old index or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lci_py.errors import IndexError_, IndexWriteError
from lci_py.index.store.lock import writer
from lci_py.index.store.manifest import (
    MANIFEST,
    SHARD_NAME,
    STAGING,
    Manifest,
    Segment,
    Shard,
    hold,
    read_manifest,
    shard_digest,
    shard_state,
    verify,
)

IGNORE = "# Made by lci: the index is rebuilt, never committed.\n*\n"
#: What holds work of earlier runs, keyed by content; believed only beside a manifest that is sealed.
_CACHE = re.compile(r"cache([.-].*)?")
_SUFFIXES = {"symbols": ".sqlite", "branches": ".sqlite", "dense": ".faiss"}


@contextlib.contextmanager
def staging(index_dir: Path, wait: float = 0.0) -> Iterator[Path]:
    """A fresh folder inside the index folder to write shards into, under the writer's lock.

    Args:
        index_dir: The index folder; made if it is not there.
        wait: Seconds to wait for another writer.
    Raises:
        IndexWriteError: The folder cannot be written, the disk is full, or another process is writing.
    """
    try:
        with writer(index_dir, wait):
            _write_ignore(index_dir / ".gitignore")
            for debris in index_dir.glob(f"{STAGING}*"):
                remove(debris)
            folder = staging_folder(index_dir)
            try:
                folder.mkdir()
                with _as_os_error():
                    yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexWriteError(
            f"cannot write the index in {index_dir}: {reason}",
            hint="free some space or make the folder writable; the previous index is untouched",
        ) from error


def staging_folder(index_dir: Path) -> Path:
    """Where this process writes before it commits."""
    return index_dir / f"{STAGING}{os.getpid()}"


def _write_ignore(path: Path) -> None:
    # A full disk leaves an empty one; a link came with a clone, and writing would follow it.
    if not path.is_file() or path.is_symlink() or not path.stat().st_size:
        remove(path)
        path.write_text(IGNORE)


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    """SQLite has words of its own for a disk that takes no more."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(str(error)) from error


@dataclass(frozen=True, slots=True)
class Draft:
    """A segment that is not published yet: its counts, and role to path in the staging folder."""

    counts: dict[str, int]
    shards: dict[str, Path]


def commit(
    index_dir: Path, segments: Sequence[Segment | Draft], shared: Mapping[str, Shard | Path], manifest: Manifest
) -> Manifest:
    """Publish a generation.

    Args:
        index_dir: The index folder.
        segments: Those that stay, and those that were written into the staging folder.
        shared: The shards of all segments together, by role: as they are, or in the staging folder.
        manifest: Everything else.
    Returns:
        The manifest as written.
    Raises:
        DamagedIndexError: A shard that is to stay is not what was written.
    """

    def published(shards: Mapping[str, Shard | Path]) -> dict[str, Shard]:
        return {
            role: _place(index_dir, role, shard) if isinstance(shard, Path) else _as_is(index_dir, shard)
            for role, shard in sorted(shards.items())
        }

    manifest = replace(
        manifest,
        segments=tuple(Segment(item.counts, published(item.shards)) for item in segments),
        shards=published(shared),
    )
    temporary = staging_folder(index_dir) / MANIFEST
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(manifest.dumps())
        handle.flush()
        os.fsync(handle.fileno())
    _sync_folder(index_dir)  # the shards' names before the name that leads to them
    if os.path.isdir(index_dir / MANIFEST):  # nothing of ours, and no file can replace it
        remove(index_dir / MANIFEST)
    os.replace(temporary, index_dir / MANIFEST)
    _sync_folder(index_dir)
    collect(index_dir, manifest)
    return manifest


def _place(index_dir: Path, role: str, path: Path) -> Shard:
    """Move a shard to its final name, unless the same content is there. What is there may be damaged."""
    digest = shard_digest(path, sync=True)
    final = index_dir / f"{role}-{digest[:16]}{_SUFFIXES.get(role, '.arrays')}"
    same = False
    if os.path.lexists(final):
        with contextlib.suppress(OSError, ValueError):
            same = shard_digest(final, most=path.stat().st_size) == digest
        if not same:
            remove(final)
    if not same:
        os.replace(path, final)
    return Shard(final.name, final.stat().st_size, digest, *shard_state(final)[1:])


def _as_is(index_dir: Path, shard: Shard) -> Shard:
    """A shard that stays, with the times of now: one that was copied here would be read whole by every query."""
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
    """Remove the shards of older generations, save those that a reader has open: a later run takes them. For who has
    the writer's lock."""
    keep = {shard.name for _, shard in manifest.all_shards()}
    for item in index_dir.iterdir():
        if item.name in keep or not SHARD_NAME.fullmatch(item.name):
            continue
        try:
            handle = hold(item, exclusive=True)
        except BlockingIOError:
            continue
        remove(item)
        if handle is not None:
            os.close(handle)


def is_cache(name: str) -> bool:
    """Whether a name in the index folder is one of the cache's."""
    return _CACHE.fullmatch(name) is not None


def adopt(index_dir: Path, wait: float = 0.0) -> bool:
    """Seal an index that somebody else made, if each of its shards is what its manifest says.

    Returns:
        False if there is none, or it is damaged.
    Raises:
        IndexWriteError: As in `staging`.
    """
    with staging(index_dir, wait):
        try:
            found = read_manifest(index_dir, trust=True)
            for _, shard in found.all_shards():
                verify(index_dir, shard, thoroughly=True)
        except IndexError_:
            return False
        commit(index_dir, found.segments, found.shards, found)
    return True


def remove(item: Path) -> None:
    """Remove a file, a link or a folder; what cannot be removed stays."""
    if item.is_dir() and not item.is_symlink():
        shutil.rmtree(item, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            item.unlink()
