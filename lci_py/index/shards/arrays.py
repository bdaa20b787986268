"""Stores named one-dimensional arrays in a file, mapped into memory and never parsed. Most shards are such files.

The file is a magic line, the length of a JSON header (eight bytes, little-endian), the header, the arrays, each at a
multiple of 64 bytes, and checksums (`ChecksummedFile`). The header gives type, offset and number of items of each
array. A shard is one file rather than a folder of many: each file costs a query an `open`, and a commit an `fsync`.

The reader works without numpy: `view` is enough to read a few numbers. The file may be damaged or hostile: every length
and offset is checked against the size of the file before anything is read or allocated, and the data that are read are
checked against the checksums.

The times of a shard show whether it was written, not whether bits have changed on the disk. So every file of arrays or
vectors ends with checksums: for each block, the sum of its 64-bit words modulo 2^64. A reader compares a block with its
sum when it first reads the block. A flipped bit, a page of zeros and a page from another file change the sum. numpy
adds as fast as memory can be read, ten times as fast as a cryptographic digest. A sum does not protect against
attackers; the seal of the manifest does.

After the content, padded to 8 bytes, come the sums (u8 each, little-endian), the content's length, and the exclusive or
of the length and a magic number.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lci_py.errors import DamagedIndexError
from lci_py.source.repository.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lci_py.callgraph.edges import Spliced


#: Bytes of a block. A query that reads little of a large shard checks little more.
SUMMED = 1 << 16
_WORD = 8
_END = 2 * _WORD
_MAGIC = int.from_bytes(b"lci sums", "little")
_MODULUS = 1 << 64


def append_sums(path: Path) -> None:
    """Append the checksums of its blocks to a file that is otherwise complete.

    Raises:
        OSError: The file cannot be written.
    """
    with path.open("r+b") as file:
        sums, length = [], 0
        while block := file.read(SUMMED):
            length += len(block)
            sums += _sums(memoryview(block + bytes(-len(block) % _WORD)))
        file.write(bytes(-length % _WORD))
        file.write(b"".join(value.to_bytes(_WORD, "little") for value in (*sums, length, length ^ _MAGIC)))


class ChecksummedFile:
    """The content of a file that `append_sums` has completed.

    Attributes:
        content: The file without the sums. Only `check` compares it with the sums.
    """

    def __init__(self, data: memoryview, name: str, *, is_checked: bool = False) -> None:
        """Find the checksums at the end of a file.

        Args:
            data: The whole file.
            name: The name of the file, for errors.
            is_checked: Whether the caller has compared the whole file with a digest.
        Raises:
            DamagedIndexError: The file has no valid checksums at its end.
        """
        self._name = name
        length, again = (int.from_bytes(data[-at : -at + _WORD or None], "little") for at in (_END, _WORD))
        n_blocks = -(-length // SUMMED)
        end = len(data) - _END - _WORD * n_blocks
        if length != again ^ _MAGIC or end != length + -length % _WORD:
            raise DamagedIndexError(f"{name}: its checksums are missing")
        self.content = data[:length]
        self._words = data[:end]
        self._wanted = data[end:-_END].cast("Q")
        self._seen = bytearray([is_checked]) * n_blocks

    def check(self, start: int = 0, stop: int | None = None) -> None:
        """Compare the blocks of a byte range (default: all) with their sums; skips blocks that were checked before."""
        seen = self._seen
        last = len(seen) if stop is None else -(-stop // SUMMED)
        at = seen.find(0, start // SUMMED, last)
        while at >= 0:
            end = seen.find(1, at, last)
            end = last if end < 0 else end
            if _sums(self._words[at * SUMMED : end * SUMMED]) != self._wanted[at:end].tolist():
                raise DamagedIndexError(f"{self._name}: its checksums do not match")
            seen[at:end] = b"\1" * (end - at)
            at = seen.find(0, end, last)

    def check_many(self, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> None:
        """Like `check`, for many byte ranges inside the content: each from `starts[i]` to before `stops[i]`."""
        import numpy as np

        touched = np.zeros(len(self._seen) + 1, np.int32)  # +1 where a range begins, -1 behind its end
        np.add.at(touched, starts // SUMMED, 1)
        np.add.at(touched, -(-stops // SUMMED), -1)
        edges = np.diff(np.cumsum(touched) > 0, prepend=False, append=False).nonzero()[0].tolist()
        for first, last in zip(edges[::2], edges[1::2], strict=True):
            self.check(first * SUMMED, min(last * SUMMED, len(self.content)))


def _sums(data: memoryview) -> list[int]:
    """The sum of each block of `data`, whose length is a multiple of 8 bytes (one word)."""
    if "numpy" not in sys.modules:  # a query that needs no numpy reads some small arrays only
        return [sum(data[at : at + SUMMED].cast("Q")) % _MODULUS for at in range(0, len(data), SUMMED)]
    import numpy as np

    words = np.frombuffer(data, "<u8")
    whole = len(words) // (SUMMED // _WORD) * (SUMMED // _WORD)
    sums: list[int] = words[:whole].reshape(-1, SUMMED // _WORD).sum(axis=1).tolist()
    return sums if whole == len(words) else [*sums, int(words[whole:].sum())]


MAGIC = b"lci arrays 1\n\0\0\0"
_ALIGNMENT = 64
_MAX_HEADER = 1 << 20
#: Name of a type in the header -> (its code for `memoryview.cast`, bytes per item).
_TYPES = {"u1": ("B", 1), "u2": ("H", 2), "i4": ("i", 4), "i8": ("q", 8), "f4": ("f", 4)}


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any] | Spliced | array[int] | bytes]) -> None:
    """Write a new file of arrays, whose types must be in `_TYPES`; bytes become an array of u1.

    Raises:
        OSError: The file cannot be written.
    """
    kinds = {name: _kind(name, values) for name, values in arrays.items()}
    header = _header({name: (kinds[name], len(values)) for name, values in arrays.items()})
    with path.open("wb") as file:
        file.write(MAGIC + len(header).to_bytes(8, "little") + header)
        for name, values in arrays.items():
            file.write(bytes(-file.tell() % _ALIGNMENT))
            if isinstance(values, (bytes, array)):
                file.write(values)
                continue
            for piece in values.pieces() if hasattr(values, "pieces") else (values,):
                plain = piece.astype(f"<{kinds[name]}", copy=False)
                file.write(_bytes((plain if plain.flags.c_contiguous else plain.copy()).data))
    append_sums(path)


def _kind(name: str, values: NDArray[Any] | Spliced | array[int] | bytes) -> str:
    """The name of an array's type, such as "i4"."""
    if isinstance(values, bytes):
        return "u1"
    if isinstance(values, array):
        return next(kind for kind, (code, _) in _TYPES.items() if code == values.typecode)
    kind: str = values.dtype.str[1:]
    if kind not in _TYPES or values.ndim != 1:
        raise TypeError(f"{name} is an array of {kind} of {values.ndim} dimensions")
    return kind


