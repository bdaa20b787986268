"""Reads a file of the repository safely: since the walk, it or a folder above it may have become a link or a FIFO."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import FileIO

#: Errors of a process that ran out of descriptors or memory. Leaving a file out for these would go unnoticed.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
#: The walk leaves out files above the size limit; this bound is for a file that has grown since.
_MAX_READ = 64_000_000
# A link must not lead out of the root, and a FIFO must not block.
_NO_LINK = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = _NO_LINK | getattr(os, "O_DIRECTORY", 0)


def read_file(root: str, path: str) -> bytes | str:
    """The content of the file at `path` in `root`, or the reason to skip it.

    Nothing outside the root is read, even if a folder of the path has become a link. The root of a workspace has links
    to its repositories; they are followed, and no other.

    Raises:
        OSError: This process has run out of descriptors or memory.
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
    """At most `_MAX_READ` bytes of the content."""
    # `read` allocates what it is asked for before it reads, so it is asked for the size that the file had.
    data = file.read(size + 1) or b""
    if len(data) != size:  # the file is changing, or the system returned less than it was asked for
        while len(data) < _MAX_READ and (more := file.read(min(size + 1, _MAX_READ - len(data)))):
            data += more
    return data


def _open_below(root: str, path: str) -> int:
    *folders, name = path.split("/")
    handle = os.open(root, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0))
    try:
        for place, folder in enumerate(folders):
            try:
                inner = os.open(folder, _FOLDER, dir_fd=handle)
            except OSError:
                if place or (member := _open_member(root, folder)) is None:
                    raise
                inner = member
            os.close(handle)
            handle = inner
        return os.open(name, _NO_LINK, dir_fd=handle)
    finally:
        os.close(handle)


def _open_member(root: str, name: str) -> int | None:
    """A descriptor of a repository of a workspace, the only kind of link that is followed; None if it is none."""
    from lci_py.source.repository.workspace import open_member

    return open_member(root, name)
