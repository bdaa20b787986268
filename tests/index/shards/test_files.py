"""The table of files is read as it was written, and refused if its arrays do not fit together."""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lci_py import app
from lci_py.errors import DamagedIndexError, LciError
from lci_py.index.build.changes import settled_mtime, settled_ns
from lci_py.index.shards.arrays import Arrays, append_sums, write_arrays
from lci_py.index.shards.files import UNSETTLED, FileState, FileTable, write_files
from lci_py.index.store import manifest as manifests
from lci_py.index.store.manifest import MANIFEST, read_manifest, shard_digest
from lci_py.index.store.seal import seal
from lci_py.types.search import MODES, SearchRequest
from lci_py.types.source import FileEntry, Skip

PATHS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
STAMP = st.integers(-2, 2**62)
KNOWN = st.builds(
    FileState,
    path=PATHS,
    size=st.integers(0, 2**40),
    mtime_ns=STAMP,
    ctime_ns=STAMP,
    sha=st.binary(min_size=16, max_size=16).map(bytes.hex),
    slot=st.integers(-1, 2**31 - 1),
    reason=st.sampled_from(["", "binary", "too_deep", "vanished"]),
    key=st.binary(min_size=16, max_size=16),
)


@given(
    st.lists(KNOWN, unique_by=lambda item: item.path, max_size=8),
    st.lists(st.builds(Skip, PATHS, st.sampled_from(["ignored", "hidden"])), max_size=4),
    st.lists(st.tuples(PATHS, STAMP), unique_by=lambda item: item[0], max_size=4),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    known: list[FileState],
    skipped: list[Skip],
    folders: list[tuple[str, int]],
) -> None:
    path = tmp_path_factory.getbasetemp() / "files.arrays"
    known.sort(key=lambda item: item.path)
    write_files(path, known, skipped, folders, None)
    table = FileTable(path)
    assert table.states() == known and len(table) == len(known)
    assert table.paths() == [item.path for item in known]
    assert [*zip(*table.stat_columns(), strict=True)] == [(item.size, item.mtime_ns, item.ctime_ns) for item in known]
    assert table.skipped() == skipped
    assert table.folders() == sorted(folders)
    assert table.maps() is None


# --- arrays in a file ---------------------------------------------------------------------------------------------


def test_arrays_come_back(tmp_path: Path) -> None:
    written: dict[str, Any] = {
        "bytes": b"abc",
        "none": b"",
        "empty": array("q"),
        "int64": array("q", [-(2**63), 2**63 - 1]),
        "int32": np.array([1, -2, 3], np.int32),
        "every second": np.arange(10, dtype=np.uint16)[::2],
        "big-endian": np.array([1, 2], ">i4"),
        "float32": np.array([0.5, np.inf], np.float32),
    }
    write_arrays(tmp_path / "a.arrays", written)
    arrays = Arrays(tmp_path / "a.arrays")
    kinds = {"bytes": "u1", "none": "u1", "empty": "i8", "int64": "i8", "every second": "u2", "float32": "f4"}
    for name, values in written.items():
        found = arrays.array(name, kinds.get(name, "i4"))
        assert found.tolist() == (list(values) if isinstance(values, (bytes, array)) else values.tolist())
        assert arrays.view(name, kinds.get(name, "i4")).tolist() == found.tolist()
        assert not len(found) or not found.flags.writeable
    for name, kind in [("int32", "i8"), ("int32", "u1"), ("unknown", "u1")]:
        with pytest.raises(DamagedIndexError):
            arrays.view(name, kind)
    for wrong in (np.zeros((2, 2), np.int32), np.zeros(2, np.float64), np.array(["a"])):
        with pytest.raises(TypeError):
            write_arrays(tmp_path / "b.arrays", {"x": wrong})


