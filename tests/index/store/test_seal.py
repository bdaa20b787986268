"""An index is trusted only by the user who made it, on the same machine."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError, TrustKeyError, UntrustedIndexError
from lci_py.index.store import commit, manifest as manifests, seal as seals
from lci_py.index.store.manifest import MANIFEST, read_manifest
from lci_py.types.search import SearchRequest
from tests.conftest import PROJECT, Ran
from tests.support.waiting import PATIENCE


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user who has no key yet."""
    monkeypatch.setenv(seals.CONFIG_VARIABLE, str(tmp_path / "config" / "lci"))
    return tmp_path / "config" / "lci"


# --- the key ------------------------------------------------------------------------------------------------------


def test_a_seal_is_of_one_text_and_one_key(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal = seals.seal(b"text")
    assert seals.is_sealed(b"text", seal)
    assert not seals.is_sealed(b"texT", seal)
    for nonsense in (None, 1, "", "é" * 64, seal[:-1], seal + "0", seal.upper(), [seal]):
        assert not seals.is_sealed(b"text", nonsense)
    monkeypatch.setenv(seals.CONFIG_VARIABLE, str(keys.with_name("other")))
    assert not seals.is_sealed(b"text", seal)
    assert seals.seal(b"text") != seal


def test_looking_makes_no_key(keys: Path) -> None:
    assert not seals.is_sealed(b"text", "0" * 64)
    assert not keys.exists()


def test_the_key_is_private_and_random(keys: Path) -> None:
    before = os.umask(0)
    try:
        key = seals.ensure_key()
    finally:
        os.umask(before)
    assert (len(key), len(set(key)) > 5, seals.ensure_key()) == (32, True, key)
    assert stat.S_IMODE(keys.stat().st_mode) == 0o700
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in keys.iterdir()] == [(seals.KEY_FILE, 0o600)]


def test_the_usual_folder_is_that_of_platformdirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(seals.CONFIG_VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in ("", " ", str(tmp_path / "xdg"), "relative"):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        if value != "relative":  # of no meaning by the XDG specification, whatever platformdirs makes of it
            assert seals.config_folder() == platformdirs.user_config_path("lci")
    assert seals.config_folder() == tmp_path / ".config" / "lci"


def test_two_processes_that_make_the_key_at_once_have_one(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = seals._make
    theirs = []

    def late(folder: int, name: str) -> None:
        monkeypatch.setattr(seals, "_make", real)
        theirs.append(seals.ensure_key())  # another process, after this one has seen that there is none
        real(folder, name)

    monkeypatch.setattr(seals, "_make", late)
    assert [seals.ensure_key()] == theirs
    assert os.listdir(keys) == [seals.KEY_FILE]


def test_many_processes_make_one_key(keys: Path) -> None:
    code = "from lci_py.index.store.seal import ensure_key; print(ensure_key().hex())"
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=PROJECT, text=True) for _ in range(6)
    ]
    assert len({process.communicate(timeout=PATIENCE)[0] for process in started}) == 1
    assert os.listdir(keys) == [seals.KEY_FILE]


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
def test_a_file_system_without_hard_links(keys: Path, monkeypatch: pytest.MonkeyPatch, first: bool) -> None:
    theirs = b"t" * 32

    def link(*_: Any, **__: Any) -> None:
        if not first:
            (keys / seals.KEY_FILE).write_bytes(theirs)
            (keys / seals.KEY_FILE).chmod(0o600)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    assert (seals.ensure_key() == theirs) is not first
    assert os.listdir(keys) == [seals.KEY_FILE]


def _as_link(key: Path) -> None:
    key.rename(key.with_name("elsewhere"))
    key.symlink_to("elsewhere")


def _as_fifo(key: Path) -> None:
    key.unlink()
    os.mkfifo(key, 0o600)


UNFIT: dict[str, Callable[[Path], Any]] = {
    "read by the group": lambda key: key.chmod(0o640),
    "read by others": lambda key: key.chmod(0o604),
    "written by others": lambda key: key.chmod(0o602),
    "short": lambda key: key.write_bytes(b"x" * 31),
    "empty": lambda key: key.write_bytes(b""),
    "long": lambda key: key.write_bytes(b"x" * 33),
    "link": _as_link,
    "dangling link": lambda key: (key.unlink(), key.symlink_to("nowhere")),
    "fifo": _as_fifo,
    "folder": lambda key: (key.unlink(), key.mkdir(0o700)),
    "folder written by the group": lambda key: key.parent.chmod(0o770),
    "folder written by others": lambda key: key.parent.chmod(0o702),
}


