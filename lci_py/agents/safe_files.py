"""Files below a folder, read and written without following a link out of it.

A repository may be hostile: a link in it must not redirect what is written.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, suppress
from typing import NamedTuple

from lci_py.source.repository.paths import ALWAYS_SKIPPED
from lci_py.source.repository.read import read_file

_MAX_BYTES = 16_000_000
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_WHY = {
    "too_large": "is too large",
    "special": "is no regular file",
    "symlink": "is a symbolic link that leads nowhere",
}


class LeftAloneError(Exception):
    """A file that lci must not change, because its format or its owner is unknown."""

    def __init__(self, reason: str, *, ours: bool = False) -> None:
        """Args:
        reason: What is wrong with the file, to be printed after its name and a colon.
        ours: Whether the file nevertheless contains something of lci.
        """
        super().__init__(reason)
        self.reason = reason
        self.ours = ours


class SafeFile(NamedTuple):
    """The real location of a file, or of one to be created, with the links of its path resolved."""

    base: str  # without links
    path: str  # below it
    own: int  # how many of its last folders no link has led to: those may be lci's to remove

    @property
    def full(self) -> str:
        return os.path.join(self.base, self.path)

    def read(self) -> str | None:
        """The text; None if there is no file.

        Raises:
            LeftAloneError: It is not UTF-8, too large, or cannot be read.
        """
        data = read_file(self.base, self.path)
        if data == "vanished":
            return None
        if isinstance(data, str) or len(data) > _MAX_BYTES:
            raise LeftAloneError(_WHY.get(data if isinstance(data, str) else "too_large", "cannot be read"))
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise LeftAloneError("is not UTF-8") from error
        if "\0" in text:
            raise LeftAloneError("is no text")
        return text

    def check_writable(self) -> None:
        """
        Raises:
            LeftAloneError: The file, or the folder that it is to be made in, is read-only or no folder.
        """
        if os.path.exists(self.full) and not os.stat(self.full).st_mode & 0o222:
            raise LeftAloneError("is read-only")
        folder = os.path.dirname(self.full)
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        if not os.path.isdir(folder):
            raise LeftAloneError(f"{os.path.relpath(folder, self.base)} is no folder")
        if not os.access(folder, os.W_OK):
            raise LeftAloneError(f"its folder {folder} is read-only")

    def write(self, before: str | None, after: str | None) -> None:
        """Replace the text atomically; the mode of the file stays.

        Args:
            before: What `read` has returned.
            after: The new text; None removes the file, and parent folders that are empty then.
        Raises:
            LeftAloneError: It cannot be written, or another program has changed it since it was read.
        """
        *folders, name = self.path.split(os.sep)
        try:
            with ExitStack() as stack:
                handles = [_opened(stack, self.base)]
                for folder in folders:
                    if after is not None:
                        with suppress(FileExistsError):
                            os.mkdir(folder, dir_fd=handles[-1])
                    handles.append(_opened(stack, folder, handles[-1]))
                try:
                    if self.read() != before:
                        raise LeftAloneError("another program has just changed it: run the command again")
                    if after is not None:
                        _replace(handles[-1], name, after)
                    else:
                        os.unlink(name, dir_fd=handles[-1])
                finally:  # the folders that were made for it, too, if it could not be written
                    _remove_empty(folders[::-1][: self.own], handles[-2::-1])
        except OSError as error:
            raise LeftAloneError(f"cannot be written ({error.strerror})") from error


def safe_file(base: str, path: str) -> SafeFile:
    """Follow the links of a path that stay inside of `base`.

    Raises:
        LeftAloneError: A link leads out of `base`, or into a folder that is never lci's to write into.
    """
    top = os.path.realpath(base)
    inside = os.path.relpath(os.path.realpath(os.path.join(top, path)), top)
    parts = inside.split(os.sep)
    if parts[0] == os.pardir:
        raise LeftAloneError(f"leads out of {top} by a symbolic link")
    if inside != path and not ALWAYS_SKIPPED.isdisjoint(parts):
        raise LeftAloneError(f"leads to {inside} by a symbolic link")
    asked = path.split("/")
    own = next((i for i, (a, b) in enumerate(zip(parts[-2::-1], asked[-2::-1])) if a != b), len(parts) - 1)  # noqa: B905
    return SafeFile(top, inside, own)


def _opened(stack: ExitStack, folder: str, above: int | None = None) -> int:
    handle = os.open(folder, _FOLDER if above is not None else _FOLDER & ~os.O_NOFOLLOW, dir_fd=above)
    stack.callback(os.close, handle)
    return handle


def _remove_empty(folders: list[str], above: list[int]) -> None:
    """Remove folders, each inside the next; `above` has the handle of each one's parent."""
    for folder, handle in zip(folders, above):  # noqa: B905  # `above` goes further up
        try:
            os.rmdir(folder, dir_fd=handle)
        except OSError:  # something is in it
            return


def _replace(folder: int, name: str, text: str) -> None:
    was = None
    with suppress(FileNotFoundError):
        was = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if was is not None and not stat.S_ISREG(was.st_mode):
        raise LeftAloneError("is no regular file")
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