def test_the_same_arrays_are_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_arrays(tmp_path / name, {"x": np.arange(5, dtype=np.int32), "y": b"abc"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


HEADERS: dict[str, Any] = {
    "a list": [],
    "an entry that is none": {"x": 5},
    "too short": {"x": ["i4", 0]},
    "another type": {"x": ["i3", 0, 1]},
    "an object": {"x": [{}, 0, 1]},
    "before the file": {"x": ["u1", -64, 1]},
    "behind the file": {"x": ["u1", 0, 10**6]},
    "far behind the file": {"x": ["i8", 0, 10**30]},
    "fewer than none": {"x": ["u1", 0, -1]},
    "between two numbers": {"x": ["i4", 2, 1]},
    "a fraction": {"x": ["u1", 0.5, 1]},
}


def with_header(path: Path, text: bytes, length: int | None = None) -> None:
    from lci_py.index.shards.arrays import MAGIC

    size = len(text) if length is None else length
    path.write_bytes(MAGIC + size.to_bytes(8, "little") + text + bytes(4096))
    append_sums(path)


@pytest.mark.parametrize("header", HEADERS.values(), ids=list(HEADERS))
def test_a_header_that_leads_out_of_the_file(tmp_path: Path, header: Any) -> None:
    with_header(tmp_path / "x.arrays", json.dumps(header).encode())
    with pytest.raises(DamagedIndexError):
        Arrays(tmp_path / "x.arrays")


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 9_000, b"9" * 5_000, b'{"x":["u1",0,' + b"9" * 5_000])
def test_a_header_that_is_no_json(tmp_path: Path, text: bytes) -> None:
    with_header(tmp_path / "x.arrays", text)
    with pytest.raises(DamagedIndexError):
        Arrays(tmp_path / "x.arrays")


