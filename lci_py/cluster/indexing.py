"""Indexes a fleet: surveys the repositories, indexes their parts, and links the call graph over all parts.

A repository whose commit differs from the fleet's costs one job; unchanged repositories cost nothing. The largest parts
start first. A job has no state.
"""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
import zlib
from array import array
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cluster.fleet import KINDS, Fleet, Part, former_fleet, object_of, part_manifest, write_fleet
from lci_py.cluster.graph import link
from lci_py.cluster.leaf import PartSnapshot
from lci_py.cluster.objects import Cache, Objects
from lci_py.cluster.sources import EVERYTHING, SPLIT_BYTES, Run, source_of, survey, write_files
from lci_py.errors import IndexError_, IndexWriteError, LciError, UsageError
from lci_py.index.build.context import BuildOptions
from lci_py.index.build.run import build
from lci_py.index.shards.arrays import write_arrays
from lci_py.index.store.manifest import MANIFEST, Shard, root_setting, shard_state
from lci_py.search.snapshot import Snapshot
from lci_py.source.repository.files import read_file
from lci_py.source.repository.walk import WalkResult
from lci_py.source.text import digest
from lci_py.types.record import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lci_py.cluster.objects import NamedObject
    from lci_py.cluster.workers import Workers
    from lci_py.index.shards.files import FileTable

#: Bytes of objects that linking keeps: it reads the symbols of all parts.
_EVERYTHING = 1 << 62


class PartSource(NamedTuple):
    """What a part is made of: a repository of a fleet, or a run of its paths.

    Attributes:
        name: The name of the repository: the first folder of all paths.
        source: Where the files come from, as written in the list of repositories: see `source_of`.
        run: The range of paths, and the commit.
    """

    name: str
    source: str
    run: Run = Run()


class IndexedFleet(NamedTuple):
    """The result of `index_fleet`: the fleet that it has built."""

    fleet: Fleet
    fresh: list[str]  # the repositories whose files have changed
    published: bool  # whether the fleet is a new one
    warnings: list[str]


# --- a part ------------------------------------------------------------------------------------------------------


@contextmanager
def _about(name: str) -> Iterator[None]:
    """A context manager that puts the name of a repository before the messages of errors."""
    try:
        yield
    except LciError as error:
        error.message = f"{name}: {error.message}"
        raise
    except OSError as error:
        raise IndexWriteError(f"{name}: {error.strerror}", hint="free some space") from error


def index_part(
    folder: Path, processes: int, url: str, spec: PartSource, former: Part | None = None
) -> tuple[Part | None, list[str]]:
    """A job: index the files of a part, and put the index into the store, where a fleet can name it later.

    Args:
        folder: The folder for temporary files.
        processes: The number of processes that extract; if it is more than one, this process is forked.
        url: The store.
        spec: The part to index.
        former: The former version of the part: only changes since then are extracted; without changes it is returned.
    Returns:
        (the part or None if it has no files to index, warnings).
    Raises:
        UsageError: The source cannot be read.
        BadPathError, IndexWriteError: see errors.py.
    """
    objects, run = Objects(url), spec.run
    with _about(spec.name), tempfile.TemporaryDirectory(dir=folder) as temporary:
        work = Path(temporary)
        root, index_dir = work / "root", work / "index"
        root.mkdir()
        warnings = write_files(source_of(spec.source), run, root / spec.name)
        brought = former is not None and _brought_back(objects, former, root, index_dir)
        result = build(root, index_dir, BuildOptions(walk=EVERYTHING, jobs=processes, graph=False))
        if former is not None and brought and not (result.parsed_files or result.reused_files or result.removed_files):
            same = replace(former, source=spec.source, commit=run.commit, state=run.state, start=run.start)
            return same, warnings
        snapshot = Snapshot(root, index_dir, snippet=0, limit=0, walk=lambda: WalkResult((), (), (), ()))
        with closing(snapshot):
            return _stored_part(objects, spec, work, snapshot), warnings


