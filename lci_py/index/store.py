"""The only module that writes the index folder. Shards are written beside the old ones, the manifest replaces the old
one last: a reader sees the old index or the new one, whole."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from lci_py.errors import IndexWriteError
from lci_py.index.manifest import MANIFEST, Manifest, Shard, shard_bytes

_IGNORE = "# Made by lci: the index is rebuilt, never committed.\n*\n"
_LOCK = "write.lock"


@contextlib.contextmanager
def staging(index_dir: Path) -> Iterator[Path]:
    """A fresh folder inside the index folder to write shards into, under the writer's lock.

    Raises:
        IndexWriteError: The folder cannot be written, the disk is full, or another process is writing.
    """
    try:
        index_dir.mkdir(parents=True, exist_ok=True)
        ignore = index_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text(_IGNORE)
        with _locked(index_dir):
            for debris in index_dir.glob("tmp-*"):
                shutil.rmtree(debris, ignore_errors=True)
            folder = index_dir / f"tmp-{os.getpid()}"
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexWriteError(
            f"cannot write the index in {index_dir}: {reason}",
            hint="free some space or make the folder writable; the previous index is untouched",
        ) from error


@contextlib.contextmanager
def _locked(index_dir: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - not on this platform; the manifest is still replaced atomically
        yield
        return
    with open(index_dir / _LOCK, "a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            holder = handle.read(20).strip() or "unknown"
            raise IndexWriteError(
                f"another `lci index` (process {holder}) is writing {index_dir}",
                hint="wait for it to finish, then run the command again",
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def commit(index_dir: Path, folder: Path, shards: dict[str, tuple[Path, str]], manifest: Manifest) -> Manifest:
    """Publish shards written into the staging folder.

    Args:
        index_dir: The index folder.
        folder: The staging folder.
        shards: Role to (path in the staging folder, suffix of its final name).
        manifest: Everything but `shards`.
    Returns:
        The manifest as written.
    """
    named: dict[str, Shard] = {}
    for role, (path, suffix) in sorted(shards.items()):
        digest = _digest(path)
        name = f"{role}-{digest[:16]}{suffix}"
        final = index_dir / name
        if not final.exists():
            os.replace(path, final)
        named[role] = Shard(name, shard_bytes(final), digest)
    from dataclasses import replace

    manifest = replace(manifest, shards=named)
    temporary = folder / MANIFEST
    with temporary.open("w", encoding="utf-8") as handle:
        handle.write(manifest.dumps())
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(temporary, index_dir / MANIFEST)
    _sync_folder(index_dir)
    _collect(index_dir, {shard.name for shard in named.values()})
    return manifest


def _digest(path: Path) -> str:
    """Digest of a shard's content; its files are flushed to the disk on the way."""
    digest = hashlib.blake2b(digest_size=16)
    for item in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if item.is_file():
            with item.open("rb") as handle:
                os.fsync(handle.fileno())
                digest.update(f"{item.relative_to(path).as_posix()}\0{item.stat().st_size}\0".encode())
                while block := handle.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not every file system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _collect(index_dir: Path, keep: set[str]) -> None:
    for item in index_dir.iterdir():
        if item.name in keep or item.name in (MANIFEST, _LOCK, ".gitignore") or item.name.startswith("tmp-"):
            continue
        if item.name.split("-")[0] in ("dense", "bm25", "symbols", "graph", "tokens"):
            if item.is_dir():
                shutil.rmtree(item, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    item.unlink()
