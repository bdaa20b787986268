"""The shard `facts`: columns (arrays) with properties of units and files, which the ranking reads.

A property of files is also available as an array over units, which is computed on first use.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.arrays import Arrays, write_arrays
from lci_py.index.shards.filters import only_in_tests
from lci_py.types.search import BLOCK_KIND, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lci_py.index.shards.numbering import Numbering
    from lci_py.index.shards.segment_rows import SegmentRows

#: The kinds by kind code.
UNIT_KINDS = (*KINDS, BLOCK_KIND)
_BLOCK = len(KINDS)
#: Bits of `unit_flags`.
EXPORTED, DECLARATION, TEST_BUILD = 1, 4, 8
#: Bits of `file_flags`.
TEST, TEXT, GENERATED = 1, 2, 4
_TEXT_LANGUAGES = ("text", "markdown")
#: Array -> the kind of its rows, and its type.
_COLUMNS = {
    "unit_file": ("units", "i4"), "unit_symbol": ("units", "i4"), "unit_kind": ("units", "u1"),
    "unit_flags": ("units", "u1"), "unit_line": ("units", "i4"), "unit_end_line": ("units", "i4"),
    "file_flags": ("files", "u1"), "file_lines": ("files", "i4"),
}  # fmt: skip


def write_unit_columns(path: Path, rows: SegmentRows) -> None:
    """Write the shard of a segment into a new file."""
    codes = {kind: code for code, kind in enumerate(UNIT_KINDS)}
    columns: dict[str, list[int]] = {
        "unit_file": [unit.file for unit in rows.units],
        "unit_symbol": [unit.symbol for unit in rows.units],
        "unit_kind": [codes[rows.symbols[unit.symbol].kind] if unit.symbol >= 0 else _BLOCK for unit in rows.units],
        "unit_flags": _unit_flags(rows),
        "unit_line": [unit.line for unit in rows.units],
        "unit_end_line": [unit.end_line for unit in rows.units],
        "file_flags": _file_flags(rows),
        "file_lines": [record.lines for record in rows.records],
    }
    write_arrays(path, {name: np.array(values, _COLUMNS[name][1]) for name, values in columns.items()})


def _unit_flags(rows: SegmentRows) -> list[int]:
    flags = [0] * len(rows.units)
    for number, unit in enumerate(rows.units):
        if unit.symbol >= 0:
            symbol = rows.symbols[unit.symbol]
            declared = "declaration" in symbol.traits and "declaration" in symbol.traits.split()
            flags[number] = (
                EXPORTED * symbol.exported | DECLARATION * declared | TEST_BUILD * only_in_tests(symbol.build_tag)
            )
    return flags


def _file_flags(rows: SegmentRows) -> list[int]:
    from lci_py.source.extract.roles import is_generated_name  # a query must not compile its patterns

    return [
        TEST * rows.tests[file]
        | TEXT * (record.extract.language in _TEXT_LANGUAGES)
        | GENERATED * (record.generated or is_generated_name(record.path))
        for file, record in enumerate(rows.records)
    ]


class _Segment:
    """One segment's shard, in the segment's numbers."""

    def __init__(self, path: Path, counts: Mapping[str, int]) -> None:
        self.counts = counts
        self._arrays = Arrays(path)

    def column(self, name: str) -> NDArray[Any]:
        """The array called `name`, with an item per unit or per file."""
        rows, kind = _COLUMNS[name]
        values = self._arrays.array(name, kind)
        if len(values) != self.counts[rows]:
            raise self.damaged(f"{name} has {len(values)} items for {self.counts[rows]} {rows}")
        return values

    def bounded(self, name: str, minimum: int, beyond: int) -> NDArray[Any]:
        """Like `column`, but checks that `minimum` <= number < `beyond` for all numbers."""
        values = self.column(name)
        if len(values) and not minimum <= int(values.min()) <= int(values.max()) < beyond:
            raise self.damaged(f"{name} refers to rows that do not exist")
        return values

    def damaged(self, what: str) -> DamagedIndexError:
        return DamagedIndexError(f"{self._arrays.name}: {what}")


class UnitColumns:
    """Reads the shards of all segments. Rows have public numbers: U units, F files.

    Each array is read on first use, which raises DamagedIndexError if it is damaged.
    """

    def __init__(self, shards: Sequence[Path], numbering: Numbering, paths: Callable[[], list[str]]) -> None:
        """Open the shard of each segment; `paths` returns the path of every file, by public number."""
        self._numbering = numbering
        self._segments = [_Segment(path, counts) for path, counts in zip(shards, numbering.counts, strict=True)]
        self._paths = paths
        self._unit_of: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return self._numbering.total("units")

    # --- per unit: [U] ------------------------------------------------------------------------------------------

    @cached_property
    def file(self) -> NDArray[np.int32]:
        """The file of each unit."""
        files = self._numbers("unit_file", "files", minimum=0)
        if int(files.min(initial=0)) < 0:
            raise DamagedIndexError("the numbering has units that are not deleted in deleted files")
        return files

    @cached_property
    def symbol(self) -> NDArray[np.int32]:
        """The number of each unit's definition, -1 for a block (code or text outside definitions)."""
        return self._numbers("unit_symbol", "symbols", minimum=-1)

    def unit_of_symbol(self, n_symbols: int) -> NDArray[np.int64]:
        """The unit of each definition, -1 for a definition without a unit of its own: [n_symbols]."""
        if self._unit_of is None:
            units = np.full(n_symbols, -1, np.int64)
            owned = np.flatnonzero((self.symbol >= 0) & (self.symbol < n_symbols))
            units[self.symbol[owned]] = owned
            self._unit_of = units
        return self._unit_of

    @cached_property
    def kind(self) -> NDArray[np.uint8]:
        """The kind of each unit, as an index of `UNIT_KINDS`."""
        return self._column("unit_kind", 0, len(UNIT_KINDS))

    @cached_property
    def line(self) -> NDArray[np.int32]:
        """The first line of each unit."""
        return self._column("unit_line", 1)

    @cached_property
    def end_line(self) -> NDArray[np.int32]:
        """The last line of each unit."""
        return self._column("unit_end_line", 1)

    @cached_property
    def lines(self) -> NDArray[np.int32]:
        """The number of lines of each unit, including those of inner definitions."""
        return np.asarray(np.maximum(self.end_line - self.line, 0) + 1, np.int32)

    @cached_property
    def is_block(self) -> NDArray[np.bool_]:
        """Whether each unit is code or text outside definitions."""
        return np.asarray(self.kind == _BLOCK)

    @cached_property
    def exported(self) -> NDArray[np.bool_]:
        """Whether other files can use each unit."""
        return self._unit_flag(EXPORTED)

    @cached_property
    def declaration(self) -> NDArray[np.bool_]:
        """Whether each unit is a declaration whose body is elsewhere."""
        return self._unit_flag(DECLARATION)

    @cached_property
    def is_test(self) -> NDArray[np.bool_]:
        """Whether each unit is in a test file."""
        return self.of_file(TEST)

    @cached_property
    def is_inner_test(self) -> NDArray[np.bool_]:
        """Whether each unit exists only in test builds, although other units of its file do not (Rust)."""
        return self._unit_flag(TEST_BUILD) & ~self.is_test

    @cached_property
    def is_text(self) -> NDArray[np.bool_]:
        """Whether each unit is in Markdown, or in a file without a grammar."""
        return self.of_file(TEXT)

    @cached_property
    def generated(self) -> NDArray[np.bool_]:
        """Whether each unit is in a generated file."""
        return self.of_file(GENERATED)

    def of_file(self, bit: int) -> NDArray[np.bool_]:
        """Whether the file of each unit has a flag: TEST, TEXT or GENERATED."""
        files = (self.file_flags & np.uint8(bit)) != 0
        return files[self.file] if files.any() else np.zeros(len(self), np.bool_)

    # --- per file: [F] ------------------------------------------------------------------------------------------

    @cached_property
    def paths(self) -> list[str]:
        """The path of each file."""
        paths = self._paths()
        if len(paths) != self._numbering.total("files"):
            raise DamagedIndexError("the table of files and the numbering disagree about which files are deleted")
        return paths

    @cached_property
    def file_flags(self) -> NDArray[np.uint8]:
        """The flags of each file: the bits TEST, TEXT and GENERATED."""
        return self._column("file_flags")

    @cached_property
    def file_lines(self) -> NDArray[np.int32]:
        """The number of lines of each file."""
        return self._column("file_lines", 0)

    # ------------------------------------------------------------------------------------------------------------

    @cached_property
    def _flags(self) -> NDArray[np.uint8]:
        return self._column("unit_flags")

    def _unit_flag(self, bit: int) -> NDArray[np.bool_]:
        return np.asarray((self._flags & np.uint8(bit)) != 0)

    def _column(self, name: str, minimum: int = 0, beyond: int = 1 << 31) -> NDArray[Any]:
        parts = [segment.bounded(name, minimum, beyond) for segment in self._segments]
        return self._numbering.in_public_order(_COLUMNS[name][0], parts)

    def _numbers(self, name: str, target: str, *, minimum: int) -> NDArray[np.int32]:
        """A column with numbers of rows of the kind `target`, which are converted to public numbers."""
        parts = []
        for i, segment in enumerate(self._segments):
            numbers = segment.bounded(name, minimum, segment.counts[target])
            public = self._numbering.public_array(target, i)
            if public is not None and len(numbers):
                numbers = np.where(numbers < 0, np.int32(-1), public[numbers]) if len(public) else numbers
            parts.append(numbers)
        return self._numbering.in_public_order(_COLUMNS[name][0], parts)
