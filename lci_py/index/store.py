"""The only module that writes the index folder. Shards are written beside the old ones, the manifest replaces the old
one last: a reader sees the old index or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lci_py.errors import IndexError_, IndexWriteError
from lci_py.index.lock import writer
from lci_py.index.manifest import (
    MANIFEST,
    SHARD_NAME,
    Manifest,
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
            for debris in index_dir.glob("tmp-*"):
                remove(debris)
            folder = index_dir / f"tmp-{os.getpid()}"
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


def _write_ignore(path: Path) -> None:
    # A full disk leaves an empty one; a link came with a clone, and writing would follow it.
    if path.is_symlink() or not path.exists() or not path.stat().st_size:
        path.unlink(missing_ok=True)
        path.write_text(IGNORE)


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    """SQLite and faiss have words of their own for a disk that takes no more."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(str(error)) from error
    except RuntimeError as error:
        if "faiss" not in str(error):
            raise
        raise OSError(f"faiss cannot write its file ({' '.join(str(error).split())[-80:]})") from error


def commit(index_dir: Path, folder: Path, shards: dict[str, tuple[Path, str]], manifest: Manifest) -> Manifest:
    """Publish shards written into the staging folder.

    Args:
        index_dir: The index folder.
        folder: The staging folder.
        shards: Role to (path in the staging folder, suffix of its final name).
        manifest: Everything but the new shards; those that it names already stay.
    Returns:
        The manifest as written.
    """
    named = dict(manifest.shards)
    for role, (path, suffix) in sorted(shards.items()):
        digest = shard_digest(path, sync=True)
        final = index_dir / f"{role}-{digest[:16]}{suffix}"
        _place(path, final, digest)
        size, mtime_ns = shard_state(final)
        named[role] = Shard(final.name, size, digest, mtime_ns)
    manifest = replace(manifest, shards=named)
    temporary = folder / MANIFEST
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(manifest.dumps())
        handle.flush()
        os.fsync(handle.fileno())
    _sync_folder(index_dir)  # the shards' names before the name that leads to them
    os.replace(temporary, index_dir / MANIFEST)
    _sync_folder(index_dir)
    _collect(index_dir, {shard.name for shard in named.values()})
    return manifest


def _place(path: Path, final: Path, digest: str) -> None:
    """Move a shard to its final name, unless the same content is there. What is there may be damaged."""
    if path.is_dir():
        for folder in (path, *path.rglob("*/")):
            _sync_folder(folder)
    if os.path.lexists(final):
        with contextlib.suppress(OSError):
            if shard_digest(final) == digest:
                return
        os.replace(final, path.with_name(f"damaged-{final.name}"))  # a folder cannot be replaced in one step
    os.replace(path, final)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _collect(index_dir: Path, keep: set[str]) -> None:
    """Remove the shards of older generations, save those that a reader has open: a later run takes them."""
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


def drop_cache(index_dir: Path) -> None:
    """Remove what earlier runs kept: somebody else may have written it. For who has the writer's lock."""
    for item in index_dir.iterdir():
        if is_cache(item.name):
            remove(item)


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
    with staging(index_dir, wait) as folder:
        try:
            found = read_manifest(index_dir, trust=True)
            for shard in found.shards.values():
                verify(index_dir, shard, thoroughly=True)
        except IndexError_:
            return False
        # With the times that the shards have here: they need not be read whole again by each query.
        shards = {r: replace(s, mtime_ns=shard_state(index_dir / s.name)[1]) for r, s in found.shards.items()}
        commit(index_dir, folder, {}, replace(found, shards=shards))
    return True


def remove(item: Path) -> None:
    """Remove a file, a link or a folder; what cannot be removed stays."""
    if item.is_dir() and not item.is_symlink():
        shutil.rmtree(item, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            item.unlink()
