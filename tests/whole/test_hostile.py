"""Hostile repositories and hostile moments: a clear answer or a clear error, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.index.build import run
from lci_py.source.repository.walk import WalkOptions, walk
from lci_py.types.search import MODES
from tests.conftest import PROJECT, Ran
from tests.support.waiting import PATIENCE

DEEP = 20_000
NEWLINE, ESCAPE = "new\nline.py", "esc\x1b[31mred\x1b]0;title\x07.py"

FILES: dict[str, bytes] = {
    "good.py": b"def survivor():\n    return 1\n",
    "broken.py": b"def half(:\n    return ((\nclass\n\ndef whole_after_error():\n    return 1\n",
    "broken.js": b"const a = ;\nfunction whole() { return 1 }\n}}}}\n",
    "zero.py": b"",
    "blank.py": b"\n\n   \n",
    "no_newline.py": b"def no_newline():\n    return 1",
    "crlf.py": b"def crlf_one():\r\n    return 1\r\n\r\n\r\ndef crlf_two():\r\n    return 2\r\n",
    "cr.c": b"int cr_only(void) {\r  return 1;\r}\r",
    "bom.py": b"\xef\xbb\xbfdef with_bom():\n    return 1\n",
    "latin1.py": b"# caf\xe9\ndef latin_one():\n    return 'na\xefve'\n",
    "bad_utf8.py": b"def bad\xff\xfename():\n    return b'\xc0\x80\xed\xa0\x80'\n\n\ndef after_bad():\n    pass\n",
    "nul.py": b"def with_nul():\n    return '\0'\n",
    "late_nul.py": b"def late_nul():\n    pass\n" + b"# " + b"a\n# " * 4000 + b"\0\n",
    "escape_text.py": b"def escape_text():\n    return '\x1b[2J\x1b]0;owned\x07'  # \xe2\x80\xae\n",
    "utf16.py": "def sixteen(): pass\n".encode("utf-16"),
    "brackets.py": b"[" * 100_000 + b"\n",
    "brackets.js": b"(\n" * 20_000,
    "parens.py": b"x = " + b"(\n" * DEEP + b"1" + b")\n" * DEEP + b"\ndef after_parens():\n    pass\n",
    "parens.js": b"x = " + b"(\n" * DEEP + b"1" + b")\n" * DEEP + b";\nfunction afterParens() {}\n",
    "parens.c": b"int x = " + b"(\n" * DEEP + b"1" + b")\n" * DEEP + b";\nint after_parens_c(void) { return 1; }\n",
    "one_line.js": b"function a(b){return b+1};" * 75_000,
    "fifty_megabytes.py": b"a" * 50_000_000,
    "long_line.py": b"x = '" + b"a" * 100_000 + b"'\n",
    NEWLINE: b"def in_newline_path():\n    pass\n",
    ESCAPE: b"def in_escape_path():\n    pass\n",
    "größe/名.py": b"def unicode_path():\n    pass\n",
    "-n.py": b"def dash_path():\n    pass\n",
    "a b/'q\".py": b"def quoted_path():\n    pass\n",
}
SKIPPED = {
    "nul.py": "binary", "utf16.py": "binary", "brackets.py": "long_lines", "one_line.js": "minified",
    "fifty_megabytes.py": "too_large", "long_line.py": "long_lines", "link.py": "symlink", "fifo.py": "special",
    "loop": "symlink", "bytes-\\xff.py": "not_utf8_path",
}  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, lci: Callable[..., Ran]) -> tuple[Path, Ran]:
    """Everything at once, indexed by the program as a user runs it."""
    root = tmp_path_factory.mktemp("hostile") / "repo"
    for name, data in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    for number in range(300):
        (root / "tiny").mkdir(exist_ok=True)
        (root / "tiny" / f"t{number}.py").write_text(f"def tiny_{number}(): pass\n")
    (root / "link.py").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(".")
    os.mkfifo(root / "fifo.py")
    (Path(os.fsdecode(os.fsencode(root) + b"/bytes-\xff.py"))).write_text("def odd(): pass\n")
    return root, lci("index", "--json", cwd=root)


@pytest.fixture(scope="module")
def found(hostile: tuple[Path, Ran]) -> Callable[[str], list[Any]]:
    def by_name(name: str) -> list[Any]:
        from lci_py.types.search import Filters, SearchRequest

        with app.open_engine(str(hostile[0])) as session:
            return list(session.search(SearchRequest("", "symbolic", 5, Filters(name=(name,)))).results)

    return by_name


def test_a_hostile_repository_is_indexed(hostile: tuple[Path, Ran]) -> None:
    _, ran = hostile
    assert (ran.code, ran.err) == (0, "")
    built = ran.json()
    assert built["files"] == len(FILES) + 300 - sum(name in FILES for name in SKIPPED)
    assert sum(built["skipped_by_reason"].values()) == len(SKIPPED)


def test_what_is_left_out_is_named(hostile: tuple[Path, Ran]) -> None:
    _, skipped, _ = app.dry_run(str(hostile[0]))
    assert {skip.path: skip.reason for skip in skipped} == SKIPPED


@pytest.mark.parametrize(
    "name",
    ["survivor", "whole_after_error", "whole", "no_newline", "crlf_one", "crlf_two", "cr_only", "with_bom", "latin_one",
     "after_bad", "late_nul", "escape_text", "after_parens", "afterParens", "after_parens_c", "in_newline_path",
     "in_escape_path", "unicode_path", "dash_path", "quoted_path", "tiny_299"],
)  # fmt: skip
def test_definitions_survive(found: Callable[[str], list[Any]], name: str) -> None:
    assert [result.symbol for result in found(name)] == [name]
    assert not found(name)[0].stale


def test_lines_are_counted_by_line_feeds(found: Callable[[str], list[Any]]) -> None:
    result = found("crlf_two")[0]
    assert (result.line, result.end_line, result.snippet) == (5, 6, "def crlf_two():\n    return 2")


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_answers_on_a_hostile_repository(
    hostile: tuple[Path, Ran], lci: Callable[..., Ran], mode: str
) -> None:
    query = "kind:function" if mode == "symbolic" else "path newline escape text"
    root, _ = hostile
    ran = lci("search", query, "--mode", mode, "--json", "-n", "2000", cwd=root)
    assert (ran.code, ran.err) == (0, "")
    assert {NEWLINE, ESCAPE} <= {result["file"] for result in ran.json()["results"]}
    assert not [char for char in ran.out.rstrip("\n") if ord(char) < 32 or 0x7F <= ord(char) < 0xA0 or char == "\u202e"]


@pytest.mark.parametrize("flags", [[], ["--paths"], ["--jsonl"]])
def test_no_control_character_reaches_the_terminal(
    hostile: tuple[Path, Ran], lci: Callable[..., Ran], flags: list[str]
) -> None:
    ran = lci("search", "in_newline_path in_escape_path escape_text", "--mode", "bm25", *flags, cwd=hostile[0])
    assert ran.code == 0 and "esc" in ran.out and "new" in ran.out
    assert not set(ran.out) & ({chr(code) for code in range(32)} - {"\n", "\t"} | {"\x7f", "\u202e"})
    assert not any(line.startswith("line.py") for line in ran.out.splitlines())


def test_status_of_a_hostile_repository(hostile: tuple[Path, Ran], lci: Callable[..., Ran]) -> None:
    (hostile[0] / ESCAPE).touch()
    for flags in (["--json"], []):
        ran = lci("status", *flags, cwd=hostile[0])
        assert (ran.code, "\x1b" in ran.out, ran.err) == (0, False, "")


# --- nearly nothing -----------------------------------------------------------------------------------------------


def test_files_without_a_word_at_the_end_of_the_list(tmp_path: Path) -> None:
    """They have a name, and so a row of their own, but nothing that could be a result."""
    (tmp_path / "a.py").write_text("def zebra_one(): pass\n# say zebra zz now\n")
    (tmp_path / "zebra.py").touch()
    (tmp_path / "zz.py").touch()
    app.build_index(str(tmp_path), jobs=1)
    from lci_py.types.search import SearchRequest

    with app.open_engine(str(tmp_path)) as session:
        for mode in MODES:
            for query in ("zebra", "zz", '"zebra zz now"', '"say zebra zz now"'):
                if mode != "symbolic":
                    assert session.search(SearchRequest(query, mode)).index.stale_files == 0


@pytest.mark.parametrize("kind", ["empty", "only ignored", "only binary", "only blank"])
def test_a_repository_without_text(tmp_path: Path, lci: Callable[..., Ran], kind: str) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    if kind == "only ignored":
        (root / ".gitignore").write_text("*\n")
        (root / "a.py").write_text("def a(): pass\n")
    elif kind == "only binary":
        (root / "a.bin").write_bytes(b"\0" * 100)
    elif kind == "only blank":
        (root / "a.py").write_text("\n")
    assert app.build_index(str(root), jobs=1).chunks == 0
    from lci_py.types.search import SearchRequest

    with app.open_engine(str(root)) as session:
        for mode in MODES:
            answer = session.search(SearchRequest("name:a" if mode == "symbolic" else "a", mode))
            assert (answer.results, answer.total, answer.degraded) == ((), 0, ())
    if kind == "empty":
        ran = lci("search", "a", "--json", cwd=root)
        assert (ran.code, ran.json()["results"]) == (1, [])


@pytest.mark.parametrize(
    ("argv", "code", "error"),
    [
        (["index", "nowhere"], 2, "bad_path"),
        (["index", "file.py"], 2, "bad_path"),
        (["index", "--dry-run", "nowhere"], 2, "bad_path"),
        (["search", "x", "--root", "nowhere"], 2, "bad_path"),
        (["search", "x", "--mode", "fuzzy"], 2, "unknown_mode"),
        (["search", "x", "--path", "[z-a]", "--root", "."], 2, "bad_glob"),
        (["search", "x", "--batch", "nowhere"], 2, "usage"),
        (["search", "--batch", "nowhere"], 2, "bad_path"),
        (["search", ""], 2, "usage"),
        (["frobnicate"], 2, "usage"),
    ],
)
def test_errors_are_one_json_object(
    hostile: tuple[Path, Ran], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path, argv: list[str], code: int, error: str,
) -> None:  # fmt: skip
    from lci_py.cli.main import main

    monkeypatch.chdir(hostile[0])
    if "file.py" in argv:
        (tmp_path / "file.py").touch()
        monkeypatch.chdir(tmp_path)
    assert main([*argv, "--json"]) == code
    out, err = capsys.readouterr()
    found = json.loads(out)["error"]
    assert (found["code"], err) == (error, "")
    assert found["message"] and "hint" in found


# --- files that change under the program's hands --------------------------------------------------------------------


def _swap_for_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def _swap_for_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _swap_for_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _grow(path: Path) -> None:
    os.truncate(path, 100_000_000)  # sparse: costs no disk


SWAPS: dict[str, tuple[Callable[[Path], None], str]] = {
    "vanished": (Path.unlink, "vanished"),
    "symlink": (_swap_for_link, "symlink"),
    "fifo": (_swap_for_fifo, "special"),
    "folder": (_swap_for_folder, "special"),
    "grown": (_grow, "too_large"),
}


@pytest.mark.parametrize("swap", SWAPS)
def test_a_file_swapped_after_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: str) -> None:
    (tmp_path / "a.py").write_text("def a(): pass\n")
    (tmp_path / "b.py").write_text("def b(): pass\n")
    change, reason = SWAPS[swap]

    def walk_then_swap(root: Path, options: WalkOptions, *_: Any) -> Any:
        walked = walk(root, options)
        change(tmp_path / "a.py")
        return walked

    monkeypatch.setattr(run, "walk", walk_then_swap)
    built = app.build_index(str(tmp_path), jobs=1)
    assert (built.files, built.skipped_by_reason) == (1, {reason: 1})
    monkeypatch.undo()
    assert app.build_index(str(tmp_path), jobs=1).changed  # it was made from a tree that is no longer there


def test_a_folder_that_vanishes_during_the_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "a.py").write_text("def a(): pass\n")
    (tmp_path / "here.py").write_text("def b(): pass\n")
    real = os.open

    def opened(path: Any, *rest: Any, **options: Any) -> int:
        if str(path).endswith("gone/"):
            os.remove(tmp_path / "gone" / "a.py")
            os.rmdir(path)
        return real(path, *rest, **options)

    monkeypatch.setattr(os, "open", opened)
    built = app.build_index(str(tmp_path), jobs=1)
    assert (built.files, built.skipped_by_reason) == (1, {"vanished": 1})


# --- output ------------------------------------------------------------------------------------------------------


def test_a_reader_that_goes_away(hostile: tuple[Path, Ran]) -> None:
    read, write = os.pipe()
    os.close(read)
    for argv in (["search", "kind:function", "--mode", "symbolic", "-n", "900"], ["index", "--dry-run"]):
        done = subprocess.run(
            [sys.executable, "-m", "lci_py", *argv], cwd=hostile[0], stdout=write, stderr=subprocess.PIPE, timeout=PATIENCE,
            check=False, env={**os.environ, "PYTHONPATH": str(PROJECT)},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
    os.close(write)
