"""Files that change after indexing: an answer never shows a line that is no longer what was indexed."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.cli.main import main
from lci_py.errors import IndexWriteError, NoIndexError
from lci_py.types.graph import GraphRequest
from lci_py.types.grep import GrepRequest
from lci_py.types.record import replace
from lci_py.types.search import MODES, Filters, SearchRequest
from lci_py.types.show import ShowRequest, Target
from tests.conftest import Ran
from tests.support import tiny_models
from tests.support.envelopes import envelope

pytestmark = pytest.mark.usefixtures("languages")

SOURCE = """\
def first():
    return "one"


def second():
    total = 2
    return total


def third():
    return "three"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "repo" / "a.py").write_text(SOURCE)
    (tmp_path / "repo" / "sub" / "b.py").write_text("def other():\n    return first()\n")
    app.build_index(str(tmp_path / "repo"), jobs=1)
    return tmp_path / "repo"


def search(root: Path, query: str, mode: str = "bm25", **more: Any) -> dict[str, Any]:
    """As if there were no time to refresh the index first."""
    with app.open_engine(str(root), refresh="never") as session:
        return envelope(session.search(SearchRequest(query, mode, **more)))  # type: ignore[arg-type]


def refreshed(root: Path, query: str, mode: str = "bm25", refresh: str | None = None, **more: Any) -> dict[str, Any]:
    with app.open_engine(str(root), refresh=refresh) as session:
        return envelope(session.search(SearchRequest(query, mode, **more)))  # type: ignore[arg-type]


def definition(root: Path, name: str) -> dict[str, Any]:
    found = search(root, "", filters=Filters(name=(name,)))
    assert found["total"] == 1
    return found["results"][0]


# --- what a search says -------------------------------------------------------------------------------------------


def test_a_fresh_file_is_not_stale(root: Path) -> None:
    assert "stale" not in definition(root, "second")
    assert definition(root, "second")["snippet"].startswith("def second():")


def test_a_change_elsewhere_in_the_file_keeps_the_snippet(root: Path) -> None:
    (root / "a.py").write_text(SOURCE.replace('"three"', '"changed"'))
    second, third = definition(root, "second"), definition(root, "third")
    assert (second["stale"], second["snippet"]) == (True, "def second():\n    total = 2")
    assert (third["stale"], third.get("snippet")) == (True, None)
    assert search(root, "second")["index"]["stale_files"] == 1


def test_a_file_that_changes_between_two_queries(root: Path) -> None:
    """What the search for conflicts has read is not kept for the next query."""
    (root / "a.py").write_text(
        "import os\n\n\n@os.x\ndef twin():\n    return 1\n\n\n@os.x\ndef twin():\n    return 2\n"
    )
    app.build_index(str(root), jobs=1)
    request = SearchRequest("", "symbolic", filters=Filters(name=("twin",)), conflicts=True, snippet=0)
    with app.open_engine(str(root)) as session:
        session.search(request)
        (root / "a.py").write_text("# something else\n" * 11)
        after = session.search(replace(request, snippet=3))
    assert [(result.stale, result.snippet) for result in after.results] == [(True, ""), (True, "")]


def test_a_phrase_of_every_file_keeps_none_of_them(root: Path) -> None:
    with app.open_engine(str(root)) as session:
        assert session.search(SearchRequest('"return"', "bm25", snippet=0)).total == 4
        assert not session.snapshot.reader._files


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links")
def test_a_folder_that_became_a_loop_of_links(root: Path) -> None:
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to("sub")
    for mode in MODES:
        found = search(root, "name:other" if mode == "symbolic" else "other", mode)["results"]
        assert [(r["stale"], r.get("snippet")) for r in found if r["file"] == "sub/b.py"] == [(True, None)]


def test_lines_that_moved_are_not_shown(root: Path) -> None:
    (root / "a.py").write_text("# a new first line\n" + SOURCE)
    for name in ("first", "second", "third"):
        assert (definition(root, name)["stale"], definition(root, name).get("snippet")) == (True, None)


def test_a_file_cut_short_is_not_shown(root: Path) -> None:
    (root / "a.py").write_text(SOURCE[:60])
    assert (definition(root, "third")["stale"], definition(root, "third").get("snippet")) == (True, None)
    assert definition(root, "first")["snippet"].startswith("def first")


def test_the_same_size_and_other_content_is_stale(root: Path) -> None:
    (root / "a.py").write_text(SOURCE.replace("total", "otter"))
    assert (definition(root, "second")["stale"], definition(root, "second").get("snippet")) == (True, None)