def _brought_back(objects: Objects, former: Part, root: Path, index_dir: Path) -> bool:
    """Copy the stored index of a part into a folder, as if it was built for `root`; False if it cannot be used."""
    index_dir.mkdir()

    def fetched(role: str, shard: Shard) -> Shard:
        objects.fetch(object_of(role, shard), index_dir / shard.name)
        _, mtime_ns, ctime_ns = shard_state(index_dir / shard.name)
        return replace(shard, mtime_ns=mtime_ns, ctime_ns=ctime_ns)

    try:
        manifest = part_manifest(objects, former)
        del manifest.shards["texts"]  # the files are laid out
        manifest = manifest.with_shards(fetched)
    except IndexError_:
        shutil.rmtree(index_dir)
        return False  # it is indexed from nothing
    manifest = replace(manifest, settings={**manifest.settings, "root": root_setting(root, index_dir)})
    (index_dir / MANIFEST).write_text(manifest.dumps(), "utf-8")
    return True


def _stored_part(objects: Objects, spec: PartSource, work: Path, snapshot: Snapshot) -> Part | None:
    paths = snapshot.files.living_paths()
    if not paths:
        return None

    def put(role: str, path: Path) -> NamedObject:
        return objects.put(role, path, path.suffix)

    def stored(role: str, shard: Shard) -> Shard:
        put(role, snapshot.index_dir / shard.name)
        return replace(shard, mtime_ns=0, ctime_ns=0)

    write_texts(texts := work / "texts.arrays", snapshot.root, snapshot.files)
    blob = put("texts", texts)
    manifest = snapshot.manifest.with_shards(stored)
    manifest.shards["texts"] = Shard(f"texts-{blob.sha[:16]}.arrays", blob.bytes, blob.sha, 0, 0)
    described = {
        **asdict(manifest),
        "model": {key: value for key, value in manifest.model.items() if key not in ("folder", "stamp")},
        "settings": {**manifest.settings, "root": ""},
    }
    (target := work / "part.json").write_text(json.dumps(described, sort_keys=True, ensure_ascii=True))
    counts = {kind: snapshot.numbering.total(kind) for kind in KINDS}
    (name, source, run), stored_as = spec, put("part", target)
    return Part(name, source, run.commit, run.start, run.state, paths[0], paths[-1], stored_as, None, counts)


def write_texts(path: Path, root: Path, table: FileTable) -> None:
    """Write the texts of the indexed files: a search shows lines of them, and looks for quoted phrases in them.

    Args:
        path: A new file of arrays: `texts`, a zlib stream for each file of the table (empty if it is not indexed), and
            `starts`, where each stream starts.
        root: The root of the files.
        table: The files.
    Raises:
        IndexWriteError: A file has changed since it was indexed.
        OSError: The texts cannot be written.
    """
    blobs = []
    for state in table.states():
        blobs.append(b"")
        if state.slot >= 0:
            data = read_file(str(root), state.path)
            if not isinstance(data, bytes) or digest(data) != state.sha:
                raise IndexWriteError(f"{state.path} has changed while it was indexed", hint="index it again")
            blobs[-1] = zlib.compress(data)
    starts = array("q", accumulate(map(len, blobs), initial=0))
    write_arrays(path, {"starts": starts, "texts": b"".join(blobs)})


# --- the other jobs -----------------------------------------------------------------------------------------------


def survey_repository(
    _folder: Path, _processes: int, repository: PartSource, former: str, starts: tuple[str, ...], limit: int
) -> list[Run] | None:
    """Survey a repository (see `survey`). `former` is the indexed commit, `starts` the first paths of its parts."""
    with _about(repository.name):
        return survey(source_of(repository.source), former, starts, limit)


def link_parts(folder: Path, _processes: int, url: str, fleet: Fleet) -> Fleet:
    """Link the call graph over all parts of a fleet, which are in order; returns the fleet with its graphs.

    Raises:
        IndexError_: A part cannot be read.
        IndexWriteError: The store cannot be written.
    """
    with suppress(OSError, ValueError):  # it opens the symbols of all parts
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with tempfile.TemporaryDirectory(dir=folder) as work, ExitStack() as stack:
        objects = Objects(url)
        (target := Path(work, "graphs")).mkdir()
        cache = Cache(objects, Path(work, "objects"), _EVERYTHING)
        graphs = link([stack.enter_context(closing(PartSnapshot(cache, part))) for part in fleet.parts], target)
        stored = [objects.put("partgraph", path, ".arrays") for path in graphs]
    parts = (replace(part, graph=graph) for part, graph in zip(fleet.parts, stored, strict=True))
    return replace(fleet, parts=tuple(parts))


