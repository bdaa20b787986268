"""Ctrl-C at any moment: exit code 130, at most one line, no process and no temporary file left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and forks as Linux has them")

_FILES = 60
_STOPPED = re.compile(
    r"lci: (stopped: \d+ of \d+ files are kept, `lci index` goes on from there"
    r"|interrupted, the index is unchanged; run the command again)\n"
)
#: Runs the program, and sends Ctrl-C to itself at the given step: at any function's call or return, imports included.
_AT_STEP = """
import os, signal, sys
import lci_py.__main__
step, seen = int(sys.argv.pop(1)), 0
def count(*_):
    global seen
    seen += 1
    if seen == step:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)
sys.setprofile(count)
lci_py.__main__.run()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(_FILES):
        body = "".join(f"    x{i} = f{number}({i})\n" for i in range(100))
        (root / f"m{number}.py").write_text(f"import m{number // 2}\n\n\ndef f{number}(x):\n{body}    return x\n")
    return root


def _start(command: Sequence[str], root: Path) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "LCI_INDEX_DIR": str(root.parent / "index")}
    return subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, start_new_session=True
    )


def _runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _left(process: subprocess.Popen[str], root: Path) -> list[str]:
    """Temporary files, and a lock that somebody holds, when all processes of its group have ended."""
    until(lambda: not _runs(process.pid), "the end of every process of the group")
    index = root.parent / "index"
    names = os.listdir(index) if index.is_dir() else []
    lock = index / "write.lock"
    return [
        *(name for name in names if name.startswith("tmp-")),
        *(["the lock's holder"] if lock.exists() and lock.read_text().strip() else []),
    ]


# Half of the steps lie in the imports of the start.
STEPS = (1, 5_000, 60_000, 300_000)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("command", ["index", "search"])
def test_at_any_step_of_the_program(root: Path, command: str, step: int) -> None:
    argv = (
        ["index", "--jobs", "2"] if command == "index" else ["search", "m1", "--mode", "multiview", "--refresh=always"]
    )
    process = _start([sys.executable, "-c", _AT_STEP, str(step), *argv], root)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 130), err
    if process.returncode == 130:
        assert err == "" or _STOPPED.fullmatch(err), err
        assert out == ""
    assert not _left(process, root)


@pytest.mark.parametrize("tenths", (0, 3, 6))
def test_at_any_time_after_the_first_line_of_the_program(root: Path, tenths: int) -> None:
    """As a terminal does: to all processes of the group, whatever they do. The interpreter says what it has imported."""
    process = _start([sys.executable, "-X", "importtime", "-m", "lci_py", "index", "--jobs", "2"], root)
    assert process.stderr is not None
    while not next(process.stderr).rstrip().endswith("lci_py.interrupts"):
        pass
    next(process.stderr)  # one that is imported after Ctrl-C is handled
    time.sleep(tenths / 10)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE)
    err = "".join(line for line in told.splitlines(keepends=True) if not line.startswith("import time:"))
    assert process.returncode in (0, 130), err
    assert err == "" or (process.returncode == 130 and _STOPPED.fullmatch(err)), err
    assert not _left(process, root)


def test_an_interrupt_in_an_import_is_no_other_error(root: Path) -> None:
    """C extensions turn a KeyboardInterrupt that comes up in their import into an ImportError or a SystemError."""
    script = (
        "import os, signal, sys\nimport lci_py.__main__\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'sqlite3':\n"
        "            try: os.kill(os.getpid(), signal.SIGINT)\n"
        "            except BaseException as error: raise ImportError('wrapped') from error\n"
        "sys.meta_path.insert(0, Finder())\nlci_py.__main__.run()"
    )
    process = _start([sys.executable, "-c", script, "index"], root)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130, "") and _STOPPED.fullmatch(err), err


def test_the_installed_command_begins_where_the_handler_is_installed() -> None:
    assert '\nlci = "lci_py.__main__:run"\n' in (PROJECT / "pyproject.toml").read_text()


def test_where_it_is_ignored_it_stays_ignored(root: Path) -> None:
    """As after `nohup`, or for a background job of a shell script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = _start([sys.executable, "-c", _AT_STEP, "5000", "index", "--jobs", "1"], root)
    finally:
        signal.signal(signal.SIGINT, before)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