def test_a_file_only_touched_is_not_stale(root: Path) -> None:
    os.utime(root / "a.py", ns=(1, 1))
    assert "stale" not in definition(root, "second")
    assert search(root, "second")["index"]["stale_files"] == 0
    assert app.status(str(root))["health"] == "ok"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("gone", ["file", "folder", "folder that is a file now"])
def test_a_deleted_file_has_no_results(root: Path, mode: str, gone: str) -> None:
    query = {"symbolic": "kind:function"}.get(mode, "def function return")
    before = search(root, query, mode)
    path = "a.py" if gone == "file" else "sub/b.py"
    assert path in {result["file"] for result in before["results"]}
    if gone == "file":
        (root / "a.py").unlink()
    else:
        shutil.rmtree(root / "sub")
        if gone != "folder":
            (root / "sub").write_text("a file\n")
    found = search(root, query, mode)
    kept = [result for result in before["results"] if result["file"] != path]
    assert {result["id"] for result in found["results"]} == {result["id"] for result in kept}
    assert found["total"] == len(kept) and not any(result.get("stale") for result in found["results"])
    assert found["index"]["stale_files"] == (2 if gone == "folder that is a file now" else 1)
    assert path in app.status(str(root))["stale_paths"]


@pytest.mark.parametrize("mode", MODES)
def test_as_many_results_as_were_asked_for(tmp_path: Path, mode: str) -> None:
    for number in range(30):
        (tmp_path / f"m{number:02}.py").write_text(f"def handler_{number}(item):\n    return item\n")
    app.build_index(str(tmp_path), jobs=1)
    query = {"symbolic": "handler*"}.get(mode, "handler item")
    before = search(tmp_path, query, mode, limit=30)
    assert len(before["results"]) == 30
    for result in before["results"][:10]:
        (tmp_path / result["file"]).unlink()
    found = search(tmp_path, query, mode, limit=10)
    assert len(found["results"]) == 10 and found["total"] == 20 and found["has_more"]
    assert not any(result.get("stale") for result in found["results"])
    assert found["index"]["stale_files"] == 10


def test_definitions_callers_and_the_tree_leave_deleted_files_out(root: Path, lci: Callable[..., Ran]) -> None:
    def answer(*args: str) -> dict[str, Any]:
        return lci(*args, "--json", "--refresh", "never", cwd=root).json()

    (root / "sub" / "b.py").write_text("from a import first\n\n\ndef other():\n    return first()\n")
    app.build_index(str(root), jobs=1)
    assert answer("callers", "first")["total"] == 1 and answer("tree", "first", "--direction", "callers")["total"] == 1
    (root / "sub" / "b.py").unlink()
    assert answer("callers", "first")["total"] == answer("tree", "first", "--direction", "callers")["total"] == 0
    assert answer("def", "other")["total"] == answer("refs", "other")["total"] == 0
    assert answer("def", "first")["total"] == 1
    near = answer("search", "first", "--mode", "multiview", "--expand", "1")
    assert near["results"] and {result["file"] for result in near["results"]} == {"a.py"}


def test_a_search_looks_at_the_tree_once_however_slow_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lci_py.search.freshness import Freshness

    app.build_index(str(root), jobs=1)
    looks: list[bool] = []
    look = Freshness._look
    monkeypatch.setattr(Freshness, "_look", lambda self, whole: (looks.append(whole), look(self, whole))[1])
    clock = iter(range(10**9, 10**10, 5))
    with app.open_engine(str(root)) as session:
        monkeypatch.setattr("lci_py.search.freshness.time.monotonic", lambda: next(clock))
        session.search(SearchRequest("first second", "multiview"))
        assert len(looks) == 2  # when the index was opened, and seconds later
        session.search(SearchRequest("first second", "multiview"))
        assert len(looks) == 3


