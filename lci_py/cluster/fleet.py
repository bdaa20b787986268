"""The manifest of a fleet: the small object that names all parts, written last. What it does not name is debris.

It is sealed with the key of fleets, and holds the digest of each part's own manifest, which holds those of its shards:
so the seal covers every byte that is read from the store.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lci_py.cluster.objects import NAME, Named, StoreError
from lci_py.errors import IndexWriteError, ShardMissingError, ShardVersionError, UntrustedIndexError
from lci_py.index.shards.bm25 import FIELDS
from lci_py.index.store.seal import fleet_seal, is_fleet_sealed
from lci_py.source.text.digest import blake2b
from lci_py.types.record import asdict, dataclass, replace

if TYPE_CHECKING:
    from lci_py.cluster.objects import Objects

#: Version of both manifests.
FLEET_FORMAT = 3
FLEET = "fleet.json"
#: Kinds of rows of a part.
KINDS = ("files", "symbols", "units", "chunks")
_MOST_BYTES = 256_000_000
_MOST_PART_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class Part:
    """A repository, or a run of its sorted paths.

    Attributes:
        name: Of the repository: the first folder of all its paths.
        source: Where it came from.
        commit: What was indexed; "" if the source has no commits.
        start: Where the part begins among the paths of the repository, "" for the first part of each.
        state: Tells whether its files are still those that were indexed; "" if nothing tells.
        first: Its first path; parts are in this order.
        last: Its last path.
        manifest: Names its shards.
        graph: Its part of the call graph; None until the fleet is linked.
        counts: Rows of each of `KINDS`.
        lengths: Field to the sum of its rows' lengths.
        languages: That its files have.
        model: The digest of the model that its vectors are of.
    """

    name: str
    source: str
    commit: str
    start: str
    state: str
    first: str
    last: str
    manifest: Named
    graph: Named | None
    counts: dict[str, int]
    lengths: dict[str, int]
    languages: tuple[str, ...]
    model: str


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
    data = _parsed(objects.read(FLEET, _MOST_BYTES), objects, FLEET)
    if data.get("format") != FLEET_FORMAT or isinstance(data["format"], bool):
        wrong = ShardVersionError(f"{objects.url}/{FLEET}", found=data.get("format"), readable=FLEET_FORMAT)
        wrong.hint = "upgrade lci" if wrong.newer else "run `lci cluster index`"
        raise wrong
    digest, found = data.pop("digest", None), data.pop("seal", None)
    if digest != blake2b(_canonical({**data, "seal": found}), digest_size=16).hexdigest():
        raise StoreError(f"{objects.url}: {FLEET} does not match its own checksum", hint="run `lci cluster index`")
    if not is_fleet_sealed(_canonical(data), found):
        error = UntrustedIndexError(objects.url)
        error.message = f"the fleet in {objects.url} is not sealed with your key of fleets"
        error.hint = "copy fleet.key from the machine that made it into your configuration folder"
        raise error
    try:
        parts = tuple(part_of(item) for item in data["parts"])
        fleet = Fleet(_number(data["generation"]), _text(data["built_at"]), _text(data["program"]), parts)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"{objects.url}: {FLEET} has unexpected content ({error})", hint="rebuild it") from error
    return fleet


def former_fleet(objects: Objects) -> Fleet | None:
    """The fleet that a store holds; None if there is none, or one of an older format, which is made anew.

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
    """Publish a fleet: replace the manifest, whole.

    Args:
        objects: The store.
        fleet: All its objects are in the store.
        after: The generation that it was made from; 0 for none.
    Raises:
        IndexWriteError: Somebody else has published one since, or it cannot be written.
        TrustKeyError: The key of fleets cannot be made or used.
    """
    now = former_fleet(objects)
    if (now.generation if now is not None else 0) != after:
        raise IndexWriteError(f"{objects.url}: another run has published a fleet meanwhile", hint="run it again")
    fleet = replace(fleet, generation=after + 1)
    data: dict[str, Any] = {"format": FLEET_FORMAT, **asdict(fleet)}
    data = json.loads(_canonical(data))
    data["seal"] = fleet_seal(_canonical(data))
    data["digest"] = blake2b(_canonical(data), digest_size=16).hexdigest()
    objects.replace(FLEET, _canonical(data) + b"\n")
    return fleet


def read_part_manifest(data: bytes, objects: Objects, part: Part) -> dict[str, Any]:
    """The manifest of a part, whose digest has been compared. Raises StoreError if it is not one."""
    found = _parsed(data, objects, part.manifest.name)
    if found.get("format") != FLEET_FORMAT:
        raise ShardVersionError(f"{objects.url}: {part.name}", found=found.get("format"), readable=FLEET_FORMAT)
    return found


def named(value: Any, role: str) -> Named:
    """An object that a manifest names.

    Raises:
        TypeError, ValueError, KeyError: It names none, or one of another role.
    """
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise ValueError("an object has a name, a size and a digest")
    name, size, sha = _text(value[0]), _number(value[1]), _text(value[2])
    if not NAME.fullmatch(name) or name.partition("-")[0] != role or name[len(role) + 1 :].partition(".")[0] != sha:
        raise ValueError(f"an object is called {name!r}")
    return Named(name, size, sha)


def part_of(data: dict[str, Any]) -> Part:
    """A part from its JSON. Raises what `named` raises."""
    manifest, graph = named(data["manifest"], "part"), data["graph"]
    if manifest.bytes > _MOST_PART_BYTES:
        raise ValueError("a part's manifest is larger than it can be")
    return Part(
        _text(data["name"]),
        _text(data["source"]),
        _text(data["commit"]),
        _text(data["start"]),
        _text(data["state"]),
        _text(data["first"]),
        _text(data["last"]),
        manifest,
        None if graph is None else named(graph, "partgraph"),
        {kind: _number(data["counts"][kind]) for kind in KINDS},
        {field: _number(data["lengths"][field]) for field in FIELDS},
        tuple(_text(language) for language in data["languages"]),
        _text(data["model"]),
    )


def _parsed(data: bytes, objects: Objects, name: str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{objects.url}: {name} cannot be read ({error})", hint="run `lci cluster index`") from error
    if not isinstance(found, dict):
        raise StoreError(f"{objects.url}: {name} is not a JSON object", hint="run `lci cluster index`")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is not one")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError("a number is not one")
    return value
