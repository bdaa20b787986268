"""One run of `lci index`: walk the tree, index what has changed since the last run, publish the next generation."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py import __version__
from lci_py.callgraph.gc_paused import gc_paused
from lci_py.embed.encoder import open_encoder
from lci_py.embed.folder import ModelFolder
from lci_py.errors import DamagedIndexError, IndexError_, Indexing, IndexWriteError, ShardVersionError, TooLargeError
from lci_py.index.build.changes import PreviousGeneration, compare, settled_mtime, walk_settings
from lci_py.index.build.context import BuildContext, BuildOptions, Progress, Run, Tree
from lci_py.index.build.summary import counts_of, summary_of, with_graph
from lci_py.index.shards.files import OURS, UNSETTLED, FileTable
from lci_py.index.store.manifest import (
    BUILT_AT,
    FORMAT,
    JOURNAL,
    SHARD_NAME,
    STAGING,
    Manifest,
    Segment,
    Shard,
    check_root,
    read_manifest,
    root_setting,
    shard_state,
    verify,
)
from lci_py.index.store.seal import cache_secret
from lci_py.source.repository.git import head
from lci_py.source.repository.walk import WalkOptions, WalkResult, walk
from lci_py.types.index import RECORD_FORMAT, SEARCHABLE, BuildSummary
from lci_py.types.record import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.index.build.generation import Generation
    from lci_py.index.store.commit import Draft


@gc_paused()
def build(root: Path, index_dir: Path, options: BuildOptions, progress: Progress | None = None) -> BuildSummary:
    """Index `root` into `index_dir`, or refresh the index there.

    Raises:
        BadPathError: `root` cannot be read.
        BadModelError: The model cannot be used.
        IndexWriteError: The index cannot be written; an older index is unchanged.
        ForeignFolderError: `index_dir` holds files that lci did not write.
        ShardVersionError: The index has a newer format, and `options.full` is not set.
        TooLargeError: There are more files than `options.most` allows.
        UsageError: A branch is unknown, and `options.check_branches` is set.
    """
    started = time.perf_counter()
    report = progress or (lambda _stage, _done, _total: None)
    run = Run(root, index_dir, options, ModelFolder(options.model), report)
    if options.check_branches and options.branches:
        from lci_py.index.build.branches import check_names

        check_names(root, options.branches)
    _make_folder(root, index_dir)
    report("walk", 0, 0)
    latest = _latest(index_dir, options)
    if latest is None:
        from lci_py.index.store.commit import refuse_foreign

        refuse_foreign(index_dir)
    try:
        tree, previous = _look(run, latest)
    except TooLargeError:
        with suppress(OSError):
            index_dir.rmdir()  # unless it holds something
        raise
    if previous is not None and _is_current(run, tree, previous):
        manifest = previous.manifest if previous.partly else _with_head(run, previous.manifest)
        return summary_of(root, manifest, tree.walked, started, changed=False)
    # Not before: when nothing has changed, importing it would take as long as everything else.
    from lci_py.index.store import commit as store

    with store.staging(index_dir, options.wait) as folder:
        newest = _latest(index_dir, options)
        if newest != latest:
            # Another writer has published a generation since, perhaps with files that were not there before.
            latest = newest
            run.warnings.clear()
            tree, previous = _look(run, latest)
            if previous is not None and _is_current(run, tree, previous):
                return summary_of(root, previous.manifest, tree.walked, started, changed=False)
        started_from = None
        if previous is None and not options.full and options.files is None:
            from lci_py.index.build.sibling import taken_over

            fits = partial(_fits, run)
            started_from, previous = taken_over(root, index_dir, folder, fits, partial(_previous, run, tree))
        try:
            manifest, generation = _publish(run, tree, previous, latest, folder)
        except DamagedIndexError as error:
            if previous is None or options.only_refresh:
                raise
            run.warnings.append(f"{error.message}; rebuilt from nothing")
            (folder / "anew").mkdir()
            started_from = None
            manifest, generation = _publish(run, tree, None, latest, folder / "anew")
    summary = summary_of(root, manifest, tree.walked, started, changed=True)
    return replace(
        summary,
        warnings=(*run.warnings, *summary.warnings),
        parsed_files=generation.parsed_files,
        reused_files=generation.reused_files,
        removed_files=generation.removed_files,
        embedded_chunks=generation.embedded_chunks,
        searchable_seconds=max(0.0, generation.searchable_at - started) if generation.searchable_at else None,
        started_from=started_from,
    )


def _make_folder(root: Path, index_dir: Path) -> None:
    """Create the index folder before the walk, which reads its parent's time: the creation changes that time."""
    if root.is_dir() and not index_dir.is_dir():
        with suppress(OSError):  # taking the writer's lock raises the error that is shown
            index_dir.mkdir(parents=True)


