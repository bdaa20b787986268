"""One pass over the repository builds all shards: walk, parse in worker processes, number, write, commit."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py import __version__
from lci_py.embed.folder import ModelFolder, open_encoder
from lci_py.errors import DamagedIndexError, IndexError_, IndexWriteError
from lci_py.index import store
from lci_py.index.manifest import BUILT_AT, FORMAT, Manifest, check_root, read_manifest, root_setting, verify
from lci_py.index.rows import Rows, number
from lci_py.source.git import head
from lci_py.source.limits import DEFAULTS, Limits
from lci_py.source.walk import WalkOptions, WalkResult, walk
from lci_py.source.worker import FileRecord, process_batch, start_worker
from lci_py.types import BuildSummary, FileEntry, Skip

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Progress = Callable[[str, int, int], None]
Work = Callable[..., list[FileRecord]]  # of a list of FileEntry, and why they are not to be parsed, if so
#: Below this many bytes a pool costs more than it saves, where a process cannot be forked.
POOL_THRESHOLD = 300_000
_FORKS = sys.platform == "linux"
#: Without a batch done for so long, something hangs that no timer of a worker ends. Their bounds are processor time, and
#: a busy machine may take a multiple of it.
STALL_SECONDS = 300.0
_BATCH_BYTES = 150_000
_BATCH_FILES = 64
_UNPARSED = ("parser_crash", "parser_timeout")
_NAMED = 100  # files in the manifest's list of those of which only a part is known


@dataclass(frozen=True, slots=True)
class BuildOptions:
    walk: WalkOptions
    jobs: int
    full: bool = False
    model: Path | None = None  # None: the one in the package
    limits: Limits = DEFAULTS


def build(root: Path, index_dir: Path, options: BuildOptions, progress: Progress | None = None) -> BuildSummary:
    """Index `root` into `index_dir`, unless the index there is up to date.

    Raises:
        BadPathError: `root` cannot be read.
        BadModelError: The model cannot be used.
        IndexWriteError: The index cannot be written; an index that was there is untouched.
    """
    started = time.perf_counter()
    report = progress or (lambda _stage, _done, _total: None)
    model = ModelFolder(options.model)
    report("walk", 0, 0)
    walked = _without(index_dir, root, walk(root, options.walk))
    previous = _previous(index_dir)
    if previous is not None:
        check_root(previous, root, index_dir)
        model.recall(previous.model)
    stat_digest = _stat_digest(walked.files, walked.skipped, options, model.sha256)
    current = previous is not None and previous.files_digest == stat_digest
    if previous is not None and current and not options.full and _intact(index_dir, previous):
        return _summary(root, _as_of_now(root, index_dir, previous, model), index_dir, started, changed=False)
    encoder = open_encoder(model, threads=max(1, options.jobs))
    with store.staging(index_dir) as folder:
        previous = _previous(index_dir)  # again, under the lock: another writer may have published a generation
        work = partial(process_batch, str(root), texts=encoder.reads_text, limits=options.limits)
        records, skipped = _records(work, walked.files, options.jobs, report)
        skipped = sorted([*walked.skipped, *skipped], key=lambda skip: (skip.path, skip.reason))
        rows = number(records)
        from lci_py.index.shards import write_shards  # while the workers parsed, it was `_warm_up` that imported

        shards, edges = write_shards(folder, rows, skipped, encoder, report)
        commit, branch = head(root)
        manifest = Manifest(
            format=FORMAT,
            generation=previous.generation + 1 if previous else 1,
            built_at=datetime.now(timezone.utc).strftime(BUILT_AT),
            commit=commit,
            branch=branch,
            program=f"lci-py {__version__}",
            model={"name": encoder.name, "sha256": encoder.sha256, "dimension": encoder.dimension, **model.record()},
            settings={"max_file_bytes": options.walk.max_file_bytes, "include": list(options.walk.include),
                      "exclude": list(options.walk.exclude), "hidden": options.walk.hidden,
                      **asdict(options.limits), "root": root_setting(root, index_dir)},
            files_digest=stat_digest,
            counts=_counts(rows, skipped, edges),
        )  # fmt: skip
        report("commit", 0, 0)
        manifest = store.commit(index_dir, folder, shards, manifest)
    return _summary(root, manifest, index_dir, started, changed=True)


def _as_of_now(root: Path, index_dir: Path, manifest: Manifest, model: ModelFolder) -> Manifest:
    """The manifest of an index that is up to date, with the commit and branch of now: a commit changes no file."""
    commit, branch = head(root)
    newer = replace(manifest, commit=commit, branch=branch, model={**manifest.model, **model.record()})
    if newer == manifest:
        return manifest
    try:
        with store.staging(index_dir) as folder:
            return store.commit(index_dir, folder, {}, newer)
    except IndexWriteError:
        return manifest  # on a read-only disk, or beside another writer; what is indexed is right all the same


def _previous(index_dir: Path) -> Manifest | None:
    try:
        return read_manifest(index_dir)
    except IndexError_:
        return None  # nothing there, or nothing of use: this run replaces it


def _intact(index_dir: Path, manifest: Manifest) -> bool:
    try:
        for shard in manifest.shards.values():
            verify(index_dir, shard)
    except DamagedIndexError:
        return False
    return True


def _without(index_dir: Path, root: Path, walked: WalkResult) -> WalkResult:
    """The walk, without an index folder elsewhere in the tree: each run would find the files of the run before."""
    try:
        prefix = index_dir.resolve().relative_to(root.resolve()).as_posix() + "/"
    except ValueError:
        return walked
    return WalkResult(
        tuple(entry for entry in walked.files if not entry.path.startswith(prefix)),
        tuple(skip for skip in walked.skipped if not skip.path.startswith(prefix)),
    )


def _stat_digest(files: tuple[FileEntry, ...], skipped: tuple[Skip, ...], options: BuildOptions, model: str) -> str:
    """What the index was made from, as far as `stat` tells, with the program and the model's hash."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((FORMAT, __version__, options.walk, options.limits, model)).encode("utf-8", "backslashreplace"))
    for entry in files:
        line = f"{entry.path}\0{entry.size}\0{entry.mtime_ns}\n"
        digest.update(line.encode("utf-8", "surrogateescape"))
    for skip in skipped:
        digest.update(f"{skip.path}\0{skip.reason}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


# --- parsing ------------------------------------------------------------------------------------------------------


def _batches(files: tuple[FileEntry, ...]) -> Iterator[list[FileEntry]]:
    batch: list[FileEntry] = []
    size = 0
    for entry in files:
        batch.append(entry)
        size += entry.size
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _records(
    work: Work, files: tuple[FileEntry, ...], jobs: int, report: Progress
) -> tuple[list[FileRecord], list[Skip]]:
    """Extract every file; (records sorted by path, what their content ruled out)."""
    done = 0
    records: list[FileRecord] = []
    with closing(_processed(work, files, jobs)) as batches:  # an interrupt must end the pool, not wait for it
        for batch in batches:
            records.extend(batch)
            done += len(batch)
            report("parse", done, len(files))
    records.sort(key=lambda record: record.path)
    skipped = [Skip(record.path, record.skip) for record in records if record.skip]
    return [record for record in records if not record.skip], skipped


def _processed(work: Work, files: tuple[FileEntry, ...], jobs: int) -> Generator[list[FileRecord], None, None]:
    """Parse in other processes, even a small repository: a grammar's crash would end this one."""
    batches = _batches(files)
    small = not _FORKS and sum(entry.size for entry in files) < POOL_THRESHOLD
    if jobs <= 1 or small or not files:
        for batch in batches:
            yield work(batch)
        return
    lost: list[list[FileEntry]] = []
    while True:
        with _pool(jobs) as pool:
            yield from _pooled(pool, work, batches, 4 * jobs, lost)
        if not lost:
            return
        while lost:
            yield from _alone(work, lost.pop())


def _pooled(
    pool: ProcessPoolExecutor, work: Work, batches: Iterator[list[FileEntry]], ahead: int, lost: list[list[FileEntry]]
) -> Iterator[list[FileRecord]]:
    """Results as they come, until a process dies: what it and its neighbours were at goes to `lost`."""
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    pending: dict[Future[list[FileRecord]], list[FileEntry]] = {}
    while True:
        while not lost and len(pending) < ahead and (batch := next(batches, None)):
            try:
                pending[pool.submit(work, batch)] = batch
            except BrokenExecutor:
                lost.append(batch)
        _warm_up()
        if not pending:
            return
        done, _ = wait(pending, STALL_SECONDS, FIRST_COMPLETED)
        if not done:
            _kill(pool)
        for future in done:
            batch = pending.pop(future)
            try:
                yield future.result()
            except BrokenExecutor:
                lost.append(batch)


def _alone(work: Work, batch: list[FileEntry]) -> Iterator[list[FileRecord]]:
    """A file that kills its process (a grammar's crash) or never ends is kept as text; its neighbours as they are."""
    from concurrent.futures import BrokenExecutor, TimeoutError

    with _pool(1) as pool:
        future = pool.submit(work, batch)
        workers = list((pool._processes or {}).values())
        try:
            yield future.result(STALL_SECONDS)
            return
        except BrokenExecutor:
            ended = any(process.exitcode == -signal.SIGVTALRM for process in workers)
            reason = "parser_timeout" if ended else "parser_crash"
        except TimeoutError:
            reason = "parser_timeout"
            _kill(pool)
    if len(batch) == 1:
        yield work(batch, unparsable=reason)
        return
    for entry in batch:
        yield from _alone(work, [entry])


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # fork starts in milliseconds and is safe here: a worker touches nothing that another thread could hold.
    method = "fork" if _FORKS else None
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context(method), initializer=start_worker)
    try:
        yield pool
    except BaseException:
        _kill(pool)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _kill(pool: ProcessPoolExecutor) -> None:
    for process in list((pool._processes or {}).values()):  # kill_workers() is public since Python 3.14 only
        process.kill()


