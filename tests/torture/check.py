"""Invariants of any file's record, and a tree that changes all the time."""

from __future__ import annotations

import os
import random
import shutil
import threading
from pathlib import Path

from lci_py.source.file_record import FileRecord
from lci_py.source.repository.walk import REASONS
from lci_py.source.syntax.limits import DEFAULTS, LIMIT_REASONS, Limits
from lci_py.types.source import FileEntry
from tests.support.records import process_file

#: Characters that must never be sent to a terminal: all control characters except line feed and tab.
CONTROLS = frozenset(
    {chr(code) for code in (*range(32), *range(0x7F, 0xA0))} - {"\n", "\t"}
    | set("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
)


def file_record(root: Path, name: str, limits: Limits = DEFAULTS) -> FileRecord | str:
    """The record of a file or why it is skipped; AssertionError if the record contradicts itself or the file."""
    data = (root / name).read_bytes()
    found = process_file(root, FileEntry(name, len(data), 0), limits=limits)
    if isinstance(found, str):
        assert found in REASONS, name
        return found
    extract = found.extract
    assert found.limit in ("", *LIMIT_REASONS) and found.limit != "parser_crash", name
    assert 8 * len(found.bag_sizes) == len(found.digests) == 8 * len(extract.chunks), name
    last = data.count(b"\n") + 1
    for index, symbol in enumerate(extract.symbols):
        assert 1 <= symbol.first_line <= symbol.line <= symbol.end_line <= last, (name, symbol)
        assert -1 <= symbol.parent < index and symbol.name, (name, symbol)
    for chunk in extract.chunks:
        assert -1 <= chunk.symbol < len(extract.symbols), (name, chunk)
        assert 1 <= chunk.line <= chunk.end_line <= last, (name, chunk)
    for call in extract.calls:
        assert -2 - len(extract.lambdas) < call.caller < len(extract.symbols) and 1 <= call.line <= last, (name, call)
    for base in extract.bases:
        assert 0 <= base.symbol < len(extract.symbols), (name, base)
    return found


def make_unstable(root: Path, count: int) -> None:
    for number in range(count):
        folder = root / f"d{number % 6}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.py").write_text(f"def f{number}():\n    return {number}\n" * 20)


def keep_changing(root: Path, outside: Path, rng: random.Random, stop: threading.Event) -> None:
    """Change a tree at random until `stop` is set; then remove links and FIFOs."""
    number = 1000
    while not stop.wait(0.001):
        number += 1
        folder = root / f"d{rng.randrange(6)}"
        path = folder / f"f{rng.randrange(60)}.py"
        try:
            _change(rng.randrange(8), folder, path, outside, number)
        except OSError:
            pass  # a change before this one has removed or replaced the file
    for folder in sorted(root.glob("d*")):
        if folder.is_symlink():
            folder.unlink()
    for path in sorted(root.glob("d*/*")):
        if path.is_symlink() or path.is_fifo():
            path.unlink()


def _change(kind: int, folder: Path, path: Path, outside: Path, number: int) -> None:
    if kind == 0:
        path.unlink()
    elif kind == 1:
        _write(path, f"def f{number}(): pass\n" * (number % 100), os.O_CREAT | os.O_TRUNC)
    elif kind == 2:
        path.unlink()
        path.symlink_to(outside / "secret.py")
    elif kind == 3:
        path.unlink()
        os.mkfifo(path)
    elif kind == 4:
        folder.rename(folder.with_name(f"d{number % 20 + 10}"))  # fails if that folder is not empty
        folder.symlink_to(outside / "deep")
    elif kind == 5 and folder.is_symlink():
        folder.unlink()
        folder.mkdir()
    elif kind == 6 and not folder.is_symlink() and number % 10 == 0:
        shutil.rmtree(folder)
        folder.mkdir()
    elif kind == 7:
        _write(path, "# grows\n" * 100, os.O_APPEND)


def _write(path: Path, text: str, flags: int) -> None:
    # By now it may be a link, or a FIFO that nobody reads.
    with open(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | flags), "w") as file:
        file.write(text)