@pytest.mark.parametrize("change", UNFIT.values(), ids=list(UNFIT))
def test_a_key_that_somebody_else_may_know_is_refused(keys: Path, change: Callable[[Path], Any]) -> None:
    seal = seals.seal(b"text")
    change(keys / seals.KEY_FILE)
    for use in (lambda: seals.is_sealed(b"text", seal), lambda: seals.seal(b"text"), seals.ensure_key):
        with pytest.raises(TrustKeyError) as caught:
            use()
        assert (caught.value.exit_code, caught.value.code) == (3, "index_key")
        assert str(keys) in caught.value.message and caught.value.hint


def test_a_key_of_another_user_is_refused(keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seals.ensure_key()
    real = os.fstat
    for which in (stat.S_ISREG, stat.S_ISDIR):

        def fstat(handle: int, which: Callable[[int], bool] = which) -> os.stat_result:
            info = real(handle)
            return os.stat_result([*info[:4], info.st_uid + 1, *info[5:]]) if which(info.st_mode) else info

        monkeypatch.setattr(os, "fstat", fstat)
        with pytest.raises(TrustKeyError, match="another user"):
            seals.ensure_key()


def test_no_key_can_be_made(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    """Of a home that cannot be written: a file stands in for it, which stops root as well."""
    (tmp_path / "home").write_text("")
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text("def a(): pass\n")
    ran = lci("index", "--json", cwd=tmp_path / "repo", LCI_CONFIG_DIR=str(tmp_path / "home" / "lci"))
    error = ran.json()["error"]
    assert (ran.code, error["code"]) == (3, "index_key")
    assert "LCI_CONFIG_DIR" in error["hint"]
    assert not (tmp_path / "repo" / ".lci").exists()
    assert lci("index", "--json", cwd=tmp_path / "repo", LCI_CONFIG_DIR="here").json()["error"]["code"] == "index_key"


# --- an index of somebody else ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with an index that lies about a function."""
    root = tmp_path_factory.mktemp("theirs") / "repo"
    root.mkdir()
    (root / "a.py").write_text("def planted(): pass\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(seals.CONFIG_VARIABLE, str(root.parent / "their keys"))
        app.build_index(str(root), jobs=1)
    before = (root / "a.py").stat()
    (root / "a.py").write_text("def genuine(): pass\n")  # of the same size and time: only a rebuild finds it
    os.utime(root / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    return root


@pytest.fixture
def clone(theirs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(theirs, tmp_path / "repo"))


def names(root: Path, **how: Any) -> list[str | None]:
    with app.open_engine(str(root), **how) as session:
        return [result.symbol for result in session.search(SearchRequest("kind:function", "symbolic")).results]


def test_an_index_of_somebody_else_is_refused(clone: Path, lci: Callable[..., Ran]) -> None:
    with pytest.raises(UntrustedIndexError):
        app.open_engine(str(clone))
    for command in (["search", "x"], ["search", "--kind", "class"], ["def", "x"], ["status"]):
        ran = lci(*command, "--json", cwd=clone)
        error = ran.json()["error"]
        assert (ran.code, error["code"]) == (3, "index_untrusted")
        assert "lci index" in error["hint"] and "--trust-index" in error["hint"]


def test_it_is_read_for_one_run_when_told_to(
    clone: Path, lci: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A definition is looked up in the changed file as well.
    for command in (["search", "planted", "-m", "bm25"], ["def", "genuine"], ["status"]):
        assert lci(*command, "--trust-index", cwd=clone).code == 0
        assert lci(*command, cwd=clone, LCI_TRUST_INDEX="1").code == 0
        assert lci(*command, cwd=clone).code == 3
    monkeypatch.setenv(seals.CONFIG_VARIABLE, "/dev/null/nowhere")  # reading needs no key of one's own
    assert names(clone, trust=True) == ["planted"]


def test_an_index_is_rebuilt_from_nothing_and_says_so(clone: Path) -> None:
    (clone / ".lci" / "cache.sqlite").write_text("what they say was parsed")
    before = {path.name for path in (clone / ".lci").glob("*-*")}
    built = app.build_index(str(clone), jobs=1)
    assert (built.changed, built.generation, built.reused_files, built.parsed_files) == (True, 1, 0, 1)
    assert [warning for warning in built.warnings if "not made by you" in warning and "rebuilt" in warning]
    assert names(clone) == ["genuine"]
    assert (clone / ".lci" / "cache.sqlite").read_bytes().startswith(b"SQLite")  # one of this user's
    assert not {path.name for path in (clone / ".lci").glob("symbols-*")} & before
    assert not app.build_index(str(clone), jobs=1).warnings


@pytest.mark.parametrize("manifest", [True, False], ids=["with an index", "alone"])
def test_a_cache_of_somebody_else_is_not_believed(clone: Path, manifest: bool) -> None:
    """Even if it has the wanted record, in the right version."""
    (clone / "a.py").write_text("def planted(): pass\n")
    if not manifest:
        (clone / ".lci" / MANIFEST).unlink()
    for expected in ((0, 1), (1, 0)):
        built = app.build_index(str(clone), jobs=1)
        assert (built.reused_files, built.parsed_files) == expected
        (clone / ".lci" / MANIFEST).unlink()


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_an_index_is_taken_over(clone: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "environment":
        monkeypatch.setenv("LCI_TRUST_INDEX", "1")
    (clone / "a.py").write_text("def planted(): pass\n")
    for path in [*(clone / ".lci").rglob("*-*"), clone / "a.py"]:
        os.utime(path)  # git keeps no times
    built = app.build_index(str(clone), jobs=1, trust=True if how == "flag" else None)
    assert "took over" in built.warnings[0] and built.parsed_files == built.embedded_chunks == 0
    monkeypatch.delenv("LCI_TRUST_INDEX", raising=False)
    assert names(clone) == ["planted"]
    for _, shard in read_manifest(clone / ".lci").all_shards():  # need not be read whole by each query
        now = manifests.shard_state(clone / ".lci" / shard.name)
        assert now == (shard.bytes, shard.mtime_ns, shard.ctime_ns)


def test_what_was_taken_over_and_is_not_so_is_found(clone: Path) -> None:
    """An index may lie about a file. The digest shows it, because the change time of a file cannot be set."""
    app.build_index(str(clone), jobs=1, trust=True)
    assert names(clone) == ["genuine"]


def test_a_damaged_index_is_not_taken_over(clone: Path) -> None:
    """With the size and time that the manifest names: as somebody would who has it and means harm."""
    shard = next((clone / ".lci").glob("symbols-*"))
    before, data = shard.stat(), bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    os.utime(shard, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not commit.adopt(clone / ".lci")
    built = app.build_index(str(clone), jobs=1, trust=True)
    assert built.changed and "damaged" in built.warnings[0]
    assert names(clone) == ["genuine"]


def test_damage_is_told_from_mistrust(clone: Path) -> None:
    path = clone / ".lci" / MANIFEST
    data = json.loads(path.read_text())

    def written(**changes: Any) -> None:
        found = {key: value for key, value in {**data, **changes}.items() if value is not None or key != "seal"}
        found["digest"] = manifests._own_digest({k: v for k, v in found.items() if k != "digest"})
        path.write_text(json.dumps(found))

    for seal in (None, "", 5, "0" * 64, data["seal"]):
        written(seal=seal)
        with pytest.raises(UntrustedIndexError):
            read_manifest(clone / ".lci")
        assert read_manifest(clone / ".lci", trust=True).generation == 1
    path.write_text(path.read_text().replace(data["seal"], data["seal"][::-1]))  # and not the digest over it
    with pytest.raises(DamagedIndexError):
        read_manifest(clone / ".lci")


def test_a_changed_manifest_is_not_the_one_that_was_sealed(tmp_path: Path) -> None:
    """By somebody who can compute the digest but has no key."""
    (tmp_path / "a.py").write_text("def a(): pass\n")
    app.build_index(str(tmp_path), jobs=1)
    path = tmp_path / ".lci" / MANIFEST
    data = json.loads(path.read_text())
    data["counts"]["files"] = 7
    data["digest"] = manifests._own_digest({key: value for key, value in data.items() if key != "digest"})
    path.write_text(json.dumps(data))
    with pytest.raises(UntrustedIndexError):
        read_manifest(tmp_path / ".lci")


# --- an index that is open to others ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_index_that_git_tracks(tmp_path: Path, version: str) -> None:
    def git(*args: str) -> None:
        subprocess.run(["git", *args], cwd=tmp_path, check=True, capture_output=True)

    (tmp_path / "a.py").write_text("def a(): pass\n")
    (tmp_path / ".lcc").write_text("shares the first letters of its name")
    git("init", "-q")
    git("config", "index.version", version)
    git("add", "-f", "a.py", ".lcc")
    if version == "2":
        (tmp_path / "sub" / ".lci").mkdir(parents=True)
        (tmp_path / "sub" / ".lci" / "x.py").write_text("another's, tracked")
        git("add", "-f", "sub")
    assert app.build_index(str(tmp_path), jobs=1).warnings == ()
    assert (app.status(str(tmp_path))["tracked_by_git"], app.status(str(tmp_path))["warnings"]) == (False, [])
    git("add", "-f", ".lci/manifest.json")
    assert "tracked by git" in app.build_index(str(tmp_path), jobs=1).warnings[0]
    status = app.status(str(tmp_path))
    assert status["tracked_by_git"] and "git rm" in status["warnings"][0]


def test_an_index_that_everybody_can_write_to(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n")
    assert app.build_index(str(tmp_path), jobs=1).warnings == ()
    (tmp_path / ".lci").chmod(0o777)
    assert "write" in app.build_index(str(tmp_path), jobs=1).warnings[0]
    assert app.status(str(tmp_path))["warnings"]
