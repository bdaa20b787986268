"""`--changed-since`: only what differs from a commit, in every mode of `lci search`, and in `lci grep`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.conftest import Ran

Lci = Callable[..., Ran]
POOL = "TIMEOUT = {timeout}\n\n\nclass Pool:\n    size = {size}\n\n    def lend(self):\n        return self.boats.pop()\n\n    def give_back(self, boat):\n        {body}\n"
OTHER = "def lend_all(pool):\n    return [pool.lend() for _ in range(9)]\n"


def commit(root: Path) -> None:
    for line in ("add -A", "-c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm x"):
        subprocess.run(["git", *line.split()], cwd=root, check=True)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("changed") / "repo"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    (root / "pool.py").write_text(POOL.format(timeout=1, size=4, body="self.boats.append(boat)"))
    (root / "other.py").write_text(OTHER)
    (root / "notes.txt").write_text("how boats are lent\n")
    (root / "old.txt").write_text("how boats were lent\n")
    commit(root)
    (root / "pool.py").write_text(POOL.format(timeout=1, size=5, body="self.boats.insert(0, boat)"))
    (root / "notes.txt").write_text("how boats are lent, and given back\n")
    (root / "new.py").write_text("def lend_one(pool):\n    return pool.lend()\n")
    commit(root)
    app.build_index(str(root), jobs=1)
    return root


def names(ran: Ran) -> set[str]:
    return {found.get("qualified_name") or found.get("symbol") or found["file"] for found in ran.json()["results"]}


@pytest.mark.parametrize("mode", ["dense", "bm25", "multiview"])
def test_a_query_is_answered_from_what_differs(lci: Lci, root: Path, mode: str) -> None:
    args = ("search", "lend boats give back", "-m", mode, "--json", "--root", str(root))
    assert "lend_all" in names(lci(*args))
    # `size` has no unit of its own: the type that holds it stands for it.
    assert names(lci(*args, "--changed-since", "HEAD~1")) == {"Pool.give_back", "Pool", "lend_one", "notes.txt"}


def test_without_a_query_the_definitions_are_listed(lci: Lci, root: Path) -> None:
    args = ("search", "--json", "--root", str(root), "--changed-since")
    assert names(lci(*args, "HEAD~1")) == {"Pool.give_back", "Pool.size", "lend_one"}
    assert names(lci(*args, "HEAD~1", "name:*one")) == {"lend_one"}
    nothing = lci(*args, "HEAD")
    assert (nothing.code, names(nothing)) == (1, set())


def test_grep_looks_into_the_files_that_differ(lci: Lci, root: Path) -> None:
    ran = lci("grep", "len[dt]", "--changed-since", "HEAD~1", "-l", "--root", str(root))
    assert ran.out.split() == ["new.py", "notes.txt", "pool.py"]


def test_a_line_of_a_batch_has_it(lci: Lci, root: Path) -> None:
    line = '{"query": "lend", "mode": "bm25", "changed_since": "HEAD~1", "path": "new.py"}'
    assert names(lci("search", "--batch", "-", "--root", str(root), stdin=line)) == {"lend_one"}


def test_what_is_no_commit_is_said(lci: Lci, root: Path, tmp_path: Path) -> None:
    ran = lci("search", "x", "--changed-since", "--upload-pack=evil", "--root", str(root))
    assert ran.code == 2 and "is no commit" in ran.err
    (tmp_path / "a.py").write_text("x = 1\n")
    app.build_index(str(tmp_path), jobs=1)
    ran = lci("search", "x", "--changed-since", "HEAD", "--root", str(tmp_path))
    assert ran.code == 2 and "not in a git work tree" in ran.err and "--files" not in ran.err


def test_explain_file_names_the_flag(lci: Lci, root: Path) -> None:
    ran = lci("search", "lend", "--changed-since", "HEAD~1", "--explain-file", "other.py", "--root", str(root))
    assert "--changed-since HEAD~1" in ran.out
