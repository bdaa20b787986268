"""Read a file of the repository, and nothing else: since the walk it may have become anything."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import FileIO

#: What a process, not a file, is short of: a file that is left out for it would be missed in the index, in silence.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
#: The walk has left out what is larger than the limit; this is for a file that has grown since.
_MAX_READ = 64_000_000
# A link must not lead out of the root, and a FIFO must not block.
_NO_LINK = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = _NO_LINK | getattr(os, "O_DIRECTORY", 0)


def read_file(root: str, path: str) -> bytes | str:
    """The content of the file at `path` in `root`, or the reason to skip it: since the walk it may be anything.

    Nothing outside the root is read: any of the folders on the way may have become a link by now.

    Raises:
        OSError: This process is short of something, which says nothing of the file.
    """
    try:
        handle = _open_below(root, path)
    except (FileNotFoundError, NotADirectoryError):
        return "vanished"
    except OSError as error:
        if error.errno in SHORTAGES:
            raise
        return "symlink" if error.errno == errno.ELOOP else "unreadable"
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return "special"
        if info.st_size > _MAX_READ:
            return "too_large"
        with open(handle, "rb", closefd=False, buffering=0) as file:
            return _read(file, info.st_size)
    except OSError:
        return "unreadable"
    finally:
        os.close(handle)


def _read(file: FileIO, size: int) -> bytes:
    """The content, of which `_MAX_READ` bytes at most."""
    # Memory is taken for as much as is asked for, before anything is read: so not for all that there may be.
    data = file.read(size + 1) or b""
    if len(data) != size:  # it grows or shrinks under our hands, or the system gave less than asked for
        while len(data) < _MAX_READ and (more := file.read(min(size + 1, _MAX_READ - len(data)))):
            data += more
    return data


def _open_below(root: str, path: str) -> int:
    *folders, name = path.split("/")
    handle = os.open(root, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0))
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(name, _NO_LINK, dir_fd=handle)
    finally:
        os.close(handle)
