"""The files shard: every file that the walk found, with its size and times, and the numbering of the segments.

A refresh compares the shard with the tree, and a query uses it to detect changed files. Neither needs numpy.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.types.record import NamedTuple, dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.types.source import FileEntry, Skip

#: Instead of a folder's modification time: the folder could change without getting another one.
UNSETTLED = -2
#: Instead of the modification time of an index folder in the tree: changes in it do not count.
OURS = -3
#: Reasons for leaving a file out that do not follow from its content: such a file is looked at in every run.
FLEETING = frozenset({"unreadable", "vanished", "special", "symlink", "too_large"})
_STAT = ("sizes", "mtimes", "ctimes")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of a file when it was indexed."""

    path: str
    size: int  # bytes
    mtime_ns: int  # -1 if it could have changed since it was read without getting another time
    ctime_ns: int
    sha: str  # digest of the content
    slot: int  # place among the files of all segments; -1 if it is not indexed
    reason: str  # why it is not indexed, or which of `LIMIT_REASONS` cut it short; "" if it is indexed whole
    key: bytes = bytes(16)  # of its record in the cache


def write_files(
    path: Path,
    files: Sequence[FileState],
    skipped: Iterable[Skip],
    folders: Iterable[tuple[str, int]],
    maps: Mapping[str, NDArray[Any]] | None,
) -> None:
    """Write the shard into a new file.

    Args:
        path: The new file.
        files: The files, ascending by path.
        skipped: The entries that the walk left out.
        folders: (path, mtime_ns) of folders, ignore files and settings; -1 if the path does not exist, `UNSETTLED` if
            it could change within the same timestamp.
        maps: The arrays of `numbering.number_slots`; None if the numbering is the identity.
    """
    reasons = sorted({item.reason for item in files})
    stamps = sorted(folders)
    write_arrays(
        path,
        {
            **_strings("paths", [item.path for item in files]),
            "sizes": array("q", [item.size for item in files]),
            "mtimes": array("q", [item.mtime_ns for item in files]),
            "ctimes": array("q", [item.ctime_ns for item in files]),
            "shas": b"".join(bytes.fromhex(item.sha) for item in files),
            "keys": b"".join(item.key for item in files),
            "slots": array("i", [item.slot for item in files]),
            "reasons": bytes(reasons.index(item.reason) for item in files),
            "reason_names": json.dumps(reasons).encode(),
            **_strings("folders", [name for name, _ in stamps]),
            "folder_mtimes": array("q", [mtime for _, mtime in stamps]),
            **_strings("skipped", [f"{item.reason}/{item.path}" for item in skipped]),
            **(maps or {}),
        },
    )


def _strings(name: str, texts: Sequence[str]) -> dict[str, Any]:
    blobs = [text.encode("utf-8", "surrogateescape") for text in texts]
    return {name: b"".join(blobs), f"{name}_offsets": array("q", accumulate(map(len, blobs), initial=0))}


class _Columns(NamedTuple):
    names: list[str]
    codes: memoryview
    shas: memoryview
    keys: memoryview
    slots: memoryview