@pytest.mark.parametrize("length", [2**63, 2**20 + 1, 4097])
def test_a_header_that_is_longer_than_the_file(tmp_path: Path, length: int) -> None:
    with_header(tmp_path / "x.arrays", b"{}", length)
    with pytest.raises(DamagedIndexError):
        Arrays(tmp_path / "x.arrays")


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.touch])
def test_what_is_no_file_of_arrays(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x.arrays")
    with pytest.raises(DamagedIndexError):
        Arrays(tmp_path / "x.arrays")


# --- times --------------------------------------------------------------------------------------------------------

NOW, SECOND, MS = 1_700_000_000_123_456_789, 10**9, 10**6


@pytest.mark.parametrize(
    ("mtime", "ctime", "settled"),
    [
        (NOW - 30 * MS, NOW - 30 * MS, True),
        (NOW - 10 * MS, NOW - 30 * MS, False),
        (NOW - 30 * MS, NOW - 10 * MS, False),
        (NOW + SECOND, NOW - SECOND, False),  # a clock that runs ahead
        (NOW // SECOND * SECOND - 100 * SECOND, NOW - 30 * MS, True),  # set to a whole second, as from an archive
        (NOW // SECOND * SECOND - SECOND, NOW // SECOND * SECOND - SECOND, False),  # a clock of whole seconds
        (NOW // SECOND * SECOND - 3 * SECOND, NOW // SECOND * SECOND - 3 * SECOND, True),
    ],
)
def test_which_times_are_believed(mtime: int, ctime: int, settled: bool) -> None:
    assert settled_ns(FileEntry("a", 1, mtime, ctime), NOW) == (mtime if settled else -1)
    if mtime == ctime:
        assert settled_mtime(mtime, NOW) == (mtime if settled else UNSETTLED)


# --- an index whose numbers lie -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of several segments, with dead files, skipped files and edges."""
    root = tmp_path_factory.mktemp("healthy") / "repo"
    root.mkdir()
    (root / ".lci.toml").write_text("segment_chunks = 4\n")
    for number in range(5):
        (root / f"f{number}.py").write_text(
            f"import f{(number + 1) % 5}\n\n\nclass C{number}:\n    def read_{number}(self):\n        return purge()\n\n\n"
            f"def purge():\n    return f{(number + 1) % 5}.purge()\n"
        )
    (root / "data.bin").write_bytes(b"\0")
    app.build_index(str(root), jobs=1)
    (root / "f0.py").write_text("def other():\n    return 1\n")
    app.build_index(str(root), jobs=1)
    assert len(read_manifest(root / ".lci").segments) > 2
    return root


def replace_shard(root: Path, role: str, change: Callable[[Path], None], segment: int | None = None) -> None:
    """Change a shard, and the manifest with it, as who made the index could have."""
    path = root / ".lci" / MANIFEST
    data = json.loads(path.read_text())
    table = data["shards"] if segment is None else data["segments"][segment]["shards"]
    shard = root / ".lci" / table[role]["name"]
    change(shard)
    now = shard.stat()
    table[role].update(
        bytes=now.st_size, sha=shard_digest(shard), mtime_ns=now.st_mtime_ns, ctime_ns=now.st_ctime_ns
    )  # fmt: skip
    for other in [data["shards"], *(part["shards"] for part in data["segments"])]:  # copied: other times
        for item in other.values():
            now = (root / ".lci" / item["name"]).stat()
            item.update(mtime_ns=now.st_mtime_ns, ctime_ns=now.st_ctime_ns)
    del data["digest"], data["seal"]
    data["seal"] = seal(manifests.canonical(data))
    path.write_text(json.dumps({**data, "digest": manifests._own_digest(data)}))


def stored(path: Path) -> dict[str, Any]:
    arrays = Arrays(path)
    return {name: arrays.array(name, kind).copy() for name, (kind, _, _) in arrays._table.items()}


LIES: dict[str, Callable[[Any], Any]] = {
    "one less": lambda values: values[:-1],
    "none": lambda values: values[:0],
    "one more": lambda values: np.concatenate([values, values[-1:]]),
    "backwards": lambda values: values[::-1],
    "zeros": lambda values: values * 0,
    "largest": lambda values: np.full(len(values), np.iinfo(values.dtype).max, values.dtype),
    "smallest": lambda values: np.full(len(values), np.iinfo(values.dtype).min, values.dtype),
    "shifted": lambda values: values + 1,
}


def use(root: Path) -> list[LciError]:
    """Everything that reads an index; the errors that a user would see."""
    errors = []

    def attempt(what: Callable[[], object]) -> None:
        try:
            what()
        except LciError as error:
            errors.append(error)

    def ask() -> None:
        with app.open_engine(str(root), refresh="never") as session:
            for mode in MODES:
                query = "kind:function" if mode == "symbolic" else "purge read"
                attempt(lambda query=query, mode=mode: session.search(SearchRequest(query, mode, 50)))
            attempt(lambda: session.search(SearchRequest('"return" purge', "bm25", 50, conflicts=True)))

    attempt(ask)
    attempt(lambda: app.status(str(root)))
    return errors


ARRAYS = [
    "paths", "paths_offsets", "sizes", "mtimes", "ctimes", "shas", "keys", "slots", "reasons", "reason_names",
    "folders", "folders_offsets", "folder_mtimes", "skipped", "skipped_offsets",
    "files_public", "files_slot", "symbols_sizes", "units_sizes", "chunks_sizes",
]  # fmt: skip


def test_the_arrays_are_all_there_are(healthy: Path) -> None:
    shard = healthy / ".lci" / read_manifest(healthy / ".lci").shards["files"].name
    assert sorted(stored(shard)) == sorted(ARRAYS)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_table_that_lies_is_an_error_or_an_answer(healthy: Path, tmp_path: Path, name: str) -> None:
    # A third of the lies for each array, so that each lie is told of a third of them: a lie costs a copy and a build.
    told = list(LIES.items())[ARRAYS.index(name) % 3 :: 3]
    for number, (what, lie) in enumerate(told):
        root = Path(shutil.copytree(healthy, tmp_path / str(number)))

        def change(path: Path, lie: Callable[[Any], Any] = lie) -> None:
            arrays = stored(path)
            arrays[name] = np.ascontiguousarray(lie(arrays[name]))
            write_arrays(path, arrays)

        replace_shard(root, "files", change)
        for error in use(root):
            assert error.exit_code == 3, (what, error)
        built = app.build_index(str(root), jobs=1)  # it may believe the lie, but does not fail
        assert built.files == 5, what
        shutil.rmtree(root)
