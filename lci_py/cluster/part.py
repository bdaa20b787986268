"""A part in the store: how a repository becomes one, and how a worker opens it."""

from __future__ import annotations

import json
import shutil
from collections import OrderedDict
from contextlib import ExitStack, closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.fleet import FLEET_FORMAT, KINDS, Part, named, read_part_manifest
from lci_py.cluster.graph import PartGraph, link
from lci_py.cluster.leaf import Leaf
from lci_py.cluster.objects import Named, StoreError
from lci_py.cluster.part_texts import AsIndexed, PackedReader, write_texts
from lci_py.cluster.sources import EVERYTHING, Run, source_of, write_files
from lci_py.errors import DamagedIndexError, IndexError_, ShardMissingError, ShardVersionError, UsageError
from lci_py.index.build.context import BuildOptions
from lci_py.index.build.run import build
from lci_py.index.store.manifest import (
    FORMAT,
    MANIFEST,
    Manifest,
    Segment,
    Shard,
    check_manifest,
    root_setting,
    shard_state,
)
from lci_py.search.snapshot import Snapshot
from lci_py.source.repository.walk import WalkResult
from lci_py.types.record import replace

if TYPE_CHECKING:
    from lci_py.cluster.fleet import Fleet
    from lci_py.cluster.objects import Cache, Objects
    from lci_py.embed.protocol import TextEncoder
    from lci_py.search.worktree.freshness import Freshness

_ROLES = ("symbols", "bm25", "facts", "related", "dense", "tokens")


