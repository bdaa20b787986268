"""The manifest: the small file that names the shards, written last. What it names is the index; all else is debris."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lci_py.errors import DamagedIndexError, NoIndexError, ShardVersionError

#: Version history stands in docs/index-format.md.
FORMAT = 1
MANIFEST = "manifest.json"
_MAX_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Shard:
    """One shard on disk: a file, or a folder of files."""

    name: str
    bytes: int
    sha: str  # digest over names, sizes and contents


@dataclass(frozen=True, slots=True)
class Manifest:
    format: int
    generation: int
    built_at: str  # UTC, ISO 8601
    commit: str | None
    branch: str | None
    program: str
    model: dict[str, Any]  # name, sha256, dimension
    settings: dict[str, Any]
    files_digest: str  # of every indexed file's path, size and modification time, and the skipped ones
    counts: dict[str, Any] = field(default_factory=dict)
    shards: dict[str, Shard] = field(default_factory=dict)

    def dumps(self) -> str:
        return json.dumps(asdict(self), indent=1, sort_keys=True, ensure_ascii=True) + "\n"


def read_manifest(index_dir: Path) -> Manifest:
    """The index that a folder holds.

    Raises:
        NoIndexError: There is none.
        ShardVersionError: It is in a format this build does not read.
        DamagedIndexError: It is not a manifest, or a shard is missing or has another size.
    """
    path = index_dir / MANIFEST
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise DamagedIndexError(f"{MANIFEST} is larger than a manifest can be")
        data = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise NoIndexError(str(index_dir.parent)) from None
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedIndexError(f"{MANIFEST} cannot be read ({error})") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        found = data.get("format") if isinstance(data, dict) else None
        raise ShardVersionError(str(path), found=found, readable=FORMAT)
    try:
        shards = {name: Shard(**shard) for name, shard in data.pop("shards").items()}
        manifest = Manifest(**data, shards=shards)
        for shard in shards.values():
            if "/" in shard.name or shard.name.startswith(".") or shard_bytes(index_dir / shard.name) != shard.bytes:
                raise DamagedIndexError(f"{shard.name} is missing or has another size than when it was written")
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise DamagedIndexError(f"{MANIFEST} has unexpected content ({error})") from error
    return manifest


def shard_bytes(path: Path) -> int:
    """Size of a shard, -1 if it is not there."""
    try:
        if path.is_dir():
            return sum(item.stat().st_size for item in sorted(path.rglob("*")) if item.is_file())
        return path.stat().st_size
    except OSError:
        return -1
