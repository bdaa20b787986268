"""Numbers the files, symbols, units and chunks of a segment.

A *unit* is what a search ranks and returns: a definition that owns chunks, or a block of code or text outside
definitions. Numbers ascend by path, then line, so that ties are broken by the smaller number.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lci_py.source.syntax.languages import is_test
from lci_py.source.text import blake2b
from lci_py.types.record import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lci_py.source.file_record import FileRecord
    from lci_py.types.source import Symbol


@dataclass(frozen=True, slots=True)
class Unit:
    file: int
    symbol: int  # number of the definition, -1 for a block
    id: str
    line: int
    end_line: int


@dataclass(slots=True)
class SegmentRows:
    """The rows of a segment as parallel lists; a row's number is its index in its list."""

    records: Sequence[FileRecord]
    tests: list[bool] = field(default_factory=list)  # per file
    symbols: list[Symbol] = field(default_factory=list)
    symbol_file: list[int] = field(default_factory=list)
    symbol_parent: list[int] = field(default_factory=list)
    symbol_id: list[str] = field(default_factory=list)
    symbol_unit: list[int] = field(default_factory=list)  # -1 if the symbol owns no chunk
    first_symbol: list[int] = field(default_factory=list)  # per file, and one more at the end
    units: list[Unit] = field(default_factory=list)
    chunk_unit: list[int] = field(default_factory=list)
    chunk_file: list[int] = field(default_factory=list)
    chunk_lines: list[tuple[int, int]] = field(default_factory=list)
    chunk_digest: list[bytes] = field(default_factory=list)


def stable_id(*fields: str) -> str:
    """A definition's id: a hash of path, qualified name, kind, and rank among definitions that share these; no line."""
    return blake2b("\0".join(fields).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def number_rows(records: Sequence[FileRecord]) -> SegmentRows:
    """Number all rows. The `records` are sorted by path, without skipped files."""
    rows = SegmentRows(records)
    for file, record in enumerate(records):
        rows.tests.append(is_test(record.path))
        rows.first_symbol.append(len(rows.symbols))
        _number_symbols(rows, file, record)
        _number_units(rows, file, record)
    rows.first_symbol.append(len(rows.symbols))
    return rows


def _number_symbols(rows: SegmentRows, file: int, record: FileRecord) -> None:
    base = len(rows.symbols)
    seen: Counter[tuple[str, str]] = Counter()
    for symbol in record.extract.symbols:
        key = (symbol.qualified_name, symbol.kind)
        rows.symbol_id.append(stable_id(record.path, *key, str(seen[key])))
        seen[key] += 1
        rows.symbols.append(symbol)
        rows.symbol_file.append(file)
        rows.symbol_parent.append(base + symbol.parent if symbol.parent >= 0 else -1)
        rows.symbol_unit.append(-1)


def _number_units(rows: SegmentRows, file: int, record: FileRecord) -> None:
    base = rows.first_symbol[file]
    symbols = record.extract.symbols
    chunks = record.extract.chunks
    keys: dict[tuple[int, int], tuple[int, int]] = {}  # (symbol, or -1 and the place of a block's chunk) -> lines
    of_chunk = []
    for position, chunk in enumerate(chunks):
        key = (chunk.symbol, -1 if chunk.symbol >= 0 else position)
        of_chunk.append(key)
        if chunk.symbol >= 0:
            symbol = symbols[chunk.symbol]
            keys[key] = (symbol.line, symbol.end_line)
        else:
            keys[key] = (chunk.line, chunk.end_line)
    blocks: Counter[bytes] = Counter()
    numbers = {}
    for key in sorted(keys, key=lambda item: (*keys[item], *item)):
        numbers[key] = len(rows.units)
        line, end_line = keys[key]
        if key[0] >= 0:
            symbol_number = base + key[0]
            rows.symbol_unit[symbol_number] = len(rows.units)
            rows.units.append(Unit(file, symbol_number, rows.symbol_id[symbol_number], line, end_line))
        else:
            digest = record.digests[8 * key[1] : 8 * key[1] + 8]
            identity = stable_id(record.path, "", digest.hex(), str(blocks[digest]))
            blocks[digest] += 1
            rows.units.append(Unit(file, -1, identity, line, end_line))
    for position, chunk in enumerate(chunks):
        rows.chunk_unit.append(numbers[of_chunk[position]])
        rows.chunk_file.append(file)
        rows.chunk_lines.append((chunk.line, chunk.end_line))
        rows.chunk_digest.append(record.digests[8 * position : 8 * position + 8])
