"""The files shard: every file that was looked at, with what `stat` said of it, and the numbering of the segments.

It is what a refresh compares the tree with, and what a query looks at to see whether the tree has moved on. Neither
needs numpy for that.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError
from lci_py.index.arrays import Arrays, write_arrays
from lci_py.types import Skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STAT = ("sizes", "mtimes", "ctimes")


@dataclass(frozen=True, slots=True)
class Known:
    """A file as the index knows it."""

    path: str
    size: int  # bytes
    mtime_ns: int  # -1 if `stat` cannot tell whether it has changed since it was read
    ctime_ns: int
    sha: str  # digest of the content
    slot: int  # its place among the files of all segments, -1 if it is not indexed
    reason: str  # why not; if it is, which of `LIMIT_REASONS` keeps it from being complete, or ""
    key: bytes = bytes(16)  # of its record in the cache


def write_files(
    path: Path,
    known: Sequence[Known],
    skipped: Iterable[Skip],
    folders: Iterable[tuple[str, int]],
    maps: Mapping[str, NDArray[Any]] | None,
) -> None:
    """Write the shard.

    Args:
        path: A new file.
        known: Ascends by path.
        skipped: What the walk left out.
        folders: What decides which files there are, folders and rules: path and mtime_ns, -1 if it is not there,
            `UNSETTLED` if it could change without another one.
        maps: The numbering's.
    """
    reasons = sorted({item.reason for item in known})
    listed = sorted(folders)
    write_arrays(
        path,
        {
            **_strings("paths", [item.path for item in known]),
            "sizes": array("q", [item.size for item in known]),
            "mtimes": array("q", [item.mtime_ns for item in known]),
            "ctimes": array("q", [item.ctime_ns for item in known]),
            "shas": b"".join(bytes.fromhex(item.sha) for item in known),
            "keys": b"".join(item.key for item in known),
            "slots": array("i", [item.slot for item in known]),
            "reasons": bytes(reasons.index(item.reason) for item in known),
            "reason_names": json.dumps(reasons).encode(),
            **_strings("folders", [name for name, _ in listed]),
            "folder_mtimes": array("q", [mtime for _, mtime in listed]),
            **_strings("skipped", [f"{item.reason}/{item.path}" for item in skipped]),
            **(maps or {}),
        },
    )


def _strings(name: str, texts: Sequence[str]) -> dict[str, Any]:
    blobs = [text.encode("utf-8", "surrogateescape") for text in texts]
    return {name: b"".join(blobs), f"{name}_offsets": array("q", accumulate(map(len, blobs), initial=0))}


class FileTable:
    """Reader of the shard."""

    def __init__(self, path: Path) -> None:
        self.arrays = Arrays(path)
        self.name = path.name

    def __len__(self) -> int:
        return len(self.arrays.view("sizes", "i8"))

    def _texts(self, name: str) -> list[str]:
        blob = bytes(self.arrays.view(name, "u1"))
        offsets = self.arrays.view(f"{name}_offsets", "i8").tolist()
        if not offsets or offsets[0] != 0 or offsets[-1] != len(blob) or sorted(offsets) != offsets:
            raise DamagedIndexError(f"{self.name}: the {name} do not fit their offsets")
        try:
            return [blob[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(offsets)]
        except UnicodeDecodeError as error:
            raise DamagedIndexError(f"{self.name}: {error}") from error

    def paths(self) -> list[str]:
        """Every known path, ascending."""
        return self._texts("paths")

    def stats(self) -> list[tuple[int, int, int]]:
        """(size, mtime_ns, ctime_ns) of every known file, in the order of `paths`."""
        return list(zip(*(self.arrays.view(name, "i8").tolist() for name in _STAT), strict=True))

    def known(self) -> list[Known]:
        """Everything, ascending by path.

        Raises:
            DamagedIndexError: The arrays do not fit together.
        """
        shas = bytes(self.arrays.view("shas", "u1")).hex()
        keys = bytes(self.arrays.view("keys", "u1"))
        if len(shas) != 32 * len(self) or len(keys) != 16 * len(self):
            raise DamagedIndexError(f"{self.name}: there are other digests than files")
        slots = self.arrays.view("slots", "i4").tolist()
        codes = self.arrays.view("reasons", "u1").tolist()
        try:
            names = json.loads(bytes(self.arrays.view("reason_names", "u1")))
            return [
                Known(path, *stat, shas[32 * i : 32 * i + 32], slot, str(names[code]), keys[16 * i : 16 * i + 16])
                for i, (path, stat, slot, code) in enumerate(zip(self.paths(), self.stats(), slots, codes, strict=True))
            ]
        except (ValueError, IndexError, TypeError, KeyError, RecursionError) as error:
            raise DamagedIndexError(f"{self.name}: {error}") from error

    def folders(self) -> list[tuple[str, int]]:
        """The folders that the walk visited, with their mtime_ns; "" is the root."""
        names, mtimes = self._texts("folders"), self.arrays.view("folder_mtimes", "i8").tolist()
        if len(names) != len(mtimes):
            raise DamagedIndexError(f"{self.name}: the folders do not fit their times")
        return list(zip(names, mtimes, strict=True))

    def skipped(self) -> list[Skip]:
        """What the walk left out, by path."""
        found = (text.partition("/") for text in self._texts("skipped"))
        return [Skip(path, reason) for reason, _, path in found]

    def maps(self) -> Arrays | None:
        """The numbering's arrays, None if they are the identity."""
        return self.arrays if "files_public" in self.arrays else None