def _warm_up() -> None:
    """Import what the writing needs while the workers parse."""
    import bm25s  # noqa: F401
    import faiss  # noqa: F401
    import tokenizers  # noqa: F401

    from lci_py.embed.folder import import_onnxruntime

    import_onnxruntime()


def _counts(rows: Rows, skipped: list[Skip], edges: dict[str, int]) -> dict[str, object]:
    return {
        "files": len(rows.records),
        "files_by_language": _ranked(Counter(record.extract.language for record in rows.records)),
        "symbols": len(rows.symbols),
        "symbols_by_kind": _ranked(Counter(symbol.kind for symbol in rows.symbols)),
        "units": len(rows.units),
        "chunks": len(rows.chunk_unit),
        "edges_by_kind": edges,
        "skipped_by_reason": _ranked(Counter(skip.reason for skip in skipped)),
        "limited_by_reason": _ranked(Counter(record.limit for record in rows.records if record.limit)),
        "limited": [{"path": record.path, "reason": record.limit} for record in rows.records if record.limit][:_NAMED],
        "unparsed": [record.path for record in rows.records if record.limit in _UNPARSED][:5],
        "bytes_read": sum(record.size for record in rows.records),
        "files_with_errors": sum(record.extract.has_errors for record in rows.records),
    }


