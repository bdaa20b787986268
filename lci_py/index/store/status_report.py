"""The report of `lci status`: what is indexed, how large the index is, and what is wrong with it."""

from __future__ import annotations

import os
import stat
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from lci_py.errors import GraphPendingError
from lci_py.index.store.background_run import last_failure
from lci_py.index.store.cache import size_of
from lci_py.index.store.manifest import BUILT_AT
from lci_py.source.repository.git import is_tracked
from lci_py.source.repository.walk import NESTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Manifest, Shard

#: Paths shown of a long list.
_EXAMPLES = 20


def status_report(
    root: Path,
    index_dir: Path,
    manifest: Manifest,
    stale: Sequence[str],
    skipped: Mapping[str, Sequence[str]],
    *,
    damaged: bool,
) -> dict[str, Any]:
    """The report as a JSON object.

    Args:
        stale: The paths of files that have changed since they were indexed.
        skipped: The result of `skipped_paths`.
        damaged: Whether a shard is missing or damaged.
    """
    built = datetime.strptime(manifest.built_at, BUILT_AT).replace(tzinfo=timezone.utc)
    counts = manifest.counts
    tracked, exposed = exposures(index_dir)
    warnings = [*exposed]
    if not manifest.is_complete:
        warnings.append(f"{(pending := GraphPendingError()).message}: {pending.hint}")
    if failure := last_failure(index_dir):
        warnings.append(f"the last run in the background failed: {failure}")
    segments: list[dict[str, Any]] = [
        {
            **segment.counts,
            "bytes": sum(shard.bytes for shard in segment.shards.values()),
            "shards": _sizes(segment.shards),
        }
        for segment in manifest.segments
    ]
    return {
        "root": str(root),
        "index_dir": str(index_dir),
        "generation": manifest.generation,
        "complete": manifest.is_complete,
        "built_at": manifest.built_at,
        "age_seconds": max(0, int(time.time() - built.timestamp())),
        "commit": manifest.commit,
        "branch": manifest.branch,
        "branches": manifest.settings.get("branch_tips", []),
        "model": {key: value for key, value in manifest.model.items() if key not in ("stamp", "reads_text")},
        "files": counts["files"],
        "files_by_language": counts["files_by_language"],
        "errors_by_language": counts.get("errors_by_language", {}),
        "symbols": counts["symbols"],
        "symbols_by_kind": counts["symbols_by_kind"],
        "chunks": counts["chunks"],
        "pending_chunks": counts["pending_chunks"],
        "edges_by_kind": counts["edges_by_kind"],
        "segments": segments,
        "shards": [shard for segment in segments for shard in segment["shards"]] + _sizes(manifest.shards),
        "bytes_on_disk": sum(shard.bytes for _, shard in manifest.all_shards()),
        "cache_bytes": size_of(index_dir),
        "stale_files": len(stale),
        "stale_paths": list(stale[:_EXAMPLES]),
        "skipped_by_reason": counts["skipped_by_reason"],
        "skipped_paths": skipped,
        "nested_repositories": list(skipped.get(NESTED, ())),
        "ignore_files": manifest.settings.get("use_ignore_files") is not False,
        "allow": manifest.settings.get("allow") or [],
        "limited_by_reason": counts["limited_by_reason"],
        "limited": counts["limited"],
        "tracked_by_git": tracked,
        "warnings": warnings,
        "health": "damaged" if damaged else "stale" if stale else "ok",
    }


def exposures(index_dir: Path) -> tuple[bool, tuple[str, ...]]:
    """(whether git tracks files of the index folder, warnings that the folder is tracked or open to other users)."""
    warnings = []
    tracked = is_tracked(index_dir)
    if tracked:
        warnings.append(f"{index_dir} is tracked by git: take it out with `git rm -r --cached {index_dir.name}`")
    try:
        mode = os.stat(index_dir).st_mode
    except OSError:
        mode = 0
    if mode & stat.S_IWOTH:
        warnings.append(f"every user can write to {index_dir}: `chmod o-w` it")
    return tracked, tuple(warnings)


def _sizes(shards: Mapping[str, Shard]) -> list[dict[str, Any]]:
    return [{"name": shard.name, "bytes": shard.bytes} for shard in shards.values()]


def lost_lines(files: Iterable[tuple[str, int, int]]) -> list[dict[str, Any]]:
    """The files with the most unparsed lines; `files` has (path, number of unparsed lines, number of lines) of each."""
    worst = sorted((-lost, path, lines) for path, lost, lines in files if lost)[:_EXAMPLES]
    return [{"path": path, "lines": -lost, "of": lines} for lost, path, lines in worst]


def skipped_paths(files: FileTable, reasons: Iterable[str]) -> dict[str, list[str]]:
    """Maps each reason to the first paths that were skipped for it; each of `reasons` has an entry."""
    examples: dict[str, list[str]] = {reason: [] for reason in reasons}
    skipped = [(skip.path, skip.reason) for skip in files.skipped()]
    skipped += [(item.path, item.reason) for item in files.states() if item.slot < 0]
    for path, reason in sorted(skipped):
        paths = examples.setdefault(reason, [])
        if len(paths) < _EXAMPLES:
            paths.append(path)
    return examples
