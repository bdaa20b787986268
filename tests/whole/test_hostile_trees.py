"""Trees that are made to do harm: no crash, no file outside the root, no escape sequence on the terminal.

The long form, with thousands of files: `python -m tests.torture.hostile`.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.errors import LciError
from lci_py.index.build import run, worker_pool
from lci_py.source.repository.files import read_file
from lci_py.source.repository.walk import REASONS, WalkOptions, walk
from lci_py.source.syntax.limits import DEFAULTS, LIMIT_REASONS, Limits
from lci_py.types.search import MODES
from lci_py.types.source import FileEntry
from tests.conftest import CORPUS, Ran
from tests.support.records import process_file
from tests.torture import check, hostile_trees as trees
from tests.torture.mutate import mutated
from tests.torture.shapes import EXPRESSION, shapes

pytestmark = pytest.mark.usefixtures("languages")

# --- nothing outside the root is read -----------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    trees.plant_canary(tmp_path / "outside")
    return tmp_path / "outside"


def test_links_out_of_the_root_are_not_followed(tmp_path: Path, outside: Path, lci: Callable[..., Ran]) -> None:
    root = tmp_path / "repo"
    trees.link_out(root, outside)
    word = trees.CANARY.decode()
    said = [lci("index", "--json", cwd=root), lci("index", "--dry-run", "-v", cwd=root), lci("status", cwd=root)]
    said += [lci("search", word, "--mode", mode, "--json", cwd=root) for mode in MODES]
    assert {ran.code for ran in said} == {0, 1}
    assert said[0].json()["files"] == 1
    assert said[0].json()["skipped_by_reason"] == {"symlink": 8, "hidden": 2}
    asked = (f'"query":"{word}"', f"about '{word}'")  # the second in the reason of a low confidence
    for ran in said:
        assert word not in ran.out.replace(asked[0], "").replace(asked[1], "") + ran.err
    assert not trees.holds_canary(root / ".lci") and trees.holds_canary(outside)


def test_settings_are_not_read_through_a_link(tmp_path: Path, outside: Path, lci: Callable[..., Ran]) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / ".lci.toml").symlink_to(outside / "secret.py")
    ran = lci("index", cwd=root)
    assert (ran.code, trees.CANARY.decode() in ran.out + ran.err) == (2, False)
    assert ".lci.toml is not a regular file" in ran.err


def _replace_by_link(path: Path, target: Path) -> None:
    path.rename(path.parent / f"{path.name}.was")
    path.symlink_to(target)


@pytest.mark.parametrize("level", ["a", "a/b"])
def test_a_folder_that_becomes_a_link_after_the_walk(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    root = tmp_path / "repo"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "secret.py").write_text("def fine(): pass\n")
    (outside / "b").mkdir()
    shutil.copy(outside / "secret.py", outside / "b")

    def walk_then_swap(path: Path, options: WalkOptions, *_: Any) -> Any:
        walked = walk(path, options)
        _replace_by_link(root / level, outside)
        return walked

    monkeypatch.setattr(run, "walk", walk_then_swap)
    built = app.build_index(str(root), jobs=1)
    assert (built.files, built.skipped_by_reason) == (0, {"vanished": 1})
    assert not trees.holds_canary(root / ".lci")


def test_a_folder_that_becomes_a_link_during_the_walk(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the folder itself, which would be seen at once, but the one above it."""
    root = tmp_path / "repo"
    (root / "a" / "deep").mkdir(parents=True)
    (root / "a" / "deep" / "inside.py").touch()
    opened = os.open

    def swap(path: Any, *rest: Any, **options: Any) -> int:
        if str(path).endswith("a/deep/") and not (root / "a").is_symlink():
            _replace_by_link(root / "a", outside)
        return opened(path, *rest, **options)

    monkeypatch.setattr(os, "open", swap)
    walked = walk(root)
    assert [(skip.path, skip.reason) for skip in walked.skipped] == [("a/deep/", "vanished")]
    assert walked.files == ()


def test_only_what_is_below_the_root_can_be_read(tmp_path: Path, outside: Path) -> None:
    root = tmp_path / "repo"
    trees.link_out(root, outside)
    assert read_file(str(root), "inner/kept.py") == b"def kept(): pass\n"
    assert read_file(str(root), "folder/secret.py") == "vanished"
    assert read_file(str(root), "self/inner/kept.py") == "vanished"
    assert read_file(str(root), "link.py") == read_file(str(root), "zero.py") == "symlink"
    assert read_file(str(root), "inner") == "special"


