"""Which files the walk lists, and why it leaves the others out."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from lci_py.errors import BadGlobError, BadPathError
from lci_py.source.repository.files import read_file
from lci_py.source.repository.walk import WalkOptions, walk
from tests.support.properties import examples


@pytest.fixture(autouse=True)
def no_global_excludes(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hide the machine's git settings; the folder in place of ~/.config."""
    config = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return config


def make(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def paths(root: Path, **options: object) -> list[str]:
    return [file.path for file in walk(root, WalkOptions(**options)).files]  # type: ignore[arg-type]


def skipped(root: Path, **options: object) -> dict[str, str]:
    return {skip.path: skip.reason for skip in walk(root, WalkOptions(**options)).skipped}  # type: ignore[arg-type]


def test_files_are_sorted_by_path_and_carry_size_and_time(tmp_path: Path) -> None:
    make(tmp_path, {"b/x": "12345", "b.txt": "", "a": "1", "b-c": ""})
    result = walk(tmp_path)
    # Plain string order: "-" < "." < "/", which a folder-by-folder order would not give.
    assert [file.path for file in result.files] == ["a", "b-c", "b.txt", "b/x"]
    assert result.files[3].size == 5
    assert result.files[3].mtime_ns == (tmp_path / "b/x").stat().st_mtime_ns
    assert result == walk(tmp_path)


def test_gitignore_counts_outside_a_repository_and_prunes_a_folder_once(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "build/\n*.log\n", "build/deep/a.py": "", "x.log": "", "a.py": "", "s/build": ""})
    assert paths(tmp_path) == ["a.py", "s/build"]
    assert skipped(tmp_path) == {".gitignore": "hidden", "build/": "ignored", "x.log": "ignored"}


def test_ignore_files_can_be_switched_off(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "a", "a": "", "b/.ignore": "*", "b/c": ""})
    assert paths(tmp_path, use_ignore_files=False) == ["a", "b/c"]


@pytest.mark.parametrize(
    ("ignore_files", "kept"),
    [
        ({".gitignore": "*.a\n!keep.a\n"}, ["d/keep.a", "d/x.b"]),
        ({".gitignore": "!keep.a\n*.a\n"}, ["d/x.b"]),  # the last line that matches decides
        ({".gitignore": "*.a\n", "d/.gitignore": "!keep.a\n"}, ["d/keep.a", "d/x.b"]),  # deeper beats shallower
        ({".gitignore": "d\n", "d/.gitignore": "!keep.a\n"}, []),  # not below an ignored folder
        ({".gitignore": "d/**\n!d/keep.a\n"}, ["d/keep.a"]),  # d/** matches the entries of d, not d
        ({".gitignore": "*.a\n", ".ignore": "!keep.a\n"}, ["d/x.b"]),  # what git ignores stays out
        ({".ignore": "*.a\n", ".lciignore": "!keep.a\n"}, ["d/keep.a", "d/x.b"]),
        ({".ignore": "!*.a\n", ".gitignore": "keep.a\n"}, ["d/x.a", "d/x.b"]),
        ({".ignore": "*.a\n", ".gitignore": "!keep.a\n"}, ["d/x.b"]),
        ({".ignore": "!keep.a\n", ".lciignore": "*.a\n"}, ["d/x.b"]),
        # the stronger kind beats the deeper file
        ({".lciignore": "!keep.a\n", "d/.ignore": "*.a\n"}, ["d/keep.a", "d/x.b"]),
        ({".gitignore": "*.a\r\n!keep.a  \r\n"}, ["d/keep.a", "d/x.b"]),
        ({".gitignore": "\ufeff*.a\n"}, ["d/x.b"]),
        ({".gitignore": "*.[ab]\n!kee*\n"}, ["d/keep.a"]),
        ({".gitignore": "x*\n!*.[b]\n"}, ["d/keep.a", "d/x.b"]),
        ({".gitignore": "/d/*.[ab]\n!d/keep.a\n!**/x.b\n"}, ["d/keep.a", "d/x.b"]),
        ({".gitignore": "d/x.a\n**/d/keep.a\n"}, ["d/x.b"]),
        ({".gitignore": "d/[z-a]\nd/[\nd\\\n!\n/\n"}, ["d/keep.a", "d/x.a", "d/x.b"]),  # malformed lines are dropped
    ],
)
def test_precedence(tmp_path: Path, ignore_files: dict[str, str], kept: list[str]) -> None:
    make(tmp_path, {"d/keep.a": "", "d/x.a": "", "d/x.b": ""} | ignore_files)
    assert paths(tmp_path) == kept


