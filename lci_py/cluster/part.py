"""Indexes a repository as a part in the store."""

from __future__ import annotations

import json
import shutil
import zlib
from array import array
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cluster.fleet import FLEET_FORMAT, KINDS, Part, object_of, part_contents
from lci_py.cluster.sources import EVERYTHING, Run, source_of, write_files
from lci_py.errors import IndexError_, IndexWriteError, UsageError
from lci_py.index.build.context import BuildOptions
from lci_py.index.build.run import build
from lci_py.index.shards.arrays import write_arrays
from lci_py.index.store.manifest import MANIFEST, root_setting, shard_state
from lci_py.search.snapshot import Snapshot
from lci_py.source.repository.files import read_file
from lci_py.source.repository.walk import WalkResult
from lci_py.source.text.digest import digest
from lci_py.types.record import asdict, replace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lci_py.cluster.objects import NamedObject, Objects
    from lci_py.index.shards.files import FileTable
    from lci_py.index.store.manifest import Shard


class PartJob(NamedTuple):
    """The description of a part to index.

    Attributes:
        name: The first folder of all its paths.
        source: Where its files come from, as in the list of repositories.
        commit: The commit to index.
        run: The range of paths.
    """

    name: str
    source: str
    commit: str = ""
    run: Run = Run()


def check_name(name: str) -> None:
    """Raise UsageError if this cannot be the name of a repository."""
    if not name or "/" in name or "\0" in name or name.startswith(".") or name != name.strip():
        raise UsageError(f"{name!r} cannot be the name of a repository", hint="give a name without / and leading dot")


def store_part(
    objects: Objects, wanted: PartJob, work: Path, *, former: Part | None = None, processes: int = 1
) -> tuple[Part | None, list[str]]:
    """Index the files of a part and store it. No fleet has it yet.

    Args:
        work: An empty folder.
        former: The former version of the part: only changes since are extracted. If there are none, it stays.
        processes: Number of processes that extract; with more than one this process is forked.
    Returns:
        The part, None if it has no files to index; and warnings.
    Raises:
        UsageError: The source cannot be read, or the name is not valid.
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
    with closing(snapshot):
        return _stored_part(objects, wanted, work, snapshot), warnings


def _brought_back(objects: Objects, former: Part, root: Path, index_dir: Path) -> bool:
    """Copy the index of a part into a folder, as if it had been built for `root`; False if it cannot be used."""
    index_dir.mkdir()

    def fetched(role: str, shard: Shard) -> Shard:
        objects.fetch(object_of(role, shard), index_dir / shard.name)
        _, mtime_ns, ctime_ns = shard_state(index_dir / shard.name)
        return replace(shard, mtime_ns=mtime_ns, ctime_ns=ctime_ns)

    try:
        manifest = part_contents(objects.content(former.manifest), objects, former).manifest
        manifest = manifest.with_shards(fetched)
    except IndexError_:
        shutil.rmtree(index_dir)
        return False  # it is indexed from nothing
    manifest = replace(manifest, settings={**manifest.settings, "root": root_setting(root, index_dir)})
    (index_dir / MANIFEST).write_text(manifest.dumps(), "utf-8")
    return True


def _stored_part(objects: Objects, wanted: PartJob, work: Path, snapshot: Snapshot) -> Part | None:
    paths = snapshot.files.living_paths()
    if not paths:
        return None

    def put(role: str, path: Path) -> NamedObject:
        return objects.put(role, path, path.suffix)

    def stored(role: str, shard: Shard) -> Shard:
        put(role, snapshot.index_dir / shard.name)
        return replace(shard, mtime_ns=0, ctime_ns=0)

    manifest = snapshot.manifest.with_shards(stored)
    described = {
        **asdict(manifest),
        "model": {key: value for key, value in manifest.model.items() if key not in ("folder", "stamp")},
        "settings": {**manifest.settings, "root": ""},
    }
    texts = [(sha, put("texts", path)) for sha, path in write_texts(work, snapshot.root, snapshot.files)]
    data = {"format": FLEET_FORMAT, "manifest": described, "texts": texts}
    (written := work / "part.json").write_text(json.dumps(data, sort_keys=True, ensure_ascii=True))
    counts = {kind: snapshot.numbering.total(kind) for kind in KINDS}
    start, state = wanted.run.start, wanted.run.state
    return Part(
        wanted.name, wanted.source, wanted.commit, start, state, paths[0], paths[-1], put("part", written), None, counts
    )


#: How much zlib tries; one of so many digests ends a pack.
_LEVEL, _SOME = 6, 32


def write_texts(folder: Path, root: Path, table: FileTable) -> Iterator[tuple[str, Path]]:
    """Write the texts of the indexed files: a search shows lines of them, and looks for quoted phrases in them.

    They are stored in packs: files of arrays with `shas`, the digests of some texts in order, `texts`, one zlib stream
    for each, and where each starts. Packs are cut at digests that end in certain ways, so equal texts make equal packs:
    two copies of a repository share them, and a copy with one other file has one or two packs of its own.

    Args:
        folder: For the packs, which are new files in it.
        root: Of the files.
        table: The indexed files.
    Returns:
        The first digest of each pack, and the pack.
    Raises:
        IndexWriteError: A file has changed since it was indexed.
        OSError: A pack cannot be written.
    """
    paths = {known.sha: known.path for known in table.states() if known.slot >= 0}
    shas = sorted(paths)
    ends = [place for place, sha in enumerate(shas, 1) if int(sha[-2:], 16) % _SOME == 0 or place == len(shas)]
    for start, stop in zip((0, *ends), ends, strict=False):
        blobs, starts = [], array("q", [0])
        for sha in shas[start:stop]:
            data = read_file(str(root), paths[sha])
            if not isinstance(data, bytes) or digest(data) != sha:
                raise IndexWriteError(f"{paths[sha]} has changed while it was indexed", hint="index it again")
            blobs.append(zlib.compress(data, _LEVEL))
            starts.append(starts[-1] + len(blobs[-1]))
        path = folder / f"texts-{start}.arrays"
        own = b"".join(map(bytes.fromhex, shas[start:stop]))
        write_arrays(path, {"shas": own, "starts": starts, "texts": b"".join(blobs)})
        yield shas[start], path