# --- ignore files and settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", trees.IGNORES)
def test_a_hostile_ignore_file(tmp_path: Path, kind: str) -> None:
    """Each took minutes, or for ever, when it was translated as it stands."""
    (tmp_path / ".gitignore").write_bytes(b"first.py\n" + trees.IGNORES[kind] + b"last.py\n")
    for name in ("first.py", "last.py", "kept.py", "a" * 200):
        (tmp_path / name).touch()
    walked = walk(tmp_path)
    assert "first.py" not in [entry.path for entry in walked.files]
    assert "kept.py" in [entry.path for entry in walked.files] or kind == "nulls"


@pytest.mark.parametrize("kind", trees.SETTINGS)
def test_a_hostile_settings_file(tmp_path: Path, lci: Callable[..., Ran], kind: str) -> None:
    data, wrong = trees.SETTINGS[kind]
    (tmp_path / ".lci.toml").write_bytes(data)
    (tmp_path / "a.py").write_text("def a(): pass\n")
    if not wrong:
        built = app.build_index(str(tmp_path), jobs=1)
        assert built.files == 1 and 1 <= len(built.warnings) <= 6
        assert not any(set(warning) & check.CONTROLS for warning in built.warnings)
        return
    with pytest.raises(LciError) as error:
        app.build_index(str(tmp_path), jobs=1)
    assert error.value.exit_code == 2 and error.value.hint and len(error.value.message) < 1000


# --- trees --------------------------------------------------------------------------------------------------------


def test_a_folder_a_thousand_levels_deep(tmp_path: Path) -> None:
    trees.deep_folder(tmp_path / "repo", 1000)
    try:
        built = app.build_index(str(tmp_path / "repo"), jobs=1)
        assert (built.files, built.skipped_by_reason) == (1, {})
        trees.deep_folder(tmp_path / "deeper", 2100)  # no system call takes a path of this length
        built = app.build_index(str(tmp_path / "deeper"), jobs=1)
        assert (built.files, built.skipped_by_reason) == (0, {"unreadable": 1})
    finally:
        subprocess.run(["rm", "-rf", "repo", "deeper"], cwd=tmp_path, check=True)  # shutil's recursion ends before


def test_many_empty_files(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"e{number}.py").touch()
    built = app.build_index(str(tmp_path), jobs=2)
    assert (built.files, built.chunks, built.skipped_by_reason) == (500, 0, {})


def test_a_tree_that_changes_all_the_time(tmp_path: Path, outside: Path) -> None:
    """Files and folders vanish, grow, and become links and pipes while the index is made of them, again and again."""
    root = tmp_path / "repo"
    stop = threading.Event()
    rng = random.Random(7)
    check.make_unstable(root, 60)
    thread = threading.Thread(target=check.keep_changing, args=(root, outside, rng, stop))
    thread.start()
    try:
        for _ in range(3):
            built = app.build_index(str(root), jobs=2)
            assert set(built.skipped_by_reason) <= set(REASONS)
    finally:
        stop.set()
        thread.join()
    assert not trees.holds_canary(root / ".lci")
    app.build_index(str(root), jobs=1)
    assert app.status(str(root))["health"] == "ok"


# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", sorted(EXPRESSION))
def test_mutated_files_are_kept(tmp_path: Path, language: str) -> None:
    sources = [path.read_bytes() for path in sorted((CORPUS / language).rglob("*")) if path.is_file()]
    rng = random.Random(language)
    for number in range(6):
        name = f"m{number}{EXPRESSION[language][0]}"
        (tmp_path / name).write_bytes(mutated(sources, rng))
        check.file_record(tmp_path, name)


@pytest.mark.parametrize("language", sorted(EXPRESSION))
def test_endless_sources_are_kept(tmp_path: Path, language: str) -> None:
    """More of each bracket, definition and call in another than a tree may be deep; a hundred thousand in the long form."""
    for number, (of, name, shape) in enumerate(shapes()):
        if of == language:
            path = f"s{number}{EXPRESSION[language][0]}"
            (tmp_path / path).write_bytes(shape(DEFAULTS.max_nesting + 100))
            found = check.file_record(tmp_path, path, Limits(max_file_seconds=0.2))
            assert not isinstance(found, str) or found in ("long_lines", "minified"), name


@pytest.mark.parametrize("pair", ["()", "[]", "{}"])
@pytest.mark.parametrize("suffix", [".py", ".js", ".c", ".md", ".rs"])
def test_a_hundred_thousand_brackets(tmp_path: Path, pair: str, suffix: str) -> None:
    data = ("x = " + (pair[0] * 50 + "\n") * 2000 + "needle\n" + (pair[1] * 50 + "\n") * 2000).encode()
    (tmp_path / f"a{suffix}").write_bytes(data)
    found = process_file(tmp_path, FileEntry(f"a{suffix}", len(data), 0), limits=Limits(max_file_seconds=0.1))
    assert not isinstance(found, str) and found.limit in ("", *LIMIT_REASONS) and "needle" in found.words


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere so small a repository is parsed in one process")
def test_a_parser_that_asks_nobody_for_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the grammar's C code this loops for ever, beyond any timeout. The worker is ended, and only that file is text."""
    monkeypatch.setattr(worker_pool, "_FORKS", True)
    (tmp_path / "a.kt").write_text("/*/**/*/public class C\n@")
    (tmp_path / "b.kt").write_text("class Neighbour\n")
    (tmp_path / ".lci.toml").write_text("max_file_seconds = 0.2\n")
    built = app.build_index(str(tmp_path), jobs=2)
    assert (built.files, built.limited_by_reason) == (2, {"parser_timeout": 1})
    assert built.symbols_by_kind == {"class": 1}


