"""`lci index --branches`: the index has what differs on other branches, after a refresh as after a build."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import DamagedIndexError, UsageError
from lci_py.index.build import branches as branch_build, worker
from lci_py.index.shards.branches import BranchIndex
from lci_py.index.store.manifest import Manifest, read_manifest
from lci_py.search.conflicts.branches import differing, differing_name
from lci_py.types.index import BuildSummary
from tests.conftest import Ran
from tests.support.branch_repo import branch, commit, git, init


def function(name: str, body: str = "1") -> str:
    return f"def {name}():\n    return {body}\n\n\n"


FILES = {
    "a.py": function("one") + function("two"),
    "b.py": function("three"),
    "sub/c.py": function("four") + "LIMIT = 3\n\n\nclass Pool:\n    size = 1\n\n    def close(self):\n        pass\n",
    "same.py": function("five"),
}
CHANGED: dict[str, str | None] = {
    "a.py": function("new") + function("one", "2") + function("two"),
    "b.py": None,
    "sub/c.py": str(FILES["sub/c.py"]).replace("LIMIT = 3", "LIMIT = 4").replace("pass", "return 1"),
    "d.py": function("six") + function("three"),
}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = init(tmp_path_factory.mktemp("committed") / "repo", FILES)
    branch(root, "other", CHANGED)
    return root


@pytest.fixture
def root(committed: Path, tmp_path: Path) -> Path:
    """A git repository with the branches `main` and `other`."""
    root = Path(shutil.copytree(committed, tmp_path / "repo"))
    git(root, "status")  # git's index has the times of the original
    settle(root)
    return root


@pytest.fixture(scope="module")
def written(committed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shard as it was written."""
    root = Path(shutil.copytree(committed, tmp_path_factory.mktemp("written") / "repo"))
    index(root, "other")
    return shard(root)


def settle(root: Path) -> None:
    """Give the files times that are not recent."""
    for path in root.rglob("*.py"):
        os.utime(path, ns=(10**18, 10**18))
    time.sleep(0.03)


def index(root: Path, *branches: str, **how: Any) -> BuildSummary:
    return app.build_index(str(root), jobs=1, branches=branches or how.pop("branches", None), **how)


def found(root: Path, name: str = "other") -> list[str]:
    """What differs, as `NAME here FILE:LINE there FILE:LINE`."""
    with app.open_engine(str(root), refresh="never") as session:
        if session.snapshot.branches is None:
            return []
        return [
            " ".join(
                [str((item.here or item.there or {})["qualified_name"])]
                + [f"{row['file']}:{row['line']}" if row is not None else "-" for row in (item.here, item.there)]
            )
            for item in differing(session.snapshot.branches, session.snapshot.symbols)
            if item.branch == name
        ]


def content(root: Path) -> Any:
    """The content of the shard."""
    with app.open_engine(str(root), refresh="never") as session:
        if session.snapshot.branches is None:
            return None
        names = session.snapshot.branches.names
        rows = [[tuple(row) for row in session.snapshot.branches.rows(name)] for name in names]
        return session.snapshot.branches.tips, session.snapshot.branches.differing(), rows


def as_if_anew(root: Path, tmp_path: Path) -> bool:
    """Whether the index is what a build from nothing makes, byte by byte."""
    shutil.rmtree(tmp_path / "copy", ignore_errors=True)
    copy = shutil.copytree(root, tmp_path / "copy", symlinks=True)
    before = read_manifest(root / ".lci")
    app.build_index(str(copy), jobs=1, full=True)
    after = read_manifest(copy / ".lci")
    shards = [manifest.shards["branches"].name if "branches" in manifest.shards else "" for manifest in (before, after)]
    settings = [manifest.settings.get("branch_tips") for manifest in (before, after)]
    assert (shards[0], settings[0]) == (shards[1], settings[1]), (content(root), content(copy))
    return True


def manifest(root: Path) -> Manifest:
    return read_manifest(root / ".lci")


# --- what is in it ------------------------------------------------------------------------------------------------


