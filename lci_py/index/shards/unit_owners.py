"""The unit of a definition, and the definitions at a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.errors import DamagedIndexError
from lci_py.index.shards.filters import SYMBOLS_OF

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lci_py.index.shards.symbols import SymbolicIndex

#: Numbers in one SQL list.
_AT_ONCE = 5_000


def units_of(index: SymbolicIndex, symbols: Iterable[int]) -> dict[int, int]:
    """Definition to its unit or that of the innermost enclosing definition with one; not for definitions in a block."""
    # CROSS JOIN tells SQLite which table to read first: otherwise it would read all symbols.
    sql = (
        "WITH RECURSIVE up (origin, id) AS (SELECT id, id FROM symbols WHERE id IN ({}) UNION "
        "SELECT up.origin, s.parent FROM up CROSS JOIN symbols s ON s.id = up.id WHERE s.unit IS NULL AND s.parent IS "
        "NOT NULL) SELECT up.origin, s.unit FROM up CROSS JOIN symbols s ON s.id = up.id WHERE s.unit IS NOT NULL"
    )
    wanted = sorted(set(symbols))
    found: dict[int, int] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        for segment, own in index.by_number("symbols", wanted[start : start + _AT_ONCE]):
            for symbol, unit in segment.execute(sql.format(own)):
                found[segment.public("symbols", symbol)] = segment.public("units", unit)
    total = index.numbering.total("units")
    _check(all(type(unit) is int and 0 <= unit < total for unit in found.values()))
    return found


def definitions_at(index: SymbolicIndex, file: int, line: int) -> list[int]:
    """The innermost definition that encloses a line of a file, then all definitions in it; empty outside definitions.

    Args:
        line: 1-based. The doc comment, attributes and decorators count as lines of a definition.
    """
    sql = f"SELECT s.id, s.first_line, s.end_line {SYMBOLS_OF} WHERE f.id IN ({{}})"
    spans = [
        (first, last, segment.public("symbols", number))
        for segment, own in index.by_number("files", [file])
        for number, first, last in segment.execute(sql.format(own))
    ]
    _check(all(type(first) is type(last) is int for first, last, _ in spans))
    around = [span for span in spans if span[0] <= line <= span[1]]
    if not around:
        return []
    # Definitions nest: the innermost one starts last, and is the shortest of several that start on one line.
    first, last, inner = max(around, key=lambda span: (span[0], -span[1], span[2]))
    return [inner, *(number for start, end, number in spans if first <= start and end <= last and number != inner)]


def line_count(index: SymbolicIndex, file: int) -> int:
    """The number of lines of a file."""
    for segment, own in index.by_number("files", [file]):
        for (lines,) in segment.execute(f"SELECT lines FROM files WHERE id IN ({own})"):
            _check(type(lines) is int)
            return int(lines)
    raise DamagedIndexError("the symbolic shard lacks a file of the numbering")


def _check(holds: bool) -> None:
    if not holds:
        raise DamagedIndexError("the symbolic shard: its rows do not fit together")
