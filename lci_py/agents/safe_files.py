"""Files below a folder, read and written without following a link out of it.

A repository is what somebody else has made: a link in it must not lead what is written elsewhere.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from lci_py.agents.understood import NotUnderstoodError
from lci_py.source.repository.paths import ALWAYS_SKIPPED
from lci_py.source.repository.read import read_file

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_BYTES = 16_000_000
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_WHY = {"too_large": "is too large", "special": "is no file", "symlink": "is a symbolic link that leads nowhere"}


def resolve(base: str, path: str) -> str:
    """The path below `base` at which a file is, or would be: links inside of `base` are followed.

    Raises:
        NotUnderstoodError: A link leads out of `base`, or something is in the way.
    """
    top = os.path.realpath(base)
    parts = path.split("/")
    at = top
    for i, part in enumerate(parts):
        at = os.path.join(at, part)
        try:
            info = os.lstat(at)
            if stat.S_ISLNK(info.st_mode):
                at = _target(top, at, "/".join(parts[: i + 1]))
                info = os.stat(at)
        except FileNotFoundError:
            return os.path.relpath(os.path.join(at, *parts[i + 1 :]), top)
        except OSError as error:
            raise NotUnderstoodError(f"cannot be read ({error.strerror})") from error
        if i < len(parts) - 1 and not stat.S_ISDIR(info.st_mode):
            raise NotUnderstoodError(f"{'/'.join(parts[: i + 1])} is no folder")
    if not stat.S_ISREG(info.st_mode):
        raise NotUnderstoodError("is a folder" if stat.S_ISDIR(info.st_mode) else "is no regular file")
    return os.path.relpath(at, top)


def _target(top: str, link: str, shown: str) -> str:
    target = os.path.realpath(link)
    inside = os.path.relpath(target, top).split(os.sep)
    if inside[0] == os.pardir:
        raise NotUnderstoodError(f"{shown} is a symbolic link that leads out of {top}")
    if not ALWAYS_SKIPPED.isdisjoint(inside):
        raise NotUnderstoodError(f"{shown} is a symbolic link to {'/'.join(inside)}")
    return target


def read(base: str, path: str) -> str | None:
    """The text of a file at a resolved path; None if there is no file.

    Raises:
        NotUnderstoodError: It is not UTF-8, too large, or cannot be read.
    """
    data = read_file(os.path.realpath(base), path)
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


def check_writable(base: str, path: str) -> None:
    """
    Raises:
        NotUnderstoodError: The file at a resolved path, or the folder that it is to be made in, is read-only.
    """
    at = os.path.join(base, path)
    if os.path.exists(at) and not os.stat(at).st_mode & 0o222:
        raise NotUnderstoodError("is read-only")
    folder = os.path.dirname(at)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.access(folder, os.W_OK):
        raise NotUnderstoodError(f"its folder {folder} is read-only")


def write(base: str, path: str, before: str | None, after: str | None, *, prune: bool) -> None:
    """Replace the text of a file at a resolved path in one step; its mode stays.

    Args:
        base: The folder.
        path: Below it. Folders that are missing are made.
        before: What `read` has returned.
        after: The new text; None removes the file.
        prune: Whether the folders above a removed file go as well if they are empty then.
    Raises:
        NotUnderstoodError: It cannot be written, or another program has changed it since it was read.
    """
    *folders, name = path.split(os.sep)
    try:
        with _folders(os.path.realpath(base), folders, make=after is not None) as handles:
            status = _status(handles[-1], name)
            if read(base, path) != before:
                raise NotUnderstoodError("another program has just changed it: run the command again")
            if after is not None:
                _replace(handles[-1], name, after, status)
                return
            os.unlink(name, dir_fd=handles[-1])
            for folder, above in zip(folders[::-1], handles[-2::-1], strict=True) if prune else ():
                os.rmdir(folder, dir_fd=above)
    except OSError as error:
        if after is None and not os.path.lexists(os.path.join(base, path)):
            return  # it is gone; a folder above it holds something else
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
