"""Bits of a shard that change while its size and times stay as they were, as on a dying disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py.index.store.manifest import MANIFEST, Shard, read_manifest, shard_state
from lci_py.types.record import replace
from tests.conftest import Ran

DENSE = ["search", "where are expired sessions removed", "--mode", "dense"]
#: Role of a shard -> a query that reads it.
READERS = {
    "dense": DENSE,
    "tokens": DENSE,
    "facts": DENSE,
    "bm25": ["search", "session", "--mode", "bm25"],
    "graph": ["callers", "open", "--all"],
    "files": ["search", "kind:function", "--mode", "symbolic"],
}


def change_bit(index: Path, role: str, share: float) -> None:
    """Flip a bit of a shard at a share of its size; the manifest expects the times that the file has then."""
    manifest = read_manifest(index)
    # Not every file of the role: a generation that somebody still reads stays beside the newest.
    tables = [manifest.shards, *(segment.shards for segment in manifest.segments)]
    [path] = [index / shards[role].name for shards in tables if role in shards]
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 0x40
    path.write_bytes(data)

    def with_times(shards: dict[str, Shard]) -> dict[str, Shard]:
        _, mtime, ctime = shard_state(path)
        return {
            name: replace(shard, mtime_ns=mtime, ctime_ns=ctime) if name == role else shard
            for name, shard in shards.items()
        }

    segments = tuple(replace(segment, shards=with_times(segment.shards)) for segment in manifest.segments)
    text = replace(manifest, segments=segments, shards=with_times(manifest.shards)).dumps()
    (index / MANIFEST).write_text(text)


@pytest.mark.parametrize(("role", "share"), list(zip(READERS, [0.3, 0.6] * 3, strict=True)))
def test_a_query_that_reads_a_changed_bit_says_so(
    tmp_path: Path, repo: Path, lci: Callable[..., Ran], role: str, share: float
) -> None:
    root = Path(shutil.copytree(repo, tmp_path / "repo"))
    command = [*READERS[role], "--json", "--refresh", "never"]
    assert lci(*command, cwd=root).code == 0
    change_bit(root / ".lci", role, share)
    ran = lci(*command, cwd=root)
    error = ran.json()["error"]
    assert (ran.code, error["code"], ran.err) == (3, "index_damaged", "")
    assert f"{role}-" in error["message"]
    if role == "dense":
        batch = lci("search", "--batch", "-", "--refresh", "never", cwd=root, stdin="session\n")
        assert (batch.code, batch.json()["error"]["code"]) == (3, "index_damaged")
        answer = lci("search", "session", "--mode", "multiview", "--json", "--refresh", "never", cwd=root).json()
        assert [(d["view"], d["failure_mode"]) for d in answer["degraded"]] == [("dense", "error")]
    checked = lci("status", "--check", "--json", cwd=root)
    assert checked.code == 3 and role in json.dumps(checked.json())
    if role == "files":  # a full build reads no shard: which of them is damaged is the same to it
        assert lci("index", "--full", "--json", cwd=root).code == 0
        assert lci(*command, cwd=root).code == 0
