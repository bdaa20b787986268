"""Limits on the cost of one file: a file beyond them stays searchable, and the reason is reported."""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lci_py import app
from lci_py.source import file_record
from lci_py.source.extract.extract import extract
from lci_py.source.file_record import FileRecord
from lci_py.source.repository.walk import REASONS
from lci_py.source.syntax.languages import is_deep, load_languages
from lci_py.source.syntax.limits import DEFAULTS, LIMIT_REASONS, Limits, OutOfTime, graver, time_limit
from lci_py.types.record import replace
from lci_py.types.source import Extract, FileEntry
from tests.conftest import PROJECT
from tests.support.records import process_file
from tests.support.waiting import PATIENCE
from tests.torture import shapes

MANY = b"".join(b"def name%d():\n    a = 1\n    b = 2\n    return word%d\n\n\n" % (n, n) for n in range(60))


def record(root: Path, name: str, data: bytes, **limits: Any) -> FileRecord:
    (root / name).write_bytes(data)
    found = process_file(root, FileEntry(name, len(data), 0), limits=replace(DEFAULTS, **limits))
    assert not isinstance(found, str), found
    return found


def words_of(found: Extract) -> set[str]:
    return set(re.findall(r"\w+", " ".join(chunk.text for chunk in found.chunks)))


def test_reasons_have_one_place() -> None:
    assert not set(REASONS) & set(LIMIT_REASONS)
    assert graver("too_deep", "") == "too_deep" and graver("", "") == ""
    assert graver("too_deep", "parser_timeout") == graver("parser_timeout", "too_deep") == "parser_timeout"


def compute(seconds: float = 60) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


# --- nesting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [10, 240, 260, 299, 305, 400, 5000])
def test_what_nesting_hides_is_reported(levels: int) -> None:
    """A nested function is two levels of the tree. Missing definitions are reported, and none is missing below 500."""
    source = b"function f() {\n" * levels + b"word\n" + b"}\n" * levels
    found = extract("a.js", source, "javascript")
    assert len(found.symbols) == levels or found.limit == "too_deep"
    assert len(found.symbols) >= min(levels, 249)
    if levels <= 240 or levels >= 305:
        assert found.limit == ("" if levels <= 240 else "too_deep")
    assert {"word", "function"} <= words_of(found)


