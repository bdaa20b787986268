"""What the program writes to a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support import zygote
from tests.support.waiting import PATIENCE

PROJECT = Path(__file__).resolve().parents[2]


def on_a_terminal(server: str | None, root: Path, *argv: str, keyboard: bool = True, **env: str) -> str:
    """What `lci` writes to a terminal of 80 columns and 24 lines.

    Args:
        server: The socket of the zygote of whose forks one runs it; None starts an interpreter.
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
    environment = {**inherited, "PYTHONPATH": str(PROJECT), "TERM": "xterm", **env}
    stdin = os.dup(follower) if keyboard else os.open(os.devnull, os.O_RDONLY)
    if server is not None:
        ran = zygote.start(server, argv, root, (stdin, follower, follower), environment=environment).outcome()
        assert not ran["timed_out"], argv
    else:
        subprocess.run(
            [sys.executable, "-m", "lci_py", *argv], cwd=root, stdin=stdin, stdout=follower, stderr=follower,
            timeout=PATIENCE, check=False, env=environment,
        )  # fmt: skip
    os.close(stdin)
    os.close(follower)
    reader.join()
    os.close(leader)
    return b"".join(shown).decode("utf-8", "replace").replace("\r\n", "\n")
