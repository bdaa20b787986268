"""The texts of a part's files: a search shows lines of them, and a quoted phrase is looked for in them.

They lie in packs: files of arrays with `shas`, the digests of some texts in their order, `texts`, one zlib stream for
each, and where each starts. Packs are cut at digests that end in certain ways, so equal texts make equal packs: two
copies of a repository share them, and a copy with one other file has one or two packs of its own.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError, IndexWriteError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.search.worktree.freshness import Freshness, SourceReader, Sweep
from lci_py.source.repository.read import read_file
from lci_py.source.text.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lci_py.index.shards.files import FileTable

_LEVEL = 6
#: One of so many digests ends a pack.
_SOME = 32


def write_texts(folder: Path, root: Path, table: FileTable) -> list[tuple[str, Path]]:
    """Write the texts of the indexed files.

    Args:
        folder: Where; the packs are new files in it.
        root: Of the files.
        table: What was indexed.
    Returns:
        The first digest of each pack, and the pack.
    Raises:
        IndexWriteError: A file has changed since it was indexed.
        OSError: A pack cannot be written.
    """
    from array import array

    found: list[tuple[str, Path]] = []
    paths = {known.sha: known.path for known in table.known() if known.slot >= 0}
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
        found.append((shas[start], path))
    return found


class PackedReader(SourceReader):
    """Reads files as they were indexed."""

    def __init__(self, firsts: Sequence[str], pack: Callable[[int], Path], table: Callable[[], FileTable]) -> None:
        """
        Args:
            firsts: The first digest of each pack.
            pack: The file of a pack.
            table: What was indexed.
        """
        super().__init__(Path("/"))
        self._firsts, self._pack, self._open_table = firsts, pack, table
        self._packs: dict[int, Arrays] = {}

    @cached_property
    def _table(self) -> FileTable:
        return self._open_table()

    @cached_property
    def _names(self) -> list[str]:
        return self._table.paths()

    def read(self, path: str) -> bytes | None:
        place = bisect_left(self._names, path)
        if place == len(self._names) or self._names[place] != path:
            return None
        known = self._table.known_at(place)
        if known.slot < 0:
            return None
        number = bisect_right(self._firsts, known.sha) - 1
        if number not in self._packs:
            self._packs[number] = Arrays(self._pack(max(number, 0)))
        arrays = self._packs[number]
        shas = bytes(arrays.view("shas", "u1"))
        starts, texts = arrays.view("starts", "i8"), arrays.view("texts", "u1", check=False)
        own, at = bytes.fromhex(known.sha), 0
        while at < len(shas) and shas[at : at + 16] != own:
            at += 16
        at //= 16
        if (
            at >= len(shas) // 16
            or len(starts) != len(shas) // 16 + 1
            or not 0 <= starts[at] <= starts[at + 1] <= len(texts)
        ):
            raise DamagedIndexError(f"{arrays.name}: the texts do not fit the files")
        arrays.check_items("texts", starts[at], starts[at + 1])
        try:
            found = zlib.decompressobj().decompress(bytes(texts[starts[at] : starts[at + 1]]), known.size + 1)
        except zlib.error as error:
            raise DamagedIndexError(f"{arrays.name}: {error}") from error
        if digest(found) != known.sha:
            raise DamagedIndexError(f"{arrays.name}: it has other texts than the index")
        return found


class AsIndexed(Freshness):
    """Of files that nobody changes: the texts are stored with the index."""

    def changed(self, path: str) -> bool:
        return False

    def sweep(self, *, whole: bool = False) -> Sweep:
        return Sweep((), 0)
