"""What a query shows of the working tree: the right lines, each file read once, and nothing outside the root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py.search.freshness import SourceReader
from lci_py.source.text import digest


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reader")


@given(
    data=st.lists(st.sampled_from([b"", b"a", b"b\r", b"\xff"]), max_size=8).map(b"\n".join),
    asked=st.lists(st.tuples(st.integers(1, 10), st.integers(0, 12)), max_size=4),
    whole=st.booleans(),
)
def test_some_lines_are_those_of_all(root: Path, data: bytes, asked: list[tuple[int, int]], whole: bool) -> None:
    (root / "a").write_bytes(data)
    reader = SourceReader(root)
    if whole:
        assert reader.lines("a") == data.split(b"\n")
    for first, last in asked:
        assert reader.some("a", first, last) == data.split(b"\n")[first - 1 : last]
    assert reader.lines("a") == data.split(b"\n")
    assert reader.digest("a") == digest(data)


def test_a_query_sees_one_content_of_a_file(root: Path) -> None:
    """What is shown is what was hashed; the next query looks again."""
    (root / "b").write_bytes(b"one\ntwo\n")
    reader = SourceReader(root)
    assert reader.some("b", 1, 1) == [b"one"]
    (root / "b").write_bytes(b"three\n")
    assert reader.digest("b") == digest(b"one\ntwo\n") and reader.lines("b") == [b"one", b"two", b""]
    assert reader.some("b", 2, 2) == [b"two"]
    reader.forget()
    assert reader.digest("b") == digest(b"three\n")
    assert reader.lines("b") == [b"three", b""] and reader.some("b", 1, 9) == [b"three", b""]


@pytest.mark.parametrize("path", ["../outside", "in/../../outside", "/etc/passwd", "link", "way/secret", "fifo", "in",
                                  "none", "a\0b", ""])  # fmt: skip
def test_what_is_no_file_of_the_root_is_not_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "way").symlink_to(tmp_path / "away")
    os.mkfifo(root / "fifo")
    reader = SourceReader(root)
    assert reader.read(path) is None and reader.lines(path) is None
    assert reader.digest(path) == "" and reader.some(path, 1, 9) == []