def test_what_differs(root: Path) -> None:
    built = index(root, "other")
    assert built.branches == {"other": 4} and built.warnings == ()
    assert found(root) == [
        "one a.py:1 a.py:5",  # changed; `two` has only moved, and so has `three`, to d.py
        "LIMIT sub/c.py:5 sub/c.py:5",
        "Pool.close sub/c.py:11 sub/c.py:11",
        "new - a.py:1",
        "six - d.py:1",
    ]
    with app.open_engine(str(root)) as session:
        assert session.snapshot.branches is not None and session.snapshot.branches.names == ["other"]
        paths = ("a.py", "b.py", "d.py", "same.py", "nothing.py")
        statuses = session.snapshot.branches.statuses_of(paths)
        status = [statuses.get(("other", path)) for path in paths]
        assert status == ["differs", "only_here", "only_there", None, None]
        assert {branch for branch, _ in statuses} == {"other"}
        for name, expected in (("one", 1), ("two", 0), ("three", 0), ("new", 1), ("five", 0), ("nothing", 0)):
            rows = session.snapshot.symbols.same_name(name, "python", 400)
            assert len(differing_name(session.snapshot.branches, name, "python", rows)) == expected, name


def test_only_what_differs_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    real = worker.define_data
    monkeypatch.setattr(worker, "define_data", lambda path, *a, **k: (parsed.append(path), real(path, *a, **k))[1])
    monkeypatch.setattr("lci_py.index.build.worker_pool._FORKS", False)
    branch(root, "again", CHANGED)
    settle(root)
    index(root, "other", "again")
    assert sorted(parsed) == ["a.py", "d.py", "sub/c.py"]  # each once, for two branches
    assert found(root, "other") == found(root, "again") != []
    parsed.clear()
    (root / "a.py").write_text(FILES["a.py"] + "# edited\n")
    index(root)
    assert parsed == []
    assert index(root, "other").branches == {"other": 4} and parsed == []


def test_files_that_are_not_in_git(root: Path) -> None:
    (root / "untracked.py").write_text(function("mine"))
    index(root, "other")
    assert "mine untracked.py:1 -" in found(root)


def test_the_same_rules_as_for_files(root: Path) -> None:
    big = function("big") + "#" * 3_000
    branch(root, "far", {
        "ignored.py": function("ignored"), ".hidden.py": function("hidden"), "left/out.py": function("out"),
        "big.py": big, "made.py": "# Code generated by x. DO NOT EDIT.\n" + function("made"), "data.bin": "\0",
        "long.py": "x = '" + "y" * 30_000 + "'\n" + function("long"), "good.py": function("good"), "same.py": big,
        "a.py": "\0binary\n",
    })  # fmt: skip
    (root / ".gitignore").write_text("ignored.py\n")
    (root / ".lci.toml").write_text('exclude = ["left"]\nmax_file_bytes = 2000\n')
    index(root, "far")
    assert found(root, "far") == ["good - good.py:1"]


def test_what_is_known_in_part_is_not_compared(root: Path) -> None:
    many = "".join(function(f"f{i}") for i in range(30))
    branch(root, "far", {"same.py": many, "more.py": many})
    (root / "here.py").write_text(many)
    (root / ".lci.toml").write_text("max_file_symbols = 20\n")
    index(root, "far")
    assert found(root, "far") == []


def test_other_line_ends_are_no_difference(root: Path) -> None:
    path = root / "a.py"
    path.write_bytes(FILES["a.py"].replace("\n", "\r\n").encode())
    index(root, "other")
    assert found(root)[0] == "one a.py:1 a.py:5"
    git(root, "branch", "twin")
    assert index(root, "twin").branches == {"twin": 0}


def test_a_folder_of_a_repository(root: Path) -> None:
    index(root / "sub", "other")
    assert found(root / "sub") == ["LIMIT c.py:5 c.py:5", "Pool.close c.py:11 c.py:11"]


def test_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text(function("secret"))
    git(root, "checkout", "-q", "-b", "links")
    (root / "a.py").unlink()
    (root / "a.py").symlink_to(tmp_path / "secret.py")
    (root / "l.py").symlink_to(tmp_path / "secret.py")
    commit(root, {})
    git(root, "checkout", "-q", "main")
    (root / "d.py").symlink_to(tmp_path / "secret.py")
    assert index(root, "links", "other").branches == {"links": 0, "other": 3}
    assert found(root, "links") == [] and not [line for line in found(root) if "d.py" in line or "secret" in line]


