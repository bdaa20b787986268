"""Other branches by git's objects: no program of the repository runs, and nothing is checked out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lci_py.source.extract.extract import definitions, extract
from lci_py.source.repository import branches
from lci_py.source.repository.branches import (
    UNKNOWN,
    GitTrouble,
    Repository,
    Tip,
    blob_id,
    near_misses,
    resolve,
    same_tips,
)
from lci_py.source.repository.ignored import TreeRules
from lci_py.source.repository.walk import WalkOptions, walk
from lci_py.source.syntax.languages import HEAD_BYTES, detect
from tests.conftest import CORPUS
from tests.support.branch_repo import branch, commit, git, init


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return init(tmp_path / "repo", {"a.py": "a = 1\n", "sub/b.py": "b = 1\n"})


def tips(root: Path, *names: str) -> list[tuple[str, str, str]]:
    return [(tip.ref, tip.commit, tip.problem) for tip in resolve(root, names)]


def test_what_a_name_means(root: Path) -> None:
    first = git(root, "rev-parse", "main")
    other = branch(root, "other", {"a.py": "a = 2\n"})
    git(root, "tag", "-a", "-m", "x", "v1", "other")
    git(root, "tag", "other", "main")  # a branch of that name comes first
    git(root, "update-ref", "refs/remotes/origin/far", other)
    assert tips(root, "other", "v1", "origin/far", "heads/other", "refs/tags/other", "far") == [
        ("refs/heads/other", other, ""),
        ("refs/tags/v1", other, ""),
        ("refs/remotes/origin/far", other, ""),
        ("refs/heads/other", other, ""),
        ("refs/tags/other", first, ""),
        ("refs/remotes/origin/far", other, ""),  # as `git switch far` finds it in a fresh clone
    ]
    git(root, "update-ref", "refs/remotes/fork/far", first)
    assert tips(root, "far") == [("", "", UNKNOWN)]  # of two remotes


@pytest.mark.parametrize(
    "name", ["größe/日本", "a,b", "-x", "x-y.z", "feature/#1", "it's", '"quoted"', "$(touch pwned)"]
)
def test_names_with_odd_characters(root: Path, name: str) -> None:
    other = branch(root, "other", {"a.py": "a = 2\n"})
    if " " in name:
        assert tips(root, name) == [("", "", UNKNOWN)]
        return
    git(root, "update-ref", f"refs/heads/{name}", other)
    assert tips(root, name) == [(f"refs/heads/{name}", other, "")]
    git(root, "pack-refs", "--all")
    assert same_tips(root, [name], resolve(root, [name]))


@pytest.mark.parametrize(
    "name",
    ["", " ", "HEAD", "main^", "main~1", "main:a.py", "@", "@{-1}", "..", "a..b", "/main", "main/", "x\ny", "x\0y",
     "\udcff", "main.lock", "refs/heads/../../HEAD", "*", "x" * 5000],
)  # fmt: skip
def test_what_is_no_branch(root: Path, name: str) -> None:
    assert tips(root, name) == [("", "", UNKNOWN)]
    assert not same_tips(root, [name], resolve(root, [name]))


def test_a_commit_is_no_branch(root: Path) -> None:
    assert tips(root, git(root, "rev-parse", "main")) == [("", "", UNKNOWN)]


def test_a_tag_of_a_file_is_no_branch(root: Path) -> None:
    git(root, "tag", "blob", "main:a.py")
    assert tips(root, "blob")[0][1] == "" and tips(root, "blob")[0][2]


def test_names_like_one(root: Path) -> None:
    git(root, "branch", "release-2")
    git(root, "update-ref", "refs/remotes/origin/release-3", "main")
    assert near_misses(root, "relaese-2") == ["release-2"]
    assert near_misses(root, "origin/release-4")[0] == "origin/release-3"
    assert near_misses(root, "zzz") == []


def test_a_tip_that_moves(root: Path) -> None:
    branch(root, "other", {"a.py": "a = 2\n"})
    known = resolve(root, ["other"])
    assert same_tips(root, ["other"], known)
    git(root, "pack-refs", "--all", "--prune")
    assert same_tips(root, ["other"], known)
    git(root, "branch", "-f", "other", "main")
    assert not same_tips(root, ["other"], known)
    assert not same_tips(root, ["another"], known)
    git(root, "branch", "-D", "other")
    assert not same_tips(root, ["other"], known)


def test_a_branch_that_comes_before_a_remote_one(root: Path) -> None:
    other = branch(root, "other", {"a.py": "a = 2\n"})
    git(root, "update-ref", "refs/remotes/x", other)
    known = resolve(root, ["x"])
    assert same_tips(root, ["x"], known)
    git(root, "branch", "x", "main")
    assert not same_tips(root, ["x"], known)


def test_outside_of_git(tmp_path: Path, root: Path) -> None:
    (found,) = resolve(tmp_path, ["main"])
    assert found == Tip("main", "", "", "", "not in a git work tree")
    assert near_misses(tmp_path, "main") == []
    bare = tmp_path / "mirror.git"
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    assert resolve(bare, ["main"])[0].problem == "not in a git work tree"


def test_without_git(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (found,) = resolve(root, ["main"])
    assert found.problem.startswith("git cannot be run") and found.commit == ""


def test_a_repository_that_git_cannot_read(root: Path) -> None:
    (root / ".git" / "HEAD").unlink()
    assert resolve(root, ["main"])[0].problem


def test_a_git_that_hangs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(branches, "STALL_SECONDS", 0.1)
    assert "not answered" in resolve(root, ["main"])[0].problem
    with Repository(root) as repository, pytest.raises(GitTrouble):
        repository.tree("0" * 40)


def test_the_repository_of_a_hook_is_not_another_one(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git sets these variables for hooks, also for those of the repository around a submodule."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere" / "index"))
    assert resolve(root, ["main"])[0].problem == ""


def test_a_broken_repository_does_not_mean_the_one_around_it(root: Path) -> None:
    inner = root / "inner"
    (inner / ".git").mkdir(parents=True)
    assert resolve(inner, ["main"])[0].commit == ""


# --- files of a commit -----------------------------------------------------------------------------------------------


def test_the_files_of_a_commit(root: Path) -> None:
    (root / "link").symlink_to("a.py")
    made = commit(root, {"ä b.py": "x\n", "sub/deep/c.py": "c\n", "-o": "x\n"})
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{made},module")
    git(root, "commit", "-q", "-m", "x")
    made = git(root, "rev-parse", "HEAD")
    with Repository(root) as repository:
        found = repository.tree(made)
        assert sorted(found) == ["-o", "a.py", "link", "module", "sub/b.py", "sub/deep/c.py", "ä b.py"]
        assert [path for path, oid in found.items() if not oid] == ["link", "module"]
        assert found["a.py"] == blob_id(b"a = 1\n", made)
        some = ["a.py", "sub", "sub/deep/c.py", "nothing", "-o", "link", "ä b.py"]
        assert repository.tree(made, some) == {p: found[p] for p in some if p in found}
        assert repository.tree(made, []) == {}
        many = [*some, *(f"x{i}" for i in range(600))]
        assert {p: o for p, o in repository.tree(made, many).items() if p in many} == repository.tree(made, some)
        assert repository.blob(found["a.py"], 100) == b"a = 1\n"
        assert repository.sizes([found["a.py"], "0" * 40, made]) == {found["a.py"]: 6}
        with pytest.raises(GitTrouble):
            repository.blob("0" * 40, 100)
    with Repository(root) as repository, pytest.raises(GitTrouble):
        repository.blob(found["a.py"], 5)
    with Repository(root) as repository, pytest.raises(GitTrouble):
        repository.tree("0" * 40)


def test_below_the_root_only(root: Path) -> None:
    made = commit(root, {"sub/b.py": "b = 2\n", "subway.py": "x\n"})
    first = git(root, "rev-parse", "HEAD~1")
    with Repository(root / "sub") as repository:
        assert set(repository.tree(made)) == {"b.py"} == set(repository.tree(made, ["b.py", "a.py"]))
        assert repository.changed(first, made) == {"b.py"}
    with Repository(root) as repository:
        assert repository.changed(first, made) == {"sub/b.py", "subway.py"}
        assert repository.changed(made, made) == set()
        assert repository.changed(made, "0" * 40) is None


def test_a_name_that_is_a_folder_on_one_side(root: Path) -> None:
    made = branch(root, "other", {"sub/b.py": None, "sub": "a file\n", "a.py": None, "a.py/c.py": "c\n"})
    with Repository(root) as repository:
        assert set(repository.tree(made)) == {"sub", "a.py/c.py"}
        assert set(repository.tree(made, ["a.py", "sub/b.py"])) == set()


def test_a_tree_that_is_larger_than_any(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of ten objects contains the next one ten times."""
    tree = git(root, "rev-parse", "main:sub")
    for _ in range(9):
        rows = "".join(f"040000 tree {tree}\tf{i}\n" for i in range(10))
        path = root / "rows"
        path.write_text(rows)
        import subprocess

        done = subprocess.run(["git", "mktree"], cwd=root, input=rows, capture_output=True, text=True, check=True)
        tree = done.stdout.strip()
    made = git(root, "commit-tree", tree, "-m", "x")
    monkeypatch.setattr(branches, "MOST_PATHS", 50_000)
    with Repository(root) as repository, pytest.raises(GitTrouble, match="more than 50,000 files"):
        repository.tree(made)


