"""A file's record as bytes: decoding restores it, and damaged bytes raise one type of error."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.source.file_record import FileRecord, process_stages
from lci_py.source.record_codec import FileStat, decode, encode
from lci_py.types.record import replace
from lci_py.types.search import KINDS
from lci_py.types.source import Base, Call, Chunk, Extract, FileEntry, Import, Symbol

TEXT = st.text(st.characters(), max_size=8)
WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
NUMBER = st.integers(0, 2**31 - 1)
INDEX = st.integers(-1, 9)
PLACE = FileStat("a/b.py", 12, 34, "0" * 32)
SYMBOLS = st.builds(
    Symbol, TEXT, TEXT, st.sampled_from(sorted(KINDS)), INDEX, TEXT, TEXT, TEXT, st.booleans(), NUMBER, NUMBER, NUMBER,
    st.none() | TEXT, st.integers(-1, 65535),
)  # fmt: skip


def few(kind: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(kind, max_size=3).map(tuple)


def packed(values: list[int]) -> bytes:
    return array("i", values).tobytes()


@st.composite
def records(draw: st.DrawFn) -> FileRecord:
    texts = draw(st.sampled_from([TEXT, st.just("")]))
    chunks = draw(few(st.builds(Chunk, INDEX, NUMBER, NUMBER, texts)))
    bags = [draw(st.lists(NUMBER, max_size=4)) for _ in chunks]
    found = Extract(
        language=draw(TEXT),
        package=draw(TEXT),
        symbols=draw(few(SYMBOLS)),
        calls=draw(few(st.builds(Call, TEXT, TEXT, NUMBER, INDEX, st.integers(-2, 9)))),
        imports=draw(few(st.builds(Import, TEXT, TEXT, TEXT, NUMBER))),
        bases=draw(few(st.builds(Base, NUMBER, TEXT))),
        chunks=chunks,
        has_errors=draw(st.booleans()),
        lost_lines=draw(st.integers(0, 9)),
        limit=draw(st.sampled_from(["", "too_deep"])),
        flow=draw(st.binary(max_size=4)),
        marks=draw(st.binary(max_size=4)),
    )
    return FileRecord(
        PLACE.path, PLACE.size, PLACE.mtime_ns, PLACE.sha, draw(NUMBER), found,
        words=draw(few(WORDS)),
        bag_sizes=tuple(map(len, bags)),
        bag_words=packed([number for bag in bags for number in bag]),
        bag_counts=packed([number for bag in bags for number in bag[::-1]]),
        digests=draw(st.binary(min_size=8 * len(chunks), max_size=8 * len(chunks))),
    )  # fmt: skip


@given(records())
def test_a_record_comes_back(record: FileRecord) -> None:
    assert decode(encode(record), PLACE) == record


@given(records())
def test_where_a_file_lies_is_not_part_of_it(record: FileRecord) -> None:
    moved = replace(record, path="elsewhere.py", mtime_ns=5, sha="f" * 32, size=7)
    assert encode(moved) == encode(record)
    assert decode(encode(record), FileStat("elsewhere.py", 7, 5, "f" * 32)) == moved


def test_a_record_of_a_real_file() -> None:
    data = (
        b'import os\n\n\nclass A(B):\n    """Doc \xe2\x82\xac."""\n\n    def f(self):\n        return os.path.join(1)\n'
    )
    for texts in (False, True):
        *_, record = process_stages(FileEntry("a.py", len(data), 3), data, "python", texts=texts)
        assert record.extract.symbols and record.extract.calls and record.extract.bases and record.bag_sizes
        place = FileStat("a.py", len(data), 3, record.sha)
        assert decode(encode(record), place) == record


@given(records(), st.data())
def test_damaged_bytes_are_no_record(record: FileRecord, data: st.DataObject) -> None:
    body = bytearray(encode(record))
    how = data.draw(st.sampled_from(["flip", "cut", "noise"]))
    if how == "flip":
        body[data.draw(st.integers(0, len(body) - 1))] ^= data.draw(st.integers(1, 255))
    elif how == "cut":
        del body[data.draw(st.integers(0, len(body) - 1)) :]
    else:
        body = bytearray(data.draw(st.binary(max_size=50)))
    with pytest.raises(ValueError):
        assert decode(bytes(body), PLACE) == record  # a flipped bit that zlib does not read changes nothing
        raise ValueError


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(records(), st.data())
def test_what_is_compressed_well_may_still_be_wrong(record: FileRecord, data: st.DataObject) -> None:
    """Bytes as another program might write them: one type of error, or some record."""
    plain = zlib.decompress(encode(record))
    length = int.from_bytes(plain[:4], "little")
    header, rest = json.loads(plain[4 : 4 + length]), plain[4 + length :]
    name = data.draw(st.sampled_from([*header, "", "none"]))
    if name == "none":
        header = data.draw(JSON)
    elif name:
        header[name] = data.draw(JSON)
    else:
        rest = data.draw(st.binary(max_size=30))
    text = json.dumps(header).encode()
    size = data.draw(st.sampled_from([len(text), len(text) - 1, 0, 2**32 - 1]))
    try:
        decode(zlib.compress(size.to_bytes(4, "little") + text + rest), PLACE)
    except ValueError:
        pass


@pytest.mark.parametrize("change", [lambda plain: plain[:-1], lambda plain: plain + b"\0" * 4])
def test_parts_that_do_not_fit_together(change: Callable[[bytes], bytes]) -> None:
    data = b"def f():\n    return 1\n"
    *_, record = process_stages(FileEntry("a.py", len(data), 3), data, "python")
    plain = zlib.decompress(encode(record))
    with pytest.raises(ValueError):
        decode(zlib.compress(change(plain)), PLACE)


@pytest.mark.parametrize("depth", [10_000, 200_000])
def test_a_header_without_end(depth: int) -> None:
    text = b"[" * depth
    with pytest.raises(ValueError):
        decode(zlib.compress(len(text).to_bytes(4, "little") + text), PLACE)
