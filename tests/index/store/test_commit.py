"""The index folder: with damaged or foreign files there is an answer or a typed error, and a writer loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import (
    DamagedIndexError,
    ForeignFolderError,
    IndexError_,
    IndexWriteError,
    LciError,
    NoIndexError,
    ShardVersionError,
    WrongRootError,
)
from lci_py.index.store import commit, manifest as manifests
from lci_py.index.store.manifest import FORMAT, MANIFEST, OpenIndex, read_manifest
from lci_py.index.store.seal import seal
from lci_py.types.record import replace
from lci_py.types.search import MODES, Filters, SearchRequest
from tests.conftest import PROJECT, Ran
from tests.support.envelopes import envelope
from tests.support.waiting import PATIENCE
from tests.support.zygote import start

SOURCES = {
    "api/server.py": "def remove_expired_sessions(now):\n    return purge(now)\n\ndef purge(now):\n    pass\n",
    "api/client.js": "export class Client {\n  connect(host) {\n    return open(host)\n  }\n}\n",
    "README.md": "# Sessions\n\nExpired sessions are removed every minute.\n",
}
QUERY = "remove expired sessions"


def write(root: Path, sources: dict[str, str] = SOURCES) -> Path:
    for name, text in sources.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write(tmp_path_factory.mktemp("healthy"))
    app.build_index(str(root), jobs=1)
    return root


@pytest.fixture
def copy(healthy: Path, tmp_path: Path) -> Path:
    """A repository with its index, to be damaged. Modification times are kept."""
    return Path(shutil.copytree(healthy, tmp_path / "repo"))


def request(mode: str) -> SearchRequest:
    if mode == "symbolic":
        return SearchRequest("", mode, filters=Filters(kind=("function", "method")))
    return SearchRequest(QUERY, mode)  # type: ignore[arg-type]


def answer(root: Path, mode: str) -> dict[str, Any]:
    with app.open_engine(str(root), refresh="never") as session:  # where the manifest is gone, none is made
        found = envelope(session.search(request(mode)))
    del found["index"]
    return found


@pytest.fixture(scope="module")
def expected(healthy: Path) -> dict[str, dict[str, Any]]:
    return {mode: answer(healthy, mode) for mode in MODES}


def index_files(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in (root / ".lci").rglob("*") if path.is_file())


def shard_names(root: Path) -> set[str]:
    return {shard.name for _, shard in read_manifest(root / ".lci").all_shards()}


def snapshot(root: Path) -> dict[str, tuple[int, int]]:
    return {name: (os.stat(root / name).st_ino, os.stat(root / name).st_mtime_ns) for name in index_files(root)}


# --- damage -------------------------------------------------------------------------------------------------------


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x5A
    path.write_bytes(data)


def _flip_head(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[min(9, len(data) - 1)] ^= 0xFF
    path.write_bytes(data)


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def _to_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "flip": _flip,
    "flip_head": _flip_head,
    "truncate": _truncate,
    "empty": lambda path: path.write_bytes(b""),
    "grow": lambda path: path.write_bytes(path.read_bytes() + b"\0" * 4096),
    "garbage": lambda path: path.write_bytes(os.urandom(path.stat().st_size)),
    "delete": Path.unlink,
    "link": _link,
    "fifo": _to_fifo,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_answers_rightly_or_says_so(
    healthy: Path, tmp_path: Path, expected: dict[str, Any], damage: str
) -> None:
    caught = 0
    for number, name in enumerate(index_files(healthy)):
        if name.endswith((".gitignore", "write.lock")) or not os.stat(healthy / name).st_size:
            continue
        root = Path(shutil.copytree(healthy, tmp_path / str(number)))
        DAMAGES[damage](root / name)
        for mode in MODES:
            try:
                found = answer(root, mode)
            except LciError as error:
                assert (error.exit_code, bool(error.hint)) == (3, True), (name, mode)
                caught += 1
                continue
            caught += "degraded" in found
            if "degraded" not in found:
                assert found == expected[mode], (name, mode)
        shutil.rmtree(root)
    assert caught >= 15


def test_a_shard_that_is_gone_concerns_only_who_reads_it(copy: Path, expected: dict[str, Any]) -> None:
    for name in (copy / ".lci").glob("dense-*"):
        name.unlink()
    assert answer(copy, "bm25") == expected["bm25"]
    found = answer(copy, "multiview")
    assert [(item["view"], item["failure_mode"]) for item in found["degraded"]] == [("dense", "shard_missing")]
    assert found["results"]
    with pytest.raises(IndexError_) as caught:
        answer(copy, "dense")
    assert caught.value.code == "shard_missing"


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete"])
def test_a_refresh_repairs_a_damaged_index(copy: Path, expected: dict[str, Any], damage: str) -> None:
    for pattern in ("dense-*", "bm25-*", "symbols-*", "files-*", "graph-*"):
        DAMAGES[damage](next((copy / ".lci").glob(pattern)))
    built = app.build_index(str(copy), jobs=1)  # not --full: a refresh must see it by itself
    assert built.changed and built.generation == 2
    assert len(built.warnings) == 1 and built.warnings[0].endswith("rebuilt from nothing")
    assert {mode: answer(copy, mode) for mode in MODES} == expected
    assert not [name for name in os.listdir(copy / ".lci") if name.startswith(("tmp-", "damaged-"))]


def test_an_index_that_was_copied_without_its_times_still_answers(copy: Path, expected: dict[str, Any]) -> None:
    for name in index_files(copy):
        os.utime(copy / name)
    assert {mode: answer(copy, mode) for mode in MODES} == expected


def test_damage_that_leaves_no_trace_in_stat_is_found_by_reading_everything(copy: Path) -> None:
    shard = next((copy / ".lci").glob("dense-*.faiss"))
    before = shard.stat()
    _flip(shard)
    os.utime(shard, ns=(before.st_atime_ns, before.st_mtime_ns))
    with app.open_engine(str(copy)) as session:  # the time of that change cannot be set
        assert [shard.name in problem for problem in session.snapshot.problems(thoroughly=False)] == [True]
    as_if_untouched(copy)
    with app.open_engine(str(copy)) as session:
        assert [shard.name in problem for problem in session.snapshot.problems(thoroughly=True)] == [True]
        assert not session.snapshot.problems(thoroughly=False)
    assert (app.status(str(copy))["health"], app.status(str(copy), check=True)["health"]) == ("ok", "damaged")


@pytest.mark.parametrize("role", ["graph", "files"])
def test_damage_that_a_refresh_meets_on_its_way_is_repaired(copy: Path, expected: dict[str, Any], role: str) -> None:
    shard = next((copy / ".lci").glob(f"{role}-*"))
    data = shard.read_bytes()
    shard.write_bytes(data[: len(data) // 2] + b"\xff" * (len(data) - len(data) // 2))
    as_if_untouched(copy)
    (copy / "more.py").write_text("def more():\n    return purge(1)\n")
    built = app.build_index(str(copy), jobs=1)
    assert (built.generation, built.files) == (2, len(SOURCES) + 1)
    assert "rebuilt from nothing" in built.warnings[0]
    (copy / "more.py").unlink()
    app.build_index(str(copy), jobs=1)
    assert {mode: answer(copy, mode) for mode in MODES} == expected


def test_a_check_lists_all_that_is_wrong(copy: Path, lci: Callable[..., Ran]) -> None:
    for pattern in ("dense-*.faiss", "symbols-*"):
        _flip(next((copy / ".lci").glob(pattern)))
    ran = lci("status", "--json", cwd=copy)
    assert (ran.code, ran.json()["health"], "problems" in ran.json()) == (3, "damaged", False)
    ran = lci("status", "--check", "--json", cwd=copy)
    found = ran.json()
    assert (ran.code, found["health"]) == (3, "damaged")
    assert [len([p for p in found["problems"] if f" {role}-" in p]) for role in ("dense", "symbols", "bm25")] == [
        1,
        1,
        0,
    ]
    ran = lci("status", "--check", cwd=copy)
    assert ran.code == 3 and ran.out.count("does not match its checksum") == 2


# --- the manifest -------------------------------------------------------------------------------------------------


def rewrite(root: Path, **changes: Any) -> None:
    """Change the manifest as somebody would who knows the format, its own checksum and the key included."""
    path = root / ".lci" / MANIFEST
    data = {**json.loads(path.read_text()), **changes}
    del data["digest"], data["seal"]
    data["seal"] = seal(manifests.canonical(data))
    path.write_text(json.dumps({**data, "digest": manifests._own_digest(data)}))


def stored(root: Path) -> dict[str, Any]:
    return json.loads((root / ".lci" / MANIFEST).read_text())


def shard_named(root: Path, name: str) -> dict[str, Any]:
    shards = stored(root)["shards"]
    return {"shards": {**shards, "files": {**shards["files"], "name": name}}}


def segment(root: Path, **changes: Any) -> dict[str, Any]:
    """The only segment, changed: None takes a shard or a count away."""
    (only,) = stored(root)["segments"]
    return {
        "segments": [
            {
                part: {name: value for name, value in {**table, **changes.get(part, {})}.items() if value is not None}
                for part, table in only.items()
            }
        ]
    }


def as_if_untouched(root: Path) -> None:
    """Write the times of changed shards into the manifest."""
    data = stored(root)
    for table in (data["shards"], *(part["shards"] for part in data["segments"])):
        for shard in table.values():
            now = (root / ".lci" / shard["name"]).stat()
            shard.update(mtime_ns=now.st_mtime_ns, ctime_ns=now.st_ctime_ns)
    rewrite(root, shards=data["shards"], segments=data["segments"])


GARBAGE = {
    "empty": b"",
    "no JSON": b"\x00\xff garbage",
    "a list": b"[]",
    "a number": b"1",
    "deep": b"[" * 100_000,
    "a huge number": b"9" * 10_000,
    "huge": b'{"format": 1, "x": "' + b"a" * 5_000_000 + b'"}',
    "not UTF-8": b'{"format": 1, "program": "\xff"}',
    "nothing in it": b'{"format": %d}' % FORMAT,
    "true for one": b'{"format": true}',
}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=list(GARBAGE))
def test_a_manifest_of_garbage_is_a_damaged_index(copy: Path, content: bytes) -> None:
    (copy / ".lci" / MANIFEST).write_bytes(content)
    with pytest.raises((DamagedIndexError, ShardVersionError)):
        app.open_engine(str(copy))


def test_no_flipped_byte_of_a_manifest_is_believed(copy: Path) -> None:
    path = copy / ".lci" / MANIFEST
    before, data = read_manifest(copy / ".lci"), path.read_bytes()
    for position in range(len(data) % 3, len(data), 3):  # a third of them takes three seconds
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        try:
            assert read_manifest(copy / ".lci") == before
        except (DamagedIndexError, ShardVersionError):
            continue


def without(table: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != name}


HOSTILE: dict[str, Callable[[Path], dict[str, Any]]] = {
    "shard above": lambda root: shard_named(root, "../outside"),
    "shard absolute": lambda root: shard_named(root, "/etc/passwd"),
    "shard of another name": lambda root: shard_named(root, MANIFEST),
    "shard number": lambda root: {"shards": {"files": 1}},
    "segment's shard above": lambda root: segment(root, shards={"bm25": {"name": "../x", "bytes": 1, "sha": ""}}),
    "segment's shard of another role": lambda root: segment(
        root, shards={"bm25": stored(root)["segments"][0]["shards"]["dense"]}
    ),
    "segment without symbols": lambda root: segment(root, shards={"symbols": None}),
    "segment without words": lambda root: segment(root, shards={"bm25": None}),
    "segment without a count": lambda root: segment(root, counts={"units": None}),
    "segments number": lambda root: {"segments": 3},
    "segments of numbers": lambda root: {"segments": [3]},
    "segment list": lambda root: {"segments": [[]]},
    "a fraction of a unit": lambda root: segment(root, counts={"units": 1.5}),
    "fewer than no units": lambda root: segment(root, counts={"units": -1}),
    "shards list": lambda root: {"shards": []},
    "no counts": lambda root: {"counts": {}},
    "counts list": lambda root: {"counts": []},
    "negative": lambda root: {"generation": -1},
    "a float": lambda root: {"generation": 1.5},
    "built never": lambda root: {"built_at": "yesterday"},
    "a flag for a text": lambda root: {"branch": True},
    "unknown key": lambda root: {"surprise": 1},
    "more units than memory": lambda root: segment(root, counts={"units": 10**15}),
    "more files than memory": lambda root: segment(root, counts={"files": 10**15}),
    "no word on what waits": lambda root: {"counts": without(stored(root)["counts"], "pending_chunks")},
    "no word on limits": lambda root: {"counts": without(stored(root)["counts"], "limited")},
    "no dimension": lambda root: {"model": without(stored(root)["model"], "dimension")},
    "settings list": lambda root: {"settings": []},
    "a root that is no text": lambda root: {"settings": {"root": 1}},
    "unparsed number": lambda root: {"counts": {**read_manifest(root / ".lci").counts, "unparsed": 7}},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=list(HOSTILE))
def test_a_manifest_that_lies_is_refused(copy: Path, change: Callable[[Path], dict[str, Any]]) -> None:
    rewrite(copy, **change(copy))
    with pytest.raises(DamagedIndexError):
        app.open_engine(str(copy))
    assert app.build_index(str(copy), jobs=1).changed  # and the next run replaces it


def test_a_manifest_or_shard_that_is_a_link_is_refused(copy: Path, tmp_path: Path) -> None:
    index = copy / ".lci"
    shard = next(index.glob("symbols-*"))
    shard.rename(tmp_path / "shard")
    shard.symlink_to(tmp_path / "shard")
    with pytest.raises(DamagedIndexError), app.open_engine(str(copy)) as session:
        session.search(request("symbolic"))
    (index / MANIFEST).rename(tmp_path / "manifest")
    (index / MANIFEST).symlink_to("/dev/zero")
    with pytest.raises(DamagedIndexError):
        app.open_engine(str(copy))


def test_a_newer_format_is_named(copy: Path, lci: Callable[..., Ran]) -> None:
    rewrite(copy, format=99)
    ran = lci("search", "x", "--json", cwd=copy)
    error = ran.json()["error"]
    assert (ran.code, error["code"], ran.err) == (3, "index_version", "")
    assert "99" in error["message"] and "upgrade" in error["hint"]


def test_another_model_is_a_typed_error_in_dense_and_a_degraded_multiview(copy: Path) -> None:
    rewrite(copy, model={**read_manifest(copy / ".lci").model, "sha256": "0" * 64, "name": "other"})
    with pytest.raises(IndexError_) as caught:
        answer(copy, "dense")
    assert (caught.value.code, caught.value.exit_code) == ("model_mismatch", 3)
    assert [item["failure_mode"] for item in answer(copy, "multiview")["degraded"]] == ["model_mismatch"]
    assert answer(copy, "bm25")["results"]


def test_errors_of_an_index_are_one_json_object(copy: Path, tmp_path: Path, lci: Callable[..., Ran]) -> None:
    cases = {"no_index": tmp_path / "none", "index_damaged": copy}
    cases["no_index"].mkdir()
    _flip(next((copy / ".lci").glob("files-*")))
    for code, root in cases.items():
        for command in (["search", "x", "--refresh", "never"], ["def", "x", "--refresh", "never"], ["status"]):
            ran = lci(*command, "--json", "--root", str(root))
            assert set(ran.json()["error"]) == {"code", "message", "hint"}, command
            assert (ran.json()["error"]["code"], ran.code, ran.err) == (code, 3, "")


# --- writing ------------------------------------------------------------------------------------------------------


def test_a_second_run_writes_nothing(copy: Path) -> None:
    first = app.build_index(str(copy), jobs=1)  # a copied file has another change time
    before = snapshot(copy)
    built = app.build_index(str(copy), jobs=1)
    assert (built.changed, built.generation, snapshot(copy)) == (False, first.generation, before)


@pytest.mark.parametrize("where", ["idx", "../outside", "a/b/c"])
def test_an_index_in_another_place(
    copy: Path, monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any], where: str
) -> None:
    shutil.rmtree(copy / ".lci")
    monkeypatch.setenv("LCI_INDEX_DIR", str(copy / where))
    app.build_index(str(copy), jobs=1)
    assert not (copy / ".lci").exists() and (copy / where / MANIFEST).is_file()
    assert {mode: answer(copy, mode) for mode in MODES} == expected
    assert not app.build_index(str(copy), jobs=1).changed  # the index itself is no part of what is indexed


def test_an_index_folder_that_is_a_file(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    write(tmp_path)
    (tmp_path / ".lci").write_text("mine")
    ran = lci("index", "--json", cwd=tmp_path)
    assert (ran.code, ran.json()["error"]["code"]) == (3, "index_write")
    assert (tmp_path / ".lci").read_text() == "mine"
    assert lci("search", "x", "--json", cwd=tmp_path).json()["error"]["code"] == "no_index"


def run_limited(zygote: str | None, root: Path, limit: int) -> Ran:
    """`lci index --full` in a process that can write no file longer than `limit`, as on a disk that is full."""
    if zygote is not None:
        done = start(zygote, ["index", "--full", "--json"], root, limits={"RLIMIT_FSIZE": limit}).outcome()
        assert not done["timed_out"]
        return Ran(done["code"], done["out"], done["err"])
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from lci_py.cli.main import main; raise SystemExit(main(['index', '--full', '--json']))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout, ran.stderr)


@pytest.mark.parametrize("limit", [0, 100, 3000, 20_000])
def test_a_full_disk_leaves_the_old_index(copy: Path, expected: dict[str, Any], limit: int, zygote: str | None) -> None:
    before = snapshot(copy)
    ran = run_limited(zygote, copy, limit)
    assert (ran.code, ran.json()["error"]["code"], ran.err) == (3, "index_write", "")
    assert "previous index is untouched" in ran.json()["error"]["hint"]
    assert {mode: answer(copy, mode) for mode in MODES} == expected
    for name in (".lci/write.lock", ".lci/cache.sqlite"):
        del before[name]
    assert before.items() <= snapshot(copy).items()
    app.build_index(str(copy), full=True, jobs=1)
    assert not list((copy / ".lci").glob("tmp-*"))


def test_a_disk_that_is_full_from_the_start(tmp_path: Path, zygote: str | None) -> None:
    write(tmp_path)
    assert run_limited(zygote, tmp_path, 0).json()["error"]["code"] == "index_write"
    app.build_index(str(tmp_path), jobs=1)
    assert (tmp_path / ".lci" / ".gitignore").read_text().endswith("*\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_two_writers_at_once(copy: Path, lci: Callable[..., Ran], expected: dict[str, Any]) -> None:
    with commit.staging(copy / ".lci"):
        ran = lci("index", "--full", "--json", "--wait", "0", cwd=copy)
        assert (ran.code, ran.json()["error"]["code"]) == (3, "index_write")
        assert f"(process {os.getpid()})" in ran.json()["error"]["message"]
        assert answer(copy, "dense") == expected["dense"]  # a reader needs no lock
    assert lci("index", "--full", "--json", cwd=copy).code == 0


def test_a_writer_that_waited_for_another_takes_the_next_generation(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = commit.staging

    @contextmanager
    def late(index_dir: Path, wait: float) -> Iterator[Path]:
        monkeypatch.setattr(commit, "staging", real)
        assert app.build_index(str(copy), jobs=1, full=True).generation == 2  # between the walk and the lock
        with real(index_dir) as folder:
            yield folder

    monkeypatch.setattr(commit, "staging", late)
    assert app.build_index(str(copy), jobs=1, full=True).generation == 3


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
@pytest.mark.parametrize("name", ["write.lock", ".gitignore"])
def test_a_link_in_the_index_folder_is_not_written_through(tmp_path: Path, name: str) -> None:
    """A clone may bring links along, to any file of the user's."""
    root = write(tmp_path / "repo")
    (root / ".lci").mkdir()
    (root / ".lci" / name).symlink_to(tmp_path / "precious")
    for content in ("", "words"):
        (tmp_path / "precious").write_text(content)
        with suppress(IndexWriteError):
            app.build_index(str(root), jobs=1, full=True)
        assert (tmp_path / "precious").read_text() == content


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_an_index_folder_that_is_a_link_is_not_cleaned_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "repo")
    (tmp_path / "home" / "tmp-precious").mkdir(parents=True)
    (root / ".lci").symlink_to(tmp_path / "home")
    with pytest.raises(IndexWriteError, match="symbolic link"):
        app.build_index(str(root), jobs=1)
    assert os.listdir(tmp_path / "home") == ["tmp-precious"]
    monkeypatch.setenv("LCI_INDEX_DIR", str(root / ".lci"))  # who says so means the folder, if it is free
    with pytest.raises(ForeignFolderError, match="tmp-precious"):
        app.build_index(str(root), jobs=1)
    assert os.listdir(tmp_path / "home") == ["tmp-precious"]
    (tmp_path / "home" / "tmp-precious").rmdir()
    assert app.build_index(str(root), jobs=1).changed