@pytest.mark.parametrize("depth", [1, 50, 499])
def test_a_deep_tree_is_known_by_a_few_nodes(depth: int) -> None:
    def tree(levels: int) -> Any:
        return load_languages()["python"].parser.parse(b"x = " + b"(\n" * levels + b"1" + b")\n" * levels)

    assert not is_deep(tree(0), depth + 5)
    assert not is_deep(tree(max(0, depth - 10)), depth + 5)
    assert is_deep(tree(depth + depth // 5 + 5), depth)
    assert is_deep(tree(20_000), depth)


def test_the_setting_moves_the_bound() -> None:
    source = b"function f() {\n" * 60 + b"}\n" * 60
    assert (extract("a.js", source, "javascript").limit, len(extract("a.js", source, "javascript").symbols)) == ("", 60)
    shallow = extract("a.js", source, "javascript", Limits(max_nesting=20))
    assert shallow.limit == "too_deep" and 0 < len(shallow.symbols) < 60
    assert extract("a.js", source, "javascript").symbols[59:]  # the limit does not persist


# --- symbols and chunks -------------------------------------------------------------------------------------------


def test_the_first_symbols_are_kept_and_all_text() -> None:
    found = extract("a.py", MANY, "python", Limits(max_file_symbols=10))
    assert [symbol.name for symbol in found.symbols] == [f"name{n}" for n in range(10)]
    assert found.limit == "too_many_symbols"
    assert words_of(found) == words_of(extract("a.py", MANY, "python"))
    assert all(-1 <= call.caller < 10 for call in found.calls)
    exact = extract("a.py", MANY, "python", Limits(max_file_symbols=60))
    assert (exact.limit, len(exact.symbols)) == ("", 60)


def test_too_many_chunks_become_chunks_of_lines() -> None:
    whole = extract("a.py", MANY, "python")
    found = extract("a.py", MANY, "python", Limits(max_file_chunks=20))
    assert len(whole.chunks) == 60 and len(found.chunks) < 20
    assert (found.limit, len(found.symbols), words_of(found)) == ("", 60, words_of(whole))
    least = extract("a.py", MANY, "python", Limits(max_file_chunks=1))
    assert (least.limit, len(least.chunks), least.chunks[0].line) == ("too_many_chunks", 1, 1)
    text = extract("a.txt", MANY, "text", Limits(max_file_chunks=1))
    assert (text.limit, text.chunks) == ("too_many_chunks", least.chunks)


# --- time ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["bash", "haskell"])
def test_a_parser_that_takes_too_long_is_stopped(tmp_path: Path, language: str) -> None:
    shape = shapes.repeated("haskell", "\n+ a") if language == "haskell" else shapes.comments("bash")
    name = "a" + shapes.EXPRESSION[language][0]
    found = record(tmp_path, name, shape(30_000), max_file_seconds=0.2)
    assert (found.limit, found.extract.language, found.extract.symbols) == ("parser_timeout", language, ())
    assert found.bag_sizes and 8 * len(found.bag_sizes) == 8 * len(found.extract.chunks) == len(found.digests)
    # The parser of the next file starts afresh.
    small = {"bash": b"f() {\n  true\n}\n", "haskell": b"f :: Int\nf = 1\n"}[language]
    again = record(tmp_path, name, small)
    assert (again.limit, [symbol.name for symbol in again.extract.symbols]) == ("", ["f"])


@pytest.mark.parametrize("busy", [False, True])
def test_a_query_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch, busy: bool) -> None:
    spec = load_languages()["python"]
    tree = spec.parse(MANY * 200, DEFAULTS).tree
    if busy:
        monkeypatch.setattr(time, "thread_time", lambda: 0.0)
    with pytest.raises(OutOfTime):  # otherwise it returns an incomplete result
        spec.matches(tree.root_node, Limits(max_file_seconds=0.001))
    assert len(spec.matches(tree.root_node, DEFAULTS)) >= 12_000


@pytest.mark.parametrize("kind", ["loop", "regular expression"])
def test_python_that_takes_too_long_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    def endless(*_: Any, **__: Any) -> Iterator[Extract]:
        yield from ()
        if kind == "loop":
            while True:
                pass
        re.match(r"(a+)+$", "a" * 60 + "b")
        raise AssertionError

    monkeypatch.setattr(file_record, "extract_stages", endless)
    found = record(tmp_path, "a.py", MANY, max_file_seconds=0.05)
    assert (found.limit, found.extract.language, len(found.bag_sizes)) == ("parser_timeout", "python", 3)


def test_the_alarm_is_put_back() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(OutOfTime), time_limit(0.01):
        compute()
    with time_limit(100):
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 50
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


def test_the_alarm_is_not_lost_in_a_callback_of_the_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> None:
        compute(0.05)

    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    gc.callbacks.append(slow)
    try:
        with pytest.raises(OutOfTime), time_limit(0.02):
            _kept: list[list[int]] = [[] for _ in range(100_000)]  # enough to start the collector
            compute()
        assert gc.isenabled() and not lost
    finally:
        gc.callbacks.remove(slow)


def test_an_alarm_of_somebody_else_is_left_alone() -> None:
    signal.setitimer(signal.ITIMER_PROF, 100)
    try:
        with time_limit(0.01):
            compute(0.05)
            assert signal.getitimer(signal.ITIMER_PROF)[0] > 50
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 50
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def test_a_thread_has_the_timeouts_of_parser_and_query(tmp_path: Path) -> None:
    found: list[FileRecord] = []
    data = shapes.comments("bash")(30_000)
    thread = threading.Thread(target=lambda: found.append(record(tmp_path, "a.sh", data, max_file_seconds=0.2)))
    thread.start()
    thread.join()
    assert found[0].limit == "parser_timeout"


def test_an_exception_that_is_swallowed_is_raised_again() -> None:
    rounds = 0
    with pytest.raises(OutOfTime), time_limit(0.01):
        for rounds in range(2):
            try:
                compute()
            except OutOfTime:
                if rounds:
                    raise
    assert rounds == 1


def test_waiting_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = file_record.extract_stages

    def slow(*given: Any, **part: Any) -> Iterator[Extract]:
        time.sleep(0.4)
        yield from real(*given, **part)

    monkeypatch.setattr(file_record, "extract_stages", slow)
    assert record(tmp_path, "a.py", MANY, max_file_seconds=0.3).limit == ""


def test_a_parser_on_a_busy_machine_goes_on() -> None:
    """As on a busy processor: the parser's timeout, in wall-clock time, expires again and again."""
    source = MANY * 100
    spec = load_languages()["python"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "thread_time", lambda: 0.0)
        tree = spec.parse(source, Limits(max_file_seconds=0.002)).tree
    assert tree.root_node.child_count == 6000 and not tree.root_node.has_error


# --- memory -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="the limit, and the fork that makes it small here, are Linux's")
@pytest.mark.parametrize("name", ["a.py", "a.c"])
def test_a_file_that_needs_too_much_memory_is_kept_as_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((b"f(1);\n" if name == "a.py" else b"int a;\n") * 40_000)
    (tmp_path / "b.py").write_text("def other(): pass\n")
    # Without memory, the parser's binding may go through all matches and fail at each: the time limit ends that.
    (tmp_path / ".lci.toml").write_text("max_file_seconds = 1\n")
    # A process of its own: what the tests before this one have freed would be used first, and not count.
    script = (
        "from lci_py import app\nfrom lci_py.source import file_record\nfile_record.WORKER_BYTES = 30_000_000\n"
        f"built = app.build_index({str(tmp_path)!r}, jobs=2)\n"
        "print((built.files, built.limited_by_reason, built.skipped_by_reason))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE, env=env)
    ends = [f"(2, {{'parser_{how}': 1}}, {{'hidden': 1}})\n" for how in ("crash", "timeout")]
    assert done.stdout in ends and not done.stderr


# --- as a user sees it --------------------------------------------------------------------------------------------


def test_limited_files_are_counted_named_and_found(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_bytes(MANY)
    (tmp_path / "deep.js").write_bytes(b"function f() {\n" * 400 + b"hiddenword\n" + b"}\n" * 400)
    (tmp_path / "plain.py").write_text("def plain(): pass\n")
    (tmp_path / ".lci.toml").write_text("max_file_symbols = 50\nmax_line_bytes = 1000\n")
    (tmp_path / "wide.py").write_text("x = '" + "a" * 1000 + "'\n")
    built = app.build_index(str(tmp_path), jobs=1)
    assert built.limited_by_reason == {"too_many_symbols": 2} or built.limited_by_reason == {
        "too_deep": 1, "too_many_symbols": 1,
    }  # fmt: skip
    status = app.status(str(tmp_path))
    assert status["limited_by_reason"] == built.limited_by_reason
    assert [item["path"] for item in status["limited"]] == ["deep.js", "many.py"]
    assert built.skipped_by_reason == {"hidden": 1, "long_lines": 1}
    from lci_py.types.search import SearchRequest

    with app.open_engine(str(tmp_path)) as session:
        for word in ("hiddenword", "word59"):
            assert session.search(SearchRequest(word, "bm25")).results
    assert not app.build_index(str(tmp_path), jobs=1).changed
    (tmp_path / ".lci.toml").write_text("max_file_symbols = 1000\nmax_nesting = 5000\n")
    changed = app.build_index(str(tmp_path), jobs=2)
    assert (changed.changed, changed.limited_by_reason) == (True, {})
