"""Converts file names, as a user or git gives them, to paths of the index."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lci_py.errors import BadPathError
from lci_py.source.repository.workspace import inside, is_workspace

#: Folders that the walk neither enters nor counts.
ALWAYS_SKIPPED = frozenset({".git", ".lci"})


def relative_to_root(root: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Paths relative to the root, POSIX, sorted, each once.

    Args:
        root: Absolute and resolved.
        names: Relative to the current folder, or absolute. A file may have been deleted.
    Raises:
        BadPathError: A name lies outside the root, or is the root.
    """
    return tuple(sorted({_relative(root, name) for name in names}))


def from_root(root: Path | str, full: str) -> str | None:
    """An absolute path relative to the root, "" for the root itself; None if it lies outside.

    In a workspace, it is the repository's name and the path in that repository.
    """
    found = os.path.relpath(full, root).replace(os.sep, "/")
    if found.partition("/")[0] != os.pardir:
        return "" if found == os.curdir else found
    return inside(root, full) if is_workspace(root) else None


def _relative(root: Path, name: str) -> str:
    if not name or "\0" in name:
        raise BadPathError("a name is empty or holds a NUL", hint="--files takes names of files")
    full = os.path.abspath(name)
    # The path as written comes first: if a folder has become a link, the file that was below it before is meant.
    for path in (full, os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))):
        if found := from_root(root, path):
            return found
    raise BadPathError(
        f"{name} is not a file below {root}", hint="--files takes files of one repository; see --root for another"
    )