def test_an_index_whose_two_signs_are_damaged_is_repaired(copy: Path) -> None:
    for name in (commit.IGNORE_FILE, MANIFEST):
        (copy / ".lci" / name).write_bytes(b"\x00damaged")
    app.build_index(str(copy), jobs=1)
    assert answer(copy, "symbolic")["results"]


def test_a_degraded_answer_names_the_views_that_answered(copy: Path) -> None:
    next((copy / ".lci").glob("bm25-*")).write_bytes(b"")
    rewrite(copy, model={**read_manifest(copy / ".lci").model, "sha256": "0" * 64})
    degraded = answer(copy, "multiview")["degraded"]
    assert [(item["view"], item["fallback_mode"]) for item in degraded] == [("dense", "symbolic"), ("bm25", "symbolic")]


def test_debris_of_a_killed_writer_goes_with_the_next_one(copy: Path) -> None:
    index = copy / ".lci"
    (index / "tmp-1").mkdir()
    (index / "tmp-1" / "dense.faiss").write_bytes(b"half")
    (index / "tmp-2").write_text("a file")
    (index / "tmp-3").symlink_to(copy)
    (index / ("dense-" + "0" * 16 + ".faiss")).write_bytes(b"published, but never named")
    (index / "notes-of-mine.txt").write_text("kept")
    app.build_index(str(copy), full=True, jobs=1)
    ours = {MANIFEST, "write.lock", ".gitignore", "cache.sqlite"}
    assert set(os.listdir(index)) == shard_names(copy) | ours | {"notes-of-mine.txt"}
    assert (copy / "README.md").is_file()


