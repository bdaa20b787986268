"""Looks up quoted phrases: selects files by the words of a phrase, then searches their text for the phrase itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lci_py.index.shards.symbols import narrowest
from lci_py.source.text.words import WORD, parts, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from lci_py.index.shards.symbols import Row
    from lci_py.search.snapshot import Snapshot


def units_with(
    snapshot: Snapshot, phrases: Sequence[str], allowed: NDArray[np.bool_] | None, *, either: bool = False
) -> tuple[NDArray[np.bool_], dict[int, int]]:
    """Finds the allowed units whose own lines contain every phrase literally (with `either`, any phrase): a mask
    [units], and a dict from unit to the first line of a match.
    """
    lines: dict[int, int] = {}
    masks = np.zeros((len(phrases), snapshot.n_units), np.bool_)
    for mask, phrase in zip(masks, phrases, strict=True):
        first_lines = _units_at(snapshot, _lines_with(snapshot, phrase))
        mask[list(first_lines)] = True
        for unit, line in first_lines.items():
            lines[unit] = min(line, lines.get(unit, line))
    all_hold: NDArray[np.bool_] = (np.logical_or if either else np.logical_and).reduce(masks)
    return all_hold if allowed is None else all_hold & allowed, lines


def symbols_with(
    snapshot: Snapshot, phrases: Sequence[str], select: Callable[[Callable[[str], bool]], list[Row]]
) -> list[Row]:
    """The rows of the symbols whose own lines (or all lines, if they have no chunks) contain every phrase.

    Args:
        phrases: At least one text.
        select: Returns the rows of the symbols in files whose path passes a test.
    """
    lines_of = [_lines_with(snapshot, phrase) for phrase in phrases]
    paths = snapshot.symbols.paths()
    files = {paths[file] for file in set.intersection(*map(set, lines_of))}
    if not files:
        return []
    rows = select(files.__contains__)
    for lines in lines_of:
        units = _units_at(snapshot, lines)
        rows = [row for row in rows if _holds(row, lines, units)]
    return rows


def _holds(row: Row, lines: Mapping[int, Sequence[int]], units: Mapping[int, int]) -> bool:
    if row["unit"] is not None:
        return row["unit"] in units
    first = row["line"] if row["first_line"] is None else row["first_line"]
    return any(first <= line <= row["end_line"] for line in lines.get(row["file_number"], ()))


def _files_with_words(snapshot: Snapshot, phrase: str) -> list[int]:
    """The files that contain the words of the phrase, but for words at its ends, which may be parts of longer words."""
    lexical = snapshot.lexical
    have = np.ones(lexical.n_files, np.bool_)
    matches = list(WORD.finditer(phrase))
    for match in matches:
        if match.start() == 0 or match.end() == len(phrase):
            continue
        for part in parts(match.group()):
            term = lexical.term(stem(part))
            rows = lexical.rows("files", term) if term is not None else np.zeros(0, np.int32)
            here = np.zeros(lexical.n_files, np.bool_)
            here[rows] = True
            have &= here
    return [int(file) for file in np.flatnonzero(have)]


def _lines_with(snapshot: Snapshot, phrase: str) -> dict[int, list[int]]:
    """Maps a file to the numbers of its lines that contain the phrase."""
    hits_of: dict[int, list[int]] = {}
    needle = phrase.encode("utf-8", "surrogatepass")
    paths = snapshot.symbols.paths()
    for file in _files_with_words(snapshot, phrase):
        # Not by way of `lines`, which keeps what it reads: a phrase of common words is looked up in every file.
        data = snapshot.reader.read(paths[file])
        if data is not None and needle in data:
            hits = [number for number, line in enumerate(data.split(b"\n"), 1) if needle in line]
            if hits:  # none, if the phrase has a line break in it
                hits_of[file] = hits
    return hits_of


def _units_at(snapshot: Snapshot, lines: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Maps each unit to the first line in `lines` that belongs to it; `lines` has the line numbers of each file."""
    first_lines: dict[int, int] = {}
    for file, numbers in lines.items():
        chunks = snapshot.symbols.chunks_of_file(file)
        for number in numbers:
            if (unit := narrowest(chunks, number)) is not None:
                first_lines.setdefault(unit, number)
    return first_lines
