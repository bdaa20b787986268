"""Reads the definitions and uses of names from a SCIP index, a protobuf file of documents and occurrences.

Field numbers are those of scip.proto: Index.documents = 2; Document.relative_path = 1, occurrences = 2;
Occurrence.range = 1 (0-based lines, packed), symbol = 2, symbol_roles = 3, of which bit 1 is a definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Occurrence(NamedTuple):
    path: str
    line: int  # 1-based
    column: int  # 0-based, in characters
    symbol: str  # a local symbol has the path before it
    definition: bool


def occurrences(file: Path) -> Iterator[Occurrence]:
    """All occurrences of a SCIP index."""
    for number, document in _fields(file.read_bytes()):
        if number != 2 or isinstance(document, int):
            continue
        parts = list(_fields(document))
        path = next(value.decode() for field, value in parts if field == 1 and isinstance(value, bytes))
        for field, value in parts:
            if field == 2 and isinstance(value, bytes):
                yield _occurrence(path, value)


def _occurrence(path: str, data: bytes) -> Occurrence:
    line = column = roles = 0
    symbol = ""
    for field, value in _fields(data):
        if field == 1 and isinstance(value, bytes):
            line, at = _varint(value, 0)
            column, _ = _varint(value, at)
        elif field == 2 and isinstance(value, bytes):
            symbol = value.decode()
        elif field == 3 and isinstance(value, int):
            roles = value
    return Occurrence(
        path, line + 1, column, f"{path} {symbol}" if symbol.startswith("local ") else symbol, bool(roles & 1)
    )


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            number, at = _varint(data, at)
            yield key >> 3, number
            continue
        size = {1: 8, 5: 4}.get(key & 7)
        if size is None:
            size, at = _varint(data, at)
        yield key >> 3, data[at : at + size]
        at += size
