"""A file's record as bytes: how it is sent from a worker to the index, and stored in the cache.

A zlib stream over the length of a JSON header (four bytes, little-endian), the header, three runs of numbers (the
digests of the chunks' lines, 8 bytes each, the chunks' words and their counts, int32), the constraints of
`source.dataflow.constraints`, and the marks of `source.extract.marks`. It does not contain the path or the times: the
same content under another name has the same bytes.
"""

from __future__ import annotations

import json
import zlib
from itertools import accumulate, pairwise

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

#: Changes when the bytes change their meaning; part of the cache's keys.
VERSION = 21
#: Bound on the decompressed size: files have a size limit, and a record is at most a few times its file.
_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Place:
    """The fields of a record that its bytes leave out."""

    path: str
    size: int
    mtime_ns: int
    sha: str


def encode(record: FileRecord) -> bytes:
    """The bytes of a record, without the fields of `Place`."""
    found = record.extract
    header = json.dumps(
        {
            "language": found.language,
            "package": found.package,
            "errors": found.has_errors,
            "lost": found.lost_lines,
            "limit": found.limit,
            "generated": record.generated,
            "lines": record.lines,
            "symbols": found.symbols,
            "calls": found.calls,
            "imports": found.imports,
            "bases": found.bases,
            "types": [item.row() for item in found.types],
            "stored": [item.row() for item in found.stored],
            "lambdas": found.lambdas,
            "claims": found.claims,
            "registered": found.registered,
            "flow": len(found.flow),
            "marks": len(found.marks),
            "chunks": [(chunk.symbol, chunk.line, chunk.end_line) for chunk in found.chunks],
            "texts": [chunk.text for chunk in found.chunks] if any(chunk.text for chunk in found.chunks) else None,
            "words": record.words,
            "bags": [len(ids) for ids, _ in record.bags],
        },
        separators=(",", ":"),
        check_circular=False,
    ).encode("ascii")
    parts = [len(header).to_bytes(4, "little"), header, *record.digests]
    parts += [ids for ids, _ in record.bags]
    parts += [counts for _, counts in record.bags]
    parts += [found.flow, found.marks]
    return zlib.compress(b"".join(parts), 1)


def decode(data: bytes, place: Place) -> FileRecord:
    """The inverse of `encode`, for a file at a place.

    Raises:
        ValueError: The bytes are not what `encode` made.
    """
    try:
        return _decode(data, place)
    except (zlib.error, TypeError, KeyError, IndexError, RecursionError) as error:
        raise ValueError(f"not a record: {error}") from error


def _decode(data: bytes, place: Place) -> FileRecord:
    inflate = zlib.decompressobj()
    plain = inflate.decompress(data, _MAX_BYTES)
    if not inflate.eof:
        raise ValueError("not a record: cut off")
    length = int.from_bytes(plain[:4], "little")
    header = json.loads(plain[4 : 4 + length])
    texts = header["texts"] or [""] * len(header["chunks"])
    rows = zip(header["chunks"], texts, strict=True)
    chunks = tuple(Chunk(symbol, line, end_line, text) for (symbol, line, end_line), text in rows)
    ends = list(accumulate(header["bags"], initial=0))
    digests = 4 + length
    ids = digests + 8 * len(chunks)
    counts = ids + ends[-1]
    flow = counts + ends[-1]
    marks = flow + header["flow"]
    sizes_fit = min(header["flow"], header["marks"]) >= 0 and len(header["bags"]) == len(chunks)
    if len(plain) != marks + header["marks"] or not sizes_fit:
        raise ValueError("not a record: its parts do not fit together")
    spans = list(pairwise(ends))
    return FileRecord(
        path=place.path,
        size=place.size,
        mtime_ns=place.mtime_ns,
        sha=place.sha,
        lines=header["lines"],
        extract=Extract(
            language=header["language"],
            package=header["package"],
            symbols=tuple(map(Symbol._make, header["symbols"])),
            calls=tuple(map(Call._make, header["calls"])),
            imports=tuple(map(Import._make, header["imports"])),
            bases=tuple(map(Base._make, header["bases"])),
            types=tuple([typed_of(*row) for row in header["types"]]),
            stored=tuple([stored_of(*row) for row in header["stored"]]),
            lambdas=tuple(map(Lambda._make, header["lambdas"])),
            claims=tuple(map(Claim._make, header["claims"])),
            registered=tuple(map(Registration._make, header["registered"])),
            flow=plain[flow:marks],
            marks=plain[marks:],
            chunks=chunks,
            has_errors=header["errors"],
            lost_lines=header["lost"],
            limit=header["limit"],
        ),
        words=tuple(header["words"]),
        bags=tuple((plain[ids + a : ids + b], plain[counts + a : counts + b]) for a, b in spans),
        digests=tuple(plain[digests + 8 * i : digests + 8 * i + 8] for i in range(len(chunks))),
        generated=header["generated"],
    )