def test_parents_up_to_the_git_root_and_no_further(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.c\n", "repo/.gitignore": "/sub/x.a\n*.b\n", "repo/sub/.ignore": ""})
    make(tmp_path / "repo/sub", {"x.a": "", "in/x.a": "", "x.b": "", "x.c": ""})
    assert paths(tmp_path / "repo/sub") == ["in/x.a", "x.a", "x.b", "x.c"]
    subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)
    assert paths(tmp_path / "repo/sub") == ["in/x.a", "x.c"]


def test_info_exclude_and_the_global_file_are_relative_to_the_git_root(
    tmp_path: Path, no_global_excludes: Path
) -> None:
    make(tmp_path, {"sub/a": "", "sub/b": "", "sub/c": "", "c": ""})
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    make(tmp_path, {".git/info/exclude": "/sub/a\n"})
    make(no_global_excludes, {"git/ignore": "/c\n"})
    assert paths(tmp_path) == ["sub/b", "sub/c"]
    assert paths(tmp_path / "sub") == ["b", "c"]
    # core.excludesFile replaces the default place
    subprocess.run(["git", "-C", tmp_path, "config", "core.excludesFile", make(tmp_path, {"x": "b"}) / "x"], check=True)
    assert paths(tmp_path) == ["c", "sub/c", "x"]


def test_a_repository_inside_obeys_its_own_files_only(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.a\n", "in/x.a": "", "in/x.b": "", "in/.gitignore": "*.b\n", "in/y": ""})
    assert paths(tmp_path) == ["in/y"]
    make(tmp_path, {"in/.git/info/exclude": "y\n"})
    assert paths(tmp_path) == ["in/x.a"]


def test_a_folder_with_a_git_file_is_left_out_unless_it_is_included(tmp_path: Path) -> None:
    inside = {"lib/.git": "gitdir: ../.git/modules/lib\n", "lib/.gitignore": "*.o\n", "lib/a.o": "", "lib/src/a": ""}
    make(tmp_path, {"a": "", ".git/HEAD": "", ".gitignore": "*.b\n", "lib/x.b": "", **inside})
    assert paths(tmp_path) == ["a"]
    assert skipped(tmp_path)["lib/"] == "nested_repository"
    result = walk(tmp_path)
    assert result.nested() == ["lib/"]
    assert "lib" not in dict(result.folders) and "lib/.git" in dict(result.rules)
    # Included, it is a repository like any other inside of this one.
    assert paths(tmp_path, include=("/lib/",)) == ["a", "lib/src/a", "lib/x.b"]
    assert paths(tmp_path, include=("lib/src/",)) == ["a", "lib/src/a"]
    # An ignored folder is not looked into; a root may have the file itself; a link or a FIFO of the name is none.
    make(tmp_path, {".ignore": "lib\n"})
    assert skipped(tmp_path)["lib/"] == "ignored"
    assert paths(tmp_path, include=("lib",)) == ["a"]
    assert paths(tmp_path, allow=("lib",), exclude=("src",)) == ["a", "lib/.gitignore", "lib/a.o", "lib/x.b"]
    assert paths(tmp_path / "lib") == ["src/a", "x.b"]
    (tmp_path / "lib/.git").unlink()
    (tmp_path / "lib/.git").symlink_to(tmp_path / "a")
    assert paths(tmp_path, use_ignore_files=False) == ["a", "lib/a.o", "lib/src/a", "lib/x.b"]


def test_templates_of_the_environment_are_listed_although_hidden(tmp_path: Path) -> None:
    for name in (".env", ".env.example", ".env.dist", ".env.local"):
        (tmp_path / name).write_text("A=1\n")
    (tmp_path / ".gitignore").write_text(".env.dist\n")
    assert paths(tmp_path) == [".env.example"]
    assert skipped(tmp_path) == {
        ".env": "hidden",
        ".env.dist": "ignored",
        ".env.local": "hidden",
        ".gitignore": "hidden",
    }


def test_hidden(tmp_path: Path) -> None:
    make(tmp_path, {".h": "", ".d/x": "", "a": "", ".git/config": "", "s/.lci/manifest.json": "", "s/.git/x": ""})
    assert paths(tmp_path) == ["a"]
    assert skipped(tmp_path) == {".h": "hidden", ".d/": "hidden"}
    assert paths(tmp_path, hidden=True) == [".d/x", ".h", "a"]
    make(tmp_path, {".ignore": "!.d\n"})
    assert paths(tmp_path) == [".d/x", "a"]


def test_exclude_wins_over_what_the_user_allows_and_that_over_ignore_files(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "gen/\n*.log\n", "gen/a.py": "", "gen/b.py": "", "gen/deep/c": "", "x.log": ""})
    make(tmp_path, {".ci/run": "", "src/m.py": ""})
    assert paths(tmp_path, allow=("gen/*.py", "/.ci"), exclude=("b.py",)) == [".ci/run", "gen/a.py", "src/m.py"]
    assert skipped(tmp_path, allow=("gen/*.py", "/.ci"), exclude=("b.py",)) == {
        ".gitignore": "hidden", "gen/b.py": "excluded", "gen/deep/": "ignored", "x.log": "ignored",
    }  # fmt: skip
    assert paths(tmp_path, allow=("gen/",), exclude=("/gen/deep",)) == ["gen/a.py", "gen/b.py", "src/m.py"]
    assert paths(tmp_path, allow=("gen/", "!a.py")) == ["gen/b.py", "gen/deep/c", "src/m.py"]


