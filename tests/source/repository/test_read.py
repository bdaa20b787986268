"""Reading a file that changes meanwhile."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from lci_py.source.repository import files
from lci_py.source.repository.files import read_file


@pytest.mark.parametrize("size", [0, 1, 4096, 100_000])
def test_the_whole_content(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    (tmp_path / "a").write_bytes(data)
    assert read_file(str(tmp_path), "a") == data


class Slow(io.FileIO):
    """Returns fewer bytes than requested."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(7, 7 if size is None or size < 0 else size)) or b""


@pytest.mark.parametrize("size", [0, 3, 9, 10, 11, 50])
def test_a_file_that_is_not_as_long_as_it_was(tmp_path: Path, size: int) -> None:
    """The file grew or shrank after its size was read."""
    (tmp_path / "a").write_bytes(b"0123456789")
    with io.FileIO(tmp_path / "a") as file:
        assert files._read(file, size) == b"0123456789"


def test_a_system_that_gives_less_than_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789" * 3)
    with Slow(tmp_path / "a") as file:
        assert files._read(file, 30) == b"0123456789" * 3


def test_a_file_that_grows_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MAX_READ", 25)
    (tmp_path / "a").write_bytes(b"0123456789" * 3)
    with io.FileIO(tmp_path / "a") as file:
        assert files._read(file, 10) == b"0123456789012345678901234"
