"""The manifests of a fleet: a small object that names all parts, written last, and one for each part. Objects that they
do not name are debris.

The manifest of the fleet is sealed with the key of fleets, and holds the digests of those of the parts, which hold
those of their shards: so the seal covers every byte that is read from the store.
"""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lci_py.cluster.objects import NAME, NamedObject, StoreError
from lci_py.errors import IndexWriteError, ShardMissingError, ShardVersionError, UntrustedIndexError
from lci_py.index.store.manifest import FORMAT, Manifest, Shard, manifest_of
from lci_py.index.store.seal import is_sealed, seal
from lci_py.source.text.digest import blake2b
from lci_py.types.record import asdict, dataclass, replace

if TYPE_CHECKING:
    from lci_py.cluster.objects import Objects

#: Version of both manifests.
FLEET_FORMAT = 4
FLEET = "fleet.json"
#: Kinds of rows of a part.
KINDS = ("files", "symbols", "chunks")
_MOST_BYTES = 256_000_000
_MOST_PART_BYTES = 16_000_000
_AGAIN = "run `lci cluster index`"


# --- of the fleet -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """A repository, or a run of its sorted paths.

    Attributes:
        name: Of the repository: the first folder of all its paths.
        source: Where it came from.
        commit: The indexed commit; "" if the source has no commits.
        start: Where the part begins among the paths of the repository, "" for the first part of each.
        state: Identifies the state of its files; "" if nothing does.
        first, last: Its first path, by which parts are ordered, and its last path.
        manifest: Names its shards.
        graph: Its part of the call graph; None until the fleet is linked.
        counts: Rows of each of `KINDS`.
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
    """One generation of a fleet."""

    generation: int
    built_at: str  # UTC, ISO 8601
    program: str
    parts: tuple[Part, ...]

    def ordered(self, parts: list[Part]) -> Fleet:
        """The fleet with other parts, in the order of their paths.

        Raises:
            IndexWriteError: The paths of two parts overlap.
        """
        found = sorted(parts, key=lambda part: part.first)
        for before, after in pairwise(found):
            if before.last >= after.first:
                raise IndexWriteError(
                    f"{before.name} and {after.name} have paths in common", hint="give each repository another name"
                )
        return replace(self, parts=tuple(found))