# --- readers beside a writer ----------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_an_open_session_keeps_its_generation(copy: Path, expected: dict[str, Any]) -> None:
    old = shard_names(copy)
    with app.open_engine(str(copy)) as session:
        session.search(request("symbolic"))  # the other shards are not loaded yet
        (copy / "more.py").write_text("def more(): pass\n")
        assert app.build_index(str(copy), jobs=1).generation == 2
        for mode in ("dense", "bm25"):
            found = envelope(session.search(request(mode)))
            assert found["results"] == expected[mode]["results"]
            assert found["index"]["generation"] == 1
        assert answer(copy, "symbolic")["total"] == expected["symbolic"]["total"] + 1
    (copy / "more.py").unlink()
    app.build_index(str(copy), jobs=1)
    (copy / "other.py").write_text("def other(): pass\n")
    app.build_index(str(copy), jobs=1)
    gone = old - shard_names(copy)  # what holds the same keeps its name
    assert len(gone) > 3 and not gone & set(os.listdir(copy / ".lci"))  # nobody reads them any more


def test_a_reader_that_comes_while_a_writer_publishes_gets_the_new_index(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_manifest(copy / ".lci")
    (copy / "more.py").write_text("def more(): pass\n")
    app.build_index(str(copy), jobs=1)
    stale = [before]
    real = manifests.read_manifest
    monkeypatch.setattr(manifests, "read_manifest", lambda folder, **how: stale.pop() if stale else real(folder, **how))
    opened = OpenIndex(copy / ".lci")
    opened.close()
    assert opened.manifest.generation == 2


def test_the_manifest_survives_its_own_round_trip(copy: Path) -> None:
    before = read_manifest(copy / ".lci")
    (copy / ".lci" / MANIFEST).write_text(replace(before, branch="Größe\u2028\x1b").dumps())
    assert read_manifest(copy / ".lci") == replace(before, branch="Größe\u2028\x1b")


def test_no_index_names_the_folder(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError, match=str(tmp_path)):
        app.open_engine(str(tmp_path), refresh="never")


def test_an_index_folder_elsewhere_belongs_to_one_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(f"def {name}(): pass\n")
    monkeypatch.setenv("LCI_INDEX_DIR", str(tmp_path / "index"))
    app.build_index(str(tmp_path / "one"))
    with pytest.raises(WrongRootError):
        app.build_index(str(tmp_path / "two"))
    with pytest.raises(WrongRootError):
        app.open_engine(str(tmp_path / "two"))
    with app.open_engine(str(tmp_path / "one")) as session:
        assert session.search(SearchRequest("one", "symbolic")).total == 1


def test_a_folder_in_the_place_of_a_file_of_ours_keeps_nobody_from_indexing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def first(): pass\n")
    app.build_index(str(tmp_path))
    for number, name in enumerate((".gitignore", "write.lock", "manifest.json", "cache.sqlite")):
        (tmp_path / ".lci" / name).unlink()
        (tmp_path / ".lci" / name / "deep").mkdir(parents=True)
        (tmp_path / "a.py").write_text(f"def again_{number}(): pass\n")
        assert app.build_index(str(tmp_path)).files == 1
        with app.open_engine(str(tmp_path), refresh="never") as session:
            assert session.snapshot.symbols.paths() == ["a.py"]
    assert (tmp_path / ".lci" / ".gitignore").is_file()


@pytest.mark.parametrize(
    "files", [["manifest.json", "cache.sqlite"], ["notes.txt"], [".gitignore"], ["tmp-1"]], ids=str
)
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, lci: Callable[..., Ran], files: list[str]) -> None:
    root = write(tmp_path / "repo")
    theirs = write(tmp_path / "theirs", dict.fromkeys(files, '{"theirs": true}\n'))
    for command in (["index"], ["index", "--full"], ["hook", "run"]):
        ran = lci(*command, "--root", str(root), "--json", LCI_INDEX_DIR=str(theirs))
        if command[0] == "index":
            assert (ran.code, ran.json()["error"]["code"]) == (3, "foreign_folder")
        assert {path.name: path.read_text() for path in theirs.iterdir()} == dict.fromkeys(files, '{"theirs": true}\n')


@pytest.mark.parametrize("left", [[], ["write.lock"], ["write.lock", ".gitignore"]], ids=str)
def test_an_empty_folder_is_taken_and_so_is_what_a_run_left(tmp_path: Path, left: list[str]) -> None:
    root = write(tmp_path / "repo")
    write(root / ".lci", dict.fromkeys(left, ""))
    (root / ".lci").mkdir(exist_ok=True)
    assert app.build_index(str(root), jobs=1).generation == 1