def _bytes(view: memoryview) -> memoryview:
    return view.cast("B") if len(view) else memoryview(b"")


def _header(sizes: Mapping[str, tuple[str, int]]) -> bytes:
    # Offsets count from the end of the header, so they do not depend on its length.
    table = {}
    offset = 0
    for name, (kind, count) in sizes.items():
        table[name] = [kind, offset, count]
        size = count * _TYPES[kind][1]
        offset += size + -size % _ALIGNMENT
    text = json.dumps(table, separators=(",", ":")).encode("ascii")
    return text + b" " * (-(len(MAGIC) + 8 + len(text)) % _ALIGNMENT)


class Arrays:
    """Reads a file of arrays.

    Raises:
        DamagedIndexError: The file is not from `write_arrays`.
    """

    def __init__(self, path: Path, *, is_checked: bool = False) -> None:
        """Open a file; `is_checked` says whether the whole file was already compared with a digest."""
        self.name = path.name
        try:
            self._summed = ChecksummedFile(map_file(path), path.name, is_checked=is_checked)
            self._data = self._summed.content
            self._table = self._read_table()
        except (OSError, ValueError, RecursionError) as error:
            raise DamagedIndexError(f"{path.name}: {error}") from error

    def _read_table(self) -> dict[str, tuple[str, int, int]]:
        start = len(MAGIC) + 8
        if self._data[: len(MAGIC)] != MAGIC:
            raise ValueError("it is not a file of arrays")
        length = int.from_bytes(self._data[len(MAGIC) : start], "little")
        if length > min(_MAX_HEADER, len(self._data) - start):
            raise ValueError("its header is longer than the file")
        self._summed.check(0, start + length)
        header = json.loads(bytes(self._data[start : start + length]))
        if not isinstance(header, dict):
            raise ValueError("its header is not a JSON object")
        return {name: self._entry(name, entry, start + length) for name, entry in header.items()}

    def _entry(self, name: str, entry: object, base: int) -> tuple[str, int, int]:
        match entry:
            case [str(kind), int(offset), int(count)] if kind in _TYPES and offset >= 0 and count >= 0:
                size = _TYPES[kind][1]
                if offset % size == 0 and base + offset + count * size <= len(self._data):
                    return kind, base + offset, count
        raise ValueError(f"{name} does not lie inside the file")

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def view(self, name: str, *kinds: str, check: bool = True) -> memoryview:
        """The array as a flat memoryview of numbers.

        Args:
            name: The name of the array.
            kinds: The allowed types: "u1", "u2", "i4", "i8", "f4".
            check: Whether to compare the whole array with the checksums; else the caller calls `check_items` for parts.
        Raises:
            DamagedIndexError: The array is missing, has another type, or is damaged.
        """
        kind, offset, count = self._table.get(name, ("", 0, 0))
        if kind not in kinds:
            raise DamagedIndexError(f"{self.name}: {name} is {kind or 'missing'}")
        code, size = _TYPES[kind]
        if check:
            self._summed.check(offset, offset + count * size)
        view: memoryview = self._data[offset : offset + count * size].cast(code)  # type: ignore[call-overload]
        return view

    def check_items(self, name: str, start: int, stop: int) -> None:
        """Compare the items of an array from `start` to before `stop` with the checksums."""
        kind, offset, _ = self._table[name]
        size = _TYPES[kind][1]
        self._summed.check(offset + start * size, offset + stop * size)

    def check_ranges(self, name: str, starts: NDArray[Any], stops: NDArray[Any]) -> None:
        """Like `check_items`, for many ranges of items, all inside the array."""
        if len(starts):
            kind, offset, _ = self._table[name]
            size = _TYPES[kind][1]
            self._summed.check_many(offset + starts * size, offset + stops * size)

    def array(self, name: str, *kinds: str, check: bool = True) -> NDArray[Any]:
        """Like `view`, but returns a numpy array: mapped, read-only."""
        import numpy as np

        view = self.view(name, *kinds, check=check)
        return np.frombuffer(view, f"<{self._table[name][0]}") if len(view) else np.zeros(0, self._table[name][0])


