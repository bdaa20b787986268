"""How long `lci pick` takes from a keystroke to the results on the terminal, and to start.

    PYTHONPATH=. python -m tests.bench.pick ROOT [MODE…]

ROOT has an index. Queries are typed letter by letter, each when the list of the one before is drawn; times are from the
write to the terminal's keyboard to the end of the drawing of the list that has the letter. On a machine that does other
things, the CPU that the whole process takes for it says more.
"""

from __future__ import annotations

import json
import os
import pty
import statistics
import subprocess
import sys
import threading
import time
from fcntl import ioctl
from termios import TIOCSWINSZ

from lci_py.cli.pick.questions import ALL_MODES

QUERIES = ("where is the cache cleared", "parse expression", "convert to string", "Matrix inverse", "sort the list")
STARTS = 7
#: The program, which says on descriptor 3 what it has drawn: the text, and when.
CHILD = """
import json, os, sys, time
from lci_py.cli.pick import screen, state
searched, type = state.Picker._searched, state.Picker.type
answered, cpu = [None], [0.0]
def _type(self, text):
    cpu[0] = time.process_time()
    type(self, text)
def _searched(self, found):
    answered[0] = self.text
    searched(self, found)
def application(*args, **named):
    made = Application(*args, **named)
    def drawn(_):
        said = [answered[0], time.monotonic(), time.process_time() - cpu[0]]
        os.write(3, (json.dumps(said) + "\\n").encode())
    made.after_render += drawn
    return made
Application, screen.Application = screen.Application, application
state.Picker._searched, state.Picker.type = _searched, _type
from lci_py.cli.main import run
sys.argv = ["lci", *sys.argv[1:]]
run()
"""


class Terminal:
    """The program on a terminal of 120 columns."""

    def __init__(self, *argv: str) -> None:
        self._leader, follower = pty.openpty()
        ioctl(follower, TIOCSWINSZ, b"\x28\0\x78\0\0\0\0\0")
        read, write = os.pipe()
        self.began = time.monotonic()
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3>&{write}', sys.executable, "-c", CHILD, "pick", *argv],
            stdin=follower, stdout=follower, stderr=follower, pass_fds=(write,), start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(follower)
        os.close(write)
        self._drawn = os.fdopen(read)
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        while True:
            try:
                os.read(self._leader, 65536)
            except OSError:
                return

    def drawn(self, text: str | None = None) -> tuple[float, float]:
        """When the list of a text was drawn, of None when anything was; and the CPU since the last key. In seconds."""
        while True:
            shown, when, cpu = json.loads(self._drawn.readline())
            if text is None or shown == text:
                return when, cpu

    def type(self, key: str) -> float:
        now = time.monotonic()
        os.write(self._leader, key.encode())
        return now

    def close(self) -> None:
        self.type("\x03")
        self._process.wait()
        os.close(self._leader)


def _starts(root: str, mode: str) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds until one can type, those of CPU, and until the first list is there."""
    first, cpus, listed = [], [], []
    for _ in range(STARTS):
        terminal = Terminal("--root", root, "-m", mode)
        when, cpu = terminal.drawn()
        first.append((when - terminal.began) * 1e3)
        cpus.append(cpu * 1e3)
        listed.append((terminal.drawn("")[0] - terminal.began) * 1e3)
        terminal.close()
    return first, cpus, listed


def _keys(root: str, mode: str) -> tuple[list[float], list[float]]:
    """Milliseconds from each key to its list, and those of CPU."""
    terminal = Terminal("--root", root, "-m", mode)
    times, cpus = [], []
    terminal.drawn("")
    time.sleep(1)
    for query in QUERIES:
        for end in range(1, len(query) + 1):
            began = terminal.type(query[end - 1])
            when, cpu = terminal.drawn(query[:end])
            if query[end - 1] != " ":
                times.append((when - began) * 1e3)
                cpus.append(cpu * 1e3)
            time.sleep(0.03)
        terminal.type("\x15")
        terminal.drawn("")
    terminal.close()
    return times, cpus


def _said(times: list[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(len(ordered) * 0.95)]
    return f"median {statistics.median(ordered):.0f} ms, p95 {p95:.0f}, most {ordered[-1]:.0f}"


def main() -> None:
    root, modes = sys.argv[1], sys.argv[2:] or ALL_MODES
    first, cpus, listed = _starts(root, modes[0])
    print(f"start, ready to type: {_said(first)}; CPU {_said(cpus)}; first list: {_said(listed)}")
    for mode in modes:
        times, cpus = _keys(root, mode)
        print(f"{mode}, {len(times)} keys: {_said(times)}; CPU {_said(cpus)}")


if __name__ == "__main__":
    main()
