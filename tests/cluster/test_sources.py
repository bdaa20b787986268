"""What is read of a repository: a folder, a bare repository, a commit; and how a large one is cut."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py.cluster.sources import Run, borders, source_of, survey, write_files
from lci_py.errors import UsageError
from tests.support.branch_repo import commit, git, init

FILES = {
    "a.py": "def a():\n    return 1\n", "lib/b.py": "def b():\n    return a()  # of the other file, which is beside the folder\n", ".gitignore": "*.log\n",
    "lib/c.log": "not indexed\n", "lib/.ignore": "d.py\n", "lib/d.py": "def d(): ...\n", "big.py": "x = 1\n" * 200,
    ".lci.toml": "max_file_bytes = 1000\nhidden = true\nexclude = ['gen/']\n", "gen/e.py": "def e(): ...\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work tree at its second commit, beside it a bare clone."""
    folder = tmp_path_factory.mktemp("repository")
    root = init(folder / "tree", {**FILES, "a.py": "def older(): ...\n"})
    git(root, "add", "-f", ".")
    (root / "link.py").symlink_to("/etc/passwd")
    git(root, "add", "-A")
    commit(root, {"a.py": FILES["a.py"]})
    git(folder, "clone", "-q", "--bare", "tree", "bare.git")
    return folder


def read(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def written(text: str, target: Path, start: str = "") -> dict[str, str]:
    source = source_of(text)
    found = survey(source)
    assert found is not None
    assert write_files(source, found[0]._replace(start=start), target) == []
    return read(target)


def test_a_commit_has_the_files_that_its_checkout_has(repository: Path, tmp_path: Path) -> None:
    """By its ignore files and its .lci.toml, without links."""
    expected = written(str(repository / "tree"), tmp_path / "tree")
    assert set(expected) == {"a.py", "lib/b.py", ".gitignore", "lib/.ignore", ".lci.toml"}
    bare = str(repository / "bare.git")
    for number, text in enumerate((bare, f"{bare}@main", f"{repository}/tree@HEAD")):
        assert written(text, tmp_path / str(number)) == expected
    older = written(f"{bare}@HEAD~1", tmp_path / "older")
    assert older == {**expected, "a.py": "def older(): ...\n"}


def test_a_run_has_its_own_files_and_the_rules_of_all(repository: Path, tmp_path: Path) -> None:
    for text in (str(repository / "bare.git"), str(repository / "tree")):
        found = written(text, tmp_path / text.rpartition("/")[2], "lib/")
        assert set(found) == {"lib/b.py", "lib/.ignore"}


def test_no_program_of_the_repository_runs(repository: Path, tmp_path: Path) -> None:
    """Neither a filter nor a monitor nor a hook."""
    bare = tmp_path / "hostile.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository / "tree"), str(bare))
    ran = tmp_path / "ran"
    for key in ("filter.x.smudge", "filter.x.process", "core.fsmonitor", "diff.external", "core.sshCommand"):
        git(bare, "config", key, f"touch {ran}")
    (bare / "info").mkdir(exist_ok=True)
    (bare / "info" / "attributes").write_text("* filter=x\n")
    (bare / "hooks" / "post-checkout").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (bare / "hooks" / "post-checkout").chmod(0o755)
    assert "a.py" in written(str(bare), tmp_path / "out")
    assert not ran.exists()


def test_names_that_lead_out_of_the_folder_are_left_out(tmp_path: Path) -> None:
    """git makes no such tree, but anybody can write one."""
    root = init(tmp_path / "tree", {"a.py": "def a(): ...\n"})
    blob = bytes.fromhex(git(root, "hash-object", "-w", "a.py"))
    names = (b"../out.py", b".git", b"/abs.py", b"a.py", b"n" * 300, b"x/../../y.py")
    tree = b"".join(b"100644 %s\0%s" % (name, blob) for name in names)
    made = subprocess.run(["git", "hash-object", "-t", "tree", "--literally", "-w", "--stdin"], cwd=root, input=tree,
                          capture_output=True, check=True)  # fmt: skip
    tip = git(root, "commit-tree", "-m", "x", made.stdout.decode().strip())
    (tmp_path / "deep").mkdir()
    found = written(f"{root}@{tip}", tmp_path / "deep" / "out")
    assert found == {"a.py": "def a(): ...\n"}
    assert sorted(os.listdir(tmp_path / "deep")) == ["out"] and sorted(os.listdir(tmp_path)) == ["deep", "tree"]


def test_what_is_no_source(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for text, said in (
        (f"{tmp_path}/none", "not a folder"), ("https://host/x.git", "not on a disk"),
        (f"{repository}/tree@", "names no revision"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            source_of(text)
    for text, said in (
        (f"{repository}/tree@nowhere", "no commit nowhere"), (f"{repository}/bare.git@--help", "no commit"),
        (f"{tmp_path}/plain@main", "cannot be read with git"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=said):
            survey(source_of(text))


def test_settings_that_cannot_be_used_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".lci.toml").write_text("hidden = 3\n")
    (tmp_path / "tree" / "a.py").write_text("x = 1\n")
    said = write_files(source_of(str(tmp_path / "tree")), Run(), tmp_path / "out")
    assert len(said) == 1 and "without its settings" in said[0] and set(read(tmp_path / "out")) == {"a.py"}


def test_whether_something_has_changed(repository: Path) -> None:
    """The state of a run follows from its files alone: an empty commit changes nothing."""
    source = source_of(str(repository / "bare.git"))
    found = survey(source, limit=600)
    assert found is not None and len(found) > 2 and survey(source, found[0].commit) is None
    tree = git(repository / "bare.git", "rev-parse", "HEAD^{tree}")
    again = git(repository / "bare.git", "commit-tree", "-p", "HEAD", "-m", "empty", tree)
    other = survey(source._replace(revision=again), found[0].commit, [run.start for run in found], 600)
    assert other == [run._replace(commit=again) for run in found]
    older = survey(source._replace(revision="HEAD~1"), found[0].commit, [run.start for run in found], 600)
    assert older is not None
    same = {a.start: a.state == b.state for a, b in zip(older, found, strict=True)}
    assert same[next(run.start for run in found if run.has("a.py"))] is False and same["big.py"]


_NAMES = st.lists(st.sampled_from(["a", "a-b", "a.b", "b", "ä"]), min_size=1, max_size=4).map("/".join)


@given(sizes=st.dictionaries(_NAMES, st.integers(0, 9), max_size=25), most=st.integers(1, 30))
def test_runs_cover_all_paths_and_are_small(sizes: dict[str, int], most: int) -> None:
    paths = sorted(sizes)
    starts = borders([(path, sizes[path]) for path in paths], most)
    assert starts[0] == "" and starts == sorted(set(starts))
    runs = [Run(start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]
    for run in runs:
        inside = [path for path in paths if run.has(path)]
        assert sum(sizes[path] for path in inside) <= most or len([path for path in inside if sizes[path]]) == 1
    assert [path for run in runs for path in paths if run.has(path)] == paths
