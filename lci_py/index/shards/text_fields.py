"""Counts the words of each field of the lexical shard, and the words that the encoder embeds."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

import numpy as np

from lci_py.index.shards.term_counts import NumberedWords, Sparse, Vocabulary, chunk_bags, list_bags
from lci_py.source.text.words import WORD
from lci_py.types.record import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lci_py.index.shards.segment_rows import SegmentRows
    from lci_py.types.source import Symbol

#: The number of folders of a path that count, nearest first; outer folders say little about a file.
PATH_FOLDERS = 3
EMBEDDED_FOLDERS = 2
#: How often the words of the path and of the header count in the embedded text.
EMBEDDED_PATH, EMBEDDED_HEADER = 2, 3
#: Counts, in fifths, of a word of a definition's name and of its scope in the field `names`: 1 and 0.4.
NAME_COUNT, SCOPE_COUNT = 5, 2
#: Count of a word of the file's name in the field `paths`; a word of a folder counts 1.
STEM_COUNT = 2


@dataclass(slots=True)
class TextFields:
    """The word counts for the lexical shard and for the encoder, with one vocabulary for both."""

    lexical: dict[str, Sparse]  # field -> counts of words, in the unit of the field
    maps: dict[str, NDArray[np.int32]]
    vocabulary: Vocabulary
    embedded: Sparse  # chunk x word: content, path and header
    n_chunks: int
    n_files: int


def text_fields(rows: SegmentRows, words: NumberedWords) -> TextFields:
    """Count the words of all fields; `words` has the words of the segment's files, in order."""
    vocabulary = words.vocabulary
    content = chunk_bags(rows.records, words)
    names, scopes = _name_bags(rows, vocabulary)
    stems, folders = _path_bags(rows, vocabulary)
    chunk_unit = np.array(rows.chunk_unit, np.int32)
    unit_file = np.array([unit.file for unit in rows.units], np.int32)
    return TextFields(
        lexical={
            "content": content,
            "names": Sparse.concat(names.scaled(NAME_COUNT), scopes.scaled(SCOPE_COUNT)),
            "paths": Sparse.concat(stems.scaled(STEM_COUNT), folders),
        },
        maps={"chunk_unit": chunk_unit, "unit_file": unit_file},
        vocabulary=vocabulary,
        embedded=embedded_words(rows, content, vocabulary),
        n_chunks=len(chunk_unit),
        n_files=len(rows.records),
    )


def embedded_words(rows: SegmentRows, content: Sparse, vocabulary: Vocabulary) -> Sparse:
    """Counts (chunk x word) of the words to embed, from code, path and header; `content` has the counts of the code."""
    paths = list_bags((WORD.findall(path_text(record.path)) for record in rows.records), vocabulary)
    return Sparse.concat(
        content,
        _spread(paths, np.array(rows.chunk_file, np.int32)).scaled(EMBEDDED_PATH),
        _spread(_headers(rows, vocabulary), np.array(rows.chunk_unit, np.int32)).scaled(EMBEDDED_HEADER),
    )


def _name_bags(rows: SegmentRows, vocabulary: Vocabulary) -> tuple[Sparse, Sparse]:
    names, scopes = [], []
    for unit in rows.units:
        symbol = rows.symbols[unit.symbol] if unit.symbol >= 0 else None
        names.append(WORD.findall(symbol.name) if symbol else [])
        scopes.append(WORD.findall(symbol.scope) if symbol else [])
    return list_bags(names, vocabulary), list_bags(scopes, vocabulary)


def _path_bags(rows: SegmentRows, vocabulary: Vocabulary) -> tuple[Sparse, Sparse]:
    stems, folders = [], []
    for record in rows.records:
        folder, name = posixpath.split(record.path)
        stems.append(WORD.findall(name.partition(".")[0] or name))
        folders.append(WORD.findall("/".join(folder.split("/")[-PATH_FOLDERS:])))
    return list_bags(stems, vocabulary), list_bags(folders, vocabulary)


def path_text(path: str) -> str:
    """The end of a file's path, which is embedded with each chunk of the file."""
    return "/".join(path.split("/")[-EMBEDDED_FOLDERS - 1 :])


def header_text(symbol: Symbol | None) -> str:
    """The kind and name of a definition, which are embedded with each of its chunks; "" without a definition."""
    return f"{symbol.kind} {symbol.qualified_name}" if symbol is not None else ""


def _headers(rows: SegmentRows, vocabulary: Vocabulary) -> Sparse:
    symbols = (rows.symbols[unit.symbol] if unit.symbol >= 0 else None for unit in rows.units)
    return list_bags((WORD.findall(header_text(symbol)) for symbol in symbols), vocabulary)


def _spread(bags: Sparse, owner: NDArray[np.int32]) -> Sparse:
    """Copy the bag of each file or unit to its chunks: each chunk c gets the row owner[c] of `bags`."""
    n = int(owner.max()) + 1 if len(owner) else 0
    order = np.argsort(owner, kind="stable").astype(np.int32)
    indptr = np.zeros(max(n, int(bags.row.max()) + 1 if len(bags.row) else 0) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(indptr) - 1), out=indptr[1:])
    flipped = Sparse(bags.column, bags.row, bags.value).expand(indptr, order)
    return Sparse(flipped.column, flipped.row, flipped.value)
