"""The texts of a part's files: a search shows lines of them, and a quoted phrase is looked for in them.

A file of arrays: `texts`, one zlib stream for each file of the table of files, and where each starts. It holds no
paths, so that two copies of a repository under other names share it.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError, IndexWriteError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.search.worktree.freshness import Freshness, Sweep
from lci_py.search.worktree.reader import SourceReader
from lci_py.source.repository.read import read_file
from lci_py.source.text.digest import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from lci_py.index.shards.files import FileTable

_LEVEL = 6


def write_texts(path: Path, root: Path, table: FileTable) -> None:
    """Write the texts of the indexed files.

    Args:
        path: A new file.
        root: Of the files.
        table: What was indexed.
    Raises:
        IndexWriteError: A file has changed since it was indexed.
        OSError: It cannot be written.
    """
    from array import array

    blobs, starts = [], array("q", [0])
    for known in table.known():
        if known.slot >= 0:
            data = read_file(str(root), known.path)
            if not isinstance(data, bytes) or digest(data) != known.sha:
                raise IndexWriteError(f"{known.path} has changed while it was indexed", hint="index it again")
            blobs.append(zlib.compress(data, _LEVEL))
        starts.append(starts[-1] + (len(blobs[-1]) if known.slot >= 0 else 0))
    write_arrays(path, {"starts": starts, "texts": b"".join(blobs)})


class PackedReader(SourceReader):
    """Reads files as they were indexed."""

    def __init__(self, path: Callable[[], Path], table: Callable[[], FileTable]) -> None:
        super().__init__(Path("/"))
        self._path, self._open_table = path, table

    @cached_property
    def _table(self) -> FileTable:
        return self._open_table()

    @cached_property
    def _names(self) -> list[str]:
        return self._table.paths()

    @cached_property
    def _arrays(self) -> Arrays:
        return Arrays(self._path())

    def read(self, path: str) -> bytes | None:
        place = bisect_left(self._names, path)
        if place == len(self._names) or self._names[place] != path:
            return None
        known = self._table.known_at(place)
        if known.slot < 0:
            return None
        arrays = self._arrays
        starts, texts = arrays.view("starts", "i8"), arrays.view("texts", "u1", check=False)
        if len(starts) != len(self._names) + 1 or not 0 <= starts[place] <= starts[place + 1] <= len(texts):
            raise DamagedIndexError(f"{arrays.name}: the texts do not fit the files")
        arrays.check_items("texts", starts[place], starts[place + 1])
        try:
            found = zlib.decompressobj().decompress(bytes(texts[starts[place] : starts[place + 1]]), known.size + 1)
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