def map_file(path: Path) -> memoryview:
    """Map a file into memory for reading.

    Raises:
        OSError: The file cannot be opened, or is not a regular file.
        ValueError: The file is shorter than a header.
    """
    handle, info = open_regular(path)
    try:
        if info.st_size < len(MAGIC) + 8:
            raise ValueError("too short")
        return memoryview(mmap.mmap(handle, info.st_size, access=mmap.ACCESS_READ))
    finally:
        os.close(handle)


# --- offsets: where each of many short pieces of an array starts, in little more than a byte per piece ---------------

#: Pieces per stored start.
BLOCK = 64
#: As the size of a piece: look it up among the wide ones.
WIDE = 255


def offset_arrays(name: str, sizes: Sequence[int] | NDArray[Any]) -> dict[str, NDArray[Any] | array[int]]:
    """Arrays with the sizes of pieces, for `write_arrays` and `Offsets`: `NAME_sizes`, u1, the size of each piece;
    `NAME_blocks`, the start of every `BLOCK`th piece and the end of the last piece; `NAME_wide` and `NAME_widths`, the
    numbers of pieces too large for u1, and their sizes.
    """
    import numpy as np

    all_sizes = np.asarray(sizes, np.int64)
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(all_sizes)))
    blocks = np.append(ends[:-1][::BLOCK], ends[-1])
    wide = np.flatnonzero(all_sizes >= WIDE)
    widths = all_sizes[wide]
    small = np.int32 if int(ends[-1]) < 1 << 31 else np.int64
    return {
        f"{name}_sizes": np.minimum(all_sizes, WIDE).astype(np.uint8),
        f"{name}_blocks": blocks.astype(small),
        f"{name}_wide": wide.astype(np.int32),
        f"{name}_widths": widths.astype(small),
    }


