"""Quoted phrases: found through the postings of their words, then checked against the text itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lci_py.source.text.words import WORD, parts, stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lci_py.search.snapshot import Snapshot


def units_with(
    snapshot: Snapshot, phrases: Sequence[str], allowed: NDArray[np.bool_] | None
) -> tuple[NDArray[np.bool_], dict[int, int]]:
    """The units whose own lines hold every phrase, letter for letter.

    Returns:
        A mask [units], and the first line of a match in each unit.
    """
    lines: dict[int, int] = {}
    mask = np.ones(snapshot.n_units, np.bool_) if allowed is None else allowed.copy()
    for phrase in phrases:
        files = _files_with_words(snapshot, phrase)
        found = _units_with_phrase(snapshot, phrase, files)
        here = np.zeros(snapshot.n_units, np.bool_)
        here[list(found)] = True
        mask &= here
        for unit, line in found.items():
            lines[unit] = min(line, lines.get(unit, line))
    return mask, lines


def _files_with_words(snapshot: Snapshot, phrase: str) -> list[int]:
    """Files that have all whole words inside the phrase. Its first and last word may be cut from longer ones."""
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


def _units_with_phrase(snapshot: Snapshot, phrase: str, files: list[int]) -> dict[int, int]:
    """Unit to the first line of it that holds the phrase."""
    found: dict[int, int] = {}
    needle = phrase.encode("utf-8", "surrogatepass")
    paths = snapshot.symbols.paths()
    for file in files:
        # Not by way of `lines`, which keeps what it reads: a phrase of common words is looked up in every file.
        data = snapshot.reader.read(paths[file])
        if data is None or needle not in data:
            continue
        hits = [number for number, line in enumerate(data.split(b"\n"), 1) if needle in line]
        if hits:
            chunks = snapshot.symbols.chunks_of_file(file)
            for number in hits:
                # A type's chunk spans its methods: the line belongs to the narrowest chunk around it.
                around = [(last - first, unit) for unit, first, last in chunks if first <= number <= last]
                if around:
                    found.setdefault(min(around)[1], number)
    return found
