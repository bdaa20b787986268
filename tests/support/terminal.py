"""What the program writes to a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.support.waiting import PATIENCE


def on_a_terminal(root: Path, *argv: str, keyboard: bool = True, **env: str) -> str:
    """What `lci` writes to a terminal of 80 columns and 24 lines.

    Args:
        root: Where it runs.
        argv: Its arguments.
        keyboard: Whether its input is the terminal, too.
        env: Variables besides those of the tests, without those that choose a pager, colours or a width.
    """
    pty, fcntl, termios = (pytest.importorskip(name) for name in ("pty", "fcntl", "termios"))
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, b"\x18\0\x50\0\0\0\0\0")
    shown: list[bytes] = []

    def drain() -> None:
        try:
            while block := os.read(leader, 65536):
                shown.append(block)
        except OSError:  # how Linux says that the other end is closed
            pass

    reader = threading.Thread(target=drain)
    reader.start()
    inherited = {key: value for key, value in os.environ.items() if key not in ("PAGER", "NO_COLOR", "COLUMNS")}
    subprocess.run(
        [sys.executable, "-m", "lci_py", *argv], cwd=root, stdin=follower if keyboard else subprocess.DEVNULL,
        stdout=follower, stderr=follower, timeout=PATIENCE, check=False,
        env={**inherited, "PYTHONPATH": str(PROJECT), "TERM": "xterm", **env},
    )  # fmt: skip
    os.close(follower)
    reader.join()
    os.close(leader)
    return b"".join(shown).decode("utf-8", "replace").replace("\r\n", "\n")
