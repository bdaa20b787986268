"""Locks in the index folder: one lock for the writer; for the runs of git hooks, one to run and one to wait."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from lci_py.errors import IndexWriteError
from lci_py.interrupts import at_interrupt
from lci_py.source.repository.files import open_regular

WRITE_LOCK = "write.lock"
HOOK_LOCKS = ("hook.lock", "hook-next.lock")
# Width of the process id in the lock file, padded with blanks: a write replaces the last id in one step.
_WIDTH = 20
#: Seconds between two looks at a lock that another process holds: a share of the time waited so far, from the least to
#: the most.
_PAUSE, _LONGEST, _SHARE = 0.01, 0.2, 0.03
_TRIES = 50  # pauses that a process gets between taking the lock and writing its number


@contextlib.contextmanager
def writer(index_dir: Path, wait: float = 0.0) -> Iterator[None]:
    """Hold the writer's lock of an index folder, which is created if it does not exist.

    Args:
        wait: Seconds to wait for another writer, 0 or more.
    Raises:
        IndexWriteError: After the wait, another process still holds the lock.
        OSError: The folder or the lock cannot be created.
    """
    import fcntl

    handle = _acquire(index_dir, wait)

    def release() -> None:
        # Erase first: a process that finds the lock taken must not read the number of an earlier holder.
        with contextlib.suppress(OSError):
            _write_holder(handle, "")
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough while a worker process has a copy

    try:
        with at_interrupt(release):
            _write_holder(handle, str(os.getpid()))
            yield
    finally:
        release()
        os.close(handle)


def _write_holder(handle: int, number: str) -> None:
    os.pwrite(handle, number.ljust(_WIDTH).encode(), 0)


def _acquire(index_dir: Path, wait: float) -> int:
    began = time.monotonic()
    while (handle := _try(index_dir)) is None:
        waited = time.monotonic() - began
        if waited >= wait:
            return _last_tries(index_dir)
        pause = min(_LONGEST, max(_PAUSE, waited * _SHARE))
        # At random, so that waiting processes do not keep in step. os.urandom, because `random` is slow to import.
        time.sleep(min(wait - waited, pause * (0.5 + os.urandom(1)[0] / 255)))
    return handle


def _last_tries(index_dir: Path) -> int:
    """Take the lock if it has become free; else raise an error that names the process that holds it."""
    holder = ""
    for _ in range(_TRIES):
        if number := _holder(index_dir / WRITE_LOCK):
            holder = f" (process {number})"
            break
        time.sleep(_PAUSE)
        if (handle := _try(index_dir)) is not None:
            return handle
    raise IndexWriteError(
        f"another `lci index`{holder} is writing {index_dir}",
        hint="wait for it to finish, then run the command again; --wait SECONDS waits longer",
    )


def _holder(path: Path) -> int | None:
    """The process id in the lock file; None if the file has none yet, or if the process has ended."""
    try:
        with open(open_regular(path)[0], "rb") as file:
            number = int(file.read(_WIDTH))
        return number if number > 0 and _lives(number) else None
    except (OSError, ValueError, OverflowError):
        return None


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:  # another user's
        return True
    except ProcessLookupError:
        return False
    return True


def _try(index_dir: Path) -> int | None:
    """Take the lock, and return its descriptor; None if another process holds the lock."""
    import fcntl

    path = index_dir / WRITE_LOCK
    while True:
        index_dir.mkdir(parents=True, exist_ok=True)  # `lci clean` deletes it
        # O_NOFOLLOW: a lock that came with a clone may be a link to any file, which would be overwritten.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            handle = os.open(path, flags, 0o666)
        except FileNotFoundError:
            continue
        except OSError:
            if _make_way(path):
                continue
            raise
        if not stat.S_ISREG(os.fstat(handle).st_mode):  # a FIFO
            os.close(handle)
            if _make_way(path):
                continue
            raise OSError(errno.EINVAL, "the lock is not a regular file")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(handle, path):
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # `lci clean` has deleted the file: a lock on it keeps nobody out


def _make_way(path: Path) -> bool:
    """Delete what is at the lock's path, unless it is a file; returns whether the path is free."""
    try:
        info = os.lstat(path)
        if stat.S_ISREG(info.st_mode):
            return False
        if stat.S_ISDIR(info.st_mode):
            import shutil

            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def turn(index_dir: Path) -> Iterator[bool]:
    """Wait until this run of a git hook may refresh the index; yields False at once if another run is already waiting.

    The waiting run reads the files when it starts, so it also sees the changes of the runs that gave up.
    """
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    running, waiting = HOOK_LOCKS
    with contextlib.ExitStack() as handles:
        runs = os.open(index_dir / running, flags, 0o666)
        handles.callback(os.close, runs)
        waits = os.open(index_dir / waiting, flags, 0o666)
        with contextlib.ExitStack() as until_it_runs:
            until_it_runs.callback(os.close, waits)
            try:
                fcntl.flock(waits, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            fcntl.flock(runs, fcntl.LOCK_EX)
        try:
            yield True
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(runs, fcntl.LOCK_UN)