def _ranked(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _summary(root: Path, manifest: Manifest, index_dir: Path, started: float, *, changed: bool) -> BuildSummary:
    counts = manifest.counts
    return BuildSummary(
        root=str(root),
        generation=manifest.generation,
        changed=changed,
        files=counts["files"],
        files_by_language=_ranked(Counter(counts["files_by_language"])),
        symbols_by_kind=_ranked(Counter(counts["symbols_by_kind"])),
        chunks=counts["chunks"],
        edges_by_kind=counts["edges_by_kind"],
        skipped_by_reason=_ranked(Counter(counts["skipped_by_reason"])),
        seconds=time.perf_counter() - started,
        bytes_read=counts["bytes_read"],
        bytes_on_disk=sum(shard.bytes for shard in manifest.shards.values()),
        warnings=_warnings(manifest),
        limited_by_reason=_ranked(Counter(counts.get("limited_by_reason", {}))),
    )


def _warnings(manifest: Manifest) -> tuple[str, ...]:
    """Files that are only text to the index because a parser failed: never a matter of course."""
    names = manifest.counts.get("unparsed", [])
    if not names:
        return ()
    count = sum(manifest.counts["limited_by_reason"].get(reason, 0) for reason in _UNPARSED)
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return (f"could not parse {', '.join(names)}{more}: searched as text only, please report it",)


def default_jobs() -> int:
    """All cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__ = ["BuildOptions", "IndexWriteError", "build", "default_jobs"]