# --- which branches -----------------------------------------------------------------------------------------------


def test_the_branch_that_is_checked_out_is_left_out(root: Path) -> None:
    assert index(root, "main", "other").branches == {"other": 4}
    git(root, "checkout", "-q", "other")
    assert index(root).branches == {"main": 4}
    assert "one a.py:5 a.py:1" in found(root, "main")
    git(root, "checkout", "-q", "--detach")
    assert index(root).branches == {"main": 4, "other": 0}
    git(root, "checkout", "-q", "other")  # no file changes
    assert index(root).branches == {"main": 4}


def test_settings_and_rules_that_concern_only_files_of_a_branch(root: Path) -> None:
    assert "six - d.py:1" in (index(root, "other"), found(root))[1]
    (root / ".gitignore").write_text("d.py\n")
    assert (index(root).branches, "six - d.py:1" in found(root)) == ({"other": 3}, False)
    (root / ".gitignore").unlink()
    assert (index(root).branches, "six - d.py:1" in found(root)) == ({"other": 4}, True)
    (root / ".lci.toml").write_text("max_file_bytes = 60\nexclude = ['sub']\n")
    assert index(root).branches == {"other": 2}  # on other, a.py is larger
    assert found(root) == ["six - d.py:1"]


def test_the_list_stays_until_it_is_changed(root: Path) -> None:
    index(root, "other")
    (root / "a.py").write_text(function("one", "7"))
    assert index(root).branches == {"other": 4}
    assert not index(root).changed
    assert index(root, full=True).branches == {"other": 4}
    git(root, "branch", "third")
    (root / ".lci.toml").write_text('branches = ["third"]\n')
    assert index(root).branches == {"third": 1}
    assert index(root, "other").branches == {"other": 4}  # the flag beats the file
    assert index(root, branches=()).branches == {}
    assert "branches" not in manifest(root).shards and manifest(root).settings.get("branches", []) == []
    (root / ".lci.toml").unlink()
    assert index(root).branches == {}
    assert not list((root / ".lci").glob("branches-*"))


def test_an_unknown_branch(root: Path) -> None:
    with pytest.raises(UsageError) as caught:
        index(root, "other", "ohter")
    assert caught.value.code == "usage" and "'other'" in caught.value.hint
    assert not (root / ".lci" / "manifest.json").exists()
    # One that a file names may be missing in this clone.
    (root / ".lci.toml").write_text('branches = ["gone", "other"]\n')
    built = index(root)
    assert built.branches == {"other": 4}
    assert built.warnings == ("branch 'gone' is not indexed: no branch or tag has this name",)
    again = index(root)
    assert not again.changed and again.warnings == built.warnings
    git(root, "branch", "gone")
    assert index(root).branches == {"gone": 0, "other": 4}
    git(root, "branch", "-D", "other")
    assert index(root).branches == {"gone": 0}