def _canonical(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def read_fleet(objects: Objects) -> Fleet:
    """The fleet that a store holds.

    Raises:
        ShardMissingError: It holds none.
        ShardVersionError: It is in a format that this build does not read.
        UntrustedIndexError: It was not sealed with this user's key of fleets.
        StoreError: It cannot be read, or is damaged.
    """
    data = _parse_manifest(objects.read(FLEET, _MOST_BYTES), objects, FLEET)
    digest, found = data.pop("digest", None), data.pop("seal", None)
    if digest != blake2b(_canonical({**data, "seal": found}), digest_size=16).hexdigest():
        raise StoreError(f"{objects.url}: {FLEET} does not match its own checksum", hint=_AGAIN)
    if not is_sealed(_canonical(data), found, of_fleet=True):
        error = UntrustedIndexError(objects.url)
        error.message = f"the fleet in {objects.url} is not sealed with your fleet key"
        error.hint = "copy fleet.key from the machine that made it into your configuration folder"
        raise error
    try:
        parts = tuple(_part(item) for item in data["parts"])
        return Fleet(
            _check_type(data["generation"]),
            _check_type(data["built_at"], str),
            _check_type(data["program"], str),
            parts,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"{objects.url}: {FLEET} has unexpected content ({error})", hint=_AGAIN) from error


def former_fleet(objects: Objects) -> Fleet | None:
    """The fleet in a store; None if there is none, or one of an older format, which is built again.

    Raises:
        IndexError_: It cannot be read.
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
        fleet: All its objects must be in the store.
        after: The generation that it was made from; 0 for none.
    Raises:
        IndexWriteError: Somebody else has published one since, or it cannot be written.
        TrustKeyError: The key of fleets cannot be created or used.
    """
    now = former_fleet(objects)
    if (now.generation if now is not None else 0) != after:
        raise IndexWriteError(f"{objects.url}: another run has published a fleet meanwhile", hint="run it again")
    fleet = replace(fleet, generation=after + 1)
    data: dict[str, Any] = json.loads(_canonical({"format": FLEET_FORMAT, **asdict(fleet)}))
    data["seal"] = seal(_canonical(data), of_fleet=True)
    data["digest"] = blake2b(_canonical(data), digest_size=16).hexdigest()
    objects.replace(FLEET, _canonical(data) + b"\n")
    return fleet


def _part(data: dict[str, Any]) -> Part:
    """A part from its JSON. Errors as in `named_object`."""
    manifest, graph = named_object(data["manifest"], "part"), data["graph"]
    if manifest.bytes > _MOST_PART_BYTES:
        raise ValueError("the manifest of a part is too large")
    texts = {
        key: _check_type(data[key], str) for key in ("name", "source", "commit", "start", "state", "first", "last")
    }
    counts = {kind: _check_type(data["counts"][kind]) for kind in KINDS}
    return Part(
        **texts, manifest=manifest, graph=None if graph is None else named_object(graph, "partgraph"), counts=counts
    )


def named_object(value: Any, role: str) -> NamedObject:
    """An object that a manifest names.

    Raises:
        TypeError, ValueError, KeyError: It names none, or one of another role.
    """
    name, size, sha = value
    _check_type(name, str), _check_type(size), _check_type(sha, str)
    if not NAME.fullmatch(name) or name.partition("-")[0] != role or name[len(role) + 1 :].partition(".")[0] != sha:
        raise ValueError(f"an object has the invalid name {name!r}")
    return NamedObject(name, size, sha)


def _parse_manifest(data: bytes, objects: Objects, name: str) -> dict[str, Any]:
    """A manifest of this build's format."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{objects.url}: {name} cannot be read ({error})", hint=_AGAIN) from error
    if not isinstance(found, dict):
        raise StoreError(f"{objects.url}: {name} is not a JSON object", hint=_AGAIN)
    if found.get("format") != FLEET_FORMAT or isinstance(found["format"], bool):
        wrong = ShardVersionError(f"{objects.url}/{name}", found=found.get("format"), readable=FLEET_FORMAT)
        wrong.hint = "upgrade lci" if wrong.newer else _AGAIN
        raise wrong
    return found


def _check_type(value: Any, kind: type = int) -> Any:
    if type(value) is not kind or (type(value) is int and value < 0):
        raise TypeError(f"{value!r} is not of the type {kind.__name__}")
    return value


# --- of a part ----------------------------------------------------------------------------------------------------


class Contents(NamedTuple):
    """The objects that the manifest of a part names.

    Attributes:
        manifest: That of its index.
        packs: The objects of the texts, each with the first digest in it.
    """

    manifest: Manifest
    packs: list[tuple[str, NamedObject]]

    @property
    def objects(self) -> list[NamedObject]:
        """All of them."""
        return [*(object_of(*item) for item in self.manifest.all_shards()), *(pack for _, pack in self.packs)]


def part_contents(data: bytes, objects: Objects, part: Part) -> Contents:
    """Parse the manifest of a part, whose digest has been checked.

    Raises:
        ShardVersionError: It is in a format that this build does not read.
        StoreError: It is not what was written.
    """
    found = _parse_manifest(data, objects, part.manifest.name)
    try:
        if (index_format := found["manifest"]["format"]) != FORMAT:
            raise ShardVersionError(f"{objects.url}: {part.name}", found=index_format, readable=FORMAT)
        contents = Contents(
            manifest_of(found["manifest"]),
            [(str(first), named_object(pack, "texts")) for first, pack in found["texts"]],
        )
        _ = contents.objects
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{objects.url}: the manifest of {part.name} has unexpected content ({error})"
        raise StoreError(why, hint=_AGAIN) from error
    return contents


def object_of(role: str, shard: Shard) -> NamedObject:
    """The object of a shard. Raises ValueError if it is not valid."""
    return named_object((f"{role}-{shard.sha}{Path(shard.name).suffix}", shard.bytes, shard.sha), role)


# --- what no manifest names ---------------------------------------------------------------------------------------


class CleanResult(NamedTuple):
    """The result of `clean`."""

    removed: int  # objects
    bytes: int  # of them
    kept: int
    young: int  # of them, those that no manifest names


def clean(objects: Objects, grace: float) -> CleanResult:
    """Remove the objects of a store that its fleet does not name.

    Args:
        grace: Seconds. Younger objects stay: a run stores its objects before it publishes a fleet.
    Raises:
        IndexError_: The fleet, or a part of it, cannot be read; then nothing is removed.
        IndexWriteError: An object cannot be removed.
    """
    before = time.time() - grace
    listed = objects.listed()  # before the fleet is read: what is published meanwhile was written before that
    fleet = read_fleet(objects)
    kept = {one.name for part in fleet.parts for one in (part.manifest, part.graph) if one is not None}
    for part in fleet.parts:
        kept |= {one.name for one in part_contents(objects.content(part.manifest), objects, part).objects}
    others = [one for one in listed if one.name not in kept]
    old = [one for one in others if one.written <= before]
    objects.remove([one.name for one in old])
    return CleanResult(len(old), sum(one.bytes for one in old), len(listed) - len(old), len(others) - len(old))
