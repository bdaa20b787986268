"""What a run of `lci cluster index` does again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lci_py.cluster.fleet import read_fleet
from lci_py.cluster.indexing import PartSource, index_fleet
from lci_py.cluster.objects import Objects
from lci_py.cluster.workers import Here, here
from lci_py.errors import UsageError
from lci_py.search.engine import Engine
from tests.support.branch_repo import commit, git, init
from tests.support.fleets import NAMES

_BUILT = "2026-01-01T00:00:00Z"


@pytest.fixture
def workers() -> Iterator[Here]:
    with here() as found:
        yield found


def test_only_what_has_changed_is_indexed(one: Engine, workers: Here, tmp_path: Path) -> None:
    """Of a git repository only the parts with other files are indexed, and of a folder what has changed."""
    url, bare = str(tmp_path / "store"), tmp_path / "bare.git"
    root = init(tmp_path / "tree", {f"{folder}/m.py": f"def {folder}(): ...\n" for folder in ("x", "y", "z")})
    git(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    repositories = [PartSource(name, str(one.root / name)) for name in NAMES[:1]]
    repositories.append(PartSource("git", str(bare)))
    made = index_fleet(workers, url, repositories, _BUILT, "test", split=20)
    assert made.fresh == sorted(one.name for one in repositories) and not made.warnings
    assert [part.start for part in made.fleet.parts if part.name == "git"] == ["", "y/m.py", "z/m.py"]
    assert index_fleet(workers, url, repositories, _BUILT, "test", split=20) == made._replace(fresh=[], published=False)
    commit(root, {"y/m.py": "def changed(): ...\n"})
    git(root, "push", "-q", str(bare), "main")
    again = index_fleet(workers, url, repositories, _BUILT, "test", split=20)
    parts = {(part.name, part.start): part for part in made.fleet.parts}
    changed = [part.start for part in again.fleet.parts if part.manifest != parts[part.name, part.start].manifest]
    assert (again.fleet.generation, again.fresh, changed) == (2, ["git"], ["y/m.py"])
    assert {part.commit for part in again.fleet.parts if part.name == "git"} == {git(bare, "rev-parse", "main")}
    assert index_fleet(workers, url, repositories[1:], _BUILT, "test", split=20).fleet.generation == 3
    for wrong, error in (
        (repositories[:1] * 2, UsageError), ([], UsageError),
        ([*repositories, PartSource("gone", str(one.root / "gone"))], UsageError),
        *(([repositories[0]._replace(name=name)], UsageError) for name in ("", "a/b", ".git", " a")),
    ):  # fmt: skip
        with pytest.raises(error):
            index_fleet(workers, url, wrong, _BUILT, "test")
    assert read_fleet(Objects(url)).generation == 3