# --- writing ------------------------------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """What a part is to be.

    Attributes:
        name: The first folder of all its paths.
        source: Where its files come from, as the list of repositories has it.
        commit: What of it is indexed.
        run: Which paths.
    """

    name: str
    source: str
    commit: str = ""
    run: Run = Run("", None, 0, "")


def check_name(name: str) -> None:
    """Raise UsageError if a repository cannot have a name."""
    if not name or "/" in name or "\0" in name or name.startswith(".") or name != name.strip():
        raise UsageError(f"{name!r} cannot be the name of a repository", hint="give a name without / and leading dot")


def store_part(
    objects: Objects, wanted: Wanted, work: Path, *, former: Part | None = None, processes: int = 1
) -> tuple[Part | None, list[str]]:
    """Index the files of a part, and put it into the store. No fleet has it yet.

    Args:
        objects: The store.
        wanted: The part.
        work: An empty folder.
        former: The part as it was: only what has changed since is extracted. If nothing has, it stays.
        processes: That extract; with more than one this process is forked.
    Returns:
        The part, None if it has no files to index; and warnings.
    Raises:
        UsageError: The source cannot be read, or the name is none.
        BadPathError, IndexWriteError: see errors.py.
    """
    check_name(wanted.name)
    root, index_dir = work / "root", work / "index"
    root.mkdir()
    warnings = write_files(source_of(wanted.source), wanted.commit, wanted.run, root / wanted.name)
    brought = former is not None and _brought_back(objects, former, root, index_dir)
    made = build(root, index_dir, BuildOptions(walk=EVERYTHING, jobs=processes, graph=False))
    if former is not None and brought and not made.parsed_files and not made.reused_files and not made.removed_files:
        same = {"source": wanted.source, "commit": wanted.commit, "state": wanted.run.state, "start": wanted.run.start}
        return replace(former, **same), warnings  # type: ignore[arg-type]
    snapshot = Snapshot(root, index_dir, snippet=0, limit=0, walk=lambda: WalkResult((), (), (), ()))
    try:
        return _stored(objects, wanted, work, snapshot), warnings
    finally:
        snapshot.close()


def _brought_back(objects: Objects, former: Part, root: Path, index_dir: Path) -> bool:
    """Put the index of a part into a folder, as if it had been made for `root`; False if it cannot be used."""
    index_dir.mkdir()

    def fetched(role: str, named: Named) -> Shard:
        shard = _shard(role, named)
        objects.fetch(named, index_dir / shard.name)
        _, mtime_ns, ctime_ns = shard_state(index_dir / shard.name)
        return replace(shard, mtime_ns=mtime_ns, ctime_ns=ctime_ns)

    try:
        objects.fetch(former.manifest, described := index_dir.parent / "former.json")
        data = read_part_manifest(described.read_bytes(), objects, former)
        manifest, shards, _ = _manifest_of(data, objects, former)
        found = {place: fetched(place[0], named) for place, named in shards.items()}
    except IndexError_:
        shutil.rmtree(index_dir)
        return False  # it is indexed from nothing
    segments = [
        replace(segment, shards={role: found[role, number] for role in segment.shards})
        for number, segment in enumerate(manifest.segments)
    ]
    settings = {**manifest.settings, "root": root_setting(root, index_dir)}
    manifest = replace(
        manifest, commit=None, settings=settings, segments=tuple(segments), shards={"files": found["files", None]}
    )
    (index_dir / MANIFEST).write_text(manifest.dumps(), "utf-8")
    return True


def _stored(objects: Objects, wanted: Wanted, work: Path, snapshot: Snapshot) -> Part | None:
    manifest, paths = snapshot.manifest, snapshot.files.living_paths()
    if not paths:
        return None

    def put(role: str, path: Path) -> Named:
        return objects.put(role, path, path.suffix)

    segments = [
        {"counts": segment.counts, "shards": {role: put(role, snapshot.index_dir / shard.name)
                                              for role, shard in segment.shards.items()}}
        for segment in manifest.segments
    ]  # fmt: skip
    (packs := work / "texts").mkdir()
    texts = [(sha, put("texts", path)) for sha, path in write_texts(packs, snapshot.root, snapshot.files)]
    data = {
        "format": FLEET_FORMAT, "index_format": FORMAT, "program": manifest.program, "built_at": manifest.built_at,
        "model": {key: manifest.model[key] for key in ("name", "sha256", "dimension", "reads_text")},
        "settings": {key: value for key, value in manifest.settings.items() if key != "root"},
        "counts": manifest.counts, "segments": segments, "texts": texts,
        "files": put("files", snapshot.index_dir / manifest.shards["files"].name),
    }  # fmt: skip
    (described := work / "part.json").write_text(json.dumps(data, sort_keys=True, ensure_ascii=True))
    counts = {kind: snapshot.numbering.total(kind) for kind in KINDS}
    return Part(
        name=wanted.name,
        source=wanted.source,
        commit=wanted.commit,
        start=wanted.run.start,
        state=wanted.run.state,
        first=paths[0],
        last=paths[-1],
        manifest=put("part", described),
        graph=None,
        counts=counts,
        lengths=snapshot.lexical.total_lengths(),
        languages=tuple(sorted(manifest.counts["files_by_language"])),
        model=str(manifest.model["sha256"]),
    )


def linked(objects: Objects, cache: Cache, fleet: Fleet, work: Path) -> Fleet:
    """The fleet with its call graph: linked over all its parts, which replaces that of each.

    Args:
        objects: The store.
        cache: For the shards that it reads.
        fleet: With its parts in order.
        work: An empty folder.
    Raises:
        IndexError_: A part cannot be read.
        IndexWriteError: The store cannot be written.
    """
    _allow_files()
    with ExitStack() as stack:
        found = link([stack.enter_context(closing(PartSnapshot(cache, part))) for part in fleet.parts], work)
    graphs = [objects.put("partgraph", path, ".arrays") for path in found]
    return replace(
        fleet, parts=tuple(replace(part, graph=graph) for part, graph in zip(fleet.parts, graphs, strict=True))
    )


def _allow_files() -> None:
    """Let this process open as many files as it may: linking opens the symbols of all parts."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)


# --- reading ------------------------------------------------------------------------------------------------------


class _Stored:
    """The shards of a part, fetched when they are asked for. As `OpenIndex`."""

    def __init__(self, cache: Cache, manifest: Manifest, shards: dict[tuple[str, int | None], Named]) -> None:
        self.manifest, self._cache, self._shards = manifest, cache, shards

    def verified(self, role: str, segment: int | None = None, *, thoroughly: bool = False) -> Path:
        found = self._shards.get((role, segment))
        if found is None:
            raise ShardMissingError(f"the part has no {role} shard", hint="run `lci cluster index` for it again")
        return self._cache.path(found)

    def problems(self, *, thoroughly: bool) -> list[str]:
        return []

    def close(self) -> None: ...


class PartSnapshot(Snapshot):
    """One part, opened from the store."""

    def __init__(self, cache: Cache, part: Part, readable: frozenset[int] | None = None) -> None:
        """
        Args:
            cache: For the objects of the part.
            part: The part.
            readable: The places in the fleet of the parts of which the graph tells; None for all.
        Raises:
            ShardMissingError, StoreError, ShardVersionError: Its manifest cannot be used.
        """
        data = read_part_manifest(cache.path(part.manifest).read_bytes(), cache.objects, part)
        manifest, shards, packs = _manifest_of(data, cache.objects, part)
        nothing = WalkResult((), (), (), ())
        super().__init__(
            Path("/"), cache.folder, snippet=0, limit=0, walk=lambda: nothing, shards=_Stored(cache, manifest, shards)
        )
        self.reader = PackedReader(
            [first for first, _ in packs], lambda number: cache.path(packs[number][1]), lambda: self.files
        )
        self._part, self._cache, self._readable = part, cache, readable

    @cached_property
    def freshness(self) -> Freshness:
        return AsIndexed(self.root, self.files, self.reader.read, self._walk)

    @cached_property
    def graph(self) -> PartGraph:
        if self._part.graph is None:
            raise ShardMissingError("the fleet has no call graph", hint="run `lci cluster index`")
        found = PartGraph(self._cache.path(self._part.graph), self._readable)
        if (found.own_symbols, found.n_files) != (self.numbering.total("symbols"), self.numbering.total("files")):
            raise DamagedIndexError("the graph is of other files than the rest")
        return found

    @cached_property
    def encoder(self) -> TextEncoder:
        """One for all parts of a process: each would load the vocabulary for itself."""
        key = str(self.manifest.model.get("sha256")), self.manifest.model.get("dimension")
        if key not in _encoders:
            _encoders[key] = Snapshot.encoder.func(self)  # type: ignore[attr-defined]
        return _encoders[key]


#: By the digest and the dimension of the model.
_encoders: dict[tuple[str, object], TextEncoder] = {}


def _manifest_of(
    data: dict[str, Any], objects: Objects, part: Part
) -> tuple[Manifest, dict[tuple[str, int | None], Named], list[tuple[str, Named]]]:
    """The manifest that readers know; the objects of its shards; the packs of its texts, each with its first digest."""
    if data.get("index_format") != FORMAT:
        raise ShardVersionError(f"{objects.url}: {part.name}", found=data.get("index_format"), readable=FORMAT)
    shards: dict[tuple[str, int | None], Named] = {}
    try:
        segments = []
        for number, segment in enumerate(data["segments"]):
            own = {role: named(segment["shards"][role], role) for role in segment["shards"] if role in _ROLES}
            shards |= {(role, number): item for role, item in own.items()}
            segments.append(Segment(segment["counts"], {role: _shard(role, item) for role, item in own.items()}))
        shards["files", None] = files = named(data["files"], "files")
        manifest = Manifest(
            format=FORMAT, generation=1, built_at=data["built_at"], commit=part.commit or None, branch=None,
            program=data["program"], model=data["model"], settings=dict(data["settings"]), counts=data["counts"],
            segments=tuple(segments), shards={"files": _shard("files", files)},
        )  # fmt: skip
        check_manifest(manifest)
        return manifest, shards, [(str(first), named(pack, "texts")) for first, pack in data["texts"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"{objects.url}: the manifest of {part.name} has unexpected content ({error})",
            hint="run `lci cluster index` for it again",
        ) from error


def objects_of(data: dict[str, Any], objects: Objects, part: Part) -> list[Named]:
    """All objects that a part needs, by its manifest. Raises what `PartSnapshot` raises."""
    _, shards, packs = _manifest_of(data, objects, part)
    graphs = [] if part.graph is None else [part.graph]
    return [part.manifest, *graphs, *shards.values(), *(pack for _, pack in packs)]


def _shard(role: str, item: Named) -> Shard:
    suffix = Path(item.name).suffix
    return Shard(f"{role}-{item.sha[:16]}{suffix}", item.bytes, item.sha, 0, 0)


class Leaves:
    """The parts that a worker has open, the most recently used ones."""

    def __init__(self, cache: Cache, most: int = 512) -> None:
        self._cache, self._most = cache, most
        self._open: OrderedDict[tuple[str, frozenset[int] | None], Leaf] = OrderedDict()

    def leaf(self, part: Part, readable: frozenset[int] | None = None) -> Leaf:
        """A part, opened.

        Args:
            part: The part.
            readable: As for `PartSnapshot`.
        Raises:
            IndexError_: Its manifest cannot be used.
        """
        key = f"{part.manifest.sha}/{part.graph.sha if part.graph else ''}", readable
        found = self._open.get(key)
        if found is None:
            found = self._open[key] = Leaf(PartSnapshot(self._cache, part, readable))
            while len(self._open) > self._most:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(key)
        return found

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


__all__ = ["Leaves", "PartSnapshot", "linked", "store_part"]
