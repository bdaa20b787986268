"""Parts of `lci status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Shard

#: Paths shown of a long list.
EXAMPLES = 20


def sizes(shards: Mapping[str, Shard]) -> list[dict[str, Any]]:
    """The name and the bytes of each shard."""
    return [{"name": shard.name, "bytes": shard.bytes} for shard in shards.values()]


def total_bytes(shards: Mapping[str, Shard]) -> int:
    """Of all of some shards."""
    return sum(shard.bytes for shard in shards.values())


def skipped_paths(files: FileTable, reasons: Iterable[str]) -> dict[str, list[str]]:
    """The first paths that were skipped for each reason; every one of `reasons` is there."""
    found: dict[str, list[str]] = {reason: [] for reason in reasons}
    skipped = [(skip.path, skip.reason) for skip in files.skipped()]
    skipped += [(item.path, item.reason) for item in files.known() if item.slot < 0]
    for path, reason in sorted(skipped):
        paths = found.setdefault(reason, [])
        if len(paths) < EXAMPLES:
            paths.append(path)
    return found
