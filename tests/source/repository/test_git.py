"""Root, branch, commit and shared folder of git work trees."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lci_py.source.repository.git import common_dir, git_root, head, other_worktrees

SHA = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *args: str) -> str:
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", "-C", str(folder), *args], env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(repo: Path) -> str:
    git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    return git(repo, "rev-parse", "HEAD")


def test_root_is_the_nearest_parent_with_a_git_folder_or_file(repo: Path) -> None:
    deep = repo / "a/b"
    deep.mkdir(parents=True)
    assert git_root(deep) == git_root(repo) == repo.resolve()
    (repo / "a/.git").write_text("gitdir: elsewhere\n")
    assert git_root(deep) == (repo / "a").resolve()
    assert git_root(repo.parent / "not/there") is None
    assert git_root(Path("nul\0")) is None


def test_the_other_work_trees(repo: Path) -> None:
    commit(repo)
    assert other_worktrees(repo) == []
    linked, inside = repo.parent / "linked", repo / "wt/in side"
    git(repo, "worktree", "add", "-q", str(linked))
    git(repo, "worktree", "add", "-q", str(inside), "-b", "inside")
    (linked / "deep").mkdir()
    top = repo.resolve()
    assert set(other_worktrees(repo)) == {linked.resolve(), inside.resolve()}
    assert other_worktrees(linked / "deep") == [top, inside.resolve()]
    assert other_worktrees(inside) == [top, linked.resolve()]
    assert other_worktrees(repo.parent) == []
    (repo / ".git/worktrees/linked/gitdir").write_text("../../../../linked/.git\n")  # as git writes on request
    assert linked.resolve() in other_worktrees(repo)
    shutil.rmtree(linked)
    assert other_worktrees(inside) == [top]


def test_a_folder_that_does_not_point_back_is_no_work_tree(repo: Path) -> None:
    mine = repo.parent / "mine"
    mine.mkdir()
    git(mine, "init", "-q")
    for name, text in {
        "a": f"{mine}/.git\n", "b": f"{mine}\n", "c": "nul\0/.git\n", "d": "", "e": "/nowhere/.git\n"
    }.items():  # fmt: skip
        (repo / ".git/worktrees" / name).mkdir(parents=True)
        (repo / ".git/worktrees" / name / "gitdir").write_text(text)
    os.mkfifo(repo / ".git/worktrees/a/commondir")
    (repo / ".git/worktrees/f").mkdir()
    os.mkfifo(repo / ".git/worktrees/f/gitdir")
    assert other_worktrees(repo) == []
    # Nor is the repository that a `.git` file names: it does not know of this folder, and the folder can name any.
    fake = repo.parent / "fake"
    fake.mkdir()
    (fake / ".git").write_text(f"gitdir: {mine}/.git\n")
    assert other_worktrees(fake) == other_worktrees(mine) == []
    (fake / ".git").write_text("gitdir: nul\0\n")
    assert other_worktrees(fake) == []


def test_unborn_then_committed_then_packed_then_detached(repo: Path) -> None:
    assert head(repo) == (None, "main")
    sha = commit(repo)
    assert head(repo) == (sha, "main")
    git(repo, "pack-refs", "--all")
    assert not (repo / ".git/refs/heads/main").exists()
    assert head(repo) == (sha, "main")
    git(repo, "checkout", "-q", "-b", "feature/long-name")
    newer = commit(repo)
    assert newer != sha
    assert head(repo) == (newer, "feature/long-name")
    git(repo, "checkout", "-q", "--detach", "main")
    assert head(repo) == (sha, None)


def test_a_loose_ref_is_newer_than_the_packed_one(repo: Path) -> None:
    commit(repo)
    git(repo, "pack-refs", "--all")
    git(repo, "commit", "-q", "--allow-empty", "-m", "y")
    assert head(repo) == (git(repo, "rev-parse", "HEAD"), "main")


def test_worktree(repo: Path) -> None:
    commit(repo)
    other = repo.parent / "other"
    git(repo, "worktree", "add", "-q", "-b", "side", str(other))
    sha = git(other, "commit-tree", "-m", "z", git(other, "write-tree"))
    git(other, "reset", "-q", "--hard", sha)
    assert head(other) == (sha, "side")
    assert head(repo)[1] == "main"
    git(repo, "pack-refs", "--all")
    assert head(other) == (sha, "side")
    common = common_dir(other)
    assert common is not None
    assert common.resolve() == (repo / ".git").resolve()


def test_a_folder_inside_the_work_tree(repo: Path) -> None:
    sha = commit(repo)
    (repo / "sub").mkdir()
    assert head(repo / "sub") == (sha, "main")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", (None, None)),
        ("garbage", (None, None)),
        (SHA, (SHA, None)),
        ("ref: refs/heads/../../../secret", (None, None)),
        ("ref: /etc/passwd", (None, None)),
        ("ref: refs/heads/.invalid", (None, None)),
        ("ref: refs/heads/loop", (None, "loop")),
        ("ref: refs/remotes/origin/main", (SHA, None)),
        ("ref: refs/heads/nul\0", (None, "nul\0")),
    ],
)
def test_odd_heads_never_raise(tmp_path: Path, content: str, expected: tuple[str | None, str | None]) -> None:
    repo = tmp_path / "repo"
    (repo / ".git/refs/heads").mkdir(parents=True)
    (repo / ".git/refs/remotes/origin").mkdir(parents=True)
    (tmp_path / "secret").write_text(SHA)
    (repo / ".git/refs/heads/loop").write_text("ref: refs/heads/loop\n")
    (repo / ".git/refs/remotes/origin/main").write_text(SHA + "\n")
    (repo / ".git/HEAD").write_text(content)
    assert head(repo) == expected


def test_broken_work_trees_never_raise(tmp_path: Path) -> None:
    assert common_dir(tmp_path) is None
    (tmp_path / ".git").write_bytes(b"\xff\xfe not a gitdir")
    assert head(tmp_path) == (None, None)
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert head(tmp_path) == (None, None)
    (tmp_path / ".git").unlink()
    os.mkfifo(tmp_path / ".git")  # opening it would block for ever
    assert head(tmp_path) == (None, None)
