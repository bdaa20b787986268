"""Reads a file of a repository safely, converts names from a user or git to paths of the index, and recognises folders
(examples, benchmarks, documentation, third-party code) whose files rank after the sources.

A file, or a folder above it, may have become a link or a FIFO since the walk.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lci_py.errors import BadPathError
from lci_py.source.repository.workspace import inside, is_workspace

if TYPE_CHECKING:
    from io import FileIO

#: Folders that the walk neither enters nor counts.
ALWAYS_SKIPPED = frozenset({".git", ".lci"})


def relative_to_root(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Convert names of files to POSIX paths relative to the root; sorted, each once.

    Args:
        root: Absolute and resolved.
        names: Relative to the current folder, or absolute. A file may have been deleted.
    Raises:
        BadPathError: A name lies outside the root, or is the root.
    """
    return tuple(sorted({_relative(root, name) for name in names}))


def from_root(root: Path | str, full: str) -> str | None:
    """Convert an absolute path to one relative to the root, "" for the root itself; None if it lies outside.

    In a workspace, the result is the repository's name and the path in that repository.
    """
    path = os.path.relpath(full, root).replace(os.sep, "/")
    if path.partition("/")[0] != os.pardir:
        return "" if path == os.curdir else path
    return inside(root, full) if is_workspace(root) else None


def _relative(root: Path, name: str) -> str:
    if not name or "\0" in name:
        raise BadPathError("a name is empty or holds a NUL", hint="--files takes names of files")
    full = os.path.abspath(name)
    # The path as written comes first: if a folder has become a link, the file that was below it before is meant.
    for path in (full, os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))):
        if relative := from_root(root, path):
            return relative
    raise BadPathError(
        f"{name} is not a file below {root}", hint="--files takes files of one repository; see --root for another"
    )


#: Errors of a process that ran out of descriptors or memory. Leaving a file out for these would go unnoticed.
SHORTAGES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
#: The walk leaves out files above the size limit; this bound is for a file that has grown since.
_MAX_READ = 64_000_000
# A link must not lead out of the root, and a FIFO must not block.
_NO_LINK = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = _NO_LINK | os.O_DIRECTORY


def open_regular(path: Path | str) -> tuple[int, os.stat_result]:
    """Open a regular file for reading; returns (descriptor, `fstat` of it). A link is refused, since it may lead out of
    a clone, and so is a FIFO, whose opening would block.

    Raises:
        OSError: The file cannot be opened, or is no regular file.
    """
    handle = os.open(path, _NO_LINK)
    info = os.fstat(handle)
    if not stat.S_ISREG(info.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return handle, info


def replace_file(path: str, data: bytes, mode: int | None = None) -> None:
    """Replace a file's content in one step: whoever reads it meanwhile gets the old or the new content. The file keeps
    its owner and its mode, unless `mode` is given.

    Raises:
        OSError: The file cannot be written.
    """
    was = os.lstat(path) if os.path.lexists(path) else None
    temporary = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.lci-{os.getpid()}")
    try:
        with open(os.open(temporary, _NEW, 0o666 if was is None else 0o600), "wb") as file:
            file.write(data)
            if was is not None:
                with suppress(PermissionError):  # not everybody may give a file away
                    os.fchown(file.fileno(), was.st_uid, was.st_gid)
                mode = stat.S_IMODE(was.st_mode) if mode is None else mode
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with suppress(OSError):
            os.unlink(temporary)


def read_file(root: str, path: str) -> bytes | str:
    """The content of the file at `path` in `root`, or the reason to skip it.

    Nothing outside the root is read, even if a folder of the path has become a link. Only the links from the root of a
    workspace to its repositories are followed.

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
    """Read at most `_MAX_READ` bytes of an open file."""
    # `read` allocates what it is asked for before it reads, so it is asked for the size that the file had.
    data = file.read(size + 1) or b""
    if len(data) != size:  # the file is changing, or the system returned less than it was asked for
        while len(data) < _MAX_READ and (more := file.read(min(size + 1, _MAX_READ - len(data)))):
            data += more
    return data


def _open_below(root: str, path: str) -> int:
    *folders, name = path.split("/")
    handle = os.open(root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        for depth, folder in enumerate(folders):
            try:
                inner = os.open(folder, _FOLDER, dir_fd=handle)
            except OSError:
                if depth or (member := _open_member(root, folder)) is None:
                    raise
                inner = member
            os.close(handle)
            handle = inner
        return os.open(name, _NO_LINK, dir_fd=handle)
    finally:
        os.close(handle)


def _open_member(root: str, name: str) -> int | None:
    """Open the folder of the repository `name` of a workspace, through its link; None if there is no such one."""
    from lci_py.source.repository.workspace import open_member

    return open_member(root, name)


_FOLDERS = frozenset(
    "example examples sample samples demo demos bench benches benchmark benchmarks benchmarking".split()
)
#: At the root only, since elsewhere a package may be called so.
_AT_ROOT = frozenset(("doc", "docs", "documentation"))
_VENDORED = frozenset(
    "vendor vendored _vendor third_party third-party thirdparty 3rdparty node_modules bower_components".split()
)


def is_aside(path: str) -> bool:
    """Whether a file is in a folder of examples, benchmarks or documentation."""
    folders = path.lower().split("/")[:-1]
    return not _FOLDERS.isdisjoint(folders) or (bool(folders) and folders[0] in _AT_ROOT)


def is_vendored(path: str) -> bool:
    """Whether a file is in a folder for copies of other projects."""
    return not _VENDORED.isdisjoint(path.lower().split("/")[:-1])