def test_a_work_tree_beside_the_first(root: Path, tmp_path: Path) -> None:
    other = branch(root, "other", {"a.py": "a = 2\n"})
    second = tmp_path / "second"
    git(root, "worktree", "add", "-q", str(second), "other")
    first = git(root, "rev-parse", "main")
    assert tips(second, "main", "other") == [("refs/heads/main", first, ""), ("refs/heads/other", other, "")]
    assert same_tips(second, ["main", "other"], resolve(second, ["main", "other"]))


def test_a_shallow_clone(root: Path, tmp_path: Path) -> None:
    branch(root, "other", {"a.py": "a = 2\n"})
    commit(root, {"a.py": "a = 3\n"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{root}", "shallow")
    assert resolve(tmp_path / "shallow", ["other"])[0].problem == UNKNOWN


def test_nothing_is_fetched(root: Path, tmp_path: Path) -> None:
    """A clone without blobs would fetch each blob that is read, by whatever program its settings name."""
    other = branch(root, "other", {"a.py": "a = 2\n"})
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{root}", "partial")
    partial = tmp_path / "partial"
    proof = tmp_path / "ran"
    git(partial, "config", "remote.origin.uploadpack", f"touch {proof}; git-upload-pack")
    with Repository(partial) as repository:
        oid = repository.tree(other)["a.py"]
        try:
            assert repository.sizes([oid]) == {}
        except GitTrouble:
            pass  # older releases of git end where they may not fetch
        with pytest.raises(GitTrouble):
            repository.blob(oid, 100)
    assert not proof.exists()


def test_nothing_of_the_repository_runs(root: Path, tmp_path: Path) -> None:
    other = branch(root, "other", {"a.py": "a = 2\n", ".gitattributes": "*.py filter=evil diff=evil\n"})
    commit(root, {".gitattributes": "*.py filter=evil diff=evil\n", "a.py": "a = 1\n#\n"})
    proof = tmp_path / "ran"
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.pager",
                "diff.evil.textconv", "diff.evil.command", "diff.external", "core.sshCommand", "alias.ls-tree",
                "credential.helper", "core.askPass", "core.editor", "core.hooksPath"):  # fmt: skip
        git(root, "config", key, f"!touch {proof}" if key.startswith(("alias", "credential")) else f"touch {proof}")
    git(root, "config", "filter.evil.required", "true")
    os.utime(root / "a.py")
    with Repository(root) as repository:
        main = repository.tip("main").commit
        assert repository.tip("other").commit == other
        assert repository.blob(repository.tree(other)["a.py"], 100) == b"a = 2\n"
        assert repository.changed(main, other) == {"a.py"}
    assert near_misses(root, "othre") == ["other"]
    assert not proof.exists()


def test_ids_of_both_kinds(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    made = commit(root, {"a.py": "a = 1\n"})
    with Repository(root) as repository:
        assert repository.tip("main").commit == made and len(made) == 64
        assert repository.tree(made)["a.py"] == blob_id(b"a = 1\n", made)


# --- which of them the walk would take ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        WalkOptions(),
        WalkOptions(hidden=True),
        WalkOptions(exclude=("sub/*.py",), include=("*.log", "build/keep/")),
        WalkOptions(include=("build/",), exclude=("*.log",)),
        WalkOptions(exclude=("sub/*.py",), allow=("*.log", "build/keep/"), include=("one/.hidden",)),
        WalkOptions(allow=("build/",), exclude=("*.log",)),
        WalkOptions(use_ignore_files=False),
    ],
)
def test_rules_by_path_are_those_of_the_walk(tmp_path: Path, options: WalkOptions) -> None:
    root = tmp_path / "repo"
    files = [
        "a.py", "a.log", "sub/a.py", "sub/a.log", "sub/deep/keep.log", "sub/.hidden/a.py", ".dot/a.py", ".dot.py",
        "build/a.py", "build/keep/a.py", "build/keep/a.log", "one/build/x.py", "one/two/skip/x.py", "one/two/x.txt",
        ".lci/a.py", "sub/.lci/a.py", "sub/.git/a.py",
    ]  # fmt: skip
    for name in files:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.log\nbuild/\n!/sub/deep/keep.log\n")
    (root / "one" / ".ignore").write_text("skip\n!.dot\n")
    (root / "one" / "two" / ".lciignore").write_text("!skip\n*.txt\n")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text("one/two/skip/x.py\n")
    walked = {entry.path for entry in walk(root, options).files}
    rules = TreeRules(root, options)
    assert {name for name in files if rules.takes(name)} == walked - {name for name in walked if name not in files}


def test_rules_of_what_is_not_here(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / ".gitignore").write_text("*.py\n")
    (tmp_path / "link").symlink_to(outside)
    rules = TreeRules(tmp_path, WalkOptions(exclude=("gone/x.py",)))
    assert [
        path
        for path in (
            "new/a.py",
            "new/a.log",
            "new/build/a.py",
            "gone/x.py",
            "link/a.py",
            "../a.py",
            "a/../b.py",
            "a//b",
        )
        if rules.takes(path)
    ] == ["new/a.py", "link/a.py"]


# --- definitions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(p for p in CORPUS.rglob("*") if p.is_file()), ids=lambda p: p.name)
def test_definitions_are_those_of_the_whole_extraction(path: Path) -> None:
    data = path.read_bytes()
    name = path.relative_to(CORPUS).as_posix()
    language = detect(name, data[:HEAD_BYTES])
    whole = extract(name, data, language)
    assert definitions(name, data, language).symbols == whole.symbols
