"""Encodes a file's record as bytes, in which form a worker sends it to the index, and the cache stores it.

A zlib stream holds, in this order: the length of a JSON header (four bytes, little-endian); the header (its words are
one text, with line feeds between them); three runs of numbers (the digests of the lines of chunks, 8 bytes each, the
words of chunks and their counts, int32); the constraints of `source.dataflow.constraints`; the marks of
`source.extract.marks`. The path and the times are left out: the same content under another name has the same bytes.
"""

from __future__ import annotations

import json
import zlib
from itertools import repeat
from typing import Any, NamedTuple, TypeVar

from lci_py.types.record import dataclass
from lci_py.types.source import (
    Base,
    Call,
    Chunk,
    Claim,
    Extract,
    FileRecord,
    Import,
    Lambda,
    Registration,
    Symbol,
    stored_of,
    typed_of,
)

#: Bound on the decompressed size: files have a size limit, and a record is at most a few times its file.
_MAX_BYTES = 1 << 30
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)
_T = TypeVar("_T", bound=NamedTuple)


@dataclass(frozen=True, slots=True)
class FileStat:
    """The fields of a record that are not encoded."""

    path: str
    size: int
    mtime_ns: int
    sha: str


def encode(record: FileRecord) -> bytes:
    """Encode a record as bytes, without the fields of `FileStat`."""
    extract = record.extract
    header = _ENCODER.encode(
        {
            "language": extract.language,
            "package": extract.package,
            "errors": extract.has_errors,
            "lost": extract.lost_lines,
            "limit": extract.limit,
            "generated": record.generated,
            "lines": record.lines,
            "symbols": extract.symbols,
            "calls": extract.calls,
            "imports": extract.imports,
            "bases": extract.bases,
            "types": [item.row() for item in extract.types],
            "stored": [item.row() for item in extract.stored],
            "lambdas": extract.lambdas,
            "claims": extract.claims,
            "registered": extract.registered,
            "flow": len(extract.flow),
            "marks": len(extract.marks),
            "chunks": extract.chunks,
            "words": "\n".join(record.words),
            "bags": record.bag_sizes,
        }
    ).encode("ascii")
    numbers = record.digests, record.bag_words, record.bag_counts
    parts = [len(header).to_bytes(4, "little"), header, *numbers, extract.flow, extract.marks]
    return zlib.compress(b"".join(parts), 1)


def decode(data: bytes, stat: FileStat) -> FileRecord:
    """The record that `encode` has encoded; its other fields are taken from `stat`.

    Raises:
        ValueError: The bytes are not what `encode` made.
    """
    try:
        return _decode(data, stat)
    except (zlib.error, AttributeError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise ValueError(f"not a record: {error}") from error


def _values(kind: type[_T], rows: list[list[Any]]) -> tuple[_T, ...]:
    """Make named tuples of the class `kind` from rows of values; `_make` would count each row's fields in Python."""
    if not {len(kind._fields)}.issuperset(map(len, rows)):
        raise ValueError(f"not a record: a {kind.__name__} has other fields")
    return tuple(map(tuple.__new__, repeat(kind), rows))


def _decode(data: bytes, stat: FileStat) -> FileRecord:
    inflate = zlib.decompressobj()
    plain = inflate.decompress(data, _MAX_BYTES)
    if not inflate.eof:
        raise ValueError("the record is cut off")
    length = int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4 : 4 + length])
    chunks = _values(Chunk, header["chunks"])
    sizes = tuple(header["bags"])
    digests = 4 + length
    words = digests + 8 * len(chunks)
    counts = words + 4 * sum(sizes)
    flow = counts + 4 * sum(sizes)
    marks = flow + header["flow"]
    sizes_fit = min(header["flow"], header["marks"], *sizes) >= 0 and len(sizes) == len(chunks)
    if len(plain) != marks + header["marks"] or not sizes_fit:
        raise ValueError("the record is damaged: its parts do not fit together")
    return FileRecord(
        path=stat.path,
        size=stat.size,
        mtime_ns=stat.mtime_ns,
        sha=stat.sha,
        lines=header["lines"],
        extract=Extract(
            language=header["language"],
            package=header["package"],
            symbols=_values(Symbol, header["symbols"]),
            calls=_values(Call, header["calls"]),
            imports=_values(Import, header["imports"]),
            bases=_values(Base, header["bases"]),
            types=tuple([typed_of(*row) for row in header["types"]]),
            stored=tuple([stored_of(*row) for row in header["stored"]]),
            lambdas=_values(Lambda, header["lambdas"]),
            claims=_values(Claim, header["claims"]),
            registered=_values(Registration, header["registered"]),
            flow=plain[flow:marks],
            marks=plain[marks:],
            chunks=chunks,
            has_errors=header["errors"],
            lost_lines=header["lost"],
            limit=header["limit"],
        ),
        words=tuple(header["words"].split("\n")) if header["words"] else (),
        bag_sizes=sizes,
        bag_words=plain[words:counts],
        bag_counts=plain[counts:flow],
        digests=plain[digests:words],
        generated=header["generated"],
    )