def test_the_count_of_stale_files_does_not_depend_on_the_clock(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many files are looked at, and so many read; what is gone is known of those in a folder that has changed."""
    from lci_py.search import freshness

    for number in range(40):
        (root / "sub" / f"c{number:02}.py").write_text("def late(): pass\n")
    time.sleep(0.05)  # the folders' times are believed
    app.build_index(str(root), jobs=1)
    (root / "a.py").write_text(SOURCE.replace("total", "otter"))  # of the same size
    for number in range(20, 40):
        os.utime(root / "sub" / f"c{number}.py", ns=(1, 1))
    assert search(root, "second")["index"]["stale_files"] == 1
    monkeypatch.setattr(freshness, "READ_FILES", 5)
    found = search(root, "second")["index"]
    assert (found["stale_files"], found["unchecked_files"]) == (1, 16)
    monkeypatch.setattr(freshness, "LOOKED", 10)
    found = search(root, "second")["index"]
    assert (found["stale_files"], found["unchecked_files"]) == (1, 32)
    (root / "sub" / "b.py").unlink()
    (root / "sub" / "c39.py").write_text("def late(): pass  # more\n")
    found = search(root, "second")["index"]
    # b.py, which is in a folder with another time, and a.py, which the answer has read.
    assert (found["stale_files"], found["unchecked_files"]) == (2, 32)
    assert not search(root, "name:other", "symbolic")["results"]
    assert app.status(str(root))["stale_files"] == 3


def test_a_folder_swapped_for_a_link_does_not_lead_out(root: Path, tmp_path: Path) -> None:
    shutil.rmtree(root / "sub")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "b.py").write_text("def other():\n    return first()\n")  # not even to the same content
    (root / "sub").symlink_to(tmp_path / "secret")
    found = definition(root, "other")
    assert (found["stale"], found.get("snippet")) == (True, None)


@pytest.mark.parametrize("swap", ["link", "fifo", "folder", "device"])
def test_a_file_swapped_for_something_else_is_not_opened(root: Path, swap: str) -> None:
    path = root / "a.py"
    path.rename(root / "moved.txt")
    if swap == "link":
        path.symlink_to("moved.txt")
    elif swap == "device":
        path.symlink_to("/dev/zero")
    elif swap == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    for found in (definition(root, "second"), search(root, '"total = 2"')["index"]):
        assert found.get("stale", found.get("stale_files")) and not found.get("snippet")


def test_a_quoted_phrase_is_checked_against_the_file_of_today(root: Path) -> None:
    (root / "a.py").write_text(SOURCE.replace("total = 2", "sum_ = 2"))
    assert search(root, '"total = 2"', strict=True)["results"] == []


def test_a_batch_sees_what_changes_between_two_queries(root: Path) -> None:
    with app.open_engine(str(root)) as session:
        assert not session.search(SearchRequest("second", "bm25")).results[0].stale
        (root / "a.py").write_text("#\n" + SOURCE)
        assert session.search(SearchRequest("second", "bm25")).results[0].stale


def test_stale_on_the_command_line(root: Path, lci: Callable[..., Ran]) -> None:
    (root / "a.py").write_text("\n" + SOURCE)
    ran = lci("search", "second", "--mode", "bm25", "--json", "--refresh", "never", cwd=root)
    assert (ran.code, ran.json()["results"][0]["stale"], ran.err) == (0, True, "")
    ran = lci("search", "second", "--mode", "bm25", cwd=root, LCI_REFRESH="never")
    assert ran.code == 0 and "total = 2" not in ran.out


@pytest.mark.parametrize("question", ["grep", "refs", "phrase", "show"])
def test_a_file_that_changes_while_an_answer_is_computed(
    root: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """It may have lost what it had while another file got it: such an answer is about no state of the tree."""
    from lci_py.search import freshness

    monkeypatch.setattr(freshness, "_LASTS_SECONDS", 1e9)  # the tree was compared with the index before the edit

    def asked() -> int:
        with app.open_engine(str(root), refresh="never") as session:
            assert not session.snapshot.freshness.sweep().stale
            (root / "sub" / "b.py").write_text("def other():\n    return 1\n")
            if question == "grep":
                answer = session.grep(GrepRequest("first"))
                assert [file.path for file in answer.files] == ["a.py"]
                return answer.info.stale_files
            if question == "refs":
                return session.answer("refs", GraphRequest("first")).index.stale_files
            if question == "show":
                return session.answer("show", ShowRequest((Target("other", "other", None),))).info.stale_files
            return session.search(SearchRequest('"first()"', "bm25")).index.stale_files

    assert asked() == 1


# --- a search that refreshes first ---------------------------------------------------------------------------------


def folder_state(root: Path) -> list[tuple[str, int, int]]:
    paths = sorted((root / ".lci").rglob("*"))
    return [(str(path), path.stat().st_ino, path.stat().st_mtime_ns) for path in paths]


@pytest.mark.parametrize("mode", MODES)
def test_a_few_changes_are_in_the_answer(root: Path, mode: str) -> None:
    (root / "a.py").write_text(SOURCE.replace("second", "purge") + "\n\ndef late():\n    pass\n")
    (root / "sub" / "b.py").unlink()
    (root / "c.py").write_text("def purge():\n    return 3\n")
    found = refreshed(root, "name:purge" if mode == "symbolic" else "purge", mode)
    assert found["index"]["generation"] == 2 and found["index"]["stale_files"] == 0
    files = {result["file"] for result in found["results"] if result["symbol"] == "purge"}
    assert files == {"a.py", "c.py"} and not any(r.get("stale") for r in found["results"])
    assert not refreshed(root, "name:other", "symbolic")["results"]


@pytest.mark.parametrize("change", ["files", "bytes"])
def test_many_changes_are_named_and_not_made_up_for(root: Path, change: str) -> None:
    from lci_py.search.freshness import QUICK_BYTES, QUICK_FILES

    (root / "a.py").write_text(SOURCE.replace("total", "otter"))
    if change == "files":
        for number in range(QUICK_FILES):
            (root / f"new{number}.py").write_text("def new(): pass\n")
    else:
        (root / "b.txt").write_text("a few words\n" * (QUICK_BYTES // 12 + 1))
    before = folder_state(root)
    found = refreshed(root, "second")
    assert found["index"]["generation"] == 1 and folder_state(root) == before
    assert found["index"]["stale_files"] == (QUICK_FILES + 1 if change == "files" else 2)
    assert [result["stale"] for result in found["results"] if result["file"] == "a.py"]
    found = refreshed(root, "otter", refresh="always")
    assert (found["index"]["generation"], found["index"]["stale_files"]) == (2, 0)
    assert found["results"][0]["file"] == "a.py"


LATE = "def late(value):\n    return later(value)\n\n\ndef later(value):\n    return value\n"


def left_behind(root: Path) -> int:
    """Change more than a search refreshes, as a switch of branches does; returns how many files differ."""
    from lci_py.search.freshness import QUICK_FILES

    (root / "a.py").write_text(SOURCE.replace("def first", "\n\ndef first"))
    (root / "late.py").write_text(LATE)
    for number in range(QUICK_FILES):
        (root / f"new{number}.py").write_text("def new(): pass\n")
    return QUICK_FILES + 2


def test_definitions_of_changed_files_are_found_as_they_are_now(root: Path) -> None:
    left_behind(root)

    def places(asked: str, **filters: tuple[str, ...]) -> list[tuple[str, int]]:
        found = session.definitions(asked, Filters(**filters), 10)
        return [(result.file, result.line) for result in found.results]

    with app.open_engine(str(root), refresh="never") as session:
        assert places("late") == places("late.py::late") == places("l?te") == [("late.py", 1)]
        assert places("first") == [("a.py", 3)]  # not where it was
        assert places("late", lang=("python",), kind=("function",), path=("*.py",)) == [("late.py", 1)]
        assert not places("late", lang=("go",)) and not places("late", kind=("class",)) and not places("lat")
        assert not places("late", exclude=("late.py",)) and not places("late", name=("other",))
        assert places("new", path=("new3.py", "new2.py")) == [("new2.py", 1), ("new3.py", 1)]
    (root / "a.py").write_text("")
    with app.open_engine(str(root), refresh="never") as session:
        assert not places("first")


def test_every_command_says_that_the_index_is_behind(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"{left_behind(root)} files changed since: run `lci index`"
    monkeypatch.chdir(root)

    def ran(*command: str) -> Ran:
        code = main(command)
        return Ran(code, *capsys.readouterr())

    for command in (
        ("def", "late"), ("show", "late"), ("show", "a.py:7"), ("outline", "late.py"), ("callers", "first"),
        ("path", "other", "first"), ("affected", "--files", "a.py"), ("search", "name:second", "--mode", "symbolic"),
        ("def", "first", "--format", "markdown"), ("path", "other", "first", "--format", "markdown"),
    ):  # fmt: skip
        found = ran(*command)
        assert said in found.out and not found.err, found
    for bare in (("grep", "late"), ("grep", "late", "--paths"), ("tree", "first", "--format", "dot")):
        found = ran(*bare)
        assert said in found.err and said not in found.out, found
        assert not ran(*bare, "--quiet").err
    for gone in (("show", "nowhere"), ("path", "nowhere", "first")):
        assert said in ran(*gone).err
        assert f"{ran(*gone, '--json').json()['error']['stale_files']} files" in said
    for unknown in (("callers", "late"), ("path", "other", "late")):
        found = ran(*unknown)
        assert found.code == 3 and "'late' is defined at late.py:1" in found.err, found
        assert ran(*unknown, "--json").json()["error"]["code"] == "index_behind"


@pytest.mark.parametrize("many", [False, True])
def test_a_copy_of_the_tree_is_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: bool) -> None:
    """As after `cp -r` or rsync: every file has another time, and a search reads few of them."""
    from lci_py.search import freshness

    first = tmp_path / "first"
    first.mkdir()
    for number in range(40):
        (first / f"f{number}.py").write_text(f"def f{number}(): pass\n")
    past = time.time_ns() - 10**10
    for path in first.iterdir():
        os.utime(path, ns=(past, past))
    app.build_index(str(first), jobs=1)
    root = Path(shutil.copytree(first, tmp_path / "root", copy_function=shutil.copyfile))
    monkeypatch.setattr(freshness, "READ_FILES", 10)
    (root / "f39.py").write_text("def g39(): pass\n")  # as long as it was
    for number in range(25 if many else 1):
        (root / f"new{number}.py").write_text("def new(): pass\n")
    time.sleep(0.05)  # until then the new times are not believed
    with app.open_engine(str(root), refresh="never") as session:
        info = session.definitions("f1", Filters(), 10).index
        assert info.unchecked_files == 30 and "30 files not compared" in info.behind
    for _ in range(2):
        with app.open_engine(str(root)) as session:
            found = [session.definitions(name, Filters(), 30) for name in ("new", "g39", "f39")]
            assert [answer.total for answer in found] == [25 if many else 1, 1, 0]
            info, swept = found[0].index, session.snapshot.freshness.sweep()
            assert (info.stale_files, info.unchecked_files, info.generation) == (26 if many else 0, 0, 2)
            assert swept.touched == 0


def test_times_in_the_future_are_not_noted_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after the clock was set back: no run believes them, so that no search needs to start one."""
    from lci_py.search import freshness

    for number in range(freshness.QUICK_FILES + 1):
        (tmp_path / f"f{number}.py").write_text(f"def f{number}(): pass\n")
        os.utime(tmp_path / f"f{number}.py", (2**32, 2**32))
    app.build_index(str(tmp_path), jobs=1)
    monkeypatch.setattr(freshness, "_SETTLED_NS", 0)
    with app.open_engine(str(tmp_path)) as session:
        assert session.definitions("f1", Filters(), 10).index.generation == 1
        assert not session.snapshot.freshness.sweep().worth_noting


def test_as_many_changes_as_are_few(root: Path) -> None:
    from lci_py.search.freshness import QUICK_FILES

    for number in range(QUICK_FILES):
        (root / f"new{number}.py").write_text("def new(): pass\n")
    assert refreshed(root, "name:new", "symbolic")["total"] == QUICK_FILES


def test_never_touches_nothing(root: Path) -> None:
    (root / "a.py").write_text(SOURCE + "#\n")
    before = folder_state(root)
    found = refreshed(root, "second", refresh="never")
    assert (found["index"]["generation"], found["index"]["stale_files"]) == (1, 1)
    assert folder_state(root) == before


def test_nothing_changed_nothing_done(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither is the tree listed: the folders' times say that nothing was added."""
    from lci_py.index.build import run

    time.sleep(0.05)  # the folders were made just before they were listed, and their times not believed
    (root / "a.py").write_text(SOURCE + "#\n")
    app.build_index(str(root), jobs=1)
    before = folder_state(root)
    monkeypatch.setattr(run, "walk", lambda *_: pytest.fail("the tree was listed"))
    assert refreshed(root, "second")["index"]["stale_files"] == 0
    assert folder_state(root) == before


@pytest.mark.parametrize("where", [".lci", "idx", "sub/idx", "sub/deep/idx"])
def test_the_index_folder_is_no_news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """The first build makes a folder in the root, which changes the root's time, and each build changes the folder's."""
    from lci_py.index.build import run

    monkeypatch.setenv("LCI_INDEX_DIR", str(tmp_path / where))
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.py").write_text(SOURCE)
    time.sleep(0.05)
    for text in ("#\n", "##\n"):
        (tmp_path / "a.py").write_text(SOURCE + text)
        app.build_index(str(tmp_path), jobs=1)
        (tmp_path / "sub" / "new").mkdir()  # a new time, and no new name the next time
        (tmp_path / "sub" / "new").rmdir()
        with monkeypatch.context() as patch:
            patch.setattr(run, "walk", lambda *_: pytest.fail("the tree was listed"))
            assert refreshed(tmp_path, "second")["index"]["stale_files"] == 0


def test_a_file_that_came_and_went_is_noted_by_the_next_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lci_py.index.build import run

    time.sleep(0.05)
    (root / "sub" / "tmp.o").touch()
    (root / "sub" / "tmp.o").unlink()
    time.sleep(0.05)
    assert refreshed(root, "second")["index"] | {"built_at": ""} == {
        **search(root, "second")["index"], "built_at": "", "generation": 1, "stale_files": 0
    }  # fmt: skip
    app.build_index(str(root), jobs=1)
    assert not app.build_index(str(root), jobs=1).changed
    monkeypatch.setattr(run, "walk", lambda *_: pytest.fail("the tree was listed"))
    assert refreshed(root, "second")["index"]["stale_files"] == 0


def test_a_file_that_comes_right_after_the_listing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the same tick of the clock: the folder's time does not tell."""
    from lci_py.index.build import run
    from lci_py.source.repository import walk as walking

    real = walking._Walker._judge_all

    def late(*args: Any) -> None:
        real(*args)
        folder = root / args[2].relative
        before = folder.stat()
        (folder / "late.py").write_text("def late(): pass\n")
        os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))

    walk_around = run.walk_around

    def in_this_tick(*args: Any) -> Any:
        os.utime(root)
        os.utime(root / "sub")
        return walk_around(*args)

    with monkeypatch.context() as patch:
        patch.setattr(walking._Walker, "_judge_all", late)
        patch.setattr(run, "walk_around", in_this_tick)
        app.build_index(str(root), jobs=1, full=True)
    assert search(root, "x")["index"]["stale_files"] == 2
    assert refreshed(root, "name:late", "symbolic")["total"] == 2