# --- terminals ----------------------------------------------------------------------------------------------------

_EVIL = "evil\x1b[31m\x1b]0;title\x07\r\n\x9b\u202e\u2028\u200b\U000e0041.py"
_UNSEEN = {*"\u200b\u200d\ufeff\U000e0041"}
_PROGRESS = re.compile(r"\r(?:\x1b\[K)?")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root, files, definitions, comments and settings, all with escape sequences in them."""
    root = tmp_path_factory.mktemp("evil") / "ro\x1b[31mot\x9b"
    root.mkdir()
    text = "\x1b]0;owned\x07\x9b2J\u202e\u2066\x85\x08\x7f\u200b\u200d\ufeff\U000e0041"
    (root / _EVIL).write_text(
        f"def evil_one(a='{text}'):\n    '''doc {text}'''\n    return '{text}'\ndef two():\n    return evil_one()  # {text}\n"
    )
    (root / f"big{_EVIL}").write_text("x = '" + "a" * 30_000 + "'\n")
    (root / f"link{_EVIL}").symlink_to(".")
    (root / f"text{_EVIL}.txt").write_text(f"# {text}\nevil words {text}\n")
    (root / f"md{_EVIL}.md").write_text(f"# evil heading {text}\n\nwords\n")
    (root / f"go{_EVIL}.go").write_text("package p\n//go:build evil\nfunc EvilOne() {}\nfunc caller() { EvilOne() }\n")
    (root / ".lci.toml").write_text('"\\u001b[31mkey" = 1\n"\\u202e" = 2\n')
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text(f"ref: refs/heads/evil{text}\n")
    (root / "dir\x1b[0m").mkdir()
    (root / "dir\x1b[0m" / "shut\x07.py").write_text("def shut(): pass\n")
    os.mkfifo(root / f"fifo{_EVIL}")
    app.build_index(str(root), jobs=1)
    return root


@pytest.mark.parametrize(
    "argv",
    [
        ["index", "--full"], ["index"], ["index", "--dry-run"], ["index", "--dry-run", "-v"], ["index", "nowhere\x1b[2J"],
        ["status"], ["status", "--json"], ["status", "--root", "nowhere\x1b[2J"], ["def", "evil_one"], ["def", "no\x1b[2Jname"],
        ["search", "evil words"], ["search", "evil", "--mode", "bm25", "--paths"],
        ["search", "evil", "--mode", "multiview", "--expand", "1", "--conflicts"],
        ["search", "evil", "--mode", "multiview", "--explain", "--trace"], ["search", "evil", "--json"],
        ["search", "evil", "--jsonl"], ["search", "kind:function", "--mode", "symbolic"],
        ["search", "no\x1b[2Jthing \x9b", "--mode", "symbolic"], ["search", "x", "--mode", "\x1b[2J"],
        ["search", "x", "--lang", "\x1b[2J"], ["search", "x", "--path", "[z-a]\x1b[2J"], ["search", "a", "--near", _EVIL],
        ["refs", "evil_one"], ["callers", "evil_one"], ["callees", "two"], ["tree", "two"], ["tree", "two", "-f", "dot"],
        ["refs", "evil_one", "--paths"], ["grep", "evil"], ["grep", "e.*l", "--json"], ["conflicts"], ["hook", "status"], ["stats"],
        ["search", "--batch", "\x1b[2J"], ["\x1b[2J"], ["search", "--\x1b[2J"],
    ],
    ids=lambda argv: re.sub("[^ -~]", "?", " ".join(argv)),
)  # fmt: skip
def test_no_control_character_reaches_a_terminal(
    evil: Path, argv: list[str], on_a_terminal: Callable[..., str]
) -> None:
    if "--near" in argv:
        (evil / _EVIL).touch()  # and so it is marked stale
    shown = on_a_terminal(evil, *argv, keyboard=False, NO_COLOR="1", PYTHONIOENCODING="utf-8")
    left = _PROGRESS.sub("", shown) if argv[0] == "index" else shown
    hidden = check.CONTROLS if {"--json", "--jsonl"} & set(argv) else check.CONTROLS | _UNSEEN  # JSON is exact
    assert shown and not set(left) & hidden, [line for line in left.splitlines() if set(line) & hidden]
