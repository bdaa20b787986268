"""Files below a folder, read and written without following a link out of it.

A repository may be hostile: a link in it must not redirect what is written.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from lci_py.source.repository.files import ALWAYS_SKIPPED, read_file, replace_file

_MAX_BYTES = 16_000_000
_WHY = {
    "too_large": "is too large",
    "special": "is not a regular file",
    "symlink": "is a symbolic link that leads nowhere",
}


class LeftAloneError(Exception):
    """A file that lci must not change, because its format or its owner is unknown."""

    def __init__(self, reason: str, *, ours: bool = False) -> None:
        """`reason` is printed after the file's name and a colon; `ours`: whether the file contains something of lci."""
        super().__init__(reason)
        self.reason, self.ours = reason, ours


class SafeFile(NamedTuple):
    """A file that exists, or is to be created."""

    base: str  # without links
    path: str  # below it, without links
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
            raise LeftAloneError("is not text")
        return text

    def check_writable(self) -> None:
        """Raise LeftAloneError if the file, or the folder that it is to be made in, is read-only or no folder."""
        if os.path.exists(self.full) and not os.stat(self.full).st_mode & 0o222:
            raise LeftAloneError("is read-only")
        folder = os.path.dirname(self.full)
        while not os.path.lexists(folder):
            folder = os.path.dirname(folder)
        if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            raise LeftAloneError(f"{os.path.relpath(folder, self.base)} is not a folder that can be written")

    def write(self, before: str | None, after: str | None) -> None:
        """Replace the text atomically; the mode of the file stays.

        Args:
            before: The text that `read` returned.
            after: The new text; None removes the file, and parent folders that are empty then.
        Raises:
            LeftAloneError: It cannot be written, or another program has changed it since it was read.
        """
        try:
            if after is not None:
                os.makedirs(os.path.dirname(self.full), exist_ok=True)
            if self.read() != before:
                raise LeftAloneError("another program has just changed it: run the command again")
            if after is None:
                os.unlink(self.full)
            else:
                replace_file(self.full, after.encode("utf-8"))
        except OSError as error:
            raise LeftAloneError(f"cannot be written ({error.strerror})") from error
        finally:  # the folders that were made for it, too, if it could not be written
            folder = self.full
            with suppress(OSError):  # something is in it
                for _ in range(self.own):
                    folder = os.path.dirname(folder)
                    os.rmdir(folder)


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
    names = path.split("/")
    own = next((i for i, (a, b) in enumerate(zip(parts[-2::-1], names[-2::-1])) if a != b), len(parts) - 1)  # noqa: B905
    return SafeFile(top, inside, own)
