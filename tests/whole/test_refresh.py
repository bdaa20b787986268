"""A refresh handles what has changed and no more: what it reads, parses, embeds and writes after each kind of change."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.embed.contextual import ContextualEncoder
from lci_py.errors import BadPathError, ShardVersionError
from lci_py.index.build import changes, context, generation, merge_policy, run as build, segment_writer, worker
from lci_py.index.store import commit
from lci_py.index.store.manifest import MANIFEST, Segment, read_manifest
from lci_py.source.text import digest
from lci_py.types.index import BuildSummary
from lci_py.types.record import replace
from lci_py.types.search import SearchRequest
from tests.conftest import Ran
from tests.support import tiny_models
from tests.support.envelopes import envelope

FILES = 8


def source(number: int, word: str = "total") -> str:
    return "".join(
        f"def {name}_{number}(value):\n    {word} = value + {number}\n    return {word}\n\n\n"
        for name in ("read", "write", "purge")
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give the files times that are not recent."""
    root = tmp_path / "repo"
    (root / "sub").mkdir(parents=True)
    for number in range(FILES):
        path = root / ("sub" if number % 2 else "") / f"f{number}.py"
        path.write_text(source(number))
        os.utime(path, ns=(10**18 + number, 10**18 + number))
    time.sleep(0.05)
    return root


def refresh(root: Path, **how: Any) -> BuildSummary:
    return app.build_index(str(root), jobs=1, **how)


def done(built: BuildSummary) -> tuple[int, int, int]:
    """Files parsed, reused and removed."""
    return built.parsed_files, built.reused_files, built.removed_files


def segments(root: Path) -> tuple[Segment, ...]:
    return read_manifest(root / ".lci").segments


def folder_state(root: Path) -> dict[str, tuple[int, int, int]]:
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns, path.stat().st_size)
        for path in (root / ".lci").iterdir()
    }


def answers(root: Path) -> list[Any]:
    """The content of an index, without its time."""
    found = []
    with app.open_engine(str(root), refresh="never") as session:
        for mode, query in [("dense", "purge value"), ("bm25", "return total"), ("symbolic", "kind:function")]:
            answer = envelope(session.search(SearchRequest(query, mode, 500)))  # type: ignore[arg-type]
            del answer["index"]
            found.append(answer)
        found.append(envelope(session.search(SearchRequest("read or write", "multiview", 500)))["results"])
        found.append(session.snapshot.manifest.counts)
    return found


def as_if_anew(root: Path) -> bool:
    """Whether the index is what a build from nothing makes of the tree."""
    other = root.with_name("anew")
    shutil.copytree(root, other, symlinks=True, ignore=shutil.ignore_patterns(".lci"))
    app.build_index(str(other), jobs=1)
    equal = answers(root) == answers(other)
    shutil.rmtree(other)
    return equal


# --- what changed -------------------------------------------------------------------------------------------------


def test_a_first_build_does_everything(root: Path) -> None:
    built = refresh(root)
    assert done(built) == (FILES, 0, 0)
    assert (built.embedded_chunks, built.changed, built.generation) == (built.chunks, True, 1)


def test_only_what_changed_is_read_and_parsed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh(root)
    (root / "f0.py").write_text(source(0, "other"))
    read: list[str] = []
    for module in (worker, changes):
        real = module.read_file  # type: ignore[attr-defined]
        monkeypatch.setattr(module, "read_file", lambda root, path, real=real: (read.append(path), real(root, path))[1])
    built = refresh(root)
    assert set(read) == {"f0.py"}
    assert (built.parsed_files, built.removed_files, built.changed, built.generation) == (1, 0, True, 2)
    assert as_if_anew(root)


def test_the_command_line_says_what_was_done(root: Path, lci: Callable[..., Ran]) -> None:
    names = ("parsed_files", "reused_files", "removed_files", "embedded_chunks", "generation", "changed")

    def run(*flags: str) -> dict[str, Any]:
        found = lci("index", "--json", *flags, cwd=root).json()
        return {name: found[name] for name in names}

    first = run()
    assert first == {**first, "parsed_files": FILES, "reused_files": 0, "generation": 1, "changed": True}
    assert run() == {**dict.fromkeys(names, 0), "generation": 1, "changed": False}
    (root / "f0.py").unlink()
    (root / "new.py").write_text(source(99))
    third = run()
    assert third == {**third, "parsed_files": 1, "removed_files": 1, "generation": 2, "changed": True}
    assert 0 < third["embedded_chunks"] <= first["embedded_chunks"]
    assert run("--full") == {**first, "generation": 3}