def test_include_brings_back_what_is_hidden_and_nothing_that_an_ignore_file_names(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": ".env\ngen/\nkey\n", ".env": "", "gen/a.py": "", ".ci/run": "", ".ci/key": ""})
    assert paths(tmp_path, include=("gen/a.py", ".ci", ".env")) == [".ci/run"]
    assert skipped(tmp_path, include=("gen/a.py", ".ci", ".env")) == {
        ".gitignore": "hidden", ".env": "not_allowed", "gen/": "not_allowed", ".ci/key": "not_allowed",
    }  # fmt: skip
    assert skipped(tmp_path, include=("*.py",))["gen/"] == "ignored"
    assert paths(tmp_path, include=(".ci",), allow=("gen/a.py",)) == [".ci/run", "gen/a.py"]
    make(tmp_path, {".ignore": "!.env\n!key\n", ".lciignore": "!gen\n"})
    assert paths(tmp_path, include=("gen/a.py", ".ci", ".env")) == [".ci/run"]


@pytest.mark.parametrize("glob", ["c", "gen/deep/c", "gen/**/c", "**/c", "/gen/**", "gen/*/c", "gen", "gen/deep/"])
def test_what_the_user_allows_reaches_into_ignored_folders(tmp_path: Path, glob: str) -> None:
    make(tmp_path, {".gitignore": "gen/\n", "gen/deep/c": "", "gen/deep/.h": ""})
    assert "gen/deep/c" in paths(tmp_path, allow=(glob,))
    assert "gen/deep/c" not in paths(tmp_path, allow=("other/**", "gen/x/c"))


def test_a_bad_glob_in_the_options_is_an_error(tmp_path: Path) -> None:
    for options in (WalkOptions(include=("a[",)), WalkOptions(allow=("a[",)), WalkOptions(exclude=("[z-a]",))):
        with pytest.raises(BadGlobError, match="bad glob"):
            walk(tmp_path, options)


def test_symlinks_are_counted_and_never_followed(tmp_path: Path) -> None:
    root = make(tmp_path / "root", {"a/f": ""})
    make(tmp_path, {"outside/secret": "", "outside/ignore": "a\n"})
    for name, target in {"out": "../outside", "loop": ".", "dangling": "no", "file": "a/f"}.items():
        (root / name).symlink_to(target)
    (root / ".gitignore").symlink_to("../outside/ignore")  # would hide a/ if it were read
    assert paths(root) == ["a/f"]
    assert skipped(root, hidden=True) == dict.fromkeys(("out", "loop", "dangling", "file", ".gitignore"), "symlink")
    (tmp_path / "link").symlink_to(root)
    assert paths(tmp_path / "link") == ["a/f"]


def test_special_files_and_large_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"ok": "12345", "big": "123456"})
    os.mkfifo(tmp_path / "fifo")
    os.mkfifo(tmp_path / ".gitignore")  # opening it would block for ever
    monkeypatch.chdir(tmp_path)  # a socket's path may have about 100 bytes only
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    assert paths(tmp_path, max_file_bytes=5) == ["ok"]
    assert skipped(tmp_path, max_file_bytes=5, hidden=True) == {
        "big": "too_large", "fifo": "special", "socket": "special", ".gitignore": "special",
    }  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tmp_path: Path) -> None:
    make(tmp_path, {"f": "", "d/x": "", "ok": ""})
    (tmp_path / "f").chmod(0)
    (tmp_path / "d").chmod(0)
    try:
        assert paths(tmp_path) == ["ok"]
        assert skipped(tmp_path) == {"f": "unreadable", "d/": "unreadable"}
        with pytest.raises(BadPathError):
            walk(tmp_path / "d")
    finally:
        (tmp_path / "d").chmod(0o700)