def _latest(index_dir: Path, options: BuildOptions) -> Manifest | None:
    """Read the present manifest; None if there is no usable one. Raises if a newer program wrote it (unless `full`)."""
    try:
        return read_manifest(index_dir)
    except IndexError_ as error:
        if isinstance(error, ShardVersionError) and error.newer and not options.full:
            raise  # a newer program wrote it
        return None


# --- what has changed ---------------------------------------------------------------------------------------------


def _look(run: Run, latest: Manifest | None) -> tuple[Tree, PreviousGeneration | None]:
    """Walk the repository; returns (its tree, the generation to start from or None to build from nothing)."""
    walked_ns = time.time_ns()
    options, listing = run.options, lambda files: run.report("walk", files, 0)
    tree = Tree(walk_around(run.index_dir, run.root, options.walk, options.most, listing), walked_ns)
    run.report("walk", len(tree.walked.files), len(tree.walked.files))
    if latest is not None:
        check_root(latest, run.root, run.index_dir)
        run.model.recall(latest.model)
    previous = None if run.options.full else _previous(run, tree, latest)
    if previous is None and run.options.only_refresh:
        raise IndexWriteError("the index has to be built anew", hint=Indexing())
    return tree, previous


def _previous(run: Run, tree: Tree, latest: Manifest | None) -> PreviousGeneration | None:
    """The generation to start from; None if there is none, or if it had another program, model or settings."""
    if latest is None or not _fits(run, latest) or latest.settings.get("vectors", "float32") != tree.vectors:
        return None
    try:
        for _, shard in latest.all_shards():
            verify(run.index_dir, shard)
        table = FileTable(run.index_dir / latest.shards["files"].name)
        if table.matches(tree.walked.files):
            return PreviousGeneration(latest, table, None)
        quick, only = run.options.quick, run.options.files
        change = compare(
            str(run.root), table.states(), tree.walked.files, tree.walked_ns, only, settling=quick is not None
        )
        if quick is not None and not change.within(*quick):
            return PreviousGeneration(latest, table, change.touched_only(), partly=True)
    except (DamagedIndexError, KeyError) as error:
        run.warnings.append(f"{error.message if isinstance(error, DamagedIndexError) else error}; rebuilt from nothing")
        return None
    return PreviousGeneration(latest, table, change)


def _fits(run: Run, manifest: Manifest) -> bool:
    """Whether a generation is complete, and was made with the present program, model and settings."""
    if not manifest.is_complete and run.options.graph:
        return False
    if manifest.program != _program() or manifest.model.get("sha256") != run.model.sha256:
        return False
    return all(manifest.settings.get(name) == value for name, value in _lasting(run.options).items())


