"""`lci index`: look at the tree, do what has changed since the last run, publish the next generation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py import __version__
from lci_py.embed.folder import ModelFolder
from lci_py.embed.open import open_encoder
from lci_py.errors import DamagedIndexError, IndexError_, IndexWriteError, ShardVersionError
from lci_py.index.build.changes import Change, compare, settled_mtime
from lci_py.index.build.summary import counts_of, summary_of
from lci_py.index.shards.files import OURS, UNSETTLED, FileTable
from lci_py.index.store.manifest import (
    BUILT_AT,
    FORMAT,
    JOURNAL,
    SHARD_NAME,
    STAGING,
    Manifest,
    check_root,
    read_manifest,
    root_setting,
    shard_state,
    verify,
)
from lci_py.index.store.seal import cache_secret
from lci_py.source.repository.git import head
from lci_py.source.repository.walk import WalkOptions, WalkResult, walk
from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.types.search import BuildSummary

if TYPE_CHECKING:
    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.index.build.generation import Generation

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    walk: WalkOptions
    jobs: int
    full: bool = False  # believe nothing that is there
    model: Path | None = None  # None: the one in the package
    files: tuple[str, ...] | None = None  # look at nothing but these paths
    wait: float = 0.0  # seconds, for another writer
    defer_dense: bool = False  # leave the embedding to a later run
    segment_chunks: int = 50_000
    limits: Limits = DEFAULTS
    flags: tuple[str, ...] = ()  # predicates that ask for a feature flag
    watched: tuple[str, ...] = ()  # files below the root that these options come from
    only_refresh: bool = False  # raise rather than build anew
    branches: tuple[str, ...] | None = None  # to index beside the tree; None: those that the index has
    check_branches: bool = False  # raise if one of them is unknown


@dataclass(frozen=True, slots=True)
class _Tree:
    """The repository as this run found it."""

    root: Path
    index_dir: Path
    walked: WalkResult
    walked_ns: int


@dataclass(frozen=True, slots=True)
class _Before:
    """The generation that is there, and what has changed since."""

    manifest: Manifest
    table: FileTable
    change: Change | None  # None: nothing


def build(root: Path, index_dir: Path, options: BuildOptions, progress: Progress | None = None) -> BuildSummary:
    """Index `root` into `index_dir`, or bring the index there up to date.

    Raises:
        BadPathError: `root` cannot be read.
        BadModelError: The model cannot be used.
        IndexWriteError: The index cannot be written; an index that was there is untouched.
        ShardVersionError: It is of a newer format, and not to be rebuilt in full.
        UsageError: A branch is unknown, and that is to be checked.
    """
    started = time.perf_counter()
    report = progress or (lambda _stage, _done, _total: None)
    model = ModelFolder(options.model)
    if options.check_branches and options.branches:
        from lci_py.index.build.branches import check_names

        check_names(root, options.branches)
    _make_folder(root, index_dir)
    report("walk", 0, 0)
    noted: list[str] = []
    previous = _previous(index_dir, options)
    tree, before = _look(root, index_dir, previous, options, model, noted)
    if before is not None and _current(before, tree, options):
        manifest = _as_of_now(tree, before.manifest, options, model)
        return summary_of(tree.root, manifest, started, changed=False)
    from lci_py.index.store import (
        commit as store,
    )  # where there is nothing to do, importing it takes as long as the rest

    with store.staging(index_dir, options.wait) as folder:
        latest = _previous(index_dir, options)
        if latest != previous:
            # Under the lock: another writer has published a generation, maybe with files that were not there before.
            noted.clear()
            tree, before = _look(root, index_dir, latest, options, model, noted)
            if before is not None and _current(before, tree, options):
                return summary_of(tree.root, before.manifest, started, changed=False)
        try:
            manifest, generation = _publish(tree, before, latest, options, model, folder, report)
        except DamagedIndexError as error:
            if before is None or options.only_refresh:
                raise
            noted.append(f"{error.message}; rebuilt from nothing")
            (folder / "anew").mkdir()
            manifest, generation = _publish(tree, None, latest, options, model, folder / "anew", report)
    summary = summary_of(tree.root, manifest, started, changed=True)
    return replace(
        summary,
        warnings=(*noted, *summary.warnings),
        parsed_files=generation.parsed_files,
        reused_files=generation.reused_files,
        removed_files=generation.removed_files,
        embedded_chunks=generation.embedded_chunks,
    )


def _make_folder(root: Path, index_dir: Path) -> None:
    """Make the index folder before the walk: later on, it would be news in a folder that has been looked at."""
    if root.is_dir() and not index_dir.is_dir():
        with suppress(OSError):  # the writer's lock will say why
            index_dir.mkdir(parents=True)


def _look(
    root: Path,
    index_dir: Path,
    previous: Manifest | None,
    options: BuildOptions,
    model: ModelFolder,
    noted: list[str],
) -> tuple[_Tree, _Before | None]:
    """The repository of now, and what to start from."""
    walked_ns = time.time_ns()
    tree = _Tree(root, index_dir, walk_around(index_dir, root, options.walk), walked_ns)
    if previous is not None:
        check_root(previous, root, index_dir)
        model.recall(previous.model)
    before = None if options.full else _before(previous, tree, options, model, noted)
    if before is None and options.only_refresh:
        raise IndexWriteError("the index has to be built anew", hint="run `lci index`")
    return tree, before


def _before(
    previous: Manifest | None, tree: _Tree, options: BuildOptions, model: ModelFolder, noted: list[str]
) -> _Before | None:
    """What to start from; None if the index there, if any, is of no use. What a user should hear of it is noted."""
    settings = previous.settings if previous is not None else {}
    if previous is None or previous.program != _program() or previous.model.get("sha256") != model.sha256:
        return None
    if any(settings.get(name) != value for name, value in _lasting(options).items()):
        return None
    try:
        for _, shard in previous.all_shards():
            verify(tree.index_dir, shard)
        table = FileTable(tree.index_dir / previous.shards["files"].name)
        if table.matches(tree.walked.files):
            return _Before(previous, table, None)
        change = compare(str(tree.root), table.known(), tree.walked.files, tree.walked_ns, options.files)
    except (DamagedIndexError, KeyError) as error:
        noted.append(f"{error.message if isinstance(error, DamagedIndexError) else error}; rebuilt from nothing")
        return None
    return _Before(previous, table, change)


def _change(before: _Before) -> Change:
    return before.change if before.change is not None else Change(same=before.table.known())


def _current(before: _Before, tree: _Tree, options: BuildOptions) -> bool:
    """Whether there is nothing to do."""
    if before.change or (before.manifest.counts["pending_chunks"] and not options.defer_dense):
        return False
    if options.files is None and before.table.skipped() != list(tree.walked.skipped):
        return False
    was = before.manifest.settings.get("branches")
    if not (was if options.branches is None else was or options.branches):
        return True
    from lci_py.index.build.branches import Walked, names_of, up_to_date

    names, manifest = names_of(options.branches, before.manifest), before.manifest
    return up_to_date(tree.root, names, manifest, before.table, Walked(tree.walked, options.walk))


def _watched(tree: _Tree, options: BuildOptions) -> list[tuple[str, int]]:
    """What decides which files there are, with its mtime_ns; -1 if it is not there."""
    settings = [(name, _mtime(tree.root / name)) for name in options.watched]
    return [*tree.walked.folders, *tree.walked.rules, *settings]


def _to_remember(tree: _Tree, before: _Before | None, options: BuildOptions) -> list[tuple[str, int]]:
    """The same for the index to keep."""
    watched = _watched(tree, options)
    if options.files is None or before is None:
        return [(name, settled_mtime(mtime_ns, tree.walked_ns)) for name, mtime_ns in watched]
    # Not all that is new has been indexed: what was noticed is still to be noticed.
    stored = dict(before.table.folders())
    return [(name, stored.get(name, UNSETTLED)) for name, _ in watched]


def _publish(
    tree: _Tree,
    before: _Before | None,
    latest: Manifest | None,
    options: BuildOptions,
    model: ModelFolder,
    folder: Path,
    report: Progress,
) -> tuple[Manifest, Generation]:
    from lci_py.index.build.generation import BuildContext, GenerationBuilder
    from lci_py.index.build.graph_process import GraphProcess
    from lci_py.index.build.worker import Workplace
    from lci_py.index.store import commit as store

    encoder = lru_cache(maxsize=1)(partial(open_encoder, model, threads=max(1, options.jobs)))
    context = BuildContext(
        place=Workplace(
            str(tree.root),
            tree.index_dir,
            cache_secret(),
            texts=not model.builtin and encoder().reads_text,
            use_cache=not options.full,
            limits=options.limits,
            flags=options.flags,
        ),
        folder=folder,
        jobs=options.jobs,
        walked=tree.walked,
        walked_ns=tree.walked_ns,
        watched=_to_remember(tree, before, options),
        encoder=None if options.defer_dense else encoder,
        report=report,
        warm_up=_warm_up,
        segment_chunks=options.segment_chunks,
    )
    number = latest.generation + 1 if latest else 1
    with GraphProcess(options.jobs) as graph, GenerationBuilder(context, number, None if before else graph) as builder:
        generation = builder.anew() if before is None else builder.after(before.manifest, before.table, _change(before))
        from lci_py.index.build.branches import Before, build_branches, names_of
        from lci_py.index.build.global_shards import write_global_shards

        names = names_of(options.branches, latest)
        was = Before(before.manifest, before.table, _change(before)) if before else None
        branches = build_branches(context, options.walk, names, generation, was)
        shards, edges = write_global_shards(
            context, generation, (before.manifest, before.table) if before else None, graph, branches.shard
        )
        commit, branch = head(tree.root)
        manifest = Manifest(
            format=FORMAT,
            generation=number,
            built_at=datetime.now(timezone.utc).strftime(BUILT_AT),
            commit=commit,
            branch=branch,
            program=_program(),
            model={**(before.manifest.model if before else _model(encoder())), **model.record()},
            settings={**_lasting(options), "max_file_bytes": options.walk.max_file_bytes,
                      "include": list(options.walk.include), "exclude": list(options.walk.exclude),
                      "hidden": options.walk.hidden, "root": root_setting(tree.root, tree.index_dir),
                      **branches.settings(names)},
            counts=counts_of(generation, tree.walked, edges),
        )  # fmt: skip
        report("commit", 0, 0)
        manifest = store.commit(tree.index_dir, [state.segment for state in generation.segments], shards, manifest)
        builder.collect()
    return manifest, generation


def _mtime(path: Path) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return -1


def _program() -> str:
    return f"lci-py {__version__}"


def _lasting(options: BuildOptions) -> dict[str, Any]:
    """The settings that every record was made with: others mean that all are made anew."""
    return {**asdict(options.limits), "segment_chunks": options.segment_chunks, "feature_flags": list(options.flags)}


def _model(encoder: Encoder | ContextualEncoder) -> dict[str, Any]:
    return {
        "name": encoder.name,
        "sha256": encoder.sha256,
        "dimension": encoder.dimension,
        "reads_text": encoder.reads_text,
    }


def _warm_up() -> None:
    """Import what the writing needs while the workers parse."""


def _as_of_now(tree: _Tree, manifest: Manifest, options: BuildOptions, model: ModelFolder) -> Manifest:
    """The manifest of an index that is up to date, with the commit and branch of now: a commit changes no file."""
    commit, branch = head(tree.root)
    newer = replace(manifest, commit=commit, branch=branch, model={**manifest.model, **model.record()})
    copied = any(
        shard_state(tree.index_dir / shard.name) != (shard.bytes, shard.mtime_ns, shard.ctime_ns)
        for _, shard in manifest.all_shards()
    )
    if newer == manifest and not copied and not _has_debris(tree.index_dir, manifest):
        return manifest
    from lci_py.index.store import commit as store
    from lci_py.index.store.cache import Cache

    try:
        with store.staging(tree.index_dir):
            if _previous(tree.index_dir, options) != manifest:
                return manifest  # another writer has published a generation since
            if newer == manifest and not copied:
                store.collect(tree.index_dir, manifest)
                Cache(tree.index_dir, cache_secret(), write=True).close()  # takes its journal back
                return manifest
            return store.commit(tree.index_dir, manifest.segments, manifest.shards, newer)
    except IndexWriteError:
        return manifest  # on a read-only disk, or beside another writer; what is indexed is right all the same


def _has_debris(index_dir: Path, manifest: Manifest) -> bool:
    """Whether a run that was killed left something, or a reader held what is no longer needed."""
    named = {shard.name for _, shard in manifest.all_shards()}
    return any(
        name.startswith(STAGING) or name == JOURNAL or (name not in named and SHARD_NAME.fullmatch(name))
        for name in os.listdir(index_dir)
    )


def _previous(index_dir: Path, options: BuildOptions) -> Manifest | None:
    try:
        return read_manifest(index_dir)
    except IndexError_ as error:
        if isinstance(error, ShardVersionError) and error.newer and not options.full:
            raise  # not this program's to replace
        return None  # nothing there, or nothing of use: this run replaces it


def walk_around(index_dir: Path, root: Path, options: WalkOptions) -> WalkResult:
    """The walk, without an index folder elsewhere in the tree: each run would find the files of the run before."""
    walked = walk(root, options)
    try:
        prefix = index_dir.resolve().relative_to(root.resolve()).as_posix() + "/"
    except ValueError:
        return walked
    return replace(
        walked,
        files=tuple(entry for entry in walked.files if not entry.path.startswith(prefix)),
        skipped=tuple(skip for skip in walked.skipped if not skip.path.startswith(prefix)),
        folders=tuple(
            (path, mtime_ns if path != prefix[:-1] else OURS)
            for path, mtime_ns in walked.folders
            if not path.startswith(prefix)
        ),
        rules=tuple(item for item in walked.rules if not item[0].startswith(prefix)),
    )


def default_jobs() -> int:
    """All cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["BuildOptions", "IndexWriteError", "build", "default_jobs"]