def test_unreadable_and_vanished_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"gone/x": "", "shut/x": "", "ok": ""})
    opened = os.open

    def failing(path: str, *rest: int, **options: int) -> int:
        if str(path).endswith("gone/"):
            raise FileNotFoundError(2, "gone")
        if str(path).endswith("shut/"):
            raise PermissionError(13, "shut")
        return opened(path, *rest, **options)

    monkeypatch.setattr(os, "open", failing)
    assert paths(tmp_path) == ["ok"]
    assert skipped(tmp_path) == {"gone/": "vanished", "shut/": "unreadable"}


def test_a_file_that_vanishes_while_its_folder_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {"gone": "", "ok": ""})
    scandir = os.scandir

    class Racing:
        def __init__(self, path: str) -> None:
            self.inner = scandir(path)

        def __enter__(self) -> list[os.DirEntry[str]]:
            entries = list(self.inner)
            (tmp_path / "gone").unlink(missing_ok=True)
            return entries

        def __exit__(self, *_: object) -> None:
            self.close()

        def close(self) -> None:
            self.inner.close()

    monkeypatch.setattr(os, "scandir", Racing)
    assert skipped(tmp_path) == {"gone": "vanished"}


def test_names_that_are_odd_but_legal_are_kept(tmp_path: Path) -> None:
    names = {"a\nb.py", "c.py\n", "esc\x1b[31m.py", "é.py", " lead", "sp ace"}
    make(tmp_path, dict.fromkeys(names, ""))
    assert set(paths(tmp_path)) == names
    make(tmp_path, {".gitignore": "*.py\n"})
    assert set(paths(tmp_path)) == {"c.py\n", " lead", "sp ace"}  # "$" must not stop at a line end within the name


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system refuses such names")
def test_a_path_that_is_not_utf8_is_counted_in_a_form_that_can_be_shown(tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path) + b"/d\xff")
    for name in (b"/d\xff/x", b"/f\xfe", b"/ok"):
        open(os.fsencode(tmp_path) + name, "w").close()
    assert paths(tmp_path) == ["ok"]
    assert skipped(tmp_path) == {r"d\xff/": "not_utf8_path", r"f\xfe": "not_utf8_path"}


