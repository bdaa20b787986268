"""The use cases: the only module that wires configuration, indexing and search together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py import config
from lci_py.errors import BadPathError, IndexWriteError

if TYPE_CHECKING:
    from lci_py.config import Settings
    from lci_py.search.session import Session
    from lci_py.types import BuildSummary, FileEntry, Skip

__all__ = ["Session", "build_index", "dry_run", "find_root", "open_session", "status"]


def find_root(root: str | None) -> Path:
    """The folder a command works on: as given, else the nearest parent with an index, else the git root, else here."""
    if root is None:
        return config.find_root(None)
    # os.path rather than Path: it answers False, not PermissionError, below a folder that may not be searched.
    if not os.path.isdir(root):
        what = "is not a folder" if os.path.exists(root) else "does not exist"
        raise BadPathError(f"{root} {what}", hint="give a folder")
    return Path(root).resolve()


def _index_dir(root: Path, settings: Settings) -> Path:
    return settings.index_dir or root / config.INDEX_FOLDER


def build_index(
    path: str | None,
    *,
    full: bool = False,
    jobs: int | None = None,
    model: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> BuildSummary:
    """Build or refresh the index of a folder.

    Raises:
        BadPathError, BadModelError, ConfigError, IndexWriteError: see errors.py.
    """
    from dataclasses import replace

    from lci_py.index.build import BuildOptions, build, default_jobs

    root = find_root(path)
    settings, warnings = config.load(root, {"jobs": jobs, "model": model})
    index_dir = _index_dir(root, settings)
    if settings.index_dir is None and index_dir.is_symlink():
        # It may have come with a clone, and the writer cleans up in the folder that it leads to.
        raise IndexWriteError(f"{index_dir} is a symbolic link", hint="remove it, or name its target in LCI_INDEX_DIR")
    options = BuildOptions(
        settings.walk_options(), settings.jobs or default_jobs(), full, settings.model, settings.limits()
    )
    summary = build(root, index_dir, options, progress)
    return replace(summary, warnings=(*warnings, *summary.warnings)) if warnings else summary


def dry_run(path: str | None) -> tuple[list[FileEntry], list[Skip]]:
    """The files that would be indexed, and what is left out and why, content included."""
    from lci_py.source.walk import content_reason, walk
    from lci_py.source.worker import read_file
    from lci_py.types import Skip

    root = find_root(path)
    settings, _ = config.load(root)
    walked = walk(root, settings.walk_options())
    files, skipped = [], list(walked.skipped)
    for entry in walked.files:
        data = read_file(str(root), entry.path)
        reason = data if isinstance(data, str) else content_reason(entry.path, data, settings.max_line_bytes)
        if reason:
            skipped.append(Skip(entry.path, reason))
        else:
            files.append(entry)
    return files, sorted(skipped, key=lambda skip: (skip.path, skip.reason))


def open_session(root: str | None, model: str | None = None) -> Session:
    """Open the index around `root` for searching.

    Raises:
        NoIndexError, ShardVersionError, DamagedIndexError: see errors.py.
    """
    from lci_py.search.session import Session

    where = find_root(root)
    settings, _ = config.load(where, {"model": model})
    return Session(
        where,
        _index_dir(where, settings),
        snippet=settings.snippet,
        limit=settings.limit,
        model=settings.model,
    )


def status(root: str | None) -> dict[str, Any]:
    """What is indexed, as one JSON-able object."""
    from lci_py.index.manifest import BUILT_AT
    from lci_py.search.present import stale_files

    with open_session(root) as session:
        manifest = session.manifest
        stale = stale_files(session)
        built = datetime.strptime(manifest.built_at, BUILT_AT).replace(tzinfo=timezone.utc)
        counts = manifest.counts
        return {
            "root": str(session.root),
            "index_dir": str(session.index_dir),
            "generation": manifest.generation,
            "built_at": manifest.built_at,
            "age_seconds": max(0, int(time.time() - built.timestamp())),
            "commit": manifest.commit,
            "branch": manifest.branch,
            "model": {key: value for key, value in manifest.model.items() if key != "stamp"},
            "files": counts["files"],
            "files_by_language": counts["files_by_language"],
            "symbols": counts["symbols"],
            "symbols_by_kind": counts["symbols_by_kind"],
            "chunks": counts["chunks"],
            "edges_by_kind": counts["edges_by_kind"],
            "shards": [{"name": shard.name, "bytes": shard.bytes} for shard in manifest.shards.values()],
            "bytes_on_disk": sum(shard.bytes for shard in manifest.shards.values()),
            "stale_files": len(stale),
            "stale_paths": stale[:20],
            "skipped_by_reason": counts["skipped_by_reason"],
            "limited_by_reason": counts.get("limited_by_reason", {}),
            "limited": counts.get("limited", []),
            "health": "damaged" if session.problems() else "stale" if stale else "ok",
        }
