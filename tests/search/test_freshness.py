"""A query looks at every file of a very large tree, too."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from lci_py.index.shards.files import FileState, FileTable, write_files
from lci_py.search import freshness
from lci_py.search.freshness import Freshness
from lci_py.source.repository.walk import WalkResult


def test_an_edit_in_place_is_seen_among_80_000_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when an editor writes into a file: no folder has another time."""
    known = [FileState(f"{n:05}.c", 10, 20, 30, "00" * 16, n, "") for n in range(80_000)]
    write_files(tmp_path / "files.arrays", known, (), [("", os.stat(tmp_path).st_mtime_ns)], None)
    edited = os.path.join(str(tmp_path), "79999.c")

    def lstat(path: str) -> SimpleNamespace:
        now = 31 if path == edited else 30
        return SimpleNamespace(st_size=10, st_mtime_ns=20, st_ctime_ns=now, st_mode=0o100644)

    monkeypatch.setattr(freshness.os, "lstat", lstat)
    monkeypatch.setattr(freshness, "SWEEP_SECONDS", 60.0)
    table = FileTable(tmp_path / "files.arrays")
    os.utime(tmp_path, ns=(0, table.folders()[0][1]))  # the table itself was written there
    found = Freshness(tmp_path, table, lambda _path: b"other", WalkResult).sweep()
    assert (found.stale, found.unchecked) == (("79999.c",), 0)
