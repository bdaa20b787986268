"""The manifest: the small file that names the shards, written last. Files that it does not name are garbage.

The manifest and the shards may come from anywhere, such as a clone: names, sizes, kinds of file and checksums are
checked before anything is opened, mapped or allocated.
"""

from __future__ import annotations

import json
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import (
    DamagedIndexError,
    IndexError_,
    Indexing,
    NoIndexError,
    ShardMissingError,
    ShardVersionError,
    UntrustedIndexError,
    WrongRootError,
)
from lci_py.index.shards.numbering import COUNTED
from lci_py.index.store.seal import is_sealed, seal
from lci_py.source.repository.files import open_regular
from lci_py.source.text import blake2b
from lci_py.types.record import asdict, dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Callable

#: Version of the format; docs/index-format.md has the history.
FORMAT = 26
MANIFEST = "manifest.json"
BUILT_AT = "%Y-%m-%dT%H:%M:%SZ"
#: The same as a regular expression: importing `strptime` takes as long as reading the manifest.
_BUILT_AT = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", re.ASCII)
_MAX_BYTES = 4_000_000
#: A shard's name: its role, the first half of its digest, and a suffix.
SHARD_NAME = re.compile(r"([a-z][a-z0-9]*)-[0-9a-f]{16}(\.[a-z]+)?", re.ASCII)
#: The file that stays when the writer of the cache is killed.
JOURNAL = "cache.sqlite-journal"
#: Prefix of the names of staging folders.
STAGING = "tmp-"
_TABLES = ("files_by_language", "symbols_by_kind", "edges_by_kind", "skipped_by_reason", "limited_by_reason")
_NUMBERS = ("files", "symbols", "units", "chunks", "bytes_read", "pending_chunks", "files_with_errors")


