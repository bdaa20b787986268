"""The counts of the manifest, and the summary that `lci index` prints."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.index.build.counts import largest_first, reasons
from lci_py.index.shards.numbering import COUNTED
from lci_py.source.repository.workspace import WHY, is_workspace, missing
from lci_py.source.syntax.limits import NOT_LINKED, UNPARSED
from lci_py.types.index import BuildSummary
from lci_py.types.source import Skip

if TYPE_CHECKING:
    from lci_py.callgraph.edges import Links
    from lci_py.index.build.generation import Generation
    from lci_py.index.store.manifest import Manifest
    from lci_py.source.repository.walk import WalkResult

_NAMED = 100  # entries of `limited`, the manifest's list of files of which only a part is indexed
_EXAMPLES = 5  # files that a warning names
_NESTED = 20  # nested repositories of a summary


def counts_of(generation: Generation, walked: WalkResult) -> dict[str, object]:
    """The manifest's counts, from the living files of a generation and from the walk."""
    living = [item for item in generation.known if item.slot >= 0]
    skipped = [*walked.skipped, *(Skip(item.path, item.reason) for item in generation.known if item.slot < 0)]
    alive = {kind: sum(state.living_rows(kind) for state in generation.segments) for kind in COUNTED[1:]}
    pending = sum(state.living_chunks for state in generation.segments if "dense" not in state.segment.shards)
    return {
        "files": len(living),
        **alive,
        "pending_chunks": pending,
        "files_by_language": largest_first(generation.counts.languages),
        "symbols_by_kind": largest_first(generation.counts.kinds),
        "edges_by_kind": {},  # until they are linked
        "skipped_by_reason": reasons(skip.reason for skip in skipped),
        "limited_by_reason": reasons(item.reason for item in living if item.reason),
        "limited": [{"path": item.path, "reason": item.reason} for item in living if item.reason][:_NAMED],
        "unparsed": [item.path for item in living if item.reason in UNPARSED][:_EXAMPLES],
        "bytes_read": sum(item.size for item in living),
        "files_with_errors": sum(generation.counts.errors.values()),
        "errors_by_language": largest_first(generation.counts.errors),
    }


def with_graph(counts: Mapping[str, Any], links: Links, generation: Generation) -> dict[str, Any]:
    """A copy of the manifest's counts, with the counts of the call graph added."""
    living = [item.path for item in generation.known if item.slot >= 0]
    unlinked = [{"path": living[file], "reason": NOT_LINKED} for file in links.unlinked()]
    by_reason = {**counts["limited_by_reason"], NOT_LINKED: len(unlinked)} if unlinked else counts["limited_by_reason"]
    return {
        **counts,
        "edges_by_kind": links.edges_by_kind(),
        "limited_by_reason": by_reason,
        "limited": [*unlinked, *counts["limited"]][:_NAMED],
    }


def summary_of(root: Path, manifest: Manifest, walked: WalkResult, started: float, *, changed: bool) -> BuildSummary:
    """Make the summary of a run; `started` is the `time.perf_counter` value at its start."""
    counts = manifest.counts
    return BuildSummary(
        root=str(root),
        generation=manifest.generation,
        changed=changed,
        files=counts["files"],
        files_by_language=largest_first(Counter(counts["files_by_language"])),
        symbols_by_kind=largest_first(Counter(counts["symbols_by_kind"])),
        chunks=counts["chunks"],
        edges_by_kind=counts["edges_by_kind"],
        skipped_by_reason=largest_first(Counter(counts["skipped_by_reason"])),
        seconds=time.perf_counter() - started,
        bytes_read=counts["bytes_read"],
        bytes_on_disk=sum(shard.bytes for _, shard in manifest.all_shards()),
        warnings=(*_warnings(manifest), *_missing(root)),
        limited_by_reason=largest_first(Counter(counts["limited_by_reason"])),
        branches={tip["name"]: tip["files"] for tip in manifest.settings.get("branch_tips", ()) if not tip["problem"]},
        nested_repositories=tuple(walked.nested()[:_NESTED]),
    )


def _missing(root: Path) -> tuple[str, ...]:
    """Warnings about repositories of a workspace that cannot be read."""
    if not is_workspace(root):
        return ()
    return tuple(f"{name} is not indexed: {path}: {WHY[why]}" for name, (path, why) in sorted(missing(root).items()))


def _warnings(manifest: Manifest) -> tuple[str, ...]:
    """Warnings about files on which the program failed, and about branches that cannot be read."""
    counts = manifest.counts
    unlinked = [item["path"] for item in counts["limited"] if item["reason"] == NOT_LINKED][:_EXAMPLES]
    failures = (
        (counts["unparsed"], UNPARSED, "could not parse {}: searched as text only, please report it"),
        (unlinked, (NOT_LINKED,), "could not link {}: its calls lead nowhere, please report it"),
    )
    warnings = []
    for paths, limits, text in failures:
        if paths:
            count = sum(counts["limited_by_reason"].get(reason, 0) for reason in limits)
            more = f" and {count - len(paths)} more" if count > len(paths) else ""
            warnings.append(text.format(", ".join(paths) + more))
    for tip in manifest.settings.get("branch_tips", ()):
        if tip["problem"]:
            warnings.append(f"branch {tip['name']!r} is not indexed: {tip['problem']}")
    return tuple(warnings)
