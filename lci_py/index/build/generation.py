"""Builds the next generation: keeps segments, extracts the changed files, merges small segments into the new one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.callgraph.gc_paused import return_freed
from lci_py.index.build.changes import settled_ns
from lci_py.index.build.counts import FileCounts, stored_files
from lci_py.index.build.merge_policy import MOST_SEGMENTS, SegmentState, locate, segment_states, table_arrays, to_merge
from lci_py.index.build.segment_writer import Embedding, SegmentWriter
from lci_py.index.build.tasks import Done, Task
from lci_py.index.build.worker_pool import process
from lci_py.index.shards.files import FileState, write_files
from lci_py.index.store.cache import MOST_BYTES, Cache
from lci_py.index.store.commit import Draft
from lci_py.source.record_codec import FileStat, decode
from lci_py.source.syntax.languages import is_test
from lci_py.source.syntax.limits import UNPARSED
from lci_py.types.index import EXTRACTED, KEPT, SLOW_MODEL
from lci_py.types.record import dataclass, field, replace
from lci_py.types.source import FileEntry

if TYPE_CHECKING:
    from lci_py.callgraph.edges import Links
    from lci_py.callgraph.link import Linker
    from lci_py.index.build.changes import PreviousGeneration
    from lci_py.index.build.context import BuildContext
    from lci_py.index.store.manifest import Segment
    from lci_py.source.file_record import FileRecord

    Progress = Callable[[str, int, int], None]

#: The graph shard's name in the staging folder.
GRAPH_FILE = "graph.arrays"
_FORKS = sys.platform == "linux"
#: The fixed cost of extracting a file, in bytes.
_PER_FILE = 2_000
#: Up to so many bytes of files, what the second stage needs (trees, captures) is kept in memory.
_STAGED_BYTES = 10_000_000
#: Minimum number of files for which another process saves time.
_FEWEST_FILES = 4


@dataclass(slots=True)
class Generation:
    """A generation that has been built, with counts of the files and chunks that were new."""

    segments: list[SegmentState] = field(default_factory=list)
    known: list[FileState] = field(default_factory=list)  # by path; a slot is a place in `segments`
    counts: FileCounts = field(default_factory=FileCounts)
    parsed_files: int = 0
    reused_files: int = 0  # extracted by an earlier run
    removed_files: int = 0
    embedded_chunks: int = 0
    searchable_at: float = 0.0  # time.perf_counter() when it was published without its graph; 0 if it was not
    fresh: set[str] = field(default_factory=set)  # files whose content has changed since the generation before


class GenerationBuilder:
    """Builds one generation. Use it as a context manager."""

    def __init__(self, context: BuildContext, number: int) -> None:
        """`number` is the number of the new generation."""
        self._context = context
        self._options, self._tree, self._report = context.run.options, context.tree, context.run.report
        self._number = number
        self._links_anew = self._staged = False
        self._waiting: list[FileRecord] = []  # for the linker, which no search of text waits for
        self._batches: Generator[list[Done], None, None] | None = None  # their second stage, if there is one
        self._records: list[FileRecord] = []  # of all files, when that is done
        self._cache = Cache(context.place.index_dir, context.place.secret, write=True)
        self._generation = Generation()
        self._max_chunks = self._options.segment_chunks
        self._kept: list[SegmentState] = []
        self._skipped: list[FileState] = []
        #: Files of merged segments, by path: the file, its segment and its number there.
        self._moved: dict[str, tuple[FileState, SegmentState, int]] = {}
        #: Dead rows with the content of a changed file, by path and digest: segment, number there, exceeded limit.
        self._dead: dict[str, dict[str, tuple[SegmentState, int, str]]] = {}

    def __enter__(self) -> GenerationBuilder:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._batches is not None:
            self._batches.close()
        self._cache.close()

    def from_nothing(self, *, staged: bool) -> Generation:
        """Build a generation without reusing an older one, except the cache. Then call `link` for its call graph.

        Args:
            staged: Extract only what a search without call graph needs, if the tree is small enough to stay in memory.
                `link` then extracts the missing data (the second stage), and `whole_segments` returns full segments.
        """
        self._links_anew = self._options.graph
        self._staged = (
            staged and _FORKS and not self._context.place.texts
            and sum(entry.size for entry in self._tree.walked.files) <= _STAGED_BYTES
        )  # fmt: skip
        return self._write([Task(entry) for entry in self._tree.walked.files])

    def after(self, previous: PreviousGeneration) -> Generation:
        """Build a generation from the previous generation and the changes since then."""
        manifest, change = previous.manifest, previous.change
        self._generation.counts = FileCounts.stored(manifest.counts)
        unchanged = [*change.same, *change.touched]
        segments = segment_states(manifest, self._context.place.index_dir, unchanged, previous.table.arrays)
        lost = [*change.replaced, *change.gone]
        for state, numbers in _by_segment(segments, [item.slot for item in lost if item.slot >= 0]):
            self._generation.counts.add_stored(state.symbols, numbers, -1)
        self._generation.removed_files = sum(item.slot >= 0 for item in change.gone)
        self._skipped = [item for item in unchanged if item.slot < 0]
        chunks_per_byte = manifest.counts["chunks"] / max(1, manifest.counts["bytes_read"])
        coming = sum(1 + int(entry.size * chunks_per_byte) for entry in change.dirty)
        self._max_chunks = max(self._max_chunks, manifest.counts["chunks"] // MOST_SEGMENTS)
        merged = to_merge(segments, coming, self._max_chunks)
        self._kept = [state for state in segments if state not in merged and state.living]
        self._moved = {
            item.path: (item, state, i) for state in merged for i, item in enumerate(state.files) if item is not None
        }
        self._find_dead({entry.path for entry in change.dirty})
        tasks = [Task(entry, tuple(self._dead.get(entry.path, ()))) for entry in change.dirty]
        for item, _, _ in self._moved.values():
            entry = FileEntry(item.path, item.size, item.mtime_ns, item.ctime_ns)
            tasks.append(Task(entry, sha=item.sha, key=item.key))
        return self._write(sorted(tasks, key=lambda task: task.entry.path))

    @cached_property
    def _linker(self) -> Linker:
        # Imports numpy, which must not be loaded before the workers are forked.
        from lci_py.callgraph.link import Linker

        return Linker()

    def write_file_table(self) -> Path:
        """Write the table of files into the staging folder."""
        generation, context = self._generation, self._context
        files = context.folder / "files.arrays"
        skipped = self._tree.walked.skipped
        write_files(files, generation.known, skipped, context.watched, table_arrays(generation.segments))
        return files

    def link(self) -> tuple[Path, Links]:
        """Link the call graph (find the definition of each call) of a generation built from nothing, and write it.
        Call this once.

        Returns:
            The graph's path in the staging folder, and the graph.
        """
        from lci_py.index.shards.graph import write_graph
        from lci_py.processes import ForkedComputation

        report = self._report
        report("graph", 0, 0)
        fork = _FORKS and self._options.jobs > 1 and len(self._generation.known) >= _FEWEST_FILES
        if self._staged and self._batches is not None:
            self._read_second_stage(self._batches)
            self._records = self._waiting.copy()
        symbols = ForkedComputation(self._write_symbols, fork=fork) if self._staged else None
        self._link_waiting()
        links = self._linker.finish(
            fork=fork,
            report=lambda done, total: report("graph", done, total),
        )
        if symbols is not None:
            symbols.result()
        report("edges", 0, 0)
        write_graph(path := self._context.folder / GRAPH_FILE, links)
        return path, links

    def _read_second_stage(self, batches: Iterable[list[Done]]) -> None:
        """Extract what the first stage left out (such as calls), for the files that wait to be linked.

        A file keeps what its first stage extracted if it has changed since, or can no longer be parsed.
        """
        numbers = {record.path: number for number, record in enumerate(self._waiting)}
        for result in chain.from_iterable(batches):
            number = numbers.get(result.entry.path)
            if number is None or not result.body or result.sha != self._waiting[number].sha:
                continue
            first = self._waiting[number]
            record = decode(result.body, FileStat(first.path, first.size, first.mtime_ns, first.sha))
            whole = record.digests == first.digests and record.extract.symbols == first.extract.symbols
            if not whole:  # its worker has died, and so it is only text now
                record = replace(first, extract=replace(first.extract, limit=record.limit))
            self._waiting[number] = record

    def _write_symbols(self) -> None:
        """Write the symbolic shards of all segments again, complete after the second stage, for `whole_segments`."""
        from lci_py.index.shards.segment_rows import number_rows
        from lci_py.index.shards.symbols_writer import write_symbolic

        start = 0
        for state in self._generation.segments:
            stop = start + len(state.files)
            state.symbols.unlink(missing_ok=True)  # what a process has left that failed
            write_symbolic(state.symbols, number_rows(self._records[start:stop]))
            start = stop

    def whole_segments(self, segments: Sequence[Segment | Draft]) -> Sequence[Segment | Draft]:
        """The segments of a staged generation, with the symbolic shards that `link` has written."""
        if not self._staged:
            return segments
        return [
            Draft(item.counts, {**item.shards, "symbols": state.symbols})
            for item, state in zip(segments, self._generation.segments, strict=True)
        ]

    def collect(self) -> None:
        """Shrink the cache to its maximum size; call it after the generation is published."""
        living = (item.key for item in self._generation.known if item.slot >= 0)
        self._cache.collect(MOST_BYTES, living, self._number)

    def _find_dead(self, paths: set[str]) -> None:
        """Find dead rows of these paths: after switching back to a branch, a file may have the content of such rows."""
        for state in self._kept if paths else ():
            numbers = [i for i, item in enumerate(state.files) if item is None]
            for i, path, sha, limit in stored_files(state.symbols, numbers):
                if path in paths and limit not in UNPARSED:
                    self._dead.setdefault(path, {})[sha] = (state, i, limit)

    def _write(self, tasks: list[Task]) -> Generation:
        context, generation = self._context, self._generation
        embedding = None
        if not self._options.defer_dense:
            embedding = Embedding(context.encoder, self._cache, self._number, self._tree.compact)
        writer = SegmentWriter(context.folder, embedding, self._report, self._max_chunks)
        done = kept_files = cost = 0
        whole_cost = sum(task.entry.size + _PER_FILE for task in tasks)
        if context.place.texts:
            self._report(SLOW_MODEL, 0, 0)
        self._report("parse", 0, len(tasks))

        def keep(batch: list[Done]) -> None:
            nonlocal kept_files
            kept_files += len(batch) if self._keep(batch) else 0
            self._report(KEPT, kept_files, len(tasks))

        # A new index has no records to look up.
        looks_up = bool(context.place.shared) or not self._cache.has_none("records")
        workplace = replace(context.place, use_cache=context.place.use_cache and looks_up, staged=self._staged)
        early, prepare = context.early, writer.prepare
        self._batches = process(workplace, tasks, self._options.jobs, keep=keep, early=early, meanwhile=prepare)
        while done < len(tasks):
            batch = next(self._batches)
            for item in batch:
                self._take(item, writer)
            done += len(batch)
            cost += sum(item.entry.size + _PER_FILE for item in batch)
            self._report(EXTRACTED, cost, whole_cost)
            self._report("parse", done, len(tasks))
        if not self._staged:
            list(self._batches)  # nothing more comes: the workers end
        writer.flush(fork=_FORKS and self._options.jobs > 1 and len(tasks) >= _FEWEST_FILES)
        generation.embedded_chunks = writer.embedded_chunks
        generation.segments = [*self._kept, *writer.segments]
        generation.known = sorted([*self._with_slots(), *self._skipped], key=lambda item: item.path)
        return generation

    def _keep(self, batch: list[Done]) -> bool:
        """Cache a batch's records immediately, so that they outlast this process; False if they could not be stored."""
        # Not the records of files whose parser ran out of time: another run may have more of it.
        new = {
            item.key: item.body
            for item in batch
            if item.body and not item.staged and (item.shared or not item.cached) and item.limit not in UNPARSED
        }
        return self._cache.put("records", new, self._number)

    def _take(self, result: Done, writer: SegmentWriter) -> None:
        entry = result.entry
        moved = self._moved.get(entry.path)
        if moved is not None and result.sha == moved[0].sha and result.body:
            self._generation.reused_files += 1
            self._add(result, moved[0], writer)
            return
        if moved is not None:  # the file has changed since it was compared
            self._generation.counts.add_stored(moved[1].symbols, [moved[2]], -1)
        settled = settled_ns(entry, self._tree.walked_ns)
        file_state = FileState(
            entry.path, entry.size, settled, entry.ctime_ns, result.sha, -1, result.skip, result.key or bytes(16)
        )
        if result.skip:
            self._skipped.append(file_state)
            return
        self._generation.fresh.add(entry.path)
        if result.body:
            self._generation.reused_files += result.cached
            self._generation.parsed_files += not result.cached
            self._generation.counts.add(self._add(result, file_state, writer))
        else:
            state, number, limit = self._dead[entry.path][result.sha]
            state.files[number] = replace(file_state, reason=limit)
            self._generation.reused_files += 1
            self._generation.counts.add_stored(state.symbols, [number])

    def _add(self, result: Done, state: FileState, writer: SegmentWriter) -> FileRecord:
        record = decode(result.body, FileStat(state.path, state.size, state.mtime_ns, state.sha))
        segments = len(writer.segments)
        writer.add(record, replace(state, reason=record.limit))
        if self._links_anew:
            # A full segment needs the records before this one no more; a second stage does.
            if len(writer.segments) > segments and not self._staged:
                self._link_waiting()
            self._waiting.append(record)
        return record

    def _link_waiting(self) -> None:
        for record in self._waiting:
            self._linker.add(record.path, is_test(record.path), record.extract)
        self._waiting.clear()
        if len(self._generation.segments) > 1:  # a third of the memory, of which linking would use a part again
            return_freed()

    def _with_slots(self) -> Iterator[FileState]:
        slot = 0
        for state in self._generation.segments:
            for number, item in enumerate(state.files):
                if item is not None:
                    if item.slot != slot:
                        state.files[number] = item = replace(item, slot=slot)
                    yield item
                slot += 1


def _by_segment(segments: Sequence[SegmentState], slots: Iterable[int]) -> Iterator[tuple[SegmentState, list[int]]]:
    numbers_of: dict[int, list[int]] = {}
    for slot in slots:
        state, number = locate(segments, slot)
        numbers_of.setdefault(id(state), []).append(number)
    for state in segments:
        if numbers := numbers_of.get(id(state)):
            yield state, numbers