def test_a_tree_deeper_than_the_recursion_limit(tmp_path: Path) -> None:
    depth = sys.getrecursionlimit() + 200
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(depth):  # step by step, since the whole path may be too long for the system
            os.mkdir("d")
            os.chdir("d")
        Path("f").touch()
        assert paths(tmp_path) == ["d/" * depth + "f"]
    finally:
        os.chdir(here)
        # pytest's own clean-up recurses, and would fail some runs later.
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_a_root_that_cannot_be_walked(tmp_path: Path) -> None:
    make(tmp_path, {"file": ""})
    with pytest.raises(BadPathError, match="no such file") as missing:
        walk(tmp_path / "no")
    with pytest.raises(BadPathError, match="not a directory") as file:
        walk(tmp_path / "file")
    assert "existing folder" in missing.value.hint
    assert "not a file" in file.value.hint


def test_pathspec_is_imported_for_globs_only(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "build/\n*.log\n", "a": ""})
    code = "import sys; from pathlib import Path; from lci_py.source.repository.walk import *; walk(Path(sys.argv[1]))"
    code += "; sys.exit('pathspec' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path)]
    package_root = Path(__file__).parents[3]
    assert subprocess.run(command, cwd=package_root, check=False).returncode == 0
    make(tmp_path, {".gitignore": "a*.log\n"})
    assert subprocess.run(command, cwd=package_root, check=False).returncode == 1


NAMES = ["a", "b", "c", "a.py", "b.txt", ".h", "x y", "[z]", "a\\b", "#a", "!a"]
LINES = [
    "a", "*", "b/", "/a", "a/", "a/*", "a/**", "**/a", "a/**/b", "!a", "!a/", "!b", "*.py", "!*.py", "[a-b]", "[!a]",
    "a?", "?", "a/b", "/a/b/", "**", "!**/b.txt", "*/", "!*/", "**/", "*b*", "x\\ y", "x y  ", "\\#a", "\\!a", "#a",
    "!", "/", "a//b", "[z-a]", "a[", "a\\", ".*", "!.h", "/*", "!/c", "**/c/**", "[[z]", "a[!b]b", "/**/a", "!a/**",
    "a/**/", "**/**", "*/b", "c/*/a", "[]a]", "[^a]", "\\[z\\]", "a\\\\b", "***", "a**", "[[:alpha:]]", "a/[!z]/b",
    "/**", "*y/", "!*.txt", "*a*b*", "*.*t*", "*[a-b]*?*", "*\\**", "*b*t/*a*", "*.[pt]y", "!*.[pt]y", "b*", "!a*", "a/*.py", "a*/", "a/b*",
]  # fmt: skip


def test_a_glob_of_many_stars_does_not_backtrack_for_ever(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*a" * 20 + "*b\n", "a" * 200: "", "a" * 200 + "b": ""})
    assert paths(tmp_path) == ["a" * 200]


def test_two_stars_after_the_root_mean_every_depth(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "/**\n!b\n", "b/a": "", "a": ""})
    assert paths(tmp_path) == []


@examples(60)
@given(
    files=st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join), min_size=1, max_size=10),
    ignores=st.lists(
        st.tuples(st.integers(0, 9), st.lists(st.sampled_from(LINES), min_size=1, max_size=5)), max_size=2
    ),
)
def test_same_files_as_git(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], ignores: list[tuple[int, list[str]]]
) -> None:
    root = tmp_path_factory.mktemp("repo")
    subprocess.run(["git", "init", "-q", "--template=", root], check=True)
    for path in files:
        try:
            make(root, {path: ""})
        except OSError:  # there is a file in place of a folder, or the reverse
            continue
    folders = [root, *sorted(path for path in root.rglob("*") if path.is_dir() and ".git" not in path.parts)]
    for where, lines in ignores:
        (folders[where % len(folders)] / ".gitignore").write_text("\n".join(lines) + "\n")
    command = ["git", "-C", str(root), "ls-files", "-co", "-z", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    assert paths(root, hidden=True) == sorted(filter(None, listed))


def test_a_shortage_of_the_process_is_no_reason_to_leave_a_file_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n")

    def no_more(*_args: object, **_options: object) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr("lci_py.source.repository.files.os.open", no_more)
        with pytest.raises(OSError, match="Too many"):
            read_file(str(tmp_path), "a.py")
        with pytest.raises(BadPathError, match="too many open files"):
            walk(tmp_path)
    assert read_file(str(tmp_path), "a.py") == b"def a(): pass\n"