def _is_current(run: Run, tree: Tree, previous: PreviousGeneration) -> bool:
    """Whether the index is up to date, so that there is nothing to do."""
    options, manifest = run.options, previous.manifest
    if previous.changed or (manifest.counts["pending_chunks"] and not options.defer_dense):
        return False
    if previous.partly:
        return True
    if options.files is None and previous.table.skipped() != list(tree.walked.skipped):
        return False
    indexed = manifest.settings.get("branches")
    if not (indexed if options.branches is None else indexed or options.branches):
        return True
    from lci_py.index.build.branches import WalkedFiles, names_of, up_to_date

    names = names_of(options.branches, manifest)
    return up_to_date(run.root, names, manifest, previous.table, WalkedFiles(tree.walked, options.walk))


def _watched_paths(run: Run, tree: Tree, previous: PreviousGeneration | None) -> list[tuple[str, int]]:
    """The paths that determine which files exist (folders, ignore files, settings), with the mtime_ns to store."""
    settings = [(name, _mtime(run.root / name)) for name in run.options.watched]
    watched = [*tree.walked.folders, *tree.walked.rules, *settings]
    if previous is None or (run.options.files is None and not previous.partly):
        return [(name, settled_mtime(mtime_ns, tree.walked_ns)) for name, mtime_ns in watched]
    # Only some files were looked at: the stored times stay, so that the next run sees what this one left out.
    stored = dict(previous.table.folders())
    return [(name, stored.get(name, UNSETTLED)) for name, _ in watched]


