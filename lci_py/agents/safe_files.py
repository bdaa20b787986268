"""Files below a folder, read and written without following a link out of it.

A repository is what somebody else has made: a link in it must not lead what is written elsewhere.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from lci_py.agents.understood import NotUnderstoodError
from lci_py.source.repository.paths import ALWAYS_SKIPPED
from lci_py.source.repository.read import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_BYTES = 16_000_000
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_WHY = {"too_large": "is too large", "special": "is no file", "symlink": "is a symbolic link that leads nowhere"}


class Resolved(NamedTuple):
    """Where a file is, or would be, once the links of its path are followed."""

    base: str  # without links
    path: str  # below it
    linked: int  # how many of its first folders a link has led to: they are not lci's to remove


def resolve(base: str, path: str) -> Resolved:
    """Follow the links of a path that stay inside of `base`.

    Raises:
        NotUnderstoodError: A link leads out of `base`, or something is in the way.
    """
    top = at = os.path.realpath(base)
    parts = path.split("/")
    linked = 0
    for i, part in enumerate(parts):
        at = os.path.join(at, part)
        try:
            info = os.lstat(at)
            if stat.S_ISLNK(info.st_mode):
                at = _target(top, at, "/".join(parts[: i + 1]))
                linked = len(os.path.relpath(at, top).split(os.sep))
                info = os.stat(at)
        except FileNotFoundError:
            return Resolved(top, os.path.relpath(os.path.join(at, *parts[i + 1 :]), top), linked)
        except OSError as error:
            raise NotUnderstoodError(f"cannot be read ({error.strerror})") from error
        if i < len(parts) - 1 and not stat.S_ISDIR(info.st_mode):
            raise NotUnderstoodError(f"{'/'.join(parts[: i + 1])} is no folder")
    if not stat.S_ISREG(info.st_mode):
        raise NotUnderstoodError("is a folder" if stat.S_ISDIR(info.st_mode) else "is no regular file")
    return Resolved(top, os.path.relpath(at, top), linked)


def _target(top: str, link: str, shown: str) -> str:
    target = os.path.realpath(link)
    inside = os.path.relpath(target, top).split(os.sep)
    if inside[0] == os.pardir:
        raise NotUnderstoodError(f"{shown} is a symbolic link that leads out of {top}")
    if not ALWAYS_SKIPPED.isdisjoint(inside):
        raise NotUnderstoodError(f"{shown} is a symbolic link to {'/'.join(inside)}")
    return target


def read(where: Resolved) -> str | None:
    """The text of a file; None if there is no file.

    Raises:
        NotUnderstoodError: It is not UTF-8, too large, or cannot be read.
    """
    data = read_file(where.base, where.path)
    if isinstance(data, str):
        if data == "vanished":
            return None
        raise NotUnderstoodError(_WHY.get(data, "cannot be read"))
    if len(data) > _MAX_BYTES:
        raise NotUnderstoodError(_WHY["too_large"])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotUnderstoodError("is not UTF-8") from error
    if "\0" in text:
        raise NotUnderstoodError("is no text")
    return text


def check_writable(where: Resolved) -> None:
    """
    Raises:
        NotUnderstoodError: The file, or the folder that it is to be made in, is read-only.
    """
    at = os.path.join(where.base, where.path)
    if os.path.exists(at) and not os.stat(at).st_mode & 0o222:
        raise NotUnderstoodError("is read-only")
    folder = os.path.dirname(at)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.access(folder, os.W_OK):
        raise NotUnderstoodError(f"its folder {folder} is read-only")


def write(where: Resolved, before: str | None, after: str | None) -> None:
    """Replace the text of a file in one step; its mode stays.

    Args:
        where: The file. Folders above it that are missing are made.
        before: What `read` has returned.
        after: The new text; None removes the file, and the folders above it that are empty then.
    Raises:
        NotUnderstoodError: It cannot be written, or another program has changed it since it was read.
    """
    *folders, name = where.path.split(os.sep)
    try:
        with _folders(where.base, folders, make=after is not None) as handles:
            status = _status(handles[-1], name)
            if read(where) != before:
                raise NotUnderstoodError("another program has just changed it: run the command again")
            if after is not None:
                _replace(handles[-1], name, after, status)
                return
            os.unlink(name, dir_fd=handles[-1])
            for i in range(len(folders) - 1, where.linked - 1, -1):
                try:
                    os.rmdir(folders[i], dir_fd=handles[i])
                except OSError:  # something else is in it
                    break
    except OSError as error:
        raise NotUnderstoodError(f"cannot be written ({error.strerror})") from error


@contextmanager
def _folders(base: str, folders: list[str], *, make: bool) -> Iterator[list[int]]:
    """Open folders inside each other, the base first. Those that were made go again if an error comes up."""
    handles = [os.open(base, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)]
    made: list[tuple[int, str]] = []
    try:
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=handles[-1])
                    made.append((handles[-1], folder))
            handles.append(os.open(folder, _FOLDER, dir_fd=handles[-1]))
        yield handles
    except BaseException:
        for above, folder in reversed(made):
            with suppress(OSError):
                os.rmdir(folder, dir_fd=above)
        raise
    finally:
        for handle in handles:
            os.close(handle)


def _status(folder: int, name: str) -> os.stat_result | None:
    """The status of the file that is to be replaced, None if there is none."""
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise NotUnderstoodError("is no regular file")
    return info


def _replace(folder: int, name: str, text: str, was: os.stat_result | None) -> None:
    temporary = f".{name}.lci-{os.getpid()}"
    handle = os.open(temporary, _NEW, 0o666 if was is None else 0o600, dir_fd=folder)
    try:
        with open(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            if was is not None:
                with suppress(PermissionError):  # not everybody may give a file away
                    os.fchown(handle, was.st_uid, was.st_gid)
                os.fchmod(handle, stat.S_IMODE(was.st_mode))
            os.fsync(handle)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise
