"""A part in the store: how a repository becomes one, and how a worker opens it."""

from __future__ import annotations

import json
import shutil
from collections import OrderedDict
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.cluster.fleet import FLEET_FORMAT, Part, named, read_part_manifest
from lci_py.cluster.leaf import Leaf
from lci_py.cluster.link import Linkable, link
from lci_py.cluster.objects import Named, StoreError
from lci_py.cluster.part_graph import PartGraph
from lci_py.cluster.part_texts import AsIndexed, PackedReader, write_texts
from lci_py.cluster.root import FleetInfo, PartInfo, starts
from lci_py.errors import IndexWriteError, ShardMissingError, ShardVersionError, UsageError
from lci_py.index.build.run import BuildOptions, build
from lci_py.index.store.manifest import FORMAT, Manifest, Segment, Shard, check_manifest
from lci_py.search.snapshot import Snapshot
from lci_py.search.trace import Trace
from lci_py.source.repository.walk import WalkOptions, WalkResult
from lci_py.types.search import VIEWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.cluster.fleet import Fleet
    from lci_py.cluster.objects import Cache, Objects
    from lci_py.embed.protocol import TextEncoder
    from lci_py.search.worktree.freshness import Freshness

_ROLES = ("symbols", "bm25", "facts", "related", "dense", "tokens")


# --- writing ------------------------------------------------------------------------------------------------------


def store_part(
    objects: Objects, name: str, source: Path, work: Path, *, commit: str = "", options: BuildOptions | None = None
) -> Part:
    """Index a folder as a part, and put it into the store. No fleet has it yet.

    Args:
        objects: The store.
        name: The first folder of all paths of the part.
        source: The folder; its `.git` is left out.
        work: An empty folder.
        commit: What of it is indexed.
        options: Of the index run.
    Raises:
        UsageError: The name is none.
        BadPathError, IndexWriteError: see errors.py.
    """
    if not name or "/" in name or name.startswith(".") or name != name.strip():
        raise UsageError(f"{name!r} cannot be the name of a repository", hint="give a name without / and leading dot")
    root, index_dir = work / "root", work / "index"
    shutil.copytree(source, root / name, symlinks=True, ignore=partial(_without_git, str(source)))
    build(root, index_dir, options or BuildOptions(walk=WalkOptions(), jobs=1))
    snapshot = Snapshot(root, index_dir, snippet=0, limit=0, walk=lambda: WalkResult((), (), (), ()))
    try:
        return _stored(objects, name, source, work, commit, snapshot)
    finally:
        snapshot.close()


def _without_git(source: str, folder: str, names: list[str]) -> list[str]:
    return [".git"] if folder == source and ".git" in names else []


