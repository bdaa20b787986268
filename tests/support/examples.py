"""Writes what the examples of README.md and docs/tour.md print today, as a terminal of 100 columns shows it, and the diagrams
below a comment that has their command.

    python -m tests.support.examples

They search a copy of the `asyncio` package of Python 3.11. Of `lci index` and `lci status` the lines that count something
are written anew; those that tell a time stay. Examples that need something else (another tree, a change) are left as
they are. Read the diff before committing.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("README.md", "docs/tour.md")
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_DIAGRAM = re.compile(r"^<!-- (lci .*) -->\n```mermaid\n(?:.*\n)*?```$", re.MULTILINE)
_EXAMPLE = re.compile(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_OTHERS = re.compile(
    r"(?!lci )|lci (index|conflicts|affected|status|stats|clean|hooks|agent|workspace|cluster|mcp)\b|.*--batch"
)
#: Commands whose lines begin with a label, and the labels of the lines that are the same in every run.
_COUNTING = ("lci index", "lci status")
_COUNTS = ("files", "symbols", "chunks", "edges", "size", "model", "on disk")
_COLUMNS = 100
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.*\r(?!\n)")


def printed(command: str, folder: str) -> str:
    """What a command shows on a terminal in a folder."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, _COLUMNS, 0, 0))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "TERM": "xterm", "NO_COLOR": "1", "LCI_PAGER": "cat", "PAGER": "cat"}
    process = subprocess.Popen(
        command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    found = b""
    while True:
        try:
            data = os.read(ours, 1 << 16)
        except OSError:  # the last process that held the terminal has ended
            break
        found += data
        if not data:
            break
    process.wait()
    os.close(ours)
    lines = _CONTROL.sub("", found.decode().replace("\r\n", "\n")).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def with_counts(shown: str, now: str) -> str:
    """The lines of an example, those that count something as they are printed now."""
    fresh = {label: line for line in now.splitlines() if (label := _label(line))}
    return "".join(f"{fresh.get(_label(line) or '', line)}\n" for line in shown.splitlines())


def _label(line: str) -> str | None:
    return next((label for label in _COUNTS if line.startswith(f"  {label} ")), None)


def main() -> None:
    if sys.version_info[:2] != (3, 11):
        raise SystemExit("the examples are of Python 3.11")
    with tempfile.TemporaryDirectory() as scratch:
        folder = str(Path(scratch, "asyncio"))
        shutil.copytree(Path(asyncio.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
        counts = {command: printed(command, folder) for command in _COUNTING}

        def example(match: re.Match[str]) -> str:
            command, shown = match.groups()
            if command in counts:
                return f"$ {command}\n{with_counts(shown, counts[command])}"
            if _OTHERS.match(command) or "…\n" in shown.splitlines(keepends=True):
                return match.group()
            after = "\n" if shown.endswith("\n\n") else ""
            return f"$ {command}\n{printed(command, folder).replace(scratch, '~/src')}{after}"

        for name in DOCUMENTS:
            text = (PROJECT / name).read_text("utf-8")
            text = _BLOCK.sub(lambda block: _EXAMPLE.sub(example, block.group()), text)
            text = _DIAGRAM.sub(lambda found: f"<!-- {found[1]} -->\n```mermaid\n{printed(found[1], folder)}```", text)
            (PROJECT / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