class Offsets:
    """Reads the arrays of `offset_arrays`, which store the size of each piece, and the start of every `BLOCK`th piece.
    A size of `WIDE` or more is stored separately. The class works without numpy.
    """

    def __init__(self, source: Arrays, name: str, total: int) -> None:
        """Open the offsets called `name`, which divide an array of length `total` into pieces."""
        self._what, self._total = f"{source.name}: {name}", total
        self._sizes = source.view(f"{name}_sizes", "u1")
        self._blocks = source.view(f"{name}_blocks", "i4", "i8")
        self._wide, self._widths = source.view(f"{name}_wide", "i4"), source.view(f"{name}_widths", "i4", "i8")
        if (
            len(self._blocks) != -(-len(self._sizes) // BLOCK) + 1
            or self._blocks[0]
            or self._blocks[-1] != total
            or len(self._wide) != len(self._widths)
        ):
            raise self._damaged()

    def __len__(self) -> int:
        return len(self._sizes)

    def span(self, piece: int) -> tuple[int, int]:
        """(start, end) of a piece."""
        if not 0 <= piece < len(self._sizes):
            raise self._damaged()
        block = piece // BLOCK
        start = self._blocks[block] + sum(self._sizes[block * BLOCK : piece])
        size = self._sizes[piece]
        if len(self._wide):
            first = bisect_left(self._wide, block * BLOCK)
            last = bisect_left(self._wide, piece, first)
            start += sum(self._widths[first:last]) - WIDE * (last - first)
            if size == WIDE:
                if last == len(self._wide) or self._wide[last] != piece:
                    raise self._damaged()
                size = self._widths[last]
        if not 0 <= start <= start + size <= self._total:
            raise self._damaged()
        return start, start + size

    def piece_at(self, position: int) -> tuple[int, int, int]:
        """(number, start, end) of the piece that contains a position of the array."""
        block = min(bisect_right(self._blocks, position) - 1, max(len(self._blocks) - 2, 0))
        starts = self._starts(block)
        piece = min(bisect_right(starts, position), len(starts) - 1) - 1
        return block * BLOCK + piece, *self._check_range(starts[piece], starts[piece + 1])

    def place(self, target: bytes, text: Callable[[int, int], bytes]) -> int:
        """The first of the (ascending) pieces that is not less than `target`; `text(start, end)` reads a piece."""
        # First among the blocks: of the first piece of each, the start is stored.
        block = bisect_left(range(len(self._blocks) - 1), target, key=lambda block: text(*self.span(block * BLOCK)))
        if not block:
            return 0
        first = (block - 1) * BLOCK
        last = min(first + BLOCK, len(self))
        starts = self._starts(block - 1)
        return first + bisect_left(
            range(last - first), target, key=lambda piece: text(*self._check_range(starts[piece], starts[piece + 1]))
        )

    def longest(self, minimum: int) -> Iterator[int]:
        """The numbers of the pieces whose size is `minimum` or more; `minimum` is at most `WIDE`."""
        data = bytes(self._sizes)
        return (match.start() for match in re.finditer(b"[\\x%02x-\\xff]" % minimum, data))

    def _starts(self, block: int) -> list[int]:
        """The starts of the pieces of a block, then the end of the block's last piece."""
        sizes = self._sizes[block * BLOCK : (block + 1) * BLOCK].tolist()
        if len(self._wide) and WIDE in sizes:
            return [self.span(block * BLOCK + piece)[0] for piece in range(len(sizes))] + [
                self.span(block * BLOCK + len(sizes) - 1)[1]
            ]
        return list(accumulate(sizes, initial=self._blocks[block]))

    def _check_range(self, start: int, stop: int) -> tuple[int, int]:
        if not 0 <= start <= stop <= self._total:
            raise self._damaged()
        return start, stop

    def _damaged(self) -> DamagedIndexError:
        return DamagedIndexError(f"{self._what}: the pieces do not lie inside their array")


def sorted_order(strings: Sequence[str]) -> list[int]:
    """The indices that sort the strings by their UTF-8 bytes (which is also the order by code points)."""
    return sorted(range(len(strings)), key=strings.__getitem__)


def string_arrays(name: str, strings: Sequence[str]) -> dict[str, NDArray[Any] | array[int] | bytes]:
    """The arrays that store a table of sorted strings, for `write_arrays`: `NAME` (bytes) and its `offset_arrays`."""
    blob = [text.encode("utf-8", "surrogatepass") for text in strings]
    return {name: b"".join(blob), **offset_arrays(name, [len(item) for item in blob])}


def compact(offsets: NDArray[Any]) -> NDArray[Any]:
    """Convert ascending offsets to int32 if they fit, else to int64."""
    return offsets.astype("i4") if len(offsets) and int(offsets[-1]) < 1 << 31 else offsets


class StringTable:
    """Reads the arrays of `string_arrays`."""

    def __init__(self, source: Arrays, name: str) -> None:
        self._what = f"{source.name}: {name}"
        self._blob = source.view(name, "u1")
        self._offsets = Offsets(source, name, len(self._blob))

    def __len__(self) -> int:
        return len(self._offsets)

    def find(self, text: str) -> int:
        """The index of a string; -1 if it is not in the table."""
        target = text.encode("utf-8", "surrogatepass")
        low = self._offsets.place(target, self._bytes_between)
        return low if low < len(self) and self._bytes(low) == target else -1

    def starting(self, prefix: str, limit: int) -> list[str] | None:
        """The strings that start with a prefix, in order; None if there are more than `limit`."""
        start = prefix.encode("utf-8", "surrogatepass")
        ends = (start, start + b"\xff")  # this byte never occurs in UTF-8
        low, high = (self._offsets.place(end, self._bytes_between) for end in ends)
        return None if high - low > limit else list(map(self.text, range(low, high)))

    def text(self, index: int) -> str:
        """The string at an index."""
        try:
            return self._bytes(index).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise DamagedIndexError(f"{self._what} are not UTF-8") from None

    def _bytes(self, index: int) -> bytes:
        return self._bytes_between(*self._offsets.span(index))

    def _bytes_between(self, start: int, stop: int) -> bytes:
        return bytes(self._blob[start:stop])
