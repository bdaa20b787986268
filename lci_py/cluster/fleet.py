"""The manifests of a fleet (many repositories that are searched together): a small object that names all parts, written
last, and a manifest for each part. Objects that no manifest names are garbage.

The fleet's manifest is sealed with the key of fleets. It has the digests of the parts' manifests, which have the
digests of the shards. So the seal covers every byte that is read from the store: this program wrote it.
"""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lci_py.cluster.objects import NamedObject, StoreError
from lci_py.errors import IndexWriteError, ShardMissingError, ShardVersionError, UntrustedIndexError
from lci_py.index.store.manifest import FORMAT, Manifest, Shard, canonical, manifest_of
from lci_py.index.store.seal import is_sealed, seal
from lci_py.types.record import asdict, dataclass, replace

if TYPE_CHECKING:
    from lci_py.cluster.objects import Objects

#: Version of the fleet's manifest. Since 7 only the name of an object has its digest.
FLEET_FORMAT = 7
FLEET = "fleet.json"
#: Kinds of rows of a part.
KINDS = ("files", "symbols", "chunks")
_MAX_BYTES = 256_000_000
_AGAIN = "run `lci cluster index`"


# --- of the fleet -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a fleet: a repository, or a run of consecutive paths of a repository.

    Attributes:
        name: The name of the repository: the first folder of all its paths.
        source: Where the repository came from.
        commit: The indexed commit; "" if the source has no commits.
        start: The path of the repository at which the part begins; "" for the repository's first part.
        state: Identifies the state of the part's files; "" if unknown.
        first, last: The part's first path, by which parts are ordered, and its last path.
        manifest: The object that names the part's shards.
        graph: The part's own call graph; None until the fleet is linked.
        counts: The number of rows of each of `KINDS`.
    """

    name: str
    source: str
    commit: str
    start: str
    state: str
    first: str
    last: str
    manifest: NamedObject
    graph: NamedObject | None
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Fleet:
    """One generation of a fleet: its parts, and who built it when."""

    generation: int
    built_at: str  # UTC, ISO 8601
    program: str
    parts: tuple[Part, ...]

    def ordered(self, parts: list[Part]) -> Fleet:
        """A copy of the fleet that has these parts, sorted by their paths.

        Raises:
            IndexWriteError: The paths of two parts overlap.
        """
        in_order = sorted(parts, key=lambda part: part.first)
        for before, after in pairwise(in_order):
            if before.last >= after.first:
                raise IndexWriteError(
                    f"{before.name} and {after.name} have paths in common", hint="give each repository another name"
                )
        return replace(self, parts=tuple(in_order))


def read_fleet(objects: Objects) -> Fleet:
    """Read the fleet that a store holds.

    Raises:
        ShardMissingError: The store holds no fleet.
        ShardVersionError: The fleet is in a format that this build does not read.
        UntrustedIndexError: The fleet was not sealed with this user's key of fleets.
        StoreError: The fleet cannot be read, or is damaged.
    """
    try:
        data = json.loads(objects.read(FLEET, _MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{objects.url}: {FLEET} cannot be read ({error})", hint=_AGAIN) from error
    if not isinstance(data, dict):
        raise StoreError(f"{objects.url}: {FLEET} is not a JSON object", hint=_AGAIN)
    if data.get("format") != FLEET_FORMAT or isinstance(data["format"], bool):
        wrong = ShardVersionError(f"{objects.url}/{FLEET}", version=data.get("format"), readable=FLEET_FORMAT)
        wrong.hint = "upgrade lci" if wrong.newer else _AGAIN
        raise wrong
    if not is_sealed(canonical({**data, "seal": None}), data.pop("seal", None), of_fleet=True):
        refused = UntrustedIndexError(objects.url)
        refused.message = f"the fleet in {objects.url} is damaged, or not sealed with your fleet key"
        refused.hint = "copy fleet.key from the machine that made it into your configuration folder, or index it again"
        raise refused
    parts = tuple(
        Part(**{
            **item,
            "manifest": NamedObject(*item["manifest"]),
            "graph": None if item["graph"] is None else NamedObject(*item["graph"]),
        })
        for item in data["parts"]
    )  # fmt: skip
    return Fleet(data["generation"], data["built_at"], data["program"], parts)


def former_fleet(objects: Objects) -> Fleet | None:
    """Read the fleet in a store; None if there is none, or if its format is older: then it is built again.

    Raises:
        IndexError_: The fleet cannot be read.
    """
    try:
        return read_fleet(objects)
    except ShardMissingError:
        return None
    except ShardVersionError as error:
        if error.newer:
            raise
        return None


def write_fleet(objects: Objects, fleet: Fleet, after: int) -> Fleet:
    """Publish a fleet by replacing the manifest atomically.

    Args:
        fleet: The fleet; all its objects must be in the store.
        after: The number of the generation that it was made from; 0 for none.
    Raises:
        IndexWriteError: Somebody else has published a fleet since, or the manifest cannot be written.
        TrustKeyError: The key of fleets cannot be created or used.
    """
    now = former_fleet(objects)
    if (now.generation if now is not None else 0) != after:
        raise IndexWriteError(
            f"{objects.url}: another run has published a fleet meanwhile", hint="run the command again"
        )
    fleet = replace(fleet, generation=after + 1)
    data = {"format": FLEET_FORMAT, **asdict(fleet), "seal": None}
    data["seal"] = seal(canonical(data), of_fleet=True)
    objects.replace(FLEET, canonical(data) + b"\n")
    return fleet


# --- of a part ----------------------------------------------------------------------------------------------------


def part_manifest(objects: Objects, part: Part) -> Manifest:
    """Read the manifest of a part's index; its shard `texts` holds the files' contents.

    Raises:
        ShardMissingError, StoreError: The manifest cannot be read.
        ShardVersionError: The manifest is in a format that this build does not read.
    """
    data = json.loads(objects.content(part.manifest))  # its digest is in the sealed manifest: this program wrote it
    if data["format"] != FORMAT:
        raise ShardVersionError(f"{objects.url}: {part.name}", version=data["format"], readable=FORMAT)
    return manifest_of(data)


def object_of(role: str, shard: Shard) -> NamedObject:
    """The name and digest of the object that holds a shard."""
    return NamedObject(f"{role}-{shard.sha}{Path(shard.name).suffix}", shard.bytes)


# --- what no manifest names ---------------------------------------------------------------------------------------


class CleanResult(NamedTuple):
    """The result of `clean`."""

    removed: int  # objects
    bytes: int  # of them
    kept: int
    young: int  # of them, those that no manifest names


def clean(objects: Objects, grace: float) -> CleanResult:
    """Remove the objects in a store that its fleet does not name.

    Args:
        grace: Seconds. Younger objects stay: a run stores its objects before it publishes a fleet.
    Raises:
        IndexError_: The fleet, or a part of it, cannot be read; then nothing is removed.
        IndexWriteError: An object cannot be removed.
    """
    before = time.time() - grace
    stored = objects.listed()  # before the fleet is read: what is published meanwhile was written before that
    fleet = read_fleet(objects)
    named = {item.name for part in fleet.parts for item in (part.manifest, part.graph) if item is not None}
    for part in fleet.parts:
        named |= {object_of(*shard).name for shard in part_manifest(objects, part).all_shards()}
    others = [item for item in stored if item.name not in named]
    old = [item for item in others if objects.written(item.name) <= before]
    objects.remove([item.name for item in old])
    return CleanResult(len(old), sum(item.bytes for item in old), len(stored) - len(old), len(others) - len(old))
