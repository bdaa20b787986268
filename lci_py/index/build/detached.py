"""Builds an index in a process that may outlive the command; the command waits only until text can be searched."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lci_py import interrupts
from lci_py.errors import Indexing, IndexWriteError, LciError
from lci_py.index.store.background_run import note_failure
from lci_py.index.store.manifest import MANIFEST
from lci_py.processes import can_be_read, fork, silence
from lci_py.types.index import SEARCHABLE

#: Whether this platform has what `until_searchable` needs.
CAN_DETACH = sys.platform == "linux"
Report = Callable[[str, int, int], None]
#: Seconds between two looks for a generation that another process has published.
_PERIOD = 0.1
_DONE = "done"


def until_searchable(
    index_dir: Path, work: Callable[[Report], object], report: Report, meanwhile: Callable[[], object]
) -> None:
    """Run `work` in a child process, which may outlive the caller; return when `work` reports `SEARCHABLE`.

    Args:
        work: Builds the index, and reports its stages. When it has reported `SEARCHABLE`, its failure is only written
            to the index folder, for `lci status`.
        report: Called with the stages until `SEARCHABLE`.
        meanwhile: Called once while the process works.
    Raises:
        LciError: The error that `work` raised before `SEARCHABLE`.
    """
    before = _published_inode(index_dir)  # of a format that cannot be read
    receiver, sender = os.pipe()
    process = fork(lambda: _work(index_dir, work, sender), [receiver], interruptible=True)
    os.close(sender)
    try:
        with interrupts.at_interrupt(lambda: os.kill(process, signal.SIGINT)):
            meanwhile()
            _follow(receiver, index_dir, before, report)
    finally:
        os.close(receiver)


def _follow(receiver: int, index_dir: Path, before: int | None, report: Report) -> None:
    rest = b""
    while True:
        if not can_be_read(receiver, _PERIOD):
            if _published_inode(index_dir) != before:
                return  # by another process, which ours waits for
            continue
        data = os.read(receiver, 1 << 16)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if isinstance(message, dict):
                raise _error_from(message)
            if message[0] in (SEARCHABLE, _DONE):
                return
            report(*message)
        if not data:
            raise IndexWriteError("the process that builds the index has ended", hint=Indexing())


def _published_inode(index_dir: Path) -> int | None:
    """The inode of the published manifest, which identifies the generation; None if there is none."""
    try:
        return os.lstat(index_dir / MANIFEST).st_ino
    except OSError:
        return None


def _error_from(message: dict[str, Any]) -> LciError:
    """Make the error that the child process raised, from its message."""
    error = LciError(message.pop("message"), hint=message.pop("hint"))
    error.code, error.exit_code = message.pop("code"), message.pop("exit_code")
    error.details = message
    return error


# --- in the process -----------------------------------------------------------------------------------------------


def _work(index_dir: Path, work: Callable[[Report], object], sender: int) -> None:
    searchable = False

    def send(message: object) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more
            os.write(sender, json.dumps(message).encode() + b"\n")

    def report(stage: str, done: int, total: int) -> None:
        nonlocal searchable
        if stage == SEARCHABLE:
            from lci_py.index.build.tasks import LOW_PRIORITY  # not before: a search would wait for the import

            searchable = True
            with contextlib.suppress(OSError):
                os.nice(LOW_PRIORITY)
        if not searchable or stage == SEARCHABLE:
            send([stage, done, total])

    try:
        _leave(sender)
        work(report)
        send([_DONE])
    except BaseException as error:
        if isinstance(error, LciError):
            send({**error.as_json(), "exit_code": error.exit_code})
        else:
            send({"code": "internal", "exit_code": 70, "hint": "", "message": f"{type(error).__name__}: {error}"})
        if searchable:
            note_failure(index_dir, error)


def _leave(sender: int) -> None:
    """Detach this process from the terminal; close all descriptors on which a reader of lci's output could wait."""
    gc.enable()  # the entry point turned it off for short runs
    interrupts.install()
    os.setsid()
    silence(0, 1, 2)
    for handle in [int(name) for name in os.listdir("/proc/self/fd")]:
        if handle > 2 and handle != sender:
            with contextlib.suppress(OSError):  # the one that listed them
                os.close(handle)