# --- the run ------------------------------------------------------------------------------------------------------


def index_fleet(
    workers: Workers,
    url: str,
    repositories: Sequence[PartSource],
    built_at: str,
    program: str,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    *,
    split: int = SPLIT_BYTES,
) -> IndexedFleet:
    """Build a fleet of exactly these repositories. Unchanged repositories in the store are not indexed again.

    Args:
        url: The store.
        repositories: The repositories, with different names.
        built_at: The time of the build, which the fleet stores.
        program: The name and version of this program; parts that another version has made are built again.
        split: A repository with at least so many bytes is divided into parts.
    Returns:
        The fleet. If nothing has changed, nothing is written.
    Raises:
        IndexError_, UsageError: A repository cannot be indexed, or the store not be written. The fleet is unchanged.
    """
    objects = Objects(url)
    names = {item.name for item in repositories}
    if len(names) != len(repositories) or not names:
        raise UsageError(
            "a fleet needs at least one repository, and their names must differ",
            hint="check the list of repositories",
        )
    for name in names:
        if not name or "/" in name or "\0" in name or name.startswith(".") or name != name.strip():
            raise UsageError(
                f"{name!r} cannot be the name of a repository", hint="give a name without / and leading dot"
            )
    before = former_fleet(objects) or Fleet(0, built_at, program, ())
    old = before.parts if before.program == program else ()
    parts, todo = _looked_at(workers, repositories, old, split)
    todo.sort(key=lambda item: -item[0].run.bytes)  # a large one that is begun last is waited for
    warnings: set[str] = set()
    for count, (index, (part, texts)) in enumerate(workers.each(index_part, [(url, *item) for item in todo]), 1):
        parts += [part] if part is not None else []
        warnings |= {f"{todo[index][0].name}: {text}" for text in texts}
        progress("index", count, len(todo))
    warnings |= {f"{name} has no files to index" for name in names - {part.name for part in parts}}
    if not parts:
        raise IndexWriteError("no repository has files to index", hint="check the list of repositories")
    fleet = replace(before, built_at=built_at, program=program).ordered(parts)
    if fleet.parts == before.parts:
        return IndexedFleet(before, [], False, sorted(warnings))
    changed = {(part.name, part.manifest) for part in old} ^ {(part.name, part.manifest) for part in parts}
    digests, were = ([part.manifest.sha for part in item.parts] for item in (fleet, before))
    if digests != were or any(part.graph is None for part in parts):
        progress("graph", 0, 0)
        [(_, fleet)] = workers.each(link_parts, [(url, fleet)])
    fleet = write_fleet(objects, fleet, before.generation)
    return IndexedFleet(fleet, sorted({name for name, _ in changed} & names), True, sorted(warnings))


def _looked_at(
    workers: Workers, repositories: Sequence[PartSource], old: Sequence[Part], split: int
) -> tuple[list[Part], list[tuple[PartSource, Part | None]]]:
    """(the unchanged parts, the parts to index, each with its former version or None)."""
    parts: list[Part] = []
    calls, formers = [], []
    for repository in repositories:
        own = {part.start: part for part in old if (part.name, part.source) == (repository.name, repository.source)}
        calls.append((repository, own[min(own)].commit if own else "", tuple(sorted(own)), split))
        formers.append(own)
    surveys = dict(workers.each(survey_repository, calls))
    todo: list[tuple[PartSource, Part | None]] = []
    for number, (repository, own) in enumerate(zip(repositories, formers, strict=True)):
        runs = surveys[number]
        if runs is None:  # it is at the same commit
            parts += own.values()
        for run in runs or ():
            former = own.get(run.start)
            if former is not None and run.state and run.state == former.state:
                parts.append(replace(former, commit=run.commit))
            else:
                todo.append((repository._replace(run=run), former))
    return parts, todo
