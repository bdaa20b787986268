"""The process beside a worker that indexes parts in forks of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lci_py.cluster import index_part
from lci_py.cluster.index_part import Asked, end_waiting, indexed
from lci_py.cluster.sources import Run
from lci_py.errors import UsageError

_ALL = Run("", None, 0, "")


def test_one_process_indexes_all_parts_of_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be indexed does not end it. If it was killed, the next part has another one."""
    started = []
    start = index_part._started
    monkeypatch.setattr(index_part, "_started", lambda: started.append(start()) or started[-1])
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "m.py").write_text("def a(): ...\n")
    # A folder of this name in the current folder is not the program.
    (tmp_path / "lci_py").mkdir()
    (tmp_path / "lci_py" / "__init__.py").write_text("raise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    asked = Asked(str(tmp_path / "store"), "a", str(tmp_path / "a"), "", _ALL)
    try:
        part, warnings = indexed(asked)
        assert part is not None and (part.counts["files"], warnings) == (1, [])
        with pytest.raises(UsageError, match="gone is not a folder"):
            indexed(asked._replace(source=str(tmp_path / "gone")))
        assert indexed(asked._replace(name="b"))[1] == [] and len(started) == 1
        started[0].kill()
        started[0].wait()
        assert indexed(asked)[1] == [] and len(started) == 2
    finally:
        end_waiting()
    assert all(process.poll() is not None for process in started)


def _process(made: str) -> subprocess.Popen[str]:
    """The process, which does something else instead of indexing."""
    script = (
        "import os, sys, time\nfrom lci_py.cluster import index_part\n"
        f"index_part._load = bool\nindex_part._made = lambda data: {made}\nindex_part.main()\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip


def test_a_fork_that_crashes_is_an_error_of_its_part() -> None:
    process = _process("os.kill(os.getpid(), data['signal']) if data['signal'] else data")
    assert process.stdin is not None and process.stdout is not None
    for signal in (11, 0):
        process.stdin.write(json.dumps({"signal": signal}) + "\n")
        process.stdin.flush()
        found = json.loads(process.stdout.readline())
        assert found == {"signal": 0} if signal == 0 else "by signal 11" in found["error"]
    process.communicate()
    assert process.returncode == 0


def test_a_fork_ends_when_the_worker_has_ended(tmp_path: Path) -> None:
    """The process sees it at once, and its fork sees that the process is gone."""
    process = _process(f"(open({str(tmp_path / 'pid')!r}, 'w').write(f'{{os.getpid()}}\\n'), time.sleep(600))")
    assert process.stdin is not None
    process.stdin.write("{}\n")
    process.stdin.flush()
    said = ""
    while not said.endswith("\n"):
        time.sleep(0.02)
        with suppress(FileNotFoundError):
            said = (tmp_path / "pid").read_text()
    process.stdin.close()
    assert process.wait(60) == 0
    assert process.stdout is not None
    process.stdout.close()
    for _ in range(600):
        try:
            os.kill(int(said), 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the fork goes on")
