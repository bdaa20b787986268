"""Make the next generation: of what stays, what changed, and what is better written anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.index.build.changes import Change, settled_ns
from lci_py.index.build.counts import Tally, stored_files
from lci_py.index.build.merge_policy import MOST_SEGMENTS, Part, locate, parts_of, to_merge
from lci_py.index.build.segment_writer import Embedding, SegmentWriter
from lci_py.index.build.worker import Done, Task, Workplace
from lci_py.index.build.worker_pool import process
from lci_py.index.shards.files import Known
from lci_py.index.store.cache import Cache
from lci_py.source.record_codec import Place, decode
from lci_py.source.syntax.limits import UNPARSED
from lci_py.types.source import FileEntry

if TYPE_CHECKING:
    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.index.build.graph_process import Linking
    from lci_py.index.build.segment_writer import Source
    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Manifest
    from lci_py.source.file_record import FileRecord
    from lci_py.source.repository.walk import WalkResult

    Progress = Callable[[str, int, int], None]


#: What the graph shard is called before it has a name of its own.
GRAPH_FILE = "graph.arrays"
#: What the cache may take; the records of a repository take a third of its bytes.
CACHE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """What the generation is made with."""

    place: Workplace
    folder: Path  # staging
    jobs: int
    walked: WalkResult
    walked_ns: int  # when the walk began
    watched: list[tuple[str, int]]  # what decides which files there are, as `write_files` takes it
    encoder: Callable[[], Encoder | ContextualEncoder] | None  # None: the embedding is for later
    report: Progress
    warm_up: Callable[[], None]
    segment_chunks: int


@dataclass(slots=True)
class Made:
    """The generation, and what went into it."""

    parts: list[Part] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)  # by path; slots are of `parts`
    tally: Tally = field(default_factory=Tally)
    parsed_files: int = 0
    reused_files: int = 0  # whose extraction was there already
    removed_files: int = 0
    embedded_chunks: int = 0
    fresh: set[str] = field(default_factory=set)  # files whose content is not that of the generation before


class Maker:
    """One run. Use it as a context manager."""

    def __init__(self, setting: Setting, generation: int, linking: Linking | None = None) -> None:
        """
        Args:
            setting: What to make it with.
            generation: Its number.
            linking: Gets every record that is written, by path, and begins once it has all.
        """
        self._setting = setting
        self._generation = generation
        self._linking = linking
        self._cache = Cache(setting.place.index_dir, setting.place.secret, write=True)
        self._made = Made()
        self._most = setting.segment_chunks
        self._dimension = 0  # of the vectors that are there
        self._kept: list[Part] = []
        self._skipped: list[Known] = []
        self._moved: dict[str, tuple[Known, Part, int]] = {}  # by path: what it was, and where
        self._dead: dict[str, dict[str, tuple[Part, int, str]]] = {}  # path, digest -> where it still lies, its limit

    def __enter__(self) -> Maker:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._cache.close()

    def anew(self) -> Made:
        """A generation that owes nothing to the one before."""
        return self._write([Task(entry) for entry in self._setting.walked.files])

    def after(self, manifest: Manifest, table: FileTable, change: Change) -> Made:
        """The generation after the one that a manifest and its table of files describe."""
        self._made.tally = Tally.stored(manifest.counts)
        self._dimension = int(manifest.model["dimension"])
        parts = parts_of(manifest, self._setting.place.index_dir, [*change.same, *change.touched], table.arrays)
        lost = [*change.replaced, *change.gone]
        for part, numbers in _by_part(parts, [item.slot for item in lost if item.slot >= 0]):
            self._made.tally.add_stored(part.symbols, numbers, -1)
        self._made.removed_files = sum(item.slot >= 0 for item in change.gone)
        self._skipped = [item for item in (*change.same, *change.touched) if item.slot < 0]
        chunks_per_byte = manifest.counts["chunks"] / max(1, manifest.counts["bytes_read"])
        coming = sum(1 + int(entry.size * chunks_per_byte) for entry in change.dirty)
        self._most = max(self._most, manifest.counts["chunks"] // MOST_SEGMENTS)
        merged = to_merge(parts, coming, self._most)
        self._kept = [part for part in parts if part not in merged and part.living]
        self._moved = {
            item.path: (item, part, i) for part in merged for i, item in enumerate(part.files) if item is not None
        }
        self._find_dead({entry.path for entry in change.dirty})
        tasks = [Task(entry, tuple(self._dead.get(entry.path, ()))) for entry in change.dirty]
        for item, _, _ in self._moved.values():
            entry = FileEntry(item.path, item.size, item.mtime_ns, item.ctime_ns)
            tasks.append(Task(entry, sha=item.sha, key=item.key))
        return self._write(sorted(tasks, key=lambda task: task.entry.path))

    def collect(self) -> None:
        """Bound the cache, once the generation is published."""
        living = (item.key for item in self._made.known if item.slot >= 0)
        self._cache.collect(CACHE_BYTES, living, self._generation)

    def _find_dead(self, paths: set[str]) -> None:
        """Contents that the segments which stay have of these paths: a branch that is checked out again, mostly."""
        for part in self._kept if paths else ():
            numbers = [i for i, item in enumerate(part.files) if item is None]
            for i, path, sha, limit in stored_files(part.symbols, numbers):
                if path in paths and limit not in UNPARSED:
                    self._dead.setdefault(path, {})[sha] = (part, i, limit)

    def _write(self, tasks: list[Task]) -> Made:
        setting, made = self._setting, self._made
        embedding = None
        if setting.encoder is not None:
            embedding = Embedding(setting.encoder, self._dimension, self._cache, self._generation)
        writer = SegmentWriter(setting.folder, embedding, setting.report, self._most)
        done = 0
        with closing(process(setting.place, tasks, setting.jobs, setting.warm_up)) as batches:
            for batch in batches:
                self._keep(batch)
                for item in batch:
                    self._take(item, writer)
                done += len(batch)
                setting.report("parse", done, len(tasks))
        if self._linking is not None:
            self._linking.start(setting.folder / GRAPH_FILE)
        writer.flush()
        made.embedded_chunks = writer.embedded_chunks
        made.parts = [*self._kept, *writer.parts]
        made.known = sorted([*self._placed(), *self._skipped], key=lambda item: item.path)
        return made

    def _keep(self, batch: list[Done]) -> None:
        # Not of a parser that failed: on another day, it may have more time.
        new = {item.key: item.body for item in batch if item.body and not item.cached and item.limit not in UNPARSED}
        self._cache.put("records", new, self._generation)

    def _take(self, done: Done, writer: SegmentWriter) -> None:
        entry = done.entry
        moved = self._moved.get(entry.path)
        if moved is not None and done.sha == moved[0].sha and done.body:
            self._made.reused_files += 1
            self._add(done, moved[0], writer, moved[1:])
            return
        if moved is not None:  # it has changed since it was looked at
            self._made.tally.add_stored(moved[1].symbols, [moved[2]], -1)
        settled = settled_ns(entry, self._setting.walked_ns)
        known = Known(entry.path, entry.size, settled, entry.ctime_ns, done.sha, -1, done.skip, done.key or bytes(16))
        if done.skip:
            self._skipped.append(known)
            return
        self._made.fresh.add(entry.path)
        if done.body:
            self._made.reused_files += done.cached
            self._made.parsed_files += not done.cached
            self._made.tally.add(self._add(done, known, writer))
        else:
            part, number, limit = self._dead[entry.path][done.sha]
            part.files[number] = replace(known, reason=limit)
            self._made.reused_files += 1
            self._made.tally.add_stored(part.symbols, [number])

    def _add(self, done: Done, known: Known, writer: SegmentWriter, source: Source | None = None) -> FileRecord:
        record = decode(done.body, Place(known.path, known.size, known.mtime_ns, known.sha))
        writer.add(record, replace(known, reason=record.limit), source)
        if self._linking is not None:
            self._linking.add(record)
        return record

    def _placed(self) -> Iterator[Known]:
        slot = 0
        for part in self._made.parts:
            for number, item in enumerate(part.files):
                if item is not None:
                    part.files[number] = placed = replace(item, slot=slot)
                    yield placed
                slot += 1


def _by_part(parts: Sequence[Part], slots: Iterable[int]) -> Iterator[tuple[Part, list[int]]]:
    found: dict[int, list[int]] = {}
    for slot in slots:
        part, number = locate(parts, slot)
        found.setdefault(id(part), []).append(number)
    for part in parts:
        if numbers := found.get(id(part)):
            yield part, numbers