def test_without_git(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(function("one"))
    built = index(tmp_path, "main")
    assert built.warnings == ("branch 'main' is not indexed: not in a git work tree",)
    assert not index(tmp_path).changed
    with app.open_engine(str(tmp_path)) as session:
        assert session.snapshot.branches is None


def test_a_clone_that_lacks_the_branchs_files(root: Path, tmp_path: Path) -> None:
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{root}", "partial")
    built = index(tmp_path / "partial", "other")
    (warning,) = built.warnings
    assert "branch 'other' is not indexed: its " in warning and built.branches == {}
    assert found(tmp_path / "partial") == []
    git(tmp_path / "partial", "checkout", "-q", "other")  # fetches them
    git(tmp_path / "partial", "checkout", "-q", "main")
    assert index(tmp_path / "partial").branches == {"other": 4}


def test_a_git_that_fails_on_the_way(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = branch_build.Repository.blob

    def fails(self: Any, oid: str, most: int) -> bytes:
        if real(self, oid, most).startswith(b"def six"):
            raise branch_build.GitTrouble("it is tired")
        return real(self, oid, most)

    monkeypatch.setattr(branch_build.Repository, "blob", fails)
    git(root, "branch", "twin")
    built = index(root, "other", "twin")
    assert built.warnings == ("branch 'other' is not indexed: it is tired",) and built.branches == {"twin": 0}
    monkeypatch.undo()
    assert index(root).branches == {"other": 4, "twin": 0}


# --- refresh ------------------------------------------------------------------------------------------------------


def test_a_branch_that_moves(root: Path, tmp_path: Path) -> None:
    index(root, "other")
    assert not index(root).changed
    git(root, "checkout", "-q", "other")
    commit(root, {"d.py": None, "same.py": function("five", "5")})
    git(root, "checkout", "-q", "main")
    settle(root)
    generation = manifest(root).generation
    with app.open_engine(str(root)) as session:  # not by a search
        assert session.snapshot.manifest.generation == generation
    assert index(root).branches == {"other": 4}
    assert "five same.py:1 same.py:1" in found(root) and "three b.py:1 -" in found(root)
    assert as_if_anew(root, tmp_path)
    git(root, "branch", "-f", "other", "main")
    assert index(root).branches == {"other": 0}
    assert as_if_anew(root, tmp_path)


def test_a_search_takes_changes_here_into_account(root: Path) -> None:
    index(root, "other")
    (root / "a.py").write_text(str(CHANGED["a.py"]))
    with app.open_engine(str(root)) as session:
        assert session.snapshot.branches is not None and not session.snapshot.branches.statuses_of(["a.py"])
    assert not [line for line in found(root) if "a.py" in line]


def test_the_shard_stays_while_nothing_in_it_changes(root: Path) -> None:
    index(root, "other")
    before = manifest(root)
    (root / "a.py").write_text(FILES["a.py"] + "# more\n")
    assert index(root).changed
    assert manifest(root).shards["branches"] == before.shards["branches"]
    assert manifest(root).shards["files"] != before.shards["files"]


@pytest.mark.parametrize("seed", range(4))
def test_a_refresh_ends_where_a_build_does(root: Path, tmp_path: Path, seed: int) -> None:
    """Random edits on both sides, of files, ignore files, settings and the list."""
    random_ = random.Random(seed)
    git(root, "branch", "third")
    index(root, "other", "third")
    names = ["a.py", "b.py", "d.py", "sub/c.py", "sub/e.py", "same.py", "f.go", "link.py"]

    def edit() -> None:
        path = root / random_.choice(names)
        what = random_.random()
        if path.is_symlink() or (path.exists() and what < 0.25):
            path.unlink()
        elif what < 0.3:
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(root / "same.py")
        elif what < 0.4:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\0")
        else:
            path.parent.mkdir(exist_ok=True)
            texts = ["".join(function(random_.choice("pqrs")) for _ in range(3)), *filter(None, CHANGED.values())]
            path.write_text(random_.choice([*texts, *FILES.values()]))

    for _ in range(6):
        what = random_.random()
        if what < 0.25:
            git(root, "stash", "-q", "-u")
            git(root, "checkout", "-q", "other")
            for _ in range(2):
                edit()
            commit(root, {})
            git(root, "checkout", "-q", "main")
        elif what < 0.35:
            (root / ".gitignore").write_text(random_.choice(["d.py\n", "sub\n", "*.go\n!d.py\n", ""]))
        elif what < 0.42:
            (root / ".lci.toml").write_text(random_.choice(['exclude = ["d.py"]\n', "max_file_bytes = 60\n", ""]))
        elif what < 0.5:
            git(root, "stash", "-q", "-u")
            git(root, "checkout", "-q", random_.choice(["other", "main", "third"]))
        else:
            for _ in range(random_.randrange(1, 4)):
                edit()
        index(root)
        assert as_if_anew(root, tmp_path)


# --- untrusted ----------------------------------------------------------------------------------------------------


def shard(root: Path) -> Path:
    (path,) = (root / ".lci").glob("branches-*.sqlite")
    return path


def test_a_shard_that_is_not_what_was_written(root: Path) -> None:
    index(root, "other")
    good = shard(root).read_bytes()
    shard(root).write_bytes(good[:-1] + b"x")
    with app.open_engine(str(root), refresh="never") as session, pytest.raises(DamagedIndexError):
        session.snapshot.branches  # noqa: B018  # reading it is what fails
    found = app.status(str(root), check=True)
    assert found["health"] == "damaged" and "branches-" in found["problems"][0]
    built = index(root)
    assert "rebuilt from nothing" in built.warnings[0] and built.branches == {"other": 4}
    shard(root).unlink()
    assert index(root).branches == {"other": 4}
    assert shard(root).read_bytes() == good


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE branches SET id = 7",
        "UPDATE branches SET name = x'ff'",
        "UPDATE branches SET commit_id = x'ff'",
        "DROP TABLE branches",
        "UPDATE paths SET status = 'else'",
        "UPDATE paths SET status = 'only_here'",
        "UPDATE paths SET file = NULL WHERE status = 'differs'",
        "UPDATE OR IGNORE paths SET branch = 9",
        "UPDATE symbols SET line = 'x'",
        "UPDATE symbols SET line = -1",
        "UPDATE symbols SET name = x'ff'",
        "UPDATE symbols SET digest = x'00'",
        "UPDATE symbols SET build_tag = x'ff'",
        "UPDATE files SET language = x'ff'",
        "UPDATE files SET test = 'x'",
        "DROP TABLE symbols",
        "ALTER TABLE symbols DROP COLUMN digest",
    ],
)
def test_every_value_is_looked_at(written: Path, tmp_path: Path, change: str) -> None:
    path = tmp_path / "branches.sqlite"
    shutil.copy(written, path)
    db = sqlite3.connect(path)
    db.execute(change)
    db.commit()
    db.close()
    with pytest.raises(DamagedIndexError), BranchIndex(path) as opened:
        opened.rows("other")
        opened.statuses("other")
        opened.differing()


