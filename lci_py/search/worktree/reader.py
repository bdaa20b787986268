"""Reads files of the working tree for an answer: lines for snippets, digests to see whether a file has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.source.repository.read import read_file
from lci_py.source.text.digest import digest

if TYPE_CHECKING:
    from pathlib import Path


class SourceReader:
    """Lines of the working tree, each shown file read once per query."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, bytes | None] = {}
        self._lines: dict[str, list[bytes] | None] = {}  # None: its first lines have been asked for once
        self._digests: dict[str, str] = {}
        self.paths: set[str] = set()  # the files that the answer at hand has read

    def forget(self) -> None:
        """Start a new query: a file may change between two queries of a batch."""
        self._files.clear()
        self._lines.clear()
        self._digests.clear()
        self.paths.clear()

    def lines(self, path: str) -> list[bytes] | None:
        """The file's lines without line breaks, None if it cannot be read (or is no longer a regular file)."""
        if (found := self._lines.get(path)) is None and (data := self._content(path)) is not None:
            found = self._lines[path] = data.split(b"\n")
        return found

    def some(self, path: str, first: int, last: int) -> list[bytes]:
        """The lines from `first` to `last`, as far as the file has them."""
        data = self._content(path)
        if path not in self._lines and data is not None:
            self._lines[path] = None
            return data.split(b"\n", min(max(last, 0), len(data)))[
                first - 1 : last
            ]  # not the whole file for a few lines
        return (self.lines(path) or [])[first - 1 : last]

    def digest(self, path: str) -> str:
        """Of the content that is shown; "" if it cannot be read."""
        found = self._digests.get(path)
        if found is None:
            data = self._content(path)
            found = self._digests[path] = "" if data is None else digest(data)
        return found

    def _content(self, path: str) -> bytes | None:
        if path not in self._files:
            self._files[path] = self.read(path)
        return self._files[path]

    def read(self, path: str) -> bytes | None:
        """The file's content, None if it cannot be read; not kept, unlike what is shown."""
        self.paths.add(path)
        return self.compared(path)

    def compared(self, path: str) -> bytes | None:
        """The same, for whoever only compares it with the index, so that the answer does not depend on it."""
        # The index is data from disk: a path in it must not lead out of the root, nor into a device or a FIFO.
        if ".." in path.split("/"):
            return None
        try:
            found = read_file(str(self.root), path)
        except (OSError, ValueError):  # short of something; a NUL in the path
            return None
        return found if isinstance(found, bytes) else None