def _stored(objects: Objects, name: str, source: Path, work: Path, commit: str, snapshot: Snapshot) -> Part:
    manifest, paths = snapshot.manifest, snapshot.files.living_paths()
    if not paths:
        raise IndexWriteError(f"{source} has no files to index", hint="take it off the list")

    def put(role: str, path: Path) -> Named:
        return objects.put(role, path, path.suffix)

    segments = [
        {"counts": segment.counts, "shards": {role: put(role, snapshot.index_dir / shard.name)
                                              for role, shard in segment.shards.items()}}
        for segment in manifest.segments
    ]  # fmt: skip
    write_texts(texts := work / "texts.arrays", snapshot.root, snapshot.files)
    data = {
        "format": FLEET_FORMAT, "index_format": FORMAT, "program": manifest.program, "built_at": manifest.built_at,
        "model": {key: manifest.model[key] for key in ("name", "sha256", "dimension", "reads_text")},
        "counts": manifest.counts, "segments": segments, "texts": put("texts", texts),
        "files": put("files", snapshot.index_dir / manifest.shards["files"].name),
    }  # fmt: skip
    (described := work / "part.json").write_text(json.dumps(data, sort_keys=True, ensure_ascii=True))
    counts = {kind: snapshot.numbering.total(kind) for kind in ("files", "symbols", "units", "chunks")}
    return Part(
        name=name,
        source=str(source),
        commit=commit,
        first=paths[0],
        last=paths[-1],
        manifest=put("part", described),
        graph=None,
        counts={**counts, "lambdas": 0},
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
    snapshots: list[PartSnapshot] = []
    try:
        for part in fleet.parts:
            snapshots.append(PartSnapshot(cache, part))
        wanted = [Linkable(s.shards("symbols"), s.numbering, s.files, s.unit_table.symbol) for s in snapshots]
        found = link(wanted, work)
    finally:
        for snapshot in snapshots:
            snapshot.close()
    parts = [
        replace(part, graph=objects.put("partgraph", path, ".arrays"), counts={**part.counts, "lambdas": lambdas})
        for part, (path, lambdas) in zip(fleet.parts, found, strict=True)
    ]
    return replace(fleet, parts=tuple(parts))


# --- reading ------------------------------------------------------------------------------------------------------


class _Stored:
    """The shards of a part, fetched when they are asked for. As `OpenIndex`."""

    def __init__(self, cache: Cache, manifest: Manifest, shards: dict[tuple[str, int | None], Named]) -> None:
        self.manifest, self._cache, self._shards = manifest, cache, shards
        self._held: list[str] = []

    def hold(self, wanted: Named) -> Path:
        path = self._cache.hold(wanted)
        self._held.append(wanted.name)
        return path

    def verified(self, role: str, segment: int | None = None, *, thoroughly: bool = False) -> Path:
        found = self._shards.get((role, segment))
        if found is None:
            raise ShardMissingError(f"the part has no {role} shard", hint="run `lci cluster index` for it again")
        return self.hold(found)

    def close(self) -> None:
        self._cache.release(self._held)
        self._held = []


class PartSnapshot(Snapshot):
    """One part, opened from the store."""

    def __init__(self, cache: Cache, part: Part) -> None:
        """
        Raises:
            ShardMissingError, StoreError, ShardVersionError: Its manifest cannot be used.
        """
        path = cache.hold(part.manifest)
        try:
            data = read_part_manifest(path.read_bytes(), cache.objects, part)
        finally:
            cache.release([part.manifest.name])
        manifest, shards, self._texts = _manifest_of(data, cache.objects, part)
        self.root, self.index_dir = Path("/"), cache.folder
        self._stored = _Stored(cache, manifest, shards)
        self._index: Any = self._stored
        self._published = None
        self.manifest = manifest
        self.snippet, self.limit, self.model = 0, 0, None
        self.reader = PackedReader(lambda: self._stored.hold(self._texts), lambda: self.files)
        self.view_locks = {view: _NoLock() for view in VIEWS}  # type: ignore[misc]
        self._walk = lambda: WalkResult((), (), (), ())
        self.trace = Trace()

    @cached_property
    def freshness(self) -> Freshness:
        return AsIndexed(self.root, self.files, self.reader.read, self._walk)

    @cached_property
    def encoder(self) -> TextEncoder:
        """One for all parts of a process: each would load the vocabulary for itself."""
        key = str(self.manifest.model.get("sha256")), self.manifest.model.get("dimension")
        if key not in _encoders:
            _encoders[key] = Snapshot.encoder.func(self)  # type: ignore[attr-defined]
        return _encoders[key]


#: By the digest and the dimension of the model.
_encoders: dict[tuple[str, object], TextEncoder] = {}


class _NoLock:
    """Calls of a leaf take turns already."""

    def acquire(self, blocking: bool = True) -> bool:
        return True

    def release(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_exc: object) -> None: ...


def _manifest_of(
    data: dict[str, Any], objects: Objects, part: Part
) -> tuple[Manifest, dict[tuple[str, int | None], Named], Named]:
    """The manifest that readers know; the objects of its shards; that of the texts."""
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
            program=data["program"], model=data["model"], settings={}, counts=data["counts"],
            segments=tuple(segments), shards={"files": _shard("files", files)},
        )  # fmt: skip
        check_manifest(manifest)
        return manifest, shards, named(data["texts"], "texts")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"{objects.url}: the manifest of {part.name} has unexpected content ({error})",
            hint="run `lci cluster index` for it again",
        ) from error


def _shard(role: str, item: Named) -> Shard:
    suffix = Path(item.name).suffix
    return Shard(f"{role}-{item.sha[:16]}{suffix}", item.bytes, item.sha, 0, 0)


class Leaves:
    """The parts that a worker has open, the most recently used ones."""

    def __init__(self, cache: Cache, most: int = 512) -> None:
        self._cache, self._most = cache, most
        self._open: OrderedDict[tuple[str, tuple[tuple[str, int], ...]], Leaf] = OrderedDict()

    def leaf(self, part: Part, first: dict[str, int]) -> Leaf:
        """A part, opened.

        Args:
            part: The part.
            first: Where its rows start in the fleet.
        Raises:
            IndexError_: Its manifest cannot be used.
        """
        graph = part.graph
        key = f"{part.manifest.sha}/{graph.sha if graph else ''}", tuple(sorted(first.items()))
        found = self._open.get(key)
        if found is None:
            snapshot = PartSnapshot(self._cache, part)
            counts = part.counts
            opener = None
            if graph is not None:
                opener = partial(_open_graph, snapshot, graph, counts["symbols"], counts["files"])
            found = self._open[key] = Leaf(snapshot, first, opener)
            while len(self._open) > self._most:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(key)
        return found

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


def _open_graph(snapshot: PartSnapshot, graph: Named, symbols: int, files: int) -> PartGraph:
    return PartGraph(snapshot._stored.hold(graph), symbols, files)


def info_of(fleet: Fleet, parts: Sequence[Part] | None = None) -> FleetInfo:
    """What the root of a search knows of a fleet.

    Args:
        fleet: The fleet.
        parts: Those that may be read; None for all.
    """
    infos = tuple(
        PartInfo(part.name, part.counts, part.lengths, frozenset(part.languages), part.graph is not None)
        for part in (fleet.parts if parts is None else parts)
    )
    return FleetInfo(infos, fleet.generation, fleet.built_at)


__all__ = ["Leaves", "PartSnapshot", "info_of", "linked", "starts", "store_part"]