def test_files_that_a_run_did_not_look_at_are_still_news(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(0.05)
    (root / "sub" / "deep").mkdir()
    for name in ("c.py", "sub/c.py", "sub/deep/c.py", "sub/deep/d.py"):
        (root / name).write_text("def c(): pass\n")
    (root / ".gitignore").write_text("sub/b.py\n")
    time.sleep(0.05)
    monkeypatch.chdir(root)
    app.build_index(None, jobs=1, files=["sub/deep/d.py"])
    assert app.status(str(root))["stale_paths"] == ["c.py", "sub/b.py", "sub/c.py", "sub/deep/c.py"]
    assert refreshed(root, "name:c", "symbolic")["total"] == 4
    assert app.status(str(root))["stale_paths"] == []


@pytest.mark.parametrize("name", [".gitignore", "sub/.ignore", ".lci.toml"])
def test_a_rule_that_comes_changes_and_goes_is_news(root: Path, name: str) -> None:
    rule = 'exclude = ["b.py"]\n' if name == ".lci.toml" else "b.py\n"

    def news() -> list[str]:
        time.sleep(0.05)
        before = app.status(str(root))["stale_paths"]
        assert refreshed(root, "second")["index"]["stale_files"] == 0
        assert app.status(str(root))["stale_paths"] == []
        return before

    (root / name).write_text(rule)
    assert news() == ["sub/b.py"]
    (root / name).write_text("# " + rule)
    assert news() == ["sub/b.py"]
    (root / name).write_text(rule)
    assert news() == ["sub/b.py"]
    (root / name).unlink()
    assert news() == ["sub/b.py"]


def test_a_folder_that_is_gone_is_news(root: Path) -> None:
    shutil.rmtree(root / "sub")
    assert app.status(str(root))["stale_paths"] == ["sub/b.py"]
    assert refreshed(root, "name:other", "symbolic")["total"] == 0


# --- and cannot ----------------------------------------------------------------------------------------------------


def _lock(root: Path) -> Any:
    from lci_py.index.store import commit

    return commit.staging(root / ".lci")


@contextmanager
def _no_file_can_be_made(root: Path) -> Iterator[None]:
    """As on a file system mounted read-only; root, who may run the tests, is stopped by no mode."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lci_py.index.store.lock._try", refuse)
        yield


@contextmanager
def _another_setting(root: Path) -> Iterator[None]:
    (root / ".lci.toml").write_text("segment_chunks = 100\n")
    yield


@contextmanager
def _another_program(root: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lci_py.index.build.run.__version__", "99.0.0")
        yield


@contextmanager
def _no_model(root: Path) -> Iterator[None]:
    (root / ".lci.toml").write_text('model = "nowhere"\n')
    yield


@contextmanager
def _damage(root: Path) -> Iterator[None]:
    """Of a shard that the answer does not need."""
    next((root / ".lci").glob("graph-*")).write_bytes(b"x" * 1000)
    yield


@contextmanager
def _trusted(root: Path) -> Iterator[None]:
    """For this run only: to write is to make it one's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LCI_TRUST_INDEX", "1")
        patch.setenv("LCI_CONFIG_DIR", str(root.parent / "another user"))
        yield


@pytest.mark.parametrize(
    "obstacle",
    [_lock, _no_file_can_be_made, _another_setting, _another_program, _no_model, _damage, _trusted],
)
def test_a_search_that_cannot_refresh_still_answers(root: Path, obstacle: Callable[[Path], Any]) -> None:
    (root / "a.py").write_text(SOURCE + "#\n")
    shards = sorted(path.name for path in (root / ".lci").glob("*-*"))
    with obstacle(root):
        found = refreshed(root, "second")
    assert found["results"][0]["stale"] and found["index"]["generation"] == 1
    assert found["index"]["stale_files"] >= 1
    assert sorted(path.name for path in (root / ".lci").glob("*-*") if path.name[:4] != "tmp-") == shards


def test_always_says_why_it_cannot(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.py").write_text(SOURCE + "#\n")
    monkeypatch.setattr(app, "_ALWAYS_WAIT", 0.1)
    with _lock(root), pytest.raises(IndexWriteError, match="another"):
        refreshed(root, "second", refresh="always")
    assert refreshed(root, "second", refresh="always")["index"]["generation"] == 2


def test_always_waits_for_another_writer(root: Path) -> None:
    (root / "a.py").write_text(SOURCE + "#\n")
    lock = _lock(root)
    lock.__enter__()
    released = threading.Timer(0.3, lock.__exit__, (None, None, None))
    released.start()
    try:
        assert refreshed(root, "second", refresh="always")["index"]["generation"] == 2
    finally:
        released.join()


def test_always_makes_an_index_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    with pytest.raises(NoIndexError):
        refreshed(tmp_path, "second", refresh="never")
    assert refreshed(tmp_path, "second", refresh="always")["index"]["generation"] == 1


def test_a_model_that_takes_its_time_is_not_waited_for(root: Path, tmp_path: Path) -> None:
    model = str(tiny_models.contextual(tmp_path / "model"))
    app.build_index(str(root), jobs=1, model=model)
    generation = app.status(str(root))["generation"]
    (root / "a.py").write_text(SOURCE + "#\n")

    def found(refresh: str | None) -> dict[str, Any]:
        with app.open_engine(str(root), model, refresh=refresh) as session:
            return envelope(session.search(SearchRequest("second", "bm25")))

    assert found(None)["index"]["generation"] == generation and found(None)["results"][0]["stale"]
    assert found("always")["index"]["generation"] == generation + 1


def test_searches_at_once_refresh_once(root: Path, lci: Callable[..., Ran]) -> None:
    (root / "a.py").write_text(SOURCE + "\n\ndef purge(): pass\n")
    with ThreadPoolExecutor(4) as threads:
        many = [threads.submit(lci, "search", "purge", "--mode", "bm25", "--json", cwd=root) for _ in range(4)]
    assert app.status(str(root))["generation"] == 2
    for ran in [one.result() for one in many]:
        found = ran.json()
        assert (ran.code, found["index"]["generation"]) in [(0, 2), (1, 1)]
        assert (found["index"]["generation"] == 2) == (found["index"]["stale_files"] == 0)


def test_the_flag_beats_the_environment_beats_the_file(root: Path, lci: Callable[..., Ran]) -> None:
    (root / "a.py").write_text(SOURCE + "#\n")
    (root / ".lci.toml").write_text('refresh = "never"\n')

    def generation(*flags: str, **env: str) -> int:
        return lci("search", "second", "--mode", "bm25", "--json", *flags, cwd=root, **env).json()["index"][
            "generation"
        ]

    assert generation() == generation("--refresh", "never", LCI_REFRESH="auto") == 1
    assert generation(LCI_REFRESH="auto") == 2
    ran = lci("search", "x", "--refresh", "sometimes", cwd=root)
    assert ran.code == 2 and "auto, never, always" in ran.err


# --- what a refresh makes of it -----------------------------------------------------------------------------------


def _edit(root: Path) -> None:
    path = root / "go" / "store.go"
    path.write_text(path.read_text() + "\n// Purge removes expired sessions.\nfunc Purge() int { return 1 }\n")


def _delete(root: Path) -> None:
    next(path for path in sorted(root.glob("python/*.py"))).unlink()


def _rename(root: Path) -> None:
    path = sorted(root.glob("javascript/*.js"))[0]
    path.rename(path.with_name("renamed.js"))


def _swap_names(root: Path) -> None:
    a, b = sorted(root.glob("ruby/*.rb"))[:2]
    a.rename(root / "t")
    b.rename(a)
    (root / "t").rename(b)


def _ignore(root: Path) -> None:
    (root / ".gitignore").write_text("rust/\n")


CHANGES: dict[str, Callable[[Path], None]] = {
    "edit": _edit, "delete": _delete, "rename": _rename, "swap": _swap_names, "ignore": _ignore,
    "delete all": lambda root: [path.unlink() for path in root.rglob("*.*") if ".lci" not in path.parts] and None,
}  # fmt: skip
QUERIES = {
    "dense": ("remove expired sessions", "send a mail"),
    "bm25": ("store cache", '"return"'),
    "symbolic": ("kind:function", "kind:class"),
    "multiview": ("remove expired sessions", "store"),
}


def everything(root: Path) -> list[dict[str, Any]]:
    """Answers in every mode; generation and time apart, they say all that an index holds."""
    found = []
    with app.open_engine(str(root)) as session:
        for mode, queries in QUERIES.items():
            for query in queries:
                answer = envelope(session.search(SearchRequest(query, mode, 30)))  # type: ignore[arg-type]
                del answer["index"]["generation"], answer["index"]["built_at"]
                found.append(answer)
        counts = session.snapshot.manifest.counts
    return [*found, counts]


@pytest.mark.parametrize("change", CHANGES)
def test_a_refresh_equals_a_fresh_build(repo: Path, tmp_path: Path, change: str) -> None:
    root = Path(shutil.copytree(repo, tmp_path / "repo"))
    CHANGES[change](root)
    refreshed = app.build_index(str(root), jobs=1)
    fresh = Path(shutil.copytree(root, tmp_path / "fresh", ignore=shutil.ignore_patterns(".lci")))
    app.build_index(str(fresh), jobs=1)
    assert (refreshed.changed, refreshed.generation) == (True, 2)
    assert everything(root) == everything(fresh)
    assert not app.build_index(str(root), jobs=1).changed


def test_jobs_do_not_change_the_answer(repo: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(repo, tmp_path / "repo", ignore=shutil.ignore_patterns(".lci")))
    app.build_index(str(other), jobs=3)
    assert everything(other) == everything(repo)


def test_a_second_run_on_the_command_line_writes_nothing(root: Path, lci: Callable[..., Ran]) -> None:
    def state() -> list[tuple[str, int, int]]:
        paths = sorted((root / ".lci").rglob("*"))
        return [(str(path), path.stat().st_ino, path.stat().st_mtime_ns) for path in paths]

    before = state()
    ran = lci("index", "--json", cwd=root)
    assert (ran.code, json.loads(ran.out)["changed"], state()) == (0, False, before)


def test_a_commit_alone_moves_the_index_to_it(tmp_path: Path) -> None:
    import subprocess

    def git(*args: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *args],
            cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    git("init", "-q", "-b", "main")
    (tmp_path / "a.py").write_text("def f(): pass\n")
    app.build_index(str(tmp_path), jobs=1)
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "topic")
    again = app.build_index(str(tmp_path), jobs=1)
    assert (again.changed, again.generation) == (False, 1)
    status = app.status(str(tmp_path))
    assert (status["commit"], status["branch"], status["health"]) == (git("rev-parse", "HEAD"), "topic", "ok")


def test_a_left_out_file_that_became_a_folder_is_looked_into(tmp_path: Path, lci: Callable[..., Ran]) -> None:
    (tmp_path / "a.py").write_text("def first():\n    return 1\n")
    (tmp_path / "data").write_bytes(b"\0" * 100)
    assert lci("index", str(tmp_path), "-q").code == 0
    (tmp_path / "data").unlink()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.py").write_text("def second():\n    return 2\n")
    assert "data/b.py:1" in lci("search", "-m", "symbolic", "second", "--paths", cwd=tmp_path).out
