"""Linked worktrees, submodules and other repositories inside an indexed one: each is about itself."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.index.shards.files import FileTable
from lci_py.index.store.cache import Cache
from lci_py.index.store.seal import cache_secret
from lci_py.types.index import BuildSummary
from lci_py.types.search import MODES, SearchRequest
from tests.conftest import Ran
from tests.render.json.test_answer import definition
from tests.support.envelopes import envelope

Lci = Callable[..., Ran]
FILES = 6


def source(number: int, word: str = "total") -> str:
    return f"def read_{number}(value):\n    {word} = value + {number}\n    return write_{number}({word})\n"


def git(folder: Path, *args: str) -> None:
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    allow = ("-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", str(folder), *allow, *args], env=env, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    (folder / "src").mkdir(parents=True)
    for number in range(FILES):
        (folder / "src" / f"f{number}.py").write_text(source(number))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "x")
    return folder


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository without an index."""
    return repository(tmp_path.resolve() / "main")


@pytest.fixture
def linked(main: Path) -> Path:
    """A work tree of the repository, beside it."""
    git(main, "worktree", "add", "-q", "../linked", "-b", "linked")
    return main.parent / "linked"


def build(root: Path, **how: Any) -> BuildSummary:
    return app.build_index(str(root), jobs=1, **how)


def answers(root: Path) -> list[dict[str, Any]]:
    found = []
    with app.open_engine(str(root), refresh="never") as engine:
        for mode in MODES:
            query = "name:read*" if mode == "symbolic" else "read the total value"
            answer = envelope(engine.search(SearchRequest(query, mode)))
            del answer["index"]
            found.append(answer)
    return found


# --- a root of its own ----------------------------------------------------------------------------------------------


def test_a_worktree_below_an_indexed_checkout_is_not_answered_from_its_index(lci: Lci, main: Path) -> None:
    build(main)
    git(main, "worktree", "add", "-q", "wt", "-b", "wt")
    inside = main / "wt" / "src"
    for command in (("search", "read", "--refresh", "never"), ("def", "read_1", "--refresh", "never"), ("status",)):
        ran = lci(*command, "--json", cwd=inside)
        error = ran.json()["error"]
        assert (ran.code, error["code"], error["message"]) == (3, "no_index", f"no index at {main / 'wt'}")
        assert f"`lci index {main / 'wt'}`" in error["hint"] and f"`--root {main}`" in error["hint"]
    (inside / "f1.py").write_text(source(1, "sum_in_the_worktree"))
    assert lci("index", cwd=inside).code == 0
    found = lci("search", "sum_in_the_worktree", "-m", "bm25", "--paths", cwd=inside)
    assert found.out == "f1.py:2\n"
    assert lci("search", "sum_in_the_worktree", "-m", "bm25", "--paths", cwd=main).code == 1


def test_a_plain_repository_inside_is_indexed_and_is_a_root_of_its_own(lci: Lci, main: Path) -> None:
    clone = repository(main / "clones" / "other")
    assert build(main).files == 2 * FILES
    assert lci("search", "read", "--refresh", "never", cwd=clone / "src").code == 3
    assert lci("search", "read", "--root", str(main), "--paths", cwd=clone / "src").code == 0


# --- not part of the outer index ------------------------------------------------------------------------------------


def test_worktrees_and_submodules_are_left_out_and_named(lci: Lci, main: Path) -> None:
    repository(main.parent / "lib")
    git(main, "submodule", "add", "-q", "../lib", "third_party/lib")
    git(main, "worktree", "add", "-q", "wt", "-b", "wt")
    ran = lci("index", cwd=main)
    assert "  apart     2 worktrees or submodules, not in this index: third_party/lib · wt\n" in ran.out
    found = lci("status", "--json", cwd=main).json()
    definition("status").validate(found)
    assert (found["files"], found["stale_files"]) == (FILES, 0)
    assert found["nested_repositories"] == ["third_party/lib/", "wt/"]
    assert found["skipped_by_reason"]["nested_repository"] == 2
    assert "  apart     2 worktrees or submodules" in lci("status", cwd=main).out
    dry = lci("index", "--dry-run", "--json", cwd=main).json()
    assert {"path": "wt/", "reason": "nested_repository"} in dry["skipped"]
    # What happens in there is no news, and `include` takes a submodule in.
    (main / "wt" / "new.py").write_text("def new(): pass\n")
    assert lci("status", "--json", cwd=main).json()["stale_files"] == 0
    (main / ".lci.toml").write_text('include = ["/third_party/lib/"]\n')
    built = lci("index", "--json", cwd=main).json()
    assert (built["files"], built["nested_repositories"]) == (2 * FILES, ["wt/"])


def test_a_folder_that_is_no_submodule_any_more_is_noticed(main: Path) -> None:
    repository(main.parent / "lib")
    git(main, "submodule", "add", "-q", "../lib", "lib")
    build(main)
    (main / "lib" / ".git").unlink()
    assert app.status(str(main))["stale_files"] == FILES
    assert build(main).files == 2 * FILES


# --- the index of another work tree ---------------------------------------------------------------------------------


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ctime_ns) for path in folder.iterdir()}


def test_a_first_index_starts_from_that_of_another_work_tree(main: Path, linked: Path) -> None:
    build(main)
    (linked / "src" / "f1.py").write_text(source(1, "changed"))
    (linked / "src" / "f2.py").unlink()
    (linked / "src" / "new.py").write_text(source(9))
    before = state(main / ".lci")
    built = build(linked)
    assert (built.started_from, built.parsed_files, built.generation) == (str(main), 2, 1)
    assert state(main / ".lci") == before
    status = app.status(str(linked), check=True)
    assert (status["problems"], status["stale_files"], status["branch"]) == ([], 0, "linked")
    started = answers(linked)
    again = build(linked, full=True)
    assert (again.started_from, again.parsed_files) == (None, FILES)
    assert answers(linked) == started


