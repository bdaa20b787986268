"""Index runs in the background, from a git hook or after a search: nobody sees their output, so errors go to a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from lci_py.errors import LciError
from lci_py.index.store.lock import turn
from lci_py.source.repository.files import open_regular

#: In the index folder; it exists only if the last run failed.
HOOK_LOG = "hook.log"
_LOG_BYTES = 2000


def hook_run(index_dir: Path, refresh: Callable[[], object]) -> None:
    """Call `refresh` as soon as no other hook runs; do nothing if another hook's run is already waiting."""
    with turn(index_dir) as is_owner:
        if not is_owner:
            return
        try:
            refresh()
        except Exception as error:
            note_failure(index_dir, error)
            raise
        note_failure(index_dir, None)


def note_failure(index_dir: Path, error: BaseException | None) -> None:
    """Store the error of a failed run, for `last_failure`; None (after a success) deletes the stored error."""
    if error is None:
        with contextlib.suppress(OSError):
            (index_dir / HOOK_LOG).unlink(missing_ok=True)
        return
    what = error.message if isinstance(error, LciError) else f"{type(error).__name__}: {error}"
    _write_log(index_dir / HOOK_LOG, what)


def last_failure(index_dir: Path) -> str:
    """The error of the last background run; "" if it succeeded."""
    try:
        with open(open_regular(index_dir / HOOK_LOG)[0], "rb") as file:
            return " ".join(file.read(_LOG_BYTES).decode("utf-8", "replace").split())
    except OSError:
        return ""


def _write_log(path: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError), open(os.open(path, flags, 0o666), "wb") as file:
        file.write(text.encode("utf-8", "backslashreplace")[:_LOG_BYTES])