def test_nothing_changed_nothing_written(root: Path) -> None:
    refresh(root)
    before = folder_state(root)
    built = refresh(root)
    assert (built.changed, built.generation, done(built), built.embedded_chunks) == (False, 1, (0, 0, 0), 0)
    assert folder_state(root) == before


def test_a_renamed_file_is_not_parsed_again(root: Path) -> None:
    refresh(root)
    (root / "f0.py").rename(root / "sub" / "renamed.py")
    built = refresh(root)
    assert built.parsed_files == 0 and built.removed_files == 1 and built.reused_files >= 1
    assert as_if_anew(root)


def test_a_renamed_folder_is_not_parsed_again(root: Path) -> None:
    refresh(root)
    (root / "sub").rename(root / "other")
    built = refresh(root)
    assert (built.parsed_files, built.removed_files) == (0, FILES // 2)
    assert as_if_anew(root)


def test_files_that_swap_their_names(root: Path) -> None:
    refresh(root)
    (root / "f0.py").rename(root / "t")
    (root / "f2.py").rename(root / "f0.py")
    (root / "t").rename(root / "f2.py")
    assert refresh(root).parsed_files == 0
    assert as_if_anew(root)


def test_a_copied_file_is_not_parsed_again(root: Path) -> None:
    refresh(root)
    shutil.copy(root / "f0.py", root / "copy.py")
    assert refresh(root).parsed_files == 0
    assert as_if_anew(root)


def test_a_copy_in_another_language_is_parsed(root: Path) -> None:
    refresh(root)
    shutil.copy(root / "f0.py", root / "copy.rb")
    assert refresh(root).parsed_files == 1
    assert as_if_anew(root)


def test_a_deleted_file_is_gone(root: Path) -> None:
    refresh(root)
    (root / "f0.py").unlink()
    built = refresh(root)
    assert (built.parsed_files, built.removed_files, built.files) == (0, 1, FILES - 1)
    assert as_if_anew(root)


def test_a_touched_file_changes_the_table_of_files_alone(root: Path) -> None:
    refresh(root)
    before = read_manifest(root / ".lci")
    os.utime(root / "f0.py")
    built = refresh(root)
    after = read_manifest(root / ".lci")
    assert (done(built), built.embedded_chunks, after.generation) == ((0, 0, 0), 0, 2)
    assert after.segments == before.segments and after.shards["graph"] == before.shards["graph"]
    assert after.shards["files"] != before.shards["files"]
    time.sleep(0.05)  # it is not believed at once
    os.utime(root / "f0.py", ns=(10**18, 10**18))
    refresh(root)
    assert not refresh(root).changed


def test_a_file_that_became_another_kind_of_file(root: Path) -> None:
    refresh(root)
    (root / "f0.py").write_bytes(b"\0binary")
    (root / "f2.py").unlink()
    (root / "f2.py").symlink_to("f4.py")
    built = refresh(root)
    assert built.files == FILES - 2 and built.skipped_by_reason == {"binary": 1, "symlink": 1}
    assert as_if_anew(root)
    assert not refresh(root).changed
    (root / "f0.py").write_text(source(0))
    assert refresh(root).files == FILES - 1
    assert as_if_anew(root)


def test_a_folder_that_is_ignored_and_comes_back(root: Path) -> None:
    refresh(root)
    (root / ".gitignore").write_text("sub/\n")
    built = refresh(root)
    assert (built.files, built.removed_files) == (FILES // 2, FILES // 2)
    (root / ".gitignore").unlink()
    built = refresh(root)
    assert (built.files, built.parsed_files) == (FILES, 0)
    assert as_if_anew(root)


def test_everything_goes_and_comes_back(root: Path) -> None:
    refresh(root)
    (root / "sub").rename(root.with_name("sub"))
    for path in root.glob("*.py"):
        path.rename(root.with_name(path.name))
    built = refresh(root)
    assert (built.files, built.chunks, segments(root)) == (0, 0, ())
    with app.open_engine(str(root)) as session:
        for mode in ("dense", "bm25", "symbolic", "multiview"):
            assert session.search(SearchRequest("read", mode)).total == 0
    assert not refresh(root).changed
    root.with_name("sub").rename(root / "sub")
    built = refresh(root)
    assert (built.parsed_files, built.reused_files) == (0, FILES // 2)
    assert as_if_anew(root)


# --- what `stat` does not tell ------------------------------------------------------------------------------------


def test_a_change_within_the_same_tick_is_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same size and times: the clock of the file system may not have moved on since the file was read."""
    path, walk_around = root / "f0.py", build.walk_around
    now = time.time_ns() + 10**9

    def at_once(*args: Any) -> Any:
        walked = walk_around(*args)
        same = [replace(e, mtime_ns=now, ctime_ns=now) if e.path == "f0.py" else e for e in walked.files]
        return replace(walked, files=tuple(same))

    monkeypatch.setattr(build, "walk_around", at_once)
    path.write_text(source(0, "first"))
    refresh(root)
    path.write_text(source(0, "other"))
    assert refresh(root).parsed_files == 1
    with app.open_engine(str(root), refresh="never") as session:
        assert session.search(SearchRequest("other", "bm25")).total == 3


def test_a_change_whose_time_was_set_back_is_found(root: Path) -> None:
    refresh(root)
    before = (root / "f0.py").stat()
    (root / "f0.py").write_text(source(0, "other"))
    os.utime(root / "f0.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (root / "f0.py").stat().st_size == before.st_size
    assert refresh(root).parsed_files == 1
    assert as_if_anew(root)


def test_files_of_an_archive_are_believed_soon(root: Path) -> None:
    """Their times are whole seconds, set when they were unpacked: that is no sign of a coarse clock."""
    for path in root.rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    time.sleep(0.05)
    refresh(root)
    with app.open_engine(str(root), refresh="never") as session:
        assert {item.mtime_ns for item in session.snapshot.files.states()} == {1_600_000_000 * 10**9}


def test_a_time_that_was_not_believed_is_noted_on_the_way(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soon = time.time() + 1000
    for path in (root / "f0.py", root / "f2.py"):
        os.utime(path, (soon, soon))
    refresh(root)

    def unsettled() -> set[str]:
        with app.open_engine(str(root), refresh="never") as session:
            return {item.path for item in session.snapshot.files.states() if item.mtime_ns < 0}

    assert unsettled() == {"f0.py", "f2.py"}
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 2000 * 10**9)
    assert not refresh(root).changed
    (root / "f1.py").write_text("def f1(): pass\n")
    refresh(root)
    assert unsettled() == set()


# --- parts of it --------------------------------------------------------------------------------------------------


def test_names_of_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh(root)
    monkeypatch.chdir(root / "sub")
    for number in range(4):
        (root / ("sub" if number % 2 else "") / f"f{number}.py").write_text(source(number, "other"))
    (root / "f4.py").unlink()
    (root / "f6.py").unlink()
    (root / "new.py").write_text(source(50))
    (root / "newer.py").write_text(source(51))
    (root / ".gitignore").write_text("f5.py\n")

    built = app.build_index(None, jobs=1, files=["f1.py", "../f4.py", str(root / "new.py"), "f5.py", "never-was.py"])
    assert (built.parsed_files, built.removed_files, built.files) == (2, 2, FILES - 1)
    left = app.status(str(root))["stale_paths"]
    assert left == ["f0.py", "f2.py", "f6.py", "newer.py", "sub/f3.py"]
    built = app.build_index(None, jobs=1, files=["never-was.py"])
    assert done(built) == (0, 0, 0) and app.status(str(root))["stale_paths"] == left
    built = refresh(root)
    assert (built.parsed_files, built.removed_files) == (4, 1)
    assert as_if_anew(root)
    for wrong in ("../../elsewhere.py", "..", ""):
        with pytest.raises(BadPathError):
            app.build_index(None, jobs=1, files=[wrong])


def test_names_of_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh(root)
    monkeypatch.chdir(root)
    for path in root.rglob("*.py"):
        path.write_text(path.read_text().replace("total", "other"))
    assert app.build_index(None, jobs=1, files=["sub"]).parsed_files == FILES // 2
    assert refresh(root).parsed_files == FILES // 2
    assert as_if_anew(root)


def test_names_of_files_without_an_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no older index whose other files could stay."""
    monkeypatch.chdir(root)
    assert app.build_index(None, jobs=1, files=["f0.py"]).files == FILES
    assert as_if_anew(root)


def test_full_does_everything_again(root: Path) -> None:
    first = refresh(root)
    built = refresh(root, full=True)
    assert (done(built), built.embedded_chunks, built.generation) == ((FILES, 0, 0), first.chunks, 2)


# --- what makes all of it anew ------------------------------------------------------------------------------------


def test_a_setting_that_every_record_depends_on(root: Path) -> None:
    refresh(root)
    (root / ".lci.toml").write_text("max_file_symbols = 2\n")
    built = refresh(root)
    assert done(built) == (FILES, 0, 0) and built.limited_by_reason == {"too_many_symbols": FILES}
    assert not refresh(root).changed
    (root / ".lci.toml").write_text("segment_chunks = 10\n")
    built = refresh(root)
    assert done(built) == (0, FILES, 0)  # of the first build
    assert as_if_anew(root)


def test_a_setting_that_decides_which_files_there_are(root: Path) -> None:
    refresh(root)
    (root / ".lci.toml").write_text('exclude = ["sub"]\n')
    built = refresh(root)
    assert (built.parsed_files, built.files) == (0, FILES // 2)
    assert not refresh(root).changed
    assert as_if_anew(root)


def test_another_version_of_the_program(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh(root)
    for module in (build, worker):
        monkeypatch.setattr(module, "__version__", "99.0.0")
    built = refresh(root)
    assert (done(built), built.generation) == ((FILES, 0, 0), 2)


def test_another_model_embeds_everything_and_parses_nothing(root: Path, tmp_path: Path) -> None:
    first = refresh(root)
    built = refresh(root, model=str(tiny_models.bags(tmp_path / "model")))
    assert (done(built), built.embedded_chunks) == ((0, FILES, 0), first.chunks)


def test_the_embedding_can_wait(root: Path) -> None:
    built = refresh(root, defer_dense=True)
    assert built.embedded_chunks == 0 and app.status(str(root))["pending_chunks"] == built.chunks
    assert not refresh(root, defer_dense=True).changed
    again = refresh(root)
    assert (again.parsed_files, again.embedded_chunks) == (0, built.chunks)
    assert as_if_anew(root)


# --- branches -----------------------------------------------------------------------------------------------------


def git(root: Path, *args: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *args], cwd=root, check=True, capture_output=True
    )


@pytest.fixture
def branches(root: Path) -> Path:
    """Two branches, of which `topic` has another f0 and f1, one file more and one less."""
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "checkout", "-qb", "topic")
    (root / "f0.py").write_text(source(0, "other"))
    (root / "sub" / "f1.py").write_text(source(1, "other"))
    (root / "more.py").write_text(source(70))
    (root / "f2.py").unlink()
    git(root, "add", "-A")
    git(root, "commit", "-qm", "two")
    git(root, "checkout", "-q", "main")
    return root


def test_a_checkout_back_and_forth_parses_nothing(branches: Path) -> None:
    for branch, parsed in (("main", FILES), ("topic", 3), ("main", 0), ("topic", 0), ("main", 0)):
        git(branches, "checkout", "-q", branch)
        assert refresh(branches).parsed_files == parsed
        assert as_if_anew(branches)


def test_contents_that_a_segment_still_has_come_back_to_life(branches: Path) -> None:
    """Nothing is parsed, embedded or written but the tables."""
    (branches / ".git" / "info" / "exclude").write_text(".lci.toml\n")
    (branches / ".lci.toml").write_text("segment_chunks = 8\n")  # of two files each, and nothing is merged
    refresh(branches)
    before = [part.shards for part in segments(branches)]
    (branches / "f4.py").write_text(source(4, "other"))
    (branches / "sub" / "f1.py").write_text(source(1, "other"))
    assert refresh(branches).embedded_chunks == 6
    git(branches, "checkout", "-q", ".")
    built = refresh(branches)
    assert (done(built), built.embedded_chunks, built.generation) == ((0, 2, 0), 0, 3)
    assert [part.shards for part in segments(branches)] == before
    assert as_if_anew(branches)


def test_a_model_that_takes_its_time_sees_each_text_once(branches: Path, tmp_path: Path) -> None:
    model, seen = str(tiny_models.contextual(tmp_path / "model")), []
    real = ContextualEncoder.encode_chunks

    def encode(self: ContextualEncoder, texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return real(self, texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ContextualEncoder, "encode_chunks", encode)
        for branch in ("main", "topic", "main", "topic"):
            git(branches, "checkout", "-q", branch)
            refresh(branches, model=model)
    assert len(seen) == len(set(seen)) == 3 * (FILES + 3)


# --- segments -----------------------------------------------------------------------------------------------------


def test_several_segments_answer_as_one(root: Path) -> None:
    (root / ".lci.toml").write_text("segment_chunks = 7000\n")
    refresh(root)
    expected = answers(root)
    (root / ".lci.toml").write_text("segment_chunks = 7\n")
    refresh(root)
    several = segments(root)
    assert len(several) > 2 and all(part.counts["chunks"] <= 7 for part in several)
    assert answers(root) == expected


def test_a_change_leaves_the_other_segments_alone(root: Path) -> None:
    (root / ".lci.toml").write_text("segment_chunks = 7\n")
    refresh(root)
    before = segments(root)
    (root / "f0.py").write_text(source(0, "other"))
    built = refresh(root)
    after = segments(root)
    assert sum(part in before for part in after) >= len(before) - 1
    assert built.embedded_chunks < built.chunks
    assert as_if_anew(root)


def test_a_segment_without_living_files_goes(root: Path) -> None:
    (root / ".lci.toml").write_text("segment_chunks = 3\n")
    refresh(root)
    before = segments(root)
    assert len(before) == FILES
    (root / "f0.py").unlink()
    refresh(root)
    assert len(segments(root)) == FILES - 1 and all(part in before for part in segments(root))
    names = {shard.name for part in segments(root) for shard in part.shards.values()}
    assert {path.name for path in (root / ".lci").glob("bm25-*")} == {n for n in names if n.startswith("bm25-")}


def test_small_segments_are_merged(root: Path) -> None:
    """However many refreshes there are, a query meets few segments."""
    refresh(root)
    for number in range(12):
        (root / f"n{number}.py").write_text(source(100 + number))
        built = refresh(root)
        assert built.parsed_files == 1
    assert len(segments(root)) == 1
    assert as_if_anew(root)


def test_few_segments_and_little_rewritten(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With segments that are large enough to be left alone: their number and what is written grow with the logarithm."""
    monkeypatch.setattr(merge_policy, "_SMALL_CHUNKS", 1)
    refresh(root)
    written = 0
    for number in range(20):
        (root / f"n{number}.py").write_text(source(100 + number))
        before = {shard.name for part in segments(root) for shard in part.shards.values()}
        refresh(root)
        assert len(segments(root)) <= 5
        new = [part for part in segments(root) if part.shards["bm25"].name not in before]
        written += sum(part.counts["files"] for part in new)
    assert written <= 20 * 8
    assert as_if_anew(root)


def test_there_is_a_limit_to_segments(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the settings say: a .lci.toml that came with a clone must not cost a query all its open files."""
    for module in (merge_policy, generation, segment_writer):
        monkeypatch.setattr(module, "MOST_SEGMENTS", 8)
    for number in range(60):
        (root / f"n{number}.py").write_text(f"def n{number}(): pass\n")
    (root / ".lci.toml").write_text("segment_chunks = 1\n")
    refresh(root)
    assert 8 < len(segments(root)) < 24
    for number in range(0, 18, 3):
        (root / f"n{number}.py").write_text(source(number))
        refresh(root)
        assert len(segments(root)) < 20
    assert as_if_anew(root)


def test_many_changes_at_random(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_policy, "_SMALL_CHUNKS", 3)
    chance = random.Random(5)
    refresh(root)
    for _ in range(6):
        for _ in range(chance.randrange(1, 4)):
            path = root / chance.choice(["", "sub"]) / f"f{chance.randrange(12)}.py"
            if path.exists() and chance.random() < 0.3:
                path.unlink()
            else:
                path.write_text(source(chance.randrange(20), chance.choice(["total", "other", "sum_"])))
        refresh(root)
        assert as_if_anew(root)
        assert not refresh(root).changed


# --- beside other writers -----------------------------------------------------------------------------------------


@contextmanager
def between_the_walk_and_the_lock(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> Any:
    real = commit.staging

    @contextmanager
    def late(index_dir: Path, wait: float = 0.0) -> Any:
        monkeypatch.setattr(commit, "staging", real)
        act()
        with real(index_dir, wait) as folder:
            yield folder

    monkeypatch.setattr(commit, "staging", late)
    yield
    monkeypatch.setattr(commit, "staging", real)


def test_a_file_that_another_writer_found_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh(root)
    (root / "f0.py").write_text(source(0, "other"))

    def other() -> None:
        (root / "new.py").write_text(source(60))
        assert refresh(root).generation == 2

    with between_the_walk_and_the_lock(monkeypatch, other):
        built = refresh(root)
    assert (built.changed, built.generation, built.files) == (False, 2, FILES + 1)  # there is nothing left to do
    assert as_if_anew(root)


def test_the_index_of_another_writer_is_not_taken_back(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a run that found nothing to do, but the commit to note."""
    git(root, "init", "-q", "-b", "main")
    refresh(root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")

    def other() -> None:
        (root / "new.py").write_text(source(60))
        assert refresh(root).generation == 2

    with between_the_walk_and_the_lock(monkeypatch, other):
        assert not refresh(root).changed
    assert read_manifest(root / ".lci").generation == 2
    assert as_if_anew(root)


def test_a_writer_of_a_newer_format_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refresh(root)
    (root / "f0.py").write_text(source(0, "other"))
    path = root / ".lci" / MANIFEST

    def other() -> None:
        path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))

    with between_the_walk_and_the_lock(monkeypatch, other), pytest.raises(ShardVersionError):
        refresh(root)
    assert json.loads(path.read_text())["format"] == 99


def test_a_file_that_changes_while_it_is_indexed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk saw one content and the parser another: the next run finds the current one."""
    real = worker.read_file
    (root / "f0.py").write_text(source(0, "first"))

    def read(where: str, path: str) -> Any:
        if path == "f0.py":
            (root / path).write_text(source(0, "other") + "# longer\n")
        return real(where, path)

    with monkeypatch.context() as patch:
        patch.setattr(worker, "read_file", read)
        refresh(root)
    with app.open_engine(str(root), refresh="never") as session:
        sha = next(item.sha for item in session.snapshot.files.states() if item.path == "f0.py")
    assert sha == digest((root / "f0.py").read_bytes())
    refresh(root)
    assert as_if_anew(root)


def test_a_file_that_is_merged_and_has_no_record_any_more(root: Path) -> None:
    """The cache may be deleted at any time: what is moved to another segment is parsed again, whatever it holds now."""
    refresh(root)
    (root / ".lci" / "cache.sqlite").unlink()
    (root / "f0.py").write_text(source(0, "other"))
    refresh(root)
    assert as_if_anew(root)


# --- large trees --------------------------------------------------------------------------------------------------


def test_the_vectors_of_a_large_tree_take_half_of_the_space(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How they are stored depends on the tree alone: an index that grows beyond the bound, or shrinks below it, is built
    anew, and a refresh above it copies rows without loss."""

    def kinds() -> set[str]:
        return {Path(segment.shards["dense"].name).suffix for segment in segments(root)}

    size = sum(path.stat().st_size for path in root.rglob("*.py"))
    monkeypatch.setattr(context, "COMPACT_BYTES", size + 100)
    refresh(root)
    assert kinds() == {".faiss"}
    (root / "more.py").write_text(source(90) + source(91))
    assert refresh(root).embedded_chunks == 30  # all of them
    assert kinds() == {".arrays"} and as_if_anew(root)
    (root / "sub" / "f1.py").write_text(source(1, "other"))
    built = refresh(root)
    assert (built.parsed_files, kinds()) == (1, {".arrays"}) and as_if_anew(root)
    (root / "more.py").unlink()
    refresh(root)
    assert kinds() == {".faiss"} and as_if_anew(root)
