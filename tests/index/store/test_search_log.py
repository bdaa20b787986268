"""The log of searches: its entries, its bounded size, files in its way, and the statistics."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.errors import UsageError
from lci_py.index.store import search_log
from lci_py.index.store.search_log import OLD_SEARCH_LOG, SEARCH_LOG, Entry, SearchLog, read_log
from lci_py.index.store.search_stats import begins, search_stats
from lci_py.processes import fork
from lci_py.types.record import replace
from lci_py.types.search import Answer, Degradation, Filters, IndexInfo, SearchRequest

INDEX = IndexInfo(1, "2025-03-01T09:30:00Z", None, None, 0)
ANSWER = Answer("secret words", "multiview", (), 7, True, INDEX, trace={"dense": {"ms": 1.23456}, "total": {"ms": 4}})


def add(log: SearchLog, query: str = "secret words", **changes: Any) -> None:
    log.add(SearchRequest(query, "multiview"), replace(ANSWER, **changes))
    assert log.problem == ""


def test_what_is_logged(tmp_path: Path) -> None:
    request = SearchRequest(
        "secret words", "multiview", limit=3, filters=Filters(path=("secret/**",)), near="secret.py", strict=True
    )
    degraded = (Degradation("dense", "timeout", "bm25", "high", "secret"),)
    answer = replace(ANSWER, degraded=degraded, plan={"intent": "fast_exact", "relaxed": ("secret",)})
    for text in (False, True):
        SearchLog(tmp_path, text=text).add(request, answer)
    file = tmp_path / SEARCH_LOG
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    without, with_text = file.read_text().splitlines()
    assert "secret" not in without
    assert with_text.count("secret") == 1
    one, other = read_log(tmp_path)
    assert one == other._replace(query=None, time=one.time)
    assert other.query == "secret words"
    assert one._replace(time="") == Entry(
        "", "multiview", "fast_exact", ("limit", "near", "path", "strict"), 0, 7, {"dense": 1.235, "total": 4},
        ("dense",), True,
    )  # fmt: skip


def test_a_long_query_is_cut(tmp_path: Path) -> None:
    add(SearchLog(tmp_path, text=True), "é\n\udcff" * 10_000)
    (entry,) = read_log(tmp_path)
    assert entry.query == ("é\n\udcff" * 10_000)[: search_log.MAX_QUERY]


def test_it_stays_small_and_keeps_the_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_log, "MAX_BYTES", 2_000)
    log = SearchLog(tmp_path, text=True)
    for number in range(200):
        add(log, f"q{number}")
    assert sorted(os.listdir(tmp_path)) == sorted([OLD_SEARCH_LOG, SEARCH_LOG])
    assert sum(item.stat().st_size for item in tmp_path.iterdir()) < 2 * 2_000 + 300
    kept = [entry.query for entry in read_log(tmp_path)]
    assert kept == [f"q{number}" for number in range(200 - len(kept), 200)]
    assert len(kept) > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forks of this process")
@pytest.mark.parametrize("most", [10**9, 6_000])
def test_many_write_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(search_log, "MAX_BYTES", most)

    def write(writer: int) -> None:
        log = SearchLog(tmp_path, text=True)
        for number in range(200):
            log.add(SearchRequest(f"{writer} {number}", "multiview"), ANSWER)
            assert not log.problem, log.problem

    started = [fork(partial(write, writer)) for writer in range(4)]
    assert [os.waitpid(process, 0)[1] for process in started] == [0] * 4
    found = [entry.query for entry in read_log(tmp_path) if entry is not None]
    assert len(found) == len(list(read_log(tmp_path))) == len(set(found))
    if most == 10**9:
        assert len(found) == 800
        for writer in range(4):
            own = [query for query in found if query.startswith(f"{writer} ")]
            assert own == [f"{writer} {number}" for number in range(200)]
    else:
        assert sum(item.stat().st_size for item in tmp_path.iterdir()) < 3 * most
        assert len(found) > 30


def test_a_file_that_another_process_has_just_put_aside_stays_there(tmp_path: Path) -> None:
    """A process that was late to find the file full must not rename the new file."""
    (tmp_path / SEARCH_LOG).write_text("full\n")
    folder = os.open(tmp_path, os.O_RDONLY)
    file = os.open(tmp_path / SEARCH_LOG, os.O_WRONLY)
    (tmp_path / SEARCH_LOG).rename(tmp_path / OLD_SEARCH_LOG)
    (tmp_path / SEARCH_LOG).write_text("new\n")
    search_log._rotate(folder, file)
    assert (tmp_path / OLD_SEARCH_LOG).read_text() == "full\n"
    assert (tmp_path / SEARCH_LOG).read_text() == "new\n"
    os.close(folder)
    os.close(file)


def link(folder: Path) -> None:
    (folder.parent / "target").touch(0o600)
    (folder / SEARCH_LOG).symlink_to(folder.parent / "target")


def linked_folder(folder: Path) -> None:
    folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(folder.parent / "elsewhere")


def readable(folder: Path) -> None:
    (folder / SEARCH_LOG).touch()
    (folder / SEARCH_LOG).chmod(0o644)


IN_THE_WAY: dict[str, Callable[[Path], object]] = {
    "link": link,
    "linked folder": linked_folder,
    "fifo": lambda folder: os.mkfifo(folder / SEARCH_LOG),
    "folder": lambda folder: (folder / SEARCH_LOG).mkdir(),
    "readable for all": readable,
    "no folder": lambda folder: folder.rmdir(),
    "read-only": lambda folder: folder.chmod(0o500),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_what_is_in_the_way_of_the_log_is_in_nobody_elses(tmp_path: Path, what: str) -> None:
    if what == "read-only" and os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    folder = tmp_path / "index"
    folder.mkdir()
    IN_THE_WAY[what](folder)
    before = {path: path.lstat().st_size for path in tmp_path.rglob("*")}
    log = SearchLog(folder, text=True)
    log.add(SearchRequest("q"), ANSWER)
    assert str(folder / SEARCH_LOG) in log.problem
    assert {path: path.lstat().st_size for path in tmp_path.rglob("*")} == before
    assert list(read_log(folder)) == []


GOOD = {"time": "2025-03-01T09:30:00Z", "mode": "dense", "results": 1, "total": 2, "ms": {"total": 3.5}}
BAD: list[object] = [
    1,
    [],
    {**GOOD, "time": "yesterday"},
    {**GOOD, "time": 1},
    {**GOOD, "mode": "x"},
    {**GOOD, "mode": ["dense"]},
    {**GOOD, "intent": 1},
    {**GOOD, "intent": "x" * 1000},
    {**GOOD, "flags": 1},
    {**GOOD, "flags": [1]},
    {**GOOD, "results": -1},
    {**GOOD, "total": True},
    {**GOOD, "total": 1e300},
    {**GOOD, "ms": {"total": None}},
    {**GOOD, "ms": []},
    {**GOOD, "query": ["q"]},
    {key: value for key, value in GOOD.items() if key != "ms"},
]


def write(folder: Path, *lines: bytes) -> None:
    (folder / SEARCH_LOG).write_bytes(b"".join(line + b"\n" for line in lines))


@pytest.mark.parametrize(
    "bad", [json.dumps(bad).encode() for bad in BAD] + [b"", b"\xff", b"[" * 100_000, b'{"ms":NaN']
)
def test_a_line_that_is_none_is_counted_and_left_out(tmp_path: Path, bad: bytes) -> None:
    good = json.dumps(GOOD).encode()
    write(tmp_path, good, bad, json.dumps({**GOOD, "ms": {"total": float("nan")}}).encode(), good)
    found = search_stats(tmp_path, None)
    assert (found["all"]["searches"], found["unreadable_lines"]) == (2, 2)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from([*GOOD, "query", "flags", "x"]), x),
    )
)
def test_any_json_can_be_read(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    folder = tmp_path_factory.getbasetemp()
    write(folder, json.dumps(value).encode(), json.dumps({**GOOD, "intent": value}).encode())
    assert search_stats(folder, None)["unreadable_lines"] in (1, 2)


# --- what is made of it -------------------------------------------------------------------------------------------


def entry(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def test_the_numbers(tmp_path: Path) -> None:
    times = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]
    lines = [
        entry(ms={"total": ms, "fusion": ms / 10}, mode="multiview", intent="fast_exact", flags=["near"])
        for ms in times
    ]
    lines += [entry(total=0, results=0, query="nothing", time="2025-03-02T00:00:00Z") for _ in range(2)]
    lines += [entry(total=0, results=0, query="less", degraded=["dense"], relaxed=True, ms={})]
    write(tmp_path, *reversed(lines))
    found = search_stats(tmp_path, None)
    assert found["all"]["searches"] == 13
    assert found["all"]["zero_results"] == 3 and found["all"]["zero_results_share"] == pytest.approx(3 / 13)
    assert found["all"]["degraded"] == found["all"]["relaxed"] == 1
    assert list(found["by_mode"]) == ["dense", "multiview"]
    assert (found["by_mode"]["multiview"]["p50_ms"], found["by_mode"]["multiview"]["p90_ms"]) == (50, 90)
    assert found["by_intent"]["fast_exact"] == found["by_mode"]["multiview"]
    assert {day: row["searches"] for day, row in found["by_day"].items()} == {"2025-03-01": 11, "2025-03-02": 2}
    assert found["stages"] == {"fusion": {"p50_ms": 5, "p90_ms": 9}}
    assert found["flags"] == {"near": 10}
    assert list(found["queries_without_results"].items()) == [("nothing", 2), ("less", 1)]
    assert (found["first"], found["last"]) == ("2025-03-01T09:30:00Z", "2025-03-02T00:00:00Z")
    later = search_stats(tmp_path, "2025-03-02")
    assert later["all"]["searches"] == 2 and list(later["by_day"]) == ["2025-03-02"]


def test_of_nothing(tmp_path: Path) -> None:
    found = search_stats(tmp_path / "none", "1d")
    assert found["all"]["searches"] == 0 and found["all"]["p50_ms"] is None and found["all"]["zero_results_share"] == 0


NOW = datetime(2025, 3, 8, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("since", "start"),
    [("30m", "2025-03-08T11:30"), ("12h", "2025-03-08T00:00"), ("7d", "2025-03-01T12:00"), ("1w", "2025-03-01T12:00"),
     ("2025-02-01", "2025-02-01T00:00")],
)  # fmt: skip
def test_since(since: str, start: str) -> None:
    assert begins(since, NOW).isoformat().startswith(start)


@pytest.mark.parametrize("since", ["", "7", "d", "-1d", "7 d", "1y", "999999w", "2025-13-01", "١d"])
def test_since_when(since: str) -> None:
    with pytest.raises(UsageError, match="--since"):
        begins(since, NOW)