def test_what_is_no_shard(tmp_path: Path) -> None:
    with pytest.raises(DamagedIndexError):
        BranchIndex(tmp_path / "missing.sqlite")
    (tmp_path / "junk.sqlite").write_bytes(b"SQLite format 3\0" + bytes(5000))
    with pytest.raises(DamagedIndexError):
        BranchIndex(tmp_path / "junk.sqlite")


# --- command line -------------------------------------------------------------------------------------------------


def test_the_command_line(root: Path, lci: Callable[..., Ran]) -> None:
    git(root, "branch", "größe/1")
    ran = lci("index", "--branches", "other, größe/1", cwd=root)
    assert "branches  other 4 differing files · größe/1 0 differing files" in ran.out and ran.err == ""
    found = lci("index", "--json", cwd=root).json()
    assert found["branches"] == {"other": 4, "größe/1": 0} and not found["changed"]
    tip = git(root, "rev-parse", "other")
    status = lci("status", "--json", cwd=root).json()["branches"]
    assert [(item["name"], item["ref"], item["files"]) for item in status] == [
        ("other", "refs/heads/other", 4),
        ("größe/1", "refs/heads/größe/1", 0),
    ]
    assert f"other at {tip[:12]}, 4 differing files" in lci("status", cwd=root).out
    error = lci("index", "--branches", "othr", "--json", cwd=root).json()["error"]
    assert error["near"] == ["other"] and "'other'" in error["hint"]
    assert lci("index", "--branches", "", "--json", cwd=root).json().get("branches") is None


def test_nothing_of_the_repository_runs(root: Path, tmp_path: Path, lci: Callable[..., Ran]) -> None:
    proof = tmp_path / "ran"
    commit(root, {".gitattributes": "*.py filter=evil diff=evil\n"})
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "diff.external"):
        git(root, "config", key, f"touch {proof}; cat")
    for path in root.rglob("*.py"):
        os.utime(path)
    proof.unlink(missing_ok=True)
    before = {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()}
    assert lci("index", "--branches", "other", cwd=root).code == 0
    (root / "a.py").write_text(function("edited"))
    assert lci("index", cwd=root).code == 0
    assert lci("search", "edited", cwd=root).code == 0
    assert not proof.exists()
    assert {path: path.read_bytes() for path in (root / ".git").rglob("*") if path.is_file()} == before