@dataclass(frozen=True, slots=True)
class Shard:
    """A file of the index, as described in the manifest."""

    name: str
    bytes: int
    sha: str  # digest of the content
    # If the times are the same, the digest need not be checked. A program can set the modification time, but not the
    # change time.
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Segment:
    """Some files of the repository, with their shards. A segment never changes; its counts include dead rows."""

    counts: dict[str, int]  # rows of each kind of `numbering.COUNTED`
    shards: dict[str, Shard]  # by role: symbols, bm25, facts, related; when embedded, dense and maybe tokens


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation of an index: its shards, and the settings and counts of the build."""

    format: int
    generation: int
    built_at: str  # UTC, ISO 8601
    commit: str | None
    branch: str | None
    program: str
    model: dict[str, Any]  # name, sha256, dimension
    settings: dict[str, Any]
    counts: dict[str, Any] = field(default_factory=dict)  # of living files only
    segments: tuple[Segment, ...] = ()
    shards: dict[str, Shard] = field(default_factory=dict)  # global, by role: files, graph, branches

    @property
    def is_complete(self) -> bool:
        """Whether there is a graph. Generation 0, which a first run publishes once text can be searched, has none."""
        return "graph" in self.shards

    def all_shards(self) -> list[tuple[str, Shard]]:
        """(role, shard) for every shard of the generation."""
        tables = [*(segment.shards for segment in self.segments), self.shards]
        return [item for table in tables for item in table.items()]

    def with_shards(self, change: Callable[[str, Shard], Shard]) -> Manifest:
        """A copy of the manifest in which `change(role, shard)` replaces each shard."""

        def changed(shards: dict[str, Shard]) -> dict[str, Shard]:
            return {role: change(role, shard) for role, shard in shards.items()}

        segments = tuple(Segment(segment.counts, changed(segment.shards)) for segment in self.segments)
        return replace(self, segments=segments, shards=changed(self.shards))

    def dumps(self) -> str:
        """The text of the manifest file: the values, their seal, and a digest over both.

        Raises:
            TrustKeyError: The key of the seal cannot be made or used.
        """
        data = asdict(self)
        data["seal"] = seal(canonical(data))
        return json.dumps({**data, "digest": _own_digest(data)}, indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def canonical(data: Any) -> bytes:
    """Write data as JSON, with the same text for equal data, so that the text can be sealed."""
    return json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _own_digest(data: dict[str, Any]) -> str:
    """A digest of the values and the seal: tells damage (a flipped byte) from an index of another user."""
    return blake2b(canonical(data), digest_size=16).hexdigest()


def read_manifest(index_dir: Path, *, trust: bool = False) -> Manifest:
    """Read the manifest of an index folder. `OpenIndex` checks whether its shards exist.

    Args:
        trust: Accept the manifest whoever wrote it.
    Raises:
        NoIndexError: There is no manifest.
        ShardVersionError: The manifest is in a format that this build does not read.
        DamagedIndexError: The file is not a manifest.
        UntrustedIndexError: The manifest was not written by this user on this machine.
        TrustKeyError: The key of the seal cannot be used.
    """
    path = index_dir / MANIFEST
    try:
        data = json.loads(_read(path))
    except (FileNotFoundError, NotADirectoryError):
        raise NoIndexError(str(index_dir.parent)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedIndexError(f"{MANIFEST} cannot be read ({error})") from error
    if not isinstance(data, dict):
        raise DamagedIndexError(f"{MANIFEST} is not a JSON object")
    if data.get("format") != FORMAT or isinstance(data["format"], bool):
        raise ShardVersionError(str(path), version=data.get("format"), readable=FORMAT)
    if data.pop("digest", None) != _own_digest(data):
        raise DamagedIndexError(f"{MANIFEST} does not match its own checksum")
    seal = data.pop("seal", None)
    if not trust and not is_sealed(canonical(data), seal):
        raise UntrustedIndexError(str(index_dir))
    try:
        return manifest_of(data)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise DamagedIndexError(f"{MANIFEST} has unexpected content ({error})") from error


def manifest_of(data: dict[str, Any]) -> Manifest:
    """Make a manifest from its parsed JSON.

    Raises:
        TypeError, AttributeError, KeyError, ValueError: A value is missing or invalid.
    """
    shards = _shards(data.pop("shards"))
    segments = tuple(Segment(item["counts"], _shards(item["shards"])) for item in data.pop("segments"))
    manifest = Manifest(**data, segments=segments, shards=shards)
    check_manifest(manifest)
    return manifest


def _shards(data: dict[str, Any]) -> dict[str, Shard]:
    return {role: Shard(**shard) for role, shard in data.items()}


def _read(path: Path) -> str:
    with open(open_regular(path)[0], "rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError("it is too large for a manifest")
    return data.decode("utf-8")


def check_manifest(manifest: Manifest) -> None:
    """Raise ValueError (or the error of a wrong type) unless each value has the type and range that readers rely on."""
    counts, model = manifest.counts, manifest.model
    texts = [manifest.program, manifest.commit or "", manifest.branch or ""]
    texts += [manifest.settings.get("root", ""), *counts["unparsed"]]
    names, tips = (manifest.settings.get(key, []) for key in ("branches", "branch_tips"))
    if not isinstance(names, list) or not isinstance(tips, list):
        raise ValueError("the branches are not a list")
    texts += names
    texts += [tip[key] for tip in tips for key in ("name", "ref", "tip", "commit", "problem")]
    numbers = [manifest.generation, *(counts[name] for name in _NUMBERS), model["dimension"]]
    numbers += [tip["files"] for tip in tips]
    for role, shard in manifest.all_shards():
        numbers += [shard.bytes, shard.mtime_ns, shard.ctime_ns]
        match = SHARD_NAME.fullmatch(shard.name)
        if match is None or match[1] != role or not isinstance(shard.sha, str):
            raise ValueError(f"a shard has the invalid name {shard.name!r}")
    for segment in manifest.segments:
        rows = [segment.counts[kind] for kind in COUNTED]
        numbers += rows
        # Readers allocate arrays over all rows; each row takes at least a byte of the symbolic shard.
        if "bm25" not in segment.shards or max(rows) > segment.shards["symbols"].bytes:
            raise ValueError("a segment lacks its bm25 shard, or claims more rows than its symbolic shard can hold")
    for name in _TABLES:
        numbers += counts[name].values()
    numbers += counts.get("errors_by_language", {}).values()  # indexes of earlier programs have none
    texts += [item[key] for item in counts["limited"] for key in ("path", "reason")]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("a number is negative or of another type")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a value that must be a string is none")
    if _BUILT_AT.fullmatch(manifest.built_at) is None:
        raise ValueError("built_at is not a time")


# --- shards -------------------------------------------------------------------------------------------------------


class OpenIndex:
    """A manifest, whose shards are held (locked) while this is open: a writer deletes only shards that nobody holds."""

    def __init__(self, index_dir: Path, *, trust: bool = False) -> None:
        self.index_dir = index_dir
        self._held: list[int] = []
        self.manifest = read_manifest(index_dir, trust=trust)
        while not self._hold_all():
            # A writer may have published a newer index and deleted these shards since the manifest was read.
            newer = read_manifest(index_dir, trust=trust)
            if newer == self.manifest:
                break  # shards are really missing, which matters only to who needs them
            self.close()
            self.manifest = newer

    def close(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _hold_all(self) -> bool:
        paths = [self.index_dir / shard.name for _, shard in self.manifest.all_shards()]
        self._held += [handle for path in paths if (handle := hold(path, exclusive=False)) is not None]
        return all(os.path.lexists(path) for path in paths)  # checked under the locks

    def verified(self, role: str, segment: int | None = None, *, thoroughly: bool = False) -> Path:
        """Check that a shard is undamaged, and return its path.

        Args:
            segment: The number of the shard's segment; None for a global shard.
            thoroughly: Compare the digest even if the file's times are as expected. Otherwise readers check the
                checksums of the blocks they read.
        Raises:
            ShardMissingError: The shard does not exist.
            DamagedIndexError: The shard has another content.
        """
        owner = self.manifest if segment is None else self.manifest.segments[segment]
        shard = owner.shards.get(role)
        if shard is None or not os.path.lexists(self.index_dir / shard.name):
            raise ShardMissingError(f"the index has no {role} shard", hint=Indexing(flags="--full"))
        verify(self.index_dir, shard, thoroughly=thoroughly)
        return self.index_dir / shard.name

    def problems(self, *, thoroughly: bool) -> list[str]:
        """A message for each damaged shard. If `thoroughly`, all shards are read; otherwise `stat` is enough."""
        messages = []
        for role, shard in self.manifest.all_shards():
            try:
                if not os.path.lexists(self.index_dir / shard.name):
                    raise ShardMissingError(f"the index has no {role} shard")
                verify(self.index_dir, shard, thoroughly=thoroughly)
            except IndexError_ as error:
                messages.append(error.message)
        return messages


def hold(path: Path, *, exclusive: bool) -> int | None:
    """Lock a shard until the returned descriptor is closed; None if it cannot be locked.

    Raises:
        BlockingIOError: `exclusive` is set, and somebody else holds the shard.
    """
    import fcntl

    handle = None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        return handle
    except OSError as error:
        if handle is not None:
            os.close(handle)
        if exclusive and isinstance(error, BlockingIOError):
            raise
        return None  # gone, unreadable, or a file system without locks


def root_setting(root: Path, index_dir: Path) -> str:
    """The root as stored in the manifest: "" if the index folder is in the root, so that both can move; else a path."""
    return "" if index_dir.resolve().parent == root.resolve() else str(root.resolve())


def check_root(manifest: Manifest, root: Path, index_dir: Path) -> None:
    """Refuse an index of another repository.

    Raises:
        WrongRootError: The index was made for another root.
    """
    actual, expected = str(manifest.settings.get("root", "")), root_setting(root, index_dir)
    if expected and actual != expected:
        raise WrongRootError(str(index_dir), actual=actual or "another folder", expected=expected)


def verify(index_dir: Path, shard: Shard, *, thoroughly: bool = False) -> None:
    """Check a shard against the manifest: by `stat` if size and times are the same, else by the digest of its data."""
    path = index_dir / shard.name
    if not thoroughly and shard_state(path) == (shard.bytes, shard.mtime_ns, shard.ctime_ns):
        return
    try:
        digest = shard_digest(path, max_bytes=shard.bytes)
    except (OSError, ValueError) as error:
        raise DamagedIndexError(f"{shard.name} cannot be read ({getattr(error, 'strerror', '') or error})") from error
    if digest != shard.sha:
        raise DamagedIndexError(f"{shard.name} does not match its checksum")


def shard_state(path: Path) -> tuple[int, int, int]:
    """(size, modification time, change time) of a shard, in bytes and ns; -1 each if it is no regular file."""
    with suppress(OSError):
        info = os.lstat(path)
        if stat.S_ISREG(info.st_mode):
            return info.st_size, info.st_mtime_ns, info.st_ctime_ns
    return -1, -1, -1


def shard_digest(path: Path, *, max_bytes: int | None = None, sync: bool = False) -> str:
    """The digest of a shard's content; with `sync`, the file is flushed to the disk first.

    Raises:
        OSError: The file cannot be read, or is not a regular file.
        ValueError: The file is larger than `max_bytes` bytes.
    """
    digest = blake2b(digest_size=16)
    descriptor, info = open_regular(path)
    with open(descriptor, "rb") as file:
        if max_bytes is not None and info.st_size > max_bytes:
            raise ValueError("it is larger than when it was written")
        if sync:
            os.fsync(descriptor)
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