def _all_text(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


class FileTable:
    """Reads the files shard."""

    def __init__(self, path: Path, *, is_checked: bool = False) -> None:
        """Open a file; `is_checked` says that it was compared with its digest, so that checksums can be ignored."""
        self.arrays = Arrays(path, is_checked=is_checked)
        self.name = path.name

    def __len__(self) -> int:
        return len(self.arrays.view("sizes", "i8"))

    def _texts(self, name: str) -> list[str]:
        blob = bytes(self.arrays.view(name, "u1"))
        offsets = self.arrays.view(f"{name}_offsets", "i8").tolist()
        if not offsets or offsets[0] != 0 or offsets[-1] != len(blob) or sorted(offsets) != offsets:
            raise DamagedIndexError(f"{self.name}: the {name} do not fit their offsets")
        try:
            if blob.isascii():  # as most are: cutting a text is faster than decoding its parts
                text = blob.decode("ascii")
                return [text[a:b] for a, b in pairwise(offsets)]
            return [blob[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(offsets)]
        except UnicodeDecodeError as error:
            raise DamagedIndexError(f"{self.name}: {error}") from error

    def paths(self) -> list[str]:
        """The path of every file in the table, ascending."""
        return self._paths

    @cached_property
    def _paths(self) -> list[str]:
        return self._check_length("paths", self._texts("paths"))

    def living_paths(self) -> list[str]:
        """The path of every indexed file, in the order of public numbers."""
        return self._living_paths

    @cached_property
    def _living_paths(self) -> list[str]:
        return [path for path, slot in zip(self.paths(), self.slots(), strict=True) if slot >= 0]

    def limited_paths(self) -> list[str]:
        """The paths of files of which only a part is indexed."""
        names, codes = self._columns.names, bytes(self._columns.codes)
        if not any(names[code] for code in set(codes)):
            return []
        columns = zip(self.paths(), self.slots(), codes, strict=True)
        return [path for path, slot, code in columns if slot >= 0 and names[code]]

    def stat_columns(self) -> tuple[list[int], list[int], list[int]]:
        """(sizes, mtime_ns, ctime_ns) of every file in the table, as three lists in the order of `paths`."""
        sizes, mtimes, ctimes = (self._check_length(name, self.arrays.view(name, "i8").tolist()) for name in _STAT)
        return sizes, mtimes, ctimes

    def _check_length(self, name: str, column: list[_T]) -> list[_T]:
        if len(column) != len(self):
            raise DamagedIndexError(f"{self.name}: the number of {name} is not that of the files")
        return column

    def matches(self, files: Sequence[FileEntry]) -> bool:
        """Whether `files` are exactly the files in the table, with the same sizes and times."""
        sizes, mtimes, ctimes = self.stat_columns()
        return (
            [entry.ctime_ns for entry in files] == ctimes
            and [entry.mtime_ns for entry in files] == mtimes
            and [entry.size for entry in files] == sizes
            and [entry.path for entry in files] == self.paths()
        )

    def slots(self) -> list[int]:
        """The slot of every file in the table, in the order of `paths`; -1 for a file that is not indexed."""
        return self._check_length("slots", self.arrays.view("slots", "i4").tolist())

    def states(self) -> list[FileState]:
        """The state of every file in the table, ascending by path."""
        names, codes, shas, keys, slots = self._columns
        all_shas, all_keys, ends = shas.hex(), bytes(keys), range(16, 16 * len(self) + 1, 16)
        return list(
            map(
                FileState,
                self.paths(),
                *self.stat_columns(),
                [all_shas[end + end - 32 : end + end] for end in ends],
                slots.tolist(),
                map(names.__getitem__, codes),
                [all_keys[end - 16 : end] for end in ends],
            )
        )

    def known_at(self, index: int) -> FileState:
        """The state of the file at an index in `paths`."""
        offsets = self.arrays.view("paths_offsets", "i8")
        blob = self.arrays.view("paths", "u1")
        if not 0 <= index < len(offsets) - 1 or not 0 <= offsets[index] <= offsets[index + 1] <= len(blob):
            raise DamagedIndexError(f"{self.name}: the paths do not fit their offsets")
        path = bytes(blob[offsets[index] : offsets[index + 1]]).decode("utf-8", "surrogateescape")
        stat = tuple(self.arrays.view(name, "i8")[index] for name in _STAT)
        return self._known_file(index, path, stat)

    def with_content(self, sha: str) -> list[str]:
        """The paths of the indexed files whose content has the digest `sha`, ascending."""
        digest, all_shas = bytes.fromhex(sha), self._all_shas
        paths, at = [], all_shas.find(digest)
        while at >= 0:
            if at % 16 == 0 and (file := self.known_at(at // 16)).slot >= 0:
                paths.append(file.path)
            at = all_shas.find(digest, at + 1)
        return paths

    @cached_property
    def _all_shas(self) -> bytes:
        return bytes(self._columns.shas)

    def _known_file(self, i: int, path: str, stat: tuple[int, ...]) -> FileState:
        columns = self._columns
        reason = columns.names[columns.codes[i]]
        sha, key = columns.shas[16 * i : 16 * i + 16].hex(), bytes(columns.keys[16 * i : 16 * i + 16])
        return FileState(path, stat[0], stat[1], stat[2], sha, columns.slots[i], reason, key)

    @cached_property
    def _columns(self) -> _Columns:
        try:
            names = json.loads(bytes(self.arrays.view("reason_names", "u1")))
        except (ValueError, RecursionError) as error:
            raise DamagedIndexError(f"{self.name}: {error}") from error
        views = [self.arrays.view(name, kind) for name, kind in (("shas", "u1"), ("keys", "u1"), ("slots", "i4"))]
        codes = self.arrays.view("reasons", "u1")
        n = len(self)
        if [len(view) for view in views] != [16 * n, 16 * n, n] or len(codes) != n or not _all_text(names):
            raise DamagedIndexError(f"{self.name}: its columns do not fit together")
        if max(bytes(codes), default=-1) >= len(names):
            raise DamagedIndexError(f"{self.name}: it refers to a reason that does not exist")
        return _Columns(names, codes, *views)

    def folders(self) -> list[tuple[str, int]]:
        """(path, mtime_ns) of each folder that the walk visited; "" is the root."""
        names, mtimes = self._texts("folders"), self.arrays.view("folder_mtimes", "i8").tolist()
        if len(names) != len(mtimes):
            raise DamagedIndexError(f"{self.name}: the number of folders is not that of their times")
        return list(zip(names, mtimes, strict=True))

    def skipped(self) -> list[Skip]:
        """The entries that the walk left out, sorted by path."""
        from lci_py.types.source import Skip

        return [Skip(path, reason) for path, reason in self._skipped_paths()]

    def skipped_paths(self) -> list[str]:
        """The paths that the walk left out."""
        return [path for path, _ in self._skipped_paths()]

    def _skipped_paths(self) -> list[tuple[str, str]]:
        return [(path, reason) for reason, _, path in (text.partition("/") for text in self._texts("skipped"))]

    def maps(self) -> Arrays | None:
        """The arrays of the numbering; None if there is one segment without dead rows."""
        return self.arrays if "files_public" in self.arrays else None