def test_the_main_work_tree_starts_from_a_linked_one_and_a_folder_from_the_same_folder(
    main: Path, linked: Path
) -> None:
    build(linked)
    assert build(main).started_from == str(linked)
    build(linked / "src")
    assert build(main / "src").started_from == str(linked / "src")


def test_the_work_tree_on_the_same_commit_comes_first(main: Path, linked: Path) -> None:
    build(linked)
    (main / "src" / "f0.py").write_text(source(0, "other"))
    git(main, "commit", "-q", "-a", "-m", "y")
    build(main)
    git(main, "worktree", "add", "-q", "../third", "linked~0", "--detach")
    assert build(main.parent / "third").started_from == str(linked)


def test_what_another_work_tree_has_parsed_is_not_parsed_again(main: Path, linked: Path) -> None:
    for root in (main, linked):
        build(root)
    for root, cached in ((main, 0), (linked, 2)):
        (root / "src" / "f1.py").write_text(source(1, "changed"))
        (root / "src" / "f2.py").write_text(source(2, "changed"))
        built = build(root)
        assert (built.parsed_files, built.reused_files >= cached) == (2 - cached, True)
    # What was taken over is kept, for merging segments when the other work tree is gone.
    cache = Cache(linked / ".lci", cache_secret())
    keys = [item.key for item in FileTable(next((linked / ".lci").glob("files-*"))).states() if item.path < "src/f3.py"]
    assert set(cache.get("records", keys)) >= set(keys[1:])
    cache.close()


def test_a_row_of_another_cache_without_the_keyed_hash_is_not_believed(main: Path, linked: Path) -> None:
    for root in (main, linked):
        build(root)
    (main / "src" / "f1.py").write_text(source(1, "changed"))
    (linked / "src" / "f1.py").write_text(source(1, "changed"))
    build(main)
    with closing(sqlite3.connect(main / ".lci" / "cache.sqlite")) as db, db:
        db.execute("UPDATE records SET tag = zeroblob(16)")
    assert build(linked).parsed_files == 1
    assert app.status(str(linked), check=True)["problems"] == []


def test_naming_files_starts_from_nothing(main: Path, linked: Path) -> None:
    build(main)
    (linked / "src" / "f1.py").write_text(source(1, "changed"))
    (linked / "src" / "f2.py").write_text(source(2, "changed"))
    built = build(linked, files=[str(linked / "src" / "f1.py")])
    assert built.started_from is None
    assert app.status(str(linked))["stale_files"] == 0


def damaged(folder: Path) -> None:
    [shard] = folder.glob("symbols-*")
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)


def cut(folder: Path) -> None:
    [shard] = folder.glob("bm25-*")
    os.truncate(shard, 10)


def missing(folder: Path) -> None:
    [shard] = folder.glob("graph-*")
    shard.unlink()


def fifo(folder: Path) -> None:
    [shard] = folder.glob("facts-*")
    shard.unlink()
    os.mkfifo(shard)


def shard_is_a_link(folder: Path) -> None:
    [shard] = folder.glob("files-*")
    shard.rename(folder / "elsewhere")
    shard.symlink_to("elsewhere")


def folder_is_a_link(folder: Path) -> None:
    folder.rename(folder.parent.parent / "elsewhere")
    folder.symlink_to(folder.parent.parent / "elsewhere")


def not_sealed(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"seal": "', '"seal": "0'))


def other_program(folder: Path) -> None:
    from lci_py.index.store.manifest import read_manifest
    from lci_py.types.record import replace

    (folder / "manifest.json").write_text(replace(read_manifest(folder), program="lci-py 0").dumps())


def unknown_to_git(folder: Path) -> None:
    shutil.rmtree(folder.parent / ".git" / "worktrees" / "linked")


@pytest.mark.parametrize(
    "harm",
    [damaged, cut, missing, fifo, shard_is_a_link, folder_is_a_link, not_sealed, other_program, unknown_to_git],
    ids=lambda harm: harm.__name__,
)
def test_an_index_that_is_not_whole_and_ours_is_not_taken_over(
    main: Path, linked: Path, harm: Callable[[Path], None]
) -> None:
    build(main)
    (main / ".lci" / "cache.sqlite").unlink()
    harm(main / ".lci")
    built = build(linked)
    assert (built.started_from, built.parsed_files, built.files) == (None, FILES, FILES)
    assert app.status(str(linked), check=True)["problems"] == []


def test_an_index_of_another_user_is_not_taken_over(
    main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("LCI_CONFIG_DIR", str(tmp_path / "somebody"))
        build(main)
    assert build(linked, trust=True).started_from is None


def test_a_work_tree_that_has_next_to_nothing_in_common_starts_from_nothing(main: Path, linked: Path) -> None:
    build(main)
    for number in range(FILES - 2):
        (linked / "src" / f"f{number}.py").write_text(source(number, "other"))
    built = build(linked)
    assert (built.started_from, built.parsed_files, built.reused_files) == (None, FILES - 2, 2)


def test_a_copied_shard_that_is_damaged_while_it_is_used_is_rebuilt(
    main: Path, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lci_py.index.build import sibling

    def harmed(*args: Any) -> Any:
        copy = copied(*args)
        damaged(args[2])
        return copy

    copied = sibling.copy_shards
    build(main)
    monkeypatch.setattr(sibling, "copy_shards", harmed)
    built = build(linked)
    assert (built.files, built.started_from) == (FILES, None)
    assert app.status(str(linked), check=True)["problems"] == []
