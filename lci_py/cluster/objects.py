"""The store of a fleet: objects named by their content, in a folder, in memory or in a bucket, through fsspec.

Whoever can write to the store can put anything there, and a transfer can break off. So an object is compared with its
digest before it is opened; the digests come from the sealed manifest of the fleet. Nothing is unpickled.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.errors import IndexError_, IndexWriteError, LciError, ShardMissingError, UsageError
from lci_py.index.store.manifest import shard_digest
from lci_py.source.repository.files import replace_file
from lci_py.source.text import blake2b

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: A name of an object: its role, its whole digest, and a suffix.
NAME = re.compile(r"[a-z][a-z0-9]*-[0-9a-f]{32}(\.[a-z]+)?", re.ASCII)
#: The same, or what a copy was called that broke off.
_LISTED = re.compile(rf"{NAME.pattern}(\.\d+)?", re.ASCII)
#: An object that is stored again gets a new time if it is older than this, so that nobody takes it for debris.
_FRESH = 3600.0
_BLOCK = 1 << 20
#: Nanoseconds from the moment when an object was fetched until it is open for sure.
_OPENING = 60_000_000_000
_FOLDER = "objects"


class NamedObject(NamedTuple):
    """The name and size of an object in the store."""

    name: str
    bytes: int

    @property
    def sha(self) -> str:
        """The digest of the content, which is part of the name: BLAKE2b, 16 bytes in hex."""
        return self.name.partition("-")[2].partition(".")[0]


class StoreError(IndexError_):
    """The store of a fleet cannot be reached, or an object in it is damaged."""

    code = "fleet_store"


class Objects:
    """Reads and writes the objects of one store."""

    def __init__(self, url: str) -> None:
        """Open a store: a folder, or a URL that fsspec knows (`s3://bucket/path`, `memory://name`).

        Raises:
            UsageError: fsspec is not installed, or does not know the URL.
        """
        try:
            import fsspec
        except ImportError:
            raise UsageError("a fleet needs fsspec", hint="pip install 'lci-py[cluster]'") from None
        self.url = url
        try:
            self._files, path = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"the store {url!r} cannot be used: {error}", hint="give a folder or a URL") from None
        self._base = path.rstrip("/")
        protocols = self._files.protocol
        self._local = "file" in (protocols if isinstance(protocols, tuple) else (protocols,))

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """A context manager that converts errors of reading an object to ShardMissingError or StoreError."""
        try:
            yield
        except LciError:
            raise
        except FileNotFoundError:
            raise ShardMissingError(f"{self.url} has no {name}", hint="make it with `lci cluster index`") from None
        except Exception as error:  # each file system of fsspec has errors of its own
            why = f"{self.url}: {name} cannot be read ({_reason(error)})"
            raise StoreError(why, hint="check that the store exists") from error

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """A context manager that converts errors of writing or removing an object to IndexWriteError."""
        try:
            yield
        except Exception as error:
            why = f"{self.url}: {name} cannot be written ({_reason(error)})"
            raise IndexWriteError(why, hint="check the permissions of the store") from error

    def read(self, name: str, max_bytes: int) -> bytes:
        """Read a small object that is not named by its content.

        Raises:
            ShardMissingError: The object does not exist.
            StoreError: The object cannot be read, or has more than `max_bytes` bytes.
        """
        with self._reading(name), self._files.open(f"{self._base}/{name}", "rb") as file:
            data: bytes = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise StoreError(
                f"{self.url}: {name} is larger than any object may be", hint="check who else writes to the store"
            )
        return data

    def replace(self, name: str, data: bytes) -> None:
        """Write, atomically, an object that is not named by its content. Raises the errors of `put`."""
        path = f"{self._base}/{name}"
        with self._writing(name):
            self._files.makedirs(self._base, exist_ok=True)
            if not self._local:  # these put an object whole or not at all
                self._files.pipe_file(path, data)
                return
            replace_file(path, data)

    def put(self, role: str, path: Path, suffix: str) -> NamedObject:
        """Store a file as an object named by its content, unless the store already has it.

        Raises:
            IndexWriteError: The object cannot be written.
        """
        obj = NamedObject(f"{role}-{shard_digest(path)}{suffix}", path.stat().st_size)
        target = f"{self._base}/{_FOLDER}/{obj.name}"
        with self._writing(obj.name):
            if self._is_there(target, obj.bytes):
                return obj
            self._files.makedirs(f"{self._base}/{_FOLDER}", exist_ok=True)
            # Under another name first, where a copy can break off: nobody takes half of it for the object.
            partial = f"{target}.{os.getpid()}" if self._local else target
            self._files.put_file(str(path), partial)
            if self._local:
                os.replace(partial, target)
        return obj

    def _is_there(self, path: str, size: int) -> bool:
        """Whether an object is stored, and will not be removed as old before a fleet names it."""
        try:
            info = self._files.info(path)
        except FileNotFoundError:
            return False
        if info["type"] != "file" or info["size"] != size:
            return False
        if self._local:
            with suppress(OSError):
                os.utime(path)
            return True
        return time.time() - self._written(path) < _FRESH

    def _written(self, path: str) -> float:
        """When an object was written, in seconds since 1970; the present time if the store does not say."""
        try:
            seconds: float = self._files.modified(path).timestamp()
        except (NotImplementedError, FileNotFoundError):
            return time.time()
        return seconds

    def written(self, name: str) -> float:
        """When the object `name` was written, in seconds since 1970. Raises ShardMissingError, StoreError."""
        with self._reading(name):
            return self._written(f"{self._base}/{_FOLDER}/{name}")

    def fetch(self, obj: NamedObject, target: Path) -> None:
        """Copy an object into a new file, and compare it with its digest.

        Raises:
            ShardMissingError: The store does not have the object.
            StoreError: The object cannot be read, or is damaged.
            IndexWriteError: The file cannot be written.
        """
        partial = target.with_name(f"{target.name}.{os.getpid()}")
        try:
            partial.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(partial, flags, 0o600), "wb") as file:
                for block in self._blocks(obj):
                    try:
                        file.write(block)
                    except OSError as error:
                        raise IndexWriteError(f"{target.parent}: {error.strerror}", hint="free some space") from error
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)

    def content(self, obj: NamedObject) -> bytes:
        """Read a small object. Raises the errors of `fetch`."""
        return b"".join(self._blocks(obj))

    def _blocks(self, obj: NamedObject) -> Iterator[bytes]:
        """Yields the content of an object in blocks, and checks its digest after the last block."""
        digest, rest = blake2b(digest_size=16), obj.bytes
        with self._reading(obj.name), self._files.open(f"{self._base}/{_FOLDER}/{obj.name}", "rb") as source:
            while rest >= 0 and (block := source.read(min(_BLOCK, rest + 1))):
                rest -= len(block)
                digest.update(block)
                yield block
        if rest or digest.hexdigest() != obj.sha:
            raise StoreError(
                f"{self.url}: {obj.name} has changed since it was written",
                hint="run `lci cluster index` for it again",
            )

    def listed(self) -> list[NamedObject]:
        """All objects of the store, sorted by name, including incomplete copies.

        Raises:
            StoreError: The objects cannot be listed.
        """
        try:
            with self._reading(_FOLDER):
                infos = self._files.ls(f"{self._base}/{_FOLDER}", detail=True)
        except ShardMissingError:
            return []
        entries = [(str(info["name"]).rpartition("/")[2], info) for info in infos if info["type"] == "file"]
        return sorted(NamedObject(name, int(info["size"] or 0)) for name, info in entries if _LISTED.fullmatch(name))

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects. Raises the errors of `put`."""
        for name in names:
            # Another run may be faster.
            with self._writing(name), suppress(FileNotFoundError):
                self._files.rm_file(f"{self._base}/{_FOLDER}/{name}")


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class Cache:
    """Keeps fetched objects in a folder of this user, bounded in bytes: the least recently used are removed. It is for
    one thread at a time."""

    def __init__(self, objects: Objects, folder: Path, max_bytes: int) -> None:
        """Objects used in the last minute stay in any case, as they may not be open yet."""
        self.objects, self.folder, self._max_bytes = objects, folder, max_bytes
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def path(self, obj: NamedObject) -> Path:
        """The file of an object, fetched if necessary. A reader that has opened it can use it even after its removal.

        Raises the errors of `Objects.fetch`.
        """
        path = self.folder / obj.name
        if self._is_there(path, obj):
            with suppress(OSError):
                os.utime(path)
        else:
            self.objects.fetch(obj, path)
            self._evict()
        return path

    @staticmethod
    def _is_there(path: Path, obj: NamedObject) -> bool:
        try:
            info = os.lstat(path)
        except OSError:
            return False
        return stat.S_ISREG(info.st_mode) and info.st_size == obj.bytes

    def _evict(self) -> None:
        files = []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    info = entry.stat(follow_symlinks=False)
                    files.append((info.st_mtime_ns, entry.name, info.st_size))
        total = sum(size for _, _, size in files)
        for mtime, name, size in sorted(files):
            if total <= self._max_bytes or mtime > time.time_ns() - _OPENING:
                break
            with suppress(OSError):
                (self.folder / name).unlink()
            total -= size