def _mtime(path: Path) -> int:
    """The file's modification time in ns; -1 if there is no such file."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return -1


# --- publishing ---------------------------------------------------------------------------------------------------


def _publish(
    run: Run, tree: Tree, previous: PreviousGeneration | None, latest: Manifest | None, folder: Path
) -> tuple[Manifest, Generation]:
    """Build a generation in the staging folder and publish it.

    Args:
        tree: The state of the repository.
        previous: The generation to start from; None for none.
        latest: The present manifest, even if it cannot be used.
        folder: The staging folder, or an empty folder in it.
    """
    from lci_py.index.build.generation import GenerationBuilder
    from lci_py.index.build.sibling import shared_caches
    from lci_py.index.build.tasks import Workplace
    from lci_py.index.store import commit as store

    options, model = run.options, run.model
    encoder = lru_cache(maxsize=1)(partial(open_encoder, model, threads=max(1, options.jobs)))
    workplace = Workplace(
        str(run.root),
        run.index_dir,
        cache_secret(),
        texts=not model.builtin and encoder().reads_text,
        use_cache=not options.full,
        limits=options.limits,
        flags=options.flags,
        shared=() if options.full else shared_caches(run.root, run.index_dir),
    )
    early = options.early if previous is None else None
    context = BuildContext(run, tree, workplace, folder, _watched_paths(run, tree, previous), encoder, early)
    number = latest.generation + 1 if latest else 1
    with GenerationBuilder(context, number) as builder:
        staged = options.staged and options.graph and latest is None
        generation = builder.from_nothing(staged=staged) if previous is None else builder.after(previous)
        files = builder.write_file_table()
        built_at, (commit, branch) = datetime.now(timezone.utc).strftime(BUILT_AT), head(run.root)
        if previous is not None and previous.partly:
            older = previous.manifest  # of which this one has the content
            built_at, commit, branch = older.built_at, older.commit, older.branch
        manifest = Manifest(
            format=FORMAT,
            generation=number,
            built_at=built_at,
            commit=commit,
            branch=branch,
            program=_program(),
            model={**(previous.manifest.model if previous else _model(encoder())), **model.record()},
            settings={**_lasting(options), **walk_settings(options.walk), "vectors": tree.vectors,
                      "root": root_setting(run.root, run.index_dir)},
            counts=counts_of(generation, tree.walked),
        )  # fmt: skip
        segments: Sequence[Segment | Draft] = [state.segment for state in generation.segments]
        shards: dict[str, Path | Shard] = {"files": files}
        if not options.graph:
            return store.commit(run.index_dir, segments, shards, manifest), generation
        if previous is None and latest is None:
            # Text can be searched from here on: what follows takes a fifth of the whole time, and no text needs it.
            manifest = store.commit(run.index_dir, segments, shards, replace(manifest, generation=0))
            generation.searchable_at = time.perf_counter()
            run.report(SEARCHABLE, 0, 0)
            manifest = replace(manifest, generation=number)
            segments, shards = manifest.segments, dict(manifest.shards)
        # Not before: until text can be searched, nothing is imported that this does not need.
        from lci_py.index.build.branches import build_branches, names_of

        names = names_of(options.branches, latest)
        branches = build_branches(context, names, generation, previous)
        if branches.shard is not None:
            shards["branches"] = branches.shard
        if previous is None:
            shards["graph"], links = builder.link()
            segments = builder.whole_segments(segments)
        else:
            from lci_py.index.build.relinked_graph import write_relinked

            shards["graph"], links = write_relinked(context, generation, previous, files)
        manifest = replace(
            manifest,
            settings={**manifest.settings, **branches.settings(names)},
            counts=with_graph(manifest.counts, links, generation),
        )
        run.report("commit", 0, 0)
        manifest = store.commit(run.index_dir, segments, shards, manifest)
        builder.collect()
    return manifest, generation


def _program() -> str:
    return f"lci-py {__version__}"


def _lasting(options: BuildOptions) -> dict[str, Any]:
    """The settings on which every record depends: if one changes, everything is built from nothing."""
    limits = {**asdict(options.limits), "macros": list(options.limits.macros)}
    return {
        **limits,
        "segment_chunks": options.segment_chunks,
        "feature_flags": list(options.flags),
        "records": RECORD_FORMAT,
    }


def _model(encoder: Encoder | ContextualEncoder) -> dict[str, Any]:
    return {
        "name": encoder.name,
        "sha256": encoder.sha256,
        "dimension": encoder.dimension,
        "reads_text": encoder.reads_text,
    }


def _with_head(run: Run, manifest: Manifest) -> Manifest:
    """Store the commit, branch and walk settings in an up-to-date index: they can change although no file does."""
    commit, branch = head(run.root)
    model, walk = {**manifest.model, **run.model.record()}, walk_settings(run.options.walk)
    newer = replace(manifest, commit=commit, branch=branch, model=model, settings={**manifest.settings, **walk})
    copied = any(
        shard_state(run.index_dir / shard.name) != (shard.bytes, shard.mtime_ns, shard.ctime_ns)
        for _, shard in manifest.all_shards()
    )
    if newer == manifest and not copied and not _has_debris(run.index_dir, manifest):
        return manifest
    from lci_py.index.store import commit as store
    from lci_py.index.store.cache import Cache

    try:
        with store.staging(run.index_dir):
            if _latest(run.index_dir, run.options) != manifest:
                return manifest  # another writer has published a generation since
            if newer == manifest and not copied:
                store.collect(run.index_dir, manifest)
                Cache(run.index_dir, cache_secret(), write=True).close()  # removes the journal
                return manifest
            return store.commit(run.index_dir, manifest.segments, manifest.shards, newer)
    except IndexWriteError:
        return manifest  # a read-only disk, or another writer; the index is right all the same


def _has_debris(index_dir: Path, manifest: Manifest) -> bool:
    """Whether there are files to delete: files of a killed run, or old shards that a reader was using."""
    current = {shard.name for _, shard in manifest.all_shards()}
    return any(
        name.startswith(STAGING) or name == JOURNAL or (name not in current and SHARD_NAME.fullmatch(name))
        for name in os.listdir(index_dir)
    )


# --- for callers --------------------------------------------------------------------------------------------------


def walk_around(
    index_dir: Path,
    root: Path,
    options: WalkOptions,
    limits: tuple[int, int] | None = None,
    report: Callable[[int], None] | None = None,
) -> WalkResult:
    """Walk the tree, but leave out the index folder, whatever its name (it need not be `.lci`)."""
    walked = walk(root, options, limits, report)
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
